//! Reads the output of Claude Code in a terminal, as people copy it and as its command `/export` saves it. A sign at
//! the start of a line begins each prompt, each paragraph of an answer and each message of the program.
use super::speaker::Style;
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::roles;

/// Number of lines at the start in which the program names itself.
const HEAD_LINES: usize = 12;
/// Signs before prompts: of newer and of older versions.
const PROMPTS: [&str; 2] = ["❯ ", "> "];
const ANSWERS: [&str; 2] = ["● ", "⏺ "];
/// Sign before messages of the program.
const PROGRAM: &str = "✻ ";
/// Beginning of the output of a tool or a command.
const OUTPUT: &str = "  ⎿";
/// End of a line that replaces folded lines.
const FOLDED_LINE_END: &str = "(ctrl+o to expand)";

/// The lines from one sign to the next.
struct Block<'t> {
    /// None for a message of the program.
    role: Option<&'static str>,
    /// Position of the first line.
    start: usize,
    /// The first line without its sign, and the lines after it.
    lines: Vec<&'t str>,
}

/// The turns of a session. None if the text is not a session, or if the person says nothing in it.
pub(super) fn read(text: &str) -> Option<Transcript> {
    let names_itself =
        |line: &str| line.contains("Claude Code v") && line.contains('█') || line.contains("✻ Welcome to Claude Code");
    if !text.lines().take(HEAD_LINES).any(names_itself) {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let blocks = blocks(&lines);
    let mut out = Transcript {
        style: Some(Style::Export),
        is_certain: true,
        platform: Some("claude-code"),
        ..Transcript::default()
    };
    for (n, block) in blocks.iter().enumerate() {
        let end = blocks.get(n + 1).map_or(lines.len(), |next| next.start);
        let source = lines.get(block.start..end).unwrap_or_default().join("\n");
        match (block.role, out.turns.last_mut()) {
            (Some(roles::USER), _) | (Some(_), None) => out.turns.push(turn(block, source)),
            (Some(role), Some(last)) if last.role != role => out.turns.push(turn(block, source)),
            (role, Some(last)) => {
                last.source.push('\n');
                last.source.push_str(&source);
                let block_words = block.words().filter(|_| role.is_some()).unwrap_or_default();
                if !block_words.is_empty() {
                    last.text = format!("{}\n\n{block_words}", last.text).trim().to_owned();
                }
            }
            (None, None) => {}
        }
    }
    out.turns.iter().any(|turn| turn.role == roles::USER && !turn.text.is_empty()).then_some(out)
}

fn blocks<'t>(lines: &[&'t str]) -> Vec<Block<'t>> {
    let is_new = lines.iter().any(|line| line.starts_with(PROMPTS[0]));
    let prompt = if is_new { PROMPTS[0] } else { PROMPTS[1] };
    let sign_of = |line: &'t str| {
        let signs = [(prompt, Some(roles::USER)), (PROGRAM, None)];
        let answers = ANSWERS.map(|sign| (sign, Some(roles::ASSISTANT)));
        signs.into_iter().chain(answers).find_map(|(sign, role)| Some((role, line.strip_prefix(sign)?)))
    };
    let mut out: Vec<Block<'t>> = Vec::new();
    for (start, line) in lines.iter().copied().enumerate() {
        match (sign_of(line), out.last_mut()) {
            (Some((role, first)), _) => out.push(Block { role, start, lines: vec![first] }),
            (None, Some(block)) => block.lines.push(line),
            (None, None) => {}
        }
    }
    out
}

impl Block<'_> {
    /// The words of a block. None for the use of a tool, which has an output.
    fn words(&self) -> Option<String> {
        let output = self.lines.iter().position(|line| line.starts_with(OUTPUT));
        if output.is_some() && self.role == Some(roles::ASSISTANT) {
            return None;
        }
        let is_program_line = |line: &str| {
            let line = line.trim();
            line.ends_with(FOLDED_LINE_END) || !line.is_empty() && line.chars().all(|c| c == '─')
        };
        let words = self.lines.get(..output.unwrap_or(self.lines.len())).unwrap_or_default();
        // The terminal indents the following lines by two spaces, and pads prompts with spaces.
        let words = words.iter().filter(|line| !is_program_line(line));
        let words: Vec<&str> = words.map(|line| line.strip_prefix("  ").unwrap_or(line).trim_end()).collect();
        Some(words.join("\n").trim().to_owned())
    }
}

fn turn(block: &Block<'_>, source: String) -> Turn {
    let role = block.role.unwrap_or(roles::ASSISTANT);
    Turn {
        role,
        label: String::new(),
        text: block.words().unwrap_or_default(),
        line: block.start + 1,
        source,
        time: None,
        model: None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn turns(text: &str) -> Vec<(&'static str, String)> {
        read(text).unwrap().turns.into_iter().map(|turn| (turn.role, turn.text)).collect()
    }

    #[test]
    fn words_are_separated_from_tools_and_from_messages_of_the_program() {
        let text = " ▐▛███▜▌   Claude Code v2.1.5\n▝▜█████▛▘  Quill 4\n  ▘▘ ▝▝    ~/garden\n\n❯ Which beds are free?      \n  \
                    Look it up.\n\n● I look.\n\n● Read(beds.md)\n  ⎿  Read 12 lines\n\n  Read 2 files (ctrl+o to expand)\n\n\
                    ● Two:\n\n  - north\n  > quoted\n\n✻ Worked for 12s\n\n❯ /clear\n  ⎿  (no content)\n";
        let turns_read = turns(text);
        assert_eq!(
            turns_read,
            [
                ("user", "Which beds are free?\nLook it up.".to_owned()),
                ("assistant", "I look.\n\nTwo:\n\n- north\n> quoted".to_owned()),
                ("user", "/clear".to_owned()),
            ]
        );
        assert!(read(text).unwrap().turns[1].source.contains("Worked for 12s"));
    }

    #[test]
    fn older_versions_have_other_signs() {
        let text = "╭────╮\n│ ✻ Welcome to Claude Code! │\n╰────╯\n\n> hi\n\n⏺ Hello!\n";
        assert_eq!(turns(text), [("user", "hi".to_owned()), ("assistant", "Hello!".to_owned())]);
        assert!(read("> hi\n\n⏺ Hello!\n").is_none());
        assert!(read(" ▐▛███▜▌   Claude Code v2.1.5\n\n❯ \n").is_none());
    }
}
