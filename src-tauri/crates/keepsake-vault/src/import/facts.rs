//! Columns that follow from a record.
use crate::store::Flags;
use keepsake_model::{Kind, Record};
use std::collections::HashSet;

/// Longest preview kept beside a record, in characters.
const PREVIEW: usize = 500;

/// True when a conversation has a message with siblings, or several roots.
pub(super) fn is_branched(records: &[Record]) -> bool {
    let mut parents = HashSet::new();
    let mut roots = 0;
    records.iter().filter_map(|r| r.message.as_ref()).any(|m| match &m.parent {
        Some(parent) => !parents.insert(parent),
        None => {
            roots += 1;
            roots > 1
        }
    })
}

/// Columns derived from a record.
pub(crate) struct Facts {
    pub(crate) sort: i64,
    pub(crate) position: i64,
    pub(crate) flags: i64,
    pub(crate) title: Option<String>,
    pub(crate) preview: Option<String>,
}

impl Facts {
    pub(crate) fn of(record: &Record, extra_flags: i64, now: i64) -> Self {
        let message = record.message.as_ref();
        let mut flags = extra_flags;
        if message.is_some_and(|m| m.hidden) {
            flags |= Flags::HIDDEN;
        }
        if message.is_some_and(|m| m.active) {
            flags |= Flags::ACTIVE;
        }
        let time = if record.kind == Kind::Conversation {
            record.times.updated.or(record.times.created)
        } else {
            record.times.created.or(record.times.updated)
        };
        // Messages are shown in their conversation; a second copy of their words would only make the database larger.
        let shown = record.kind != Kind::Message;
        Self {
            sort: time.map_or(now, keepsake_model::Timestamp::as_micros),
            position: message.map_or(0, |m| i64::from(m.position)),
            flags,
            title: shown.then(|| record.title.clone()).flatten(),
            preview: shown.then(|| record.text.chars().take(PREVIEW).collect()),
        }
    }
}
