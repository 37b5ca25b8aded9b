//! Memory lists as text: dated lines, bullets, sentences per line, paragraphs (formats/mem.md §15, transfer text).
use super::dates;
use jiff::civil::Date;
use sha2::Digest;

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// What it says, marker and date taken off; further lines joined by line breaks.
    pub content: String,
    /// Its day, if it gives one.
    pub day: Option<Date>,
    /// The date as written, also when it is none.
    pub date_raw: Option<String>,
    /// Heading above it.
    pub section: Option<String>,
    /// First line in the source, from 1.
    pub line: usize,
    /// Its own lines as they stand in the source.
    pub source: String,
}

impl Entry {
    fn plain(text: &str, line: &Line<'_>, section: &Option<String>) -> Self {
        Self {
            content: text.to_owned(),
            day: None,
            date_raw: None,
            section: section.clone(),
            line: line.number,
            source: line.text.to_owned(),
        }
    }

    /// `tx_` and 24 hex digits: the same words of the same day are the same memory, wherever they are pasted from.
    pub fn id(&self) -> String {
        let day = self.day.map(|d| d.to_string()).unwrap_or_default();
        text_id(&day, &self.content)
    }
}

/// `tx_` + the first 24 hex digits of SHA-256 of day, line break, content.
pub(super) fn text_id(day: &str, content: &str) -> String {
    let digest = hex::encode(sha2::Sha256::digest(format!("{day}\n{content}").as_bytes()));
    format!("tx_{}", &digest[..24])
}

/// What a text holds.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub entries: Vec<Entry>,
    /// Headings, in order.
    pub sections: Vec<String>,
    /// Entries with a date or `[unknown]` in brackets, or a leading ISO day.
    pub dated: usize,
    /// Lines that are neither heading nor entry, in a list that has entries.
    pub loose_lines: usize,
    /// No markers: each line was a sentence of its own.
    pub by_line: bool,
}

struct Line<'t> {
    number: usize,
    text: &'t str,
}

/// Line ends made `\n`.
pub(super) fn unix(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")
}

/// Reads the entries of a text with `\n` line ends. If there are code fences, only what is inside counts.
pub(super) fn read(text: &str) -> Entries {
    let lines = wanted_lines(text);
    let mut out = Entries::default();
    if lines.iter().any(|l| marker(l.text.trim_start()).is_some()) {
        list(&lines, &mut out)
    } else {
        prose(&lines, &mut out)
    }
    for entry in &mut out.entries {
        entry.content = entry.content.trim().to_owned();
    }
    out.entries.retain(|e| e.content.chars().any(char::is_alphanumeric));
    out
}

fn wanted_lines(text: &str) -> Vec<Line<'_>> {
    let all: Vec<Line<'_>> = text.lines().enumerate().map(|(i, text)| Line { number: i + 1, text }).collect();
    if !all.iter().any(|l| l.text.starts_with("```")) {
        return all;
    }
    let mut inside = false;
    all.into_iter()
        .filter(|l| {
            let fence = l.text.starts_with("```");
            inside ^= fence;
            inside && !fence
        })
        .collect()
}

