//! Writes the three interop encodings of the reference program, which `interop_import.rs` reads: an array like mem0's,
//! a generic array, and text blocks below `---` headers. These encodings can express only memories with text, type,
//! tags and times; arrays also have ids. The encodings have no extension slot, so all other values are reported as
//! losses.
use super::{
    compose::{content, id_for, memory_type, section_for, set_text},
    document_frame,
    encoding::{ESCAPED_KEY, Encoding},
    extension::differing_members,
    interop_import::{self, invalid_values},
    sections::MEMORIES_SECTION,
    wire::{KEY_SCOPE, Shape, json, texts},
};
use crate::creation_time::{NO_TIME_NOTE, creation_time};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport, passthrough_envelope};
use mementory_json::{Tree, tree_of};
use mementory_model::{Kind, Limits, LossKind, LossReport, Record, Timestamp};
use std::{io::Write, path::Path};

/// Writes the memories of `source` to the new file `out`. Without `out`, only returns the report.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    encoding: Encoding,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let name = encoding.interop_name().unwrap_or_default();
    if options.passphrase.is_some() {
        let message = format!("the encoding {name} cannot be encrypted; use json, yaml or jsonl");
        return Err(FormatError::invalid("not_supported", "export", message));
    }
    if let Some(version) = options.version.as_deref().filter(|v| *v != name) {
        let version = version.chars().take(20).collect();
        return Err(FormatError::Version { place: format!("export ({name})"), version });
    }
    let mut writer = InteropWriter {
        encoding,
        strip: options.strip_identifiers,
        owner: source.description().vault_id,
        report: WriteReport { version: name.into(), ..WriteReport::default() },
    };
    if !options.strip_identifiers {
        source.passthrough(KEY_SCOPE, &mut |item, _| {
            if item.name == document_frame::FRAME_FILE {
                let note = "this encoding cannot hold the header and metadata of the document";
                writer.report.losses.add(&item.group, "document", LossKind::LeftOut, note);
            }
            Ok(())
        })?;
    }
    let io = |e| FormatError::io(out.map_or_else(String::new, |o| o.display().to_string()), e);
    let mut file = match out {
        Some(out) => {
            Some(std::io::BufWriter::with_capacity(256 << 10, mementory_format::create_private_file(out).map_err(io)?))
        }
        None => None,
    };
    let mut any_written = false;
    source.records(&mut |stored| {
        let Some(text) = writer.encode_memory(&stored)? else { return Ok(()) };
        if let Some(file) = &mut file {
            let prefix = match (encoding, any_written) {
                (Encoding::Markdown, _) => "",
                (_, true) => ",\n",
                (_, false) => "[\n",
            };
            file.write_all(prefix.as_bytes()).and_then(|()| file.write_all(text.as_bytes())).map_err(io)?;
        }
        any_written = true;
        Ok(())
    })?;
    for tombstone in source.tombstones()? {
        let note = "this encoding has no deletions; the file only has the remaining records";
        writer.report.losses.add(&tombstone.id, "tombstone", LossKind::LeftOut, note);
    }
    if options.everything {
        passthrough_envelope::note_left_out(source, |id| id != KEY_SCOPE, &mut writer.report.losses)?;
    }
    if let Some(mut file) = file {
        if !any_written {
            let message = "there are no memories to export, and this encoding holds nothing else";
            return Err(FormatError::invalid("nothing_to_write", "export", message));
        }
        let end: &[u8] = if encoding == Encoding::Markdown { b"" } else { b"\n]\n" };
        file.write_all(end).and_then(|()| file.flush()).map_err(io)?;
    }
    Ok(writer.report)
}

struct InteropWriter {
    encoding: Encoding,
    strip: bool,
    owner: String,
    report: WriteReport,
}

