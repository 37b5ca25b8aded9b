//! Writes a store with its conversation and embeddings files (spec §2, §15, §16, §18). Records of the home store come
//! first, in their original order.
use super::{
    assemble::{ElementOrder, assemble},
    bundle::{KEY_SCOPE, STORE_LISTS},
    compose::{ComposedMemory, Context, clean, compact, object, set_id, set_missing_id, text_value, time_tree},
    conformance::is_safe_path,
    conversation_writer::{ConversationWriter, FinishedConversation, UsedPaths},
    envelope,
    first_pass::{Destination, FirstPass, digest_uuid, uuid},
    forms::SYSTEM_FORM,
    hash::{Checksum, sha256},
    increment::STORE_FILE,
    invalid_values::{RELATION, is_valid_embedding, repair_store},
    schema::{EMBEDDINGS_RULE, EMBEDDINGS_SCHEMA, STORE_SCHEMA},
    schema_check::check,
    sign, to_record, validate,
};
use mementory_format::{
    FormatError, PassthroughItem, RecordSource, SourceDescription, StoredRecord, WriteOptions, WriteReport,
    note_files_left_out, passthrough_envelope,
};
use mementory_json::Tree;
use mementory_model::{Limits, LossKind, Timestamp};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::Read,
    path::{Path, PathBuf},
};

/// Writes the store to the folder `out` or, if `out` ends in `.json`, to that file, with the other files next to it.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: &Path,
    options: &WriteOptions,
    limits: &Limits,
) -> Result<WriteReport, FormatError> {
    let target = Target::create(out)?;
    write_or_plan(source, Some(target), options, limits)
}

/// Reports what [`write`] would write and lose. Nothing is written or signed.
pub(super) fn plan(
    source: &mut dyn RecordSource,
    options: &WriteOptions,
    limits: &Limits,
) -> Result<WriteReport, FormatError> {
    write_or_plan(source, None, &WriteOptions { signer: None, ..options.clone() }, limits)
}

/// The folder and the store file to write.
struct Target {
    folder: PathBuf,
    store: PathBuf,
}

impl Target {
    fn create(out: &Path) -> Result<Self, FormatError> {
        let io = |e| FormatError::io(out.display().to_string(), e);
        if out.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            return Ok(Self { folder: folder.to_path_buf(), store: out.to_path_buf() });
        }
        std::fs::create_dir(out).map_err(io)?;
        Ok(Self { folder: out.to_path_buf(), store: out.join(STORE_FILE) })
    }

    fn write_file(&self, path: &str, bytes: &[u8]) -> Result<(), FormatError> {
        let target = self.folder.join(path);
        let io = |e| FormatError::io(path, e);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(io)?;
        }
        std::fs::write(&target, bytes).map_err(io)
    }
}

#[derive(Default)]
struct Lists {
    memories: Vec<(ElementOrder, String)>,
    relations: Vec<(ElementOrder, String)>,
    index: Vec<(ElementOrder, String)>,
    vectors: Vec<(ElementOrder, String)>,
}

struct StoreWriter<'a> {
    context: Context<'a>,
    options: &'a WriteOptions,
    target: Option<Target>,
    lists: Lists,
    checksum: Checksum,
    open_conversations: HashMap<String, ConversationWriter>,
    /// Vault ids of the records written so far, because sources other than a vault may list a record twice.
    written: HashSet<String>,
    used_paths: UsedPaths,
    /// Index of each embedding in the imported file, by id.
    vector_order: HashMap<String, u64>,
    /// Ids of the written relations, and ids and memory ids of the written embeddings.
    used_ids: HashSet<String>,
    seq: u64,
    changed: bool,
    /// Vault ids of the attachments that are written without their files.
    left_out_files: Vec<String>,
    report: WriteReport,
}

