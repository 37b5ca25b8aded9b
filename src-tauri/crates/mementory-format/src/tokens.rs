//! Finds the keys and tokens of well-known services in a text by their prefixes.
use mementory_scan::PrefixEvidence;
use std::ops::Range;

/// Prefix of Stripe's publishable keys. The scanner does not look for them, because everybody may see them, but they show
/// that a credential is not encrypted.
const PUBLISHABLE_KEY_PREFIX: &str = "pk_live_";
/// Smallest number of characters after the prefix of a token. An AWS key id has the fewest.
const MIN_REMAINDER: usize = 16;

/// The prefix that the text shares with the tokens of a well-known service.
pub(crate) fn token_prefix(text: &str) -> Option<&'static str> {
    let publishable = text.starts_with(PUBLISHABLE_KEY_PREFIX).then_some(PUBLISHABLE_KEY_PREFIX);
    mementory_scan::token_prefix(text, PrefixEvidence::WithDigits).or(publishable)
}

/// The byte ranges of tokens in a text. A token is a whole word with both letters and digits after its prefix, so a
/// name such as `sk-learn-pipeline-of-the-lab` is not a token.
pub(crate) fn tokens(text: &str) -> Vec<Range<usize>> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut out = Vec::new();
    let mut start = 0;
    for word in text.split_inclusive(|c| !is_inside(c)) {
        let token = word.trim_end_matches(|c| !is_inside(c));
        if token_prefix(token).is_some_and(|prefix| is_random(&token[prefix.len()..])) {
            out.push(start..start + token.len());
        }
        start += word.len();
    }
    out
}

fn is_random(remainder: &str) -> bool {
    let has = |test: fn(&u8) -> bool| remainder.bytes().any(|b| test(&b));
    remainder.len() >= MIN_REMAINDER && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn a_token_is_found_as_a_word_of_its_own() {
        let cases: [(&str, &[&str]); 10] = [
            ("sk-proj-aB3dE5fG7hJ9kL1m", &["sk-proj-aB3dE5fG7hJ9kL1m"]),
            ("Key (ghp_0123456789abcdefghij), old", &["ghp_0123456789abcdefghij"]),
            ("\u{e9}=AKIAIOSFODNN7EXAMPLE\u{e9}", &["AKIAIOSFODNN7EXAMPLE"]),
            ("task-0123456789abcdefghij", &[]),
            ("sk-learn-pipeline-of-the-lab", &[]),
            ("sk-1", &[]),
            ("hf_0123456789abcdefghij", &["hf_0123456789abcdefghij"]),
            ("sk_live_0123456789a", &["sk_live_0123456789a"]),
            ("pk_live_0123456789abcdef", &["pk_live_0123456789abcdef"]),
            ("npm_config_registry_mirror", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<&str> = tokens(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
