//! Writes conversations, each as an index entry and a file. A conversation of the home store stays byte-identical if
//! all its messages are unedited.
use super::{
    compose::{Context, clean, compact, object, platform, role, set_id, set_missing_id, tags, text_value, time_tree},
    conformance::is_safe_path,
    document::Document,
    envelope, extension,
    first_pass::{ExportedConversation, digest_uuid, uuid},
    increment::STORE_FILE,
    invalid_values::{CONVERSATION, INDEX_ENTRY, MESSAGE, names_other_document},
    schema::CONVERSATION_SCHEMA,
    to_record,
};
use crate::creation_time::NO_TIME_NOTE;
use mementory_format::StoredRecord;
use mementory_json::Tree;
use mementory_model::{Kind, LossKind, LossReport, Record, Timestamp};
use std::collections::{HashMap, HashSet};

/// One message to be written.
struct MessageRow {
    position: u32,
    seq: usize,
    id: String,
    parent: Option<String>,
    /// The imported text, if the message is written unchanged.
    source: Option<String>,
    tree: Tree,
}

/// Collects the messages of a conversation.
pub(super) struct ConversationWriter {
    /// Sort key: the position in the imported index. New conversations come last.
    pub order: (u8, u64, u64),
    /// Index entry. None if the imported index did not list this conversation.
    index: Option<Tree>,
    index_source: Option<String>,
    /// The file without its messages. None if the conversation has no file.
    file: Option<Tree>,
    file_source: Option<String>,
    path: Option<String>,
    rows: Vec<MessageRow>,
    expected_messages: usize,
    created: Timestamp,
    changed: bool,
    strip: bool,
    depth: u32,
}

/// A finished conversation, as the texts to be written.
pub(super) struct FinishedConversation {
    pub order: (u8, u64, u64),
    pub index: Option<String>,
    /// Path inside the bundle and text of the conversation file.
    pub file: Option<(String, String)>,
    pub changed: bool,
}

/// Paths of conversation files in lower case, because some file systems ignore case.
#[derive(Default)]
pub(super) struct UsedPaths(HashSet<String>);

impl UsedPaths {
    /// Reserves an unused path for the conversation with this id: `wanted_path` if it is safe, otherwise a path with
    /// the id, otherwise a path with a digest.
    pub fn reserve(&mut self, wanted_path: Option<&str>, id: &str) -> String {
        let is_plain = !id.is_empty()
            && id.len() <= 100
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
            && !id.starts_with('.');
        let reserved = [STORE_FILE, "embeddings.json"];
        let candidates = wanted_path
            .filter(|p| is_safe_path(p) && p.to_ascii_lowercase().ends_with(".json") && !reserved.contains(p))
            .map(str::to_owned)
            .into_iter()
            .chain(is_plain.then(|| format!("conversations/{id}.json")))
            .chain((0..).map(|n: u32| format!("conversations/{}.json", digest_uuid(&format!("{id}\u{0}{n}")))));
        for path in candidates {
            if self.0.insert(path.to_lowercase()) {
                return path;
            }
        }
        String::new()
    }
}

/// Creation time of a conversation: its nearest known time, otherwise the time of its first message, otherwise the
/// start of 1970.
fn created_of(record: &Record, conversation: &ExportedConversation) -> Timestamp {
    record.times.nearest_to_creation().or(conversation.first_message).unwrap_or(Timestamp::EPOCH)
}

fn report_missing_time(stored: &StoredRecord, losses: &mut LossReport) {
    if stored.record.times.created.is_none() {
        losses.add(&stored.id, "created", LossKind::Narrowed, NO_TIME_NOTE);
    }
}

