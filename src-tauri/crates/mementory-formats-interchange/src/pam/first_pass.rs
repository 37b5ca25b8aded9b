//! The first pass over all records. It determines which records are exported, their ids in the export, and why the
//! other records are withheld. The second pass writes references only to exported records.
use super::{
    bundle::{Bundle, KEY_SCOPE},
    document::{self, Document},
    increment::STORE_FILE,
    to_record,
};
use crate::detect;
use mementory_format::{Catalog, FormatError, RecordSource, StoredRecord, WriteOptions};
use mementory_json::Tree;
use mementory_model::{Kind, Limits, Record, Timestamp};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::Read,
    path::Path,
};

/// The list that a record is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    Memory,
    Relation,
    Conversation,
    Message,
    /// An embedding whose memory was not imported. Such an embedding was imported as a separate record.
    Vector,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ExportedConversation {
    pub id: String,
    pub messages: usize,
    /// The earliest time of a message of the conversation.
    pub first_message: Option<Timestamp>,
    /// Ids of the memories derived from the conversation, each with true if the memory is from the home store.
    pub derived: Vec<(String, bool)>,
}

/// The earlier export that an incremental export continues.
struct BaseExport {
    export_id: Option<String>,
    date: Option<Timestamp>,
    memories: HashSet<String>,
    conversations: HashSet<String>,
}

/// Result of the first pass. The home store is the imported store from which the largest number of records was
/// imported. Its records keep their ids, and are exported unchanged unless they were edited.
#[derive(Default)]
pub(super) struct FirstPass {
    /// Key scope of the home store. Empty if no record was read from PAM.
    pub home_scope: String,
    /// The home store without its records.
    pub envelope: Option<Tree>,
    pub embeddings_envelope: Option<Tree>,
    pub incremental: bool,
    pub since: Option<Timestamp>,
    pub base_export_id: Option<String>,
    /// Exported id of each memory, by vault id.
    pub memories: HashMap<String, String>,
    /// Ids of all exported memories.
    pub memory_ids: HashSet<String>,
    /// Exported conversations by vault id. The key of a stub is `stub:…` instead.
    pub conversations: HashMap<String, ExportedConversation>,
    /// For each message, by its vault id: the key of its conversation in `conversations`, and the exported id of the
    /// message.
    pub messages: HashMap<String, (String, String)>,
    /// Vault ids of memories that must not be exported.
    pub withheld_ids: HashSet<String>,
    pub withheld: BTreeMap<String, u64>,
    /// Account ids to remove when identifiers are stripped.
    pub identifiers: HashSet<String>,
    /// Vault ids of attachments that are part of a message of the home store.
    attachments_in_messages: HashSet<String>,
}

struct Candidate {
    id: String,
    destination: Destination,
    scope: Option<String>,
    origin_id: Option<String>,
    exportable: bool,
    time: Option<Timestamp>,
    edited: bool,
    superseded_by: Vec<String>,
    conversation: Option<String>,
    derived_from: Vec<String>,
    parent: Option<String>,
}

