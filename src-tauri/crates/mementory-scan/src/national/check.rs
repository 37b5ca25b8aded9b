//! Check digits and dates.

/// The sum of the digits multiplied by their weights.
pub(super) fn weighted_sum(digits: &[u8], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| u32::from(*digit) * weight).sum()
}

pub(super) fn digits_as_number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |n, digit| n * 10 + u64::from(*digit))
}

/// The two digits at `position` as a single number.
pub(super) fn two_digits(digits: &[u8], position: usize) -> u32 {
    u32::from(digits[position]) * 10 + u32::from(digits[position + 1])
}

/// Whether the month has this day in at least some years.
pub(super) fn is_day_of_month(day: u32, month: u32) -> bool {
    let days = match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Whether the digits start with a date `yymmdd`.
pub(super) fn begins_yymmdd(digits: &[u8]) -> bool {
    is_day_of_month(two_digits(digits, 4), two_digits(digits, 2))
}

/// Whether the digits start with a date `ddmmyy`.
pub(super) fn begins_ddmmyy(digits: &[u8]) -> bool {
    is_day_of_month(two_digits(digits, 0), two_digits(digits, 2))
}

/// Whether the check digit of Verhoeff's algorithm is right. The algorithm calculates in the dihedral group of order
/// 10.
pub(super) fn has_verhoeff_check(digits: &[u8]) -> bool {
    let multiply = |a: u8, b: u8| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - 5 + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    };
    const PERMUTATION: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let check = digits.iter().rev().enumerate().fold(0, |check, (place, digit)| {
        let permuted = (0..place % 8).fold(*digit, |digit, _| PERMUTATION[usize::from(digit)]);
        multiply(check, permuted)
    });
    check == 0
}

/// Whether the check digit of ISO 7064, mod 11,10, is right.
pub(super) fn has_mod_11_10_check(digits: &[u8]) -> bool {
    let Some((last, head)) = digits.split_last() else { return false };
    let product = head.iter().fold(10, |product, digit| {
        let sum = (product + u32::from(*digit)) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == u32::from(*last)
}
