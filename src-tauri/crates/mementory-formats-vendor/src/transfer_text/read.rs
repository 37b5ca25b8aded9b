//! Reads texts as memories and conversations. The source text is stored as a passthrough file.
use super::{
    detect,
    entries::{self, Entries, Entry, text_id},
    transcript::{self, Transcript},
};
use mementory_format::{
    Catalog, Detected, Finding, FormatError, Member, PassthroughItem, ReadContext, Sink, Validation,
};
use mementory_formats_shared::roles;
use mementory_model::{
    Dropped, DroppedAs, Issue, Kind, Limits, MessagePart, Origin, Record, RecordKey, Source, Unit, Verbatim,
};
use std::collections::HashSet;

const FORMAT_ID: &str = "transfer_text";

/// Reads every text that was detected.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut bytes_done = 0;
    for member in detected.claim.parts.iter().filter_map(|p| catalog.members().get(p.member)) {
        let bytes = catalog.bytes(member, context.limits.side_file_bytes)?;
        match super::decode(&bytes, true) {
            Some((text, guessed)) => {
                if guessed {
                    let message = "not UTF-8: read as Western European text";
                    sink.note(Issue::new("encoding", &member.place, message));
                }
                let item = PassthroughItem {
                    format: FORMAT_ID.into(),
                    group: text_id("", &entries::unix_line_ends(&text)),
                    name: member.name.clone(),
                    role: "source_text".into(),
                    place: member.place.clone(),
                };
                sink.passthrough(item, &mut bytes.as_slice())?;
                read_text(&entries::unix_line_ends(&text), member, detected.claim.version.as_deref(), sink)?;
            }
            None => sink.dropped(Dropped {
                place: member.place.clone(),
                outcome: DroppedAs::Failed,
                reason: "not_text: this file is not text".into(),
                kind: Some(Kind::Memory),
            }),
        }
        bytes_done += member.size;
        sink.progress(bytes_done)?;
    }
    Ok(())
}

/// Checks that every file is a text with entries. There is no specification for the content.
pub(super) fn validate(catalog: &Catalog, detected: &Detected, limits: &Limits) -> Result<Validation, FormatError> {
    let mut out =
        Validation { version: detected.claim.version.clone(), kind: Some("text".into()), ..Validation::default() };
    for member in detected.claim.parts.iter().filter_map(|p| catalog.members().get(p.member)) {
        let finding = |code: &str, message: &str| Finding {
            code: code.into(),
            place: member.place.clone(),
            message: message.into(),
        };
        let Some((text, guessed)) = super::decode(&catalog.bytes(member, limits.side_file_bytes)?, true) else {
            out.errors.push(finding("not_text", "this file is not text"));
            continue;
        };
        if guessed {
            out.warnings.push(finding("encoding", "not UTF-8: read as Western European text"));
        }
        let text = entries::unix_line_ends(&text);
        let turns =
            transcript::read(&text).filter(|_| out.version.as_deref() == Some(detect::TextKind::Transcript.as_str()));
        let records = turns.map_or_else(|| entries::read(&text).entries.len(), |found| found.turns.len() + 1);
        if records == 0 {
            out.errors.push(finding("empty", "no entry was found in this text"));
        }
        out.records += records as u64;
    }
    Ok(out)
}

fn read_text(text: &str, member: &Member, version: Option<&str>, sink: &mut dyn Sink) -> Result<(), FormatError> {
    let place = TextSource { member, version };
    if version == Some(detect::TextKind::Transcript.as_str())
        && let Some(found) = transcript::read(text)
    {
        return sink.unit(conversation_unit(&found, text, &place));
    }
    let found = entries::read(text);
    let platform = platform_of(text, member, &found);
    let mut seen = HashSet::new();
    for entry in &found.entries {
        let id = entry.id();
        if !seen.insert(id.clone()) {
            sink.dropped(Dropped {
                place: format!("{}#line {}", member.place, entry.line),
                outcome: DroppedAs::Skipped,
                reason: "duplicate: the same entry occurs earlier in the text".into(),
                kind: Some(Kind::Memory),
            });
            continue;
        }
        sink.unit(memory_record(entry, id, platform, &place).into())?;
    }
    if found.lines_outside_list > 0 {
        let message = format!(
            "{} lines are neither entry nor heading; they are in the stored text only",
            found.lines_outside_list
        );
        sink.note(Issue::new("line_not_an_entry", &member.place, message));
    }
    if found.entries.is_empty() {
        sink.note(Issue::new("empty", &member.place, "no entry was found in this text"));
    }
    Ok(())
}

