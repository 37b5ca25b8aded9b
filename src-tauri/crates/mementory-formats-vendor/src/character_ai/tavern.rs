//! Reads a chat of SillyTavern, which consists of a header line and a line for each message. The member `swipes` of a
//! line contains the alternative answers.
use super::{CHARACTER_AI, SILLY_TAVERN};
use mementory_format::{FormatError, JsonHead, Member};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn, TurnParent},
    object::{Object, content_id, decode_string, with_replaced_values},
    reader::{FileReader, ObjectElement},
    values::{block, first_text, other_fields, time, time_of},
};
use mementory_model::{DroppedAs, Issue, Kind, Source, Times, Timestamp, Verbatim};
use serde_json::{Value, value::RawValue};

/// Notations of times that are neither RFC 3339 nor numbers: the app's English text, and the notation in its file
/// names.
const NOTATIONS: [&str; 3] = ["%B %d, %Y %I:%M%p", "%B %d, %Y %I:%M %p", "%Y-%m-%d@%Hh%Mm%Ss"];
/// Members of a line that have a field in the model.
const LINE_MEMBERS: [&str; 7] = ["name", "is_user", "is_system", "mes", "send_date", "swipes", "swipe_id"];

/// The state after the lines of a file that were read so far.
#[derive(Default)]
struct Lines {
    chat: Chat,
    /// Key of the previous message.
    previous_key: Option<String>,
    character: Option<String>,
    bytes: u64,
    count: usize,
}

impl Lines {
    fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let object = &element.object;
        let place = || format!("{}#{}", member.place, element.pointer);
        if object.raw_value("mes").is_none() {
            if ["user_name", "character_name", "chat_metadata"].iter().any(|k| object.has(k)) {
                read_header(&mut self.chat, object, element.text);
                self.character = first_text(object, &["character_name"]).filter(|name| name != "unused");
            } else {
                reader.report_dropped(place(), DroppedAs::Failed, "not_a_message: no text", Some(Kind::Message));
            }
            return Ok(());
        }
        self.bytes += element.text.len() as u64;
        if self.bytes > reader.context.limits.element_bytes {
            let reason = "too_large: the chat is larger than the limit";
            reader.report_dropped(place(), DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        let alternatives = turns(element.text, object, &element.pointer, self.count, self.previous_key.as_deref());
        self.count += 1;
        self.previous_key = alternatives.last().and_then(|turn| turn.key.clone()).or(self.previous_key.take());
        if self.character.is_none() && object.raw_value("is_user").is_some_and(|raw| raw.get() == "false") {
            self.character = first_text(object, &["name"]);
        }
        self.chat.turns.extend(alternatives);
        Ok(())
    }
}

/// Reads a file as one conversation. The messages are the lines of the file, or the elements of a JSON list.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut lines = Lines::default();
    let head = JsonHead::of(reader.catalog, member);
    if head.is_some_and(|head| head.first == b'[') {
        reader.objects(member, &[], Kind::Message, |reader, element| lines.add(reader, member, element))?;
    } else {
        reader.lines(member, Kind::Message, |reader, element| lines.add(reader, member, element))?;
    }
    let Lines { mut chat, previous_key, character, .. } = lines;
    if chat.turns.is_empty() {
        reader.sink.note(Issue::new("empty", &member.place, "this chat has no messages"));
    }
    let times = || chat.turns.iter().filter_map(|turn| turn.times.created);
    let (first, last) = (times().min(), times().max());
    chat.times.created = chat.times.created.or(first);
    chat.times.updated = last;
    chat.source = Source { project: character.clone(), ..Source::default() };
    // A character begins every chat with the same message, so the key also depends on the first message of the person.
    // Otherwise several chats would have the same key.
    let first_prompt = chat.turns.iter().find(|turn| turn.role == "user").map(|turn| turn.text.as_str());
    let opening = chat.turns.first().map(|turn| turn.text.as_str());
    chat.key = Some(content_id(&format!("{character:?}\n{:?}\n{opening:?}\n{first_prompt:?}", chat.times.created)));
    chat.title = character;
    chat.leaf = previous_key;
    if chat.verbatim.is_none() {
        chat.verbatim = Some(Verbatim::json("null"));
    }
    let mut issues = Vec::new();
    let file =
        ChatFile { format: CHARACTER_AI, platform: SILLY_TAVERN, version: Some("tavern"), container: &member.place };
    let unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    reader.sink.unit(unit)
}

fn read_header(chat: &mut Chat, header: &Object<'_>, text: &str) {
    chat.times.created = header.raw_value("create_date").and_then(date);
    chat.fields = other_fields(header, &["user_name", "character_name", "create_date"]);
    if let Some(user) = first_text(header, &["user_name"]).filter(|name| name != "unused") {
        chat.fields.insert("user_name".into(), user.into());
    }
    chat.verbatim = Some(Verbatim::json(text));
}

