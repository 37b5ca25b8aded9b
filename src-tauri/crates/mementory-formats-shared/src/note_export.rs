//! Shared code of writers of Markdown notes: a path for each record, and the links between the notes.
use super::export::{Export, MEMORY_KINDS, words};
use super::markdown::outline;
use super::new_files::NewFolder;
use super::note::Note;
use super::note_folder::is_assistant_file;
use super::note_reader::record_of;
use super::yaml_head::YamlHead;
use mementory_format::{FormatError, RecordSource, StoredRecord, is_safe_path};
use mementory_model::{Kind, Record, RecordKey};
use std::collections::HashMap;

/// Longest title that is derived from a text, in characters.
const MAX_TITLE_CHARS: usize = 80;

/// The note to which a record is written.
pub struct Place {
    /// Path of the note in the folder, including `.md`.
    pub path: String,
    /// Title of the note.
    pub title: String,
    /// True if the note keeps its original path and is written exactly as it was imported.
    pub has_own_path: bool,
}

impl Place {
    /// Path without `.md`.
    pub fn name(&self) -> &str {
        self.path.strip_suffix(".md").unwrap_or(&self.path)
    }
}

/// The places of all records, by vault id.
#[derive(Default)]
pub struct Places(HashMap<String, Place>);

impl Places {
    /// Assigns a place to each record. `own_path` returns the original path of a note that can be written exactly as it
    /// was imported. A record for which `is_part` returns true is written inside another note and gets no place. Reads
    /// `source` once.
    pub fn assign(
        source: &mut dyn RecordSource,
        export: &Export,
        folder: &mut NewFolder,
        own_path: &dyn Fn(&Export, &StoredRecord) -> Option<String>,
        is_part: &dyn Fn(&Self, &StoredRecord) -> bool,
    ) -> Result<Self, FormatError> {
        let mut out = Self::default();
        source.records(&mut |stored| {
            if export.reason_to_withhold(&stored, &MEMORY_KINDS).is_some() || is_part(&out, &stored) {
                return Ok(());
            }
            let title = title_of(&stored.record);
            let free_own_path = own_path(export, &stored).filter(|path| is_note_path(path) && folder.take(path));
            let has_own_path = free_own_path.is_some();
            let path = free_own_path.unwrap_or_else(|| folder.free_path(folder_of(stored.record.kind), &title, ".md"));
            out.0.insert(stored.id, Place { path, title, has_own_path });
            Ok(())
        })?;
        Ok(out)
    }

    /// The place of the record with this vault id.
    pub fn get(&self, id: &str) -> Option<&Place> {
        self.0.get(id)
    }

    /// Relation and target of each link to a record that has a place.
    pub fn links<'p>(&'p self, stored: &StoredRecord) -> Vec<(String, &'p Place)> {
        let links = stored.record.links.iter().zip(&stored.link_ids);
        links.filter_map(|(link, id)| Some((relation_name(&link.relation), self.get(id.as_deref()?)?))).collect()
    }

    /// The two notes that a relation connects: the vault id and place of its source, and the place of its target. They
    /// are the targets of the links with the relations `source` and `target`, or with synonyms of these. If one of
    /// these links is missing but there are exactly two links, the first leads to the source and the second to the
    /// target.
    pub fn ends<'p>(&'p self, stored: &'p StoredRecord) -> Option<(&'p str, &'p Place, &'p Place)> {
        let links = || stored.record.links.iter().zip(&stored.link_ids).filter(|(l, _)| l.relation != "derived_from");
        let by_relation = |names: [&str; 4]| links().find(|(link, _)| names.contains(&link.relation.as_str()));
        let by_place = |n: usize| links().nth(n).filter(|_| links().count() == 2);
        let from = by_relation(["source", "from", "start", "subject"]).or_else(|| by_place(0))?.1.as_deref()?;
        let to = by_relation(["target", "to", "end", "object"]).or_else(|| by_place(1))?.1.as_deref()?;
        Some((from, self.get(from)?, self.get(to)?))
    }
}

/// The folder for records of this kind that were not read from notes.
fn folder_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Profile => "profiles/",
        Kind::Entity => "entities/",
        Kind::Relation => "relations/",
        Kind::Fact => "facts/",
        Kind::Resource => "documents/",
        Kind::Procedure => "procedures/",
        Kind::Todo => "tasks/",
        _ => "memories/",
    }
}

