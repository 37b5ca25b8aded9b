//! Recognises statements that say where the owner of the memories lives.
use crate::{
    fold::{Folded, fold},
    placeholders::expand,
    subject::subject,
    word_lists::VALUES,
};
use regex::Regex;
use std::sync::OnceLock;

/// Tables of `data/values` whose patterns recognise where somebody lives.
const TABLES: [&str; 2] = ["lives_in", "home_address"];
/// The phrase that says where the person lives must begin within this many characters. A longer text before the phrase
/// is about other things too.
const MAX_CHARS_BEFORE: usize = 60;

struct Form {
    patterns: Vec<Regex>,
    stop_words: Vec<String>,
    language: &'static str,
}

/// Words that may precede the phrase in a statement that is only about the home: "The user now lives in Graz".
const OPENINGS: [&str; 30] = [
    "the",
    "user",
    "she",
    "he",
    "they",
    "i",
    "is",
    "has",
    "now",
    "currently",
    "still",
    "recently",
    "die",
    "der",
    "nutzer",
    "nutzerin",
    "sie",
    "er",
    "ich",
    "ist",
    "hat",
    "jetzt",
    "inzwischen",
    "mittlerweile",
    "derzeit",
    "aktuell",
    "seit",
    "ユーザーは",
    "今は",
    "現在は",
];

/// How a statement says where the owner of the memories lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HomePhrase {
    /// The statement begins with it: "Lives in Graz with her husband".
    First,
    /// Other words precede it, such as a name.
    Later,
}

/// Whether a statement says where the person lives: "lives in Graz, in the Lend district". None if it does not. Homes of
/// relatives and places that are only visited do not count.
pub(crate) fn home_phrase(folded: &Folded) -> Option<HomePhrase> {
    let before_phrase = |regex: &Regex| {
        let found = regex.find(&folded.written)?;
        let before = fold(folded.written.get(..found.start())?);
        let is_own = before.chars().count() <= MAX_CHARS_BEFORE && subject(&before, before.len()).is_none();
        is_own.then_some(before)
    };
    let of_language = forms().iter().filter(|form| folded.languages.may_be(form.language));
    let mut found = of_language
        .filter(|form| !form.stop_words.iter().any(|word| folded.text.contains(word.as_str())))
        .flat_map(|form| form.patterns.iter().filter_map(before_phrase))
        .peekable();
    found.peek()?;
    let is_opening = |before: String| before.split(' ').all(|word| word.is_empty() || OPENINGS.contains(&word));
    Some(if found.any(is_opening) { HomePhrase::First } else { HomePhrase::Later })
}

fn forms() -> &'static [Form] {
    static FORMS: OnceLock<Vec<Form>> = OnceLock::new();
    FORMS.get_or_init(|| {
        let tables = VALUES.iter().flat_map(|language| language.tables.iter().map(move |table| (language.code, table)));
        let of_home = tables.filter(|(_, table)| TABLES.contains(&table.name));
        of_home
            .map(|(language, table)| Form {
                // `ok` drops no pattern, because a test of `contradictions` checks that all patterns compile.
                patterns: table.list(0).iter().filter_map(|text| Regex::new(&expand(text)).ok()).collect(),
                stop_words: table.list(1).iter().map(|word| fold(word)).collect(),
                language,
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_persons_own_home_counts() {
        for text in [
            "Lives in Graz, in the Lend district, on the fourth floor.",
            "I live in Leeds now.",
            "Wohnt jetzt in einem Reihenhaus in Gratkorn.",
            "Ist im Mai nach Graz gezogen.",
            "グラーツのレント地区で暮らしている。",
        ] {
            assert!(home_phrase(&Folded::new(text)).is_some(), "{text}");
        }
        for text in [
            "Her sister lives in Leeds.",
            "Wants to move to Graz.",
            "Spent a week in Lisbon.",
            "Die Schwester ist nach Odense gezogen.",
            "母は今オスロに住んでいる。",
            "2018年に札幌に住んでいた。",
        ] {
            assert_eq!(home_phrase(&Folded::new(text)), None, "{text}");
        }
    }

    #[test]
    fn a_statement_that_begins_with_a_name_may_be_about_somebody_else() {
        for text in
            ["The user now lives in Graz with Ada.", "Wohnt in Jena, in einer WG.", "エスビャウの郊外に住んでいる。"]
        {
            assert_eq!(home_phrase(&Folded::new(text)), Some(HomePhrase::First), "{text}");
        }
        for text in ["Zorvella lives in Leeds.", "Works as a baker and lives in Leeds."] {
            assert_eq!(home_phrase(&Folded::new(text)), Some(HomePhrase::Later), "{text}");
        }
    }
}
