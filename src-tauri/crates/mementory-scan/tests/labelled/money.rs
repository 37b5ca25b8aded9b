//! Generates cards and IBANs with valid check digits.
use super::rng::Rng;

/// First digits and lengths of the card numbers of issuers whose number ranges are well known.
const CARD_PATTERNS: &[(&str, usize)] = &[
    ("4", 16),
    ("4", 16),
    ("[=51|52|53|54|55]", 16),
    ("[=51|52|53|54|55]", 16),
    ("2[=3|4|5|6]", 16), // within Mastercard's 2221–2720
    ("[=34|37]", 15),
    ("[=6011|644|65]", 16),
    ("3[=6|8]", 14),
    ("35[=3|4|5|6|7]", 16), // within JCB's 3528–3589
    ("62[=2|3|4|5]", 16),
];

/// Test numbers from the documentation of payment providers.
const SAMPLE_CARDS: &[&str] = &["4242424242424242", "4111111111111111", "5555555555554444", "378282246310005"];

pub fn card(rng: &mut Rng) -> String {
    let (lead, length) = CARD_PATTERNS[rng.below(CARD_PATTERNS.len())];
    let mut number = rng.pattern(lead);
    number += &rng.digits(length - 1 - number.len());
    let check = luhn_digit(&number);
    number.push(char::from(b'0' + check));
    with_card_groups(rng, &number)
}

/// A number that looks like a card number, but has a wrong check digit.
pub fn invalid_card(rng: &mut Rng) -> String {
    let mut number = rng.pattern("[=4|51|55|37][dig:13]");
    number.truncate(15);
    let check = (luhn_digit(&number) + 1 + rng.below(9) as u8) % 10;
    number.push(char::from(b'0' + check));
    match rng.below(3) {
        0 => number,
        1 => groups_of_four(&number, " "),
        _ => groups_of_four(&number, "-"),
    }
}

pub fn sample_card(rng: &mut Rng) -> String {
    let number = rng.pick(SAMPLE_CARDS);
    with_card_groups(rng, number)
}

/// The Luhn check digit of a number.
pub fn luhn_digit(number: &str) -> u8 {
    let sum: u32 = (number.bytes().rev().enumerate())
        .map(|(place, b)| {
            let digit = u32::from(b - b'0') * if place % 2 == 0 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    ((10 - sum % 10) % 10) as u8
}

fn groups_of_four(number: &str, separator: &str) -> String {
    let parts: Vec<_> = number.as_bytes().chunks(4).map(|part| String::from_utf8_lossy(part).into_owned()).collect();
    parts.join(separator)
}

/// The number in groups as on the card, in groups with hyphens, or without separators.
fn with_card_groups(rng: &mut Rng, number: &str) -> String {
    let separator = [" ", " ", "-", ""][rng.below(4)];
    match number.len() {
        15 => [&number[..4], &number[4..10], &number[10..]].join(separator),
        14 => [&number[..4], &number[4..10], &number[10..]].join(separator),
        _ => groups_of_four(number, separator),
    }
}

/// Countries, each with the pattern of its IBANs after the check digits (ISO 13616 registry).
pub const IBANS: &[(&str, &str)] = &[
    ("DE", "[d19:1][dig:17]"),
    ("DE", "[d19:1][dig:17]"),
    ("AT", "[dig:16]"),
    ("CH", "[dig:5][=0|1][dig:11]"),
    ("FR", "[dig:10][up:11][dig:2]"),
    ("GB", "[LET:4][dig:14]"),
    ("IE", "[LET:4][dig:14]"),
    ("NL", "[=INGB|ABNA|RABO|TRIO][dig:10]"),
    ("BE", "[dig:12]"),
    ("LU", "[dig:3][dig:13]"),
    ("ES", "[dig:20]"),
    ("PT", "[dig:21]"),
    ("IT", "[LET:1][dig:10][dig:12]"),
    ("PL", "[dig:24]"),
    ("CZ", "[dig:20]"),
    ("SK", "[dig:20]"),
    ("HU", "[dig:24]"),
    ("RO", "[LET:4][up:16]"),
    ("BG", "[LET:4][dig:6][up:8]"),
    ("GR", "[dig:7][dig:16]"),
    ("HR", "[dig:17]"),
    ("SI", "[dig:15]"),
    ("DK", "[dig:14]"),
    ("SE", "[dig:20]"),
    ("NO", "[dig:11]"),
    ("FI", "[dig:14]"),
    ("EE", "[dig:16]"),
    ("LV", "[LET:4][up:13]"),
    ("LT", "[dig:16]"),
    ("TR", "[dig:5]0[dig:16]"),
    ("AE", "[dig:19]"),
    ("MT", "[LET:4][dig:5][up:18]"),
    ("CY", "[dig:8][dig:16]"),
];

/// An IBAN in groups of four or without spaces.
pub fn iban(rng: &mut Rng) -> String {
    let (country, pattern) = IBANS[rng.below(IBANS.len())];
    let account = rng.pattern(pattern);
    let check = 98 - remainder(&format!("{account}{country}00"));
    iban_in_random_form(rng, &format!("{country}{check:02}{account}"))
}

/// An IBAN with wrong check digits.
pub fn invalid_iban(rng: &mut Rng) -> String {
    let (country, pattern) = IBANS[rng.below(IBANS.len())];
    let account = rng.pattern(pattern);
    let check = 98 - remainder(&format!("{account}{country}00"));
    let wrong_check = (check + 7 + rng.below(60) as u32) % 97 + 2;
    // Check digits that differ from the right ones by 97 would also be valid, but both numbers are between 2 and 98.
    let wrong_check = if wrong_check == check { (check + 1) % 97 + 2 } else { wrong_check };
    iban_in_random_form(rng, &format!("{country}{wrong_check:02}{account}"))
}

fn iban_in_random_form(rng: &mut Rng, iban: &str) -> String {
    if rng.chance(55) { groups_of_four(iban, " ") } else { iban.to_owned() }
}

/// Remainder modulo 97 (ISO 7064). Letters count as 10 to 35.
fn remainder(text: &str) -> u32 {
    text.chars().fold(0, |rest, c| {
        let value = c.to_digit(36).expect("letters and digits");
        (if value > 9 { rest * 100 } else { rest * 10 } + value) % 97
    })
}
