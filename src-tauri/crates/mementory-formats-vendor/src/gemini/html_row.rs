//! Reads an activity in a page of Takeout. The outer cell of an activity contains its product, a content cell (prompt,
//! time and answer), and a caption with links. In some pages, the header also contains Google's words and the time.
use super::activity::{Activity, add_file, chat_link, file_reference, is_product};
use super::stamp;
use super::verbs::{self, Label};
use mementory_formats_shared::html::{self, RowKind, find_element};
use mementory_formats_shared::object::range_in;
use mementory_model::Verbatim;

/// The HTML element that contains one activity.
pub(super) const OUTER_CELL: RowKind = RowKind { name: "div", class: "outer-cell" };
const CONTENT_CELL: RowKind = RowKind { name: "div", class: "content-cell" };
const HEADER_CELL: RowKind = RowKind { name: "div", class: "header-cell" };
const PARAGRAPH: RowKind = RowKind { name: "p", class: "" };
/// The word "Products" above the products in a caption, in several languages.
const PRODUCTS: [&str; 9] =
    ["Products", "Produkte", "Produits", "Productos", "Produtos", "Prodotti", "Producten", "Produkty", "サービス"];
/// Largest length in characters of a line that may be the name of a product.
const MAX_PRODUCT_LENGTH: usize = 40;
/// Largest length in characters of a line that may be a time in an unknown notation.
const MAX_TIME_LENGTH: usize = 48;

/// The header of an activity.
#[derive(Debug, Default)]
struct Header {
    /// The text of the header, which is usually the name of the product.
    name: String,
    /// Google's words between the name of the product and the time. Only pages with the time in the header have them.
    label: Option<String>,
    /// The time as the header writes it. In most pages, the time is in the content cell.
    stamp: Option<String>,
}

/// Reads the header of an activity.
fn header(cell: &str) -> Header {
    let Some(start) = find_element(cell, 0, HEADER_CELL) else { return Header::default() };
    let end = find_element(cell, start.end, CONTENT_CELL).map_or(cell.len(), |next| next.start);
    let text = html::to_text(cell.get(start.end..end).unwrap_or_default());
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if let [name, words @ .., last] = lines.as_slice()
        && stamp::read(last).is_some()
    {
        let label = Some(words.join(" ")).filter(|label| !label.is_empty());
        return Header { name: (*name).to_owned(), label, stamp: Some((*last).to_owned()) };
    }
    Header { name: text, ..Header::default() }
}

/// Returns the text of an activity's header without a time, which is usually the name of the product.
pub(super) fn product(cell: &str) -> String {
    header(cell).name
}

/// True if a cell is an activity of Gemini: the header or caption names the product, the caption or title links to a
/// chat, the title has words that only Gemini's activities have, or the header says that the title is a prompt and the
/// cell has an answer. `is_gemini_file` is true for a page that contains only activities of Gemini.
pub(super) fn is_gemini(cell: &str, is_gemini_file: bool) -> bool {
    let header = product(cell);
    if is_product(&header) {
        return true;
    }
    let cells = content_cells(cell);
    let (body, captions) = cells.split_first().map_or(("", &[][..]), |(body, captions)| (*body, captions));
    let lines: Vec<String> = captions
        .iter()
        .flat_map(|caption| html::to_text(caption).lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>())
        .collect();
    // In most pages, the caption repeats the name of the product. So a header that the caption repeats is the name of
    // another product.
    if !header.is_empty() && lines.contains(&header) {
        return false;
    }
    let is_named = |line: &String| line.chars().count() <= MAX_PRODUCT_LENGTH && is_product(line);
    if lines.iter().any(is_named) {
        return true;
    }
    if lines.first().is_some_and(|first| PRODUCTS.contains(&first.trim_end_matches([':', '：', ' ', '\u{a0}']))) {
        return false;
    }
    let title = split_lines(body).first().copied().unwrap_or_default();
    let has_chat = captions
        .iter()
        .chain([&title])
        .any(|part| html::links(part).iter().any(|(address, _)| chat_link(address).is_some_and(|chat| chat.is_some())));
    if has_chat {
        return true;
    }
    match header.as_str() {
        "" => is_gemini_file || verbs::is_gemini_title(&html::to_text(body).replace('\u{a0}', " ")),
        header => {
            let has_answer = || read(cell, String::new(), false).is_some_and(|activity| activity.answer.is_some());
            match verbs::label(header) {
                // Activities of other products may have the same headers, such as `Deleted …`.
                Some(Label::Activity) => is_gemini_file,
                Some(Label::Prompt) => is_gemini_file || has_answer(),
                // The header is the name of another product, or a label in a language that `verbs` does not contain.
                None => is_gemini_file && has_answer(),
            }
        }
    }
}

