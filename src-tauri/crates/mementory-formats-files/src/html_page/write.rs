//! Writes the page: a table of contents, then memories and other records by platform, then conversations.
use super::{ARTICLE_END, ARTICLE_START, FORMAT_MARK, ID, VERSION, escape};
use mementory_format::{FormatError, RecordSource, SourceDescription, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::nothing_to_write;
use mementory_formats_shared::export_files::{
    groups::{Groups, Thread, conversation_of},
    readable::{Readable, is_readable, shown_time, shown_title, values_of},
    strip::ExportSource,
};
use mementory_formats_shared::new_files::NewFile;
use mementory_model::{Kind, Record};
use std::{fmt::Write as _, path::Path};

/// Styles of the page. The page has no scripts and makes no requests.
const STYLE: &str = include_str!("page.css");

/// The head up to the title. Its policy forbids everything except the style above, so that no text of a record can load
/// or run anything.
const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";

/// The data about the records that must be collected before the first byte is written.
#[derive(Default)]
struct Contents {
    conversations: Groups,
    titles: Vec<(String, String)>,
    sections: Vec<(String, u64)>,
}

/// Writes all records to `out`. Without a path, nothing is written, but the report is the same.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let source = &mut ExportSource::new(source, options);
    let mut contents = Contents::default();
    source.records(&mut |stored| {
        contents.add(&stored);
        Ok(())
    })?;
    if out.is_some() && contents.titles.is_empty() && contents.sections.is_empty() {
        return Err(nothing_to_write(ID));
    }
    let mut readable = Readable::new(VERSION);
    let mut page = Page { file: NewFile::create(out)?, section: None, sections: 0, conversations: 0 };
    let description = source.description();
    page.file.add(&head(&description))?;
    page.file.add(&contents.text())?;
    source.records(&mut |stored| {
        if conversation_of(&stored).is_some() {
            return Ok(());
        }
        let Some(stored) = readable.prepare(stored) else { return Ok(()) };
        page.add_record(&stored.record)
    })?;
    page.end_section()?;
    contents.conversations.each(source, conversation_of, &mut |_, group| {
        let prepared_records = group.into_iter().filter_map(|stored| readable.prepare(stored)).collect();
        page.add_conversation(&Thread::new(prepared_records))
    })?;
    page.file.add("</main>\n</body>\n</html>\n")?;
    page.file.finish()?;
    readable.finish(source, false)
}

fn head(description: &SourceDescription) -> String {
    let mut out = format!("{HEAD}{FORMAT_MARK}\n{POLICY}<title>");
    escape::push(&mut out, &description.name);
    let _ = write!(out, "</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>");
    escape::push(&mut out, &description.name);
    let _ = write!(out, "</h1>\n<p>{} UTC</p>\n</header>\n", shown_time(Some(description.now)));
    out
}

/// The section of a record that is not part of a conversation.
fn section_of(record: &Record) -> String {
    let kind = match record.kind {
        Kind::Memory => "Memories",
        Kind::Profile => "Profiles",
        Kind::Entity => "People, places and things",
        Kind::Relation => "Relations",
        Kind::Fact => "Facts",
        Kind::Resource => "Documents",
        Kind::Chunk => "Parts of documents",
        Kind::Procedure => "Instructions",
        Kind::Todo => "Tasks",
        Kind::Attachment => "Files",
        Kind::Audit => "Events",
        _ => "Other records",
    };
    let platform: String = record.source.platform.chars().filter(|c| !c.is_control()).take(60).collect();
    if platform.trim().is_empty() { kind.to_owned() } else { format!("{kind} \u{b7} {platform}") }
}

impl Contents {
    fn add(&mut self, stored: &StoredRecord) {
        match conversation_of(stored) {
            Some(group) => {
                let before = self.conversations.len();
                self.conversations.add(group, stored);
                if self.conversations.len() > before {
                    self.titles.push((shown_title(&stored.record), shown_time(stored.record.times.created)));
                }
            }
            None if !is_readable(stored) => {}
            None => {
                let name = section_of(&stored.record);
                match self.sections.last_mut().filter(|(last, _)| *last == name) {
                    Some((_, count)) => *count += 1,
                    None => self.sections.push((name, 1)),
                }
            }
        }
    }

