//! Records → one of the three forms that the reference program exchanges with others (`adapters.rs` reads them): an
//! array as mem0 has it, a plain array, text blocks under `---` headers. They hold memories only, and of a memory text,
//! type, tags and times, an id in the arrays. There is no extension slot: what does not fit is lost, and said to be.
use super::{
    adapters::{self, ESCAPED},
    compose::{content, id_for, memory_type, put, section_for},
    extension::differing,
    map::tree_of,
    part,
    sections::MEMORIES,
    source::Form,
    wire::{SCOPE, Shape, json, texts},
};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport, passthrough_envelope};
use mementory_json::Tree;
use mementory_model::{Kind, Limits, LossKind, LossReport, Record, Timestamp};
use std::{io::Write, path::Path};

/// Writes the memories of `source` into the new file `out`; without one only says what would be written and lost.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    form: Form,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let name = form.adapter().unwrap_or_default();
    if options.passphrase.is_some() {
        let message = format!("the {name} form cannot be encrypted; a document (json, yaml, jsonl) can");
        return Err(FormatError::invalid("not_supported", "export", message));
    }
    if let Some(version) = options.version.as_deref().filter(|v| *v != name) {
        let version = version.chars().take(20).collect();
        return Err(FormatError::Version { place: format!("export ({name})"), version });
    }
    let mut writing = Writing {
        form,
        strip: options.strip_identifiers,
        now: source.about().now,
        owner: source.about().vault_id,
        report: WriteReport { version: name.into(), ..WriteReport::default() },
    };
    if !options.strip_identifiers {
        source.passthrough(SCOPE, &mut |item, _| {
            if item.name == part::NAME {
                let note = "what the document said of itself has no place in this form";
                writing.report.losses.add(&item.group, "document", LossKind::LeftOut, note);
            }
            Ok(())
        })?;
    }
    let io = |e| FormatError::io(out.map_or_else(String::new, |o| o.display().to_string()), e);
    let mut file = match out {
        Some(out) => Some(std::io::BufWriter::with_capacity(256 << 10, std::fs::File::create_new(out).map_err(io)?)),
        None => None,
    };
    let mut some = false;
    source.records(&mut |stored| {
        let Some(text) = writing.memory(&stored)? else { return Ok(()) };
        if let Some(file) = &mut file {
            let before = match (form, some) {
                (Form::Markdown, _) => "",
                (_, true) => ",\n",
                (_, false) => "[\n",
            };
            file.write_all(before.as_bytes()).and_then(|()| file.write_all(text.as_bytes())).map_err(io)?;
        }
        some = true;
        Ok(())
    })?;
    for tombstone in source.tombstones()? {
        let note = "the form has no deletions; only what is left is in the file";
        writing.report.losses.add(&tombstone.id, "tombstone", LossKind::LeftOut, note);
    }
    if options.everything {
        passthrough_envelope::note_left_out(source, |id| id != SCOPE, &mut writing.report.losses)?;
    }
    if let Some(mut file) = file {
        if !some {
            let message = "there is no memory to write, and this form holds nothing else";
            return Err(FormatError::invalid("nothing_to_write", "export", message));
        }
        let end: &[u8] = if form == Form::Markdown { b"" } else { b"\n]\n" };
        file.write_all(end).and_then(|()| file.flush()).map_err(io)?;
    }
    Ok(writing.report)
}

struct Writing {
    form: Form,
    strip: bool,
    now: Timestamp,
    owner: String,
    report: WriteReport,
}

impl Writing {
    /// A record as an element or a block; None = it is no memory.
    fn memory(&mut self, stored: &StoredRecord) -> Result<Option<String>, FormatError> {
        let record = &stored.record;
        let other = matches!(record.kind, Kind::Foreign | Kind::Audit | Kind::Credential | Kind::Attachment);
        let reason = if other || *section_for(record.kind, Shape::V2, true) != MEMORIES {
            Some("not_a_memory")
        } else {
            let title = record.title.as_deref().unwrap_or_default();
            (record.text.trim().is_empty() && title.trim().is_empty()).then_some("no_text")
        };
        if let Some(reason) = reason {
            *self.report.withheld.entry(reason.into()).or_default() += 1;
            let note = "this form holds memories only, and they have a text";
            self.report.losses.add(&stored.id, "record", LossKind::LeftOut, note);
            return Ok(None);
        }
        *self.report.by_kind.entry(record.kind.as_str().into()).or_default() += 1;
        if let Some(own) = self.own(stored) {
            return Ok(Some(own));
        }
        let bad = |code| FormatError::invalid("malformed", &stored.id, code);
        let (text, mapped) = if self.form == Form::Markdown {
            let text = self.block(record);
            let read = adapters::blocks(&text.replace("\r\n", "\n")).into_iter().next();
            let (_, block) = read.ok_or_else(|| bad("the block is none"))?;
            (text, adapters::of_block(&block, self.form))
        } else {
            let text = json(&self.element(stored));
            let mapped = adapters::of_item(&text, self.form, &Limits::default()).map_err(bad)?;
            (text, mapped)
        };
        losses(stored, &mapped, self.form, &mut self.report.losses);
        if self.strip {
            let note = "left out as asked; the record cannot go home";
            self.report.losses.add(&stored.id, "identifiers", LossKind::LeftOut, note);
        }
        Ok(Some(text))
    }

