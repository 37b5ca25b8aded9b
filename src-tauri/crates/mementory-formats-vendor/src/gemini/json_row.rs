//! Reads an activity in JSON: `{header, title, titleUrl?, time, products[], safeHtmlItem[{html}], subtitles[], …}`.
use super::activity::{Activity, add_file, chat_link, file_reference, is_product};
use super::verbs::{self, Label, Title};
use mementory_formats_shared::{
    html,
    object::{Object, decode_string, list, range_in, with_replaced_values},
};
use mementory_model::{Timestamp, Verbatim};
use serde_json::value::RawValue;

/// Members that have a field in the model.
const READ_MEMBERS: [&str; 6] = ["title", "time", "titleUrl", "safeHtmlItem", "attachedFiles", "imageFile"];

/// True if a row is an activity of Gemini, and not of another product of Google. `is_gemini_file` is true for a file
/// that contains only activities of Gemini.
pub(super) fn is_gemini(row: &Object<'_>, is_gemini_file: bool) -> bool {
    let header = row.non_blank_text("header");
    let listed = names(row, "products");
    if header.as_deref().is_some_and(is_product) || listed.iter().any(|name| is_product(name)) {
        return true;
    }
    if !listed.is_empty() {
        return false;
    }
    let title = row.text("title").unwrap_or_default().replace('\u{a0}', " ");
    let has_link = addresses(row).any(|address| chat_link(&address).is_some());
    // The browser history contains visits to pages of Gemini. A visit is not an activity of Gemini.
    let is_visit = header.is_some() && title.starts_with("Visited ");
    if names(row, "activityControls").iter().any(|name| is_product(name)) || has_link && !is_visit {
        return true;
    }
    let has_other_link = !has_link && row.non_blank_text("titleUrl").is_some();
    let has_answer = row.has("safeHtmlItem") || detail(row, &RESPONSES).is_some();
    match header.map(|header| verbs::label(&header)) {
        // Activities of other products may have the same headers, such as `Deleted …`.
        Some(Some(Label::Activity)) => is_gemini_file && !has_other_link,
        Some(Some(Label::Prompt)) => (is_gemini_file || has_answer) && !has_other_link,
        // The header is the name of another product, or Google's words in an unknown language.
        Some(None) => is_gemini_file && has_answer,
        None if is_gemini_file => true,
        None if has_other_link => false,
        None => {
            let is_prompt = matches!(verbs::read_title(&title), Title::Prompt(_));
            // Activities of other products have details with requests too, so a request is not enough without an
            // answer.
            verbs::is_gemini_title(&title) || has_answer && (is_prompt || detail(row, &REQUESTS).is_some())
        }
    }
}

/// Returns the names of the products of a row, which are in its header and in its list `products`.
pub(super) fn products(row: &Object<'_>) -> Vec<String> {
    let header = row.non_blank_text("header").map(std::borrow::Cow::into_owned);
    header.into_iter().chain(names(row, "products")).collect()
}

fn names(row: &Object<'_>, key: &str) -> Vec<String> {
    let listed = row.list(key).unwrap_or_default().into_iter().filter_map(decode_string);
    listed.map(std::borrow::Cow::into_owned).collect()
}

/// Returns the addresses of a row that may link to its chat.
fn addresses(row: &Object<'_>) -> impl Iterator<Item = String> {
    let details = row.list("details").unwrap_or_default();
    let urls_in_details =
        details.into_iter().filter_map(|raw| Some(Object::parse(raw.get())?.text("url")?.into_owned()));
    let addresses: Vec<String> =
        row.text("titleUrl").map(std::borrow::Cow::into_owned).into_iter().chain(urls_in_details).collect();
    addresses.into_iter()
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
    activity.label = row.non_blank_text("header").filter(|header| !is_product(header)).map(Into::into);
    let stated_answer = row.raw_value("safeHtmlItem").and_then(|raw| Some((answer(raw)?, raw)));
    let mut answer_detail = stated_answer.or_else(|| detail(row, &RESPONSES));
    if answer_detail.is_none() && matches!(activity.title(), Title::Prompt(_)) {
        answer_detail = described_answer(row);
    }
    let request = detail(row, &REQUESTS).map(|(request, _)| request);
    // In some rows, the title is the name of the activity, and a detail contains the prompt.
    let is_named = matches!(activity.title(), Title::Activity | Title::Unknown);
    if let Some(request) = request.filter(|_| is_named) {
        let title = std::mem::replace(&mut activity.title, request.trim().to_owned());
        activity.is_request = true;
        if !title.is_empty() {
            activity.fields.insert("title".into(), title.into());
        }
    } else if activity.title.is_empty() {
        activity.title = row.non_blank_text("text").map(|text| text.trim().to_owned()).unwrap_or_default();
    }
    if activity.title.is_empty() {
        read_untitled(row, &mut activity, &mut answer_detail);
    }
    let answer_cut: Vec<(&RawValue, &str)> = answer_detail.iter().map(|(_, raw)| (*raw, "null")).collect();
    activity.answer_range = answer_detail.as_ref().and_then(|(_, raw)| range_in(text, raw.get()));
    activity.answer = answer_detail.map(|(answer, _)| answer);
    if activity.title.is_empty() && activity.answer.is_none() {
        return None;
    }
    let details = row.list("details").unwrap_or_default();
    let detail_links = details.iter().filter_map(|raw| Object::parse(raw.get())?.text("url"));
    activity.chat = row.text("titleUrl").into_iter().chain(detail_links).find_map(|address| chat_link(&address)?);
    read_files(row, &mut activity);
    for (name, raw) in row.members().filter(|(name, _)| !READ_MEMBERS.contains(name)) {
        // The fields belong to the record of the prompt. The answer becomes another message, so it is removed from the
        // fields.
        if let Ok(value) = serde_json::from_str(&with_replaced_values(raw.get(), &answer_cut)) {
            activity.fields.insert(name.into(), value);
        }
    }
    Some(activity)
}

