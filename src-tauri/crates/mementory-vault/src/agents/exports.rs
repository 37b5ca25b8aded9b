//! Writes the documents that the export tools return to a connected client. An exported record has no `verbatim`, no
//! position in a file and no account, and its links lead only to records that the grant makes visible. So a document
//! reveals nothing about other records, deletions or files.
use crate::{
    VaultError, VaultResult,
    agents::{
        GrantedView,
        visible::{MaskedRecord, cursor_of, parse_cursor},
    },
};
use mementory_formats::{
    FormatError, PassthroughItem, RecordSource, Redaction, SourceDescription, StoredRecord, WriteOptions, by_tool,
};
use mementory_model::{Kind, Link, MessagePart, Record, RecordKey, Source, Timestamp, Tombstone};
use mementory_store::{Flags, RowView, ids::record_id, kind_code, unwrap_format};
use rusqlite::{OptionalExtension, params_from_iter, types::Value};
use std::{
    collections::{BTreeMap, HashMap},
    io::Read,
};

/// Scope of the record keys in an exported document. The value of each key is the id of the record. The other MCP tools
/// accept the same id.
const KEY_SCOPE: &str = "mementory";
/// Smallest row limit of the query that looks up the rows to export.
const MIN_ROWS_PER_STEP: usize = 500;

/// Conditions that select some of the visible records for an export.
#[derive(Debug, Clone, Default)]
pub struct ExportRange {
    /// Only records dated after this time, in microseconds since 1970. A record without a date counts as dated at its
    /// import.
    pub after: Option<i64>,
    /// Only records of these kinds. None means all kinds.
    pub kinds: Option<Vec<Kind>>,
    /// Cursor from an earlier document. Only records after the record of the cursor are exported.
    pub cursor: Option<String>,
    /// Only records whose number is greater than this number; see [`GrantedExport::numbers`].
    pub since_number: Option<u64>,
    /// Only records whose number is at most this number; see [`GrantedExport::numbers`].
    pub max_number: Option<u64>,
    /// Only records dated at or after this time, in microseconds since 1970. Records without a date are left out.
    pub from: Option<i64>,
    /// Only records dated at or before this time, in microseconds since 1970. Records without a date are left out.
    pub to: Option<i64>,
    /// Only the records with these ids.
    pub ids: Option<Vec<String>>,
    /// Records with one of these sensitivities are left out.
    pub without_sensitivities: Vec<String>,
    /// Largest number of records. If the range has more records, the newest of them are exported.
    pub last: Option<u32>,
    /// True if embedding vectors are left out.
    pub without_embeddings: bool,
}

/// Visible records to export, oldest first.
#[derive(Debug, Default)]
pub struct GrantedExport {
    records: Vec<StoredRecord>,
    /// Sort time of each record, in the order of `records`.
    times: Vec<i64>,
    /// Number of each record: its position among all visible records, oldest first, from 1.
    pub numbers: HashMap<String, u64>,
    /// Sort time of the first record of the range that is later than the exported ones and was left out. None if no
    /// later record was left out.
    first_omitted_time: Option<i64>,
    /// Cursor of each record, in the order of `records`.
    cursors: Vec<String>,
}

impl GrantedExport {
    /// True if the range has later records than this export.
    pub fn is_cut_off(&self) -> bool {
        self.first_omitted_time.is_some()
    }

    /// Leaves out the later half of the records.
    ///
    /// # Errors
    /// `Usage` if there is only one record.
    pub fn halve(&mut self) -> VaultResult<()> {
        if self.records.len() < 2 {
            return Err(VaultError::Usage(
                "One record alone is too large for a document. Nothing was read. Read it in parts with fetch.".into(),
            ));
        }
        self.truncate(self.records.len() / 2);
        Ok(())
    }

    /// Shortens the export so that it ends between two different times: every omitted record is later than every record
    /// that stays. Returns the time of the last record that stays, after which another export can continue. Returns
    /// None if no record is omitted, or if all records have the same time.
    pub fn end_between_times(&mut self) -> Option<i64> {
        let first_omitted_time = self.first_omitted_time?;
        let earlier_count = self.times.iter().take_while(|time| **time < first_omitted_time).count();
        if earlier_count == 0 {
            return None;
        }
        self.truncate(earlier_count);
        self.times.last().copied()
    }

    /// Returns the cursor with which the next document continues after this export. None if this export is not cut off.
    pub fn next_cursor(&self) -> Option<&str> {
        self.first_omitted_time.and(self.cursors.last()).map(String::as_str)
    }

    fn truncate(&mut self, max_rows: usize) {
        if let Some(time) = self.times.get(max_rows) {
            self.first_omitted_time = Some(*time);
        }
        self.records.truncate(max_rows);
        self.times.truncate(max_rows);
        self.cursors.truncate(max_rows);
    }
}

/// Row of a record, and the position of the record among all visible records, oldest first, from 1.
struct NumberedRow {
    row: i64,
    number: u64,
}

