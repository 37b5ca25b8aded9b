//! Reads texts as memories and conversations. The source text is stored as a passthrough file.
use super::{
    FORMAT_ID,
    conversation::{self, TextSource},
    detect,
    entries::{self, Entries, Entry, text_id},
    programs, transcript,
};
use mementory_format::{
    Catalog, Detected, Finding, FormatError, Member, PassthroughItem, ReadContext, Sink, Validation,
};
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Limits, Record, RecordKey, Source, Verbatim};
use std::collections::HashSet;

/// Reads every text that was detected.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut bytes_done = 0;
    let mut texts = HashSet::new();
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
                // A copy of a file would give the same records, so it is skipped.
                if !texts.insert(item.group.clone()) {
                    let reason = "duplicate: another file has the same text".into();
                    let (place, outcome) = (member.place.clone(), DroppedAs::Skipped);
                    sink.dropped(Dropped { place, outcome, reason, kind: None });
                    continue;
                }
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

/// Checks that every file is a text with entries. The content cannot be checked, because it has no specification.
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
            turns_of(&text, member).filter(|_| out.version.as_deref() == Some(detect::TextKind::Transcript.as_str()));
        let in_turns = |found: transcript::Transcript| found.conversations().map(|one| one.turns.len() + 1).sum();
        let records: usize = turns.map_or_else(|| entries::read(&text).entries.len(), in_turns);
        if records == 0 {
            out.errors.push(finding("empty", "no entry was found in this text"));
        }
        out.records += records as u64;
    }
    Ok(out)
}

/// The turns of a conversation, whichever program wrote it. None if the text is not a conversation.
fn turns_of(text: &str, member: &Member) -> Option<transcript::Transcript> {
    programs::read(text, member.file_name()).or_else(|| transcript::read(text))
}

fn read_text(text: &str, member: &Member, version: Option<&str>, sink: &mut dyn Sink) -> Result<(), FormatError> {
    let place = TextSource { member, version };
    if version == Some(detect::TextKind::Transcript.as_str())
        && let Some(found) = turns_of(text, member)
    {
        return send_conversations(&found, text, &place, sink);
    }
    let found = entries::read(text);
    let platform = platform_of(text, member, &found);
    let mut seen_ids = HashSet::new();
    for entry in &found.entries {
        let id = entry.id();
        if !seen_ids.insert(id.clone()) {
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

/// Sends every conversation of a text. A conversation that occurs twice is sent once.
fn send_conversations(
    found: &transcript::Transcript,
    text: &str,
    place: &TextSource<'_>,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    if found.others.is_empty() {
        return sink.unit(conversation::unit(found, text, place));
    }
    let mut seen_keys = HashSet::new();
    for conversation in found.conversations() {
        let mut unit = conversation::unit(conversation, &conversation.own_text(), place);
        let Some(head) = unit.records.first_mut() else { continue };
        head.origin = place.origin(conversation.turns.first().map_or(1, |turn| turn.line));
        let pointer = head.origin.pointer.clone();
        if seen_keys.insert(head.key.clone()) {
            sink.unit(unit)?;
            continue;
        }
        sink.dropped(Dropped {
            place: format!("{}#{pointer}", place.member.place),
            outcome: DroppedAs::Skipped,
            reason: "duplicate: the same conversation occurs earlier in the text".into(),
            kind: Some(Kind::Conversation),
        });
    }
    Ok(())
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

/// The platform, guessed from the text and the file name. `other` if the platform cannot be guessed.
fn platform_of(text: &str, member: &Member, list: &Entries) -> &'static str {
    let (text, name) = (text.to_lowercase(), member.file_name().to_lowercase());
    let is_from_chatgpt =
        ["chatgpt said", "saved memories", "model set context"].iter().any(|words| text.contains(*words));
    if is_from_chatgpt || entries::begins_with_page_title(&text) || name.contains("chatgpt") {
        "chatgpt"
    } else if name.contains("claude") || text.contains("claude said") || detect::count_known_headings(list) >= 2 {
        "claude"
    } else {
        "other"
    }
}
