//! Finds international bank account numbers (IBANs). They are recognised by the length that their country prescribes
//! and by the check digits of ISO 13616 (mod 97).
use crate::context::{Doc, bits};
use crate::{Class, Confidence, Finding};

/// Length of the account number by country, from the ISO 13616 registry maintained by SWIFT.
const IBAN_LENGTHS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HN", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];

/// Countries whose account numbers only contain digits, from the same registry.
const NUMERIC_COUNTRY_CODES: &[&str] = &[
    "AT", "BA", "BE", "CZ", "DE", "DK", "EE", "ES", "FI", "FO", "GL", "HR", "HU", "IL", "IS", "LT", "ME", "NO", "PL",
    "PT", "RS", "SE", "SI", "SK", "XK",
];

/// The account number whose check digits start at `digits`, directly after the country code.
pub(crate) fn iban_at(doc: &Doc, digits: usize) -> Option<Finding> {
    let bytes = doc.bytes;
    let start = digits.checked_sub(2)?;
    let country = bytes.get(start..digits)?;
    if !country.iter().all(u8::is_ascii_alphabetic) || !bytes.get(digits + 1)?.is_ascii_digit() {
        return None;
    }
    if start > 0 && (bytes[start - 1].is_ascii_alphanumeric() || matches!(bytes[start - 1], b'_' | b'/' | b'+')) {
        return None;
    }
    // After a letter or digit and a hyphen, the value is the last part of a UUID or an order number, except after
    // `IBAN-`.
    if start > 1 && bytes[start - 1] == b'-' && bytes[start - 2].is_ascii_alphanumeric() {
        let bytes_before = &bytes[start.saturating_sub(5)..start - 1];
        if !bytes_before.eq_ignore_ascii_case(b"iban") {
            return None;
        }
    }
    let has_small_letter = country.iter().any(u8::is_ascii_lowercase);
    let name = country.to_ascii_uppercase();
    let (_, length) = IBAN_LENGTHS.iter().find(|(code, _)| code.as_bytes() == name)?;
    let (end, rest, separators) = read_characters(bytes, digits + 2, length - 4)?;
    if bytes.get(end).is_some_and(|b| b.is_ascii_alphanumeric())
        || NUMERIC_COUNTRY_CODES.iter().any(|code| code.as_bytes() == name) && !rest.iter().all(u8::is_ascii_digit)
        || remainder_mod_97(&rest, &name, &bytes[digits..digits + 2]) != 1
    {
        return None;
    }
    // An account number is divided into groups, not into single characters, and its country code is not in mixed case.
    if separators > length / 2 || has_small_letter && country.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    let is_example = doc.all_bits_before(start) & bits::EXAMPLE != 0;
    let confidence = if is_example { Confidence::Likely } else { Confidence::VeryLikely };
    Some(Finding { class: Class::Iban, detector: "iso13616", start, end, confidence })
}

/// Whether the group at `position` is in a series of four-character groups that begins like an account number, as in
/// `HR52 2488 5290`. The check digits may be wrong.
pub(crate) fn is_group_of_iban(bytes: &[u8], position: usize) -> bool {
    let mut position = position;
    for _ in 0..8 {
        let separator = position.checked_sub(1).filter(|position| matches!(bytes[*position], b' ' | b'-'));
        let Some(end) = separator else { return false };
        let Some(start) = end.checked_sub(4) else { return false };
        let group = &bytes[start..end];
        if !group.iter().all(u8::is_ascii_alphanumeric) || start > 0 && bytes[start - 1].is_ascii_alphanumeric() {
            return false;
        }
        let (country, check) = group.split_at(2);
        if check.iter().all(u8::is_ascii_digit) && IBAN_LENGTHS.iter().any(|(code, _)| code.as_bytes() == country) {
            return true;
        }
        position = start;
    }
    false
}

/// Reads `count` letters and digits from `position` on, with single spaces, hyphens or dots between them. Returns the
/// end, the characters, and the number of separators.
fn read_characters(bytes: &[u8], position: usize, count: usize) -> Option<(usize, Vec<u8>, usize)> {
    let mut characters = Vec::with_capacity(count);
    let (mut position, mut separators, mut after_separator) = (position, 0, false);
    while characters.len() < count {
        let rest = bytes.get(position..)?;
        let step = match rest {
            [b, ..] if b.is_ascii_alphanumeric() => {
                characters.push(b.to_ascii_uppercase());
                after_separator = false;
                position += 1;
                continue;
            }
            [b' ' | b'-' | b'.', ..] => 1,
            [0xC2, 0xA0, ..] => 2,
            [0xE2, 0x80, 0xAF, ..] => 3,
            _ => return None,
        };
        if after_separator {
            return None;
        }
        after_separator = true;
        separators += 1;
        position += step;
    }
    Some((position, characters, separators))
}

/// Moves the country code and the check digits to the end of the number, and computes the remainder modulo 97. Letters
/// count as 10 to 35.
fn remainder_mod_97(rest: &[u8], country: &[u8], check: &[u8]) -> u32 {
    rest.iter().chain(country).chain(check).fold(0, |n, b| match b {
        b'0'..=b'9' => (n * 10 + u32::from(b - b'0')) % 97,
        _ => (n * 100 + u32::from(b.to_ascii_uppercase() - b'A') + 10) % 97,
    })
}
