//! Reads the plain text in which Claude Conversation Exporter and Claude Exporter save a chat. The first program writes
//! the label of a side only once, and then its first letter.
use super::speaker::Style;
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::roles;
use std::collections::HashSet;

/// Members of the head in the lines below the title.
const HEAD: [&str; 3] = ["Created: ", "Updated: ", "Model: "];
/// Number of lines before the first turn: title, members, a blank line and a rule.
const HEAD_LINES: usize = 6;
/// Labels of the speakers, each with the role.
const LABELS: [(&str, &str); 6] = [
    ("Human", roles::USER),
    ("User", roles::USER),
    ("H", roles::USER),
    ("Assistant", roles::ASSISTANT),
    ("Claude", roles::ASSISTANT),
    ("A", roles::ASSISTANT),
];
/// First and last line of the thoughts above an answer.
const THOUGHTS: (&str, &str) = ("[Thinking: ", "[End Thinking]");

/// The turns of a saved chat. None unless the text has the head of these programs, and both sides speak.
pub(super) fn read(text: &str) -> Option<Transcript> {
    let text = text.trim_start_matches('\u{feff}');
    let head: Vec<&str> = text.lines().take(HEAD_LINES).collect();
    let [title, members @ .., blank, rule] = head.as_slice() else { return None };
    let is_head = members.len() == HEAD.len() && members.iter().zip(HEAD).all(|(line, name)| line.starts_with(name));
    if !is_head || !blank.is_empty() || *rule != "---" {
        return None;
    }
    let mut out = Transcript {
        preamble: head.join("\n"),
        platform: Some("claude"),
        title: Some(title.trim().to_owned()).filter(|title| !title.is_empty()),
        style: Some(Style::Export),
        is_certain: true,
        ..Transcript::default()
    };
    let thoughts = first_lines_of_thoughts(text);
    let (mut is_after_blank, mut is_thought) = (true, false);
    for (number, line) in text.lines().enumerate().skip(HEAD_LINES) {
        is_thought |= thoughts.contains(&number);
        let last_role = out.turns.last().map(|turn| turn.role);
        let found = opening(line, last_role).filter(|_| is_after_blank && !is_thought);
        if let Some((role, label, words)) = found {
            out.turns.push(Turn {
                role,
                label: label.to_owned(),
                text: words.to_owned(),
                line: number + 1,
                source: line.to_owned(),
                time: None,
                model: None,
            });
        } else if let Some(turn) = out.turns.last_mut() {
            add_line(&mut turn.source, line);
            if !is_thought {
                add_line(&mut turn.text, line);
            }
        }
        is_thought &= line != THOUGHTS.1;
        is_after_blank = line.trim().is_empty();
    }
    for turn in &mut out.turns {
        turn.text = turn.text.trim().to_owned();
    }
    let speaks = |role: &str| out.turns.iter().any(|turn| turn.role == role && !turn.text.is_empty());
    (speaks(roles::USER) && speaks(roles::ASSISTANT)).then_some(out)
}

/// Indices of the lines that begin thoughts. A person may write such a line too: it begins thoughts only if the end mark
/// follows before another such line.
fn first_lines_of_thoughts(text: &str) -> HashSet<usize> {
    let mut out = HashSet::new();
    let (mut last_start, mut is_after_blank) = (None, true);
    for (number, line) in text.lines().enumerate().skip(HEAD_LINES) {
        if is_after_blank && line.starts_with(THOUGHTS.0) {
            last_start = Some(number);
        } else if line == THOUGHTS.1 {
            out.extend(last_start.take());
        }
        is_after_blank = line.trim().is_empty();
    }
    out
}

/// Role, label and first words of the turn that a line begins. The sides alternate, so a label of the side that spoke
/// last begins no turn.
fn opening<'l>(line: &'l str, last_role: Option<&str>) -> Option<(&'static str, &'l str, &'l str)> {
    let (label, words) = line.split_once(": ").or_else(|| Some((line.trim_end().strip_suffix(':')?, "")))?;
    let role = LABELS.iter().find(|(known, _)| *known == label)?.1;
    (last_role != Some(role)).then_some((role, label, words))
}

fn add_line(text: &mut String, line: &str) {
    text.push('\n');
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HEAD: &str = "Slugs\nCreated: 7/19/2026, 10:00:00 AM\nUpdated: 7/19/2026\nModel: quill-4\n\n---\n\n";

    fn turns(turns: &str) -> Vec<(&'static str, String)> {
        let transcript = read(&format!("{HEAD}{turns}")).unwrap();
        transcript.turns.into_iter().map(|turn| (turn.role, turn.text)).collect()
    }

    #[test]
    fn a_letter_may_be_the_label_of_a_later_turn() {
        let found = turns(
            "Human: What eats slugs?\n\nAssistant: Two animals.\n\nA: hedgehogs\nH: none\n\nH: And snails?\n\nA: Toads.",
        );
        let expected = [
            ("user", "What eats slugs?".to_owned()),
            ("assistant", "Two animals.\n\nA: hedgehogs\nH: none".to_owned()),
            ("user", "And snails?".to_owned()),
            ("assistant", "Toads.".to_owned()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn thoughts_above_an_answer_are_not_part_of_the_prompt() {
        let found = turns(
            "User: Hi\n\n[Thinking: greeting]\nA greeting.\n\nClaude: is my name.\n[End Thinking]\n\nClaude: Hello\n",
        );
        assert_eq!(found, [("user", "Hi".to_owned()), ("assistant", "Hello".to_owned())]);
    }

    #[test]
    fn a_prompt_may_contain_the_mark_of_thoughts() {
        let mark = "[Thinking: what is this line?";
        let found = turns(&format!("User: I see\n\n{mark}\n\nClaude: A mark.\n"));
        assert_eq!(found, [("user", format!("I see\n\n{mark}")), ("assistant", "A mark.".to_owned())]);
        let thoughts = "[Thinking: greeting]\nA greeting.\n[End Thinking]";
        let found =
            turns(&format!("User: I see\n\n{mark}\n\nClaude: Yes?\n\nUser: Hi\n\n{thoughts}\n\nClaude: Hello\n"));
        let expected = [
            ("user", format!("I see\n\n{mark}")),
            ("assistant", "Yes?".to_owned()),
            ("user", "Hi".to_owned()),
            ("assistant", "Hello".to_owned()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn other_texts_are_not_read() {
        let chat = "Human: Hi\n\nAssistant: Hello";
        assert!(read(&format!("{HEAD}{chat}")).is_some());
        for text in [
            chat.to_owned(),
            format!("{}{chat}", HEAD.replace("Model: ", "Mood: ")),
            format!("{}{chat}", HEAD.replace("---", "***")),
            format!("{HEAD}Human: Hi\n\nH: there"),
            HEAD.to_owned(),
            "Slugs\n\n---\nHuman: Hi".to_owned(),
        ] {
            assert!(read(&text).is_none(), "{text}");
        }
    }
}
