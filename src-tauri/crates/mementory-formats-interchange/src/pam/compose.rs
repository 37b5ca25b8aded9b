//! Converts a record to a memory object. A record of the home store (see [`super::first_pass::FirstPass`]) is written
//! as its source object, with the edited members replaced. Any other record is written as a new object. Values for
//! which the object has no member go into `x_mementory`.
use super::{
    extension,
    first_pass::{FirstPass, digest_uuid, uuid},
    forms::{PLATFORM_FORM, TAG_FORM, slug, version},
    hash::{content_hash, sdk_form},
    invalid_values::{
        EMPTY_CONTENT, MEMORY, ObjectSpec, is_valid_embedding, move_invalid_values, rewrite_embedding_ids,
    },
    schema::{EXTRACTION_METHODS, MEMORY_STATUSES, MEMORY_TYPES, MESSAGE_ROLES},
    to_record,
};
use crate::creation_time::{NO_TIME_NOTE, creation_time};
use mementory_format::{SourceDescription, StoredRecord};
use mementory_json::Tree;
use mementory_model::{Kind, LossKind, LossReport, Record, Timestamp};
use std::collections::BTreeSet;

/// Builds an object from the members whose value is not None.
pub(super) fn object<const N: usize>(members: [(&str, Option<Tree>); N]) -> Tree {
    Tree::Object(members.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?))).collect())
}

/// A text as the value of a member, for [`object`].
pub(super) fn text_value(text: impl Into<String>) -> Option<Tree> {
    Some(Tree::Text(text.into()))
}

/// Formats a time with no or six decimal places. All programs write these two forms identically, so they compute the
/// same checksum.
pub(super) fn time_tree(time: Timestamp) -> Tree {
    let text = time.to_rfc3339();
    let milliseconds = text.strip_suffix('Z').filter(|t| t.rsplit_once('.').is_some_and(|(_, f)| f.len() == 3));
    Tree::Text(milliseconds.map_or_else(|| text.clone(), |t| format!("{t}000Z")))
}

/// The name of a platform, converted to the syntax that §11.4 allows.
pub(super) fn platform(name: &str) -> String {
    let name: String = slug(name).chars().take(32).collect();
    if PLATFORM_FORM.matches_exactly(&name) { name } else { "mementory".into() }
}

/// Role of a message, converted to a role that §25.3 defines.
pub(super) fn role(source_role: &str) -> &'static str {
    let lower = source_role.to_ascii_lowercase();
    match lower.as_str() {
        "human" | "me" | "request" | "prompt" => "user",
        "ai" | "model" | "bot" | "response" => "assistant",
        "developer" => "system",
        "function" => "tool",
        other => MESSAGE_ROLES.into_iter().find(|r| *r == other).unwrap_or("system"),
    }
}

/// Tags, converted to the syntax of the format: lower-case words without repetitions.
pub(super) fn tags(tags: &[String]) -> Tree {
    let mut out: Vec<String> = Vec::new();
    for tag in tags {
        let tag = if TAG_FORM.matches_exactly(tag) { tag.clone() } else { slug(tag) };
        if TAG_FORM.matches_exactly(&tag) && !out.contains(&tag) {
            out.push(tag);
        }
    }
    Tree::Array(out.into_iter().map(Tree::Text).collect())
}

/// A memory object that is ready to be written.
pub(super) struct ComposedMemory {
    pub text: String,
    pub tree: Tree,
    /// The memory's embeddings, as JSON objects of the embeddings file.
    pub vectors: Vec<String>,
    /// False if the memory is written exactly as it was imported.
    pub changed: bool,
    /// True if the memory is written for an attachment, whose file is left out.
    pub is_of_file: bool,
}

