//! Reads Gems, which are assistants that the person made, with a name, instructions and files. Takeout writes all of
//! them into one page: `<b>Name:</b>…<br><b>Instructions:</b>…<br><b>Files:</b><br><a href="…">…</a>` for each Gem.
use super::activity::SCOPE;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::text_parts::ends_of_parts;
use mementory_formats_shared::{
    html::{self, RowKind, find_element},
    object::content_id,
    reader::FileReader,
};
use mementory_model::{DroppedAs, Issue, Kind, Origin, Record, RecordKey, Verbatim};
use std::collections::HashSet;

const BOLD: RowKind = RowKind { name: "b", class: "" };
const HEADING: RowKind = RowKind { name: "h2", class: "" };

/// English label of the list of a Gem's files, in lower case.
const FILES: &str = "files";
/// Beginning of the file name of a list of Gems. No other file has such a name.
pub(super) const FILE: &str = "gemini_gems_data";

/// True if the first labels of a page are those of a Gem. Recipes and forms may have the same labels, but not as their
/// first ones.
pub(super) fn has_labels(page: &str) -> bool {
    labels(page, false).is_some()
}

/// The labels for the name, the instructions and the files of a Gem, in the language of the page.
struct Labels {
    name: String,
    instructions: String,
    /// None if no Gem of the page has files, so that their label is unknown.
    files: Option<String>,
}

/// Finds the labels in a list of Gems. Labels in languages other than English are found by their position, which is
/// done only if the file has the name of a list of Gems (`is_named`). None if the page is not a list of Gems.
fn labels(page: &str, is_named: bool) -> Option<Labels> {
    let parts = labelled_parts(page);
    let [first, second, ..] = parts.as_slice() else { return None };
    let before = html::to_text(page.get(..first.at).unwrap_or_default());
    let is_english = first.label == "name" && second.label == "instructions";
    // If the names of Gems are headings, bold words with a colon are not labels but text of the instructions.
    let is_by_position = is_named && first.label != second.label && find_element(page, 0, HEADING).is_none();
    let is_list = (is_english || is_by_position) && before.chars().count() <= 40;
    let instructions = parts.iter().find(|part| part.label == "instructions").unwrap_or(second);
    let has_english = is_english || parts.iter().any(|part| part.label == FILES);
    let files = if has_english { Some(FILES.to_owned()) } else { label_of_files(&parts, &first.label) };
    is_list.then(|| Labels { name: first.label.clone(), instructions: instructions.label.clone(), files })
}

/// Finds the label of the files in a language other than English. It is the label of the last part of a Gem, if that
/// part contains only links. None if the last part of every Gem has other words or no links.
fn label_of_files(parts: &[LabelledPart<'_>], name_label: &str) -> Option<String> {
    let is_last = |at: usize| parts.get(at + 1).is_none_or(|next| next.label == name_label);
    let mut ends = parts.iter().enumerate().filter(|(at, _)| is_last(*at)).map(|(_, part)| part);
    ends.find(|part| has_only_links(part.html)).map(|part| part.label.clone())
}

fn has_only_links(html: &str) -> bool {
    let links = html::links(html);
    // In the text of a page, the address of a link follows its name in parentheses.
    let mut rest = html::to_text(html);
    for (address, name) in &links {
        rest = rest.replacen(&format!("({address})"), "", 1).replacen(name.trim(), "", 1);
    }
    !links.is_empty() && rest.trim().is_empty()
}

/// True for a page with the heading `Gems` and the word `Instructions:`.
pub(super) fn has_heading(page: &str) -> bool {
    let heading = find_element(page, 0, RowKind { name: "h1", class: "" });
    let title = heading.and_then(|found| page.get(found.end..)?.split("</h1>").next());
    title.is_some_and(|title| html::to_text(title) == "Gems") && page.contains("Instructions:")
}

/// A bold label in a page, and the HTML up to the next label.
struct LabelledPart<'p> {
    /// The label in lower case, without its colon.
    label: String,
    /// The label as the page writes it, without its colon.
    words: String,
    /// The HTML between the label and the next label.
    html: &'p str,
    /// Offset in bytes of the label in the page.
    at: usize,
}

/// Splits a page at its bold labels (`<b>Name:</b>`). Bold words without a colon are not labels.
fn labelled_parts(page: &str) -> Vec<LabelledPart<'_>> {
    let mut starts = Vec::new();
    let mut at = 0;
    while let Some(label_range) = find_element(page, at, BOLD) {
        at = label_range.end;
        let Some(end) = page.get(at..).and_then(|rest| rest.find("</b>")) else { break };
        let label = html::to_text(page.get(at..at + end).unwrap_or_default());
        if let Some(label) = label.strip_suffix(':').filter(|label| label.chars().count() <= 40) {
            starts.push((label_range.start, at + end + "</b>".len(), label.to_owned()));
        }
    }
    let ends = ends_of_parts(starts.iter().map(|(start, ..)| *start), page.len());
    let part = |((at, from, words), to): ((usize, usize, String), usize)| LabelledPart {
        label: words.to_lowercase(),
        words,
        html: page.get(from..to).unwrap_or_default(),
        at,
    };
    starts.into_iter().zip(ends).map(part).collect()
}

