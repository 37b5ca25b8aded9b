//! The texts of the report, stored as one data file for each language.
use crate::{
    ApiResult,
    session::language_texts::{self, Languages},
};
use std::collections::BTreeMap;

/// Texts by key.
pub(super) struct Texts(BTreeMap<String, String>);

const LANGUAGES: Languages = [
    ("en", include_str!("../../../data/report/en.json")),
    ("de", include_str!("../../../data/report/de.json")),
    ("ja", include_str!("../../../data/report/ja.json")),
];

impl Texts {
    /// The texts of a language.
    ///
    /// # Errors
    /// `usage` for a language without texts.
    pub(super) fn load(language: &str) -> ApiResult<Self> {
        language_texts::load(&LANGUAGES, language, "Nothing was written.").map(Self)
    }

    /// The text for a key, or the key itself if there is none.
    pub(super) fn get<'t>(&'t self, key: &'t str) -> &'t str {
        self.0.get(key).map_or(key, String::as_str)
    }

    /// The text for a key, with each `{name}` replaced by its value.
    pub(super) fn with(&self, key: &str, values: &[(&str, &str)]) -> String {
        let mut out = String::new();
        let mut rest = self.get(key);
        // Replaces all names in one pass, so that braces in a value are not mistaken for a name.
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let Some((name, next)) = after.split_once('}') else { break };
            out.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value));
            rest = next;
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn all_languages_have_the_same_texts() {
        let keys = |language: &str| Texts::load(language).unwrap().0.into_keys().collect::<Vec<_>>();
        for (language, _) in LANGUAGES {
            assert_eq!(keys(language), keys("en"), "{language}");
        }
        assert!(Texts::load("xx").is_err());
        let texts = Texts::load("en").unwrap();
        assert!(texts.with("letter", &[("name", "{date}")]).ends_with("{date}"));
    }
}
