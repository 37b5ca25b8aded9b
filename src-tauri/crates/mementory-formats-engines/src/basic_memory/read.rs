//! Reads notes as documents, their observations as facts, and the relations between notes.
use super::FORMAT_ID;
use super::lines::{Observation, Relation, observation, relation};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::files::without_extension;
use mementory_formats_shared::markdown::{NoteLink, Outline};
use mementory_formats_shared::note::Note;
use mementory_formats_shared::note_folder::is_note;
use mementory_formats_shared::note_reader::{NoteReader, ReadNote, unix_lines};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::text_head::text_head;
use mementory_model::{EntityRef, Issue, Kind, Link, Record, RecordKey, Verbatim};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Number of bytes at the beginning of a note that the first pass reads, to find its title and permalink.
const HEAD_BYTES: usize = 16 << 10;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut reader = NoteReader::new(FORMAT_ID, catalog, detected, context, sink);
    // Permalinks are unique only in a project, but notes do not contain the id of their project. So all keys have the
    // same scope.
    reader.scope = FORMAT_ID.into();
    let names = Names::read(catalog, detected, &reader);
    let mut seen = HashSet::new();
    reader.read_all(detected, |reader, member, text| {
        let note = reader.document(member, text);
        read_note(reader, member, note, &names, &mut seen)
    })
}

/// Maps titles, permalinks and paths to the keys of the notes.
#[derive(Default)]
pub(super) struct Names {
    keys: HashMap<String, RecordKey>,
    titles: HashMap<RecordKey, String>,
}

impl Names {
    fn read(catalog: &Catalog, detected: &Detected, reader: &NoteReader<'_>) -> Self {
        let mut out = Self::default();
        for part in detected.claim.parts.iter().filter(|part| part.role == Role::Memories) {
            let Some(member) = catalog.members().get(part.member) else { continue };
            let Some(text) = text_head(catalog, member, HEAD_BYTES) else { continue };
            let note = Note::parse(&text);
            let key = note_key(reader, &note, member, &text);
            let path = reader.folder.path(member);
            let stem = without_extension(path);
            let title = note.text("title").unwrap_or_else(|| stem.rsplit('/').next().unwrap_or(stem).to_owned());
            out.insert(key, title, note.text("permalink").as_deref(), stem);
        }
        out
    }

    /// Adds a note of the database. Its key is its permalink, or else its path.
    pub(super) fn add(&mut self, note: &Record, path: &str) {
        let stem = without_extension(path);
        let title = note.title.clone().unwrap_or_else(|| stem.rsplit('/').next().unwrap_or(stem).to_owned());
        self.insert(note.key.clone(), title, Some(&note.key.value), stem);
    }

    fn insert(&mut self, key: RecordKey, title: String, permalink: Option<&str>, stem: &str) {
        for name in [permalink, Some(&title), Some(stem)].into_iter().flatten() {
            self.keys.entry(name.to_lowercase()).or_insert_with(|| key.clone());
        }
        self.titles.insert(key, title);
    }

    fn key(&self, target: &str) -> Option<&RecordKey> {
        let target = target.split('#').next().unwrap_or(target).trim().trim_end_matches(".md").to_lowercase();
        let target = target.strip_prefix("memory://").unwrap_or(&target);
        self.keys.get(target).or_else(|| self.keys.get(target.rsplit('/').next()?))
    }
}

/// Returns the key of a note, which is its permalink, or else its path.
fn note_key(reader: &NoteReader<'_>, note: &Note<'_>, member: &Member, text: &str) -> RecordKey {
    match note.text("permalink") {
        Some(permalink) => RecordKey::new(FORMAT_ID, permalink),
        None => reader.key(member, text),
    }
}

fn read_note(
    reader: &mut NoteReader<'_>,
    member: &Member,
    found: ReadNote<'_>,
    names: &Names,
    seen: &mut HashSet<String>,
) -> Result<(), FormatError> {
    let ReadNote { note, outline, mut record } = found;
    let permalink = note.text("permalink");
    record.key = match &permalink {
        Some(permalink) => RecordKey::new(FORMAT_ID, permalink.as_str()),
        None => record.key,
    };
    if !seen.insert(record.key.value.clone()) {
        let message = "two notes have the same permalink; the second is stored under its path as well";
        reader.files.sink.note(Issue::new("duplicate_id", &member.place, message));
        record.key.value = format!("{}~{}", record.key.value, content_id(reader.folder.path(member)));
        seen.insert(record.key.value.clone());
    }
    record.origin_id = permalink.or(record.origin_id);
    record.links.clear();
    record.fields.remove("missing_links");
    let (items, relation_ranges) = items_of(&note, &outline, &record, names);
    let path = reader.folder.path(member).to_owned();
    let relations = Ranges::new(relation_ranges);
    let mut linked: HashSet<RecordKey> = record.links.iter().map(|link| link.target.clone()).collect();
    let is_inline = |link: &&NoteLink| !link.is_external() && !relations.contain(link.at);
    for link in outline.links.iter().filter(is_inline) {
        let target = if link.is_wiki {
            // A note may link to a note that does not exist yet. In that case, the name in the link becomes the key of
            // the target.
            names.key(&link.target).cloned().unwrap_or_else(|| RecordKey::new(FORMAT_ID, link.note()))
        } else {
            let found = reader.resolve(&path, link).filter(|path| is_note(path));
            let Some(found) = found.and_then(|path| names.key(path)) else { continue };
            found.clone()
        };
        let is_named = !target.value.is_empty();
        if is_named && target != record.key && linked.insert(target.clone()) {
            record.links.push(Link { relation: "links_to".into(), kind: Kind::Resource, target });
        }
    }
    reader.files.sink.unit(record.into())?;
    items.into_iter().try_for_each(|item| reader.files.sink.unit(item.into()))
}

