//! Writes entities with their observations, and relations, as the lines of the reference server's `memory.jsonl`. A
//! memory becomes an observation about the entity that it names or links to. Without such an entity, the observation is
//! about an entity with the title of the memory, or else about the person.
use super::read::{ENTITY_KEY, entity, observation, relation};
use super::{ID, PLATFORM};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::{
    Ends, Export, MEMORY_KINDS, Names, nothing_to_write, relation_ends_in_fields, words,
};
use mementory_formats_shared::new_files::NewFile;
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_model::{EntityRef, Kind, Link, Record, RecordKey, Verbatim};
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Name of the entity that represents the person, as in the documentation of the server.
const PERSON: &str = "default_user";
/// Largest size in bytes of the observations that are collected in one pass over the records, to limit the use of
/// memory. A single entity may have more.
const CHUNK_BYTES: usize = 16 << 20;

/// Writes the new file `out`. Without `out`, only the report is produced.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let mut export = Export::new(ID, "lines", source, options, false);
    let names = Names::read(source)?;
    let subjects = Subjects::read(source, &names, &export)?;
    let mut file = NewFile::create(out)?;
    for chunk in subjects.chunks() {
        let mut lines: Vec<Line> = chunk.clone().map(|_| Line::default()).collect();
        source.records(&mut |stored| {
            if reason_to_withhold(&export, &names, &stored).is_some() || relation_ends(&names, &stored).is_some() {
                return Ok(());
            }
            let (name, _) = subject(&names, &stored);
            let at = subjects.position(&name).filter(|at| chunk.contains(at));
            if let Some((at, line)) = at.and_then(|at| Some((at, lines.get_mut(at - chunk.start)?))) {
                line.add(&mut export, &stored, &names, &subjects.reference(at));
            }
            Ok(())
        })?;
        for (at, line) in chunk.zip(lines) {
            file.add(&line.text(&subjects.reference(at)))?;
        }
    }
    let mut relations = HashSet::new();
    source.records(&mut |stored| {
        if let Some(reason) = reason_to_withhold(&export, &names, &stored) {
            export.withhold(reason);
            return Ok(());
        }
        let Some(ends) = relation_ends(&names, &stored) else { return Ok(()) };
        let line = RelationLine::new(&export, &stored, &ends);
        // The server and this crate's reader identify a relation by its two entities and its type, so a repeated
        // relation with the same text is not written again.
        if !relations.insert(line.mapped.key.clone()) && line.mapped.text == stored.record.text {
            export.withhold("said_elsewhere");
            return Ok(());
        }
        let is_written = |name: &str| subjects.position(name).is_some();
        report_written(&mut export, &stored, line.mapped, &line.text, &names, is_written);
        file.add(&format!("{}\n", line.text))
    })?;
    file.finish()?;
    if export.report.by_kind.is_empty()
        && let Some(out) = out
    {
        std::fs::remove_file(out).map_err(|e| FormatError::io(out.display().to_string(), e))?;
        return Err(nothing_to_write(ID));
    }
    export.finish(source, options)
}

fn reason_to_withhold(export: &Export, names: &Names, stored: &StoredRecord) -> Option<&'static str> {
    let record = &stored.record;
    let is_bare = words(record).trim().is_empty() && relation_ends(names, stored).is_none();
    export.reason_to_withhold(stored, &MEMORY_KINDS).or_else(|| is_bare.then_some("no_text"))
}

/// Returns the two entities of a relation and its type, from its source text, its entities or its links. None for any
/// other record, and for a relation without two entities, which becomes an observation.
fn relation_ends(names: &Names, stored: &StoredRecord) -> Option<Ends> {
    if stored.record.kind != Kind::Relation {
        return None;
    }
    let own_ends = || {
        let object = Object::parse(&stored.record.verbatim.as_ref()?.text)?;
        let text = |key: &str| object.text(key).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Some(Ends { from: text("from")?, relation: text("relationType")?, to: text("to")? })
    };
    let own_ends = if stored.record.origin.format == ID { own_ends() } else { None };
    own_ends.or_else(|| names.ends(stored)).or_else(|| relation_ends_in_fields(&stored.record))
}