/// Loss notes: a value that the format forbids was moved, a missing value was filled in, and a value that the format
/// forbids was left out because the object has no place for it.
const INVALID_VALUE_NOTE: &str = "the format forbids this value, so it is kept in mementory_forbidden of the metadata";
const MISSING_VALUE_NOTE: &str = "the format requires a value, so the closest one is written";
const LEFT_OUT_VALUE_NOTE: &str = "the format forbids this value, and this object has no other place for it";

/// Moves values that the schema forbids out of their members, and reports them as losses of the record `id`. `created`
/// and `platform` replace a time or platform that is required and that the schema forbids.
pub(super) fn clean(
    tree: &mut Tree,
    spec: &ObjectSpec,
    (created, platform, keeps_unknown): (Timestamp, &str, bool),
    id: &str,
    losses: &mut LossReport,
) {
    let replacement = |tree: &Tree, pointer: &str| {
        let temporal = || object([("created_at", Some(time_tree(created)))]);
        let text = |name: &str| to_record::text(tree, name).unwrap_or_default();
        match pointer {
            // The memory's original type goes into `custom_type`, see below.
            "/type" if spec.has_overflow_member() => text_value("custom"),
            "/type" => text_value("related_to"),
            "/content" if text("content").is_empty() => text_value(EMPTY_CONTENT),
            "/content/type" => text_value("text"),
            "/content_hash" => text_value(content_hash(text("content"))),
            "/role" => text_value(role(text("role"))),
            "/created_at" | "/temporal/created_at" => Some(time_tree(created)),
            "/temporal" => Some(temporal()),
            "/platform" | "/provenance/platform" | "/provider/name" => text_value(platform),
            "/provenance" => Some(object([("platform", text_value(platform))])),
            "/provider" => Some(object([("name", text_value(platform))])),
            _ => None,
        }
    };
    let original_type = to_record::text(tree, "type").filter(|value| !value.is_empty()).unwrap_or("unknown").to_owned();
    let changed = move_invalid_values(tree, spec, keeps_unknown, &replacement);
    let was_moved = |pointer: &str| changed.moved.iter().any(|moved| moved == pointer);
    if spec.has_overflow_member()
        && was_moved("/type")
        && to_record::text(tree, "custom_type").is_none_or(str::is_empty)
    {
        tree.set("custom_type", Tree::Text(original_type));
    } else if was_moved("/custom_type") && to_record::text(tree, "type") == Some("custom") {
        tree.set("custom_type", Tree::Text("unknown".into()));
    }
    if was_moved("/content") && spec.requires("/content_hash") {
        tree.set("content_hash", Tree::Text(content_hash(EMPTY_CONTENT)));
    }
    let custom = tree.get("custom_type").filter(|custom| **custom != Tree::Null);
    if spec.has_overflow_member() && to_record::text(tree, "type") == Some("custom") && custom.is_none() {
        tree.set("custom_type", Tree::Text("unknown".into()));
        losses.add(id, "type", LossKind::Narrowed, MISSING_VALUE_NOTE);
    }
    let members = |pointers: &[String]| -> BTreeSet<String> {
        pointers.iter().filter_map(|pointer| pointer.split('/').nth(1)).map(str::to_owned).collect()
    };
    for member in members(&changed.added) {
        losses.add(id, &member, LossKind::Narrowed, MISSING_VALUE_NOTE);
    }
    for member in &changed.removed {
        losses.add(id, member, LossKind::LeftOut, LEFT_OUT_VALUE_NOTE);
    }
    for member in &members(&changed.moved) {
        if spec.has_overflow_member() {
            losses.add(id, member, LossKind::MovedToExtension, INVALID_VALUE_NOTE);
        } else {
            losses.add(id, member, LossKind::LeftOut, LEFT_OUT_VALUE_NOTE);
        }
    }
}

/// Sets the id of an object. Returns true if it is a new id, because another object already has the original id. An id
/// that is a number is not changed here, because [`clean`] converts it to a text.
pub(super) fn set_id(tree: &mut Tree, id: &str, vault_id: &str, losses: &mut LossReport) -> bool {
    let is_new = to_record::id(tree, "id") != Some(id);
    if is_new {
        tree.set("id", Tree::Text(id.to_owned()));
        losses.add(vault_id, "id", LossKind::Narrowed, "another record has this id, so a new one is written");
    }
    is_new
}

