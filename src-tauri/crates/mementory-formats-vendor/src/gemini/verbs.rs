//! Recognises the words that Google writes before a prompt in the title of an activity, and the titles of activities
//! that are not prompts.

/// The kind of an activity, as its title shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Title<'t> {
    /// A prompt. The text does not contain the words that Google writes before it.
    Prompt(&'t str),
    /// Something that the person did other than entering a prompt.
    Activity,
    /// A title without known words of Google. It may be a prompt after words in an unknown language.
    Unknown,
}

/// Words that Google writes before a prompt, as seen in exports. Google translates these words and does not document
/// them.
const WORDS_BEFORE_PROMPT: [&str; 37] = [
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
    "Prompt :",
    "Prompt:",
    "Said:",
    "Said",
    "Submitted query",
    "Eingegebener Prompt:",
    "Du hast Folgendes eingegeben:",
    "Du hast eingegeben:",
    "Vous avez saisi :",
    "Has escrito:",
    "Has conversado con Gemini",
    "Hai scritto:",
    "Você escreveu:",
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

/// Pairs of words between which Google writes a prompt.
const WORDS_AROUND_PROMPT: [(&str, &str); 2] = [("Du hast", "eingegeben"), ("Sie haben", "eingegeben")];

/// Headers that Google writes above a prompt. A header must match completely, because a prompt may begin with the same
/// words.
const PROMPT_HEADERS: [&str; 14] = [
    "prompt",
    "prompts",
    "eingabe",
    "eingegeben",
    "requête",
    "solicitud",
    "petición",
    "solicitação",
    "richiesta",
    "polecenie",
    "запрос",
    "プロンプト",
    "프롬프트",
    "提示",
];

/// Headers above activities that are not prompts. A header must match completely.
const ACTIVITY_HEADERS: [&str; 2] = ["canvas", "feedback"];

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

/// Classifies a title. No-break spaces must have been replaced with ordinary spaces.
pub(super) fn read_title(title: &str) -> Title<'_> {
    let title = title.trim();
    let is_activity = |words: &str| strip_prefix_ignoring_case(title, words.trim_end()).is_some_and(is_end_of_word);
    // This title is checked before the prompts, because some prompts begin with "Answered" too.
    if is_activity("Answered survey question") {
        return Title::Activity;
    }
    for words in WORDS_BEFORE_PROMPT {
        let Some(rest) = strip_prefix_ignoring_case(title, words) else { continue };
        if words.ends_with([':', '：']) || rest.is_empty() || rest.starts_with(char::is_whitespace) {
            return Title::Prompt(rest.trim());
        }
    }
    if let Some(prompt) = WORDS_AROUND_PROMPT.iter().find_map(|words| inside(title, *words)) {
        return Title::Prompt(prompt);
    }
    if ACTIVITIES.iter().any(|words| is_activity(words)) { Title::Activity } else { Title::Unknown }
}

/// Returns the prompt between two words of Google, without quotation marks.
fn inside<'t>(title: &'t str, (before, after): (&str, &str)) -> Option<&'t str> {
    let rest = strip_prefix_ignoring_case(title, before)?.trim_end_matches(['.', ':']);
    let inside = rest.strip_suffix(after)?;
    let is_separate = inside.starts_with(char::is_whitespace) && inside.ends_with(char::is_whitespace);
    is_separate.then(|| inside.trim().trim_matches(['"', '„', '“', '”', '«', '»']).trim())
}

/// The kind of an activity, as its header shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// The title is a prompt.
    Prompt,
    /// The title describes another activity of the person, not a prompt.
    Activity,
}

/// Classifies the header of an activity. In some exports, Google's words are in the header, and the title is only the
/// prompt. None for any other header, such as the name of a product.
pub(super) fn label(header: &str) -> Option<Label> {
    let header = header.replace('\u{a0}', " ");
    let header = header.trim().trim_end_matches([':', '：', '…', '.', ' ']);
    if header.is_empty() {
        return None;
    }
    if PROMPT_HEADERS.contains(&header.to_lowercase().as_str()) {
        return Some(Label::Prompt);
    }
    if ACTIVITY_HEADERS.contains(&header.to_lowercase().as_str()) {
        return Some(Label::Activity);
    }
    // Words that end with a colon in titles may be written without it in a header.
    let with_colon = format!("{header}:");
    let is_whole = |title: &str| match read_title(title) {
        Title::Prompt(rest) => rest.is_empty() || matches!(rest, "…" | "..." | "Folgendes" | "folgendes"),
        _ => false,
    };
    if is_whole(header) || is_whole(&with_colon) {
        return Some(Label::Prompt);
    }
    (read_title(header) == Title::Activity).then_some(Label::Activity)
}

