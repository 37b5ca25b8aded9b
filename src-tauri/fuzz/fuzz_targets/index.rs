//! Overwrites a part of one file of a search index, or cuts the file off. Opening, checking or searching the index has
//! to fail then, unless the bytes are as they were.
//!
//! The first byte selects the file, the next two the position, and a bit of the fourth whether the file is cut off
//! there. The bytes after these four are written at the position.
#![no_main]
use mementory_search::{IndexDoc, IndexError, IndexFilter, IndexResult, SearchIndex};
use std::{path::Path, sync::OnceLock};

const KEY: [u8; 32] = [5; 32];
const TEXTS: [&str; 3] = ["a lamp", "a lamp lit", "an oak"];

/// Names and bytes of the files of an index over [`TEXTS`].
static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let [file, low, high, cut, patch @ ..] = data else { return };
    let files = FILES.get_or_init(|| index_files().unwrap_or_default());
    assert!(!files.is_empty(), "the index cannot be made");
    let Ok(folder) = tempfile::Builder::new().prefix("mementory-fuzz-").tempdir() else { return };
    let mut changed = false;
    for (i, (name, bytes)) in files.iter().enumerate() {
        let mut new = bytes.clone();
        if i == usize::from(*file) % files.len() {
            let at = usize::from(u16::from_le_bytes([*low, *high])) % bytes.len();
            if cut & 4 != 0 {
                new.truncate(at);
            }
            let end = new.len().min(at + patch.len());
            new.splice(at..end, patch.iter().copied());
            changed = new != *bytes;
        }
        if std::fs::write(folder.path().join(name), new).is_err() {
            return;
        }
    }
    match search(folder.path()) {
        Ok(hits) => assert!(!changed && hits == 2, "{hits} hits, and a file was changed: {changed}"),
        Err(error) => assert!(changed, "{error}"),
    }
});

fn index_files() -> IndexResult<Vec<(String, Vec<u8>)>> {
    let folder = tempfile::tempdir()?;
    let index = SearchIndex::create(folder.path(), &KEY)?;
    for (row, text) in (1..).zip(TEXTS) {
        index.add(&IndexDoc { row, kind: "message", platform: "chatgpt", text: &[text], ..IndexDoc::default() })?;
    }
    index.commit(1)?;
    drop(index);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder.path())? {
        let entry = entry?;
        files.push((entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path())?));
    }
    // A lock has no content that could be changed.
    files.retain(|(_, bytes)| !bytes.is_empty());
    files.sort();
    Ok(files)
}

fn search(folder: &Path) -> Result<u32, IndexError> {
    let index = SearchIndex::open(folder, &KEY)?;
    index.check()?;
    Ok(index.search("lamp", &IndexFilter::default(), 5, 0)?.total)
}
