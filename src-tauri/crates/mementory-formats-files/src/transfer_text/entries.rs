//! Reads memory lists: dated lines, bullets, one sentence per line, or paragraphs.
use super::{
    dates,
    marks::{Marker, date_marker, heading_title, parse_marker, strip_bullet},
};
use jiff::civil::Date;
use sha2::Digest;

/// An entry of a memory list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Text of the entry without marker and date, with its lines joined by line feeds.
    pub content: String,
    /// The day, if the entry has a valid date.
    pub day: Option<Date>,
    /// The date as written in the text, even if it is not valid.
    pub date_raw: Option<String>,
    /// Heading above the entry.
    pub section: Option<String>,
    /// Number of the entry's first line in the source, counted from 1.
    pub line: usize,
    /// The lines of the entry, unchanged from the source.
    pub source: String,
}

impl Entry {
    fn from_line(text: &str, line: &Line<'_>, section: &Option<String>) -> Self {
        Self {
            content: text.to_owned(),
            day: None,
            date_raw: None,
            section: section.clone(),
            line: line.number,
            source: line.text.to_owned(),
        }
    }

    /// Adds another line.
    fn add_line(&mut self, line: &Line<'_>) {
        self.content.push('\n');
        self.content.push_str(line.text.trim());
        self.source.push('\n');
        self.source.push_str(line.text);
    }

    /// Id of the entry, made from text and day, so that the same entry has the same id in every source.
    pub fn id(&self) -> String {
        let day = self.day.map(|d| d.to_string()).unwrap_or_default();
        text_id(&day, &self.content)
    }
}

/// `tx_` and the first 24 hex digits of the SHA-256 of day, line break and content.
pub(super) fn text_id(day: &str, content: &str) -> String {
    let digest = hex::encode(sha2::Sha256::digest(format!("{day}\n{content}").as_bytes()));
    format!("tx_{}", &digest[..24])
}

/// The entries and headings of a text.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub entries: Vec<Entry>,
    /// Headings in the order of the text.
    pub sections: Vec<String>,
    /// Number of entries that begin with a date in brackets, with a word for "unknown" in brackets, or with an ISO day.
    pub dated_count: usize,
    /// Number of entries that begin with a bullet or a date.
    pub marked_count: usize,
    /// Number of entries that begin with brackets in which there is a date, or a few words in any language.
    pub bracketed_count: usize,
    /// Number of lines before and after the list, in which the assistant talks about the list.
    pub lines_outside_list: usize,
    /// True if there are no markers and each line is a sentence.
    pub has_one_sentence_per_line: bool,
    /// True if only the content of code fences was read.
    pub is_from_code_fences: bool,
}

struct Line<'t> {
    number: usize,
    text: &'t str,
}

/// Converts all line ends to line feeds and removes a byte order mark.
pub(super) fn unix_line_ends(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")
}

/// Titles of the page from which people copy their saved memories, in the languages of ChatGPT.
const PAGE_TITLES: [&str; 20] = [
    "saved memories",
    "manage memories",
    "gespeicherte erinnerungen",
    "erinnerungen verwalten",
    "souvenirs enregistrés",
    "mémoires enregistrées",
    "recuerdos guardados",
    "memorias guardadas",
    "memorie salvate",
    "memórias salvas",
    "memórias guardadas",
    "opgeslagen herinneringen",
    "zapisane wspomnienia",
    "сохраненные воспоминания",
    "сохранённые воспоминания",
    "保存されたメモリ",
    "保存したメモリ",
    "저장된 메모리",
    "已保存的记忆",
    "已儲存的記憶",
];

/// True if the first line with text is the title of the page of saved memories.
pub(super) fn begins_with_page_title(text: &str) -> bool {
    text.lines().map(str::trim).find(|line| !line.is_empty()).is_some_and(is_page_title)
}

fn is_page_title(line: &str) -> bool {
    PAGE_TITLES.contains(&line.trim_end_matches([':', '：']).trim_end().to_lowercase().as_str())
}

/// First words of saved memories in English. ChatGPT writes memories in the third person and without a subject.
const MEMORY_OPENING_WORDS: [&str; 36] = [
    "is", "has", "prefers", "likes", "wants", "works", "lives", "uses", "enjoys", "needs", "plans", "owns", "user",
    "dislikes", "hates", "loves", "studies", "speaks", "was", "had", "does", "doesn't", "goes", "grows", "plays",
    "runs", "writes", "keeps", "eats", "drinks", "asked", "aims", "believes", "values", "moved", "born",
];

