//! A base archive and the records of now → a delta (spec §6.3). One pass over the records: a line whose text is that of
//! the base is no change.
use super::super::compose;
use super::super::container::Container;
use super::super::detect::DELTA_MANIFEST;
use super::super::lines::{Entry, each_line};
use super::super::manifest::{Archive, MANIFEST, Manifest};
use super::super::parts::Parts;
use super::super::plan::{Own, Plan, Row, own};
use super::super::rewrite::Opened;
use super::super::write::{line, space};
use super::super::write_documents::{assemble, identity_version, owner_row};
use super::super::write_manifest::VERSION;
use super::super::{documents, sealed, wire};
use super::manifest::sequence_of;
use super::operation::{Operation, put};
use mementory_format::{FormatError, RecordSource, WriteOptions, WriteReport};
use mementory_json::{Tree, write_string};
use mementory_model::{Kind, Limits, LossKind};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;

/// Entry of the changed records.
const LINES: &str = "memory/delta.jsonl";

/// A record of the base: digests of its lines (an id may be there twice), and whether it is still here.
#[derive(Default)]
struct Known {
    digests: Vec<[u8; 16]>,
    seen: bool,
}

/// Writes the bundle.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: &Path,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    make(source, Some(out), options)
}

/// What [`write`] would hold and lose.
pub(super) fn plan(source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
    make(source, None, options)
}

fn make(source: &mut dyn RecordSource, out: Option<&Path>, options: &WriteOptions) -> Result<WriteReport, FormatError> {
    let limits = Limits::default();
    let name = |path: &Path| path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let base = options.base.as_deref().ok_or_else(|| {
        let place = out.map(name).unwrap_or_default();
        FormatError::invalid("base_required", place, "a delta needs the .alf that it builds on")
    })?;
    let opened = Opened::open_with(base, &limits, options.passphrase.as_deref())?;
    let archive = opened.archive()?;
    let manifest = Manifest::of(&archive, &limits)?;
    let about = source.about();
    let mut plan = Plan::survey(source)?;
    let parts = Parts::survey(source, &plan, options.everything)?;
    let agent = parts.agent.clone().unwrap_or_else(|| plan.agent.clone());
    if !agent.eq_ignore_ascii_case(&manifest.agent) {
        let message = "the base is the archive of another agent than the records in scope";
        return Err(FormatError::invalid("base_of_another_agent", name(base), message));
    }
    let mut writer = Writer { archive: &archive, manifest: &manifest, limits: &limits, report: WriteReport::default() };
    writer.report.version = VERSION.into();
    if parts.agent.is_none() && !plan.rows.contains_key("principals") {
        plan.rows.insert("principals", vec![owner_row(&about, &agent)]);
    }
    let mut changes: Vec<(String, Tree)> = Vec::new();
    let texts = writer.documents(&plan, &parts, &mut changes)?;
    writer.files(&plan)?;

    let mut known = writer.known()?;
    let mut file = match out {
        Some(out) => Some(Container::create_with(out, options.passphrase.as_deref())?),
        None => None,
    };
    for (name, text) in &texts {
        if let Some(file) = &mut file {
            file.entry(name, &mut text.as_bytes())?;
        }
    }
    let mut count = 0u64;
    let mut fill = |sink: &mut dyn Write| {
        writer.lines(source, &plan, &agent, options.everything, &mut known, sink, &mut count)?;
        Ok(count > 0)
    };
    match &mut file {
        Some(file) => drop(file.entry_from(LINES, &mut fill)?),
        None => drop(fill(&mut std::io::sink())?),
    }
    if count > 0 {
        changes.push(("memory".into(), object([("file", text(LINES)), ("record_count", number(count))])));
    }
    let Some(mut file) = file else { return Ok(writer.report) };
    let base_sequence = sequence_of(&manifest);
    let now = about.now.to_rfc3339();
    let mut sync = object([("base_sequence", number(base_sequence)), ("new_sequence", number(base_sequence + 1))]);
    let since =
        manifest.tree.get("sync").and_then(|s| s.get("last_sync_at")).or_else(|| manifest.tree.get("created_at"));
    if let Some(since) = since.and_then(Tree::as_str) {
        sync.set("base_timestamp", text(since));
    }
    sync.set("new_timestamp", text(&now));
    let mut who = object([("id", text(&manifest.agent))]);
    if let Some(runtime) = manifest.tree.get("agent").and_then(|a| a.get("source_runtime")) {
        who.set("source_runtime", runtime.clone());
    }
    let mut tree = object([("alf_version", text(VERSION)), ("created_at", text(&now)), ("agent", who), ("sync", sync)]);
    tree.set("changes", Tree::Object(changes));
    if parts.agent.is_none() {
        let rows = plan.rows.values().flatten().filter(|r| !r.scope.is_empty());
        let said = rows.map(|r| (r.value.clone(), space(&r.scope, Some(&r.runtime))));
        let scopes = said.chain(plan.scopes.iter().map(|(id, s)| (id.clone(), space(s, None)))).collect();
        tree.set("keepsake", object([("generated", Tree::Bool(true)), ("scopes", Tree::Object(scopes))]));
    }
    let mut out = String::new();
    tree.write(&mut out);
    // one name by the specification, one that the reference tool looks for
    file.entry(DELTA_MANIFEST, &mut out.as_bytes())?;
    file.entry(MANIFEST, &mut out.as_bytes())?;
    file.finish()?;
    Ok(writer.report)
}

