//! The words of all languages from `data/words` (see the README there). `build.rs` generates a module for each table in
//! the files, with a constant for each list.

include!(concat!(env!("OUT_DIR"), "/word_lists.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_are_compared_with_small_letters_have_no_capitals() {
        let lists = [
            password::NOT_VALUES,
            password::LINKS,
            password::WEAK_LINKS,
            password::FILLERS,
            password::MESSAGE_WORDS,
            password::ATTRIBUTES,
            password::ATTRIBUTE_STEMS,
            password::NAME_PREFIXES_WITHOUT_VALUE,
            secret::HIGH_CONFIDENCE,
            secret::NOT_SECRETS,
            secret::QUALIFIED_NAMES,
            secret::API_SUFFIXES,
            secret::LINKS,
            placeholder::FRAGMENTS,
            placeholder::WHOLE_VALUES,
            placeholder::TOKEN_FRAGMENTS,
        ];
        for word in lists.concat() {
            assert_eq!(word, word.to_lowercase());
        }
    }

    #[test]
    fn names_of_secrets_have_no_spaces_or_signs() {
        for word in [secret::HIGH_CONFIDENCE, secret::NOT_SECRETS, secret::QUALIFIED_NAMES].concat() {
            assert_eq!(word.chars().find(|c| !(c.is_alphanumeric() || *c as u32 > 0x2FF)), None, "{word}");
        }
    }

    #[test]
    fn subsets_contain_only_words_of_the_full_list() {
        for (subset, list) in [
            (password::AMBIGUOUS_NAMES, password::NAMES),
            (password::AMBIGUOUS_NAMES_IN_SENTENCES, password::AMBIGUOUS_NAMES),
            (password::WEAK_LINKS, password::LINKS),
        ] {
            for word in subset {
                assert!(list.contains(word), "{word}");
            }
        }
    }

    #[test]
    fn longer_words_come_before_their_prefixes() {
        for (position, word) in secret::API_SUFFIXES.iter().enumerate() {
            assert!(!secret::API_SUFFIXES[..position].iter().any(|earlier| word.starts_with(earlier)), "{word}");
        }
    }
}
