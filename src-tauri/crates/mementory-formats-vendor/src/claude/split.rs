//! Splits a memory document into single statements by headings, bullets and sentences.
use mementory_model::{normal_text, split_sentences};
use std::ops::Range;

/// Opening quotation marks, each with the marks that may close the quotation.
const QUOTATION_MARKS: [(char, &[char]); 8] = [
    ('"', &['"']),
    ('“', &['”']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('»', &['«']),
    ('‹', &['›']),
    ('「', &['」']),
    ('『', &['』']),
];
/// Largest number of characters in a quotation. If the closing mark is farther away, the opening mark does not begin a
/// quotation.
const MAX_QUOTATION_CHARS: usize = 400;

/// One statement, and the last heading before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub heading: Option<String>,
    pub text: String,
}

/// Splits a document into statements. Skips front matter, headings, horizontal rules, and the lines that begin or end a
/// code block.
pub(super) fn split_document(document: &str) -> Vec<Statement> {
    let body = without_front_matter(document);
    let mut out = Vec::new();
    let mut heading: Option<String> = None;
    let mut paragraph = String::new();
    let mut is_in_code = false;
    for line in body.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            is_in_code = !is_in_code;
        }
        if trimmed.is_empty() || trimmed.starts_with("```") || (!is_in_code && is_horizontal_rule(trimmed)) {
            flush_paragraph(&mut paragraph, &heading, &mut out);
        } else if let Some(title) = (!is_in_code).then(|| heading_of(trimmed)).flatten() {
            flush_paragraph(&mut paragraph, &heading, &mut out);
            heading = Some(title);
        } else if let Some(item) = bullet_text(trimmed) {
            flush_paragraph(&mut paragraph, &heading, &mut out);
            push_statement(item, &heading, &mut out);
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(trimmed);
        }
    }
    flush_paragraph(&mut paragraph, &heading, &mut out);
    out
}

fn without_front_matter(document: &str) -> &str {
    let text = document.trim_start_matches('\u{feff}').trim_start();
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else { return text };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == "---" {
            return &rest[at..];
        }
    }
    text
}

fn is_horizontal_rule(line: &str) -> bool {
    line.len() >= 3 && line.bytes().all(|b| matches!(b, b'-' | b'*' | b'_' | b'=' | b' '))
}

/// Returns the title in a line `# Title`, `**Title**` or `*Title*`. None for any other line.
fn heading_of(line: &str) -> Option<String> {
    if let Some(rest) = line.strip_prefix('#') {
        let title = rest.trim_start_matches('#');
        return title.starts_with(' ').then(|| title.trim().trim_end_matches('#').trim().to_owned());
    }
    for mark in ["**", "__", "*", "_"] {
        let inner = line.trim_end_matches(':').strip_prefix(mark).and_then(|l| l.strip_suffix(mark));
        if let Some(inner) = inner.map(|i| i.trim().trim_end_matches(':')).filter(|i| !i.is_empty()) {
            // A sentence in bold is a statement, not a heading.
            return (!inner.contains(mark) && !inner.ends_with(['.', '!', '?'])).then(|| inner.to_owned());
        }
    }
    None
}

/// Returns the text after a bullet or number: `- x`, `* x`, `• x`, `1. x`, `1) x`. None for any other line.
fn bullet_text(line: &str) -> Option<&str> {
    for mark in ["- ", "* ", "+ ", "• ", "– ", "— "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return Some(rest.trim());
        }
    }
    let digit_count = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digit_count..];
    (1..=3).contains(&digit_count).then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))).flatten()
}

fn flush_paragraph(paragraph: &mut String, heading: &Option<String>, out: &mut Vec<Statement>) {
    for sentence in sentences_of(paragraph) {
        push_statement(sentence, heading, out);
    }
    paragraph.clear();
}

fn push_statement(text: &str, heading: &Option<String>, out: &mut Vec<Statement>) {
    let text = text.trim();
    if !normal_text(text).is_empty() {
        out.push(Statement { heading: heading.clone(), text: text.to_owned() });
    }
}

