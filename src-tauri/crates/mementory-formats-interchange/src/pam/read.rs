//! Reads a source. The whole source is checked first; a wrong checksum or an unsupported version ends the import. Then
//! envelopes, memories, relations, conversations with their messages, and embeddings without a memory are sent to the
//! sink.
use super::{
    bundle::{Bundle, KEY_SCOPE, scope},
    conformance::{check_opened, path_in_bundle},
    document::{self, Document},
    extension::{is_stub, restore},
    increment::STORE_FILE,
    invalid_values::had_empty_content,
    report::Integrity,
    salvage::{DAMAGED_MEMORY_CODE, is_intact},
    to_record,
};
use crate::{
    seen_records::{Occurrence, SeenRecords},
    text_digest::digest,
};
use mementory_format::{Detected, FormatError, Member, PassthroughItem, ReadContext, Sink, restore_from_slot};
use mementory_json::Tree;
use mementory_model::{
    Bounds, Dropped, DroppedAs, Embedding, Issue, Kind, Limits, Origin, Record, RecordKey, Unit, Verbatim, is_damage,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Number of findings that are sent to the sink as notes. Of the findings after these, only the first with each code is
/// sent.
const MAX_NOTES: usize = 500;

/// Reads a source into the sink.
pub(super) fn read(
    bundle: &Bundle,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    read_source(bundle, detected, context, ReadMode::Restore, sink)
}

/// Like [`read`], but ignores the extension slots.
pub(super) fn read_elements(
    bundle: &Bundle,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    read_source(bundle, detected, context, ReadMode::Elements, sink)
}

/// Reads the undamaged parts of a source: all readable files, except memories that do not match their content hash or
/// the schema in a store with a wrong checksum.
pub(super) fn salvage(
    bundle: &Bundle,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    read_source(bundle, detected, context, ReadMode::Salvage, sink)
}

#[derive(Clone, Copy, PartialEq)]
enum ReadMode {
    /// Records are restored from extension slots.
    Restore,
    /// Like `Restore`, but damaged parts are left out.
    Salvage,
    /// Extension slots are ignored.
    Elements,
}

fn read_source(
    bundle: &Bundle,
    detected: &Detected,
    context: &ReadContext,
    mode: ReadMode,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let is_salvage = mode == ReadMode::Salvage;
    // The text is read once, both for the check and for the records.
    let text = bundle.store.map(|store| document::read_text(bundle.catalog, store, bundle.limits)).transpose()?;
    let opened = bundle.store.zip(text.as_deref());
    let doc = opened.map(|(store, text)| Document::open(text, &store.place)).transpose()?;
    let store = bundle.store.zip(doc.as_ref());
    let mut report = check_opened(bundle, store, &mut || sink.progress(0))?;
    if let Some(refusal) = report.refusal.take_if(|_| !is_salvage) {
        return Err(refusal);
    }
    if let Some(refusal) = report.similar_names.take() {
        return Err(refusal);
    }
    if let Some(place) = report.too_large {
        return Err(FormatError::Limit { limit: "tree_bytes", place, figure: context.limits.tree_bytes });
    }
    let is_mismatch = report.integrity == Integrity::Mismatch;
    if is_mismatch && !is_salvage {
        let place = bundle.store.map_or_else(String::new, |s| format!("{}/integrity/checksum", s.place));
        let message = "the memories are not those that the checksum was made of";
        return Err(FormatError::invalid("checksum_mismatch", place, message));
    }
    let mut codes: HashSet<&str> = HashSet::new();
    for (number, finding) in report.errors.iter().chain(&report.warnings).enumerate() {
        // The first finding with each code is always sent.
        if !codes.insert(&finding.code) && number >= MAX_NOTES {
            continue;
        }
        sink.note(Issue { code: finding.code.clone(), place: finding.place.clone(), message: finding.message.clone() });
    }
    if report.kind.as_deref() == Some("incremental") {
        let place = bundle.store.map_or("", |s| s.place.as_str());
        sink.note(Issue::new("incremental", place, "only what changed since an earlier export"));
    }
    let scope = scope(report.outline.as_ref());
    let version = detected.claim.version.clone().or_else(|| report.version.clone());
    let mut reader = StoreReader {
        bundle,
        unreadable: &report.unreadable,
        only_intact_memories: is_mismatch,
        is_salvage,
        restores: mode != ReadMode::Elements,
        bounds: Bounds::from(&context.limits),
        version,
        scope,
        sent: 0,
        seen: SeenRecords::default(),
        vectors: BTreeMap::new(),
        sink,
    };
    let (conversations, embeddings) = (bundle.conversations.iter(), bundle.embeddings.iter());
    let companions = conversations.map(|m| (m, Kind::Conversation)).chain(embeddings.map(|m| (m, Kind::Foreign)));
    for (member, kind) in companions.filter(|(member, _)| report.other_versions.contains(&member.id)) {
        reader.report_failed(member.place.clone(), "unsupported_version: its version is not supported", kind);
    }
    reader.read_vectors()?;
    if let Some((store, doc)) = store {
        reader.read_store(store, doc, report.memories_checksum.as_deref())?;
    } else {
        let members = bundle.conversations.clone();
        for member in members.into_iter().filter(|member| !report.unreadable.contains(&member.id)) {
            reader.read_conversation(None, Some(member))?;
        }
    }
    reader.send_unmatched_vectors()?;
    reader.send_passthrough_files()
}

/// One embedding of the embeddings file.
struct Vector {
    json: String,
    model: String,
    place: (String, usize),
}

struct StoreReader<'a> {
    bundle: &'a Bundle<'a>,
    /// Catalog ids of unreadable files, which a salvage skips.
    unreadable: &'a HashSet<usize>,
    /// True if memories that do not match their content hash or the schema are skipped.
    only_intact_memories: bool,
    is_salvage: bool,
    /// True if records are restored from extension slots.
    restores: bool,
    bounds: Bounds,
    version: Option<String>,
    scope: String,
    sent: u64,
    /// The records that were sent so far.
    seen: SeenRecords,
    /// Embeddings by memory id, until their memory is read.
    vectors: BTreeMap<String, Vec<Vector>>,
    sink: &'a mut dyn Sink,
}

