//! Writes each record as a note. The links and relations of a record become lines that Basic Memory reads. Notes from
//! Basic Memory are written unchanged, so that they contain their observations and relations.
use super::DATABASE;
use super::detect::is_marked;
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::{Export, MEMORY_KINDS, nothing_to_write, words};
use mementory_formats_shared::list_items::clean;
use mementory_formats_shared::new_files::NewFolder;
use mementory_formats_shared::note::Note;
use mementory_formats_shared::note_export::{Place, Places, add_members, closed, read_back, relation_name};
use mementory_formats_shared::yaml_head::YamlHead;
use mementory_model::{EntityRef, Kind, LossKind, Record, RecordKey, Source};
use std::collections::HashSet;
use std::path::Path;

const FORMAT: &str = "basic_memory";
/// The heading that Basic Memory writes above relations.
const RELATIONS: &str = "## Relations\n";

/// Writes all notes into the new folder `out`. Without `out`, only the report is produced.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let mut export = Export::new(FORMAT, "1", source, options, false);
    export.holds_documents = true;
    let mut folder = NewFolder::new(out);
    let places = Places::assign(source, &export, &mut folder, &unchanged_note_path, &is_part_of_note)?;
    let with_relations = notes_with_relations(source, &export, &places)?;
    // Ids of the written records, because a source may return a record twice.
    let mut written = HashSet::new();
    // A relation is appended to the note at its source end, so the notes are written before the relations.
    for is_relation in [false, true] {
        source.records(&mut |stored| {
            if (stored.record.kind == Kind::Relation) != is_relation {
                return Ok(());
            }
            if let Some(reason) = export.reason_to_withhold(&stored, &MEMORY_KINDS) {
                export.withhold(reason);
                return Ok(());
            }
            if is_part_of_note(&places, &stored) {
                report_unchanged_note(&mut export, &stored, None);
                return Ok(());
            }
            if let Some((_, from, to)) = places.ends(&stored).filter(|_| is_relation) {
                let name = relation_name(stored.record.record_type.as_deref().unwrap_or_default());
                export.count_written_with(
                    &stored,
                    &relation_read_back(&name, from, to),
                    &["links", "entities", "source"],
                );
                return folder.append(&from.path, &format!("- {name} [[{}]]\n", to.name()));
            }
            let place = places.get(&stored.id).filter(|_| written.insert(stored.id.clone()));
            let Some(place) = place else { return Ok(()) };
            if is_relation && words(&stored.record).trim().is_empty() {
                export.withhold("no_text");
                return Ok(());
            }
            if let Some(text) = stored.record.verbatim.as_ref().filter(|_| place.has_own_path) {
                report_unchanged_note(&mut export, &stored, Some(&read_back(&text.text, FORMAT, &place.path)));
                if !with_relations.contains(&stored.id) {
                    return folder.write(&place.path, &text.text);
                }
                let note = "relations of other sources are added at its end";
                export.report.losses.add(&stored.id, "text", LossKind::Narrowed, note);
                return folder.write(&place.path, &format!("{}\n\n{RELATIONS}", closed(text.text.trim_end())));
            }
            let text = note(&stored, place, &places, &export, with_relations.contains(&stored.id));
            export.count_written_with(&stored, &read_back(&text, FORMAT, &place.path), &["links", "source"]);
            folder.write(&place.path, &text)
        })?;
    }
    if export.report.by_kind.is_empty() && out.is_some() {
        return Err(nothing_to_write(FORMAT));
    }
    export.finish(source, options)
}

/// Returns the path of a note that is written unchanged, which is its permalink, or else its key (the path in the
/// source). None for any other record.
fn unchanged_note_path(export: &Export, stored: &StoredRecord) -> Option<String> {
    let text = export.own_text(stored).filter(|text| stored.record.kind == Kind::Resource && is_marked(text))?;
    Some(match Note::parse(text).text("permalink") {
        Some(permalink) => format!("{permalink}.md"),
        None => stored.record.key.value.clone(),
    })
}

