//! Recognises lines that name a speaker, in copied conversations and in the Markdown exports of chat programs and of
//! extensions for them.
use mementory_formats_shared::memory_rows::time_of_text;
use mementory_formats_shared::roles;
use mementory_model::Timestamp;

/// How a line names its speaker, from the least certain style to the most certain one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Style {
    /// `User: …`
    Plain,
    /// `**User:** …`
    Bold,
    /// `## User`
    Heading,
    /// `_**User (2026-01-16 16:48:38Z)**_`, as SpecStory writes.
    Export,
}

/// Who speaks in a line.
#[derive(Debug, PartialEq)]
pub(super) struct Speaker<'l> {
    /// `user`, `assistant` or `system`.
    pub role: &'static str,
    /// The label without markup. Empty if the line begins the next part of an answer.
    pub label: &'l str,
    /// The text after the label.
    pub rest: &'l str,
    pub style: Style,
    pub time: Option<Timestamp>,
    pub model: Option<&'l str>,
    /// False for words such as `Question`, which are headings of notes as well.
    pub is_certain: bool,
}

/// Labels for the person, other than the names of the role, in several languages of chat programs.
const USER_LABELS: [&str; 33] = [
    "i said",
    "you asked",
    "you said",
    "du hast gesagt",
    "sie sagten",
    "vous avez dit",
    "tu as dit",
    "has dicho",
    "dijiste",
    "hai detto",
    "você disse",
    "je zei",
    "вы сказали",
    "你说",
    "你說",
    "あなたの発言",
    "나의 말",
    "powiedziałeś(-aś)",
    "powiedziałeś",
    "řekl/a jsi",
    "ви сказали",
    "bạn đã nói",
    "anda bilang",
    "du sa",
    "du sade",
    "du sagde",
    "řekli jste",
    "şunu dedin",
    "sanoit",
    "ai spus",
    "είπες",
    "قلت",
    "आपने कहा",
];
/// Names of the person in other languages. Unlike the labels above, they need a colon or a mark.
const USER_NAMES: [&str; 14] = [
    "あなた",
    "ユーザー",
    "用户",
    "用戶",
    "사용자",
    "nutzer",
    "benutzer",
    "utilisateur",
    "usuario",
    "usuário",
    "utente",
    "gebruiker",
    "пользователь",
    "użytkownik",
];
/// Names of assistants that are not also names of a role.
const ASSISTANT_LABELS: [&str; 28] = [
    "cursor",
    "le chat",
    "qwen",
    "kimi",
    "pi",
    "character.ai",
    "bing",
    "google gemini",
    "microsoft copilot",
    "meta",
    "you.com",
    "poe",
    "huggingchat",
    "my ai",
    "z.ai",
    "豆包",
    "元宝",
    "通义千问",
    "文心一言",
    "智谱清言",
    "chatgpt response",
    "claude response",
    "gemini response",
    "deepseek response",
    "grok response",
    "perplexity response",
    "ai answer",
    "phind",
];
/// Texts that chat programs append to the assistant's name in the line above its turn.
const SPEECH_SUFFIXES: [&str; 29] = [
    " said",
    " says",
    " hat gesagt",
    " sagte",
    " a dit",
    " ha dicho",
    " dijo",
    " ha detto",
    " disse",
    " zei",
    " сказал",
    " 说",
    " 說",
    "の発言",
    "의 말",
    " powiedział",
    " řekl",
    " сказав",
    " đã nói",
    " bilang",
    " sa",
    " sade",
    " sagde",
    " şunu dedi",
    " sanoi",
    " a spus",
    " είπε",
    " ने कहा",
    " responded",
];
/// Words that may precede the assistant's name in the line above its turn: an article, or the verb.
const SPEECH_PREFIXES: [&str; 3] = ["o ", "το ", "قال "];
/// Labels that are not treated as a speaker, because ordinary lines begin with them (`Context: …`).
const NON_SPEAKER_LABELS: [&str; 8] =
    ["context", "input", "output", "request", "reply", "client", "agent", "character"];
/// Labels that are usual headings of notes.
const USUAL_HEADINGS: [&str; 12] = [
    "prompt",
    "question",
    "response",
    "answer",
    "me",
    "person",
    "customer",
    "model",
    "instructions",
    "system",
    "developer",
    "bot",
];
/// Text after the role in the label of a subagent's turn, as SpecStory writes it.
const SUBAGENT_SUFFIX: &str = " - sidechain";