impl GrantedView<'_> {
    /// Returns at most `limit` visible records of a range. The texts of the returned records have at most `max_chars`
    /// characters in total, except that one record is always returned, however long it is. Leaves out records that
    /// their source marks as not exportable, and records that are derived from such a record or are relations of it.
    ///
    /// # Errors
    /// Errors of the store; `Usage` for a cursor that is not from an earlier document.
    pub fn export(&mut self, range: &ExportRange, limit: u32, max_chars: usize) -> VaultResult<GrantedExport> {
        let (max_rows, backwards) = match range.last {
            Some(last) => (last as usize, true),
            None => (limit as usize + 1, false),
        };
        let mut records: Vec<(StoredRecord, RowView, u64)> = Vec::new();
        let mut step = (range.since_number.unwrap_or(0), range.max_number.unwrap_or(i64::MAX as u64));
        let step_size = MIN_ROWS_PER_STEP.max(max_rows.saturating_mul(2).min(2000));
        while records.len() < max_rows {
            let rows = self.numbered_rows(range, step, backwards, step_size)?;
            for NumberedRow { row, number } in &rows {
                if records.len() >= max_rows {
                    break;
                }
                if backwards {
                    step.1 = number - 1;
                } else {
                    step.0 = *number;
                }
                let Some(view) = self.select("r.row = ??", vec![(*row).into()], "LIMIT 1")?.pop() else { continue };
                if let Some(stored) = self.exported_record(&view, range)? {
                    records.push((stored, view, *number));
                }
            }
            if rows.len() < step_size {
                break;
            }
        }
        if backwards {
            records.reverse();
        }
        let mut export = GrantedExport::default();
        let mut chars = 0;
        for (stored, view, number) in records {
            chars += stored.record.text.chars().count();
            let is_full = export.records.len() >= limit as usize || (chars > max_chars && !export.records.is_empty());
            if is_full {
                export.first_omitted_time = Some(view.sort);
                break;
            }
            export.numbers.insert(stored.id.clone(), number);
            export.records.push(stored);
            export.times.push(view.sort);
            export.cursors.push(cursor_of(&view));
        }
        Ok(export)
    }

    /// Returns the rows of the visible records in the range, each with its number. Checks only the conditions of the
    /// range that depend on columns of the table `records`. `exported_record` checks the other conditions.
    fn numbered_rows(
        &self,
        range: &ExportRange,
        (after, up_to): (u64, u64),
        backwards: bool,
        max_rows: usize,
    ) -> VaultResult<Vec<NumberedRow>> {
        let (scope, mut values) = self.scope.condition();
        let number = |n: u64| Value::from(i64::try_from(n).unwrap_or(i64::MAX));
        let mut conditions = Vec::new();
        let mut add = |sql: &str, value: Value| {
            values.push(value);
            conditions.push(sql.replace('?', &format!("?{}", values.len())));
        };
        add("n > ?", number(after));
        add("n <= ?", number(up_to));
        for (bound, sql) in [(range.after, "sort > ?"), (range.from, "sort >= ?"), (range.to, "sort <= ?")] {
            if let Some(bound) = bound {
                add(sql, bound.into());
            }
        }
        if let Some(cursor) = &range.cursor {
            let (sort, id) = parse_cursor(cursor)?;
            add("sort >= ?", sort.into());
            add(&format!("(sort > {sort} OR id > ?)"), id.into());
        }
        if let Some(kinds) = &range.kinds {
            let kind_codes: Vec<i64> = kinds.iter().map(|kind| kind_code(*kind)).collect();
            let kind_codes = serde_json::to_string(&kind_codes).unwrap_or_default();
            add("kind IN (SELECT value FROM json_each(?))", kind_codes.into());
        }
        if let Some(ids) = &range.ids {
            let ids = serde_json::to_string(ids).unwrap_or_default();
            add("lower(hex(id)) IN (SELECT value FROM json_each(?))", ids.into());
        }
        let order = if backwards { "DESC" } else { "ASC" };
        let sql = format!(
            "SELECT row, n FROM (SELECT r.row AS row, r.id AS id, r.kind AS kind, r.sort AS sort, \
             row_number() OVER (ORDER BY r.sort, r.id) AS n FROM records r WHERE {scope}) \
             WHERE {} ORDER BY n {order} LIMIT {max_rows}",
            conditions.join(" AND ")
        );
        self.context.store.read(|c| {
            let mut statement = c.prepare_cached(&sql)?;
            let rows = statement.query_map(params_from_iter(values.iter()), |r| {
                Ok(NumberedRow { row: r.get(0)?, number: u64::try_from(r.get::<_, i64>(1)?).unwrap_or_default() })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the record to write for a row. Returns None if the record is outside the range or may not leave the
    /// vault.
    fn exported_record(&mut self, view: &RowView, range: &ExportRange) -> VaultResult<Option<StoredRecord>> {
        let MaskedRecord { record, marks, .. } = self.masked_record(view)?;
        let times = &record.times;
        let is_dated = [times.created, times.observed, times.updated, times.valid_from].iter().any(Option::is_some);
        let sensitivity = record.sensitivity.as_deref().unwrap_or("public");
        if (range.from.is_some() || range.to.is_some()) && !is_dated
            || range.without_sensitivities.iter().any(|left_out| left_out == sensitivity)
            || self.depends_on_not_exportable(&record)?
        {
            return Ok(None);
        }
        let (mut links, mut link_ids) = (Vec::new(), Vec::new());
        for link in &record.links {
            let target = record_id(&self.context.keys, &link.target);
            let Some(target) = self.select("r.id = ??", vec![target.to_vec().into()], "LIMIT 1")?.pop() else {
                continue;
            };
            let id = target.id_text();
            links.push(Link {
                relation: link.relation.clone(),
                kind: link.kind,
                target: RecordKey::new(KEY_SCOPE, &id),
            });
            link_ids.push(Some(id));
        }
        let parent_id = self.owner_id(view)?;
        let id = view.id_text();
        let embeddings = if range.without_embeddings { Vec::new() } else { record.embeddings };
        let source = Source { platform: record.source.platform, method: record.source.method, ..Source::default() };
        let message =
            record.message.map(|message| MessagePart { role: message.role, active: true, ..MessagePart::default() });
        let exported = Record {
            title: record.title,
            times: record.times,
            record_type: record.record_type,
            status: record.status,
            tags: record.tags,
            confidence: record.confidence,
            importance: record.importance,
            sensitivity: record.sensitivity,
            source,
            entities: record.entities,
            links,
            embeddings,
            message,
            parent: parent_id.as_ref().map(|id| RecordKey::new(KEY_SCOPE, id)),
            ..Record::new(record.kind, RecordKey::new(KEY_SCOPE, &id), record.text)
        };
        // The document must reveal neither the position nor the length of a masked value.
        let redactions = marks.into_iter().map(|mark| Redaction { value: None, ..mark }).collect();
        Ok(Some(StoredRecord {
            id,
            edited: false,
            changed: None,
            link_ids,
            parent_id,
            message_parent_id: None,
            attachment_ids: Vec::new(),
            redactions,
            record: exported,
        }))
    }

    /// True if the record is derived from a memory that its source marks as not exportable, or is a relation with such
    /// a memory at one end.
    fn depends_on_not_exportable(&self, record: &Record) -> VaultResult<bool> {
        let leads_to_memory = |link: &&Link| {
            link.kind == Kind::Memory && (record.kind == Kind::Relation || link.relation == "derived_from")
        };
        for link in record.links.iter().filter(leads_to_memory) {
            let id = record_id(&self.context.keys, &link.target);
            let flags: Option<i64> = self.context.store.read(|c| {
                let mut statement = c.prepare_cached("SELECT flags FROM records WHERE id = ?1 AND trashed IS NULL")?;
                Ok(statement.query_row([id], |r| r.get(0)).optional()?)
            })?;
            if flags.is_some_and(|flags| flags & Flags::NOT_EXPORTABLE != 0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes the document that an export tool returns. Returns the document and the number of records of each kind in
    /// it.
    ///
    /// # Errors
    /// `Usage` for an unknown tool; errors of the writer.
    pub fn write_document(
        &self,
        tool: &str,
        export: &GrantedExport,
        owner: &str,
        options: &WriteOptions,
        now: Timestamp,
    ) -> VaultResult<(String, BTreeMap<Kind, u32>)> {
        let format = by_tool(tool).ok_or_else(|| VaultError::Usage(format!("There is no tool {tool}.")))?;
        let mut records: Vec<&StoredRecord> = export.records.iter().collect();
        let order = |kind: Kind| Kind::ALL.iter().position(|other| *other == kind);
        records.sort_by(|a, b| (order(a.record.kind), &a.id).cmp(&(order(b.record.kind), &b.id)));
        let description = SourceDescription {
            vault_id: owner.to_owned(),
            name: String::new(),
            generator: concat!("mementory/", env!("CARGO_PKG_VERSION")).into(),
            now,
        };
        let mut source = GrantedSource { description, records, covers: self.masker.is_some() };
        let mut out = Vec::new();
        let report = format.write_answer(&mut source, &mut out, options).map_err(unwrap_format)?;
        let document = String::from_utf8(out).map_err(|_| VaultError::Damaged("a document is not text".into()))?;
        let count = |(kind, n): (&String, &u64)| Some((Kind::parse(kind)?, u32::try_from(*n).unwrap_or(u32::MAX)));
        Ok((document, report.by_kind.iter().filter_map(count).collect()))
    }
}

/// Passes the records of an export to the writer of one document. The document has no tombstones and no files.
struct GrantedSource<'e> {
    description: SourceDescription,
    records: Vec<&'e StoredRecord>,
    covers: bool,
}

impl RecordSource for GrantedSource<'_> {
    fn description(&self) -> SourceDescription {
        self.description.clone()
    }

    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        self.records.iter().try_for_each(|stored| visit((*stored).clone()))
    }

    fn covers(&self) -> bool {
        self.covers
    }

    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError> {
        Ok(Vec::new())
    }

    fn passthrough_formats(&mut self) -> Result<Vec<String>, FormatError> {
        Ok(Vec::new())
    }

    fn passthrough(
        &mut self,
        _format: &str,
        _visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        Ok(())
    }

    fn attachment(
        &mut self,
        _id: &str,
        _read: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        Ok(false)
    }
}
