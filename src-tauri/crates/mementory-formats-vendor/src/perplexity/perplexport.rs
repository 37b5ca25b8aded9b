//! Reads a thread that the command-line program perplexport saved as Markdown: front matter and, for each entry, a
//! heading with the first line of the question, the question as a callout, and the answer with its sources.
use super::exchange::{Document, Exchange};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::frontmatter::Document as Note;
use mementory_model::Times;

/// Beginning of the address in the front matter that the first version of the program writes.
const ADDRESS: &str = "https://www.perplexity.ai/search/";
/// The `type` in the front matter that a later version of the program writes.
const TYPE: &str = "perplexity-thread";
/// Beginning of the callout that contains the question.
const CALLOUT: &str = ">[!important] ";
/// The line between two entries.
const RULE: &str = "* * *";

/// True if a text begins with the front matter that the program writes.
pub(super) fn is_thread(head: &str) -> bool {
    let Some(inside) = head.strip_prefix("---\n") else { return false };
    let front = inside.split_once("\n---").map_or(inside, |(front, _)| front);
    front.lines().any(|line| {
        line.strip_prefix("Perplexity URL: ").is_some_and(|address| address.starts_with(ADDRESS))
            || line.strip_prefix("type: ") == Some(TYPE)
    })
}

/// Reads the thread in a text. None if the program did not write the text.
pub(super) fn read(text: &str) -> Option<Document> {
    let text = text.replace("\r\n", "\n");
    if !is_thread(&text) {
        return None;
    }
    let note = Note::parse(&text);
    let time = |name: &str| note.text(name).as_deref().and_then(text_time);
    let slug = note.text("Perplexity URL").and_then(|address| address.strip_prefix(ADDRESS).map(str::to_owned));
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|at| is_start(&lines, *at)).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let exchanges = starts.iter().zip(ends).filter_map(|(start, end)| exchange(*start, lines.get(*start..end)?));
    Some(Document {
        id: slug.filter(|slug| !slug.is_empty()),
        title: note.text("title"),
        times: Times {
            created: time("created_at"),
            updated: time("updated_at").or_else(|| time("Last updated")),
            ..Times::default()
        },
        project: note.text("collection"),
        head: lines.get(..starts.first().copied().unwrap_or(lines.len()))?.join("\n").trim().to_owned(),
        exchanges: exchanges.collect(),
    })
}

/// True if an entry begins at the line `at`: a heading above a callout with the same words.
fn is_start(lines: &[&str], at: usize) -> bool {
    let words_after = |at: usize, mark: &str| lines.get(at).and_then(|line| line.strip_prefix(mark));
    let Some(heading) = words_after(at, "# ") else { return false };
    words_after(at + 2, CALLOUT) == Some(heading)
}

/// Reads an entry from its lines. `start` is the position of its first line.
fn exchange(start: usize, lines: &[&str]) -> Option<Exchange> {
    let below = lines.get(2..)?;
    let quoted = 1 + below.iter().skip(1).take_while(|line| line.starts_with('>')).count();
    let (callout, answer) = below.split_at_checked(quoted)?;
    let question = callout.iter().enumerate().map(|(n, line)| {
        let mark = if n == 0 { CALLOUT } else { "> " };
        line.strip_prefix(mark).unwrap_or(line.trim_start_matches('>'))
    });
    let source = answer.join("\n");
    let source = source.trim();
    let source = source.strip_suffix(RULE).unwrap_or(source).trim_end();
    let (words, sources) = source.split_at(sources_at(source).unwrap_or(source.len()));
    Some(Exchange {
        line: start + 1,
        question: question.collect::<Vec<_>>().join("\n").trim().to_owned(),
        question_source: callout.join("\n"),
        answer: words.trim().to_owned(),
        sources: sources.split_once('\n').map(|(_, list)| list.trim().to_owned()).filter(|list| !list.is_empty()),
        answer_source: source.to_owned(),
    })
}

/// Returns the offset of the last section of an entry. None if this section does not list the sources.
fn sources_at(text: &str) -> Option<usize> {
    // If an entry has no answer, its sources are at the beginning of the text.
    let at = text.rfind("\n## ").map_or(0, |last| last + 1);
    let heading = text.get(at..)?.lines().next()?;
    let number = heading.strip_prefix("## ")?.strip_suffix(" Sources")?;
    number.parse::<u32>().is_ok().then_some(at)
}
