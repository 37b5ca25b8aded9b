//! Reads the three interop encodings of the reference program, which `interop_export.rs` writes: an array like mem0's,
//! a generic array, and text blocks below `---` headers. Files in these encodings contain only memories with type, tags
//! and times.
use super::{
    encoding::ESCAPED_KEY,
    json_faults::{fault_error, json_fault},
    schema::code_of,
    source::{Encoding, Source},
    to_record,
    wire::{KEY_SCOPE, bare_id, list, text},
};
use crate::{
    seen_records::{Occurrence, SeenRecords},
    text_digest::digest,
};
use mementory_format::{FormatError, ReadContext, Sink};
use mementory_json::{
    Tree,
    schema::{RepeatedKeys, Rule, check, nullable},
    value_of,
};
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Limits, Origin, Record, RecordKey, Timestamp, Unit, Verbatim};
use serde_json::value::RawValue;
use std::collections::HashSet;

/// Reads a file in one of the three encodings.
pub(super) fn read(source: &mut Source<'_>, context: &ReadContext, sink: &mut dyn Sink) -> Result<(), FormatError> {
    let bytes = source.read_all(&context.limits)?;
    let encoding = source.original_encoding;
    let mut seen = SeenRecords::default();
    // Place of the first element whose id an earlier element has, and the number of such elements.
    let mut repeated_ids: Option<(String, u64)> = None;
    let mut out = |mut record: Record, element: &str, sink: &mut dyn Sink| {
        let place = format!("{}#{}", record.origin.container, record.origin.pointer);
        // Without an id, the key is derived from the text. As for the reference program, equal texts are duplicates, even
        // if their times or other members differ.
        let has_id = has_id(&record);
        let content = if has_id { digest(element) } else { 0 };
        match seen.add(&mut record.key, content) {
            Occurrence::First => {}
            Occurrence::Duplicate => {
                let reason = match has_id {
                    true => "duplicate: the same record occurs twice",
                    false => "duplicate: an earlier record has the same text, and its other values are imported",
                };
                let reason = reason.to_owned();
                sink.dropped(Dropped { place, outcome: DroppedAs::Skipped, reason, kind: Some(Kind::Memory) });
                return Ok(());
            }
            Occurrence::Numbered => repeated_ids.get_or_insert((place, 0)).1 += 1,
        }
        sink.unit(Unit::from(record))
    };
    if encoding == Encoding::Markdown {
        let text = markdown(&bytes, &source.place)?;
        if let Some(line) = line_outside_blocks(&text) {
            let (place, kind) = (format!("{}#line {line}", source.place), Some(Kind::Memory));
            let reason = format!("{NO_BLOCK_CODE}: the text has no header of its own");
            sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind });
        }
        for (number, block) in blocks(&text) {
            let mut record = record_from_block(&block, encoding);
            record.origin = origin(encoding, &source.place, format!("line {number}"));
            out(record, &block, sink)?;
            sink.progress(0)?;
        }
        return Ok(());
    }
    for (index, raw) in items(&bytes, &source.place)?.into_iter().enumerate() {
        let pointer = format!("/{index}");
        match record_from_item(raw.get(), encoding, &context.limits) {
            Ok(mut record) => {
                record.origin = origin(encoding, &source.place, pointer);
                out(record, raw.get(), sink)?;
            }
            Err(code) => {
                let place = format!("{}#{pointer}", source.place);
                let reason = format!("{code}: required data of the record is missing");
                sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind: Some(Kind::Memory) });
            }
        }
        sink.progress(0)?;
    }
    if let Some((place, count)) = repeated_ids {
        let times = if count > 1 { format!(", {count} times; first here") } else { String::new() };
        sink.note(Issue::new(DUPLICATE_ID_CODE, place, format!("two records have the same id{times}")));
    }
    Ok(())
}

fn has_id(record: &Record) -> bool {
    record.origin_id.as_ref().is_some_and(|id| !id.is_empty())
}

/// The text of a Markdown file, without byte order marks: with one before it, the first `---` line would not be one.
fn markdown(bytes: &[u8], place: &str) -> Result<String, FormatError> {
    let text = std::str::from_utf8(bytes).map_err(|_| fault_error("invalid_utf8", place))?;
    Ok(text.trim_start_matches('\u{feff}').replace("\r\n", "\n"))
}

