//! Removes the marks of Markdown from a text. On paper, `**Work context**` is harder to read than the words alone.

/// The text without marks for emphasis, headings and code, and with the words of links in place of the links. Line breaks
/// and list marks stay.
pub(super) fn without_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (n, line) in text.lines().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        out.push_str(&without_emphasis(&without_links(heading_text(line))));
    }
    out
}

/// The title in a line such as `## Title`, or the line itself.
fn heading_text(line: &str) -> &str {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    if (1..=6).contains(&level) && title.starts_with(' ') { title.trim() } else { line }
}

/// Replaces `[words](place)` by `words`.
fn without_links(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let link = after.split_once("](").and_then(|(words, place)| Some((words, place.split_once(')')?)));
        match link.filter(|(words, _)| !words.contains(['[', ']'])) {
            Some((words, (_, after))) => {
                out.push_str(words);
                rest = after;
            }
            None => {
                out.push('[');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Removes pairs of `**`, `__` and `` ` ``. A mark without a counterpart stays, and so does one beside white space, which
/// is no mark: `2 ** 3`.
fn without_emphasis(line: &str) -> String {
    ["**", "__", "`"].iter().fold(line.to_owned(), |line, mark| {
        let mut out = String::with_capacity(line.len());
        let mut rest = line.as_str();
        while let Some((before, after)) = rest.split_once(mark) {
            out.push_str(before);
            let inner = after.split_once(mark).filter(|(inner, _)| !inner.is_empty() && inner.trim() == *inner);
            match inner {
                Some((inner, after)) => {
                    out.push_str(inner);
                    rest = after;
                }
                None => {
                    out.push_str(mark);
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_of_markdown_go_and_the_words_stay() {
        for (text, plain) in [
            ("**Work context**\n\nPlans *ferries*.", "Work context\n\nPlans *ferries*."),
            ("# Memory index\n- [user_maren](user_maren.md)", "Memory index\n- user_maren"),
            ("Runs `npm test` and __only__ that", "Runs npm test and only that"),
            ("2 ** 3, a [note], C#, [a](b", "2 ** 3, a [note], C#, [a](b"),
            ("#tag **open", "#tag **open"),
            ("", ""),
        ] {
            assert_eq!(without_markdown(text), plain);
        }
    }
}
