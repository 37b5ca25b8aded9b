//! Tests that no file contains the words after an erasure, and that the residue check notices if a file does.
use super::{KEY, empty_index, index_of, message, sorted_rows};
use crate::{IndexDoc, IndexFilter, residue};

fn erased_words() -> Vec<String> {
    vec!["terracotta".to_owned(), "7f3a91".to_owned()]
}

#[test]
fn an_erased_row_leaves_no_residue() {
    let (dir, index) = index_of(&["the spare key is under the terracotta pot, code 7F3A91", "another key", "third"]);
    let before = residue(dir.path(), &KEY, &[1], &[], &erased_words()).unwrap();
    assert!(before.findings.len() >= 3, "{before:?}");
    index.erase(&[1], 2).unwrap();
    assert_eq!((index.seq(), index.documents()), (2, 2));
    assert_eq!(sorted_rows(&index, "key"), [2]);
    let after = residue(dir.path(), &KEY, &[1], &[], &erased_words()).unwrap();
    assert!(after.is_clean(), "{after:?}");
    assert!(after.files > 0 && after.segments == 1 && after.bytes > 0 && after.terms > 0);
}

#[test]
fn all_rows_can_be_erased() {
    let (dir, index) = index_of(&["terracotta", "7F3A91 here"]);
    index.erase(&[1, 2], 2).unwrap();
    let after = residue(dir.path(), &KEY, &[1, 2], &[], &erased_words()).unwrap();
    assert!(after.is_clean(), "{after:?}");
    assert_eq!((index.documents(), after.segments), (0, 0));
}

#[test]
fn erasing_a_row_removes_its_older_versions() {
    let (dir, index) = index_of(&["terracotta", "plain"]);
    index.delete_row(1).unwrap();
    index.add(&message(1, &["changed, 7F3A91"])).unwrap();
    index.commit(2).unwrap();
    index.erase(&[1], 3).unwrap();
    assert!(residue(dir.path(), &KEY, &[1], &[], &erased_words()).unwrap().is_clean());
    assert_eq!(sorted_rows(&index, "plain"), [2]);
}

#[test]
fn purging_a_redacted_row_removes_its_old_words() {
    let (dir, index) = index_of(&["key under the terracotta pot", "plain"]);
    index.delete_row(1).unwrap();
    index.add(&message(1, &["key under the [REDACTED:place]"])).unwrap();
    index.commit(2).unwrap();
    index.purge(&[1]).unwrap();
    let after = residue(dir.path(), &KEY, &[], &[1], &erased_words()).unwrap();
    assert!(after.is_clean() && after.words_by_row.is_empty(), "{after:?}");
    assert_eq!(sorted_rows(&index, "key"), [1]);
}

#[test]
fn a_row_that_was_not_added_again_without_the_words_is_noticed() {
    let (dir, _index) = index_of(&["key under the terracotta pot", "plain"]);
    let traces = residue(dir.path(), &KEY, &[], &[1], &erased_words()).unwrap();
    assert_eq!(
        traces.words_by_row.get(&1).map(std::collections::HashSet::len),
        Some(1),
        "one of two words: {traces:?}"
    );
}

#[test]
fn a_concurrent_search_does_not_keep_erased_files() {
    let (dir, index) = index_of(&["terracotta", "plain"]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..200 {
                index.search("plain terracotta", &IndexFilter::default(), 5, 0).unwrap();
            }
        });
        index.erase(&[1], 2).unwrap();
        assert!(residue(dir.path(), &KEY, &[1], &[], &erased_words()).unwrap().is_clean());
    });
}

#[test]
fn words_that_every_index_contains_are_not_residue() {
    // Every index contains these words: in the tokenizer's name, in the schema, or in the footer of every file.
    let erased_words: Vec<String> =
        ["keeps", "words", "conversation", "version", "generations"].map(String::from).to_vec();
    let (dir, index) =
        index_of(&["she keeps the words of a conversation", "another version, generations ago", "third"]);
    let before = residue(dir.path(), &KEY, &[1], &[], &erased_words).unwrap();
    assert!(before.findings.iter().any(|f| f.reason.contains("dictionary")), "{before:?}");
    index.erase(&[1, 2], 2).unwrap();
    let after = residue(dir.path(), &KEY, &[1, 2], &[], &erased_words).unwrap();
    assert!(after.is_clean(), "{after:?}");
}

/// In a dictionary, a node stores the edges in descending order. The letters that follow `x` in these words are
/// therefore adjacent in its bytes and spell `solid`, although no text contains this word any more.
#[test]
fn letters_that_are_adjacent_by_chance_in_a_dictionary_are_not_residue() {
    let words = ["solid".to_owned()];
    let (dir, index) = index_of(&["xd xi xl xo xs", "solid ground"]);
    let row = 2;
    let bytes = || {
        let directory = crate::EncryptedDirectory::open(dir.path(), &KEY).unwrap();
        let mut out = Vec::new();
        for name in directory.file_names().unwrap().into_iter().filter(|name| name.ends_with(".term")) {
            directory.scan(&name, |chunk| out.extend_from_slice(chunk)).unwrap();
        }
        out
    };
    index.erase(&[row], 2).unwrap();
    assert!(memchr::memmem::find(&bytes(), b"solid").is_some(), "the letters do meet");
    let after = residue(dir.path(), &KEY, &[row], &[], &words).unwrap();
    assert!(after.is_clean() && after.present.is_empty(), "{after:?}");
}

#[test]
fn a_row_only_marked_as_deleted_is_noticed() {
    let (dir, index) = index_of(&["terracotta", "plain"]);
    index.delete_row(1).unwrap();
    index.commit(2).unwrap();
    assert_eq!(sorted_rows(&index, "terracotta"), [0; 0], "search no longer shows it");
    let traces = residue(dir.path(), &KEY, &[1], &[], &erased_words()).unwrap();
    assert!(traces.findings.iter().any(|f| f.reason.contains("row 1 is in its dictionary")), "{traces:?}");
    assert!(traces.findings.iter().any(|f| f.reason.contains("an erased word")), "{traces:?}");
    assert!(traces.findings.iter().any(|f| f.reason.contains("columns")), "{traces:?}");
}

#[test]
fn a_restored_segment_file_is_noticed() {
    let (dir, index) = index_of(&["terracotta", "plain"]);
    let paths: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
    let copies: Vec<_> = paths.iter().map(|p| (p.clone(), std::fs::read(p).unwrap())).collect();
    index.erase(&[1], 2).unwrap();
    let removed = copies.iter().find(|(p, _)| !p.exists()).unwrap();
    std::fs::write(&removed.0, &removed.1).unwrap();
    let traces = residue(dir.path(), &KEY, &[1], &[], &[]).unwrap();
    assert!(traces.findings.iter().any(|f| f.reason.contains("belongs to no segment")), "{traces:?}");
    // The next opening removes the file.
    drop(index);
    crate::SearchIndex::open(dir.path(), &KEY).unwrap();
    assert!(residue(dir.path(), &KEY, &[1], &[], &[]).unwrap().is_clean());
}

#[test]
fn the_residue_check_searches_tags() {
    let (dir, index) = empty_index();
    let tags = ["terracotta".to_owned()];
    index.add(&IndexDoc { row: 1, kind: "memory", tags: &tags, ..Default::default() }).unwrap();
    index.commit(1).unwrap();
    let traces = residue(dir.path(), &KEY, &[], &[1], &erased_words()).unwrap();
    assert!(traces.words_by_row.contains_key(&1), "{traces:?}");
}
