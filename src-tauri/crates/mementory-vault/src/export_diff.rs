//! What a newer export of an assistant changed: new, changed, and gone there.
//!
//! Only whole exports are compared, and only with earlier ones that tell of the same things: an export of another
//! account says nothing of this one. A kind that the newest does not hold at all was perhaps not exported, and a
//! conversation older than the oldest in it perhaps not asked for: neither is called gone.
use crate::{
    VaultResult,
    context::Context,
    diff_status::{ExportDiff, ExportDiffStatus},
    import_report::ImportReport,
    row_ranges::RowRanges,
};
use mementory_model::Kind;
use mementory_store::kind_code;
use rusqlite::{Connection, params};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

/// Formats whose exports hold everything that the assistant has of an account, by platform.
const WHOLE: [&str; 2] = ["chatgpt", "claude"];
/// What is compared.
const KINDS: [Kind; 3] = [Kind::Memory, Kind::Profile, Kind::Conversation];

struct RowInfo {
    id: [u8; 16],
    row: i64,
    kind: i64,
    sort: i64,
    batch: Option<i64>,
    version_batch: Option<i64>,
}

/// What an export tells that is only planned: nothing of it is in the store.
#[derive(Debug, Default)]
pub(crate) struct PlannedRows {
    /// Known rows that it tells.
    rows: HashSet<i64>,
    /// Kinds that it holds.
    kinds: HashSet<i64>,
    /// Times of its conversations: the oldest and the latest.
    span: Option<(i64, i64)>,
}

impl PlannedRows {
    /// Takes note of a record; `known`: its row and place in the list, if the vault has it. `sort`: the time that it
    /// tells, asked for of conversations only.
    pub(crate) fn add(&mut self, kind: Kind, known: Option<(i64, i64)>, sort: impl FnOnce() -> i64) {
        if !KINDS.contains(&kind) {
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
    /// Files that were dropped together.
    files: i64,
    report: String,
}

/// True when something could not be read that may have been a conversation or a memory.
fn incomplete(report: &ImportReport) -> bool {
    let failed = |kind: &str| report.by_kind.get(kind).is_some_and(|counts| counts.failed > 0);
    KINDS.iter().any(|kind| failed(kind.as_str())) || failed("foreign") || failed("other")
}

/// ExportDiff by the newest exports; cached until something changes.
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
    let diff = Arc::new(context.store.read(compare)?);
    *cached = Some((stamp, Arc::clone(&diff)));
    Ok(diff)
}

fn compare(c: &Connection) -> VaultResult<ExportDiff> {
    let mut out = ExportDiff::default();
    for format in WHOLE {
        let batches = batches(c, format)?;
        let Some((Batch { id: newest, same, older, report, .. }, earlier)) = batches.split_first() else { continue };
        // A drop of several formats may have held a newer export; which of them told what is not known.
        let mixed = "SELECT 1 FROM batches WHERE undone_at IS NULL AND format IS NULL AND id > ?1";
        if earlier.is_empty() || c.prepare_cached(mixed)?.exists([newest])? {
            continue;
        }
        let told = [same, older].map(|runs| runs.as_deref().and_then(RowRanges::decode).unwrap_or_default());
        let versions: HashSet<i64> = column(c, "SELECT row FROM versions WHERE batch = ?1", *newest)?;
        let in_newest = |seen: &RowInfo| {
            seen.batch == Some(*newest)
                || seen.version_batch == Some(*newest)
                || told.iter().any(|runs| runs.contains(seen.row))
                || versions.contains(&seen.row)
        };
        let rows = rows(c, format)?;
        let earlier = alone(earlier);
        // What could not be read may have been anything.
        let whole = serde_json::from_str(report).is_ok_and(|report| !incomplete(&report));
        let grown: HashSet<i64> =
            column(c, "SELECT DISTINCT owner FROM records WHERE batch = ?1 AND owner IS NOT NULL", *newest)?;
        let kinds: HashSet<i64> = rows.iter().filter(|seen| in_newest(seen)).map(|seen| seen.kind).collect();
        let told_times = || {
            let conversation = kind_code(Kind::Conversation);
            rows.iter().filter(move |seen| seen.kind == conversation && in_newest(seen)).map(|seen| seen.sort)
        };
        let Some(absent) =
            Absent::of(c, &rows, &earlier, &in_newest, kinds, told_times().min().zip(told_times().max()))?
        else {
            continue;
        };
        for seen in &rows {
            let status = if seen.batch == Some(*newest) {
                ExportDiffStatus::New
            } else if in_newest(seen) {
                let same = seen.version_batch != Some(*newest) && !versions.contains(&seen.row);
                if same && !grown.contains(&seen.row) {
                    continue;
                }
                ExportDiffStatus::Changed
            } else if whole && absent.is(seen) {
                ExportDiffStatus::Gone
            } else {
                continue;
            };
            out.ids.insert(seen.id, status);
            let kind = mementory_store::kind_from(seen.kind).as_str();
            *out.counts.entry((format.to_owned(), kind, status)).or_default() += 1;
        }
    }
    Ok(out)
}

/// How many of each kind an export lacks that would be the newest, as it is planned.
pub(crate) fn lacking(c: &Connection, report: &ImportReport, told: &PlannedRows) -> VaultResult<BTreeMap<String, u32>> {
    let mut out = BTreeMap::new();
    let Some(format) = report.format.as_deref().filter(|format| WHOLE.contains(format) && !incomplete(report)) else {
        return Ok(out);
    };
    let earlier = alone(&batches(c, format)?);
    let rows = rows(c, format)?;
    let tells = |seen: &RowInfo| told.rows.contains(&seen.row);
    let Some(absent) = Absent::of(c, &rows, &earlier, &tells, told.kinds.clone(), told.span)? else { return Ok(out) };
    for seen in rows.iter().filter(|seen| !tells(seen) && absent.is(seen)) {
        *out.entry(mementory_store::kind_from(seen.kind).as_str().to_owned()).or_default() += 1;
    }
    Ok(out)
}

/// Several files in one drop may be of several accounts: only those that came alone are compared with.
fn alone(batches: &[Batch]) -> HashSet<i64> {
    batches.iter().filter(|batch| batch.files == 1).map(|batch| batch.id).collect()
}

/// Newest first.
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

/// What makes a record that an export does not tell one that it would have told.
struct Absent {
    /// Earlier exports of the same account.
    related: HashSet<i64>,
    kinds: HashSet<i64>,
    span: Option<(i64, i64)>,
    /// Memories that were taken from a conversation.
    taken: HashSet<i64>,
    /// It is not an older export that came later: that would say nothing of what was made after it.
    newer: bool,
}

impl Absent {
    /// None when no earlier export is of the same account.
    fn of(
        c: &Connection,
        rows: &[RowInfo],
        earlier: &HashSet<i64>,
        tells: &dyn Fn(&RowInfo) -> bool,
        kinds: HashSet<i64>,
        span: Option<(i64, i64)>,
    ) -> VaultResult<Option<Self>> {
        let of_earlier = |seen: &RowInfo| seen.batch.is_some_and(|batch| earlier.contains(&batch));
        // PlannedRows by both: the same account.
        let related: HashSet<i64> =
            rows.iter().filter(|seen| of_earlier(seen) && tells(seen)).filter_map(|seen| seen.batch).collect();
        if related.is_empty() {
            return Ok(None);
        }
        let taken = column(
            c,
            "SELECT DISTINCT l.row FROM links l JOIN records r ON r.row = l.row \
            WHERE l.relation = 'derived_from' AND r.kind = ?1",
            kind_code(Kind::Memory),
        )?;
        let conversation = kind_code(Kind::Conversation);
        let newer = rows
            .iter()
            .filter(|seen| seen.kind == conversation && seen.batch.is_some_and(|batch| related.contains(&batch)))
            .all(|seen| span.is_none_or(|(_, latest)| seen.sort <= latest));
        Ok(Some(Self { related, kinds, span, taken, newer }))
    }

