//! Writes memories as a memory folder of Claude Code: one file with frontmatter for each memory, and the list
//! `MEMORY.md`. Claude Code loads only the beginning of this list.
use super::{FORMAT, PLATFORM};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport, is_safe_path};
use mementory_formats_shared::export::{Export, nothing_to_write, words};
use mementory_formats_shared::frontmatter::Document;
use mementory_formats_shared::list_items::{clean, link_text, without_commands};
use mementory_formats_shared::new_files::NewFolder;
use mementory_formats_shared::note_export::{first_words, title_of};
use mementory_formats_shared::topics::{INSTRUCTIONS, topic_for_agents};
use mementory_formats_shared::yaml_head::YamlHead;
use mementory_model::{Kind, Record, RecordKey};
use std::path::Path;

/// Number of bytes and lines of `MEMORY.md` that Claude Code loads, minus space for a final line.
const INDEX_BYTES: usize = 24_500;
const INDEX_LINES: usize = 196;
/// Longest name and description, in characters.
const NAME_CHARS: usize = 120;
const DESCRIPTION_CHARS: usize = 150;
/// Indexes of the topics "projects" and "knowledge" in the list of topics.
const PROJECTS_TOPIC: usize = 3;
const KNOWLEDGE_TOPIC: usize = 10;

/// Kinds of records that are written.
const EXPORTED_KINDS: [Kind; 7] =
    [Kind::Memory, Kind::Profile, Kind::Entity, Kind::Fact, Kind::Procedure, Kind::Todo, Kind::Resource];

/// Writes all memories into the new folder `out`. If `out` is None, writes nothing and only returns the report.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let mut export = Export::new(FORMAT, "1", source, options, false);
    let mut folder = NewFolder::new(out);
    folder.take("MEMORY.md");
    let mut index = Index::default();
    source.records(&mut |stored| {
        let is_bare = words(&stored.record).trim().is_empty();
        if let Some(reason) =
            export.reason_to_withhold(&stored, &EXPORTED_KINDS).or_else(|| is_bare.then_some("no_text"))
        {
            export.withhold(reason);
            return Ok(());
        }
        let own_topic = imported_file(&export, &stored).filter(|(path, _)| folder.take(path));
        let (path, text, title, description) = match own_topic {
            Some((path, text)) => {
                export.wrote(&stored, &Record { source: source_of(), ..stored.record.clone() });
                let document = Document::parse(text);
                let title = document.text("name").unwrap_or_else(|| path.to_owned());
                (path.to_owned(), text.to_owned(), title, document.text("description").unwrap_or_default())
            }
            None => {
                let topic = Topic::of(&stored.record);
                let path = folder.free_path("", &topic.name, ".md");
                export.wrote(&stored, &topic.read_back(&path));
                (path, topic.text(), topic.name, topic.description)
            }
        };
        index.add(&path, &title, &description);
        folder.write(&path, &text)
    })?;
    if index.count == 0 && out.is_some() {
        return Err(nothing_to_write(FORMAT));
    }
    if out.is_some() {
        folder.write("MEMORY.md", &index.text())?;
    }
    export.finish(source, options)
}

/// The original path and text of a topic file, if the record was read from a memory folder.
fn imported_file<'r>(export: &Export, stored: &'r StoredRecord) -> Option<(&'r str, &'r str)> {
    let text = export.own_text(stored)?;
    let path = stored.record.fields.get("file")?.as_str()?;
    let is_topic = Document::parse(text).yaml.is_some() && stored.record.kind == Kind::Memory;
    (is_topic && is_safe_path(path) && !path.contains('/') && path != "MEMORY.md").then_some((path, text))
}

fn source_of() -> mementory_model::Source {
    let method = Some("agent_memory".into());
    mementory_model::Source { platform: PLATFORM.into(), method, ..mementory_model::Source::default() }
}

/// A memory in its own file.
struct Topic {
    name: String,
    description: String,
    kind: &'static str,
    head: YamlHead,
    body: String,
    record: Record,
}

impl Topic {
    fn of(record: &Record) -> Self {
        let body = without_commands(&clean(words(record)));
        let name = shortened(&title_of(record), NAME_CHARS);
        let description = shortened(first_words(&body), DESCRIPTION_CHARS);
        let kind = match topic_for_agents(record) {
            INSTRUCTIONS => "feedback",
            PROJECTS_TOPIC => "project",
            KNOWLEDGE_TOPIC => "reference",
            _ if matches!(record.kind, Kind::Resource | Kind::Entity) => "reference",
            _ => "user",
        };
        let tags: Vec<String> = record.tags.iter().map(|tag| tag.trim().to_owned()).collect();
        let mut head = YamlHead::default();
        head.text("name", &name).text("description", &description).word("type", kind);
        head.time("created", record.times.created).time("updated", record.times.updated).texts("tags", &tags);
        Self { name, description, kind, head, body, record: record.clone() }
    }

    fn text(&self) -> String {
        self.head.document(&self.body)
    }

    /// The record that an import would create from the file at `path`.
    fn read_back(&self, path: &str) -> Record {
        let mut record = Record::new(Kind::Memory, RecordKey::new(FORMAT, ""), self.body.as_str());
        let name = self.name.trim();
        record.title = Some(if name.is_empty() { path.trim_end_matches(".md").to_owned() } else { name.to_owned() });
        record.record_type = Some(self.kind.into());
        record.times.created = self.record.times.created;
        record.times.updated = self.record.times.updated;
        record.tags = self.record.tags.iter().map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()).collect();
        record.source = source_of();
        record.fields.insert("file".into(), path.into());
        record
    }
}

/// The text on one line, shortened to at most `max_chars` characters.
fn shortened(text: &str, max_chars: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= max_chars {
        return one_line;
    }
    let short: String = one_line.chars().take(max_chars).collect();
    format!("{}…", short.trim_end())
}

/// The text of `MEMORY.md`, which lists the files. It never exceeds the length that Claude Code loads.
#[derive(Default)]
struct Index {
    lines: String,
    listed_count: usize,
    count: usize,
}

impl Index {
    fn add(&mut self, path: &str, title: &str, description: &str) {
        self.count += 1;
        let about = link_text(description, 90);
        let title = link_text(title, 60);
        let about = if about == title { String::new() } else { format!(" — {about}") };
        let is_plain = path.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
        let target = if is_plain { path.to_owned() } else { format!("<{path}>") };
        let line = format!("- [{title}]({target}){about}\n");
        if self.listed_count < INDEX_LINES && self.lines.len() + line.len() <= INDEX_BYTES {
            self.lines.push_str(&line);
            self.listed_count += 1;
        }
    }

    fn text(&self) -> String {
        let unlisted = self.count - self.listed_count;
        let rest = match unlisted {
            0 => String::new(),
            n => format!("- [{n} more files in this folder](.) — search them by the `description` at their start\n"),
        };
        format!("# Memory\n\n{}{rest}", self.lines)
    }
}
