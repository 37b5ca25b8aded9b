//! Reads the records of a page that this format wrote, line by line. The text between the records is only for human
//! readers and is ignored.
use super::{ARTICLE_END, ARTICLE_START, ID, VERSION, escape::unescape};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Sink};
use mementory_formats_shared::{
    export_files::readable::record_of,
    lines::{Line, Lines},
    reader::FileReader,
};
use mementory_model::{DroppedAs, Record, Unit};
use std::{collections::HashMap, io::Read};

/// The tags before and after the text of a record.
const TEXT: &str = "<div class=\"text\">";
const TEXT_END: &str = "</div>";

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    FileReader::new(ID, catalog, context, sink).each_file(detected, |reader, member, _| {
        let catalog = reader.catalog;
        catalog.read(member, |bytes| read_page(reader, member, bytes))
    })
}

fn read_page(reader: &mut FileReader<'_>, member: &Member, bytes: &mut dyn Read) -> Result<(), FormatError> {
    let limits = &reader.context.limits;
    let (limit, line_limit) = (limits.element_bytes, limits.line_bytes.max(limits.element_bytes));
    let mut lines = Lines::new(bytes, line_limit);
    let (mut number, mut article) = (0_u64, None::<ArticleLines>);
    while let Some(line) = lines.next_line().map_err(|e| FormatError::io(&member.place, e))? {
        number += 1;
        let Line::Text(line) = line else {
            article.iter_mut().for_each(|open| open.is_too_large = true);
            continue;
        };
        let text = String::from_utf8_lossy(line);
        if text.starts_with(ARTICLE_START) {
            if let Some(open) = article.take() {
                drop_article(reader, member, open.line, "truncated: this record has no end");
            }
            article = Some(ArticleLines { line: number, html: String::new(), is_too_large: false });
        }
        let Some(open) = &mut article else { continue };
        open.is_too_large |= (open.html.len() + line.len()) as u64 > limit;
        if open.is_too_large {
            open.html = String::new();
        } else {
            open.html.push_str(&text);
        }
        if text.trim_end().ends_with(ARTICLE_END)
            && let Some(done) = article.take()
        {
            send(reader, member, &done)?;
        }
    }
    if let Some(open) = article {
        drop_article(reader, member, open.line, "truncated: the file ends inside this record");
    }
    Ok(())
}

/// The lines of one record's `<article>`.
struct ArticleLines {
    line: u64,
    html: String,
    is_too_large: bool,
}

fn drop_article(reader: &mut FileReader<'_>, member: &Member, line: u64, reason: &str) {
    reader.report_dropped(format!("{}#line {line}", member.place), DroppedAs::Failed, reason, None);
}

fn send(reader: &mut FileReader<'_>, member: &Member, article: &ArticleLines) -> Result<(), FormatError> {
    let result = match article.is_too_large {
        true => Err("too_large: this record is larger than the limit"),
        false => record(&article.html).ok_or("malformed: this record is of no known kind"),
    };
    match result {
        Ok(mut record) => {
            record.origin.version = Some(VERSION.into());
            record.origin.container.clone_from(&member.place);
            record.origin.pointer = format!("line {}", article.line);
            reader.sink.unit(Unit::from(record))
        }
        Err(reason) => {
            drop_article(reader, member, article.line, reason);
            Ok(())
        }
    }
}

fn record(html: &str) -> Option<Record> {
    let tag = html.strip_prefix(ARTICLE_START)?;
    let (attributes, inside) = tag.split_once('>')?;
    let values = attribute_values(attributes);
    let text = inside.split_once(TEXT).and_then(|(_, rest)| rest.split_once(TEXT_END)).map_or("", |(text, _)| text);
    record_of(ID, unescape(text), |name| values.get(name).cloned().unwrap_or_default())
}

/// Parses the attributes `data-…` into a map. `data-record-type` gets the key `record_type`.
fn attribute_values(mut attributes: &str) -> HashMap<String, String> {
    let mut out = HashMap::new();
    while let Some((before, rest)) = attributes.split_once("=\"") {
        let Some((value, rest)) = rest.split_once('"') else { break };
        let name = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        if let Some(name) = name.strip_prefix("data-") {
            out.insert(name.replace('-', "_"), unescape(value));
        }
        attributes = rest;
    }
    out
}