/// Returns the turns of a line: the alternative answers, then the message itself. The parent of each turn is
/// `previous_key`.
fn turns(text: &str, line: &Object<'_>, pointer: &str, position: usize, previous_key: Option<&str>) -> Vec<Turn> {
    let is_system = line.is_true("is_system");
    let role = match (is_system, line.raw_value("is_user").map(|raw| raw.get() == "true")) {
        (true, _) => "system",
        (_, Some(true)) => "user",
        (_, Some(false)) => "assistant",
        (_, None) => "unknown",
    };
    let own_text = line.text("mes").unwrap_or_default();
    let name = first_text(line, &["name"]);
    let extra = line.object("extra");
    let parent = previous_key.map_or(TurnParent::Root, |key| TurnParent::Id(key.to_owned()));
    let created = line.raw_value("send_date").and_then(date);
    let make_turn = |words: &str, number: usize| Turn {
        key: Some(content_id(&format!("{position}\n{number}\n{role}\n{words}"))),
        parent: parent.clone(),
        role: role.into(),
        text: words.to_owned(),
        content_type: if is_system { "context" } else { "text" }.into(),
        hidden: is_system,
        times: Times { created, ..Times::default() },
        pointer: pointer.to_owned(),
        ..Turn::default()
    };
    let mut out = Vec::new();
    // The text of an alternative is only in the verbatim of its own turn, so erasing that turn erases the text
    // completely.
    let mut alternatives: Vec<(&RawValue, &str)> = Vec::new();
    let mut is_own_text_skipped = false;
    for (number, raw) in line.list("swipes").into_iter().flatten().enumerate() {
        let Some(words) = decode_string(raw) else { continue };
        // `swipes` also contains the text of the message itself. The turn of the message is added after the loop.
        if words == own_text && !std::mem::replace(&mut is_own_text_skipped, true) {
            continue;
        }
        let mut turn = make_turn(&words, number + 1);
        turn.verbatim = Some(Verbatim::json(raw.get()));
        alternatives.push((raw, "\"\""));
        out.push(turn);
    }
    let mut turn = make_turn(&own_text, 0);
    turn.verbatim = Some(Verbatim::json(with_replaced_values(text, &alternatives)));
    turn.fields = other_fields(line, &LINE_MEMBERS);
    turn.fields.extend(name.map(|name| ("author".to_owned(), name.into())));
    if let Some(extra) = extra {
        turn.model = first_text(&extra, &["model"]).filter(|_| role == "assistant");
        if let Some(thoughts) = first_text(&extra, &["reasoning"]) {
            turn.fields.insert("blocks".into(), Value::Array(vec![block("thinking", None, thoughts)]));
        }
    }
    out.push(turn);
    out
}

/// Returns the time in a value, which is a number, RFC 3339 or one of [`NOTATIONS`]. The app writes local time without
/// a zone, and such a time is read as UTC.
pub(super) fn date(raw: &RawValue) -> Option<Timestamp> {
    if let Some(found) = time_of(raw) {
        return Some(found);
    }
    let text = decode_string(raw)?;
    let text = text.trim();
    // In `2023-4-9 @12h 30m 5s 123ms`, everything after the seconds is removed.
    let without_spaces: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let short =
        without_spaces.split_once('s').map_or(without_spaces.as_str(), |(start, _)| &without_spaces[..start.len() + 1]);
    let upper = text.replace("am", "AM").replace("pm", "PM");
    NOTATIONS.iter().find_map(|notation| {
        let candidate = if notation.contains('@') { short } else { upper.as_str() };
        let civil = jiff::fmt::strtime::parse(notation, candidate).ok()?.to_datetime().ok()?;
        time(&civil.to_string())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::date;

    #[test]
    fn dates_are_read_in_every_notation() {
        for (text, expected) in [
            ("\"April 9, 2023 2:05pm\"", Some("2023-04-09T14:05:00Z")),
            ("\"2023-4-9 @12h 30m 5s 123ms\"", Some("2023-04-09T12:30:05Z")),
            ("1681043105000", Some("2023-04-09T12:25:05Z")),
            ("\"2025-01-02T03:04:05.000Z\"", Some("2025-01-02T03:04:05Z")),
            ("\"once\"", None),
            ("null", None),
        ] {
            let raw = serde_json::value::RawValue::from_string(text.into()).unwrap();
            assert_eq!(date(&raw).map(|time| time.to_rfc3339()), expected.map(Into::into), "{text}");
        }
    }
}
