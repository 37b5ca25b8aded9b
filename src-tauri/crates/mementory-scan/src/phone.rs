//! Finds telephone numbers by their format, and validates them against numbering plans (with the `phonenumber`
//! library).
use phonenumber::country::Id;

use crate::context::{Doc, bits};
use crate::digits::{DigitRun, Gap, is_grouped};
use crate::{Class, Confidence, Finding};

/// Largest number of digits in a telephone number (ITU-T E.164).
const MAX_PHONE_DIGITS: usize = 15;

/// The telephone number that starts with the digits of `runs[0]`. None if these digits start no telephone number.
pub(crate) fn phone_at(doc: &Doc, runs: &[DigitRun]) -> Option<Finding> {
    let bytes = doc.bytes;
    let first = runs[0];
    let bytes_before = &bytes[..first.start];
    let has_plus = bytes_before.ends_with(b"+") || bytes_before.ends_with("＋".as_bytes());
    let number_start = if has_plus {
        first.start - if bytes_before.ends_with(b"+") { 1 } else { 3 }
    } else if bytes_before.ends_with(b"(") && is_in_brackets(runs, bytes) {
        first.start - 1
    } else {
        first.start
    };
    let number_start = if has_plus && bytes[..number_start].ends_with(b"(") && is_in_brackets(runs, bytes) {
        number_start - 1
    } else {
        number_start
    };
    // In JSON, whitespace before the number may be an escape such as `\n`, whose letter does not belong to the number.
    let is_escaped = has_plus && matches!(&bytes[..number_start], [.., b'\\', b'n' | b't' | b'r']);
    if number_start > 0
        && !is_escaped
        && (bytes[number_start - 1].is_ascii_alphanumeric()
            || matches!(bytes[number_start - 1], b'_' | b'$' | b'#' | b'=' | b'.' | b'-' | b'/')
                && is_joined_before(bytes, number_start))
    {
        return None;
    }
    if has_plus {
        return international_number(doc, runs, number_start);
    }
    // If the nearest context word names a personal number, this is not a telephone number, even if the check digit of
    // the personal number is wrong.
    let nearest = doc.nearest_word_bits_before(number_start, 90);
    let is_personal_number = nearest & bits::IDS != 0 && nearest & bits::PHONE == 0 && first.len() > 8;
    let is_named = !is_personal_number && doc.matches_context(number_start, first.end, bits::PHONE);
    let is_likely_named = is_named || !is_personal_number && doc.matches_context(number_start, first.end, bits::CALL);
    if bytes[first.start..].starts_with(b"00")
        && bytes.get(first.start + 2).is_some_and(|b| *b != b'0')
        && (is_likely_named || nearest & (bits::OTHER | bits::CARD | bits::IDS) == 0)
        && let Some(number) = international_number(doc, runs, number_start)
    {
        let has_groups = runs.len() > 1 && runs[1].end <= number.end && !has_more_digits(runs, number.end);
        if is_likely_named || first.len() > 9 || has_groups && number.confidence == Confidence::VeryLikely {
            return Some(number);
        }
    }
    if first.len() < 7 && runs.len() == 1 || first.len() == 1 && first.gap == Gap::None {
        return None;
    }
    if let Some((end, country)) = national_format(runs, bytes, number_start)
        && may_end_at(bytes, end)
        && (is_likely_named || doc.nearest_word_bits_before(number_start, 40) & bits::OTHER == 0)
    {
        let number = dialled_digits(bytes, number_start, end);
        if is_likely_named || country.is_none_or(|country| is_valid(Some(country), &number)) {
            return Some(phone_finding(
                "national",
                number_start,
                end,
                if is_likely_named { Confidence::VeryLikely } else { Confidence::Likely },
            ));
        }
    }
    if is_likely_named { national_number(doc, runs, number_start, is_named) } else { None }
}

fn phone_finding(detector: &'static str, start: usize, end: usize, confidence: Confidence) -> Finding {
    Finding { class: Class::Phone, detector, start, end, confidence }
}

/// Whether another run of digits follows the number that ends at `end`, with a gap that can occur inside a number.
fn has_more_digits(runs: &[DigitRun], end: usize) -> bool {
    runs.iter().any(|run| run.end == end && run.gap != Gap::None)
}

/// Whether a closing bracket follows the first or the second run. The caller has already checked for the opening
/// bracket.
fn is_in_brackets(runs: &[DigitRun], bytes: &[u8]) -> bool {
    bytes.get(runs[0].end) == Some(&b')')
        || runs.get(1).is_some_and(|run| bytes.get(run.end) == Some(&b')') && run.gap == Gap::Bracket)
}