/// Returns the content cells of an activity: the activity itself, the picture next to it, and the caption. An answer
/// contains no content cells, because Takeout writes no classes into it.
fn content_cells(cell: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut next = find_element(cell, 0, CONTENT_CELL);
    while let Some(start) = next {
        next = find_element(cell, start.end, CONTENT_CELL);
        let end = next.as_ref().map_or(cell.len(), |next| next.start);
        let cell_html = cell.get(start.start..end).unwrap_or_default();
        let end = html::element_end(cell_html, CONTENT_CELL.name).map_or(end, |len| start.start + len);
        out.push(cell.get(start.end..end).unwrap_or_default());
    }
    out
}

/// Reads an activity of Gemini. None if it has neither a prompt nor an answer. If `with_answer` is false, `answer` is
/// empty even if there is an answer, because the first pass needs no texts.
pub(super) fn read(cell: &str, pointer: String, with_answer: bool) -> Option<Activity> {
    let cells = content_cells(cell);
    let body = cells.first()?.trim_end_matches("</div>");
    let header = header(cell);
    let is_timed = header.stamp.is_some();
    // In pages with the time in the header, the first paragraph is the prompt.
    let paragraphs = is_timed.then(|| split_after_paragraph(body)).flatten();
    let lines = match paragraphs {
        Some((prompt, answer)) => vec![prompt, answer],
        None => split_timed_paragraphs(body).filter(|_| !is_timed).unwrap_or_else(|| split_lines(body)),
    };
    let stamp_at = lines.iter().position(|line| !has_block(line) && stamp::read(&html::to_text(line)).is_some());
    // A time in an unknown notation also marks the end of the prompt.
    let stamp_at = stamp_at.or_else(|| lines.iter().skip(1).position(|line| looks_like_time(line)).map(|at| at + 1));
    let stamp_at = stamp_at.filter(|_| !is_timed);
    // Without a time, the answer begins at the first line with a block element.
    let answer_at = match stamp_at {
        Some(at) => at + 1,
        None if paragraphs.is_some() => 1,
        None => lines.iter().position(|line| has_block(line)).unwrap_or(lines.len()),
    };
    let mut activity = Activity {
        label: header.label.or_else(|| Some(header.name).filter(|name| !name.is_empty() && !is_product(name))),
        verbatim: Some(Verbatim { media_type: "text/html".into(), text: cell.to_owned() }),
        pointer,
        ..Activity::default()
    };
    if let Some(label) = &activity.label {
        activity.fields.insert("header".into(), label.clone().into());
    }
    let prompt_lines = lines.get(..stamp_at.unwrap_or(answer_at)).unwrap_or_default();
    activity.title = read_prompt(prompt_lines, &mut activity);
    let stamp_line = stamp_at.and_then(|at| lines.get(at));
    if let Some(stamp) = header.stamp.or_else(|| stamp_line.map(|line| html::to_text(line))) {
        activity.stamp = stamp;
        match stamp::read(&activity.stamp) {
            Some(stamp) => {
                activity.time = Some(stamp.time);
                if !stamp.has_zone {
                    activity.fields.insert("time_without_known_zone".into(), activity.stamp.clone().into());
                }
            }
            None => {
                activity.fields.insert("time_as_written".into(), activity.stamp.clone().into());
            }
        }
    }
    let answer_lines = lines.get(answer_at..).unwrap_or_default();
    activity.answer_range = answer_lines
        .first()
        .zip(answer_lines.last())
        .and_then(|(first, last)| Some(range_in(cell, first)?.start..range_in(cell, last)?.end));
    let answer = answer_lines.join("<br>");
    activity.answer = match with_answer {
        true => Some(html::to_text(&answer)).filter(|text| !text.is_empty()),
        false => html::has_text(&answer).then(String::new),
    };
    if answer.contains("<a") || answer.contains("<img") {
        for (address, name) in html::links(&answer) {
            add_file(&mut activity.answer_files, file_reference(&address, &name));
        }
    }
    read_cells_beside(cells.get(1..).unwrap_or_default(), &mut activity);
    (!activity.title.is_empty() || activity.answer.is_some()).then_some(activity)
}

