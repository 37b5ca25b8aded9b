//! Converts records and passthrough files to the files of a workspace (spec §6.2). Each file is taken from the first of
//! these sources that contains it: records of this runtime; `raw/<runtime>/` of an `.alf` archive, which the
//! specification prefers over the archive's layers; records of other formats, converted to Markdown.
use super::artifacts;
use super::files::{self, FileRole};
use super::read::slot_key;
pub use super::workspace::Workspace;
use super::workspace::read_all;
use super::{Runtime, redact, sections};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_json::Tree;
use mementory_model::{Kind, LossKind, LossReport, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A section of a file: its position in the file, the id of its record, and its text. Sections at the same position are
/// ordered by the id.
type OrderedSection = (u64, String, String);

impl Workspace {
    /// Collects everything that is written into the workspace.
    pub fn collect(
        runtime: &'static Runtime,
        source: &mut dyn RecordSource,
        options: &WriteOptions,
    ) -> Result<Self, FormatError> {
        let mut out = Self {
            runtime,
            files: BTreeMap::new(),
            passthrough: BTreeMap::new(),
            main_scope: String::new(),
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
        let raw_prefix = format!("raw/{}/", runtime.id);
        source.passthrough("alf", &mut |item, bytes| match item.name.strip_prefix(&raw_prefix) {
            Some(path) => read_all(bytes, &item.name).map(|b| drop(raw.insert(path.to_owned(), b))),
            None => Ok(()),
        })?;
        let (mut pieces, mut file_and_record_counts) =
            (BTreeMap::<(String, String), Vec<OrderedSection>>::new(), BTreeMap::<String, u64>::new());
        let mut attachments = Vec::new();
        source.records(&mut |stored| {
            *out.report.by_kind.entry(stored.record.kind.as_str().to_owned()).or_default() += 1;
            match artifacts::attachment_row(&stored) {
                Some(row) => attachments.push((stored.id, stored.attachment_ids.into_iter().next(), row)),
                None => out.add_record(stored, &raw, &mut pieces, &mut file_and_record_counts),
            }
            Ok(())
        })?;
        for (id, file, row) in attachments {
            out.add_artifact(source, id, file, row)?;
        }
        let mut passthrough: Vec<(String, String, Vec<u8>)> = Vec::new();
        let mut absent_indexes = Vec::new();
        source.passthrough(runtime.id, &mut |item, bytes| {
            if files::is_our_file(&item.name, files::LINEAGE_FILE) {
                return Ok(());
            }
            if files::is_our_file(&item.name, files::ABSENT_FILE) {
                absent_indexes.push((item.group.clone(), read_all(bytes, &item.name)?));
                return Ok(());
            }
            *file_and_record_counts.entry(item.group.clone()).or_default() += 1;
            passthrough.push((item.group.clone(), item.name.clone(), read_all(bytes, &item.name)?));
            Ok(())
        })?;
        // The agent with the most records and files is at the top. Each other agent gets a separate folder.
        let main_scope =
            file_and_record_counts.iter().max_by_key(|(_, n)| **n).map(|(scope, _)| scope.clone()).unwrap_or_default();
        out.main_scope.clone_from(&main_scope);
        let path_of = |scope: &str, path: &str| match scope == main_scope {
            true => path.to_owned(),
            false => format!("other-agents/{}/{path}", slug(scope.rsplit(':').next().unwrap_or(scope))),
        };
        for ((scope, path), mut sections) in pieces {
            sections.sort();
            let text: String = sections.into_iter().map(|(_, _, text)| text).collect();
            out.add_file(path_of(&scope, &path), text.into_bytes());
        }
        for (scope, original_path, bytes) in passthrough {
            let path = path_of(&scope, &original_path);
            if !out.files.contains_key(&path) {
                out.passthrough.insert(path.clone(), (scope, original_path));
            }
            out.add_file(path, bytes);
        }
        for (path, bytes) in raw {
            if !out.files.contains_key(&path) {
                out.add_file(path, bytes);
            }
        }
        for (scope, index) in absent_indexes {
            out.add_absent_from_index(&scope, &index, &|path| path_of(&scope, path));
        }
        if source.tombstones()?.iter().any(|t| t.scope.starts_with(runtime.id)) {
            out.report.losses.add("tombstones", "tombstone", LossKind::LeftOut, "a workspace has no signed deletions");
        }
        Ok(out)
    }

    fn add_record(
        &mut self,
        stored: StoredRecord,
        raw: &BTreeMap<String, Vec<u8>>,
        pieces: &mut BTreeMap<(String, String), Vec<OrderedSection>>,
        file_and_record_counts: &mut BTreeMap<String, u64>,
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
            *file_and_record_counts.entry(record.key.scope.clone()).or_default() += 1;
            let number = record.origin.pointer.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
            let text = current_text(&stored);
            pieces.entry((record.key.scope.clone(), path)).or_default().push((number, stored.id.clone(), text));
            return;
        }
        if record.origin.format == "alf" && !raw.is_empty() {
            // If a file in `raw/` already contains the text of this record, the record is not written.
            let from = record.fields.get("origin_file").and_then(|f| f.as_str());
            let is_covered_by_raw = record.kind == Kind::Profile || from.is_some_and(|f| raw.contains_key(f));
            if is_covered_by_raw && record.source.platform == self.runtime.id {
                if stored.edited {
                    let note = "its file in raw/ is written unchanged, without this edit";
                    self.report.losses.add(&stored.id, "text", LossKind::LeftOut, note);
                }
                return;
            }
        }
        self.add_foreign(stored);
    }

    fn add_foreign(&mut self, stored: StoredRecord) {
        let kind = stored.record.kind;
        let mut leave_out = |note: &str| self.leave_out(kind, &stored.id, note);
        match kind {
            Kind::Conversation | Kind::Message => leave_out("a workspace has no place for conversations"),
            Kind::Credential => leave_out("credentials are not written into a workspace"),
            Kind::Attachment | Kind::Chunk | Kind::Audit | Kind::Foreign => {
                leave_out("a workspace has no place for it")
            }
            _ if matches!(stored.record.status.as_deref(), Some("deleted" | "superseded")) => {
                leave_out("deleted or superseded: an agent would treat it as true");
            }
            _ => self.foreign.push(stored.record),
        }
    }

    /// Lists a record as left out, and no longer counts it as written.
    pub fn leave_out(&mut self, kind: Kind, record: &str, note: &str) {
        self.report.losses.add(record, "record", LossKind::LeftOut, note);
        if let Some(count) = self.report.by_kind.get_mut(kind.as_str()) {
            *count = count.saturating_sub(1);
        }
        self.report.by_kind.retain(|_, count| *count > 0);
    }

    /// Adds a file, unless there is already a file with this path. Files with unsafe paths, and bookkeeping files, are
    /// left out and listed as losses.
    pub fn add_file(&mut self, path: String, bytes: Vec<u8>) {
        if !files::is_safe(&path) {
            let note = "unsafe file name: it leads outside the folder";
            self.report.losses.add(&path, "file", LossKind::LeftOut, note);
            return;
        }
        if files::is_bookkeeping(&path) {
            let note = "a bookkeeping file of Mementory: it is made from the records, never copied";
            self.report.losses.add(&path, "file", LossKind::LeftOut, note);
            return;
        }
        self.files.entry(path).or_insert(bytes);
    }

    /// Converts the records of other formats to Markdown.
    pub fn compose_foreign(&mut self) {
        let mut composed = BTreeSet::new();
        for record in std::mem::take(&mut self.foreign) {
            if !self.add_identity(&record) {
                self.add_note(&record, &mut composed);
            }
        }
    }

    /// Writes an identity or principal of an `.alf` archive into profile files that do not exist yet. Returns false if
    /// nothing was written, or if the record is neither an identity nor a principal.
    fn add_identity(&mut self, record: &Record) -> bool {
        let Some(tree) =
            record.verbatim.as_ref().filter(|_| record.origin.format == "alf" && record.kind == Kind::Profile)
        else {
            return false;
        };
        let Ok(tree) = Tree::parse(&tree.text, 512) else { return false };
        let text = |path: &[&str]| {
            path.iter().try_fold(&tree, |t, key| t.get(key)).and_then(Tree::as_str).filter(|t| !t.is_empty())
        };
        let mut is_written = false;
        for (name, block) in files::PROFILES {
            let file = format!("{}{name}", self.prefix);
            let prose = match block {
                "user_profile" => text(&["profile", "prose", "user_profile"]),
                "soul" | "identity_profile" | "operating_instructions" => text(&["prose", block]),
                block => text(&["prose", "custom_blocks", block]),
            };
            if let Some(prose) = prose
                && !self.files.contains_key(&file)
            {
                self.add_file(file, prose.as_bytes().to_vec());
                is_written = true;
            }
        }
        let (file, heading) = match record.record_type.as_deref() {
            Some("identity") => ("IDENTITY.md", "Identity"),
            _ => ("USER.md", "User"),
        };
        let file = format!("{}{file}", self.prefix);
        if !is_written && !self.files.contains_key(&file) && !record.text.is_empty() {
            let name = record.title.as_deref().map(|n| format!("Name: {n}\n")).unwrap_or_default();
            self.add_file(file, format!("# {heading}\n\n{name}{}\n", record.text).into_bytes());
            is_written = true;
        }
        if is_written {
            let note = "only the text is written: a Markdown workspace has no structured fields";
            self.report.losses.add(
                record.origin_id.as_deref().unwrap_or("identity"),
                "fields",
                LossKind::Narrowed,
                note,
            );
        }
        is_written
    }

    /// Writes a record as a section of a memory file, and the complete record into an extension slot. `composed`
    /// contains the paths of the files that end with such a section.
    fn add_note(&mut self, record: &Record, composed: &mut BTreeSet<String>) {
        let origin = record.fields.get("origin_file").and_then(|f| f.as_str()).filter(|f| files::is_safe(f));
        let origin =
            origin.filter(|f| matches!(files::role(f), FileRole::Memory(m) if !m.is_one_record)).map(str::to_owned);
        let namespace = record.namespace.as_deref().filter(|n| *n != "default");
        let path = origin.unwrap_or_else(|| match namespace {
            Some("curated") => "MEMORY.md".into(),
            Some(namespace) => format!("memory/{}.md", slug(namespace)),
            None => format!(
                "memory/{}.md",
                slug(Some(record.source.platform.as_str()).filter(|p| !p.is_empty()).unwrap_or("mementory"))
            ),
        });
        let text = if record.text.is_empty() { record.title.clone().unwrap_or_default() } else { record.text.clone() };
        if text.trim().is_empty() {
            self.leave_out(record.kind, &record.key.value, "the record has no text");
            return;
        }
        let first_line: String =
            text.lines().next().unwrap_or_default().trim_start_matches('#').trim().chars().take(60).collect();
        let heading =
            record.title.clone().filter(|t| !t.trim().is_empty()).unwrap_or(first_line).replace(['\n', '\r'], " ");
        let section = format!("## {}\n{}\n", heading.trim(), sections::section_body(&text));
        let path = self.file_for_section(path, composed);
        composed.insert(path.clone());
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
        file.extend_from_slice(section.as_bytes());
        self.add_slot(&path, &section, record);
    }

    /// The path of the file to which a section is added. This is `path`, or another path if a section at the end of the
    /// file `path` would not be read as a separate section. A file that is read as one record can contain only one
    /// section.
    fn file_for_section(&self, path: String, composed: &BTreeSet<String>) -> String {
        let is_one_record = |path: &str| matches!(files::role(path), FileRole::Memory(m) if m.is_one_record);
        let others = (1..).map(|n| match n {
            1 => "memory/mementory.md".to_owned(),
            n => format!("memory/mementory-{n}.md"),
        });
        let has_room = |path: &String| match self.files.get(&format!("{}{path}", self.prefix)) {
            None => true,
            Some(_) if is_one_record(path) => false,
            Some(_) if composed.contains(&format!("{}{path}", self.prefix)) => true,
            Some(bytes) => std::str::from_utf8(bytes).is_ok_and(sections::can_append),
        };
        let path = std::iter::once(path.clone()).chain(others).find(has_room).unwrap_or(path);
        format!("{}{path}", self.prefix)
    }

    /// Adds an extension slot with the complete record. The slot is identified by the path of the file and by the
    /// digest of the record's text in that file.
    pub fn add_slot(&mut self, path: &str, piece: &str, record: &Record) {
        let digest = slot_key(path, piece);
        let digest = digest.rsplit('|').next().unwrap_or_default();
        if let Ok(slot) = serde_json::to_string(&serde_json::json!({"file": path, "sha256": digest, "record": record}))
        {
            self.slots.push(slot);
        }
        let note = "its text is in the workspace; all else is in .mementory/records.jsonl";
        self.report.losses.add(&record.key.value, "record", LossKind::MovedToExtension, note);
    }

    /// Removes key files, and the secrets in settings files. If `return_originals` is true, returns the original files,
    /// so that the caller can export them encrypted. Otherwise, lists the removed secrets as losses.
    pub fn remove_secrets(&mut self, return_originals: bool) -> Vec<(String, Vec<u8>)> {
        let (mut removed, mut originals) = (BTreeSet::new(), Vec::new());
        let losses: &mut LossReport = &mut self.report.losses;
        for (path, bytes) in &mut self.files {
            let inner = path.strip_prefix("workspace/").unwrap_or(path);
            match files::role(inner) {
                FileRole::Secret if return_originals => {
                    originals.push((path.clone(), std::mem::take(bytes)));
                    removed.insert(path.clone());
                }
                FileRole::Secret => {
                    losses.add(path, "secret", LossKind::LeftOut, "key files are not exported");
                    *self.report.withheld.entry("secret".into()).or_default() += 1;
                    removed.insert(path.clone());
                }
                FileRole::Settings => {
                    let text = String::from_utf8_lossy(bytes);
                    let (redacted, secret_count) = redact::redact(&text);
                    if secret_count > 0 && return_originals {
                        originals.push((path.clone(), std::mem::replace(bytes, redacted.into_bytes())));
                    } else if secret_count > 0 {
                        losses.add(
                            path,
                            "secret",
                            LossKind::LeftOut,
                            "secrets in this settings file are replaced by <redacted>",
                        );
                        *self.report.withheld.entry("secret".into()).or_default() += u64::from(secret_count);
                        *bytes = redacted.into_bytes();
                    }
                }
                _ => {}
            }
        }
        self.files.retain(|path, _| !removed.contains(path));
        originals
    }

    /// Writes the files into a new folder.
    pub fn write(mut self, out: &Path) -> Result<WriteReport, FormatError> {
        self.finish();
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

    /// The report of a dry run, which writes nothing.
    pub fn into_report(mut self) -> WriteReport {
        self.finish();
        self.report
    }

    /// Adds the files that depend on other files, and a `SOUL.md` if the folder would not be detected as a workspace
    /// without it. Then removes secrets.
    fn finish(&mut self) {
        self.place_artifacts();
        self.write_absent_indexes();
        if !self.slots.is_empty() {
            let text = self.slots.join("\n") + "\n";
            self.files.insert(files::SLOTS_FILE.into(), text.into_bytes());
        }
        if self.files.keys().all(|p| !p.ends_with(".md")) && self.files.is_empty() {
            // An empty folder would not be detected as a workspace.
            self.files.insert("SOUL.md".into(), b"# Agent\n".to_vec());
        }
        let detectable_names = ["SOUL.md", files::AGENT_ID_FILE, "workspace/SOUL.md"];
        if !detectable_names.iter().any(|name| self.files.contains_key(*name)) && self.runtime.id == super::OPENCLAW.id
        {
            self.files.entry("SOUL.md".into()).or_insert_with(|| b"# Agent\n".to_vec());
        }
        self.remove_secrets(false);
    }
}

/// The text of a record for its file, including the person's edits.
pub fn current_text(stored: &StoredRecord) -> String {
    let record = &stored.record;
    let verbatim = record.verbatim.as_ref().map_or("", |v| v.text.as_str());
    let path = record.fields.get("file").and_then(|f| f.as_str()).unwrap_or_default();
    if stored.edited { edited_section(record, verbatim, path) } else { verbatim.to_owned() }
}

/// The section of an edited record, with the new heading and body and the original whitespace.
fn edited_section(record: &Record, verbatim: &str, path: &str) -> String {
    let inner = path.strip_prefix("workspace/").unwrap_or(path);
    let is_one_record = match files::role(inner) {
        FileRole::Memory(memory) => memory.is_one_record,
        _ => true,
    };
    let section = sections::parse_section(verbatim, is_one_record);
    let heading = section.heading.clone().map(|h| &verbatim[h]);
    let new_heading =
        heading.filter(|h| Some(sections::title_without_marks(h)) != record.title).and(record.title.as_deref());
    // The reader uses the heading as the text of a record whose section has no body.
    let body = if section.body.is_empty() && heading == Some(record.text.as_str()) { "" } else { record.text.as_str() };
    // The texts of records that were imported by an earlier version begin with the frontmatter.
    let frontmatter = verbatim[..sections::frontmatter_length(verbatim)].trim_end();
    let without = body.strip_prefix(frontmatter).filter(|_| !frontmatter.is_empty()).map(str::trim_start);
    sections::replace_parts(verbatim, is_one_record, new_heading, without.unwrap_or(body))
}

/// Converts a text to a file name of at most 60 letters, digits and single hyphens. The letters A to Z become lower
/// case. Returns `mementory` if nothing remains.
pub fn slug(text: &str) -> String {
    let mut out: String =
        text.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    while out.contains("--") {
        out = out.replace("--", "-");
    }
    let out: String = out.trim_matches('-').chars().take(60).collect();
    if out.is_empty() { "mementory".into() } else { out }
}
