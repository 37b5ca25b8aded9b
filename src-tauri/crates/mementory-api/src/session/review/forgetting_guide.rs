//! Provides texts that say where each assistant stores its memories and that ask it to forget them. The texts are
//! stored as one data file for each language, and the names of the assistants as one file for all languages.
use crate::{
    ApiError, ApiResult,
    session::language_texts::{self, Languages},
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The texts in one language.
#[derive(Debug, Deserialize)]
struct Texts {
    /// Texts that say where an assistant stores its memories, for those assistants that need an individual text, by
    /// assistant.
    own_texts: BTreeMap<String, String>,
    /// Texts that say where an assistant stores its memories, for all other assistants, by the value of `kept`.
    places: BTreeMap<String, String>,
    /// First line of the text that the person pastes into the assistant.
    ask: String,
    /// For each review answer, the heading above the memories with this answer.
    groups: BTreeMap<String, String>,
    /// Last line of the text that the person pastes into the assistant.
    end: String,
}

/// An assistant or program from which memories can be imported.
#[derive(Debug, Deserialize)]
struct Assistant {
    /// Name of the assistant, which is the same in all languages.
    name: String,
    /// Where the assistant stores memories: the key of a text in `places`, or `own_text`.
    kept: String,
}

/// Texts that say where each assistant stores its memories and that ask it to forget them.
#[derive(Debug)]
pub(crate) struct ForgetGuide {
    assistants: BTreeMap<String, Assistant>,
    own_texts: BTreeMap<String, String>,
    places: BTreeMap<String, String>,
    /// First line of the text that the person pastes into the assistant.
    pub(crate) ask: String,
    /// For each review answer, the heading above the memories with this answer.
    pub(crate) groups: BTreeMap<String, String>,
    /// Last line of the text that the person pastes into the assistant.
    pub(crate) end: String,
}

const ASSISTANTS: &str = include_str!("../../../data/forget/assistants.json");
const LANGUAGES: Languages = [
    ("en", include_str!("../../../data/forget/en.json")),
    ("de", include_str!("../../../data/forget/de.json")),
    ("ja", include_str!("../../../data/forget/ja.json")),
];

impl ForgetGuide {
    /// Loads the texts in a language, or in English if no language is given.
    ///
    /// # Errors
    /// `usage` for a language without texts.
    pub(crate) fn load(language: Option<&str>) -> ApiResult<Self> {
        let texts: Texts = language_texts::load(&LANGUAGES, language.unwrap_or("en"), "Nothing was changed.")?;
        let assistants = serde_json::from_str(ASSISTANTS)
            .map_err(|_| ApiError::internal("The list of assistants cannot be read."))?;
        let Texts { own_texts, places, ask, groups, end } = texts;
        Ok(Self { assistants, own_texts, places, ask, groups, end })
    }

    /// Returns the display name of an assistant.
    pub(crate) fn name(&self, assistant: &str) -> String {
        let known = self.assistants.get(&key(assistant));
        known.map_or_else(|| readable_name(assistant), |known| known.name.clone())
    }

    /// Returns a text that says where to find a memory in its assistant. `id` is the id of the memory in the assistant,
    /// and `file` the file from which the memory was imported.
    pub(crate) fn place(&self, assistant: &str, id: Option<&str>, file: &str) -> String {
        let key = key(assistant);
        // The agent has the file itself, not the archive from which the file was imported.
        let file = file.rsplit("!/").next().unwrap_or(file);
        let kept = match self.assistants.get(&key).map(|known| known.kept.as_str()) {
            Some("program") if id.is_none() => "program_without_id",
            // Some formats name no file from which the memory comes.
            Some("file" | "workspace") if file.is_empty() => "unknown",
            Some(kept) => kept,
            None => "unknown",
        };
        let text = self.own_texts.get(&key).or_else(|| self.places.get(kept)).map(String::as_str).unwrap_or_default();
        text.replace("{name}", &self.name(assistant)).replace("{id}", id.unwrap_or_default()).replace("{file}", file)
    }
}

/// Returns the key of an assistant in the data. The ids of platforms are written with hyphens, those of formats with
/// underscores.
fn key(assistant: &str) -> String {
    assistant.to_lowercase().replace('-', "_")
}

/// Makes a readable name for an assistant that is not in the data.
fn readable_name(assistant: &str) -> String {
    let words = assistant.split(['-', '_', ' ']).filter(|word| !word.is_empty());
    let capitalised = words.map(|word| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    });
    capitalised.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The sources for which the window has a guide.
    const SOURCES: &str = include_str!("../../../../../../ui/src/lib/text/guides/sources.json");

    #[test]
    fn all_languages_have_the_same_entries() {
        for (language, _) in LANGUAGES {
            let guide = ForgetGuide::load(Some(language)).unwrap();
            assert_eq!(guide.groups.keys().collect::<Vec<_>>(), ["outdated", "private", "wrong"]);
            for assistant in guide.assistants.keys().map(String::as_str).chain(["someone else"]) {
                for (id, file) in [(None, ""), (Some("m1"), "notes.md")] {
                    let place = guide.place(assistant, id, file);
                    assert!(!place.is_empty() && !place.contains(['{', '}']), "{language}, {assistant}: {place}");
                }
            }
        }
        assert_eq!(ForgetGuide::load(Some("xx")).unwrap_err().code, "usage");
    }

    #[test]
    fn every_source_with_a_guide_has_a_name_and_a_place() {
        let guide = ForgetGuide::load(None).unwrap();
        let sources: Vec<serde_json::Value> = serde_json::from_str(SOURCES).unwrap();
        let is_named =
            |source: &&serde_json::Value| ["assistants", "agents", "engines"].contains(&text(source, "group"));
        for source in sources.iter().filter(is_named) {
            let id = text(source, "id");
            assert!(guide.assistants.contains_key(id), "{id}");
            assert_eq!(guide.name(id), guide.name(&id.replace('_', "-")));
        }
    }

    fn text<'s>(source: &'s serde_json::Value, key: &str) -> &'s str {
        source[key].as_str().unwrap()
    }

    #[test]
    fn agents_keep_memories_in_files_and_every_assistant_has_a_readable_name() {
        let guide = ForgetGuide::load(None).unwrap();
        let place = guide.place("claude-code", None, "memory/MEMORY.md");
        assert_eq!(place, "In the file memory/MEMORY.md on your computer. Delete the lines there.");
        assert_eq!(guide.place("claude-code", None, "export.zip!/memory/MEMORY.md"), place);
        assert_eq!(guide.name("claude-code"), "Claude Code");
        assert_eq!(guide.name("some-new_agent"), "Some New Agent");
    }
}
