//! Reads memories, documents with the facts that were extracted from them, observations, mental models and directives.
use super::detect::{LIST_KEYS, is_numbered};
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::files::folder;
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, link, object_of, pass_through_rest};
use mementory_formats_shared::object::{Object, content_id, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{EntityRef, Kind, Verbatim};
use std::collections::{HashMap, HashSet};

/// The member of a document that contains its facts.
const FACTS: &str = "facts";
/// Members of a memory for which the model has a field.
const READ_MEMBERS: [&str; 12] = [
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
    "bank_id",
];

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    let mut banks = Banks {
        rows,
        keys: HashMap::new(),
        documents: HashMap::new(),
        names: HashMap::new(),
        archives: HashSet::new(),
    };
    for part in &detected.claim.parts {
        let Some(member) = catalog.members().get(part.member) else { continue };
        if is_numbered(member) {
            banks.archives.insert(archive_folder(member));
        } else if part.role == Role::Sidecar
            && let Some(name) = bank_in_manifest(catalog, member, context)
        {
            banks.names.insert(archive_folder(member), name);
        }
    }
    files.each_file(detected, |files, member, role| match role {
        Role::Sidecar => files.pass_through(member, "", "manifest"),
        _ => each_row(files, member, &LIST_KEYS, Kind::Memory, &mut |files, row| banks.read_row(files, row)),
    })
}

