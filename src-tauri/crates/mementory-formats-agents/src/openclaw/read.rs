//! Reads workspace files into records and passthrough files. The text of a memory file is stored only in its records:
//! joining their verbatims yields the file.
use super::files::{self, FileRole, MemoryFile};
use super::{Root, Runtime, sections};
use mementory_format::{Catalog, Detected, FolderKeys, FormatError, Member, PassthroughItem, ReadContext, Sink};
use mementory_formats_shared::note::Note;
use mementory_formats_shared::note_reader::{CREATED_KEYS, UPDATED_KEYS};
use mementory_formats_shared::text_head::text_head;
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Origin, Record, RecordKey, Timestamp, Verbatim};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Reads one workspace.
pub struct Reader<'a> {
    /// Runtime of the workspace.
    pub runtime: &'a Runtime,
    /// The opened input.
    pub catalog: &'a Catalog,
    /// Location of the workspace.
    pub root: &'a Root,
    /// Limits and current time.
    pub context: &'a ReadContext,
    /// Receives everything that is read.
    pub sink: &'a mut dyn Sink,
    /// Scope of the record keys: the agent's id, or the name of the folder if there is no id.
    pub scope: String,
    slots: HashMap<String, Vec<Record>>,
    bytes_done: u64,
}

impl<'a> Reader<'a> {
    /// Creates the reader and reads the agent id and the extension slots of the workspace.
    pub fn new(
        runtime: &'a Runtime,
        catalog: &'a Catalog,
        root: &'a Root,
        context: &'a ReadContext,
        sink: &'a mut dyn Sink,
    ) -> Result<Self, FormatError> {
        let id = stated_id(catalog, root).unwrap_or_else(|| root.name.clone());
        let is_slot_file = |m: &&Member| root.path(m).is_some_and(|path| files::is_our_file(path, files::SLOTS_FILE));
        let slots = match catalog.members().iter().find(is_slot_file) {
            Some(member) => read_slots(catalog, member, context)?,
            None => HashMap::new(),
        };
        let scope = format!("{}:{id}", runtime.id);
        Ok(Self { runtime, catalog, root, context, sink, scope, slots, bytes_done: 0 })
    }

    /// Reads one file into records if it is a profile or memory file, otherwise as a passthrough file. Skips the file
    /// with the extension slots, and bookkeeping files of other programs.
    pub fn read_file(&mut self, member: &Member) -> Result<(), FormatError> {
        let Some(path) = self.root.path(member).map(str::to_owned) else { return Ok(()) };
        let inner = path.strip_prefix("workspace/").unwrap_or(&path);
        let role = files::role(inner);
        self.bytes_done += member.size;
        self.sink.progress(self.bytes_done)?;
        match role {
            FileRole::Junk | FileRole::Slots => return Ok(()),
            FileRole::Profile(_) | FileRole::Memory(_) if member.size <= self.context.limits.side_file_bytes => {
                let bytes = self.catalog.bytes(member, self.context.limits.side_file_bytes)?;
                match String::from_utf8(self.in_utf8(member, bytes)) {
                    Ok(text) if !text.trim().is_empty() => {
                        return match role {
                            FileRole::Profile(block) => self.read_profile(member, &path, &text, block),
                            FileRole::Memory(memory) => self.read_memories(member, &path, &text, memory),
                            _ => Ok(()),
                        };
                    }
                    Ok(_) => {}
                    Err(_) => {
                        let reason = "invalid_utf8: stored as a file, but not read as text".to_owned();
                        let (outcome, kind) = (DroppedAs::Failed, Some(Kind::Memory));
                        self.sink.dropped(Dropped { place: member.place.clone(), outcome, reason, kind });
                    }
                }
            }
            _ => {}
        }
        self.pass_through(member, &path)
    }

    /// The bytes of a text file in UTF-8. Editors on Windows also write UTF-16, which begins with a byte order mark.
    fn in_utf8(&mut self, member: &Member, bytes: Vec<u8>) -> Vec<u8> {
        if ![&[0xff, 0xfe][..], &[0xfe, 0xff]].iter().any(|mark| bytes.starts_with(mark)) {
            return bytes;
        }
        let message = "this file is in UTF-16; its text is stored and exported in UTF-8";
        self.report_issue("utf16", &member.place, message);
        let text = text_head(self.catalog, member, bytes.len());
        text.map_or(bytes, String::into_bytes)
    }

