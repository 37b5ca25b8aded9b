//! Reads the log that the command line program LLM prints (`llm logs`). A heading with the time begins each response,
//! and names its conversation. The prompt and the answer are below this heading.
use super::conversation::first_line;
use super::speaker::Style;
use super::transcript::{Transcript, Turn};
use mementory_formats_shared::memory_rows::time_of_text;
use mementory_formats_shared::roles;
use mementory_model::Timestamp;

/// LLM prints this instead of a prompt that consists only of fragments.
const NO_PROMPT: &str = "-- none --";
/// Headings between the prompt and the answer. Older versions put a colon after them.
const SECTIONS: [&str; 8] = [
    "### Prompt fragments",
    "## Options",
    "## System",
    "### System fragments",
    "## Schema",
    "### Tools",
    "### Tool results",
    "### Attachments",
];
const PROMPT: &str = "## Prompt";
const SYSTEM: &str = "## System";
const RESPONSE: &str = "## Response";
const USAGE: &str = "## Token usage";
const CALLS: &str = "### Tool calls";

/// The head of a response. In a log of a single conversation, only the first head names the conversation.
struct Head<'l> {
    time: Timestamp,
    conversation: Option<&'l str>,
}

/// The head in a line such as `# 2026-05-12T09:36:13    conversation: 01ab id: 01cd`.
fn head(line: &str) -> Option<Head<'_>> {
    let rest = line.strip_prefix("# ")?;
    let (time, ids) = rest.split_once("    conversation: ").map_or((rest, None), |(time, ids)| (time, Some(ids)));
    let is_time = time.len() == 19 && time.as_bytes().get(10) == Some(&b'T');
    let time = time_of_text(&format!("{time}Z")).filter(|_| is_time)?;
    Some(Head { time, conversation: ids.and_then(|ids| ids.split_whitespace().next()) })
}

/// The conversations of a log. None unless the first line names a conversation, and a prompt is below it.
pub(super) fn read(text: &str) -> Option<Transcript> {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).collect();
    let first = lines.iter().position(|line| !line.is_empty())?;
    head(lines.get(first)?)?.conversation?;
    let is_start = |at: usize| {
        let is_below_blank = at == first || lines.get(at - 1).is_some_and(|line| line.is_empty());
        let mut lines_below =
            lines.iter().skip(at + 1).filter(|line| !line.is_empty() && !line.starts_with("Model: **"));
        let mut has_prompt = || lines_below.next().is_some_and(|line| is_heading(line, PROMPT));
        is_below_blank && lines.get(at).is_some_and(|line| head(line).is_some()) && has_prompt()
    };
    let starts: Vec<usize> = (first..lines.len()).filter(|at| is_start(*at)).collect();
    let mut out: Vec<Transcript> = Vec::new();
    let mut current_index = 0;
    let mut model = None;
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    for (start, end) in starts.iter().copied().zip(ends) {
        let block = lines.get(start..end)?;
        let Head { time, conversation: id } = head(block.first()?)?;
        if let Some(id) = id {
            let known_index = out.iter().position(|found| found.session.as_deref() == Some(id));
            current_index = known_index.unwrap_or(out.len());
            if known_index.is_none() {
                out.push(conversation(id));
            }
        }
        let stated_model = block.iter().take(4).find_map(|line| line.strip_prefix("Model: **")?.strip_suffix("**"));
        model = stated_model.or(model);
        let conversation = out.get_mut(current_index)?;
        conversation.turns.extend(turns(block, start, time, model));
        if conversation.title.is_none() {
            let prompt = conversation.turns.iter().find(|turn| turn.role == roles::USER && !turn.text.is_empty());
            conversation.title = prompt.map(|turn| first_line(&turn.text));
        }
    }
    out.retain(|found| !found.turns.is_empty());
    let mut out = out.into_iter();
    let first = out.next()?;
    Some(Transcript { others: out.collect(), ..first })
}

fn conversation(id: &str) -> Transcript {
    Transcript {
        style: Some(Style::Export),
        is_certain: true,
        platform: Some("llm"),
        session: Some(id.to_owned()),
        ..Transcript::default()
    }
}

fn is_heading(line: &str, heading: &str) -> bool {
    line.strip_suffix(':').unwrap_or(line) == heading
}

