//! Reads COGX, the archive to which Cognee exports a dataset: a manifest, and a file of JSON lines for each kind of
//! record. The archive also contains the memories of other programs that were imported into Cognee.
use super::{ID, PLATFORM, graph::Graph};
use mementory_format::{Catalog, FormatError, Member, Role};
use mementory_formats_shared::chat::Chat;
use mementory_formats_shared::files::folder_of;
use mementory_formats_shared::memory_heads::Head;
use mementory_formats_shared::memory_rows::{Row, RowValues, link, spaced};
use mementory_formats_shared::message::{read_message, send};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Kind, Record, Verbatim};

/// Version that a claim for an archive states.
pub(super) const COGX: &str = "cogx";
/// Name of the file with nodes for which the archive has no kind of record.
const RAW_NODES_FILE: &str = "nodes.jsonl";
/// Name of the file with the accounts that have access to the dataset, and digests of their passwords.
const PERMISSIONS_FILE: &str = "permissions.json";
/// Members of an entry that do not become fields of the record.
const USED: [&str; 15] = [
    "kind",
    "external_id",
    "scope",
    "created_at",
    "updated_at",
    "content",
    "value",
    "title",
    "name",
    "label",
    "description",
    "entity_type",
    "categories",
    "fact_text",
    "confidence",
];

/// Returns the role of a file of an archive. None for any other file.
pub(super) fn role_of(catalog: &Catalog, member: &Member) -> Option<Role> {
    let head = Head::of(catalog, member)?;
    if head.has("cogx_version") {
        return Some(Role::Manifest);
    }
    if head.has_all("", &["kind", "external_system", "external_id"]) {
        return Some(Role::Memories);
    }
    let role = match member.file_name() {
        RAW_NODES_FILE => Role::Memories,
        PERMISSIONS_FILE => Role::Junk,
        _ => return None,
    };
    let is_beside = |other: &&Member| folder_of(other) == folder_of(member) && other.id != member.id;
    let has_manifest = |other: &Member| Head::of(catalog, other).is_some_and(|head| head.has("cogx_version"));
    catalog.members().iter().filter(is_beside).any(has_manifest).then_some(role)
}

/// Sends the record of a row. Returns false if the row is not from an archive.
pub(super) fn read_row(
    graph: &mut Graph,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<bool, FormatError> {
    if !object.has("external_id") {
        return Ok(false);
    }
    let id = object.id("external_id");
    let text = |keys: &[&str]| object.first_text(keys).unwrap_or_default();
    let kind = object.first_text(&["kind"]).unwrap_or_default();
    let (record_kind, body, title, record_type) = match kind.as_str() {
        "episode" => {
            send_episode(files, row, object)?;
            return Ok(true);
        }
        "document" => (Kind::Resource, text(&["content"]), object.first_text(&["title"]), None),
        "entity" => {
            let kind_of_entity = object.first_text(&["entity_type"]);
            (Kind::Entity, text(&["description"]), object.first_text(&["name"]), kind_of_entity)
        }
        "fact" => {
            send_fact(graph, files, row, object)?;
            return Ok(true);
        }
        "memory" => (Kind::Memory, text(&["content"]), None, None),
        "memory_block" => {
            (Kind::Memory, text(&["value"]), object.first_text(&["label"]), Some("memory_block".to_owned()))
        }
        _ => (Kind::Foreign, String::new(), None, Some(kind.clone())),
    };
    if body.is_empty() && title.is_none() && record_kind != Kind::Foreign {
        graph.rows.fail(files, row, "no_content: a record without a text", record_kind);
        return Ok(true);
    }
    let content = format!("{kind}\n{title:?}\n{body}");
    let mut record = graph.rows.record(record_kind, id.clone(), &content, body);
    record.title = title;
    record.record_type = record_type;
    record.tags = object.texts("categories");
    if let (Kind::Entity, Some(id), Some(name)) = (record_kind, id, &record.title) {
        graph.note_name(id, name.clone(), Kind::Entity);
    }
    fill(&mut record, object);
    graph.rows.send(files, row, record)?;
    Ok(true)
}

/// Sets the values of `record` that entries of every kind may state.
fn fill(record: &mut Record, object: &Object<'_>) {
    record.times.created = object.time("created_at");
    record.times.updated = object.time("updated_at");
    record.source.account = object.object("scope").and_then(|scope| scope.id("user_id"));
    record.fields = object.other_fields(&USED);
    let scope = object.object("scope").map(|scope| scope.other_fields(&["user_id"])).unwrap_or_default();
    record.fields.extend(scope);
}

fn send_fact(
    graph: &mut Graph,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<(), FormatError> {
    let (Some(source), Some(target)) = (object.id("subject_ref"), object.id("object_ref")) else {
        graph.rows.fail(files, row, "malformed: not a fact about two things", Kind::Relation);
        return Ok(());
    };
    let relation = object.first_text(&["predicate"]).unwrap_or_else(|| "related_to".into());
    let (from, from_kind) = graph.name(&source);
    let (to, to_kind) = graph.name(&target);
    let sentence = object.first_text(&["fact_text"]).unwrap_or_else(|| format!("{from} {} {to}", spaced(&relation)));
    let mut record = graph.rows.record(Kind::Relation, object.id("external_id"), &sentence, sentence.clone());
    record.links = vec![link("source", from_kind, ID, source), link("target", to_kind, ID, target)];
    record.record_type = Some(relation);
    record.confidence = object.share("confidence");
    fill(&mut record, object);
    graph.rows.send(files, row, record)
}

fn send_episode(files: &mut FileReader<'_>, row: &Row<'_>, object: &Object<'_>) -> Result<(), FormatError> {
    let mut chat = Chat {
        id: object.id("external_id"),
        title: object.first_text(&["title"]),
        pointer: row.pointer.clone(),
        ..Chat::default()
    };
    chat.times.created = object.time("created_at");
    chat.times.updated = object.time("updated_at");
    chat.source.account = object.object("scope").and_then(|scope| scope.id("user_id"));
    let turns = object.list("turns").unwrap_or_default();
    for (n, raw) in turns.iter().enumerate() {
        let Some(message) = Object::parse(raw.get()) else { continue };
        let mut turn = read_message(&message, raw.get(), format!("{}/turns/{n}", row.pointer), ID);
        turn.times.created = turn.times.created.or_else(|| message.time("occurred_at"));
        chat.turns.push(turn);
    }
    let without_turns = match object.raw_value("turns") {
        Some(turns) => with_replaced_values(row.text, &[(turns, "[]")]),
        None => row.text.to_owned(),
    };
    chat.verbatim = Some(Verbatim::json(without_turns));
    send(files, row.member, chat, PLATFORM, Some(COGX))
}