/// Whether the character before the number joins it to more digits or letters.
fn is_joined_before(bytes: &[u8], number_start: usize) -> bool {
    match bytes[number_start - 1] {
        b'=' => false,
        b'_' | b'$' | b'#' => true,
        _ => number_start > 1 && bytes[number_start - 2].is_ascii_alphanumeric(),
    }
}

/// Whether a number may end here. It must not be followed by a letter other than `x`, by a digit, or by `_`, `%` or
/// `@`, nor by a full stop, colon, hyphen or comma and a digit. As an exception, a comma may precede the next cell of a
/// table row, which must have more than three digits or begin with a plus sign: fewer digits would be the decimals of
/// an amount.
fn may_end_at(bytes: &[u8], end: usize) -> bool {
    let is_plus = |b: &u8| *b == b'+';
    let is_table_cell = bytes.get(end) == Some(&b',') && {
        let digits = bytes[end + 1..].iter().take(5).take_while(|b| b.is_ascii_digit()).count();
        digits > 3 || bytes.get(end + 1).is_some_and(is_plus)
    };
    let digit_after = |sign: u8| bytes.get(end) == Some(&sign) && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
    let is_joined = |b: &u8| b.is_ascii_alphanumeric() && *b != b'x' || matches!(b, b'_' | b'%' | b'@');
    let continues_number = [b'.', b':', b'-'].into_iter().any(digit_after) || digit_after(b',') && !is_table_cell;
    !continues_number && !bytes.get(end).is_some_and(is_joined)
}

/// Positions at which a number with at most eight runs and `max_digits` digits may end, each with the number of runs
/// before it. The last position comes first.
fn possible_ends(runs: &[DigitRun], max_digits: usize) -> Vec<(usize, usize)> {
    let mut digits = 0;
    let mut possible_ends_found = Vec::new();
    for (index, run) in runs.iter().take(8).enumerate() {
        digits += run.len();
        if digits > max_digits {
            break;
        }
        possible_ends_found.push((run.end, index + 1));
        if run.gap == Gap::None {
            break;
        }
    }
    possible_ends_found.reverse();
    possible_ends_found
}

/// The digits of a possible number, with its plus sign if there is one. The `(0)` in `+49 (0) 30` is left out, because
/// it is not dialled after the country code.
fn dialled_digits(bytes: &[u8], start: usize, end: usize) -> String {
    let mut text = String::new();
    let slice = &bytes[start..end];
    for (position, byte) in slice.iter().enumerate() {
        let is_trunk_zero =
            *byte == b'0' && position > 1 && slice[position - 1] == b'(' && slice.get(position + 1) == Some(&b')');
        if byte.is_ascii_digit() && !is_trunk_zero {
            text.push(char::from(*byte));
        }
    }
    if bytes[start..].starts_with(b"+")
        || bytes[start..].starts_with(b"(+")
        || bytes[start..].starts_with("＋".as_bytes())
    {
        text.insert(0, '+');
    }
    text
}

/// Whether the number is valid in the numbering plan of its country.
fn is_valid(country: Option<Id>, number: &str) -> bool {
    phonenumber::parse(country, number).is_ok_and(|number| phonenumber::is_valid(&number))
}

/// A telephone number that begins with `+` or `00` and a country code.
fn international_number(doc: &Doc, runs: &[DigitRun], number_start: usize) -> Option<Finding> {
    let mut grouped_number = None;
    for (end, count) in possible_ends(runs, MAX_PHONE_DIGITS + 2) {
        let mut number = dialled_digits(doc.bytes, number_start, end);
        if let Some(rest) = number.strip_prefix("00") {
            number = format!("+{rest}");
        }
        let digit_count = number.len() - 1;
        // After a number with a plus sign, a comma separates list entries, because such a number is not an amount with
        // decimals.
        let ends_at_list_comma = doc.bytes.get(end) == Some(&b',') && doc.bytes[number_start..end].contains(&b'+');
        if !(7..=MAX_PHONE_DIGITS).contains(&digit_count)
            || !(ends_at_list_comma || may_end_at(doc.bytes, end))
            || number.starts_with("+0")
            || number.starts_with("+1234567")
        {
            continue;
        }
        if is_valid(None, &number) {
            return Some(phone_finding("international", number_start, end, Confidence::VeryLikely));
        }
        // A number with a valid length and an existing country code that is in no numbering plan may be made up, or be
        // in a new range.
        let is_plausible = count >= 3 || doc.matches_context(number_start, end, bits::PHONE | bits::CALL);
        let is_decimal = runs[..count - 1].iter().any(|run| run.gap == Gap::Dot) && count < 4;
        if grouped_number.is_none()
            && digit_count >= 9
            && is_plausible
            && !is_decimal
            && phonenumber::parse(None, &number).is_ok()
        {
            grouped_number = Some(phone_finding("international", number_start, end, Confidence::Likely));
        }
    }
    grouped_number
}

