//! Reading the vault: lists, one record, threads, search, batches, numbers.
mod exported;
mod file_bytes;
mod file_counts;
mod list;
mod parts;
mod search;
mod summary;

pub use file_counts::FileCount;
pub use list::{ListPage, ListQuery, Sort};
pub use summary::Summary;

use crate::{KindCounts, Vault, VaultError, VaultResult, import::kept_total};
use mementory_model::{Kind, Record};
use mementory_store::{Cause, RowView, kind_code, kind_from};
use rusqlite::{OptionalExtension, params};
use std::collections::{BTreeMap, HashSet};

/// Bytes of an attachment or passthrough part.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FileFacts {
    pub size: Option<u64>,
    pub media_type: Option<String>,
    pub present: bool,
}

/// One version of a record.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct VersionRow {
    pub version: u32,
    pub since: i64,
    pub until: Option<i64>,
    pub cause: &'static str,
    pub record: Record,
}

/// A link out of (or into) a record.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LinkRow {
    pub relation: String,
    pub target: String,
    pub view: Option<RowView>,
}

/// One batch.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct BatchRow {
    pub uid: String,
    pub at: i64,
    pub format: Option<String>,
    pub names: Vec<String>,
    pub added: u32,
    pub updated: u32,
    /// All its numbers, from the report that is kept with it.
    pub total: KindCounts,
    pub undone: bool,
    pub edited_since: u32,
}

/// Counts of a source.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct SourceFacts {
    pub counts: BTreeMap<String, u32>,
    pub newest: Option<i64>,
    /// When the newest export of the platform was made, as far as that is known; of one that none came from, when its
    /// records were imported.
    pub exported: Option<i64>,
}

/// Numbers of the whole vault; trashed records are only in `trash`.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Facts {
    pub counts: BTreeMap<String, u32>,
    /// By platform and the format that brought its records.
    pub sources: BTreeMap<(String, Option<String>), SourceFacts>,
    pub trash: u32,
    pub tombstones: u32,
}

impl Vault {
    /// One record's row; `NotFound` says whether it was erased.
    pub fn view(&self, id: &str) -> VaultResult<RowView> {
        self.find(id)
    }

    /// A row by its number.
    pub fn view_by_row(&self, row: i64) -> VaultResult<Option<RowView>> {
        self.store.read(|c| RowView::by_row(c, row))
    }

    /// The record behind a row, verbatim included.
    pub fn record(&self, view: &RowView) -> VaultResult<Record> {
        self.store.read(|c| self.store.packs.record(c, view.pack, view.slot))
    }

    /// The same without the verbatim: what is said in it, for lists and readers.
    pub fn content(&self, view: &RowView) -> VaultResult<Record> {
        self.store.read(|c| self.store.packs.content(c, view.pack, view.slot))
    }

    /// All versions, the current one first.
    pub fn versions(&self, view: &RowView) -> VaultResult<Vec<VersionRow>> {
        self.store.read(|c| {
            let record = self.store.packs.record(c, view.pack, view.slot)?;
            let mut out = vec![VersionRow {
                version: view.version,
                since: view.since,
                until: None,
                cause: Cause::name(view.cause),
                record,
            }];
            let mut statement = c.prepare_cached(
                "SELECT version, pack, slot, since, until, cause FROM versions WHERE row = ?1 ORDER BY version DESC",
            )?;
            let mut rows = statement.query([view.row])?;
            while let Some(r) = rows.next()? {
                let record = self.store.packs.record(c, r.get(1)?, r.get(2)?)?;
                out.push(VersionRow {
                    version: r.get(0)?,
                    since: r.get(3)?,
                    until: Some(r.get(4)?),
                    cause: Cause::name(r.get(5)?),
                    record,
                });
            }
            Ok(out)
        })
    }

    /// When the vault took a record in, in microseconds.
    pub fn taken_in(&self, view: &RowView) -> VaultResult<i64> {
        self.store.read(|c| {
            let first: Option<i64> = c
                .prepare_cached("SELECT min(since) FROM versions WHERE row = ?1")?
                .query_row([view.row], |r| r.get(0))?;
            Ok(first.unwrap_or(view.since))
        })
    }

