//! Compares the numbered states of sources (ALF §4.3.1) with those that the vault has, and checks that each delta
//! continues one of them. The report of each import names the states that it led to, so undoing an import also undoes
//! its state. Exports without a number may state when they were made; they are read in the order of these times.
use crate::{
    VaultError, VaultResult,
    import_report::{DatedExport, ReachedState},
    reached_states::{NumberedState, SourceKey, known_states},
};
use mementory_formats::{FormatError, SourceState, check_sequence};
use mementory_model::Timestamp;
use rusqlite::Connection;
use std::{cmp::Ordering, collections::BTreeMap};

/// What a source as a whole states about its age.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Recency {
    /// How the numbered state of the source compares with the state that the vault has.
    pub(super) state: StateOrder,
    /// When the source was made, if it states this.
    pub(super) made_at: Option<SourceTime>,
    /// The number of the state of the source. None if the state has no number, or was never synchronised.
    pub(super) number: Option<StateNumber>,
}

/// The number of a source's state, among the sources of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StateNumber {
    /// Number of the source within this import. All states of one source have the same number.
    pub(super) group: usize,
    pub(super) sequence: u64,
}

/// How the numbered state of a source compares with the vault's state of the same source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum StateOrder {
    /// A source without a number, or a whole file whose state is that of the vault. The times of its records and its
    /// date decide which version is newer.
    #[default]
    Unknown,
    /// A whole file whose state is later than the vault's. The times of the records decide which version is newer. If
    /// the times are equal, the version in the file is newer.
    Later,
    /// A delta that continues the vault's state: its changes are the newest.
    Next,
    /// A whole file whose state is earlier than the vault's. The vault keeps its versions.
    Earlier,
}

/// When a source was made, according to the source itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourceTime {
    /// The time that the source states, or the time of the import if the stated time is later.
    pub(super) time: Timestamp,
    /// Keyed digest of the key scope of the source's own records.
    pub(super) group: [u8; 16],
    /// Rule for comparing this time with the times of the records.
    pub(super) rule: DateRule,
}

/// Whether the date of a source always decides which of two versions of a record is newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateRule {
    /// The date always decides (PAM §16).
    OverRecords,
    /// The date decides only if the records do not state when they changed, or state the same time.
    UnderRecords,
}

/// The sources of an import in the order in which they are read, and the states that they lead to.
#[derive(Debug, Default)]
pub(super) struct ReadingOrder {
    pub(super) sources: Vec<(usize, Recency)>,
    pub(super) reached: Vec<ReachedState>,
    pub(super) exports: Vec<DatedExport>,
}

/// Orders whole files before deltas, the deltas of one source by the state that they are based on, and dated sources
/// by their times. `states` and `dates` have one element for each source.
///
/// # Errors
/// `Invalid` with `wrong_agent`, `wrong_base`, `sequence_gap`, `already_applied` or `sequence_order` for a delta that
/// does not continue the vault's state or that of another source of this import.
pub(super) fn reading_order(
    connection: &Connection,
    states: &[Option<SourceState>],
    dates: &[Option<SourceTime>],
) -> VaultResult<ReadingOrder> {
    let made_at = |index: usize| dates.get(index).copied().flatten();
    let number = |index: usize| {
        let state = states.get(index)?.as_ref().filter(|state| state.sequence > 0)?;
        let group = states.iter().flatten().position(|other| key(other) == key(state))?;
        Some(StateNumber { group, sequence: state.sequence })
    };
    let recency = |index: usize, state: StateOrder| Recency { state, made_at: made_at(index), number: number(index) };
    let mut by_time: Vec<usize> = (0..states.len()).collect();
    by_time.sort_by_key(|index| made_at(*index).map(|made_at| made_at.time));
    let export = |made_at: &SourceTime| DatedExport { group: made_at.group, time: made_at.time, rows: String::new() };
    let mut out = ReadingOrder { exports: dates.iter().flatten().map(export).collect(), ..ReadingOrder::default() };
    if states.iter().all(Option::is_none) {
        out.sources = by_time.into_iter().map(|index| (index, recency(index, StateOrder::Unknown))).collect();
        return Ok(out);
    }
    let mut known = known_states(connection)?;
    let mut deltas: Vec<(usize, &SourceState, u64)> = Vec::new();
    for index in by_time {
        let state = match states.get(index).and_then(Option::as_ref) {
            Some(state) => match state.base {
                Some(base) => {
                    deltas.push((index, state, base));
                    continue;
                }
                None => match add_whole_file(&mut known, &mut out.reached, state) {
                    Ordering::Less => StateOrder::Earlier,
                    Ordering::Equal => StateOrder::Unknown,
                    Ordering::Greater => StateOrder::Later,
                },
            },
            None => StateOrder::Unknown,
        };
        out.sources.push((index, recency(index, state)));
    }
    deltas.sort_by(|(_, a, a_base), (_, b, b_base)| (&a.group, a_base).cmp(&(&b.group, b_base)));
    for (index, state, base) in deltas {
        check_continues(&known, state, base)?;
        let newest = (state.sequence, state.time.clone());
        known.insert(key(state), newest.clone());
        out.reached.push(reached_state(state, newest));
        out.sources.push((index, recency(index, StateOrder::Next)));
    }
    Ok(out)
}

fn key(state: &SourceState) -> SourceKey {
    (state.format.to_owned(), state.group.clone())
}

fn reached_state(state: &SourceState, (sequence, time): NumberedState) -> ReachedState {
    ReachedState { format: state.format.to_owned(), group: state.group.clone(), sequence, time }
}

/// Adds the state of a whole file to the known states. Returns how its number compares with the number of the known
/// state. The number 0 means that the file was never synchronised, so it is not compared.
fn add_whole_file(
    known: &mut BTreeMap<SourceKey, NumberedState>,
    all: &mut Vec<ReachedState>,
    state: &SourceState,
) -> Ordering {
    let state_of_file = (state.sequence, state.time.clone());
    let newest = known.entry(key(state)).or_insert_with(|| state_of_file.clone());
    let order = if state.sequence > 0 { state.sequence.cmp(&newest.0) } else { Ordering::Equal };
    if order.is_gt() {
        *newest = state_of_file;
    }
    all.push(reached_state(state, newest.clone()));
    order
}

fn check_continues(known: &BTreeMap<SourceKey, NumberedState>, delta: &SourceState, base: u64) -> VaultResult<()> {
    let refuse = |code: &'static str, message: String| {
        Err(VaultError::Format(FormatError::invalid(code, delta.place.clone(), message)))
    };
    let Some((newest, _)) = known.get(&key(delta)) else {
        return if known.keys().any(|(format, _)| format == delta.format) {
            refuse("wrong_agent", "this delta is for an agent that is not in this vault".into())
        } else {
            refuse("wrong_base", "the archive on which this delta builds is not in this vault; import it first".into())
        };
    };
    check_sequence(*newest, base, delta.sequence).or_else(|error| refuse(error.code(), error.to_string()))
}
