//! Compares the newest export of an assistant with earlier ones: which records are new, changed, or gone.
//!
//! Only complete exports are compared, and only with earlier ones that share records, because an export of another
//! account says nothing about this one. A kind of record that is missing from the newest export may not have been
//! exported at all. A conversation outside the time span of the export's conversations may be outside the exported
//! period. Neither these records nor these conversations count as gone.
use crate::{
    VaultResult,
    batch_rows::BatchRows,
    context::Context,
    diff_status::{ExportDiff, ExportDiffStatus},
    import_report::ImportReport,
};
use mementory_formats::registry;
use mementory_model::Kind;
use mementory_store::kind_code;
use rusqlite::{Connection, params};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

const COMPARED_KINDS: [Kind; 3] = [Kind::Memory, Kind::Profile, Kind::Conversation];

/// Returns the ids of the formats whose exports contain everything that an assistant stores for an account. Each id is
/// also the name of the platform.
fn complete_exports() -> impl Iterator<Item = &'static str> {
    registry().iter().filter(|f| f.capabilities().complete_account_export).map(|f| f.id())
}

struct RowInfo {
    id: [u8; 16],
    row: i64,
    kind: i64,
    sort: i64,
    batch: Option<i64>,
    version_batch: Option<i64>,
}

/// The records of a planned import, which writes nothing to the store.
#[derive(Debug, Default)]
pub(crate) struct PlannedRows {
    /// Rows of the vault that the import contains.
    rows: HashSet<i64>,
    /// Kinds that the import contains.
    kinds: HashSet<i64>,
    /// Times of the oldest and the latest conversation in the import, in microseconds since 1970.
    span: Option<(i64, i64)>,
}

impl PlannedRows {
    /// Adds a record of the import. `known` contains the record's row and list position if the vault has the record.
    /// `sort` computes the time of the record and is called for conversations only.
    pub(crate) fn add(&mut self, kind: Kind, known: Option<(i64, i64)>, sort: impl FnOnce() -> i64) {
        if !COMPARED_KINDS.contains(&kind) {
            return;
        }
        self.kinds.insert(kind_code(kind));
        self.rows.extend(known.map(|(row, _)| row));
        if kind == Kind::Conversation {
            let sort = sort();
            let at = known.map_or(sort, |(_, place)| place.max(sort));
            self.span = Some(self.span.map_or((at, at), |(oldest, latest)| (oldest.min(at), latest.max(at))));
        }
    }
}

struct Batch {
    id: i64,
    same: Option<Vec<u8>>,
    older: Option<Vec<u8>>,
    /// Number of files that the batch imported.
    files: i64,
    report: String,
}

/// True if an item that could not be read may have been a record of a compared kind.
fn is_incomplete(report: &ImportReport) -> bool {
    let failed = |kind: &str| report.by_kind.get(kind).is_some_and(|counts| counts.failed > 0);
    COMPARED_KINDS.iter().any(|kind| failed(kind.as_str())) || failed("foreign") || failed("other")
}

