//! The records that a grant makes visible. Every tool of every client reads through [`GrantedView`]. Each of its
//! functions uses `select`, which applies the condition of the grant, and `granted_record`, which masks a record and
//! copies only what a client may see.
use crate::{VaultError, VaultResult, agents::GrantScope, context::Context, sensitive::Masker};
use mementory_formats::Redaction;
use mementory_model::{Kind, Record, Timestamp};
use mementory_store::{ROW_COLUMNS, RowView, ids::parse_id, kind_code};
use rusqlite::{OptionalExtension, params_from_iter, types::Value};
use std::collections::BTreeMap;

/// Kinds that `list` returns. Unlike messages and files, their records can be understood without other records.
const LISTED_KINDS: [Kind; 5] = [Kind::Memory, Kind::Profile, Kind::Fact, Kind::Procedure, Kind::Todo];

/// The part of a record that a client may see. Sensitive values are masked unless the grant says otherwise.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "as in `Record`")]
pub struct GrantedRecord {
    pub id: String,
    pub kind: Kind,
    pub record_type: Option<String>,
    pub title: Option<String>,
    pub text: String,
    /// Platform that the record came from.
    pub source: String,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub status: Option<String>,
    pub tags: Vec<String>,
    pub confidence: Option<f64>,
    /// Method by which the source made the record.
    pub method: Option<String>,
    /// Who wrote the message. None for a record that is not a message.
    pub role: Option<String>,
    /// Id of the record's conversation, if the conversation is visible too.
    pub conversation: Option<String>,
    pub version: u32,
    /// True if a value in the record was masked.
    pub covered: bool,
}

/// One page of a list of visible records.
#[derive(Debug, Clone, Default)]
pub struct GrantedPage {
    /// The records of this page, newest first.
    pub records: Vec<GrantedRecord>,
    /// Cursor of the next page. None on the last page.
    pub next: Option<String>,
    /// Number of records on all pages.
    pub total: u32,
}

/// Reads the records that a grant makes visible.
pub struct GrantedView<'v> {
    pub(super) context: &'v Context,
    pub(super) scope: GrantScope,
    pub(super) masker: Option<Masker<'v>>,
}

/// A visible record after masking. Fields that the client may not see are still set, so the caller must copy only the
/// permitted fields.
pub(super) struct MaskedRecord {
    pub(super) record: Record,
    /// Marks of the masked values in the text of the record. Empty if values were masked only in other fields.
    pub(super) marks: Vec<Redaction>,
    covered: bool,
}

impl<'v> GrantedView<'v> {
    pub(crate) fn new(context: &'v Context, scope: GrantScope) -> VaultResult<Self> {
        let masker = match scope.uncovered {
            true => None,
            false => Some(Masker::for_current_state(context)?),
        };
        Ok(Self { context, scope, masker })
    }

