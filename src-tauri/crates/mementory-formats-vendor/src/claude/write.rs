//! Writes an export in Claude's format: conversations, projects, memory and accounts in one archive. See README.md.
use super::{
    WRITTEN_LAYOUT,
    compose::{Composer, is_from_claude, original},
    wire::SCOPE,
    write_memory::{Documents, foreign_file},
};
use mementory_format::{
    FormatError, NO_BYTES_NOTE, RecordSource, StoredRecord, WriteOptions, WriteReport,
    passthrough_envelope::note_left_out,
};
use mementory_formats_shared::export::{has_ended, nothing_to_write};
use mementory_formats_shared::export_files::{
    groups::{Groups, Thread, conversation_of},
    strip::ExportSource,
    zip_file::ZipFile,
};
use mementory_model::{Kind, Link, LossKind, Timestamp};
use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
};

/// The data that the first passes over the records collect, because they must be known before the first byte is
/// written.
#[derive(Default)]
struct FirstPass {
    conversations: Groups,
    projects: Groups,
    /// Keys of the projects whose profile is in the export. Without its profile, a project is not written.
    whole_projects: BTreeSet<String>,
    members: Vec<(String, Kind)>,
    documents: Documents,
    /// Vault ids of the documents and messages from which other records were made. The value is true if the document or
    /// message is written as its original text.
    written_sources: HashMap<String, bool>,
    /// For each record that was made from messages: its kind, and the vault ids of the messages.
    derived: Vec<(Kind, Vec<String>)>,
    accounts: BTreeSet<String>,
    files: BTreeSet<String>,
    attachments: Vec<String>,
    report: WriteReport,
    /// Time of the export.
    now: Option<Timestamp>,
}

/// Writes all records to `out`. Without a path, only the report is produced, which is the same as for a written export.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let source = &mut ExportSource::new(source, options);
    let now = source.description().now;
    let mut first_pass = FirstPass { now: Some(now), ..FirstPass::default() };
    first_pass.report.version = WRITTEN_LAYOUT.into();
    // The source returns memories before the messages from which they were made. So the ids of these messages are
    // collected in a separate pass.
    source.records(&mut |stored| {
        first_pass.note_sources(&stored);
        Ok(())
    })?;
    source.records(&mut |stored| {
        first_pass.add(&stored);
        Ok(())
    })?;
    first_pass.count_or_withhold_derived();
    let FirstPass { conversations, projects, documents, accounts, files, mut report, .. } = first_pass;
    if report.by_kind.is_empty() && out.is_some() {
        return Err(nothing_to_write(SCOPE));
    }
    for id in &files {
        if source.attachment(id, &mut |_| Ok(()))? {
            report.losses.add(id, "file", LossKind::LeftOut, NO_BYTES_NOTE);
        }
    }
    let composer = Composer { now };
    let mut zip = ZipFile::create(out)?;
    let users: Vec<_> = accounts
        .iter()
        .map(
            |id| serde_json::json!({ "uuid": id, "full_name": "", "email_address": "", "verified_phone_number": null }),
        )
        .collect();
    zip.entry("users.json", &serde_json::Value::Array(users).to_string())?;
    write_memories(source, &mut zip, &documents, &mut report)?;
    let mut list = List::start(&mut zip, "projects.json")?;
    projects.each(source, project_of, &mut |_, group| match composer.project(&group, &mut report.losses) {
        Some(project) => list.add(&mut zip, &project),
        None => Ok(()),
    })?;
    list.end(&mut zip)?;
    let mut design = Vec::new();
    let mut list = List::start(&mut zip, "conversations.json")?;
    conversations.each(source, conversation_of, &mut |_, group| {
        let composed = composer.conversation(&Thread::new(group), &mut report.losses)?;
        if composed.is_design {
            design.push(composed.text);
            return Ok(());
        }
        list.add(&mut zip, &composed.text)
    })?;
    list.end(&mut zip)?;
    for (number, chat) in design.iter().enumerate() {
        zip.entry(&format!("design_chats/{number:05}.json"), chat)?;
    }
    zip.finish()?;
    let is_chat = |stored: &StoredRecord| matches!(stored.record.kind, Kind::Conversation | Kind::Message);
    source.note_stripped(&|stored| is_chat(stored) || is_foreign_memory(stored, now), &mut report.losses)?;
    note_left_out(source, |_| true, &mut report.losses)?;
    if !source.tombstones()?.is_empty() {
        report.losses.add("tombstones", "tombstone", LossKind::LeftOut, "an export of Claude has no deletions");
    }
    Ok(report)
}

