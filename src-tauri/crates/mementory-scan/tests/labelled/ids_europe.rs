//! Generates national ids of European states with valid check digits, according to their published descriptions.
use super::rng::Rng;

/// Day, month and year of birth, from 1945 to 2004. The day is at most 28, so that every date exists.
pub fn birth_date(rng: &mut Rng) -> (u32, u32, u32) {
    (rng.range(1, 28) as u32, rng.range(1, 12) as u32, rng.range(1945, 2004) as u32)
}

pub fn digits_text(digits: &[u32]) -> String {
    digits.iter().map(|d| char::from(b'0' + *d as u8)).collect()
}

pub fn digit_values(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

pub fn weighted_sum(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(d, w)| d * w).sum()
}

const DNI_LETTERS: &[u8] = b"TRWAGMYFPDXBNJZSQVHLCKE";

pub fn dni(rng: &mut Rng) -> String {
    let number = rng.range(10_000_000, 99_999_999);
    let letter = char::from(DNI_LETTERS[(number % 23) as usize]);
    match rng.below(4) {
        0 => format!("{number}-{letter}"),
        _ => format!("{number}{letter}"),
    }
}

pub fn nie(rng: &mut Rng) -> String {
    let (lead, number) = (rng.below(3), rng.range(0, 9_999_999));
    let letter = char::from(DNI_LETTERS[((lead as u64 * 10_000_000 + number) % 23) as usize]);
    let lead = ["X", "Y", "Z"][lead];
    if rng.chance(25) { format!("{lead}-{number:07}-{letter}") } else { format!("{lead}{number:07}{letter}") }
}

/// Italian codice fiscale: six consonants, date of birth, place, and a check letter that is computed with two tables.
pub fn codice_fiscale(rng: &mut Rng) -> String {
    const ODD_POSITION_VALUES: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let (day, month, year) = birth_date(rng);
    let day = day + if rng.chance(50) { 40 } else { 0 };
    let month = char::from(b"ABCDEHLMPRST"[month as usize - 1]);
    let place = rng.pick(&["H501", "F205", "F839", "L219", "A944", "D612", "G273", "L736", "B354"]);
    let names = rng.random_text("BCDFGLMNPRSTVZ", 6);
    let code = format!("{names}{:02}{month}{day:02}{place}", year % 100);
    let sum: u32 = (code.chars().enumerate())
        .map(|(index, c)| {
            let value = if c.is_ascii_digit() { c as u32 - 48 } else { c as u32 - 65 };
            if index % 2 == 0 { ODD_POSITION_VALUES[value as usize] } else { value }
        })
        .sum();
    format!("{code}{}", char::from(b'A' + (sum % 26) as u8))
}

/// French social security number. For the check digits, the Corsican departments 2A and 2B count as 19 and 18.
pub fn nir(rng: &mut Rng) -> String {
    let (_, month, year) = birth_date(rng);
    let sex = rng.range(1, 2);
    let department = if rng.chance(6) {
        rng.pick(&["2A", "2B"]).to_owned()
    } else {
        // Department 20 no longer exists; it was Corsica before it was divided.
        match rng.range(1, 94) {
            20 => "75".to_owned(),
            n => format!("{n:02}"),
        }
    };
    let (commune, order) = (rng.range(1, 600), rng.range(1, 800));
    let number_in_department = |dep: &str| format!("{sex}{:02}{month:02}{dep}{commune:03}{order:03}", year % 100);
    let number_for_check: u64 =
        number_in_department(&department.replace("2A", "19").replace("2B", "18")).parse().expect("digits");
    let key = 97 - number_for_check % 97;
    if rng.chance(60) {
        format!("{sex} {:02} {month:02} {department} {commune:03} {order:03} {key:02}", year % 100)
    } else {
        format!("{}{key:02}", number_in_department(&department))
    }
}

