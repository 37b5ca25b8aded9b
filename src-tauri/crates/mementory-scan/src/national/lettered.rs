//! Personal numbers that contain letters. Most have a distinctive format; the others need a context word.
use super::check::{digits_as_number, is_day_of_month, two_digits, weighted_sum};
use super::world::has_chinese_region_and_date;
use crate::context::{Doc, bits};
use crate::digits::{DigitRun, Gap, digits_of, is_grouped, is_separate};
use crate::{Class, Confidence, Finding};

/// A number in a valid format whose context words have not been checked yet.
struct Candidate {
    name: &'static str,
    start: usize,
    end: usize,
    /// True if nothing else is written in this format, so that no context word is needed.
    distinctive: bool,
}

/// The personal number with letters whose first digits are `runs[0]`.
pub(super) fn number_at(doc: &Doc, runs: &[DigitRun], bit: u64) -> Option<Finding> {
    let candidate = find_candidate(doc.bytes, runs)?;
    if !is_separate(doc.bytes, candidate.start, candidate.end) {
        return None;
    }
    let is_named = doc.matches_context(candidate.start, candidate.end, bit);
    let is_named_otherwise = doc.nearest_word_bits_before(candidate.start, 40) & bits::OTHER != 0;
    let confidence =
        if is_named || candidate.name == "it_codice_fiscale" { Confidence::VeryLikely } else { Confidence::Likely };
    (is_named || candidate.distinctive && !is_named_otherwise).then_some(Finding {
        class: Class::NationalId,
        detector: candidate.name,
        start: candidate.start,
        end: candidate.end,
        confidence,
    })
}