fn write_memories(
    source: &mut ExportSource<'_>,
    zip: &mut ZipFile,
    documents: &Documents,
    report: &mut WriteReport,
) -> Result<(), FormatError> {
    let mut list = List::start(zip, "memories.json")?;
    for element in documents.elements(&mut report.losses) {
        list.add(zip, &element)?;
    }
    let mut count = 0_u64;
    let now = source.description().now;
    source.records(&mut |stored| {
        if !is_foreign_memory(&stored, now) {
            return Ok(());
        }
        let Some(file) = foreign_file(&stored, &mut report.losses) else { return Ok(()) };
        match count {
            0 => list.add(zip, "{\"memory_files\":[")?,
            _ => zip.write(",\n")?,
        }
        count += 1;
        zip.write(&file)
    })?;
    if count > 0 {
        zip.write("]}")?;
    }
    list.end(zip)
}

/// A list of a JSON file that is being written.
struct List {
    is_empty: bool,
}

impl List {
    fn start(zip: &mut ZipFile, name: &str) -> Result<Self, FormatError> {
        zip.start(name)?;
        zip.write("[")?;
        Ok(Self { is_empty: true })
    }

    fn add(&mut self, zip: &mut ZipFile, element: &str) -> Result<(), FormatError> {
        if !std::mem::replace(&mut self.is_empty, false) {
            zip.write(",\n")?;
        }
        zip.write(element)
    }

    fn end(self, zip: &mut ZipFile) -> Result<(), FormatError> {
        zip.write("]")
    }
}

/// Returns the key of the project to which a record belongs. The record is the project itself, its instructions, or one
/// of its documents. None for any other record.
fn project_of(stored: &StoredRecord) -> Option<String> {
    let record = &stored.record;
    if !is_from_claude(record) {
        return None;
    }
    let key = record.key.value.as_str();
    match record.kind {
        Kind::Profile => key.starts_with("project/").then(|| key.to_owned()),
        Kind::Memory => Some(key.strip_suffix("/instructions")?.to_owned()).filter(|k| k.starts_with("project/")),
        Kind::Resource if key.starts_with("doc/") => Some(format!("project/{}", record.source.project.as_ref()?)),
        _ => None,
    }
}

/// True for a record that the reader derived from Claude's messages: an artifact, or a memory document in a chat.
fn is_derived(stored: &StoredRecord) -> bool {
    let record = &stored.record;
    let is_artifact = record.kind == Kind::Resource && record.record_type.as_deref() == Some("artifact");
    let is_from_message = |link: &Link| link.relation == "derived_from" && link.kind == Kind::Message;
    is_from_claude(record) && (is_artifact || record.kind == Kind::Memory && record.links.iter().any(is_from_message))
}

fn is_statement(stored: &StoredRecord) -> bool {
    stored.record.kind == Kind::Fact && is_from_claude(&stored.record)
}

/// True for a record that is written as a memory file: a memory of another program that is still true and belongs to no
/// project of Claude.
fn is_foreign_memory(stored: &StoredRecord, now: Timestamp) -> bool {
    matches!(stored.record.kind, Kind::Memory | Kind::Profile | Kind::Fact)
        && project_of(stored).is_none()
        && !(is_from_claude(&stored.record) && stored.record.key.value.starts_with("memory/"))
        && !is_statement(stored)
        && !is_derived(stored)
        && reason_to_withhold(stored, now).is_none()
}

