//! Exports without identifiers of accounts and platforms.
use crate::export::uuid_of;
use mementory_format::{FormatError, PassthroughItem, RecordSource, SourceDescription, StoredRecord, WriteOptions};
use mementory_model::{LossKind, LossReport, Origin, RecordKey, Source, Timestamp, Tombstone};
use std::io::Read;

/// Scope of the keys that replace the original keys.
const STRIPPED_SCOPE: &str = "mementory";
/// Loss note for values that were removed.
const STRIPPED_NOTE: &str = "left out as requested";

/// A source whose records have no identifiers of accounts and platforms. Their keys are derived from vault ids, and
/// they have no origin, verbatim or source-specific fields. If the export is not stripped, the records are unchanged.
pub struct ExportSource<'s> {
    source: &'s mut dyn RecordSource,
    is_stripping: bool,
}

impl<'s> ExportSource<'s> {
    /// Wraps the source of an export with these options.
    pub fn new(source: &'s mut dyn RecordSource, options: &WriteOptions) -> Self {
        Self { source, is_stripping: options.strip_identifiers }
    }

    /// Reports as losses the values that are removed from the records for which `is_written` returns true.
    ///
    /// # Errors
    /// Errors of the source.
    pub fn note_stripped(
        &mut self,
        is_written: &dyn Fn(&StoredRecord) -> bool,
        losses: &mut LossReport,
    ) -> Result<(), FormatError> {
        if !self.is_stripping {
            return Ok(());
        }
        self.source.records(&mut |mut stored| {
            let removed_members = strip(&mut stored);
            if is_written(&stored) {
                removed_members
                    .into_iter()
                    .for_each(|name| losses.add(&stored.id, name, LossKind::LeftOut, STRIPPED_NOTE));
            }
            Ok(())
        })
    }
}

impl RecordSource for ExportSource<'_> {
    fn description(&self) -> SourceDescription {
        self.source.description()
    }
    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        let is_stripped = self.is_stripping;
        self.source.records(&mut |mut stored| {
            if is_stripped {
                strip(&mut stored);
            }
            visit(stored)
        })
    }
    fn covers(&self) -> bool {
        self.source.covers()
    }
    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError> {
        self.source.tombstones()
    }
    fn passthrough_formats(&mut self) -> Result<Vec<String>, FormatError> {
        self.source.passthrough_formats()
    }
    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        self.source.passthrough(format, visit)
    }
    fn import_times(&mut self, id: &str) -> Result<Vec<Timestamp>, FormatError> {
        self.source.import_times(id)
    }
    fn attachment(
        &mut self,
        id: &str,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        self.source.attachment(id, read)
    }
}

/// Removes the identifiers from a record. Returns the names of the members from which a value was removed.
fn strip(stored: &mut StoredRecord) -> Vec<&'static str> {
    let record = &mut stored.record;
    let key_from_vault_id = |id: &str| RecordKey::new(STRIPPED_SCOPE, uuid_of(id));
    let mut removed = Vec::new();
    if record.source != Source::default() {
        removed.push("source");
    }
    removed.extend(record.verbatim.take().map(|_| "verbatim"));
    removed.extend(record.namespace.take().map(|_| "namespace"));
    if !record.fields.is_empty() {
        removed.push("fields");
    }
    record.fields.clear();
    record.source = Source::default();
    record.origin = Origin::default();
    record.origin_id = None;
    record.key = key_from_vault_id(&stored.id);
    record.parent = stored.parent_id.as_deref().map(key_from_vault_id);
    if let Some(part) = &mut record.message {
        part.parent = stored.message_parent_id.as_deref().map(key_from_vault_id);
    }
    for (file, id) in record.attachments.iter_mut().zip(&stored.attachment_ids) {
        file.key = key_from_vault_id(id);
        file.origin_id = None;
    }
    // A link to a record outside the vault consists only of an id of the source, so it is removed.
    let link_count = record.links.len();
    let mut ids = Vec::with_capacity(link_count);
    let links = std::mem::take(&mut record.links).into_iter().zip(std::mem::take(&mut stored.link_ids));
    for (mut link, id) in links {
        let Some(id) = id else { continue };
        link.target = key_from_vault_id(&id);
        record.links.push(link);
        ids.push(Some(id));
    }
    stored.link_ids = ids;
    if record.links.len() < link_count {
        removed.push("links");
    }
    removed
}
