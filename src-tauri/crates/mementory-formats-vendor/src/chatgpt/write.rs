//! Writes an export in ChatGPT's format: conversations in parts, the files that messages refer to, and the side files
//! with the names of these files. See README.md.
use super::{
    WRITTEN_LAYOUT,
    compose::{Composer, is_original},
    export_file::{ExportFile, NAMES_FILE, file_names},
    memories::is_found_memory,
};
use mementory_format::{
    FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport, passthrough_envelope::note_left_out,
};
use mementory_formats_shared::export::nothing_to_write;
use mementory_formats_shared::export_files::{
    groups::{Groups, Thread, conversation_of},
    strip::ExportSource,
    zip_file::ZipFile,
};
use mementory_model::{AttachmentRef, Kind, LossKind, Record};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

/// Largest number of conversations in a part, as in ChatGPT's exports.
const CONVERSATIONS_PER_PART: usize = 100;
/// Size in bytes above which a new part begins, so that programs can load each part as a whole.
const PART_BYTES: usize = 32 << 20;

/// The data that a first pass over the records collects, because they must be known before the first byte is written.
#[derive(Default)]
struct FirstPass {
    conversations: Groups,
    files: BTreeMap<String, ExportFile>,
    accounts: BTreeSet<Option<String>>,
    /// Vault ids of the messages in which memories were found. The value is true if the message is written as its
    /// original text.
    written_sources: HashMap<String, bool>,
    memories: Vec<(String, Vec<String>)>,
    attachments: Vec<String>,
    report: WriteReport,
}

/// Writes all records to `out`. Without a path, only the report is produced, which is the same as for a written export.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let source = &mut ExportSource::new(source, options);
    let mut first_pass = FirstPass::default();
    first_pass.report.version = WRITTEN_LAYOUT.into();
    source.records(&mut |stored| {
        first_pass.add(stored);
        Ok(())
    })?;
    for (id, file) in &mut first_pass.files {
        file.is_present = source.attachment(id, &mut |_| Ok(()))?;
    }
    first_pass.count_or_withhold_derived();
    let FirstPass { conversations, files, accounts, mut report, .. } = first_pass;
    if report.by_kind.is_empty() && out.is_some() {
        return Err(nothing_to_write("chatgpt"));
    }
    let account = match accounts.first() {
        Some(Some(only)) if accounts.len() == 1 => Some(only.clone()),
        _ => None,
    };
    let (names_json, names) = file_names(&files);
    let composer =
        Composer { names: &names, files: &files, account: account.as_deref(), now: source.description().now };
    let mut zip = ZipFile::create(out)?;
    zip.entry("user.json", &serde_json::json!({ "id": account.as_deref().unwrap_or_default() }).to_string())?;
    zip.entry(NAMES_FILE, &names_json)?;
    let mut parts = Parts::new(&conversations);
    conversations.each(source, conversation_of, &mut |_, group| {
        let text = composer.compose(&Thread::new(group), &mut report.losses)?;
        parts.add(&mut zip, &text)
    })?;
    parts.end(&mut zip)?;
    if zip.is_written() {
        for (id, file) in files.iter().filter(|(_, file)| file.is_written()) {
            zip.start(&format!("{}.dat", file.id))?;
            source.attachment(id, &mut |bytes| zip.copy(bytes))?;
        }
    }
    zip.entry("export_manifest.json", &parts.manifest())?;
    zip.finish()?;
    source.note_stripped(&is_in_conversation, &mut report.losses)?;
    note_left_out(source, |_| true, &mut report.losses)?;
    if !source.tombstones()?.is_empty() {
        report.losses.add("tombstones", "tombstone", LossKind::LeftOut, "an export of ChatGPT has no deletions");
    }
    Ok(report)
}

fn is_in_conversation(stored: &StoredRecord) -> bool {
    matches!(stored.record.kind, Kind::Conversation | Kind::Message)
}

impl FirstPass {
    fn add(&mut self, stored: StoredRecord) {
        let record = &stored.record;
        match record.kind {
            Kind::Conversation | Kind::Message => {
                self.count(record.kind);
                if record.origin.format == "chatgpt" {
                    self.accounts.insert(record.source.account.clone());
                }
                if let Some(is_written) = self.written_sources.get_mut(&stored.id) {
                    *is_written = is_original(&stored);
                }
                for (file, id) in record.attachments.iter().zip(&stored.attachment_ids) {
                    self.add_file(id, file);
                }
                if let Some(group) = conversation_of(&stored) {
                    self.conversations.add(group, &stored);
                }
            }
            Kind::Memory if record.origin.format == "chatgpt" && is_found_memory(record) && !stored.edited => {
                let messages: Vec<String> = stored.link_ids.into_iter().flatten().collect();
                self.written_sources.extend(messages.iter().map(|id| (id.clone(), false)));
                self.memories.push((stored.id, messages));
            }
            Kind::Attachment => self.add_attachment(stored),
            Kind::Credential => self.withhold("secret"),
            _ => self.withhold("not_a_conversation"),
        }
    }

