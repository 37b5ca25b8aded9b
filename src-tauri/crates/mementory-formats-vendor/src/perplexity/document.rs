//! Reads threads that were saved as Markdown by the website or by perplexport. A file of the website begins with the
//! logo. Each question is a heading, and the answer is below it.
use super::exchange::{Document, Exchange};
use super::threads::send_chat;
use super::{PERPLEXITY, perplexport};
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Source, Times, Verbatim};

/// Part of the address of the logo with which a file of the website begins.
const LOGO: &str = "perplexity.ai/pplx-full-logo";
/// Number of bytes at the beginning of a file that are searched for the logo or the front matter.
const HEAD_BYTES: usize = 1024;
/// The line between an answer and its sources.
const SOURCES_MARK: &str = "⁂";

/// True for a file that begins with the logo, or with the front matter that perplexport writes.
pub(super) fn is_document(catalog: &Catalog, member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    let has_text_name = !name.contains('.') || [".md", ".markdown", ".txt"].iter().any(|ending| name.ends_with(ending));
    has_text_name && catalog.head(member, HEAD_BYTES).is_ok_and(|head| is_head(&head))
}

fn is_head(head: &[u8]) -> bool {
    let text = text_of(head);
    text.starts_with("<img") && text.contains(LOGO) || perplexport::is_thread(&text)
}

/// True for a document that perplexport wrote.
pub(super) fn is_perplexport(catalog: &Catalog, member: &Member) -> bool {
    catalog.head(member, HEAD_BYTES).is_ok_and(|head| perplexport::is_thread(&text_of(&head)))
}

fn text_of(head: &[u8]) -> String {
    // If the text is UTF-16, every second byte of ASCII is zero, so zero bytes are removed.
    let bytes: Vec<u8> = head.iter().copied().filter(|byte| !matches!(byte, 0 | b'\r')).collect();
    let text = String::from_utf8_lossy(&bytes);
    text.trim_start_matches(|c: char| !c.is_ascii()).trim_start().to_owned()
}

/// Reads the thread in a file and sends it to the sink. If the file does not state a thread id, the id is a digest of
/// the first question.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let text = reader.text(member)?;
    let document = perplexport::read(&text).unwrap_or_else(|| saved_thread(&text));
    let Some(first) = document.exchanges.first() else {
        let reason = "no_content: no question in this file";
        reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    let chat = Chat {
        id: document.id.or_else(|| Some(content_id(&format!("{PERPLEXITY} document\n{}", first.question)))),
        title: document.title.or_else(|| first.question.lines().next().map(str::to_owned)),
        times: document.times,
        source: Source { project: document.project, ..Source::default() },
        // The messages contain the questions and answers, so the verbatim is only the text before the first question.
        verbatim: Some(Verbatim { media_type: "text/markdown".into(), text: document.head }),
        turns: document.exchanges.iter().flat_map(turns_of).collect(),
        ..Chat::default()
    };
    send_chat(reader, &member.place, chat)
}

/// Splits a thread that the website saved into questions and answers. The first question follows the logo, and each
/// further question follows a horizontal rule.
fn saved_thread(text: &str) -> Document {
    let mut found: Vec<(usize, String, String)> = Vec::new();
    let (mut may_begin, mut is_in_code) = (true, false);
    for (number, line) in text.lines().enumerate() {
        is_in_code ^= line.starts_with("```");
        if let Some(question) = line.strip_prefix("# ").filter(|_| may_begin && !is_in_code) {
            found.push((number + 1, question.trim().to_owned(), String::new()));
            may_begin = false;
        } else if line.contains(LOGO) {
            may_begin = true;
        } else if let Some((_, _, answer)) = found.last_mut() {
            may_begin = (line.trim() == "---" || may_begin && line.trim().is_empty()) && !is_in_code;
            answer.push_str(line);
            answer.push('\n');
        }
    }
    let head: Vec<&str> = text.lines().take_while(|line| !line.starts_with("# ")).collect();
    Document {
        id: None,
        title: None,
        times: Times::default(),
        project: None,
        head: head.join("\n").trim().to_owned(),
        exchanges: found.into_iter().map(|(line, question, answer)| exchange(line, question, &answer)).collect(),
    }
}

fn exchange(line: usize, question: String, answer: &str) -> Exchange {
    let is_mark = |text: &str| text.contains(SOURCES_MARK) && text.trim_start().starts_with('<');
    let trimmed = answer.trim().trim_end_matches("---").trim_end();
    let lines: Vec<&str> = trimmed.lines().filter(|text| !is_mark(text)).collect();
    let source_count = lines.iter().filter(|text| text.starts_with("[^") && text.contains("]: ")).count();
    let (body, cited) = lines.split_at(lines.len() - source_count);
    Exchange {
        line,
        question_source: question.clone(),
        question,
        answer: body.join("\n").trim().to_owned(),
        sources: (!cited.is_empty()).then(|| cited.join("\n")),
        answer_source: answer.trim().to_owned(),
    }
}

/// Returns the question and the answer of an exchange as turns. Without an answer, returns only the question.
fn turns_of(exchange: &Exchange) -> Vec<Turn> {
    let Exchange { line, question, .. } = exchange;
    let turn = |role: &str, text: &str, source: &str| Turn {
        key: Some(content_id(&format!("{line}\n{role}\n{question}"))),
        role: role.into(),
        text: text.to_owned(),
        content_type: "text".into(),
        pointer: format!("line {line}"),
        verbatim: Some(Verbatim { media_type: "text/markdown".into(), text: source.to_owned() }),
        ..Turn::default()
    };
    let mut out = vec![turn("user", question, &exchange.question_source)];
    if !exchange.answer.is_empty() {
        let mut answer_turn = turn("assistant", &exchange.answer, &exchange.answer_source);
        if let Some(sources) = &exchange.sources {
            answer_turn.fields.insert("sources".into(), sources.as_str().into());
        }
        out.push(answer_turn);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::saved_thread;

    #[test]
    fn headings_of_an_answer_are_not_questions() {
        let text = "<img src=\"https://r2cdn.perplexity.ai/pplx-full-logo-primary-dark.png\"/>\n\n# Why?\n\nSo.[^1]\n\n# More\n\n\
                    <div align=\"center\">⁂</div>\n\n[^1]: https://a.example\n\n---\n\n# And how?\n\nThus.\n";
        let read: Vec<_> =
            saved_thread(text).exchanges.into_iter().map(|found| (found.question, found.answer)).collect();
        let expected = [("Why?", "So.[^1]\n\n# More"), ("And how?", "Thus.")];
        assert_eq!(read, expected.map(|(question, answer)| (question.to_owned(), answer.to_owned())));
    }
}