/// Returns the reason to withhold a memory of another program. None if it is written. Claude assumes that every memory
/// file is still true, so outdated memories are withheld.
fn reason_to_withhold(stored: &StoredRecord, now: Timestamp) -> Option<&'static str> {
    let record = &stored.record;
    if record.fields.get("access").and_then(|a| a.get("exportable")) == Some(&false.into()) {
        return Some("not_exportable");
    }
    if record.kind == Kind::Fact && record.links.iter().any(|link| link.relation == "derived_from") {
        return Some("said_elsewhere");
    }
    if has_ended(record) || record.times.valid_to.is_some_and(|end| end <= now) {
        return Some("no_longer_true");
    }
    record.text.trim().is_empty().then_some("no_text")
}

impl FirstPass {
    /// Collects the messages and documents from which a record was made, if it is an artifact, a memory document in a
    /// chat or a statement.
    fn note_sources(&mut self, stored: &StoredRecord) {
        if is_derived(stored) || is_statement(stored) {
            self.written_sources.extend(stored.link_ids.iter().flatten().map(|id| (id.clone(), false)));
        }
    }

    fn add(&mut self, stored: &StoredRecord) {
        let record = &stored.record;
        if let Some(is_written) = self.written_sources.get_mut(&stored.id) {
            *is_written = original(stored).is_some();
        }
        if is_from_claude(record) {
            self.accounts.extend(record.source.account.clone());
        }
        if let Some(project) = project_of(stored) {
            self.projects.add(project.clone(), stored);
            if record.kind == Kind::Profile {
                self.whole_projects.insert(project.clone());
            }
            self.members.push((project, record.kind));
            return;
        }
        match record.kind {
            Kind::Conversation | Kind::Message => {
                self.count(record.kind);
                self.files.extend(stored.attachment_ids.iter().cloned());
                if let Some(group) = conversation_of(stored) {
                    self.conversations.add(group, stored);
                }
            }
            Kind::Attachment => self.attachments.push(stored.id.clone()),
            Kind::Resource | Kind::Memory if is_derived(stored) => {
                if stored.edited {
                    let note = "it is made from messages, which are written as they were";
                    self.report.losses.add(&stored.id, "text", LossKind::LeftOut, note);
                }
                self.derived.push((record.kind, stored.link_ids.iter().flatten().cloned().collect()));
            }
            Kind::Fact if is_statement(stored) => {
                let is_source_written =
                    stored.link_ids.iter().flatten().any(|id| self.written_sources.get(id) == Some(&true));
                match is_source_written && !stored.edited {
                    true => self.count(Kind::Fact),
                    false => self.withhold("said_elsewhere"),
                }
            }
            Kind::Memory if self.documents.add(stored) => self.count(Kind::Memory),
            Kind::Memory | Kind::Profile | Kind::Fact => match self.now.and_then(|now| reason_to_withhold(stored, now))
            {
                Some(reason) => self.withhold(reason),
                None => self.count(record.kind),
            },
            Kind::Credential => self.withhold("secret"),
            _ => self.withhold("no_place"),
        }
    }

    fn count(&mut self, kind: Kind) {
        *self.report.by_kind.entry(kind.as_str().to_owned()).or_default() += 1;
    }

    fn withhold(&mut self, reason: &str) {
        *self.report.withheld.entry(reason.to_owned()).or_default() += 1;
    }

    /// Counts the records whose project or source message is in the export, and withholds the others.
    fn count_or_withhold_derived(&mut self) {
        for (project, kind) in std::mem::take(&mut self.members) {
            match self.whole_projects.contains(&project) {
                true => self.count(kind),
                false => self.withhold("no_project"),
            }
        }
        for (kind, messages) in std::mem::take(&mut self.derived) {
            match messages.iter().any(|id| self.written_sources.get(id) == Some(&true)) {
                true => self.count(kind),
                false => self.withhold("no_place"),
            }
        }
        for id in std::mem::take(&mut self.attachments) {
            match self.files.contains(&id) {
                true => self.count(Kind::Attachment),
                false => self.withhold("no_message_names_it"),
            }
        }
    }
}