fn write_or_plan(
    source: &mut dyn RecordSource,
    target: Option<Target>,
    options: &WriteOptions,
    limits: &Limits,
) -> Result<WriteReport, FormatError> {
    if let Some(signer) = &options.signer {
        sign::check_algorithm(signer.as_ref())?;
    }
    let description = source.description();
    let first_pass = FirstPass::run(source, options, limits)?;
    let (strip, depth) = (options.strip_identifiers, limits.json_depth);
    let context = Context { first_pass: &first_pass, description: &description, strip, depth };
    let mut writer = StoreWriter {
        options,
        target,
        lists: Lists::default(),
        checksum: Checksum::default(),
        open_conversations: HashMap::new(),
        written: HashSet::new(),
        used_paths: UsedPaths::default(),
        vector_order: envelope::embedding_order(first_pass.embeddings_envelope.as_ref()),
        used_ids: HashSet::new(),
        left_out_files: Vec::new(),
        seq: 0,
        changed: first_pass.incremental || options.strip_identifiers || !first_pass.withheld_ids.is_empty(),
        report: WriteReport {
            version: context.version(),
            withheld: first_pass.withheld.clone(),
            ..WriteReport::default()
        },
        context,
    };
    source.records(&mut |stored| writer.add_record(&stored))?;
    note_files_left_out(source, &writer.left_out_files, &mut writer.report.losses)?;
    let unfinished: Vec<String> = writer.open_conversations.keys().cloned().collect();
    for key in unfinished {
        writer.finish_conversation(&key)?;
    }
    writer.report_left_out(source)?;
    writer.finish(source)
}

