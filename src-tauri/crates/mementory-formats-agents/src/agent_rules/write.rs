//! Writes memories into the files that coding agents load: `AGENTS.md`, and `CLAUDE.md`, which imports it. Memories
//! that do not fit into `AGENTS.md` go into topic files, which `AGENTS.md` links to.
use super::FORMAT;
use super::detect::FILE_START;
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::{Export, nothing_to_write, words};
use mementory_formats_shared::list_items::item;
use mementory_formats_shared::new_files::{NewFile, NewFolder};
use mementory_formats_shared::rules_text;
use mementory_formats_shared::topics::{INSTRUCTIONS, TOPIC_NAMES, topic_for_agents};
use mementory_model::{Kind, Record, RecordKey};
use std::fmt::Write as _;
use std::path::Path;

/// The file that agents load.
const MAIN_FILE: &str = "AGENTS.md";
/// Limits of `AGENTS.md`. Claude Code loads at most this number of bytes, and recommends at most this number of lines
/// for a rules file. Codex loads up to 32 KiB.
const MAX_MAIN_FILE_BYTES: usize = 25_000;
const MAX_MAIN_FILE_LINES: usize = 200;
/// Space in `AGENTS.md`, in bytes and lines, that is reserved for the headings and the list of topic files.
const RESERVED_BYTES: usize = 3_000;
const RESERVED_LINES: usize = 64;
/// Longest item, in bytes, in `AGENTS.md`. Longer items go into the file of their topic.
const LONG_ITEM_BYTES: usize = 1_500;
/// Largest total size, in bytes, of the items in one topic file. Additional items go into another file of the topic.
const TOPIC_BYTES: usize = 40_000;

/// Kinds of records that are written.
const EXPORTED_KINDS: [Kind; 6] =
    [Kind::Memory, Kind::Profile, Kind::Fact, Kind::Procedure, Kind::Todo, Kind::Resource];
/// Indexes of the topics, in the order in which they get space in `AGENTS.md`.
const TOPICS_BY_PRIORITY: [usize; 12] = [INSTRUCTIONS, 4, 3, 8, 1, 2, 7, 10, 5, 9, 6, 11];

/// Writes all memories into the new folder `out`. If `out` is None, writes nothing and only returns the report.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let mut export = Export::new(FORMAT, "1", source, options, false);
    let space = TopicSpace::measure(source, &export)?;
    let mut folder = NewFolder::new(out);
    let mut topics: Vec<Topic> = TOPIC_NAMES.iter().map(|_| Topic::default()).collect();
    source.records(&mut |stored| {
        if let Some(reason) = export.reason_to_withhold(&stored, &EXPORTED_KINDS) {
            export.withhold(reason);
            return Ok(());
        }
        let at = topic_for_agents(&stored.record);
        let text = item(&text_with_title(&stored.record));
        let (Some(topic), Some(space)) = (topics.get_mut(at), space.0.get(at)) else { return Ok(()) };
        let path = topic.add(&mut folder, TOPIC_NAMES.get(at).copied().unwrap_or_default(), &text, space)?;
        export.wrote(&stored, &read_back(&text, at, path));
        Ok(())
    })?;
    if export.report.by_kind.is_empty() && out.is_some() {
        return Err(nothing_to_write(FORMAT));
    }
    let main_text = main_file(&topics, &export);
    for topic in &mut topics {
        topic.finish()?;
    }
    if out.is_some() {
        folder.write(MAIN_FILE, &main_text)?;
        folder.write("CLAUDE.md", &format!("@{MAIN_FILE}\n"))?;
    }
    export.finish(source, options)
}

/// The text of a record, with the title before it unless the text already contains the title.
fn text_with_title(record: &Record) -> String {
    let text = words(record).trim();
    let title = record.title.as_deref().map(str::trim).filter(|title| !title.is_empty() && !text.contains(title));
    title.map_or_else(|| text.to_owned(), |title| format!("{}: {text}", title.replace(['\n', '\r'], " ")))
}

/// The record that an import would create from a written item.
fn read_back(item: &str, topic: usize, path: &str) -> Record {
    let text = rules_text::items(item, "").into_iter().next().map(|piece| piece.text).unwrap_or_default();
    let mut record = Record::new(Kind::Memory, RecordKey::new(FORMAT, ""), text);
    record.title = TOPIC_NAMES.get(topic).map(|name| (*name).to_owned());
    record.source.platform = "agents".into();
    record.fields.insert("file".into(), path.into());
    record
}

/// Space in `AGENTS.md`, in bytes and lines.
#[derive(Default, Clone, Copy)]
struct Size {
    bytes: usize,
    lines: usize,
}