/// Returns the records of the observations and relations in a note, and the byte ranges of the relations in its body.
pub(super) fn items_of(
    note: &Note<'_>,
    outline: &Outline,
    record: &Record,
    names: &Names,
) -> (Vec<Record>, Vec<Range<usize>>) {
    let mut items: Vec<Record> = Vec::new();
    let mut relation_ranges = Vec::new();
    let mut keys = HashSet::new();
    let line_ends: Vec<usize> = note.body.match_indices('\n').map(|(at, _)| at).collect();
    for item in &outline.items {
        let Some(text) = note.body.get(item.span.clone()) else { continue };
        let line = note.body_line + line_ends.partition_point(|end| *end < item.span.start);
        let item_record = if let Some(found) = observation(text) {
            fact(record, &found, text)
        } else if let Some(found) = relation(text) {
            relation_ranges.push(item.span.clone());
            relation_record(record, &found, names)
        } else {
            continue;
        };
        let mut item_record = item_record;
        if !keys.insert(item_record.key.value.clone()) {
            continue;
        }
        item_record.origin.pointer = format!("line {line}");
        item_record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: text.to_owned() });
        items.push(item_record);
    }
    (items, relation_ranges)
}

/// Sorted ranges of a text, for a fast search for the range that contains a position.
struct Ranges(Vec<Range<usize>>);

impl Ranges {
    /// Sorts the ranges and merges those that overlap.
    fn new(mut ranges: Vec<Range<usize>>) -> Self {
        ranges.sort_by_key(|range| range.start);
        let mut out: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match out.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => out.push(range),
            }
        }
        Self(out)
    }

    fn contain(&self, at: usize) -> bool {
        let next = self.0.partition_point(|range| range.end <= at);
        self.0.get(next).is_some_and(|range| range.contains(&at))
    }
}

/// Returns an observation as a fact with a link to its note.
pub(super) fn fact(note: &Record, observation: &Observation<'_>, item: &str) -> Record {
    let category = observation.category.unwrap_or("note");
    let id = content_id(&format!("{category}\n{item}"));
    let key = RecordKey::new(FORMAT_ID, format!("{}/observations/{id}", note.key.value));
    let mut record = Record::new(Kind::Fact, key, unix_lines(observation.text));
    record.record_type = observation.category.map(str::to_owned);
    record.tags = observation.tags.iter().map(|tag| (*tag).to_owned()).collect();
    if let Some(context) = observation.context {
        record.fields.insert("context".into(), context.into());
    }
    with_note(record, note)
}

/// Returns the record of a relation between two notes. The target note may be missing.
pub(super) fn relation_record(note: &Record, found: &Relation<'_>, names: &Names) -> Record {
    let kind = found.kind.unwrap_or("relates_to");
    let from = note.title.as_deref().unwrap_or(&note.key.value);
    let target = names.key(found.target);
    let to = target.and_then(|key| names.titles.get(key)).map_or(found.target, String::as_str);
    let id = content_id(&format!("{kind}\n{}", found.target));
    let key = RecordKey::new(FORMAT_ID, format!("{}/relations/{id}", note.key.value));
    let mut record = Record::new(Kind::Relation, key, format!("{from} {} {to}", kind.replace('_', " ")));
    record.record_type = Some(kind.to_owned());
    let entity = |name: &str, role: &str| EntityRef { name: name.into(), entity_type: None, role: Some(role.into()) };
    record.entities = vec![entity(from, "source"), entity(to, "target")];
    if let Some(context) = found.context {
        record.fields.insert("context".into(), context.into());
    }
    let mut record = with_note(record, note);
    let target = target.cloned().unwrap_or_else(|| RecordKey::new(FORMAT_ID, found.target));
    record.links.push(Link { relation: "target".into(), kind: Kind::Resource, target });
    record
}

/// Copies the source, the origin and the creation time of the note to the record, and links the record to the note.
fn with_note(mut record: Record, note: &Record) -> Record {
    record.source = note.source.clone();
    record.origin = note.origin.clone();
    record.times.created = note.times.created;
    record.links.push(Link { relation: "derived_from".into(), kind: Kind::Resource, target: note.key.clone() });
    record
}