impl ConversationWriter {
    /// Creates the writer for the conversation of this record.
    pub fn new(
        context: &Context,
        stored: &StoredRecord,
        conversation: &ExportedConversation,
        order: (u8, u64, u64),
        used_paths: &mut UsedPaths,
        losses: &mut LossReport,
    ) -> Self {
        let record = &stored.record;
        let from_home = context.first_pass.is_from_home(record);
        let source = record.verbatim.as_ref().filter(|_| from_home).map(|v| v.text.as_str());
        if let Some(doc) = source.and_then(|text| Document::open(text, "conversation").ok()) {
            return Self::from_home_store(context, stored, conversation, order, &doc, used_paths, losses);
        }
        let record = &context.exportable_record(record);
        let created = created_of(record, conversation);
        let updated = record.times.updated.filter(|u| *u >= created);
        let name = platform(&record.source.platform);
        let title = record.title.clone().filter(|t| !t.is_empty()).map(Tree::Text);
        let mut file = object([
            ("schema", text_value(CONVERSATION_SCHEMA)),
            ("schema_version", text_value(context.version())),
            ("id", text_value(conversation.id.clone())),
            (
                "provider",
                Some(object([
                    ("name", text_value(name.clone())),
                    ("conversation_id", record.origin_id.clone().map(Tree::Text)),
                    ("account_id", record.source.account.clone().map(Tree::Text)),
                ])),
            ),
            ("title", title.clone()),
            (
                "temporal",
                Some(object([("created_at", Some(time_tree(created))), ("updated_at", updated.map(time_tree))])),
            ),
            ("is_archived", Some(Tree::Bool(record.status.as_deref() == Some("archived")))),
            ("tags", Some(tags(&record.tags))),
            ("messages", Some(Tree::Array(vec![]))),
        ]);
        let mapped = to_record::conversation(None, Some(&file), &context.first_pass.home_scope);
        let difference = extension::difference(&mapped, record, false);
        extension::report_losses(&stored.id, &difference, losses);
        report_missing_time(stored, losses);
        extension::attach(&mut file, difference, Some(&stored.id));
        let path = used_paths.reserve(None, &conversation.id);
        let index = index_entry(conversation, &name, title, created, updated, &record.tags, &path);
        Self { path: Some(path), ..Self::empty(order, Some(index), Some(file), conversation, created) }
    }

    fn empty(
        order: (u8, u64, u64),
        index: Option<Tree>,
        file: Option<Tree>,
        conversation: &ExportedConversation,
        created: Timestamp,
    ) -> Self {
        Self {
            order,
            index,
            index_source: None,
            file,
            file_source: None,
            path: None,
            rows: Vec::new(),
            expected_messages: conversation.messages,
            created,
            changed: true,
            strip: false,
            depth: 0,
        }
    }

    /// Creates the writer for a stub: a conversation for messages whose original conversation is not exported.
    pub fn new_stub(
        context: &Context,
        first: &Record,
        conversation: &ExportedConversation,
        order: (u8, u64, u64),
        used_paths: &mut UsedPaths,
    ) -> Self {
        let created = created_of(first, conversation);
        let name = platform(&first.source.platform);
        let mut file = object([
            ("schema", text_value(CONVERSATION_SCHEMA)),
            ("schema_version", text_value(context.version())),
            ("id", text_value(conversation.id.clone())),
            ("provider", Some(object([("name", text_value(name.clone()))]))),
            ("temporal", Some(object([("created_at", Some(time_tree(created)))]))),
            ("messages", Some(Tree::Array(vec![]))),
        ]);
        extension::mark_stub(&mut file);
        let path = used_paths.reserve(None, &conversation.id);
        let index = index_entry(conversation, &name, None, created, None, &[], &path);
        Self { path: Some(path), ..Self::empty(order, Some(index), Some(file), conversation, created) }
    }

