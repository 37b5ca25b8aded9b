//! Generates national ids of states outside Europe, and lists all kinds of national ids.
use super::ids_europe as europe;
use super::ids_europe::{birth_date, digit_values, digits_text, weighted_sum};
use super::rng::Rng;
use super::validate;

pub fn cpf(rng: &mut Rng) -> String {
    let mut digits = rng.random_digits(9);
    for _ in 0..2 {
        let weights: Vec<u32> = (2..=digits.len() as u32 + 1).rev().collect();
        let rest = weighted_sum(&digits, &weights) % 11;
        digits.push(if rest < 2 { 0 } else { 11 - rest });
    }
    let all = digits_text(&digits);
    if rng.chance(75) { format!("{}.{}.{}-{}", &all[..3], &all[3..6], &all[6..9], &all[9..]) } else { all }
}

pub fn rut(rng: &mut Rng) -> String {
    let number = rng.range(5_000_000, 26_000_000).to_string();
    let sum: u32 = digit_values(&number).iter().rev().zip([2, 3, 4, 5, 6, 7].iter().cycle()).map(|(d, w)| d * w).sum();
    let check = match 11 - sum % 11 {
        11 => "0".to_owned(),
        10 => "K".to_owned(),
        n => n.to_string(),
    };
    if rng.chance(70) {
        let (million, rest) = number.split_at(number.len() - 6);
        format!("{million}.{}.{}-{check}", &rest[..3], &rest[3..])
    } else {
        format!("{number}-{check}")
    }
}

pub fn kimlik(rng: &mut Rng) -> String {
    let mut digits = rng.random_digits(9);
    digits[0] = rng.range(1, 9) as u32;
    let odd_sum: u32 = digits.iter().step_by(2).sum();
    let even: u32 = digits.iter().skip(1).step_by(2).sum();
    digits.push((odd_sum * 7 + 100 - even) % 10);
    digits.push(digits.iter().sum::<u32>() % 10);
    digits_text(&digits)
}

/// Indian Aadhaar number, with a check digit by the Verhoeff algorithm. The group products are calculated here instead
/// of being read from a table.
pub fn aadhaar(rng: &mut Rng) -> String {
    let mut digits = rng.random_digits(11);
    digits[0] = rng.range(2, 9) as u32;
    let sum = digits.iter().rev().enumerate().fold(0, |sum, (place, d)| multiply(sum, permute_digit(place + 1, *d)));
    // The check digit is the inverse of `sum` in the dihedral group. A reflection is its own inverse. The inverse of a
    // rotation is the rotation in the other direction.
    digits.push(if sum < 5 { (5 - sum) % 5 } else { sum });
    let all = digits_text(&digits);
    if rng.chance(75) { format!("{} {} {}", &all[..4], &all[4..8], &all[8..]) } else { all }
}

fn multiply(a: u32, b: u32) -> u32 {
    match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b) % 5 + 5,
        (false, true) => (a + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    }
}

fn permute_digit(times: usize, digit: u32) -> u32 {
    const PERMUTATION: [u32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    (0..times % 8).fold(digit, |d, _| PERMUTATION[d as usize])
}

pub fn resident(rng: &mut Rng) -> String {
    let (day, month, year) = birth_date(rng);
    let region = rng.pick(&["110105", "310104", "440305", "510107", "320102", "330106", "420106", "610113"]);
    let body = format!("{region}{year}{month:02}{day:02}{:03}", rng.range(1, 999));
    let sum = weighted_sum(&digit_values(&body), &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]);
    format!("{body}{}", char::from(b"10X98765432"[(sum % 11) as usize]))
}

