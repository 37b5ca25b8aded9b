//! Reads memories, documents with the facts that were extracted from them, observations, mental models and directives.
use super::detect::LIST_KEYS;
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Role, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, link, object_of};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{EntityRef, Kind, Verbatim};
use std::collections::HashMap;

/// The member of a document that contains its facts.
const FACTS: &str = "facts";
/// Members of a memory for which the model has a field.
const READ_MEMBERS: [&str; 11] = [
    "id",
    "text",
    "fact_type",
    "type",
    "tags",
    "entities",
    "created_at",
    "mentioned_at",
    "updated_at",
    "invalidated_at",
    "document_id",
];

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    let mut bank = Bank { rows, keys: HashMap::new() };
    files.each_file(detected, |files, member, role| match role {
        Role::Sidecar => files.pass_through(member, "", "manifest"),
        _ => each_row(files, member, &LIST_KEYS, Kind::Memory, &mut |files, row| bank.read_row(files, row)),
    })
}

/// A bank while its files are read.
struct Bank {
    rows: RowSender,
    /// Keys of the facts in an archive, by the id of their document and their position in it. Facts have no ids there.
    keys: HashMap<(String, u64), String>,
}

impl Bank {
    fn read_row(&mut self, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
        let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
        if object.has("original_text") {
            self.read_document(files, row, &object)
        } else if object.has("bank_id") && object.has("content") {
            self.read_bank_row(files, row, &object)
        } else {
            self.read_memory(files, row, &object, None)?;
            Ok(())
        }
    }

    /// Reads a memory. `document` is the id of the document around it. Returns the key of the record, or None if the
    /// memory has no text.
    fn read_memory(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
        document: Option<&str>,
    ) -> Result<Option<String>, FormatError> {
        let Some(text) = object.first_text(&["text"]) else {
            self.rows.fail(files, row, "no_content: no text in it", Kind::Memory);
            return Ok(None);
        };
        let content = format!("{}\n{text}", document.unwrap_or_default());
        let mut record = self.rows.record(Kind::Memory, object.id("id"), &content, text);
        record.record_type = object.first_text(&["fact_type", "type"]);
        // An observation in an archive does not state its type, but how many facts prove it.
        let is_observation = record.record_type.is_none() && object.has("proof_count");
        record.record_type = record.record_type.take().or_else(|| is_observation.then(|| "observation".into()));
        record.tags = object.texts("tags");
        let entity = |name| EntityRef { name, entity_type: None, role: None };
        record.entities = object.texts("entities").into_iter().map(entity).collect();
        record.times.created = object.time("created_at").or_else(|| object.time("mentioned_at"));
        record.times.updated = object.time("updated_at");
        record.times.valid_to = object.time("invalidated_at");
        let is_invalid = object.first_text(&["state"]).is_some_and(|state| state == "invalidated");
        record.status = is_invalid.then(|| "superseded".into());
        // Hindsight extracts memories from the texts that it is given.
        record.source.method = Some("extracted".into());
        let document = document.map(str::to_owned).or_else(|| object.id("document_id"));
        record.links = document.map(|id| link("derived_from", Kind::Resource, ID, id)).into_iter().collect();
        let facts = object.texts("source_memory_ids").into_iter().chain(self.sources_of(object));
        record.links.extend(facts.map(|key| link("derived_from", Kind::Memory, ID, key)));
        record.fields = object.other_fields(&READ_MEMBERS);
        let key = record.key.value.clone();
        self.rows.send(files, row, record)?;
        Ok(Some(key))
    }

    /// The keys of the facts that an observation in an archive names by document and position.
    fn sources_of(&self, object: &Object<'_>) -> Vec<String> {
        let key = |source: Object<'_>| {
            let place = (source.id("document_id")?, source.whole_number("fact_index")?);
            self.keys.get(&place).cloned()
        };
        object.objects("sources").filter_map(key).collect()
    }

    /// Reads a document and the facts in it. A document without its text is only a link of its facts.
    fn read_document(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
    ) -> Result<(), FormatError> {
        let id = object.id("id");
        let facts = object.list(FACTS).unwrap_or_default();
        match object.first_text(&["original_text"]) {
            Some(text) => {
                let mut record = self.rows.record(Kind::Resource, id.clone(), row.text, text);
                record.record_type = Some("document".into());
                record.tags = object.texts("tags");
                record.times.created = object.time("created_at");
                record.times.updated = object.time("updated_at");
                record.namespace = object.first_text(&["bank_id"]);
                let read_members = ["id", "original_text", "tags", "created_at", "updated_at", "bank_id"];
                record.fields = object.other_fields(&[&read_members[..], &["chunks", FACTS]].concat());
                // Each fact is only in the verbatim of its own record, so erasing it erases the whole fact.
                let list: Vec<_> = object
                    .raw_value(FACTS)
                    .filter(|raw| raw.get().starts_with('['))
                    .map(|raw| (raw, "[]"))
                    .into_iter()
                    .collect();
                let verbatim = Verbatim::json(with_replaced_values(row.text, &list));
                self.rows.send_with(files, row, record, verbatim)?;
            }
            None if facts.is_empty() => self.rows.fail(files, row, "no_content: no text in it", Kind::Resource),
            None => {}
        }
        for (index, raw) in (0_u64..).zip(facts) {
            let pointer = format!("{}/{FACTS}/{index}", row.pointer);
            let inner = Row { member: row.member, text: raw.get(), pointer };
            let Some(fact) = object_of(files, &inner, Kind::Memory) else { continue };
            let key = self.read_memory(files, &inner, &fact, id.as_deref())?;
            if let Some((document, key)) = id.clone().zip(key) {
                self.keys.insert((document, index), key);
            }
        }
        Ok(())
    }

    /// Reads a mental model, which is a summary on one topic, or a directive, which is a rule for the assistant.
    fn read_bank_row(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
    ) -> Result<(), FormatError> {
        let Some(text) = object.first_text(&["content"]) else {
            self.rows.skip(files, row, "no_content: no text in it", Kind::Memory);
            return Ok(());
        };
        let is_directive = object.has("priority") && object.has("is_active");
        let kind = if is_directive { "directive" } else { "mental_model" };
        // An id is unique only in its bank.
        let bank = object.first_text(&["bank_id"]);
        let id = object.id("id").map(|id| format!("{kind}/{}/{id}", bank.as_deref().unwrap_or_default()));
        let mut record = self.rows.record(Kind::Memory, id, row.text, text);
        record.origin_id = object.id("id");
        record.title = object.first_text(&["name"]);
        record.record_type = Some(kind.into());
        record.tags = object.texts("tags");
        record.namespace = bank;
        record.times.created = object.time("created_at");
        record.times.updated = object.time("updated_at").or_else(|| object.time("last_refreshed_at"));
        let is_off = is_directive && !object.is_true("is_active");
        record.status = is_off.then(|| "archived".into());
        record.source.method = (!is_directive).then(|| "extracted".into());
        let read_members =
            ["id", "bank_id", "name", "content", "tags", "created_at", "updated_at", "last_refreshed_at"];
        record.fields = object.other_fields(&read_members);
        self.rows.send(files, row, record)
    }
}
