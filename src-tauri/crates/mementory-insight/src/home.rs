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

/// True if a statement says where the person lives: "lives in Graz, in the Lend district". Homes of relatives and
/// places that are only visited do not count.
pub(crate) fn says_where_home_is(folded: &Folded) -> bool {
    forms().iter().filter(|form| folded.languages.may_be(form.language)).any(|form| {
        let begins_with_home = |regex: &Regex| {
            let found = regex.find(&folded.written);
            found.and_then(|found| folded.written.get(..found.start())).is_some_and(|before| {
                let before = fold(before);
                before.chars().count() <= MAX_CHARS_BEFORE && subject(&before, before.len()).is_none()
            })
        };
        !form.stop_words.iter().any(|word| folded.text.contains(word.as_str()))
            && form.patterns.iter().any(begins_with_home)
    })
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
            assert!(says_where_home_is(&Folded::new(text)), "{text}");
        }
        for text in [
            "Her sister lives in Leeds.",
            "Wants to move to Graz.",
            "Spent a week in Lisbon.",
            "Die Schwester ist nach Odense gezogen.",
            "母は今オスロに住んでいる。",
        ] {
            assert!(!says_where_home_is(&Folded::new(text)), "{text}");
        }
    }
}
