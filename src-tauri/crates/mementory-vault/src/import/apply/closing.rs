//! Recognises closed statements: facts and relations that stopped being true or were superseded.
use mementory_model::{Kind, Record};

/// True for statements, which are superseded rather than changed (spec of `.mem` v1.1 §4.1).
pub(super) fn is_bitemporal(record: &Record) -> bool {
    matches!(record.kind, Kind::Fact | Kind::Relation)
}

/// Says whether a bi-temporal statement has ended and whether it was superseded. Other records count as open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closing {
    ended: bool,
    superseded: bool,
}

impl Closing {
    pub(super) fn of(record: &Record) -> Self {
        let is_statement = is_bitemporal(record);
        Self {
            ended: is_statement && record.times.valid_to.is_some(),
            superseded: is_statement && record.links.iter().any(|link| link.relation == "superseded_by"),
        }
    }

    /// True if `incoming` would clear the end or the successor of this statement. A closed statement can be superseded
    /// but is never reopened, even if an older export contains it as open.
    pub(super) fn is_reopened_by(self, incoming: Self) -> bool {
        self.ended && !incoming.ended || self.superseded && !incoming.superseded
    }
}