    fn from_home_store(
        context: &Context,
        stored: &StoredRecord,
        conversation: &ExportedConversation,
        order: (u8, u64, u64),
        doc: &Document,
        used_paths: &mut UsedPaths,
        losses: &mut LossReport,
    ) -> Self {
        let record = &stored.record;
        let created = created_of(record, conversation);
        let source = |key: &str| doc.raw(key).map(|raw| raw.get().to_owned());
        let (index_source, file_source) = (source("index"), source("file"));
        let parse = |text: &Option<String>| text.as_ref().and_then(|t| Tree::parse(t, context.depth).ok());
        let (mut index, mut file) = (parse(&index_source), parse(&file_source));
        let has_new_id = record.origin_id.as_ref() != Some(&conversation.id);
        for tree in [&mut index, &mut file].into_iter().flatten().filter(|_| has_new_id) {
            set_id(tree, &conversation.id, &stored.id, losses);
        }
        if let Some(file) = &mut file {
            file.set("schema_version", Tree::Text(context.version()));
        }
        if stored.edited || has_new_id {
            let unedited = to_record::conversation(index.as_ref(), file.as_ref(), &record.key.scope);
            for tree in [&mut index, &mut file].into_iter().flatten().filter(|_| stored.edited) {
                patch(tree, &unedited, record);
            }
            if let Some(tree) = &mut file {
                extension::detach(tree);
                let mapped = to_record::conversation(index.as_ref(), Some(tree), &record.key.scope);
                let difference = extension::difference(&mapped, record, true);
                extension::report_losses(&stored.id, &difference, losses);
                extension::attach(tree, difference, None);
            }
        }
        let wanted_path = doc.text_member("path");
        if file.is_none() && conversation.messages > 0 {
            let name = platform(&record.source.platform);
            file = Some(object([
                ("schema", text_value(CONVERSATION_SCHEMA)),
                ("schema_version", text_value(context.version())),
                ("id", text_value(conversation.id.clone())),
                ("provider", Some(object([("name", text_value(name))]))),
                ("title", record.title.clone().map(Tree::Text)),
                ("temporal", Some(object([("created_at", Some(time_tree(created)))]))),
                ("messages", Some(Tree::Array(vec![]))),
            ]));
        }
        let not_in_index = index.is_none() && context.first_pass.envelope.is_none();
        if not_in_index {
            let name = platform(&record.source.platform);
            let title = record.title.clone().map(Tree::Text);
            index = Some(index_entry(conversation, &name, title, created, record.times.updated, &record.tags, ""));
        }
        let path = file.is_some().then(|| used_paths.reserve(wanted_path.as_deref(), &conversation.id));
        if let (Some(index), Some(path)) = (&mut index, &path)
            && (not_in_index
                || names_other_document(index)
                || (wanted_path.as_ref() != Some(path)
                    && to_record::nested_text(index, "storage", "ref") != Some(path)))
        {
            index.set("storage", storage(path));
        }
        if let Some(index) = &mut index {
            update_derived_memories(index, context, conversation);
        }
        let name = platform(&record.source.platform);
        for (tree, spec) in [(&mut index, &INDEX_ENTRY), (&mut file, &CONVERSATION)] {
            let Some(tree) = tree else { continue };
            clean(tree, spec, (created, &name, context.keeps_unknown()), &stored.id, losses);
            set_missing_id(tree, &conversation.id, &stored.id, losses);
        }
        if context.strip
            && let Some(file) = &mut file
        {
            context.strip_identifiers(file);
        }
        Self {
            index_source,
            file_source,
            path,
            changed: stored.edited || has_new_id,
            strip: context.strip,
            depth: context.depth,
            ..Self::empty(order, index, file, conversation, created)
        }
    }

    /// Adds a message. Returns true if the conversation then has all its messages.
    pub fn add_message(&mut self, context: &Context, stored: &StoredRecord, losses: &mut LossReport) -> bool {
        let row = message_row(context, stored, self.created, self.rows.len(), losses);
        self.rows.push(row);
        self.rows.len() >= self.expected_messages
    }

    /// True if all messages of the conversation were added.
    pub fn is_complete(&self) -> bool {
        self.rows.len() >= self.expected_messages
    }

    /// Builds the index entry and the file.
    pub fn finish(mut self) -> FinishedConversation {
        self.rows.sort_by_key(|r| (r.position, r.seq));
        let mut children: HashMap<String, Vec<String>> = HashMap::new();
        let ids: HashSet<String> = self.rows.iter().map(|r| r.id.clone()).collect();
        for row in &self.rows {
            if let Some(parent) = row.parent.as_ref().filter(|p| ids.contains(*p)) {
                children.entry(parent.clone()).or_default().push(row.id.clone());
            }
        }
        let mut changed = self.changed || self.strip;
        let mut texts = Vec::with_capacity(self.rows.len());
        for row in &mut self.rows {
            match &row.source {
                Some(source) => texts.push(source.clone()),
                None => {
                    changed = true;
                    if let Some(children) = children.remove(&row.id) {
                        row.tree.set("children_ids", Tree::Array(children.into_iter().map(Tree::Text).collect()));
                    }
                    texts.push(compact(&row.tree));
                }
            }
        }
        let count = texts.len();
        let messages = match texts.is_empty() {
            true => "[]".to_owned(),
            false => format!("[\n{}\n]", texts.join(",\n")),
        };
        let depth = self.depth;
        let unchanged = |tree: &Tree, source: &Option<String>| {
            source.as_ref().filter(|s| Tree::parse(s, depth).ok().as_ref() == Some(tree)).cloned()
        };
        let file = self.file.as_ref().and_then(|tree| {
            let head = unchanged(tree, &self.file_source).unwrap_or_else(|| {
                changed = true;
                compact(tree)
            });
            let doc = Document::open(&head, "conversation").ok()?;
            let has_messages = doc.raw("messages").is_some();
            let members = doc.members.iter().map(|(key, raw)| {
                let raw = if key == "messages" { messages.as_str() } else { raw.get() };
                (key.as_ref(), raw)
            });
            let added = (!has_messages).then_some(("messages", messages.as_str()));
            Some((self.path.clone()?, envelope::object(members.chain(added)) + "\n"))
        });
        if let Some(index) = &mut self.index
            && file.is_some()
            && index.get("message_count").and_then(Tree::as_f64).is_some_and(|n| n != count as f64)
            && changed
        {
            index.set("message_count", Tree::Number(count.to_string()));
        }
        let index = self.index.as_ref().map(|tree| {
            unchanged(tree, &self.index_source).unwrap_or_else(|| {
                changed = true;
                compact(tree)
            })
        });
        FinishedConversation { order: self.order, index, file, changed }
    }
}

