//! Reads the Markdown in which coding agents and chat programs export a conversation with a heading for each turn. The
//! programs differ in how the text begins and in their headings.
use super::speaker::Style;
use super::transcript::{Transcript, Turn, is_tool_result};
use mementory_formats_shared::{harness, roles};

/// How a program writes an export.
struct Export {
    platform: &'static str,
    /// True if these are the first lines of an export. Blank lines are left out.
    begins: fn(&[&str]) -> bool,
    /// Returns the section that a line begins. The other arguments are the last line before it that is not blank, and
    /// the role of the last turn.
    section: for<'l> fn(&'l str, &str, Option<&str>) -> Option<Section<'l>>,
    /// True if a rule follows every turn, including the last one. False if rules are only between turns.
    ends_in_rule: bool,
    /// True if an answer may continue below a text of the program.
    joins_answers: bool,
}

/// A part of an export that begins at a heading.
enum Section<'l> {
    Turn {
        role: &'static str,
        label: &'l str,
        model: Option<&'l str>,
    },
    /// Uses of tools, thoughts and notices. They are only in the verbatim of the turn before them.
    Program,
}

const RULE: &str = "---";
/// Title of an export of the Copilot CLI.
pub(super) const COPILOT_TITLE: &str = "🤖 Copilot CLI Session";
/// Title of an export of Kimi CLI.
const KIMI_TITLE: &str = "Kimi Session Export";
/// Signs at the start of those headings of the Copilot CLI that do not name a speaker.
const COPILOT_SIGNS: [char; 7] = ['✅', '❌', '💭', 'ℹ', '📦', '⚠', '⏳'];

const EXPORTS: [Export; 5] = [
    Export {
        platform: "gemini-cli",
        begins: |lines| lines.first().is_some_and(|line| gemini_section(line, RULE, None).is_some()),
        section: gemini_section,
        ends_in_rule: false,
        joins_answers: false,
    },
    Export {
        platform: "opencode",
        begins: |lines| {
            matches!(lines, [title, id, created, ..] if title.starts_with("# ")
                && id.starts_with("**Session ID:** ") && created.starts_with("**Created:** "))
        },
        section: opencode_section,
        ends_in_rule: true,
        joins_answers: false,
    },
    Export {
        platform: "copilot-cli",
        begins: |lines| lines.first().and_then(|line| line.strip_prefix("# ")) == Some(COPILOT_TITLE),
        section: copilot_section,
        ends_in_rule: true,
        joins_answers: true,
    },
    Export {
        platform: "kimi-cli",
        begins: |lines| {
            let title = lines.iter().find_map(|line| line.strip_prefix("# "));
            lines.first() == Some(&RULE) && title == Some(KIMI_TITLE)
        },
        section: kimi_section,
        ends_in_rule: false,
        joins_answers: false,
    },
    Export {
        platform: "cherry_studio",
        begins: |lines| {
            matches!(lines, [title, first, ..] if title.starts_with("# ")
                && cherry_section(first, RULE, None).is_some())
        },
        section: cherry_section,
        ends_in_rule: false,
        joins_answers: false,
    },
];

fn turn_of<'l>(role: &'static str, label: &'l str) -> Option<Section<'l>> {
    Some(Section::Turn { role, label, model: None })
}

/// True if a section may begin below this line: a rule, or the start of the text.
fn is_rule(previous: &str) -> bool {
    previous.is_empty() || previous == RULE
}

/// True if a text begins with the emoji of a person at a computer. Only its first half is checked, because the
/// character that joins the two halves may be missing.
fn is_person(text: &str) -> bool {
    text.starts_with('🧑')
}

fn gemini_section<'l>(line: &'l str, previous: &str, _: Option<&str>) -> Option<Section<'l>> {
    let label = line.strip_prefix("## ").filter(|_| is_rule(previous))?;
    match label.split_once(' ')? {
        ("USER", picture) if is_person(picture) => turn_of(roles::USER, label),
        ("MODEL", "✨") => turn_of(roles::ASSISTANT, label),
        _ => None,
    }
}

fn opencode_section<'l>(line: &'l str, previous: &str, _: Option<&str>) -> Option<Section<'l>> {
    let label = line.strip_prefix("## ").filter(|_| is_rule(previous))?;
    match label.split_once(" (") {
        None if label == "User" => turn_of(roles::USER, label),
        None if label == "Assistant" => turn_of(roles::ASSISTANT, label),
        // The detail consists of the agent, the model and the duration.
        Some(("Assistant", detail)) => {
            let model = detail.strip_suffix(')')?.split(" · ").nth(1);
            Some(Section::Turn { role: roles::ASSISTANT, label, model })
        }
        _ => None,
    }
}

fn copilot_section<'l>(line: &'l str, _: &str, _: Option<&str>) -> Option<Section<'l>> {
    let label = line.strip_prefix("### ")?;
    match label {
        "👤 User" => turn_of(roles::USER, label),
        "💬 Copilot" => turn_of(roles::ASSISTANT, label),
        _ if label.starts_with(COPILOT_SIGNS) => Some(Section::Program),
        _ => None,
    }
}

