//! Reads the Markdown that Windsurf's Cascade exports. Headings of level three begin the turns, and lines in italics
//! name the actions of the agent.
use super::speaker::Style;
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::roles;

/// First line of an export.
const TITLE: &str = "# Cascade Chat Conversation";
const PROMPT: &str = "### User Input";
const ANSWER: &str = "### Planner Response";
/// Beginnings of the lines that name an action of the agent. In the export, such lines may also follow a prompt.
const ACTIONS: [&str; 16] = [
    "Viewed ",
    "Listed directory ",
    "Searched ",
    "Grep searched ",
    "Edited ",
    "Created ",
    "Deleted ",
    "Updated todo list",
    "User accepted the command ",
    "User rejected the command ",
    "Ran ",
    "Checked command status",
    "Read ",
    "Fetched ",
    "Proposed ",
    "Proceeded ",
];

/// True for a text that Cascade exported.
pub(super) fn is_export(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.lines().next().is_some_and(|line| line.trim_end() == TITLE)
}

/// The turns of an export. None if the text is not an export, or if it has no turns.
pub(super) fn read(text: &str) -> Option<Transcript> {
    if !is_export(text) {
        return None;
    }
    let mut out = Transcript {
        style: Some(Style::Export),
        is_certain: true,
        platform: Some("windsurf"),
        ..Transcript::default()
    };
    for (number, line) in text.lines().enumerate() {
        let role = match line.trim_end() {
            PROMPT => Some(roles::USER),
            ANSWER => Some(roles::ASSISTANT),
            _ => None,
        };
        match (role, out.turns.last_mut()) {
            (Some(role), _) => out.turns.push(Turn {
                role,
                label: line.trim_start_matches('#').trim().to_owned(),
                text: String::new(),
                line: number + 1,
                source: line.to_owned(),
                time: None,
                model: None,
            }),
            (None, Some(turn)) => {
                turn.source.push('\n');
                turn.source.push_str(line);
                // The person did not write the names of the actions, so these lines are only in the verbatim of a
                // prompt.
                if turn.role == roles::ASSISTANT || !is_action(line) {
                    turn.text.push('\n');
                    turn.text.push_str(line);
                }
            }
            (None, None) => {
                out.preamble.push_str(line);
                out.preamble.push('\n');
            }
        }
    }
    for turn in &mut out.turns {
        turn.text = turn.text.trim().to_owned();
    }
    out.preamble = out.preamble.trim().to_owned();
    (!out.turns.is_empty()).then_some(out)
}

/// True for a line such as `*Viewed [beds.md](file:///garden/beds.md) *`.
fn is_action(line: &str) -> bool {
    let inner = line.trim().strip_prefix('*').and_then(|text| text.strip_suffix('*'));
    inner.is_some_and(|text| !text.contains('*') && ACTIONS.iter().any(|action| text.starts_with(action)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn headings_begin_turns_and_actions_are_not_the_persons_words() {
        let text = "# Cascade Chat Conversation\n\nNote: _only the output_\n\n### User Input\n\nPlan the beds\n*as last year*\n\n\
                    *Viewed [beds.md](file:///g/beds.md) *\n\n### Planner Response\n\n*Grep searched codebase*\n\n### Beds\nFour.\n";
        let transcript = read(text).unwrap();
        let turns: Vec<(&str, &str)> = transcript.turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect();
        assert_eq!(
            turns,
            [("user", "Plan the beds\n*as last year*"), ("assistant", "*Grep searched codebase*\n\n### Beds\nFour.")]
        );
        assert!(transcript.turns[0].source.contains("beds.md"));
        assert!(read("# Cascade Chat Conversation\n\nabout waterfalls").is_none());
        assert!(read("# Notes\n\n### User Input\n\nx").is_none());
    }
}
