//! Compares two texts and decides whether they are the same, near or apart, and why.
use crate::{
    Form,
    form::{Token, TokenKind},
    tokenizer::hash,
    word_match::{differ_by_ending, differ_by_typo},
};

/// One replaced word is allowed for every full group of this many words in the shorter text. If that text has fewer
/// words, no word may be replaced, because a replaced word would change the meaning.
const WORDS_PER_REPLACEMENT: f32 = 60.0;
/// One typo is allowed, and one more for every full group of this many words in the longer text.
const WORDS_PER_TYPO: usize = 8;

/// Result of comparing two texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// The texts are equal after folding.
    Same,
    /// The texts say the same, as far as a comparison of words can tell. The value is the share of common words, from 0
    /// to 1.
    Near(f32),
    /// The texts say different things and must not be merged.
    Apart(Difference),
}

impl Comparison {
    /// The share of common words. 0 if the texts are apart.
    pub fn score(self) -> f32 {
        match self {
            Self::Same => 1.0,
            Self::Near(score) => score,
            Self::Apart(_) => 0.0,
        }
    }
}

/// The reason why two texts are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// One text has no words.
    Empty,
    /// One text has a number, date, negation, wish or relation that the other does not have.
    Decisive,
    /// One text has a name, or a word at the start of a sentence, that the other does not have.
    Name,
    /// A word of one text is replaced by a different word in the other.
    Word,
    /// One text has a clause that the other does not have.
    Statement,
    /// The words are the same, but their order changes the meaning.
    Order,
    /// The texts have too few common words.
    FewCommonWords,
}

/// Compares two texts. The order of the arguments does not matter.
pub fn compare(a: &Form, b: &Form) -> Comparison {
    if a.is_empty() || b.is_empty() {
        return Comparison::Apart(Difference::Empty);
    }
    if a.canonical() == b.canonical() {
        return Comparison::Same;
    }
    let (a, b) = if a.canonical() < b.canonical() { (a, b) } else { (b, a) };
    match compare_words(a, b) {
        Ok(score) => Comparison::Near(score),
        Err(difference) => Comparison::Apart(difference),
    }
}

/// The words of two texts, matched in pairs.
struct Matching<'f> {
    a: &'f Form,
    b: &'f Form,
    /// Pairs of matched words: index in a, index in b.
    pairs: Vec<(u32, u32)>,
    unmatched_a: Vec<u32>,
    unmatched_b: Vec<u32>,
}

fn compare_words(a: &Form, b: &Form) -> Result<f32, Difference> {
    if a.decisive_hash() != b.decisive_hash() {
        return Err(Difference::Decisive);
    }
    if a.tokens().is_empty() || b.tokens().is_empty() {
        return Err(Difference::FewCommonWords);
    }
    let (longer_len, shorter_len) = (a.tokens().len().max(b.tokens().len()), a.tokens().len().min(b.tokens().len()));
    if shorter_len * 2 < longer_len {
        return Err(Difference::FewCommonWords);
    }
    if count_unmatched_words(a.hashes(), b.hashes()) > max_unmatched_words(longer_len) {
        return Err(Difference::Word);
    }
    let mut matching = Matching::of_equal_words(a, b, longer_len);
    matching.match_similar_words(longer_len)?;
    matching.check_unmatched(shorter_len)?;
    matching.check_order()?;
    let matched_count = matching.pairs.len();
    let emojis = count_emojis(a, &matching.unmatched_a) + count_emojis(b, &matching.unmatched_b);
    Ok(matched_count as f32 / (longer_len + shorter_len - matched_count - emojis) as f32)
}

/// Largest number of words of the shorter text that may have no equal word in the other text. With more, the texts
/// count as different; otherwise these words may still match by an ending or a typo. `longer_len` is the number of
/// words in the longer text.
fn max_unmatched_words(longer_len: usize) -> usize {
    (2 + longer_len / 4).min(64)
}

/// Number of words in the shorter text that have no equal word in the other. The hashes are sorted.
fn count_unmatched_words(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    a.len().min(b.len()) - common
}

