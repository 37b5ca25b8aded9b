//! The first visit of all records: what goes out under which id, what stays behind and why. References are written only
//! to what goes out.
use super::{
    bundle::{Bundle, SCOPE},
    document::{self, Document},
    increment::FRAME,
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

/// Where a record goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Memory,
    Relation,
    Conversation,
    Message,
    /// A vector that belongs to no memory of the vault.
    Vector,
}

/// A conversation that goes out.
#[derive(Debug, Clone, Default)]
pub(super) struct Talk {
    pub id: String,
    pub messages: usize,
    /// Memories made from it, with whether they are this store's own.
    pub derived: Vec<(String, bool)>,
}

/// An earlier export.
struct Base {
    export_id: Option<String>,
    date: Option<Timestamp>,
    memories: HashSet<String>,
    conversations: HashSet<String>,
}

/// What is known before writing.
#[derive(Default)]
pub(super) struct Survey {
    /// Scope of the store whose records go back as they came.
    pub home: String,
    /// That store without its records.
    pub frame: Option<Tree>,
    pub embeddings_frame: Option<Tree>,
    pub incremental: bool,
    pub since: Option<Timestamp>,
    pub base_export_id: Option<String>,
    /// Vault id → id in the store.
    pub memories: HashMap<String, String>,
    /// Ids in the store of all memories that go out.
    pub names: HashSet<String>,
    /// Vault id (or `stub:…`) → conversation.
    pub talks: HashMap<String, Talk>,
    /// Vault id → conversation's key in `talks`, and id there.
    pub messages: HashMap<String, (String, String)>,
    /// Vault ids of what must not leave.
    pub withheld_ids: HashSet<String>,
    pub withheld: BTreeMap<String, u64>,
    /// Account ids that are left out when asked to.
    pub identifiers: HashSet<String>,
    /// Vault ids of files that this store's own messages name.
    named: HashSet<String>,
}

struct Entry {
    id: String,
    place: Place,
    scope: Option<String>,
    origin_id: Option<String>,
    exportable: bool,
    time: Option<Timestamp>,
    edited: bool,
    next: Vec<String>,
    talk: Option<String>,
    made_from: Vec<String>,
    parent: Option<String>,
}

