//! Caches the judgements of all live memories while the vault is open. Judgements are never written to disk. A memory
//! is judged again when its row changes. All memories are judged again after a redaction, an erasure or a decision of
//! the person.
use mementory_insight::{AboutKind, Special};
use mementory_similar::{Comparison, Form, compare};
use mementory_store::RowView;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

/// What a memory is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AboutMemory {
    /// The subject of the memory.
    pub kind: AboutKind,
    /// Confidence of the suggestion, from 0 to 1; 1 for a decision of the person.
    pub confidence: f32,
    /// True if the person decided the subject, for this memory or for a memory that says the same.
    pub by_person: bool,
}

/// The subject of a memory, suggested from its words or decided by the person, and its special categories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    /// None if the words of the memory suggest no subject and the person decided none.
    pub about: Option<AboutMemory>,
    /// The special categories that the words of the memory show.
    pub special: Vec<Special>,
}

/// Numbers of memories by subject and by special category.
#[derive(Debug, Clone, Default)]
pub struct InsightCounts {
    /// Number of memories by subject. Memories without a subject count under the empty name.
    pub about: BTreeMap<String, u32>,
    /// Number of memories by special category. A memory may count under several categories.
    pub special: BTreeMap<String, u32>,
    /// Number of memories with at least one special category.
    pub any_special: u32,
}

/// The memories to which a list is limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InsightFilter {
    /// If given, only memories about this subject. `Some(None)` means memories without a subject.
    pub about: Option<Option<AboutKind>>,
    /// If given, only memories of this special category. `Some(None)` means any special category.
    pub special: Option<Option<Special>>,
}

/// The state that determines the judgements: the number of the store's last change, the number of tombstones, and the
/// number of calls that stored vectors.
pub(crate) type State = (u64, i64, i64);

/// The state of one row that determines its judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowStamp {
    pub(crate) version: u32,
    pub(crate) since: i64,
    pub(crate) pack: i64,
    pub(crate) slot: u32,
    /// Whether the row has a vector.
    pub(crate) encoded: bool,
}

impl RowStamp {
    /// Makes the stamp of a row. `encoded` says whether the row has a vector.
    pub(crate) fn of_view(view: &RowView, encoded: bool) -> Self {
        Self { version: view.version, since: view.since, pack: view.pack, slot: view.slot, encoded }
    }
}

/// The subjects that the person decided, by record id. The `Form` of each decided text is stored too, to find other
/// memories that say the same.
#[derive(Debug)]
pub(crate) struct DecidedKinds {
    pub(crate) kinds: HashMap<[u8; 16], AboutKind>,
    pub(crate) forms: Vec<(Form, AboutKind)>,
}

impl DecidedKinds {
    /// Returns the subject that the person decided for this memory or for a memory that says the same.
    pub(crate) fn kind_of(&self, id: &[u8; 16], text: &str) -> Option<AboutKind> {
        if let Some(kind) = self.kinds.get(id) {
            return Some(*kind);
        }
        if self.forms.is_empty() {
            return None;
        }
        let form = Form::new(text);
        let is_same_statement = |other: &Form| !matches!(compare(&form, other), Comparison::Apart(_));
        self.forms.iter().find(|(other, _)| is_same_statement(other)).map(|(_, kind)| *kind)
    }
}

/// Caches the judgements of memories, by row.
#[derive(Debug, Default)]
pub(crate) struct InsightCache {
    /// The subjects that the person decided, and the state of the vault that they were read from.
    pub(crate) decided_kinds: Option<(State, Arc<DecidedKinds>)>,
    state: Option<State>,
    entries: HashMap<i64, (RowStamp, Judgement)>,
}

impl InsightCache {
    pub(crate) fn get(&self, row: i64, stamp: &RowStamp) -> Option<Judgement> {
        self.state?;
        self.entries.get(&row).filter(|(of, _)| of == stamp).map(|(_, judgement)| judgement.clone())
    }

    pub(crate) fn is_current(&self, state: State) -> bool {
        self.state == Some(state)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Removes and returns the judgements that are still valid. If tombstones were added or removed, none of them is
    /// valid.
    pub(crate) fn begin(&mut self, state: State) -> HashMap<i64, (RowStamp, Judgement)> {
        match self.state.take() {
            Some((_, tombstones, _)) if tombstones == state.1 => std::mem::take(&mut self.entries),
            _ => HashMap::new(),
        }
    }

    pub(crate) fn finish(&mut self, state: State, entries: HashMap<i64, (RowStamp, Judgement)>) {
        (self.state, self.entries) = (Some(state), entries);
    }

    pub(crate) fn rows(&self, filter: &InsightFilter) -> Vec<i64> {
        let passes_filter = |judgement: &Judgement| {
            let has_kind = filter.about.is_none_or(|wanted| judgement.about.map(|about| about.kind) == wanted);
            let has_special_category = filter.special.is_none_or(|wanted| match wanted {
                Some(class) => judgement.special.contains(&class),
                None => !judgement.special.is_empty(),
            });
            has_kind && has_special_category
        };
        let mut rows: Vec<i64> =
            self.entries.iter().filter(|(_, (_, judgement))| passes_filter(judgement)).map(|(row, _)| *row).collect();
        rows.sort_unstable();
        rows
    }

    pub(crate) fn counts(&self, found: &HashSet<i64>) -> InsightCounts {
        let mut counts = InsightCounts::default();
        for (_, judgement) in self.entries.iter().filter(|(row, _)| found.contains(row)).map(|(_, entry)| entry) {
            let name = judgement.about.map_or("", |about| about.kind.as_str());
            *counts.about.entry(name.to_owned()).or_default() += 1;
            for class in &judgement.special {
                *counts.special.entry(class.as_str().to_owned()).or_default() += 1;
            }
            counts.any_special += u32::from(!judgement.special.is_empty());
        }
        counts
    }
}