/// Sets the id of an object whose id is missing or empty, which the format forbids.
pub(super) fn set_missing_id(tree: &mut Tree, id: &str, vault_id: &str, losses: &mut LossReport) {
    if to_record::id(tree, "id").is_none_or(str::is_empty) {
        tree.set("id", Tree::Text(id.to_owned()));
        losses.add(vault_id, "id", LossKind::Narrowed, MISSING_VALUE_NOTE);
    }
}

/// The state of the export that is needed to convert records.
pub(super) struct Context<'a> {
    pub first_pass: &'a FirstPass,
    pub description: &'a SourceDescription,
    pub strip: bool,
    pub depth: u32,
}

impl Context<'_> {
    /// Schema version of new documents: the version of the home store, or 1.0.
    pub fn version(&self) -> String {
        let envelope = self.first_pass.envelope.as_ref().and_then(|f| to_record::text(f, "schema_version"));
        envelope.unwrap_or("1.0").to_owned()
    }

    /// True if the version is later than 1.0 and therefore allows unknown members.
    pub fn keeps_unknown(&self) -> bool {
        version(&self.version()).is_some_and(|(_, minor)| minor > 0)
    }

    /// Converts a record to a memory.
    pub fn memory(&self, stored: &StoredRecord, losses: &mut LossReport) -> ComposedMemory {
        if self.first_pass.is_from_home(&stored.record)
            && let Some(composed) = self.patched_memory(stored, losses)
        {
            return composed;
        }
        self.compose_foreign(stored, losses)
    }

    fn patched_memory(&self, stored: &StoredRecord, losses: &mut LossReport) -> Option<ComposedMemory> {
        let record = &stored.record;
        let source = &record.verbatim.as_ref()?.text;
        let original = Tree::parse(source, self.depth).ok()?;
        let mut tree = original.clone();
        let times = &record.times;
        let created = times.created.or(times.updated).or(times.valid_from).unwrap_or(Timestamp::EPOCH);
        let platform = platform(&record.source.platform);
        let required_values = (created, platform.as_str(), self.keeps_unknown());
        // An edit also changes the text in the verbatim. The old hash no longer fits this text, so [`clean`] would move
        // it to `mementory_forbidden`. The removed text could then be confirmed by hashing guesses, so the hash is
        // computed again.
        if stored.edited
            && let Some(hash) = to_record::text(&tree, "content").map(content_hash)
        {
            tree.set("content_hash", Tree::Text(hash));
        }
        clean(&mut tree, &MEMORY, required_values, &stored.id, losses);
        let id = self.first_pass.memories.get(&stored.id).map_or("", String::as_str);
        let has_new_id = set_id(&mut tree, id, &stored.id, losses);
        let mut vectors: Vec<String> = record.embeddings.iter().map(|e| e.json.clone()).collect();
        if stored.edited || has_new_id {
            let mut record = record.clone();
            let unedited = if stored.edited { to_record::memory(&tree, &record.key.scope) } else { record.clone() };
            patch(&mut tree, &unedited, &record);
            // After a redaction, the hash is replaced too, because anybody could confirm a guess of the removed text
            // with the old hash.
            if !stored.redactions.is_empty() && !unedited.text.is_empty() {
                tree.set("content_hash", Tree::Text(content_hash(&record.text)));
            }
            if unedited.text != record.text && !vectors.is_empty() {
                vectors.clear();
                losses.add(
                    &stored.id,
                    "embeddings",
                    LossKind::LeftOut,
                    "the vector was computed from the text before the edit",
                );
                tree.remove("embedding_ref");
                record.embeddings.clear();
                record.fields.remove("embedding_ref");
            }
            extension::detach(&mut tree);
            let mut mapped = to_record::memory(&tree, &record.key.scope);
            mapped.repeats = record.repeats;
            mapped.embeddings.clone_from(&record.embeddings);
            let difference = extension::difference(&mapped, &record, true);
            extension::report_losses(&stored.id, &difference, losses);
            extension::attach(&mut tree, difference, None);
            // The edit may have set a member to a value that the schema forbids.
            clean(&mut tree, &MEMORY, required_values, &stored.id, losses);
        }
        let vector_count = vectors.len();
        let mut are_ids_rewritten = false;
        let mut parsed = vectors.into_iter().filter_map(|json| {
            let mut vector = Tree::parse(&json, 64).ok()?;
            let is_rewritten = rewrite_embedding_ids(&mut vector);
            are_ids_rewritten |= is_rewritten;
            let json = if is_rewritten { compact(&vector) } else { json };
            Some((vector, json))
        });
        let vector = parsed.find(|(vector, _)| is_valid_embedding(vector, id));
        if vector_count > usize::from(vector.is_some()) {
            let note = "the format allows one valid vector for each memory";
            losses.add(&stored.id, "embeddings", LossKind::LeftOut, note);
        }
        // A memory may refer only to an embedding that is also written (§12.1).
        let vector_id = vector.as_ref().and_then(|(vector, _)| to_record::text(vector, "id"));
        if to_record::text(&tree, "embedding_ref").is_some_and(|reference| Some(reference) != vector_id) {
            tree.remove("embedding_ref");
            losses.add(
                &stored.id,
                "embedding_ref",
                LossKind::LeftOut,
                "the embedding that it names is not in the file",
            );
        }
        let vectors: Vec<String> = vector.into_iter().map(|(_, json)| json).collect();
        let has_fewer_vectors = vectors.len() < vector_count;
        self.remove_dangling_references(stored, &mut tree, losses);
        if self.strip {
            self.strip_identifiers(&mut tree);
        }
        let changed = tree != original;
        if changed {
            // In this form, all programs compute the same checksum for the memory.
            tree = sdk_form(&tree);
        }
        let text = if changed { compact(&tree) } else { source.clone() };
        let changed = changed || stored.edited || has_fewer_vectors || are_ids_rewritten;
        Some(ComposedMemory { text, tree, vectors, changed, is_of_file: false })
    }

    /// Removes references to memories and conversations that are not exported.
    fn remove_dangling_references(&self, stored: &StoredRecord, tree: &mut Tree, losses: &mut LossReport) {
        let mut linked = stored.record.links.iter().zip(&stored.link_ids);
        let successor = linked.clone().find(|(l, _)| l.relation == "superseded_by").map(|(_, id)| id);
        if to_record::nested_text(tree, "temporal", "superseded_by").is_some_and(|id| !id.is_empty())
            && !successor.and_then(Option::as_ref).is_some_and(|id| self.first_pass.memories.contains_key(id))
        {
            remove_members(tree, "temporal", &["superseded_by"]);
            losses.add(&stored.id, "superseded_by", LossKind::LeftOut, "the memory that it names is not in the file");
        }
        let conversation = linked.find(|(l, _)| l.kind == Kind::Conversation).and_then(|(_, id)| id.as_ref());
        if to_record::nested_text(tree, "provenance", "conversation_ref").is_some()
            && !conversation.is_some_and(|id| self.first_pass.conversations.contains_key(id))
            && (conversation.is_some() || !self.first_pass.conversations.is_empty())
        {
            remove_members(tree, "provenance", &["conversation_ref", "message_ref"]);
            let note = "the conversation that it names is not in the file";
            losses.add(&stored.id, "conversation_ref", LossKind::LeftOut, note);
        }
    }

    /// Removes account identifiers from an object (§21.3).
    pub fn strip_identifiers(&self, tree: &mut Tree) {
        extension::detach(tree);
        for block in ["provenance", "provider"] {
            remove_members(tree, block, &["platform_user_id", "account_id"]);
        }
        for holder in ["metadata", "raw_metadata"] {
            if let Some(inside) = tree.get(holder) {
                let without_identifiers = self.without_identifiers(inside.clone());
                tree.set(holder, without_identifiers);
            }
        }
        for list in ["participants", "attachments"] {
            if let Some(Tree::Array(items)) = tree.get(list) {
                let mut items = items.clone();
                items.iter_mut().for_each(|item| item.remove("provider_id"));
                tree.set(list, Tree::Array(items));
            }
        }
    }

    fn without_identifiers(&self, tree: Tree) -> Tree {
        const IDENTIFIER_NAMES: [&str; 6] =
            ["platform_user_id", "account_id", "user_id", "account_uuid", "provider_id", "email"];
        match tree {
            Tree::Object(members) => {
                let remaining = members.into_iter().filter(|(key, value)| {
                    !IDENTIFIER_NAMES.contains(&key.as_str())
                        && !value.as_str().is_some_and(|text| self.first_pass.identifiers.contains(text))
                });
                Tree::Object(remaining.map(|(key, value)| (key, self.without_identifiers(value))).collect())
            }
            Tree::Array(items) => Tree::Array(items.into_iter().map(|item| self.without_identifiers(item)).collect()),
            other => other,
        }
    }

    /// Returns a copy of the record for the export. If identifiers are stripped, the copy lacks the account id, the
    /// verbatim and the fields.
    pub fn exportable_record(&self, record: &Record) -> Record {
        let mut exportable = record.clone();
        if self.strip {
            exportable.source.account = None;
            exportable.verbatim = None;
            exportable.fields.clear();
        }
        exportable
    }

    fn compose_foreign(&self, stored: &StoredRecord, losses: &mut LossReport) -> ComposedMemory {
        let record = &self.exportable_record(&stored.record);
        let id = self.first_pass.memories.get(&stored.id).cloned().unwrap_or_else(|| uuid(&stored.id));
        let t = &record.times;
        let created = creation_time(t);
        let updated = t.updated.filter(|u| *u >= created);
        let valid_to = t.valid_to.filter(|to| t.valid_from.is_none_or(|from| from <= *to));
        let links = || record.links.iter().zip(&stored.link_ids);
        let target = |relation: &str| links().find(|(l, _)| l.relation == relation).and_then(|(_, id)| id.as_ref());
        let successor = target("superseded_by").and_then(|id| self.first_pass.memories.get(id));
        let conversation = links().filter(|(l, _)| l.kind == Kind::Conversation).find_map(|(_, id)| {
            let id = id.as_ref()?;
            Some((id, self.first_pass.conversations.get(id)?))
        });
        let message = links().filter(|(l, _)| l.kind == Kind::Message).find_map(|(_, id)| {
            self.first_pass.messages.get(id.as_ref()?).filter(|(key, _)| conversation.is_some_and(|(id, _)| id == key))
        });
        let content = match (record.text.is_empty(), &record.title) {
            (false, _) => record.text.clone(),
            (true, Some(title)) if !title.is_empty() => title.clone(),
            _ => format!("({})", record.kind.as_str()),
        };
        let (kind, custom) = memory_type(record);
        let status = status(record);
        let score = record.confidence.filter(|c| (0.0..=1.0).contains(c)).map(|c| Tree::Number(c.to_string()));
        let vector = embedding_object(stored, &id, created);
        let mut tree = object([
            ("id", text_value(id)),
            ("type", text_value(kind)),
            ("custom_type", custom.map(Tree::Text)),
            ("status", text_value(status)),
            ("content", text_value(content.clone())),
            ("content_hash", text_value(content_hash(&content))),
            ("summary", record.title.clone().filter(|t| !t.is_empty()).map(Tree::Text)),
            ("tags", Some(tags(&record.tags))),
            ("confidence", score.map(|s| object([("initial", Some(s.clone())), ("current", Some(s))]))),
            (
                "temporal",
                Some(object([
                    ("created_at", Some(time_tree(created))),
                    ("updated_at", updated.map(time_tree)),
                    ("valid_from", t.valid_from.map(time_tree)),
                    ("valid_until", valid_to.map(time_tree)),
                    ("superseded_by", successor.cloned().map(Tree::Text)),
                ])),
            ),
            (
                "provenance",
                Some(object([
                    ("platform", text_value(platform(&record.source.platform))),
                    ("platform_user_id", record.source.account.clone().map(Tree::Text)),
                    ("conversation_ref", conversation.map(|(_, conversation)| Tree::Text(conversation.id.clone()))),
                    ("message_ref", message.map(|(_, id)| Tree::Text(id.clone()))),
                    ("extraction_method", text_value(method(record))),
                ])),
            ),
            ("embedding_ref", vector.as_ref().map(|(id, _)| Tree::Text(id.clone()))),
        ]);
        let mapped = to_record::memory(&tree, &self.first_pass.home_scope);
        let difference = extension::difference(&mapped, record, false);
        extension::report_losses(&stored.id, &difference, losses);
        if self.strip {
            losses.add(&stored.id, "source", LossKind::LeftOut, "the source's own words may name accounts");
        }
        extension::attach(&mut tree, difference, Some(&stored.id));
        if t.created.is_none() {
            losses.add(&stored.id, "created", LossKind::Narrowed, NO_TIME_NOTE);
        }
        ComposedMemory {
            text: compact(&tree),
            tree,
            vectors: vector.into_iter().map(|(_, v)| v).collect(),
            changed: true,
            is_of_file: record.kind == Kind::Attachment,
        }
    }
}