/// The speaker of a line: `User: …`, `You said:`, `**Human:** …`, `**Human** - 2026-01-16 16:48`, `## Prompt:`,
/// `### Assistant (model)` or `_**User**_`. None for any other line.
pub(super) fn parse(line: &str) -> Option<Speaker<'_>> {
    if let Some(inner) = line.trim().strip_prefix("_**").and_then(|text| text.strip_suffix("**_")) {
        return exported_speaker(inner.trim());
    }
    let text = line.trim_start_matches(['>', ' ']);
    let unmarked_line = text.trim_start_matches('#').trim_start();
    let is_heading = unmarked_line.len() < text.len() && text.starts_with('#');
    let unmarked_line = if is_heading { without_number(unmarked_line) } else { unmarked_line };
    let bold_text = ["**", "__"].into_iter().find_map(|mark| Some((unmarked_line.strip_prefix(mark)?, mark)));
    let style = match (is_heading, bold_text) {
        (true, _) => Style::Heading,
        (false, Some(_)) => Style::Bold,
        (false, None) => Style::Plain,
    };
    let (label, rest) = match bold_text {
        Some((inner, mark)) => bold_label(inner, mark, is_heading)?,
        None => match split_at_colon(unmarked_line) {
            Some(parts) => parts,
            None if is_heading || is_spoken_line(unmarked_line) => (unmarked_line, ""),
            None => return None,
        },
    };
    let label = label.trim().trim_end_matches(['*', '_', ':', '：']).trim();
    let (name, mut detail) = if style == Style::Plain { (label, None) } else { split_detail(label) };
    let mut rest = rest.trim();
    if style == Style::Bold && detail.is_none() && time_in(rest).is_some_and(|(before, _)| before.is_empty()) {
        (detail, rest) = (Some(rest), "");
    }
    let (role, is_certain) = role_of(name)?;
    Some(speaker(role, label, rest, style, detail, is_certain))
}

/// A heading without its number: exporters write `## 1. User` or `## 2) ChatGPT`.
fn without_number(heading: &str) -> &str {
    let rest = heading.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = rest.len() < heading.len();
    rest.strip_prefix(['.', ')']).filter(|rest| is_number && rest.starts_with(' ')).map_or(heading, str::trim_start)
}

/// True for a whole line such as `You said` or `Gemini said`. Gemini's page has no colon after these words.
fn is_spoken_line(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    let is_said = SPEECH_SUFFIXES.iter().any(|said| line.ends_with(said));
    USER_LABELS.contains(&line.as_str()) || is_said && role_of(&line).is_some_and(|(role, _)| role == roles::ASSISTANT)
}

/// The speaker of a line of SpecStory. If the name is empty, the line begins the next part of an answer.
fn exported_speaker(inner: &str) -> Option<Speaker<'_>> {
    let (name, detail) = split_detail(inner);
    let (name, is_sidechain) = name.strip_suffix(SUBAGENT_SUFFIX).map_or((name, false), |name| (name, true));
    let role = match name.to_lowercase().as_str() {
        "" | "agent" => roles::ASSISTANT,
        name => role_of(name)?.0,
    };
    // A subagent's prompt was written by the agent that started it, not by the person.
    let role = if is_sidechain && role == roles::USER { roles::SYSTEM } else { role };
    Some(speaker(role, inner, "", Style::Export, detail, true))
}

fn speaker<'l>(
    role: &'static str,
    label: &'l str,
    rest: &'l str,
    style: Style,
    detail: Option<&'l str>,
    is_certain: bool,
) -> Speaker<'l> {
    let time_and_rest = detail.and_then(time_in);
    let model = match time_and_rest {
        Some((before, _)) => Some(before),
        None => detail.filter(|text| text.chars().any(char::is_alphabetic) && !text.contains([',', '/'])),
    };
    let model = model.filter(|text| role == roles::ASSISTANT && !text.is_empty());
    Speaker { role, label, rest, style, time: time_and_rest.map(|(_, time)| time), model, is_certain }
}

/// The label in bold and the text after it, which is empty, begins with a colon, or is a time. None for other bold
/// words, which begin an ordinary sentence.
fn bold_label<'l>(inner: &'l str, mark: &str, is_heading: bool) -> Option<(&'l str, &'l str)> {
    let Some((label, after)) = inner.split_once(mark) else { return split_at_colon(inner) };
    // `**User: and more**` is a sentence in bold.
    if let Some((name, rest)) = split_at_colon(label)
        && !rest.trim().is_empty()
    {
        return Some((name, inner.get(name.len()..)?.trim_start_matches([':', '：']).trim_end_matches(['*', '_'])));
    }
    let after = after.trim();
    if let Some(rest) = after.strip_prefix([':', '：']) {
        return Some((label, rest));
    }
    let is_labelled = label.trim_end().ends_with([':', '：']) || after.is_empty() || is_heading;
    let detail = after.trim_start_matches(['-', '–', '—', '(', '[', '·', '|', ' ', '_', '*']);
    let is_dated = time_in(detail).is_some_and(|(before, _)| before.is_empty());
    match (is_labelled, is_dated) {
        (_, true) => Some((label, detail)),
        (true, false) => Some((label, after)),
        (false, false) => None,
    }
}