/// The vault's id as a UUID.
pub(super) fn uuid(id: &str) -> String {
    let mut bytes = [0u8; 16];
    if hex::decode_to_slice(id, &mut bytes).is_err() {
        return digest_uuid(id);
    }
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

/// A UUID that follows from a text.
pub(super) fn digest_uuid(text: &str) -> String {
    use sha2::{Digest, Sha256};
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&Sha256::digest(text)[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

/// Did the record come from a PAM store, with its source?
fn native(record: &Record) -> bool {
    record.origin.format == SCOPE
        && record.verbatim.is_some()
        && (record.key.scope == SCOPE || record.key.scope.starts_with("pam:"))
}

fn is_vector(record: &Record) -> bool {
    record.kind == Kind::Foreign && record.origin.pointer.starts_with("/embeddings/")
}

impl Survey {
    /// Does the record go back as it came?
    pub fn own(&self, record: &Record) -> bool {
        let native = native(record) && record.key.scope == self.home;
        native && (record.kind == Kind::Memory || self.place(record) != Place::Memory)
    }

    /// A file that a message of this store names says nothing that the message does not say. Messages come before files.
    pub fn goes_with_message(&self, stored: &StoredRecord) -> bool {
        let record = &stored.record;
        let bare = record.kind == Kind::Attachment && record.verbatim.is_none() && !stored.edited;
        bare && self.named.contains(&stored.id)
    }

    /// Where a record goes.
    pub fn place(&self, record: &Record) -> Place {
        let own = native(record) && record.key.scope == self.home;
        match record.kind {
            Kind::Conversation => Place::Conversation,
            Kind::Message => Place::Message,
            Kind::Relation if own => Place::Relation,
            Kind::Foreign if own && is_vector(record) => Place::Vector,
            _ => Place::Memory,
        }
    }

    /// Visits everything once.
    pub fn make(source: &mut dyn RecordSource, options: &WriteOptions, limits: &Limits) -> Result<Self, FormatError> {
        let mut survey = Survey::default();
        let base = options.base.as_deref().map(|path| Base::open(path, limits)).transpose()?;
        survey.incremental = options.since.is_some() || base.is_some();
        survey.since = options.since.or(base.as_ref().and_then(|b| b.date));
        survey.base_export_id = base.as_ref().and_then(|b| b.export_id.clone());
        let frames = frames(source, limits)?;
        survey.home = home(source, &frames)?;
        if let Some(frame) = frames.get(&survey.home) {
            survey.frame.clone_from(&frame.0);
            survey.embeddings_frame.clone_from(&frame.1);
        }
        let (mut entries, mut seen) = (Vec::new(), HashSet::new());
        source.records(&mut |stored| {
            if !seen.insert(stored.id.clone()) {
                return Ok(());
            }
            survey.identifiers.extend(stored.record.source.account.clone());
            if stored.record.kind == Kind::Message && survey.own(&stored.record) {
                survey.named.extend(stored.attachment_ids.iter().cloned());
            }
            if !survey.goes_with_message(&stored) {
                entries.push(survey.entry(stored));
            }
            Ok(())
        })?;
        survey.decide(&entries, base.as_ref());
        Ok(survey)
    }

    fn entry(&self, stored: StoredRecord) -> Entry {
        let record = &stored.record;
        let place = self.place(record);
        let own = self.own(record);
        let access = record.fields.get("access").filter(|_| record.origin.format == SCOPE);
        let t = &record.times;
        let linked = |wanted: &dyn Fn(&str, Kind) -> bool| -> Vec<String> {
            let links = record.links.iter().zip(&stored.link_ids);
            links.filter(|(l, _)| wanted(&l.relation, l.kind)).filter_map(|(_, id)| id.clone()).collect()
        };
        Entry {
            place,
            scope: own.then(|| record.key.scope.clone()),
            origin_id: record.origin_id.clone(),
            exportable: access.and_then(|a| a.get("exportable")) != Some(&Value::Bool(false)),
            time: t.created.max(t.updated).or(t.observed).or(t.valid_from),
            edited: stored.edited,
            next: linked(&|relation, kind| relation == "superseded_by" && kind == Kind::Memory),
            talk: linked(&|_, kind| kind == Kind::Conversation).into_iter().next(),
            made_from: linked(&|relation, kind| relation == "derived_from" && kind == Kind::Memory),
            parent: match record.kind {
                Kind::Message => stored.parent_id.clone().or_else(|| record.parent.as_ref().map(|k| k.value.clone())),
                _ => None,
            },
            id: stored.id,
        }
    }

    fn decide(&mut self, entries: &[Entry], base: Option<&Base>) {
        let memories = || entries.iter().filter(|e| e.place == Place::Memory);
        let withhold = |out: &mut Self, id: &str, reason: &str| {
            if out.withheld_ids.insert(id.to_owned()) {
                *out.withheld.entry(reason.into()).or_default() += 1;
            }
        };
        for entry in memories().filter(|e| !e.exportable) {
            withhold(self, &entry.id, "not_exportable");
        }
        // What was made from a memory says what it says.
        loop {
            let before = self.withheld_ids.len();
            for entry in memories() {
                if entry.made_from.iter().any(|id| self.withheld_ids.contains(id)) {
                    withhold(self, &entry.id, "made_from_not_exportable");
                }
            }
            if self.withheld_ids.len() == before {
                break;
            }
        }
        let name = |e: &Entry| match &e.origin_id {
            Some(id) if e.scope.is_some() => id.clone(),
            _ => uuid(&e.id),
        };
        let fresh = |time: Option<Timestamp>, since: Option<Timestamp>| match (time, since) {
            (Some(time), Some(since)) => time > since,
            _ => true,
        };
        let mut stale: HashMap<&str, &Entry> = HashMap::new();
        for entry in memories().filter(|e| !self.withheld_ids.contains(&e.id)) {
            let name = name(entry);
            let unknown = base.is_some_and(|b| !b.memories.contains(&name));
            // Without a time nothing says that it changed, except an edit; without a base nothing says that it is known.
            let same = entry.time.is_none() && !entry.edited && base.is_some();
            if !self.incremental || unknown || !same && fresh(entry.time, self.since) {
                self.memories.insert(entry.id.clone(), name);
            } else {
                stale.insert(&entry.id, entry);
            }
        }
        // A changed memory takes along the one that replaces it, so that the file stands on its own.
        let mut open: Vec<&Entry> = memories().filter(|e| self.memories.contains_key(&e.id)).collect();
        while let Some(entry) = open.pop() {
            for next in entry.next.iter().filter_map(|id| stale.remove(id.as_str())) {
                self.memories.insert(next.id.clone(), name(next));
                open.push(next);
            }
        }
        if !stale.is_empty() {
            self.withheld.insert("unchanged".into(), stale.len() as u64);
        }
        self.names = self.memories.values().cloned().collect();
        self.talks(entries, base, &name, &fresh);
    }

    fn talks(
        &mut self,
        entries: &[Entry],
        base: Option<&Base>,
        name: &dyn Fn(&Entry) -> String,
        fresh: &dyn Fn(Option<Timestamp>, Option<Timestamp>) -> bool,
    ) {
        let mut all: HashMap<String, (Talk, bool)> = HashMap::new();
        for entry in entries.iter().filter(|e| e.place == Place::Conversation) {
            let id = name(entry);
            let unknown = base.is_some_and(|b| !b.conversations.contains(&id));
            let goes = !self.incremental || unknown || fresh(entry.time, self.since);
            all.insert(entry.id.clone(), (Talk { id, ..Talk::default() }, goes));
        }
        for entry in entries.iter().filter(|e| e.place == Place::Message) {
            let parent = entry.parent.clone().unwrap_or_default();
            let key = if all.contains_key(&parent) { parent } else { format!("stub:{parent}") };
            let slot = all.entry(key.clone()).or_insert_with(|| {
                let id = digest_uuid(&key);
                (Talk { id, ..Talk::default() }, !self.incremental)
            });
            slot.0.messages += 1;
            slot.1 |= fresh(entry.time, self.since) && entry.time.is_some();
            self.messages.insert(entry.id.clone(), (key, name(entry)));
        }
        for entry in entries.iter().filter(|e| e.place == Place::Memory) {
            let Some(memory) = self.memories.get(&entry.id) else { continue };
            if let Some((talk, goes)) = entry.talk.as_ref().and_then(|id| all.get_mut(id)) {
                *goes = true;
                talk.derived.push((memory.clone(), entry.scope.is_some()));
            }
        }
        let unchanged = all.values().filter(|(_, goes)| !goes).count() as u64;
        if unchanged > 0 {
            *self.withheld.entry("unchanged".into()).or_default() += unchanged;
        }
        self.talks = all.into_iter().filter(|(_, (_, goes))| *goes).map(|(key, (talk, _))| (key, talk)).collect();
        let talks = &self.talks;
        self.messages.retain(|_, (key, _)| talks.contains_key(key));
    }
}

type Frames = BTreeMap<String, (Option<Tree>, Option<Tree>)>;

/// What is around the records of the stores that came in, by scope. Of several exports of one person the last one.
fn frames(source: &mut dyn RecordSource, limits: &Limits) -> Result<Frames, FormatError> {
    let mut frames = Frames::new();
    source.passthrough(SCOPE, &mut |item, bytes| {
        if item.role != "manifest" {
            return Ok(());
        }
        let mut text = String::new();
        let read = bytes.take(limits.side_file_bytes).read_to_string(&mut text);
        let Some(tree) = read.ok().and_then(|_| Tree::parse(&text, limits.json_depth).ok()) else { return Ok(()) };
        let slot = frames.entry(item.group.clone()).or_default();
        let date = |tree: &Tree| tree.get("export_date").and_then(Tree::as_str).and_then(Timestamp::parse);
        match item.name.as_str() {
            FRAME if slot.0.as_ref().is_none_or(|old| date(old) <= date(&tree)) => slot.0 = Some(tree),
            "embeddings.json" => slot.1 = Some(tree),
            _ => {}
        }
        Ok(())
    })?;
    Ok(frames)
}

/// The store that most records came from.
fn home(source: &mut dyn RecordSource, frames: &Frames) -> Result<String, FormatError> {
    let mut counts: BTreeMap<String, u64> = frames.keys().map(|scope| (scope.clone(), 0)).collect();
    source.records(&mut |stored| {
        if native(&stored.record) {
            *counts.entry(stored.record.key.scope).or_default() += 1;
        }
        Ok(())
    })?;
    let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    Ok(most.map(|(scope, _)| scope).unwrap_or_default())
}

impl Base {
    fn open(path: &Path, limits: &Limits) -> Result<Self, FormatError> {
        let place = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let none = || FormatError::invalid("base_not_recognised", &place, "the base is not a PAM export");
        let catalog = Catalog::open(&[path.to_path_buf()], limits, None)?;
        let detection = detect(&catalog, limits, Some(SCOPE))?;
        let source = detection.sources.first().ok_or_else(none)?;
        let bundle = Bundle::open(&catalog, source, limits)?;
        let store = bundle.store.ok_or_else(none)?;
        let text = document::text(&catalog, store, limits)?;
        let doc = Document::open(&text, &store.place)?;
        let ids = |list: &str| -> HashSet<String> {
            let trees = doc.list(list).into_iter().filter_map(|raw| Tree::of(raw, limits.json_depth).ok());
            trees.filter_map(|t| t.get("id").and_then(Tree::as_str).map(str::to_owned)).collect()
        };
        Ok(Self {
            export_id: doc.word("export_id"),
            date: doc.word("export_date").as_deref().and_then(Timestamp::parse),
            memories: ids("memories"),
            conversations: ids("conversations_index"),
        })
    }
}
