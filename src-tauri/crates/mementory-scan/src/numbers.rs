//! Finds the runs of digits once, and lets each detector check whether its kind of number starts at a run.
use crate::context::{Doc, bits};
use crate::digits::{DigitRun, Gap, find_runs};
use crate::{Confidence, Finding, card, iban, national, phone};

/// Finds the card, bank account, telephone and national id numbers in a text.
pub(crate) fn find_numbers(doc: &Doc, findings: &mut Vec<Finding>) {
    let runs = find_runs(doc.bytes);
    let mut phone_end = 0;
    for index in 0..runs.len() {
        let runs_from_here = &runs[index..runs.len().min(index + 10)];
        findings.extend(iban::iban_at(doc, runs_from_here[0].start));
        // A run with fewer digits than `MIN_DIGITS` can only be part of a number with letters. Most such runs are days,
        // versions or quantities.
        if count_connected_digits(runs_from_here) < MIN_DIGITS {
            let follows_letter = doc.bytes[..runs_from_here[0].start].last().is_some_and(u8::is_ascii_alphabetic);
            // In French numbers of people born in Corsica, a letter separates the digits: `1 91 11 2A 171 441 59`.
            let may_be_corsican = runs_from_here[0].len() == 1
                && runs_from_here[0].gap == Gap::Space
                && runs_from_here.get(1).is_some_and(|run| run.len() == 2);
            if follows_letter || runs_from_here[0].len() == 6 || may_be_corsican {
                findings.extend(national::lettered_number_at(doc, runs_from_here));
            }
            continue;
        }
        // A run inside a bank account number, even one with wrong check digits, starts no other number.
        if iban::is_group_of_iban(doc.bytes, runs_from_here[0].start) {
            continue;
        }
        findings.extend(card::card_at(doc, runs_from_here));
        // The first groups of a test card number could be mistaken for a telephone number.
        if let Some(end) = card::test_number_end(doc, runs_from_here) {
            phone_end = phone_end.max(end);
        }
        let ids_start = findings.len();
        national::find_numbers_at(doc, runs_from_here, findings);
        // A number that is very likely a personal number is not a telephone number, unless a word for a telephone
        // number is the nearest word before it.
        if let Some(id) = findings[ids_start..].iter().find(|id| id.confidence == Confidence::VeryLikely)
            && doc.nearest_word_bits_before(id.start, 90) & bits::PHONE == 0
        {
            phone_end = phone_end.max(id.end);
        }
        if runs_from_here[0].start >= phone_end
            && let Some(number) = phone::phone_at(doc, runs_from_here)
        {
            phone_end = number.end;
            findings.push(number);
        }
    }
}

/// A number without letters must have at least this many digits.
const MIN_DIGITS: usize = 7;

/// Number of digits in the runs before the first gap that cannot be inside a number.
fn count_connected_digits(runs: &[DigitRun]) -> usize {
    let connected_count = runs.iter().position(|run| run.gap == Gap::None).map_or(runs.len(), |position| position + 1);
    runs[..connected_count].iter().map(DigitRun::len).sum()
}
