//! Tests of the index through its public functions.
#![allow(clippy::unwrap_used, clippy::expect_used)]
mod damage;
mod erasing;
mod searching;
mod snippets;
mod words;

use crate::{IndexDoc, SearchIndex};
use tempfile::TempDir;

pub(super) const KEY: [u8; 32] = [5; 32];

pub(super) fn empty_index() -> (TempDir, SearchIndex) {
    let dir = tempfile::tempdir().unwrap();
    let index = SearchIndex::create(dir.path(), &KEY).unwrap();
    (dir, index)
}

pub(super) fn message<'a>(row: u64, text: &'a [&'a str]) -> IndexDoc<'a> {
    IndexDoc { row, kind: "message", platform: "chatgpt", text, created: Some(row as i64), ..IndexDoc::default() }
}

/// An index with one message per text, in rows counted from 1, committed as change 1.
pub(super) fn index_of(texts: &[&str]) -> (TempDir, SearchIndex) {
    let (dir, index) = empty_index();
    for (row, text) in (1..).zip(texts) {
        index.add(&message(row, &[text])).unwrap();
    }
    index.commit(1).unwrap();
    (dir, index)
}

pub(super) fn ranked_rows(index: &SearchIndex, query: &str) -> Vec<u64> {
    index.search(query, &Default::default(), 20, 0).unwrap().hits.into_iter().map(|h| h.0).collect()
}

pub(super) fn sorted_rows(index: &SearchIndex, query: &str) -> Vec<u64> {
    let mut rows = ranked_rows(index, query);
    rows.sort_unstable();
    rows
}
