//! Recognises a folder that the vault already has under another name. Some formats identify a folder by nothing but its
//! name, so a renamed, copied or newly unpacked folder would be imported a second time. A renamed folder is recognised
//! only if the vault has each of its records unchanged, at the same path in a single other folder. If any record
//! differs, the two may be different folders, and one must not overwrite the other.
use crate::{VaultResult, context::Context};
use mementory_formats::{
    AttachmentFile, Catalog, Detected, FolderKeys, Format, FormatError, PassthroughItem, ReadContext, Sink,
};
use mementory_model::{Dropped, Issue, Kind, Record, RecordKey, Tombstone, Unit};
use mementory_store::{
    ids::{content_digest, record_id},
    kind_code,
};
use rusqlite::Connection;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    io::Read,
    sync::atomic::{AtomicBool, Ordering},
};

/// A folder with more records than this is not compared with the vault.
const MAX_FOLDER_RECORDS: usize = 50_000;
/// Largest number of records of the vault that are read for the comparison.
const MAX_VAULT_RECORDS: usize = 50_000;

/// A folder of an import, and the name under which the vault has it.
#[derive(Debug, Clone)]
pub(super) struct RenamedFolder {
    keys: FolderKeys,
    known_name: String,
}

impl RenamedFolder {
    /// Returns the folder of this source if the vault has it under another name.
    pub(super) fn find(
        context: &Context,
        format: &dyn Format,
        catalog: &Catalog,
        source: &Detected,
        read: &ReadContext,
        cancel: &AtomicBool,
    ) -> VaultResult<Option<Self>> {
        let Some(keys) = format.folder_keys(catalog, source) else { return Ok(None) };
        let sql = "SELECT EXISTS (SELECT 1 FROM records)";
        let has_records: bool =
            context.store.read(|connection| Ok(connection.query_row(sql, [], |r| r.get::<_, bool>(0))?))?;
        if !has_records {
            return Ok(None);
        }
        let mut records = FolderRecords {
            context,
            folder: &keys,
            cancel,
            digests: HashMap::new(),
            platforms_and_kinds: BTreeSet::new(),
        };
        // A folder that cannot be read as a whole is not compared. The error is reported when the source is imported.
        if format.read(catalog, source, read, &mut records).is_err() || records.digests.is_empty() {
            return Ok(None);
        }
        let (digests, platforms_and_kinds) = (records.digests, records.platforms_and_kinds);
        let known_name =
            context.store.read(|connection| known_name(context, connection, &keys, &digests, &platforms_and_kinds))?;
        Ok(known_name.map(|known_name| Self { keys, known_name }))
    }

    /// Returns a sink that passes everything on to `sink`, under the keys of the folder that the vault has.
    pub(super) fn sink<'s>(&'s self, sink: &'s mut dyn Sink) -> RenamingSink<'s> {
        let name = self.keys.name();
        let message = format!("the vault has all of this folder under the name \u{201c}{}\u{201d}", self.known_name);
        sink.note(Issue::new("folder_renamed", name, message));
        RenamingSink { folder: self, sink }
    }

    fn rename(&self, key: &mut RecordKey) {
        if self.keys.name_in(key) == Some(self.keys.name()) {
            *key = self.keys.renamed(key, &self.known_name);
        }
    }
}