    /// Stores a file unchanged as a passthrough file.
    pub fn pass_through(&mut self, member: &Member, path: &str) -> Result<(), FormatError> {
        let item = PassthroughItem {
            format: self.runtime.id.into(),
            group: self.scope.clone(),
            name: path.to_owned(),
            role: "raw".into(),
            place: member.place.clone(),
        };
        self.catalog.read(member, |bytes| self.sink.passthrough(item, bytes))
    }

    /// Id of a record, derived from the path of the file, the heading of the section, and the number `n` of the section
    /// among the sections with the same heading. The id does not change when a section with another heading is
    /// inserted.
    pub fn id(&self, path: &str, heading: &str, n: usize) -> String {
        let namespace = uuid::Uuid::from_bytes(self.runtime.namespace);
        uuid::Uuid::new_v5(&namespace, format!("{path}#{heading}#{n}").as_bytes()).hyphenated().to_string()
    }

    /// A new record of this workspace.
    pub fn record(&self, kind: Kind, id: &str, text: &str, member: &Member, pointer: String) -> Record {
        let mut record = Record::new(kind, RecordKey::new(&self.scope, id), text);
        record.origin_id = Some(id.to_owned());
        record.source.platform = self.runtime.id.into();
        record.origin =
            Origin { format: self.runtime.id.into(), version: None, container: member.place.clone(), pointer };
        record
    }

    fn read_profile(&mut self, member: &Member, path: &str, text: &str, block: &str) -> Result<(), FormatError> {
        let id = self.id(path, "", 0);
        let mut record = self.record(Kind::Profile, &id, text.trim(), member, "file".into());
        let heading = text.lines().find_map(|l| l.strip_prefix("# ")).map(|h| h.trim().to_owned());
        let name = text.lines().find_map(|l| labelled_value(l, "Name"));
        record.title = name.or(heading).filter(|t| !t.is_empty());
        record.record_type = Some(block.into());
        record.fields.insert("file".into(), path.into());
        if block == "user_profile"
            && let Some(zone) = time_zone(text)
        {
            record.fields.insert("timezone".into(), zone.into());
        }
        record.source.method = Some("user_authored".into());
        (record.times.created, record.times.updated) = stated_times(text);
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: text.to_owned() });
        self.sink.unit(record.into())
    }

    fn read_memories(
        &mut self,
        member: &Member,
        path: &str,
        text: &str,
        memory: MemoryFile,
    ) -> Result<(), FormatError> {
        let pieces = if memory.is_one_record { vec![text] } else { sections::split_sections(text) };
        let mut seen: HashMap<String, usize> = HashMap::new();
        let inner = path.strip_prefix("workspace/").unwrap_or(path);
        let day = files::date_of(inner).or_else(|| files::session_day(inner));
        let day = day.and_then(|d| Timestamp::parse(&format!("{d}T00:00:00Z")));
        let (created, updated) = stated_times(text);
        for (number, piece) in pieces.into_iter().enumerate() {
            if let Some(record) = self.take_slot(path, piece) {
                self.sink.unit(record.into())?;
                continue;
            }
            let section = sections::parse_section(piece, memory.is_one_record);
            let heading = section.heading.clone().map(|h| &piece[h]).unwrap_or_default();
            let body = &piece[section.body.clone()];
            let title = sections::title_without_marks(heading);
            let n = seen.entry(title.clone()).or_default();
            *n += 1;
            let id = self.id(path, &title, *n);
            let text = if body.is_empty() { heading } else { body };
            let mut record = self.record(Kind::Memory, &id, text, member, format!("section {number}"));
            record.title = Some(title).filter(|t| !t.is_empty());
            let (importance, tags) = sections::importance_and_tags(piece);
            record.importance = importance;
            record.tags = tags;
            record.record_type = Some(memory.memory_type.into());
            record.namespace = Some(memory.namespace.into());
            record.status = Some(memory.status.unwrap_or("active").into());
            record.source.method = Some(memory.method.into());
            record.times.created = created.or(day);
            record.times.updated = updated;
            record.times.observed = day.or(created);
            record.fields.insert("file".into(), path.into());
            if let Some(category) = memory.category {
                record.fields.insert("category".into(), category.into());
            }
            record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: piece.to_owned() });
            self.sink.unit(record.into())?;
        }
        Ok(())
    }

    /// Takes the extension slot for this text, and returns the record of another format that it contains. None if there
    /// is no slot.
    pub fn take_slot(&mut self, path: &str, piece: &str) -> Option<Record> {
        self.slots.get_mut(&slot_key(path, piece)).and_then(Vec::pop)
    }

    /// Reports an issue.
    pub fn report_issue(&mut self, code: &str, place: &str, message: &str) {
        self.sink.note(Issue::new(code, place, message));
    }
}

