//! Three other forms that the reference program writes: an array as mem0 has it, a plain array, text blocks under
//! `---` headers. None of them holds more than texts, tags and times. `lesser.rs` writes them.
use super::{
    map::value,
    read::adapter_key,
    source::{Form, Source, fault, refused},
    wire::{SCOPE, list, text},
};
use mementory_format::{FormatError, ReadContext, Sink};
use mementory_json::Tree;
use mementory_model::{Dropped, DroppedAs, Kind, Limits, Origin, Record, Timestamp, Unit, Verbatim};
use serde_json::value::RawValue;
use std::collections::HashSet;

/// Reads one of the three.
pub(super) fn read(source: &mut Source<'_>, context: &ReadContext, sink: &mut dyn Sink) -> Result<(), FormatError> {
    let bytes = source.whole(&context.limits)?;
    let form = source.written;
    let mut seen = HashSet::new();
    let mut out = |record: Record, sink: &mut dyn Sink| {
        if seen.insert((record.key.value.clone(), record.text.clone())) {
            return sink.unit(Unit::from(record));
        }
        let place = format!("{}#{}", record.origin.container, record.origin.pointer);
        let reason = "duplicate: the same record is there twice".to_owned();
        sink.dropped(Dropped { place, outcome: DroppedAs::Skipped, reason, kind: Some(Kind::Memory) });
        Ok(())
    };
    if form == Form::Markdown {
        let text = markdown(&bytes, &source.place)?;
        for (number, block) in blocks(&text) {
            let mut record = of_block(&block, form);
            record.origin = origin(form, &source.place, format!("line {number}"));
            out(record, sink)?;
            sink.progress(0)?;
        }
        return Ok(());
    }
    for (index, raw) in items(&bytes, &source.place)?.into_iter().enumerate() {
        let pointer = format!("/{index}");
        match of_item(raw.get(), form, &context.limits) {
            Ok(mut record) => {
                record.origin = origin(form, &source.place, pointer);
                out(record, sink)?;
            }
            Err(code) => {
                let place = format!("{}#{pointer}", source.place);
                let reason = format!("{code}: what a record needs is not there");
                sink.dropped(Dropped { place, outcome: DroppedAs::Failed, reason, kind: Some(Kind::Memory) });
            }
        }
        sink.progress(0)?;
    }
    Ok(())
}

fn markdown(bytes: &[u8], place: &str) -> Result<String, FormatError> {
    let text = std::str::from_utf8(bytes).map_err(|_| refused("invalid_utf8", place))?;
    Ok(text.replace("\r\n", "\n"))
}

/// Key of a header whose text has its rules escaped, which only our writer does.
pub(super) const ESCAPED: &str = "escaped";

/// A text without lines that would end its block: `---` gets a backslash, which Markdown does not show.
pub(super) fn escape(text: &str) -> String {
    let line = |line: &str| match is_rule(line.trim().trim_start_matches('\\')) {
        true => line.replacen(line.trim_start(), &format!("\\{}", line.trim_start()), 1),
        false => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn unescape(text: &str) -> String {
    let line = |line: &str| match is_rule(line.trim().trim_start_matches('\\')) {
        true => line.replacen('\\', "", 1),
        false => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn is_rule(line: &str) -> bool {
    line == "---"
}

fn origin(form: Form, place: &str, pointer: String) -> Origin {
    let version = form.adapter().map(str::to_owned);
    Origin { format: SCOPE.into(), version, container: place.to_owned(), pointer }
}

/// Elements of the array, or of the list in the object that mem0's own interface answers with.
fn items<'t>(bytes: &'t [u8], place: &str) -> Result<Vec<&'t RawValue>, FormatError> {
    let text = std::str::from_utf8(bytes).map_err(|_| refused("invalid_utf8", place))?;
    let wrong = |_| match fault(bytes) {
        Some(code) => refused(code, place),
        None => FormatError::invalid("malformed", place, "neither an array nor an object with results"),
    };
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text).map_err(wrong);
    }
    let members: mementory_json::Members<'t> = serde_json::from_str(text).map_err(wrong)?;
    let list = members.0.iter().find(|(key, _)| matches!(key.as_str(), "results" | "memories"));
    serde_json::from_str(list.map_or("[]", |(_, raw)| raw.get())).map_err(wrong)
}