/// Returns the name under which the vault has the folder of these records. Returns None if the vault has the folder
/// under the source's own name, or if no other folder in the vault has all of the records.
fn known_name(
    context: &Context,
    connection: &Connection,
    folder: &FolderKeys,
    digests: &HashMap<RecordKey, [u8; 16]>,
    platforms_and_kinds: &BTreeSet<(String, Kind)>,
) -> VaultResult<Option<String>> {
    for key in digests.keys() {
        if is_known(context, connection, key)? {
            return Ok(None);
        }
    }
    // For each other folder, by name: the number of its records that equal a record of this folder.
    let mut equal_counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut compared = 0;
    let wanted_digests: HashSet<&[u8; 16]> = digests.values().collect();
    let sql = "SELECT pack, slot, digest FROM records WHERE kind = ?1 AND \
               platform = (SELECT id FROM platforms WHERE name = ?2) ORDER BY pack, slot";
    for (platform, kind) in platforms_and_kinds {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(rusqlite::params![kind_code(*kind), platform])?;
        while let Some(row) = rows.next()? {
            let digest: [u8; 16] = row.get(2)?;
            if compared == MAX_VAULT_RECORDS || !folder.has_content_in_value() && !wanted_digests.contains(&digest) {
                continue;
            }
            compared += 1;
            let stored = context.store.packs.content(connection, row.get(0)?, row.get(1)?)?;
            let Some(name) = folder.name_in(&stored.key) else { continue };
            let own_key = folder.renamed(&stored.key, folder.name());
            let is_equal = digests.get(&own_key).is_some_and(|own| folder.has_content_in_value() || *own == digest);
            if is_equal {
                *equal_counts.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
    Ok(equal_counts.into_iter().find(|(_, count)| *count == digests.len()).map(|(name, _)| name))
}

/// True if the vault has a record with this key.
fn is_known(context: &Context, connection: &Connection, key: &RecordKey) -> VaultResult<bool> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM records WHERE id = ?1")?;
    Ok(statement.exists([record_id(&context.keys, key)])?)
}

/// Receives the records of a folder, to compare them with the vault.
struct FolderRecords<'s> {
    context: &'s Context,
    folder: &'s FolderKeys,
    cancel: &'s AtomicBool,
    digests: HashMap<RecordKey, [u8; 16]>,
    /// Platforms and kinds of the records.
    platforms_and_kinds: BTreeSet<(String, Kind)>,
}

impl Sink for FolderRecords<'_> {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        for record in &unit.records {
            if self.folder.name_in(&record.key) == Some(self.folder.name()) {
                // Reading stops with the first record if the vault has the folder under its own name.
                let key = &record.key;
                if self.digests.is_empty()
                    && self.context.store.read(|c| is_known(self.context, c, key)).map_err(FormatError::from)?
                {
                    return Err(FormatError::Cancelled);
                }
                self.platforms_and_kinds.insert((record.source.platform.clone(), record.kind));
                self.digests.insert(record.key.clone(), content_digest(&self.context.keys, record));
            }
        }
        if self.digests.len() > MAX_FOLDER_RECORDS { Err(FormatError::Cancelled) } else { Ok(()) }
    }
    // The bytes of attachments are not compared, so a folder with attachments never counts as renamed.
    fn attachment(&mut self, _: AttachmentFile, _: &mut dyn Read) -> Result<(), FormatError> {
        Err(FormatError::Cancelled)
    }
    fn passthrough(&mut self, _: PassthroughItem, _: &mut dyn Read) -> Result<(), FormatError> {
        Err(FormatError::Cancelled)
    }
    fn tombstone(&mut self, _: Tombstone) -> Result<(), FormatError> {
        Ok(())
    }
    fn note(&mut self, _: Issue) {}
    fn dropped(&mut self, _: Dropped) {}
    fn progress(&mut self, _: u64) -> Result<(), FormatError> {
        if self.cancel.load(Ordering::Relaxed) { Err(FormatError::Cancelled) } else { Ok(()) }
    }
}

/// A sink that gives records the keys of a folder that the vault has.
pub(super) struct RenamingSink<'s> {
    folder: &'s RenamedFolder,
    sink: &'s mut dyn Sink,
}

impl RenamingSink<'_> {
    fn rename_record(&self, record: &mut Record) {
        self.folder.rename(&mut record.key);
        record.parent.iter_mut().for_each(|key| self.folder.rename(key));
        record.links.iter_mut().for_each(|link| self.folder.rename(&mut link.target));
        record.attachments.iter_mut().for_each(|file| self.folder.rename(&mut file.key));
        record.message.iter_mut().filter_map(|part| part.parent.as_mut()).for_each(|key| self.folder.rename(key));
    }
}

impl Sink for RenamingSink<'_> {
    fn unit(&mut self, mut unit: Unit) -> Result<(), FormatError> {
        unit.records.iter_mut().for_each(|record| self.rename_record(record));
        self.sink.unit(unit)
    }
    fn export_id(&mut self, key: &RecordKey, id: &str) {
        let mut key = key.clone();
        self.folder.rename(&mut key);
        self.sink.export_id(&key, id);
    }
    // A folder with attachments or other files never counts as renamed, so these are passed on unchanged.
    fn attachment(&mut self, file: AttachmentFile, bytes: &mut dyn Read) -> Result<(), FormatError> {
        self.sink.attachment(file, bytes)
    }
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        self.sink.passthrough(item, bytes)
    }
    fn tombstone(&mut self, tombstone: Tombstone) -> Result<(), FormatError> {
        self.sink.tombstone(tombstone)
    }
    fn note(&mut self, issue: Issue) {
        self.sink.note(issue);
    }
    fn dropped(&mut self, dropped: Dropped) {
        self.sink.dropped(dropped);
    }
    fn progress(&mut self, bytes: u64) -> Result<(), FormatError> {
        self.sink.progress(bytes)
    }
}