impl<'f> Matching<'f> {
    /// Pairs the words that are equal in both texts.
    fn of_equal_words(a: &'f Form, b: &'f Form, longer_len: usize) -> Self {
        let mut matching =
            Self { a, b, pairs: Vec::with_capacity(longer_len), unmatched_a: Vec::new(), unmatched_b: Vec::new() };
        let (mut indices_of_a, mut indices_of_b) =
            (a.indices_by_hash().iter().peekable(), b.indices_by_hash().iter().peekable());
        loop {
            match (indices_of_a.peek(), indices_of_b.peek()) {
                (Some(i), Some(j)) => match a.tokens()[**i as usize].hash.cmp(&b.tokens()[**j as usize].hash) {
                    std::cmp::Ordering::Equal => {
                        matching.pairs.push((**i, **j));
                        indices_of_a.next();
                        indices_of_b.next();
                    }
                    std::cmp::Ordering::Less => matching.unmatched_a.extend(indices_of_a.next()),
                    std::cmp::Ordering::Greater => matching.unmatched_b.extend(indices_of_b.next()),
                },
                (Some(_), None) => matching.unmatched_a.extend(indices_of_a.next()),
                (None, Some(_)) => matching.unmatched_b.extend(indices_of_b.next()),
                (None, None) => return matching,
            }
        }
    }

    /// Matches words that differ by an ending or a typo.
    fn match_similar_words(&mut self, longer_len: usize) -> Result<(), Difference> {
        if self.unmatched_a.is_empty() || self.unmatched_b.is_empty() {
            return Ok(());
        }
        // Limits the time. At most one of the two lists can be long, because the unmatched words in the shorter text
        // have already been limited.
        if self.unmatched_a.len().max(self.unmatched_b.len()) > 4096 {
            return Err(Difference::FewCommonWords);
        }
        let mut typos_left = 1 + longer_len / WORDS_PER_TYPO;
        let (a, b) = (self.a, self.b);
        let unmatched_b = &mut self.unmatched_b;
        let pairs = &mut self.pairs;
        self.unmatched_a.retain(|i| {
            let x = &a.tokens()[*i as usize];
            let position = unmatched_b.iter().position(|j| {
                let y = &b.tokens()[*j as usize];
                match differ_by_typo_or_ending(a, x, b, y) {
                    Some(typo) if typo && typos_left == 0 => false,
                    Some(typo) => {
                        typos_left -= usize::from(typo);
                        true
                    }
                    None => false,
                }
            });
            match position {
                Some(place) => {
                    pairs.push((*i, unmatched_b.remove(place)));
                    false
                }
                None => true,
            }
        });
        Ok(())
    }

    /// Returns an error if the unmatched words make the texts different.
    fn check_unmatched(&self, shorter_len: usize) -> Result<(), Difference> {
        let has_decisive_word = |form: &Form, indices: &[u32]| {
            indices.iter().any(|i| {
                matches!(
                    form.tokens()[*i as usize].kind,
                    TokenKind::Name | TokenKind::SentenceStart | TokenKind::Decisive
                )
            })
        };
        if has_decisive_word(self.a, &self.unmatched_a) || has_decisive_word(self.b, &self.unmatched_b) {
            return Err(Difference::Name);
        }
        if self.a.has_additional_clause(&self.unmatched_a) || self.b.has_additional_clause(&self.unmatched_b) {
            return Err(Difference::Statement);
        }
        let total_weight = |form: &Form, indices: &[u32]| -> f32 {
            indices.iter().map(|i| if form.tokens()[*i as usize].kind == TokenKind::Char { 0.5 } else { 1.0 }).sum()
        };
        let replaced_weight = total_weight(self.a, &self.unmatched_a).min(total_weight(self.b, &self.unmatched_b));
        let all_indices: Vec<u32> = (0..u32::try_from(shorter_len).unwrap_or(u32::MAX)).collect();
        let shorter = if self.a.tokens().len() == shorter_len { self.a } else { self.b };
        if replaced_weight > 0.0
            && replaced_weight > (total_weight(shorter, &all_indices) / WORDS_PER_REPLACEMENT).floor()
        {
            return Err(Difference::Word);
        }
        Ok(())
    }