/// German tax number. Among the first ten digits, one digit occurs twice and another does not occur. The check digit
/// follows ISO 7064 mod 11,10.
pub fn steuer_id(rng: &mut Rng) -> String {
    let mut ten: Vec<u32> = (0..10).collect();
    rng.shuffle(&mut ten);
    let (from, to) = (rng.below(9), 9);
    ten[to] = ten[from];
    if ten[0] == 0 {
        // The first digit must not be 0, so it is swapped with another digit.
        let other = ten.iter().position(|d| *d != 0).expect("nine digits are not 0");
        ten.swap(0, other);
    }
    let product = ten.iter().fold(10, |product, digit| {
        let sum = (digit + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    let all = digits_text(&ten) + &((11 - product) % 10).to_string();
    if rng.chance(50) { format!("{} {} {} {}", &all[..2], &all[2..5], &all[5..8], &all[8..]) } else { all }
}

pub fn bsn(rng: &mut Rng) -> String {
    loop {
        let mut digits = rng.random_digits(8);
        digits[0] = rng.range(1, 9) as u32;
        let check = weighted_sum(&digits, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
        if check < 10 {
            digits.push(check);
            let all = digits_text(&digits);
            return if rng.chance(25) { format!("{}.{}.{}", &all[..4], &all[4..6], &all[6..]) } else { all };
        }
    }
}

/// Belgian national number. The check digits are 97 minus the remainder modulo 97. For births in or after 2000, the
/// remainder is computed with a 2 in front of the number.
pub fn rijksregister(rng: &mut Rng) -> String {
    let (day, month, year) = birth_date(rng);
    let order = rng.range(1, 997);
    let nine = format!("{:02}{month:02}{day:02}{order:03}", year % 100);
    let number_for_check: u64 = if year >= 2000 { format!("2{nine}") } else { nine.clone() }.parse().expect("digits");
    let check = 97 - number_for_check % 97;
    if rng.chance(70) {
        format!("{:02}.{month:02}.{day:02}-{order:03}.{check:02}", year % 100)
    } else {
        format!("{nine}{check:02}")
    }
}

/// Polish PESEL. The month also encodes the century.
pub fn pesel(rng: &mut Rng) -> String {
    let (day, month, year) = birth_date(rng);
    let month = month + if year >= 2000 { 20 } else { 0 };
    let ten = format!("{:02}{month:02}{day:02}{}", year % 100, rng.digits(4));
    let sum = weighted_sum(&digit_values(&ten), &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    format!("{ten}{}", (10 - sum % 10) % 10)
}

pub fn personnummer(rng: &mut Rng) -> String {
    let (day, month, year) = birth_date(rng);
    let nine = format!("{:02}{month:02}{day:02}{:03}", year % 100, rng.range(1, 999));
    let check = super::money::luhn_digit(&nine);
    let century = if rng.chance(60) { (year / 100).to_string() } else { String::new() };
    format!("{century}{}-{}{check}", &nine[..6], &nine[6..])
}

pub fn hetu(rng: &mut Rng) -> String {
    let (day, month, year) = birth_date(rng);
    let number = rng.range(2, 899);
    let birth = format!("{day:02}{month:02}{:02}", year % 100);
    let sign = if year >= 2000 { 'A' } else { '-' };
    let number_for_check: u64 = format!("{birth}{number:03}").parse().expect("digits");
    let check = char::from(b"0123456789ABCDEFHJKLMNPRSTUVWXY"[(number_for_check % 31) as usize]);
    format!("{birth}{sign}{number:03}{check}")
}

/// Norwegian number with two check digits (mod 11). The serial number also encodes the century.
pub fn fodselsnummer(rng: &mut Rng) -> String {
    let (day, month, year) = birth_date(rng);
    loop {
        let order = if year >= 2000 { rng.range(500, 999) } else { rng.range(0, 499) };
        let mut digits = digit_values(&format!("{day:02}{month:02}{:02}{order:03}", year % 100));
        let first = (11 - weighted_sum(&digits, &[3, 7, 6, 1, 8, 9, 4, 5, 2]) % 11) % 11;
        digits.push(first);
        let second = (11 - weighted_sum(&digits, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11;
        digits.push(second);
        if first < 10 && second < 10 {
            let all = digits_text(&digits);
            return if rng.chance(50) { format!("{} {}", &all[..6], &all[6..]) } else { all };
        }
    }
}

pub fn nif(rng: &mut Rng) -> String {
    // Numbers of people begin with a digit from 1 to 3, those of companies with any other digit.
    let mut digits = rng.random_digits(8);
    digits[0] = rng.range(1, 3) as u32;
    let rest = weighted_sum(&digits, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    digits.push(if rest < 2 { 0 } else { 11 - rest });
    let all = digits_text(&digits);
    if rng.chance(50) { format!("{} {} {}", &all[..3], &all[3..6], &all[6..]) } else { all }
}

pub fn ahv(rng: &mut Rng) -> String {
    let all = format!("756{}", rng.digits(9));
    let sum = weighted_sum(&digit_values(&all), &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]);
    let check = (10 - sum % 10) % 10;
    if rng.chance(80) {
        format!("756.{}.{}.{}{check}", &all[3..7], &all[7..11], &all[11..])
    } else {
        format!("{all}{check}")
    }
}

pub fn nhs(rng: &mut Rng) -> String {
    loop {
        let mut digits = rng.random_digits(9);
        digits[0] = [4, 6, 7][rng.below(3)];
        let check = (11 - weighted_sum(&digits, &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11;
        if check < 10 {
            digits.push(check);
            let all = digits_text(&digits);
            return if rng.chance(70) { format!("{} {} {}", &all[..3], &all[3..6], &all[6..]) } else { all };
        }
    }
}