impl StoreWriter<'_> {
    fn next_order(&mut self, stored: &StoredRecord) -> ElementOrder {
        self.seq += 1;
        let place = stored.record.origin.pointer.rsplit('/').next().and_then(|n| n.parse().ok());
        match place.filter(|_| self.context.first_pass.is_from_home(&stored.record)) {
            Some(n) => (0, n, self.seq),
            None => (1, 0, self.seq),
        }
    }

    fn count_record(&mut self, stored: &StoredRecord) {
        *self.report.by_kind.entry(stored.record.kind.as_str().into()).or_default() += 1;
    }

    fn add_record(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        if !self.written.insert(stored.id.clone()) {
            return Ok(());
        }
        if self.context.first_pass.is_in_message(stored) {
            self.left_out_files.push(stored.id.clone());
            return Ok(());
        }
        match self.context.first_pass.destination(&stored.record) {
            Destination::Memory => self.add_memory(stored),
            Destination::Relation => self.add_relation(stored),
            Destination::Conversation => return self.add_conversation(stored),
            Destination::Message => return self.add_message(stored),
            Destination::Vector => self.add_vector(stored),
        }
        Ok(())
    }

    fn add_memory(&mut self, stored: &StoredRecord) {
        if !self.context.first_pass.memories.contains_key(&stored.id) {
            self.changed = true;
            return;
        }
        let order = self.next_order(stored);
        let ComposedMemory { text, tree, vectors, changed, is_of_file } =
            self.context.memory(stored, &mut self.report.losses);
        self.changed |= changed;
        self.left_out_files.extend(is_of_file.then(|| stored.id.clone()));
        self.checksum.add(&tree);
        for vector in vectors {
            self.push_vector(order, vector, &stored.id);
        }
        self.lists.memories.push((order, text));
        self.count_record(stored);
    }

    /// Adds an embedding if it is valid and no other embedding has the same id or the same memory. Returns false if the
    /// embedding is left out.
    fn push_vector(&mut self, order: ElementOrder, text: String, vault_id: &str) -> bool {
        let tree = Tree::parse(&text, 64).unwrap_or(Tree::Null);
        let member = |name: &str| to_record::text(&tree, name).unwrap_or_default();
        let (id, memory) = (member("id"), member("memory_id"));
        let is_valid = self.context.first_pass.memory_ids.contains(memory)
            && is_valid_embedding(&tree, memory)
            && self.used_ids.insert(format!("vector {id}"))
            && self.used_ids.insert(format!("vector of {memory}"));
        if is_valid {
            self.lists.vectors.push((self.vector_order.get(id).map_or(order, |n| (0, *n, 0)), text));
        } else {
            self.changed = true;
            let note = "the format allows one valid vector for each memory of the file";
            self.report.losses.add(vault_id, "embeddings", LossKind::LeftOut, note);
        }
        is_valid
    }

    /// Adds a relation if both of its memories are exported. In an incremental export, the relation must also have
    /// changed.
    fn add_relation(&mut self, stored: &StoredRecord) {
        let first_pass = self.context.first_pass;
        let record = &stored.record;
        let is_exported = |id: &Option<String>| id.as_ref().is_some_and(|id| first_pass.memories.contains_key(id));
        if !stored.link_ids.iter().all(is_exported) || stored.link_ids.len() < 2 {
            self.changed = true;
            let is_withheld = stored.link_ids.iter().flatten().any(|id| first_pass.withheld_ids.contains(id));
            if is_withheld {
                *self.report.withheld.entry("names_not_exportable".into()).or_default() += 1;
            } else {
                let note = "a memory that it names is not in the file";
                self.report.losses.add(&stored.id, "relation", LossKind::LeftOut, note);
            }
            return;
        }
        let is_unchanged = first_pass.incremental
            && first_pass.since.zip(record.times.created).is_some_and(|(since, created)| created <= since)
            && !stored.edited
            && stored.changed.is_none();
        if is_unchanged {
            *self.report.withheld.entry("unchanged".into()).or_default() += 1;
            return;
        }
        let Some(verbatim) = &record.verbatim else { return };
        let mut text = verbatim.text.clone();
        let created = record.times.created.unwrap_or(Timestamp::EPOCH);
        if let Ok(mut tree) = Tree::parse(&text, self.context.depth) {
            let original = tree.clone();
            let required_values = (created, "", self.context.keeps_unknown());
            clean(&mut tree, &RELATION, required_values, &stored.id, &mut self.report.losses);
            set_missing_id(&mut tree, &uuid(&stored.id), &stored.id, &mut self.report.losses);
            let id = to_record::id(&tree, "id").unwrap_or_default();
            if !self.used_ids.insert(format!("relation {id}")) {
                set_id(&mut tree, &uuid(&stored.id), &stored.id, &mut self.report.losses);
            }
            if tree != original {
                text = compact(&tree);
                self.changed = true;
            }
        }
        if stored.edited
            && let Ok(mut tree) = Tree::parse(&text, self.context.depth)
        {
            let kind = record.record_type.clone().unwrap_or_default();
            if super::schema::RELATION_TYPES.contains(&kind.as_str()) {
                tree.set("type", Tree::Text(kind));
            }
            if let Some(score) = record.confidence.filter(|c| (0.0..=1.0).contains(c)) {
                tree.set("confidence", Tree::Number(score.to_string()));
            }
            text = compact(&tree);
            self.changed = true;
            let rewritten = to_record::relation(&tree, &record.key.scope);
            for (field, lost) in [
                ("text", rewritten.text != record.text),
                ("title", rewritten.title != record.title),
                ("tags", rewritten.tags != record.tags),
                ("type", rewritten.record_type != record.record_type),
            ] {
                if lost {
                    let note = "relations have no place for it";
                    self.report.losses.add(&stored.id, field, LossKind::LeftOut, note);
                }
            }
        }
        let order = self.next_order(stored);
        self.lists.relations.push((order, text));
        self.count_record(stored);
    }

    fn add_vector(&mut self, stored: &StoredRecord) {
        let Some(verbatim) = &stored.record.verbatim else { return };
        let order = self.next_order(stored);
        if self.push_vector(order, verbatim.text.clone(), &stored.id) {
            self.count_record(stored);
        }
    }

    fn add_conversation(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let Some(conversation) = self.context.first_pass.conversations.get(&stored.id) else {
            self.changed = true;
            return Ok(());
        };
        let order = self.next_order(stored);
        let open = ConversationWriter::new(
            &self.context,
            stored,
            conversation,
            order,
            &mut self.used_paths,
            &mut self.report.losses,
        );
        self.count_record(stored);
        let is_complete = open.is_complete();
        self.open_conversations.insert(stored.id.clone(), open);
        if is_complete { self.finish_conversation(&stored.id) } else { Ok(()) }
    }

    fn add_message(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let first_pass = self.context.first_pass;
        let Some((key, _)) = first_pass.messages.get(&stored.id) else {
            self.changed = true;
            return Ok(());
        };
        let Some(conversation) = first_pass.conversations.get(key) else { return Ok(()) };
        if !self.open_conversations.contains_key(key) {
            let order = self.next_order(stored);
            let stub = ConversationWriter::new_stub(
                &self.context,
                &stored.record,
                conversation,
                (1, 0, order.2),
                &mut self.used_paths,
            );
            self.open_conversations.insert(key.clone(), stub);
        }
        let Some(open) = self.open_conversations.get_mut(key) else { return Ok(()) };
        let is_complete = open.add_message(&self.context, stored, &mut self.report.losses);
        self.count_record(stored);
        if is_complete { self.finish_conversation(&key.clone()) } else { Ok(()) }
    }

    fn finish_conversation(&mut self, key: &str) -> Result<(), FormatError> {
        let Some(open) = self.open_conversations.remove(key) else { return Ok(()) };
        let FinishedConversation { order, index, file, changed } = open.finish();
        self.changed |= changed;
        if let Some(index) = index {
            self.lists.index.push((order, index));
        }
        match (&self.target, file) {
            (Some(target), Some((path, text))) => target.write_file(&path, text.as_bytes()),
            _ => Ok(()),
        }
    }

    /// Reports tombstones as losses, and in an export of everything also the passthrough files of other formats.
    fn report_left_out(&mut self, source: &mut dyn RecordSource) -> Result<(), FormatError> {
        for tombstone in source.tombstones()? {
            let note = "the format cannot record a deletion";
            self.report.losses.add(&tombstone.id, "tombstone", LossKind::LeftOut, note);
        }
        if self.options.everything {
            passthrough_envelope::note_left_out(source, |id| id != KEY_SCOPE, &mut self.report.losses)?;
        }
        Ok(())
    }

    fn write_passthrough_files(&mut self, source: &mut dyn RecordSource) -> Result<(), FormatError> {
        let mut used_names: HashSet<String> = HashSet::new();
        source.passthrough(KEY_SCOPE, &mut |item: &PassthroughItem, bytes: &mut dyn Read| {
            if item.role == "manifest" {
                return Ok(());
            }
            let allowed = is_safe_path(&item.name)
                && ![STORE_FILE, "embeddings.json"].contains(&item.name.as_str())
                && !item.name.starts_with("conversations/")
                && item.group == self.context.first_pass.home_scope
                && used_names.insert(item.name.to_lowercase());
            if !allowed {
                let note = "a file of another store, or a name that is not allowed";
                self.report.losses.add(&item.name, "part", LossKind::LeftOut, note);
                return Ok(());
            }
            let Some(target) = &self.target else { return Ok(()) };
            let mut content = Vec::new();
            bytes.read_to_end(&mut content).map_err(|e| FormatError::io(&item.name, e))?;
            target.write_file(&item.name, &content)
        })
    }

    fn finish(mut self, source: &mut dyn RecordSource) -> Result<WriteReport, FormatError> {
        self.write_passthrough_files(source)?;
        for list in
            [&mut self.lists.memories, &mut self.lists.relations, &mut self.lists.index, &mut self.lists.vectors]
        {
            list.sort_by_key(|entry| entry.0);
        }
        let checksum = std::mem::take(&mut self.checksum).finish();
        let repaired = self.repaired_envelope();
        let envelope = repaired.as_ref();
        let has_same_count = |name: &str, n: usize| {
            let stored_count = envelope.and_then(|f| f.get(name));
            stored_count.map_or(n == 0, |t| t.as_f64() == Some(n as f64))
        };
        let stated_total = envelope.and_then(|f| f.get("integrity")?.get("total_memories")?.as_f64());
        let is_same = !self.changed
            && stated_total.is_none_or(|total| total == self.lists.memories.len() as f64)
            && self.options.signer.is_none()
            && envelope.and_then(|f| to_record::text(f, "memories")) == checksum.as_deref()
            && has_same_count("relations", self.lists.relations.len())
            && has_same_count("conversations_index", self.lists.index.len());
        let mut outline = match repaired {
            Some(envelope) if is_same => envelope,
            repaired => self.new_outline(repaired, checksum.unwrap_or_else(|| sha256(b"[]")))?,
        };
        if is_same {
            self.drop_invalid_signature(&mut outline);
        }
        self.report.digest = outline
            .get("integrity")
            .and_then(|i| to_record::text(i, "checksum"))
            .and_then(|c| c.strip_prefix("sha256:"))
            .unwrap_or_default()
            .to_owned();
        let text = store_text(&outline, &self.lists);
        if let Some(target) = &self.target {
            let io = |e| FormatError::io(STORE_FILE, e);
            std::fs::write(&target.store, text).map_err(io)?;
            if let Some(vectors) = self.embeddings_text() {
                target.write_file("embeddings.json", vectors.as_bytes())?;
            }
        }
        Ok(self.report)
    }

    /// Removes the imported store's signature if it is invalid. Without a verifier, the signature is not removed.
    fn drop_invalid_signature(&mut self, outline: &mut Tree) {
        let Some(verifier) = &self.options.verifier else { return };
        if validate::signed(outline, true, STORE_FILE).is_some_and(|signed| !verifier.is_valid(&signed)) {
            outline.remove("signature");
            self.report.losses.add(STORE_FILE, "signature", LossKind::LeftOut, "it is invalid");
        }
    }

    /// The envelope of the imported store without the values that the format forbids.
    fn repaired_envelope(&mut self) -> Option<Tree> {
        let mut envelope = self.context.first_pass.envelope.clone()?;
        let new = object([
            ("schema", text_value(STORE_SCHEMA)),
            ("schema_version", text_value("1.0")),
            ("owner", Some(self.new_owner())),
            ("memories", Some(Tree::Array(vec![]))),
        ]);
        let names = repair_store(&mut envelope, &new, &STORE_LISTS, self.context.keeps_unknown());
        for name in &names {
            self.changed = true;
            let note = "the format forbids its value: another one or none is written";
            self.report.losses.add(STORE_FILE, name, LossKind::Narrowed, note);
        }
        Some(envelope)
    }

    /// The owner to write if the imported store names none: the id in the key scope of that store, otherwise the vault
    /// id.
    fn new_owner(&self) -> Tree {
        let imported_owner = self.context.first_pass.home_scope.strip_prefix("pam:");
        let id = imported_owner.unwrap_or(&self.context.description.vault_id);
        object([("id", text_value(if id.is_empty() { uuid("") } else { id.to_owned() }))])
    }

    /// The exported store without its records. `imported` is the envelope of the imported store.
    fn new_outline(&self, imported: Option<Tree>, checksum: String) -> Result<Tree, FormatError> {
        let first_pass = self.context.first_pass;
        let description = self.context.description;
        let from_import = imported.is_some();
        let mut out = imported.unwrap_or_else(|| object([("schema", text_value(STORE_SCHEMA))]));
        let set = |out: &mut Tree, key: &str, value: Option<Tree>| match value {
            Some(value) => out.set(key, value),
            None => out.remove(key),
        };
        let now = description.now.to_rfc3339_seconds();
        if !from_import {
            out.set("schema_version", Tree::Text("1.0".into()));
            out.set("spec_uri", Tree::Text("https://portable-ai-memory.org/spec/v1.0".into()));
        }
        let options = format!("{:?}{:?}", first_pass.since, self.options.strip_identifiers);
        let id = digest_uuid(&format!("export {} {now} {checksum} {options}", description.vault_id));
        set(&mut out, "export_id", text_value(id));
        set(&mut out, "exported_by", system(description).map(Tree::Text));
        set(&mut out, "export_date", text_value(now.clone()));
        if !from_import {
            out.set("owner", self.new_owner());
        }
        for (name, list) in [
            ("memories", &self.lists.memories),
            ("relations", &self.lists.relations),
            ("conversations_index", &self.lists.index),
        ] {
            if name == "memories" || !list.is_empty() || !from_import || out.get(name).is_some() {
                out.set(name, Tree::Null);
            }
        }
        let total = Tree::Number(self.lists.memories.len().to_string());
        let integrity = object([
            ("canonicalization", text_value("RFC8785")),
            ("checksum", text_value(checksum)),
            ("total_memories", Some(total)),
        ]);
        set(&mut out, "integrity", Some(integrity));
        let incremental = first_pass.incremental;
        set(&mut out, "export_type", text_value(if incremental { "incremental" } else { "full" }));
        let base = first_pass.base_export_id.clone().filter(|_| incremental);
        set(&mut out, "base_export_id", base.map(Tree::Text));
        set(&mut out, "since", first_pass.since.filter(|_| incremental).map(time_tree));
        out.remove("signature");
        self.sign(&mut out, &now)?;
        Ok(out)
    }

    fn sign(&self, out: &mut Tree, now: &str) -> Result<(), FormatError> {
        let Some(signer) = &self.options.signer else { return Ok(()) };
        let mut owner = out.get("owner").cloned().unwrap_or(Tree::Object(vec![]));
        if to_record::text(&owner, "did").is_none() && self.context.first_pass.envelope.is_none() {
            let key = mementory_format::did_key::multikey(&signer.public_key());
            owner.set("did", Tree::Text(format!("did:key:{key}")));
            out.set("owner", owner);
        }
        let signature = sign::block(out, signer.as_ref(), now)?;
        out.set("signature", signature);
        Ok(())
    }

    fn embeddings_text(&self) -> Option<String> {
        let envelope = self.context.first_pass.embeddings_envelope.as_ref().filter(|envelope| {
            let mut outline = (*envelope).clone();
            outline.set("embeddings", Tree::Array(vec![]));
            let version = to_record::text(&outline, "schema_version");
            version == Some(self.context.version().as_str()) && check(&EMBEDDINGS_RULE, &outline).is_empty()
        });
        if self.lists.vectors.is_empty() && (envelope.is_none() || self.changed) {
            return None;
        }
        let new_envelope = object([
            ("schema", text_value(EMBEDDINGS_SCHEMA)),
            ("schema_version", text_value(self.context.version())),
            ("embeddings", Some(Tree::Null)),
        ]);
        let rows = BTreeMap::from([("embeddings", &self.lists.vectors)]);
        Some(assemble(envelope.unwrap_or(&new_envelope), &rows))
    }
}

/// Name and version of this program as `name/1.2.3`. None if the version does not have this form.
fn system(description: &SourceDescription) -> Option<String> {
    let with_name = format!("mementory/{}", description.generator);
    [description.generator.clone(), with_name].into_iter().find(|s| SYSTEM_FORM.matches_exactly(s))
}

fn store_text(outline: &Tree, lists: &Lists) -> String {
    let rows = BTreeMap::from([
        ("memories", &lists.memories),
        ("relations", &lists.relations),
        ("conversations_index", &lists.index),
    ]);
    assemble(outline, &rows)
}
