//! Reads conversations whose turns are callouts of Obsidian: block quotes that begin with a line such as
//! `> [!NOTE] Gemini`. The extension Obsidian AI Exporter and the plugin Nexus AI Chat Importer write them.
use super::head;
use super::speaker::{self, Style, time_in};
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::roles;
use mementory_model::Timestamp;

/// Types of callouts that only Nexus AI Chat Importer writes, each with the role of the speaker.
const NEXUS_TYPES: [(&str, &str); 2] = [("nexus_user", roles::USER), ("nexus_agent", roles::ASSISTANT)];
/// Members of the front matter that identify the conversation, in the order in which they are tried.
const ID_NAMES: [&str; 2] = ["conversation_id", "id"];
/// Mark before the type of a callout.
const CALLOUT_MARK: &str = "[!";
/// Beginning of the title in a note of Nexus AI Chat Importer.
const NEXUS_TITLE: &str = "# Title: ";

/// The line that begins a turn.
struct Opening<'l> {
    role: &'static str,
    label: &'l str,
    model: Option<&'l str>,
    time: Option<Timestamp>,
    /// True if the turn is a callout. False if its text follows the line without a mark.
    is_callout: bool,
}

/// The turns of a conversation. None unless both sides speak, one of them in a callout, below no more than the head of
/// an export.
pub(super) fn read(text: &str) -> Option<Transcript> {
    // Most texts have no callout, and below, all lines before the first one are copied.
    if !text.contains(CALLOUT_MARK) {
        return None;
    }
    let text = text.trim_start_matches('\u{feff}');
    let mut out = Transcript { style: Some(Style::Export), is_certain: true, ..Transcript::default() };
    let (mut has_callout, mut is_callout, mut is_open) = (false, false, false);
    for (number, line) in text.lines().enumerate() {
        let is_quote = line.starts_with('>');
        let is_inside = is_open && is_callout && is_quote;
        let without_callout = || plain_opening(line).filter(|_| has_callout && !is_inside);
        if let Some(opening) = callout_opening(line).or_else(without_callout) {
            (is_callout, is_open) = (opening.is_callout, true);
            has_callout |= is_callout;
            out.turns.push(turn(&opening, number, line));
            continue;
        }
        // What is below a callout is not part of its turn: a comment with an id, a rule, the callout of a tool.
        is_open &= !is_callout || is_quote;
        match out.turns.last_mut() {
            Some(turn) => {
                add_line(&mut turn.source, line);
                if is_open {
                    add_line(&mut turn.text, if is_callout { unquoted(line) } else { line });
                }
            }
            None => add_line(&mut out.preamble, line),
        }
    }
    for turn in &mut out.turns {
        let text = turn.text.trim();
        turn.text = text.strip_suffix("\n---").unwrap_or(text).trim_end().to_owned();
    }
    out.preamble = out.preamble.trim().to_owned();
    out.title =
        out.preamble.lines().find_map(|line| line.strip_prefix(NEXUS_TITLE)).map(|title| title.trim().to_owned());
    out.session = ID_NAMES.iter().find_map(|name| head::value(text, name)).map(str::to_owned);
    let speaks = |role: &str| out.turns.iter().any(|turn| turn.role == role && !turn.text.is_empty());
    (has_callout && speaks(roles::USER) && speaks(roles::ASSISTANT) && out.has_only_a_head_before()).then_some(out)
}

/// The turn that a callout begins. None for a callout whose title is more than the name of a speaker.
fn callout_opening(line: &str) -> Option<Opening<'_>> {
    let (kind, title) = line.strip_prefix('>')?.trim_start().strip_prefix(CALLOUT_MARK)?.split_once(']')?;
    let title = title.trim_start_matches(['+', '-']).trim();
    let (label, detail) = title.strip_prefix("**").and_then(|inner| inner.split_once("**")).unwrap_or((title, ""));
    let (name, model) = match label.split_once(" · ") {
        Some((name, model)) => (name, Some(model.trim())),
        None => (label, None),
    };
    let nexus_role = NEXUS_TYPES.iter().find(|(known, _)| kind.eq_ignore_ascii_case(known)).map(|(_, role)| *role);
    let role = nexus_role.or_else(|| role_of(name))?;
    Some(Opening { role, label, model, time: time_in(detail).map(|(_, time)| time), is_callout: true })
}

