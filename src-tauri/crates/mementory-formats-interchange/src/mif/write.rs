//! Records → document. An untouched element of the same version goes back as it was; everything else is composed, and
//! what does not fit rides in `x_mementory`. See README.md for what of an earlier document is kept.
use super::{
    compose::{self, Facts, element, stamp},
    document::{Document, Part, members_of},
    envelope,
    extension::{Home, attach, losses},
    lesser,
    map::{to_record, tree_of},
    plan::Plan,
    read::{METADATA, copy_metadata, metadata_of_record},
    redaction::{self, Privacy},
    sections::{EDGES, MEMORIES, NODES, SECTIONS, Section, TASKS},
    source::Form,
    survey::METHOD,
    wire::{SCOPE, Shape, inner, json, text},
};
use mementory_format::extension as slot;
use mementory_format::{
    FormatError, NO_BYTES, RecordSource, SourceAbout, StoredRecord, WriteOptions, WriteReport, passthrough_envelope,
};
use mementory_json::Tree;
use mementory_model::{Kind, LossKind, Record, Timestamp};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, HashSet},
    io::Write,
    path::Path,
};

/// Nesting of what we write: what was read, and our member around it.
const DEPTH: u32 = 1100;

/// Writes everything `source` has into the new file `out`.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: &Path,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let form = form_of(options)?;
    if form.adapter().is_some() {
        return lesser::write(source, Some(out), form, options);
    }
    let mut writing = Writing::over(source, options, true)?;
    let (mut document, mut checksum) = writing.finish()?;
    if let Some(passphrase) = &options.passphrase {
        let mut plain = Vec::new();
        document.write(Form::Json, &checksum, &mut plain)?;
        let encryption = envelope::seal(&plain, passphrase.as_ref())?;
        document = writing.around(encryption);
        checksum = String::new();
    }
    let io = |e| FormatError::io(out.display().to_string(), e);
    let file = std::fs::File::create_new(out).map_err(io)?;
    let mut file = std::io::BufWriter::with_capacity(256 << 10, file);
    document.write(form, &checksum, &mut file)?;
    file.flush().map_err(io)?;
    Ok(writing.report)
}

/// What [`write`] would hold and lose.
pub(super) fn plan(source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
    let form = form_of(options)?;
    if form.adapter().is_some() {
        return lesser::write(source, None, form, options);
    }
    Ok(Writing::over(source, options, false)?.report)
}

fn form_of(options: &WriteOptions) -> Result<Form, FormatError> {
    match options.encoding.as_deref() {
        None | Some("json") => Ok(Form::Json),
        Some("yaml") => Ok(Form::Yaml),
        Some("jsonl") => Ok(Form::Jsonl),
        Some("mem0") => Ok(Form::Mem0),
        Some("generic") => Ok(Form::Generic),
        Some("markdown") => Ok(Form::Markdown),
        Some(_) => {
            let message = "the encodings are json, yaml and jsonl, and the lesser forms mem0, generic and markdown";
            Err(FormatError::invalid("unknown_encoding", "export", message))
        }
    }
}

/// Orders the elements of a list: those that came in by file and position, then the others as they come.
type Place = (bool, String, u64);

struct Writing {
    plan: Plan,
    about: SourceAbout,
    /// False while planning: elements are made, for their losses, and let go.
    keep: bool,
    lists: Vec<Vec<(Place, String)>>,
    edited: bool,
    types: BTreeMap<String, u64>,
    range: Option<(Timestamp, Timestamp)>,
    metadata: BTreeMap<String, Tree>,
    privacy: Privacy,
    /// Values were looked for on the way here.
    looked: bool,
    report: WriteReport,
}

