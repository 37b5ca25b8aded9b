//! Writes the folder: an index, the conversations, the memories and the other records, and the files that the records
//! refer to.
use super::{CONVERSATIONS, FILES, FORMAT_MARK, ID, VERSION, note};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::nothing_to_write;
use mementory_formats_shared::export_files::{
    groups::{Groups, Thread, conversation_of},
    readable::{Readable, is_readable, shown_time, shown_title},
    strip::ExportSource,
};
use mementory_formats_shared::new_files::NewFile;
use mementory_model::{Kind, Record};
use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

const MEMORIES_FILE: &str = "memories.md";
const RECORDS_FILE: &str = "records.md";
/// Largest size in bytes of the part of a file name that comes from a title.
const MAX_NAME_BYTES: usize = 60;

/// Files by vault id, with their paths in the folder.
type Files = BTreeMap<String, String>;

/// Writes all records to the new folder `out`. Without a path, nothing is written, but the report is the same.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let source = &mut ExportSource::new(source, options);
    let (mut conversations, mut names, mut counts) = (Groups::default(), Files::new(), HashMap::new());
    source.records(&mut |stored| {
        add_names(&stored, &mut names);
        match conversation_of(&stored) {
            Some(group) => conversations.add(group, &stored),
            None if !is_readable(&stored) => {}
            None => *counts.entry(file_of(&stored.record)).or_insert(0_u64) += 1,
        }
        Ok(())
    })?;
    if out.is_some() && conversations.is_empty() && counts.is_empty() {
        return Err(nothing_to_write(ID));
    }
    let mut files = Files::new();
    for (id, path) in names {
        if source.attachment(&id, &mut |_| Ok(()))? {
            files.insert(id, path);
        }
    }
    let mut folder = Folder { out: out.map(Path::to_path_buf), files, index: NewFile::create(None)? };
    folder.create(conversations.len())?;
    let description = source.description();
    let title = note::escaped(&description.name);
    folder.index.add(&format!("{FORMAT_MARK}\n# {title}\n\n{} UTC\n\n", shown_time(Some(description.now))))?;
    let mut readable = Readable::new(VERSION);
    folder.write_records(source, &counts, &mut readable)?;
    let mut number = 0_u64;
    if !conversations.is_empty() {
        folder.index.add("\n## Conversations\n\n")?;
    }
    conversations.each(source, conversation_of, &mut |_, group| {
        number += 1;
        let prepared_records = group.into_iter().filter_map(|stored| readable.prepare(stored)).collect();
        folder.write_conversation(&Thread::new(prepared_records), number)
    })?;
    folder.copy_files(source)?;
    folder.index.finish()?;
    readable.finish(source, true)
}

fn add_names(stored: &StoredRecord, names: &mut Files) {
    let record = &stored.record;
    let attached_files =
        record.attachments.iter().zip(&stored.attachment_ids).map(|(file, id)| (id, file.name.as_str()));
    let own_file = (record.kind == Kind::Attachment).then(|| (&stored.id, record.title.as_deref().unwrap_or_default()));
    for (id, name) in attached_files.chain(own_file) {
        names.entry(id.clone()).or_insert_with(|| file_path(id, name));
    }
}

/// The path of a file. It consists of the file's name in a safe form, its id, which makes the path unique, and its
/// extension.
fn file_path(id: &str, name: &str) -> String {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_plain = (1..=8).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    let stem = slug(if is_plain { stem } else { name });
    let extension = if is_plain { format!(".{}", extension.to_ascii_lowercase()) } else { String::new() };
    format!("{FILES}/{stem}-{id}{extension}")
}

/// A title as a part of a file name: letters and digits in lower case, with hyphens between them.
fn slug(title: &str) -> String {
    let mut out = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        match c.is_alphanumeric() {
            true if out.len() + c.len_utf8() > MAX_NAME_BYTES => break,
            true => out.push(c),
            false if out.is_empty() || out.ends_with('-') => {}
            false => out.push('-'),
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() { "untitled".to_owned() } else { out.to_owned() }
}

/// The file of a record that is not part of a conversation.
fn file_of(record: &Record) -> &'static str {
    match record.kind {
        Kind::Memory | Kind::Profile | Kind::Fact => MEMORIES_FILE,
        _ => RECORDS_FILE,
    }
}

