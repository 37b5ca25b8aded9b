//! Finds the records that an erasure removes, and their texts.
use crate::{VaultResult, context::Context, erasure::same_words::distinctive_sentences, word_removal::ERASED_MARK};
use mementory_model::{Record, normal_text, without_redaction_marks};
use mementory_store::RowView;
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Number of records that are read as one chunk if there may be thousands of records.
pub(crate) const RECORDS_PER_READ: usize = 200;

/// Which dependent records an erasure removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EraseScope {
    /// The person requested the erasure: all dependent records are removed.
    Requested,
    /// The Trash is emptied automatically. Only dependent records that were moved to the Trash at this time or before
    /// are removed. Dependent records in use stay, and so do those that were moved to the Trash later.
    Expired(i64),
    /// The erasure was already made in a newer copy of the vault. The list of erasures names every record that was
    /// removed, so no dependent record is added.
    Listed,
}

impl EraseScope {
    fn includes(self, view: &RowView) -> bool {
        match self {
            Self::Requested => true,
            Self::Listed => false,
            Self::Expired(before) => view.trashed.is_some_and(|at| at <= before),
        }
    }
}

/// A record to erase or redact, with the texts of all its versions.
pub(crate) struct Target {
    pub(crate) view: RowView,
    pub(crate) record: Record,
    /// Pack and slot of each version, the current one first.
    pub(crate) versions: Vec<(i64, u32)>,
    /// Texts and titles of all versions.
    pub(crate) texts: Vec<String>,
    /// Texts of blocks and attachments of all versions, which the erasure check also searches for.
    pub(crate) parts: Vec<String>,
}

/// A function that is called with every version of a record that is read. If it returns an error, no further version is
/// read.
pub(crate) type VisitVersion<'e> = &'e mut dyn FnMut(&Record) -> VaultResult<()>;

/// Finds and reads the records that an erasure or redaction changes.
#[derive(Clone, Copy)]
pub(crate) struct Targets<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Targets<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Targets<'_> {
    /// Returns the records `ids` and the dependent records that `scope` includes: the messages of a conversation, the
    /// chunks of a document, records derived only from erased records, records that an import's tombstones moved to the
    /// Trash together with an erased record, and files that no other record refers to. `visit` is called with every
    /// version.
    pub(crate) fn erase_targets(
        &self,
        ids: &[String],
        scope: EraseScope,
        visit: VisitVersion<'_>,
    ) -> VaultResult<Vec<Target>> {
        let mut rows = HashSet::new();
        let mut views = Vec::with_capacity(ids.len());
        for id in ids {
            let view = self.context.find(id)?;
            if rows.insert(view.row) {
                views.push(view);
            }
        }
        self.context.store.read(|c| {
            let trashed_along = trashed_along(c)?;
            let mut next = 0;
            while next < views.len() {
                let (row, id) = (views[next].row, views[next].id);
                next += 1;
                let mut dependent_rows = query_integers(c, "SELECT row FROM records WHERE owner = ?1", params![row])?;
                for derived in query_integers(
                    c,
                    "SELECT row FROM links WHERE target = ?1 AND relation = 'derived_from'",
                    params![id],
                )? {
                    if !rows.contains(&derived) && is_derived_only_from(c, derived, &rows)? {
                        dependent_rows.push(derived);
                    }
                }
                dependent_rows.extend(trashed_along.get(&row).into_iter().flatten());
                for file in query_integers(c, "SELECT file FROM file_refs WHERE row = ?1", params![row])? {
                    if !rows.contains(&file) && is_referenced_only_by(c, file, &rows)? {
                        dependent_rows.push(file);
                    }
                }
                for row in dependent_rows {
                    if !rows.contains(&row)
                        && let Some(view) = RowView::by_row(c, row)?.filter(|v| scope.includes(v))
                    {
                        rows.insert(row);
                        views.push(view);
                    }
                }
            }
            self.read_targets(c, views, visit)
        })
    }

    /// Reads every version of the rows, in the order of the packs, so that each pack is unpacked once. Calls `visit`
    /// with every version.
    pub(crate) fn read_targets(
        &self,
        c: &Connection,
        views: Vec<RowView>,
        visit: VisitVersion<'_>,
    ) -> VaultResult<Vec<Target>> {
        let mut places: BTreeMap<(i64, u32), usize> = BTreeMap::new();
        let mut versions = Vec::with_capacity(views.len());
        for (index, view) in views.iter().enumerate() {
            let mut slots = vec![(view.pack, view.slot)];
            let mut statement = c.prepare_cached("SELECT pack, slot FROM versions WHERE row = ?1")?;
            for place in statement.query_map([view.row], |r| Ok((r.get(0)?, r.get(1)?)))? {
                slots.push(place?);
            }
            places.extend(slots.iter().map(|place| (*place, index)));
            versions.push(slots);
        }
        let mut texts = vec![BTreeSet::new(); views.len()];
        let mut parts = vec![BTreeSet::new(); views.len()];
        let mut current_records: Vec<Option<Record>> = vec![None; views.len()];
        for ((pack, slot), index) in places {
            let record = self.context.store.packs.record(c, pack, slot)?;
            let text_and_title = [Some(&record.text), record.title.as_ref()].into_iter().flatten();
            texts[index].extend(text_and_title.filter(|t| !t.trim().is_empty()).cloned());
            parts[index].extend(searched_parts(&record).map(str::to_owned));
            visit(&record)?;
            if (pack, slot) == (views[index].pack, views[index].slot) {
                current_records[index] = Some(record);
            }
        }
        let read = views.into_iter().zip(current_records).zip(versions).zip(texts.into_iter().zip(parts));
        Ok(read
            .filter_map(|(((view, record), versions), (texts, parts))| {
                let (texts, parts) = (texts.into_iter().collect(), parts.into_iter().collect());
                Some(Target { view, record: record?, versions, texts, parts })
            })
            .collect())
    }
}