pub(super) fn compact(tree: &Tree) -> String {
    let mut out = String::new();
    tree.write(&mut out);
    out
}

/// Removes members from the object in the member `block`.
pub(super) fn remove_members(tree: &mut Tree, block: &str, names: &[&str]) {
    let Some(mut inside) = tree.get(block).cloned() else { return };
    names.iter().for_each(|name| inside.remove(name));
    tree.set(block, inside);
}

/// Memory type of a record, and its custom type if the memory type is `custom` (§5).
fn memory_type(record: &Record) -> (&'static str, Option<String>) {
    let record_type = record.record_type.as_deref().filter(|t| !t.is_empty());
    let known_type = record_type.and_then(|t| MEMORY_TYPES.iter().copied().find(|k| *k == t && *k != "custom"));
    if let Some(kind) = known_type {
        return (kind, None);
    }
    match record.kind {
        Kind::Memory => match record_type {
            None | Some("semantic" | "saved_memory" | "memory") => ("fact", None),
            Some("custom_instructions" | "instructions") => ("instruction", None),
            Some(other) => ("custom", Some(other.to_owned())),
        },
        Kind::Fact => ("fact", None),
        Kind::Profile => match record_type {
            Some(t) if t.contains("instruction") => ("instruction", None),
            _ => ("identity", None),
        },
        Kind::Relation => ("relationship", None),
        Kind::Todo => ("goal", None),
        kind => ("custom", Some(kind.as_str().to_owned())),
    }
}