/// Beginnings of words that mean the person, in other languages. In Chinese, Japanese and Korean, no space follows the
/// word.
const WORDS_FOR_USER: [&str; 28] = [
    "nutzer",
    "benutzer",
    "utilisateur",
    "utilisatrice",
    "l'utilisat",
    "l’utilisat",
    "usuari",
    "usuári",
    "utente",
    "l'utente",
    "l’utente",
    "utilizador",
    "utilizator",
    "gebruiker",
    "użytkowni",
    "uživatel",
    "felhasználó",
    "käyttäjä",
    "användaren",
    "brukeren",
    "brugeren",
    "kullanıcı",
    "pengguna",
    "пользовател",
    "用户",
    "使用者",
    "ユーザー",
    "사용자",
];
/// Articles that may precede the word for the person.
const ARTICLES: [&str; 8] = ["der", "die", "le", "la", "el", "o", "a", "de"];

/// True if a line begins like a saved memory.
pub(super) fn begins_like_memory(text: &str) -> bool {
    let mut words = text.split_whitespace().map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    let names_user = |word: &str| WORDS_FOR_USER.iter().any(|name| word.starts_with(*name));
    MEMORY_OPENING_WORDS.contains(&first.trim_end_matches('\'').trim_end_matches("'s"))
        || names_user(&first)
        || ARTICLES.contains(&first.as_str()) && words.next().is_some_and(|word| names_user(&word))
}

/// Reads the entries of a text, whose line ends are line feeds. If there are code fences, only their content is read.
pub(super) fn read(text: &str) -> Entries {
    let (lines, is_from_code_fences) = lines_to_read(text);
    let mut out = Entries { is_from_code_fences, ..Entries::default() };
    if lines.iter().any(|l| parse_marker(l.text.trim_start()).is_some()) {
        read_list(&lines, &mut out);
    } else {
        read_prose(&lines, &mut out);
    }
    for entry in &mut out.entries {
        entry.content = entry.content.trim().to_owned();
    }
    // An entry without letters and digits is an ornament, unless it has a date.
    let has_words = |text: &str| text.chars().any(char::is_alphanumeric);
    out.entries.retain(|e| has_words(&e.content) || e.date_raw.is_some() && !e.content.is_empty());
    out
}

/// The lines to read, and true if they are from code fences.
fn lines_to_read(text: &str) -> (Vec<Line<'_>>, bool) {
    let mut all_lines: Vec<Line<'_>> = text.lines().enumerate().map(|(i, text)| Line { number: i + 1, text }).collect();
    // The title of the page is not a memory.
    if let Some(first) = all_lines.iter().position(|line| !line.text.trim().is_empty())
        && is_page_title(all_lines[first].text.trim())
    {
        all_lines.drain(..=first);
    }
    if !all_lines.iter().any(|l| l.text.starts_with("```")) {
        return (all_lines, false);
    }
    let mut is_inside_fence = false;
    let lines_in_fences = all_lines.into_iter().filter(|l| {
        let is_fence = l.text.starts_with("```");
        is_inside_fence ^= is_fence;
        is_inside_fence && !is_fence
    });
    (lines_in_fences.collect(), true)
}

/// Reads a list with markers. A marker starts an entry, and indented lines below it are part of the entry. Any other
/// line is a separate entry, because an assistant may leave out a date.
fn read_list(lines: &[Line<'_>], out: &mut Entries) {
    let list_range = list_range(lines, out.is_from_code_fences);
    // Each line is an entry if the list has dates or is in a code fence. In other lists, a paragraph may span several
    // lines.
    let has_dates =
        out.is_from_code_fences || lines.iter().any(|l| parse_marker(l.text.trim_start()).is_some_and(|m| m.is_dated));
    let by_line = has_dates || has_sentence_per_line(lines);
    let mut section: Option<String> = None;
    let (mut is_entry_open, mut is_paragraph) = (false, false);
    for (index, line) in lines.iter().enumerate() {
        let text = line.text.trim();
        let is_indented = line.text.starts_with([' ', '\t']);
        if text.is_empty() {
            is_entry_open = false;
        } else if let Some(marker) =
            parse_marker(text).filter(|_| !(is_entry_open && is_indented && is_bullet_without_date(text)))
        {
            out.push_marked(&marker, line, &section);
            (is_entry_open, is_paragraph) = (true, false);
        } else if let Some(title) = heading_title(text).filter(|_| !is_indented) {
            out.sections.push(title.clone());
            section = Some(title);
            is_entry_open = false;
        } else if let Some(entry) =
            out.entries.last_mut().filter(|_| is_entry_open && (is_indented || is_paragraph && !by_line))
        {
            entry.add_line(line);
        } else if !list_range.contains(&index) {
            out.lines_outside_list += 1;
        } else {
            out.entries.push(Entry::from_line(text, line, &section));
            (is_entry_open, is_paragraph) = (true, true);
        }
    }
}

/// Range of the lines that can be entries. In code fences and in a list without dates, these are all lines. A list with
/// dates extends from the first marker or heading to the end of the last entry, because the assistant may write lines
/// before and after it. A line that announces the list ("Here is everything I know:") does not count as a heading.
fn list_range(lines: &[Line<'_>], is_from_code_fences: bool) -> std::ops::Range<usize> {
    let begins_list = |l: &Line<'_>| {
        let text = l.text.trim();
        parse_marker(text).is_some() || heading_title(text).is_some_and(|title| !announces_list(text, &title))
    };
    let has_dates = lines.iter().any(|l| parse_marker(l.text.trim_start()).is_some_and(|m| m.is_dated));
    if is_from_code_fences || !has_dates {
        return 0..lines.len();
    }
    let first = lines.iter().position(begins_list).unwrap_or(0);
    let last = lines.iter().rposition(begins_list).unwrap_or(0);
    // Lines up to the next empty line are part of the last entry.
    let end = lines[last..].iter().position(|l| l.text.trim().is_empty()).map_or(lines.len(), |n| last + n);
    let ends_with_heading = parse_marker(lines[last].text.trim()).is_none();
    first..if ends_with_heading { lines.len() } else { end }
}

/// True for a line that announces a list, such as `Sure, here is everything I know:`.
fn announces_list(text: &str, title: &str) -> bool {
    text.ends_with(':') && !text.starts_with(['#', '*']) && title.split_whitespace().count() > 3
}

/// True if neither the line nor the text after its bullet begins with a date. Such a line is part of the entry above it
/// if it is indented.
fn is_bullet_without_date(text: &str) -> bool {
    date_marker(strip_bullet(text).unwrap_or(text)).is_none()
}

fn ends_a_sentence(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || "\"'”’)]»」*_".contains(c));
    text.ends_with(['.', '!', '?', '…', '。', '！', '？', '।', '؟'])
}