/// Puts a backslash before each `---` line, which would otherwise end the block. Markdown does not display the
/// backslash.
pub(super) fn escape(text: &str) -> String {
    let line = |line: &str| match is_separator(line.trim().trim_start_matches('\\')) {
        true => line.replacen(line.trim_start(), &format!("\\{}", line.trim_start()), 1),
        false => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn unescape(text: &str) -> String {
    let line = |line: &str| match is_separator(line.trim().trim_start_matches('\\')) {
        true => line.replacen('\\', "", 1),
        false => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn is_separator(line: &str) -> bool {
    line == "---"
}

fn origin(encoding: Encoding, place: &str, pointer: String) -> Origin {
    let version = encoding.interop_name().map(str::to_owned);
    Origin { format: KEY_SCOPE.into(), version, container: place.to_owned(), pointer }
}

/// Returns the elements of an array, or of the list inside an object like those that mem0's API returns.
fn items<'t>(bytes: &'t [u8], place: &str) -> Result<Vec<&'t RawValue>, FormatError> {
    let text = std::str::from_utf8(bytes).map_err(|_| fault_error("invalid_utf8", place))?;
    let to_fault = |_| match json_fault(bytes) {
        Some(code) => fault_error(code, place),
        None => FormatError::invalid("malformed", place, "neither an array nor an object with results"),
    };
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text).map_err(to_fault);
    }
    let members: mementory_json::Members<'t> = serde_json::from_str(text).map_err(to_fault)?;
    let list = members.0.iter().find(|(key, _)| matches!(key.as_ref(), "results" | "memories"));
    serde_json::from_str(list.map_or("[]", |(_, raw)| raw.get())).map_err(to_fault)
}

/// Key of a record from an interop encoding. It contains the id or, without an id, a digest of the content.
fn interop_key(id: Option<&str>, content: &str) -> RecordKey {
    match id.filter(|id| !id.is_empty()) {
        Some(id) => to_record::key("memory", &bare_id(id)),
        None => RecordKey::new(KEY_SCOPE, format!("memory/content:{:032x}", digest(content))),
    }
}

pub(super) fn record_from_item(json: &str, encoding: Encoding, limits: &Limits) -> Result<Record, &'static str> {
    let tree = Tree::parse(json, limits).map_err(|_| json_fault(json.as_bytes()).unwrap_or("malformed"))?;
    if !matches!(tree, Tree::Object(_)) {
        return Err("not_an_object");
    }
    let name = if encoding == Encoding::Mem0 { "memory" } else { "content" };
    let content = text(&tree, name).filter(|t| !t.is_empty()).ok_or("no_content")?;
    let id = text(&tree, "id");
    let mut record = Record::new(Kind::Memory, interop_key(id, content), content);
    record.origin_id = id.map(str::to_owned);
    let created = ["timestamp", "created_at", "date"].into_iter().filter_map(|n| text(&tree, n));
    record.times.created = created.filter_map(Timestamp::parse).next();
    record.times.updated = text(&tree, "updated_at").and_then(Timestamp::parse);
    record.tags = list(&tree, "tags");
    record.source.platform = KEY_SCOPE.into();
    record.record_type = text(&tree, "type").or(text(&tree, "memory_type")).map(str::to_lowercase);
    if encoding == Encoding::Mem0 {
        record.source.platform = "mem0".into();
        record.source.account = text(&tree, "user_id").map(str::to_owned);
        let metadata = tree.get("metadata").unwrap_or(&Tree::Null);
        let category = text(metadata, "category").or(text(&tree, "category"));
        record.record_type = category.map(|c| {
            match c {
                "preference" => "observation",
                "fact" => "learning",
                "mistake" => "error",
                "todo" => "task",
                other => other,
            }
            .to_owned()
        });
        if let Some(tags) = text(metadata, "tags") {
            record.tags.extend(tags.split(',').map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned));
        } else {
            record.tags.extend(list(metadata, "tags"));
        }
    }
    let used = [name, "id", "tags", "type", "memory_type", "timestamp", "created_at", "updated_at", "date", "user_id"];
    if let Tree::Object(members) = &tree {
        let unused_members = members.iter().filter(|(k, v)| !used.contains(&k.as_str()) && *v != Tree::Null);
        record.fields = unused_members.map(|(k, v)| (k.clone(), value_of(v))).collect();
    }
    record.verbatim = Some(Verbatim::json(json));
    Ok(record)
}

/// Code of a text in a Markdown file that is in no block.
const NO_BLOCK_CODE: &str = "no_block";

/// Number of the first line with text before the first header. None if there is no such line.
fn line_outside_blocks(text: &str) -> Option<usize> {
    let first_block = blocks(text).first().map_or(usize::MAX, |(number, _)| *number);
    let mut numbered_lines = (1..).zip(text.split('\n')).take_while(|(number, _)| *number < first_block);
    numbered_lines.find(|(_, line)| !line.trim().is_empty()).map(|(number, _)| number)
}

