//! A record as Markdown: a comment with its values, a heading, and its text as a quote. Every line of the text is
//! marked as part of the quote, so an open code fence, a heading or HTML in the text cannot affect later records.
use mementory_formats_shared::export_files::readable::{record_of, shown_time, values_of};
use mementory_model::{AttachmentRef, Record};
use serde_json::{Map, Value};

/// Beginning of the comment with the values of a record.
pub(super) const BEGIN: &str = "<!-- mementory {";
const COMMENT: &str = "<!-- mementory ";
const COMMENT_END: &str = " -->";
/// Member with the exact text, for texts that the quote cannot show.
const TEXT_MEMBER: &str = "text";
/// Member with the paths of the record's files, in the order of its attachments.
const FILES_MEMBER: &str = "files";

/// The lines of a record. `heading` is the mark of the heading, such as `##`. `path_to_folder` is the relative path
/// from the file to the exported folder.
pub(super) fn write(
    record: &Record,
    heading: &str,
    title: &str,
    files: &[Option<&str>],
    path_to_folder: &str,
) -> String {
    let mut values: Map<String, Value> =
        values_of(record).into_iter().filter(|(_, v)| !v.is_empty()).map(|(n, v)| (n.to_owned(), v.into())).collect();
    if shown_text(&record.text) != record.text {
        values.insert(TEXT_MEMBER.into(), record.text.as_str().into());
    }
    if files.iter().any(Option::is_some) {
        values.insert(FILES_MEMBER.into(), files.iter().map(|path| path.unwrap_or_default()).collect());
    }
    let mut out = format!("{COMMENT}{}{COMMENT_END}\n", comment_safe(&Value::Object(values)));
    // A record without a title has no heading.
    if !title.is_empty() {
        out.push_str(&format!("{heading} {}\n", escaped(title)));
    }
    let part = record.message.as_ref();
    let details = [
        shown_time(record.times.created),
        part.map_or_else(|| record.source.platform.clone(), |p| p.model.clone().unwrap_or_default()),
        record.source.method.clone().unwrap_or_default(),
        record.tags.join(", "),
        part.filter(|p| p.hidden).map(|_| "not shown".to_owned()).unwrap_or_default(),
        part.filter(|p| !p.active).map(|_| "another branch".to_owned()).unwrap_or_default(),
    ];
    let details: Vec<String> = details.iter().filter(|d| !d.trim().is_empty()).map(|detail| escaped(detail)).collect();
    if !details.is_empty() {
        out.push_str(&format!("\n{}\n", details.join(" \u{b7} ")));
    }
    if !record.text.is_empty() {
        out.push('\n');
        for line in shown_text(&record.text).split('\n') {
            out.push_str(if line.is_empty() { ">" } else { "> " });
            out.push_str(line);
            out.push('\n');
        }
    }
    let names: Vec<&str> = match record.attachments.is_empty() {
        true => vec![record.title.as_deref().unwrap_or("file")],
        false => record.attachments.iter().map(|file| file.name.as_str()).collect(),
    };
    let links = names.iter().zip(files).filter_map(|(name, path)| Some((name, (*path)?)));
    let links: Vec<String> =
        links.map(|(name, path)| format!("- [{}]({path_to_folder}{path})", escaped(name))).collect();
    if !links.is_empty() {
        out.push_str(&format!("\n{}\n", links.join("\n")));
    }
    out.push('\n');
    out
}

/// JSON that can neither end a comment nor begin a tag.
fn comment_safe(json: &Value) -> String {
    json.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace("--", "-\\u002d")
}

/// The text as Markdown can show it. All line breaks are line feeds, and control characters except tabs become U+FFFD.
fn shown_text(text: &str) -> String {
    let is_unfit =
        |c: char| c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().map(|c| if is_unfit(c) { '\u{fffd}' } else { c }).collect()
}

/// A short text on one line, escaped so that no character has a meaning in Markdown.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars().filter(|c| !c.is_control()).take(200) {
        if c.is_ascii_punctuation()
            && !matches!(c, ',' | ';' | ':' | '/' | '?' | '\'' | '"' | '%' | '@' | '=' | '.' | '-')
        {
            out.push('\\');
        }
        out.push(c);
    }
    // At the start of a line, a hyphen begins a list and `=` underlines a heading.
    if out.starts_with(['-', '=']) { format!("\\{out}") } else { out }
}

/// The state of a record while its lines are read.
pub(super) struct OpenNote {
    /// Number of the first line of the record.
    pub line: u64,
    pub is_too_large: bool,
    comment: String,
    quote: Vec<String>,
    size: u64,
    is_quote_done: bool,
}

impl OpenNote {
    /// Begins a record with the line of its comment.
    pub(super) fn new(line: u64, comment: &str) -> Self {
        Self {
            line,
            is_too_large: false,
            comment: comment.trim_end().to_owned(),
            quote: Vec::new(),
            size: comment.len() as u64,
            is_quote_done: false,
        }
    }

    /// Adds a line. Only the first quote is the text of the record.
    pub(super) fn add(&mut self, line: &str, limit: u64) {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        self.size += line.len() as u64;
        self.is_too_large |= self.size > limit;
        match line.strip_prefix('>') {
            Some(text) if !self.is_quote_done && !self.is_too_large => {
                self.quote.push(text.strip_prefix(' ').unwrap_or(text).to_owned());
            }
            Some(_) => {}
            None => self.is_quote_done |= !self.quote.is_empty(),
        }
    }

    /// The record, and its files with their paths. None if the values of the record cannot be read.
    pub(super) fn record(self, format: &str) -> Option<(Record, Vec<(AttachmentRef, String)>)> {
        let json = self.comment.strip_prefix(COMMENT)?.strip_suffix(COMMENT_END)?;
        let values: Map<String, Value> = serde_json::from_str(json).ok()?;
        let value = |name: &str| values.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let quote = self.quote.join("\n");
        // If a person edited the quote, the quote is the text of the record.
        let exact_text = Some(value(TEXT_MEMBER)).filter(|exact_text| shown_text(exact_text) == quote);
        let record = record_of(format, exact_text.unwrap_or(quote), value)?;
        let paths = values.get(FILES_MEMBER).and_then(Value::as_array).into_iter().flatten();
        let paths = paths.map(|path| path.as_str().unwrap_or_default().to_owned());
        let own_reference = || AttachmentRef {
            key: record.key.clone(),
            origin_id: record.origin_id.clone(),
            name: record.title.clone().unwrap_or_default(),
            media_type: record.record_type.clone(),
            size: None,
            text: None,
        };
        let files = match record.kind {
            mementory_model::Kind::Attachment => vec![own_reference()],
            _ => record.attachments.clone(),
        };
        let files = files.into_iter().zip(paths).filter(|(_, path)| !path.is_empty()).collect();
        Some((record, files))
    }
}
