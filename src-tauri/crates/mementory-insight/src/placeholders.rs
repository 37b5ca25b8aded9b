//! Replaces the placeholders in the patterns of `data/values` by the words of a list.
use crate::{
    numerals::expand_numbers,
    word_lists::{CAR_MAKES, FILLERS},
};
use std::sync::OnceLock;

/// Replaces each placeholder by a pattern: those for numbers (see `expand_numbers`), `{filler}` by any number of words
/// such as "now" or "etwa", each with the space after it, and `{car}` by the makes of cars.
pub(crate) fn expand(pattern: &str) -> String {
    static WORDS: OnceLock<[String; 2]> = OnceLock::new();
    let [fillers, cars] = WORDS.get_or_init(|| {
        let fillers = alternatives(FILLERS.iter().copied());
        let cars = alternatives(CAR_MAKES.iter().flat_map(|names| names.iter().copied()));
        [format!("(?i:(?:{fillers}) )*"), format!("(?i:{cars})")]
    });
    expand_numbers(pattern).replace("{filler}", fillers).replace("{car}", cars)
}

/// The words as alternatives of a pattern. Longer ones come first, because the first alternative that matches is used.
fn alternatives<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut words: Vec<&str> = words.collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.into_iter().map(regex::escape).collect::<Vec<_>>().join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_and_makes_of_cars_are_part_of_a_pattern() {
        let regex = regex::Regex::new(&expand("drives {filler}an? (?P<v>{car})\\b")).ok();
        let make = |text: &str| Some(regex.as_ref()?.captures(text)?.name("v")?.as_str().to_owned());
        assert_eq!(make("drives now only a Volvo estate").as_deref(), Some("Volvo"));
        assert_eq!(make("drives a tram"), None);
    }
}
