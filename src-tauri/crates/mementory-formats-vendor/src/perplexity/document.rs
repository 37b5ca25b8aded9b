//! A thread that the website saved as Markdown: the logo, then each question as a heading with its answer below.
use super::PERPLEXITY;
use super::threads::send_chat;
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Verbatim};

/// Part of the address of the logo. The files begin with the logo.
const LOGO: &str = "perplexity.ai/pplx-full-logo";
/// Number of bytes at the start of a file that are searched for the logo.
const HEAD_BYTES: usize = 512;
/// The line between the answer and its sources.
const SOURCES_MARK: &str = "⁂";

/// True for Markdown or text that begins with the logo.
pub(super) fn is_document(catalog: &Catalog, member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    let has_text_name = !name.contains('.') || [".md", ".markdown", ".txt"].iter().any(|ending| name.ends_with(ending));
    has_text_name && catalog.head(member, HEAD_BYTES).is_ok_and(|head| begins_with_logo(&head))
}

fn begins_with_logo(head: &[u8]) -> bool {
    // In UTF-16, every second byte of such a text is zero, so zero bytes are removed.
    let text: Vec<u8> = head.iter().copied().filter(|byte| *byte != 0).collect();
    let text = String::from_utf8_lossy(&text);
    let start = text.trim_start_matches(|c: char| !c.is_ascii());
    start.trim_start().starts_with("<img") && text.contains(LOGO)
}

/// Sends the thread. Its id is a digest of its first question, because the file does not name the thread.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let text = reader.text(member)?;
    let turns = turns(&text);
    let Some(first) = turns.first() else {
        let reason = "no_content: no question in this file";
        reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    // The questions are in their own messages, so the verbatim of the conversation has only the text before the first
    // question.
    let start: Vec<&str> = text.lines().take_while(|line| !line.starts_with("# ")).collect();
    let start = start.join("\n").trim().to_owned();
    let chat = Chat {
        id: Some(content_id(&format!("{PERPLEXITY} document\n{}", first.text))),
        title: first.text.lines().next().map(str::to_owned),
        verbatim: Some(Verbatim { media_type: "text/markdown".into(), text: start }),
        turns,
        ..Chat::default()
    };
    send_chat(reader, &member.place, chat)
}

/// The questions and answers. The first question follows the logo, and each later question follows a horizontal rule.
fn turns(text: &str) -> Vec<Turn> {
    let mut out: Vec<(usize, String, String)> = Vec::new();
    let (mut may_begin, mut is_in_code) = (true, false);
    for (number, line) in text.lines().enumerate() {
        is_in_code ^= line.starts_with("```");
        if let Some(question) = line.strip_prefix("# ").filter(|_| may_begin && !is_in_code) {
            out.push((number + 1, question.trim().to_owned(), String::new()));
            may_begin = false;
        } else if line.contains(LOGO) {
            may_begin = true;
        } else if let Some((_, _, answer)) = out.last_mut() {
            may_begin = (line.trim() == "---" || may_begin && line.trim().is_empty()) && !is_in_code;
            answer.push_str(line);
            answer.push('\n');
        }
    }
    out.into_iter().flat_map(|(line, question, answer)| prompt_and_answer(line, &question, &answer)).collect()
}

fn prompt_and_answer(line: usize, question: &str, answer: &str) -> Vec<Turn> {
    let is_mark = |text: &str| text.contains(SOURCES_MARK) && text.trim_start().starts_with('<');
    let trimmed = answer.trim().trim_end_matches("---").trim_end();
    let lines: Vec<&str> = trimmed.lines().filter(|text| !is_mark(text)).collect();
    let source_count = lines.iter().filter(|text| text.starts_with("[^") && text.contains("]: ")).count();
    let (body, cited) = lines.split_at(lines.len() - source_count);
    let text = body.join("\n");
    let turn = |role: &str, text: &str, source: &str| Turn {
        key: Some(content_id(&format!("{line}\n{role}\n{question}"))),
        role: role.into(),
        text: text.trim().to_owned(),
        content_type: "text".into(),
        pointer: format!("line {line}"),
        verbatim: Some(Verbatim { media_type: "text/markdown".into(), text: source.to_owned() }),
        ..Turn::default()
    };
    let mut out = vec![turn("user", question, question)];
    if !text.trim().is_empty() {
        let mut answer_turn = turn("assistant", &text, answer.trim());
        if !cited.is_empty() {
            answer_turn.fields.insert("sources".into(), cited.join("\n").into());
        }
        out.push(answer_turn);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::turns;

    #[test]
    fn headings_of_an_answer_are_not_questions() {
        let text = "<img src=\"https://r2cdn.perplexity.ai/pplx-full-logo-primary-dark.png\"/>\n\n# Why?\n\nSo.[^1]\n\n# More\n\n\
                    <div align=\"center\">⁂</div>\n\n[^1]: https://a.example\n\n---\n\n# And how?\n\nThus.\n";
        let turns_read = turns(text);
        let texts: Vec<&str> = turns_read.iter().map(|turn| turn.text.as_str()).collect();
        assert_eq!(texts, ["Why?", "So.[^1]\n\n# More", "And how?", "Thus."]);
    }
}
