//! Reads what "Copy All" of VS Code's chat puts on the clipboard: each prompt after the name of the person's account,
//! and each answer after `GitHub Copilot`.
use super::speaker::Style;
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::roles;

/// Beginning of an answer.
const ANSWER: &str = "GitHub Copilot: ";
/// Longest name of an account, in characters.
const MAX_NAME: usize = 39;

/// The turns of a copied chat. None unless the text begins with a prompt and contains an answer of Copilot.
pub(super) fn read(text: &str) -> Option<Transcript> {
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    let (name, _) = first.split_once(": ")?;
    // Names of accounts have no spaces.
    let is_account = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.chars().count() > MAX_NAME || !name.chars().all(is_account) {
        return None;
    }
    let prompt = format!("{name}: ");
    let mut out = Transcript {
        style: Some(Style::Export),
        is_certain: true,
        platform: Some("github-copilot"),
        ..Transcript::default()
    };
    // A turn begins below a blank line.
    let mut is_below_blank = true;
    for (number, line) in text.lines().enumerate() {
        let starts = [(prompt.as_str(), roles::USER), (ANSWER, roles::ASSISTANT)];
        let start = starts.into_iter().find_map(|(mark, role)| Some((role, mark, line.strip_prefix(mark)?)));
        match (start.filter(|_| is_below_blank), out.turns.last_mut()) {
            (Some((role, mark, words)), _) => out.turns.push(Turn {
                role,
                label: mark.trim_end_matches([':', ' ']).to_owned(),
                text: words.to_owned(),
                line: number + 1,
                source: line.to_owned(),
                time: None,
                model: None,
            }),
            (None, Some(turn)) => {
                for text in [&mut turn.text, &mut turn.source] {
                    text.push('\n');
                    text.push_str(line);
                }
            }
            (None, None) => {}
        }
        is_below_blank = line.trim().is_empty();
    }
    for turn in &mut out.turns {
        turn.text = turn.text.trim().to_owned();
    }
    out.turns.iter().any(|turn| turn.role == roles::ASSISTANT).then_some(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_first_name_is_that_of_the_person() {
        let text = "tomas-b: Which beds are free?\nAll of them?\n\nGitHub Copilot: Two:\n\n- north\ntomas-b: is no turn\n\n\
                    tomas-b: Thanks\n\nGitHub Copilot: Gladly.\n";
        let turns: Vec<_> = read(text).unwrap().turns.into_iter().map(|turn| (turn.role, turn.text)).collect();
        let expected = [
            ("user", "Which beds are free?\nAll of them?"),
            ("assistant", "Two:\n\n- north\ntomas-b: is no turn"),
            ("user", "Thanks"),
            ("assistant", "Gladly."),
        ];
        assert_eq!(turns, expected.map(|(role, text)| (role, text.to_owned())));
        for text in ["tomas-b: Hi\n\nGitHub: Hello\n", "Two words: Hi\n\nGitHub Copilot: Hello\n", "\n"] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
