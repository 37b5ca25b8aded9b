//! Reads conversations that were copied as text, in which lines name the speaker (vendors.md §9).
use mementory_formats_shared::roles;

/// A turn of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// `user`, `assistant` or `system`.
    pub role: &'static str,
    /// The label of the speaker in the source, without marks.
    pub label: String,
    /// The text of the turn.
    pub text: String,
    /// Number of the turn's first line in the source, counted from 1.
    pub line: usize,
    /// The lines of the turn, unchanged from the source, including the label.
    pub source: String,
}

/// The turns of a text.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub turns: Vec<Turn>,
    /// The text before the first turn.
    pub preamble: String,
}

/// Labels of the person besides the role names in [`roles`], in the languages in which chat programs copy them.
const USER_LABELS: [&str; 13] = [
    "i said",
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
];
/// Names of assistants that [`roles`] does not contain.
const ASSISTANT_LABELS: [&str; 9] =
    ["le chat", "qwen", "kimi", "pi", "character.ai", "bing", "google gemini", "microsoft copilot", "meta"];
/// What chat programs put after or before the name of the assistant that speaks.
const SAID: [&str; 12] = [
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
];

/// Reads the turns of a text. None unless both user and assistant speak.
pub(super) fn read(text: &str) -> Option<Transcript> {
    let mut out = Transcript::default();
    let mut is_in_code = false;
    for (number, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_in_code ^= is_fence;
        if let Some((role, label, rest)) = (!is_in_code && !is_fence).then(|| parse_speaker(line)).flatten() {
            out.turns.push(Turn {
                role,
                label: label.to_owned(),
                text: rest.to_owned(),
                line: number + 1,
                source: line.to_owned(),
            });
            continue;
        }
        match out.turns.last_mut() {
            Some(turn) => {
                turn.text.push('\n');
                turn.text.push_str(line);
                turn.source.push('\n');
                turn.source.push_str(line);
            }
            None => {
                out.preamble.push_str(line);
                out.preamble.push('\n');
            }
        }
    }
    for turn in &mut out.turns {
        turn.text = without_footer(&turn.text).trim().to_owned();
    }
    out.preamble = out.preamble.trim().to_owned();
    let has_spoken = |role: &str| out.turns.iter().any(|t| t.role == role && !t.text.is_empty());
    (has_spoken("user") && has_spoken("assistant")).then_some(out)
}

/// The role of a label. In headings and bold text a picture may stand before it (`🤖 Assistant`), and a model or a time
/// in parentheses after it (`ChatGPT (GPT-5)`).
fn role_of(label: &str, is_marked: bool) -> Option<&'static str> {
    let mut label = label.to_lowercase();
    if is_marked {
        label = label.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned();
        if let Some((name, _)) = label.split_once(['(', '[', '<']) {
            label = name.trim().trim_end_matches(['*', '_']).to_owned();
        }
    }
    let label = label.trim();
    if USER_LABELS.contains(&label) {
        return Some(roles::USER);
    }
    let name = SAID.iter().find_map(|said| label.strip_suffix(said)).unwrap_or(label).trim();
    let name = name.strip_prefix("o ").unwrap_or(name);
    // These words begin ordinary lines (`Context: …`), so they are no speakers in a text.
    if matches!(name, "context" | "input" | "output" | "request" | "reply" | "client" | "agent" | "character") {
        return None;
    }
    if ASSISTANT_LABELS.contains(&name) {
        return Some(roles::ASSISTANT);
    }
    roles::role(name).filter(|role| *role != roles::TOOL)
}

/// A text without the line that browser extensions put at the end of an export.
fn without_footer(text: &str) -> &str {
    let Some((before, last)) = text.trim_end().rsplit_once('\n') else { return text };
    let last = last.trim().trim_start_matches(['*', '_']);
    let is_footer = last.starts_with("Powered by") && last.contains("Exporter");
    if is_footer { before.trim_end().trim_end_matches("---") } else { text }
}

/// Role, label and text of a line that names its speaker: `User: …`, `You said:`, `**Human:** …`, `## Prompt:` or
/// `### Assistant`. None for any other line.
fn parse_speaker(line: &str) -> Option<(&'static str, &str, &str)> {
    let text = line.trim_start_matches(['>', ' ']);
    let bare = text.trim_start_matches('#').trim_start();
    let is_heading = bare.len() < text.len() && text.starts_with('#');
    let bold_text = bare.strip_prefix("**").or_else(|| bare.strip_prefix("__"));
    let inner = bold_text.unwrap_or(bare);
    let (label, rest) = match inner.split_once([':', '：']) {
        Some((label, rest)) => (label, rest),
        None if is_heading || bold_text.is_some() => (inner, ""),
        None => return None,
    };
    let label = label.trim().trim_end_matches(['*', '_']).trim();
    let rest = if bold_text.is_some() { rest.trim_start_matches(['*', '_']) } else { rest };
    let role = role_of(label, is_heading || bold_text.is_some())?;
    Some((role, label, rest.trim()))
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
            ("## Prompt:", Some(("user", "Prompt", ""))),
            ("### Assistant", Some(("assistant", "Assistant", ""))),
            ("## 🤖 ChatGPT (GPT-5)", Some(("assistant", "🤖 ChatGPT (GPT-5)", ""))),
            ("Du hast gesagt:", Some(("user", "Du hast gesagt", ""))),
            ("ChatGPT hat gesagt:", Some(("assistant", "ChatGPT hat gesagt", ""))),
            ("Vous avez dit :", Some(("user", "Vous avez dit", ""))),
            ("DeepSeek: hi", Some(("assistant", "DeepSeek", "hi"))),
            ("Context: it rains", None),
            ("Output: 12", None),
            ("Assistant", None),
            ("You should know: it rains", None),
            ("https://example.org", None),
        ] {
            assert_eq!(parse_speaker(line), expected, "{line}");
        }
    }

    #[test]
    fn the_footer_of_an_extension_is_not_part_of_an_answer() {
        let text = "## Prompt:\nWhat eats slugs?\n\n## Response:\nHedgehogs.\n\n---\nPowered by ChatGPT Exporter (x)";
        let found = read(text).unwrap();
        assert_eq!(found.turns[1].text, "Hedgehogs.");
        assert!(found.turns[1].source.contains("Powered by"));
    }

    #[test]
    fn labels_in_code_are_text_and_a_conversation_needs_two_speakers() {
        let text = "Title\n\nUser: explain\n```\nuser: root\nassistant: x\n```\nAI: done";
        let found = read(text).unwrap();
        assert_eq!(found.turns.len(), 2);
        assert_eq!(found.preamble, "Title");
        assert!(found.turns[0].text.contains("user: root"));
        assert!(read("User: a\nUser: b").is_none());
    }
}