struct Writer<'a> {
    archive: &'a Archive<'a>,
    manifest: &'a Manifest,
    limits: &'a Limits,
    report: WriteReport,
}

impl Writer<'_> {
    fn base_text(&self, layer: &str) -> Result<Option<String>, FormatError> {
        let member = self.manifest.layer_file(layer).and_then(|file| self.archive.entry(file));
        member.map(|m| self.archive.text(m, self.limits)).transpose()
    }

    /// Identity, principals and credentials go whole, where they differ.
    fn documents(
        &mut self,
        plan: &Plan,
        parts: &Parts,
        changes: &mut Vec<(String, Tree)>,
    ) -> Result<Vec<(String, String)>, FormatError> {
        let mut texts = Vec::new();
        let file = |layer: &str| self.manifest.layer_file(layer).map_or(format!("{layer}.json"), str::to_owned);
        let before = self.base_text("identity")?;
        let now = plan.rows.get("identity").and_then(|rows| rows.first()).map(|row| row.text.clone());
        match now {
            Some(now) if before.as_deref() != Some(now.as_str()) => {
                let change = [("file", text(&file("identity"))), ("new_version", number(identity_version(&now)))];
                changes.push(("identity".into(), object(change)));
                texts.push((file("identity"), now));
                *self.report.by_kind.entry(Kind::Profile.as_str().into()).or_default() += 1;
            }
            None if before.is_some() => {
                let note = "a delta can change an identity, not take it away";
                self.report.losses.add(&file("identity"), "identity", LossKind::LeftOut, note);
            }
            _ => {}
        }
        for (layer, kind) in [("principals", Kind::Profile), ("credentials", Kind::Credential)] {
            let before = self.base_text(layer)?;
            let mut rows = plan.rows.get(layer).cloned().unwrap_or_default();
            if layer == "credentials" {
                rows.extend(sealed_rows(before.as_deref().unwrap_or(""), &rows));
            }
            let skeleton = parts.layers.get(&file(layer)).map(String::as_str);
            if rows.is_empty() && skeleton.is_none() && before.is_none() {
                continue;
            }
            let (now, count) = assemble(layer, skeleton, &rows, "");
            if before.as_deref() == Some(now.as_str()) {
                continue;
            }
            let mut change = object([("file", text(&file(layer)))]);
            if layer == "principals" {
                let changed = changed_ids(before.as_deref().unwrap_or(""), &now, layer);
                change.set("changed_ids", Tree::Array(changed.iter().map(|id| text(id)).collect()));
            }
            changes.push((layer.to_owned(), change));
            texts.push((file(layer), now));
            *self.report.by_kind.entry(kind.as_str().into()).or_default() += count as u64;
        }
        Ok(texts)
    }

    /// Attachments, artifacts and raw files have no place in a delta.
    fn files(&mut self, plan: &Plan) -> Result<(), FormatError> {
        let before = self.base_text("attachments")?.unwrap_or_default();
        let held = elements(&before, "attachments");
        let note = "a delta has no place for files; the next whole .alf has them";
        for row in plan.rows.get("attachments").into_iter().flatten() {
            if !held.values().any(|text| *text == row.text) {
                self.report.losses.add(&row.value, "attachment", LossKind::LeftOut, note);
            }
        }
        for id in plan.files.keys() {
            let row = super::super::partitions::stable_v5(&format!("attachment:{id}")).to_string();
            if !held.contains_key(&row) {
                self.report.losses.add(id, "attachment", LossKind::LeftOut, note);
            }
        }
        Ok(())
    }

    fn each_base_line(&self, visit: &mut dyn FnMut(&str) -> Result<(), FormatError>) -> Result<(), FormatError> {
        for row in &self.manifest.partitions {
            let Some(member) = self.archive.entry(&row.file) else { continue };
            self.archive.catalog.read(member, |reader| {
                each_line(reader, &member.place, self.limits.line_bytes, &mut |entry, _| match entry {
                    Entry::Line(_, text) if !text.is_empty() => visit(text),
                    _ => Ok(()),
                })
            })?;
        }
        Ok(())
    }

    fn known(&self) -> Result<HashMap<Box<str>, Known>, FormatError> {
        let mut known: HashMap<Box<str>, Known> = HashMap::new();
        self.each_base_line(&mut |text| {
            if let Some(id) =
                wire::members(text).and_then(|m| Some(wire::get(&m, "id").and_then(wire::string)?.into_owned()))
            {
                known.entry(id.into()).or_default().digests.push(digest(text));
            }
            Ok(())
        })?;
        Ok(known)
    }

    #[allow(clippy::too_many_arguments)]
    fn lines(
        &mut self,
        source: &mut dyn RecordSource,
        plan: &Plan,
        agent: &str,
        everything: bool,
        known: &mut HashMap<Box<str>, Known>,
        sink: &mut dyn Write,
        count: &mut u64,
    ) -> Result<(), FormatError> {
        let mut emit = |text: &str| {
            *count += 1;
            sink.write_all(text.as_bytes()).and_then(|()| sink.write_all(b"\n")).map_err(|e| FormatError::io(LINES, e))
        };
        let report = &mut self.report;
        source.records(&mut |stored| {
            if !plan.is_line(&stored) {
                return Ok(());
            }
            let (id, text) = line(plan, &stored, agent, plan.created(&stored));
            let base = known.get_mut(id.as_str());
            let operation = match base {
                Some(base) => {
                    base.seen = true;
                    if base.digests.contains(&digest(&text)) {
                        return Ok(());
                    }
                    let status = wire::members(&text)
                        .and_then(|m| wire::get(&m, "status").and_then(wire::string).map(|s| s == "deleted"));
                    if status == Some(true) { Operation::Delete } else { Operation::Update }
                }
                None => Operation::Create,
            };
            if own(&stored.record) != Some(Own::Line) {
                compose::losses(&stored, &mut report.losses);
            }
            *report.by_kind.entry(stored.record.kind.as_str().to_owned()).or_default() += 1;
            emit(&put(&text, operation))
        })?;
        // what an export of a selection does not hold is not deleted
        if everything && known.values().any(|k| !k.seen) {
            let mut done = std::collections::HashSet::new();
            self.each_base_line(&mut |text| match tombstone(text, known, &mut done) {
                Some(line) => emit(&line),
                None => Ok(()),
            })?;
        }
        Ok(())
    }
}