/// Returns the text and the first line number of each block. Blocks are separated by one or two `---` lines. The
/// reference program writes two, but cannot read them.
pub(super) fn blocks(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_separator_at = |i: usize| lines.get(i).is_some_and(|l| l.trim_end() == "---");
    // A header is a separator, lines of the form `key: value`, and another separator.
    let header = |i: usize| -> Option<usize> {
        if !is_separator_at(i) {
            return None;
        }
        let end = (i + 1..lines.len().min(i + 60)).find(|j| is_separator_at(*j))?;
        let keys = &lines[i + 1..end];
        (!keys.is_empty() && keys.iter().all(|l| is_field(l))).then_some(end)
    };
    let mut headers = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        match header(at) {
            Some(end) => {
                headers.push((at, end));
                at = end + 1;
            }
            None => at += 1,
        }
    }
    let mut out = Vec::new();
    for (n, (start, end)) in headers.iter().enumerate() {
        let mut stop = headers.get(n + 1).map_or(lines.len(), |(next, _)| *next);
        // Blank lines before the next header, and the first of two separators, do not belong to the text.
        while stop > end + 1 && n + 1 < headers.len() && lines[stop - 1].trim().is_empty() {
            stop -= 1;
        }
        if n + 1 < headers.len() && stop > end + 1 && is_separator_at(stop - 1) {
            stop -= 1;
        }
        let block = format!("{}\n---\n{}", lines[start + 1..*end].join("\n"), lines[end + 1..stop].join("\n").trim());
        out.push((start + 1, block));
    }
    out
}

fn is_field(line: &str) -> bool {
    let key = line.split_once(':').map(|(key, _)| key);
    key.is_some_and(|k| !k.is_empty() && k.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'))
}

pub(super) fn record_from_block(block: &str, encoding: Encoding) -> Record {
    let (head, body) = block.split_once("\n---\n").unwrap_or(("", block));
    let is_escaped = head.lines().any(|line| line.split_once(':').is_some_and(|(key, _)| key == ESCAPED_KEY));
    let mut record = Record::new(Kind::Memory, interop_key(None, block), body);
    if is_escaped {
        record.text = unescape(body);
    }
    record.source.platform = KEY_SCOPE.into();
    for (key, value) in head.lines().filter_map(|l| l.split_once(':')) {
        let word = value.trim().trim_matches('"');
        match key {
            "type" => record.record_type = Some(word.to_lowercase()),
            "created_at" | "date" => record.times.created = Timestamp::parse(word),
            "tags" => {
                let words = word.trim_start_matches('[').trim_end_matches(']').split(',');
                let words = words.map(|t| t.trim().trim_matches('"').to_owned());
                record.tags = words.filter(|t| !t.is_empty()).collect();
            }
            ESCAPED_KEY => {}
            _ => drop(record.fields.insert(key.to_owned(), word.into())),
        }
    }
    if encoding == Encoding::Markdown {
        let text = format!("---\n{block}");
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text });
    }
    record
}

/// Rules for the members of an array element. Violations are reported, because an invalid value ends up only in the
/// record's `fields`.
const ITEM_RULE: Rule = Rule::Object(&[
    nullable("created_at", Rule::Time),
    nullable("updated_at", Rule::Time),
    nullable("timestamp", Rule::Time),
    nullable("user_id", Rule::Text),
    nullable("metadata", Rule::Map(&Rule::Any)),
]);

/// Pointer and code of each value of an element that the format forbids.
pub(super) fn invalid_values(json: &str, limits: &Limits) -> Vec<(String, &'static str)> {
    let mut out = Vec::new();
    if let Ok(tree) = Tree::parse(json, limits) {
        check(&tree, &ITEM_RULE, RepeatedKeys::Accept, &mut |at, violation| {
            out.push((at.to_string(), code_of(&violation).0));
        });
    }
    out
}

/// Code of an element whose id another element has already. This is only a warning, because both are imported.
pub(super) const DUPLICATE_ID_CODE: &str = "duplicate_id";

/// Number of elements, and pointer and code of each fault.
pub(super) type CheckedElements = (u64, Vec<(String, &'static str)>);

/// Checks every element of an array. The blocks of a Markdown file are counted, and text outside them is a fault.
pub(super) fn check_elements(source: &mut Source<'_>, limits: &Limits) -> Result<CheckedElements, FormatError> {
    let bytes = source.read_all(limits)?;
    if source.original_encoding == Encoding::Markdown {
        let text = markdown(&bytes, &source.place)?;
        let fault = line_outside_blocks(&text).map(|line| (format!("line {line}"), NO_BLOCK_CODE));
        return Ok((blocks(&text).len() as u64, fault.into_iter().collect()));
    }
    let items = items(&bytes, &source.place)?;
    let (mut faults, mut keys) = (Vec::new(), HashSet::new());
    for (i, raw) in items.iter().enumerate() {
        match record_from_item(raw.get(), source.original_encoding, limits) {
            Err(code) => faults.push((format!("/{i}"), code)),
            Ok(record) => {
                let invalid_values = invalid_values(raw.get(), limits).into_iter();
                faults.extend(invalid_values.map(|(at, code)| (format!("/{i}{at}"), code)));
                if has_id(&record) && !keys.insert(record.key.value) {
                    faults.push((format!("/{i}/id"), DUPLICATE_ID_CODE));
                }
            }
        }
    }
    Ok((items.len() as u64, faults))
}
