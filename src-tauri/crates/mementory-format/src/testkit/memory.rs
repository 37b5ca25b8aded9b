//! A vault in memory, for tests.
use crate::{
    AttachmentFile, FormatError, PassthroughItem, RecordSource, Redaction, Sink, SourceDescription, StoredRecord,
};
use mementory_model::{Dropped, Issue, Kind, Record, RecordKey, Timestamp, Tombstone, Unit};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io::{Cursor, Read},
};

/// A vault in memory: stores everything that a reader sends, and is the source of a writer.
#[derive(Default)]
pub struct MemorySource {
    /// Records, in the order of their arrival.
    pub records: Vec<Record>,
    /// Attachments with their bytes.
    pub files: Vec<(AttachmentFile, Vec<u8>)>,
    /// Passthrough files with their bytes.
    pub parts: Vec<(PassthroughItem, Vec<u8>)>,
    /// Issues that the reader reported.
    pub notes: Vec<Issue>,
    /// Parts of the input that were not imported.
    pub dropped: Vec<Dropped>,
    /// Positions in `records` of records that were edited after the import.
    pub edited: BTreeSet<usize>,
    /// Number of source bytes at the last progress report.
    pub progress: u64,
    /// Deletions.
    pub tombstones: Vec<Tombstone>,
    /// Import times of the versions of a record, by the value of the record's key.
    pub import_times: BTreeMap<String, Vec<Timestamp>>,
    /// Id of the vault. None for the default id.
    pub vault: Option<String>,
    /// Time of the export. None for the default time.
    pub now: Option<&'static str>,
    /// The redactions in the text of a record, by its position in `records`.
    pub redactions: BTreeMap<usize, Vec<Redaction>>,
    /// True if this source claims that sensitive values are masked.
    pub covers: bool,
    /// Export ids that the reader sent, by record.
    pub export_ids: HashMap<RecordKey, String>,
    /// If not empty, vault ids differ from those of [`vault_id`], as in a vault with another key.
    pub id_salt: &'static str,
}

impl MemorySource {
    /// Position of the record with this key.
    pub fn position(&self, key: &str) -> usize {
        self.records.iter().position(|r| r.key.value == key).unwrap_or_else(|| panic!("no record {key}"))
    }

    /// The record with this key.
    pub fn record(&self, key: &str) -> &Record {
        &self.records[self.position(key)]
    }

    /// The first record whose text begins with `text`.
    pub fn find(&self, text: &str) -> &Record {
        self.records.iter().find(|r| r.text.starts_with(text)).unwrap_or_else(|| panic!("no record {text}"))
    }

    /// Changes the record with this key and marks it as edited.
    pub fn edit(&mut self, key: &str, change: impl FnOnce(&mut Record)) {
        let at = self.position(key);
        change(&mut self.records[at]);
        self.edited.insert(at);
    }

    /// Codes of the reported issues, without repetitions.
    pub fn codes(&self) -> Vec<String> {
        let codes: BTreeSet<&String> = self.notes.iter().map(|n| &n.code).collect();
        codes.into_iter().cloned().collect()
    }

    fn export_id_of(&self, kind: Kind, key: &RecordKey) -> String {
        let salted_id = || vault_id(kind, &RecordKey::new(format!("{}{}", self.id_salt, key.scope), key.value.clone()));
        self.export_ids.get(key).cloned().unwrap_or_else(salted_id)
    }

    /// Number of records of each kind.
    pub fn kinds(&self) -> BTreeMap<&'static str, u64> {
        let mut out = BTreeMap::new();
        self.records.iter().for_each(|r| *out.entry(r.kind.as_str()).or_default() += 1);
        out
    }
}

impl Sink for MemorySource {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        self.records.extend(unit.records);
        Ok(())
    }
    fn export_id(&mut self, key: &RecordKey, id: &str) {
        self.export_ids.insert(key.clone(), id.to_owned());
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

/// The id of a record in the vault. Like a real id, it is derived from the kind and the key, but with a plain digest
/// instead of a keyed digest.
pub fn vault_id(kind: Kind, key: &RecordKey) -> String {
    hex::encode(&Sha256::digest(format!("{}|{}|{}", kind.as_str(), key.scope, key.value))[..16])
}

impl RecordSource for MemorySource {
    fn description(&self) -> SourceDescription {
        SourceDescription {
            vault_id: self.vault.clone().unwrap_or_else(|| "0191b2c3-0000-7000-8000-000000000001".into()),
            name: "Test vault".into(),
            generator: "mementory/0.1.0".into(),
            now: Timestamp::parse(self.now.unwrap_or("2026-11-20T12:00:00Z")).unwrap(),
        }
    }
    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        let known_ids: BTreeSet<String> = self.records.iter().map(|r| self.export_id_of(r.kind, &r.key)).collect();
        let find = |kind, key: &RecordKey| Some(self.export_id_of(kind, key)).filter(|id| known_ids.contains(id));
        for kind in Kind::ALL {
            for (i, record) in self.records.iter().enumerate().filter(|(_, r)| r.kind == kind) {
                let message = record.message.as_ref().and_then(|m| m.parent.as_ref());
                visit(StoredRecord {
                    id: self.export_id_of(record.kind, &record.key),
                    edited: self.edited.contains(&i),
                    changed: None,
                    link_ids: record.links.iter().map(|l| find(l.kind, &l.target)).collect(),
                    parent_id: record.parent.as_ref().and_then(|p| find(Kind::Conversation, p)),
                    message_parent_id: message.and_then(|p| find(Kind::Message, p)),
                    attachment_ids: record
                        .attachments
                        .iter()
                        .map(|a| self.export_id_of(Kind::Attachment, &a.key))
                        .collect(),
                    redactions: self.redactions.get(&i).cloned().unwrap_or_default(),
                    record: record.clone(),
                })?;
            }
        }
        Ok(())
    }
    fn covers(&self) -> bool {
        self.covers
    }
    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError> {
        Ok(self.tombstones.clone())
    }
    fn passthrough_formats(&mut self) -> Result<Vec<String>, FormatError> {
        Ok(formats_of(&self.parts))
    }
    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        self.parts.iter().filter(|(i, _)| i.format == format).try_for_each(|(i, b)| visit(i, &mut Cursor::new(b)))
    }
    fn import_times(&mut self, id: &str) -> Result<Vec<Timestamp>, FormatError> {
        let record = self.records.iter().find(|r| self.export_id_of(r.kind, &r.key) == id);
        Ok(record.and_then(|r| self.import_times.get(&r.key.value)).cloned().unwrap_or_default())
    }
    fn attachment(
        &mut self,
        id: &str,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        match self.files.iter().find(|(f, _)| self.export_id_of(Kind::Attachment, &f.key) == id) {
            Some((_, bytes)) => read(&mut Cursor::new(bytes)).map(|()| true),
            None => Ok(false),
        }
    }
}

/// Ids of the formats of passthrough files, without repetitions.
pub fn formats_of(files: &[(PassthroughItem, Vec<u8>)]) -> Vec<String> {
    let ids: BTreeSet<&str> = files.iter().map(|(item, _)| item.format.as_str()).collect();
    ids.into_iter().map(str::to_owned).collect()
}
