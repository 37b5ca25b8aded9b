//! Two texts side by side: the same, near, or apart, and why.
use crate::{
    Form,
    form::{Token, What, hash},
    word_match::{inflected, slipped},
};

/// One other word is let pass for so many words that are the same: only a long text may be reworded in a
/// place, since in a short one the other word is what it is about.
const WORDS_FOR_ANOTHER: f32 = 60.0;
/// One slip of the fingers is let pass, and one more for so many words.
const WORDS_FOR_A_SLIP: usize = 8;

/// What two texts are to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// Equal after folding.
    Same,
    /// They say the same as far as words tell; the share of words that both have, 0 to 1.
    Near(f32),
    /// Not to be merged.
    Apart(Difference),
}

impl Comparison {
    /// The share of common words; 0 for what is apart.
    pub fn score(self) -> f32 {
        match self {
            Self::Same => 1.0,
            Self::Near(score) => score,
            Self::Apart(_) => 0.0,
        }
    }
}

/// What keeps two texts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// One of them says nothing.
    Empty,
    /// A number, date, negation, wish or relation.
    Decisive,
    /// A name, or whom or what a sentence begins with.
    Name,
    /// Another word in the place of one.
    Word,
    /// One says something more: a whole clause.
    Statement,
    /// The same words about each other the other way round.
    Order,
    /// Too few words in common.
    Few,
}

/// Compares two texts. The same answer whichever comes first.
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

/// Which word of the other text a word is.
struct Matching<'f> {
    a: &'f Form,
    b: &'f Form,
    /// (place in a, place in b)
    pairs: Vec<(u32, u32)>,
    only_a: Vec<u32>,
    only_b: Vec<u32>,
}

fn near(a: &Form, b: &Form) -> Result<f32, Difference> {
    if a.hard() != b.hard() {
        return Err(Difference::Decisive);
    }
    if a.tokens().is_empty() || b.tokens().is_empty() {
        return Err(Difference::Few);
    }
    let (most, least) = (a.tokens().len().max(b.tokens().len()), a.tokens().len().min(b.tokens().len()));
    if least * 2 < most {
        return Err(Difference::Few);
    }
    if own_words(a.hashes(), b.hashes()) > allowed_own(most) {
        return Err(Difference::Word);
    }
    let mut matching = Matching::exact(a, b, most);
    matching.fuzzy(most)?;
    matching.rest(least)?;
    matching.order()?;
    let matched = matching.pairs.len();
    let decoration = matching.pictures(a, &matching.only_a) + matching.pictures(b, &matching.only_b);
    Ok(matched as f32 / (most + least - matched - decoration) as f32)
}

/// So many words may be the other text's in another form.
fn allowed_own(most: usize) -> usize {
    (2 + most / 4).min(64)
}

/// How many words of its own the text with fewer of them has, by sorted hashes and without branches.
fn own_words(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    a.len().min(b.len()) - common
}

impl<'f> Matching<'f> {
    /// Pairs of equal words.
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

