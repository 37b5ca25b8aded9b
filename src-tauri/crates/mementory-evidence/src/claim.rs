//! Divides a memory into statements, and finds the sentences of a message that support them best.
use crate::{
    parts::{Part, clauses, sentences},
    question::is_question,
    words::{Word, WordShape, Words, similarity},
};

/// Number of code points of a message that are read.
const MAX_MESSAGE_CHARS: usize = 200_000;
/// Smallest number of words for which a sentence of a memory is divided into clauses.
const MIN_DIVIDED_WORDS: usize = 9;
/// Largest number of parts of a memory that are compared. Further parts are ignored.
const MAX_PARTS: usize = 24;
/// Lowest score of a sentence that is returned.
const MIN_SCORE: f32 = 0.3;
/// Factor for the score of a part that only two sentences together support.
const TWO_SENTENCES_FACTOR: f32 = 0.95;
/// Factor for the score if the statement contains a negation and the sentence does not, or the other way round.
const NEGATION_MISMATCH_FACTOR: f32 = 0.6;

/// A sentence of a message, or two neighbouring sentences, that support a part of a memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sentence {
    /// First code point.
    pub start: u32,
    /// Code point after the last one.
    pub end: u32,
    /// Share of the part's words that the sentence contains, from 0 to 1. Each word counts by its weight and by how
    /// similar it is to the word in the sentence. The share is reduced for two sentences and for a negation on only one
    /// side.
    pub score: f32,
    /// Number of words that the sentence and the part have in common, not counting pairs of hiragana.
    pub shared: u32,
    /// Index of the supported part.
    pub part: usize,
}

/// A part of a memory: one statement.
#[derive(Debug, Clone)]
struct Statement {
    words: Vec<(Word, f32)>,
    total: f32,
    is_negated: bool,
}

/// The statements of a memory.
#[derive(Debug, Clone)]
pub struct Claim {
    parts: Vec<Statement>,
}

impl Claim {
    /// Divides a memory into statements. `rarity` returns the weight of a folded word. The fewer texts contain a word,
    /// the higher its weight should be. Only the ratios of the weights matter.
    pub fn new(text: &str, rarity: &dyn Fn(&str) -> f32) -> Self {
        let mut parts = Vec::new();
        for sentence in sentences(text) {
            let undivided = Statement::new(sentence.text, rarity);
            let divided: Vec<Statement> = match undivided.words.len() >= MIN_DIVIDED_WORDS {
                true => clauses(sentence.text).into_iter().map(|clause| Statement::new(clause, rarity)).collect(),
                false => Vec::new(),
            };
            // A clause of one word ("and tea") would be too weak on its own.
            if divided.len() > 1 && divided.iter().all(|clause| clause.strong_word_count() >= 2) {
                parts.extend(divided);
            } else {
                parts.push(undivided);
            }
        }
        parts.retain(|part| part.total > 0.0);
        parts.truncate(MAX_PARTS);
        Self { parts }
    }

    /// Number of statements.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Number of distinct words of a part, not counting pairs of hiragana.
    pub fn strong_words(&self, part: usize) -> u32 {
        self.parts.get(part).map_or(0, Statement::strong_word_count)
    }

    /// The sentence of a message with the highest score for any part of the memory. None if no sentence supports a
    /// part.
    pub fn best_sentence(&self, message: &str) -> Option<Sentence> {
        self.best_sentences(message).into_iter().max_by(|a, b| a.score.total_cmp(&b.score))
    }

    /// For each part of the memory, the sentence of a message with the highest score. Parts without a sentence are left
    /// out.
    pub fn best_sentences(&self, message: &str) -> Vec<Sentence> {
        self.best_sentences_if(message, |_| true)
    }

    /// Like [`best_sentences`](Self::best_sentences), without sentences that only ask.
    pub fn best_statements(&self, message: &str) -> Vec<Sentence> {
        self.best_sentences_if(message, |sentence| !is_question(sentence))
    }

    fn best_sentences_if(&self, message: &str, may_support: impl Fn(&str) -> bool) -> Vec<Sentence> {
        let end = message.char_indices().nth(MAX_MESSAGE_CHARS).map_or(message.len(), |(byte, _)| byte);
        let message = message.get(..end).unwrap_or_default();
        let message_sentences: Vec<(Part<'_>, Words)> = sentences(message)
            .into_iter()
            .filter(|part| may_support(part.text))
            .map(|part| (part, Words::new(part.text)))
            .collect();
        let best = |(number, part): (usize, &Statement)| {
            let mut best = part.best_in(&message_sentences)?;
            best.part = number;
            Some(best)
        };
        self.parts.iter().enumerate().filter_map(best).collect()
    }
}

impl Statement {
    fn new(text: &str, rarity: &dyn Fn(&str) -> f32) -> Self {
        let Words { words, is_negated } = Words::new(text);
        let mut weighted_words: Vec<(Word, f32)> = Vec::with_capacity(words.len());
        for word in words {
            if weighted_words.iter().any(|(known, _)| known.folded == word.folded) {
                continue;
            }
            let factor = match word.shape {
                WordShape::Word => 1.0,
                WordShape::Number => 1.2,
                WordShape::Pair => 0.7,
                WordShape::WeakPair => 0.1,
            };
            let weight = rarity(&word.folded).max(0.0) * factor;
            weighted_words.push((word, weight));
        }
        // In "Maria works at …", the subject is probably the person, who says "I" in messages, so the name counts less.
        if let Some((subject, rest)) = weighted_words.split_first_mut()
            && subject.0.is_capitalised
            && rest.first().is_some_and(|(verb, _)| !verb.is_capitalised && verb.folded.ends_with('s'))
        {
            subject.1 *= 0.3;
        }
        let total = weighted_words.iter().map(|(_, weight)| weight).sum();
        Self { words: weighted_words, total, is_negated }
    }