impl InteropWriter {
    /// Encodes a record as an array element or a Markdown block. None if the record cannot be written as a memory.
    fn encode_memory(&mut self, stored: &StoredRecord) -> Result<Option<String>, FormatError> {
        let record = &stored.record;
        let never_a_memory = matches!(record.kind, Kind::Foreign | Kind::Audit | Kind::Credential | Kind::Attachment);
        let reason = if never_a_memory || *section_for(record.kind, Shape::V2, true) != MEMORIES_SECTION {
            Some("not_a_memory")
        } else {
            let title = record.title.as_deref().unwrap_or_default();
            (record.text.trim().is_empty() && title.trim().is_empty()).then_some("no_text")
        };
        if let Some(reason) = reason {
            *self.report.withheld.entry(reason.into()).or_default() += 1;
            let note = "this encoding only holds memories with a text";
            self.report.losses.add(&stored.id, "record", LossKind::LeftOut, note);
            return Ok(None);
        }
        *self.report.by_kind.entry(record.kind.as_str().into()).or_default() += 1;
        if let Some(original_text) = self.original_text(stored) {
            return Ok(Some(original_text));
        }
        let malformed = |code| FormatError::invalid("malformed", &stored.id, code);
        let (text, mapped) = if self.encoding == Encoding::Markdown {
            let text = self.compose_block(record);
            let read = interop_import::blocks(&text.replace("\r\n", "\n")).into_iter().next();
            let (_, block) = read.ok_or_else(|| malformed("the written block cannot be read back"))?;
            (text, interop_import::record_from_block(&block, self.encoding))
        } else {
            let text = json(&self.compose_element(stored));
            let mapped =
                interop_import::record_from_item(&text, self.encoding, &Limits::default()).map_err(malformed)?;
            (text, mapped)
        };
        report_losses(stored, &mapped, self.encoding, &mut self.report.losses);
        if self.strip {
            let note = "left out as requested; the record cannot be matched with its original again";
            self.report.losses.add(&stored.id, "identifiers", LossKind::LeftOut, note);
        }
        Ok(Some(text))
    }

    /// The original text of an unedited record from the same encoding. None for an element with a value that the format
    /// forbids. Also None for a block with a `---` line in its text: some programs would end the block there, so the
    /// line must be escaped.
    fn original_text(&self, stored: &StoredRecord) -> Option<String> {
        let record = &stored.record;
        let is_same =
            record.origin.format == KEY_SCOPE && record.origin.version.as_deref() == self.encoding.interop_name();
        let verbatim = record.verbatim.as_ref().filter(|_| is_same && !stored.edited && !self.strip)?;
        if self.encoding != Encoding::Markdown {
            let is_valid = invalid_values(&verbatim.text, &Limits::default()).is_empty();
            return is_valid.then(|| verbatim.text.clone());
        }
        let separator_count = verbatim.text.lines().filter(|line| line.trim() == BLOCK_SEPARATOR).count();
        (separator_count == 2).then(|| format!("{}\n", verbatim.text))
    }

    fn compose_element(&self, stored: &StoredRecord) -> Tree {
        let record = &stored.record;
        let mut tree = Tree::Object(vec![]);
        set_text(&mut tree, "id", &id_for(stored, &MEMORIES_SECTION, Shape::V2, self.strip));
        let kind = memory_type(record, Shape::V2);
        let created = offset_time_text(creation_time(&record.times));
        let own_field =
            |name: &str| record.fields.get(name).filter(|_| record.origin.format == KEY_SCOPE && !self.strip);
        if self.encoding == Encoding::Generic {
            set_text(&mut tree, "content", content(record));
            set_text(&mut tree, "type", kind);
            tree.set("tags", texts(&record.tags));
            set_text(&mut tree, "timestamp", &created);
            let metadata = own_field("metadata").filter(|m| m.as_object().is_some_and(|members| !members.is_empty()));
            if let Some(metadata) = metadata {
                tree.set("metadata", tree_of(metadata));
            }
            return tree;
        }
        set_text(&mut tree, "memory", content(record));
        let account = record.source.account.as_deref().unwrap_or(&self.owner);
        set_text(&mut tree, "user_id", if self.strip { "anonymous" } else { account });
        if let Some(agent) = own_field("agent_id") {
            tree.set("agent_id", tree_of(agent));
        }
        set_text(&mut tree, "created_at", &created);
        tree.set("updated_at", record.times.updated.map_or(Tree::Null, |time| Tree::Text(offset_time_text(time))));
        let mut metadata = match own_field("metadata").map(tree_of) {
            Some(metadata @ Tree::Object(_)) => metadata,
            _ => Tree::Object(vec![]),
        };
        set_text(&mut metadata, "category", kind);
        match record.tags.is_empty() {
            true => metadata.remove("tags"),
            false => metadata.set("tags", tags(&record.tags)),
        }
        tree.set("metadata", metadata);
        tree
    }

