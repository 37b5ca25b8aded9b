//! Reads an archive (spec §3, §4, §6.2). The manifest determines which entries are read, and how. Entries that the
//! manifest does not name become passthrough files.
mod attachments;
mod deletions;
pub(super) mod line_scan;
mod superseded;

use super::delta_changes::{LastChanges, wrong_agent};
use super::delta_operation::ChangedRecord;
use super::identity;
use super::jsonl::{JsonLine, each_line};
use super::lineage::LineageCollector;
use super::list_document;
use super::manifest::{Archive, MANIFEST_FILE, Manifest, NO_PARTITION_LIST, Partition};
use super::sealed_secrets::{self, Opener};
use super::wire::{self, Remark};
use super::workspace_profile::{self, Restored};
use crate::unique_keys::{AssignedKey, UniqueKeys};
use attachments::Attachments;
use line_scan::LineScan;
use mementory_format::extension as slot;
use mementory_format::{Catalog, Detected, FormatError, Member, Passphrase, PassthroughItem, ReadContext, Sink};
use mementory_json::Tree;
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Limits, Origin, Record, RecordKey, is_damage};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use superseded::{Superseded, set_effective_status};

/// Largest number of distinct remarks. Further remarks are only counted by code.
const MAX_REMARKS: usize = 500;

/// Reads one archive into the sink. Ignores the extension slots unless `restores` is set.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    restores: bool,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let archive = Archive::open(catalog, detected)?;
    let mut manifest = Manifest::read(&archive, &context.limits)?;
    manifest.restores = restores || manifest.has_several_sources();
    let mut reader = Reader::new(&archive, &manifest, &context.limits, sink);
    reader.passphrase = context.passphrase.clone();
    reader.run()
}

/// Reads one archive or delta bundle.
pub(super) struct Reader<'a> {
    pub archive: &'a Archive<'a>,
    /// Manifest of the archive.
    pub manifest: &'a Manifest,
    pub limits: &'a Limits,
    /// Receives everything that is read.
    pub sink: &'a mut dyn Sink,
    /// Names of the entries that must not become passthrough files, for example because they were read already.
    pub used: BTreeSet<String>,
    bytes_done: u64,
    remarks: BTreeMap<Remark, (String, u64)>,
    /// True if a delta bundle is read.
    pub is_delta: bool,
    /// For each record of a delta bundle, the last line that changes it.
    last_changes: LastChanges,
    /// Ids of records whose last change in a delta is a deletion, each with scope and id of the tombstone's target if
    /// the line states them.
    deleted: BTreeMap<String, Option<(String, String)>>,
    /// Scope and id of the identity and of each element of a list document.
    document_keys: BTreeSet<(String, String)>,
    lines: Arc<LineScan>,
    capabilities: super::capability_check::CapabilityCheck,
    lineage: LineageCollector,
    passphrase: Option<Arc<dyn Passphrase>>,
    /// Opens the sealed secrets of the archive.
    pub opener: Opener,
    /// Runtime and path of each workspace file whose text is contained in records.
    pub files_from_records: HashSet<(&'static str, String)>,
}

impl<'a> Reader<'a> {
    fn new(archive: &'a Archive<'a>, manifest: &'a Manifest, limits: &'a Limits, sink: &'a mut dyn Sink) -> Self {
        let used = BTreeSet::from([MANIFEST_FILE.to_owned()]);
        Self {
            archive,
            manifest,
            limits,
            sink,
            used,
            bytes_done: 0,
            remarks: BTreeMap::new(),
            is_delta: false,
            last_changes: LastChanges::default(),
            deleted: BTreeMap::new(),
            document_keys: BTreeSet::new(),
            lines: Arc::default(),
            capabilities: Default::default(),
            lineage: LineageCollector::default(),
            passphrase: None,
            opener: Opener::default(),
            files_from_records: HashSet::new(),
        }
    }