/// Returns the title of an activity. Adds the linked files to `activity`, and removes the line that states their
/// number.
fn read_prompt(lines: &[&str], activity: &mut Activity) -> String {
    let mut out: Vec<String> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let mut text = html::to_text_with_lines(line);
        let links = html::links(line);
        for (address, _) in &links {
            if let Some(chat) = chat_link(address) {
                activity.chat = activity.chat.take().or(chat);
                // The title is the text of the link, so the address is removed.
                text = text.replace(&format!(" ({address})"), "");
            }
        }
        let files: Vec<_> = links.into_iter().filter_map(|(address, name)| file_reference(&address, &name)).collect();
        if files.is_empty() || index == 0 {
            out.push(text);
        } else if activity.files.is_empty() && out.len() > 1 {
            // The line before the first file may state the number of files, such as `Attached 2 files.`, in the
            // language of the account.
            let is_count = |line: &String| line.chars().count() < 80 && line.contains(|c: char| c.is_ascii_digit());
            out.pop_if(|line| is_count(line));
        }
        for file in files {
            add_file(&mut activity.files, Some(file));
        }
    }
    out.join("\n").replace('\u{a0}', " ").trim().to_owned()
}

/// Reads the cells next to the activity: the preview of a file, and the caption with products and links.
fn read_cells_beside(cells: &[&str], activity: &mut Activity) {
    for cell in cells {
        for (address, _) in html::links(cell) {
            if let Some(chat) = chat_link(&address) {
                activity.chat = activity.chat.take().or(chat);
            } else if let Some(file) = file_reference(&address, "")
                && !activity.answer_files.iter().any(|known| known.key == file.key)
            {
                add_file(&mut activity.files, Some(file));
            }
        }
    }
    let caption = cells.iter().map(|cell| html::to_text(cell)).filter(|text| !text.is_empty()).collect::<Vec<_>>();
    if !caption.is_empty() {
        activity.fields.insert("caption".into(), caption.join("\n").into());
    }
}

/// Splits the HTML of a cell at its line breaks.
fn split_lines(html: &str) -> Vec<&str> {
    const BREAK: RowKind = RowKind { name: "br", class: "" };
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(line_break) = find_element(html, at, BREAK) {
        out.push(html.get(at..line_break.start).unwrap_or_default());
        at = line_break.end;
    }
    out.push(html.get(at..).unwrap_or_default());
    out
}

/// The contents of the first two paragraphs of a cell, and the HTML after them. None if the second one is not a time.
fn split_timed_paragraphs(body: &str) -> Option<Vec<&str>> {
    let (prompt, rest) = split_after_paragraph(body)?;
    let (time, answer) = split_after_paragraph(rest)?;
    stamp::read(&html::to_text(time))?;
    Some(vec![content_of(prompt)?, content_of(time)?, answer])
}

/// The HTML inside a paragraph, which may follow white space.
fn content_of(paragraph: &str) -> Option<&str> {
    let tag = find_element(paragraph, 0, PARAGRAPH)?;
    let content = paragraph.get(tag.end..)?;
    Some(content.strip_suffix("</p>").unwrap_or(content))
}

/// Splits the HTML of a cell after its first paragraph. None if the cell does not begin with a paragraph.
fn split_after_paragraph(body: &str) -> Option<(&str, &str)> {
    let start = find_element(body, 0, PARAGRAPH)?.start;
    if html::has_text(body.get(..start)?) {
        return None;
    }
    let len = html::element_end(body.get(start..)?, PARAGRAPH.name)?;
    body.split_at_checked(start + len)
}

/// True for a line that looks like a time in any notation: the line is short, and contains a year of this century and a
/// time of day with a colon. The line may still be one that [`stamp::read`] cannot parse.
fn looks_like_time(line: &str) -> bool {
    if has_block(line) || line.contains("<a") {
        return false;
    }
    let text = html::to_text(line);
    let is_year = |number: &str| number.len() == 4 && number.starts_with("20");
    let has_clock = text
        .as_bytes()
        .windows(4)
        .any(|w| matches!(w, [a, b':', c, d] if [a, c, d].iter().all(|b| b.is_ascii_digit())));
    let has_year = text.split(|c: char| !c.is_ascii_digit()).any(is_year);
    text.chars().count() <= MAX_TIME_LENGTH && has_year && has_clock
}

/// True for a line with a block element (paragraph, heading, list, table, quote or code). Prompts and times contain
/// none.
fn has_block(html: &str) -> bool {
    ["p", "pre", "ul", "ol", "table", "h1", "h2", "h3", "h4", "blockquote"]
        .into_iter()
        .any(|name| find_element(html, 0, RowKind { name, class: "" }).is_some())
}