/// A deletion of a record that is no longer here: what the schema asks for, and nothing of what the record said.
fn tombstone(
    text: &str,
    known: &HashMap<Box<str>, Known>,
    done: &mut std::collections::HashSet<String>,
) -> Option<String> {
    let m = wire::members(text)?;
    let id = wire::get(&m, "id").and_then(wire::string)?.into_owned();
    if known.get(id.as_str()).is_none_or(|k| k.seen) || !done.insert(id.clone()) {
        return None;
    }
    let inner = |object: &str, key: &str| {
        let raw = wire::get(&m, object)?;
        Some(wire::get(&wire::members(raw.get())?, key).and_then(wire::string)?.into_owned())
    };
    let own = |key: &str| wire::get(&m, key).and_then(wire::string).map(|t| t.into_owned());
    let mut out = String::from("{\"id\":");
    write_string(&id, &mut out);
    for (key, value) in [
        ("agent_id", own("agent_id").unwrap_or_default()),
        ("content", "(deleted)".into()),
        ("memory_type", own("memory_type").unwrap_or_else(|| "semantic".into())),
    ] {
        out.push_str(&format!(",\"{key}\":"));
        write_string(&value, &mut out);
    }
    out.push_str(",\"source\":{\"runtime\":");
    write_string(&inner("source", "runtime").unwrap_or_else(|| "mementory".into()), &mut out);
    out.push_str("},\"temporal\":{\"created_at\":");
    write_string(&inner("temporal", "created_at").unwrap_or_else(|| "1970-01-01T00:00:00Z".into()), &mut out);
    out.push_str("},\"status\":\"deleted\",\"namespace\":\"default\",\"keepsake\":{\"erased\":true}}");
    Some(put(&out, Operation::Delete))
}

