//! Changed, swapped, cut and old files: an error, never an answer.
use super::{KEY, message, of};
use crate::{IndexError, IndexFilter, SearchIndex};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let list = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    list.map(|p| (p.clone(), std::fs::read(&p).unwrap())).collect()
}

/// Opens, searches and checks.
fn used(dir: &Path) -> Result<u32, IndexError> {
    let index = SearchIndex::open(dir, &KEY)?;
    index.check()?;
    Ok(index.search("lamp", &IndexFilter::default(), 5, 0)?.total)
}

#[test]
fn an_untouched_index_passes() {
    let (dir, index) = of(&["lamp", "lamp lit"]);
    index.delete_row(1).unwrap();
    index.commit(2).unwrap();
    index.check().unwrap();
    drop(index);
    assert_eq!(used(dir.path()).unwrap(), 1);
}

#[test]
fn names_and_words_are_nowhere_in_the_clear() {
    let (dir, index) = of(&["terracotta lamp"]);
    drop(index);
    for (path, bytes) in files(dir.path()) {
        for word in ["terracotta", "lamp", "segments", "message", "chatgpt"] {
            assert!(!bytes.windows(word.len()).any(|w| w.eq_ignore_ascii_case(word.as_bytes())), "{word} in {path:?}");
        }
    }
}

#[test]
fn a_flipped_byte_in_any_file() {
    let (dir, index) = of(&["lamp", "lamp lit"]);
    index.delete_row(1).unwrap();
    index.commit(2).unwrap();
    drop(index);
    let good = files(dir.path());
    assert!(good.keys().any(|p| p.extension().is_some_and(|x| x == "del")), "a deletion file is among them");
    for (path, bytes) in &good {
        for at in [0, 7, 9, 31, 33, bytes.len() / 2, bytes.len() - 1] {
            let mut bad = bytes.clone();
            bad[at] ^= 4;
            std::fs::write(path, &bad).unwrap();
            assert!(matches!(used(dir.path()), Err(IndexError::Damaged(_))), "byte {at} of {path:?}");
        }
        for cut in [0, 10, 40, bytes.len() - 1] {
            std::fs::write(path, &bytes[..cut]).unwrap();
            assert!(matches!(used(dir.path()), Err(IndexError::Damaged(_))), "{path:?} cut to {cut}");
        }
        std::fs::write(path, bytes).unwrap();
        std::fs::remove_file(path).unwrap();
        assert!(matches!(used(dir.path()), Err(IndexError::Damaged(_) | IndexError::Missing)), "{path:?} gone");
        std::fs::write(path, bytes).unwrap();
    }
    used(dir.path()).unwrap();
}

#[test]
fn swapped_files() {
    let (dir, index) = of(&["lamp", "lamp lit"]);
    index.add(&message(3, &["lamp again"])).unwrap();
    index.commit(2).unwrap();
    drop(index);
    let good = files(dir.path());
    for (a, b) in good.keys().flat_map(|a| good.keys().map(move |b| (a, b))).filter(|(a, b)| a < b) {
        std::fs::write(a, &good[b]).unwrap();
        std::fs::write(b, &good[a]).unwrap();
        assert!(matches!(used(dir.path()), Err(IndexError::Damaged(_))), "{a:?} and {b:?}");
        std::fs::write(a, &good[a]).unwrap();
        std::fs::write(b, &good[b]).unwrap();
    }
    used(dir.path()).unwrap();
}

#[test]
fn an_old_meta_is_damaged_or_says_how_old_it_is() {
    let (dir, index) = of(&["lamp", "lamp lit"]);
    let old = files(dir.path());
    index.erase(&[1], 2).unwrap();
    drop(index);
    // Only the old meta.json: the files it names are gone.
    let meta = dir.path().join("meta.json");
    let new = std::fs::read(&meta).unwrap();
    std::fs::write(&meta, &old[&meta]).unwrap();
    assert!(matches!(used(dir.path()), Err(IndexError::Damaged(_))));
    std::fs::write(&meta, new).unwrap();
    // The whole old index: whole, and of change 1, which is not what the store says.
    for (path, bytes) in &old {
        std::fs::write(path, bytes).unwrap();
    }
    assert_eq!(SearchIndex::open(dir.path(), &KEY).unwrap().seq(), 1);
}

#[test]
fn an_old_file_of_the_same_name() {
    use crate::EncryptedDirectory;
    use std::io::Write;
    use tantivy::{Directory, directory::TerminatingWrite};
    let dir = tempfile::tempdir().unwrap();
    let directory = EncryptedDirectory::open(dir.path(), &KEY).unwrap();
    let put = |text: &[u8]| {
        let mut file = directory.open_write(Path::new("a.del")).unwrap();
        file.write_all(text).unwrap();
        file.terminate().unwrap();
    };
    put(b"old");
    let old = std::fs::read(dir.path().join("a.del")).unwrap();
    directory.delete(Path::new("a.del")).unwrap();
    put(b"new");
    directory.atomic_write(Path::new("meta.json"), b"{}").unwrap();
    let again = EncryptedDirectory::open(dir.path(), &KEY).unwrap();
    assert_eq!(again.open_read(Path::new("a.del")).unwrap().read_bytes().unwrap().as_slice(), b"new");
    std::fs::write(dir.path().join("a.del"), old).unwrap();
    assert!(again.open_read(Path::new("a.del")).is_err());
}

#[test]
fn another_key_and_no_index() {
    let (dir, index) = of(&["lamp"]);
    drop(index);
    assert!(matches!(SearchIndex::open(dir.path(), &[6; 32]), Err(IndexError::Damaged(_))));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(SearchIndex::open(empty.path(), &KEY), Err(IndexError::Missing)));
    let anew = SearchIndex::create(dir.path(), &[6; 32]).unwrap();
    assert_eq!((anew.documents(), anew.seq()), (0, 0));
}