/// Converts a vault id to a UUID.
pub(super) fn uuid(id: &str) -> String {
    let mut bytes = [0u8; 16];
    if hex::decode_to_slice(id, &mut bytes).is_err() {
        return digest_uuid(id);
    }
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

/// A UUID derived from a text.
pub(super) fn digest_uuid(text: &str) -> String {
    use sha2::{Digest, Sha256};
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&Sha256::digest(text)[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

/// True if the record was read from a PAM store and has a verbatim.
fn is_from_pam(record: &Record) -> bool {
    record.origin.format == KEY_SCOPE
        && record.verbatim.is_some()
        && (record.key.scope == KEY_SCOPE || record.key.scope.starts_with("pam:"))
}

fn is_vector(record: &Record) -> bool {
    record.kind == Kind::Foreign && record.origin.pointer.starts_with("/embeddings/")
}

impl FirstPass {
    /// True for a record of the home store. Such a record is exported unchanged unless it was edited.
    pub fn is_from_home(&self, record: &Record) -> bool {
        let at_home = is_from_pam(record) && record.key.scope == self.home_scope;
        at_home && (record.kind == Kind::Memory || self.destination(record) != Destination::Memory)
    }

    /// True for an unedited attachment that a message of the home store already describes. Reliable only if the source
    /// lists messages before attachments.
    pub fn is_in_message(&self, stored: &StoredRecord) -> bool {
        let record = &stored.record;
        let is_bare_attachment = record.kind == Kind::Attachment && record.verbatim.is_none() && !stored.edited;
        is_bare_attachment && self.attachments_in_messages.contains(&stored.id)
    }

    /// The list that a record is written to.
    pub fn destination(&self, record: &Record) -> Destination {
        let at_home = is_from_pam(record) && record.key.scope == self.home_scope;
        match record.kind {
            Kind::Conversation => Destination::Conversation,
            Kind::Message => Destination::Message,
            Kind::Relation if at_home => Destination::Relation,
            Kind::Foreign if at_home && is_vector(record) => Destination::Vector,
            _ => Destination::Memory,
        }
    }

    /// Reads all records of a source and decides which are exported.
    pub fn run(source: &mut dyn RecordSource, options: &WriteOptions, limits: &Limits) -> Result<Self, FormatError> {
        let mut first_pass = FirstPass::default();
        let base = options.base.as_deref().map(|path| BaseExport::open(path, limits)).transpose()?;
        first_pass.incremental = options.since.is_some() || base.is_some();
        first_pass.since = options.since.or(base.as_ref().and_then(|b| b.date));
        first_pass.base_export_id = base.as_ref().and_then(|b| b.export_id.clone());
        let envelopes = collect_envelopes(source, limits)?;
        first_pass.home_scope = find_home_scope(source, &envelopes)?;
        if let Some(envelope) = envelopes.get(&first_pass.home_scope) {
            first_pass.envelope.clone_from(&envelope.0);
            first_pass.embeddings_envelope.clone_from(&envelope.1);
        }
        let (mut entries, mut seen) = (Vec::new(), HashSet::new());
        source.records(&mut |stored| {
            if !seen.insert(stored.id.clone()) {
                return Ok(());
            }
            first_pass.identifiers.extend(stored.record.source.account.clone());
            if stored.record.kind == Kind::Message && first_pass.is_from_home(&stored.record) {
                first_pass.attachments_in_messages.extend(stored.attachment_ids.iter().cloned());
            }
            if !first_pass.is_in_message(&stored) {
                entries.push(first_pass.candidate(stored));
            }
            Ok(())
        })?;
        first_pass.select_memories(&entries, base.as_ref());
        Ok(first_pass)
    }

    fn candidate(&self, stored: StoredRecord) -> Candidate {
        let record = &stored.record;
        let destination = self.destination(record);
        let is_from_home = self.is_from_home(record);
        let access = record.fields.get("access").filter(|_| record.origin.format == KEY_SCOPE);
        let t = &record.times;
        let linked_ids = |wanted: &dyn Fn(&str, Kind) -> bool| -> Vec<String> {
            let links = record.links.iter().zip(&stored.link_ids);
            links.filter(|(l, _)| wanted(&l.relation, l.kind)).filter_map(|(_, id)| id.clone()).collect()
        };
        Candidate {
            destination,
            scope: is_from_home.then(|| record.key.scope.clone()),
            // Of several records with the same id, only the one whose key has no suffix keeps the id.
            origin_id: record.origin_id.clone().filter(|id| record.key.value.ends_with(&format!("/{id}"))),
            // The format forbids values that are not booleans, such as "false" or 0. They are no permission.
            exportable: matches!(
                access.and_then(|a| a.get("exportable")),
                None | Some(Value::Null | Value::Bool(true))
            ),
            time: t.created.max(t.updated).or(t.observed).or(t.valid_from).max(stored.changed),
            edited: stored.edited,
            superseded_by: linked_ids(&|relation, kind| relation == "superseded_by" && kind == Kind::Memory),
            conversation: linked_ids(&|_, kind| kind == Kind::Conversation).into_iter().next(),
            derived_from: linked_ids(&|relation, kind| relation == "derived_from" && kind == Kind::Memory),
            parent: match record.kind {
                Kind::Message => stored.parent_id.clone().or_else(|| record.parent.as_ref().map(|k| k.value.clone())),
                _ => None,
            },
            id: stored.id,
        }
    }

    fn select_memories(&mut self, entries: &[Candidate], base: Option<&BaseExport>) {
        let memories = || entries.iter().filter(|e| e.destination == Destination::Memory);
        let withhold = |out: &mut Self, id: &str, reason: &str| {
            if out.withheld_ids.insert(id.to_owned()) {
                *out.withheld.entry(reason.into()).or_default() += 1;
            }
        };
        for entry in memories().filter(|e| !e.exportable) {
            withhold(self, &entry.id, "not_exportable");
        }
        // A memory derived from a withheld memory is withheld too, because it may repeat the withheld content.
        loop {
            let before = self.withheld_ids.len();
            for entry in memories() {
                if entry.derived_from.iter().any(|id| self.withheld_ids.contains(id)) {
                    withhold(self, &entry.id, "made_from_not_exportable");
                }
            }
            if self.withheld_ids.len() == before {
                break;
            }
        }
        let exported_id = |e: &Candidate| match &e.origin_id {
            Some(id) if e.scope.is_some() => id.clone(),
            _ => uuid(&e.id),
        };
        let is_newer = |time: Option<Timestamp>, since: Option<Timestamp>| match (time, since) {
            (Some(time), Some(since)) => time > since,
            _ => true,
        };
        let mut unchanged_entries: HashMap<&str, &Candidate> = HashMap::new();
        for entry in memories().filter(|e| !self.withheld_ids.contains(&e.id)) {
            let id = exported_id(entry);
            let is_unknown_to_base = base.is_some_and(|b| !b.memories.contains(&id));
            // A memory without a time counts as unchanged if the base contains it and it was not edited.
            let is_unchanged = entry.time.is_none() && !entry.edited && base.is_some();
            if !self.incremental || is_unknown_to_base || !is_unchanged && is_newer(entry.time, self.since) {
                self.memories.insert(entry.id.clone(), id);
            } else {
                unchanged_entries.insert(&entry.id, entry);
            }
        }
        // Memories that supersede an exported memory are exported too, so that there are no dangling references.
        let mut pending: Vec<&Candidate> = memories().filter(|e| self.memories.contains_key(&e.id)).collect();
        while let Some(entry) = pending.pop() {
            for next in entry.superseded_by.iter().filter_map(|id| unchanged_entries.remove(id.as_str())) {
                self.memories.insert(next.id.clone(), exported_id(next));
                pending.push(next);
            }
        }
        if !unchanged_entries.is_empty() {
            self.withheld.insert("unchanged".into(), unchanged_entries.len() as u64);
        }
        self.memory_ids = self.memories.values().cloned().collect();
        self.select_conversations(entries, base, &exported_id, &is_newer);
    }

    fn select_conversations(
        &mut self,
        entries: &[Candidate],
        base: Option<&BaseExport>,
        exported_id: &dyn Fn(&Candidate) -> String,
        is_newer: &dyn Fn(Option<Timestamp>, Option<Timestamp>) -> bool,
    ) {
        let mut conversations: HashMap<String, (ExportedConversation, bool)> = HashMap::new();
        for entry in entries.iter().filter(|e| e.destination == Destination::Conversation) {
            let id = exported_id(entry);
            let is_unknown_to_base = base.is_some_and(|b| !b.conversations.contains(&id));
            let included = !self.incremental || is_unknown_to_base || is_newer(entry.time, self.since);
            conversations
                .insert(entry.id.clone(), (ExportedConversation { id, ..ExportedConversation::default() }, included));
        }
        for entry in entries.iter().filter(|e| e.destination == Destination::Message) {
            let parent = entry.parent.clone().unwrap_or_default();
            let key = if conversations.contains_key(&parent) { parent } else { format!("stub:{parent}") };
            let slot = conversations.entry(key.clone()).or_insert_with(|| {
                let id = digest_uuid(&key);
                (ExportedConversation { id, ..ExportedConversation::default() }, !self.incremental)
            });
            slot.0.messages += 1;
            slot.0.first_message = [slot.0.first_message, entry.time].into_iter().flatten().min();
            slot.1 |= is_newer(entry.time, self.since) && entry.time.is_some();
            self.messages.insert(entry.id.clone(), (key, exported_id(entry)));
        }
        for entry in entries.iter().filter(|e| e.destination == Destination::Memory) {
            let Some(memory) = self.memories.get(&entry.id) else { continue };
            if let Some((conversation, included)) = entry.conversation.as_ref().and_then(|id| conversations.get_mut(id))
            {
                *included = true;
                conversation.derived.push((memory.clone(), entry.scope.is_some()));
            }
        }
        let unchanged_count = conversations.values().filter(|(_, included)| !included).count() as u64;
        if unchanged_count > 0 {
            *self.withheld.entry("unchanged".into()).or_default() += unchanged_count;
        }
        self.conversations = conversations
            .into_iter()
            .filter(|(_, (_, included))| *included)
            .map(|(key, (conversation, _))| (key, conversation))
            .collect();
        let conversations = &self.conversations;
        self.messages.retain(|_, (key, _)| conversations.contains_key(key));
    }
}

type Envelopes = BTreeMap<String, (Option<Tree>, Option<Tree>)>;

/// Envelopes of imported stores and embeddings files, by key scope. If several stores have the same scope, the store
/// with the latest `export_date` is used.
fn collect_envelopes(source: &mut dyn RecordSource, limits: &Limits) -> Result<Envelopes, FormatError> {
    let mut envelopes = Envelopes::new();
    source.passthrough(KEY_SCOPE, &mut |item, bytes| {
        if item.role != "manifest" {
            return Ok(());
        }
        let mut text = String::new();
        let read = bytes.take(limits.side_file_bytes).read_to_string(&mut text);
        let Some(tree) = read.ok().and_then(|_| Tree::parse(&text, limits.json_depth).ok()) else { return Ok(()) };
        let slot = envelopes.entry(item.group.clone()).or_default();
        let date = |tree: &Tree| tree.get("export_date").and_then(Tree::as_str).and_then(Timestamp::parse);
        match item.name.as_str() {
            STORE_FILE if slot.0.as_ref().is_none_or(|old| date(old) <= date(&tree)) => slot.0 = Some(tree),
            "embeddings.json" => slot.1 = Some(tree),
            _ => {}
        }
        Ok(())
    })?;
    Ok(envelopes)
}

/// Key scope of the store from which the largest number of records was imported.
fn find_home_scope(source: &mut dyn RecordSource, envelopes: &Envelopes) -> Result<String, FormatError> {
    let mut counts: BTreeMap<String, u64> = envelopes.keys().map(|scope| (scope.clone(), 0)).collect();
    source.records(&mut |stored| {
        if is_from_pam(&stored.record) {
            *counts.entry(stored.record.key.scope).or_default() += 1;
        }
        Ok(())
    })?;
    let largest = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    Ok(largest.map(|(scope, _)| scope).unwrap_or_default())
}

impl BaseExport {
    fn open(path: &Path, limits: &Limits) -> Result<Self, FormatError> {
        let place = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let not_recognised = || FormatError::invalid("base_not_recognised", &place, "the base is not a PAM export");
        let catalog = Catalog::open(&[path.to_path_buf()], limits, None)?;
        let detection = detect(&catalog, limits, Some(KEY_SCOPE))?;
        let source = detection.sources.first().ok_or_else(not_recognised)?;
        let bundle = Bundle::open(&catalog, source, limits)?;
        let store = bundle.store.ok_or_else(not_recognised)?;
        let text = document::read_text(&catalog, store, limits)?;
        let doc = Document::open(&text, &store.place)?;
        let ids = |list: &str| -> HashSet<String> {
            let trees = doc.list(list).into_iter().filter_map(|raw| Tree::from_raw(raw, limits.json_depth).ok());
            trees.filter_map(|t| to_record::id(&t, "id").map(str::to_owned)).collect()
        };
        Ok(Self {
            export_id: doc.id_member("export_id"),
            date: doc.text_member("export_date").as_deref().and_then(Timestamp::parse),
            memories: ids("memories"),
            conversations: ids("conversations_index"),
        })
    }
}