/// The role of a speaker with this name.
fn role_of(name: &str) -> Option<&'static str> {
    let line = format!("**{}**", name.trim());
    speaker::parse(&line).filter(|speaker| speaker.is_certain && speaker.rest.is_empty()).map(|speaker| speaker.role)
}

/// The turn that a line such as `**Gemini:**` begins. The extension can write the answers without callouts.
fn plain_opening(line: &str) -> Option<Opening<'_>> {
    let label = line.strip_prefix("**")?.trim_end().strip_suffix(":**")?;
    let role = role_of(label)?;
    Some(Opening { role, label, model: None, time: None, is_callout: false })
}

fn turn(opening: &Opening<'_>, number: usize, line: &str) -> Turn {
    Turn {
        role: opening.role,
        label: opening.label.to_owned(),
        text: String::new(),
        line: number + 1,
        source: line.to_owned(),
        time: opening.time,
        model: opening.model.map(str::to_owned),
    }
}

/// A line without the mark of the quote around it.
fn unquoted(line: &str) -> &str {
    let line = line.strip_prefix('>').unwrap_or(line);
    line.strip_prefix(' ').unwrap_or(line)
}

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn turns(text: &str) -> Vec<(&'static str, String)> {
        read(text).unwrap().turns.into_iter().map(|turn| (turn.role, turn.text)).collect()
    }

    #[test]
    fn callouts_with_the_name_of_a_speaker_are_turns() {
        let text = "> [!QUESTION] User\n> What eats slugs?\n> \n> > As a list.\n\n> [!ABSTRACT]- Searched the web\n> slugs\n\n\
                    > [!NOTE] Gemini\n> Hedgehogs.\n> ```sh\n> # not a turn\n> ```\n";
        let expected = [
            ("user", "What eats slugs?\n\n> As a list.".to_owned()),
            ("assistant", "Hedgehogs.\n```sh\n# not a turn\n```".to_owned()),
        ];
        assert_eq!(turns(text), expected);
        assert!(read(text).unwrap().turns[0].source.contains("Searched the web"));
    }

    #[test]
    fn answers_may_be_without_a_callout() {
        let text = "> [!QUESTION] User\n> Hi\n\n**ChatGPT:**\n\nHello.\n\n> Quoted\n\n> [!QUESTION] User\n> Bye\n";
        let expected =
            [("user", "Hi".to_owned()), ("assistant", "Hello.\n\n> Quoted".to_owned()), ("user", "Bye".to_owned())];
        assert_eq!(turns(text), expected);
    }

    #[test]
    fn the_model_and_the_time_may_follow_the_name() {
        let text = "# Title: Slugs\n\nCreated: 1/16/2026 at 10:00\n\n>[!nexus_user] **User** - 2026-01-16 10:00:00\n> Hi\n\
                    <!-- UID: a1 -->\n>[!nexus_agent] **Assistant · quill-4** - 1/16/2026\n> Hello\n>\n> there\n<!-- UID: a2 -->\n\n---";
        let transcript = read(text).unwrap();
        assert_eq!(transcript.title.as_deref(), Some("Slugs"));
        assert_eq!(transcript.turns[0].time.unwrap().to_rfc3339(), "2026-01-16T10:00:00Z");
        assert_eq!((transcript.turns[1].model.as_deref(), transcript.turns[1].time), (Some("quill-4"), None));
        assert_eq!(transcript.turns[1].text, "Hello\n\nthere");
    }

    #[test]
    fn other_callouts_are_not_turns() {
        for text in [
            "> [!question] User mode is a restricted environment.\n> [!success]- Answer\n> True\n",
            "> [!QUESTION] User\n> Hi\n\n> [!NOTE] Remark\n> Hello\n",
            "> [!note] Claude\n> The name of a person.\n",
            "# A day\n\nWe talked at length, and this is what I remember of it all.\n\n> [!QUESTION] User\n> Hi\n\n> [!NOTE] Claude\n> Hello\n",
            "**User:**\n\nHi\n\n**Claude:**\n\nHello\n",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
