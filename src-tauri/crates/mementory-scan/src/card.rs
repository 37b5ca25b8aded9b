//! Finds payment cards by the issuer's number range and length (ISO/IEC 7812), the Luhn check digit, and the grouping
//! of the digits.
use crate::context::{Doc, bits};
use crate::digits::{DigitRun, Gap, digits_of, is_grouped, is_separate};
use crate::{Class, Confidence, Finding};

/// Groupings of 13 to 19 digits, as printed on cards.
const CARD_GROUPINGS: &[&[usize]] =
    &[&[4, 4, 4, 4, 3], &[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 1], &[6, 13], &[8, 8]];

/// Test numbers that payment providers publish, which are not real cards.
const TEST_CARD_NUMBERS: &[&str] = &[
    "4242424242424242",
    "4000056655665556",
    "5555555555554444",
    "2223003122003222",
    "5200828282828210",
    "5105105105105100",
    "378282246310005",
    "371449635398431",
    "378734493671000",
    "6011111111111117",
    "6011000990139424",
    "6011981111111113",
    "3056930009020004",
    "36227206271667",
    "6555900000604105",
    "3566002020360505",
    "4012888888881881",
    "4222222222222",
    "30569309025904",
    "38520000023237",
    "3530111333300000",
    "5019717010103742",
    "6331101999990016",
    "4012000033330026",
    "4012000077777777",
    "4005519200000004",
    "4009348888881881",
    "4217651111111119",
    "4500600000000061",
    "2223000048400011",
    "2222420000001113",
    "4988438843884305",
    "4166676667666746",
    "4917610000000000",
    "5431111111111111",
    "5454545454545454",
    "4444333322221111",
    "4532015112830366",
    "4716108999716531",
];

/// A number that has the form of a card number and a valid Luhn check digit.
struct Candidate {
    start: usize,
    end: usize,
    digits: Vec<u8>,
    groups: usize,
}

fn candidate_at(doc: &Doc, runs: &[DigitRun]) -> Option<Candidate> {
    let first = runs[0].len();
    if !(first == 4 || first == 6 || first == 8 || (13..=19).contains(&first)) {
        return None;
    }
    let grouping = CARD_GROUPINGS
        .iter()
        .find(|groups| [Gap::Space, Gap::Hyphen, Gap::Dot].iter().any(|gap| is_grouped(runs, groups, &[*gap])));
    let groups = match grouping {
        Some(groups) => groups.len(),
        None if first >= 13 => 1,
        None => return None,
    };
    let (start, end) = (runs[0].start, runs[groups - 1].end);
    let digits = digits_of(doc.bytes, start, end);
    (has_card_boundaries(doc.bytes, start, end) && has_luhn_check(&digits)).then_some(Candidate {
        start,
        end,
        digits,
        groups,
    })
}

/// The end of the test card number that starts with the digits of `runs[0]`. None if these digits start no test card
/// number.
pub(crate) fn test_number_end(doc: &Doc, runs: &[DigitRun]) -> Option<usize> {
    candidate_at(doc, runs)
        .filter(|number| is_test_number(&number.digits) && issuer_of(&number.digits).is_some())
        .map(|number| number.end)
}

/// The card number that starts with the digits of `runs[0]`. None if these digits start no card number.
pub(crate) fn card_at(doc: &Doc, runs: &[DigitRun]) -> Option<Finding> {
    let Candidate { start, end, digits, groups } = candidate_at(doc, runs)?;
    if is_test_number(&digits) {
        return None;
    }
    let is_named = doc.matches_context(start, end, bits::CARD);
    let is_named_otherwise = doc.nearest_word_bits_before(start, 40) & (bits::OTHER | bits::PHONE) != 0
        && doc.nearest_word_bits_before(start, 40) & bits::CARD == 0;
    let issuer = issuer_of(&digits)?;
    // If the length is unusual, or if the issuer's range is wide, the number also needs a context word. A grouping is
    // not enough.
    let has_common_length = matches!(digits.len(), 15 | 16) && !issuer.1;
    let has_card_grouping = groups > 2 && (has_common_length || !issuer.1 || is_named);
    if is_named_otherwise && !is_named || !(is_named || has_card_grouping || has_common_length) {
        return None;
    }
    let confidence = if is_named || has_card_grouping { Confidence::VeryLikely } else { Confidence::Likely };
    Some(Finding { class: Class::Card, detector: "luhn", start, end, confidence })
}