fn storage(path: &str) -> Tree {
    object([("type", text_value("file")), ("ref", text_value(path)), ("format", text_value("json"))])
}

fn index_entry(
    conversation: &ExportedConversation,
    platform: &str,
    title: Option<Tree>,
    created: Timestamp,
    updated: Option<Timestamp>,
    record_tags: &[String],
    path: &str,
) -> Tree {
    object([
        ("id", text_value(conversation.id.clone())),
        ("platform", text_value(platform)),
        ("title", title),
        ("message_count", Some(Tree::Number(conversation.messages.to_string()))),
        (
            "temporal",
            Some(object([
                ("created_at", Some(time_tree(created))),
                ("updated_at", updated.filter(|u| *u >= created).map(time_tree)),
            ])),
        ),
        ("tags", Some(tags(record_tags))),
        (
            "derived_memories",
            Some(Tree::Array(conversation.derived.iter().map(|(id, _)| Tree::Text(id.clone())).collect())),
        ),
        ("storage", (!path.is_empty()).then(|| storage(path))),
    ])
}

/// Updates `derived_memories`: removes memories that are not exported, and adds exported memories from other sources.
fn update_derived_memories(index: &mut Tree, context: &Context, conversation: &ExportedConversation) {
    let mut items: Vec<Tree> = match index.get("derived_memories") {
        Some(Tree::Array(items)) => items.clone(),
        _ => vec![],
    };
    items.retain(|item| to_record::id_text(item).is_none_or(|id| context.first_pass.memory_ids.contains(id)));
    for (id, from_home) in &conversation.derived {
        let id = Tree::Text(id.clone());
        if !from_home && !items.contains(&id) {
            items.push(id);
        }
    }
    if !items.is_empty() || index.get("derived_memories").is_some() {
        index.set("derived_memories", Tree::Array(items));
    }
}

