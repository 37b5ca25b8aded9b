//! Personal numbers of states outside Europe.
use super::check::{begins_yymmdd, digits_as_number, has_verhoeff_check, is_day_of_month, two_digits, weighted_sum};
use super::{Number, distinctive_layout, separated_layout, unseparated_layout};
use crate::card::has_luhn_check;
use crate::digits::Gap::{Dot, Hyphen, Space};
use crate::word_lists::{national_id, national_id_acronyms};

pub(super) const WORLD_NUMBERS: &[Number] = &[
    Number {
        name: "us_ssn",
        words: national_id::US_SSN,
        acronyms: national_id_acronyms::US_SSN,
        layouts: &[
            separated_layout(&[3, 2, 4], &[Hyphen]),
            separated_layout(&[3, 2, 4], &[Space]),
            unseparated_layout(&[9]),
            separated_layout(&[3, 2, 4], &[Dot]),
        ],
        // An American number has no check digit, so areas that were never issued and numbers from advertising and
        // documentation are excluded.
        check: |d| {
            let area = digits_as_number(&d[..3]);
            let is_itin = area >= 900 && matches!(two_digits(d, 3), 50..=65 | 70..=88 | 90..=92 | 94..=99);
            let is_issued = area != 0
                && area != 666
                && (area < 900 || is_itin)
                && two_digits(d, 3) != 0
                && digits_as_number(&d[5..]) != 0;
            is_issued
                && !matches!(digits_as_number(d), 78_051_120 | 219_099_999 | 123_456_789 | 987_654_320..=987_654_329)
        },
    },
    Number {
        name: "ca_sin",
        words: national_id::CA_SIN,
        acronyms: national_id_acronyms::CA_SIN,
        layouts: &[
            unseparated_layout(&[9]),
            separated_layout(&[3, 3, 3], &[Space]),
            separated_layout(&[3, 3, 3], &[Hyphen]),
        ],
        check: |d| d[0] != 0 && d[0] != 8 && has_luhn_check(d),
    },
    Number {
        name: "br_cpf",
        words: national_id::BR_CPF,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[11]),
            distinctive_layout(&[3, 3, 3, 2], &[Dot, Dot, Hyphen]),
            separated_layout(&[9, 2], &[Hyphen]),
        ],
        check: |d| {
            let digit = |sum: u32| match sum * 10 % 11 {
                10 => 0,
                rest => rest,
            };
            digit(weighted_sum(&d[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2])) == u32::from(d[9])
                && digit(weighted_sum(&d[..10], &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2])) == u32::from(d[10])
        },
    },
    Number {
        name: "ar_cuit",
        words: national_id::AR_CUIT,
        acronyms: &[],
        layouts: &[unseparated_layout(&[11]), separated_layout(&[2, 8, 1], &[Hyphen])],
        check: |d| {
            let rest = 11 - weighted_sum(&d[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
            matches!(two_digits(d, 0), 20 | 23 | 24 | 25 | 26 | 27 | 30 | 33 | 34)
                && u32::from(d[10]) == if rest == 11 { 0 } else { rest }
        },
    },
    Number {
        name: "in_aadhaar",
        words: national_id::IN_AADHAAR,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[12]),
            separated_layout(&[4, 4, 4], &[Space]),
            separated_layout(&[4, 4, 4], &[Hyphen]),
        ],
        check: |d| d[0] >= 2 && has_verhoeff_check(d),
    },
    Number {
        name: "cn_resident_id",
        words: national_id::CN_RESIDENT_ID,
        acronyms: &[],
        layouts: &[distinctive_layout(&[18], &[]), separated_layout(&[6, 8, 4], &[Space])],
        check: |d| {
            let check = weighted_sum(&d[..17], &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11;
            has_chinese_region_and_date(d) && (12 - check) % 11 == u32::from(d[17])
        },
    },
    Number {
        name: "jp_my_number",
        words: national_id::JP_MY_NUMBER,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[12]),
            separated_layout(&[4, 4, 4], &[Space]),
            separated_layout(&[4, 4, 4], &[Hyphen]),
        ],
        check: |d| {
            let rest = weighted_sum(&d[..11], &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
            u32::from(d[11]) == if rest <= 1 { 0 } else { 11 - rest }
        },
    },
    Number {
        name: "kr_rrn",
        words: national_id::KR_RRN,
        acronyms: national_id_acronyms::KR_RRN,
        layouts: &[unseparated_layout(&[13]), distinctive_layout(&[6, 7], &[Hyphen])],
        // Numbers issued since October 2020 have no check digit, so only the date and the digit for the century are
        // checked for people born in or after 2020.
        check: |d| {
            let check = (11 - weighted_sum(&d[..12], &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11) % 10;
            begins_yymmdd(d)
                && matches!(d[6], 1..=8)
                && (check == u32::from(d[12]) || two_digits(d, 0) >= 20 && matches!(d[6], 3 | 4 | 7 | 8))
        },
    },
    Number {
        name: "za_id",
        words: national_id::ZA_ID,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[13]),
            separated_layout(&[6, 4, 3], &[Space]),
            separated_layout(&[6, 4, 2, 1], &[Space]),
        ],
        check: |d| begins_yymmdd(d) && d[10] <= 2 && has_luhn_check(d),
    },
    Number {
        name: "au_tfn",
        words: national_id::AU_TFN,
        acronyms: &[],
        layouts: &[unseparated_layout(&[9]), separated_layout(&[3, 3, 3], &[Space])],
        check: |d| weighted_sum(d, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11),
    },
    Number {
        name: "au_medicare",
        words: national_id::AU_MEDICARE,
        acronyms: &[],
        layouts: &[unseparated_layout(&[10]), separated_layout(&[4, 5, 1], &[Space])],
        check: |d| (2..=6).contains(&d[0]) && weighted_sum(&d[..8], &[1, 3, 7, 9, 1, 3, 7, 9]) % 10 == u32::from(d[8]),
    },
    Number {
        name: "il_id",
        words: national_id::IL_ID,
        acronyms: &[],
        layouts: &[unseparated_layout(&[9])],
        check: has_luhn_check,
    },
    Number {
        name: "th_id",
        words: national_id::TH_ID,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[13]),
            distinctive_layout(&[1, 4, 5, 2, 1], &[Hyphen]),
            separated_layout(&[1, 4, 5, 2, 1], &[Space]),
        ],
        check: |d| {
            (11 - weighted_sum(&d[..12], &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 10 == u32::from(d[12])
        },
    },
];

/// Whether region and date of birth of a Chinese number are valid.
pub(super) fn has_chinese_region_and_date(digits: &[u8]) -> bool {
    let region = two_digits(digits, 0);
    let year = two_digits(digits, 6) * 100 + two_digits(digits, 8);
    matches!(region, 11..=15 | 21..=23 | 31..=37 | 41..=46 | 50..=54 | 61..=65 | 71 | 81..=83 | 91)
        && (1900..=2029).contains(&year)
        && is_day_of_month(two_digits(digits, 12), two_digits(digits, 10))
}