/// Lifecycle status (§7). A record that was deleted in its source becomes `retracted`.
fn status(record: &Record) -> &'static str {
    match record.status.as_deref() {
        Some("deleted" | "removed" | "invalidated") => "retracted",
        Some("expired" | "cold") => "archived",
        status => MEMORY_STATUSES.iter().copied().find(|s| Some(*s) == status).unwrap_or("active"),
    }
}

/// Extraction method of a record (§11.3).
fn method(record: &Record) -> &'static str {
    let method = record.source.method.as_deref().unwrap_or_default();
    if let Some(known) = EXTRACTION_METHODS.iter().find(|m| **m == method) {
        return known;
    }
    match method {
        "bio_write" | "model_set_context" | "extracted" | "inferred" => "llm_inference",
        "custom_instructions" => "explicit_user_input",
        "pasted" => "manual",
        _ if record.source.platform == "me" => "manual",
        _ => "api_export",
    }
}

/// Id and JSON object of the first embedding with a readable vector. None if there is none.
fn embedding_object(stored: &StoredRecord, memory: &str, created: Timestamp) -> Option<(String, String)> {
    stored.record.embeddings.iter().filter(|e| !e.model.is_empty()).find_map(|embedding| {
        let tree = Tree::parse(&embedding.json, 64).ok()?;
        let numbers = [Some(&tree), tree.get("vector"), tree.get("values"), tree.get("embedding")];
        let vector = numbers.into_iter().flatten().find_map(|t| match t {
            Tree::Array(items) if !items.is_empty() && items.iter().all(|n| n.as_f64().is_some_and(f64::is_finite)) => {
                Some(items.clone())
            }
            _ => None,
        })?;
        let vector_created = to_record::text(&tree, "created_at").and_then(Timestamp::parse).unwrap_or(created);
        let id = digest_uuid(&format!("embedding {}", stored.id));
        let out = object([
            ("id", text_value(id.clone())),
            ("memory_id", text_value(memory)),
            ("model", text_value(embedding.model.clone())),
            ("dimensions", Some(Tree::Number(vector.len().to_string()))),
            ("created_at", Some(time_tree(vector_created))),
            ("vector", Some(Tree::Array(vector))),
        ]);
        Some((id, compact(&out)))
    })
}

