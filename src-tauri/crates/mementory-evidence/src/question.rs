//! Recognises sentences that only ask. Somebody who asks "And then a half marathon?" does not state that they will run
//! one.
use crate::parts::sentences;

/// A clause before the question with at least this many words may be a statement: "Ruth has a baby, what do I bring?"
const MIN_STATEMENT_WORDS: usize = 3;
/// In a question without a question mark, the question word may be one of this many last words: "the exam how long".
const MAX_WORDS_FROM_END: usize = 2;

/// Words that begin a question.
const QUESTION_WORDS: &[&str] = &[
    "what", "what's", "which", "who", "whose", "where", "where's", "when", "why", "how", "how's", "is", "are", "do",
    "does", "did", "can", "could", "should", "shall", "may", "must", "will", "would", "was", "were", "has", "have",
    "am", "and", "or", "so", "if", "any", "wie", "wo", "warum", "wieso", "weshalb", "welche", "welcher", "welches",
    "welchen", "wer", "wem", "wen", "wohin", "woher", "wann", "wozu", "ist", "sind", "kann", "soll", "darf", "muss",
    "hat", "gibt", "und", "oder", "wenn", "falls",
];
/// Words that begin a question even if no question mark follows.
const SURE_QUESTION_WORDS: &[&str] = &[
    "what", "what's", "which", "who", "where", "where's", "why", "how", "how's", "wie", "wo", "warum", "wieso",
    "weshalb", "welche", "welcher", "welches", "wer", "wohin", "woher", "wann", "wozu",
];
/// Question words that people write at the end of a search.
const QUESTION_WORDS_AT_END: &[&str] = &["how", "wie"];
/// Verbs that make a question if one of [`PRONOUNS`] follows.
const QUESTION_VERBS: &[&str] = &[
    "is", "are", "do", "does", "did", "can", "could", "should", "shall", "may", "must", "will", "would", "was", "were",
    "has", "have", "am", "ist", "sind", "kann", "soll", "sollte", "darf", "muss", "hat", "habe", "gibt",
];
const PRONOUNS: &[&str] = &[
    "i", "we", "it", "he", "she", "they", "there", "this", "that", "you", "ich", "man", "es", "wir", "er", "sie", "das",
];
/// Words with which people refer to themselves. A question with one of them, or one of [`POSSESSIVES`], may contain a
/// statement: "for my nut allergy".
const FIRST_PERSON: &[&str] =
    &["i", "i'm", "i've", "i'd", "i'll", "we", "me", "us", "ich", "wir", "mir", "mich", "uns"];
const POSSESSIVES: &[&str] = &[
    "my", "our", "mein", "meine", "meinen", "meinem", "meiner", "meines", "unser", "unsere", "unseren", "unserem",
    "unserer",
];
const JAPANESE_POSSESSIVES: &[&str] = &["私の", "わたしの", "僕の", "ぼくの", "俺の", "うちの"];
/// Beginnings of requests, which state what the person wants.
const REQUEST_BEGINNINGS: &[[&str; 2]] = &[
    ["can", "you"],
    ["could", "you"],
    ["would", "you"],
    ["will", "you"],
    ["kannst", "du"],
    ["könntest", "du"],
    ["würdest", "du"],
    ["können", "sie"],
    ["könnten", "sie"],
    ["würden", "sie"],
];
const JAPANESE_REQUESTS: &[&str] =
    &["くれますか", "くれませんか", "もらえますか", "もらえませんか", "いただけますか", "いただけませんか"];
const JAPANESE_QUESTIONS: &[&str] = &["ですか", "ますか", "ませんか", "でしょうか", "だろうか", "のか", "かな"];

/// True if a text only asks, and states nothing about the person who asks. False for a request ("can you answer in one
/// line?") and for a question with a statement in it ("what helps against my hay fever?").
pub fn is_question(text: &str) -> bool {
    let parts = sentences(text);
    !parts.is_empty() && parts.iter().all(|part| only_asks(part.text))
}

