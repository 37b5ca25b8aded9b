//! A stand-in for the vault in tests: a sink that keeps everything, and a record source over it.
pub(crate) use crate::testing::{repo, shared};
use crate::{
    AttachmentFile, Catalog, Detection, Format, FormatError, Passphrase, PassthroughItem, ReadContext, RecordSource,
    Sink, SourceAbout, StoredRecord, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Dropped, Issue, Kind, Limits, Record, RecordKey, Timestamp, Tombstone, Unit};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that a reader said.
#[derive(Default)]
pub(crate) struct Shelf {
    pub records: Vec<Record>,
    pub files: Vec<(AttachmentFile, Vec<u8>)>,
    pub parts: Vec<(PassthroughItem, Vec<u8>)>,
    pub notes: Vec<Issue>,
    pub dropped: Vec<Dropped>,
    pub edited: BTreeSet<usize>,
    pub progress: u64,
    pub tombstones: Vec<Tombstone>,
    /// When the versions of a record were taken in, by its key.
    pub taken_in: BTreeMap<String, Vec<Timestamp>>,
    /// The vault, if not the usual one.
    pub vault: Option<String>,
}

impl Sink for Shelf {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        self.records.extend(unit.records);
        Ok(())
    }
    fn attachment(&mut self, file: AttachmentFile, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let mut out = Vec::new();
        bytes.read_to_end(&mut out).map_err(|e| FormatError::io("test", e))?;
        self.files.push((file, out));
        Ok(())
    }
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let mut out = Vec::new();
        bytes.read_to_end(&mut out).map_err(|e| FormatError::io("test", e))?;
        self.parts.push((item, out));
        Ok(())
    }
    fn tombstone(&mut self, tombstone: Tombstone) -> Result<(), FormatError> {
        self.tombstones.push(tombstone);
        Ok(())
    }
    fn note(&mut self, issue: Issue) {
        self.notes.push(issue);
    }
    fn dropped(&mut self, dropped: Dropped) {
        self.dropped.push(dropped);
    }
    fn progress(&mut self, bytes: u64) -> Result<(), FormatError> {
        self.progress = bytes;
        Ok(())
    }
}

/// A vault id as the vault makes one: a digest of kind and key.
pub(crate) fn vault_id(kind: Kind, key: &RecordKey) -> String {
    hex::encode(&Sha256::digest(format!("{}|{}|{}", kind.as_str(), key.scope, key.value))[..16])
}

impl RecordSource for Shelf {
    fn about(&self) -> SourceAbout {
        SourceAbout {
            vault_id: self.vault.clone().unwrap_or_else(|| "0191b2c3-0000-7000-8000-000000000001".into()),
            name: "Test vault".into(),
            generator: "0.1.0".into(),
            now: Timestamp::parse("2026-11-20T12:00:00Z").unwrap(),
        }
    }
    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        let known: BTreeSet<String> = self.records.iter().map(|r| vault_id(r.kind, &r.key)).collect();
        let find = |kind, key: &RecordKey| Some(vault_id(kind, key)).filter(|id| known.contains(id));
        for kind in Kind::ALL {
            for (i, record) in self.records.iter().enumerate().filter(|(_, r)| r.kind == kind) {
                let message = record.message.as_ref().and_then(|m| m.parent.as_ref());
                visit(StoredRecord {
                    id: vault_id(record.kind, &record.key),
                    edited: self.edited.contains(&i),
                    link_ids: record.links.iter().map(|l| find(l.kind, &l.target)).collect(),
                    parent_id: record.parent.as_ref().and_then(|p| find(Kind::Conversation, p)),
                    message_parent_id: message.and_then(|p| find(Kind::Message, p)),
                    attachment_ids: record.attachments.iter().map(|a| vault_id(Kind::Attachment, &a.key)).collect(),
                    redactions: vec![],
                    record: record.clone(),
                })?;
            }
        }
        Ok(())
    }
    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError> {
        Ok(self.tombstones.clone())
    }
    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        self.parts.iter().filter(|(i, _)| i.format == format).try_for_each(|(i, b)| visit(i, &mut Cursor::new(b)))
    }
    fn taken_in(&mut self, id: &str) -> Result<Vec<Timestamp>, FormatError> {
        let found = self.records.iter().find(|r| vault_id(r.kind, &r.key) == id);
        Ok(found.and_then(|r| self.taken_in.get(&r.key.value)).cloned().unwrap_or_default())
    }
    fn attachment(
        &mut self,
        id: &str,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        match self.files.iter().find(|(f, _)| vault_id(Kind::Attachment, &f.key) == id) {
            Some((_, bytes)) => read(&mut Cursor::new(bytes)).map(|()| true),
            None => Ok(false),
        }
    }
}

/// A folder that vanishes.
pub(crate) struct Scratch(pub PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("mementory-alf-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn open(path: &Path) -> Result<(Catalog, Detection), FormatError> {
    open_with(path, None)
}

fn open_with(path: &Path, passphrase: Option<&dyn Passphrase>) -> Result<(Catalog, Detection), FormatError> {
    let limits = Limits::default();
    let catalog = Catalog::open_with(&[path.to_path_buf()], &limits, None, passphrase)?;
    catalog.refuse_closed()?;
    let detection = crate::detect(&catalog, &limits, Some("alf"))?;
    Ok((catalog, detection))
}

pub(crate) fn read(path: &Path) -> Result<Shelf, FormatError> {
    read_with(path, None)
}

pub(crate) fn read_with(path: &Path, passphrase: Option<Arc<dyn Passphrase>>) -> Result<Shelf, FormatError> {
    let (catalog, detection) = open_with(path, passphrase.as_deref())?;
    let mut shelf = Shelf::default();
    let context = ReadContext { limits: Limits::default(), now: Timestamp::from_micros(0).unwrap(), passphrase };
    assert!(!detection.sources.is_empty(), "no source in {}", path.display());
    for source in &detection.sources {
        super::Alf.read(&catalog, source, &context, &mut shelf)?;
    }
    Ok(shelf)
}

pub(crate) fn write(shelf: &mut Shelf, path: &Path) -> WriteReport {
    super::Alf.write(shelf, path, &WriteOptions { everything: true, ..WriteOptions::default() }).unwrap()
}

/// Leaves a copy for checks outside (`tests/interop`), if a folder for it is named.
pub(crate) fn keep(path: &Path, name: &str) {
    if let Some(folder) = std::env::var_os("MEMENTORY_ALF_OUT") {
        std::fs::copy(path, Path::new(&folder).join(name)).unwrap();
    }
}

pub(crate) fn validate(path: &Path) -> Validation {
    let (catalog, detection) = open(path).unwrap();
    super::Alf.validate(&catalog, &detection.sources[0], &Limits::default(), &[]).unwrap()
}

/// All entries of an archive.
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

/// Packs entries as given.
pub(crate) fn pack(path: &Path, entries: &[(&str, &[u8])]) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, bytes) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

/// Packs a fixture folder.
pub(crate) fn pack_folder(folder: &Path, path: &Path) {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let at = entry.unwrap().path();
            if at.is_dir() {
                pending.push(at);
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
