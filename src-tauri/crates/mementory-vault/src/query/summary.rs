//! Counts over all records that a query finds.
use crate::{
    VaultResult,
    findings::count_by_class,
    query::{list::ListQuery, list::Queries},
};
use mementory_model::Kind;
use mementory_scan::Class;
use mementory_store::kind_code;
use std::collections::BTreeMap;

/// Counts over the records that a query finds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Summary {
    /// Number of all stored versions of these records.
    pub versions: u32,
    /// Number of different sensitive values that the last scan found in these records, by class. A value that was found
    /// with several classes counts only under the class that the queue of sensitive values shows. Ignored values are
    /// left out.
    pub findings: BTreeMap<Class, u32>,
    /// Number of conversations in the vault from which these records were derived.
    pub conversations: u32,
    /// Number of records whose time is not the time of their import. `first` and `last` are the earliest and the latest
    /// of these times.
    pub dated: u32,
    pub first: Option<i64>,
    pub last: Option<i64>,
}

/// SQL for the time of a record. It is NULL for a record that was imported without a time, because the sort time of
/// such a record is the time of its import.
const OWN_TIME_SQL: &str = "CASE WHEN r.batch IS NOT NULL AND r.sort = coalesce(\
     (SELECT min(v.since) FROM versions v WHERE v.row = r.row), r.since) THEN NULL ELSE r.sort END";

impl Queries<'_> {
    /// Counts over all records that a query finds.
    pub fn summary(&self, query: &ListQuery) -> VaultResult<Summary> {
        let (condition, values) = query.condition();
        let values = || rusqlite::params_from_iter(values.iter());
        self.context.store.read(|c| {
            let conversation = kind_code(Kind::Conversation);
            let number = |sql: &str| -> VaultResult<u32> { Ok(c.prepare(sql)?.query_row(values(), |r| r.get(0))?) };
            let times = format!(
                "SELECT count(t), min(t), max(t) FROM (SELECT {OWN_TIME_SQL} AS t FROM records r WHERE {condition})"
            );
            let (dated, first, last) =
                c.prepare(&times)?.query_row(values(), |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
            Ok(Summary {
                versions: number(&format!(
                    "SELECT count(*) + coalesce(sum((SELECT count(*) FROM versions v WHERE v.row = r.row)), 0) \
                     FROM records r WHERE {condition}"
                ))?,
                findings: count_by_class(
                    c,
                    &format!(
                        "SELECT class, count(*) FROM (SELECT (SELECT min(g.class) FROM findings g JOIN records o \
                         ON o.row = g.row AND o.trashed IS NULL WHERE g.value = f.value) AS class \
                         FROM records r JOIN findings f ON f.row = r.row WHERE {condition} AND r.trashed IS NULL \
                         AND NOT EXISTS (SELECT 1 FROM judged j WHERE j.value = f.value AND j.verdict = 1) \
                         GROUP BY f.value) GROUP BY class"
                    ),
                    values(),
                )?,
                conversations: number(&format!(
                    "SELECT count(DISTINCT CASE m.kind WHEN {conversation} THEN m.row ELSE m.owner END) FROM records r \
                     JOIN links l ON l.row = r.row AND l.relation = 'derived_from' \
                     JOIN records m ON m.id = l.target WHERE {condition} AND m.trashed IS NULL"
                ))?,
                dated,
                first,
                last,
            })
        })
    }
}