/// Writes the differences between `record` and `unedited` into the object. `unedited` is the record as read from the
/// object. Skips fields for which PAM has no member.
fn patch(tree: &mut Tree, unedited: &Record, record: &Record) {
    if unedited.text != record.text {
        let content = if record.text.is_empty() { format!("({})", record.kind.as_str()) } else { record.text.clone() };
        tree.set("content_hash", Tree::Text(content_hash(&content)));
        tree.set("content", Tree::Text(content));
    }
    if unedited.title != record.title {
        match record.title.clone().filter(|t| !t.is_empty()) {
            Some(title) => tree.set("summary", Tree::Text(title)),
            None => tree.remove("summary"),
        }
    }
    if unedited.record_type != record.record_type {
        let (kind, custom) = memory_type(record);
        tree.set("type", Tree::Text(kind.into()));
        match custom {
            Some(custom) => tree.set("custom_type", Tree::Text(custom)),
            None => tree.remove("custom_type"),
        }
    }
    if unedited.status != record.status
        && let Some(status) = record.status.clone().filter(|s| MEMORY_STATUSES.contains(&s.as_str()))
    {
        tree.set("status", Tree::Text(status));
    }
    if unedited.tags != record.tags {
        tree.set("tags", tags(&record.tags));
    }
    if unedited.confidence != record.confidence
        && let Some(score) = record.confidence.filter(|c| (0.0..=1.0).contains(c))
    {
        let mut block = tree.get("confidence").cloned().unwrap_or(Tree::Object(vec![]));
        block.set("current", Tree::Number(score.to_string()));
        tree.set("confidence", block);
    }
    let (a, b) = (&unedited.times, &record.times);
    let times = [
        ("created_at", a.created, b.created),
        ("updated_at", a.updated, b.updated),
        ("valid_from", a.valid_from, b.valid_from),
        ("valid_until", a.valid_to, b.valid_to),
    ];
    for (name, old, new) in times {
        if old == new {
            continue;
        }
        match new {
            Some(time) => {
                let mut block = tree.get("temporal").cloned().unwrap_or(Tree::Object(vec![]));
                block.set(name, time_tree(time));
                tree.set("temporal", block);
            }
            None if name != "created_at" => remove_members(tree, "temporal", &[name]),
            None => {}
        }
    }
}