    fn strong_word_count(&self) -> u32 {
        self.words.iter().filter(|(word, _)| word.shape != WordShape::WeakPair).count() as u32
    }

    fn best_in(&self, message_sentences: &[(Part<'_>, Words)]) -> Option<Sentence> {
        let similarities: Vec<Vec<f32>> = message_sentences.iter().map(|(_, words)| self.matches(words)).collect();
        let mut best: Option<Sentence> = None;
        for (n, sentence_similarities) in similarities.iter().enumerate() {
            if sentence_similarities.iter().all(|similarity| *similarity == 0.0) {
                continue;
            }
            let (part, words) = &message_sentences[n];
            let mut offer = |score: f32, shared: u32, start: u32, end: u32, is_negated: bool| {
                let score = if is_negated == self.is_negated { score } else { score * NEGATION_MISMATCH_FACTOR };
                if score >= MIN_SCORE && best.is_none_or(|best| score > best.score) {
                    best = Some(Sentence { start, end, score, shared, part: 0 });
                }
            };
            let (score, shared) = self.score(sentence_similarities);
            offer(score, shared, part.start, part.end, words.is_negated);
            if let (Some(next), Some((next_part, next_words))) = (similarities.get(n + 1), message_sentences.get(n + 1))
            {
                let best_of_both: Vec<f32> = sentence_similarities.iter().zip(next).map(|(a, b)| a.max(*b)).collect();
                let (score, shared) = self.score(&best_of_both);
                offer(
                    score * TWO_SENTENCES_FACTOR,
                    shared,
                    part.start,
                    next_part.end,
                    words.is_negated || next_words.is_negated,
                );
            }
        }
        best
    }

    /// For each word of the statement, its similarity to the most similar word of a sentence.
    fn matches(&self, sentence: &Words) -> Vec<f32> {
        let best = |word: &Word| sentence.words.iter().map(|other| similarity(word, other)).fold(0.0, f32::max);
        self.words.iter().map(|(word, _)| best(word)).collect()
    }

    fn score(&self, similarities: &[f32]) -> (f32, u32) {
        let weighted_match = |((word, weight), similarity): (&(Word, f32), &f32)| {
            (weight * similarity, u32::from(*similarity > 0.0 && word.shape != WordShape::WeakPair))
        };
        let (sum, shared) =
            self.words.iter().zip(similarities).map(weighted_match).fold((0.0, 0), |(a, b), (x, y)| (a + x, b + y));
        (sum / self.total, shared)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn score(memory: &str, message: &str) -> f32 {
        Claim::new(memory, &|_| 1.0).best_sentence(message).map_or(0.0, |found| found.score)
    }

    #[test]
    fn a_statement_is_found_in_other_words_with_the_same_stems() {
        for (memory, message) in [
            ("User is allergic to penicillin.", "Hi. I have a penicillin allergy."),
            ("The user lives in Graz with two cats.", "I've been living in Graz with my two cats for a year."),
            ("Der Nutzer hat eine Penicillinallergie.", "Ich bin gegen Penicillin allergisch."),
            ("ユーザーは京都に住んでいる。", "実は京都に住んでいます。おすすめは？"),
            ("Maria works at Siemens as a nurse.", "I work as a nurse at Siemens"),
        ] {
            assert!(score(memory, message) >= 0.6, "{memory} / {message}: {}", score(memory, message));
        }
    }

    #[test]
    fn a_different_statement_is_not_found() {
        for (memory, message) in [
            ("User is allergic to penicillin.", "Is aspirin sold without a prescription?"),
            ("User lives in Graz.", "What is the weather like in Paris?"),
            ("ユーザーは京都に住んでいる。", "大阪の天気を教えて。"),
        ] {
            assert!(score(memory, message) < 0.5, "{memory} / {message}: {}", score(memory, message));
        }
        assert!(
            score("User does not eat meat.", "I eat meat.") < score("User does not eat meat.", "I don't eat meat.")
        );
    }

    #[test]
    fn each_clause_of_a_long_memory_is_found_by_itself() {
        let memory = "User works as a nurse in Graz, keeps two grey cats, and plans a trip to Lisbon in May 2027.";
        let claim = Claim::new(memory, &|_| 1.0);
        assert_eq!(claim.parts(), 3);
        let sentences = claim.best_sentences("I'm a nurse, I work in Graz. My two cats are grey.");
        assert_eq!(sentences.iter().filter(|s| s.score > 0.6).map(|s| s.part).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn a_question_supports_no_part_as_a_statement() {
        let claim = Claim::new("Wants to run a half marathon in October.", &|_| 1.0);
        let message = "I run again. And then a half marathon in October?";
        assert!(claim.best_sentence(message).is_some_and(|found| found.score > 0.6));
        assert!(claim.best_statements(message).iter().all(|found| found.score < 0.6 && found.end <= 12));
    }

    #[test]
    fn hostile_text_does_not_panic() {
        for text in ["", "🙂", "\u{200d}\u{fe0f}", "é\u{301}\u{301}", "\u{0}", "a".repeat(300_000).as_str()] {
            let claim = Claim::new(text, &|_| 1.0);
            let _ = claim.best_sentences(text);
            let _ = claim.best_sentences("I live in Graz.");
        }
        assert_eq!(Claim::new("x y", &|_| 0.0).parts(), 0, "no weight, no claim");
    }
}
