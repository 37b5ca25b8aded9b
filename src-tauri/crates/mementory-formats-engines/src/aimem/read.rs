//! Reads the chunks and entities of a bundle, and the edges between them.
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, link, object_of, spaced};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Issue, Kind};
use sha2::{Digest, Sha256};

/// Keys of the lists in a bundle.
const LIST_KEYS: [&str; 4] = ["chunks", "edges", "entities", "chunk_entities"];

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    files.each_file(detected, |files, member, _| {
        each_row(files, member, &LIST_KEYS, Kind::Memory, &mut |files, row| {
            let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
            match row.list_name() {
                "entities" => read_entity(&mut rows, files, row, &object),
                "edges" => read_edge(&mut rows, files, row, &object, ["source_id", "target_id"], Kind::Memory),
                "chunk_entities" => read_edge(&mut rows, files, row, &object, ["chunk_id", "entity_id"], Kind::Entity),
                _ => read_chunk(&mut rows, files, row, &object),
            }
        })
    })
}

fn read_chunk(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<(), FormatError> {
    let Some(text) = object.first_text(&["content"]) else {
        rows.fail(files, row, "no_content: no text in it", Kind::Memory);
        return Ok(());
    };
    let stated_hash = object.first_text(&["content_hash"]);
    if stated_hash.is_some_and(|hash| hash != format!("sha256:{}", hex::encode(Sha256::digest(&text)))) {
        let message = "the text does not have the digest that the bundle states";
        let place = format!("{}#{}", row.member.place, row.pointer);
        files.sink.note(Issue::new("hash_mismatch", place, message));
    }
    let mut record = rows.record(Kind::Memory, object.id("id"), &text, text.clone());
    record.record_type = object.first_text(&["memory_type"]);
    record.tags = object.texts("tags");
    record.times.created = object.time("created_at");
    record.times.updated = object.time("updated_at");
    record.fields = object.other_fields(&["id", "content", "memory_type", "tags", "created_at", "updated_at"]);
    rows.send(files, row, record)
}

fn read_entity(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<(), FormatError> {
    let Some(name) = object.id("name") else {
        rows.fail(files, row, "no_name: this entity has no name", Kind::Entity);
        return Ok(());
    };
    let mut record = rows.record(Kind::Entity, object.id("id"), &name, "");
    record.title = Some(name);
    record.record_type = object.first_text(&["kind"]);
    record.times.created = object.time("created_at");
    record.fields = object.other_fields(&["id", "name", "kind", "created_at"]);
    rows.send(files, row, record)
}

/// Reads an edge, which connects two chunks, or a chunk and an entity, as a relation.
fn read_edge(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
    [from, to]: [&str; 2],
    target: Kind,
) -> Result<(), FormatError> {
    let (Some(source), Some(end)) = (object.id(from), object.id(to)) else {
        rows.fail(files, row, "malformed: not a relation between two things", Kind::Relation);
        return Ok(());
    };
    let edge_type = object.first_text(&["edge_type"]).unwrap_or_else(|| "mentions".into());
    let text = format!("{source} {} {end}", spaced(&edge_type));
    let mut record = rows.record(Kind::Relation, None, &format!("{source}\n{edge_type}\n{end}"), text);
    record.links = vec![link("source", Kind::Memory, ID, source), link("target", target, ID, end)];
    record.record_type = Some(edge_type);
    record.times.created = object.time("created_at");
    record.confidence = object.share("weight");
    record.fields = object.other_fields(&[from, to, "edge_type", "created_at"]);
    rows.send(files, row, record)
}