    /// Pairs of words that differ in an ending or by a slip.
    fn fuzzy(&mut self, most: usize) -> Result<(), Difference> {
        if self.only_a.is_empty() || self.only_b.is_empty() {
            return Ok(());
        }
        // One side is short by now; the other is bounded so that a long text costs no more than its length.
        if self.only_a.len().max(self.only_b.len()) > 4096 {
            return Err(Difference::Few);
        }
        let mut slips = 1 + most / WORDS_FOR_A_SLIP;
        let (a, b) = (self.a, self.b);
        let only_b = &mut self.only_b;
        let pairs = &mut self.pairs;
        self.only_a.retain(|i| {
            let x = &a.tokens()[*i as usize];
            let found = only_b.iter().position(|j| {
                let y = &b.tokens()[*j as usize];
                match fuzzy_pair(a, x, b, y) {
                    Some(slip) if slip && slips == 0 => false,
                    Some(slip) => {
                        slips -= usize::from(slip);
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

    fn pictures(&self, form: &Form, only: &[u32]) -> usize {
        only.iter().filter(|i| form.tokens()[**i as usize].what == What::Picture).count()
    }

    /// Judges the words that only one of them has.
    fn rest(&self, least: usize) -> Result<(), Difference> {
        let decisive = |form: &Form, only: &[u32]| {
            only.iter().any(|i| matches!(form.tokens()[*i as usize].what, What::Name | What::Start | What::Hard))
        };
        if decisive(self.a, &self.only_a) || decisive(self.b, &self.only_b) {
            return Err(Difference::Name);
        }
        if self.a.adds_a_clause(&self.only_a) || self.b.adds_a_clause(&self.only_b) {
            return Err(Difference::Statement);
        }
        let weight = |form: &Form, only: &[u32]| -> f32 {
            only.iter().map(|i| if form.tokens()[*i as usize].what == What::Char { 0.5 } else { 1.0 }).sum()
        };
        let replaced = weight(self.a, &self.only_a).min(weight(self.b, &self.only_b));
        let all: Vec<u32> = (0..u32::try_from(least).unwrap_or(u32::MAX)).collect();
        let shorter = if self.a.tokens().len() == least { self.a } else { self.b };
        if replaced > 0.0 && replaced > (weight(shorter, &all) / WORDS_FOR_ANOTHER).floor() {
            return Err(Difference::Word);
        }
        Ok(())
    }

    /// Words may change places in groups. A decisive word has to keep a neighbour, and so has half of all words: "the cat
    /// is afraid of the dog" is not "the dog is afraid of the cat". Members of a list may stand in any order.
    fn order(&mut self) -> Result<(), Difference> {
        // Equal words pair up in order of place, so the pairs of a text in the same order rise on both sides.
        self.pairs.sort_unstable();
        if self.pairs.is_sorted_by_key(|(_, j)| *j) {
            return Ok(());
        }
        let mut place_in_a = vec![u32::MAX; self.b.tokens().len()];
        for (i, j) in &self.pairs {
            place_in_a[*j as usize] = *i;
        }
        // A word is named by the place of its first equal in a, so that it does not matter which of two equals is meant.
        let name = |i: u32| self.a.tokens()[i as usize].hash;
        let sequence_a: Vec<(u64, bool)> =
            self.pairs.iter().map(|(i, _)| (name(*i), self.a.tokens()[*i as usize].joined)).collect();
        let sequence_b: Vec<(u64, bool)> = (self.b.tokens().iter().zip(&place_in_a))
            .filter(|(_, i)| **i != u32::MAX)
            .map(|(t, i)| (name(*i), t.joined))
            .collect();
        let neighbours = |sequence: &[(u64, bool)]| {
            let mut all: Vec<(u64, u64, u64)> = Vec::with_capacity(sequence.len() * 3);
            // The word that a list hangs on is a neighbour of all its members.
            let mut head = None;
            for pair in sequence.windows(2) {
                let ((x, _), (y, joined)) = (pair[0], pair[1]);
                all.push((hash((x, y)), x, y));
                if joined {
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
        let mut kept: Vec<u64> = (in_a.iter())
            .filter(|(pair, ..)| in_b.binary_search_by_key(pair, |(p, ..)| *p).is_ok())
            .flat_map(|(_, x, y)| [*x, *y])
            .collect();
        kept.sort_unstable();
        let is_kept = |i: u32| kept.binary_search(&name(i)).is_ok();
        let lost = self.pairs.iter().filter(|(i, _)| !is_kept(*i)).count();
        let decisive = |t: &Token| matches!(t.what, What::Name | What::Hard);
        let lost_decisive = self.pairs.iter().any(|(i, j)| {
            (decisive(&self.a.tokens()[*i as usize]) || decisive(&self.b.tokens()[*j as usize])) && !is_kept(*i)
        });
        if lost_decisive || lost * 2 > self.pairs.len() { Err(Difference::Order) } else { Ok(()) }
    }
}

/// Whether two different words stand for one; true when it took a slip.
fn fuzzy_pair(a: &Form, x: &Token, b: &Form, y: &Token) -> Option<bool> {
    let words = |t: &Token| matches!(t.what, What::Word | What::Start | What::Name);
    if !words(x) || !words(y) {
        return None;
    }
    let name = x.what == What::Name || y.what == What::Name;
    let first = x.what == What::Start && y.what == What::Start;
    let (x, y) = (a.word(x), b.word(y));
    let o_is_i = first || a.is_i() || b.is_i();
    if !name && inflected(x, y, o_is_i) {
        return Some(false);
    }
    slipped(x, y, name).then_some(true)
}

impl Form {
    /// Words that only this text has stand together, two at least, between the borders of a clause.
    fn adds_a_clause(&self, only: &[u32]) -> bool {
        if only.len() < 2 {
            return false;
        }
        let mut places = only.to_vec();
        places.sort_unstable();
        let border = |place: u32| self.tokens().get(place as usize).is_none_or(|t| t.joined);
        let runs = places.chunk_by(|x, y| x + 1 == *y && !border(*y));
        runs.filter_map(|run| Some((run.first()?, run.last()?, run.len()))).any(|(first, last, len)| {
            let dense = self.tokens()[*first as usize].what == What::Char;
            // At the start of the text the border is behind it, at the end before it.
            len >= if dense { 3 } else { 2 }
                && if *first == 0 { border(last + 1) } else { border(*first) && border(last + 1) }
        })
    }
}