    /// A reader for a delta bundle. Each of its lines is a change, and its passthrough files belong to the bundle, not
    /// to the agent.
    pub(super) fn of_delta(
        archive: &'a Archive<'a>,
        manifest: &'a Manifest,
        limits: &'a Limits,
        sink: &'a mut dyn Sink,
    ) -> Self {
        Self { is_delta: true, ..Self::new(archive, manifest, limits, sink) }
    }
}

impl Reader<'_> {
    pub(super) fn run(&mut self) -> Result<(), FormatError> {
        if let Some(issue) = self.manifest.checksum_issue(&self.archive.place) {
            self.sink.note(issue);
        }
        if self.manifest.has_unlisted_memories {
            self.sink.note(Issue::new("partitions_not_listed", &self.archive.place, NO_PARTITION_LIST));
        }
        let (lines, scanned) = LineScan::of(self.archive, self.manifest, self.limits);
        self.lines = lines;
        self.read_identity()?;
        self.read_principals()?;
        self.read_credentials()?;
        // A delta contains only changed documents, so its capabilities and credentials cannot be compared.
        for issue in self.capabilities.issues(&self.archive.place).into_iter().filter(|_| !self.is_delta) {
            self.sink.note(issue);
        }
        let attachments = attachments::read(self)?;
        scanned?;
        self.read_memory(&attachments)?;
        self.store_lineage()?;
        self.emit_tombstones()?;
        self.read_passthrough()?;
        for ((code, detail), (place, count)) in std::mem::take(&mut self.remarks) {
            let times = if count > 1 { format!(", {count} times; first here") } else { String::new() };
            self.sink.note(Issue::new(code, place, format!("{detail}{times}")));
        }
        Ok(())
    }

    /// Adds a remark. Equal remarks are counted and reported once.
    pub(super) fn remark(&mut self, place: &str, (code, detail): Remark) {
        let is_full = self.remarks.len() >= MAX_REMARKS;
        let key = (code, if is_full { "more of the same".to_owned() } else { detail });
        self.remarks.entry(key).or_insert_with(|| (place.to_owned(), 0)).1 += 1;
    }

    /// Origin of a record that was read from this entry.
    pub(super) fn origin(&self, member: &Member, pointer: String) -> Origin {
        Origin {
            format: "alf".into(),
            version: Some(self.manifest.version.clone()),
            container: member.place.clone(),
            pointer,
        }
    }

    /// Adds to the number of bytes that were read, and reports the sum as progress.
    pub(super) fn advance(&mut self, bytes: u64) -> Result<(), FormatError> {
        self.bytes_done += bytes;
        self.sink.progress(self.bytes_done)
    }

    /// Text and entry of a layer's document. None if the manifest lists no document, or if the document was already
    /// read. In a delta, a missing or damaged document is an error. In an archive, such a document is reported as an
    /// issue, and the result is None.
    pub(super) fn read_document(&mut self, layer: &str) -> Result<Option<(String, Member)>, FormatError> {
        let Some(file) = self.manifest.layer_file(layer).map(str::to_owned) else { return Ok(None) };
        let Some(member) = self.archive.entry(&file).cloned() else {
            let message = format!("the manifest names a file for layer {layer}, but the archive does not have it");
            if self.is_delta {
                return Err(FormatError::invalid("layer_missing", &self.archive.place, message));
            }
            self.sink.note(Issue::new("layer_missing", &self.archive.place, message));
            return Ok(None);
        };
        if !self.used.insert(file) {
            return Ok(None);
        }
        let text = self.archive.text(&member, self.limits);
        let Some(text) = self.unless_damaged(&member, text)? else { return Ok(None) };
        self.advance(member.size)?;
        Ok(Some((text, member)))
    }

    /// If the bytes of an entry are damaged, reports the damage and returns None, so that the other entries can be
    /// read. In a delta, damage is an error, because a delta is imported completely or not at all.
    pub(super) fn unless_damaged<T>(
        &mut self,
        member: &Member,
        read: Result<T, FormatError>,
    ) -> Result<Option<T>, FormatError> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(FormatError::Io { source, .. }) if is_damage(&source) && !self.is_delta => {
                let reason = format!("damaged_entry: {source}");
                let place = member.place.clone();
                self.sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind: None });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Marks an entry as read, so that it does not become a passthrough file.
    pub(super) fn mark_used(&mut self, name: &str) {
        self.used.insert(name.to_owned());
    }

    /// Reports a document that is not valid for its layer, and stores it as a passthrough file. In a delta, returns an
    /// error.
    pub(super) fn store_bad_document(&mut self, member: &Member, kind: Kind) -> Result<(), FormatError> {
        if self.is_delta {
            return Err(FormatError::invalid("malformed", &member.place, "not the JSON document of this layer"));
        }
        let reason = "malformed: not the JSON document of this layer".to_owned();
        let dropped = Dropped { place: member.place.clone(), outcome: DroppedAs::Failed, reason, kind: Some(kind) };
        self.sink.dropped(dropped);
        self.pass_through(member, &member.name, "layer")
    }

    /// Sends an entry to the sink as a passthrough file.
    pub(super) fn pass_through(&mut self, member: &Member, name: &str, role: &str) -> Result<(), FormatError> {
        let item = self.passthrough_item(member, name, role);
        let archive = self.archive;
        archive.catalog.read(member, |bytes| self.sink.passthrough(item, bytes))
    }

    /// Sends a text to the sink as a passthrough file.
    pub(super) fn pass_through_text(&mut self, member: &Member, role: &str, text: &str) -> Result<(), FormatError> {
        let item = self.passthrough_item(member, &member.name, role);
        self.sink.passthrough(item, &mut text.as_bytes())
    }

    /// Passthrough item for an entry. In an archive of several sources, the agent and the original name of the entry
    /// are taken from the manifest.
    fn passthrough_item(&self, member: &Member, name: &str, role: &str) -> PassthroughItem {
        let listed_entry = self.manifest.vendor("entries").and_then(|e| e.get(name));
        let listed_or = |key: &str, default: &str| {
            listed_entry.and_then(|k| k.get(key)).and_then(Tree::as_str).unwrap_or(default).to_owned()
        };
        let belongs_to_bundle = self.is_delta && role != "layer";
        PassthroughItem {
            format: if belongs_to_bundle { "alf_delta" } else { "alf" }.into(),
            group: listed_or("group", &self.manifest.agent),
            name: listed_or("name", name),
            role: listed_or("role", role),
            place: member.place.clone(),
        }
    }

    fn read_identity(&mut self) -> Result<(), FormatError> {
        let Some((text, member)) = self.read_document("identity")? else { return Ok(()) };
        let Some(tree) = object(&text, self.limits) else { return self.store_bad_document(&member, Kind::Profile) };
        let doc = identity::document(&tree);
        self.refuse_foreign(doc, &member.place)?;
        self.capabilities.add_identity(doc);
        if let Some(Restored { records, has_other_blocks, has_changed_fields }) =
            workspace_profile::restore(doc).filter(|_| self.manifest.is_generated())
        {
            let vault = self.manifest.vendor("lineage").and_then(Tree::as_str).map(str::to_owned);
            self.lineage.vault = vault.filter(|_| !self.is_delta);
            self.lineage.version = super::write_documents::identity_version(&text);
            for record in records {
                self.note_workspace_file(&record);
                self.sink.unit(record.into())?;
            }
            if has_changed_fields {
                let message = "another program changed structured fields, which workspace files cannot contain";
                self.sink.note(Issue::new("identity_changed", &member.place, message));
            }
            if !has_other_blocks {
                return Ok(());
            }
        }
        let key = self.document_key("identity", doc.get("id").and_then(Tree::as_str).unwrap_or("identity"));
        let mut record = identity::identity(&text, doc, key);
        record.origin = self.origin(&member, String::new());
        self.sink.unit(record.into())
    }

    fn read_principals(&mut self) -> Result<(), FormatError> {
        self.read_list("principals", Kind::Profile, identity::principal)
    }

    fn read_credentials(&mut self) -> Result<(), FormatError> {
        self.read_list("credentials", Kind::Credential, identity::credential)
    }

    fn read_list(
        &mut self,
        layer: &str,
        kind: Kind,
        build: fn(&str, &Tree, RecordKey, &mut Vec<Remark>) -> Record,
    ) -> Result<(), FormatError> {
        let Some((text, member)) = self.read_document(layer)? else { return Ok(()) };
        let Some(document) = list_document::split(&text, layer) else { return self.store_bad_document(&member, kind) };
        let (mut slots, mut keys, mut used_ids) = (Vec::new(), Vec::new(), HashSet::new());
        for (i, element) in document.elements.iter().enumerate() {
            let pointer = format!("/{layer}/{i}");
            let Some(doc) = object(element, self.limits) else {
                let place = format!("{}#{pointer}", member.place);
                if self.is_delta {
                    return Err(FormatError::invalid("malformed", place, "not an object"));
                }
                let reason = "malformed: not an object".to_owned();
                self.sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind: Some(kind) });
                slots.push(String::new());
                continue;
            };
            let id = attachments::element_id(&doc, i, &mut used_ids);
            keys.extend([id.clone(), format!("{id}#{layer}")]);
            if kind == Kind::Credential {
                self.refuse_foreign(&doc, &format!("{}#{pointer}", member.place))?;
                self.capabilities.add_credential(&doc);
                let is_sealed = self.manifest.restores && sealed_secrets::has_our_layout(&doc);
                if let Some(passphrase) = self.passphrase.clone().filter(|_| is_sealed) {
                    if self.opener.open(&doc, &*passphrase) {
                        slots.push(String::new());
                        continue;
                    }
                    let place = format!("{}#{pointer}", member.place);
                    let message = "this passphrase does not open the credential; it is stored unchanged".to_owned();
                    self.remark(&place, ("credential_closed", message));
                }
            }
            let slot = wire::members(element).and_then(|m| wire::vendor(&m));
            if let Some(our_slot) = slot.filter(|_| self.manifest.restores) {
                slots.push(String::new());
                if let Some(mut record) = super::extension::restore_row(our_slot) {
                    if let Some(id) = super::extension::row_export_id(our_slot) {
                        self.sink.export_id(&record.key, &id);
                    }
                    workspace_profile::apply_principal_text(&mut record, &doc);
                    self.note_workspace_file(&record);
                    self.sink.unit(record.into())?;
                    continue;
                }
                if slot::vendor_slot(&doc).and_then(|k| k.get("generated")).is_some() {
                    continue; // Skips the principal that our export generates for a vault without principals.
                }
                slots.pop();
            }
            let key = self.document_key(layer, &id);
            slots.push(key.value.clone());
            let mut remarks = Vec::new();
            let mut record = build(element, &doc, key, &mut remarks);
            record.origin = self.origin(&member, pointer.clone());
            if record.source.platform.is_empty() {
                record.source.platform = self.manifest.runtime_of(&id).to_owned();
            }
            for remark in remarks {
                self.remark(&format!("{}#{pointer}", member.place), remark);
            }
            self.sink.unit(record.into())?;
        }
        if self.is_delta {
            self.send_replaced_list(layer, kind, keys)?;
        }
        self.store_skeleton(&member, &document, &slots)
    }

    /// Key of a document's record. Ids are unique only within their layer, so if a memory or an earlier layer has the
    /// same id, `#` and the name of the layer are appended. A delta does not contain the ids of unchanged memories, so
    /// for a delta, the key with `#` and the layer is sent as an alternative key.
    pub(super) fn document_key(&mut self, layer: &str, id: &str) -> RecordKey {
        let scope = self.manifest.scope_of(id, None);
        let is_shared = self.lines.shared_ids.contains(&wire::folded_id(id))
            || self.document_keys.contains(&(scope.clone(), id.to_owned()));
        let value = if is_shared { format!("{id}#{layer}") } else { id.to_owned() };
        self.document_keys.insert((scope.clone(), value.clone()));
        let key = RecordKey::new(scope, value);
        if self.is_delta && !is_shared {
            self.sink.alternative_key(&key, &format!("{id}#{layer}"));
        }
        key
    }

    /// Fails if an element of a delta belongs to another agent. In a whole archive, only the validator reports such an
    /// element.
    fn refuse_foreign(&self, doc: &Tree, place: &str) -> Result<(), FormatError> {
        let agent = doc.get("agent_id").and_then(Tree::as_str);
        if self.is_delta && self.manifest.is_foreign(agent) { Err(wrong_agent(place.into())) } else { Ok(()) }
    }

    /// Stores the skeleton of a list document, unless Mementory generated the whole document.
    pub(super) fn store_skeleton(
        &mut self,
        member: &Member,
        document: &list_document::ListDocument<'_>,
        slots: &[String],
    ) -> Result<(), FormatError> {
        if self.manifest.is_generated() {
            return Ok(());
        }
        self.pass_through_text(member, "layer", &document.skeleton(slots))
    }

    fn read_memory(&mut self, attachments: &Attachments) -> Result<(), FormatError> {
        let mut partitions: Vec<(usize, &Partition, Member)> = Vec::new();
        for (index, row) in self.manifest.partitions.iter().enumerate() {
            match self.archive.entry(&row.file) {
                Some(member) if self.used.insert(row.file.clone()) => partitions.push((index, row, member.clone())),
                Some(_) => self.sink.note(Issue::new(
                    "partition_twice",
                    &self.archive.place,
                    "the manifest lists a partition twice; it was read once",
                )),
                None => {
                    let message = "the manifest lists a partition that the archive does not have";
                    if self.is_delta {
                        return Err(FormatError::invalid("partition_missing", &self.archive.place, message));
                    }
                    self.sink.note(Issue::new("partition_missing", &self.archive.place, message));
                }
            }
        }
        // Reserves the keys of document elements, so that no memory replaces the record of an element.
        let lines = self.lines.clone();
        let mut keys = UniqueKeys::default();
        for (scope, id) in &self.document_keys {
            keys.reserve(scope, &wire::folded_id(id));
        }
        for (index, row, member) in &partitions {
            if self.is_delta {
                self.last_changes = LastChanges::collect(self.archive, member, self.manifest, self.limits)?;
            }
            let (mut line_count, mut pending) = (0u64, 0u64);
            let archive = self.archive;
            archive.catalog.read(member, |r| {
                each_line(r, &member.place, self.limits.line_bytes, &mut |entry, bytes| {
                    pending += bytes;
                    if pending > 1 << 20 {
                        self.advance(std::mem::take(&mut pending))?;
                    }
                    line_count += u64::from(!matches!(entry, JsonLine::Text(_, "")));
                    self.read_memory_line(entry, (*index, member, row), &lines.superseded, &mut keys, attachments)
                })
            })?;
            self.advance(pending)?;
            if row.count.is_some_and(|count| count != line_count) {
                self.remark(&member.place, ("count_differs", "record_count differs from the number of lines".into()));
            }
        }
        Ok(())
    }

    fn read_memory_line(
        &mut self,
        entry: JsonLine<'_>,
        (index, member, row): (usize, &Member, &Partition),
        superseded: &Superseded,
        keys: &mut UniqueKeys,
        attachments: &Attachments,
    ) -> Result<(), FormatError> {
        let (number, text) = match entry {
            JsonLine::Text(_, "") => return Ok(()),
            JsonLine::Text(number, text) => (number, Ok(text)),
            JsonLine::Unreadable(number, code) => (number, Err(code)),
        };
        let place = |member: &Member| format!("{}#line {number}", member.place);
        let change = match text {
            Ok(text) if self.is_delta => match super::delta_operation::record_of(text) {
                Ok(record) if !self.last_changes.is_last(&record.id, number) => {
                    if record.line.is_some() {
                        let reason = "changed_again: a later line of this delta changes the same record".to_owned();
                        let (outcome, kind) = (DroppedAs::Skipped, Some(Kind::Memory));
                        self.sink.dropped(Dropped { place: place(member), outcome, reason, kind });
                    }
                    return Ok(());
                }
                Ok(ChangedRecord { line: Some(line), .. }) => Ok(std::borrow::Cow::Owned(line)),
                Ok(ChangedRecord { original_id, line: None, names, .. }) => {
                    self.deleted.insert(original_id, names.target());
                    return Ok(());
                }
                Err(code) => Err(code),
            },
            Ok(text) => Ok(std::borrow::Cow::Borrowed(text)),
            Err(code) => Err(code),
        };
        let text_and_line = change.as_deref().map_err(|code| *code).and_then(|text| {
            let scope = |id: &str, agent: Option<&str>| self.manifest.scope_of(id, agent);
            wire::read_line(text, self.manifest.restores, scope).map(|line| (text, line))
        });
        let (text, mut line) = match text_and_line {
            Ok(parsed_line) => parsed_line,
            Err(code) => {
                let (outcome, kind) = (DroppedAs::Failed, Some(Kind::Memory));
                let reason = format!("{code}: this line is not a memory record");
                self.sink.dropped(Dropped { place: place(member), outcome, reason, kind });
                return Ok(());
            }
        };
        for remark in std::mem::take(&mut line.remarks) {
            self.remark(&place(member), remark);
        }
        match keys.assign(&line.record.key.scope, &line.record.key.value, Some(text)) {
            AssignedKey::Free => {}
            AssignedKey::Duplicate => {
                let reason = "duplicate: the same line occurs twice".to_owned();
                let (outcome, kind) = (DroppedAs::Skipped, Some(Kind::Memory));
                self.sink.dropped(Dropped { place: place(member), outcome, reason, kind });
                return Ok(());
            }
            AssignedKey::Numbered(value) => {
                line.record.key.value = value;
                self.remark(&place(member), ("duplicate_id", "two records have the same id".into()));
            }
        }
        if let Some(id) = &line.export_id {
            self.sink.export_id(&line.record.key, id);
        }
        if !line.is_restored && (self.is_delta || self.lines.shared_ids.contains(&line.id)) {
            self.send_memory_key(&line.record.key);
        }
        if line.is_restored {
            self.lineage.add_line(&line.record, text);
            self.note_workspace_file(&line.record);
            return self.sink.unit(line.record.into());
        }
        let mut record = line.record;
        record.origin = self.origin(member, format!("line {number}"));
        if self.manifest.is_foreign(line.agent.as_deref()) {
            self.remark(&place(member), ("foreign_agent_id", "a record is of another agent".into()));
        }
        if is_outside_partition(&record, row) {
            self.remark(&place(member), ("outside_partition", "created_at is outside the partition's range".into()));
        }
        set_effective_status(&mut record, superseded.replaced_by_deletion(&line.id, (index, number)));
        record.attachments.extend(attachments.of_record(&line.id));
        self.sink.unit(record.into())
    }

    fn store_lineage(&mut self) -> Result<(), FormatError> {
        for (runtime, group, text) in std::mem::take(&mut self.lineage).into_files() {
            let [format, name, role] =
                [runtime, mementory_formats_agents::openclaw::files::LINEAGE_FILE, "raw"].map(str::to_owned);
            let item = PassthroughItem { format, group, name, role, place: self.archive.place.clone() };
            self.sink.passthrough(item, &mut text.as_bytes())?;
        }
        Ok(())
    }
}

/// Parses a JSON object. None if the text is not a JSON object.
pub(super) fn object(text: &str, limits: &Limits) -> Option<Tree> {
    Tree::parse(text, limits).ok().filter(|t| matches!(t, Tree::Object(_)))
}

fn is_outside_partition(record: &Record, row: &Partition) -> bool {
    let Some(created) = record.times.created else { return false };
    let (year, month, day) = created.date();
    let date = format!("{year:04}-{month:02}-{day:02}");
    row.from.as_ref().is_some_and(|from| date < *from) || row.to.as_ref().is_some_and(|to| date > *to)
}