/// Like `is_separate`, but also true if a slash, comma or bar follows, after which there may be an expiry date or the
/// next item of a list or table.
fn has_card_boundaries(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_alone = is_separate(bytes, start, end);
    is_alone
        || matches!(bytes.get(end), Some(b'/' | b',' | b'|'))
            && is_separate(bytes, start, end.min(bytes.len())) | has_start_boundary(bytes, start)
}

fn has_start_boundary(bytes: &[u8], start: usize) -> bool {
    start == 0 || !(bytes[start - 1].is_ascii_alphanumeric() || matches!(bytes[start - 1], b'_' | b'-' | b'.'))
}

/// The issuer of a number. The second value is true if its range or length is too common to identify a card without
/// more evidence.
fn issuer_of(digits: &[u8]) -> Option<(&'static str, bool)> {
    let head = |count: usize| digits.iter().take(count).fold(0u32, |n, d| n * 10 + u32::from(*d));
    let (first_two, first_three, first_four, first_six) = (head(2), head(3), head(4), head(6));
    let length = digits.len();
    let issuer = match (first_two, length) {
        (40..=49, 16) => ("visa", false),
        (40..=49, 13 | 19) => ("visa", true),
        (51..=55, 16) => ("mastercard", false),
        (34 | 37, 15) => ("amex", false),
        (36 | 38 | 39, 14) => ("diners", true),
        (65, 16..=19) => ("discover", length != 16),
        (35, 16..=19) if (3528..=3589).contains(&first_four) => ("jcb", length != 16),
        (62, 16..=19) => ("unionpay", length != 16),
        (81, 16) => ("unionpay", true),
        _ if (2221..=2720).contains(&first_four) && length == 16 => ("mastercard", false),
        _ if (2200..=2204).contains(&first_four) && length == 16 => ("mir", false),
        _ if (300..=305).contains(&first_three) && (14..=19).contains(&length) => ("diners", true),
        _ if (first_four == 6011 || (644..=649).contains(&first_three)) && (16..=19).contains(&length) => {
            ("discover", length != 16)
        }
        _ if matches!(first_four, 5018 | 5020 | 5038 | 5893 | 6304 | 6759 | 6761..=6763)
            && (13..=19).contains(&length) =>
        {
            ("maestro", true)
        }
        _ if matches!(first_six, 606282 | 637095 | 636368 | 438935 | 504175 | 451416) && length == 16 => {
            ("hipercard", false)
        }
        _ if matches!(first_four, 9792 | 6521 | 6522 | 5085 | 6069) && length == 16 => ("troy", true),
        (50 | 56..=58 | 60 | 63 | 67, 13..=19) => ("maestro", true),
        _ => return None,
    };
    Some(issuer)
}

/// Whether the last digit is the Luhn check digit (ISO/IEC 7812).
pub(crate) fn has_luhn_check(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(position, digit)| match (position % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Whether the number is a published test number or looks like one, such as 4000 0000 0000 0002: it has at least nine
/// zeros (or seven after `40000`), at most three different digits, or seven equal digits in a row.
fn is_test_number(digits: &[u8]) -> bool {
    let text: String = digits.iter().map(|d| char::from(b'0' + d)).collect();
    let zero_count = digits.iter().filter(|d| **d == 0).count();
    let distinct_count = (0..10).filter(|d| digits.contains(d)).count();
    let mut run = 1;
    let has_long_repeat = digits.windows(2).any(|pair| {
        run = if pair[0] == pair[1] { run + 1 } else { 1 };
        run >= 7
    });
    TEST_CARD_NUMBERS.contains(&text.as_str())
        || zero_count >= 9
        || distinct_count <= 3
        || has_long_repeat
        || text.starts_with("40000") && zero_count >= 7
}
