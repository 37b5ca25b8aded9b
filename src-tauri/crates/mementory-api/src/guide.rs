//! Explains how people get their data from each assistant and program, and what the data contains. The texts are shared
//! with the window's page "Where is my data?", so that both always agree.
use crate::{
    ApiError, ApiResult,
    session::language_texts::{self, Languages},
};
use mementory_formats::by_id;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const SOURCES: &str = include_str!("../../../../ui/src/lib/text/guides/sources.json");
const TEXTS: Languages = [
    ("en", include_str!("../../../../ui/src/lib/text/guides/en.json")),
    ("de", include_str!("../../../../ui/src/lib/text/guides/de.json")),
    ("ja", include_str!("../../../../ui/src/lib/text/guides/ja.json")),
];

/// The data of a source's guide that is the same in all languages.
#[derive(Debug, Deserialize)]
struct SourceData {
    id: String,
    /// Formats of the exports of the source, the main format first.
    formats: Vec<String>,
    paths: Vec<PathData>,
    links: Vec<String>,
    checked: String,
}

#[derive(Debug, Deserialize)]
struct PathData {
    path: String,
}

/// The texts of one source's guide in one language. They contain marks, which `without_marks` replaces.
#[derive(Debug, Deserialize)]
struct Texts {
    name: String,
    steps: Vec<String>,
    has: Vec<String>,
    lacks: Vec<String>,
    time: String,
    drop: Vec<String>,
    doubt: Option<String>,
}

/// The guide for one source: how to get the data.
#[derive(Debug, Clone, Serialize)]
pub struct Guide {
    /// Id of the source.
    pub source: String,
    /// Display name of the source.
    pub name: String,
    /// Ids of the formats of the source's exports.
    pub formats: Vec<String>,
    /// The steps to get the export, in order.
    pub steps: Vec<String>,
    /// What the export contains.
    pub holds: Vec<String>,
    /// What the export does not contain.
    pub lacks: Vec<String>,
    /// How long it takes to get the export.
    pub takes: String,
    /// The files of the export to import.
    pub import: Vec<String>,
    /// A note on what is not certain about the steps.
    pub doubt: Option<String>,
    /// Usual places of the data on a computer.
    pub paths: Vec<String>,
    /// Links to pages of the vendor.
    pub links: Vec<String>,
    /// The day on which the steps were last checked.
    pub checked: String,
}

/// One source in the list of all sources.
#[derive(Debug, Clone, Serialize)]
pub struct GuideSource {
    /// Id of the source.
    pub source: String,
    /// Display name of the source.
    pub name: String,
    /// Ids of the formats of the source's exports.
    pub formats: Vec<String>,
}

/// Lists all sources that have a guide.
///
/// # Errors
/// `usage` for a language without texts.
pub fn sources(language: &str) -> ApiResult<Vec<GuideSource>> {
    let mut texts = load_texts(language)?;
    let sources = load_sources()?.into_iter();
    Ok(sources
        .filter_map(|SourceData { id, formats, .. }| {
            texts.remove(&id).map(|text| GuideSource { source: id, name: text.name, formats })
        })
        .collect())
}

/// Returns the guide for a source. `source` is the id of the source, or the id of the format of its exports.
///
/// # Errors
/// `not_found` if there is no such source; `usage` for a language without texts.
pub fn guide(source: &str, language: &str) -> ApiResult<Guide> {
    let mut texts = load_texts(language)?;
    let wanted = source.trim().to_lowercase().replace(['-', ' '], "_");
    let format = by_id(&wanted).map_or(wanted.as_str(), |format| format.id());
    let sources = load_sources()?;
    let found = sources
        .iter()
        .find(|source| source.id == wanted)
        // The entry for a format in general follows those for the programs that write the format. The last match is
        // therefore the general one.
        .or_else(|| sources.iter().rfind(|source| source.formats.first().is_some_and(|main| main == format)))
        .or_else(|| sources.iter().find(|source| source.formats.iter().any(|id| id == format)));
    let (Some(data), Some(text)) = (found, found.and_then(|data| texts.remove(&data.id))) else {
        let message = format!("There is no guide for {source}. `mementory guide` lists those that there are.");
        return Err(ApiError::new("not_found", 1, message).with("id", source));
    };
    let plain_sentences = |sentences: &[String]| sentences.iter().map(|sentence| without_marks(sentence)).collect();
    Ok(Guide {
        source: data.id.clone(),
        name: text.name,
        formats: data.formats.clone(),
        steps: plain_sentences(&text.steps),
        holds: plain_sentences(&text.has),
        lacks: plain_sentences(&text.lacks),
        takes: without_marks(&text.time),
        import: plain_sentences(&text.drop),
        doubt: text.doubt.as_deref().map(without_marks),
        paths: data.paths.iter().map(|place| place.path.clone()).collect(),
        links: data.links.clone(),
        checked: data.checked.clone(),
    })
}

fn load_texts(language: &str) -> ApiResult<BTreeMap<String, Texts>> {
    language_texts::load(&TEXTS, language, "Nothing was read.")
}

fn load_sources() -> ApiResult<Vec<SourceData>> {
    serde_json::from_str(SOURCES).map_err(|_| ApiError::internal("The list of sources cannot be read."))
}

/// Replaces the marks of a sentence, which the window displays as formatting: `*labels of menus*` and `[buttons of the
/// window]` are put in quotation marks, and `{id}` becomes the command that shows another guide. `` `code` `` is not
/// changed.
fn without_marks(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some(start) = rest.find(['`', '*', '[', '{']) {
        let (before, marked) = rest.split_at(start);
        let (open, end, close) = match marked.chars().next() {
            Some('`') => ("`", '`', "`"),
            Some('*') => ("\"", '*', "\""),
            Some('[') => ("\"", ']', "\""),
            _ => ("`mementory guide ", '}', "`"),
        };
        let Some((inner, after)) = marked.get(1..).and_then(|inside| inside.split_once(end)) else { break };
        [before, open, inner, close].into_iter().for_each(|part| out.push_str(part));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_source_has_a_guide_in_every_language() {
        let expected = load_sources().unwrap().len();
        for (language, _) in TEXTS {
            let listed = sources(language).unwrap();
            assert_eq!(listed.len(), expected, "{language}");
            for GuideSource { source, .. } in listed {
                let guide = guide(&source, language).unwrap();
                assert_eq!(guide.source, source);
                assert!(!guide.steps.is_empty() && !guide.holds.is_empty() && !guide.lacks.is_empty(), "{source}");
                assert!(!guide.takes.is_empty() && !guide.import.is_empty(), "{source}");
            }
        }
    }

    #[test]
    fn a_format_leads_to_the_source_whose_main_format_it_is() {
        for source in load_sources().unwrap() {
            let Some(main) = source.formats.first() else { continue };
            let guide_of_format = guide(main, "en").unwrap();
            assert!(guide_of_format.source == *main || guide_of_format.formats.first() == Some(main), "{main}");
        }
        assert_eq!(guide("no_such_source", "en").unwrap_err().code, "not_found");
        assert_eq!(guide("anything", "xx").unwrap_err().code, "usage");
    }

    #[test]
    fn marks_become_plain_text() {
        let marked = "Open `a*b`, *Settings > Data* or [Paste text…]; see {pasted}.";
        let expected = "Open `a*b`, \"Settings > Data\" or \"Paste text…\"; see `mementory guide pasted`.";
        assert_eq!(without_marks(marked), expected);
        assert_eq!(without_marks("2 * 3"), "2 * 3");
        assert_eq!(without_marks(""), "");
    }
}