    /// How many versions are kept.
    pub fn version_count(&self, row: i64) -> VaultResult<u32> {
        self.store.read(|c| {
            Ok(c.prepare_cached("SELECT count(*) + 1 FROM versions WHERE row = ?1")?.query_row([row], |r| r.get(0))?)
        })
    }

    /// Links out of a record.
    pub fn links(&self, view: &RowView) -> VaultResult<Vec<LinkRow>> {
        self.link_rows("SELECT relation, target FROM links WHERE row = ?1", params![view.row])
    }

    /// Records that link to this one, by relation.
    pub fn links_to(&self, view: &RowView) -> VaultResult<Vec<LinkRow>> {
        self.link_rows(
            "SELECT l.relation, r.id FROM links l JOIN records r ON r.row = l.row WHERE l.target = ?1 AND r.trashed IS NULL",
            params![view.id],
        )
    }

    fn link_rows(&self, sql: &str, p: impl rusqlite::Params) -> VaultResult<Vec<LinkRow>> {
        self.store.read(|c| {
            let mut statement = c.prepare_cached(sql)?;
            let pairs = statement
                .query_map(p, |r| Ok((r.get::<_, String>(0)?, r.get::<_, [u8; 16]>(1)?)))?
                .collect::<Result<Vec<_>, _>>()?;
            pairs
                .into_iter()
                .map(|(relation, target)| {
                    Ok(LinkRow { relation, target: hex::encode(target), view: RowView::by_id(c, &target)? })
                })
                .collect()
        })
    }