impl Size {
    fn of(item: &str) -> Self {
        Self { bytes: item.len(), lines: item.matches('\n').count() }
    }
    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.lines += other.lines;
    }
    fn has_room_for(self, other: Self) -> bool {
        other.bytes <= self.bytes && other.lines <= self.lines
    }
}

/// The space in `AGENTS.md` that each topic may use.
struct TopicSpace(Vec<Size>);

impl TopicSpace {
    /// Reads all records once, to find out how much space each topic needs.
    fn measure(source: &mut dyn RecordSource, export: &Export) -> Result<Self, FormatError> {
        let mut needed = vec![Size::default(); TOPIC_NAMES.len()];
        source.records(&mut |stored: StoredRecord| {
            if export.reason_to_withhold(&stored, &EXPORTED_KINDS).is_none() {
                let text = item(&text_with_title(&stored.record));
                if let Some(size) =
                    needed.get_mut(topic_for_agents(&stored.record)).filter(|_| !exceeds_item_limit(&text))
                {
                    size.add(Size::of(&text));
                }
            }
            Ok(())
        })?;
        let mut remaining =
            Size { bytes: MAX_MAIN_FILE_BYTES - RESERVED_BYTES, lines: MAX_MAIN_FILE_LINES - RESERVED_LINES };
        let mut out = vec![Size::default(); TOPIC_NAMES.len()];
        for at in TOPICS_BY_PRIORITY {
            let (Some(needed), Some(space)) = (needed.get(at), out.get_mut(at)) else { continue };
            *space = if remaining.has_room_for(*needed) { *needed } else { remaining };
            remaining.bytes -= space.bytes.min(remaining.bytes);
            remaining.lines -= space.lines.min(remaining.lines);
        }
        Ok(Self(out))
    }
}

fn exceeds_item_limit(item: &str) -> bool {
    item.len() > LONG_ITEM_BYTES
}

/// Text and files of a topic.
#[derive(Default)]
struct Topic {
    /// Items of the topic that are written into `AGENTS.md`.
    main_items: String,
    used: Size,
    /// Number of items that are in topic files instead of `AGENTS.md`.
    count: u64,
    paths: Vec<String>,
    file: Option<NewFile>,
    file_bytes: usize,
}

impl Topic {
    /// Adds an item to `AGENTS.md` if it is not long and fits into `space`, otherwise to a topic file. Returns the path
    /// of the file to which it was added.
    fn add(&mut self, folder: &mut NewFolder, name: &str, item: &str, space: &Size) -> Result<&str, FormatError> {
        let mut used = self.used;
        used.add(Size::of(item));
        if !exceeds_item_limit(item) && space.has_room_for(used) {
            self.used = used;
            self.main_items.push_str(item);
            return Ok(MAIN_FILE);
        }
        self.count += 1;
        if self.file_bytes + item.len() > TOPIC_BYTES {
            self.finish()?;
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let path = folder.free_path("memories/", name, ".md");
                let mut file = folder.create(&path)?;
                file.add(&format!("{FILE_START} -->\n\n# {name}\n\n"))?;
                self.paths.push(path);
                self.file.insert(file)
            }
        };
        self.file_bytes += item.len();
        file.add(item)?;
        Ok(self.paths.last().map_or(MAIN_FILE, String::as_str))
    }

    fn finish(&mut self) -> Result<(), FormatError> {
        self.file_bytes = 0;
        self.file.take().map_or(Ok(()), NewFile::finish)
    }
}

/// The text of `AGENTS.md`. It begins with an HTML comment that tells people what the file is.
fn main_file(topics: &[Topic], export: &Export) -> String {
    let (year, month, day) = export.now.date();
    let mut out = format!(
        "{FILE_START} on {year:04}-{month:02}-{day:02}.\nNo maker of a program has confirmed that it accepts this file. -->\n\n# What is known about the person\n"
    );
    for (topic, name) in topics.iter().zip(TOPIC_NAMES).filter(|(topic, _)| !topic.main_items.is_empty()) {
        let _ = write!(out, "\n## {name}\n\n{}", topic.main_items);
    }
    if topics.iter().any(|topic| topic.count > 0) {
        out.push_str("\n## More\n\nRead these files when a task is about their topic:\n\n");
        for (topic, name) in topics.iter().zip(TOPIC_NAMES) {
            let Some(path) = topic.paths.first() else { continue };
            let further_files = match topic.paths.len() {
                1 => String::new(),
                n => format!(" and {} more files with this name and a number", n - 1),
            };
            let _ = writeln!(out, "- [{name}]({path}){further_files}: {} memories", topic.count);
        }
    }
    out
}