/// The folder that is being written.
struct Folder {
    /// None if only the report is made.
    out: Option<PathBuf>,
    files: Files,
    index: NewFile,
}

impl Folder {
    fn path(&self, name: &str) -> Option<PathBuf> {
        self.out.as_ref().map(|out| out.join(name))
    }

    fn create(&mut self, conversations: usize) -> Result<(), FormatError> {
        let folders =
            [Some(""), (conversations > 0).then_some(CONVERSATIONS), (!self.files.is_empty()).then_some(FILES)];
        for name in folders.into_iter().flatten() {
            let Some(path) = self.path(name) else { continue };
            std::fs::create_dir(path).map_err(|e| FormatError::io(name, e))?;
        }
        self.index = NewFile::create(self.path("index.md").as_deref())?;
        Ok(())
    }

    fn paths(&self, stored: &StoredRecord) -> Vec<Option<&str>> {
        let own_id = (stored.record.kind == Kind::Attachment).then_some(&stored.id);
        stored.attachment_ids.iter().chain(own_id).map(|id| self.files.get(id).map(String::as_str)).collect()
    }

    /// Writes the records outside of conversations. Memories are in one file, and all other records in another.
    fn write_records(
        &mut self,
        source: &mut dyn RecordSource,
        counts: &HashMap<&str, u64>,
        readable: &mut Readable,
    ) -> Result<(), FormatError> {
        for (name, title) in [(MEMORIES_FILE, "Memories"), (RECORDS_FILE, "Other records")] {
            let Some(count) = counts.get(name) else { continue };
            self.index.add(&format!("- [{title}]({name}) ({count})\n"))?;
            let mut file = NewFile::create(self.path(name).as_deref())?;
            file.add(&format!("{FORMAT_MARK}\n# {title}\n\n"))?;
            let mut group = String::new();
            source.records(&mut |stored| {
                if conversation_of(&stored).is_some() || file_of(&stored.record) != name {
                    return Ok(());
                }
                let Some(stored) = readable.prepare(stored) else { return Ok(()) };
                let heading = heading_of(&stored.record);
                if group != heading {
                    file.add(&format!("## {heading}\n\n"))?;
                    group = heading;
                }
                let title = stored.record.title.as_ref().map_or_else(String::new, |_| shown_title(&stored.record));
                file.add(&note::write(&stored.record, "###", &title, &self.paths(&stored), ""))
            })?;
            file.finish()?;
        }
        Ok(())
    }

    fn write_conversation(&mut self, thread: &Thread, number: u64) -> Result<(), FormatError> {
        let Some(first) = thread.conversation.as_ref().or(thread.messages.first()) else { return Ok(()) };
        let title = shown_title(&first.record);
        let name = format!("{CONVERSATIONS}/{number:05}-{}.md", slug(&title));
        let day = shown_time(first.record.times.created);
        self.index.add(&format!("- [{}]({name}) {}\n", note::escaped(&title), day.get(..10).unwrap_or_default()))?;
        let mut file = NewFile::create(self.path(&name).as_deref())?;
        file.add(&format!("{FORMAT_MARK}\n"))?;
        if let Some(stored) = &thread.conversation {
            file.add(&note::write(&stored.record, "#", &title, &self.paths(stored), "../"))?;
        }
        for stored in &thread.messages {
            let role = stored.record.message.as_ref().map_or("", |part| part.role.as_str());
            file.add(&note::write(&stored.record, "##", role, &self.paths(stored), "../"))?;
        }
        file.finish()
    }

    fn copy_files(&mut self, source: &mut dyn RecordSource) -> Result<(), FormatError> {
        let Some(out) = &self.out else { return Ok(()) };
        for (id, path) in &self.files {
            let target = out.join(path);
            source.attachment(id, &mut |bytes| {
                let mut file = mementory_format::create_private_file(&target).map_err(|e| FormatError::io(path, e))?;
                std::io::copy(bytes, &mut file).map(drop).map_err(|e| FormatError::io(path, e))
            })?;
        }
        Ok(())
    }
}

/// Heading of a group of records: their kind and platform.
fn heading_of(record: &Record) -> String {
    let kind = record.kind.as_str();
    let platform = note::escaped(&record.source.platform);
    if platform.is_empty() { kind.to_owned() } else { format!("{kind} \u{b7} {platform}") }
}
