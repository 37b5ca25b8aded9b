//! Parses transcripts, which are conversations that Meta writes as one text: a heading, then `You: …` and `Meta AI: …`.
//! Also parses the names of transcripts, and repairs UTF-8 that Meta decoded as Latin-1.
use mementory_model::Timestamp;

/// Name of the assistant as a speaker.
pub(super) const ASSISTANT: &str = "Meta AI";

/// Words that name the person as a speaker, in the languages that an account may have.
pub(super) const PERSON: [&str; 40] = [
    "You",
    "Du",
    "Sie",
    "Tú",
    "Usted",
    "Vous",
    "Você",
    "Tu",
    "Jij",
    "あなた",
    "你",
    "您",
    "Anda",
    "Kamu",
    "Siz",
    "Sen",
    "Ty",
    "Вы",
    "Ты",
    "Ви",
    "Ти",
    "أنت",
    "אתה",
    "Bạn",
    "คุณ",
    "आप",
    "तुम्ही",
    "আপনি",
    "நீங்கள்",
    "మీరు",
    "آپ",
    "شما",
    "나",
    "회원님",
    "Sinä",
    "Εσείς",
    "Εσύ",
    "Ön",
    "Dvs.",
    "Vy",
];

/// Returns the role of a speaker. None for any other word.
pub(super) fn role(speaker: &str) -> Option<&'static str> {
    let speaker = speaker.trim();
    if speaker == ASSISTANT {
        return Some("assistant");
    }
    PERSON.contains(&speaker).then_some("user")
}

/// Splits a transcript into messages, each with its role and text. Empty if no line names a speaker. The text before
/// the first speaker is not returned; see [`heading`].
pub(super) fn turns(text: &str) -> Vec<(&'static str, String)> {
    let mut out: Vec<(&'static str, String)> = Vec::new();
    // A transcript is in one language. So if a line begins with a word for the person in another language, the line is
    // part of a message.
    let mut person: Option<&str> = None;
    for line in text.lines() {
        let word = line.split(':').next().unwrap_or_default().trim();
        match speaker_of(line).filter(|_| word == ASSISTANT || *person.get_or_insert(word) == word) {
            Some((role, rest)) => out.push((role, rest.trim_start().to_owned())),
            None => {
                if let Some((_, last)) = out.last_mut() {
                    last.push('\n');
                    last.push_str(line);
                }
            }
        }
    }
    for (_, text) in &mut out {
        text.truncate(text.trim_end().len());
    }
    out
}

/// Returns the text before the first speaker.
pub(super) fn heading(text: &str) -> String {
    let lines: Vec<&str> = text.lines().take_while(|line| speaker_of(line).is_none()).collect();
    lines.join("\n").trim().to_owned()
}

/// Returns the role of the speaker with whose name a line begins, and the text after the name. None for any other line.
fn speaker_of(line: &str) -> Option<(&'static str, &str)> {
    let (speaker, rest) = line.split_once(':')?;
    if speaker.len() > 24 {
        return None;
    }
    // If no space follows the colon, `You:` is usually part of an address or of code.
    let is_end = rest.is_empty() || rest.starts_with(char::is_whitespace);
    role(speaker).filter(|_| is_end).map(|role| (role, rest))
}

/// The name of a transcript, such as `Conversation with Meta AI_04-17-2026_1776479869.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// The name without its extension.
    pub stem: String,
    /// The time that the name states. If the name states only a date, the time is midnight UTC, because the time zone
    /// is unknown.
    pub time: Option<Timestamp>,
}

/// Parses the name of a transcript. None for any other text.
pub(super) fn name(text: &str) -> Option<Name> {
    let text = text.trim();
    let stem = text.strip_suffix(".txt")?;
    let at = stem.find("Meta AI")?;
    if stem.contains('\n') || stem.chars().count() > 120 {
        return None;
    }
    let mut parts = stem.get(at + ASSISTANT.len()..)?.split('_').filter(|part| !part.is_empty());
    let date = parts.next().and_then(|date| {
        let mut numbers = date.splitn(3, '-');
        let (month, day, year) = (numbers.next()?, numbers.next()?, numbers.next()?);
        Timestamp::parse(&format!("{year}-{month}-{day}"))
    });
    let seconds = parts.next().and_then(|n| n.parse::<u32>().ok()).filter(|n| *n > 1_000_000_000);
    let time = seconds.and_then(|seconds| Timestamp::from_seconds(f64::from(seconds)));
    Some(Name { stem: stem.to_owned(), time: time.or(date) })
}

/// Repairs a text whose UTF-8 bytes were decoded as Latin-1. Any other text is returned unchanged.
pub(super) fn repaired(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_split_at_its_speakers() {
        let text = "Conversation with Meta AI\n\n\nYou: What eats slugs?\nAt night: I mean\nMeta AI: Hedgehogs.\n\nAnd frogs.\n";
        let expected = [
            ("user", "What eats slugs?\nAt night: I mean".to_owned()),
            ("assistant", "Hedgehogs.\n\nAnd frogs.".into()),
        ];
        assert_eq!(turns(text), expected);
        assert_eq!(heading(text), "Conversation with Meta AI");
        assert!(turns("You and Meta AI\nhttps://example.org").is_empty());
        for person in ["Ty", "Вы", "आप", "آپ"] {
            let text = format!("{person}: Ciao\nTu: io\nMeta AI: Ciao!");
            assert_eq!(turns(&text), [("user", "Ciao\nTu: io".to_owned()), ("assistant", "Ciao!".into())]);
        }
    }

    #[test]
    fn the_name_of_a_transcript_states_its_time() {
        let time = |text| name(text).and_then(|n| n.time).map(|t| t.to_rfc3339());
        assert_eq!(
            time("Conversation with Meta AI_04-17-2026_1776479869.txt").as_deref(),
            Some("2026-04-18T02:37:49Z")
        );
        assert_eq!(time("Conversation with Meta AI_07-26-2026.txt").as_deref(), Some("2026-07-26T00:00:00Z"));
        assert_eq!(name("notes.txt"), None);
    }

    #[test]
    fn utf_8_that_was_decoded_as_latin_1_is_repaired() {
        assert_eq!(repaired("caf\u{c3}\u{a9}"), "café");
        assert_eq!(repaired("café"), "café");
        assert_eq!(repaired("日本 café"), "日本 café");
    }
}
