//! Reads the chat log that Aider writes (`.aider.chat.history.md`). In this log, the person's words are headings of
//! level four, and the program's messages are block quotes.
use super::speaker::Style;
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::roles;

/// Beginning of the first line of a log, and of the first line of each later chat in the log.
const TITLE: &str = "# aider chat started at ";
/// Name of the log in the folder of a project.
const LOG_NAME: &str = ".aider.chat.history.md";
/// Mark before each line that the person wrote.
const PROMPT: &str = "#### ";

/// The turns of a log. None if the text is not such a log, or if the log has no words of the person.
pub(super) fn read(text: &str) -> Option<Transcript> {
    text.trim_start().starts_with(TITLE).then(|| turns(text, false)).flatten()
}

/// The turns of a log whose first line was removed, so that only the name of its file shows the program. Headings of
/// level four in any other text are not prompts.
pub(super) fn read_log(text: &str, file_name: &str) -> Option<Transcript> {
    (file_name == LOG_NAME).then(|| turns(text, true)).flatten()
}

/// The turns of a log. If the log `is_cut`, it may begin inside an answer, which is then a turn too.
fn turns(text: &str, is_cut: bool) -> Option<Transcript> {
    let platform = Some("aider");
    let mut out = Transcript { style: Some(Style::Export), is_certain: true, platform, ..Transcript::default() };
    let mut was_prompt = false;
    for (number, line) in text.lines().enumerate() {
        let prompt = line.strip_prefix(PROMPT).or_else(|| (line == PROMPT.trim_end()).then_some(""));
        let spoken_line = prompt.unwrap_or(if line.starts_with(TITLE) || line.starts_with("> ") { "" } else { line });
        let last = out.turns.last_mut();
        let continues_turn = match (&last, prompt) {
            (Some(turn), Some(_)) => was_prompt && turn.role == roles::USER,
            (Some(turn), None) => turn.role == roles::ASSISTANT || spoken_line.trim().is_empty(),
            (None, prompt) => prompt.is_none() && (!is_cut || spoken_line.trim().is_empty()),
        };
        match last {
            Some(turn) if continues_turn => {
                turn.text.push('\n');
                turn.text.push_str(spoken_line);
                turn.source.push('\n');
                turn.source.push_str(line);
            }
            None if continues_turn && out.preamble.is_empty() => out.preamble.push_str(line.trim()),
            None if continues_turn => {}
            _ => {
                let role = if prompt.is_some() { roles::USER } else { roles::ASSISTANT };
                out.turns.push(Turn {
                    role,
                    label: String::new(),
                    text: spoken_line.to_owned(),
                    line: number + 1,
                    source: line.to_owned(),
                    time: None,
                    model: None,
                });
            }
        }
        was_prompt = prompt.is_some();
    }
    for turn in &mut out.turns {
        turn.text = turn.text.trim().to_owned();
    }
    out.turns.iter().any(|turn| turn.role == roles::USER).then_some(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn headings_are_prompts_and_quotes_are_the_programs_own_words() {
        let text = "# aider chat started at 2026-11-20 10:00:00\n\n> Aider v0.90\n\n#### how deep  \n#### are leeks?\n\n\
                    15 cm.\n\n#### why\n\n## Because\nof light.\n\n> Tokens: 12\n";
        let transcript = read(text).unwrap();
        let turns: Vec<(&str, &str)> = transcript.turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect();
        assert_eq!(
            turns,
            [
                ("user", "how deep  \nare leeks?"),
                ("assistant", "15 cm."),
                ("user", "why"),
                ("assistant", "## Because\nof light.")
            ]
        );
        assert!(transcript.has_only_a_head_before());
        let note = "# a note\n\n#### a heading\n\ntext";
        assert!(read(note).is_none() && read_log(note, "history.md").is_none());
        let cut_log = read_log(note, LOG_NAME).unwrap();
        let texts: Vec<&str> = cut_log.turns.iter().map(|turn| turn.text.as_str()).collect();
        assert_eq!(texts, ["# a note", "a heading", "text"]);
        assert!(read_log("# a note\n\ntext", LOG_NAME).is_none());
    }
}