/// The turns of one response, whose first line is line `start` of the text.
fn turns(block: &[&str], start: usize, time: Timestamp, model: Option<&str>) -> Vec<Turn> {
    let find = |heading: &str, from: usize| (from..block.len()).find(|at| is_heading(block[*at], heading));
    let Some(prompt) = find(PROMPT, 0) else { return Vec::new() };
    let response = find(RESPONSE, prompt).unwrap_or(block.len());
    let section = |from: usize| {
        let end = (from + 1..response).find(|at| SECTIONS.iter().any(|name| is_heading(block[*at], name)));
        block.get(from + 1..end.unwrap_or(response)).unwrap_or_default().join("\n").trim().to_owned()
    };
    // The last heading with the text [`USAGE`] ends the answer if only one line, which has the counts, is below it.
    let usage = (response..block.len()).rfind(|at| is_heading(block[*at], USAGE));
    let is_usage = |at: &usize| block.iter().skip(at + 1).filter(|line| !line.is_empty()).count() == 1;
    let end = usage.filter(is_usage).unwrap_or(block.len());
    let turn = |role: &'static str, text: String, from: usize, to: usize| Turn {
        role,
        label: String::new(),
        text,
        line: start + from + 1,
        source: block.get(from..to).unwrap_or_default().join("\n").trim_end().to_owned(),
        time: Some(time),
        model: model.map(str::to_owned).filter(|_| role == roles::ASSISTANT),
    };
    let mut out = Vec::new();
    let system = find(SYSTEM, prompt).filter(|at| *at < response);
    if let Some(system) = system {
        let text = section(system);
        let lines = text.lines().count() + 2;
        out.push(turn(roles::SYSTEM, text, system, (system + lines).min(response)));
    }
    let words = section(prompt);
    let fragments = find(SECTIONS[0], prompt).filter(|at| *at < response && words == NO_PROMPT).map(section);
    let words = fragments.unwrap_or(words);
    if words != NO_PROMPT {
        // The verbatim of the prompt ends before the system prompt. Otherwise an erasure of the system prompt would
        // leave its text there.
        out.push(turn(roles::USER, words, prompt, system.unwrap_or(response)));
    }
    let answer = block.get(response + 1..end).unwrap_or_default();
    let text = without_call_list(answer).join("\n").trim().to_owned();
    if !text.is_empty() {
        out.push(turn(roles::ASSISTANT, text, response, block.len()));
    }
    out
}

/// An answer without the list of tool calls above its text.
fn without_call_list<'b, 'l>(answer: &'b [&'l str]) -> &'b [&'l str] {
    let Some(first) = answer.iter().position(|line| !line.is_empty()).filter(|at| is_heading(answer[*at], CALLS))
    else {
        return answer;
    };
    let is_of_list = |line: &&&str| line.is_empty() || line.starts_with("- **") || line.starts_with("  ");
    let count = answer.iter().skip(first + 1).take_while(is_of_list).count();
    answer.get(first + 1 + count..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn texts(transcript: &Transcript) -> Vec<(&str, &str)> {
        transcript.turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect()
    }

    #[test]
    fn responses_of_one_conversation_belong_together() {
        let text = "# 2026-05-12T09:36:13    conversation: 01a id: 01b\n\nModel: **quill-4**\n\n## Prompt\n\nWhat eats slugs?\n\n\
                    ## System\n\nBe brief.\n\n## Response\n\n### Tool calls\n\n- **find**: `c1`<br>\n    a: 1\n\n## Options\n\nTwo.\n\n\
                    ## Token usage\n\n10 input, 2 output\n\n\
                    # 2026-05-12T09:40:00    conversation: 01x id: 01y\n\nModel: **quill-3**\n\n## Prompt:\n\n-- none --\n\n\
                    ### Prompt fragments\n\n- 0a1b\n\n## Response:\n\nA list.\n\n\
                    # 2026-05-12T09:41:00    conversation: 01a id: 01c\n\nModel: **quill-5**\n\n## Prompt\n\nAnd snails?\n\n## Response\n\nToads.\n";
        let found = read(text).unwrap();
        let expected = [
            ("system", "Be brief."),
            ("user", "What eats slugs?"),
            ("assistant", "## Options\n\nTwo."),
            ("user", "And snails?"),
            ("assistant", "Toads."),
        ];
        assert_eq!(texts(&found), expected);
        assert_eq!(texts(&found.others[0]), [("user", "- 0a1b"), ("assistant", "A list.")]);
        assert_eq!((found.session.as_deref(), found.title.as_deref()), (Some("01a"), Some("What eats slugs?")));
        let last = found.turns.last().unwrap();
        assert_eq!(
            (last.model.as_deref(), last.time.unwrap().to_rfc3339().as_str()),
            (Some("quill-5"), "2026-05-12T09:41:00Z")
        );
    }

    #[test]
    fn only_the_first_response_of_one_conversation_names_it() {
        let text = "# 2026-05-12T09:36:13    conversation: 01a\n\nModel: **quill-4**\n\n## Prompt\n\nHi\n\n## Response\n\nHello\n\n\
                    # 2026-05-12T09:37:13\n\n## Prompt\n\nBye\n\n## Response\n\n# 2026-05-12T09:37:14\n\nis a heading.\n";
        let found = read(text).unwrap();
        let answer = "# 2026-05-12T09:37:14\n\nis a heading.";
        assert_eq!(texts(&found), [("user", "Hi"), ("assistant", "Hello"), ("user", "Bye"), ("assistant", answer)]);
        assert_eq!(found.turns[3].model.as_deref(), Some("quill-4"));
    }

    #[test]
    fn other_texts_are_not_logs() {
        for text in [
            "# 2026-05-12T09:36:13\n\n## Prompt\n\nHi\n\n## Response\n\nHello",
            "# 2026-05-12    conversation: 01a\n\n## Prompt\n\nHi\n\n## Response\n\nHello",
            "# 2026-05-12T09:36:13    conversation: 01a id: 01b\n\nNotes\n\n## Prompt\n\nHi",
            "",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
