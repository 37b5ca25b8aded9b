//! Personal numbers that states give out, by their check digits. A new one is a row in `europe` or `world`.
mod check;
mod europe;
mod lettered;
mod world;

use std::sync::LazyLock;

use crate::context::{Doc, bits};
use crate::digits::{Gap, Run, digits_of, is_grouped, stands_alone};
use crate::{Class, Confidence, Finding};

/// A way of writing a number: lengths of its runs and the marks between them.
struct Form {
    lengths: &'static [usize],
    gaps: &'static [Gap],
    /// Nothing else is written like this: no word is needed.
    free: bool,
}

/// A number made of digits.
struct Number {
    name: &'static str,
    /// What people call it, in their language and in English.
    words: &'static [&'static str],
    /// Acronyms that count only in capitals.
    acronyms: &'static [&'static str],
    forms: &'static [Form],
    /// Its check digit, its dates and ranges.
    check: fn(&[u8]) -> bool,
}

const fn bare(lengths: &'static [usize]) -> Form {
    Form { lengths, gaps: &[], free: false }
}

const fn marked(lengths: &'static [usize], gaps: &'static [Gap]) -> Form {
    Form { lengths, gaps, free: false }
}

const fn free(lengths: &'static [usize], gaps: &'static [Gap]) -> Form {
    Form { lengths, gaps, free: true }
}

/// Names that any of the numbers may go by.
const ANY: &[&str] = &[
    "national id",
    "national identity number*",
    "national identification number*",
    "national id number*",
    "national_id",
    "nationalid",
    "citizen id",
    "identity number*",
    "personal identity number*",
    "personal id number*",
    "personal identification number*",
    "personal number*",
    "identity card number*",
    "government id",
];

fn numbers() -> impl Iterator<Item = (usize, &'static Number)> {
    europe::NUMBERS.iter().chain(world::NUMBERS).enumerate()
}

fn bit(index: usize) -> u64 {
    1 << (bits::ID_BASE + index as u32)
}

/// The words that numbers go by: word, bits, whether only in this case. The first bits are those of `europe`, then
/// of `world`, then of the numbers with letters.
pub(crate) fn words() -> Vec<(&'static str, u64, bool)> {
    let mut all = Vec::new();
    let mut every = 0;
    for (index, number) in numbers() {
        every |= bit(index);
        all.extend(number.words.iter().map(|word| (*word, bit(index), false)));
        all.extend(number.acronyms.iter().map(|word| (*word, bit(index), true)));
    }
    all.extend(lettered::WORDS.iter().map(|word| (*word, lettered_bit(), false)));
    all.extend(lettered::ACRONYMS.iter().map(|word| (*word, lettered_bit(), true)));
    all.extend(ANY.iter().map(|word| (*word, every | lettered_bit(), false)));
    all
}

fn lettered_bit() -> u64 {
    bit(europe::NUMBERS.len() + world::NUMBERS.len())
}

/// The numbers by the length of their first run of digits.
static BY_LENGTH: LazyLock<Vec<Vec<(usize, &'static Number)>>> = LazyLock::new(|| {
    let begins = |number: &Number, length| number.forms.iter().any(|form| form.lengths[0] == length);
    (0..19).map(|length| numbers().filter(|(_, number)| begins(number, length)).collect()).collect()
});

/// The personal number with letters whose first digits are `runs[0]`.
pub(crate) fn lettered(doc: &Doc, runs: &[Run]) -> Option<Finding> {
    lettered::at(doc, runs, lettered_bit())
}

/// Adds the personal numbers whose first digits are `runs[0]`.
pub(crate) fn at(doc: &Doc, runs: &[Run], found: &mut Vec<Finding>) {
    found.extend(lettered(doc, runs));
    let Some(candidates) = BY_LENGTH.get(runs[0].len()) else { return };
    for (index, number) in candidates {
        let Some(form) = number.forms.iter().find(|form| is_grouped(runs, form.lengths, form.gaps)) else { continue };
        let (start, end) = (runs[0].start, runs[form.lengths.len() - 1].end);
        if !stands_alone(doc.bytes, start, end)
            || runs.get(form.lengths.len() - 1).is_some_and(|run| joined(run, runs, form))
        {
            continue;
        }
        let digits = digits_of(doc.bytes, start, end);
        let varied = digits.iter().any(|digit| *digit != digits[0]);
        if !varied || !(number.check)(&digits) {
            continue;
        }
        let said = doc.speaks(start, end, bit(*index));
        let against = doc.nearest(start, 40) & (bits::OTHER | bits::PHONE) != 0;
        if said || form.free && !against {
            let confidence = if said { Confidence::VeryLikely } else { Confidence::Likely };
            found.push(Finding { class: Class::NationalId, detector: number.name, start, end, confidence });
        }
    }
}

/// Whether the number goes on behind the form with the same mark: then it is a longer one.
fn joined(last: &Run, runs: &[Run], form: &Form) -> bool {
    let more = runs.get(form.lengths.len()).is_some();
    more && matches!(last.gap, Gap::Hyphen | Gap::Dot | Gap::Slash) && form.gaps.contains(&last.gap)
}
