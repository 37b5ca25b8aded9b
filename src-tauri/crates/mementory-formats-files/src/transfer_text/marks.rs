//! Recognises the start of a line: bullets, dates and headings.
use super::dates;

/// The marker at the start of an entry.
pub(super) struct Marker<'t> {
    /// The text after the marker.
    pub rest: &'t str,
    /// The text in brackets, or the ISO day at the start of the line. None for a bullet without a date.
    pub date_raw: Option<&'t str>,
    /// True for a date or a word for "unknown" in brackets, and for a leading ISO day.
    pub is_dated: bool,
    /// True for a date or a few words of any language in brackets, followed by a dash: the form that import prompts
    /// request.
    pub is_bracketed: bool,
}

/// The marker of a line: a bullet, a date in brackets, a leading ISO day, or a bullet and a date.
pub(super) fn parse_marker(text: &str) -> Option<Marker<'_>> {
    let bullet = strip_bullet(text);
    let rest = bullet.unwrap_or(text);
    date_marker(rest)
        .or_else(|| bullet.map(|rest| Marker { rest, date_raw: None, is_dated: false, is_bracketed: false }))
}

/// The text after a bullet: `- x`, `* x`, `• x`, `– x`, `— x`, `1. x`, `(1) x`.
pub(super) fn strip_bullet(text: &str) -> Option<&str> {
    for mark in ["-", "*", "•", "–", "—"] {
        if let Some(rest) = text.strip_prefix(mark).filter(|r| r.starts_with([' ', '\t'])) {
            return Some(rest.trim_start());
        }
    }
    let from_number = text.strip_prefix('(').unwrap_or(text);
    let digit_count = from_number.bytes().take_while(u8::is_ascii_digit).count();
    let after_number = from_number[digit_count..].strip_prefix(['.', ')']).filter(|r| r.starts_with([' ', '\t']))?;
    (1..=3).contains(&digit_count).then(|| after_number.trim_start())
}

/// A marker with a date: `[date] - x`, `[date] x`, `[date]. x`, `[unknown] – x`, `[sconosciuto] - x`, `2025-04-01: x`.
pub(super) fn date_marker(text: &str) -> Option<Marker<'_>> {
    if let Some((inside, after_bracket)) = text.strip_prefix('[').and_then(|t| t.split_once(']')) {
        let inside = inside.trim();
        let is_known = is_date_word(inside);
        let marker = |rest, is_bracketed| Marker { rest, date_raw: Some(inside), is_dated: is_known, is_bracketed };
        if let Some(rest) = text_after_separator(after_bracket) {
            let has_dash = !after_bracket.trim_start().starts_with(':');
            return Some(marker(rest, is_known || has_dash && may_mean_unknown(inside)));
        }
        // Without a separator, only a day or a word for "unknown" is a marker, because `[link](url)`, `[x] task` and
        // the time stamps of log files are in brackets too. ChatGPT writes a full stop after the date: `1.
        // [2025-04-01]. x`.
        let rest = after_bracket.trim_start_matches('.').trim_start();
        let has_text = !rest.is_empty() && !after_bracket.starts_with('(') && !inside.contains(':');
        return (is_known && has_text).then(|| marker(rest, true));
    }
    let (day_text, rest) = text.split_at_checked(10)?;
    dates::parse_day(day_text)?;
    let after_time = rest
        .strip_prefix('T')
        .map_or(rest, |t| t.trim_start_matches(|c: char| c.is_ascii_digit() || ":.Z+".contains(c)));
    let date_raw = &text[..text.len() - after_time.len()];
    Some(Marker {
        rest: text_after_separator(after_time)?,
        date_raw: Some(date_raw),
        is_dated: true,
        is_bracketed: false,
    })
}

/// The text after ` - `, ` – `, ` — ` or `: `.
fn text_after_separator(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    ["-", "–", "—", ":"].iter().find_map(|s| rest.strip_prefix(*s)).map(str::trim_start)
}

/// Words that assistants write for "unknown".
const WORDS_FOR_UNKNOWN: [&str; 26] = [
    "unknown",
    "undated",
    "no date",
    "date unknown",
    "unknown date",
    "n/a",
    "onbekend",
    "inconnu",
    "inconnue",
    "date inconnue",
    "unbekannt",
    "desconocido",
    "desconocida",
    "fecha desconocida",
    "sconosciuto",
    "sconosciuta",
    "desconhecido",
    "desconhecida",
    "nieznana",
    "неизвестно",
    "невідомо",
    "okänt",
    "ukjent",
    "ukendt",
    "不明",
    "未知",
];

fn is_date_word(bracket_text: &str) -> bool {
    let word = bracket_text.to_lowercase();
    dates::parse_day(&word).is_some() || WORDS_FOR_UNKNOWN.contains(&word.as_str())
}

/// True if the text in brackets may be a date or "unknown" in a language that is not in the list. Excludes numbers,
/// which may be footnotes, and words in capitals, which may be the levels of log lines.
fn may_mean_unknown(bracket_text: &str) -> bool {
    let is_number = bracket_text.chars().all(|c| c.is_ascii_digit());
    let is_log_level = bracket_text.chars().all(|c| c.is_ascii_uppercase());
    !is_number && !is_log_level && bracket_text.chars().count() <= 40
}

/// Headings that import prompts ask for, in several languages. An answer may have them as lines without any mark.
const PROMPT_HEADINGS: [&str; 30] = [
    "instructions",
    "identity",
    "career",
    "projects",
    "preferences",
    "anweisungen",
    "identität",
    "karriere",
    "projekte",
    "vorlieben",
    "präferenzen",
    "identité",
    "carrière",
    "projets",
    "préférences",
    "instrucciones",
    "identidad",
    "carrera",
    "proyectos",
    "preferencias",
    "istruzioni",
    "identità",
    "carriera",
    "progetti",
    "preferenze",
    "指示",
    "アイデンティティ",
    "キャリア",
    "プロジェクト",
    "好み",
];

/// The title of a heading: `# x`, `**x**`, a few words before a colon, a few words in capitals, or a heading that import
/// prompts ask for.
pub(super) fn heading_title(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('#') {
        let title = rest.trim_start_matches('#').trim();
        return (!title.is_empty()).then(|| title.trim_end_matches([':', '#', ' ']).to_owned());
    }
    if text.contains(" - ") {
        return None;
    }
    let bold_text = text.trim_end_matches(':').strip_prefix("**").and_then(|t| t.strip_suffix("**"));
    if let Some(inner) = bold_text.filter(|t| !t.contains("**")) {
        return Some(inner.trim().trim_end_matches(':').to_owned());
    }
    if PROMPT_HEADINGS.contains(&text.to_lowercase().as_str()) {
        return Some(text.to_owned());
    }
    let words = text.split_whitespace().count();
    if let Some(title) = text.strip_suffix(':').filter(|t| !t.is_empty() && words <= 8) {
        return Some(title.to_owned());
    }
    let letter_count = text.chars().filter(|c| c.is_alphabetic()).count();
    // Letters without case do not count as capitals, because `ABC社で働いている` is a sentence and not a heading.
    let has_only_capitals = text.chars().filter(|c| c.is_alphabetic()).all(char::is_uppercase);
    (has_only_capitals && letter_count >= 3 && words <= 6).then(|| text.to_owned())
}