/// Recognises national formats that are used only for telephone numbers. Returns the end of the number, and the country
/// whose numbering plan must contain it. If the country is None, no plan is checked.
fn national_format(runs: &[DigitRun], bytes: &[u8], number_start: usize) -> Option<(usize, Option<Id>)> {
    let starts = |text: &[u8]| bytes[runs[0].start..].starts_with(text);
    let at = |count: usize| runs[count - 1].end;
    let starts_with_zero = bytes[runs[0].start] == b'0';
    let has_bracket = number_start < runs[0].start;
    let hyphens = &[Gap::Hyphen][..];
    let is_american = [Gap::Hyphen, Gap::Space].iter().any(|gap| is_grouped(runs, &[3, 3, 4], &[Gap::Bracket, *gap]));
    if has_bracket && is_american {
        return (!starts_with_zero && !starts(b"1")).then_some((at(3), None));
    }
    if is_grouped(runs, &[3, 3, 4], hyphens) || is_grouped(runs, &[3, 3, 4], &[Gap::Dot]) {
        let exchange = bytes[runs[1].start];
        return (!starts_with_zero && !starts(b"1") && exchange > b'1')
            .then_some((at(3), if starts(b"555") { None } else { Some(Id::US) }));
    }
    if [Gap::Space, Gap::Dot, Gap::Hyphen].iter().any(|gap| is_grouped(runs, &[2, 2, 2, 2, 2], &[*gap]))
        && starts_with_zero
        && !starts(b"00")
    {
        return Some((at(5), Some(Id::FR)));
    }
    if has_bracket
        && (is_grouped(runs, &[2, 5, 4], &[Gap::Bracket, Gap::Hyphen])
            || is_grouped(runs, &[2, 4, 4], &[Gap::Bracket, Gap::Hyphen]))
    {
        let count = 3;
        return Some((at(count), Some(Id::BR)));
    }
    if is_grouped(runs, &[3, 4, 4], hyphens) && starts_with_zero {
        return Some((at(3), Some(if starts(b"010") { Id::KR } else { Id::JP })));
    }
    if has_bracket
        && starts_with_zero
        && runs.len() > 1
        && runs[0].gap == Gap::Bracket
        && (3..=5).contains(&runs[0].len())
    {
        let (end, _) =
            possible_ends(runs, 12).into_iter().find(|(end, count)| *count > 1 && may_end_at(bytes, *end))?;
        let country = if starts(b"020") || starts(b"011") || starts(b"0161") { Id::GB } else { Id::DE };
        return Some((end, Some(country)));
    }
    // German mobile numbers: four digits from 0150 to 0179, a separator, and seven or eight digits.
    if runs.len() > 1
        && runs[0].len() == 4
        && (starts(b"015") || starts(b"016") || starts(b"017"))
        && runs[0].gap != Gap::None
    {
        let (end, _) =
            possible_ends(runs, 12).into_iter().find(|(end, count)| *count > 1 && may_end_at(bytes, *end))?;
        return Some((end, Some(Id::DE)));
    }
    // British mobile numbers begin with 07 and are written as five and six digits.
    if runs.len() > 1 && runs[0].len() == 5 && starts(b"07") && runs[0].gap == Gap::Space {
        let (end, _) =
            possible_ends(runs, 11).into_iter().find(|(end, count)| *count > 1 && may_end_at(bytes, *end))?;
        return Some((end, Some(Id::GB)));
    }
    None
}

/// Countries whose numbering plans are tried for a number that starts with a zero.
const COUNTRIES_WITH_ZERO: &[Id] = &[
    Id::DE,
    Id::GB,
    Id::FR,
    Id::AT,
    Id::CH,
    Id::NL,
    Id::BE,
    Id::SE,
    Id::JP,
    Id::AU,
    Id::KR,
    Id::IT,
    Id::TR,
    Id::CN,
    Id::UA,
];
/// Countries whose numbering plans are tried for a number that does not start with a zero.
const COUNTRIES_WITHOUT_TRUNK_PREFIX: &[Id] = &[
    Id::US,
    Id::ES,
    Id::BR,
    Id::PL,
    Id::PT,
    Id::IN,
    Id::MX,
    Id::RU,
    Id::CN,
    Id::DK,
    Id::NO,
    Id::CZ,
    Id::GR,
    Id::AR,
    Id::CL,
    Id::CO,
    Id::IT,
    Id::SG,
];

