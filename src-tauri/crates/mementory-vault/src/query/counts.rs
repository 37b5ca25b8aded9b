//! Counts the records of the whole vault, and the records that a query finds.
use crate::{
    VaultResult,
    query::{exported, list::ListQuery, list::Queries},
};
use mementory_model::{Kind, SaidBy};
use mementory_store::{Flags, kind_from_code};
use std::collections::BTreeMap;

/// Counts of a source.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct SourceCounts {
    pub counts: BTreeMap<String, u32>,
    pub newest: Option<i64>,
    /// Time of the newest export of the platform. If the time of the export is not known, the time of the newest import
    /// of its records.
    pub exported: Option<i64>,
}

/// Counts of the whole vault. Records in the Trash are only in `trash`.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct VaultCounts {
    pub counts: BTreeMap<String, u32>,
    /// Counts by platform and by the format from which the records were imported.
    pub sources: BTreeMap<(String, Option<String>), SourceCounts>,
    pub trash: u32,
    pub tombstones: u32,
}

/// Counts of the records that a query finds.
#[derive(Debug, Clone, Default)]
pub struct FacetCounts {
    /// Number of records by platform.
    pub sources: BTreeMap<String, u32>,
    /// Number of records by type. Records without a type count under the empty type, so that the types add up to all
    /// records.
    pub types: BTreeMap<String, u32>,
    /// Number of records by tag.
    pub tags: BTreeMap<String, u32>,
    /// Number of records by who said their text. Records whose speaker is not known count under the empty name.
    pub said_by: BTreeMap<String, u32>,
}

impl Queries<'_> {
    /// Counts of the whole vault.
    pub fn vault_counts(&self) -> VaultResult<VaultCounts> {
        self.context.store.read(|c| {
            let mut facts = VaultCounts::default();
            let mut statement = c.prepare(
                // `sort` is the time of the import if the record states no time. The time of the import says nothing
                // about the age of the record, so it does not count as `newest`.
                "SELECT g.kind, p.name, b.format, g.n, g.newest, b.names, b.at FROM \
                 (SELECT kind, platform, batch, count(*) AS n, max(nullif(sort, since)) AS newest FROM records \
                  WHERE trashed IS NULL GROUP BY kind, platform, batch) g \
                 JOIN platforms p ON p.id = g.platform LEFT JOIN batches b ON b.id = g.batch",
            )?;
            let mut rows = statement.query([])?;
            while let Some(r) = rows.next()? {
                let (kind, n): (i64, u32) = (r.get(0)?, r.get(3)?);
                let kind = kind_from_code(kind).as_str();
                *facts.counts.entry(kind.to_owned()).or_default() += n;
                let source = facts.sources.entry((r.get(1)?, r.get(2)?)).or_default();
                *source.counts.entry(kind.to_owned()).or_default() += n;
                source.newest = source.newest.max(r.get(4)?);
                if let (Some(names), Some(at)) = (r.get::<_, Option<String>>(5)?, r.get(6)?) {
                    source.exported = source.exported.max(Some(exported::export_time(&names, at)));
                }
            }
            let exports = exported::newest_export_times(c)?;
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

    /// Counts the records that a query finds.
    pub fn facet_counts(&self, query: &ListQuery) -> VaultResult<FacetCounts> {
        let (condition, values) = query.condition();
        self.context.store.read(|c| {
            let run = |sql: &str| -> VaultResult<BTreeMap<String, u32>> {
                let mut statement = c.prepare(sql)?;
                let rows = statement.query_map(rusqlite::params_from_iter(values.iter()), |r| Ok((r.get(0)?, r.get(1)?)))?;
                Ok(rows.collect::<Result<_, _>>()?)
            };
            // The type of a file is its media type. Types of files are not counted, because files are filtered by their
            // kind (`file_counts`).
            let types = match query.kind {
                Some(Kind::Attachment) => BTreeMap::new(),
                _ => run(&format!("SELECT coalesce(r.type, ''), count(*) FROM records r WHERE {condition} GROUP BY 1"))?,
            };
            let names: String = SaidBy::ALL
                .into_iter()
                .map(|who| format!(" WHEN {} THEN '{}'", Flags::said_by(Some(who)), who.as_str()))
                .collect();
            Ok(FacetCounts {
                sources: run(&format!("SELECT p.name, count(*) FROM records r JOIN platforms p ON p.id = r.platform WHERE {condition} GROUP BY 1"))?,
                types,
                tags: run(&format!("SELECT t.tag, count(*) FROM records r JOIN tags t ON t.row = r.row WHERE {condition} GROUP BY 1"))?,
                said_by: run(&format!("SELECT CASE r.flags & {}{names} ELSE '' END, count(*) FROM records r WHERE {condition} GROUP BY 1", Flags::SAID_BY))?,
            })
        })
    }
}
