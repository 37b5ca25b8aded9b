//! What a newer export of an assistant changed: new, changed, and gone there.
//!
//! Only whole exports are compared, and only with earlier ones that tell of the same things: an export of another
//! account says nothing of this one. A kind that the newest does not hold at all was perhaps not exported, and a
//! conversation older than the oldest in it perhaps not asked for: neither is called gone.
use crate::{
    Vault, VaultResult,
    import::Runs,
    store::{RowView, kind_code},
};
use keepsake_model::Kind;
use rusqlite::{Connection, params};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

/// Formats whose exports hold everything that the assistant has of an account, by platform.
const WHOLE: [&str; 2] = ["chatgpt", "claude"];
/// What is compared.
const KINDS: [Kind; 3] = [Kind::Memory, Kind::Profile, Kind::Conversation];

/// What became of a record in the newest export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Not in any earlier one.
    New,
    /// Says something else than before.
    Changed,
    /// Was in an earlier one and is not in it.
    Gone,
}

impl Standing {
    /// Stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Gone => "gone",
        }
    }

    /// By its stable name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::New, Self::Changed, Self::Gone].into_iter().find(|standing| standing.as_str() == name)
    }
}

/// Standing of every record that has one.
#[derive(Debug, Default)]
pub struct Standings {
    ids: HashMap<[u8; 16], Standing>,
    /// How many, by platform, kind and standing.
    pub counts: BTreeMap<(String, &'static str, Standing), u32>,
}

impl Standings {
    /// Of one record.
    pub fn of(&self, view: &RowView) -> Option<Standing> {
        self.ids.get(&view.id).copied()
    }