/// Elements of a list document by id.
fn elements<'t>(text: &'t str, layer: &str) -> BTreeMap<String, &'t str> {
    let Some(document) = documents::split(text, layer) else { return BTreeMap::new() };
    let id = |element: &str| wire::get(&wire::members(element)?, "id").and_then(wire::string).map(|t| t.into_owned());
    document.elements.into_iter().filter_map(|element| Some((id(element)?, element))).collect()
}

/// Sealed secrets of the base: they belong to its files, which a delta leaves as they are.
fn sealed_rows(before: &str, rows: &[Row]) -> Vec<Row> {
    let ours = |text: &str| Tree::parse(text, 512).is_ok_and(|doc| sealed::is_ours(&doc));
    let kept = elements(before, "credentials").into_iter().filter(|(_, text)| ours(text));
    let new = kept.filter(|(id, _)| rows.iter().all(|row| row.value != *id));
    let row = |(value, text): (String, &str)| Row {
        value,
        scope: String::new(),
        runtime: String::new(),
        text: text.into(),
        file: None,
    };
    new.map(row).collect()
}

fn changed_ids(before: &str, now: &str, layer: &str) -> Vec<String> {
    let (old, new) = (elements(before, layer), elements(now, layer));
    let gone = old.keys().filter(|id| !new.contains_key(*id));
    let changed = new.iter().filter(|(id, text)| old.get(*id) != Some(*text)).map(|(id, _)| id);
    changed.chain(gone).cloned().collect()
}

fn digest(text: &str) -> [u8; 16] {
    let mut out = [0u8; 16];
    out.copy_from_slice(&Sha256::digest(text)[..16]);
    out
}

fn text(t: &str) -> Tree {
    Tree::Text(t.to_owned())
}

fn number(n: u64) -> Tree {
    Tree::Number(n.to_string())
}

fn object<const N: usize>(members: [(&str, Tree); N]) -> Tree {
    Tree::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}
