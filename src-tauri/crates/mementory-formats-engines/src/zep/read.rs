//! Reads facts, entities, episodes and sessions.
use super::detect::{CONTEXT, LIST_KEYS, TEXT_ROLE, layout};
use super::{ID, PLATFORM, context, session};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::memory_heads::Head;
use mementory_formats_shared::memory_rows::{
    Row, RowSender, RowValues, each_row, link, object_of, pass_through_rest, spaced,
};
use mementory_formats_shared::object::{Object, decode_string};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Kind, Link, Record};
use std::collections::HashMap;

/// Maps the id that the graph database gave to a node to the `uuid` of the node.
type NodeIds = HashMap<String, String>;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, None);
    files.each_file(detected, |files, member, role| {
        if role == TEXT_ROLE {
            return context::read_file(&mut rows, files, member);
        }
        // Only a graph is split at its lists. A response about a session must remain one conversation, and a file with
        // one fact in each line must not be split at the list of episodes inside each fact.
        let layout = Head::of(catalog, member).and_then(|head| layout(&head));
        if layout == Some("messages") {
            return session::read_messages(files, member);
        }
        if layout == Some(CONTEXT) {
            return each_row(files, member, &[], Kind::Memory, &mut |files, row| read_context(&mut rows, files, row));
        }
        let lists: &[&str] = if layout == Some("graph") { &LIST_KEYS } else { &[] };
        let mut nodes = NodeIds::new();
        each_row(files, member, lists, Kind::Memory, &mut |files, row| {
            read_graph_row(&mut rows, files, row, &mut nodes)
        })
    })
}

/// Reads the answer of the API with a Context Block. What is in no record is stored as a passthrough file.
fn read_context(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
    let Some((raw, text)) = object.raw_value(CONTEXT).and_then(|raw| Some((raw, decode_string(raw)?))) else {
        rows.fail(files, row, "no_content: no text in it", Kind::Memory);
        return Ok(());
    };
    let pointer = format!("{}/{CONTEXT}", row.pointer);
    let has_others = context::read(rows, files, row.member, &text, |line| format!("{pointer} line {line}"))?;
    let has_members = object.members().any(|(key, _)| key != CONTEXT);
    match (has_others, has_members) {
        (true, _) => pass_through_rest(files, row, &[]),
        (false, true) => pass_through_rest(files, row, &[(raw, "\"\"")]),
        (false, false) => Ok(()),
    }
}

/// Reads a fact in the list of a session, which is a string or an object.
fn read_fact(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    if row.text.starts_with('"') { read_plain_fact(rows, files, row) } else { read_row(rows, files, row) }
}

/// Reads a row that is not in an exported graph.
pub(super) fn read_row(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    read_graph_row(rows, files, row, &mut NodeIds::new())
}

/// Reads a row. Its members show its kind, because the same list has different names in responses, dumps and exports.
/// In an export of Neo4j, nodes come before the relationships that refer to them, so the ids of nodes are added to
/// `nodes`.
fn read_graph_row(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    nodes: &mut NodeIds,
) -> Result<(), FormatError> {
    // Some responses of the API contain facts as plain strings.
    if row.text.starts_with('"') && matches!(row.list_name(), "facts" | "relevant_facts") {
        return read_plain_fact(rows, files, row);
    }
    let Some(outer) = object_of(files, row, Kind::Memory) else { return Ok(()) };
    // In dumps of the graph database, the members of a row are inside `properties`.
    let inner = outer.object("properties").filter(|inner| inner.has("uuid"));
    let object = inner.as_ref().unwrap_or(&outer);
    let list = row.list_name();
    let ends = Ends::from_edge(object, &outer, nodes);
    if inner.is_some()
        && let (Some(id), Some(uuid)) = (outer.id("id"), object.id("uuid"))
        && !outer.has("start")
    {
        nodes.insert(id, uuid);
    }
    if object.has("messages") {
        return session::read(rows, files, row, object, read_fact);
    }
    let record = if object.has("fact") {
        // The fact of an edge may be empty, but the edge still links two entities.
        fact(rows, object, &ends).or_else(|| edge(rows, row, object, &outer, &ends))
    } else if object.has("source_node_uuid") || object.has("target_node_uuid") || ends.are_known() {
        edge(rows, row, object, &outer, &ends)
    } else if object.has("content") && (object.has("source") || object.has("source_description")) || list == "episodes"
    {
        episode(rows, object)
    } else if object.has("session_id") || object.has("thread_id") {
        return session::read(rows, files, row, object, read_fact);
    } else if object.has("name") {
        Some(node(rows, object, &outer, list))
    } else {
        Some(rows.foreign(object, row, list))
    };
    match record {
        Some(record) => rows.send(files, row, record),
        None => {
            rows.fail(files, row, "no_content: no text in it", Kind::Memory);
            Ok(())
        }
    }
}

fn uuid(object: &Object<'_>) -> Option<String> {
    object.id("uuid").or_else(|| object.id("uuid_"))
}

/// The ids of the nodes at the ends of an edge.
struct Ends {
    source: Option<String>,
    target: Option<String>,
}

impl Ends {
    /// Returns the ends that the edge itself states, or else the ends that the database states beside the edge.
    fn from_edge(object: &Object<'_>, outer: &Object<'_>, nodes: &NodeIds) -> Self {
        let named = |keys: [&str; 2]| keys.into_iter().find_map(|key| object.id(key));
        let beside = |key: &str| {
            let node = outer.object(key)?;
            let uuid = node.object("properties").and_then(|properties| properties.id("uuid"));
            uuid.or_else(|| nodes.get(&node.id("id")?).cloned())
        };
        Self {
            source: named(["source_node_uuid", "source_uuid"]).or_else(|| beside("start")),
            target: named(["target_node_uuid", "target_uuid"]).or_else(|| beside("end")),
        }
    }

