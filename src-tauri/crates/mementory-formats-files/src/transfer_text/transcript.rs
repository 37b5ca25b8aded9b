//! Reads conversations from two kinds of text: copied conversations, in which a line names each speaker, and exported
//! Markdown.
use super::head;
use super::program_lines::{describes_chat, is_turn_number, without_footer, without_time, without_turn_number};
use super::speaker::{self, Speaker, Style};
use mementory_formats_shared::roles;
use mementory_model::Timestamp;

/// A turn of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// `user`, `assistant`, `system` or `tool`.
    pub role: &'static str,
    /// The label of the speaker in the source, without marks.
    pub label: String,
    /// The text of the turn.
    pub text: String,
    /// Number of the turn's first line in the source, counted from 1.
    pub line: usize,
    /// The lines of the turn, unchanged from the source, including the label.
    pub source: String,
    /// Time of the turn, if the label states it.
    pub time: Option<Timestamp>,
    /// The model that answered, if the label names it.
    pub model: Option<String>,
}

/// The turns of a text.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub turns: Vec<Turn>,
    /// The text before the first turn.
    pub preamble: String,
    /// The program that wrote the text, if its form shows that.
    pub platform: Option<&'static str>,
    /// Id of the session, if the text states it.
    pub session: Option<String>,
    /// When the conversation began, if the text states it apart from the turns.
    pub started: Option<Timestamp>,
    /// Title, if it is not a heading before the first turn.
    pub title: Option<String>,
    /// How the speakers of the conversation are named.
    pub style: Option<Style>,
    /// False if the label of a speaker is also common as a heading in notes, such as `Question`.
    pub is_certain: bool,
    /// The other conversations of the text that this conversation was read from.
    pub others: Vec<Transcript>,
}

impl Transcript {
    /// All conversations of the text. Only the first one has `others`.
    pub(super) fn conversations(&self) -> impl Iterator<Item = &Transcript> {
        std::iter::once(self).chain(&self.others)
    }

    /// The text of this conversation only.
    pub(super) fn own_text(&self) -> String {
        let sources = self.turns.iter().map(|turn| turn.source.as_str());
        let head = [self.title.as_deref().unwrap_or_default(), self.preamble.as_str()];
        head.into_iter().chain(sources).collect::<Vec<_>>().join("\n")
    }

    /// True if the text before the first turn is no more than the head of an export: titles, lines such as
    /// `Created: …`, comments and rules.
    pub(super) fn has_only_a_head_before(&self) -> bool {
        let lines: Vec<&str> = head::without_front_matter(&self.preamble).lines().collect();
        // The title of an export may have several lines, so one line that states the origin is enough.
        let says_origin = lines.iter().any(|line| says_exported(line) && line.contains("]("));
        let may_be_head = lines.len() <= MAX_HEAD_LINES || lines.iter().any(|line| is_save_my_chatbot(line));
        may_be_head && (says_origin || lines.iter().all(|line| is_head_line(line)))
    }

    /// True if headings with a colon (`## Prompt:`) name the speakers, or if the head says that the text was exported,
    /// names a session or links to a chat with an assistant. Notes have none of these.
    pub(super) fn is_labelled_export(&self) -> bool {
        let has_colon = |turn: &Turn| turn.source.lines().next().is_some_and(|line| line.trim_end().ends_with(':'));
        let is_labelled = self.style == Some(Style::Heading) && self.turns.iter().all(has_colon);
        let is_named = head::platform(&self.preamble).is_some()
            || describes_chat(&self.preamble)
            || self.preamble.lines().any(|line| says_exported(line) || names_session(line));
        let is_marked = self.style >= Some(Style::Bold) && is_named;
        self.turns.len() >= 2 && (is_labelled || is_marked)
    }

    /// True if the speakers are named in headings that all have a time, below front matter.
    fn is_dated_export(&self) -> bool {
        let all_have_times = self.turns.iter().all(|turn| turn.time.is_some());
        self.style == Some(Style::Heading) && self.is_certain && all_have_times && has_front_matter(&self.preamble)
    }