/// What version 2 says of a memory outside of it.
fn outside(record: &Record) -> Vec<(String, Tree)> {
    let importance = record.importance.filter(|i| i.is_finite()).map(|i| tree_of(&serde_json::json!(i)));
    let count = record.fields.get("access_count").filter(|n| n.is_u64()).map(tree_of);
    let accessed = record.times.last_accessed.map(|t| Tree::Text(stamp(t)));
    let all = [("importance", importance), ("access_count", count), ("accessed_at", accessed)];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

impl Writing {
    fn over(source: &mut dyn RecordSource, options: &WriteOptions, keep: bool) -> Result<Self, FormatError> {
        let mut plan = Plan::survey(source, options)?;
        let losses = std::mem::take(&mut plan.losses);
        let mut writing = Self {
            about: source.about(),
            keep,
            lists: SECTIONS.map(|_| vec![]).into(),
            edited: false,
            types: BTreeMap::new(),
            range: None,
            metadata: BTreeMap::new(),
            privacy: Privacy::default(),
            looked: source.covers(),
            report: WriteReport { version: plan.shape.version().into(), losses, ..WriteReport::default() },
            plan,
        };
        source.records(&mut |stored| writing.record(&stored))?;
        for tombstone in source.tombstones()? {
            let note = "the format has no deletions; only what is left is in the file";
            writing.report.losses.add(&tombstone.id, "tombstone", LossKind::LeftOut, note);
        }
        if options.everything {
            passthrough_envelope::note_left_out(source, |id| id != SCOPE, &mut writing.report.losses)?;
        }
        Ok(writing)
    }

    fn record(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let record = &stored.record;
        *self.report.by_kind.entry(record.kind.as_str().into()).or_default() += 1;
        if let (Some((section, index)), Some(verbatim)) = (self.plan.own(stored), &record.verbatim) {
            let (text, kind) = match stored.edited {
                true => self.patched(stored, section, &verbatim.text)?,
                false => (verbatim.text.clone(), record.record_type.clone()),
            };
            let place = (false, record.origin.container.clone(), index);
            self.count(record, section, kind.as_deref());
            if let (Some(metadata), Some(id)) = (metadata_of_record(&record.fields), &record.origin_id) {
                self.metadata.insert(id.clone(), metadata);
            }
            return self.push(section, place, text);
        }
        self.elsewhere(stored)
    }

    /// An edited element, and its type: its own tree, only the changed members replaced.
    fn patched(
        &mut self,
        stored: &StoredRecord,
        section: &Section,
        verbatim: &str,
    ) -> Result<(String, Option<String>), FormatError> {
        let record = &stored.record;
        self.edited = true;
        let mut tree =
            Tree::parse(verbatim, DEPTH).map_err(|e| FormatError::invalid("malformed", &stored.id, e.to_string()))?;
        let said = to_record(section, &tree);
        compose::patch(&mut tree, section, self.plan.shape, &said, record);
        let record = redaction::attach(stored, section, self.plan.shape, &mut tree);
        let record = record.as_ref();
        let mut mapped = to_record(section, &tree);
        let kind = mapped.record_type.clone();
        mapped.key = record.key.clone(); // of two records with one id the later has a key of its own
        mapped.repeats = record.repeats;
        if record.fields.contains_key(METADATA) {
            copy_metadata(&record.fields, &mut mapped.fields);
            mapped.importance = record.importance;
            mapped.times.last_accessed = record.times.last_accessed;
        }
        attach(&mut tree, &mapped, record, Home::Own);
        losses(&stored.id, &tree, &mut self.report.losses);
        Ok((json(&tree), kind))
    }

    fn elsewhere(&mut self, stored: &StoredRecord) -> Result<(), FormatError> {
        let record = &stored.record;
        let shape = self.plan.shape;
        let (section, ends) = self.plan.target(stored);
        let id = match self.plan.id_of(&stored.id) {
            Some((_, id)) => id.clone(),
            None => compose::id_for(stored, section, shape, self.plan.strip),
        };
        let related = self.plan.related(stored);
        let facts = Facts { id: &id, related, ends, now: self.about.now, strip: self.plan.strip };
        let mut tree = element(record, section, shape, &facts);
        let record = redaction::attach(stored, section, shape, &mut tree);
        let record = record.as_ref();
        let mapped = to_record(section, &tree);
        let home = if self.plan.strip { Home::Stripped } else { Home::Elsewhere };
        attach(&mut tree, &mapped, record, home);
        losses(&stored.id, &tree, &mut self.report.losses);
        self.narrowed(stored, section, &mapped);
        self.count(record, section, text(&tree, "type").or(text(&tree, "memory_type")));
        if shape == Shape::V2 && *section == MEMORIES {
            let outside = outside(record);
            if !outside.is_empty() {
                self.metadata.insert(id, Tree::Object(outside));
            }
        }
        self.push(section, (true, String::new(), 0), json(&tree))
    }

    fn narrowed(&mut self, stored: &StoredRecord, section: &Section, mapped: &Record) {
        let record = &stored.record;
        let losses = &mut self.report.losses;
        if record.kind != section.kind {
            losses.add(&stored.id, "kind", LossKind::Narrowed, "written as a memory; the format has no such kind");
        }
        if record.text.is_empty() && !mapped.text.is_empty() {
            let note = "content must not be empty: the title or a stand-in is written";
            losses.add(&stored.id, "text", LossKind::Narrowed, note);
        }
        if record.times.created.is_none() {
            let note = "no time of making: the nearest time known, or that of the export";
            losses.add(&stored.id, "times", LossKind::Narrowed, note);
        }
        if record.kind == Kind::Attachment {
            losses.add(&stored.id, "bytes", LossKind::LeftOut, NO_BYTES);
        }
        if self.plan.strip {
            losses.add(&stored.id, "identifiers", LossKind::LeftOut, "left out as asked; the record cannot go home");
        }
    }

    /// Takes note of what the metadata will say.
    fn count(&mut self, record: &Record, section: &Section, kind: Option<&str>) {
        if *section == MEMORIES {
            *self.types.entry(kind.unwrap_or_default().to_owned()).or_default() += 1;
        }
        if *section == MEMORIES || *section == TASKS {
            for time in [record.times.created, record.times.updated].into_iter().flatten() {
                let (from, to) = self.range.unwrap_or((time, time));
                self.range = Some((from.min(time), to.max(time)));
            }
        }
    }

    fn push(&mut self, section: &Section, place: Place, text: String) -> Result<(), FormatError> {
        if self.keep {
            self.privacy.note(&text, DEPTH);
        }
        self.lists[section.number()].push((place, if self.keep { text } else { String::new() }));
        Ok(())
    }

    /// The document, and its checksum.
    fn finish(&mut self) -> Result<(Document, String), FormatError> {
        let shape = self.plan.shape;
        let mut lists: Vec<Vec<(Place, String)>> = std::mem::take(&mut self.lists);
        lists.iter_mut().for_each(|list| list.sort_by(|a, b| a.0.cmp(&b.0)));
        let base = self.plan.base();
        let same = base.is_some_and(|kept| {
            let slots = |s: &Section| if *s == NODES { kept.slots.len() as u64 } else { 0 };
            !self.edited
                && SECTIONS.iter().all(|s| lists[s.number()].len() as u64 + slots(s) == kept.counts[s.number()])
        });
        let root = base.map_or_else(|| self.root(), |kept| kept.document.clone());
        let slots = base.map(|kept| kept.slots.clone()).unwrap_or_default();
        let ids = if same { HashSet::new() } else { ids_of(&lists) };
        let nodes = &mut lists[NODES.number()];
        for (index, node) in slots {
            let id = Tree::parse(&node, DEPTH).ok().and_then(|n| text(&n, "id").map(str::to_owned));
            if same || id.is_some_and(|id| ids.contains(&id)) {
                // Each at its place; the records fill the places between.
                let at = usize::try_from(index).unwrap_or(usize::MAX).min(nodes.len());
                nodes.insert(at, (Place::default(), node));
            }
        }
        if base.is_none() {
            end_nodes(&mut lists, &ids);
        }
        let mut document = Document { members: members_of(root, ""), depth: DEPTH };
        let counts: Vec<usize> = lists.iter().map(Vec::len).collect();
        for (section, list) in SECTIONS.into_iter().zip(lists) {
            let items: Vec<String> = list.into_iter().map(|(_, text)| text).collect();
            fill(&mut document.members, section, items);
        }
        if shape == Shape::V2 && !self.metadata.is_empty() {
            self.vendor(&mut document);
        }
        if same {
            let header = document.members.iter().find(|(k, _)| k == shape.header());
            let kept = match header {
                Some((_, Part::Tree(header))) => text(header, "checksum").unwrap_or_default().to_owned(),
                _ => String::new(),
            };
            return Ok((document, kept));
        }
        self.summary(&mut document, &counts);
        document.set_header(shape, "checksum", Tree::Text(String::new()));
        document.set_header(shape, "checksum_method", Tree::Text(METHOD.into()));
        let checksum = document.checksum()?;
        document.set_header(shape, "checksum", Tree::Text(checksum.clone()));
        Ok((document, checksum))
    }

    /// Whose memories they are: of the one person that earlier documents name, else of this vault.
    fn owner(&self) -> &str {
        if self.plan.strip {
            return "anonymous";
        }
        let mut named = self.plan.kept.iter().filter_map(|(k, _)| inner(&k.document, k.shape.header(), "user_id"));
        let first = named.next().filter(|one| !one.is_empty());
        first.filter(|one| named.all(|other| other == *one)).unwrap_or(&self.about.vault_id)
    }

    /// A document of our own, its lists empty.
    fn root(&self) -> Tree {
        let shape = self.plan.shape;
        let seed = format!("{}|{}", self.about.vault_id, self.about.now.as_micros());
        let mut root = header(shape, &self.about, &seed, self.owner());
        let empty = || Tree::Array(vec![]);
        let object = |names: &[&str]| Tree::Object(names.iter().map(|n| ((*n).to_owned(), empty())).collect());
        if shape == Shape::V1 {
            for name in ["memories", "todos"] {
                root.set(name, empty());
            }
            let mut graph = Tree::Object(vec![("format".into(), Tree::Text("adjacency_list".into()))]);
            graph.set("nodes", empty());
            graph.set("edges", empty());
            root.set("graph", graph);
            root.set("metadata", Tree::Object(vec![]));
        } else {
            root.set("memories", empty());
            root.set("knowledge_graph", object(&["entities", "relationships", "episodes"]));
            for name in ["todos", "projects", "reminders"] {
                root.set(name, empty());
            }
            root.set("vendor_extensions", Tree::Object(vec![]));
        }
        let number = |n: &str| Tree::Number(n.into());
        let mut ours = Tree::Object(vec![("v".into(), number("1")), ("generated".into(), Tree::Bool(true))]);
        if !self.plan.kept.is_empty() {
            // What earlier documents said of themselves goes along, for the way home.
            ours.set("documents", Tree::Array(self.plan.kept.iter().map(|(_, tree)| tree.clone()).collect()));
        }
        slot::set(&mut root, ours);
        root
    }

    /// What the specification wants told of the content (§7); members that we do not know stay.
    fn summary(&self, document: &mut Document, counts: &[usize]) {
        if self.plan.shape == Shape::V2 {
            let header = document.members.iter().find(|(k, _)| k == Shape::V2.header());
            let before = header.and_then(|(_, part)| if let Part::Tree(h) = part { h.get("privacy") } else { None });
            if let Some(privacy) = self.privacy.object(before, self.looked) {
                document.set_header(Shape::V2, "privacy", privacy);
            }
            return;
        }
        let number = |n: usize| Tree::Number(n.to_string());
        if self.privacy.object(None, false).is_some() && !document.members.iter().any(|(k, _)| k == "metadata") {
            document.members.push(("metadata".into(), Part::Tree(Tree::Object(vec![]))));
        }
        for (key, part) in &mut document.members {
            match part {
                Part::Tree(metadata @ Tree::Object(_)) if key == "metadata" => {
                    metadata.set("total_memories", number(counts[MEMORIES.number()]));
                    metadata.set("total_todos", number(counts[TASKS.number()]));
                    if let Some((from, to)) = self.range {
                        let range = vec![
                            ("earliest".into(), Tree::Text(stamp(from))),
                            ("latest".into(), Tree::Text(stamp(to))),
                        ];
                        metadata.set("date_range", Tree::Object(range));
                    }
                    let types = self.types.iter().map(|(t, n)| (t.clone(), Tree::Number(n.to_string())));
                    metadata.set("memory_types", Tree::Object(types.collect()));
                    // Counted over records that may be gone.
                    metadata.remove("top_entities");
                    metadata.remove("projects");
                    if let Some(privacy) = self.privacy.object(metadata.get("privacy"), self.looked) {
                        metadata.set("privacy", privacy);
                    }
                }
                Part::Object(members) if key == NODES.parent => {
                    for (name, section) in [("edge_count", &EDGES), ("node_count", &NODES)] {
                        let value = Part::Tree(number(counts[section.number()]));
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

    /// What version 2 keeps of memories outside of them.
    fn vendor(&mut self, document: &mut Document) {
        let at = match document.members.iter().position(|(k, _)| k == "vendor_extensions") {
            Some(at) => at,
            None => {
                document.members.push(("vendor_extensions".into(), Part::Tree(Tree::Object(vec![]))));
                document.members.len() - 1
            }
        };
        let Part::Tree(vendors) = &mut document.members[at].1 else { return };
        let empty = || Tree::Object(vec![]);
        let mut shodh = vendors.get("shodh-memory").cloned().unwrap_or_else(empty);
        let mut metadata = shodh.get("memory_metadata").cloned().unwrap_or_else(empty);
        for (id, value) in std::mem::take(&mut self.metadata) {
            metadata.set(&id, value);
        }
        shodh.set("memory_metadata", metadata);
        vendors.set("shodh-memory", shodh);
    }

    /// A document that shows nothing but that it is one; everything is inside the envelope.
    fn around(&self, encryption: Tree) -> Document {
        let shape = self.plan.shape;
        let seed = text(&encryption, "auth_tag").unwrap_or_default().to_owned();
        let mut root = header(shape, &self.about, &seed, "encrypted");
        root.set(MEMORIES.name, Tree::Array(vec![]));
        root.set("encryption", encryption);
        Document { members: members_of(root, ""), depth: DEPTH }
    }
}

/// Version, generator and header object.
fn header(shape: Shape, about: &SourceAbout, seed: &str, user: &str) -> Tree {
    let digest = Sha256::digest(format!("mif-export|{seed}"));
    let word = |t: &str| Tree::Text(t.to_owned());
    let version = about.generator.rsplit('/').next().unwrap_or_default();
    let generator = vec![("name".into(), word("Mementory")), ("version".into(), word(version))];
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    let id = match shape {
        Shape::V1 => format!("exp_{}", hex::encode(&digest[..6])),
        Shape::V2 => uuid::Builder::from_custom_bytes(bytes).into_uuid().hyphenated().to_string(),
    };
    let mut export = Tree::Object(vec![
        ("id".into(), Tree::Text(id)),
        ("created_at".into(), Tree::Text(stamp(about.now))),
        ("user_id".into(), word(user)),
    ]);
    if shape == Shape::V2 {
        export.set("checksum", word("")); // required there, and may be empty
    }
    Tree::Object(vec![
        ("mif_version".into(), word(shape.version())),
        ("generator".into(), Tree::Object(generator)),
        (shape.header().into(), export),
    ])
}

/// Ids of everything in the lists.
fn ids_of(lists: &[Vec<(Place, String)>]) -> HashSet<String> {
    let sections = [&MEMORIES, &TASKS, &NODES];
    let texts = sections.into_iter().flat_map(|s| &lists[s.number()]);
    texts.filter_map(|(_, t)| Tree::parse(t, DEPTH).ok().and_then(|t| text(&t, "id").map(str::to_owned))).collect()
}

/// Every end of an edge is a node of the graph.
fn end_nodes(lists: &mut [Vec<(Place, String)>], ids: &HashSet<String>) {
    let mut seen: HashSet<String> = HashSet::new();
    let edges: Vec<Tree> = lists[EDGES.number()].iter().filter_map(|(_, t)| Tree::parse(t, DEPTH).ok()).collect();
    for id in edges.iter().flat_map(|edge| [text(edge, "source"), text(edge, "target")]).flatten() {
        let kind = if id.starts_with("mem_") { "memory" } else { "todo" };
        if (id.starts_with("mem_") || id.starts_with("todo_")) && ids.contains(id) && seen.insert(id.to_owned()) {
            let word = |t: &str| Tree::Text(t.to_owned());
            let node = Tree::Object(vec![("id".into(), word(id)), ("type".into(), word(kind))]);
            lists[NODES.number()].push(((true, String::new(), 1), json(&node)));
        }
    }
}

/// Puts the elements into their list, which is made where there is none.
fn fill(members: &mut Vec<(String, Part)>, section: &'static Section, items: Vec<String>) {
    if section.parent.is_empty() {
        return fill_in(members, section, items);
    }
    if items.is_empty() && !members.iter().any(|(k, _)| k == section.parent) {
        return;
    }
    match members.iter_mut().find(|(k, _)| k == section.parent) {
        Some((_, Part::Object(inner))) => fill_in(inner, section, items),
        Some((_, part)) if !items.is_empty() => {
            let mut inner = Vec::new();
            fill_in(&mut inner, section, items);
            *part = Part::Object(inner);
        }
        Some(_) => {}
        None => {
            let mut inner = Vec::new();
            fill_in(&mut inner, section, items);
            members.push((section.parent.into(), Part::Object(inner)));
        }
    }
}

fn fill_in(members: &mut Vec<(String, Part)>, section: &'static Section, items: Vec<String>) {
    match members.iter_mut().find(|(k, _)| k == section.name) {
        Some((_, part @ Part::List(..))) => *part = Part::List(section, items),
        Some((_, part)) if !items.is_empty() => *part = Part::List(section, items),
        None if !items.is_empty() => members.push((section.name.into(), Part::List(section, items))),
        _ => {}
    }
}