fn find_candidate(bytes: &[u8], runs: &[DigitRun]) -> Option<Candidate> {
    let first = runs[0];
    let letter = |position: usize| bytes.get(position).filter(|b| b.is_ascii_alphabetic()).map(u8::to_ascii_uppercase);
    let word_start =
        first.start - bytes[..first.start].iter().rev().take(20).take_while(|b| b.is_ascii_alphanumeric()).count();
    let word_end = first.end + bytes[first.end..].iter().take(20).take_while(|b| b.is_ascii_alphanumeric()).count();
    let word: Vec<u8> = bytes[word_start..word_end].to_ascii_uppercase();
    let letter_count_before = first.start - word_start;
    let has_no_small_letter = bytes[word_start..word_end].iter().all(|b| !b.is_ascii_lowercase());
    let candidate_of_word = |name, distinctive| Some(Candidate { name, start: word_start, end: word_end, distinctive });
    match (word.len(), letter_count_before, first.len()) {
        (16, 6, _) if is_codice_fiscale(&word) => return candidate_of_word("it_codice_fiscale", true),
        (18, 4, 6) if is_curp(&word) => return candidate_of_word("mx_curp", true),
        (18, 0, 17) if word[17] == b'X' => {
            let digits = digits_of(bytes, first.start, first.end);
            let check = weighted_sum(&digits, &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11;
            return if has_chinese_region_and_date(&digits) && check == 2 {
                candidate_of_word("cn_resident_id", true)
            } else {
                None
            };
        }
        (9, 0, 8) if is_dni(0, &word[..8], word[8]) => return candidate_of_word("es_dni", has_no_small_letter),
        (9, 1, 7) if is_nie(&word) => return candidate_of_word("es_nie", has_no_small_letter),
        (9, 1, 7) if is_nric(&word) => return candidate_of_word("sg_nric", has_no_small_letter),
        (10, 1, 9) if is_taiwan_id(&word) => return candidate_of_word("tw_id", false),
        (9, 2, 6) if matches!(word[8], b'A'..=b'D') && is_nino(&word) => return candidate_of_word("uk_nino", false),
        (8 | 9, 0, 7) if is_pps(&word) => return candidate_of_word("ie_pps", false),
        (11, 0, 6) if is_hetu(&word[..6], word[6], &word[7..]) => return candidate_of_word("fi_hetu", true),
        (7, 1, 6) if bytes.get(word_end) == Some(&b'(') && bytes.get(word_end + 2) == Some(&b')') => {
            let check = bytes.get(word_end + 1)?.to_ascii_uppercase();
            return is_hkid(&word, check).then_some(Candidate {
                name: "hk_id",
                start: word_start,
                end: word_end + 3,
                distinctive: true,
            });
        }
        _ => {}
    }
    if letter_count_before == 2
        && first.len() == 2
        && is_grouped(runs, &[2, 2, 2], &[Gap::Space])
        && is_nino(&word)
        && runs.len() > 2
    {
        let end = runs[2].end;
        let last_letter = letter(end + 1).filter(|_| bytes[end] == b' ');
        return last_letter.filter(|b| matches!(b, b'A'..=b'D')).map(|_| Candidate {
            name: "uk_nino",
            start: word_start,
            end: end + 2,
            distinctive: false,
        });
    }
    // The following formats have a separator before their last part: 12345678-Z, 12.345.678-Z, X-1234567-L,
    // 010190-123A, 12.345.678-K.
    let dotted_lengths =
        [&[2, 3, 3][..], &[1, 3, 3]].into_iter().find(|lengths| is_grouped(runs, lengths, &[Gap::Dot]));
    let body_end = dotted_lengths.map_or(first.end, |lengths| runs[lengths.len() - 1].end);
    let body = digits_of(bytes, first.start, body_end);
    let separator = bytes.get(body_end)?;
    let check = bytes.get(body_end + 1)?.to_ascii_uppercase();
    let is_last_letter = !bytes.get(body_end + 2).is_some_and(u8::is_ascii_alphanumeric);
    let text: Vec<u8> = body.iter().map(|d| d + b'0').collect();
    if matches!(separator, b'-' | b' ' | b'.')
        && is_last_letter
        && letter_count_before == 0
        && text.len() == 8
        && check.is_ascii_alphabetic()
        && is_dni(0, &text, check)
        && (*separator == b'-' || bytes[body_end + 1].is_ascii_uppercase())
    {
        return Some(Candidate {
            name: "es_dni",
            start: first.start,
            end: body_end + 2,
            distinctive: *separator == b'-' || dotted_lengths.is_some(),
        });
    }
    let prefix_start = first
        .start
        .checked_sub(2)
        .filter(|position| bytes[position + 1] == b'-' && matches!(bytes[*position], b'X' | b'Y' | b'Z'));
    if *separator == b'-'
        && is_last_letter
        && text.len() == 7
        && let Some(start) = prefix_start
    {
        let first = u64::from(bytes[start] - b'X');
        return is_dni(first, &text, check).then_some(Candidate {
            name: "es_nie",
            start,
            end: body_end + 2,
            distinctive: true,
        });
    }
    if *separator == b'-'
        && is_last_letter
        && letter_count_before == 0
        && matches!(text.len(), 7 | 8)
        && is_rut(&body, check)
    {
        return Some(Candidate {
            name: "cl_rut",
            start: first.start,
            end: body_end + 2,
            distinctive: dotted_lengths.is_some() || check == b'K',
        });
    }
    if letter_count_before == 0 && word.len() == 6 && matches!(separator, b'-' | b'+') {
        let tail = bytes.get(body_end + 1..body_end + 5)?.to_ascii_uppercase();
        if is_hetu(&text, *separator, &tail) {
            return Some(Candidate { name: "fi_hetu", start: first.start, end: body_end + 5, distinctive: true });
        }
    }
    corsican_number(bytes, runs)
}

/// Whether the letter of a Spanish number is right. The number modulo 23 determines the letter.
fn is_dni(first: u64, digits: &[u8], check: u8) -> bool {
    let value = digits.iter().fold(first, |n, b| n * 10 + u64::from(b.wrapping_sub(b'0')));
    digits.iter().all(u8::is_ascii_digit) && b"TRWAGMYFPDXBNJZSQVHLCKE"[(value % 23) as usize] == check
}

fn is_nie(word: &[u8]) -> bool {
    matches!(word[0], b'X'..=b'Z') && is_dni(u64::from(word[0] - b'X'), &word[1..8], word[8])
}

fn digit_values(word: &[u8]) -> Vec<u8> {
    word.iter().map(|b| b.wrapping_sub(b'0')).collect()
}

/// Whether this is an Italian codice fiscale: six letters, the year, a letter for the month, the day, a code for the
/// place, and a check letter. If two people would get the same number, some digits of one number are replaced by
/// letters.
fn is_codice_fiscale(word: &[u8]) -> bool {
    const ODD_POSITION_VALUES: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let layout = b"AAAAAA00A00A000A";
    let has_layout = word.iter().zip(layout).all(|(b, kind)| match kind {
        b'A' => b.is_ascii_uppercase(),
        _ => b.is_ascii_digit() || b"LMNPQRSTUV".contains(b),
    });
    let sum: u32 = word[..15]
        .iter()
        .enumerate()
        .map(|(position, b)| {
            let value = if b.is_ascii_digit() { b - b'0' } else { b.wrapping_sub(b'A') };
            if position % 2 == 0 {
                ODD_POSITION_VALUES.get(usize::from(value)).copied().unwrap_or(0)
            } else {
                u32::from(value)
            }
        })
        .sum();
    has_layout && b"ABCDEHLMPRST".contains(&word[8]) && word[15] == b'A' + (sum % 26) as u8
}

/// Whether this is a Mexican CURP: four letters, date of birth, sex, state, three consonants, a character, a check
/// digit.
fn is_curp(word: &[u8]) -> bool {
    const ALPHABET: &[u8] = b"0123456789ABCDEFGHIJKLMN#OPQRSTUVWXYZ";
    let date = digit_values(&word[4..10]);
    let sum: usize = word[..17]
        .iter()
        .enumerate()
        .map(|(position, b)| ALPHABET.iter().position(|c| c == b).unwrap_or(0) * (18 - position))
        .sum();
    word[..4].iter().chain(&word[11..16]).all(u8::is_ascii_uppercase)
        && is_day_of_month(two_digits(&date, 4), two_digits(&date, 2))
        && matches!(word[10], b'H' | b'M' | b'X')
        && word[17] == b'0' + ((10 - sum % 10) % 10) as u8
}

/// Whether this is a Finnish henkilötunnus: day, month and year of birth, a sign for the century, three digits, and one
/// of 31 check characters.
fn is_hetu(date: &[u8], century: u8, tail: &[u8]) -> bool {
    if tail.len() != 4 || !date.iter().chain(&tail[..3]).all(u8::is_ascii_digit) || !b"-+ABCDEFUVWXY".contains(&century)
    {
        return false;
    }
    let (date, serial) = (digit_values(date), digit_values(&tail[..3]));
    let value = digits_as_number(&date) * 1000 + digits_as_number(&serial);
    is_day_of_month(two_digits(&date, 0), two_digits(&date, 2))
        && b"0123456789ABCDEFHJKLMNPRSTUVWXY"[(value % 31) as usize] == tail[3]
}

/// Whether the check character of a Chilean RUT is right (modulo 11).
fn is_rut(digits: &[u8], check: u8) -> bool {
    let sum: u32 = digits.iter().rev().zip([2, 3, 4, 5, 6, 7].iter().cycle()).map(|(d, w)| u32::from(*d) * w).sum();
    let expected = match 11 - sum % 11 {
        11 => b'0',
        10 => b'K',
        rest => b'0' + rest as u8,
    };
    expected == check && digits.iter().any(|d| *d != digits[0])
}

/// Whether the two letters at the start can begin a British national insurance number: two letters, six digits and a
/// letter, without a check digit. The caller has already checked the rest.
fn is_nino(word: &[u8]) -> bool {
    let unused_prefixes: &[&[u8]] = &[b"BG", b"GB", b"NK", b"KN", b"TN", b"NT", b"ZZ", b"QQ"];
    word[..2].iter().all(u8::is_ascii_uppercase)
        && !b"DFIQUV".contains(&word[0])
        && !b"DFIOQUV".contains(&word[1])
        && !unused_prefixes.contains(&&word[..2])
}

/// Whether this is an Irish PPS number: seven digits, a check letter (modulo 23), and possibly a second letter with
/// weight 9.
fn is_pps(word: &[u8]) -> bool {
    let digits = digit_values(&word[..7]);
    let second = word.get(8).map_or(0, |b| u32::from(b.wrapping_sub(b'A')) + 1);
    let has_valid_letters = word[7..].iter().all(u8::is_ascii_uppercase) && second <= 23;
    has_valid_letters
        && b"WABCDEFGHIJKLMNOPQRSTUV"[((weighted_sum(&digits, &[8, 7, 6, 5, 4, 3, 2]) + second * 9) % 23) as usize]
            == word[7]
}

/// Whether this is a Singapore NRIC: a letter for the century and kind, seven digits, and a check letter.
fn is_nric(word: &[u8]) -> bool {
    let sum = weighted_sum(&digit_values(&word[1..8]), &[2, 7, 6, 5, 4, 3, 2]);
    match word[0] {
        b'S' => b"JZIHGFEDCBA"[(sum % 11) as usize] == word[8],
        b'T' => b"JZIHGFEDCBA"[((sum + 4) % 11) as usize] == word[8],
        b'F' => b"XWUTRQPNMLK"[(sum % 11) as usize] == word[8],
        b'G' => b"XWUTRQPNMLK"[((sum + 4) % 11) as usize] == word[8],
        _ => false,
    }
}

/// Whether this is a Taiwan ID: a letter for the place and nine digits, the first of which encodes the sex. The
/// weighted sum must be divisible by ten.
fn is_taiwan_id(word: &[u8]) -> bool {
    const PLACE_LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVXYWZIO";
    let Some(place) = PLACE_LETTERS.iter().position(|b| *b == word[0]) else { return false };
    let place = place as u32 + 10;
    let sum = place / 10 + place % 10 * 9 + weighted_sum(&digit_values(&word[1..]), &[8, 7, 6, 5, 4, 3, 2, 1, 1]);
    matches!(word[1], b'1' | b'2' | b'8' | b'9') && sum.is_multiple_of(10)
}

/// Whether this is a Hong Kong identity card number: a letter, six digits, and a check character in brackets (modulo
/// 11).
fn is_hkid(word: &[u8], check: u8) -> bool {
    let last = if check == b'A' { 10 } else { u32::from(check.wrapping_sub(b'0')) };
    let letter = u32::from(word[0].wrapping_sub(b'A')) + 10;
    last <= 10
        && (36 * 9 + letter * 8 + weighted_sum(&digit_values(&word[1..]), &[7, 6, 5, 4, 3, 2]) + last)
            .is_multiple_of(11)
}

/// The French personal number of a person born in Corsica, whose department is 2A or 2B.
fn corsican_number(bytes: &[u8], runs: &[DigitRun]) -> Option<Candidate> {
    let start = runs[0].start;
    let mut characters: Vec<u8> = Vec::new();
    let mut position = start;
    while characters.len() < 15 && position - start < 24 {
        match bytes.get(position)? {
            b if b.is_ascii_alphanumeric() => characters.push(b.to_ascii_uppercase()),
            b' ' => {}
            _ => return None,
        }
        position += 1;
    }
    let department_offset = match characters.get(5..7)? {
        b"2A" => 1_000_000,
        b"2B" => 2_000_000,
        _ => return None,
    };
    if characters.len() != 15 || !matches!(characters[0], b'1' | b'2') {
        return None;
    }
    characters[6] = b'0';
    if !characters.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = digit_values(&characters);
    let value = digits_as_number(&digits[..13]) - department_offset;
    (97 - value % 97 == digits_as_number(&digits[13..])).then_some(Candidate {
        name: "fr_nir",
        start,
        end: position,
        distinctive: true,
    })
}