    /// Ids of all records with this standing.
    pub fn ids(&self, standing: Standing) -> Vec<String> {
        let mut ids: Vec<_> =
            self.ids.iter().filter(|(_, of)| **of == standing).map(|(id, _)| hex::encode(id)).collect();
        ids.sort_unstable();
        ids
    }
}

/// What was compared last, and at which point of the vault's log.
pub(crate) type Kept = Option<((i64, i64, i64), Arc<Standings>)>;

struct Seen {
    id: [u8; 16],
    row: i64,
    kind: i64,
    sort: i64,
    batch: Option<i64>,
    version_batch: Option<i64>,
}

struct Batch {
    id: i64,
    same: Option<Vec<u8>>,
    older: Option<Vec<u8>>,
    /// Files that were dropped together.
    files: i64,
    report: String,
}

/// True when a report tells of conversations or memories that could not be read.
fn incomplete(report: &str) -> bool {
    let report: serde_json::Value = serde_json::from_str(report).unwrap_or_default();
    let failed = |kind: &str| report["by_kind"][kind]["failed"].as_u64().unwrap_or(0);
    KINDS.iter().any(|kind| failed(kind.as_str()) > 0) || failed("foreign") > 0
}

impl Vault {
    /// Standings by the newest exports; kept until something changes.
    pub fn standings(&self) -> VaultResult<Arc<Standings>> {
        let stamp: (i64, i64, i64) = self.store.read(|c| {
            let sql = "SELECT (SELECT coalesce(max(seq), 0) FROM audit), (SELECT coalesce(max(id), 0) FROM batches), \
                       (SELECT count(*) FROM batches WHERE undone_at IS NOT NULL)";
            Ok(c.prepare_cached(sql)?.query_row([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?)
        })?;
        let mut kept = self.standings.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((of, standings)) = &*kept
            && *of == stamp
        {
            return Ok(Arc::clone(standings));
        }
        let standings = Arc::new(self.store.read(compare)?);
        *kept = Some((stamp, Arc::clone(&standings)));
        Ok(standings)
    }
}

fn compare(c: &Connection) -> VaultResult<Standings> {
    let mut out = Standings::default();
    for format in WHOLE {
        let mut statement = c.prepare_cached(
            "SELECT id, same, older, json_array_length(names), report FROM batches \
             WHERE undone_at IS NULL AND format = ?1 ORDER BY id DESC",
        )?;
        let batches = statement
            .query_map([format], |r| {
                Ok(Batch { id: r.get(0)?, same: r.get(1)?, older: r.get(2)?, files: r.get(3)?, report: r.get(4)? })
            })?
            .collect::<Result<Vec<_>, _>>()?;
        let Some((Batch { id: newest, same, older, report, .. }, earlier)) = batches.split_first() else { continue };
        // A drop of several formats may have held a newer export; which of them told what is not known.
        let mixed = "SELECT 1 FROM batches WHERE undone_at IS NULL AND format IS NULL AND id > ?1";
        if earlier.is_empty() || c.prepare_cached(mixed)?.exists([newest])? {
            continue;
        }
        let told = [same, older].map(|runs| runs.as_deref().and_then(Runs::decode).unwrap_or_default());
        let versions: HashSet<i64> = column(c, "SELECT row FROM versions WHERE batch = ?1", *newest)?;
        let in_newest = |seen: &Seen| {
            seen.batch == Some(*newest)
                || seen.version_batch == Some(*newest)
                || told.iter().any(|runs| runs.contains(seen.row))
                || versions.contains(&seen.row)
        };
        let rows = rows(c, format)?;
        // Several files in one drop may be of several accounts.
        let earlier: HashSet<i64> = earlier.iter().filter(|batch| batch.files == 1).map(|batch| batch.id).collect();
        // What could not be read may have told of anything.
        let whole = !incomplete(report);
        let grown: HashSet<i64> =
            column(c, "SELECT DISTINCT owner FROM records WHERE batch = ?1 AND owner IS NOT NULL", *newest)?;
        let taken: HashSet<i64> = column(
            c,
            "SELECT DISTINCT l.row FROM links l JOIN records r ON r.row = l.row \
            WHERE l.relation = 'derived_from' AND r.kind = ?1",
            kind_code(Kind::Memory),
        )?;
        let of_earlier = |seen: &Seen| seen.batch.is_some_and(|batch| earlier.contains(&batch));
        // Told by both: the same account.
        let related: HashSet<i64> =
            rows.iter().filter(|seen| of_earlier(seen) && in_newest(seen)).filter_map(|seen| seen.batch).collect();
        if related.is_empty() {
            continue;
        }
        let conversation = kind_code(Kind::Conversation);
        let kinds: HashSet<i64> = rows.iter().filter(|seen| in_newest(seen)).map(|seen| seen.kind).collect();
        let told_times =
            || rows.iter().filter(|seen| seen.kind == conversation && in_newest(seen)).map(|seen| seen.sort);
        let (oldest, latest) = (told_times().min(), told_times().max());
        // An older export that came later says nothing of what was made after it.
        let newer = rows
            .iter()
            .filter(|seen| seen.kind == conversation && seen.batch.is_some_and(|batch| related.contains(&batch)))
            .all(|seen| latest.is_none_or(|latest| seen.sort <= latest));
        for seen in &rows {
            let standing = if seen.batch == Some(*newest) {
                Standing::New
            } else if in_newest(seen) {
                let same = seen.version_batch != Some(*newest) && !versions.contains(&seen.row);
                if same && !grown.contains(&seen.row) {
                    continue;
                }
                Standing::Changed
            } else if seen.batch.is_some_and(|batch| related.contains(&batch))
                && whole
                && kinds.contains(&seen.kind)
                && match seen.kind == conversation {
                    true => {
                        oldest.is_some_and(|oldest| seen.sort >= oldest)
                            && latest.is_some_and(|latest| seen.sort <= latest)
                    }
                    // One that was taken from a conversation goes with that, and says nothing by itself.
                    false => newer && !taken.contains(&seen.row),
                }
            {
                Standing::Gone
            } else {
                continue;
            };
            out.ids.insert(seen.id, standing);
            let kind = crate::store::kind_from(seen.kind).as_str();
            *out.counts.entry((format.to_owned(), kind, standing)).or_default() += 1;
        }
    }
    Ok(out)
}

fn rows(c: &Connection, platform: &str) -> VaultResult<Vec<Seen>> {
    let kinds = KINDS.map(|kind| kind_code(kind).to_string()).join(",");
    let mut statement = c.prepare_cached(&format!(
        "SELECT row, kind, sort, batch, version_batch, id FROM records \
         WHERE kind IN ({kinds}) AND trashed IS NULL AND platform = (SELECT id FROM platforms WHERE name = ?1)"
    ))?;
    let seen = statement.query_map(params![platform], |r| {
        Ok(Seen {
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