/// The lines that have text, are not headings, and do not begin with a marker.
fn text_lines<'l, 't>(lines: &'l [Line<'t>]) -> impl Iterator<Item = &'l Line<'t>> {
    lines.iter().filter(|l| {
        let text = l.text.trim();
        !text.is_empty() && heading_title(text).is_none() && parse_marker(text).is_none()
    })
}

/// True if the text seems to have one sentence on each line: of at least two lines shorter than 600 bytes, at least two
/// thirds end like a sentence or begin like a saved memory. A single missing full stop thus does not turn the list into
/// a paragraph.
fn has_sentence_per_line(lines: &[Line<'_>]) -> bool {
    let short_lines: Vec<&str> = text_lines(lines).map(|l| l.text.trim()).filter(|t| t.len() < 600).collect();
    let sentence_count = short_lines.iter().filter(|t| ends_a_sentence(t) || begins_like_memory(t)).count();
    short_lines.len() > 1 && 3 * sentence_count >= 2 * short_lines.len()
}

/// True if a line continues the sentence of the previous line.
fn continues_sentence(text: &str, previous_line: &str) -> bool {
    let is_unfinished =
        !previous_line.is_empty() && heading_title(previous_line).is_none() && !ends_a_sentence(previous_line);
    is_unfinished && text.starts_with(char::is_lowercase) && !begins_like_memory(text)
}

/// Reads a text without markers. Each entry is a line if the text has one sentence per line (as ChatGPT's memory page
/// has) or lines under headings; otherwise, each entry is a paragraph.
fn read_prose(lines: &[Line<'_>], out: &mut Entries) {
    out.has_one_sentence_per_line = has_sentence_per_line(lines);
    let has_headings = lines.iter().any(|l| heading_title(l.text.trim()).is_some());
    let wrapped_count = lines.windows(2).filter(|w| continues_sentence(w[1].text.trim(), w[0].text.trim())).count();
    // Under headings, each line is an entry, unless more than a quarter of the lines continue the line before.
    let by_line = out.has_one_sentence_per_line || has_headings && 4 * wrapped_count <= text_lines(lines).count();
    let mut section: Option<String> = None;
    let (mut is_entry_open, mut line_above) = (false, "");
    for line in lines {
        let text = line.text.trim();
        let is_continuation = !by_line || line.text.starts_with([' ', '\t']) || continues_sentence(text, line_above);
        if text.is_empty() {
            is_entry_open = false;
        } else if let Some(title) = heading_title(text) {
            out.sections.push(title.clone());
            section = Some(title);
            is_entry_open = false;
        } else if let Some(entry) = out.entries.last_mut().filter(|_| is_entry_open && is_continuation) {
            entry.add_line(line);
        } else {
            out.entries.push(Entry::from_line(text, line, &section));
            is_entry_open = true;
        }
        line_above = text;
    }
}

impl Entries {
    fn push_marked(&mut self, marker: &Marker<'_>, line: &Line<'_>, section: &Option<String>) {
        self.marked_count += 1;
        self.dated_count += usize::from(marker.is_dated);
        self.bracketed_count += usize::from(marker.is_bracketed);
        self.entries.push(Entry {
            day: marker.date_raw.and_then(dates::parse_day),
            date_raw: marker.date_raw.map(str::to_owned),
            ..Entry::from_line(marker.rest, line, section)
        });
    }
}