pub fn my_number(rng: &mut Rng) -> String {
    let digits = rng.random_digits(11);
    let rest = weighted_sum(&digits, &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    let all = digits_text(&digits) + &(if rest < 2 { 0 } else { 11 - rest }).to_string();
    if rng.chance(50) { format!("{} {} {}", &all[..4], &all[4..8], &all[8..]) } else { all }
}

pub fn rrn(rng: &mut Rng) -> String {
    let (day, month, year) = birth_date(rng);
    let sex = rng.range(1, 2) + if year >= 2000 { 2 } else { 0 };
    let body = format!("{:02}{month:02}{day:02}{sex}{}", year % 100, rng.digits(5));
    let sum = weighted_sum(&digit_values(&body), &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
    format!("{}-{}{}", &body[..6], &body[6..], (11 - sum % 11) % 10)
}

pub fn sin(rng: &mut Rng) -> String {
    let eight = rng.pattern("[=1|2|3|4|5|6|7][dig:7]");
    let all = format!("{eight}{}", super::money::luhn_digit(&eight));
    match rng.below(3) {
        0 => all,
        1 => format!("{}-{}-{}", &all[..3], &all[3..6], &all[6..]),
        _ => format!("{} {} {}", &all[..3], &all[3..6], &all[6..]),
    }
}

/// American social security number. It has no check digit, but some blocks are never issued.
pub fn ssn(rng: &mut Rng) -> String {
    let area = match rng.range(1, 770) {
        666 => 665,
        n => n,
    };
    format!("{area:03}-{:02}-{:04}", rng.range(1, 99), rng.range(1, 9999))
}

/// Name of a kind of number, its generator and its validator.
pub type Kind = (&'static str, fn(&mut Rng) -> String, fn(&str) -> bool);

pub const KINDS: &[Kind] = &[
    ("dni", europe::dni, validate::is_valid_dni),
    ("nie", europe::nie, validate::is_valid_nie),
    ("cf", europe::codice_fiscale, validate::is_valid_codice_fiscale),
    ("nir", europe::nir, validate::is_valid_nir),
    ("steuer", europe::steuer_id, validate::is_valid_steuer_id),
    ("bsn", europe::bsn, validate::is_valid_bsn),
    ("nn", europe::rijksregister, validate::is_valid_rijksregister),
    ("pesel", europe::pesel, validate::is_valid_pesel),
    ("pnr", europe::personnummer, validate::is_valid_personnummer),
    ("hetu", europe::hetu, validate::is_valid_hetu),
    ("fnr", europe::fodselsnummer, validate::is_valid_fodselsnummer),
    ("nif", europe::nif, validate::is_valid_nif),
    ("ahv", europe::ahv, validate::is_valid_ahv),
    ("nhs", europe::nhs, validate::is_valid_nhs),
    ("cpf", cpf, validate::is_valid_cpf),
    ("rut", rut, validate::is_valid_rut),
    ("kimlik", kimlik, validate::is_valid_kimlik),
    ("aadhaar", aadhaar, validate::is_valid_aadhaar),
    ("resident", resident, validate::is_valid_resident),
    ("mynumber", my_number, validate::is_valid_my_number),
    ("rrn", rrn, validate::is_valid_rrn),
    ("sin", sin, validate::is_valid_sin),
    ("ssn", ssn, validate::is_valid_ssn),
];

pub fn kind_by_name(name: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.0 == name).unwrap_or_else(|| panic!("no kind {name}"))
}

/// A number with a wrong check digit that is not valid as any other kind of number either, because the scan would be
/// right to find it.
pub fn invalid_number(rng: &mut Rng, name: &str) -> String {
    let (_, make, _) = kind_by_name(name);
    loop {
        let mut text: Vec<char> = make(rng).chars().collect();
        let Some(place) = (0..text.len()).rev().find(|position| text[*position].is_alphanumeric()) else { continue };
        text[place] = if text[place].is_ascii_digit() {
            char::from_digit(rng.below(10) as u32, 10).expect("a digit")
        } else {
            char::from(b'A' + rng.below(26) as u8)
        };
        let text: String = text.into_iter().collect();
        if !KINDS.iter().any(|(kind, _, holds)| *kind != "ssn" && holds(&text)) {
            return text;
        }
    }
}