    /// True for Markdown that a program exported. One case is any text in the style of SpecStory. The other case is a
    /// text whose speakers are named in headings or in bold, by names that are unusual as headings in notes: the
    /// speaker must change at least three times, or once if the turns have times. Below front matter, it is enough that
    /// all headings have a time, because the answer may be missing.
    pub(super) fn is_exported(&self) -> bool {
        let is_marked = self.style >= Some(Style::Bold) && self.is_certain;
        let is_dated = self.turns.iter().any(|turn| turn.time.is_some());
        let change_count = self.turns.windows(2).filter(|pair| matches!(pair, [a, b] if a.role != b.role)).count();
        let is_one_sided = self.is_dated_export() && change_count == 0;
        self.style == Some(Style::Export)
            || is_marked && (is_dated && change_count >= 1 || change_count >= 3 || is_one_sided)
    }
}

/// True for `name: value` lines between rules at the start of the text.
fn has_front_matter(text: &str) -> bool {
    head::without_front_matter(text).len() < text.len()
}

/// True if a prompt is in fact the result of a tool, as Gemini CLI and Amp write it.
pub(super) fn is_tool_result(prompt: &str) -> bool {
    ["**Tool Response**:\n```json\n", "**Tool Result:** `"].iter().any(|beginning| prompt.starts_with(beginning))
}

/// True for a line in the head that names the session, as written by agents and by programs that read their logs.
fn names_session(line: &str) -> bool {
    let words = line.trim_start_matches(['>', '-', '*', ' ']).to_lowercase();
    words.starts_with("session id:") || words.starts_with("session id**:")
}

/// Largest number of lines in a head.
const MAX_HEAD_LINES: usize = 40;
/// Names that programs give to the time in a line above the text of a turn.
const TIME_NAMES: [&str; 4] = ["message time", "date", "time", "timestamp"];
/// Longest name in a line of the form `name: value` in a head, in characters.
const MAX_NAME: usize = 30;

/// True for a line that says that the text was exported.
fn says_exported(line: &str) -> bool {
    let words = line.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    ["exported on ", "exported from ", "exported by ", "exported with ", "exported: ", "exported:** "]
        .iter()
        .any(|beginning| words.starts_with(beginning))
}

/// True for the line that names the program Save my Chatbot in the head of its exports. The title above this line may
/// be a whole prompt.
fn is_save_my_chatbot(line: &str) -> bool {
    ["with [SaveMyChatbot](", "with [Save my Chatbot]("].iter().any(|words| line.contains(words))
}

/// True for a line such as programs write in the head of an exported conversation.
fn is_head_line(line: &str) -> bool {
    // The program "Save my Chatbot" writes the date, the website and its own name in one line.
    if says_exported(line) && line.contains("](") {
        return true;
    }
    let line = line.trim().trim_start_matches(['-', '>', ' ']);
    let is_rule = line.chars().all(|c| matches!(c, '-' | '*' | '_' | '='));
    let is_mark = line.starts_with('#') || line.starts_with("<!--") || line.starts_with('[') && line.ends_with(')');
    let is_italic = line.len() > 2 && line.starts_with(['_', '*']) && line.ends_with(['_', '*']);
    let unmarked_line: String = line.chars().filter(|c| !matches!(c, '*' | '_')).collect();
    let is_member = unmarked_line.split_once(':').is_some_and(|(name, value)| {
        let has_value = !value.trim().is_empty() && value.chars().count() <= 200;
        has_value && !name.is_empty() && name.chars().count() <= MAX_NAME && name.split_whitespace().count() <= 3
    });
    is_rule || is_mark || is_italic || is_member
}

