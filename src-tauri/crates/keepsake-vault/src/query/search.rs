//! Full text: rows from the index, words from the store.
use crate::{
    Vault, VaultResult,
    index::{IndexFilter, SearchIndex, SearchOutcome},
    store::RowView,
};
use keepsake_model::Record;

impl Vault {
    /// Ranked rows for a query.
    pub fn search(&self, query: &str, filter: &IndexFilter, limit: usize, offset: usize) -> VaultResult<SearchOutcome> {
        self.with_index(|i| i.search(query, filter, limit, offset))
    }

    /// Reads ahead what most questions need, so that the first ones are as quick as the others.
    pub fn warm_search(&self) -> VaultResult<()> {
        self.with_index(SearchIndex::warm)
    }

    /// The query as it may have been meant; see [`SearchIndex::near`].
    pub fn near(&self, query: &str) -> VaultResult<Option<String>> {
        self.with_index(|i| i.near(query))
    }

    /// Row and record of a hit, without its verbatim; None when it went in between.
    pub fn hit(&self, row: u64) -> VaultResult<Option<(RowView, Record)>> {
        self.store.read(|c| {
            let Some(view) = RowView::by_row(c, row as i64)? else { return Ok(None) };
            let record = self.store.packs.content(c, view.pack, view.slot)?;
            Ok(Some((view, record)))
        })
    }
}
