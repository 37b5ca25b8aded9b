//! Independent checks of the generated numbers. The generators compute check digits; this module tests whether the
//! whole number satisfies the rule, and shares no code with the generators.

fn digits(text: &str) -> Vec<u64> {
    text.bytes().filter(u8::is_ascii_digit).map(|b| u64::from(b - b'0')).collect()
}

fn has_weighted_check(text: &str, length: usize, weights: &[u64], modulus: u64) -> bool {
    let all_digits = digits(text);
    all_digits.len() == length && all_digits.iter().zip(weights).map(|(d, w)| d * w).sum::<u64>() % modulus == 0
}

fn digits_as_number(digits: &[u64]) -> u64 {
    digits.iter().fold(0, |sum, d| sum * 10 + d)
}

/// Whether `YYMMDD` may be a date. The length of the month is not checked.
fn is_date(yymmdd: &[u64]) -> bool {
    (1..=12).contains(&digits_as_number(&yymmdd[2..4])) && (1..=31).contains(&digits_as_number(&yymmdd[4..6]))
}

pub fn is_valid_luhn(text: &str) -> bool {
    const DIGIT_SUMS_OF_DOUBLES: [u64; 10] = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
    let all_digits = digits(text);
    let places = all_digits.iter().rev().enumerate();
    places.map(|(i, d)| if i % 2 == 1 { DIGIT_SUMS_OF_DOUBLES[*d as usize] } else { *d }).sum::<u64>() % 10 == 0
}

pub fn is_valid_card(text: &str) -> bool {
    let all_digits = digits(text);
    let lead = digits_as_number(&all_digits[..4.min(all_digits.len())]);
    let length = match lead {
        4000..=4999 | 5100..=5599 | 2221..=2720 | 3528..=3589 | 6011 | 6440..=6599 | 6200..=6299 => 16,
        3400..=3499 | 3700..=3799 => 15,
        3600..=3699 | 3800..=3899 => 14,
        _ => return false,
    };
    all_digits.len() == length && is_valid_luhn(text)
}

pub fn is_valid_iban(text: &str) -> bool {
    let text_without_spaces: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
    let rotated = text_without_spaces[4..].iter().chain(&text_without_spaces[..4]);
    let mut expanded = String::new();
    for b in rotated {
        match b {
            b'0'..=b'9' => expanded.push(char::from(*b)),
            b'A'..=b'Z' => expanded += &(b - b'A' + 10).to_string(),
            _ => return false,
        }
    }
    // As in long division, the remainder is calculated for nine digits at a time.
    let mut rest = 0u64;
    for piece in expanded.as_bytes().chunks(9) {
        let piece = std::str::from_utf8(piece).expect("ASCII");
        rest = format!("{rest}{piece}").parse::<u64>().expect("digits") % 97;
    }
    rest == 1
}

fn dni_letter(number: u64, text: &str) -> bool {
    const LETTERS: &str = "T R W A G M Y F P D X B N J Z S Q V H L C K E";
    LETTERS.split(' ').nth((number % 23) as usize) == text.get(text.len() - 1..)
}

pub fn is_valid_dni(text: &str) -> bool {
    let all_digits = digits(text);
    text.starts_with(|c: char| c.is_ascii_digit())
        && all_digits.len() == 8
        && dni_letter(digits_as_number(&all_digits), text)
}

pub fn is_valid_nie(text: &str) -> bool {
    let all_digits = digits(text);
    let Some(lead) = text.chars().next().and_then(|c| "XYZ".find(c)) else { return false };
    all_digits.len() == 7 && dni_letter(lead as u64 * 10_000_000 + digits_as_number(&all_digits), text)
}

pub fn is_valid_codice_fiscale(text: &str) -> bool {
    // The letters, ordered by their values in odd positions.
    const LETTERS_BY_ODD_VALUE: &str = "BAKPLCQDREVOSFTGUHMINJWZYX";
    let text_bytes: Vec<u8> = text.bytes().collect();
    if text_bytes.len() != 16
        || !text_bytes.iter().all(u8::is_ascii_alphanumeric)
        || !text_bytes[15].is_ascii_uppercase()
    {
        return false;
    }
    let letter = |b: u8| if b.is_ascii_digit() { b - b'0' + b'A' } else { b };
    let sum: usize = (text_bytes[..15].iter().enumerate())
        .map(|(i, b)| match i % 2 {
            0 => LETTERS_BY_ODD_VALUE.bytes().position(|w| w == letter(*b)).unwrap_or(0),
            _ => usize::from(letter(*b) - b'A'),
        })
        .sum();
    sum % 26 == usize::from(text_bytes[15] - b'A')
}