/// Reads the turns of a text. None unless both the user and the assistant speak. It is enough that the user speaks in
/// an export of SpecStory, or if the text has front matter and all its headings have a time.
pub(super) fn read(text: &str) -> Option<Transcript> {
    let speakers = speakers_of(text);
    let style = style_of(&speakers)?;
    let mut speakers: Vec<_> =
        speakers.into_iter().filter(|(_, found)| style.is_none_or(|style| found.style == style)).collect();
    if begins_with_model_line(&speakers) {
        speakers.remove(0);
    }
    let mut speakers = speakers.into_iter().peekable();
    let mut out = Transcript { style, is_certain: true, ..Transcript::default() };
    for (number, line) in text.lines().enumerate() {
        if let Some((_, found)) = speakers.next_if(|(at, _)| *at == number) {
            out.is_certain &= found.is_certain;
            out.turns.push(turn(&found, number, line));
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
    let mut others = split_at_titles(&mut out);
    finish_turns(&mut out);
    others.iter_mut().for_each(finish_turns);
    out.others = others;
    let has_spoken =
        |role: &str| out.conversations().any(|c| c.turns.iter().any(|t| t.role == role && !t.text.is_empty()));
    let may_lack_answers = style == Some(Style::Export) || out.is_dated_export();
    let is_export = may_lack_answers && has_spoken(roles::USER);
    (is_export || has_spoken(roles::USER) && has_spoken(roles::ASSISTANT)).then_some(out)
}

/// Removes the rules and times that exporters put around the texts of the turns, and stores the times in the turns.
fn finish_turns(out: &mut Transcript) {
    let count = out.turns.len();
    let is_numbered = out.preamble.lines().any(is_turn_number);
    let is_described = describes_chat(&out.preamble);
    let mut others_end_in_rules = count > 1;
    for (n, turn) in out.turns.iter_mut().enumerate() {
        let is_last = n + 1 == count;
        let text = without_footer(&turn.text).trim();
        let text = if is_numbered { without_turn_number(text) } else { text };
        // Exporters put a horizontal rule between the turns. Some exporters also put a rule after the last turn.
        let before_rule = text.strip_suffix("\n---");
        let text = before_rule.filter(|_| !is_last || others_end_in_rules).unwrap_or(text).trim_end();
        let text = if is_described { without_time(text) } else { text };
        others_end_in_rules &= before_rule.is_some();
        turn.text = if text == "---" { String::new() } else { text.to_owned() };
        extract_time(turn);
        if turn.role == roles::USER && is_tool_result(&turn.text) {
            turn.role = roles::TOOL;
        }
    }
    out.preamble = out.preamble.trim().to_owned();
}

/// Splits a text with several conversations, and returns all conversations but the first. Each of them begins with a
/// title (`# …`) and the head of an export directly above a prompt, as the first conversation does.
fn split_at_titles(out: &mut Transcript) -> Vec<Transcript> {
    let begins_with_title = out.preamble.trim_start().starts_with("# ");
    let is_below_titles = out.turns.iter().all(|turn| turn.source.starts_with("##"));
    if out.style != Some(Style::Heading) || !begins_with_title || !is_below_titles {
        return Vec::new();
    }
    let mut others: Vec<Transcript> = Vec::new();
    let mut head: Option<String> = None;
    let mut turns = std::mem::take(&mut out.turns).into_iter().peekable();
    while let Some(mut turn) = turns.next() {
        if let Some(preamble) = head.take() {
            let (style, is_certain) = (out.style, out.is_certain);
            others.push(Transcript { preamble, style, is_certain, ..Transcript::default() });
        }
        if turns.peek().is_some_and(|next| next.role == roles::USER) {
            head = take_title(&mut turn);
        }
        match others.last_mut() {
            Some(other) => other.turns.push(turn),
            None => out.turns.push(turn),
        }
    }
    others
}

/// Removes a title, and the head of an export below it, from the end of a turn. None if the turn does not end with a
/// title.
fn take_title(turn: &mut Turn) -> Option<String> {
    let at = turn.source.rfind("\n# ")?;
    let head = turn.source.get(at + 1..)?.to_owned();
    let text_length = turn.text.len().checked_sub(head.len())?;
    let mut lines = head.lines().filter(|line| !line.trim().is_empty());
    if lines.clone().count() < 2 || !lines.all(is_head_line) {
        return None;
    }
    turn.source.truncate(at);
    turn.text.truncate(text_length);
    let is_rule = |line: &str| line.len() >= 3 && line.chars().all(|c| c == '-');
    while let Some((before, _)) = turn.text.trim_end().rsplit_once('\n').filter(|(_, last)| is_rule(last.trim())) {
        let length = before.len();
        turn.text.truncate(length);
    }
    Some(head)
}

fn turn(speaker: &Speaker<'_>, number: usize, line: &str) -> Turn {
    Turn {
        role: speaker.role,
        label: speaker.label.to_owned(),
        text: speaker.rest.to_owned(),
        line: number + 1,
        source: line.to_owned(),
        time: speaker.time,
        model: speaker.model.map(str::to_owned),
    }
}

/// Character and length of the code fence at the start of a line. The third value is false if words follow the fence.
fn fence_of(line: &str) -> Option<(char, usize, bool)> {
    let marks = line.trim_start();
    let mark = marks.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = marks.chars().take_while(|c| *c == mark).count();
    (length >= 3).then(|| (mark, length, marks.trim_end().len() == length))
}

/// The lines outside of code fences that name a speaker, each with its position. A fence that is not closed is text.
fn speakers_of(text: &str) -> Vec<(usize, Speaker<'_>)> {
    let lines: Vec<&str> = text.lines().collect();
    // For each line: length of the longest fence of each kind, in this line or below it, that can close a fence above.
    let mut closing: Vec<[usize; 2]> = vec![[0; 2]; lines.len() + 1];
    for (number, line) in lines.iter().enumerate().rev() {
        let mut longest = closing.get(number + 1).copied().unwrap_or_default();
        if let Some((mark, length, true)) = fence_of(line) {
            let kind = usize::from(mark == '~');
            longest[kind] = longest[kind].max(length);
        }
        closing[number] = longest;
    }
    let mut fence: Option<(char, usize)> = None;
    let mut out = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        // The title above this line may be the beginning of a prompt that was cut off inside a fence.
        if is_save_my_chatbot(line) {
            fence = None;
        }
        match (fence, fence_of(line)) {
            (None, Some((mark, length, _))) if closing[number + 1][usize::from(mark == '~')] >= length => {
                fence = Some((mark, length));
            }
            // A fence may contain shorter fences. It ends only at a fence that is at least as long as itself.
            (Some((mark, least)), Some((found, length, true))) if mark == found && length >= least => fence = None,
            (None, _) => out.extend(speaker::parse(line).map(|found| (number, found))),
            _ => {}
        }
    }
    out
}

/// The most certain style in which both the user and the assistant speak. `Some(None)` if both speak, but in different
/// styles. None if the user or the assistant does not speak. Lines in other styles are ordinary text, because the head
/// of an export may contain `**User:** name`, and people quote conversations.
fn style_of(speakers: &[(usize, Speaker<'_>)]) -> Option<Option<Style>> {
    let speaks = |style: Option<Style>, role: &str| {
        speakers.iter().any(|(_, found)| style.is_none_or(|style| found.style == style) && found.role == role)
    };
    // Only SpecStory writes lines in this style. It also exports sessions without an answer, so one speaker is enough.
    if speakers.iter().any(|(_, found)| found.style == Style::Export && !found.label.is_empty()) {
        return Some(Some(Style::Export));
    }
    let both_speak = |style: Option<Style>| speaks(style, roles::USER) && speaks(style, roles::ASSISTANT);
    let styles = [Style::Heading, Style::Bold, Style::Plain].map(Some);
    let mut headings = speakers.iter().filter(|(_, found)| found.style == Style::Heading).peekable();
    let has_one_side = headings.peek().is_some() && headings.all(|(_, found)| found.is_certain && found.time.is_some());
    styles.into_iter().chain([None]).find(|style| both_speak(*style)).or(has_one_side.then_some(Some(Style::Heading)))
}

/// True if the first speaker is the line `Model: …` in the head of an export, and the assistant speaks under another
/// name.
fn begins_with_model_line(speakers: &[(usize, Speaker<'_>)]) -> bool {
    let is_model = |speaker: &Speaker<'_>| speaker.label.eq_ignore_ascii_case("model");
    let Some(((_, first), others)) = speakers.split_first() else { return false };
    let speaks = |(_, other): &(usize, Speaker<'_>)| other.role == roles::ASSISTANT && !is_model(other);
    is_model(first) && !first.rest.trim().is_empty() && others.iter().any(speaks)
}

/// If the first line of a turn is only a time, removes the line and sets the time of the turn.
fn extract_time(turn: &mut Turn) {
    let (first, rest) = turn.text.split_once('\n').unwrap_or((turn.text.as_str(), ""));
    // ChatGPT Exporter writes the time as an element of HTML.
    let element = first.trim().strip_prefix("<time datetime=\"").filter(|element| element.ends_with("</time>"));
    if let Some(time) = element.and_then(|element| Timestamp::parse(element.split('"').next()?)) {
        turn.time.get_or_insert(time);
        turn.text = rest.trim_start().to_owned();
        return;
    }
    let line = first.trim().trim_start_matches(['*', '_', '(', '[']);
    let time_member = line.split_once(':').filter(|(name, _)| TIME_NAMES.contains(&name.to_lowercase().as_str()));
    let line = time_member.map_or(line, |(_, time)| time.trim_start_matches(['*', '_', ' ']));
    let is_short = line.len() <= 40 && turn.time.is_none();
    let Some((before, time)) = speaker::time_in(line).filter(|_| is_short) else { return };
    if before.is_empty() {
        turn.time = Some(time);
        turn.text = rest.trim_start().to_owned();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn texts(transcript: &Transcript) -> Vec<&str> {
        transcript.turns.iter().map(|turn| turn.text.as_str()).collect()
    }

    #[test]
    fn the_footer_of_an_extension_is_not_part_of_an_answer() {
        let text = "## Prompt:\nWhat eats slugs?\n\n## Response:\nHedgehogs.\n\n---\nPowered by ChatGPT Exporter (x)";
        let transcript = read(text).unwrap();
        assert_eq!(transcript.turns[1].text, "Hedgehogs.");
        assert!(transcript.turns[1].source.contains("Powered by"));
    }

    #[test]
    fn the_numbers_and_the_footer_of_gemini_voyager_are_not_part_of_answers() {
        let text = "# Slugs\n\n**Date**: July 19, 2026\n**Turns**: 2\n**Source**: [Gemini Chat](https://gemini.google.com/app/1)\n\n\
                    ---\n\n## Turn 1\n\n### 👤 User\n\nHi\n\n### 🤖 Assistant\n\nHello\n\n## Turn 2 ⭐\n\n### 👤 User\n\nBye\n\n\
                    ### 🤖 Assistant\n\n## Turn 3\n\nis a heading.\n\n---\n\n\
                    *Exported from [Voyager](https://example.org)*  \n*Generated on July 19, 2026*";
        let transcript = read(text).unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello", "Bye", "## Turn 3\n\nis a heading."]);
        assert!(transcript.is_labelled_export() && transcript.has_only_a_head_before());
        let unnumbered = read("## User\n\nHi\n\n## Assistant\n\nHello\n\n## Turn 2").unwrap();
        assert_eq!(texts(&unnumbered), ["Hi", "Hello\n\n## Turn 2"]);
    }

    #[test]
    fn the_times_below_the_turns_of_claude_conversation_exporter_are_not_part_of_them() {
        let text = "# Slugs\n\n**Created:** 7/19/2026\n**Updated:** 7/19/2026\n**Model:** quill-4\n\n---\n\n**You**:\n\nHi\n\n\
                    *7/19/2026, 10:00:00 AM*\n\n---\n\n**Claude**:\n\nHello\n*all*\n\n*7/19/2026, 10:00:10 AM*\n\n---\n";
        let transcript = read(text).unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello\n*all*"]);
        assert!(transcript.is_labelled_export() && transcript.has_only_a_head_before());
        assert!(!read(&text.replace("**Updated:** 7/19/2026\n", "")).unwrap().is_labelled_export());
    }

    #[test]
    fn a_rule_after_every_turn_is_not_part_of_the_last_one() {
        let transcript = read("**User**\n\nHi\n\n---\n\n**Bot**\n\nHello\n\n---\n").unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello"]);
        let transcript = read("**User**\n\nHi\n\n**Bot**\n\nHello\n\n---\n").unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello\n\n---"]);
    }

    #[test]
    fn labels_in_code_are_text_and_a_conversation_needs_two_speakers() {
        let text = "Title\n\nUser: explain\n```\nuser: root\nassistant: x\n```\nAI: done";
        let transcript = read(text).unwrap();
        assert_eq!(transcript.turns.len(), 2);
        assert_eq!(transcript.preamble, "Title");
        assert!(transcript.turns[0].text.contains("user: root"));
        assert!(read("User: a\nUser: b").is_none());
        let nested = read("User: a\n````\n```\nAI: in code\n```\nAI: still in code\n````\nAI: b").unwrap();
        assert_eq!(nested.turns.len(), 2);
        let open = read("User: a\n```sh\nls\nAI: b\n~~~\nUser: in code\n~~~\nUser: c").unwrap();
        assert_eq!(texts(&open), ["a\n```sh\nls", "b\n~~~\nUser: in code\n~~~", "c"]);
    }

    #[test]
    fn a_head_that_names_a_session_is_that_of_an_export() {
        let with =
            |head: &str| read(&format!("# Log\n\n{head}\n\n---\n\n## 👤 User\n\nHi\n\n---\n\n## 🤖 Claude\n\nHello\n"));
        for head in ["Session ID: 5d1c\nDate: 2026-05-12 09:36:13", "- **Session ID**: `5d1c`", "**Session ID:** 5d1c"]
        {
            let transcript = with(head).unwrap();
            assert!(transcript.is_labelled_export() && transcript.has_only_a_head_before(), "{head}");
        }
        assert!(!with("Session notes: none").unwrap().is_labelled_export());
    }

    #[test]
    fn results_of_tools_are_not_the_persons_words() {
        let text = "## User\n\nHi\n\n## Assistant\n\nI look.\n\n## User\n\n**Tool Result:** `t1`\n\nx\n\n## Assistant\n\nDone.";
        let roles: Vec<_> = read(text).unwrap().turns.into_iter().map(|turn| turn.role).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    }

    #[test]
    fn the_model_in_the_head_does_not_speak() {
        let text = "Slugs\nCreated: 5/1/2026\nModel: claude-5\n---\n\nHuman: Hi\n\nAssistant: Hello";
        assert_eq!(texts(&read(text).unwrap()), ["Hi", "Hello"]);
        assert_eq!(texts(&read("Model: Hello\nUser: Hi\nModel: Yes").unwrap()), ["Hello", "Hi", "Yes"]);
    }

    #[test]
    fn members_of_the_head_and_quoted_speakers_are_not_turns() {
        let text = "# Slugs\n\n**User:** Amrei\n**Created:** 5/1/2026\n\n## Prompt:\nWhat eats slugs?\n\n## Response:\nAs said:\n**User:** x\n**Claude:** y";
        let transcript = read(text).unwrap();
        assert_eq!(texts(&transcript), ["What eats slugs?", "As said:\n**User:** x\n**Claude:** y"]);
        assert!(transcript.has_only_a_head_before() && !transcript.is_exported());
    }

    #[test]
    fn the_time_of_a_turn_may_be_a_line_of_its_own() {
        let transcript =
            read("**You said:**\n2026-01-16 10:00\n\nHi\n\n---\n\n**ChatGPT said:**\n*2026-01-16 10:01*\nHello")
                .unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello"]);
        assert!(transcript.turns.iter().all(|turn| turn.time.is_some()) && transcript.is_exported());
        let transcript =
            read("# you asked\n\nmessage time: 2026-01-16 10:00:00\n\nHi\n\n---\n\n# chatgpt response\n\nHello")
                .unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello"]);
        assert!(transcript.turns[0].time.is_some() && transcript.is_exported());
        let transcript = read("User: 2026-01-16 was a Friday\nAI: It was.").unwrap();
        assert_eq!(transcript.turns[0].text, "2026-01-16 was a Friday");
    }

    #[test]
    fn the_time_of_a_turn_may_be_an_element_of_a_page() {
        let text = "# Slugs\n\n#### You:\n<time datetime=\"2026-01-16T10:00:00.000Z\" title=\"x\">10:00</time>\n\nHi\n\n\
                    #### ChatGPT:\n<time datetime=\"soon\">10:01</time>\n\nHello";
        let transcript = read(text).unwrap();
        assert_eq!(texts(&transcript), ["Hi", "<time datetime=\"soon\">10:01</time>\n\nHello"]);
        assert_eq!(transcript.turns[0].time.unwrap().to_rfc3339(), "2026-01-16T10:00:00Z");
        assert!(transcript.turns[1].time.is_none());
    }

    #[test]
    fn the_head_of_save_my_chatbot_is_only_a_head() {
        let text = "# Slugs...\n\nExported on 27/10/2025 at 20:28:01 [from ChatGPT](https://chatgpt.com/c/1) - with \
                    [SaveMyChatbot](https://example.org)\n\n## User\nHi\n\n## ChatGPT\nHello\n";
        let transcript = read(text).unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello"]);
        assert!(transcript.is_labelled_export() && transcript.has_only_a_head_before());
        let title = text.replace("# Slugs...", "# Slugs\nin pots?");
        assert!(read(&title).unwrap().has_only_a_head_before());
        let note = text.replace("Exported on", "We exported on");
        assert!(!read(&note).unwrap().has_only_a_head_before());
    }

    #[test]
    fn a_text_may_have_several_conversations_with_titles() {
        let one = |title: &str, answer: &str| {
            format!(
                "# {title}\nDate: 2026-01-16 10:00:00 +09:00\n\n---\n\n## 👤 User\nDate: 2026-01-16 10:00:00 +09:00\n\n\
                 Hi\n\n---\n\n## 🤖 Assistant\n**Time:** 2026-01-16 10:00:10\n\n{answer}\n\n---\n\n"
            )
        };
        let text = format!("{}\n---\n\n{}", one("Slugs", "Hello"), one("Figs", "# Figs\n\nThey ripen."));
        let transcript = read(&text).unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello"]);
        assert_eq!(texts(&transcript.others[0]), ["Hi", "# Figs\n\nThey ripen."]);
        assert!(transcript.preamble.starts_with("# Slugs") && transcript.others[0].preamble.starts_with("# Figs"));
        assert!(transcript.conversations().all(|c| c.turns.iter().all(|turn| turn.time.is_some())));
        let one_title = text.replace("# Figs\nDate", "## Figs\nDate");
        assert!(read(&one_title).unwrap().others.is_empty());
    }

    #[test]
    fn a_head_or_labelled_headings_mark_an_export() {
        let noted = "# Slugs\n_Exported on 1/1/2026 from Cursor (1.3.5)_\n\n---\n\n**User**\n\nHi\n\n---\n\n**Cursor**\n\nHello";
        let transcript = read(noted).unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello"]);
        assert!(transcript.is_labelled_export() && transcript.has_only_a_head_before());
        assert!(read("## Prompt:\nHi\n\n## Response:\nHello").unwrap().is_labelled_export());
        assert!(!read("**User**\n\nHi\n\n**Bot**\n\nHello").unwrap().is_labelled_export());
    }

    #[test]
    fn a_link_to_a_chat_in_the_head_marks_an_export() {
        let text = "---\ntitle: Slugs\ntags:\n- chatgpt\nchat_link: https://chatgpt.com/c/1\n---\n\n\
                    # Me\n\nHi\n\n# ChatGPT\n\nHello\n\n# Slugs\n\nThey eat.\n";
        let transcript = read(text).unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello\n\n# Slugs\n\nThey eat."]);
        assert!(transcript.is_labelled_export() && transcript.has_only_a_head_before());
        let note = text.replace("https://chatgpt.com/c/1", "https://example.org/1");
        assert!(!read(&note).unwrap().is_labelled_export());
    }

    #[test]
    fn an_exported_prompt_may_have_no_answer() {
        let text = "---\ntitle: Slugs\nuuid: 5d1c\n---\n### USER (2026-01-16T10:00:00.000Z)\n\nWhat eats slugs?\n";
        let transcript = read(text).unwrap();
        assert_eq!(texts(&transcript), ["What eats slugs?"]);
        assert!(transcript.is_exported() && transcript.has_only_a_head_before());
        for note in [
            text.replace("---\ntitle: Slugs\nuuid: 5d1c\n---\n", ""),
            text.replace("USER (2026-01-16T10:00:00.000Z)", "USER"),
            text.replace("USER", "Question"),
            text.replace("USER", "Assistant"),
        ] {
            assert!(read(&note).is_none(), "{note}");
        }
    }

    #[test]
    fn numbered_headings_name_speakers() {
        let text = "---\nsource_url: \"https://chatgpt.com/c/1\"\n---\n\n# Slugs\n\nSource: https://chatgpt.com/c/1\n\n\
                    ## 1. User\n\nHi\n\n---\n\n## 2. ChatGPT\n\nHello\n";
        let transcript = read(text).unwrap();
        assert_eq!(texts(&transcript), ["Hi", "Hello"]);
        assert!(transcript.is_labelled_export() && transcript.has_only_a_head_before());
    }

    #[test]
    fn notes_about_speakers_are_not_exports() {
        for text in [
            "# Roles\n\nWho does what in this system.\n\n## User\nWrites prompts.\n\n## Assistant\nAnswers.\n",
            "# Questions\n\n## Question\nWhy?\n\n## Answer\nBecause.\n\n## Question\nHow?\n\n## Answer\nSo.\n",
            "# Interview\n\nWe met on Monday.\n\n**Me:** hello\n\n**Bot:** hello\n\n**Me:** bye\n\n**Bot:** bye\n",
        ] {
            assert!(!read(text).is_some_and(|found| found.is_exported() && found.has_only_a_head_before()), "{text}");
        }
    }
}