impl StoreReader<'_> {
    fn limits(&self) -> &Limits {
        self.bundle.limits
    }

    fn finish_member(&mut self, member: &Member) -> Result<(), FormatError> {
        self.sent += member.size;
        self.sink.progress(self.sent)
    }

    fn origin(&self, place: &str, pointer: String) -> Origin {
        Origin { format: KEY_SCOPE.into(), version: self.version.clone(), container: place.to_owned(), pointer }
    }

    fn report_failed(&mut self, place: String, reason: &str, kind: Kind) {
        self.sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason: reason.into(), kind: Some(kind) });
    }

    /// Makes the key of a record unique with a suffix `#2`, `#3` and so on. Returns false if a record with the same key
    /// and source text was already sent. The caller must then skip this record.
    fn resolve_key(&mut self, record: &mut Record, source: &str, place: &str) -> bool {
        if self.seen.add(&mut record.key, digest(source)) != Occurrence::Duplicate {
            return true;
        }
        let reason = "duplicate: the same words under the same id".into();
        let kind = Some(record.kind);
        self.sink.dropped(Dropped { place: place.into(), outcome: DroppedAs::Skipped, reason, kind });
        false
    }

    fn read_vectors(&mut self) -> Result<(), FormatError> {
        let unreadable = self.unreadable;
        for member in self.bundle.embeddings.iter().filter(|member| !unreadable.contains(&member.id)) {
            let text = document::read_text(self.bundle.catalog, member, self.limits())?;
            let doc = Document::open(&text, &member.place)?;
            for (i, raw) in doc.list("embeddings").into_iter().enumerate() {
                let Ok(tree) = Tree::from_raw(raw, self.bounds) else {
                    self.report_failed(
                        format!("{}/embeddings/{i}", member.place),
                        "malformed: not a vector",
                        Kind::Foreign,
                    );
                    continue;
                };
                let model = to_record::text(&tree, "model").unwrap_or_default().to_owned();
                let memory = to_record::id(&tree, "memory_id").unwrap_or_default().to_owned();
                let vector = Vector { json: raw.get().to_owned(), model, place: (member.place.clone(), i) };
                self.vectors.entry(memory).or_default().push(vector);
            }
            let envelope = super::envelope::embeddings(&doc, self.bounds);
            self.send_envelope("embeddings.json", "manifest", member, envelope.as_bytes())?;
            self.finish_member(member)?;
        }
        Ok(())
    }

    /// Reads a store: envelope, memories, relations, conversations.
    fn read_store(&mut self, member: &Member, doc: &Document, checksum: Option<&str>) -> Result<(), FormatError> {
        let envelope = super::envelope::store(doc, checksum, self.bounds);
        self.send_envelope(STORE_FILE, "manifest", member, envelope.as_bytes())?;
        for (i, raw) in doc.list("memories").into_iter().enumerate() {
            self.read_memory(member, i, raw.get())?;
        }
        for (i, raw) in doc.list("relations").into_iter().enumerate() {
            self.read_relation(member, i, raw.get())?;
        }
        self.read_conversations(member, doc)?;
        self.finish_member(member)
    }

    fn read_memory(&mut self, member: &Member, i: usize, source: &str) -> Result<(), FormatError> {
        let pointer = format!("/memories/{i}");
        let place = format!("{}{pointer}", member.place);
        let tree = match Tree::parse(source, self.bounds) {
            Ok(tree @ Tree::Object(_)) => tree,
            _ => {
                self.report_failed(
                    place,
                    "malformed: not an object, nested too deeply, too large, or with text that is not valid Unicode",
                    Kind::Memory,
                );
                return Ok(());
            }
        };
        if to_record::id(&tree, "id").is_none_or(str::is_empty) || to_record::text(&tree, "content").is_none() {
            self.report_failed(place, "malformed: a memory needs an id and a content", Kind::Memory);
            return Ok(());
        }
        if self.only_intact_memories && !is_intact(&tree) {
            let reason = format!("{DAMAGED_MEMORY_CODE}: it does not match its own hash or the schema");
            self.report_failed(place, &reason, Kind::Memory);
            return Ok(());
        }
        let mut mapped = to_record::memory(&tree, &self.scope);
        if had_empty_content(&tree) {
            mapped.text = String::new();
        }
        let id = mapped.origin_id.clone().unwrap_or_default();
        if let Some(vectors) = self.vectors.remove(&id) {
            mapped.embeddings = vectors.into_iter().map(|v| Embedding { model: v.model, json: v.json }).collect();
        }
        mapped.origin = self.origin(&member.place, pointer);
        self.send(&tree, mapped, source, place)
    }

    /// Restores a record with its extension slot and sends it to the sink.
    fn send(&mut self, tree: &Tree, mapped: Record, source: &str, place: String) -> Result<(), FormatError> {
        match self.restore_record(tree, mapped, source, &place) {
            Some(record) => self.sink.unit(Unit::from(record)),
            None => Ok(()),
        }
    }

    fn restore_record(&mut self, tree: &Tree, mapped: Record, source: &str, place: &str) -> Option<Record> {
        let verbatim = Verbatim::json(source);
        let mut export_id = None;
        let restored = restore_from_slot(source, self.restores, || restore(tree, &mapped, &verbatim));
        let mut record = match restored {
            Some(restored) => {
                if restored.changed {
                    let message = "changed by another program; its values are taken";
                    self.sink.note(Issue::new("changed_elsewhere", place, message));
                }
                export_id = restored.export_id;
                restored.record
            }
            None => Record { verbatim: Some(verbatim), ..mapped },
        };
        if !self.resolve_key(&mut record, source, place) {
            return None;
        }
        if let Some(id) = export_id {
            self.sink.export_id(&record.key, &id);
        }
        Some(record)
    }

    fn read_relation(&mut self, member: &Member, i: usize, source: &str) -> Result<(), FormatError> {
        let pointer = format!("/relations/{i}");
        let place = format!("{}{pointer}", member.place);
        let tree = Tree::parse(source, self.bounds).ok();
        let Some(tree) = tree.filter(|t| ["id", "from", "to"].iter().all(|k| to_record::id(t, k).is_some())) else {
            self.report_failed(place, "malformed: a relation needs id, from and to", Kind::Relation);
            return Ok(());
        };
        let mut record = to_record::relation(&tree, &self.scope);
        record.origin = self.origin(&member.place, pointer);
        record.verbatim = Some(Verbatim::json(source));
        if self.resolve_key(&mut record, source, &place) {
            self.sink.unit(Unit::from(record))?;
        }
        Ok(())
    }

    /// Reads the entries of the index with their files, then the files that the index does not list.
    fn read_conversations(&mut self, store: &Member, doc: &Document) -> Result<(), FormatError> {
        let mut files: BTreeMap<String, &Member> = BTreeMap::new();
        let mut ids: HashMap<usize, String> = HashMap::new();
        let unreadable = self.unreadable;
        let (left_out, readable): (Vec<&Member>, Vec<&Member>) =
            self.bundle.conversations.iter().copied().partition(|member| unreadable.contains(&member.id));
        let unreadable_paths: HashSet<&str> = left_out.into_iter().map(|m| self.bundle.path_of(m)).collect();
        for member in &readable {
            let text = document::read_text(self.bundle.catalog, member, self.limits())?;
            let id = Document::open(&text, &member.place)?.id_member("id").unwrap_or_default();
            ids.insert(member.id, id.clone());
            files.entry(id).or_insert(member);
        }
        let paths: HashMap<&str, &Member> = readable.iter().map(|m| (self.bundle.path_of(m), *m)).collect();
        let mut used_files: HashSet<usize> = HashSet::new();
        for (i, raw) in doc.list("conversations_index").into_iter().enumerate() {
            let place = format!("{}/conversations_index/{i}", store.place);
            let tree = Tree::from_raw(raw, self.bounds).ok();
            let Some(tree) = tree.filter(|t| to_record::id(t, "id").is_some_and(|id| !id.is_empty())) else {
                self.report_failed(place, "malformed: an entry of the index needs an id", Kind::Conversation);
                continue;
            };
            let id = to_record::id(&tree, "id").unwrap_or_default();
            let path = to_record::nested_text(&tree, "storage", "ref").and_then(path_in_bundle);
            let by_path = || path.as_deref().and_then(|path| paths.get(path));
            // Several files may have the id, such as a copy. The index names the one that is meant.
            let named = by_path().filter(|member| ids.get(&member.id).is_some_and(|known| known == id));
            let file = named.or_else(|| files.get(id)).or_else(by_path).copied();
            let file = file.filter(|m| used_files.insert(m.id));
            let is_in_file = to_record::nested_text(&tree, "storage", "type") == Some("file");
            let is_unreadable = path.is_some_and(|path| unreadable_paths.contains(path.as_str()));
            if file.is_none() && is_in_file && !is_unreadable {
                self.sink.note(Issue::new("conversation_missing", &place, "the file that it names is not here"));
            }
            self.read_conversation(Some((store, i, raw.get(), &tree)), file)?;
        }
        let not_in_index: Vec<&Member> = readable.iter().copied().filter(|m| !used_files.contains(&m.id)).collect();
        for member in not_in_index {
            self.read_conversation(None, Some(member))?;
        }
        Ok(())
    }

    fn read_conversation(
        &mut self,
        index: Option<(&Member, usize, &str, &Tree)>,
        file: Option<&Member>,
    ) -> Result<(), FormatError> {
        let text = match file {
            Some(member) => document::read_text(self.bundle.catalog, member, self.limits())?,
            None => String::new(),
        };
        let doc = file.map(|member| Document::open(&text, &member.place)).transpose()?;
        let outline = doc.as_ref().map(|d| d.outline(&["messages"], self.bounds));
        let mut head = to_record::conversation(index.map(|(.., tree)| tree), outline.as_ref(), &self.scope);
        let id = head.origin_id.clone().unwrap_or_default();
        let place = match (file, index) {
            (Some(member), _) => member.place.clone(),
            (None, Some((store, i, ..))) => format!("{}/conversations_index/{i}", store.place),
            (None, None) => return Ok(()),
        };
        if id.is_empty() {
            self.report_failed(place, "malformed: a conversation needs an id", Kind::Conversation);
            return Ok(());
        }
        head.origin = match index {
            Some((store, i, ..)) => self.origin(&store.place, format!("/conversations_index/{i}")),
            None => self.origin(&place, String::new()),
        };
        let path = file.map(|m| self.bundle.path_of(m));
        let head_text = doc.as_ref().map(|d| outline_text(d, &["messages"]));
        let verbatim = super::envelope::conversation(index.map(|(_, _, raw, _)| raw), head_text.as_deref(), path);
        let mut unit = Unit::default();
        let tree = outline.unwrap_or(Tree::Null);
        if !self.restores || !is_stub(&tree) {
            unit.records.extend(self.restore_record(&tree, head, &verbatim, &place));
        }
        if let (Some(doc), Some(member)) = (doc, file) {
            let messages = doc.list("messages");
            // All messages are in memory at the same time, so they share one memory limit.
            let mut remaining = self.bounds;
            let trees: Vec<Option<Tree>> =
                messages.iter().map(|raw| Tree::from_raw_within(raw, &mut remaining).ok()).collect();
            let active = active_branch(&trees);
            for (i, (raw, tree)) in messages.iter().zip(&trees).enumerate() {
                let pointer = format!("/messages/{i}");
                let at = format!("{}{pointer}", member.place);
                let Some(tree) = tree.as_ref().filter(|t| to_record::id(t, "id").is_some_and(|id| !id.is_empty()))
                else {
                    self.report_failed(at, "malformed: a message needs an id", Kind::Message);
                    continue;
                };
                let mut mapped = to_record::message(tree, &self.scope, &id, i);
                if let Some(part) = &mut mapped.message {
                    part.active = active.contains(&i);
                }
                mapped.origin = self.origin(&member.place, pointer);
                unit.records.extend(self.restore_record(tree, mapped, raw.get(), &at));
            }
            self.finish_member(member)?;
        }
        if unit.records.is_empty() {
            return Ok(());
        }
        self.sink.unit(unit)
    }

    /// Sends a record for each embedding whose memory is not in this source, with the embedding as verbatim.
    fn send_unmatched_vectors(&mut self) -> Result<(), FormatError> {
        for (memory, vectors) in std::mem::take(&mut self.vectors) {
            for vector in vectors {
                let (place, i) = vector.place;
                let pointer = format!("/embeddings/{i}");
                let key = RecordKey::new(self.scope.clone(), format!("embedding/{memory}/{i}"));
                let mut record = Record::new(Kind::Foreign, key, "");
                record.record_type = Some("embedding".into());
                record.source.platform = KEY_SCOPE.into();
                record.origin = self.origin(&place, pointer);
                record.verbatim = Some(Verbatim::json(vector.json));
                self.sink.unit(Unit::from(record))?;
            }
        }
        Ok(())
    }

    fn send_envelope(&mut self, name: &str, role: &str, member: &Member, mut bytes: &[u8]) -> Result<(), FormatError> {
        let item = PassthroughItem {
            format: KEY_SCOPE.into(),
            group: self.scope.clone(),
            name: name.to_owned(),
            role: role.into(),
            place: member.place.clone(),
        };
        self.sink.passthrough(item, &mut bytes)
    }

    fn send_passthrough_files(&mut self) -> Result<(), FormatError> {
        let (bundle, scope) = (self.bundle, self.scope.clone());
        for member in &bundle.passthrough_files {
            let item = PassthroughItem {
                format: KEY_SCOPE.into(),
                group: scope.clone(),
                name: bundle.path_of(member).to_owned(),
                role: "entry".into(),
                place: member.place.clone(),
            };
            match bundle.catalog.read(member, |r| self.sink.passthrough(item, r)) {
                Err(FormatError::Io { source, .. }) if self.is_salvage && is_damage(&source) => {
                    let (place, reason) = (member.place.clone(), format!("damaged_entry: {source}"));
                    self.sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind: None });
                }
                other => other?,
            }
            self.finish_member(member)?;
        }
        Ok(())
    }
}