/// True if a title begins with words that only titles of Gemini begin with.
pub(super) fn is_gemini_title(title: &str) -> bool {
    /// Words with which titles of other products begin too.
    const AMBIGUOUS_BEGINNINGS: [&str; 7] =
        ["Asked", "Said", "Has dicho", "Answered", "Branched", "Prompt :", "Prompt:"];
    let is_shared = AMBIGUOUS_BEGINNINGS.iter().any(|words| {
        strip_prefix_ignoring_case(title.trim(), words)
            .is_some_and(|rest| !rest.trim_start().starts_with("Gemini") && !rest.trim_start().starts_with("Bard"))
    });
    matches!(read_title(title), Title::Prompt(_)) && !is_shared
}

/// True if a prefix that was removed from a text ended with a whole word. `rest` is the text after the prefix.
fn is_end_of_word(rest: &str) -> bool {
    !rest.starts_with(char::is_alphanumeric)
}

fn strip_prefix_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Returns the first word of a title, by which prompts in an unknown language are recognised. None if the title is a
/// single word.
pub(super) fn first_word(title: &str) -> Option<&str> {
    let word = title.split_whitespace().next()?;
    (title.trim().len() > word.len()).then_some(word)
}

/// Returns a prompt without the line that states the number of its files (`Attached 2 files.`).
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
        assert_eq!(read_title("Prompt : Que mangent les limaces ?"), Title::Prompt("Que mangent les limaces ?"));
        assert_eq!(read_title("Prompt engineering"), Title::Unknown);
        assert_eq!(read_title("Asked: what eats slugs?"), Title::Prompt("what eats slugs?"));
        assert_eq!(read_title("Asked Gemini what eats slugs?"), Title::Prompt("what eats slugs?"));
        assert_eq!(read_title("Branched what else?"), Title::Prompt("what else?"));
        assert_eq!(read_title("Live Prompt hello there"), Title::Prompt("hello there"));
        assert_eq!(read_title("Answered survey question: how often"), Title::Activity);
        assert_eq!(read_title("Askedly wrong"), Title::Unknown);
        assert_eq!(read_title("Du hast „Was fressen Igel?“ eingegeben"), Title::Prompt("Was fressen Igel?"));
        assert_eq!(read_title("Du hast Folgendes eingegeben: Hallo"), Title::Prompt("Hallo"));
        assert_eq!(read_title("Created Gemini Canvas titled X"), Title::Activity);
        assert_eq!(read_title("Gave feedback: thumbs down"), Title::Activity);
        assert_eq!(read_title("Запрос: что едят слизни"), Title::Unknown);
        assert_eq!(without_file_count("look at this Attached 2 files."), "look at this");
        assert_eq!(without_file_count("Attached are files"), "Attached are files");
    }

    #[test]
    fn a_header_with_further_words_is_not_a_label() {
        let prompts =
            ["Prompted", "Prompted:", "Eingegebener Prompt", "Du hast … eingegeben", "送信したメッセージ", "Запрос"];
        for header in prompts {
            assert_eq!(label(header), Some(Label::Prompt), "{header}");
        }
        for header in ["Gave feedback", "Feedback", "Canvas"] {
            assert_eq!(label(header), Some(Label::Activity), "{header}");
        }
        for header in ["", "Gemini Apps", "Search", "YouTube", "Prompted what eats slugs?", "Canvas of slugs"] {
            assert_eq!(label(header), None, "{header}");
        }
        assert!(is_gemini_title("Prompted what?") && is_gemini_title("Asked Gemini what?"));
        assert!(!is_gemini_title("Prompt: what?"));
        assert!(!is_gemini_title("Asked what?") && !is_gemini_title("Searched for x"));
        assert!(!is_gemini_title("Has dicho pon música"));
    }
}
