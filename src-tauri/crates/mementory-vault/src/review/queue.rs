//! Selects the next memory to review, and counts the memories that are left.
use crate::{
    VaultResult,
    review::{Answer, Review, answer_in, id_list},
};
use mementory_model::Kind;
use mementory_store::{ROW_COLUMNS, RowView, kind_code};
use rusqlite::{OptionalExtension, types::Value};

/// Selects the memories to review.
#[derive(Debug, Clone, Default)]
pub struct ReviewFilter {
    /// Only memories of this assistant.
    pub source: Option<String>,
    /// Only memories with a sensitive value.
    pub sensitive: bool,
    /// If given, only the memories in these rows, and the statements into which they were divided.
    pub among: Option<Vec<i64>>,
    /// Ids of memories to skip for now.
    pub skip: Vec<String>,
}

/// A memory to review.
#[derive(Debug, Clone)]
pub struct ReviewItem {
    /// The row of the memory.
    pub view: RowView,
    /// True if the memory contains a sensitive value that the last scan found and the person does not ignore.
    pub sensitive: bool,
    /// The person's answer, if they have answered before.
    pub answer: Option<Answer>,
}

/// SQL condition: the row contains a sensitive value that the last scan found and the person does not ignore.
const SENSITIVE_SQL: &str = "EXISTS (SELECT 1 FROM findings f WHERE f.row = r.row \
     AND NOT EXISTS (SELECT 1 FROM judged j WHERE j.value = f.value AND j.verdict = 1))";

impl ReviewFilter {
    /// Returns the SQL condition over `records r` for the records that can be reviewed. A memory that was divided into
    /// statements is reviewed statement by statement.
    fn condition(&self) -> (String, Vec<Value>) {
        let [memory, fact] = [Kind::Memory, Kind::Fact].map(kind_code);
        let mut parts = vec![
            "r.trashed IS NULL".to_owned(),
            "coalesce(r.status, '') NOT IN ('superseded', 'deleted')".to_owned(),
            format!(
                "(r.kind = {memory} AND NOT EXISTS (SELECT 1 FROM links l JOIN records s ON s.row = l.row \
                 WHERE l.target = r.id AND l.relation = 'derived_from' AND s.kind = {fact} AND s.trashed IS NULL) \
                 OR r.kind = {fact} AND EXISTS (SELECT 1 FROM links l JOIN records s ON s.id = l.target \
                 WHERE l.row = r.row AND l.relation = 'derived_from' AND s.kind = {memory}))"
            ),
        ];
        if self.sensitive {
            parts.push(SENSITIVE_SQL.into());
        }
        let (scope, values) = self.scope();
        parts.extend(scope);
        (parts.join(" AND "), values)
    }

    /// Returns the SQL conditions over `records r` that also apply to memories in the Trash.
    pub(super) fn scope(&self) -> (Vec<String>, Vec<Value>) {
        let (mut parts, mut values) = (Vec::new(), Vec::new());
        if let Some(source) = &self.source {
            values.push(Value::from(source.clone()));
            parts.push(format!("r.platform = (SELECT id FROM platforms WHERE name = ?{})", values.len()));
        }
        if let Some(among) = &self.among {
            let rows = among.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            parts.push(format!(
                "(r.row IN ({rows}) OR EXISTS (SELECT 1 FROM links l JOIN records s ON s.id = l.target \
                 WHERE l.row = r.row AND l.relation = 'derived_from' AND s.row IN ({rows})))"
            ));
        }
        (parts, values)
    }
}

/// SQL: the row has no answer.
const UNANSWERED_SQL: &str = "NOT EXISTS (SELECT 1 FROM reviews v WHERE v.record = r.id)";

impl Review<'_> {
    /// Returns the number of memories without an answer, including those to skip for now.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn unanswered_count(&self, filter: &ReviewFilter) -> VaultResult<u32> {
        self.count(filter, &format!(" AND {UNANSWERED_SQL}"))
    }

    /// Returns the next memory without an answer. Memories with sensitive values come before the others; both groups
    /// begin with the oldest memory.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn next(&self, filter: &ReviewFilter) -> VaultResult<Option<ReviewItem>> {
        let (condition, values) = filter.condition();
        let skip_condition = match filter.skip.is_empty() {
            true => String::new(),
            false => format!(" AND r.id NOT IN ({})", id_list(&filter.skip)),
        };
        let sql = format!(
            "SELECT {ROW_COLUMNS}, {SENSITIVE_SQL} FROM records r JOIN platforms p ON p.id = r.platform \
             WHERE {condition} AND {UNANSWERED_SQL}{skip_condition} ORDER BY {SENSITIVE_SQL} DESC, r.sort, r.row LIMIT 1"
        );
        self.context.store.read(|c| {
            let mut statement = c.prepare(&sql)?;
            let sensitive_column = statement.column_count() - 1;
            let item = statement.query_row(rusqlite::params_from_iter(values.iter()), |r| {
                Ok(ReviewItem { view: RowView::read(r)?, sensitive: r.get(sensitive_column)?, answer: None })
            });
            Ok(item.optional()?)
        })
    }

    /// Returns a memory as an item of the review.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn item(&self, id: &str) -> VaultResult<ReviewItem> {
        let view = self.context.find(id)?;
        self.context.store.read(|c| {
            let sensitive = c
                .prepare_cached(&format!("SELECT {SENSITIVE_SQL} FROM records r WHERE r.row = ?1"))?
                .query_row([view.row], |r| r.get(0))?;
            let answer = answer_in(c, &view.id)?.map(|(answer, _)| answer);
            Ok(ReviewItem { view: view.clone(), sensitive, answer })
        })
    }

    /// Returns the number of memories that can be reviewed, answered or not.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn total(&self, filter: &ReviewFilter) -> VaultResult<u32> {
        self.count(filter, "")
    }

    fn count(&self, filter: &ReviewFilter, more: &str) -> VaultResult<u32> {
        let (condition, values) = filter.condition();
        self.context.store.read(|c| {
            let sql = format!("SELECT count(*) FROM records r WHERE {condition}{more}");
            Ok(c.prepare(&sql)?.query_row(rusqlite::params_from_iter(values.iter()), |r| r.get(0))?)
        })
    }
}
