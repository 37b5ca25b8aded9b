//! Finds the keys and tokens of well-known services in a text by their prefixes.
use mementory_scan::PrefixEvidence;
use std::ops::Range;

/// Prefix of Stripe's publishable keys. The scanner does not look for them, because everybody may see them, but they show
/// that a credential is not encrypted.
const PUBLISHABLE_KEY_PREFIX: &str = "pk_live_";
/// Prefixes of tokens that may contain full stops.
const PREFIXES_WITH_FULL_STOPS: [&str; 3] = ["ya29.", "ghs_", "glpat-"];
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
    let mut out = Vec::new();
    let (mut start, mut checked_end) = (0, 0);
    for word in text.split_inclusive(|c| !is_inside(c)) {
        // A token may contain several of these words. If it is not random, none of them is.
        if start >= checked_end {
            let token = token_at(&text[start..], word);
            if token_prefix(token).is_some_and(|prefix| is_random(&token[prefix.len()..])) {
                out.push(start..start + token.len());
            }
            checked_end = start + token.len();
        }
        start += word.len();
    }
    out
}

/// The word with which a text begins. `word` is this word up to the first character that is not inside one. A full stop
/// ends a word, unless the text begins with one of [`PREFIXES_WITH_FULL_STOPS`]. Then only a full stop at the end is not
/// part of the word.
fn token_at<'t>(text: &'t str, word: &'t str) -> &'t str {
    if !token_prefix(text).is_some_and(|prefix| PREFIXES_WITH_FULL_STOPS.contains(&prefix)) {
        return word.trim_end_matches(|c| !is_inside(c));
    }
    let end = text.find(|c| !is_inside(c) && c != '.').unwrap_or(text.len());
    text[..end].trim_end_matches('.')
}

fn is_inside(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
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
        let cases: [(&str, &[&str]); 15] = [
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
            ("Key: ya29.a0b1c2d3e4f5g6h7i8j9.k0.", &["ya29.a0b1c2d3e4f5g6h7i8j9.k0"]),
            ("ya29.a0b1c2d3e4f5.ghp_0123456789abcdefghij!", &["ya29.a0b1c2d3e4f5.ghp_0123456789abcdefghij"]),
            ("(glpat-0123456789abcdefghij.01.0a1b2c3d4)", &["glpat-0123456789abcdefghij.01.0a1b2c3d4"]),
            ("Is ghp_0123456789abcdefghij.Then on", &["ghp_0123456789abcdefghij"]),
            ("key.ghp_0123456789abcdefghij", &["ghp_0123456789abcdefghij"]),
        ];
        for (text, expected) in cases {
            let found: Vec<&str> = tokens(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
