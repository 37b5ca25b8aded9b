//! Compares two texts: same, near or apart, and the reason.
use crate::{
    Form,
    form::{Token, TokenKind},
    tokenizer::hash,
    word_match::{differ_by_ending, differ_by_typo},
};

/// One replaced word is allowed for this many common words. In a short text the replaced word is what the text is
/// about.
const WORDS_PER_REPLACEMENT: f32 = 60.0;
/// One typo is allowed, and one more for this many words.
const WORDS_PER_TYPO: usize = 8;

/// How two texts relate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// Equal after folding.
    Same,
    /// They say the same, as far as a comparison of words can tell. The share of common words, 0 to 1.
    Near(f32),
    /// They say different things and must not be merged.
    Apart(Difference),
}

impl Comparison {
    /// The share of common words; 0 if the texts are apart.
    pub fn score(self) -> f32 {
        match self {
            Self::Same => 1.0,
            Self::Near(score) => score,
            Self::Apart(_) => 0.0,
        }
    }
}

/// Why two texts are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// One of them has no words.
    Empty,
    /// A number, date, negation, wish or relation is in one of them only.
    Decisive,
    /// A name, or the first word of a sentence, is in one of them only.
    Name,
    /// A word is replaced by another one.
    Word,
    /// One has an additional clause.
    Statement,
    /// The same words in an order that changes the meaning.
    Order,
    /// Too few common words.
    Few,
}

/// Compares two texts. The order of the arguments makes no difference.
pub fn compare(a: &Form, b: &Form) -> Comparison {
    if a.is_empty() || b.is_empty() {
        return Comparison::Apart(Difference::Empty);
    }
    if a.canonical() == b.canonical() {
        return Comparison::Same;
    }
    let (a, b) = if a.canonical() < b.canonical() { (a, b) } else { (b, a) };
    match near(a, b) {
        Ok(score) => Comparison::Near(score),
        Err(difference) => Comparison::Apart(difference),
    }
}

/// The words of two texts matched with each other.
struct Matching<'f> {
    a: &'f Form,
    b: &'f Form,
    /// (index in a, index in b)
    pairs: Vec<(u32, u32)>,
    only_a: Vec<u32>,
    only_b: Vec<u32>,
}

fn near(a: &Form, b: &Form) -> Result<f32, Difference> {
    if a.decisive() != b.decisive() {
        return Err(Difference::Decisive);
    }
    if a.tokens().is_empty() || b.tokens().is_empty() {
        return Err(Difference::Few);
    }
    let (most, least) = (a.tokens().len().max(b.tokens().len()), a.tokens().len().min(b.tokens().len()));
    if least * 2 < most {
        return Err(Difference::Few);
    }
    if unmatched_words(a.hashes(), b.hashes()) > allowed_unmatched(most) {
        return Err(Difference::Word);
    }
    let mut matching = Matching::exact(a, b, most);
    matching.fuzzy(most)?;
    matching.check_unmatched(least)?;
    matching.check_order()?;
    let matched = matching.pairs.len();
    let emojis = count_emojis(a, &matching.only_a) + count_emojis(b, &matching.only_b);
    Ok(matched as f32 / (most + least - matched - emojis) as f32)
}

/// How many words without an equal may still match by ending or typo.
fn allowed_unmatched(most: usize) -> usize {
    (2 + most / 4).min(64)
}

/// How many words of the shorter text have no equal in the other, from sorted hashes and without branches.
fn unmatched_words(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    a.len().min(b.len()) - common
}