/// True if this path stays inside the folder, and note programs treat a file with this path as a note.
fn is_note_path(path: &str) -> bool {
    is_safe_path(path)
        && path.ends_with(".md")
        && path.len() < 200
        && !is_assistant_file(path)
        && path.split('/').all(|part| !part.starts_with('.') && !part.ends_with([' ', '.']) && !part.is_empty())
        && !path.contains(['\\', ':', '*', '?', '"', '<', '>', '|'])
        && !matches!(path.rsplit('/').next(), Some("index.md" | "log.md"))
}

/// The record's title, otherwise the start of its text.
pub fn title_of(record: &Record) -> String {
    let title = record.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    if let Some(title) = title {
        return title.replace(['\n', '\r'], " ");
    }
    let line = first_words(words(record));
    let short_line: String = line.chars().take(MAX_TITLE_CHARS).collect();
    let title = if short_line.len() < line.len() { format!("{}…", short_line.trim_end()) } else { short_line };
    if title.is_empty() { record.kind.as_str().to_owned() } else { title }
}

/// The first line that contains more than Markdown markup, without the markup at its start.
pub fn first_words(text: &str) -> &str {
    let mut lines = text.lines().map(|line| line.trim_start_matches(['#', '-', '*', '>', '`', '~', ' ', '\t']).trim());
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

/// The name of a relation on one line, without characters that would end a link.
pub fn relation_name(name: &str) -> String {
    let plain_char = |c: char| if c.is_control() || "[](){}\"'`:#|*-+".contains(c) { ' ' } else { c };
    let words: String = name.chars().map(plain_char).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let short_name: String = words.chars().take(50).collect();
    if short_name.trim().is_empty() { "relates_to".into() } else { short_name.trim().to_owned() }
}

/// Adds a record's status, tags and source to the frontmatter of its note. These members are the same for every note
/// program.
pub fn add_members(head: &mut YamlHead, record: &Record, export: &Export) {
    if let Some(status) = record.status.as_deref().map(str::trim).filter(|status| !status.is_empty()) {
        head.text("status", status);
    }
    head.texts("tags", &record.tags);
    if export.strip {
        return;
    }
    for (key, value) in [
        ("source_platform", Some(&record.source.platform)),
        ("source_method", record.source.method.as_ref()),
        ("source_project", record.source.project.as_ref()),
    ] {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            head.text(key, value);
        }
    }
}

/// The record that our readers would create from a note.
pub fn read_back(text: &str, format: &str, path: &str) -> Record {
    let note = Note::parse(text);
    let file_name = path.rsplit('/').next().unwrap_or(path);
    let mut record = record_of(&note, &outline(note.body), RecordKey::new(format, ""), file_name);
    record.source.platform = format.into();
    record
}

/// The text, changed so that a list can follow it. An unclosed code block or comment would absorb the list, so a
/// backslash is added to the line that begins the code block or comment.
pub fn closed(text: &str) -> String {
    let text_with_probe = format!("{text}\n\n- probe\n");
    let is_closed = outline(&text_with_probe)
        .items
        .last()
        .is_some_and(|item| text_with_probe.get(item.span.clone()).is_some_and(is_probe));
    if is_closed {
        return text.to_owned();
    }
    let is_block = |line: &str| ["```", "~~~", "<"].iter().any(|mark| line.trim_start().starts_with(mark));
    let lines = text.split('\n').map(|line| {
        let words = line.trim_start();
        let indent = line.get(..line.len() - words.len()).unwrap_or_default();
        if is_block(line) { format!("{indent}\\{words}") } else { line.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_probe(item: &str) -> bool {
    item.trim() == "probe"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_can_follow_every_text() {
        for text in [
            "",
            "words",
            "- a list",
            "```sh\nnever closed",
            "~~~~\n~~~",
            "<!-- open",
            "<script>\nx",
            "> quoted",
            "<div>\nx",
        ] {
            let with_list = format!("{}\n\n- part_of [[Other]]\n", closed(text));
            let items = outline(&with_list).items;
            let last_item = items.last().and_then(|item| with_list.get(item.span.clone())).unwrap_or_default();
            assert_eq!(last_item.trim(), "part_of [[Other]]", "{text}");
        }
        assert_eq!(closed("```\ncode\n```"), "```\ncode\n```");
    }

    #[test]
    fn only_paths_that_note_programs_read_are_note_paths() {
        for path in
            ["../a.md", "/a.md", ".hidden/a.md", "a/CLAUDE.md", "a.txt", "a/index.md", "a:b.md", "a//b.md", "C:\\a.md"]
        {
            assert!(!is_note_path(path), "{path}");
        }
        assert!(is_note_path("garden/Leek Show.md"));
    }
}
