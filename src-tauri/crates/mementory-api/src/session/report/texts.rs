//! Loads the texts of the report, which are stored as one data file for each language.
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
    /// Loads the texts of a language.
    ///
    /// # Errors
    /// `usage` for a language without texts.
    pub(super) fn load(language: &str) -> ApiResult<Self> {
        language_texts::load(&LANGUAGES, language, "Nothing was written.").map(Self)
    }

    /// Returns the text for a key, or the key itself if there is no text.
    pub(super) fn get<'t>(&'t self, key: &'t str) -> &'t str {
        self.0.get(key).map_or(key, String::as_str)
    }

    /// Returns the text for a key, with `{n}` replaced by a number. For the number 1, the text for the key with the
    /// suffix `_one` is used if there is one.
    pub(super) fn count(&self, key: &str, n: usize) -> String {
        let one = format!("{key}_one");
        let key = if n == 1 && self.0.contains_key(&one) { one.as_str() } else { key };
        self.with_values(key, &[("n", n.to_string().as_str())])
    }

    /// Returns the translation of a name in the data, such as the type `project_doc`: the text for the key
    /// `{kind}_{name}`, or else the name itself in readable form.
    pub(super) fn word(&self, kind: &str, name: &str) -> String {
        self.0.get(&format!("{kind}_{name}")).cloned().unwrap_or_else(|| {
            let mut letters = name.replace(['_', '-'], " ");
            if let Some(first) = letters.chars().next() {
                letters.replace_range(..first.len_utf8(), &first.to_uppercase().to_string());
            }
            letters
        })
    }

    /// Returns a day in words, such as "26 November 2026". If `micros` is None, returns the text for undated records.
    pub(super) fn day(&self, micros: Option<i64>) -> String {
        let Some(micros) = micros else { return self.get("undated").to_owned() };
        let day: String = crate::session::time(micros).chars().take(10).collect();
        let mut numbers = day.split('-');
        let (Some(year), Some(month), Some(number)) = (numbers.next(), numbers.next(), numbers.next()) else {
            return day;
        };
        let position = month.parse::<usize>().unwrap_or_default().checked_sub(1);
        let Some(name) = position.and_then(|n| self.get("months").split(", ").nth(n)) else { return day };
        self.with_values("day", &[("day", number.trim_start_matches('0')), ("month", name), ("year", year)])
    }

    /// Returns the text for a key, with each `{name}` replaced by its value.
    pub(super) fn with_values(&self, key: &str, values: &[(&str, &str)]) -> String {
        let mut out = String::new();
        let mut rest = self.get(key);
        // All names are replaced in one pass, so that braces in a value are not mistaken for a name.
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
        assert!(texts.with_values("letter", &[("name", "{date}")]).ends_with("{date}"));
    }

    #[test]
    fn days_and_numbers_are_in_words_of_the_language() {
        let micros = mementory_model::Timestamp::parse("2026-11-03").unwrap().as_micros();
        for (language, day, one) in [
            ("en", "3 November 2026", "1 entry was erased."),
            ("de", "3. November 2026", "1 Eintrag wurde endgültig gelöscht."),
            ("ja", "2026年11月3日", "1件を完全に消去しました。"),
        ] {
            let texts = Texts::load(language).unwrap();
            assert_eq!(texts.day(Some(micros)), day);
            assert!(!texts.day(None).contains(|c: char| c.is_ascii_digit()), "{language}");
            assert_eq!(texts.count("erased_count", 1), one);
            assert!(texts.count("erased_count", 2).contains('2'), "{language}");
            assert_eq!(texts.get("months").split(", ").count(), 12);
        }
        let texts = Texts::load("en").unwrap();
        assert_eq!(texts.word("type", "project_doc"), "Project document");
        assert_eq!(texts.word("type", "some_new-type"), "Some new type");
    }

    /// The texts of the window in each language.
    const WINDOW: Languages = [
        ("en", include_str!("../../../../../../ui/src/lib/text/en.json")),
        ("de", include_str!("../../../../../../ui/src/lib/text/de.json")),
        ("ja", include_str!("../../../../../../ui/src/lib/text/ja.json")),
    ];

    #[test]
    fn the_report_uses_the_words_of_the_window() {
        for (language, window) in WINDOW {
            let window: BTreeMap<String, serde_json::Value> = serde_json::from_str(window).unwrap();
            let word = |key: &str| window.get(key).and_then(|word| word.as_str());
            let texts = Texts::load(language).unwrap();
            assert_eq!(word("matrix.special"), Some(texts.get("special")));
            for (key, text) in &texts.0 {
                let Some((kind, name)) = key.split_once('_') else { continue };
                let is_name = ["about", "special", "type", "class"].contains(&kind) && name != "lead";
                assert!(!is_name || word(&format!("{kind}.{name}")) == Some(text), "{language}: {key}");
            }
        }
    }
}
