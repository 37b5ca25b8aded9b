//! Lists records with filters and an order, page by page.
use crate::{VaultError, VaultResult, context::Context};
use mementory_model::{Kind, SaidBy};
use mementory_store::{FileKind, Flags, KIND_SQL, ROW_COLUMNS, RowView, kind_code};
use rusqlite::types::Value;
use std::collections::HashSet;

/// Order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// Newest first (conversations by last change).
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
    /// By title.
    Title,
    /// Records that were changed most recently in the vault come first, whether the person or an import changed them.
    Changed,
    /// Records that were moved to the Trash most recently come first. Only for a list of the Trash.
    Trashed,
}

impl Sort {
    /// Returns the terms of `ORDER BY`. For a query by id or row, a `+` keeps SQLite from sorting with an index: SQLite
    /// would read the whole index to find a few records.
    fn order_terms(self, names_records: bool) -> &'static str {
        match self {
            Self::Newest if names_records => "+r.sort DESC, r.row DESC",
            Self::Newest => "r.sort DESC, r.row DESC",
            Self::Oldest if names_records => "+r.sort, r.row",
            Self::Oldest => "r.sort, r.row",
            Self::Title => "coalesce(r.title, '') COLLATE NOCASE, r.row",
            Self::Changed => "r.since DESC, r.row DESC",
            Self::Trashed => "coalesce(r.trashed, 0) DESC, r.row DESC",
        }
    }

    /// Returns the condition for rows that come after the row and key of a cursor in this order.
    fn condition_after_cursor(self) -> &'static str {
        match self {
            Self::Newest => "(r.sort, r.row) < (?, ?)",
            Self::Oldest => "(r.sort, r.row) > (?, ?)",
            Self::Title => "(coalesce(r.title, '') COLLATE NOCASE, r.row) > (?, ?)",
            Self::Changed => "(r.since, r.row) < (?, ?)",
            Self::Trashed => "(coalesce(r.trashed, 0), r.row) < (?, ?)",
        }
    }

    fn cursor_key(self, row: &RowView) -> String {
        match self {
            Self::Newest | Self::Oldest => row.sort.to_string(),
            Self::Title => hex::encode(row.title.as_deref().unwrap_or_default()),
            Self::Changed => row.since.to_string(),
            Self::Trashed => row.trashed.unwrap_or_default().to_string(),
        }
    }
}

/// Conditions for a list. The list contains the records that meet all of the conditions. Times are in microseconds
/// since 1970, and the limits of a period are inclusive.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names are those of the CLI's filters")]
pub struct ListQuery {
    pub kind: Option<Kind>,
    pub source: Option<String>,
    pub status: Option<String>,
    pub tag: Option<String>,
    /// Type of the record. The empty text means records without a type.
    pub record_type: Option<String>,
    /// Who said the text of the record. `Some(None)` means records whose speaker is not known.
    pub said_by: Option<Option<SaidBy>>,
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub trash: bool,
    /// Only attachments of this kind.
    pub file_kind: Option<FileKind>,
    pub ids: Option<Vec<String>>,
    /// Only records that one of these batches added.
    pub batch: Option<Vec<String>>,
    /// Only records in these rows.
    pub rows: Option<Vec<i64>>,
    /// Only records whose row is also in this list, which may be long.
    pub among: Option<Vec<i64>>,
    pub sort: Sort,
    pub limit: u32,
    pub cursor: Option<String>,
}

/// One page of a list of records.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ListPage {
    pub rows: Vec<RowView>,
    pub next: Option<String>,
    pub total: u32,
}

impl ListQuery {
    /// True if the query selects records by id or row.
    fn names_records(&self) -> bool {
        self.ids.is_some() || self.rows.is_some()
    }

    /// Returns the condition for a kind. The condition contains the number of the kind instead of a placeholder, so
    /// that SQLite can use the partial index. For a query by id or row, a `+` keeps SQLite from using that index,
    /// because looking up the rows directly is faster.
    fn kind_condition(&self, kind: Kind) -> String {
        format!("{}r.kind = {}", if self.names_records() { "+" } else { "" }, kind_code(kind))
    }

