//! Helpers for tests that read, write and pack archives.
pub(crate) use mementory_format::testkit::{MemorySource, Scratch, repo, shared};
use mementory_format::{
    Catalog, Detection, Format, FormatError, Passphrase, ReadContext, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Limits, Timestamp};
use std::{
    collections::BTreeMap,
    io::{Read, Write},
    path::Path,
    sync::Arc,
};

/// A text that looks like a token of a known service.
pub(crate) const TOKEN: &str = concat!("ghp", "_q7Xw2LkP9sVbT4nRz8JcYd5MfHg3uE6AoKiN");

/// Reads and writes agents' workspaces.
pub(crate) mod workspace {
    pub(crate) use mementory_format::testkit::{put, tree, write};
    use mementory_format::{Format, testkit::MemorySource};

    pub(crate) fn read(path: &std::path::Path, format: &dyn Format) -> MemorySource {
        mementory_format::testkit::read(&crate::all(), path, format)
    }
}

pub(crate) fn open(path: &Path) -> Result<(Catalog, Detection), FormatError> {
    open_with(path, None)
}

fn open_with(path: &Path, passphrase: Option<&dyn Passphrase>) -> Result<(Catalog, Detection), FormatError> {
    let limits = Limits::default();
    let catalog = Catalog::open_with(&[path.to_path_buf()], &limits, None, passphrase)?;
    catalog.refuse_unopened()?;
    let detection = crate::detect(&catalog, &limits, Some("alf"))?;
    Ok((catalog, detection))
}

/// Reads an archive twice: directly, and after a validation, as an import does. The second reading uses values that the
/// validator cached in the catalog. Both results must be equal.
pub(crate) fn read(path: &Path) -> Result<MemorySource, FormatError> {
    let vault = read_with(path, None)?;
    let (catalog, detection) = open(path)?;
    let limits = Limits::default();
    for source in &detection.sources {
        // The findings are ignored, because other tests check them.
        let _ = super::Alf.validate(&catalog, source, &limits, &[]);
    }
    let reread = read_sources(&catalog, &detection, None)?;
    assert_eq!(reread.records, vault.records);
    assert_eq!(format!("{:?}", (&reread.notes, &reread.dropped)), format!("{:?}", (&vault.notes, &vault.dropped)));
    Ok(vault)
}

pub(crate) fn read_with(path: &Path, passphrase: Option<Arc<dyn Passphrase>>) -> Result<MemorySource, FormatError> {
    let (catalog, detection) = open_with(path, passphrase.as_deref())?;
    assert!(!detection.sources.is_empty(), "no source in {}", path.display());
    read_sources(&catalog, &detection, passphrase)
}

fn read_sources(
    catalog: &Catalog,
    detection: &Detection,
    passphrase: Option<Arc<dyn Passphrase>>,
) -> Result<MemorySource, FormatError> {
    let mut vault = MemorySource::default();
    let context = ReadContext { limits: Limits::default(), now: Timestamp::from_micros(0).unwrap(), passphrase };
    for source in &detection.sources {
        super::Alf.read(catalog, source, &context, &mut vault)?;
    }
    Ok(vault)
}

/// Exports everything, and checks that the preview lists the same losses.
pub(crate) fn write(vault: &mut MemorySource, path: &Path) -> WriteReport {
    plan_and_write(&super::Alf, vault, path, &WriteOptions { everything: true, ..WriteOptions::default() })
}

/// Writes a file of a format, and checks that the preview lists the same losses.
pub(crate) fn plan_and_write(
    format: &dyn Format,
    vault: &mut MemorySource,
    path: &Path,
    options: &WriteOptions,
) -> WriteReport {
    let planned_report = format.plan(vault, options).unwrap();
    let report = format.write(vault, path, options).unwrap();
    assert_eq!(planned_report.losses.counts, report.losses.counts);
    report
}

/// Writes a copy of the archive with some entries changed.
pub(crate) fn write_changed_copy(from: &Path, to: &Path, change: impl Fn(&str, Vec<u8>) -> Vec<u8>) {
    let changed_entries: Vec<(String, Vec<u8>)> =
        entries(from).into_iter().map(|(n, b)| (n.clone(), change(&n, b))).collect();
    let changed_entries: Vec<(&str, &[u8])> = changed_entries.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    pack(to, &changed_entries);
}

/// Copies a file for the checks in `tests/interop` if `MEMENTORY_ALF_OUT` names a folder for it.
pub(crate) fn copy_for_interop(path: &Path, name: &str) {
    if let Some(folder) = std::env::var_os("MEMENTORY_ALF_OUT") {
        std::fs::copy(path, Path::new(&folder).join(name)).unwrap();
    }
}

pub(crate) fn validate(path: &Path) -> Validation {
    let (catalog, detection) = open(path).unwrap();
    super::Alf.validate(&catalog, &detection.sources[0], &Limits::default(), &[]).unwrap()
}

/// Maps the name of each entry of an archive to its bytes.
pub(crate) fn entries(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut zip = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    (0..zip.len())
        .map(|i| {
            let mut entry = zip.by_index(i).unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (entry.name().unwrap().into_owned(), bytes)
        })
        .collect()
}

/// Packs these entries into an archive, without any checks.
pub(crate) fn pack(path: &Path, entries: &[(&str, &[u8])]) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, bytes) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

/// Packs the files of a fixture folder into an archive.
pub(crate) fn pack_folder(folder: &Path, path: &Path) {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut pending_folders = vec![folder.to_path_buf()];
    while let Some(dir) = pending_folders.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let at = entry.unwrap().path();
            if at.is_dir() {
                pending_folders.push(at);
            } else {
                let name = at.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
                files.push((name, std::fs::read(&at).unwrap()));
            }
        }
    }
    files.sort();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    pack(path, &files);
}