pub fn is_valid_nir(text: &str) -> bool {
    let text_without_spaces: String = text.chars().filter(|c| *c != ' ').collect();
    if text_without_spaces.len() != 15 {
        return false;
    }
    let (corsica, text_without_spaces) = match &text_without_spaces[5..7] {
        "2A" => (1_000_000, text_without_spaces.replacen("2A", "20", 1)),
        "2B" => (2_000_000, text_without_spaces.replacen("2B", "20", 1)),
        _ => (0, text_without_spaces),
    };
    let all_digits = digits(&text_without_spaces);
    all_digits.len() == 15
        && (digits_as_number(&all_digits[..13]) - corsica + digits_as_number(&all_digits[13..])).is_multiple_of(97)
}

pub fn is_valid_steuer_id(text: &str) -> bool {
    let all_digits = digits(text);
    if all_digits.len() != 11 || all_digits[0] == 0 {
        return false;
    }
    let distinct_count = (0..10).filter(|d| all_digits[..10].contains(d)).count();
    let mut state = 0;
    for digit in &all_digits[..10] {
        let sum = (digit + if state == 0 { 10 } else { state }) % 10;
        state = (if sum == 0 { 10 } else { sum }) * 2 % 11;
    }
    // According to ISO 7064, the sum of the last state and the check digit is 1 (mod 10).
    (8..=9).contains(&distinct_count) && (state + all_digits[10]) % 10 == 1
}

pub fn is_valid_bsn(text: &str) -> bool {
    has_weighted_check(text, 9, &[9, 8, 7, 6, 5, 4, 3, 2, 10], 11)
}

pub fn is_valid_rijksregister(text: &str) -> bool {
    let all_digits = digits(text);
    if all_digits.len() != 11 || !is_date(&all_digits) {
        return false;
    }
    let nine = digits_as_number(&all_digits[..9]);
    [nine, nine + 2_000_000_000].iter().any(|n| (n + digits_as_number(&all_digits[9..])).is_multiple_of(97))
}

pub fn is_valid_pesel(text: &str) -> bool {
    has_weighted_check(text, 11, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1], 10)
}

pub fn is_valid_personnummer(text: &str) -> bool {
    let all_digits = digits(text);
    let ten = &all_digits[all_digits.len().saturating_sub(10)..];
    text.contains('-') && matches!(all_digits.len(), 10 | 12) && is_date(ten) && {
        let ten: String = ten.iter().map(u64::to_string).collect();
        is_valid_luhn(&ten)
    }
}

pub fn is_valid_hetu(text: &str) -> bool {
    const CHECK_CHARACTERS: &str = "0123456789ABCDEFHJKLMNPRSTUVWXY";
    if text.len() != 11 || !text.is_ascii() || !matches!(&text[6..7], "-" | "A") {
        return false;
    }
    let counted = digits(&text[..6]).into_iter().chain(digits(&text[7..10])).collect::<Vec<_>>();
    counted.len() == 9 && CHECK_CHARACTERS.find(&text[10..]) == Some((digits_as_number(&counted) % 31) as usize)
}

pub fn is_valid_fodselsnummer(text: &str) -> bool {
    has_weighted_check(text, 11, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1, 0], 11)
        && has_weighted_check(text, 11, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1], 11)
}

pub fn is_valid_nif(text: &str) -> bool {
    let all_digits = digits(text);
    // A check digit of 10 is written as 0.
    all_digits.len() == 9 && (1..=3).contains(&all_digits[0]) && {
        let eight: u64 = all_digits.iter().take(8).zip((2..=9).rev()).map(|(d, w)| d * w).sum();
        (eight + all_digits[8]).is_multiple_of(11) || (all_digits[8] == 0 && eight % 11 == 1)
    }
}
pub use super::validate_world::*;
