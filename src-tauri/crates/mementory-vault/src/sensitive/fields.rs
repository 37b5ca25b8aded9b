//! Lists the texts of a record that are scanned, and finds sensitive values in a text.
use mementory_model::Record;
use mementory_scan::{Class, Finding};

/// Returns the scanned texts of a record, each with its field number in the store: text, title, texts of its files, and
/// other blocks (thinking, tool calls).
pub(crate) fn fields(record: &Record) -> impl Iterator<Item = (u32, &str)> {
    let files = record.attachments.iter().enumerate();
    let files = files.filter_map(|(n, file)| file.text.as_deref().map(|text| (2 + 2 * n as u32, text)));
    let blocks = record.fields.get("blocks").and_then(|blocks| blocks.as_array()).into_iter().flatten().enumerate();
    let blocks = blocks.filter_map(|(n, block)| block.get("text")?.as_str().map(|text| (3 + 2 * n as u32, text)));
    let text_and_title = [(0, record.text.as_str()), (1, record.title.as_deref().unwrap_or_default())];
    text_and_title.into_iter().chain(files).chain(blocks)
}

/// Field number in the store for a plaintext secret in a credential.
pub(crate) const VERBATIM_FIELD: u32 = u32::MAX;
/// Name of the detector for a plaintext secret in a credential.
pub(crate) const STORED_SECRET_DETECTOR: &str = "plain_secret";

/// Returns the name of a field, given by its number in the store.
pub(crate) fn field_name(field: u32) -> &'static str {
    match field {
        VERBATIM_FIELD => "verbatim",
        0 => "text",
        1 => "title",
        n if n % 2 == 0 => "file",
        _ => "block",
    }
}

/// Calls `report` for each finding, with the first code point, the code point after the last one, and the value itself.
pub(crate) fn for_each_finding(text: &str, mut report: impl FnMut(&Finding, u32, u32, &str)) {
    let (mut bytes, mut points) = (0, 0u32);
    for finding in mementory_scan::scan(text) {
        let value = &text[finding.start..finding.end];
        points += count_code_points(&text[bytes..finding.start]);
        let end = points + count_code_points(value);
        report(&finding, points, end, value);
        (bytes, points) = (finding.end, end);
    }
}

/// Calls `report` with the class and the text of each sensitive value.
pub(crate) fn for_each_value(text: &str, mut report: impl FnMut(Class, &str)) {
    for_each_finding(text, |finding, _, _, value| report(finding.class, value));
}

pub(crate) fn count_code_points(text: &str) -> u32 {
    text.chars().count() as u32
}