impl<'f> Matching<'f> {
    /// Matches equal words.
    fn exact(a: &'f Form, b: &'f Form, most: usize) -> Self {
        let mut m = Self { a, b, pairs: Vec::with_capacity(most), only_a: Vec::new(), only_b: Vec::new() };
        let (mut left, mut right) = (a.sorted().iter().peekable(), b.sorted().iter().peekable());
        loop {
            match (left.peek(), right.peek()) {
                (Some(i), Some(j)) => match a.tokens()[**i as usize].hash.cmp(&b.tokens()[**j as usize].hash) {
                    std::cmp::Ordering::Equal => {
                        m.pairs.push((**i, **j));
                        left.next();
                        right.next();
                    }
                    std::cmp::Ordering::Less => m.only_a.extend(left.next()),
                    std::cmp::Ordering::Greater => m.only_b.extend(right.next()),
                },
                (Some(_), None) => m.only_a.extend(left.next()),
                (None, Some(_)) => m.only_b.extend(right.next()),
                (None, None) => return m,
            }
        }
    }

    /// Matches words that differ by an ending or a typo.
    fn fuzzy(&mut self, most: usize) -> Result<(), Difference> {
        if self.only_a.is_empty() || self.only_b.is_empty() {
            return Ok(());
        }
        // One side is short by now. The limit on the other one keeps the time linear in the length of the text.
        if self.only_a.len().max(self.only_b.len()) > 4096 {
            return Err(Difference::Few);
        }
        let mut typos = 1 + most / WORDS_PER_TYPO;
        let (a, b) = (self.a, self.b);
        let only_b = &mut self.only_b;
        let pairs = &mut self.pairs;
        self.only_a.retain(|i| {
            let x = &a.tokens()[*i as usize];
            let found = only_b.iter().position(|j| {
                let y = &b.tokens()[*j as usize];
                match fuzzy_pair(a, x, b, y) {
                    Some(typo) if typo && typos == 0 => false,
                    Some(typo) => {
                        typos -= usize::from(typo);
                        true
                    }
                    None => false,
                }
            });
            match found {
                Some(place) => {
                    pairs.push((*i, only_b.remove(place)));
                    false
                }
                None => true,
            }
        });
        Ok(())
    }

    /// Decides whether the words that only one text has make the two different.
    fn check_unmatched(&self, least: usize) -> Result<(), Difference> {
        let decisive = |form: &Form, only: &[u32]| {
            only.iter().any(|i| {
                matches!(
                    form.tokens()[*i as usize].kind,
                    TokenKind::Name | TokenKind::SentenceStart | TokenKind::Decisive
                )
            })
        };
        if decisive(self.a, &self.only_a) || decisive(self.b, &self.only_b) {
            return Err(Difference::Name);
        }
        if self.a.adds_a_clause(&self.only_a) || self.b.adds_a_clause(&self.only_b) {
            return Err(Difference::Statement);
        }
        let weight = |form: &Form, only: &[u32]| -> f32 {
            only.iter().map(|i| if form.tokens()[*i as usize].kind == TokenKind::Char { 0.5 } else { 1.0 }).sum()
        };
        let replaced = weight(self.a, &self.only_a).min(weight(self.b, &self.only_b));
        let all: Vec<u32> = (0..u32::try_from(least).unwrap_or(u32::MAX)).collect();
        let shorter = if self.a.tokens().len() == least { self.a } else { self.b };
        if replaced > 0.0 && replaced > (weight(shorter, &all) / WORDS_PER_REPLACEMENT).floor() {
            return Err(Difference::Word);
        }
        Ok(())
    }

