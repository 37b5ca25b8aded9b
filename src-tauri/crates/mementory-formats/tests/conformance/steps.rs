//! The steps of the suite: open, read, validate. Most return errors, because some cases expect one.
use crate::{cases::Case, passphrase::OwnerPassphrase};
use mementory_format::testkit::MemorySource;
use mementory_formats::{
    Capabilities, Catalog, Detected, Format, FormatError, Passphrase, ReadContext, Validation, WriteOptions, detect,
    registry,
};
use mementory_model::{Limits, Record, Timestamp};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Opens a path and detects its sources. If `only` is given, only sources of this format are detected.
pub fn open(path: &Path, limits: &Limits, only: Option<&str>) -> Result<(Catalog, Vec<Detected>), FormatError> {
    let catalog = Catalog::open(&[path.to_path_buf()], limits, None)?;
    let sources = detect(&catalog, limits, only)?.sources;
    Ok((catalog, sources))
}

/// Reads a path as `format`. If nothing is detected, the result has no records.
pub fn read(path: &Path, limits: &Limits, format: &dyn Format) -> Result<MemorySource, FormatError> {
    read_with(path, limits, format, passphrase_for(format))
}

fn read_with(
    path: &Path,
    limits: &Limits,
    format: &dyn Format,
    passphrase: Option<Arc<dyn Passphrase>>,
) -> Result<MemorySource, FormatError> {
    let (catalog, sources) = open(path, limits, Some(format.id()))?;
    let context = ReadContext { limits: limits.clone(), now: Timestamp::from_micros(0).unwrap(), passphrase };
    let mut out = MemorySource::default();
    for source in &sources {
        format.read(&catalog, source, &context, &mut out)?;
    }
    Ok(out)
}

/// Reads a case that must be readable.
pub fn read_case(case: &Case) -> MemorySource {
    let passphrase = case.passphrase.as_deref().map(|text| Arc::new(OwnerPassphrase::new(text)) as Arc<dyn Passphrase>);
    let read = read_with(&case.path, &Limits::default(), case.format, passphrase);
    read.unwrap_or_else(|error| panic!("{}: {error:?}", case.name))
}

/// Validates a path as `format`; None if nothing is detected in it.
pub fn validate(path: &Path, format: &dyn Format) -> Result<Option<Validation>, FormatError> {
    let limits = Limits::default();
    let (catalog, sources) = open(path, &limits, Some(format.id()))?;
    sources.first().map(|source| format.validate(&catalog, source, &limits, &[])).transpose()
}

/// The options for writing a case.
pub fn write_options(format: &dyn Format, base: Option<PathBuf>) -> WriteOptions {
    WriteOptions { everything: true, base, passphrase: passphrase_for(format), ..WriteOptions::default() }
}

/// The passphrase of the files that the suite writes. None for a format that needs none.
fn passphrase_for(format: &dyn Format) -> Option<Arc<dyn Passphrase>> {
    let needs_one = format.capabilities().needs_passphrase;
    needs_one.then(|| Arc::new(OwnerPassphrase::new("four words of it")) as Arc<dyn Passphrase>)
}

/// The record without its origin, to be compared after a round trip.
pub fn without_origin(record: &Record) -> Record {
    Record { origin: mementory_model::Origin::default(), ..record.clone() }
}

/// Prints the formats with which a property was tested. Fails if they are not exactly the formats with the capability.
pub fn assert_covered<'a>(
    property: &str,
    ran: impl IntoIterator<Item = &'a Case>,
    is_wanted: impl Fn(Capabilities) -> bool,
) {
    let ran: BTreeSet<&str> = ran.into_iter().map(|case| case.format.id()).collect();
    let expected: BTreeSet<&str> =
        registry().iter().filter(|format| is_wanted(format.capabilities())).map(|format| format.id()).collect();
    eprintln!("{property}: {ran:?}");
    assert!(!ran.is_empty(), "{property}: no format was tested");
    assert_eq!(ran, expected, "{property}: formats with the capability and without a test");
}