/// The text before and after the first colon that is not in parentheses.
fn split_at_colon(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ':' | '：' if depth == 0 => return Some((text.get(..at)?, text.get(at + c.len_utf8()..)?)),
            _ => {}
        }
    }
    None
}

/// Splits a label such as `🤖 ChatGPT (GPT-5)` into the name and its detail: the text in brackets, or a time after a
/// dash. Emoji and other symbols before the name are left out.
fn split_detail(label: &str) -> (&str, Option<&str>) {
    let label = label.trim_start_matches(|c: char| !c.is_alphanumeric());
    if let Some((name, detail)) = label.split_once(['(', '[', '<']) {
        let name = name.trim().trim_end_matches(['*', '_', '-', '–', '—']).trim_end();
        return (name, Some(detail.trim().trim_end_matches([')', ']', '>', '*', '_'])));
    }
    let split_at_dash = [" - ", " – ", " — "].into_iter().find_map(|dash| label.split_once(dash));
    match split_at_dash.filter(|(_, detail)| time_in(detail).is_some()) {
        Some((name, detail)) => (name.trim(), Some(detail.trim())),
        None => (label.trim(), None),
    }
}

/// Finds the last ISO time in a text, and returns it with the text before it.
pub(super) fn time_in(text: &str) -> Option<(&str, Timestamp)> {
    let text = text.trim().trim_end_matches([')', ']', '*', '_']);
    let is_start = |at: usize| {
        let bytes = text.as_bytes().get(at..at + 5);
        let is_year = bytes.is_some_and(|b| b.iter().take(4).all(u8::is_ascii_digit) && b.last() == Some(&b'-'));
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        is_year && !before.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'-')
    };
    // Names of models may contain a date as well, so the last timestamp in the text is used.
    let starts = text.char_indices().map(|(at, _)| at).filter(|at| is_start(*at));
    let (at, time) = starts.filter_map(|at| Some((at, time_of(text.get(at..)?)?))).next_back()?;
    let before = text.get(..at)?.trim_end().trim_end_matches([',', '·', '|', '-', '@']).trim();
    Some((before, time))
}

/// Parses a time. Its offset may have no colon, and the seconds or the whole time of day may be missing.
fn time_of(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let offset_split = text.len().checked_sub(5).and_then(|at| Some((text.get(..at)?, text.get(at..)?)));
    let with_colon = || {
        let (before, offset) = offset_split.filter(|(before, t)| before.contains(':') && t.starts_with(['+', '-']))?;
        time_of_text(&format!("{before}{}:{}", offset.get(..3)?, offset.get(3..)?))
    };
    let with_seconds = || time_of_text(&format!("{text}:00"));
    let day = || super::dates::parse_day(text).and_then(super::dates::start_of_day);
    time_of_text(text).or_else(with_colon).or_else(with_seconds).or_else(day)
}