    /// Returns the SQL condition of the query over `records r`, with the values of its placeholders.
    pub(crate) fn condition(&self) -> (String, Vec<Value>) {
        let mut parts: Vec<String> = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        let mut bind = |parts: &mut Vec<String>, sql: &str, value: Value| {
            values.push(value);
            parts.push(sql.replace('?', &format!("?{}", values.len())));
        };
        if let Some(kind) = self.kind {
            parts.push(self.kind_condition(kind));
        }
        parts.push(
            if self.trash { "r.trashed IS NOT NULL AND r.trash_root = r.row" } else { "r.trashed IS NULL" }.to_owned(),
        );
        if let Some(source) = &self.source {
            bind(&mut parts, "r.platform = (SELECT id FROM platforms WHERE name = ?)", source.clone().into());
        }
        if let Some(status) = &self.status {
            bind(&mut parts, "r.status = ?", status.clone().into());
        }
        if let Some(tag) = &self.tag {
            bind(&mut parts, "EXISTS (SELECT 1 FROM tags t WHERE t.tag = ? AND t.row = r.row)", tag.clone().into());
        }
        match self.record_type.as_deref() {
            Some("") => parts.push("coalesce(r.type, '') = ''".into()),
            Some(kind) => bind(&mut parts, "r.type = ?", kind.to_owned().into()),
            None => {}
        }
        if let Some(who) = self.said_by {
            parts.push(format!("r.flags & {} = {}", Flags::SAID_BY, Flags::said_by(who)));
        }
        if let Some(since) = self.since {
            bind(&mut parts, "r.sort >= ?", since.into());
        }
        if let Some(until) = self.until {
            bind(&mut parts, "r.sort <= ?", until.into());
        }
        if let Some(among) = &self.among {
            let list: Vec<String> = among.iter().map(i64::to_string).collect();
            let sql = "r.row IN (SELECT value FROM json_each(?))";
            bind(&mut parts, sql, format!("[{}]", list.join(",")).into());
        }
        if let Some(batch) = &self.batch {
            let placeholders: Vec<String> = (1..=batch.len()).map(|n| format!("?{}", values.len() + n)).collect();
            parts.push(format!("r.batch IN (SELECT id FROM batches WHERE uid IN ({}))", placeholders.join(",")));
            values.extend(batch.iter().cloned().map(Value::from));
        }
        if let Some(kind) = self.file_kind {
            parts.push(self.kind_condition(Kind::Attachment));
            parts.push(file_kind_condition(kind));
        }
        if let Some(ids) = &self.ids {
            let list: Vec<String> = ids
                .iter()
                .filter(|id| mementory_store::ids::parse_id(id).is_some())
                .map(|id| format!("x'{id}'"))
                .collect();
            parts.push(format!("r.id IN ({})", list.join(",")));
        }
        if let Some(rows) = &self.rows {
            let list: Vec<String> = rows.iter().map(i64::to_string).collect();
            parts.push(format!("r.row IN ({})", list.join(",")));
        }
        (parts.join(" AND "), values)
    }
}

/// Returns the SQL condition over `records r` for files of a kind.
fn file_kind_condition(kind: FileKind) -> String {
    format!("coalesce((SELECT {KIND_SQL} FROM files f WHERE f.row = r.row), 'missing') = '{}'", kind.as_str())
}

