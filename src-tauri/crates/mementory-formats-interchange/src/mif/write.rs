//! Writes a document. Unedited elements of the same version are written unchanged. All other elements are built from
//! records, with values that they cannot express in `x_mementory`. README.md lists what an export preserves of imported
//! documents.
use super::{
    compose::{ElementContext, element, time_text},
    document::{Document, MemberValue, members_of},
    document_frame::FRAME_FILE,
    encoding::Encoding,
    envelope,
    export_plan::ExportPlan,
    extension::{ComparisonMode, attach, report_losses},
    first_pass::CHECKSUM_METHOD,
    interop_export,
    invalid_values::{repair_document, replace_invalid_values},
    read::metadata_of_record,
    redaction::{self, Privacy},
    rewrite::{OwnElement, own_element},
    sections::{EDGES_SECTION, MEMORIES_SECTION, NODES_SECTION, SECTIONS, Section, TASKS_SECTION},
    to_record::to_record,
    wire::{KEY_SCOPE, Shape, json, nested_text, text},
};
use crate::creation_time::NO_TIME_NOTE;
use mementory_format::extension as slot;
use mementory_format::{
    FormatError, RecordSource, SourceDescription, StoredRecord, WriteOptions, WriteReport, note_files_left_out,
    passthrough_envelope,
};
use mementory_json::{Tree, tree_of};
use mementory_model::{Kind, LossKind, Record, Timestamp};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, HashSet},
    io::Write,
    path::Path,
};

/// Nesting depth allowed in written elements: the depth of read elements plus the depth of our extension slot.
const MAX_DEPTH: u32 = 1100;

/// Writes all records of `source` to the new file `out`.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: &Path,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let encoding = requested_encoding(options)?;
    if encoding.interop_name().is_some() {
        return interop_export::write(source, Some(out), encoding, options);
    }
    let mut writer = DocumentWriter::collect(source, options, true)?;
    let (mut document, mut checksum) = writer.finish()?;
    if let Some(passphrase) = &options.passphrase {
        let mut unencrypted = Vec::new();
        document.write(Encoding::Json, &checksum, &mut unencrypted)?;
        let encryption = envelope::encrypt(&unencrypted, passphrase.as_ref())?;
        document = writer.envelope_document(encryption);
        checksum = String::new();
    }
    let io = |e| FormatError::io(out.display().to_string(), e);
    let file = mementory_format::create_private_file(out).map_err(io)?;
    let mut file = std::io::BufWriter::with_capacity(256 << 10, file);
    document.write(encoding, &checksum, &mut file)?;
    file.flush().map_err(io)?;
    Ok(writer.report)
}

/// Like [`write`], but writes to a stream, in JSON, YAML or JSON lines.
pub(super) fn write_answer(
    source: &mut dyn RecordSource,
    out: &mut dyn Write,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let encoding = requested_encoding(options)?;
    if encoding.interop_name().is_some() {
        return Err(FormatError::invalid("unknown_encoding", "export", "unknown encoding; use json, yaml or jsonl"));
    }
    let mut writer = DocumentWriter::collect(source, options, true)?;
    let (document, checksum) = writer.finish()?;
    document.write(encoding, &checksum, out)?;
    Ok(writer.report)
}

/// Returns the same report as [`write`], including the losses, but writes nothing.
pub(super) fn plan(source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
    let encoding = requested_encoding(options)?;
    if encoding.interop_name().is_some() {
        return interop_export::write(source, None, encoding, options);
    }
    Ok(DocumentWriter::collect(source, options, false)?.report)
}

fn requested_encoding(options: &WriteOptions) -> Result<Encoding, FormatError> {
    match options.encoding.as_deref() {
        None | Some("json") => Ok(Encoding::Json),
        Some("yaml") => Ok(Encoding::Yaml),
        Some("jsonl") => Ok(Encoding::Jsonl),
        Some("mem0") => Ok(Encoding::Mem0),
        Some("generic") => Ok(Encoding::Generic),
        Some("markdown") => Ok(Encoding::Markdown),
        Some(_) => {
            let message = "unknown encoding; use json, yaml or jsonl, or for other programs mem0, generic or markdown";
            Err(FormatError::invalid("unknown_encoding", "export", message))
        }
    }
}

/// Loss note for a value that the format forbids.
const INVALID_VALUE_NOTE: &str = "the format forbids its value: another one or none is written";

/// Sort key of an element: imported elements by file and position, then all other elements in the order of the vault.
type ElementOrder = (bool, String, u64);

