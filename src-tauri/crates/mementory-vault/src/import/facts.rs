//! Columns that follow from a record.
use crate::store::Flags;
use mementory_model::{Kind, Record};
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

/// Does the source's own rule keep it here? (PAM 1.0 §21.1: "exportable" false.)
fn stays(record: &Record) -> bool {
    let access = record.fields.get("access").filter(|_| record.kind == Kind::Memory && record.origin.format == "pam");
    access.and_then(|a| a.get("exportable")) == Some(&serde_json::Value::Bool(false))
}

/// Where a record stands among others: what a newer export may change without saying anything new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Time that it is listed by, if the source gives one.
    pub(crate) time: Option<i64>,
    pub(crate) position: i64,
    /// Of [`Standing::FLAGS`].
    pub(crate) flags: i64,
}

impl Standing {
    /// Flags that say where it stands; the others say what was done to it here.
    pub(crate) const FLAGS: i64 = Flags::HIDDEN | Flags::ACTIVE | Flags::BRANCHED | Flags::STAYS;

    pub(crate) fn of(record: &Record, extra_flags: i64) -> Self {
        let message = record.message.as_ref();
        let mut flags = extra_flags;
        if message.is_some_and(|m| m.hidden) {
            flags |= Flags::HIDDEN;
        }
        if message.is_some_and(|m| m.active) {
            flags |= Flags::ACTIVE;
        }
        if stays(record) {
            flags |= Flags::STAYS;
        }
        let time = if record.kind == Kind::Conversation {
            record.times.updated.or(record.times.created)
        } else {
            record.times.created.or(record.times.updated)
        };
        Self {
            time: time.map(mementory_model::Timestamp::as_micros),
            position: message.map_or(0, |m| i64::from(m.position)),
            flags,
        }
    }
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
        let Standing { time, position, flags } = Standing::of(record, extra_flags);
        // Messages are shown in their conversation; a second copy of their words would only make the database larger.
        let shown = record.kind != Kind::Message;
        Self {
            sort: time.unwrap_or(now),
            position,
            flags,
            title: shown.then(|| record.title.clone()).flatten(),
            preview: shown.then(|| record.text.chars().take(PREVIEW).collect()),
        }
    }
}