    /// Returns an error if a different word order makes the texts different. "The cat is afraid of the dog", for
    /// example, differs from "the dog is afraid of the cat". Groups of words may change places, but every name, every
    /// decisive word and at least half of all words must keep one of their neighbours. The members of a list may be in
    /// any order.
    fn check_order(&mut self) -> Result<(), Difference> {
        // Equal words were matched in text order, so if both texts have the same word order, the indexes in b are
        // ascending.
        self.pairs.sort_unstable();
        if self.pairs.is_sorted_by_key(|(_, j)| *j) {
            return Ok(());
        }
        let mut index_in_a = vec![u32::MAX; self.b.tokens().len()];
        for (i, j) in &self.pairs {
            index_in_a[*j as usize] = *i;
        }
        // A word is identified by its hash in a, so that equal words are interchangeable.
        let word_hash = |i: u32| self.a.tokens()[i as usize].hash;
        let sequence_a: Vec<(u64, bool)> =
            self.pairs.iter().map(|(i, _)| (word_hash(*i), self.a.tokens()[*i as usize].follows_separator)).collect();
        let sequence_b: Vec<(u64, bool)> = (self.b.tokens().iter().zip(&index_in_a))
            .filter(|(_, i)| **i != u32::MAX)
            .map(|(t, i)| (word_hash(*i), t.follows_separator))
            .collect();
        let neighbours = |sequence: &[(u64, bool)]| {
            let mut neighbour_pairs: Vec<(u64, u64, u64)> = Vec::with_capacity(sequence.len() * 3);
            // The word before a list is a neighbour of every member of the list.
            let mut head = None;
            for pair in sequence.windows(2) {
                let ((x, _), (y, follows_separator)) = (pair[0], pair[1]);
                neighbour_pairs.push((hash((x, y)), x, y));
                if follows_separator {
                    neighbour_pairs.push((hash(("list", x.min(y), x.max(y))), x, y));
                    neighbour_pairs.extend(head.map(|head| (hash((head, y)), head, y)));
                } else {
                    head = Some(x);
                }
            }
            neighbour_pairs.sort_unstable();
            neighbour_pairs
        };
        let (in_a, in_b) = (neighbours(&sequence_a), neighbours(&sequence_b));
        let mut with_neighbour: Vec<u64> = (in_a.iter())
            .filter(|(pair, ..)| in_b.binary_search_by_key(pair, |(p, ..)| *p).is_ok())
            .flat_map(|(_, x, y)| [*x, *y])
            .collect();
        with_neighbour.sort_unstable();
        let keeps_neighbour = |i: u32| with_neighbour.binary_search(&word_hash(i)).is_ok();
        let lost_count = self.pairs.iter().filter(|(i, _)| !keeps_neighbour(*i)).count();
        let is_decisive = |t: &Token| matches!(t.kind, TokenKind::Name | TokenKind::Decisive);
        let is_decisive_word_lost = self.pairs.iter().any(|(i, j)| {
            (is_decisive(&self.a.tokens()[*i as usize]) || is_decisive(&self.b.tokens()[*j as usize]))
                && !keeps_neighbour(*i)
        });
        if is_decisive_word_lost || lost_count * 2 > self.pairs.len() { Err(Difference::Order) } else { Ok(()) }
    }
}

/// Whether two different words are variants of the same word. `Some(true)` if they differ by a typo, `Some(false)` if
/// they differ by an ending, `None` if they are different words.
fn differ_by_typo_or_ending(a: &Form, x: &Token, b: &Form, y: &Token) -> Option<bool> {
    let is_word = |t: &Token| matches!(t.kind, TokenKind::Word | TokenKind::SentenceStart | TokenKind::Name);
    if !is_word(x) || !is_word(y) {
        return None;
    }
    let is_name = x.kind == TokenKind::Name || y.kind == TokenKind::Name;
    let are_sentence_starts = x.kind == TokenKind::SentenceStart && y.kind == TokenKind::SentenceStart;
    let (x, y) = (a.word(x), b.word(y));
    let spanish_verb = are_sentence_starts || a.has_spanish_first_person() || b.has_spanish_first_person();
    if !is_name && differ_by_ending(x, y, spanish_verb) {
        return Some(false);
    }
    differ_by_typo(x, y, is_name).then_some(true)
}

fn count_emojis(form: &Form, only: &[u32]) -> usize {
    only.iter().filter(|i| form.tokens()[**i as usize].kind == TokenKind::Emoji).count()
}

impl Form {
    /// Whether some of this text's unmatched words are adjacent and form a clause.
    fn has_additional_clause(&self, unmatched: &[u32]) -> bool {
        if unmatched.len() < 2 {
            return false;
        }
        let mut places = unmatched.to_vec();
        places.sort_unstable();
        let is_clause_border = |place: u32| self.tokens().get(place as usize).is_none_or(|t| t.follows_separator);
        let runs = places.chunk_by(|x, y| x + 1 == *y && !is_clause_border(*y));
        runs.filter_map(|run| Some((run.first()?, run.last()?, run.len()))).any(|(first, last, len)| {
            let is_unspaced = self.tokens()[*first as usize].kind == TokenKind::Char;
            // A run at the start of the text needs a clause border only after it, any other run needs one on both
            // sides.
            len >= if is_unspaced { 3 } else { 2 }
                && if *first == 0 {
                    is_clause_border(last + 1)
                } else {
                    is_clause_border(*first) && is_clause_border(last + 1)
                }
        })
    }
}