    fn text(&self) -> String {
        let mut out = String::from("<nav>\n<h2>Contents</h2>\n<ul>\n");
        for (number, (name, count)) in self.sections.iter().enumerate() {
            let _ = write!(out, "<li><a href=\"#s{}\">", number + 1);
            escape::push(&mut out, name);
            let _ = writeln!(out, "</a> <small>{count}</small></li>");
        }
        for (number, (title, time)) in self.titles.iter().enumerate() {
            let _ = write!(out, "<li><a href=\"#c{}\">", number + 1);
            escape::push(&mut out, title);
            let _ = writeln!(out, "</a> <small>{time}</small></li>");
        }
        out.push_str("</ul>\n</nav>\n<main>\n");
        out
    }
}

/// The page that is being written.
struct Page {
    file: NewFile,
    section: Option<String>,
    sections: usize,
    conversations: usize,
}

impl Page {
    fn add_record(&mut self, record: &Record) -> Result<(), FormatError> {
        let name = section_of(record);
        if self.section.as_ref() != Some(&name) {
            self.end_section()?;
            self.sections += 1;
            let mut heading = format!("<section id=\"s{}\">\n<h2>", self.sections);
            escape::push(&mut heading, &name);
            heading.push_str("</h2>\n");
            self.file.add(&heading)?;
            self.section = Some(name);
        }
        // A record without a title gets no heading, because the first line of its text is not a title.
        let title = record.title.as_ref().map_or_else(String::new, |_| shown_title(record));
        self.file.add(&article(record, "h3", &title))
    }

    fn end_section(&mut self) -> Result<(), FormatError> {
        if self.section.take().is_some() { self.file.add("</section>\n") } else { Ok(()) }
    }

    fn add_conversation(&mut self, thread: &Thread) -> Result<(), FormatError> {
        self.conversations += 1;
        self.file.add(&format!("<section id=\"c{}\">\n", self.conversations))?;
        if let Some(stored) = &thread.conversation {
            self.file.add(&article(&stored.record, "h2", &shown_title(&stored.record)))?;
        }
        for message in &thread.messages {
            let role = message.record.message.as_ref().map_or("", |part| part.role.as_str());
            self.file.add(&article(&message.record, "h3", role))?;
        }
        self.file.add("</section>\n")
    }
}

/// A record as HTML: its values as attributes, a heading and details for people, and its text.
fn article(record: &Record, heading: &str, title: &str) -> String {
    let part = record.message.as_ref();
    let role = match part.map(|p| p.role.as_str()) {
        Some("user") => " user",
        Some("assistant") => " assistant",
        Some(_) => " other",
        None => "",
    };
    let aside_class = if part.is_some_and(|p| p.hidden || !p.active) { " aside" } else { "" };
    let mut out = format!("{ARTICLE_START}class=\"{}{role}{aside_class}\"", record.kind.as_str());
    for (name, value) in values_of(record).iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(out, " data-{}=\"", name.replace('_', "-"));
        escape::push_value(&mut out, value);
        out.push('"');
    }
    out.push_str(">\n");
    if !title.is_empty() {
        let _ = write!(out, "<{heading}>");
        escape::push(&mut out, title);
        let _ = writeln!(out, "</{heading}>");
    }
    let details = [
        shown_time(record.times.created),
        part.map_or_else(|| record.source.platform.clone(), |p| p.model.clone().unwrap_or_default()),
        record.source.method.clone().unwrap_or_default(),
        record.tags.join(", "),
        record.attachments.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(", "),
    ];
    let details: Vec<&str> = details.iter().map(String::as_str).filter(|detail| !detail.trim().is_empty()).collect();
    if !details.is_empty() {
        out.push_str("<p class=\"facts\">");
        escape::push_value(&mut out, &details.join(" \u{b7} "));
        out.push_str("</p>\n");
    }
    out.push_str("<div class=\"text\">");
    escape::push(&mut out, &record.text);
    let _ = writeln!(out, "</div>\n{ARTICLE_END}");
    out
}