struct TextSource<'p> {
    member: &'p Member,
    version: Option<&'p str>,
}

impl TextSource<'_> {
    fn origin(&self, line: usize) -> Origin {
        Origin {
            format: FORMAT_ID.into(),
            version: self.version.map(Into::into),
            container: self.member.place.clone(),
            pointer: format!("line {line}"),
        }
    }
}

fn memory_record(entry: &Entry, id: String, platform: &str, place: &TextSource<'_>) -> Record {
    let mut record = Record::new(Kind::Memory, RecordKey::new(FORMAT_ID, id.as_str()), entry.content.as_str());
    record.origin_id = Some(id);
    record.times.created = entry.day.and_then(super::dates::start_of_day);
    record.tags.extend(entry.section.clone());
    record.source = Source { platform: platform.into(), method: Some("pasted".into()), ..Source::default() };
    record.origin = place.origin(entry.line);
    record.verbatim = Some(Verbatim { media_type: "text/plain".into(), text: entry.source.clone() });
    if let Some(section) = &entry.section {
        record.fields.insert("section".into(), section.as_str().into());
    }
    if let Some(date) = &entry.date_raw {
        record.fields.insert("date_raw".into(), date.as_str().into());
    }
    record
}

/// The platform, guessed from the text and the file name. `other` if it is not known.
fn platform_of(text: &str, member: &Member, found: &Entries) -> &'static str {
    let (text, name) = (text.to_lowercase(), member.file_name().to_lowercase());
    if text.contains("chatgpt said") || name.contains("chatgpt") || text.contains("saved memories") {
        "chatgpt"
    } else if name.contains("claude") || text.contains("claude said") || detect::count_known_headings(found) >= 2 {
        "claude"
    } else {
        "other"
    }
}

fn conversation_unit(found: &Transcript, text: &str, place: &TextSource<'_>) -> Unit {
    let id = text_id("", text.trim());
    let name = place.member.file_name();
    let stem = name.rsplit_once('.').map(|(stem, _)| stem.to_owned());
    let first_text = || found.turns.iter().find(|t| !t.text.is_empty()).map(|t| first_line(&t.text));
    let labels: Vec<String> = found.turns.iter().map(|t| t.label.to_lowercase()).collect();
    let is_from = |who: &str| labels.iter().any(|l| l.starts_with(who)) || name.to_lowercase().contains(who);
    let platforms = ["chatgpt", "claude", "gemini", "copilot", "grok", "deepseek", "mistral", "perplexity"];
    let platform = platforms.into_iter().find(|p| is_from(p)).unwrap_or("other");
    let source = Source {
        platform: platform.into(),
        conversation: Some(id.clone()),
        method: Some("pasted".into()),
        ..Source::default()
    };
    let mut head = Record::new(Kind::Conversation, RecordKey::new(FORMAT_ID, id.as_str()), found.preamble.as_str());
    head.origin_id = Some(id.clone());
    head.title = stem.or_else(first_text);
    head.source = Source { conversation: None, ..source.clone() };
    head.origin = place.origin(1);
    let key = head.key.clone();
    let mut records = vec![head];
    for (position, turn) in found.turns.iter().enumerate() {
        let mut record =
            Record::new(Kind::Message, RecordKey::new(FORMAT_ID, format!("{id}/{position}")), turn.text.as_str());
        record.source = source.clone();
        record.origin = place.origin(turn.line);
        record.parent = Some(key.clone());
        record.verbatim = Some(Verbatim { media_type: "text/plain".into(), text: turn.source.clone() });
        record.message = Some(MessagePart {
            role: turn.role.into(),
            parent: position.checked_sub(1).map(|p| RecordKey::new(FORMAT_ID, format!("{id}/{p}"))),
            position: u32::try_from(position).unwrap_or(u32::MAX),
            hidden: turn.role == roles::SYSTEM,
            active: true,
            model: None,
            content_type: if turn.role == roles::SYSTEM { "context" } else { "text" }.into(),
        });
        records.push(record);
    }
    Unit { records }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= 60 { line.to_owned() } else { line.chars().take(59).chain(['…']).collect() }
}
