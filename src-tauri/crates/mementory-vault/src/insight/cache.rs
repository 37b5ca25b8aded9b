//! The suggestions of all live memories, in memory only. A memory is judged again if its row changes; all are if
//! something was redacted or erased, or the person decides something.
use super::{AboutMemory, InsightCounts, InsightFilter, Judgement, decisions};
use crate::{VaultResult, query::in_halves};
use mementory_insight::AboutKind;
use mementory_model::{Kind, Record};
use mementory_similar::{Comparison, Form, compare};
use mementory_store::{RowView, Store, kind_code};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

/// Decisions that are compared with other memories, the first ones by id; a bound for the time.
const MAX_TAUGHT: usize = 500;

/// What the suggestions depend on: the last change and the number of tombstones.
pub(super) type State = (i64, i64);

/// What the suggestion of one row depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    version: u32,
    since: i64,
    pack: i64,
    slot: u32,
}

impl Stamp {
    pub(super) fn of_view(view: &RowView) -> Self {
        Self { version: view.version, since: view.since, pack: view.pack, slot: view.slot }
    }
}

/// The suggestions, by row.
#[derive(Debug, Default)]
pub(crate) struct InsightCache {
    state: Option<State>,
    entries: HashMap<i64, (Stamp, Judgement)>,
}

impl InsightCache {
    pub(super) fn get(&self, row: i64, stamp: &Stamp) -> Option<Judgement> {
        self.state?;
        self.entries.get(&row).filter(|(of, _)| of == stamp).map(|(_, judgement)| judgement.clone())
    }

    pub(super) fn is_current(&self, state: State) -> bool {
        self.state == Some(state)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// What may be used again for this state.
    pub(super) fn begin(&mut self, state: State) -> HashMap<i64, (Stamp, Judgement)> {
        match self.state.take() {
            Some((_, tombstones)) if tombstones == state.1 => std::mem::take(&mut self.entries),
            _ => HashMap::new(),
        }
    }

    pub(super) fn finish(&mut self, state: State, entries: HashMap<i64, (Stamp, Judgement)>) {
        *self = Self { state: Some(state), entries };
    }

    pub(super) fn rows(&self, filter: &InsightFilter) -> Vec<i64> {
        let admits = |judgement: &Judgement| {
            let about = filter.about.is_none_or(|wanted| judgement.about.map(|about| about.kind) == wanted);
            let special = filter.special.is_none_or(|wanted| match wanted {
                Some(class) => judgement.special.contains(&class),
                None => !judgement.special.is_empty(),
            });
            about && special
        };
        let mut rows: Vec<i64> =
            self.entries.iter().filter(|(_, (_, judgement))| admits(judgement)).map(|(row, _)| *row).collect();
        rows.sort_unstable();
        rows
    }

    pub(super) fn counts(&self, found: &HashSet<i64>) -> InsightCounts {
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

/// What the person decided, and the texts that it was decided about.
pub(super) struct Taught {
    kinds: HashMap<[u8; 16], AboutKind>,
    forms: Vec<(Form, AboutKind)>,
}

impl Taught {
    pub(super) fn load(c: &Connection, store: &Store) -> VaultResult<Self> {
        let kinds = decisions::kinds(c)?;
        let mut ids: Vec<_> = kinds.iter().collect();
        ids.sort_unstable_by_key(|(id, _)| **id);
        let mut forms = Vec::new();
        for (id, kind) in ids.into_iter().take(MAX_TAUGHT) {
            if let Some(view) = RowView::by_id(c, id)? {
                forms.push((Form::new(&text_of(&store.packs.content(c, view.pack, view.slot)?)), *kind));
            }
        }
        Ok(Self { kinds, forms })
    }

    fn kind_of(&self, id: &[u8; 16], text: &str) -> Option<AboutKind> {
        if let Some(kind) = self.kinds.get(id) {
            return Some(*kind);
        }
        if self.forms.is_empty() {
            return None;
        }
        let form = Form::new(text);
        let says_same = |other: &Form| !matches!(compare(&form, other), Comparison::Apart(_));
        self.forms.iter().find(|(other, _)| says_same(other)).map(|(_, kind)| *kind)
    }
}

pub(super) fn state(c: &Connection) -> VaultResult<State> {
    let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0), \
               (SELECT count(*) FROM tombstones)";
    Ok(c.prepare_cached(sql)?.query_row([], |r| Ok((r.get(0)?, r.get(1)?)))?)
}

/// The words of a memory by which it is judged.
pub(super) fn text_of(record: &Record) -> String {
    match &record.title {
        Some(title) if !record.text.starts_with(title.as_str()) => format!("{title}\n{}", record.text),
        _ => record.text.clone(),
    }
}

pub(super) fn judge(taught: &Taught, id: &[u8; 16], record: &Record) -> Judgement {
    let text = text_of(record);
    let about = match taught.kind_of(id, &text) {
        Some(kind) => Some(AboutMemory { kind, confidence: 1.0, by_person: true }),
        None => mementory_insight::about(&text).map(|about| AboutMemory {
            kind: about.kind,
            confidence: about.confidence,
            by_person: false,
        }),
    };
    Judgement { about, special: mementory_insight::special(&text) }
}

/// A live memory: row, id, and what its suggestion depends on.
type Place = (i64, [u8; 16], Stamp);

/// Judges all live memories; `known` are former results, used where the row is unchanged.
pub(super) fn judge_all(
    store: &Store,
    taught: &Taught,
    mut known: HashMap<i64, (Stamp, Judgement)>,
) -> VaultResult<HashMap<i64, (Stamp, Judgement)>> {
    let places = store.read(places)?;
    let mut out = HashMap::with_capacity(places.len());
    let mut new = Vec::new();
    for (row, id, stamp) in places {
        match known.remove(&row) {
            Some((of, judgement)) if of == stamp => {
                out.insert(row, (stamp, judgement));
            }
            _ => new.push((row, id, stamp)),
        }
    }
    let judged = in_halves(&new, |places| {
        store.read(|c| {
            let of = |(row, id, stamp): &Place| {
                let record = store.packs.content(c, stamp.pack, stamp.slot)?;
                Ok((*row, (*stamp, judge(taught, id, &record))))
            };
            places.iter().map(of).collect::<VaultResult<Vec<_>>>()
        })
    })?;
    out.extend(judged);
    Ok(out)
}

fn places(c: &Connection) -> VaultResult<Vec<Place>> {
    let mut statement = c.prepare_cached(
        "SELECT row, id, version, since, pack, slot FROM records WHERE kind = ?1 AND trashed IS NULL ORDER BY pack, slot",
    )?;
    let rows = statement.query_map([kind_code(Kind::Memory)], |r| {
        let stamp = Stamp { version: r.get(2)?, since: r.get(3)?, pack: r.get(4)?, slot: r.get(5)? };
        Ok((r.get(0)?, r.get(1)?, stamp))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