    /// Decides whether the order of the words makes the texts different. Groups of words may move, but every decisive
    /// word and half of all words must keep a neighbour: "the cat is afraid of the dog" is not "the dog is afraid of
    /// the cat". Members of a list may be in any order.
    fn check_order(&mut self) -> Result<(), Difference> {
        // Equal words are matched in order, so in texts with the same order the indices ascend on both sides.
        self.pairs.sort_unstable();
        if self.pairs.is_sorted_by_key(|(_, j)| *j) {
            return Ok(());
        }
        let mut index_in_a = vec![u32::MAX; self.b.tokens().len()];
        for (i, j) in &self.pairs {
            index_in_a[*j as usize] = *i;
        }
        // Words are identified by their hash in a, so that equal words are interchangeable.
        let id = |i: u32| self.a.tokens()[i as usize].hash;
        let sequence_a: Vec<(u64, bool)> =
            self.pairs.iter().map(|(i, _)| (id(*i), self.a.tokens()[*i as usize].after_separator)).collect();
        let sequence_b: Vec<(u64, bool)> = (self.b.tokens().iter().zip(&index_in_a))
            .filter(|(_, i)| **i != u32::MAX)
            .map(|(t, i)| (id(*i), t.after_separator))
            .collect();
        let neighbours = |sequence: &[(u64, bool)]| {
            let mut all: Vec<(u64, u64, u64)> = Vec::with_capacity(sequence.len() * 3);
            // The word before a list is a neighbour of all its members.
            let mut head = None;
            for pair in sequence.windows(2) {
                let ((x, _), (y, after_separator)) = (pair[0], pair[1]);
                all.push((hash((x, y)), x, y));
                if after_separator {
                    all.push((hash(("list", x.min(y), x.max(y))), x, y));
                    all.extend(head.map(|head| (hash((head, y)), head, y)));
                } else {
                    head = Some(x);
                }
            }
            all.sort_unstable();
            all
        };
        let (in_a, in_b) = (neighbours(&sequence_a), neighbours(&sequence_b));
        let mut with_neighbour: Vec<u64> = (in_a.iter())
            .filter(|(pair, ..)| in_b.binary_search_by_key(pair, |(p, ..)| *p).is_ok())
            .flat_map(|(_, x, y)| [*x, *y])
            .collect();
        with_neighbour.sort_unstable();
        let keeps_neighbour = |i: u32| with_neighbour.binary_search(&id(i)).is_ok();
        let lost = self.pairs.iter().filter(|(i, _)| !keeps_neighbour(*i)).count();
        let decisive = |t: &Token| matches!(t.kind, TokenKind::Name | TokenKind::Decisive);
        let lost_decisive = self.pairs.iter().any(|(i, j)| {
            (decisive(&self.a.tokens()[*i as usize]) || decisive(&self.b.tokens()[*j as usize])) && !keeps_neighbour(*i)
        });
        if lost_decisive || lost * 2 > self.pairs.len() { Err(Difference::Order) } else { Ok(()) }
    }
}

/// Whether two different words are forms of one word. `Some(true)` if they differ by a typo.
fn fuzzy_pair(a: &Form, x: &Token, b: &Form, y: &Token) -> Option<bool> {
    let words = |t: &Token| matches!(t.kind, TokenKind::Word | TokenKind::SentenceStart | TokenKind::Name);
    if !words(x) || !words(y) {
        return None;
    }
    let name = x.kind == TokenKind::Name || y.kind == TokenKind::Name;
    let first = x.kind == TokenKind::SentenceStart && y.kind == TokenKind::SentenceStart;
    let (x, y) = (a.word(x), b.word(y));
    let spanish_verb = first || a.has_spanish_first_person() || b.has_spanish_first_person();
    if !name && differ_by_ending(x, y, spanish_verb) {
        return Some(false);
    }
    differ_by_typo(x, y, name).then_some(true)
}

fn count_emojis(form: &Form, only: &[u32]) -> usize {
    only.iter().filter(|i| form.tokens()[**i as usize].kind == TokenKind::Emoji).count()
}

impl Form {
    /// Whether at least two neighbouring words that only this text has form a clause.
    fn adds_a_clause(&self, only: &[u32]) -> bool {
        if only.len() < 2 {
            return false;
        }
        let mut places = only.to_vec();
        places.sort_unstable();
        let clause_border = |place: u32| self.tokens().get(place as usize).is_none_or(|t| t.after_separator);
        let runs = places.chunk_by(|x, y| x + 1 == *y && !clause_border(*y));
        runs.filter_map(|run| Some((run.first()?, run.last()?, run.len()))).any(|(first, last, len)| {
            let unspaced = self.tokens()[*first as usize].kind == TokenKind::Char;
            // At the start of the text only the border after it counts.
            len >= if unspaced { 3 } else { 2 }
                && if *first == 0 { clause_border(last + 1) } else { clause_border(*first) && clause_border(last + 1) }
        })
    }
}