    /// An untouched element of this very form, as it was. A block whose text has a rule in it is made anew: not every
    /// program would read it to its end.
    fn own(&self, stored: &StoredRecord) -> Option<String> {
        let record = &stored.record;
        let same = record.origin.format == SCOPE && record.origin.version.as_deref() == self.form.adapter();
        let verbatim = record.verbatim.as_ref().filter(|_| same && !stored.edited && !self.strip)?;
        if self.form != Form::Markdown {
            return Some(verbatim.text.clone());
        }
        let rules = verbatim.text.lines().filter(|line| line.trim() == RULE).count();
        (rules == 2).then(|| format!("{}\n", verbatim.text))
    }

    fn created(&self, record: &Record) -> Timestamp {
        let times = &record.times;
        times.created.or(times.observed).or(times.updated).or(times.valid_from).unwrap_or(self.now)
    }

    fn element(&self, stored: &StoredRecord) -> Tree {
        let record = &stored.record;
        let mut tree = Tree::Object(vec![]);
        put(&mut tree, "id", &id_for(stored, &MEMORIES, Shape::V2, self.strip));
        let kind = memory_type(record, Shape::V2);
        let created = stamp(self.created(record));
        let known = |name: &str| record.fields.get(name).filter(|_| record.origin.format == SCOPE && !self.strip);
        if self.form == Form::Generic {
            put(&mut tree, "content", content(record));
            put(&mut tree, "type", kind);
            tree.set("tags", texts(&record.tags));
            put(&mut tree, "timestamp", &created);
            let empty = |metadata: &&serde_json::Value| metadata.as_object().is_some_and(serde_json::Map::is_empty);
            if let Some(metadata) = known("metadata").filter(|metadata| !empty(metadata)) {
                tree.set("metadata", tree_of(metadata));
            }
            return tree;
        }
        put(&mut tree, "memory", content(record));
        let account = record.source.account.as_deref().unwrap_or(&self.owner);
        put(&mut tree, "user_id", if self.strip { "anonymous" } else { account });
        if let Some(agent) = known("agent_id") {
            tree.set("agent_id", tree_of(agent));
        }
        put(&mut tree, "created_at", &created);
        tree.set("updated_at", record.times.updated.map_or(Tree::Null, |time| Tree::Text(stamp(time))));
        let mut metadata = match known("metadata").map(tree_of) {
            Some(metadata @ Tree::Object(_)) => metadata,
            _ => Tree::Object(vec![]),
        };
        put(&mut metadata, "category", kind);
        match record.tags.is_empty() {
            true => metadata.remove("tags"),
            false => metadata.set("tags", tags(&record.tags)),
        }
        tree.set("metadata", metadata);
        tree
    }

    /// Header and text, with one `---` before the next block: two in a row are not understood by the reference program.
    fn block(&self, record: &Record) -> String {
        let mut out = format!("{RULE}\ntype: {}\n", memory_type(record, Shape::V2));
        out.push_str(&format!("created_at: {}\n", stamp(self.created(record))));
        if !record.tags.is_empty() {
            let tags: Vec<String> = record.tags.iter().map(|tag| tag.replace(char::is_control, " ")).collect();
            out.push_str(&format!("tags: [{}]\n", tags.join(", ")));
        }
        let body = content(record);
        let escaped = adapters::escape(body);
        if escaped != body {
            out.push_str(&format!("{ESCAPED}: rules\n"));
        }
        out.push_str(&format!("{RULE}\n{escaped}\n"));
        out
    }
}

/// Parts two blocks.
const RULE: &str = "---";

/// Words with commas between them, as the reference program splits them; a list where that would make other words.
fn tags(tags: &[String]) -> Tree {
    let plain = |tag: &String| !tag.is_empty() && !tag.contains(',') && tag.trim() == tag;
    if tags.iter().all(plain) { Tree::Text(tags.join(",")) } else { texts(tags) }
}

/// As the reference program writes times here: UTC as an offset.
fn stamp(time: Timestamp) -> String {
    format!("{}+00:00", time.to_rfc3339().trim_end_matches('Z'))
}

/// What of a record our own reader would not find again.
fn losses(stored: &StoredRecord, mapped: &Record, form: Form, report: &mut LossReport) {
    let record = &stored.record;
    if record.kind != MEMORIES.kind {
        report.add(&stored.id, "kind", LossKind::Narrowed, "written as a memory; the form has no other kind");
    }
    if form == Form::Markdown {
        report.add(&stored.id, "id", LossKind::LeftOut, "the form has no ids");
    }
    for (name, partly) in differing(mapped, record) {
        match (name.as_str(), partly) {
            ("key" | "origin" | "origin_id" | "kind" | "repeats", _) => {}
            ("verbatim", _) => {
                report.add(
                    &stored.id,
                    "verbatim",
                    LossKind::LeftOut,
                    "the source's own text has no place in this form",
                );
            }
            (_, true) => {
                report.add(&stored.id, &name, LossKind::Narrowed, "this form holds it only in part or in other words")
            }
            (_, false) => report.add(&stored.id, &name, LossKind::LeftOut, "this form has no place for it"),
        }
    }
    if record.times.created.is_none() {
        let note = "no time of making: the nearest time known, or that of the export";
        report.add(&stored.id, "created", LossKind::Narrowed, note);
    }
}
