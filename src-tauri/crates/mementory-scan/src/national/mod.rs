//! National ids: personal numbers issued by states, recognised by their check digits or dates. To add a number that has
//! only digits, add an entry to `europe` or `world`.
mod check;
mod europe;
mod lettered;
mod world;

use std::sync::LazyLock;

use crate::context::{Doc, bits};
use crate::digits::{DigitRun, Gap, digits_of, is_grouped, is_separate};
use crate::word_lists::{national_id, national_id_acronyms};
use crate::{Class, Confidence, Finding};

/// A format of a number: the lengths of its runs of digits and the separators between them.
struct Layout {
    lengths: &'static [usize],
    gaps: &'static [Gap],
    /// True if nothing else is written in this format, so that no context word is needed.
    distinctive: bool,
}

/// A kind of personal number that only has digits.
struct Number {
    name: &'static str,
    /// Names of the number in the country's language and in English.
    words: &'static [&'static str],
    /// Acronyms that only count in exactly this case.
    acronyms: &'static [&'static str],
    layouts: &'static [Layout],
    /// Validates the check digit, dates and ranges of the digits.
    check: fn(&[u8]) -> bool,
}

const fn unseparated_layout(lengths: &'static [usize]) -> Layout {
    Layout { lengths, gaps: &[], distinctive: false }
}

const fn separated_layout(lengths: &'static [usize], gaps: &'static [Gap]) -> Layout {
    Layout { lengths, gaps, distinctive: false }
}

const fn distinctive_layout(lengths: &'static [usize], gaps: &'static [Gap]) -> Layout {
    Layout { lengths, gaps, distinctive: true }
}

fn numbers() -> impl Iterator<Item = (usize, &'static Number)> {
    europe::EUROPEAN_NUMBERS.iter().chain(world::WORLD_NUMBERS).enumerate()
}

fn number_bit(index: usize) -> u64 {
    1 << (bits::ID_BASE + index as u32)
}

/// All context words for personal numbers, each with the bits of the numbers that it can mean, and true if it is
/// case-sensitive. The bits are in the order of `europe`, `world`, and the numbers with letters.
pub(crate) fn context_words() -> Vec<(&'static str, u64, bool)> {
    let mut out = Vec::new();
    let mut all_bits = 0;
    for (index, number) in numbers() {
        all_bits |= number_bit(index);
        out.extend(number.words.iter().map(|word| (*word, number_bit(index), false)));
        out.extend(number.acronyms.iter().map(|word| (*word, number_bit(index), true)));
    }
    out.extend(national_id::WITH_LETTERS.iter().map(|word| (*word, lettered_bit(), false)));
    out.extend(national_id_acronyms::WITH_LETTERS.iter().map(|word| (*word, lettered_bit(), true)));
    out.extend(national_id::ANY.iter().map(|word| (*word, all_bits | lettered_bit(), false)));
    out
}

fn lettered_bit() -> u64 {
    number_bit(europe::EUROPEAN_NUMBERS.len() + world::WORLD_NUMBERS.len())
}

/// The kinds of number, grouped by the length of their first run of digits, which is the index of the outer list.
static NUMBERS_BY_LENGTH: LazyLock<Vec<Vec<(usize, &'static Number)>>> = LazyLock::new(|| {
    let begins_with_length = |number: &Number, length| number.layouts.iter().any(|layout| layout.lengths[0] == length);
    (0..19).map(|length| numbers().filter(|(_, number)| begins_with_length(number, length)).collect()).collect()
});

/// The personal number with letters whose first digits are `runs[0]`.
pub(crate) fn lettered_number_at(doc: &Doc, runs: &[DigitRun]) -> Option<Finding> {
    lettered::number_at(doc, runs, lettered_bit())
}

/// Finds the personal numbers that begin with the digits of `runs[0]`.
pub(crate) fn find_numbers_at(doc: &Doc, runs: &[DigitRun], findings: &mut Vec<Finding>) {
    findings.extend(lettered_number_at(doc, runs));
    let Some(candidates) = NUMBERS_BY_LENGTH.get(runs[0].len()) else { return };
    for (index, number) in candidates {
        let layout = number.layouts.iter().find(|layout| is_grouped(runs, layout.lengths, layout.gaps));
        let Some(layout) = layout else { continue };
        let (start, end) = (runs[0].start, runs[layout.lengths.len() - 1].end);
        if !is_separate(doc.bytes, start, end)
            || runs.get(layout.lengths.len() - 1).is_some_and(|run| has_more_digits(run, runs, layout))
        {
            continue;
        }
        let digits = digits_of(doc.bytes, start, end);
        let has_different_digits = digits.iter().any(|digit| *digit != digits[0]);
        if !has_different_digits || !(number.check)(&digits) {
            continue;
        }
        let is_named = doc.matches_context(start, end, number_bit(*index));
        let is_named_otherwise = doc.nearest_word_bits_before(start, 40) & (bits::OTHER | bits::PHONE) != 0;
        if is_named || layout.distinctive && !is_named_otherwise {
            let confidence = if is_named { Confidence::VeryLikely } else { Confidence::Likely };
            findings.push(Finding { class: Class::NationalId, detector: number.name, start, end, confidence });
        }
    }
}

/// Whether more digits follow after a separator that the layout uses, so that the match is only part of a longer
/// number.
fn has_more_digits(last: &DigitRun, runs: &[DigitRun], layout: &Layout) -> bool {
    let has_next_run = runs.get(layout.lengths.len()).is_some();
    has_next_run && matches!(last.gap, Gap::Hyphen | Gap::Dot | Gap::Slash) && layout.gaps.contains(&last.gap)
}