/// A telephone number without a country code, near a context word. If `is_named` is true, that word means a telephone
/// number and is not just a word such as "call".
fn national_number(doc: &Doc, runs: &[DigitRun], number_start: usize, is_named: bool) -> Option<Finding> {
    let bytes = doc.bytes;
    let starts_with_zero = bytes[runs[0].start] == b'0';
    let plans = if starts_with_zero { COUNTRIES_WITH_ZERO } else { COUNTRIES_WITHOUT_TRUNK_PREFIX };
    let mut plausible_number = None;
    for (end, count) in possible_ends(runs, 13) {
        let number = dialled_digits(bytes, number_start, end);
        if !(7..=13).contains(&number.len())
            || !may_end_at(bytes, end)
            || is_date_or_amount(&runs[..count], bytes)
            || is_trivial(&number)
            || !is_named && number.len() < 9 && count == 1
        {
            continue;
        }
        if plans.iter().any(|country| is_valid(Some(*country), &number))
            || !starts_with_zero && number.len() >= 11 && is_valid(None, &format!("+{number}"))
        {
            return Some(phone_finding("national", number_start, end, Confidence::VeryLikely));
        }
        let has_common_form = count > 1 && number.len() >= 7
            || starts_with_zero && number.len() >= 9
            || number.len() == 10
            || (7..=9).contains(&number.len()) && count == 1;
        if plausible_number.is_none() && has_common_form && is_named {
            plausible_number = Some(phone_finding("national", number_start, end, Confidence::Possible));
        }
    }
    plausible_number
}

/// Whether the number is a date, a range of years, opening hours, an IP address, an amount, a coordinate, or a series
/// of single digits.
fn is_date_or_amount(runs: &[DigitRun], bytes: &[u8]) -> bool {
    let lengths: Vec<usize> = runs.iter().map(DigitRun::len).collect();
    let leading_value =
        |run: &DigitRun| bytes[run.start..run.end].iter().take(4).fold(0u32, |n, b| n * 10 + u32::from(b - b'0'));
    let is_year = |run: &DigitRun| run.len() == 4 && (1900..=2099).contains(&leading_value(run));
    let has_one_gap_kind = runs.windows(2).all(|pair| pair[0].gap == runs[0].gap);
    let is_date = runs.len() >= 3
        && (is_year(&runs[0]) && leading_value(&runs[1]) <= 12 && leading_value(&runs[2]) <= 31
            || is_year(&runs[2]) && leading_value(&runs[0]) <= 31 && leading_value(&runs[1]) <= 31);
    let is_year_span = runs.len() == 2 && is_year(&runs[0]) && is_year(&runs[1]);
    let is_ip_address = runs.len() == 4
        && has_one_gap_kind
        && runs[0].gap == Gap::Dot
        && lengths.iter().all(|n| *n <= 3)
        && runs.iter().all(|run| leading_value(run) < 256);
    let is_amount = runs.len() > 1
        && has_one_gap_kind
        && runs[0].gap == Gap::Dot
        && lengths[1..].iter().all(|n| *n == 3)
        && lengths[0] < 3;
    let is_compact_date = runs.len() == 1 && lengths[0] == 8 && (1900..=2099).contains(&leading_value(&runs[0])) && {
        let month = bytes[runs[0].start + 4..].iter().take(2).fold(0u32, |n, b| n * 10 + u32::from(b - b'0'));
        (1..=12).contains(&month)
    };
    // Opening hours, as in 0900-1800 and 0930 1730.
    let is_clock_time = |run: &DigitRun| run.len() == 4 && leading_value(run) < 2400 && leading_value(run) % 100 < 60;
    let is_opening_hours = runs.len() == 2 && runs.iter().all(is_clock_time);
    // Coordinates, as in 46.546508. A telephone number with a single dot begins with a zero.
    let starts_with_zero = bytes[runs[0].start] == b'0' && lengths[0] > 2;
    let is_coordinate =
        runs.len() == 2 && runs[0].gap == Gap::Dot && lengths[0] < 4 && lengths[1] > 3 && !starts_with_zero;
    is_date
        || is_year_span
        || is_opening_hours
        || is_ip_address
        || is_amount
        || is_compact_date
        || is_coordinate
        || runs.len() > 1 && lengths.iter().all(|n| *n == 1)
}

/// Whether the number is one repeated digit or a series of consecutive digits, as in 0000000 and 1234567890.
fn is_trivial(number: &str) -> bool {
    number.bytes().all(|b| Some(b) == number.bytes().next())
        || "01234567890".contains(number)
        || number.len() == 10 && number.starts_with("123456789")
}
