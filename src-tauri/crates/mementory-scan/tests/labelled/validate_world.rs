//! Independent checks of numbers of states outside the European Union, and of access keys.

fn digits(text: &str) -> Vec<u64> {
    text.bytes().filter(u8::is_ascii_digit).map(|b| u64::from(b - b'0')).collect()
}

pub fn is_valid_ahv(text: &str) -> bool {
    let all_digits = digits(text);
    let sum_of_weight_3: u64 = all_digits.iter().skip(1).step_by(2).sum();
    let once: u64 = all_digits.iter().step_by(2).sum();
    all_digits.len() == 13 && all_digits[..3] == [7, 5, 6] && (sum_of_weight_3 * 3 + once).is_multiple_of(10)
}

pub fn is_valid_nhs(text: &str) -> bool {
    let all_digits = digits(text);
    all_digits.len() == 10 && all_digits.iter().rev().zip(1..).map(|(d, w)| d * w).sum::<u64>() % 11 == 0
}

pub fn is_valid_cpf(text: &str) -> bool {
    let all_digits = digits(text);
    // Each of the two check digits is computed from the digits before it, which have the weights 9, 8, 7 … from right
    // to left. The check digit is the weighted sum of these digits modulo 11, or 0 if the remainder is 10.
    let is_right = |n: usize| {
        let sum: u64 = all_digits[..n].iter().rev().zip((0..10).rev()).map(|(d, w)| d * w).sum();
        sum % 11 % 10 == all_digits[n]
    };
    all_digits.len() == 11 && is_right(9) && is_right(10)
}

pub fn is_valid_rut(text: &str) -> bool {
    let Some((body, check)) = text.split_once('-') else { return false };
    let mut sum = 1;
    for (place, digit) in digits(body).iter().rev().enumerate() {
        sum = (sum + digit * (9 - place as u64 % 6)) % 11;
    }
    let expected_check = if sum == 0 { "K".to_owned() } else { (sum - 1).to_string() };
    (7..=8).contains(&digits(body).len()) && check == expected_check
}

pub fn is_valid_kimlik(text: &str) -> bool {
    let d = digits(text);
    if d.len() != 11 || d[0] == 0 {
        return false;
    }
    let odd = d[0] + d[2] + d[4] + d[6] + d[8];
    let even = d[1] + d[3] + d[5] + d[7];
    // This formulation of the rule is equivalent to the one in the generator. For the tenth digit, the digits in odd
    // positions have the weight 7, and the digits in even positions have the weight 9. For the eleventh digit, the
    // digits in odd positions have the weight 8.
    (odd * 7 + even * 9) % 10 == d[9] && odd * 8 % 10 == d[10]
}

/// Whether the check digit is right. This uses the published tables of the Verhoeff algorithm.
pub fn is_valid_aadhaar(text: &str) -> bool {
    const PRODUCTS: [&[u8; 10]; 10] = [
        b"0123456789",
        b"1234067895",
        b"2340178956",
        b"3401289567",
        b"4012395678",
        b"5987604321",
        b"6598710432",
        b"7659821043",
        b"8765932104",
        b"9876543210",
    ];
    const PERMUTATIONS: [&[u8; 10]; 8] = [
        b"0123456789",
        b"1576283094",
        b"5803796142",
        b"8916043527",
        b"9453126870",
        b"4286573901",
        b"2793806415",
        b"7046913258",
    ];
    let all_digits = digits(text);
    let check = all_digits.iter().rev().enumerate().fold(0usize, |check, (place, d)| {
        let moved = usize::from(PERMUTATIONS[place % 8][*d as usize] - b'0');
        usize::from(PRODUCTS[check][moved] - b'0')
    });
    all_digits.len() == 12 && all_digits[0] > 1 && check == 0
}

pub fn is_valid_resident(text: &str) -> bool {
    // ISO 7064 mod 11-2, computed digit by digit with a running state. X means ten.
    let state = text.chars().fold(0, |state, c| {
        let value = if c == 'X' { 10 } else { c.to_digit(10).unwrap_or(99) };
        (state * 2 + value) % 11
    });
    text.len() == 18 && text.bytes().take(17).all(|b| b.is_ascii_digit()) && state == 1
}

pub fn is_valid_my_number(text: &str) -> bool {
    let all_digits = digits(text);
    let sum: u64 =
        (all_digits.iter().rev().skip(1).zip(1..)).map(|(d, n)| d * if n <= 6 { n + 1 } else { n - 5 }).sum();
    let check = match sum % 11 {
        0 | 1 => 0,
        rest => 11 - rest,
    };
    all_digits.len() == 12 && all_digits[11] == check
}

pub fn is_valid_rrn(text: &str) -> bool {
    let all_digits = digits(text);
    let sum: u64 = all_digits.iter().take(12).enumerate().map(|(i, d)| d * (2 + i as u64 % 8)).sum();
    // The sum including the check digit is divisible by 11, except for the check digits 11 and 10, which are written as
    // 1 and 0; the remainder is then 1.
    all_digits.len() == 13 && text.as_bytes()[6] == b'-' && (sum + all_digits[12]) % 11 == u64::from(sum % 11 < 2)
}

pub fn is_valid_sin(text: &str) -> bool {
    digits(text).len() == 9 && digits(text)[0] > 0 && super::validate::is_valid_luhn(text)
}

pub fn is_valid_ssn(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [area, group, serial] = parts[..] else { return false };
    (area.len(), group.len(), serial.len()) == (3, 2, 4)
        && area != "000"
        && area != "666"
        && area < "900"
        && group != "00"
        && serial != "0000"
}

/// Whether GitHub's checksum is right: the last six characters must be the CRC-32 of the thirty characters before them,
/// in base 62.
pub fn is_valid_github(text: &str) -> bool {
    let Some((_, body)) = text.split_once('_').filter(|(_, body)| body.len() == 36) else { return false };
    let (random, tail) = body.split_at(30);
    let value = tail.bytes().try_fold(0u64, |sum, b| {
        let place = super::rng::BASE62.bytes().position(|known| known == b)?;
        Some(sum * 62 + place as u64)
    });
    value == Some(u64::from(crc32_with_table(random)))
}

/// CRC-32, computed with a table. The generator computes it bit by bit instead.
fn crc32_with_table(text: &str) -> u32 {
    let table: Vec<u32> =
        (0..256u32).map(|n| (0..8).fold(n, |c, _| if c % 2 == 1 { 0xedb8_8320 ^ (c / 2) } else { c / 2 })).collect();
    !text.bytes().fold(!0u32, |crc, b| table[((crc ^ u32::from(b)) & 255) as usize] ^ (crc >> 8))
}