struct DocumentWriter {
    plan: ExportPlan,
    description: SourceDescription,
    /// False for a dry run, in which elements are built only to find the losses.
    store_elements: bool,
    lists: Vec<Vec<(ElementOrder, String)>>,
    /// True if some elements differ from the imported elements.
    edited: bool,
    /// Frame of the imported document into which the records are written, and its nodes that only refer to records.
    frame: Option<(Tree, Vec<(u64, String)>)>,
    types: BTreeMap<String, u64>,
    range: Option<(Timestamp, Timestamp)>,
    metadata: BTreeMap<String, Tree>,
    privacy: Privacy,
    /// True if the records were scanned for personal data and secrets.
    values_were_scanned: bool,
    /// Vault ids of the attachments that are written without their files.
    left_out_files: Vec<String>,
    report: WriteReport,
}

/// Names and values of the metadata that version 2 stores outside a memory.
fn external_metadata(record: &Record) -> Vec<(String, Tree)> {
    let importance = record.importance.filter(|i| i.is_finite()).map(|i| tree_of(&serde_json::json!(i)));
    let count = record.fields.get("access_count").filter(|n| n.is_u64()).map(tree_of);
    let accessed = record.times.last_accessed.map(|t| Tree::Text(time_text(t)));
    let members = [("importance", importance), ("access_count", count), ("accessed_at", accessed)];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

impl DocumentWriter {
    fn collect(
        source: &mut dyn RecordSource,
        options: &WriteOptions,
        store_elements: bool,
    ) -> Result<Self, FormatError> {
        let mut plan = ExportPlan::prepare(source, options)?;
        let losses = std::mem::take(&mut plan.losses);
        let mut writer = Self {
            description: source.description(),
            store_elements,
            lists: SECTIONS.map(|_| vec![]).into(),
            edited: false,
            frame: None,
            types: BTreeMap::new(),
            range: None,
            metadata: BTreeMap::new(),
            privacy: Privacy::default(),
            values_were_scanned: source.covers(),
            left_out_files: vec![],
            report: WriteReport { version: plan.shape.version().into(), losses, ..WriteReport::default() },
            plan,
        };
        source.records(&mut |stored| writer.add_record(&stored))?;
        note_files_left_out(source, &writer.left_out_files, &mut writer.report.losses)?;
        for tombstone in source.tombstones()? {
            let note = "the format has no deletions; the file only has the remaining records";
            writer.report.losses.add(&tombstone.id, "tombstone", LossKind::LeftOut, note);
        }
        if options.everything {
            passthrough_envelope::note_left_out(source, |id| id != KEY_SCOPE, &mut writer.report.losses)?;
        }
        writer.prepare_frame();
        Ok(writer)
    }

    /// Replaces values that the format forbids in the frame of the imported document. If there are any, stores the
    /// original frame in the extension slot.
    fn prepare_frame(&mut self) {
        let Some(frame) = self.plan.base_frame() else { return };
        let (mut root, nodes) = (frame.document.clone(), frame.reference_nodes.clone());
        let new_root = self.new_root();
        let replaced = repair_document(&mut root, self.plan.shape, &new_root);
        if let Some(our_slot) = slot::get(&new_root).filter(|_| !replaced.is_empty()) {
            slot::set(&mut root, our_slot.clone());
        }
        let node_count = nodes.len();
        let nodes = self.plan.writable_nodes(nodes);
        for name in &replaced {
            self.report.losses.add(FRAME_FILE, name, LossKind::Narrowed, INVALID_VALUE_NOTE);
        }
        for _ in nodes.len()..node_count {
            self.report.losses.add(FRAME_FILE, NODES_SECTION.name, LossKind::LeftOut, "the format forbids this node");
        }
        self.edited |= !replaced.is_empty() || nodes.len() < node_count;
        self.frame = Some((root, nodes));
    }

    fn add_record(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let record = &stored.record;
        *self.report.by_kind.entry(record.kind.as_str().into()).or_default() += 1;
        if let (Some((section, index)), Some(verbatim)) = (self.plan.own_element(stored), &record.verbatim)
            && let Some((text, kind)) = self.own_text(stored, section, &verbatim.text)?
        {
            let order = (false, record.origin.container.clone(), index);
            self.count_record(record, section, kind.as_deref());
            if let (Some(metadata), Some((_, id))) = (metadata_of_record(&record.fields), self.plan.id_of(&stored.id)) {
                self.metadata.insert(id.clone(), metadata);
            }
            return self.push(section, order, text);
        }
        self.write_foreign(stored)
    }

    /// Returns the original element of a record with only the necessary changes, and the type of the record. None if
    /// the element has values that the format forbids and that cannot be replaced.
    fn own_text(
        &mut self,
        stored: &StoredRecord,
        section: &'static Section,
        verbatim: &str,
    ) -> Result<Option<(String, Option<String>)>, FormatError> {
        Ok(match own_element(stored, section, verbatim, &self.plan, MAX_DEPTH)? {
            OwnElement::Unchanged => Some((verbatim.to_owned(), stored.record.record_type.clone())),
            OwnElement::Changed { element, kind, replaced } => {
                self.edited = true;
                let losses = &mut self.report.losses;
                for name in &replaced {
                    losses.add(&stored.id, name, LossKind::Narrowed, INVALID_VALUE_NOTE);
                }
                report_losses(&stored.id, &element, losses);
                Some((json(&element), kind))
            }
            OwnElement::Impossible => None,
        })
    }

    fn write_foreign(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let record = &stored.record;
        let shape = self.plan.shape;
        let (section, ends) = self.plan.section_and_ends(stored);
        self.edited = true;
        let assigned_id = self.plan.id_of(&stored.id).filter(|(assigned, _)| *assigned == section);
        let id = match assigned_id.map(|(_, id)| id.clone()) {
            Some(id) => id,
            None => self.plan.claim_id_for(stored, section),
        };
        let related = self.plan.linked_ids(stored);
        let context = ElementContext { id: &id, related, ends, strip: self.plan.strip };
        let mut tree = element(record, section, shape, &context);
        replace_invalid_values(&mut tree, section, shape, &Tree::Null);
        let record = redaction::attach(stored, section, shape, &mut tree);
        let record = record.as_ref();
        let mapped = to_record(section, &tree);
        let mode = if self.plan.strip { ComparisonMode::WithoutIdentifiers } else { ComparisonMode::OtherSource };
        attach(&mut tree, &mapped, record, mode);
        report_losses(&stored.id, &tree, &mut self.report.losses);
        self.report_narrowed(stored, section, &mapped);
        self.count_record(record, section, text(&tree, "type").or(text(&tree, "memory_type")));
        if shape == Shape::V2 && *section == MEMORIES_SECTION {
            let external_metadata = external_metadata(record);
            if !external_metadata.is_empty() {
                self.metadata.insert(id, Tree::Object(external_metadata));
            }
        }
        self.push(section, (true, String::new(), 0), json(&tree))
    }

    fn report_narrowed(&mut self, stored: &StoredRecord, section: &Section, mapped: &Record) {
        let record = &stored.record;
        let losses = &mut self.report.losses;
        if record.kind != section.kind {
            losses.add(&stored.id, "kind", LossKind::Narrowed, "written as a memory; the format has no such kind");
        }
        if record.text.is_empty() && !mapped.text.is_empty() {
            let note = "content must not be empty: the title or a placeholder is written";
            losses.add(&stored.id, "text", LossKind::Narrowed, note);
        }
        if record.times.created.is_none() {
            losses.add(&stored.id, "times", LossKind::Narrowed, NO_TIME_NOTE);
        }
        if record.kind == Kind::Attachment {
            self.left_out_files.push(stored.id.clone());
        }
        if self.plan.strip {
            losses.add(
                &stored.id,
                "identifiers",
                LossKind::LeftOut,
                "left out as requested; the record cannot be matched with its original again",
            );
        }
    }

    /// Updates the values for the metadata: counts of memories by type, and the time range of memories and todos.
    fn count_record(&mut self, record: &Record, section: &Section, kind: Option<&str>) {
        if *section == MEMORIES_SECTION {
            *self.types.entry(kind.unwrap_or_default().to_owned()).or_default() += 1;
        }
        if *section == MEMORIES_SECTION || *section == TASKS_SECTION {
            for time in [record.times.created, record.times.updated].into_iter().flatten() {
                let (from, to) = self.range.unwrap_or((time, time));
                self.range = Some((from.min(time), to.max(time)));
            }
        }
    }

    fn push(&mut self, section: &Section, order: ElementOrder, text: String) -> Result<(), FormatError> {
        if self.store_elements {
            self.privacy.note_marks(&text, MAX_DEPTH);
        }
        self.lists[section.table_index()].push((order, if self.store_elements { text } else { String::new() }));
        Ok(())
    }

    /// Builds the document and its checksum. Reuses the imported checksum if nothing has changed.
    fn finish(&mut self) -> Result<(Document, String), FormatError> {
        let shape = self.plan.shape;
        let mut lists: Vec<Vec<(ElementOrder, String)>> = std::mem::take(&mut self.lists);
        lists.iter_mut().for_each(|list| list.sort_by(|a, b| a.0.cmp(&b.0)));
        let base_frame = self.plan.base_frame();
        let is_unchanged = base_frame.is_some_and(|frame| {
            let reference_nodes =
                |s: &Section| if *s == NODES_SECTION { frame.reference_nodes.len() as u64 } else { 0 };
            !self.edited
                && SECTIONS
                    .iter()
                    .all(|s| lists[s.table_index()].len() as u64 + reference_nodes(s) == frame.counts[s.table_index()])
        });
        let has_base_frame = base_frame.is_some();
        let (root, reference_nodes) = self.frame.take().unwrap_or_else(|| (self.new_root(), vec![]));
        let ids = if is_unchanged { HashSet::new() } else { ids_of(&lists) };
        let nodes = &mut lists[NODES_SECTION.table_index()];
        for (index, node) in reference_nodes {
            let id = Tree::parse(&node, MAX_DEPTH).ok().and_then(|n| text(&n, "id").map(str::to_owned));
            if is_unchanged || id.is_some_and(|id| ids.contains(&id)) {
                // Nodes that only refer to records return to their original positions, between the nodes that are
                // records.
                let at = usize::try_from(index).unwrap_or(usize::MAX).min(nodes.len());
                nodes.insert(at, (ElementOrder::default(), node));
            }
        }
        if !has_base_frame {
            add_end_nodes(&mut lists, &ids);
        }
        let mut document = Document { members: members_of(root, ""), depth: MAX_DEPTH };
        let counts: Vec<usize> = lists.iter().map(Vec::len).collect();
        for (section, list) in SECTIONS.into_iter().zip(lists) {
            let items: Vec<String> = list.into_iter().map(|(_, text)| text).collect();
            fill_list(&mut document.members, section, items);
        }
        if shape == Shape::V2 && !self.metadata.is_empty() {
            self.write_external_metadata(&mut document);
        }
        if is_unchanged {
            let header = document.members.iter().find(|(k, _)| k == shape.header());
            let checksum = match header {
                Some((_, MemberValue::Tree(header))) => text(header, "checksum").unwrap_or_default().to_owned(),
                _ => String::new(),
            };
            return Ok((document, checksum));
        }
        self.update_summary(&mut document, &counts);
        document.set_header(shape, "checksum", Tree::Text(String::new()));
        document.set_header(shape, "checksum_method", Tree::Text(CHECKSUM_METHOD.into()));
        let checksum = document.checksum()?;
        document.set_header(shape, "checksum", Tree::Text(checksum.clone()));
        Ok((document, checksum))
    }

    /// Owner of the memories: `anonymous` if identifiers are left out, otherwise the user id that all imported
    /// documents have in common, otherwise the vault id.
    fn owner(&self) -> &str {
        if self.plan.strip {
            return "anonymous";
        }
        let mut user_ids =
            self.plan.frames.iter().filter_map(|(k, _)| nested_text(&k.document, k.shape.header(), "user_id"));
        let first_id = user_ids.next().filter(|id| !id.is_empty());
        first_id.filter(|id| user_ids.all(|other| other == *id)).unwrap_or(&self.description.vault_id)
    }

    fn new_root(&self) -> Tree {
        let shape = self.plan.shape;
        let seed = format!("{}|{}", self.description.vault_id, self.description.now.as_micros());
        let mut root = header(shape, &self.description, &seed, self.owner());
        let empty_list = || Tree::Array(vec![]);
        let object =
            |list_names: &[&str]| Tree::Object(list_names.iter().map(|n| ((*n).to_owned(), empty_list())).collect());
        if shape == Shape::V1 {
            for name in ["memories", "todos"] {
                root.set(name, empty_list());
            }
            let mut graph = Tree::Object(vec![("format".into(), Tree::Text("adjacency_list".into()))]);
            graph.set("nodes", empty_list());
            graph.set("edges", empty_list());
            root.set("graph", graph);
            root.set("metadata", Tree::Object(vec![]));
        } else {
            root.set("memories", empty_list());
            root.set("knowledge_graph", object(&["entities", "relationships", "episodes"]));
            for name in ["todos", "projects", "reminders"] {
                root.set(name, empty_list());
            }
            root.set("vendor_extensions", Tree::Object(vec![]));
        }
        let number = |n: &str| Tree::Number(n.into());
        let mut our_slot = Tree::Object(vec![("v".into(), number("1")), ("generated".into(), Tree::Bool(true))]);
        if !self.plan.frames.is_empty() {
            // The frames of imported documents are included, so that these documents can be restored later.
            our_slot.set("documents", Tree::Array(self.plan.frames.iter().map(|(_, tree)| tree.clone()).collect()));
        }
        slot::set(&mut root, our_slot);
        root
    }

    /// Updates the metadata that summarises the content (spec §7). Unknown members are preserved.
    fn update_summary(&self, document: &mut Document, counts: &[usize]) {
        if self.plan.shape == Shape::V2 {
            let header = document.members.iter().find(|(k, _)| k == Shape::V2.header());
            let imported_privacy =
                header.and_then(|(_, value)| if let MemberValue::Tree(h) = value { h.get("privacy") } else { None });
            if let Some(privacy) = self.privacy.privacy_object(imported_privacy, self.values_were_scanned) {
                document.set_header(Shape::V2, "privacy", privacy);
            }
            return;
        }
        let number = |n: usize| Tree::Number(n.to_string());
        if self.privacy.privacy_object(None, false).is_some() && !document.members.iter().any(|(k, _)| k == "metadata")
        {
            document.members.push(("metadata".into(), MemberValue::Tree(Tree::Object(vec![]))));
        }
        for (key, value) in &mut document.members {
            match value {
                MemberValue::Tree(metadata @ Tree::Object(_)) if key == "metadata" => {
                    metadata.set("total_memories", number(counts[MEMORIES_SECTION.table_index()]));
                    metadata.set("total_todos", number(counts[TASKS_SECTION.table_index()]));
                    if let Some((from, to)) = self.range {
                        let range = vec![
                            ("earliest".into(), Tree::Text(time_text(from))),
                            ("latest".into(), Tree::Text(time_text(to))),
                        ];
                        metadata.set("date_range", Tree::Object(range));
                    }
                    let types = self.types.iter().map(|(t, n)| (t.clone(), Tree::Number(n.to_string())));
                    metadata.set("memory_types", Tree::Object(types.collect()));
                    // These lists are removed, because they may include records that were deleted after the import.
                    metadata.remove("top_entities");
                    metadata.remove("projects");
                    if let Some(privacy) =
                        self.privacy.privacy_object(metadata.get("privacy"), self.values_were_scanned)
                    {
                        metadata.set("privacy", privacy);
                    }
                }
                MemberValue::Object(members) if key == NODES_SECTION.parent => {
                    for (name, section) in [("edge_count", &EDGES_SECTION), ("node_count", &NODES_SECTION)] {
                        let value = MemberValue::Tree(number(counts[section.table_index()]));
                        match members.iter_mut().find(|(k, _)| k == name) {
                            Some((_, slot)) => *slot = value,
                            None => members.insert(members.len().min(1), (name.into(), value)),
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the metadata that version 2 stores outside the memories to the document.
    fn write_external_metadata(&mut self, document: &mut Document) {
        let at = match document.members.iter().position(|(k, _)| k == "vendor_extensions") {
            Some(at) => at,
            None => {
                document.members.push(("vendor_extensions".into(), MemberValue::Tree(Tree::Object(vec![]))));
                document.members.len() - 1
            }
        };
        let MemberValue::Tree(vendors) = &mut document.members[at].1 else { return };
        let empty_object = || Tree::Object(vec![]);
        let mut shodh = vendors.get("shodh-memory").cloned().unwrap_or_else(empty_object);
        let mut metadata = shodh.get("memory_metadata").cloned().unwrap_or_else(empty_object);
        for (id, value) in std::mem::take(&mut self.metadata) {
            metadata.set(&id, value);
        }
        shodh.set("memory_metadata", metadata);
        vendors.set("shodh-memory", shodh);
    }

    /// A document with only a header and the envelope of the encrypted document.
    fn envelope_document(&self, encryption: Tree) -> Document {
        let shape = self.plan.shape;
        let seed = text(&encryption, "auth_tag").unwrap_or_default().to_owned();
        let mut root = header(shape, &self.description, &seed, "encrypted");
        root.set(MEMORIES_SECTION.name, Tree::Array(vec![]));
        root.set("encryption", encryption);
        Document { members: members_of(root, ""), depth: MAX_DEPTH }
    }
}

/// A document with only the version, the generator and the header object.
fn header(shape: Shape, description: &SourceDescription, seed: &str, user: &str) -> Tree {
    let digest = Sha256::digest(format!("mif-export|{seed}"));
    let text_tree = |t: &str| Tree::Text(t.to_owned());
    let version = description.generator.rsplit('/').next().unwrap_or_default();
    let generator = vec![("name".into(), text_tree("Mementory")), ("version".into(), text_tree(version))];
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    let id = match shape {
        Shape::V1 => format!("exp_{}", hex::encode(&digest[..6])),
        Shape::V2 => uuid::Builder::from_custom_bytes(bytes).into_uuid().hyphenated().to_string(),
    };
    let mut export = Tree::Object(vec![
        ("id".into(), Tree::Text(id)),
        ("created_at".into(), Tree::Text(time_text(description.now))),
        ("user_id".into(), text_tree(user)),
    ]);
    if shape == Shape::V2 {
        export.set("checksum", text_tree("")); // required in version 2, and may be empty
    }
    Tree::Object(vec![
        ("mif_version".into(), text_tree(shape.version())),
        ("generator".into(), Tree::Object(generator)),
        (shape.header().into(), export),
    ])
}

/// Ids of all memories, todos and nodes.
fn ids_of(lists: &[Vec<(ElementOrder, String)>]) -> HashSet<String> {
    let sections = [&MEMORIES_SECTION, &TASKS_SECTION, &NODES_SECTION];
    let texts = sections.into_iter().flat_map(|s| &lists[s.table_index()]);
    texts.filter_map(|(_, t)| Tree::parse(t, MAX_DEPTH).ok().and_then(|t| text(&t, "id").map(str::to_owned))).collect()
}

/// Adds a graph node for each memory or todo that an edge starts or ends at.
fn add_end_nodes(lists: &mut [Vec<(ElementOrder, String)>], ids: &HashSet<String>) {
    let parsed = |section: &Section| -> Vec<Tree> {
        lists[section.table_index()].iter().filter_map(|(_, t)| Tree::parse(t, MAX_DEPTH).ok()).collect()
    };
    let mut seen: HashSet<String> =
        parsed(&NODES_SECTION).iter().filter_map(|node| text(node, "id").map(str::to_owned)).collect();
    let edges = parsed(&EDGES_SECTION);
    for id in edges.iter().flat_map(|edge| [text(edge, "source"), text(edge, "target")]).flatten() {
        let kind = if id.starts_with("mem_") { "memory" } else { "todo" };
        if (id.starts_with("mem_") || id.starts_with("todo_")) && ids.contains(id) && seen.insert(id.to_owned()) {
            let text_tree = |t: &str| Tree::Text(t.to_owned());
            let node = Tree::Object(vec![("id".into(), text_tree(id)), ("type".into(), text_tree(kind))]);
            lists[NODES_SECTION.table_index()].push(((true, String::new(), 1), json(&node)));
        }
    }
}

/// Sets the elements of a list, which is created if necessary.
fn fill_list(members: &mut Vec<(String, MemberValue)>, section: &'static Section, items: Vec<String>) {
    if section.parent.is_empty() {
        return set_section_items(members, section, items);
    }
    if items.is_empty() && !members.iter().any(|(k, _)| k == section.parent) {
        return;
    }
    match members.iter_mut().find(|(k, _)| k == section.parent) {
        Some((_, MemberValue::Object(inner))) => set_section_items(inner, section, items),
        Some((_, value)) if !items.is_empty() => {
            let mut inner = Vec::new();
            set_section_items(&mut inner, section, items);
            *value = MemberValue::Object(inner);
        }
        Some(_) => {}
        None => {
            let mut inner = Vec::new();
            set_section_items(&mut inner, section, items);
            members.push((section.parent.into(), MemberValue::Object(inner)));
        }
    }
}

fn set_section_items(members: &mut Vec<(String, MemberValue)>, section: &'static Section, items: Vec<String>) {
    match members.iter_mut().find(|(k, _)| k == section.name) {
        Some((_, value @ MemberValue::List(..))) => *value = MemberValue::List(section, items),
        Some((_, value)) if !items.is_empty() => *value = MemberValue::List(section, items),
        None if !items.is_empty() => members.push((section.name.into(), MemberValue::List(section, items))),
        _ => {}
    }
}