/// Lines with markers: each marker starts an entry, what directly follows belongs to it.
fn list(lines: &[Line<'_>], out: &mut Entries) {
    // Between dated entries other lines are the assistant's own words about them; among bullets they are content.
    let chatter = lines.iter().any(|l| marker(l.text.trim_start()).is_some_and(|m| m.dated));
    let mut section: Option<String> = None;
    let mut open = false;
    for line in lines {
        let text = line.text.trim();
        let indented = line.text.starts_with([' ', '\t']);
        if text.is_empty() {
            open = false;
        } else if let Some(found) = marker(text).filter(|_| !(open && indented && marker_is_weak(text))) {
            out.dated += usize::from(found.dated);
            out.entries.push(Entry {
                content: found.rest.to_owned(),
                day: found.date_raw.and_then(dates::day),
                date_raw: found.date_raw.map(str::to_owned),
                section: section.clone(),
                line: line.number,
                source: line.text.to_owned(),
            });
            open = true;
        } else if let Some(title) = header(text).filter(|_| !indented) {
            out.sections.push(title.clone());
            section = Some(title);
            open = false;
        } else if let Some(entry) = out.entries.last_mut().filter(|_| open) {
            entry.content.push('\n');
            entry.content.push_str(text);
            entry.source.push('\n');
            entry.source.push_str(line.text);
        } else if chatter {
            out.loose_lines += 1;
        } else {
            out.entries.push(Entry::plain(text, line, &section));
            open = true;
        }
    }
}

/// An indented bullet under an open entry is part of it.
fn marker_is_weak(text: &str) -> bool {
    dated(strip_bullet(text).unwrap_or(text)).is_none()
}

/// No markers: sentences one per line (ChatGPT's memory page), else paragraphs.
fn prose(lines: &[Line<'_>], out: &mut Entries) {
    let ends = |t: &str| t.trim_end().ends_with(['.', '!', '?', '。', '！', '？']);
    let said: Vec<&Line<'_>> =
        lines.iter().filter(|l| !l.text.trim().is_empty() && header(l.text.trim()).is_none()).collect();
    out.by_line = said.len() > 1 && said.iter().all(|l| ends(l.text) && l.text.len() < 600);
    let mut section: Option<String> = None;
    let mut open = false;
    for line in lines {
        let text = line.text.trim();
        if text.is_empty() {
            open = false;
        } else if let Some(title) = header(text) {
            out.sections.push(title.clone());
            section = Some(title);
            open = false;
        } else if let Some(entry) = out.entries.last_mut().filter(|_| open && !out.by_line) {
            entry.content.push('\n');
            entry.content.push_str(text);
            entry.source.push('\n');
            entry.source.push_str(line.text);
        } else {
            out.entries.push(Entry::plain(text, line, &section));
            open = true;
        }
    }
}

struct Marker<'t> {
    rest: &'t str,
    date_raw: Option<&'t str>,
    /// A bracket with a date or a word for "unknown", or an ISO day in front.
    dated: bool,
}

/// A bullet, a date in brackets, a leading ISO day, or a bullet and a date.
fn marker(text: &str) -> Option<Marker<'_>> {
    let bullet = strip_bullet(text);
    let rest = bullet.unwrap_or(text);
    dated(rest).or_else(|| bullet.map(|rest| Marker { rest, date_raw: None, dated: false }))
}

/// `- x`, `* x`, `• x`, `– x`, `— x`, `1. x`, `(1) x`.
fn strip_bullet(text: &str) -> Option<&str> {
    for mark in ["-", "*", "•", "–", "—"] {
        if let Some(rest) = text.strip_prefix(mark).filter(|r| r.starts_with([' ', '\t'])) {
            return Some(rest.trim_start());
        }
    }
    let numbered = text.strip_prefix('(').unwrap_or(text);
    let digits = numbered.bytes().take_while(u8::is_ascii_digit).count();
    let after = numbered[digits..].strip_prefix(['.', ')']).filter(|r| r.starts_with([' ', '\t']))?;
    (1..=3).contains(&digits).then(|| after.trim_start())
}

fn dated(text: &str) -> Option<Marker<'_>> {
    if let Some((inside, rest)) = text.strip_prefix('[').and_then(|t| t.split_once(']')) {
        let rest = separated(rest)?;
        // `[link](url)` and `[x] task` have no separator behind the bracket.
        return Some(Marker { rest, date_raw: Some(inside.trim()), dated: is_date_word(inside) });
    }
    let (lead, rest) = text.split_at_checked(10)?;
    dates::day(lead)?;
    let after_time = rest
        .strip_prefix('T')
        .map_or(rest, |t| t.trim_start_matches(|c: char| c.is_ascii_digit() || ":.Z+".contains(c)));
    let date_raw = &text[..text.len() - after_time.len()];
    Some(Marker { rest: separated(after_time)?, date_raw: Some(date_raw), dated: true })
}

/// What follows ` - `, ` – `, ` — ` or `: `.
fn separated(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    ["-", "–", "—", ":"].iter().find_map(|s| rest.strip_prefix(*s)).map(str::trim_start)
}

fn is_date_word(inside: &str) -> bool {
    let word = inside.trim().to_lowercase();
    dates::day(&word).is_some()
        || ["unknown", "undated", "no date", "n/a", "onbekend", "inconnu", "unbekannt", "desconocido", "不明", "未知"]
            .contains(&word.as_str())
}

/// `# x`, `**x**`, a few words ending in a colon, a few words all in capitals.
pub(super) fn header(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('#') {
        let title = rest.trim_start_matches('#').trim();
        return (!title.is_empty()).then(|| title.trim_end_matches([':', '#', ' ']).to_owned());
    }
    if text.contains(" - ") {
        return None;
    }
    let bold = text.trim_end_matches(':').strip_prefix("**").and_then(|t| t.strip_suffix("**"));
    if let Some(inner) = bold.filter(|t| !t.contains("**")) {
        return Some(inner.trim().trim_end_matches(':').to_owned());
    }
    let words = text.split_whitespace().count();
    if let Some(title) = text.strip_suffix(':').filter(|t| !t.is_empty() && words <= 8) {
        return Some(title.to_owned());
    }
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let capitals =
        letters >= 3 && words <= 6 && text.chars().all(|c| !c.is_lowercase()) && text.chars().any(char::is_uppercase);
    capitals.then(|| text.to_owned())
}
