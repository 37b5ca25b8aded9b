//! Where each assistant keeps its memories, and texts that ask it to forget them. The texts are stored as one data file
//! for each language.
use crate::{
    ApiResult,
    session::language_texts::{self, Languages},
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Texts of one language.
#[derive(Debug, Deserialize)]
pub(crate) struct ForgetGuide {
    /// Texts by assistant. The entry `default` is for assistants that have no entry.
    assistants: BTreeMap<String, Entry>,
    /// First line of the text that the person pastes into the assistant.
    pub(crate) ask: String,
    /// For each review answer, the heading above the memories with this answer.
    pub(crate) groups: BTreeMap<String, String>,
    /// Last line of the text that the person pastes into the assistant.
    pub(crate) end: String,
}

#[derive(Debug, Deserialize)]
struct Entry {
    name: Option<String>,
    #[serde(rename = "where")]
    place: String,
}

const LANGUAGES: Languages = [
    ("en", include_str!("../../../data/forget/en.json")),
    ("de", include_str!("../../../data/forget/de.json")),
    ("ja", include_str!("../../../data/forget/ja.json")),
];

impl ForgetGuide {
    /// The texts in a language; in English if no language is given.
    ///
    /// # Errors
    /// `usage` for a language without texts.
    pub(crate) fn load(language: Option<&str>) -> ApiResult<Self> {
        language_texts::load(&LANGUAGES, language.unwrap_or("en"), "Nothing was changed.")
    }

    /// The assistant's name, as people know it.
    pub(crate) fn name(&self, assistant: &str) -> String {
        self.assistants.get(assistant).and_then(|entry| entry.name.clone()).unwrap_or_else(|| assistant.to_owned())
    }

    /// Where to find a memory in its assistant. `id` is its id there; `file` is the file that it was imported from.
    pub(crate) fn place(&self, assistant: &str, id: Option<&str>, file: &str) -> String {
        let entry = self.assistants.get(assistant).or_else(|| self.assistants.get("default"));
        let text = entry.map(|entry| entry.place.as_str()).unwrap_or_default();
        text.replace("{name}", &self.name(assistant)).replace("{id}", id.unwrap_or("–")).replace("{file}", file)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn all_languages_have_the_same_entries() {
        let keys = |guide: &ForgetGuide| {
            (guide.assistants.keys().cloned().collect::<Vec<_>>(), guide.groups.keys().cloned().collect::<Vec<_>>())
        };
        let english = ForgetGuide::load(None).unwrap();
        for (language, _) in LANGUAGES {
            let guide = ForgetGuide::load(Some(language)).unwrap();
            assert_eq!(keys(&guide), keys(&english), "{language}");
            assert_eq!(guide.groups.keys().collect::<Vec<_>>(), ["outdated", "private", "wrong"]);
            assert!(!guide.place("someone else", None, "").contains('{'), "{language}");
        }
        assert_eq!(ForgetGuide::load(Some("xx")).unwrap_err().code, "usage");
    }
}