fn kimi_section<'l>(line: &'l str, previous: &str, last_role: Option<&str>) -> Option<Section<'l>> {
    let is_turn = |line: &str| line.strip_prefix("## Turn ").is_some_and(|number| number.parse::<u32>().is_ok());
    match line {
        "### User" if is_turn(previous) => turn_of(roles::USER, "User"),
        "### Assistant" if last_role == Some(roles::USER) => turn_of(roles::ASSISTANT, "Assistant"),
        _ if is_turn(line) => Some(Section::Program),
        _ => None,
    }
}

fn cherry_section<'l>(line: &'l str, previous: &str, last_role: Option<&str>) -> Option<Section<'l>> {
    let label = line.strip_prefix("## ").filter(|_| is_rule(previous) || last_role.is_none())?;
    if label.strip_suffix(" User").is_some_and(is_person) {
        return turn_of(roles::USER, label);
    }
    match label.strip_prefix("🤖 ")? {
        "System" => turn_of(roles::SYSTEM, label),
        name => {
            let model = name.split(" | ").next().filter(|name| *name != "Assistant");
            Some(Section::Turn { role: roles::ASSISTANT, label, model })
        }
    }
}

/// The turns of an export. None if the text is not one of these exports, or if the person says nothing in it.
pub(super) fn read(text: &str) -> Option<Transcript> {
    let text = text.trim_start_matches('\u{feff}');
    let head: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).take(12).collect();
    let export = EXPORTS.iter().find(|export| (export.begins)(&head))?;
    let mut out = Transcript {
        style: Some(Style::Export),
        is_certain: true,
        platform: Some(export.platform),
        ..Transcript::default()
    };
    let (mut previous, mut is_program) = ("", false);
    for (number, line) in text.lines().enumerate() {
        let trimmed_line = line.trim_end();
        let last_role = out.turns.last().map(|turn| turn.role);
        match (export.section)(trimmed_line, previous, last_role) {
            Some(Section::Turn { role, label, model }) => {
                let joins = export.joins_answers && role == roles::ASSISTANT && last_role == Some(role);
                is_program = false;
                match out.turns.last_mut().filter(|_| joins) {
                    Some(turn) => {
                        turn.text = words_of(&turn.text, true).to_owned();
                        add_line(&mut turn.source, line);
                    }
                    None => out.turns.push(Turn {
                        role,
                        label: label.to_owned(),
                        text: String::new(),
                        line: number + 1,
                        source: line.to_owned(),
                        time: None,
                        model: model.map(str::to_owned),
                    }),
                }
            }
            section => {
                is_program |= section.is_some();
                match out.turns.last_mut() {
                    Some(turn) => {
                        add_line(&mut turn.source, line);
                        if !is_program {
                            add_line(&mut turn.text, line);
                        }
                    }
                    None if !is_program => add_line(&mut out.preamble, line),
                    None => {}
                }
            }
        }
        previous = if trimmed_line.is_empty() { previous } else { trimmed_line };
    }
    let count = out.turns.len();
    for (n, turn) in out.turns.iter_mut().enumerate() {
        finish(turn, export.ends_in_rule || n + 1 < count);
    }
    out.preamble = words_of(&out.preamble, true).to_owned();
    out.session = session_in(&out.preamble);
    out.title = topic_in(&out.preamble);
    out.turns.iter().any(|turn| turn.role == roles::USER && !turn.text.is_empty()).then_some(out)
}

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// Removes from a turn the parts that its speaker did not write, and sets the role of a prompt that the program wrote.
fn finish(turn: &mut Turn, is_before_rule: bool) {
    let text = words_of(&turn.text, is_before_rule).to_owned();
    turn.text = text;
    if turn.role != roles::USER {
        return;
    }
    if is_tool_result(&turn.text) {
        turn.role = roles::TOOL;
        return;
    }
    match harness::split(&turn.text) {
        (words, added) if words.is_empty() && !added.is_empty() => turn.role = roles::SYSTEM,
        (words, _) => turn.text = words,
    }
}

/// A text without the lines with the duration or the name of the program that the Copilot CLI appends, and without the
/// rule before them.
fn words_of(text: &str, is_before_rule: bool) -> &str {
    let mut text = text.trim();
    while let Some(at) = text.rfind("<sub>")
        && text.get(at..).is_some_and(|sub| sub.ends_with("</sub>") && !sub.contains('\n'))
        && ["<sub>⏱", "<sub>Generated by [GitHub Copilot CLI]"].iter().any(|begin| text[at..].starts_with(begin))
    {
        text = text[..at].trim_end();
    }
    let before =
        text.strip_suffix(RULE).filter(|before| is_before_rule && (before.is_empty() || before.ends_with('\n')));
    before.unwrap_or(text).trim_end()
}

/// The id of the session in the head of an export.
fn session_in(head: &str) -> Option<String> {
    let ids = head.lines().filter_map(|line| {
        let member = line.trim_start_matches(['>', '-', '*', ' ']);
        member.strip_prefix("Session ID:").or_else(|| member.strip_prefix("session_id:"))
    });
    let id = ids.map(|id| id.trim_matches(['*', '`', ' '])).find(|id| !id.is_empty())?;
    Some(id.to_owned())
}

/// The topic in the overview of Kimi CLI.
fn topic_in(head: &str) -> Option<String> {
    let topic = head.lines().find_map(|line| line.strip_prefix("- **Topic**: "))?.trim();
    (topic != "(empty)").then(|| topic.to_owned())
}
