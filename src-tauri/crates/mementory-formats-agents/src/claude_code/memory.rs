//! Reads memory files: topics with frontmatter, and `MEMORY.md`, which lists the topics and may itself contain
//! memories.
use super::detect::{path_of, topic_type};
use super::{FORMAT, PLATFORM};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::files::without_extension;
use mementory_formats_shared::frontmatter::Document;
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::rules_text;
use mementory_model::{Kind, Origin, Record, RecordKey, Timestamp, Verbatim};
use std::collections::HashMap;

/// Ids of the memories that were read so far, each with a digest of the text of its file.
#[derive(Debug, Default)]
pub(super) struct KnownIds(HashMap<String, String>);

impl KnownIds {
    /// Returns a unique id for a memory. Another text may already have this `id`, because two topics can state the same
    /// name, and folders of several projects can be imported together. In that case, the file name is appended to the
    /// id. If the longer id is used too, a digest of the text is also appended.
    fn unique_id(&mut self, id: String, member: &Member, text: &str) -> String {
        let digest = content_id(text);
        let with_file = format!("{id}/{}", member.file_name());
        let with_digest = format!("{with_file}/{digest}");
        let is_unused = |id: &String| self.0.get(id).is_none_or(|known| *known == digest);
        let id = [id, with_file].into_iter().find(is_unused).unwrap_or(with_digest);
        self.0.insert(id.clone(), digest);
        id
    }
}

/// Reads a memory file.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member, known_ids: &mut KnownIds) -> Result<(), FormatError> {
    let text = reader.text(member)?;
    if text.trim().is_empty() {
        reader.report_empty(member, Kind::Memory);
        return Ok(());
    }
    let document = Document::parse(&text);
    reader.report_broken_frontmatter(member, &document);
    let is_index = member.file_name() == "MEMORY.md" && document.yaml.is_none();
    let path = path_of(reader.catalog, member);
    let project = project_of(&path);
    if is_index && !is_list_of_links(&text) {
        for piece in rules_text::items(&text, "") {
            let id = format!("memory/{}/MEMORY.md/{}", project.unwrap_or_default(), piece.id);
            let record = record(member, &id, &piece.text, piece.source, project);
            let record = Record { title: piece.section, origin: origin(member, &piece.pointer), ..record };
            reader.sink.unit(record.into())?;
        }
        return Ok(());
    }
    let stem = without_extension(member.file_name());
    let name = match is_index {
        true => "MEMORY.md".to_owned(),
        false => document.text("name").unwrap_or_else(|| match document.yaml {
            Some(_) => content_id(&text),
            None => stem.to_owned(),
        }),
    };
    let id = known_ids.unique_id(format!("memory/{}/{name}", project.unwrap_or_default()), member, &text);
    let body = document.body.trim();
    let description = document.text("description");
    let memory_text = if body.is_empty() { description.as_deref().unwrap_or_default() } else { body };
    let mut record = record(member, &id, memory_text, &text, project);
    record.title = document.text("name").or_else(|| is_index.then(|| "MEMORY.md".to_owned())).or(Some(stem.to_owned()));
    record.record_type = if is_index { Some("index".into()) } else { topic_type(&document) };
    record.times.created = document.text("created").as_deref().and_then(Timestamp::parse);
    record.times.updated = document.text("updated").as_deref().and_then(Timestamp::parse);
    record.tags = document.texts("tags");
    record.fields = document.fields.clone();
    record.fields.remove("name");
    record.fields.insert("file".into(), member.file_name().into());
    reader.sink.unit(record.into())
}

fn record(member: &Member, id: &str, text: &str, source: &str, project: Option<&str>) -> Record {
    let mut record = Record::new(Kind::Memory, RecordKey::new(FORMAT, id), text);
    record.source.platform = PLATFORM.into();
    record.source.method = Some("agent_memory".into());
    record.source.project = project.map(str::to_owned);
    record.origin = origin(member, "");
    record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: source.to_owned() });
    record
}

fn origin(member: &Member, pointer: &str) -> Origin {
    Origin { format: FORMAT.into(), version: None, container: member.place.clone(), pointer: pointer.into() }
}

/// The project: the name of the folder below `projects/`, or, for the memory of a subagent, below `agent-memory/` or
/// `agent-memory-local/`.
fn project_of(path: &str) -> Option<&str> {
    let folders: Vec<&str> = path.split('/').collect();
    let at = folders.iter().position(|f| matches!(*f, "projects" | "agent-memory" | "agent-memory-local"))?;
    folders.get(at + 1).copied().filter(|_| at + 2 < folders.len())
}

/// True if every item begins with a link to another file. The last item may be cut off.
fn is_list_of_links(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let items: Vec<&str> = lines.map(|line| line.trim_start_matches(['-', '*', '+', ' '])).collect();
    items.iter().any(|item| item.starts_with('[') && item.contains("]("))
        && items.iter().all(|item| item.is_empty() || item.starts_with('['))
}
