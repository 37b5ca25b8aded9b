//! Shared parts of the tests of all formats: a vault in memory, a fake cipher, temporary folders, fixtures, and
//! functions that read, write and validate a path.
mod cipher;
mod memory;
mod scratch;

pub use cipher::FakeCipher;
pub use memory::{MemorySource, formats_of, vault_id};
pub use scratch::{Scratch, put, tree};

use crate::{Catalog, Format, Passphrase, ReadContext, Validation, WriteOptions, WriteReport, detect};
use mementory_model::{Limits, Timestamp};
use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The top folder of the repository. The path is read from the environment at run time, because the test may have been
/// built in another clone, which shares the target folder but has its own fixtures.
pub fn repo() -> PathBuf {
    let crate_folder = std::env::var_os("CARGO_MANIFEST_DIR").expect("run by cargo");
    Path::new(&crate_folder).join("../../..").canonicalize().unwrap()
}

/// Reports that a test or its remaining part is skipped. `npm test` counts the lines in the file MEMENTORY_SKIPPED,
/// because the test harness hides the output of passing tests.
pub fn skipped(reason: &str) {
    eprintln!("SKIPPED: {reason}");
    let Some(list) = std::env::var_os("MEMENTORY_SKIPPED") else { return };
    let line = format!("{}\t{reason}\n", std::thread::current().name().unwrap_or("a test"));
    let mut list = std::fs::OpenOptions::new().create(true).append(true).open(list).unwrap();
    list.write_all(line.as_bytes()).unwrap();
}

/// The path of a file or folder of the shared reference data. If it does not exist, the test is reported as skipped.
pub fn shared(name: &str) -> Option<PathBuf> {
    let base = std::env::var_os("MEMENTORY_SHARED").map_or_else(|| repo().join("../shared"), PathBuf::from);
    let path = base.join(name);
    if !path.exists() {
        skipped(&format!("{name} is not in the shared reference data"));
        return None;
    }
    Some(path)
}

/// Reads a path. Asserts that detection with `formats` finds exactly one source, and that it has the format `format`.
pub fn read(formats: &[&'static dyn Format], path: &Path, format: &dyn Format) -> MemorySource {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let chosen_format = format.capabilities().only_if_chosen.then(|| format.id());
    let detection = detect(formats, &catalog, &limits, chosen_format).unwrap();
    assert!(detection.ties.is_empty(), "{:?}", detection.ties);
    assert_eq!(detection.sources.iter().map(|s| s.format).collect::<Vec<_>>(), [format.id()], "{}", path.display());
    let mut source = MemorySource::default();
    format.read(&catalog, &detection.sources[0], &read_context(format, limits), &mut source).unwrap();
    source
}

/// The context of a reader, with the passphrase of [`write_options`].
pub fn read_context(format: &dyn Format, limits: Limits) -> ReadContext {
    ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: passphrase_for(format) }
}

/// The options of a writer. They have a passphrase if the format cannot be written without one.
pub fn write_options(format: &dyn Format) -> WriteOptions {
    WriteOptions { passphrase: passphrase_for(format), ..WriteOptions::default() }
}

fn passphrase_for(format: &dyn Format) -> Option<Arc<dyn Passphrase>> {
    format.capabilities().needs_passphrase.then(|| Arc::new(FakeCipher("four words of it")) as Arc<dyn Passphrase>)
}

/// Writes all records of `source` to `path`.
pub fn write(source: &mut MemorySource, path: &Path, format: &dyn Format) -> WriteReport {
    format.write(source, path, &WriteOptions { everything: true, ..write_options(format) }).unwrap()
}

/// Validates a path as `format`.
pub fn validate(path: &Path, format: &'static dyn Format) -> Validation {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = detect(&[format], &catalog, &limits, Some(format.id())).unwrap();
    format.validate(&catalog, &detection.sources[0], &limits, &[]).unwrap()
}
