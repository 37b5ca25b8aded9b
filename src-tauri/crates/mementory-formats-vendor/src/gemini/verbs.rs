//! The words that Google writes before a prompt in the title of an activity, and the titles of activities that are not
//! prompts.

/// A kind of activity, by its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Title<'t> {
    /// A prompt, without what Google wrote before it.
    Prompt(&'t str),
    /// Something else that the person did.
    Activity,
    /// Google's words are not known in this language. The title may be a prompt with words before it.
    Unknown,
}

/// Words before a prompt, as seen in exports. Google translates these words and does not document them.
const BEFORE_PROMPTS: [&str; 28] = [
    "Prompted with:",
    "Prompted",
    "Asked Gemini:",
    "Asked Gemini",
    "Asked Bard:",
    "Asked Bard",
    "Asked:",
    "Asked",
    "Branched",
    "Live Prompt",
    "Answered",
    "Pokyn",
    "Said:",
    "Said",
    "Submitted query",
    "Eingegebener Prompt:",
    "送信したメッセージ:",
    "送信したメッセージ：",
    "プロンプト:",
    "プロンプト：",
    "已提示:",
    "已提示：",
    "Υποβλήθηκε το ερώτημα",
    "Has dicho:",
    "Has dicho",
    "Hiciste la petición",
    "Preguntado:",
    "Gav instruktionen",
];

/// Beginnings of titles of activities that are not prompts.
const ACTIVITIES: [&str; 18] = [
    "Created ",
    "Gave feedback",
    "Selected preferred draft",
    "Selected ",
    "Used an Assistant feature",
    "Used Gemini",
    "Used Bard",
    "Used ",
    "Viewed ",
    "Visited ",
    "Shared ",
    "Deleted ",
    "Opened ",
    "Answered survey question",
    "Generated Audio Overview",
    "Feedback gegeben",
    "Gav feedback",
    "Has creado ",
];

/// Classifies a title. The caller has replaced no-break spaces with ordinary spaces.
pub(super) fn read_title(title: &str) -> Title<'_> {
    let title = title.trim();
    let is_activity = |words: &str| strip_prefix_ignoring_case(title, words.trim_end()).is_some_and(ends_word);
    // This is checked before the prompts, because "Answered" also begins prompts.
    if is_activity("Answered survey question") {
        return Title::Activity;
    }
    for words in BEFORE_PROMPTS {
        let Some(rest) = strip_prefix_ignoring_case(title, words) else { continue };
        if words.ends_with([':', '：']) || rest.is_empty() || rest.starts_with(char::is_whitespace) {
            return Title::Prompt(rest.trim());
        }
    }
    if ACTIVITIES.iter().any(|words| is_activity(words)) { Title::Activity } else { Title::Unknown }
}

/// True if the removed prefix ended at the end of a word. `rest` is the text after the prefix.
fn ends_word(rest: &str) -> bool {
    !rest.starts_with(char::is_alphanumeric)
}

fn strip_prefix_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The first word of a title. It is used to recognise prompts in an unknown language. None if the title has no other
/// words.
pub(super) fn first_word(title: &str) -> Option<&str> {
    let word = title.split_whitespace().next()?;
    (title.trim().len() > word.len()).then_some(word)
}

/// The prompt without the line in which Google states the number of its files (`Attached 2 files.`).
pub(super) fn without_file_count(prompt: &str) -> &str {
    let Some(at) = prompt.rfind("Attached ") else { return prompt };
    let (before, count) = (prompt.get(..at).unwrap_or(prompt), prompt.get(at..).unwrap_or_default());
    let words: Vec<&str> = count.split_whitespace().collect();
    let is_count = matches!(words.as_slice(), [_, n, f] if n.parse::<u32>().is_ok() && f.starts_with("file"));
    if is_count { before.trim_end() } else { prompt }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_activities_and_unknown_titles_are_distinguished() {
        assert_eq!(read_title("Prompted what eats slugs?"), Title::Prompt("what eats slugs?"));
        assert_eq!(read_title("送信したメッセージ: ナメクジ"), Title::Prompt("ナメクジ"));
        assert_eq!(read_title("Eingegebener Prompt: Hallo"), Title::Prompt("Hallo"));
        assert_eq!(read_title("Asked: what eats slugs?"), Title::Prompt("what eats slugs?"));
        assert_eq!(read_title("Asked Gemini what eats slugs?"), Title::Prompt("what eats slugs?"));
        assert_eq!(read_title("Branched what else?"), Title::Prompt("what else?"));
        assert_eq!(read_title("Live Prompt hello there"), Title::Prompt("hello there"));
        assert_eq!(read_title("Answered survey question: how often"), Title::Activity);
        assert_eq!(read_title("Askedly wrong"), Title::Unknown);
        assert_eq!(read_title("Created Gemini Canvas titled X"), Title::Activity);
        assert_eq!(read_title("Gave feedback: thumbs down"), Title::Activity);
        assert_eq!(read_title("Запрос: что едят слизни"), Title::Unknown);
        assert_eq!(without_file_count("look at this Attached 2 files."), "look at this");
        assert_eq!(without_file_count("Attached are files"), "Attached are files");
    }
}
