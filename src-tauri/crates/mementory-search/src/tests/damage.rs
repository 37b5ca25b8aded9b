//! Files that are changed, swapped, truncated or old cause an error, never a wrong answer.
use super::{KEY, index_of, message};
use crate::{IndexError, IndexFilter, SearchIndex};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

fn file_contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let list = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    list.map(|p| (p.clone(), std::fs::read(&p).unwrap())).collect()
}

/// Opens the index, checks it and returns the number of hits for "lamp".
fn open_check_and_search(dir: &Path) -> Result<u32, IndexError> {
    let index = SearchIndex::open(dir, &KEY)?;
    index.check()?;
    Ok(index.search("lamp", &IndexFilter::default(), 5, 0)?.total)
}

#[test]
fn an_untouched_index_passes_its_check() {
    let (dir, index) = index_of(&["lamp", "lamp lit"]);
    index.delete_row(1).unwrap();
    index.commit(2).unwrap();
    index.check().unwrap();
    drop(index);
    assert_eq!(open_check_and_search(dir.path()).unwrap(), 1);
}

#[test]
fn no_file_contains_names_or_words_in_plain_text() {
    let (dir, index) = index_of(&["terracotta lamp"]);
    drop(index);
    for (path, bytes) in file_contents(dir.path()) {
        for word in ["terracotta", "lamp", "segments", "message", "chatgpt"] {
            assert!(!bytes.windows(word.len()).any(|w| w.eq_ignore_ascii_case(word.as_bytes())), "{word} in {path:?}");
        }
    }
}

#[test]
fn a_flipped_byte_or_a_cut_in_any_file_is_noticed() {
    let (dir, index) = index_of(&["lamp", "lamp lit"]);
    index.delete_row(1).unwrap();
    index.commit(2).unwrap();
    drop(index);
    let original = file_contents(dir.path());
    assert!(original.keys().any(|p| p.extension().is_some_and(|x| x == "del")), "a deletion file is among them");
    for (path, bytes) in &original {
        for position in [0, 7, 9, 31, 33, bytes.len() / 2, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[position] ^= 4;
            std::fs::write(path, &changed).unwrap();
            assert!(
                matches!(open_check_and_search(dir.path()), Err(IndexError::Damaged(_))),
                "byte {position} of {path:?}"
            );
        }
        for cut in [0, 10, 40, bytes.len() - 1] {
            std::fs::write(path, &bytes[..cut]).unwrap();
            assert!(matches!(open_check_and_search(dir.path()), Err(IndexError::Damaged(_))), "{path:?} cut to {cut}");
        }
        std::fs::write(path, bytes).unwrap();
        std::fs::remove_file(path).unwrap();
        assert!(
            matches!(open_check_and_search(dir.path()), Err(IndexError::Damaged(_) | IndexError::Missing)),
            "{path:?} gone"
        );
        std::fs::write(path, bytes).unwrap();
    }
    open_check_and_search(dir.path()).unwrap();
}

#[test]
fn swapped_files_are_noticed() {
    let (dir, index) = index_of(&["lamp", "lamp lit"]);
    index.add(&message(3, &["lamp again"])).unwrap();
    index.commit(2).unwrap();
    drop(index);
    let original = file_contents(dir.path());
    for (a, b) in original.keys().flat_map(|a| original.keys().map(move |b| (a, b))).filter(|(a, b)| a < b) {
        std::fs::write(a, &original[b]).unwrap();
        std::fs::write(b, &original[a]).unwrap();
        assert!(matches!(open_check_and_search(dir.path()), Err(IndexError::Damaged(_))), "{a:?} and {b:?}");
        std::fs::write(a, &original[a]).unwrap();
        std::fs::write(b, &original[b]).unwrap();
    }
    open_check_and_search(dir.path()).unwrap();
}

#[test]
fn an_old_meta_file_fails_or_reports_its_old_change_number() {
    let (dir, index) = index_of(&["lamp", "lamp lit"]);
    let old_files = file_contents(dir.path());
    index.erase(&[1], 2).unwrap();
    drop(index);
    // Only the old meta.json is restored. The files that it names no longer exist.
    let meta = dir.path().join("meta.json");
    let new_meta = std::fs::read(&meta).unwrap();
    std::fs::write(&meta, &old_files[&meta]).unwrap();
    assert!(matches!(open_check_and_search(dir.path()), Err(IndexError::Damaged(_))));
    std::fs::write(&meta, new_meta).unwrap();
    // If the complete old index is restored, it can be opened, but it states that it contains store changes only up to
    // number 1. The caller can compare that number with the store.
    for (path, bytes) in &old_files {
        std::fs::write(path, bytes).unwrap();
    }
    assert_eq!(SearchIndex::open(dir.path(), &KEY).unwrap().seq(), 1);
}

#[test]
fn an_old_file_of_the_same_name_is_refused() {
    use crate::EncryptedDirectory;
    use std::io::Write;
    use tantivy::{Directory, directory::TerminatingWrite};
    let dir = tempfile::tempdir().unwrap();
    let directory = EncryptedDirectory::open(dir.path(), &KEY).unwrap();
    let write_file = |text: &[u8]| {
        let mut file = directory.open_write(Path::new("a.del")).unwrap();
        file.write_all(text).unwrap();
        file.terminate().unwrap();
    };
    write_file(b"old");
    let old_bytes = std::fs::read(dir.path().join("a.del")).unwrap();
    directory.delete(Path::new("a.del")).unwrap();
    write_file(b"new");
    directory.atomic_write(Path::new("meta.json"), b"{}").unwrap();
    let reopened = EncryptedDirectory::open(dir.path(), &KEY).unwrap();
    assert_eq!(reopened.open_read(Path::new("a.del")).unwrap().read_bytes().unwrap().as_slice(), b"new");
    std::fs::write(dir.path().join("a.del"), old_bytes).unwrap();
    assert!(reopened.open_read(Path::new("a.del")).is_err());
}

#[test]
fn a_wrong_key_is_reported_as_damage_and_an_empty_folder_as_no_index() {
    let (dir, index) = index_of(&["lamp"]);
    drop(index);
    assert!(matches!(SearchIndex::open(dir.path(), &[6; 32]), Err(IndexError::Damaged(_))));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(SearchIndex::open(empty.path(), &KEY), Err(IndexError::Missing)));
    let recreated = SearchIndex::create(dir.path(), &[6; 32]).unwrap();
    assert_eq!((recreated.documents(), recreated.seq()), (0, 0));
}