/// A Gem in a page.
#[derive(Debug, Default)]
struct Gem {
    name: String,
    instructions: String,
    /// Address and name of each link to a file of the Gem.
    files: Vec<(String, String)>,
    /// Label and text of each part with an unknown label.
    other_parts: Vec<(String, String)>,
    /// Offset in bytes at which the Gem begins in the page.
    at: usize,
    /// Offset in bytes at which the Gem ends in the page.
    end: usize,
}

/// Reads the Gems of a page and sends them to the sink.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let page = reader.text(member)?;
    let is_named = member.file_name().to_ascii_lowercase().starts_with(FILE);
    let gems = match labels(&page, is_named) {
        Some(labels) => labelled_gems(&page, &labels),
        None => gems_under_headings(&page),
    };
    if gems.is_empty() {
        if html::to_text(&page).is_empty() {
            reader.sink.note(Issue::new("empty_export", &member.place, "the list of Gems is empty"));
        } else {
            let message = "no Gem was found in this page; it is stored as it is";
            reader.sink.note(Issue::new("not_understood", &member.place, message));
        }
        return reader.pass_through(member, "", "gems");
    }
    let mut seen = HashSet::new();
    for gem in gems {
        let source = page.get(gem.at..gem.end).unwrap_or_default();
        let place = format!("{}#@{}", member.place, gem.at);
        if gem.name.is_empty() && gem.instructions.is_empty() {
            let reason = "no_content: a Gem without name and instructions";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Profile));
            continue;
        }
        // A Gem has no id, so an id is made from its name, which changes less often than its instructions.
        let mut id = content_id(&gem.name);
        if !seen.insert(id.clone()) {
            id = content_id(&format!("{}\n{}", gem.name, gem.instructions));
            if !seen.insert(id.clone()) {
                let reason = "duplicate: the same Gem occurs twice";
                reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Profile));
                continue;
            }
        }
        reader.sink.unit(record(gem, &id, source, member).into())?;
    }
    Ok(())
}

fn record(gem: Gem, id: &str, source: &str, member: &Member) -> Record {
    let mut record = Record::new(Kind::Profile, RecordKey::new(SCOPE, format!("gem/{id}")), gem.instructions);
    record.title = Some(gem.name).filter(|name| !name.is_empty());
    record.record_type = Some("gem".into());
    record.source.platform = SCOPE.into();
    record.source.method = Some("custom_instructions".into());
    record.origin = Origin {
        format: SCOPE.into(),
        version: Some("gems".into()),
        container: member.place.clone(),
        pointer: format!("@{}", gem.at),
    };
    if !gem.files.is_empty() {
        let files = gem.files.into_iter().map(|(url, name)| serde_json::json!({ "name": name, "url": url }));
        record.fields.insert("files".into(), files.collect());
    }
    for (label, text) in gem.other_parts {
        record.fields.insert(label, text.into());
    }
    record.verbatim = Some(Verbatim { media_type: "text/html".into(), text: source.to_owned() });
    record
}

/// Returns the Gems of a page with bold labels. Each Gem begins at the label of its name.
fn labelled_gems(page: &str, labels: &Labels) -> Vec<Gem> {
    let mut gems: Vec<Gem> = Vec::new();
    for part in labelled_parts(page) {
        if part.label == labels.name {
            if let Some(last) = gems.last_mut() {
                last.end = part.at;
            }
            gems.push(Gem { name: html::to_text(part.html), at: part.at, end: page.len(), ..Gem::default() });
            continue;
        }
        let Some(gem) = gems.last_mut() else { continue };
        let text = html::to_text_with_lines(part.html);
        match part.label.as_str() {
            label if label == labels.instructions => gem.instructions = text,
            label if labels.files.as_deref() == Some(label) => gem.files = html::links(part.html),
            // A bold label inside the instructions that is unknown is part of their text.
            label if gem.files.is_empty() && !gem.instructions.is_empty() && !is_known_label(label) => {
                gem.instructions = format!("{}\n{}: {text}", gem.instructions, part.words);
            }
            label => gem.other_parts.push((label.to_owned(), text)),
        }
    }
    gems
}

fn is_known_label(label: &str) -> bool {
    matches!(label, "description" | "id" | "created" | "updated" | "default tool" | "visibility" | "url" | "tools")
}

/// Returns the Gems of a page in which the names are headings, each followed by the instructions.
fn gems_under_headings(page: &str) -> Vec<Gem> {
    let mut gems: Vec<Gem> = Vec::new();
    let mut next = find_element(page, 0, HEADING);
    while let Some(start) = next {
        next = find_element(page, start.end, HEADING);
        let end = next.as_ref().map_or(page.len(), |next| next.start);
        let inside = page.get(start.end..end).unwrap_or_default();
        let (name, body) = inside.split_once("</h2>").unwrap_or((inside, ""));
        let text = html::to_text_with_lines(body);
        let instructions = text.strip_prefix("Instructions:").map_or(text.as_str(), str::trim_start).to_owned();
        gems.push(Gem {
            name: html::to_text(name),
            instructions,
            files: html::links(body),
            at: start.start,
            end,
            ..Gem::default()
        });
    }
    gems
}