/// Returns the name and, if known, the type of the entity that a record is about.
fn subject(names: &Names, stored: &StoredRecord) -> (String, Option<String>) {
    let record = &stored.record;
    let non_blank = |name: &str| Some(name.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
    let title = || record.title.as_deref().and_then(non_blank);
    if matches!(record.kind, Kind::Entity | Kind::Resource | Kind::Profile) {
        let name = title().or_else(|| record.record_type.as_deref().and_then(non_blank));
        let record_type = record.record_type.clone().unwrap_or_else(|| record.kind.as_str().to_owned());
        return (name.unwrap_or_else(|| record.kind.as_str().to_owned()), Some(record_type));
    }
    let by_entity = || record.entities.first().and_then(|e| Some((non_blank(&e.name)?, e.entity_type.clone())));
    let by_link = || stored.link_ids.iter().flatten().find_map(|id| Some((non_blank(names.get(id)?)?, None)));
    by_entity()
        .or_else(by_link)
        .or_else(|| Some((title()?, record.record_type.clone())))
        .unwrap_or_else(|| (PERSON.into(), Some("person".into())))
}

/// The entities, in the order in which they are written.
#[derive(Default)]
struct Subjects {
    positions: HashMap<String, usize>,
    /// For each entity: its name, its type, and the number of bytes of its observations.
    list: Vec<(String, Option<String>, usize)>,
}

impl Subjects {
    /// Collects the entities of all records that are written. Reads all records once.
    fn read(source: &mut dyn RecordSource, names: &Names, export: &Export) -> Result<Self, FormatError> {
        let mut out = Self::default();
        source.records(&mut |stored| {
            if reason_to_withhold(export, names, &stored).is_some() || relation_ends(names, &stored).is_some() {
                return Ok(());
            }
            let (name, subject_type) = subject(names, &stored);
            let next = out.list.len();
            let at = *out.positions.entry(name.clone()).or_insert(next);
            if at == next {
                out.list.push((name, None, 0));
            }
            if let Some((_, known, bytes)) = out.list.get_mut(at) {
                // The type that the record of an entity states takes precedence over the type in other records.
                if known.is_none() || stored.record.kind == Kind::Entity && subject_type.is_some() {
                    *known = subject_type;
                }
                *bytes += stored.record.text.len() + 64;
            }
            Ok(())
        })?;
        Ok(out)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    fn reference(&self, at: usize) -> EntityRef {
        let (name, entity_type, _) = self.list.get(at).cloned().unwrap_or_default();
        EntityRef { name, entity_type: Some(entity_type.unwrap_or_else(|| "memory".into())), role: None }
    }

    /// Returns ranges of entities. The observations of the entities in a range are collected in one pass.
    fn chunks(&self) -> Vec<std::ops::Range<usize>> {
        let mut out: Vec<std::ops::Range<usize>> = Vec::new();
        let mut bytes = 0;
        for (at, (_, _, size)) in self.list.iter().enumerate() {
            match out.last_mut().filter(|_| bytes + size <= CHUNK_BYTES) {
                Some(last) => last.end = at + 1,
                None => {
                    out.push(at..at + 1);
                    bytes = 0;
                }
            }
            bytes += size;
        }
        out
    }
}

/// The line of an entity while its observations are collected.
#[derive(Default)]
struct Line {
    /// The original line of the entity, without its observations. None if the line is built from the record.
    original_line: Option<String>,
    observations: Vec<String>,
    /// Keys of the observations. The reader merges observations with the same text, so a second one is not written.
    keys: HashSet<RecordKey>,
}

impl Line {
    fn add(&mut self, export: &mut Export, stored: &StoredRecord, names: &Names, subject: &EntityRef) {
        if stored.record.kind == Kind::Entity {
            return self.add_entity(export, stored, subject);
        }
        let original_item = export.own_text(stored).filter(|_| stored.record.kind == Kind::Memory).map(str::to_owned);
        // The server reads only strings, so an observation that another server wrote as an object is converted to a
        // string.
        let original_item = original_item.filter(|text| text.starts_with('"'));
        let text = original_item.unwrap_or_else(|| json!(words(&stored.record)).to_string());
        let mapped = mapped_observation(subject, &text);
        if !self.keys.insert(mapped.key.clone()) {
            return export.withhold("said_elsewhere");
        }
        // The entity of an observation is always written, so links to it are not lost.
        report_written(export, stored, mapped, &text, names, |_| true);
        self.observations.push(text);
    }

    fn add_entity(&mut self, export: &mut Export, stored: &StoredRecord, subject: &EntityRef) {
        let is_own = |text: &&str| {
            let object = Object::parse(text).unwrap_or_default();
            object.text("type").is_some_and(|t| t == "entity")
                && object.text("entityType").is_some()
                && object.raw_value("observations").is_some_and(|raw| raw.get() == "[]")
        };
        self.original_line = export.own_text(stored).filter(is_own).map(str::to_owned);
        let text = self.original_line.clone().unwrap_or_else(|| entity_line(subject, "[]"));
        let mapped = Object::parse(&text).and_then(|object| entity(&object)).map(|(_, record)| record);
        let mapped = mapped.unwrap_or_else(unreadable);
        report_written(export, stored, mapped, &text, &Names::default(), |_| false);
        if !stored.record.text.trim().is_empty() {
            let observation = json!(stored.record.text).to_string();
            if self.keys.insert(mapped_observation(subject, &observation).key) {
                self.observations.push(observation);
            }
        }
    }

    fn text(&self, subject: &EntityRef) -> String {
        let observations = format!("[{}]", self.observations.join(","));
        let original_line = self.original_line.as_deref().and_then(|text| {
            let object = Object::parse(text)?;
            let raw = object.raw_value("observations")?;
            // The server reads one entity from each line, so line breaks in the original text are replaced with spaces.
            let line = with_replaced_values(text, &[(raw, observations.as_str())]);
            Some(line.replace(['\n', '\r'], " "))
        });
        format!("{}\n", original_line.unwrap_or_else(|| entity_line(subject, &observations)))
    }
}

fn entity_line(subject: &EntityRef, observations: &str) -> String {
    let name = json!(subject.name);
    let entity_type = json!(subject.entity_type);
    format!("{{\"type\":\"entity\",\"name\":{name},\"entityType\":{entity_type},\"observations\":{observations}}}")
}

/// The line of a relation, and the record that the reader produces from this line.
struct RelationLine {
    text: String,
    mapped: Record,
}

impl RelationLine {
    fn new(export: &Export, stored: &StoredRecord, ends: &Ends) -> Self {
        let is_relation_line = |text: &&str| {
            let object = Object::parse(text).unwrap_or_default();
            object.text("type").is_some_and(|t| t == "relation") && !text.contains(['\n', '\r'])
        };
        let original_line = export.own_text(stored).filter(is_relation_line).map(str::to_owned);
        let (from, to, relation_type) = (json!(ends.from), json!(ends.to), json!(ends.relation));
        let text = original_line.unwrap_or_else(|| {
            format!("{{\"type\":\"relation\",\"from\":{from},\"to\":{to},\"relationType\":{relation_type}}}")
        });
        let mapped = Object::parse(&text).and_then(|object| relation(&object)).unwrap_or_else(unreadable);
        Self { text, mapped }
    }
}

/// Returns the record that the reader produces from an observation about `subject`. `text` is the JSON of the
/// observation.
fn mapped_observation(subject: &EntityRef, text: &str) -> Record {
    let raw = RawValue::from_string(text.to_owned()).ok();
    raw.and_then(|raw| observation(subject, &raw)).unwrap_or_else(unreadable)
}

/// Returns an empty record, to compare with a record whose line the reader cannot read.
fn unreadable() -> Record {
    Record::new(Kind::Memory, RecordKey::new(ID, ""), "")
}

/// Counts a written record and reports its losses. `is_written` returns true for the name of an entity that is in the
/// file.
fn report_written(
    export: &mut Export,
    stored: &StoredRecord,
    mut mapped: Record,
    text: &str,
    names: &Names,
    is_written: impl Fn(&str) -> bool,
) {
    mapped.source.platform = PLATFORM.into();
    mapped.verbatim = Some(Verbatim::json(text));
    // A link to an entity in the file is not a loss, although the key of the entity changes to one of this format.
    let own_link = |written: &Link| {
        let name = written.target.value.strip_prefix(ENTITY_KEY).filter(|name| is_written(name))?;
        let mut links = stored.record.links.iter().zip(&stored.link_ids);
        let leads_to = |id: &Option<String>| id.as_deref().and_then(|id| names.get(id)).map(str::trim) == Some(name);
        let is_same = |link: &Link| (&link.relation, link.kind) == (&written.relation, written.kind);
        links.find(|(link, id)| is_same(link) && leads_to(id)).map(|(link, _)| link.clone())
    };
    for link in &mut mapped.links {
        if let Some(original_link) = own_link(link) {
            *link = original_link;
        }
    }
    export.wrote(stored, &mapped);
}
