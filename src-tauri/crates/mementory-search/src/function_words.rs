//! Function words, which have no meaning on their own. If any other word of a query occurs in the index, a text that
//! shares only function words with the query is not found: "fear of the sea" does not find "the top of the hill".

/// Function words, folded as in the index, in alphabetical order. Function words that are ordinary words in another
/// language ("die", "hat") are left out.
const FUNCTION_WORDS: &[&str] = &[
    "a", "aber", "about", "am", "an", "and", "are", "as", "at", "auf", "aus", "be", "bei", "but", "by", "can", "das",
    "dem", "den", "der", "des", "did", "diese", "dieser", "dieses", "do", "does", "ein", "eine", "einem", "einen",
    "einer", "er", "es", "for", "from", "fur", "had", "has", "have", "he", "her", "his", "how", "i", "ich", "if",
    "ihr", "ihre", "im", "in", "is", "ist", "it", "its", "me", "mein", "meine", "mit", "my", "nach", "ob", "oder",
    "of", "on", "or", "our", "she", "sie", "sind", "so", "that", "the", "their", "these", "they", "this", "those",
    "to", "und", "uns", "unser", "unsere", "von", "wann", "warum", "was", "we", "welche", "welcher", "welches", "wer",
    "were", "what", "when", "where", "which", "who", "why", "wie", "wir", "with", "wo", "you", "your", "zu", "zum",
    "zur",
];

/// True for a folded function word.
pub(crate) fn is_function_word(token: &str) -> bool {
    FUNCTION_WORDS.binary_search(&token).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(FUNCTION_WORDS.is_sorted());
        assert!(is_function_word("the") && is_function_word("zur") && !is_function_word("sea"));
    }
}