/// Splits a paragraph into sentences. A full stop, question mark or exclamation mark ends a sentence if white space
/// follows and the next character is not a lower-case letter. The full stop of an abbreviation ends no sentence. A
/// Chinese or Japanese mark ends a sentence whatever follows. Sentences inside a quotation are not split: `Says "Thank
/// you. Good night." and leaves` is one statement.
fn sentences_of(paragraph: &str) -> Vec<&str> {
    let quotations = quotations(paragraph);
    split_sentences(paragraph, |mark| {
        // The quotations are in order and do not overlap, so only the first one that ends after the mark can contain it.
        let is_quoted = || {
            let index = quotations.partition_point(|quotation| quotation.end <= mark.at);
            quotations.get(index).is_some_and(|quotation| quotation.contains(&mark.at))
        };
        let is_before_sentence =
            || mark.after.trim_start().chars().next().is_some_and(|next_char| !next_char.is_lowercase());
        let is_abbreviation = || mark.character == '.' && ends_in_abbreviation(mark.before);
        (mark.is_full_width() || mark.is_before_space() && is_before_sentence() && !is_abbreviation()) && !is_quoted()
    })
}

/// Returns the ranges of the quotations in a text, including their marks. An opening mark without a closing mark is
/// ignored.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for (start, mark) in text.char_indices() {
        let is_inside = out.last().is_some_and(|last| start < last.end);
        let Some((_, closing)) = QUOTATION_MARKS.iter().find(|(opening, _)| *opening == mark).filter(|_| !is_inside)
        else {
            continue;
        };
        // After a letter or digit, the mark `"` closes a quotation or means inches or seconds, so it does not open a
        // quotation.
        let before = text[..start].chars().next_back();
        if mark == '"' && before.is_some_and(char::is_alphanumeric) {
            continue;
        }
        let inner = start + mark.len_utf8();
        let end = text[inner..].char_indices().take(MAX_QUOTATION_CHARS).find(|(_, c)| closing.contains(c));
        if let Some((length, closing)) = end {
            out.push(start..inner + length + closing.len_utf8());
        }
    }
    out
}

/// True if the text before a full stop ends with an abbreviation: a known word such as `Dr`, a word with a full stop
/// such as `e.g`, or a single character.
fn ends_in_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    let known_abbreviations = ["Dr", "Mr", "Mrs", "Ms", "St", "Prof", "vs", "etc", "approx", "No", "Nr", "Jr", "Sr"];
    known_abbreviations.contains(&word) || word.contains('.') || word.chars().count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements_in(document: &str) -> Vec<(Option<String>, String)> {
        split_document(document).into_iter().map(|s| (s.heading, s.text)).collect()
    }

    #[test]
    fn splits_headings_bullets_and_sentences() {
        let got = statements_in(
            "---\ntags: [x]\n---\n**Work context**\n\nInes is a nurse. She works nights, e.g. in Ghent.\n\n# Home\n- Has a tortoise. Rui.\n1. Grows leeks\n",
        );
        let work = Some("Work context".to_owned());
        let home = Some("Home".to_owned());
        assert_eq!(
            got,
            vec![
                (work.clone(), "Ines is a nurse.".to_owned()),
                (work, "She works nights, e.g. in Ghent.".to_owned()),
                (home.clone(), "Has a tortoise. Rui.".to_owned()),
                (home, "Grows leeks".to_owned()),
            ]
        );
    }

    #[test]
    fn a_quotation_is_not_split() {
        for whole in [
            "Praise from her is answered with \"Thank you. I worked hard on it.\"",
            "Praise is answered with “Thank you. I worked hard.” and a smile.",
            "Antwortet mit „Danke. Gern geschehen.“ und lächelt.",
            "「ありがとう。頑張りました。」と答える。",
        ] {
            assert_eq!(statements_in(whole), [(None, whole.to_owned())]);
        }
        let several = "Says “Hi. You.” Then “Bye. Now.” Leaves.";
        assert_eq!(statements_in(several), [(None, several.to_owned())]);
        assert_eq!(statements_in("Says “Hi. You.” and goes. Then says “Bye. Now.” and leaves. Sleeps.").len(), 3);
        assert_eq!(statements_in("Has a 5\" screen. Likes a 7\" one. Reads.").len(), 3);
        assert_eq!(statements_in("Calls it \"the tub\". Loves it. An open \" mark. Ends.").len(), 4);
    }

    #[test]
    fn splits_other_scripts_and_empty_documents() {
        assert_eq!(statements_in("猫が好き。犬も好き。").len(), 2);
        assert!(statements_in("# Only a heading\n\n---\n").is_empty());
        assert!(statements_in("").is_empty());
    }
}