/// Returns the differences between the newest export of each assistant and earlier exports. The result is cached until
/// the vault changes.
pub(crate) fn export_diff(context: &Context) -> VaultResult<Arc<ExportDiff>> {
    let stamp: (i64, i64, i64) = context.store.read(|c| {
        let sql = "SELECT (SELECT coalesce(max(seq), 0) FROM audit), (SELECT coalesce(max(id), 0) FROM batches), \
                   (SELECT count(*) FROM batches WHERE undone_at IS NOT NULL)";
        Ok(c.prepare_cached(sql)?.query_row([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?)
    })?;
    let mut cached = context.export_diff.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((of, diff)) = &*cached
        && *of == stamp
    {
        return Ok(Arc::clone(diff));
    }
    let diff = Arc::new(context.store.read(compare_exports)?);
    *cached = Some((stamp, Arc::clone(&diff)));
    Ok(diff)
}

fn compare_exports(c: &Connection) -> VaultResult<ExportDiff> {
    let mut out = ExportDiff::default();
    for format in complete_exports() {
        let batches = batches(c, format)?;
        let Some((Batch { id: newest, same, older, report, .. }, earlier)) = batches.split_first() else { continue };
        // A newer import of several formats may contain a newer export of this format. The store does not record from
        // which of these formats each record came, so this format is not compared then.
        let mixed_import_sql = "SELECT 1 FROM batches WHERE undone_at IS NULL AND format IS NULL AND id > ?1";
        if earlier.is_empty() || c.prepare_cached(mixed_import_sql)?.exists([newest])? {
            continue;
        }
        let newest_rows = BatchRows::read(c, *newest, same.as_deref(), older.as_deref())?;
        let is_in_newest = |info: &RowInfo| newest_rows.contains(info.row, info.batch, info.version_batch);
        let rows = compared_rows(c, format)?;
        let earlier_batches = single_file_batches(earlier);
        // If an item could not be read, nothing is reported as gone, because the item may have been any of the records.
        let is_complete = serde_json::from_str(report).is_ok_and(|report| !is_incomplete(&report));
        let with_new_messages: HashSet<i64> =
            query_integers(c, "SELECT DISTINCT owner FROM records WHERE batch = ?1 AND owner IS NOT NULL", *newest)?;
        let kinds: HashSet<i64> = rows.iter().filter(|info| is_in_newest(info)).map(|info| info.kind).collect();
        let times = || {
            let conversation = kind_code(Kind::Conversation);
            rows.iter().filter(move |info| info.kind == conversation && is_in_newest(info)).map(|info| info.sort)
        };
        let Some(rule) =
            GoneRule::new(c, &rows, &earlier_batches, &is_in_newest, kinds, times().min().zip(times().max()))?
        else {
            continue;
        };
        for info in &rows {
            let status = if info.batch == Some(*newest) {
                ExportDiffStatus::New
            } else if is_in_newest(info) {
                let is_unchanged = info.version_batch != Some(*newest) && !newest_rows.has_version(info.row);
                if is_unchanged && !with_new_messages.contains(&info.row) {
                    continue;
                }
                ExportDiffStatus::Changed
            } else if is_complete && rule.counts_as_gone(info) {
                ExportDiffStatus::Gone
            } else {
                continue;
            };
            out.ids.insert(info.id, status);
            let kind = mementory_store::kind_from_code(info.kind).as_str();
            *out.counts.entry((format.to_owned(), kind, status)).or_default() += 1;
        }
    }
    Ok(out)
}

/// Returns the number of records of each kind that would be gone if the planned import were the newest export.
pub(crate) fn count_gone_if_newest(
    c: &Connection,
    report: &ImportReport,
    planned: &PlannedRows,
) -> VaultResult<BTreeMap<String, u32>> {
    let mut out = BTreeMap::new();
    let Some(format) =
        report.format.as_deref().filter(|format| complete_exports().any(|f| f == *format) && !is_incomplete(report))
    else {
        return Ok(out);
    };
    let earlier_batches = single_file_batches(&batches(c, format)?);
    let rows = compared_rows(c, format)?;
    let contains = |info: &RowInfo| planned.rows.contains(&info.row);
    let Some(rule) = GoneRule::new(c, &rows, &earlier_batches, &contains, planned.kinds.clone(), planned.span)? else {
        return Ok(out);
    };
    for info in rows.iter().filter(|info| !contains(info) && rule.counts_as_gone(info)) {
        *out.entry(mementory_store::kind_from_code(info.kind).as_str().to_owned()).or_default() += 1;
    }
    Ok(out)
}

/// Returns the ids of the batches that imported a single file. Several files in one batch may belong to different
/// accounts.
fn single_file_batches(batches: &[Batch]) -> HashSet<i64> {
    batches.iter().filter(|batch| batch.files == 1).map(|batch| batch.id).collect()
}

/// Returns the batches of a format that are not undone, newest first.
fn batches(c: &Connection, format: &str) -> VaultResult<Vec<Batch>> {
    let mut statement = c.prepare_cached(
        "SELECT id, same, older, json_array_length(names), report FROM batches \
         WHERE undone_at IS NULL AND format = ?1 ORDER BY id DESC",
    )?;
    let batches = statement.query_map([format], |r| {
        Ok(Batch { id: r.get(0)?, same: r.get(1)?, older: r.get(2)?, files: r.get(3)?, report: r.get(4)? })
    })?;
    Ok(batches.collect::<Result<_, _>>()?)
}

/// Decides whether a record that is missing from an export should have been in it and is therefore gone.
struct GoneRule {
    /// Batches of earlier exports of the same account.
    related: HashSet<i64>,
    /// Kinds that the export contains.
    kinds: HashSet<i64>,
    /// Times of the oldest and the latest conversation in the export, in microseconds since 1970.
    span: Option<(i64, i64)>,
    /// Memories that were derived from a conversation.
    derived: HashSet<i64>,
    /// False if a related export contains a later conversation. In that case this export was made before the related
    /// one, although it was imported later, and a record that is newer than this export does not count as gone.
    newer: bool,
}

impl GoneRule {
    /// Prepares the rule for the newest export. Returns None if no earlier export is from the same account.
    fn new(
        c: &Connection,
        rows: &[RowInfo],
        earlier: &HashSet<i64>,
        contains: &dyn Fn(&RowInfo) -> bool,
        kinds: HashSet<i64>,
        span: Option<(i64, i64)>,
    ) -> VaultResult<Option<Self>> {
        let is_of_earlier_batch = |info: &RowInfo| info.batch.is_some_and(|batch| earlier.contains(&batch));
        // Exports that share records belong to the same account.
        let related: HashSet<i64> = rows
            .iter()
            .filter(|info| is_of_earlier_batch(info) && contains(info))
            .filter_map(|info| info.batch)
            .collect();
        if related.is_empty() {
            return Ok(None);
        }
        let derived = query_integers(
            c,
            "SELECT DISTINCT l.row FROM links l JOIN records r ON r.row = l.row \
            WHERE l.relation = 'derived_from' AND r.kind = ?1",
            kind_code(Kind::Memory),
        )?;
        let conversation = kind_code(Kind::Conversation);
        let newer = rows
            .iter()
            .filter(|info| info.kind == conversation && info.batch.is_some_and(|batch| related.contains(&batch)))
            .all(|info| span.is_none_or(|(_, latest)| info.sort <= latest));
        Ok(Some(Self { related, kinds, span, derived, newer }))
    }

    fn counts_as_gone(&self, info: &RowInfo) -> bool {
        info.batch.is_some_and(|batch| self.related.contains(&batch))
            && self.kinds.contains(&info.kind)
            && match info.kind == kind_code(Kind::Conversation) {
                true => self.span.is_some_and(|(oldest, latest)| (oldest..=latest).contains(&info.sort)),
                // A memory derived from a conversation never counts as gone.
                false => self.newer && !self.derived.contains(&info.row),
            }
    }
}

fn compared_rows(c: &Connection, platform: &str) -> VaultResult<Vec<RowInfo>> {
    let kinds = COMPARED_KINDS.map(|kind| kind_code(kind).to_string()).join(",");
    let mut statement = c.prepare_cached(&format!(
        "SELECT row, kind, sort, batch, version_batch, id FROM records \
         WHERE kind IN ({kinds}) AND trashed IS NULL AND platform = (SELECT id FROM platforms WHERE name = ?1)"
    ))?;
    let info = statement.query_map(params![platform], |r| {
        Ok(RowInfo {
            row: r.get(0)?,
            kind: r.get(1)?,
            sort: r.get(2)?,
            batch: r.get(3)?,
            version_batch: r.get(4)?,
            id: r.get(5)?,
        })
    })?;
    Ok(info.collect::<Result<_, _>>()?)
}

fn query_integers(c: &Connection, sql: &str, value: i64) -> VaultResult<HashSet<i64>> {
    let mut statement = c.prepare_cached(sql)?;
    let rows = statement.query_map([value], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