/// Returns the text of an answer, which is an object `{html}`, a list of such objects, or a string.
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

/// Returns the description of a prompt, which some files have instead of a separate answer. None if the description
/// only states the number of files.
fn described_answer<'a>(row: &Object<'a>) -> Option<(String, &'a RawValue)> {
    let text = row.non_blank_text("description")?.replace('\u{a0}', " ").trim().to_owned();
    let is_text = !verbs::without_file_count(&text).is_empty();
    is_text.then_some((text, row.raw_value("description")?))
}

/// Reads the texts in the details and subtitles of a row without a title. The first text becomes the prompt. The second
/// becomes the answer, unless the row contains an answer elsewhere.
fn read_untitled<'a>(row: &Object<'a>, activity: &mut Activity, answer: &mut Option<(String, &'a RawValue)>) {
    let (details, subtitles) = (objects(row, "details"), objects(row, "subtitles"));
    let is_response = |detail: &Object<'_>| detail.text("name").is_some_and(|name| is_one_of(&name, &RESPONSES));
    let details = details
        .iter()
        .filter(|detail| !is_response(detail))
        .filter_map(|detail| Some((detail.non_blank_text("value")?, detail.raw_value("value")?)));
    // If subtitles have addresses, they are files, and a subtitle without an address only states the number of files.
    // So no subtitle is used as a text.
    let has_files = subtitles.iter().any(|subtitle| subtitle.non_blank_text("url").is_some());
    let subtitles = subtitles
        .iter()
        .filter(|_| !has_files)
        .filter_map(|subtitle| Some((subtitle.non_blank_text("name")?, subtitle.raw_value("name")?)));
    let texts = details.chain(subtitles).map(|(text, raw)| (text.replace('\u{a0}', " ").trim().to_owned(), raw));
    let mut texts = texts.filter(|(text, _)| !verbs::without_file_count(text).is_empty() && !text.starts_with("http"));
    let Some((prompt, _)) = texts.next() else { return };
    activity.is_request = verbs::read_title(&prompt) == Title::Unknown;
    activity.title = prompt;
    *answer = answer.take().or_else(|| texts.next());
}

fn objects<'a>(row: &Object<'a>, key: &str) -> Vec<Object<'a>> {
    row.list(key).unwrap_or_default().into_iter().filter_map(|raw| Object::parse(raw.get())).collect()
}

/// Names of details that contain the prompt.
const REQUESTS: [&str; 9] =
    ["Request", "Prompt", "Query", "Anfrage", "Eingabe", "Requête", "Solicitud", "Richiesta", "リクエスト"];
/// Names of details that contain the answer.
const RESPONSES: [&str; 8] =
    ["Response", "Answer", "Antwort", "Réponse", "Respuesta", "Risposta", "Resposta", "レスポンス"];

fn is_one_of(name: &str, names: &[&str]) -> bool {
    let name = name.trim().trim_end_matches(':').to_lowercase();
    names.iter().any(|known| known.to_lowercase() == name)
}

/// Finds the prompt or the answer of a row by the names in `wanted_names`, in `details` or `subtitles` (`[{name,
/// value}]`) or in `userInteractions[].userInteraction`. The value may be a string that contains JSON. Returns the
/// text, and the JSON value that contains the text.
fn detail<'a>(row: &Object<'a>, wanted_names: &[&str]) -> Option<(String, &'a RawValue)> {
    for object in objects(row, "details").into_iter().chain(objects(row, "subtitles")) {
        if object.text("name").is_some_and(|name| is_one_of(&name, wanted_names)) {
            return Some((object.non_blank_text("value")?.into_owned(), object.raw_value("value")?));
        }
    }
    for raw in row.list("userInteractions").unwrap_or_default() {
        let Some(outer) = Object::parse(raw.get()) else { continue };
        let inside = ["userInteraction", "user_interaction"].iter().find_map(|key| outer.object(key));
        let inner = inside.unwrap_or(outer);
        let member = inner.members().find(|(name, _)| is_one_of(name, wanted_names)).map(|(name, _)| name.to_owned());
        let found = member.and_then(|name| Some((inner.non_blank_text(&name)?, inner.raw_value(&name)?)));
        let Some((text, own)) = found else { continue };
        let inside = Object::parse(&text).and_then(|object| {
            let found =
                ["text", "prompt", "content", "response", "query"].iter().find_map(|k| object.non_blank_text(k));
            found.map(std::borrow::Cow::into_owned)
        });
        return Some((inside.unwrap_or_else(|| text.into_owned()), own));
    }
    None
}

/// Adds the files in `attachedFiles`, `imageFile` and `attachmentInfo`, and the subtitles that link to a file of the
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