/// The text of a document with empty lists, in its original order and spelling.
fn outline_text(doc: &Document, lists: &[&str]) -> String {
    let members = doc.members.iter().map(|(key, raw)| {
        let is_list = lists.contains(&key.as_ref()) && raw.get().starts_with('[');
        (key.as_ref(), if is_list { "[]" } else { raw.get() })
    });
    super::envelope::object(members)
}

/// Indexes of the messages on the branch that ends with the last message, or of all messages if none has a parent.
fn active_branch(trees: &[Option<Tree>]) -> HashSet<usize> {
    let parent = |i: usize| trees[i].as_ref().and_then(|t| to_record::id(t, "parent_id")).filter(|p| !p.is_empty());
    if (0..trees.len()).all(|i| parent(i).is_none()) {
        return (0..trees.len()).collect();
    }
    let by_id: HashMap<&str, usize> =
        trees.iter().enumerate().filter_map(|(i, t)| Some((to_record::id(t.as_ref()?, "id")?, i))).collect();
    let mut out = HashSet::new();
    let mut at = trees.len().checked_sub(1);
    // Parents may form a cycle, so the loop also ends at an index that is already in the set.
    while let Some(i) = at.filter(|i| out.insert(*i)) {
        at = parent(i).and_then(|p| by_id.get(p).copied());
    }
    out
}