    /// Tags.
    pub fn tags(&self, row: i64) -> VaultResult<Vec<String>> {
        self.store.read(|c| {
            let mut statement = c.prepare_cached("SELECT tag FROM tags WHERE row = ?1 ORDER BY tag")?;
            let rows = statement.query_map([row], |r| r.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Files that a record names.
    pub fn files(&self, row: i64) -> VaultResult<Vec<(RowView, FileFacts)>> {
        self.store.read(|c| {
            let mut statement = c.prepare_cached("SELECT file FROM file_refs WHERE row = ?1 ORDER BY file")?;
            let files = statement.query_map([row], |r| r.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?;
            let mut out = Vec::with_capacity(files.len());
            for file in files {
                if let Some(view) = RowView::by_row(c, file)? {
                    out.push((view, file_facts(c, file)?));
                }
            }
            Ok(out)
        })
    }

    /// Size, media type and presence of a file record.
    pub fn file_facts(&self, row: i64) -> VaultResult<FileFacts> {
        self.store.read(|c| file_facts(c, row))
    }

    /// A record that names this file; for "the conversation it belongs to".
    pub fn file_owner(&self, row: i64) -> VaultResult<Option<RowView>> {
        self.store.read(|c| {
            let found: Option<i64> = c
                .prepare_cached("SELECT row FROM file_refs WHERE file = ?1 ORDER BY row LIMIT 1")?
                .query_row([row], |r| r.get(0))
                .optional()?;
            found.map(|row| RowView::by_row(c, row)).transpose().map(Option::flatten)
        })
    }

    /// Messages of a conversation in source order, with their records (without verbatims).
    pub fn messages(&self, conversation: &RowView) -> VaultResult<Vec<(RowView, Record)>> {
        let views = self.store.read(|c| {
            let sql = format!(
                "SELECT {} FROM records r JOIN platforms p ON p.id = r.platform WHERE r.owner = ?1 AND r.kind = ?2 AND (r.trashed IS NULL OR ?3) ORDER BY r.position, r.row",
                mementory_store::ROW_COLUMNS
            );
            let mut statement = c.prepare_cached(&sql)?;
            let rows = statement
                .query_map(params![conversation.row, kind_code(Kind::Message), conversation.trashed.is_some()], RowView::read)?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        })?;
        let records = in_halves(&views, |views| {
            self.store.read(|c| views.iter().map(|view| self.store.packs.content(c, view.pack, view.slot)).collect())
        })?;
        Ok(views.into_iter().zip(records).collect())
    }

    /// Which messages of a conversation something was taken from, and who names files: their rows. Most have neither, and
    /// asking for each by itself takes longer than all the rest.
    pub fn linked_messages(&self, conversation: &RowView) -> VaultResult<(HashSet<i64>, HashSet<i64>)> {
        let rows = |sql: &str| {
            self.store.read(|c| {
                let mut statement = c.prepare_cached(sql)?;
                let rows = statement.query_map([conversation.row], |r| r.get(0))?;
                Ok(rows.collect::<Result<HashSet<i64>, _>>()?)
            })
        };
        Ok((
            rows(
                "SELECT m.row FROM records m WHERE m.owner = ?1 AND EXISTS (SELECT 1 FROM links l WHERE l.target = m.id)",
            )?,
            rows(
                "SELECT m.row FROM records m WHERE m.owner = ?1 AND EXISTS (SELECT 1 FROM file_refs f WHERE f.row = m.row)",
            )?,
        ))
    }

    /// Messages, memories and attachments of a conversation.
    pub fn conversation_counts(&self, row: i64) -> VaultResult<(u32, u32, u32)> {
        self.store.read(|c| {
            let messages = c.prepare_cached("SELECT count(*) FROM records WHERE owner = ?1")?.query_row([row], |r| r.get(0))?;
            let memories = c
                .prepare_cached("SELECT count(DISTINCT l.row) FROM records m JOIN links l ON l.target = m.id WHERE m.owner = ?1 AND l.relation = 'derived_from'")?
                .query_row([row], |r| r.get(0))?;
            let files = c
                .prepare_cached("SELECT count(DISTINCT f.file) FROM records m JOIN file_refs f ON f.row = m.row WHERE m.owner = ?1")?
                .query_row([row], |r| r.get(0))?;
            Ok((messages, memories, files))
        })
    }

    /// Numbers of the whole vault.
    pub fn facts(&self) -> VaultResult<Facts> {
        self.store.read(|c| {
            let mut facts = Facts::default();
            let mut statement = c.prepare(
                // A record without a time of its own sorts by when it came in, which says nothing about its age.
                "SELECT g.kind, p.name, b.format, g.n, g.newest, b.names, b.at FROM \
                 (SELECT kind, platform, batch, count(*) AS n, max(nullif(sort, since)) AS newest FROM records \
                  WHERE trashed IS NULL GROUP BY kind, platform, batch) g \
                 JOIN platforms p ON p.id = g.platform LEFT JOIN batches b ON b.id = g.batch",
            )?;
            let mut rows = statement.query([])?;
            while let Some(r) = rows.next()? {
                let (kind, n): (i64, u32) = (r.get(0)?, r.get(3)?);
                let kind = kind_from(kind).as_str();
                *facts.counts.entry(kind.to_owned()).or_default() += n;
                let source = facts.sources.entry((r.get(1)?, r.get(2)?)).or_default();
                *source.counts.entry(kind.to_owned()).or_default() += n;
                source.newest = source.newest.max(r.get(4)?);
                if let (Some(names), Some(at)) = (r.get::<_, Option<String>>(5)?, r.get(6)?) {
                    source.exported = source.exported.max(Some(exported::made(&names, at)));
                }
            }
            let exports = exported::exports(c)?;
            for ((platform, _), source) in &mut facts.sources {
                source.exported = exports.get(platform).copied().or(source.exported);
            }
            facts.trash =
                c.query_row("SELECT count(*) FROM records WHERE trashed IS NOT NULL AND trash_root = row", [], |r| {
                    r.get(0)
                })?;
            facts.tombstones = c.query_row("SELECT count(*) FROM tombstones", [], |r| r.get(0))?;
            Ok(facts)
        })
    }

    /// All batches, newest first.
    pub fn batches(&self) -> VaultResult<Vec<BatchRow>> {
        self.store.read(|c| {
            let mut statement = c.prepare(
                "SELECT uid, at, format, names, added, updated, undone_at IS NOT NULL, report, \
                 (SELECT count(*) FROM records r WHERE r.batch = b.id AND r.version_batch IS NULL) FROM batches b ORDER BY id DESC",
            )?;
            let rows = statement.query_map([], |r| {
                let (names, report): (String, String) = (r.get(3)?, r.get(7)?);
                Ok(BatchRow {
                    uid: r.get(0)?, at: r.get(1)?, format: r.get(2)?, names: serde_json::from_str(&names).unwrap_or_default(),
                    added: r.get(4)?, updated: r.get(5)?, undone: r.get(6)?, total: kept_total(&report), edited_since: r.get(8)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Whether there was such an import, taken back or not.
    pub fn has_batch(&self, uid: &str) -> VaultResult<bool> {
        self.store.read(|c| Ok(c.prepare_cached("SELECT 1 FROM batches WHERE uid = ?1")?.exists([uid])?))
    }

    /// The report kept with a batch, as JSON.
    ///
    /// # Errors
    /// `NotFound` for an unknown batch.
    pub fn batch_report(&self, uid: &str) -> VaultResult<String> {
        self.store.read(|c| {
            let found = c.query_row("SELECT report FROM batches WHERE uid = ?1", [uid], |r| r.get(0)).optional()?;
            found.ok_or_else(|| VaultError::not_found(uid))
        })
    }

    /// Batch that brought a record.
    pub fn batch_of(&self, view: &RowView) -> VaultResult<Option<String>> {
        let Some(batch) = view.batch else { return Ok(None) };
        self.store.read(|c| {
            Ok(c.prepare_cached("SELECT uid FROM batches WHERE id = ?1")?
                .query_row([batch], |r| r.get(0))
                .optional()?)
        })
    }

    /// Sources, types and tags of the records that a query finds, with their numbers. Records without a type have the
    /// empty one, so that the numbers of the types add up to all.
    pub fn facet_counts(&self, query: &ListQuery) -> VaultResult<[BTreeMap<String, u32>; 3]> {
        let (condition, values) = query.condition();
        self.store.read(|c| {
            let run = |sql: &str| -> VaultResult<BTreeMap<String, u32>> {
                let mut statement = c.prepare(sql)?;
                let rows = statement.query_map(rusqlite::params_from_iter(values.iter()), |r| Ok((r.get(0)?, r.get(1)?)))?;
                Ok(rows.collect::<Result<_, _>>()?)
            };
            // A file's own type is its media type; files are chosen by their kind (`file_counts`), and 50,000 records need
            // not be fetched for what nobody asks.
            let types = match query.kind {
                Some(Kind::Attachment) => BTreeMap::new(),
                _ => run(&format!("SELECT coalesce(r.type, ''), count(*) FROM records r WHERE {condition} GROUP BY 1"))?,
            };
            Ok([
                run(&format!("SELECT p.name, count(*) FROM records r JOIN platforms p ON p.id = r.platform WHERE {condition} GROUP BY 1"))?,
                types,
                run(&format!("SELECT t.tag, count(*) FROM records r JOIN tags t ON t.row = r.row WHERE {condition} GROUP BY 1"))?,
            ])
        })
    }
}

fn file_facts(c: &rusqlite::Connection, row: i64) -> VaultResult<FileFacts> {
    let found = c
        .prepare_cached("SELECT size, media_type, blob IS NOT NULL FROM files WHERE row = ?1")?
        .query_row([row], |r| {
            Ok(FileFacts {
                size: r.get::<_, Option<i64>>(0)?.and_then(|s| u64::try_from(s).ok()),
                media_type: r.get(1)?,
                present: r.get(2)?,
            })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// Reads half of many things beside the others, and answers in their order: what somebody waits for lies all over the store.
///
/// # Errors
/// Those of `read`; `Damaged` when it panics.
pub fn in_halves<T: Sync, R: Send, E: From<VaultError> + Send>(
    all: &[T],
    read: impl Fn(&[T]) -> Result<Vec<R>, E> + Sync,
) -> Result<Vec<R>, E> {
    let (first, second) = all.split_at(all.len().div_ceil(2));
    if second.is_empty() {
        return read(first);
    }
    std::thread::scope(|scope| {
        let second = scope.spawn(|| read(second));
        let mut out = read(first)?;
        let panicked = |_| Err(VaultError::Damaged("a record cannot be read".into()).into());
        out.extend(second.join().unwrap_or_else(panicked)?);
        Ok(out)
    })
}