/// Returns the texts of the targets that are long enough to be searched for. Leaves out a text that consists only of
/// redaction marks, and a text that is itself a part of the erasure mark.
pub(crate) fn texts_of(targets: &[Target]) -> Vec<String> {
    let all: BTreeSet<&String> = targets
        .iter()
        .flat_map(|t| t.texts.iter().chain(&t.parts))
        .filter(|t| t.len() >= 8 && normal_text(t).len() >= 8)
        .filter(|t| !normal_text(&without_redaction_marks(t)).is_empty())
        .filter(|t| !ERASED_MARK.contains(t.as_str()))
        .collect();
    all.into_iter().cloned().collect()
}

/// Returns at most 2,000 sentences of the targets, which are searched for in other records.
pub(crate) fn sentences_of(targets: &[Target]) -> Vec<String> {
    let all: BTreeSet<String> = targets.iter().flat_map(|t| distinctive_sentences(&t.record)).collect();
    all.into_iter().take(2_000).collect()
}

/// Returns the texts of a record's blocks and attachments. The index contains these texts too.
fn searched_parts(record: &Record) -> impl Iterator<Item = &str> {
    let blocks = record.fields.get("blocks").and_then(|blocks| blocks.as_array()).into_iter().flatten();
    let blocks = blocks.filter_map(|block| block.get("text")?.as_str());
    blocks.chain(record.attachments.iter().filter_map(|file| file.text.as_deref()))
}

pub(crate) fn query_integers(c: &Connection, sql: &str, p: impl rusqlite::Params) -> VaultResult<Vec<i64>> {
    let mut statement = c.prepare_cached(sql)?;
    let rows = statement.query_map(p, |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns, for each root row in the Trash, the rows that tombstones of imports moved to the Trash along with the root.
fn trashed_along(c: &Connection) -> VaultResult<HashMap<i64, Vec<i64>>> {
    let mut statement = c.prepare(
        "SELECT trash_root, row FROM records WHERE trashed IS NOT NULL AND trash_batch IS NOT NULL AND trash_root <> row",
    )?;
    let mut out: HashMap<i64, Vec<i64>> = HashMap::new();
    for pair in statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))? {
        let (root, row) = pair?;
        out.entry(root).or_default().push(row);
    }
    Ok(out)
}

/// True if every record from which the row `derived` was derived is in `rows` or no longer in the vault.
fn is_derived_only_from(c: &Connection, derived: i64, rows: &HashSet<i64>) -> VaultResult<bool> {
    let sources = query_integers(
        c,
        "SELECT r.row FROM links l JOIN records r ON r.id = l.target WHERE l.row = ?1 AND l.relation = 'derived_from'",
        params![derived],
    )?;
    Ok(sources.iter().all(|s| rows.contains(s)))
}

fn is_referenced_only_by(c: &Connection, file: i64, rows: &HashSet<i64>) -> VaultResult<bool> {
    Ok(query_integers(c, "SELECT row FROM file_refs WHERE file = ?1", params![file])?.iter().all(|r| rows.contains(r)))
}