/// Lists and counts records.
#[derive(Clone, Copy)]
pub struct Queries<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Queries<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Queries<'_> {
    /// Returns the rows of all records that a query finds.
    pub fn rows(&self, query: &ListQuery) -> VaultResult<HashSet<i64>> {
        let (condition, values) = query.condition();
        self.context.store.read(|c| {
            let mut statement = c.prepare(&format!("SELECT r.row FROM records r WHERE {condition}"))?;
            let rows = statement.query_map(rusqlite::params_from_iter(values.iter()), |r| r.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// One page of a list.
    ///
    /// # Errors
    /// `Usage` for a cursor that is not from a list with this order.
    pub fn list(&self, query: &ListQuery) -> VaultResult<ListPage> {
        let (condition, mut values) = query.condition();
        let limit = if query.limit == 0 { 50 } else { query.limit.min(1000) };
        let total = self.context.store.read(|c| {
            let sql = format!("SELECT count(*) FROM records r WHERE {condition}");
            Ok(c.prepare_cached(&sql)?.query_row(rusqlite::params_from_iter(values.iter()), |r| r.get(0))?)
        })?;
        let mut full_condition = condition;
        if let Some(cursor) = &query.cursor {
            // A cursor consists of the row and the sort key of the last record shown, so that the list continues even
            // if that record is gone.
            let invalid_cursor =
                || VaultError::Usage("This cursor is not from this list. Start again without one.".into());
            let (row, key) = cursor.split_once('.').ok_or_else(invalid_cursor)?;
            let row: i64 = row.parse().map_err(|_| invalid_cursor())?;
            let key: Value = match query.sort {
                Sort::Title => String::from_utf8(hex::decode(key).map_err(|_| invalid_cursor())?)
                    .map_err(|_| invalid_cursor())?
                    .into(),
                _ => key.parse::<i64>().map_err(|_| invalid_cursor())?.into(),
            };
            values.extend([key, row.into()]);
            let placeholders = format!("?{}, ?{}", values.len() - 1, values.len());
            full_condition =
                format!("{full_condition} AND {}", query.sort.condition_after_cursor().replace("?, ?", &placeholders));
        }
        let sql = format!(
            "SELECT {ROW_COLUMNS} FROM records r JOIN platforms p ON p.id = r.platform WHERE {full_condition} ORDER BY {} LIMIT {}",
            query.sort.order_terms(query.names_records()),
            limit + 1
        );
        let mut rows: Vec<RowView> = self.context.store.read(|c| {
            let mut statement = c.prepare_cached(&sql)?;
            let rows = statement.query_map(rusqlite::params_from_iter(values.iter()), RowView::read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        let has_more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = rows.last().filter(|_| has_more).map(|row| format!("{}.{}", row.row, query.sort.cursor_key(row)));
        Ok(ListPage { rows, next, total })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn query_plan(query: &ListQuery) -> String {
        let store = rusqlite::Connection::open_in_memory().unwrap();
        store.execute_batch(mementory_store::SCHEMA).unwrap();
        let (condition, values) = query.condition();
        let order = query.sort.order_terms(query.names_records());
        let sql = format!("EXPLAIN QUERY PLAN SELECT * FROM records r WHERE {condition} ORDER BY {order} LIMIT 20");
        let mut statement = store.prepare(&sql).unwrap();
        let steps = statement.query_map(rusqlite::params_from_iter(values.iter()), |r| r.get::<_, String>(3)).unwrap();
        steps.collect::<Result<Vec<_>, _>>().unwrap().join("; ")
    }

    #[test]
    fn chosen_records_are_read_by_id_and_others_in_order() {
        let conversations = ListQuery { kind: Some(Kind::Conversation), ..ListQuery::default() };
        assert!(query_plan(&conversations).contains("records_list"), "{}", query_plan(&conversations));
        for sort in [Sort::Newest, Sort::Oldest] {
            let ids = (0..20u8).map(|n| hex::encode([n; 16])).collect();
            let by_id = query_plan(&ListQuery { ids: Some(ids), sort, ..conversations.clone() });
            assert!(by_id.contains("(id=?)"), "{by_id}");
            let by_row = query_plan(&ListQuery { rows: Some((1..20).collect()), sort, ..conversations.clone() });
            assert!(by_row.contains("(rowid=?)"), "{by_row}");
        }
    }
}