    /// Header and text of a block. Blocks are separated by one `---` line, because the reference program cannot read
    /// two such lines in a row.
    fn compose_block(&self, record: &Record) -> String {
        let mut out = format!("{BLOCK_SEPARATOR}\ntype: {}\n", memory_type(record, Shape::V2));
        out.push_str(&format!("created_at: {}\n", offset_time_text(creation_time(&record.times))));
        if !record.tags.is_empty() {
            let tags: Vec<String> = record.tags.iter().map(|tag| tag.replace(char::is_control, " ")).collect();
            out.push_str(&format!("tags: [{}]\n", tags.join(", ")));
        }
        let body = content(record);
        let escaped = interop_import::escape(body);
        if escaped != body {
            out.push_str(&format!("{ESCAPED_KEY}: rules\n"));
        }
        out.push_str(&format!("{BLOCK_SEPARATOR}\n{escaped}\n"));
        out
    }
}

/// Line between blocks, and between a header and its text.
const BLOCK_SEPARATOR: &str = "---";

/// Tags joined by commas, as the reference program expects, or as a list if a tag contains a comma or starts or ends
/// with a space.
fn tags(tags: &[String]) -> Tree {
    let is_plain = |tag: &String| !tag.is_empty() && !tag.contains(',') && tag.trim() == tag;
    if tags.iter().all(is_plain) { Tree::Text(tags.join(",")) } else { texts(tags) }
}

/// Formats a time with a numeric UTC offset, as the reference program does in these encodings.
fn offset_time_text(time: Timestamp) -> String {
    format!("{}+00:00", time.to_rfc3339().trim_end_matches('Z'))
}

/// Reports each value of a record that the file does not preserve. `mapped` is the record as our reader reads it back.
fn report_losses(stored: &StoredRecord, mapped: &Record, encoding: Encoding, report: &mut LossReport) {
    let record = &stored.record;
    if record.kind != MEMORIES_SECTION.kind {
        report.add(&stored.id, "kind", LossKind::Narrowed, "written as a memory; this encoding has no other kind");
    }
    if encoding == Encoding::Markdown {
        report.add(&stored.id, "id", LossKind::LeftOut, "this encoding has no ids");
    }
    for (name, partly) in differing_members(mapped, record) {
        match (name.as_str(), partly) {
            ("edited" | "key" | "origin" | "origin_id" | "kind" | "repeats", _) => {}
            ("verbatim", _) => {
                report.add(
                    &stored.id,
                    "verbatim",
                    LossKind::LeftOut,
                    "this encoding cannot hold the original text of the source",
                );
            }
            (_, true) => report.add(
                &stored.id,
                &name,
                LossKind::Narrowed,
                "this encoding can only store it partly or in another form",
            ),
            (_, false) => report.add(&stored.id, &name, LossKind::LeftOut, "this encoding cannot hold it"),
        }
    }
    if record.times.created.is_none() {
        report.add(&stored.id, "created", LossKind::Narrowed, NO_TIME_NOTE);
    }
}