/// The role that a label names. The second value is false if the label is also common as a heading in notes.
fn role_of(label: &str) -> Option<(&'static str, bool)> {
    let label = label.to_lowercase();
    let label = label.trim();
    if USER_LABELS.contains(&label) || USER_NAMES.contains(&label) {
        return Some((roles::USER, true));
    }
    let name = SPEECH_SUFFIXES.iter().find_map(|said| label.strip_suffix(said)).unwrap_or(label).trim();
    let name = SPEECH_PREFIXES.iter().find_map(|before| name.strip_prefix(before)).unwrap_or(name);
    if NON_SPEAKER_LABELS.contains(&name) {
        return None;
    }
    if ASSISTANT_LABELS.contains(&name) {
        return Some((roles::ASSISTANT, true));
    }
    let role = roles::role(name).filter(|role| *role != roles::TOOL)?;
    Some((role, !USUAL_HEADINGS.contains(&name)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn recognises_speaker_labels() {
        for (line, expected) in [
            ("You said:", Some(("user", "You said", ""))),
            ("User: and in pots?", Some(("user", "User", "and in pots?"))),
            ("**Human:** hi", Some(("user", "Human", "hi"))),
            ("**Claude**: hi", Some(("assistant", "Claude", "hi"))),
            ("**You said:**", Some(("user", "You said", ""))),
            ("**ChatGPT said:**", Some(("assistant", "ChatGPT said", ""))),
            ("## Prompt:", Some(("user", "Prompt", ""))),
            ("### Assistant", Some(("assistant", "Assistant", ""))),
            ("## 🤖 ChatGPT (GPT-5)", Some(("assistant", "🤖 ChatGPT (GPT-5)", ""))),
            ("Du hast gesagt:", Some(("user", "Du hast gesagt", ""))),
            ("ChatGPT hat gesagt:", Some(("assistant", "ChatGPT hat gesagt", ""))),
            ("Vous avez dit :", Some(("user", "Vous avez dit", ""))),
            ("あなたの発言:", Some(("user", "あなたの発言", ""))),
            ("ChatGPT の発言:", Some(("assistant", "ChatGPT の発言", ""))),
            ("ChatGPT의 말:", Some(("assistant", "ChatGPT의 말", ""))),
            ("Powiedziałeś(-aś):", Some(("user", "Powiedziałeś(-aś)", ""))),
            ("###### ChatGPT powiedział:", Some(("assistant", "ChatGPT powiedział", ""))),
            ("Řekl/a jsi:", Some(("user", "Řekl/a jsi", ""))),
            ("قال ChatGPT:", Some(("assistant", "قال ChatGPT", ""))),
            ("ChatGPT şunu dedi:", Some(("assistant", "ChatGPT şunu dedi", ""))),
            ("Claude responded: hi", Some(("assistant", "Claude responded", "hi"))),
            ("あなた:", Some(("user", "あなた", ""))),
            ("あなた", None),
            ("ChatGPT đã nói:", Some(("assistant", "ChatGPT đã nói", ""))),
            ("You said", Some(("user", "You said", ""))),
            ("Gemini hat gesagt", Some(("assistant", "Gemini hat gesagt", ""))),
            ("O Gemini disse", Some(("assistant", "O Gemini disse", ""))),
            ("# you asked", Some(("user", "you asked", ""))),
            ("# chatgpt response", Some(("assistant", "chatgpt response", ""))),
            ("### You asked for more", None),
            ("## 1. User", Some(("user", "User", ""))),
            ("### 12) ChatGPT", Some(("assistant", "ChatGPT", ""))),
            ("## 1.User", None),
            ("1. User", None),
            ("Gemini", None),
            ("Gemini said it rains", None),
            ("She said", None),
            ("DeepSeek: hi", Some(("assistant", "DeepSeek", "hi"))),
            ("_**User**_", Some(("user", "User", ""))),
            ("_**Agent - sidechain (opus-4)**_", Some(("assistant", "Agent - sidechain (opus-4)", ""))),
            ("_**User - sidechain**_", Some(("system", "User - sidechain", ""))),
            ("_****_", Some(("assistant", "", ""))),
            ("Context: it rains", None),
            ("Output: 12", None),
            ("Assistant", None),
            ("**User** feedback is collected weekly", None),
            ("**Assistant** to the director", None),
            ("_**Note**_", None),
            ("You should know: it rains", None),
            ("https://example.org", None),
        ] {
            let label = parse(line).map(|speaker| (speaker.role, speaker.label, speaker.rest));
            assert_eq!(label, expected, "{line}");
        }
    }

    #[test]
    fn a_label_may_have_a_time_and_a_model() {
        for (line, time, model) in [
            ("_**User (2026-01-16 16:48:38Z)**_", Some("2026-01-16T16:48:38Z"), None),
            (
                "_**Agent (quill-4-20260101 2026-01-16 16:48:43Z)**_",
                Some("2026-01-16T16:48:43Z"),
                Some("quill-4-20260101"),
            ),
            ("_**User (2026-01-16 09:48:38-0700)**_", Some("2026-01-16T16:48:38Z"), None),
            ("_**Agent (quill-4)**_", None, Some("quill-4")),
            ("**Human** - 2026-01-16 16:48:38 UTC", Some("2026-01-16T16:48:38Z"), None),
            ("## User (2026-01-16 16:48)", Some("2026-01-16T16:48:00Z"), None),
            ("### Assistant - 2026-01-16", Some("2026-01-16T00:00:00Z"), None),
            ("## ChatGPT (Quill 5)", None, Some("Quill 5")),
            ("## User (1/16/2026, 4:48 PM)", None, None),
        ] {
            let speaker = parse(line).unwrap();
            assert_eq!(speaker.time.map(Timestamp::to_rfc3339).as_deref(), time, "{line}");
            assert_eq!(speaker.model, model, "{line}");
        }
    }
}
