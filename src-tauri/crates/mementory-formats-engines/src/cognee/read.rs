//! Reads nodes and edges, which are objects, or arrays as Cognee's graph engines return them.
use super::{ID, PLATFORM, cogx, graph::Graph};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Role, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, id_of, link, spaced};
use mementory_formats_shared::object::{Object, list};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Record};
use serde_json::value::RawValue;

/// Keys of the lists of a graph.
const LIST_KEYS: [&str; 2] = ["nodes", "edges"];

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut graph = Graph::new(RowSender::new(ID, PLATFORM, detected.claim.version.as_deref()));
    files.each_file(detected, |files, member, role| {
        match role {
            Role::Manifest => return files.pass_through(member, "", "manifest"),
            Role::Junk => {
                let reason = "secret: the accounts in this file have digests of passwords; it is not stored";
                files.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
                return Ok(());
            }
            _ => {}
        }
        each_row(files, member, &LIST_KEYS, Kind::Entity, &mut |files, row| graph.read_row(files, row))
    })
}

impl Graph {
    fn read_row(&mut self, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
        let raw: Option<&RawValue> = serde_json::from_str(row.text).ok();
        let items = raw.and_then(list).unwrap_or_default();
        // A dump of a whole graph consists of two lists, one of nodes and one of edges.
        if row.list_name().is_empty() && items.iter().all(|item| item.get().starts_with('[')) && !items.is_empty() {
            for (n, item) in items.into_iter().enumerate() {
                let row = Row { member: row.member, text: item.get(), pointer: format!("{}/{n}", row.pointer) };
                self.read_tuple(files, &row, &list(item).unwrap_or_default())?;
            }
            return Ok(());
        }
        if !items.is_empty() {
            return self.read_tuple(files, row, &items);
        }
        let Some(object) = Object::parse(row.text) else {
            self.rows.fail(files, row, "not_an_object: neither a node nor an edge", Kind::Entity);
            return Ok(());
        };
        if cogx::read_row(self, files, row, &object)? {
            return Ok(());
        }
        let is_edge = ["source", "source_node_id", "source_id", "from"].into_iter().any(|key| object.has(key));
        if row.list_name() == "edges" || is_edge && row.list_name() != "nodes" {
            let end = |keys: &[&str]| keys.iter().find_map(|key| object.id(key));
            let source = end(&["source", "source_node_id", "source_id", "from"]);
            let target = end(&["target", "target_node_id", "target_id", "to"]);
            let relation = object.first_text(&["relationship_name", "label", "relation", "type"]);
            return self.read_edge(files, row, source, target, relation, &object);
        }
        let inner = ["properties", "attributes", "data"].into_iter().find_map(|key| object.object(key));
        self.read_node(files, row, object.id("id"), &object, inner.as_ref())
    }

    /// Reads an array. `[id, {…}]` is a node, and `[source, target, relation, {…}]` is an edge.
    fn read_tuple(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        items: &[&RawValue],
    ) -> Result<(), FormatError> {
        let object = |n: usize| items.get(n).and_then(|raw| Object::parse(raw.get()));
        match items {
            [id, _] if object(1).is_some() => {
                let node = object(1).unwrap_or_default();
                self.read_node(files, row, id_of(id), &node, None)
            }
            [source, target, relation, ..] => {
                let edge = object(3).unwrap_or_default();
                self.read_edge(files, row, id_of(source), id_of(target), id_of(relation), &edge)
            }
            _ => {
                self.rows.fail(files, row, "malformed: neither a node nor an edge", Kind::Entity);
                Ok(())
            }
        }
    }

    fn read_node(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        id: Option<String>,
        node: &Object<'_>,
        inner: Option<&Object<'_>>,
    ) -> Result<(), FormatError> {
        let first_text =
            |keys: &[&str]| node.first_text(keys).or_else(|| inner.and_then(|inner| inner.first_text(keys)));
        let stated_type = first_text(&["type", "node_type"]);
        let name = first_text(&["name", "title"]);
        // In responses of the server, the label only repeats the name and the id of the node.
        let label = node.first_text(&["label"]);
        let text = match (
            first_text(&["text", "content", "description", "summary"]),
            first_text(&["question"]),
            first_text(&["answer"]),
        ) {
            (Some(text), ..) => text,
            (None, Some(question), answer) => {
                [Some(question), answer].into_iter().flatten().collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        };
        let kind = match stated_type.as_deref().unwrap_or_default() {
            "DocumentChunk" | "TextSummary" | "CodeSummary" => Kind::Chunk,
            kind if kind.ends_with("Document") || kind == "CogneeUserInteraction" => Kind::Resource,
            _ if name.is_some() || label.is_some() => Kind::Entity,
            _ => Kind::Foreign,
        };
        if id.is_none() && name.is_none() && text.is_empty() && label.is_none() {
            self.rows.fail(files, row, "no_content: a node without id, name or text", Kind::Entity);
            return Ok(());
        }
        let content = format!("{stated_type:?}\n{name:?}\n{text}");
        let mut record = self.rows.record(kind, id.clone(), &content, text);
        record.title = name.or(label);
        record.record_type = stated_type;
        let time_of = |key: &str| node.time(key).or_else(|| inner.and_then(|inner| inner.time(key)));
        record.times.created = time_of("created_at");
        record.times.updated = time_of("updated_at");
        let used_members =
            ["id", "type", "name", "text", "description", "created_at", "updated_at", "properties", "attributes"];
        record.fields = node.other_fields(&used_members);
        record.fields.extend(inner.map(|inner| inner.other_fields(&used_members)).unwrap_or_default());
        if let Some(id) = id {
            let name = record.title.clone().unwrap_or_else(|| id.clone());
            self.note_name(id, name, kind);
        }
        self.rows.send(files, row, record)
    }

    fn read_edge(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        source: Option<String>,
        target: Option<String>,
        relation: Option<String>,
        edge: &Object<'_>,
    ) -> Result<(), FormatError> {
        let (Some(source), Some(target)) = (source, target) else {
            self.rows.fail(files, row, "malformed: not a relation between two things", Kind::Relation);
            return Ok(());
        };
        let relation = relation.unwrap_or_else(|| "related_to".into());
        let (from, from_kind) = self.name(&source);
        let (to, to_kind) = self.name(&target);
        let sentence = edge.first_text(&["edge_text"]).unwrap_or_else(|| format!("{from} {} {to}", spaced(&relation)));
        let mut record: Record =
            self.rows.record(Kind::Relation, None, &format!("{source}\n{relation}\n{target}"), sentence);
        record.links = vec![link("source", from_kind, ID, source), link("target", to_kind, ID, target)];
        record.record_type = Some(relation);
        record.times.updated = edge.time("updated_at");
        record.fields = edge.other_fields(&["source", "target", "updated_at", "edge_text"]);
        self.rows.send(files, row, record)
    }
}