    fn count(&mut self, kind: Kind) {
        *self.report.by_kind.entry(kind.as_str().to_owned()).or_default() += 1;
    }

    fn withhold(&mut self, reason: &str) {
        *self.report.withheld.entry(reason.to_owned()).or_default() += 1;
    }

    fn add_file(&mut self, id: &str, file: &AttachmentRef) {
        let export_file = self.files.entry(id.to_owned()).or_insert_with(|| ExportFile::new(id, &file.key, &file.name));
        export_file.is_referenced = true;
        if export_file.name == export_file.id {
            export_file.name.clone_from(&file.name);
        }
    }

    fn add_attachment(&mut self, stored: StoredRecord) {
        let Record { key, title, .. } = &stored.record;
        let name = title.clone().unwrap_or_default();
        let export_file =
            self.files.entry(stored.id.clone()).or_insert_with(|| ExportFile::new(&stored.id, key, &name));
        if export_file.name == export_file.id && !name.is_empty() {
            export_file.name = name;
        }
        self.attachments.push(stored.id);
    }

    /// Counts the memories and files that are in the export, and withholds all others. Requires that all messages were
    /// added.
    fn count_or_withhold_derived(&mut self) {
        for (_, messages) in std::mem::take(&mut self.memories) {
            match messages.iter().any(|id| self.written_sources.get(id) == Some(&true)) {
                true => self.count(Kind::Memory),
                false => self.withhold("not_a_conversation"),
            }
        }
        for id in std::mem::take(&mut self.attachments) {
            match self.files.get(&id).is_some_and(|file| file.is_referenced || file.is_written()) {
                true => self.count(Kind::Attachment),
                false => self.withhold("no_message_names_it"),
            }
        }
    }
}

/// The conversation files of an export that is being written.
struct Parts {
    is_one_file: bool,
    is_open: bool,
    count: usize,
    bytes: usize,
    /// Name, and size in bytes, of each file that is complete.
    finished: Vec<(String, usize)>,
}

impl Parts {
    fn new(conversations: &Groups) -> Self {
        let is_small = conversations.bytes() <= PART_BYTES as u64;
        let is_one_file = conversations.len() <= CONVERSATIONS_PER_PART && is_small;
        Self { is_one_file, is_open: false, count: 0, bytes: 0, finished: Vec::new() }
    }

    fn name(&self) -> String {
        if self.is_one_file {
            "conversations.json".into()
        } else {
            format!("conversations-{:03}.json", self.finished.len())
        }
    }

    fn add(&mut self, zip: &mut ZipFile, conversation: &str) -> Result<(), FormatError> {
        let is_full = self.count >= CONVERSATIONS_PER_PART || self.bytes + conversation.len() > PART_BYTES;
        if self.is_open && is_full && !self.is_one_file {
            self.end(zip)?;
        }
        let before = if self.is_open { ",\n" } else { "[" };
        if !self.is_open {
            zip.start(&self.name())?;
            (self.is_open, self.count, self.bytes) = (true, 0, 0);
        }
        zip.write(before)?;
        zip.write(conversation)?;
        self.count += 1;
        self.bytes += before.len() + conversation.len();
        Ok(())
    }

    /// Completes the open file. If the export contains no conversations, writes one file with an empty list.
    fn end(&mut self, zip: &mut ZipFile) -> Result<(), FormatError> {
        if !self.is_open {
            zip.entry(&self.name(), "[]")?;
            self.bytes = 1;
        } else {
            zip.write("]")?;
        }
        self.finished.push((self.name(), self.bytes + 1));
        self.is_open = false;
        Ok(())
    }

    fn manifest(&self) -> String {
        let names: Vec<&str> = self.finished.iter().map(|(name, _)| name.as_str()).collect();
        let files: Vec<_> =
            self.finished.iter().map(|(path, size)| serde_json::json!({ "path": path, "size_bytes": size })).collect();
        serde_json::json!({
            "version": 1,
            "export_files": files,
            "logical_files": { "conversations.json": { "files": names, "sharded": !self.is_one_file } },
        })
        .to_string()
    }
}