/// The memory that an element tells of.
pub(super) fn of_item(json: &str, form: Form, limits: &Limits) -> Result<Record, &'static str> {
    let tree = Tree::parse(json, limits).map_err(|_| fault(json.as_bytes()).unwrap_or("malformed"))?;
    if !matches!(tree, Tree::Object(_)) {
        return Err("not_an_object");
    }
    let name = if form == Form::Mem0 { "memory" } else { "content" };
    let content = text(&tree, name).filter(|t| !t.is_empty()).ok_or("no_content")?;
    let id = text(&tree, "id");
    let mut record = Record::new(Kind::Memory, adapter_key(id, content), content);
    record.origin_id = id.map(str::to_owned);
    let created = ["timestamp", "created_at", "date"].into_iter().filter_map(|n| text(&tree, n));
    record.times.created = created.filter_map(Timestamp::parse).next();
    record.times.updated = text(&tree, "updated_at").and_then(Timestamp::parse);
    record.tags = list(&tree, "tags");
    record.source.platform = SCOPE.into();
    record.record_type = text(&tree, "type").or(text(&tree, "memory_type")).map(str::to_lowercase);
    if form == Form::Mem0 {
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
        let left = members.iter().filter(|(k, v)| !used.contains(&k.as_str()) && *v != Tree::Null);
        record.fields = left.map(|(k, v)| (k.clone(), value(v))).collect();
    }
    record.verbatim = Some(Verbatim::json(json));
    Ok(record)
}

/// Header and body of each block, with the line where it begins. Blocks follow each other with one `---` between
/// them, or with two, as the reference program writes them and cannot read them.
pub(super) fn blocks(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.split('\n').collect();
    let fence = |i: usize| lines.get(i).is_some_and(|l| l.trim_end() == "---");
    // A header: a fence, lines that are all `key: value`, a fence.
    let header = |i: usize| -> Option<usize> {
        if !fence(i) {
            return None;
        }
        let end = (i + 1..lines.len().min(i + 60)).find(|j| fence(*j))?;
        let keys = &lines[i + 1..end];
        (!keys.is_empty() && keys.iter().all(|l| is_field(l))).then_some(end)
    };
    let mut starts = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        match header(at) {
            Some(end) => {
                starts.push((at, end));
                at = end + 1;
            }
            None => at += 1,
        }
    }
    let mut out = Vec::new();
    for (n, (start, end)) in starts.iter().enumerate() {
        let mut stop = starts.get(n + 1).map_or(lines.len(), |(next, _)| *next);
        // The fence of the doubled separator is nobody's text.
        while stop > end + 1 && n + 1 < starts.len() && lines[stop - 1].trim().is_empty() {
            stop -= 1;
        }
        if n + 1 < starts.len() && stop > end + 1 && fence(stop - 1) {
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

/// The memory that a block tells of.
pub(super) fn of_block(block: &str, form: Form) -> Record {
    let (head, body) = block.split_once("\n---\n").unwrap_or(("", block));
    let escaped = head.lines().any(|line| line.split_once(':').is_some_and(|(key, _)| key == ESCAPED));
    let mut record = Record::new(Kind::Memory, adapter_key(None, block), body);
    if escaped {
        record.text = unescape(body);
    }
    record.source.platform = SCOPE.into();
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
            ESCAPED => {}
            _ => drop(record.fields.insert(key.to_owned(), word.into())),
        }
    }
    if form == Form::Markdown {
        let text = format!("---\n{block}");
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text });
    }
    record
}

/// Elements in all, and where and why some hold no memory.
pub(super) type Checked = (u64, Vec<(String, &'static str)>);

/// Looks at every element.
pub(super) fn check(source: &mut Source<'_>, limits: &Limits) -> Result<Checked, FormatError> {
    let bytes = source.whole(limits)?;
    if source.written == Form::Markdown {
        return Ok((blocks(&markdown(&bytes, &source.place)?).len() as u64, vec![]));
    }
    let items = items(&bytes, &source.place)?;
    let bad = items.iter().enumerate();
    let bad =
        bad.filter_map(|(i, raw)| of_item(raw.get(), source.written, limits).err().map(|code| (format!("/{i}"), code)));
    let bad = bad.collect();
    Ok((items.len() as u64, bad))
}