fn message_row(
    context: &Context,
    stored: &StoredRecord,
    start: Timestamp,
    seq: usize,
    losses: &mut LossReport,
) -> MessageRow {
    let record = &stored.record;
    let part = record.message.clone().unwrap_or_default();
    let id = match context.first_pass.messages.get(&stored.id) {
        Some((_, id)) => id.clone(),
        None => uuid(&stored.id),
    };
    let conversation = context.first_pass.messages.get(&stored.id).map(|(key, _)| key);
    let parent = stored.message_parent_id.as_ref().and_then(|id| context.first_pass.messages.get(id));
    let parent = parent.filter(|(key, _)| Some(key) == conversation).map(|(_, id)| id.clone());
    let mut row = MessageRow { position: part.position, seq, id, parent, source: None, tree: Tree::Null };
    if context.first_pass.is_from_home(record)
        && let Some(verbatim) = &record.verbatim
        && let Ok(mut tree) = Tree::parse(&verbatim.text, context.depth)
    {
        let original = tree.clone();
        let has_new_id = set_id(&mut tree, &row.id, &stored.id, losses);
        if stored.edited {
            patch_message(stored, &mut tree, losses);
        } else if has_new_id {
            attach_message_slot(stored, &mut tree, losses);
        }
        if context.strip {
            context.strip_identifiers(&mut tree);
        }
        let required_values = (record.times.created.unwrap_or(start), "", context.keeps_unknown());
        clean(&mut tree, &MESSAGE, required_values, &stored.id, losses);
        row.source = (tree == original).then(|| verbatim.text.clone());
        row.tree = tree;
        return row;
    }
    let record = &context.exportable_record(record);
    let created = record.times.created.or(record.times.observed).unwrap_or(start);
    let role = role(&part.role);
    let content = (!record.text.is_empty())
        .then(|| object([("type", text_value("text")), ("text", text_value(record.text.clone()))]));
    let files: Vec<Tree> = record
        .attachments
        .iter()
        .map(|file| {
            let media = file.media_type.as_deref().unwrap_or_default();
            let kind = ["image", "audio", "video"].into_iter().find(|k| media.starts_with(k)).unwrap_or("file");
            object([
                ("type", text_value(kind)),
                ("name", text_value(file.name.clone())),
                ("mime_type", file.media_type.clone().map(Tree::Text)),
                ("size_bytes", file.size.map(|n| Tree::Number(n.to_string()))),
                ("provider_id", file.origin_id.clone().filter(|_| !context.strip).map(Tree::Text)),
            ])
        })
        .collect();
    let mut tree = object([
        ("id", text_value(row.id.clone())),
        ("provider_message_id", record.origin_id.clone().map(Tree::Text)),
        ("role", text_value(role)),
        ("content", content),
        ("created_at", Some(time_tree(created))),
        ("parent_id", row.parent.clone().map(Tree::Text)),
        ("model", part.model.clone().map(Tree::Text)),
        ("is_thought", Some(Tree::Bool(part.content_type == "thinking"))),
        ("attachments", (!files.is_empty()).then_some(Tree::Array(files))),
    ]);
    let conversation_id = conversation
        .and_then(|key| context.first_pass.conversations.get(key))
        .map(|t| t.id.clone())
        .unwrap_or_default();
    let mapped = to_record::message(&tree, &context.first_pass.home_scope, &conversation_id, usize::MAX);
    let difference = extension::difference(&mapped, record, false);
    extension::report_losses(&stored.id, &difference, losses);
    report_missing_time(stored, losses);
    extension::attach(&mut tree, difference, Some(&stored.id));
    row.tree = tree;
    row
}

fn patch_message(stored: &StoredRecord, tree: &mut Tree, losses: &mut LossReport) {
    let record = &stored.record;
    if to_record::message_text(tree) != record.text {
        let old_content = tree.get("content").cloned();
        let mut content = old_content
            .filter(|c| to_record::text(c, "type") == Some("text"))
            .unwrap_or_else(|| object([("type", text_value("text"))]));
        content.set("type", Tree::Text("text".into()));
        content.set("text", Tree::Text(record.text.clone()));
        content.remove("parts");
        tree.set("content", content);
        if matches!(tree.get("tool_calls"), Some(Tree::Array(calls)) if !calls.is_empty()) {
            tree.remove("tool_calls");
            losses.add(&stored.id, "tool_calls", LossKind::LeftOut, "the edited text was part of them");
        }
    }
    attach_message_slot(stored, tree, losses);
}

/// Fills the extension slot of a message with the values of the record that the message cannot express.
fn attach_message_slot(stored: &StoredRecord, tree: &mut Tree, losses: &mut LossReport) {
    let record = &stored.record;
    extension::detach(tree);
    let scope = &record.key.scope;
    let conversation = record.parent.as_ref().and_then(|k| k.value.strip_prefix("conversation/")).unwrap_or_default();
    let position = record.message.as_ref().map_or(0, |m| m.position as usize);
    let mut mapped = to_record::message(tree, scope, conversation, position);
    if let (Some(mapped), Some(part)) = (&mut mapped.message, &record.message) {
        mapped.active = part.active;
    }
    let mut record = record.clone();
    record.fields.clone_from(&mapped.fields);
    let difference = extension::difference(&mapped, &record, true);
    extension::report_losses(&stored.id, &difference, losses);
    extension::attach(tree, difference, None);
}

fn patch(tree: &mut Tree, unedited: &Record, record: &Record) {
    debug_assert_eq!(record.kind, Kind::Conversation);
    if unedited.title != record.title {
        match &record.title {
            Some(title) => tree.set("title", Tree::Text(title.clone())),
            None => tree.remove("title"),
        }
    }
    if unedited.tags != record.tags {
        tree.set("tags", tags(&record.tags));
    }
    if unedited.times.updated != record.times.updated
        && let Some(time) = record.times.updated
    {
        let mut block = tree.get("temporal").cloned().unwrap_or(Tree::Object(vec![]));
        block.set("updated_at", time_tree(time));
        tree.set("temporal", block);
    }
    if unedited.status != record.status && tree.get("messages").is_some() {
        tree.set("is_archived", Tree::Bool(record.status.as_deref() == Some("archived")));
    }
}