    fn is(&self, seen: &RowInfo) -> bool {
        seen.batch.is_some_and(|batch| self.related.contains(&batch))
            && self.kinds.contains(&seen.kind)
            && match seen.kind == kind_code(Kind::Conversation) {
                true => self.span.is_some_and(|(oldest, latest)| (oldest..=latest).contains(&seen.sort)),
                // One that was taken from a conversation goes with that, and says nothing by itself.
                false => self.newer && !self.taken.contains(&seen.row),
            }
    }
}

fn rows(c: &Connection, platform: &str) -> VaultResult<Vec<RowInfo>> {
    let kinds = KINDS.map(|kind| kind_code(kind).to_string()).join(",");
    let mut statement = c.prepare_cached(&format!(
        "SELECT row, kind, sort, batch, version_batch, id FROM records \
         WHERE kind IN ({kinds}) AND trashed IS NULL AND platform = (SELECT id FROM platforms WHERE name = ?1)"
    ))?;
    let seen = statement.query_map(params![platform], |r| {
        Ok(RowInfo {
            row: r.get(0)?,
            kind: r.get(1)?,
            sort: r.get(2)?,
            batch: r.get(3)?,
            version_batch: r.get(4)?,
            id: r.get(5)?,
        })
    })?;
    Ok(seen.collect::<Result<_, _>>()?)
}

fn column(c: &Connection, sql: &str, value: i64) -> VaultResult<HashSet<i64>> {
    let mut statement = c.prepare_cached(sql)?;
    let rows = statement.query_map([value], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