fn only_asks(sentence: &str) -> bool {
    let sentence = sentence.trim_end_matches(['"', '”', '“', '»', '」', '』', ')', '）', '。', '.', ' ']);
    let is_marked = sentence.ends_with(['?', '？']);
    let sentence_without_mark = sentence.trim_end_matches(['?', '？', '!', '！', ' ']);
    if ends_with_any(sentence_without_mark, JAPANESE_REQUESTS)
        || JAPANESE_POSSESSIVES.iter().any(|word| sentence_without_mark.contains(word))
    {
        return false;
    }
    let words = words_of(sentence_without_mark);
    let contains_any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if contains_any(POSSESSIVES)
        || REQUEST_BEGINNINGS.iter().any(|request| words.starts_with(&request.map(str::to_owned)))
    {
        return false;
    }
    if !is_marked {
        return ends_with_any(sentence_without_mark, JAPANESE_QUESTIONS) || asks_without_mark(&words);
    }
    let clauses: Vec<&str> = sentence_without_mark.split([',', ';', ':', '–', '—', '、', '，']).collect();
    let (_, earlier_clauses) = clauses.split_last().unwrap_or((&"", &[]));
    !earlier_clauses.iter().any(|clause| may_be_statement(clause))
}

/// True for a question that is written without a question mark, as in the box of a search engine.
fn asks_without_mark(words: &[String]) -> bool {
    let is_one_of = |word: Option<&String>, list: &[&str]| word.is_some_and(|word| list.contains(&word.as_str()));
    if is_one_of(words.first(), QUESTION_VERBS) && is_one_of(words.get(1), PRONOUNS) {
        return true;
    }
    // "What I like is tea" states something.
    let is_about_self = words.iter().any(|word| FIRST_PERSON.contains(&word.as_str()));
    let asks_at_end =
        words.iter().rev().take(MAX_WORDS_FROM_END).any(|word| QUESTION_WORDS_AT_END.contains(&word.as_str()));
    !is_about_self && (is_one_of(words.first(), SURE_QUESTION_WORDS) || asks_at_end)
}

/// True if a clause before the question may state something.
fn may_be_statement(clause: &str) -> bool {
    let words = words_of(clause);
    let begins_as_question = words.first().is_some_and(|word| QUESTION_WORDS.contains(&word.as_str()));
    let is_without_spaces = clause.chars().filter(|c| !c.is_ascii() && c.is_alphanumeric()).count() > 5;
    !begins_as_question && (words.len() >= MIN_STATEMENT_WORDS || is_without_spaces)
}

fn words_of(text: &str) -> Vec<String> {
    let is_border = |c: char| !c.is_alphanumeric() && c != '\'' && c != '’';
    let words = text.split(is_border).filter(|word| !word.is_empty());
    words.map(|word| word.to_lowercase().replace('’', "'")).collect()
}

fn ends_with_any(text: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| text.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_alone_states_nothing() {
        for text in [
            "And then a half marathon?",
            "B1 exam speaking part how long",
            "how to cook a whole sea bream",
            "Is it quicker to walk or to take the 28?",
            "can i run with a swollen knee",
            "What is this fish? And is it kind to cats?",
            "Wie lange dauert die Prüfung?",
            "Und dann ein Halbmarathon?",
            "Kann ich mit dem Knie laufen?",
            "ハーフマラソンはどうですか？",
            "試験は何分ですか。",
        ] {
            assert!(is_question(text), "{text}");
        }
    }

    #[test]
    fn a_statement_a_request_and_a_question_that_states_something_are_not_questions() {
        for text in [
            "I have the B1 exam on 14 November.",
            "What I like most is tea",
            "Wie ich schon sagte: kein Fleisch",
            "Was at the dentist in Leeds",
            "Has a cat called Biscuit",
            "I don't know how",
            "Can you answer without bullet points?",
            "Kannst du kürzer antworten?",
            "もっと短く答えてくれますか？",
            "What helps against my hay fever?",
            "Was hilft gegen meinen Heuschnupfen?",
            "私の膝には何がいいですか？",
            "Ruth had her baby on Monday, what do I bring?",
            "Ich esse kein Fleisch mehr, was koche ich?",
            "魚が食べられないのですが、何がいいですか？",
            "I moved to Lisbon. What do I need?",
            "",
            "?!",
        ] {
            assert!(!is_question(text), "{text}");
        }
    }
}
