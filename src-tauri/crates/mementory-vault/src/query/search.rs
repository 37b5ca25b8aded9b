//! Full-text search. The index finds the rows, and their texts are read from the store.
use crate::{VaultResult, context::Context, in_halves, query::reader::content_for_display};
use mementory_model::Record;
use mementory_search::{IndexFilter, SearchIndex, SearchOutcome, SearchPage};
use mementory_store::RowView;

/// Full-text search.
#[derive(Clone, Copy)]
pub struct Search<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Search<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Search<'_> {
    /// Returns the rows that a query finds, ranked.
    pub fn search(&self, query: &str, filter: &IndexFilter, limit: usize, offset: usize) -> VaultResult<SearchOutcome> {
        self.context.with_index(|i| i.search(query, filter, limit, offset))
    }

    /// Returns the ranked rows of one query with each of several filters; see [`SearchIndex::search_pages`].
    pub fn search_pages(&self, query: &str, pages: &[SearchPage<'_>]) -> VaultResult<Vec<SearchOutcome>> {
        self.context.with_index(|i| i.search_pages(query, pages))
    }

    /// Loads the index files that most searches need, so that the first searches are as fast as later ones.
    pub fn warm_search(&self) -> VaultResult<()> {
        self.context.with_index(SearchIndex::warm)
    }

    /// Returns a spelling suggestion for the query; see [`SearchIndex::spell_suggest`].
    pub fn spell_suggest(&self, query: &str) -> VaultResult<Option<String>> {
        self.context.with_index(|i| i.spell_suggest(query))
    }

    /// Returns each found row with its record, as [`Reader::content`](crate::Reader::content) returns it, and its score,
    /// in the order of `found`. Leaves out rows that were removed since the search. Two threads read the records.
    pub fn hits(&self, found: &[(u64, f32)]) -> VaultResult<Vec<(RowView, Record, f32)>> {
        let read = |found: &[(u64, f32)]| {
            let hit = |(row, score): &(u64, f32)| Ok(self.read_hit(*row)?.map(|(view, record)| (view, record, *score)));
            found.iter().filter_map(|found| hit(found).transpose()).collect::<VaultResult<Vec<_>>>()
        };
        in_halves(found, read)
    }

    fn read_hit(&self, row: u64) -> VaultResult<Option<(RowView, Record)>> {
        self.context.store.read(|c| {
            let Some(view) = RowView::by_row(c, row as i64)? else { return Ok(None) };
            let record = content_for_display(self.context, c, &view)?;
            Ok(Some((view, record)))
        })
    }
}
