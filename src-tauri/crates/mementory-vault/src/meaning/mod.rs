//! Vectors that represent the meaning of memories. The sentence encoder makes them, the table `vectors` stores them,
//! and they are compared in memory.
//!
//! Triggers (`schema_3.sql`) remove a vector when its text changes or is removed. [`Meaning::encode`] encodes records
//! without a vector; its caller decides how many per call.
mod parts;
mod vectors;

use crate::{Vault, VaultResult, context::Context, meta, query::ListQuery, query::Queries};
use mementory_meaning::{Encoder, MODEL, Vector};
use mementory_model::Kind;
use mementory_store::{RowView, kind_code};
use parts::parts;
use rusqlite::{Connection, params};

/// Kinds of records that are encoded: what assistants remember and say about the person. Messages are not encoded,
/// since a million of them would take half an hour and 500 MB.
const ENCODED_KINDS: [Kind; 3] = [Kind::Memory, Kind::Profile, Kind::Fact];
/// Key in `meta` for the encoder that made the vectors, with the version of [`parts`].
const ENCODED_BY_KEY: &str = "vectors_by";
const PARTS_VERSION: &str = "1";
/// Key in `meta` for the number of calls that stored vectors. If this number has changed, vectors in memory are loaded
/// again.
pub(crate) const VECTOR_WRITES_KEY: &str = "vector_portions";
/// Number of nearest records that are checked against the filter at once.
const CANDIDATES_PER_STEP: usize = 200;

/// Encodes records and searches them by meaning.
#[derive(Clone, Copy)]
pub struct Meaning<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Meaning<'v> {
    /// Returns the search by meaning for this vault.
    pub fn of(vault: &'v Vault) -> Self {
        Self { context: &vault.context }
    }
}

impl Meaning<'_> {
    /// Returns the numbers of the rows that have to be encoded, in ascending order.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn rows_to_encode(&self) -> VaultResult<Vec<i64>> {
        let is_current = self.context.store.read(is_current)?;
        let not_encoded = if is_current { "AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.row = r.row)" } else { "" };
        let kinds = ENCODED_KINDS.map(|kind| kind_code(kind).to_string()).join(",");
        let sql = format!(
            "SELECT r.row FROM records r WHERE r.trashed IS NULL AND r.kind IN ({kinds}) {not_encoded} ORDER BY r.row"
        );
        self.context.store.read(|c| {
            let mut statement = c.prepare(&sql)?;
            Ok(statement.query_map([], |r| r.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    /// Encodes these rows and stores their vectors. The caller must prevent changes to the vault during the call: if a
    /// text were redacted between reading and storing, the vector of its old words would remain.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn encode(&self, encoder: &Encoder, rows: &[i64]) -> VaultResult<()> {
        let texts = self.context.store.read(|c| {
            let mut texts = Vec::new();
            for row in rows {
                let Some(view) = RowView::by_row(c, *row)?.filter(|view| view.trashed.is_none()) else { continue };
                let record = self.context.store.packs.content(c, view.pack, view.slot)?;
                texts.push((*row, parts(record.title.as_deref(), &record.text)));
            }
            Ok(texts)
        })?;
        let all: Vec<&str> = texts.iter().flat_map(|(_, parts)| parts).map(String::as_str).collect();
        let mut vectors = encoder.encode(&all).into_iter();
        self.context.store.write(|tx| {
            if !is_current(tx)? {
                tx.execute("DELETE FROM vectors", [])?;
                meta::write(tx, ENCODED_BY_KEY, encoded_by())?;
            }
            let mut insert = tx.prepare_cached("INSERT INTO vectors (row, part, vector) VALUES (?1, ?2, ?3)")?;
            for (row, parts) in &texts {
                tx.prepare_cached("DELETE FROM vectors WHERE row = ?1")?.execute([row])?;
                for (part, vector) in vectors.by_ref().take(parts.len()).enumerate() {
                    insert.execute(params![row, part as i64, vector.to_bytes()])?;
                }
                if parts.is_empty() {
                    insert.execute(params![row, 0, Vec::<u8>::new()])?;
                }
            }
            let write_count: Option<i64> = meta::read(tx, VECTOR_WRITES_KEY)?;
            meta::write(tx, VECTOR_WRITES_KEY, write_count.unwrap_or(0) + 1)
        })
    }

    /// Returns the rows nearest to any of the vectors `to` that pass the filter, at most `limit`, best first. Each row
    /// comes with its cosine similarity, which is at least `min_cosine`. Rows in `except` are left out.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn nearest(
        &self,
        to: &[Vector],
        filter: &ListQuery,
        limit: usize,
        min_cosine: f32,
        except: &[i64],
    ) -> VaultResult<Vec<(u64, f32)>> {
        let loaded = self.context.loaded_vectors()?;
        let ranked = loaded.ranked(to);
        let similar_rows: Vec<(i64, f32)> = ranked
            .into_iter()
            .take_while(|(_, cosine)| *cosine >= min_cosine)
            .filter(|(row, _)| !except.contains(row))
            .collect();
        let mut found = Vec::new();
        for candidates in similar_rows.chunks(CANDIDATES_PER_STEP) {
            let rows = Some(candidates.iter().map(|(row, _)| *row).collect());
            let rows_in_filter = Queries::new(self.context).rows(&ListQuery { rows, ..filter.clone() })?;
            found.extend(
                candidates
                    .iter()
                    .filter(|(row, _)| rows_in_filter.contains(row))
                    .map(|(row, cosine)| (*row as u64, *cosine)),
            );
            if found.len() >= limit {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Returns the vectors of a row. The result is empty if the row has not been encoded.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn vectors_of_row(&self, row: i64) -> VaultResult<Vec<Vector>> {
        self.context.store.read(|c| match is_current(c)? {
            true => stored_vectors(c, row),
            false => Ok(Vec::new()),
        })
    }
}

/// True if the current encoder has encoded the row.
pub(crate) fn is_encoded(c: &Connection, row: i64) -> VaultResult<bool> {
    Ok(is_current(c)? && c.prepare_cached("SELECT 1 FROM vectors WHERE row = ?1")?.exists([row])?)
}

/// Returns the stored vectors of a row, whichever encoder made them; see [`is_current`].
pub(crate) fn stored_vectors(c: &Connection, row: i64) -> VaultResult<Vec<Vector>> {
    let mut statement = c.prepare_cached("SELECT vector FROM vectors WHERE row = ?1 ORDER BY part")?;
    let stored = statement.query_map([row], |r| r.get::<_, Vec<u8>>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(stored.iter().filter_map(|bytes| Vector::from_bytes(bytes)).collect())
}

fn encoded_by() -> String {
    format!("{MODEL}/{PARTS_VERSION}")
}

/// True if the current encoder, with the current version of [`parts`], made the stored vectors.
pub(crate) fn is_current(c: &Connection) -> VaultResult<bool> {
    Ok(meta::read::<String>(c, ENCODED_BY_KEY)?.is_some_and(|by| by == encoded_by()))
}