/// True for an observation or relation whose note is exported too, because the text of that note already contains it.
fn is_part_of_note(_: &Places, stored: &StoredRecord) -> bool {
    let record = &stored.record;
    let mut links = record.links.iter().zip(&stored.link_ids);
    record.origin.format == FORMAT
        && matches!(record.kind, Kind::Fact | Kind::Relation)
        && links.any(|(link, id)| link.relation == "derived_from" && link.kind == Kind::Resource && id.is_some())
}

/// Reports the losses of a note that is written unchanged, or of an observation or relation in such a note. The project
/// is not compared, because a reader uses the name of the export folder as the project. `read_back` is the record that
/// a reader produces from the note.
fn report_unchanged_note(export: &mut Export, stored: &StoredRecord, read_back: Option<&Record>) {
    let source = Source { project: None, ..stored.record.source.clone() };
    // The database contains times that the text of the note does not state.
    let times = match stored.record.origin.version.as_deref() {
        Some(DATABASE) => read_back.map(|note| note.times.clone()).unwrap_or_default(),
        _ => stored.record.times.clone(),
    };
    // Attachments of the note are not written.
    export.wrote(stored, &Record { source, times, attachments: vec![], ..stored.record.clone() });
    if stored.record.source.project.is_none() {
        let note = "it is read back with the name of the folder as its project";
        export.report.losses.add(&stored.id, "source", LossKind::Narrowed, note);
    }
    if stored.edited && stored.record.kind != Kind::Resource {
        let note = "the note has its line as it was";
        export.report.losses.add(&stored.id, "text", LossKind::LeftOut, note);
    }
}

/// Returns the vault ids of the notes to which relations are added. Reads all records of `source` once.
fn notes_with_relations(
    source: &mut dyn RecordSource,
    export: &Export,
    places: &Places,
) -> Result<HashSet<String>, FormatError> {
    let mut out = HashSet::new();
    source.records(&mut |stored| {
        let is_written = stored.record.kind == Kind::Relation
            && export.reason_to_withhold(&stored, &MEMORY_KINDS).is_none()
            && !is_part_of_note(places, &stored);
        if let Some((from, ..)) = places.ends(&stored).filter(|_| is_written) {
            out.insert(from.to_owned());
        }
        Ok(())
    })?;
    Ok(out)
}

fn note(stored: &StoredRecord, place: &Place, places: &Places, export: &Export, has_relations: bool) -> String {
    let record = &stored.record;
    let record_type = record.record_type.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let mut head = YamlHead::default();
    head.text("title", &place.title).text("type", record_type.unwrap_or(record.kind.as_str()));
    head.text("permalink", place.name());
    add_members(&mut head, record, export);
    head.time("created", record.times.created).time("modified", record.times.updated);
    let mut body = clean(words(record));
    let links = places.links(stored);
    if has_relations || !links.is_empty() {
        body = format!("{}\n\n{RELATIONS}", closed(&body));
        links.iter().for_each(|(name, target)| body.push_str(&format!("- {name} [[{}]]\n", target.name())));
        body.truncate(body.trim_end_matches('\n').len());
    }
    head.document(&body)
}

/// Returns the record that a reader produces from a written relation.
fn relation_read_back(name: &str, from: &Place, to: &Place) -> Record {
    let text = format!("{} {} {}", from.title, name.replace('_', " "), to.title);
    let mut record = Record::new(Kind::Relation, RecordKey::new(FORMAT, ""), text);
    record.record_type = Some(name.to_owned());
    let entity =
        |place: &Place, role: &str| EntityRef { name: place.title.clone(), entity_type: None, role: Some(role.into()) };
    record.entities = vec![entity(from, "source"), entity(to, "target")];
    record.source.platform = FORMAT.into();
    record
}