/// The bank that the manifest of an archive names. None if the manifest cannot be read; it is then reported when it is
/// stored.
fn bank_in_manifest(catalog: &Catalog, manifest: &Member, context: &ReadContext) -> Option<String> {
    let bytes = catalog.bytes(manifest, context.limits.side_file_bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Object::parse(text.trim_start_matches('\u{feff}').trim())?.first_text(&["source_bank_id"])
}

/// Root, archive and name of the folder that contains the manifest of an archive and its folder of documents.
type ArchiveFolder = (usize, Option<usize>, String);

/// The folder of the archive to which a file belongs.
fn archive_folder(member: &Member) -> ArchiveFolder {
    let own_folder = folder(&member.name);
    let name = if is_numbered(member) { folder(own_folder) } else { own_folder };
    (member.root, member.archive, name.to_owned())
}

/// The banks of an import while their files are read.
struct Banks {
    rows: RowSender,
    /// Keys of the facts in an archive, by the digest of the key of their document and their position in it. Facts have no ids there.
    keys: HashMap<(String, u64), String>,
    /// The bank of each document that has been read, by its id. None if several banks have a document with the id.
    documents: HashMap<String, Option<String>>,
    /// The banks that the manifests of archives name.
    names: HashMap<ArchiveFolder, String>,
    /// The folders of archives, with or without a manifest.
    archives: HashSet<ArchiveFolder>,
}

/// The bank of a row. The id of a document is unique only in its bank.
struct Place {
    /// The bank that the row or the manifest names.
    bank: Option<String>,
    /// The bank, or the folder of an archive without a manifest.
    scope: Option<String>,
}

impl Place {
    /// The key of the document with this id.
    fn document_key(&self, id: &str) -> String {
        self.scope.as_ref().map_or_else(|| id.to_owned(), |scope| format!("{scope}/{id}"))
    }
}

impl Banks {
    fn place_of(&self, row: &Row<'_>, object: &Object<'_>) -> Place {
        let folder = archive_folder(row.member);
        let bank = object.first_text(&["bank_id"]).or_else(|| self.names.get(&folder).cloned());
        let is_in_archive = !folder.2.is_empty() && self.archives.contains(&folder);
        let scope = bank.clone().or_else(|| is_in_archive.then_some(folder.2));
        Place { bank, scope }
    }

    fn read_row(&mut self, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
        let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
        let place = self.place_of(row, &object);
        if object.has("original_text") {
            self.read_document(files, row, &object, &place)
        } else if object.has("bank_id") && object.has("content") {
            self.read_bank_row(files, row, &object)
        } else {
            self.read_memory(files, row, &object, &place, None)?;
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
        place: &Place,
        document: Option<&str>,
    ) -> Result<Option<String>, FormatError> {
        let Some(text) = object.first_text(&["text"]) else {
            self.rows.fail(files, row, "no_content: no text in it", Kind::Memory);
            return Ok(None);
        };
        let around = document.map(|id| place.document_key(id)).or_else(|| place.scope.clone());
        let content = format!("{}\n{text}", around.unwrap_or_default());
        let mut record = self.rows.record(Kind::Memory, object.id("id"), &content, text);
        record.record_type = object.first_text(&["fact_type", "type"]);
        // An observation in an archive does not state its type, but how many facts prove it.
        let is_observation = record.record_type.is_none() && object.has("proof_count");
        record.record_type = record.record_type.take().or_else(|| is_observation.then(|| "observation".into()));
        record.namespace.clone_from(&place.bank);
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
        let document = document.map(|id| self.linked_document(place, &id));
        record.links = document.map(|key| link("derived_from", Kind::Resource, ID, key)).into_iter().collect();
        let facts = object.texts("source_memory_ids").into_iter().chain(self.sources_of(object, place));
        record.links.extend(facts.map(|key| link("derived_from", Kind::Memory, ID, key)));
        record.fields = object.other_fields(&READ_MEMBERS);
        let key = record.key.value.clone();
        self.rows.send(files, row, record)?;
        Ok(Some(key))
    }

    /// The key of the document of a memory. A list of memories does not name its bank, which is then the bank of the
    /// only document with this id.
    fn linked_document(&self, place: &Place, id: &str) -> String {
        let known_bank = self.documents.get(id).and_then(Option::as_ref).filter(|_| place.scope.is_none());
        known_bank.map_or_else(|| place.document_key(id), |bank| format!("{bank}/{id}"))
    }

    /// The keys of the facts that an observation in an archive names by document and position.
    fn sources_of(&self, object: &Object<'_>, place: &Place) -> Vec<String> {
        let key = |source: Object<'_>| {
            let document = content_id(&place.document_key(&source.id("document_id")?));
            self.keys.get(&(document, source.whole_number("fact_index")?)).cloned()
        };
        object.objects("sources").filter_map(key).collect()
    }

    /// Reads a document and the facts in it. A document without a text or chunks is only a link of its facts.
    fn read_document(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
        place: &Place,
    ) -> Result<(), FormatError> {
        let id = object.id("id");
        if let Some((id, scope)) = id.as_ref().zip(place.scope.as_ref()) {
            let known = self.documents.entry(id.clone()).or_insert_with(|| Some(scope.clone()));
            if known.as_ref() != Some(scope) {
                *known = None;
            }
        }
        let facts = object.list(FACTS).unwrap_or_default();
        // Each fact is only in the source of its own record, so erasing it erases the whole fact.
        let list: Vec<_> = object
            .raw_value(FACTS)
            .filter(|raw| raw.get().starts_with('['))
            .map(|raw| (raw, "[]"))
            .into_iter()
            .collect();
        match object.first_text(&["original_text"]).or_else(|| text_of_chunks(object)) {
            Some(text) => {
                let key = id.as_deref().map(|id| place.document_key(id));
                let mut record = self.rows.record(Kind::Resource, key, row.text, text);
                record.origin_id.clone_from(&id);
                record.record_type = Some("document".into());
                record.tags = object.texts("tags");
                record.times.created = object.time("created_at");
                record.times.updated = object.time("updated_at");
                record.namespace.clone_from(&place.bank);
                let read_members = ["id", "original_text", "tags", "created_at", "updated_at", "bank_id"];
                record.fields = object.other_fields(&[&read_members[..], &["chunks", FACTS]].concat());
                let verbatim = Verbatim::json(with_replaced_values(row.text, &list));
                self.rows.send_with(files, row, record, verbatim)?;
            }
            None if facts.is_empty() => self.rows.fail(files, row, "no_content: no text in it", Kind::Resource),
            None if has_content_beside_facts(object) => pass_through_rest(files, row, &list)?,
            None => {}
        }
        for (index, raw) in (0_u64..).zip(facts) {
            let pointer = format!("{}/{FACTS}/{index}", row.pointer);
            let inner = Row { member: row.member, text: raw.get(), pointer };
            let Some(fact) = object_of(files, &inner, Kind::Memory) else { continue };
            let key = self.read_memory(files, &inner, &fact, place, id.as_deref())?;
            if let Some((document, key)) = id.as_deref().zip(key) {
                self.keys.insert((content_id(&place.document_key(document)), index), key);
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

/// The text of a document of which only the chunks are stored, in their order.
fn text_of_chunks(document: &Object<'_>) -> Option<String> {
    let chunk = |chunk: Object<'_>| {
        Some((chunk.whole_number("chunk_index").unwrap_or(u64::MAX), chunk.first_text(&["chunk_text"])?))
    };
    let mut chunks: Vec<(u64, String)> = document.objects("chunks").filter_map(chunk).collect();
    chunks.sort_by_key(|(index, _)| *index);
    let texts: Vec<String> = chunks.into_iter().map(|(_, text)| text).collect();
    Some(texts.join("\n")).filter(|text| !text.is_empty())
}

/// True if a document without a text has other members that are not empty.
fn has_content_beside_facts(document: &Object<'_>) -> bool {
    let is_content = |key: &str, value: &str| {
        !["id", "original_text", "bank_id", FACTS].contains(&key) && !matches!(value, "null" | "[]" | "{}")
    };
    document.members().any(|(key, raw)| is_content(key, raw.get()))
}