    fn are_known(&self) -> bool {
        self.source.is_some() && self.target.is_some()
    }

    fn links(&self) -> Vec<Link> {
        let end = |id: &Option<String>, relation: &str| Some(link(relation, Kind::Entity, ID, id.clone()?));
        [end(&self.source, "source"), end(&self.target, "target")].into_iter().flatten().collect()
    }
}

fn fact(rows: &RowSender, object: &Object<'_>, ends: &Ends) -> Option<Record> {
    let text = object.first_text(&["fact"])?;
    let mut record = rows.record(Kind::Memory, uuid(object), &text, text.clone());
    record.record_type = object.first_text(&["name", "fact_type"]);
    record.namespace = object.id("group_id");
    record.times.created = object.time("created_at");
    set_validity(&mut record, object);
    record.status.get_or_insert_with(|| "active".into());
    record.source.method = Some("extracted".into());
    record.links = ends.links();
    record.links.extend(object.texts("episodes").into_iter().map(|id| link("derived_from", Kind::Resource, ID, id)));
    let used_members =
        ["uuid", "uuid_", "fact", "name", "group_id", "created_at", "valid_at", "invalid_at", "episodes"];
    record.fields = object.other_fields(&used_members);
    Some(record)
}

/// Sets the time in which a fact or an edge is valid. A fact that is no longer valid is history, and not what the
/// assistant knows at the time of the export.
fn set_validity(record: &mut Record, object: &Object<'_>) {
    record.times.valid_from = object.time("valid_at");
    record.times.valid_to = object.time("invalid_at").or_else(|| object.time("expired_at"));
    let ends_at = |key: &str| object.time(key).is_some() || object.non_blank_text(key).is_some();
    if ends_at("invalid_at") || ends_at("expired_at") {
        record.status = Some("superseded".into());
    }
}

/// Returns the record of an edge without a sentence, such as an edge from an episode to an entity that it mentions, or
/// from a community to a member. None if an end is unknown.
fn edge(rows: &RowSender, row: &Row<'_>, object: &Object<'_>, outer: &Object<'_>, ends: &Ends) -> Option<Record> {
    let (source, target) = (ends.source.clone()?, ends.target.clone()?);
    let text_of = |keys: &[&str]| object.first_text(keys);
    let relation = text_of(&["name", "type"]).or_else(|| outer.first_text(&["label", "type"]));
    let relation =
        relation.unwrap_or_else(|| if row.list_name() == "episodic_edges" { "MENTIONS" } else { "related to" }.into());
    let from = text_of(&["source_node_name"]).unwrap_or_else(|| source.clone());
    let to = text_of(&["target_node_name"]).unwrap_or_else(|| target.clone());
    let content = format!("{source}\n{relation}\n{target}");
    let mut record = rows.record(Kind::Relation, uuid(object), &content, format!("{from} {} {to}", spaced(&relation)));
    record.record_type = Some(relation);
    record.namespace = object.id("group_id");
    record.times.created = object.time("created_at");
    set_validity(&mut record, object);
    record.links = ends.links();
    // The source of a `MENTIONS` edge is always an episode.
    if let Some(link) = record.links.first_mut().filter(|_| record.record_type.as_deref() == Some("MENTIONS")) {
        link.kind = Kind::Resource;
    }
    record.fields = object.other_fields(&["uuid", "uuid_", "name", "group_id", "created_at"]);
    Some(record)
}

/// Returns the record of an episode, which is a text from which facts were extracted. None if it has no text.
fn episode(rows: &RowSender, object: &Object<'_>) -> Option<Record> {
    let text = object.first_text(&["content", "episode_body", "body"])?;
    let mut record = rows.record(Kind::Resource, uuid(object), &text, text.clone());
    record.title = object.first_text(&["name"]);
    record.record_type = Some("episode".into());
    record.namespace = object.id("group_id");
    record.source.conversation = object.id("session_id").or_else(|| object.id("thread_id"));
    record.times.created = object.time("created_at");
    record.times.observed = object.time("valid_at");
    let used_members = ["uuid", "uuid_", "content", "name", "group_id", "created_at", "valid_at"];
    record.fields = object.other_fields(&used_members);
    Some(record)
}

fn node(rows: &RowSender, object: &Object<'_>, outer: &Object<'_>, list: &str) -> Record {
    let name = object.id("name").unwrap_or_default();
    let summary = object.first_text(&["summary"]).unwrap_or_default();
    let mut record = rows.record(Kind::Entity, uuid(object), &name, summary);
    record.title = Some(name).filter(|name| !name.is_empty());
    let labels = if object.has("labels") { object.texts("labels") } else { outer.texts("labels") };
    let is_specific_label = |label: &String| !matches!(label.as_str(), "Entity" | "Node");
    let community = Some("community".to_owned()).filter(|_| list == "communities");
    record.record_type = labels.into_iter().find(is_specific_label).or(community);
    record.namespace = object.id("group_id");
    record.times.created = object.time("created_at");
    record.fields = object.other_fields(&["uuid", "uuid_", "name", "summary", "group_id", "created_at"]);
    record
}

/// Reads a fact that is a plain string, without an id or a time.
pub(super) fn read_plain_fact(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
) -> Result<(), FormatError> {
    let raw: Option<&serde_json::value::RawValue> = serde_json::from_str(row.text).ok();
    let Some(text) = raw.and_then(decode_string).filter(|text| !text.trim().is_empty()) else {
        rows.fail(files, row, "no_content: no text in it", Kind::Memory);
        return Ok(());
    };
    let mut record = rows.record(Kind::Memory, None, &text, text.clone());
    record.source.method = Some("extracted".into());
    rows.send(files, row, record)
}
