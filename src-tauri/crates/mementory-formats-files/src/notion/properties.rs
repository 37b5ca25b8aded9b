//! The properties of a page, which are the columns of its row in a database.
use super::page::{attribute, element};
use mementory_formats_shared::html::{self, RowKind, element_end, find_element};
use mementory_model::{Record, Timestamp};
use serde_json::Value;

const TABLE: RowKind = RowKind { name: "table", class: "properties" };
const ROW: RowKind = RowKind { name: "tr", class: "property-row" };
const NAME: RowKind = RowKind { name: "th", class: "" };
const VALUE: RowKind = RowKind { name: "td", class: "" };
const CHOICE: RowKind = RowKind { name: "span", class: "selected-value" };
/// Beginning of the class that names the type of a property.
const TYPE: &str = "property-row-";
/// Class of a ticked box.
const TICKED: &str = "checkbox-on";
/// Name of the property whose choices are the tags of the page.
const TAGS: &str = "tags";
/// Largest number of properties of a page, and of choices in one property. Notion allows 500 properties.
const MAX_ENTRIES: usize = 1000;
/// Longest name of a property in bytes. A longer one is the text after a cell without an end.
const MAX_NAME_BYTES: usize = 1000;
/// Notations of a time and of a day, in the order in which they are tried.
const TIME_FORMS: [&str; 2] = ["%B %d, %Y %I:%M %p", "%B %d, %Y %H:%M"];
const DAY_FORM: &str = "%B %d, %Y";

/// Adds the properties in the head of a page to its record: times, tags and fields. `source` is the page.
pub(super) fn add_to(record: &mut Record, source: &str) {
    let Some(table) = element(source, TABLE) else { return };
    for row in elements(table, ROW) {
        let (Some(name), Some(value)) = (element(row, NAME), element(row, VALUE)) else { continue };
        let name = html::to_text(name);
        let class = row.split('>').next().and_then(|tag| attribute(tag, "class")).unwrap_or_default();
        let kind = class.split_ascii_whitespace().find_map(|class| class.strip_prefix(TYPE)).unwrap_or_default();
        match kind {
            "created_time" => record.times.created = time(&html::to_text(value)),
            "last_edited_time" => record.times.updated = time(&html::to_text(value)),
            "multi_select" if name.eq_ignore_ascii_case(TAGS) => {
                record.tags = choices(value);
                continue;
            }
            _ => {}
        }
        let value = match kind {
            "checkbox" => Value::Bool(value.contains(TICKED)),
            "multi_select" => choices(value).into(),
            _ => html::to_text(value).into(),
        };
        let is_empty = value.as_str().is_some_and(str::is_empty) || value.as_array().is_some_and(Vec::is_empty);
        if !is_empty && !name.is_empty() && name.len() <= MAX_NAME_BYTES {
            record.fields.insert(name, value);
        }
    }
}

fn choices(value: &str) -> Vec<String> {
    elements(value, CHOICE).into_iter().map(html::to_text).filter(|choice| !choice.is_empty()).collect()
}

/// The source texts of the elements of a kind, at most [`MAX_ENTRIES`].
fn elements(text: &str, kind: RowKind) -> Vec<&str> {
    let (mut out, mut at) = (Vec::new(), 0);
    while out.len() < MAX_ENTRIES
        && let Some(tag) = find_element(text, at, kind)
        && let Some(rest) = text.get(tag.start..)
    {
        let length = element_end(rest, kind.name).unwrap_or(rest.len());
        out.extend(rest.get(..length));
        at = tag.start + length;
    }
    out
}

/// Parses a time as Notion shows it, with `@` before it. It states no time zone and is read as UTC. None for the
/// notations of other languages.
fn time(text: &str) -> Option<Timestamp> {
    let text = text.trim().trim_start_matches('@').trim();
    let parse = |form: &str| jiff::fmt::strtime::parse(form, text).ok();
    let moment = TIME_FORMS.into_iter().find_map(|form| Some(parse(form)?.to_datetime().ok()?.to_string()));
    let day = || Some(parse(DAY_FORM)?.to_date().ok()?.to_string());
    moment.or_else(day).as_deref().and_then(Timestamp::parse).or_else(|| Timestamp::parse(text))
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_are_read_as_notion_shows_them_in_english_and_in_numbers() {
        for (text, expected) in [
            ("@March 1, 2026 10:05 AM", Some("2026-03-01T10:05:00Z")),
            ("@December 24, 2025 9:30 PM", Some("2025-12-24T21:30:00Z")),
            ("@March 1, 2026 22:05", Some("2026-03-01T22:05:00Z")),
            ("March 1, 2026", Some("2026-03-01T00:00:00Z")),
            ("@2026-03-01", Some("2026-03-01T00:00:00Z")),
            ("@1. März 2026", None),
            ("", None),
        ] {
            assert_eq!(time(text).map(|time| time.to_rfc3339()).as_deref(), expected, "{text}");
        }
    }
}
