//! Builds the conditions, for the store and the index, that select the records that a grant makes visible.
use mementory_model::Kind;
use mementory_search::IndexFilter;
use mementory_store::{Flags, kind_code};
use rusqlite::types::Value;
use serde::{Deserialize, Serialize};

/// Kinds that no grant makes visible: files, entries of the source's own log, passthrough files, and credentials.
const NEVER_VISIBLE: [Kind; 4] = [Kind::Attachment, Kind::Audit, Kind::Foreign, Kind::Credential];

/// The records that a grant makes visible. An empty list restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GrantScope {
    /// Assistants or programs that the records came from.
    pub sources: Vec<String>,
    /// Kinds of records.
    pub kinds: Vec<String>,
    /// Types of records.
    pub types: Vec<String>,
    /// Records with at least one of these tags.
    pub tags: Vec<String>,
    /// Records dated at or after this time, in microseconds since 1970.
    pub since: Option<i64>,
    /// Records dated at or before this time, in microseconds since 1970.
    pub until: Option<i64>,
    /// True if conversations and messages are visible too.
    pub conversations: bool,
    /// True if sensitive values are sent unmasked.
    pub uncovered: bool,
}

impl GrantScope {
    pub(crate) fn visible_kinds(&self) -> Vec<Kind> {
        let is_in_scope = |kind: &Kind| {
            !NEVER_VISIBLE.contains(kind)
                && (self.conversations || !matches!(kind, Kind::Conversation | Kind::Message))
                && (self.kinds.is_empty() || self.kinds.iter().any(|name| name == kind.as_str()))
        };
        Kind::ALL.into_iter().filter(is_in_scope).collect()
    }

    /// Returns the SQL condition over `records r` for the visible records, with its values. Records in the Trash,
    /// records that the source marks as not exportable, and records that the source does not display are never visible.
    pub(crate) fn condition(&self) -> (String, Vec<Value>) {
        let kinds: Vec<String> = self.visible_kinds().into_iter().map(|kind| kind_code(kind).to_string()).collect();
        let mut values: Vec<Value> = Vec::new();
        let mut parts = vec![
            "r.trashed IS NULL".to_owned(),
            // The plus keeps SQLite from using the index on `kind`. With that index, SQLite would read all records of
            // these kinds instead of the few rows that a caller asks for.
            format!("+r.kind IN ({})", kinds.join(",")),
            format!("r.flags & {} = 0", Flags::NOT_EXPORTABLE | Flags::HIDDEN),
        ];
        let mut add_condition = |names: &[String], sql: &str| {
            if names.is_empty() {
                return;
            }
            let placeholders: Vec<String> = (1..=names.len()).map(|n| format!("?{}", values.len() + n)).collect();
            values.extend(names.iter().cloned().map(Value::from));
            parts.push(sql.replace("(?)", &format!("({})", placeholders.join(","))));
        };
        add_condition(&self.sources, "r.platform IN (SELECT id FROM platforms WHERE name IN (?))");
        add_condition(&self.types, "r.type IN (?)");
        add_condition(&self.tags, "EXISTS (SELECT 1 FROM tags t WHERE t.row = r.row AND t.tag IN (?))");
        for (bound, sql) in [(self.since, "r.sort >= ?"), (self.until, "r.sort <= ?")] {
            if let Some(bound) = bound {
                values.push(bound.into());
                parts.push(format!("{sql}{}", values.len()));
            }
        }
        (parts.join(" AND "), values)
    }

    /// Returns the conditions of the scope that the search index can check. The index also finds records outside the
    /// scope, so [`condition`](Self::condition) must be checked for each record that the index finds.
    pub(crate) fn index_filter(&self) -> IndexFilter {
        IndexFilter {
            kinds: self.visible_kinds().into_iter().map(|kind| kind.as_str().to_owned()).collect(),
            platforms: self.sources.clone(),
            record_types: self.types.clone(),
            tags: self.tags.clone(),
            created_from: self.since,
            created_to: self.until,
            // An undated record has the time of its import as its date. Only the store knows that time, so the index
            // returns all undated records.
            undated: true,
            ..IndexFilter::default()
        }
    }
}
