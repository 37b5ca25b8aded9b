//! An activity in JSON: `{header, title, titleUrl?, time, products[], safeHtmlItem[{html}], subtitles[], …}`.
use super::activity::{Activity, add_file, chat_link, file_reference, is_product};
use super::verbs::{self, Title};
use mementory_formats_shared::{
    html,
    object::{Object, decode_string, list},
};
use mementory_model::{Timestamp, Verbatim};
use serde_json::value::RawValue;

/// Members with a field in the model.
const READ_MEMBERS: [&str; 6] = ["title", "time", "titleUrl", "safeHtmlItem", "attachedFiles", "imageFile"];

/// True if a row is an activity of Gemini, and not of another product of Google.
pub(super) fn is_gemini(row: &Object<'_>) -> bool {
    if row.text("titleUrl").is_some_and(|address| chat_link(&address).is_some()) {
        return true;
    }
    let names = products(row);
    if !names.is_empty() {
        return names.iter().any(|name| is_product(name));
    }
    // If no product is named, the row must have an answer and a title that begins like a known prompt.
    let title = row.text("title").unwrap_or_default().replace('\u{a0}', " ");
    row.has("safeHtmlItem") && matches!(verbs::read_title(&title), Title::Prompt(_))
}

/// Names of the products of a row: its header and the list of products.
pub(super) fn products(row: &Object<'_>) -> Vec<String> {
    let listed = row.list("products").unwrap_or_default().into_iter().filter_map(decode_string);
    row.non_blank_text("header").into_iter().chain(listed).map(std::borrow::Cow::into_owned).collect()
}

/// Reads a row of Gemini. None if the row has neither a prompt nor an answer.
pub(super) fn read(text: &str, row: &Object<'_>, pointer: &str) -> Option<Activity> {
    let mut activity = Activity {
        title: row.text("title").unwrap_or_default().replace('\u{a0}', " ").trim().to_owned(),
        time: row.text("time").and_then(|time| Timestamp::parse(&time)),
        verbatim: Some(Verbatim::json(text)),
        pointer: pointer.to_owned(),
        ..Activity::default()
    };
    if activity.time.is_none() {
        activity.stamp = row.raw_value("time").map_or_else(String::new, |raw| raw.get().to_owned());
    }
    activity.answer = row.raw_value("safeHtmlItem").and_then(answer).or_else(|| detail(row, "response"));
    let request = detail(row, "request");
    // Some records have the name of the activity as their title, and the prompt among the details.
    let is_named = matches!(verbs::read_title(&activity.title), Title::Activity | Title::Unknown);
    if let Some(request) = request.filter(|_| is_named) {
        let title = std::mem::replace(&mut activity.title, request.trim().to_owned());
        activity.is_request = true;
        if !title.is_empty() {
            activity.fields.insert("title".into(), title.into());
        }
    } else if activity.title.is_empty() {
        activity.title = row.non_blank_text("text").map(|text| text.trim().to_owned()).unwrap_or_default();
    }
    if activity.title.is_empty() && activity.answer.is_none() {
        return None;
    }
    let details = row.list("details").unwrap_or_default();
    let detail_links = details.iter().filter_map(|raw| Object::parse(raw.get())?.text("url"));
    activity.chat = row.text("titleUrl").into_iter().chain(detail_links).find_map(|address| chat_link(&address)?);
    read_files(row, &mut activity);
    for (name, raw) in row.members().filter(|(name, _)| !READ_MEMBERS.contains(name)) {
        if let Ok(value) = serde_json::from_str(raw.get()) {
            activity.fields.insert(name.into(), value);
        }
    }
    Some(activity)
}

/// The text of an answer, which may be an object `{html}`, a list of such objects, or a string.
fn answer(raw: &RawValue) -> Option<String> {
    let mut texts = Vec::new();
    for item in list(raw).unwrap_or_else(|| vec![raw]) {
        let source = decode_string(item).or_else(|| {
            let object = Object::parse(item.get())?;
            ["html", "htmlValue", "text"].iter().find_map(|key| object.non_blank_text(key))
        });
        texts.extend(source.map(|source| html::to_text(&source)).filter(|text| !text.trim().is_empty()));
    }
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// A prompt or an answer in `details[{name, value}]`, or in `userInteractions[].userInteraction`, where it may be JSON
/// inside a string.
fn detail(row: &Object<'_>, wanted_name: &str) -> Option<String> {
    for raw in row.list("details").unwrap_or_default() {
        let Some(object) = Object::parse(raw.get()) else { continue };
        if object.text("name").is_some_and(|name| name.eq_ignore_ascii_case(wanted_name)) {
            return object.non_blank_text("value").map(std::borrow::Cow::into_owned);
        }
    }
    for raw in row.list("userInteractions").unwrap_or_default() {
        let Some(outer) = Object::parse(raw.get()) else { continue };
        let inner = outer.object("userInteraction").unwrap_or(outer);
        let Some(text) = inner.non_blank_text(wanted_name) else { continue };
        let inside = Object::parse(&text).and_then(|object| {
            let found =
                ["text", "prompt", "content", "response", "query"].iter().find_map(|k| object.non_blank_text(k));
            found.map(std::borrow::Cow::into_owned)
        });
        return Some(inside.unwrap_or_else(|| text.into_owned()));
    }
    None
}

/// Adds the files in `attachedFiles`, `imageFile` and `attachmentInfo`, and those subtitles that link to a file of the
/// export.
fn read_files(row: &Object<'_>, activity: &mut Activity) {
    for raw in row.list("subtitles").unwrap_or_default() {
        let Some(object) = Object::parse(raw.get()) else { continue };
        if let Some(address) = object.non_blank_text("url") {
            let name = object.text("name").unwrap_or_default().replace('\u{a0}', " ");
            add_file(&mut activity.files, file_reference(&address, &name));
        }
    }
    for key in ["attachedFiles", "imageFile", "attachmentInfo"] {
        let Some(raw) = row.raw_value(key) else { continue };
        for item in list(raw).unwrap_or_else(|| vec![raw]) {
            let object = Object::parse(item.get());
            let member = |key: &str| object.as_ref().and_then(|o| o.non_blank_text(key));
            let address = decode_string(item)
                .or_else(|| ["url", "path", "file", "fileName", "name"].iter().find_map(|key| member(key)));
            if let Some(address) = address {
                let name = member("name").unwrap_or_default();
                add_file(&mut activity.files, file_reference(&address, &name));
            }
        }
    }
}
