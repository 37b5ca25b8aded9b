//! Decrypts everything that a vault contains, independently of the code that erases records and of the code that checks
//! an erasure.
use mementory_crypto::{ChunkReader, Context, VaultKeys};
use mementory_testkit::{TempVault, contains_text};
use std::{
    collections::{BTreeMap, HashSet},
    io::{ErrorKind, Read, Result},
    path::Path,
};
use tantivy::{
    Directory, Index, TantivyError,
    directory::{RamDirectory, error::OpenReadError},
};

/// The decrypted contents of a vault, one byte string per place of storage.
pub struct VaultContents {
    /// Pages of the database, including free ones, and the texts of every pack.
    pages: Vec<u8>,
    /// `meta.json` of the index, then the terms of every dictionary, one per line.
    terms: Vec<u8>,
    /// Bytes of attachments and passthrough files.
    blobs: Vec<u8>,
    /// Bytes of all files as they are on disk.
    raw: Vec<u8>,
}

impl VaultContents {
    pub fn of(t: &TempVault, keys: &VaultKeys) -> Self {
        let raw = read_again_if_a_file_vanished(|| {
            let mut raw = Vec::new();
            files(&t.dir(), &mut |path| {
                raw.extend(std::fs::read(path)?);
                Ok(())
            })?;
            Ok(raw)
        });
        Self {
            pages: t.decrypted_with(keys),
            terms: read_again_if_a_file_vanished(|| terms(t, keys)),
            blobs: read_again_if_a_file_vanished(|| blobs(t, keys)),
            raw,
        }
    }

    fn places(&self) -> [(&'static str, &[u8]); 4] {
        [
            ("pages", &self.pages),
            ("index", &self.terms),
            ("blobs", &self.blobs),
            ("disk", &self.raw),
        ]
    }

    /// Returns the names of the places that contain `needle`.
    pub fn places_of(&self, needle: &str) -> Vec<&'static str> {
        self.places()
            .into_iter()
            .filter(|(_, bytes)| contains_text(bytes, needle))
            .map(|(place, _)| place)
            .collect()
    }

    /// Returns every sequence of `length` bytes that begins with `head`, with the place that contains the sequence. One
    /// call finds the markers of all records.
    pub fn runs_starting_with(
        &self,
        head: &[u8],
        length: usize,
    ) -> HashSet<(String, &'static str)> {
        let mut out = HashSet::new();
        for (place, bytes) in self.places() {
            let found = bytes
                .windows(length)
                .filter(|run| run[0] == head[0] && run.starts_with(head));
            out.extend(found.map(|run| (String::from_utf8_lossy(run).into_owned(), place)));
        }
        out
    }
}

/// Calls `each` with every file below `dir`.
fn files(dir: &Path, each: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files(&entry.path(), each)?
        } else {
            each(&entry.path())?
        }
    }
    Ok(())
}

/// Calls `read` again if a file vanished while `read` ran: after a merge of index segments, Tantivy's threads remove
/// the old files. `read` must list all files again at each call, so that no existing file is left out.
fn read_again_if_a_file_vanished(read: impl Fn() -> Result<Vec<u8>>) -> Vec<u8> {
    for _ in 0..100 {
        match read() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => return done.unwrap(),
        }
    }
    panic!("in each of 100 attempts a file vanished");
}

fn decrypt_file(path: &Path, key: &[u8; 32], context: &Context<'_>) -> Result<Vec<u8>> {
    let file = std::fs::File::open(path)?;
    let len = file.metadata()?.len();
    let mut out = Vec::new();
    ChunkReader::open(file, len, key, context)
        .unwrap()
        .into_read()
        .read_to_end(&mut out)?;
    Ok(out)
}

fn index_context(name: &str, generation: u64) -> Context<'_> {
    Context {
        purpose: "index",
        name,
        generation,
    }
}

/// Decrypts the index's files into memory, opens the index there, and lists its terms.
fn terms(t: &TempVault, keys: &VaultKeys) -> Result<Vec<u8>> {
    let dir = t.dir().join("index");
    let sealed = decrypt_file(
        &dir.join("meta.json"),
        keys.index(),
        &index_context("meta.json", 0),
    )?;
    let sealed: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
    let meta = sealed["meta"].as_str().unwrap();
    let generations: BTreeMap<String, u64> =
        serde_json::from_value(sealed["generations"].clone()).unwrap();
    let memory = RamDirectory::create();
    memory
        .atomic_write(Path::new("meta.json"), meta.as_bytes())
        .unwrap();
    for entry in std::fs::read_dir(&dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // Skip a file that `meta.json` does not name, because a running merge is still writing that file.
        if generations.contains_key(&name) {
            let bytes = decrypt_file(
                &path,
                keys.index(),
                &index_context(&name, generations[&name]),
            )?;
            memory.atomic_write(Path::new(&name), &bytes).unwrap();
        }
    }
    let mut out = meta.as_bytes().to_vec();
    for segment in Index::open(memory).unwrap().searchable_segments().unwrap() {
        let reader = match tantivy::SegmentReader::open(&segment) {
            // A merge removed the file after `meta.json` was read.
            Err(TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_))) => {
                return Err(ErrorKind::NotFound.into());
            }
            opened => opened.unwrap(),
        };
        for (field, _) in reader.schema().fields() {
            // Skip fields that are stored only as columns, because they have no dictionary.
            let Ok(inverted) = reader.inverted_index(field) else {
                continue;
            };
            let mut stream = inverted.terms().stream().unwrap();
            while stream.advance() {
                out.extend_from_slice(stream.key());
                out.push(b'\n');
            }
        }
    }
    Ok(out)
}

fn blobs(t: &TempVault, keys: &VaultKeys) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    files(&t.dir().join("blobs"), &mut |path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let context = Context {
            purpose: "blob",
            name,
            generation: 0,
        };
        out.extend(decrypt_file(path, keys.blobs(), &context)?);
        Ok(())
    })?;
    Ok(out)
}
