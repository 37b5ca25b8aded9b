//! Records and parts → the files of a workspace (spec §6.2). What came from this runtime goes back as it was: its own
//! records first, else `raw/<runtime>/` of an `.alf` (spec: preferred over the layers); the rest is composed.
use super::artifacts::{self, Absent, Artifact};
use super::files::{self, FileRole};
use super::read::slot_key;
use super::{Runtime, redact, sections};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_json::Tree;
use mementory_model::{Kind, LossKind, LossReport, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// A file of a workspace that is held in memory while it is put together is no larger than this.
const FILE_BYTES: u64 = 1 << 30;

/// A piece of a file: where it stands in it, tie-breaker, text.
type Piece = (u64, String, String);

/// A workspace being put together.
pub struct Workspace {
    /// The runtime.
    pub runtime: &'static Runtime,
    /// Files of the workspace as bytes.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Records of this runtime that are no text of a file (rows of its database), by id space.
    pub rows: Vec<StoredRecord>,
    /// Records of other formats.
    pub foreign: Vec<Record>,
    /// Which of the files are no records' text: id space, and path in their own workspace.
    pub parts: BTreeMap<String, (String, String)>,
    /// The id space whose files lie at the top.
    pub first: String,
    /// Was everything asked for?
    pub everything: bool,
    /// Where new files go: below the workspace of a home.
    pub prefix: String,
    /// What is written and what is lost.
    pub report: WriteReport,
    /// Files that an archive only named.
    pub absent: Vec<Absent>,
    /// Files of an agent's archive, for the places that it names (spec §6.2).
    pub(super) artifacts: Vec<Artifact>,
    slots: Vec<String>,
}

impl Workspace {
    /// Collects everything that goes into the workspace.
    pub fn gather(
        runtime: &'static Runtime,
        source: &mut dyn RecordSource,
        options: &WriteOptions,
    ) -> Result<Self, FormatError> {
        let mut out = Self {
            runtime,
            files: BTreeMap::new(),
            parts: BTreeMap::new(),
            first: String::new(),
            rows: vec![],
            foreign: vec![],
            everything: options.everything,
            prefix: String::new(),
            report: WriteReport { version: "1".into(), ..WriteReport::default() },
            absent: vec![],
            artifacts: vec![],
            slots: vec![],
        };
        let mut raw = BTreeMap::new();
        let start = format!("raw/{}/", runtime.id);
        source.passthrough("alf", &mut |item, bytes| match item.name.strip_prefix(&start) {
            Some(path) => read_all(bytes, &item.name).map(|b| drop(raw.insert(path.to_owned(), b))),
            None => Ok(()),
        })?;
        let (mut pieces, mut count) = (BTreeMap::<(String, String), Vec<Piece>>::new(), BTreeMap::<String, u64>::new());
        let mut rows = Vec::new();
        source.records(&mut |stored| {
            *out.report.by_kind.entry(stored.record.kind.as_str().to_owned()).or_default() += 1;
            match artifacts::row_of(&stored) {
                Some(row) => rows.push((stored.id, stored.attachment_ids.into_iter().next(), row)),
                None => out.record(stored, &raw, &mut pieces, &mut count),
            }
            Ok(())
        })?;
        for (id, file, row) in rows {
            out.artifact(source, id, file, row)?;
        }
        let mut parts: Vec<(String, String, Vec<u8>)> = Vec::new();
        let mut lists = Vec::new();
        source.passthrough(runtime.id, &mut |item, bytes| {
            if item.name == files::LINEAGE {
                return Ok(());
            }
            if item.name == files::ABSENT {
                lists.push((item.group.clone(), read_all(bytes, &item.name)?));
                return Ok(());
            }
            *count.entry(item.group.clone()).or_default() += 1;
            parts.push((item.group.clone(), item.name.clone(), read_all(bytes, &item.name)?));
            Ok(())
        })?;
        // several agents of one runtime: the one with most is the workspace, the others lie in folders of their own
        let first = count.iter().max_by_key(|(_, n)| **n).map(|(scope, _)| scope.clone()).unwrap_or_default();
        out.first.clone_from(&first);
        let path_of = |scope: &str, path: &str| match scope == first {
            true => path.to_owned(),
            false => format!("other-agents/{}/{path}", slug(scope.rsplit(':').next().unwrap_or(scope))),
        };
        for ((scope, path), mut list) in pieces {
            list.sort();
            let text: String = list.into_iter().map(|(_, _, text)| text).collect();
            out.put(path_of(&scope, &path), text.into_bytes());
        }
        for (scope, own, bytes) in parts {
            let path = path_of(&scope, &own);
            if !out.files.contains_key(&path) {
                out.parts.insert(path.clone(), (scope, own));
            }
            out.put(path, bytes);
        }
        for (path, bytes) in raw {
            if !out.files.contains_key(&path) {
                out.put(path, bytes);
            }
        }
        for (scope, list) in lists {
            out.list_absent(&scope, &list, &|path| path_of(&scope, path));
        }
        if source.tombstones()?.iter().any(|t| t.scope.starts_with(runtime.id)) {
            out.report.losses.add("tombstones", "tombstone", LossKind::LeftOut, "a workspace has no signed deletions");
        }
        Ok(out)
    }

    fn record(
        &mut self,
        stored: StoredRecord,
        raw: &BTreeMap<String, Vec<u8>>,
        pieces: &mut BTreeMap<(String, String), Vec<Piece>>,
        count: &mut BTreeMap<String, u64>,
    ) {
        let record = &stored.record;
        if record.origin.format == self.runtime.id {
            let file = record.fields.get("file").and_then(|f| f.as_str()).map(str::to_owned);
            let (Some(path), Some(verbatim)) = (file, &record.verbatim) else {
                self.rows.push(stored);
                return;
            };
            if verbatim.media_type != "text/markdown" {
                self.rows.push(stored);
                return;
            }
            *count.entry(record.key.scope.clone()).or_default() += 1;
            let number = record.origin.pointer.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
            let text = text_of(&stored);
            pieces.entry((record.key.scope.clone(), path)).or_default().push((number, stored.id.clone(), text));
            return;
        }
        if record.origin.format == "alf" && !raw.is_empty() {
            // what the runtime's own file says is there already
            let from = record.fields.get("origin_file").and_then(|f| f.as_str());
            let covered = record.kind == Kind::Profile || from.is_some_and(|f| raw.contains_key(f));
            if covered && record.source.platform == self.runtime.id {
                if stored.edited {
                    let note = "its file in raw/ goes back as it was; the change is not in it";
                    self.report.losses.add(&stored.id, "text", LossKind::LeftOut, note);
                }
                return;
            }
        }
        self.foreign(stored);
    }

    fn foreign(&mut self, stored: StoredRecord) {
        let record = &stored.record;
        let mut lose = |field: &str, note: &str| self.report.losses.add(&stored.id, field, LossKind::LeftOut, note);
        match record.kind {
            Kind::Conversation | Kind::Message => {
                lose("record", "a workspace holds what an agent knows, not its chats")
            }
            Kind::Credential => lose("record", "secrets do not go into a workspace"),
            Kind::Attachment | Kind::Chunk | Kind::Audit | Kind::Foreign => lose("record", "no place in a workspace"),
            _ if matches!(record.status.as_deref(), Some("deleted" | "superseded")) => {
                lose("record", "no longer holds: an agent would take it for true");
            }
            _ => self.foreign.push(stored.record),
        }
    }

    /// A file, once.
    pub fn put(&mut self, path: String, bytes: Vec<u8>) {
        if !files::is_safe(&path) {
            let note = "a name that must not be written below a folder";
            self.report.losses.add(&path, "file", LossKind::LeftOut, note);
            return;
        }
        if files::is_bookkeeping(&path) {
            let note = "what is kept beside a workspace is made from the records, never brought along";
            self.report.losses.add(&path, "file", LossKind::LeftOut, note);
            return;
        }
        self.files.entry(path).or_insert(bytes);
    }

    /// Records of other formats as Markdown.
    pub fn compose_foreign(&mut self) {
        for record in std::mem::take(&mut self.foreign) {
            if !self.identity(&record) {
                self.note(&record);
            }
        }
    }

    /// An identity or a principal of an `.alf` as the files of this runtime, where there are none yet.
    fn identity(&mut self, record: &Record) -> bool {
        let Some(tree) =
            record.verbatim.as_ref().filter(|_| record.origin.format == "alf" && record.kind == Kind::Profile)
        else {
            return false;
        };
        let Ok(tree) = Tree::parse(&tree.text, 512) else { return false };
        let text = |path: &[&str]| {
            path.iter().try_fold(&tree, |t, key| t.get(key)).and_then(Tree::as_str).filter(|t| !t.is_empty())
        };
        let mut found = false;
        for (name, block) in files::PROFILES {
            let file = format!("{}{name}", self.prefix);
            let said = match block {
                "user_profile" => text(&["profile", "prose", "user_profile"]),
                "soul" | "identity_profile" | "operating_instructions" => text(&["prose", block]),
                block => text(&["prose", "custom_blocks", block]),
            };
            if let Some(said) = said
                && !self.files.contains_key(&file)
            {
                self.put(file, said.as_bytes().to_vec());
                found = true;
            }
        }
        let (file, heading) = match record.record_type.as_deref() {
            Some("identity") => ("IDENTITY.md", "Identity"),
            _ => ("USER.md", "User"),
        };
        let file = format!("{}{file}", self.prefix);
        if !found && !self.files.contains_key(&file) && !record.text.is_empty() {
            let name = record.title.as_deref().map(|n| format!("Name: {n}\n")).unwrap_or_default();
            self.put(file, format!("# {heading}\n\n{name}{}\n", record.text).into_bytes());
            found = true;
        }
        if found {
            let note = "only its text: structured fields have no place in a Markdown workspace";
            self.report.losses.add(
                record.origin_id.as_deref().unwrap_or("identity"),
                "fields",
                LossKind::Narrowed,
                note,
            );
        }
        found
    }

    /// A record as a section of a memory file, and as itself beside it.
    fn note(&mut self, record: &Record) {
        let from = record.fields.get("origin_file").and_then(|f| f.as_str()).filter(|f| files::is_safe(f));
        let from = from.filter(|f| matches!(files::role(f), FileRole::Memory(n) if !n.whole)).map(str::to_owned);
        let space = record.namespace.as_deref().filter(|n| *n != "default");
        let path = from.unwrap_or_else(|| match space {
            Some("curated") => "MEMORY.md".into(),
            Some(space) => format!("memory/{}.md", slug(space)),
            None => format!(
                "memory/{}.md",
                slug(Some(record.source.platform.as_str()).filter(|p| !p.is_empty()).unwrap_or("mementory"))
            ),
        });
        let path = format!("{}{path}", self.prefix);
        let text = if record.text.is_empty() { record.title.clone().unwrap_or_default() } else { record.text.clone() };
        if text.trim().is_empty() {
            self.report.losses.add(&record.key.value, "record", LossKind::LeftOut, "no text");
            return;
        }
        let first: String =
            text.lines().next().unwrap_or_default().trim_start_matches('#').trim().chars().take(60).collect();
        let heading = record.title.clone().filter(|t| !t.trim().is_empty()).unwrap_or(first).replace(['\n', '\r'], " ");
        // a second-level heading in the text would cut the section in two
        let body: String =
            text.lines().map(|l| if l.starts_with("## ") { format!("#{l}\n") } else { format!("{l}\n") }).collect();
        let piece = format!("## {}\n{body}\n", heading.trim());
        let file = self.files.entry(path.clone()).or_default();
        if !file.is_empty() {
            let gap: &[u8] = if file.ends_with(b"\n\n") {
                b""
            } else if file.ends_with(b"\n") {
                b"\n"
            } else {
                b"\n\n"
            };
            file.extend_from_slice(gap);
        }
        file.extend_from_slice(piece.as_bytes());
        self.slot(&path, &piece, record);
    }

    /// Keeps a record of another format whole beside the words that it became.
    pub fn slot(&mut self, path: &str, piece: &str, record: &Record) {
        let digest = slot_key(path, piece);
        let digest = digest.rsplit('|').next().unwrap_or_default();
        if let Ok(slot) = serde_json::to_string(&serde_json::json!({"file": path, "sha256": digest, "record": record}))
        {
            self.slots.push(slot);
        }
        let note = "its text is in the workspace; all else is in .keepsake/records.jsonl";
        self.report.losses.add(&record.key.value, "record", LossKind::MovedToExtension, note);
    }

    /// Secrets leave settings files; key files stay behind. Gives those files as they were, if they are `wanted` for
    /// another way out; then nothing is lost.
    pub fn withhold(&mut self, wanted: bool) -> Vec<(String, Vec<u8>)> {
        let (mut gone, mut whole) = (BTreeSet::new(), Vec::new());
        let losses: &mut LossReport = &mut self.report.losses;
        for (path, bytes) in &mut self.files {
            let inner = path.strip_prefix("workspace/").unwrap_or(path);
            match files::role(inner) {
                FileRole::Secret if wanted => {
                    whole.push((path.clone(), std::mem::take(bytes)));
                    gone.insert(path.clone());
                }
                FileRole::Secret => {
                    losses.add(path, "secret", LossKind::LeftOut, "a key file is not written out");
                    *self.report.withheld.entry("secret".into()).or_default() += 1;
                    gone.insert(path.clone());
                }
                FileRole::Settings => {
                    let text = String::from_utf8_lossy(bytes);
                    let (clean, n) = redact::redact(&text);
                    if n > 0 && wanted {
                        whole.push((path.clone(), std::mem::replace(bytes, clean.into_bytes())));
                    } else if n > 0 {
                        losses.add(
                            path,
                            "secret",
                            LossKind::LeftOut,
                            "secrets of a settings file are written as <redacted>",
                        );
                        *self.report.withheld.entry("secret".into()).or_default() += u64::from(n);
                        *bytes = clean.into_bytes();
                    }
                }
                _ => {}
            }
        }
        self.files.retain(|path, _| !gone.contains(path));
        whole
    }

    /// Writes the folder.
    pub fn write(mut self, out: &Path) -> Result<WriteReport, FormatError> {
        self.close();
        let io = |path: &str| {
            let path = path.to_owned();
            move |e| FormatError::io(path, e)
        };
        std::fs::create_dir(out).map_err(io("workspace"))?;
        for (path, bytes) in &self.files {
            let target = out.join(path);
            if let Some(parent) = target.parent() {
                std::fs::create_dir_all(parent).map_err(io(path))?;
            }
            let mut file = std::fs::File::create_new(&target).map_err(io(path))?;
            std::io::Write::write_all(&mut file, bytes).and_then(|()| file.sync_all()).map_err(io(path))?;
        }
        Ok(self.report)
    }

    /// The report of a dry run.
    pub fn into_report(mut self) -> WriteReport {
        self.close();
        self.report
    }

    fn close(&mut self) {
        self.place_artifacts();
        self.write_absent();
        if !self.slots.is_empty() {
            let text = self.slots.join("\n") + "\n";
            self.files.insert(files::SLOTS.into(), text.into_bytes());
        }
        if self.files.keys().all(|p| !p.ends_with(".md")) && self.files.is_empty() {
            // a folder with nothing in it would not be known as a workspace again
            self.files.insert("SOUL.md".into(), b"# Agent\n".to_vec());
        }
        let marks = ["SOUL.md", files::AGENT_ID, "workspace/SOUL.md"];
        if !marks.iter().any(|m| self.files.contains_key(*m)) && self.runtime.id == super::OPENCLAW.id {
            self.files.entry("SOUL.md".into()).or_insert_with(|| b"# Agent\n".to_vec());
        }
        self.withhold(false);
    }
}

/// The text of the file that one record is.
pub fn text_of(stored: &StoredRecord) -> String {
    let record = &stored.record;
    let verbatim = record.verbatim.as_ref().map_or("", |v| v.text.as_str());
    let path = record.fields.get("file").and_then(|f| f.as_str()).unwrap_or_default();
    if stored.edited { edited(record, verbatim, path) } else { verbatim.to_owned() }
}

/// An edited piece: new words in the old white space.
fn edited(record: &Record, verbatim: &str, path: &str) -> String {
    let inner = path.strip_prefix("workspace/").unwrap_or(path);
    let whole = match files::role(inner) {
        FileRole::Memory(notes) => notes.whole,
        _ => true,
    };
    let found = sections::parse(verbatim, whole);
    let heading = found.heading.clone().map(|h| &verbatim[h]);
    let changed = heading.filter(|h| Some(sections::title(h)) != record.title).and(record.title.as_deref());
    // a heading without anything below it was shown as the text
    let body = if found.body.is_empty() && heading == Some(record.text.as_str()) { "" } else { record.text.as_str() };
    sections::with(verbatim, whole, changed, body)
}

pub(super) fn read_all(bytes: &mut dyn Read, name: &str) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::new();
    bytes.take(FILE_BYTES + 1).read_to_end(&mut out).map_err(|e| FormatError::io(name, e))?;
    if out.len() as u64 > FILE_BYTES {
        return Err(FormatError::Limit { limit: "file_bytes", place: name.into(), figure: FILE_BYTES });
    }
    Ok(out)
}

/// A word for a file name.
pub fn slug(text: &str) -> String {
    let mut out: String =
        text.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    while out.contains("--") {
        out = out.replace("--", "-");
    }
    let out: String = out.trim_matches('-').chars().take(60).collect();
    if out.is_empty() { "mementory".into() } else { out }
}