/// The creation time and the time of the last change that the frontmatter of a file states.
fn stated_times(text: &str) -> (Option<Timestamp>, Option<Timestamp>) {
    if sections::frontmatter_length(text) == 0 {
        return (None, None);
    }
    let note = Note::parse(text);
    (note.time(&CREATED_KEYS), note.time(&UPDATED_KEYS))
}

/// The agent id that a file of the workspace states. None if there is no such file, or if it contains no UUID.
fn stated_id(catalog: &Catalog, root: &Root) -> Option<String> {
    let file = catalog.members().iter().find(|m| root.path(m) == Some(files::AGENT_ID_FILE))?;
    let id = String::from_utf8(catalog.head(file, 64).ok()?).ok()?.trim().to_owned();
    mementory_format::is_uuid(&id).then_some(id)
}

/// The name of a workspace's folder, which the record keys contain. None if the workspace states an id.
pub fn folder_keys(runtime: &Runtime, catalog: &Catalog, detected: &Detected) -> Option<FolderKeys> {
    let root = Root::of_claim(catalog, detected);
    if stated_id(catalog, &root).is_some() {
        return None;
    }
    FolderKeys::in_scope(format!("{}:", runtime.id), root.name)
}

/// Key of an extension slot: file path and digest of the text.
pub fn slot_key(path: &str, piece: &str) -> String {
    format!("{path}|{}", hex::encode(Sha256::digest(piece.trim())))
}

fn read_slots(
    catalog: &Catalog,
    member: &Member,
    context: &ReadContext,
) -> Result<HashMap<String, Vec<Record>>, FormatError> {
    #[derive(serde::Deserialize)]
    struct Slot {
        file: String,
        sha256: String,
        record: Record,
    }
    let mut out: HashMap<String, Vec<Record>> = HashMap::new();
    let bytes = catalog.bytes(member, context.limits.element_bytes)?;
    for line in bytes.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty()) {
        // An invalid line is skipped; the text of its record is still read from the memory file.
        if let Ok(slot) = serde_json::from_slice::<Slot>(line) {
            out.entry(format!("{}|{}", slot.file, slot.sha256)).or_default().push(slot.record);
        }
    }
    Ok(out)
}

/// The value in a line `<key>: <value>`. The line may be a list item, and key or value may be bold.
pub fn labelled_value(line: &str, key: &str) -> Option<String> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "-*".contains(c));
    let after_key = line.get(..key.len()).filter(|k| k.eq_ignore_ascii_case(key)).map(|_| &line[key.len()..])?;
    let value =
        after_key.trim_start_matches('*').strip_prefix(':')?.trim_matches(|c: char| c.is_whitespace() || c == '*');
    Some(value.to_owned()).filter(|v| !v.is_empty())
}

/// The time zone in `Timezone: X`, or the first line with a `/` below the heading `Timezone`.
fn time_zone(text: &str) -> Option<String> {
    let stated_zone =
        text.lines().find_map(|l| labelled_value(l, "Timezone").or_else(|| labelled_value(l, "Time zone")));
    let zone_below_heading = || {
        let mut lines = text.lines().skip_while(|l| !l.trim().eq_ignore_ascii_case("## Timezone")).skip(1);
        lines
            .find(|l| l.contains('/') || l.starts_with("## "))
            .filter(|l| l.contains('/'))
            .map(|l| l.trim().trim_start_matches("- ").to_owned())
    };
    stated_zone.or_else(zone_below_heading)
}
