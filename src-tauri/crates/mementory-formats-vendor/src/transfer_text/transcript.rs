//! Reads conversations that were copied as text, in which lines name the speaker (vendors.md §9).

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

const USER_LABELS: [&str; 8] = ["you said", "you", "user", "human", "me", "prompt", "question", "i said"];
const ASSISTANT_LABELS: [&str; 16] = [
    "chatgpt said",
    "chatgpt",
    "claude said",
    "claude",
    "gemini said",
    "gemini",
    "copilot said",
    "copilot",
    "grok said",
    "grok",
    "assistant",
    "ai",
    "bot",
    "response",
    "answer",
    "model",
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
        turn.text = turn.text.trim().to_owned();
    }
    out.preamble = out.preamble.trim().to_owned();
    let has_spoken = |role: &str| out.turns.iter().any(|t| t.role == role && !t.text.is_empty());
    (has_spoken("user") && has_spoken("assistant")).then_some(out)
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
    let lower_label = label.to_lowercase();
    let role = if USER_LABELS.contains(&lower_label.as_str()) {
        "user"
    } else if ASSISTANT_LABELS.contains(&lower_label.as_str()) {
        "assistant"
    } else if lower_label == "system" {
        "system"
    } else {
        return None;
    };
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
            ("Assistant", None),
            ("You should know: it rains", None),
            ("https://example.org", None),
        ] {
            assert_eq!(parse_speaker(line), expected, "{line}");
        }
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
