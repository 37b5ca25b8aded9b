//! Writes each record as a concept of a bundle, in a file of its own. The top folder and each other folder get an
//! index. Concepts that were read from a bundle are written unchanged.
use super::read::fill;
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::{Export, MEMORY_KINDS, nothing_to_write, words};
use mementory_formats_shared::list_items::{clean, link_text};
use mementory_formats_shared::new_files::NewFolder;
use mementory_formats_shared::note::Note;
use mementory_formats_shared::note_export::{Place, Places, add_members, closed, first_words, read_back};
use mementory_formats_shared::yaml_head::{YamlHead, quoted};
use mementory_model::{Kind, LossKind, Record, Source};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

const FORMAT: &str = "okf";
/// The version of the format that is written.
const VERSION: &str = "0.2";

/// Writes all concepts into the new folder `out`. Without `out`, only the report is produced.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let mut export = Export::new(FORMAT, VERSION, source, options, true);
    export.holds_documents = true;
    let mut folder = NewFolder::new(out);
    let places = Places::assign(source, &export, &mut folder, &path_of_unchanged_concept, &|_, _| false)?;
    let mut indexes = Indexes::default();
    // Ids of the written records, because a source may return a record twice.
    let mut written = HashSet::new();
    source.records(&mut |stored| {
        if let Some(reason) = export.reason_to_withhold(&stored, &MEMORY_KINDS) {
            export.withhold(reason);
            return Ok(());
        }
        let place = places.get(&stored.id).filter(|_| written.insert(stored.id.clone()));
        let Some(place) = place else { return Ok(()) };
        if stored.record.kind == Kind::Relation && words(&stored.record).trim().is_empty() {
            export.withhold("no_text");
            return Ok(());
        }
        let text = match stored.record.verbatim.as_ref().filter(|_| place.has_own_path) {
            Some(verbatim) => {
                report_unchanged_concept(&mut export, &stored);
                verbatim.text.clone()
            }
            None => {
                let text = concept(&stored, place, &places, &export);
                let mut mapped = read_back(&text, FORMAT, &place.path);
                fill(&Note::parse(&text), &mut mapped);
                export.count_written_with(&stored, &mapped, &["links", "source"]);
                text
            }
        };
        indexes.add(&folder, place, &Note::parse(&text).text("description").unwrap_or_default())?;
        folder.write(&place.path, &text)
    })?;
    if export.report.by_kind.is_empty() && out.is_some() {
        return Err(nothing_to_write(FORMAT));
    }
    indexes.finish(&folder)?;
    export.finish(source, options)
}

/// Returns the path of a concept that is written unchanged. None for any other record.
fn path_of_unchanged_concept(export: &Export, stored: &StoredRecord) -> Option<String> {
    let text = export.own_text(stored).filter(|_| stored.record.kind == Kind::Resource)?;
    let id = stored.record.origin_id.as_deref()?;
    Note::parse(text).text("type").map(|_| format!("{id}.md"))
}

/// Reports the losses of a concept that is written unchanged. The project is not compared, because a reader uses the
/// name of the export folder as the project.
fn report_unchanged_concept(export: &mut Export, stored: &StoredRecord) {
    let source = Source { project: None, ..stored.record.source.clone() };
    // Attachments of the concept are not written.
    export.wrote(stored, &Record { source, attachments: vec![], ..stored.record.clone() });
    if stored.record.source.project.is_none() {
        let note = "it is read back with the name of the folder as its project";
        export.report.losses.add(&stored.id, "source", LossKind::Narrowed, note);
    }
}

fn concept(stored: &StoredRecord, place: &Place, places: &Places, export: &Export) -> String {
    let record = &stored.record;
    let record_type = record.record_type.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let mut body = clean(words(record));
    let mut head = YamlHead::default();
    head.text("type", record_type.unwrap_or(record.kind.as_str())).text("title", &place.title);
    head.text("description", &link_text(first_words(&body), 150));
    add_members(&mut head, record, export);
    if let Some((by, at)) = author(record, export.strip).zip(record.times.updated.or(record.times.created)) {
        head.word("generated", &format!("{{ by: {}, at: {} }}", quoted(&by), quoted(&at.to_rfc3339())));
    }
    head.time("created", record.times.created).time("updated", record.times.updated);
    head.time("stale_after", record.times.valid_to);
    let (sources, others): (Vec<_>, Vec<_>) =
        places.links(stored).into_iter().partition(|(relation, _)| relation == "derived_from");
    if !sources.is_empty() {
        let entry = |place: &Place| format!("{{ resource: {} }}", quoted(&format!("/{}", place.path)));
        let entries: Vec<String> = sources.iter().map(|(_, place)| entry(place)).collect();
        head.word("sources", &format!("[{}]", entries.join(", ")));
    }
    if !others.is_empty() {
        body = format!("{}\n\n# Related\n\n", closed(&body));
        for (relation, place) in others {
            body.push_str(&format!("* {relation}: {}\n", link(&place.title, &format!("/{}", place.path))));
        }
        body.truncate(body.trim_end_matches('\n').len());
    }
    head.document(&body)
}

/// Returns who wrote the text, as the format names authors: a person, or a model of the platform. None if the source
/// does not state the author.
fn author(record: &Record, strip: bool) -> Option<String> {
    let method = record.source.method.as_deref()?;
    let platform = if strip || record.source.platform.is_empty() { "assistant" } else { &record.source.platform };
    match method {
        "custom_instructions" | "project_instructions" | "rules_file" | "explicit_user_input" => {
            Some("human:user".into())
        }
        "extracted" | "agent_memory" => Some(format!("{platform}/unknown")),
        _ => None,
    }
}

/// Returns a Markdown link to a concept or an index.
fn link(title: &str, target: &str) -> String {
    let is_plain = target.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
    let target = if is_plain { target.to_owned() } else { format!("<{target}>") };
    format!("[{}]({target})", link_text(title, 80))
}

/// Number of written concepts in each folder. Each folder gets an index, and the index at the top also lists the
/// folders.
#[derive(Default)]
struct Indexes(BTreeMap<String, u64>);

impl Indexes {
    fn add(&mut self, folder: &NewFolder, place: &Place, description: &str) -> Result<(), FormatError> {
        let (path, name) = place.path.rsplit_once('/').unwrap_or(("", &place.path));
        let description_suffix =
            if description.is_empty() { String::new() } else { format!(" - {}", link_text(description, 150)) };
        let count = self.0.entry(path.to_owned()).or_default();
        *count += 1;
        if *count == 1 {
            folder.write(&index_path(path), &index_head(path))?;
        }
        folder.append(&index_path(path), &format!("* {}{description_suffix}\n", link(&place.title, name)))
    }

    fn finish(self, folder: &NewFolder) -> Result<(), FormatError> {
        if !self.0.contains_key("") {
            folder.write(&index_path(""), &index_head(""))?;
        }
        for (path, count) in self.0.iter().filter(|(path, _)| !path.is_empty()) {
            let line = format!("* {} - {count} concepts\n", link(path, &format!("{path}/index.md")));
            folder.append(&index_path(""), &line)?;
        }
        Ok(())
    }
}

fn index_path(folder: &str) -> String {
    if folder.is_empty() { "index.md".into() } else { format!("{folder}/index.md") }
}

/// Returns the beginning of an index. Only the index at the top has frontmatter.
fn index_head(folder: &str) -> String {
    match folder {
        "" => format!("---\nokf_version: \"{VERSION}\"\n---\n\n# Concepts\n\n"),
        folder => format!("# {}\n\n", link_text(folder, 80)),
    }
}
