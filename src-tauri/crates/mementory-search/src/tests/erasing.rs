//! Erased means gone from every file, and the check that says so notices when it is not.
use super::{KEY, empty, message, of, sorted};
use crate::{IndexDoc, IndexFilter, residue};

fn words() -> Vec<String> {
    vec!["terracotta".to_owned(), "7f3a91".to_owned()]
}

#[test]
fn an_erased_row_leaves_nothing() {
    let (dir, index) = of(&["the spare key is under the terracotta pot, code 7F3A91", "another key", "third"]);
    let before = residue(dir.path(), &KEY, &[1], &[], &words()).unwrap();
    assert!(before.findings.len() >= 3, "{before:?}");
    index.erase(&[1], 2).unwrap();
    assert_eq!((index.seq(), index.documents()), (2, 2));
    assert_eq!(sorted(&index, "key"), [2]);
    let after = residue(dir.path(), &KEY, &[1], &[], &words()).unwrap();
    assert!(after.is_clean(), "{after:?}");
    assert!(after.files > 0 && after.segments == 1 && after.bytes > 0 && after.terms > 0);
}

#[test]
fn all_rows_can_be_erased() {
    let (dir, index) = of(&["terracotta", "7F3A91 here"]);
    index.erase(&[1, 2], 2).unwrap();
    let after = residue(dir.path(), &KEY, &[1, 2], &[], &words()).unwrap();
    assert!(after.is_clean(), "{after:?}");
    assert_eq!((index.documents(), after.segments), (0, 0));
}

#[test]
fn older_versions_of_a_row_go_too() {
    let (dir, index) = of(&["terracotta", "plain"]);
    index.delete_row(1).unwrap();
    index.add(&message(1, &["changed, 7F3A91"])).unwrap();
    index.commit(2).unwrap();
    index.erase(&[1], 3).unwrap();
    assert!(residue(dir.path(), &KEY, &[1], &[], &words()).unwrap().is_clean());
    assert_eq!(sorted(&index, "plain"), [2]);
}

#[test]
fn redacting_purges_the_old_words() {
    let (dir, index) = of(&["key under the terracotta pot", "plain"]);
    index.delete_row(1).unwrap();
    index.add(&message(1, &["key under the [REDACTED:place]"])).unwrap();
    index.commit(2).unwrap();
    index.purge(&[1]).unwrap();
    assert!(residue(dir.path(), &KEY, &[], &[], &words()).unwrap().is_clean());
    assert_eq!(sorted(&index, "key"), [1]);
}

#[test]
fn a_search_on_the_side_does_not_keep_files() {
    let (dir, index) = of(&["terracotta", "plain"]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..200 {
                index.search("plain terracotta", &IndexFilter::default(), 5, 0).unwrap();
            }
        });
        index.erase(&[1], 2).unwrap();
        assert!(residue(dir.path(), &KEY, &[1], &[], &words()).unwrap().is_clean());
    });
}

#[test]
fn words_that_any_index_holds_are_no_leftovers() {
    // In the tokeniser's name, in the schema, in the footer of every file.
    let words: Vec<String> = ["keeps", "words", "conversation", "version", "generations"].map(String::from).to_vec();
    let (dir, index) = of(&["she keeps the words of a conversation", "another version, generations ago", "third"]);
    let before = residue(dir.path(), &KEY, &[1], &[], &words).unwrap();
    assert!(before.findings.iter().any(|f| f.reason.contains("dictionary")), "{before:?}");
    index.erase(&[1, 2], 2).unwrap();
    let after = residue(dir.path(), &KEY, &[1, 2], &[], &words).unwrap();
    assert!(after.is_clean(), "{after:?}");
}

#[test]
fn marking_as_deleted_is_noticed() {
    let (dir, index) = of(&["terracotta", "plain"]);
    index.delete_row(1).unwrap();
    index.commit(2).unwrap();
    assert_eq!(sorted(&index, "terracotta"), [0; 0], "search no longer shows it");
    let found = residue(dir.path(), &KEY, &[1], &[], &words()).unwrap();
    assert!(found.findings.iter().any(|f| f.reason.contains("row 1 is in its dictionary")), "{found:?}");
    assert!(found.findings.iter().any(|f| f.reason.contains("an erased word")), "{found:?}");
    assert!(found.findings.iter().any(|f| f.reason.contains("columns")), "{found:?}");
}

#[test]
fn a_file_kept_back_is_noticed() {
    let (dir, index) = of(&["terracotta", "plain"]);
    let kept: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
    let copies: Vec<_> = kept.iter().map(|p| (p.clone(), std::fs::read(p).unwrap())).collect();
    index.erase(&[1], 2).unwrap();
    let gone = copies.iter().find(|(p, _)| !p.exists()).unwrap();
    std::fs::write(&gone.0, &gone.1).unwrap();
    let found = residue(dir.path(), &KEY, &[1], &[], &[]).unwrap();
    assert!(found.findings.iter().any(|f| f.reason.contains("belongs to no segment")), "{found:?}");
    // The next open cleans up.
    drop(index);
    crate::SearchIndex::open(dir.path(), &KEY).unwrap();
    assert!(residue(dir.path(), &KEY, &[1], &[], &[]).unwrap().is_clean());
}

#[test]
fn tags_and_names_are_searched_too() {
    let (dir, index) = empty();
    let tags = ["terracotta".to_owned()];
    index.add(&IndexDoc { row: 1, kind: "memory", tags: &tags, ..Default::default() }).unwrap();
    index.commit(1).unwrap();
    assert!(!residue(dir.path(), &KEY, &[], &[], &words()).unwrap().is_clean());
}