    /// Returns the rows of visible records that meet the SQL condition `condition`. Each `??` in `condition` represents
    /// the next value of `more`. `tail` is the end of the query, for example its `ORDER BY` and `LIMIT`.
    pub(super) fn select(&self, condition: &str, more: Vec<Value>, tail: &str) -> VaultResult<Vec<RowView>> {
        let (scope, mut values) = self.scope.condition();
        let mut condition = condition.to_owned();
        for value in more {
            values.push(value);
            condition = condition.replacen("??", &format!("?{}", values.len()), 1);
        }
        let sql = format!(
            "SELECT {ROW_COLUMNS} FROM records r JOIN platforms p ON p.id = r.platform WHERE {scope} AND {condition} {tail}"
        );
        self.context.store.read(|c| {
            let mut statement = c.prepare_cached(&sql)?;
            let rows = statement.query_map(params_from_iter(values.iter()), RowView::read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    pub(super) fn masked_record(&mut self, view: &RowView) -> VaultResult<MaskedRecord> {
        let mut record = self.context.store.read(|c| self.context.store.packs.content(c, view.pack, view.slot))?;
        view.renewed().apply_to(&mut record);
        let marks = self.masker.as_mut().and_then(|masker| masker.mask_record(&mut record));
        Ok(MaskedRecord { record, covered: marks.is_some(), marks: marks.unwrap_or_default() })
    }

    /// Returns the id of the conversation or document that a record belongs to, if the conversation or document is
    /// visible too.
    pub(super) fn owner_id(&self, view: &RowView) -> VaultResult<Option<String>> {
        let Some(owner) = view.owner else { return Ok(None) };
        Ok(self.select("r.row = ??", vec![owner.into()], "LIMIT 1")?.pop().map(|row| row.id_text()))
    }

    /// Returns the part of a record that the client may see. `view` is a row that [`select`](Self::select) returned.
    pub(super) fn granted_record(&mut self, view: &RowView) -> VaultResult<GrantedRecord> {
        let MaskedRecord { record, covered, .. } = self.masked_record(view)?;
        let conversation = self.owner_id(view)?;
        Ok(GrantedRecord {
            id: view.id_text(),
            kind: view.kind,
            record_type: record.record_type,
            title: record.title,
            text: record.text,
            source: record.source.platform,
            created: record.times.created,
            updated: record.times.updated,
            status: record.status,
            tags: record.tags,
            confidence: record.confidence,
            method: record.source.method,
            role: record.message.map(|message| message.role),
            conversation,
            version: view.version,
            covered,
        })
    }

    /// Returns a visible record.
    ///
    /// # Errors
    /// `NotFound` if the record is not visible. The error is the same for a record that does not exist or was erased.
    pub fn record(&mut self, id: &str) -> VaultResult<GrantedRecord> {
        let view = self.row(id)?;
        self.granted_record(&view)
    }

    fn row(&self, id: &str) -> VaultResult<RowView> {
        let parsed = parse_id(id).ok_or_else(|| VaultError::not_found(id))?;
        let row = self.select("r.id = ??", vec![parsed.to_vec().into()], "LIMIT 1")?.pop();
        row.ok_or_else(|| VaultError::not_found(id))
    }

    /// Reads records from the start of `rows` as long as their texts have at most `max_chars` characters in total.
    /// Always reads at least one record, however long it is.
    fn granted_records_within(&mut self, rows: &[RowView], max_chars: usize) -> VaultResult<Vec<GrantedRecord>> {
        let (mut out, mut chars) = (Vec::new(), 0);
        for row in rows {
            let record = self.granted_record(row)?;
            chars += record.text.chars().count();
            if chars > max_chars && !out.is_empty() {
                break;
            }
            out.push(record);
        }
        Ok(out)
    }

    /// Returns messages of a visible conversation, in the order of the source. Skips the first `skip` messages and
    /// returns at most `limit`. The texts of the returned messages have at most `max_chars` characters in total, except
    /// that one message is always returned, however long it is. The returned flag says whether there are more messages.
    ///
    /// # Errors
    /// As for [`record`](Self::record).
    pub fn messages(
        &mut self,
        id: &str,
        skip: u32,
        limit: u32,
        max_chars: usize,
    ) -> VaultResult<(Vec<GrantedRecord>, bool)> {
        let conversation = self.row(id)?;
        let condition = format!("r.owner = ?? AND r.kind = {}", kind_code(Kind::Message));
        let tail = format!("ORDER BY r.position, r.row LIMIT {} OFFSET {skip}", limit.saturating_add(1));
        let mut rows = self.select(&condition, vec![conversation.row.into()], &tail)?;
        let row_count = rows.len();
        rows.truncate(limit as usize);
        let messages = self.granted_records_within(&rows, max_chars)?;
        let has_more = row_count > messages.len();
        Ok((messages, has_more))
    }

    /// Returns a page of the visible memories, profiles, facts, procedures and tasks, newest first. A page has at most
    /// `limit` records. The texts of these records have at most `max_chars` characters in total, except that one record
    /// is always returned, however long it is.
    ///
    /// # Errors
    /// `Usage` for a cursor that is not from this list.
    pub fn list(&mut self, cursor: Option<&str>, limit: u32, max_chars: usize) -> VaultResult<GrantedPage> {
        let kinds = LISTED_KINDS.map(|kind| kind_code(kind).to_string()).join(",");
        let kind_condition = format!("r.kind IN ({kinds})");
        let mut condition = kind_condition.clone();
        let mut values = Vec::new();
        if let Some(cursor) = cursor {
            let (sort, id) = parse_cursor(cursor)?;
            condition.push_str(" AND (r.sort, r.id) < (??, ??)");
            values.extend([sort.into(), id.into()]);
        }
        let total = self.count(&kind_condition)?;
        let tail = format!("ORDER BY r.sort DESC, r.id DESC LIMIT {}", limit.saturating_add(1));
        let mut rows = self.select(&condition, values, &tail)?;
        let row_count = rows.len();
        rows.truncate(limit as usize);
        let records = self.granted_records_within(&rows, max_chars)?;
        let last = records.len().checked_sub(1).and_then(|last| rows.get(last));
        let next = last.filter(|_| row_count > records.len()).map(cursor_of);
        Ok(GrantedPage { records, next, total })
    }

    fn count(&self, condition: &str) -> VaultResult<u32> {
        let (scope, values) = self.scope.condition();
        let sql = format!("SELECT count(*) FROM records r WHERE {scope} AND {condition}");
        self.context.store.read(|c| {
            let count = c.prepare_cached(&sql)?.query_row(params_from_iter(values.iter()), |r| r.get(0)).optional()?;
            Ok(count.unwrap_or(0))
        })
    }

    /// Returns the number of visible records of each kind. Kinds without visible records are left out.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn counts(&self) -> VaultResult<BTreeMap<Kind, u32>> {
        let mut counts = BTreeMap::new();
        for kind in self.scope.visible_kinds() {
            let count = self.count(&format!("r.kind = {}", kind_code(kind)))?;
            if count > 0 {
                counts.insert(kind, count);
            }
        }
        Ok(counts)
    }
}

/// Returns the cursor that continues after a record. A cursor consists of the record's date and id, which the client
/// has seen. It contains neither a row number, which would reveal how many records there are, nor a position, which an
/// erasure or an import would change.
pub(super) fn cursor_of(row: &RowView) -> String {
    format!("{}.{}", row.sort, row.id_text())
}

/// Returns the date and the id in a cursor. The vault may no longer have a record with this id.
pub(super) fn parse_cursor(cursor: &str) -> VaultResult<(i64, Vec<u8>)> {
    let invalid_cursor = || VaultError::Usage("This cursor is not from this list. Start again without one.".into());
    let (sort, id) = cursor.split_once('.').ok_or_else(invalid_cursor)?;
    let sort: i64 = sort.parse().map_err(|_| invalid_cursor())?;
    Ok((sort, parse_id(id).ok_or_else(invalid_cursor)?.to_vec()))
}
