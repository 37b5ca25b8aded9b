//! Personal numbers of European states, each with the check that the issuing authority publishes.
use super::check::{
    begins_ddmmyy, begins_yymmdd, digits_as_number, has_mod_11_10_check, is_day_of_month, two_digits, weighted_sum,
};
use super::{Number, distinctive_layout, separated_layout, unseparated_layout};
use crate::card::has_luhn_check;
use crate::digits::Gap::{Dot, Hyphen, Slash, Space};
use crate::word_lists::{national_id, national_id_acronyms};

pub(super) const EUROPEAN_NUMBERS: &[Number] = &[
    Number {
        name: "de_steuer_id",
        words: national_id::DE_STEUER_ID,
        acronyms: national_id_acronyms::DE_STEUER_ID,
        layouts: &[unseparated_layout(&[11]), separated_layout(&[2, 3, 3, 3], &[Space])],
        check: |d| d[0] != 0 && has_mod_11_10_check(d) && has_repeated_digit(d),
    },
    Number {
        name: "fr_nir",
        words: national_id::FR_NIR,
        acronyms: national_id_acronyms::FR_NIR,
        layouts: &[
            unseparated_layout(&[15]),
            unseparated_layout(&[13, 2]),
            distinctive_layout(&[1, 2, 2, 2, 3, 3, 2], &[Space]),
            distinctive_layout(&[1, 2, 2, 2, 3, 3, 2], &[Hyphen]),
            distinctive_layout(&[1, 2, 2, 2, 3, 3, 2], &[Dot]),
            distinctive_layout(&[1, 2, 2, 5, 3, 2], &[Space]),
        ],
        check: |d| {
            matches!(d[0], 1..=4 | 7 | 8)
                && matches!(two_digits(d, 3), 1..=12 | 20..=42 | 50..=99)
                && 97 - digits_as_number(&d[..13]) % 97 == digits_as_number(&d[13..])
        },
    },
    Number {
        name: "nl_bsn",
        words: national_id::NL_BSN,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[9]),
            separated_layout(&[4, 2, 3], &[Dot]),
            separated_layout(&[3, 3, 3], &[Space]),
            separated_layout(&[3, 3, 3], &[Dot]),
            separated_layout(&[4, 2, 3], &[Space]),
            separated_layout(&[3, 2, 4], &[Space]),
        ],
        check: |d| (i64::from(weighted_sum(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2])) - i64::from(d[8])) % 11 == 0,
    },
    Number {
        name: "be_national_number",
        words: national_id::BE_NATIONAL_NUMBER,
        acronyms: national_id_acronyms::BE_NATIONAL_NUMBER,
        layouts: &[
            unseparated_layout(&[11]),
            distinctive_layout(&[2, 2, 2, 3, 2], &[Dot, Dot, Hyphen, Dot]),
            distinctive_layout(&[2, 2, 2, 3, 2], &[Dot, Dot, Hyphen, Hyphen]),
            separated_layout(&[6, 3, 2], &[Hyphen]),
            separated_layout(&[6, 3, 2], &[Space]),
            separated_layout(&[2, 2, 2, 3, 2], &[Space]),
        ],
        check: |d| {
            two_digits(d, 2) <= 12
                && two_digits(d, 4) <= 31
                && (97 - digits_as_number(&d[..9]) % 97 == digits_as_number(&d[9..])
                    || 97 - (2_000_000_000 + digits_as_number(&d[..9])) % 97 == digits_as_number(&d[9..]))
        },
    },
    Number {
        name: "pl_pesel",
        words: national_id::PL_PESEL,
        acronyms: &[],
        layouts: &[unseparated_layout(&[11])],
        check: |d| {
            is_day_of_month(two_digits(d, 4), two_digits(d, 2) % 20)
                && weighted_sum(d, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]).is_multiple_of(10)
        },
    },
    Number {
        name: "se_personnummer",
        words: national_id::SE_PERSONNUMMER,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[10]),
            unseparated_layout(&[12]),
            distinctive_layout(&[6, 4], &[Hyphen]),
            distinctive_layout(&[8, 4], &[Hyphen]),
            separated_layout(&[6, 4], &[Space]),
            separated_layout(&[8, 4], &[Space]),
        ],
        check: |d| {
            let ten_digits = if d.len() == 12 { &d[2..] } else { d };
            let day = two_digits(ten_digits, 4);
            let has_valid_century = d.len() == 10 || matches!(two_digits(d, 0), 18..=20);
            has_valid_century
                && is_day_of_month(if day > 60 { day - 60 } else { day }, two_digits(ten_digits, 2))
                && has_luhn_check(ten_digits)
        },
    },
    Number {
        name: "no_fodselsnummer",
        words: national_id::NO_FODSELSNUMMER,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[11]),
            separated_layout(&[6, 5], &[Space]),
            separated_layout(&[6, 5], &[Hyphen]),
        ],
        check: |d| {
            let day = two_digits(d, 0);
            is_day_of_month(if day > 40 { day - 40 } else { day }, two_digits(d, 2) % 40)
                && weighted_sum(d, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]).is_multiple_of(11)
                && weighted_sum(d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
        },
    },
    Number {
        name: "dk_cpr",
        words: national_id::DK_CPR,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[10]),
            separated_layout(&[6, 4], &[Hyphen]),
            separated_layout(&[6, 4], &[Space]),
        ],
        check: |d| begins_ddmmyy(d),
    },
    Number {
        name: "uk_nhs_number",
        words: national_id::UK_NHS_NUMBER,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[10]),
            separated_layout(&[3, 3, 4], &[Space]),
            separated_layout(&[3, 3, 4], &[Hyphen]),
        ],
        check: |d| weighted_sum(d, &[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11),
    },
    Number {
        name: "pt_nif",
        words: national_id::PT_NIF,
        acronyms: national_id_acronyms::PT_NIF,
        layouts: &[unseparated_layout(&[9]), separated_layout(&[3, 3, 3], &[Space])],
        check: |d| {
            let rest = weighted_sum(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
            matches!(d[0], 1..=3 | 5 | 6 | 8 | 9) && u32::from(d[8]) == if rest < 2 { 0 } else { 11 - rest }
        },
    },
    Number {
        name: "tr_kimlik",
        words: national_id::TR_KIMLIK,
        acronyms: national_id_acronyms::TR_KIMLIK,
        layouts: &[unseparated_layout(&[11]), separated_layout(&[3, 3, 3, 2], &[Space])],
        check: |d| {
            let odd: u32 = d[..9].iter().step_by(2).map(|n| u32::from(*n)).sum();
            let even: u32 = d[1..8].iter().step_by(2).map(|n| u32::from(*n)).sum();
            let all: u32 = d[..10].iter().map(|n| u32::from(*n)).sum();
            d[0] != 0 && (odd * 7 + 90 - even) % 10 == u32::from(d[9]) && all % 10 == u32::from(d[10])
        },
    },
    Number {
        name: "ch_ahv",
        words: national_id::CH_AHV,
        acronyms: national_id_acronyms::CH_AHV,
        layouts: &[
            distinctive_layout(&[3, 4, 4, 2], &[Dot]),
            distinctive_layout(&[3, 4, 4, 2], &[Space]),
            distinctive_layout(&[13], &[]),
        ],
        check: |d| {
            digits_as_number(&d[..3]) == 756
                && weighted_sum(d, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]).is_multiple_of(10)
        },
    },
    Number {
        name: "cz_rodne_cislo",
        words: national_id::CZ_RODNE_CISLO,
        acronyms: &[],
        layouts: &[unseparated_layout(&[10]), separated_layout(&[6, 4], &[Slash])],
        check: |d| {
            let month = two_digits(d, 2);
            is_day_of_month(two_digits(d, 4), month % 50 % 20) && digits_as_number(d).is_multiple_of(11)
        },
    },
    Number {
        name: "ro_cnp",
        words: national_id::RO_CNP,
        acronyms: &[],
        layouts: &[unseparated_layout(&[13])],
        check: |d| {
            let rest = weighted_sum(&d[..12], &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
            d[0] != 0 && begins_yymmdd(&d[1..]) && u32::from(d[12]) == if rest == 10 { 1 } else { rest }
        },
    },
    Number {
        name: "hr_oib",
        words: national_id::HR_OIB,
        acronyms: &[],
        layouts: &[unseparated_layout(&[11])],
        check: has_mod_11_10_check,
    },
    Number {
        name: "bg_egn",
        words: national_id::BG_EGN,
        acronyms: &[],
        layouts: &[unseparated_layout(&[10])],
        check: |d| {
            is_day_of_month(two_digits(d, 4), two_digits(d, 2) % 20)
                && weighted_sum(&d[..9], &[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == u32::from(d[9])
        },
    },
    Number {
        name: "gr_amka",
        words: national_id::GR_AMKA,
        acronyms: &[],
        layouts: &[unseparated_layout(&[11])],
        check: |d| begins_ddmmyy(d) && has_luhn_check(d),
    },
    Number {
        name: "at_svnr",
        words: national_id::AT_SVNR,
        acronyms: national_id_acronyms::AT_SVNR,
        layouts: &[unseparated_layout(&[10]), separated_layout(&[4, 6], &[Space])],
        check: |d| {
            let sum = weighted_sum(d, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]);
            d[0] != 0 && two_digits(d, 4) <= 31 && sum % 11 == u32::from(d[3])
        },
    },
    Number {
        name: "baltic_personal_code",
        words: national_id::BALTIC_PERSONAL_CODE,
        acronyms: &[],
        layouts: &[unseparated_layout(&[11])],
        check: |d| {
            let first = weighted_sum(&d[..10], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
            let second = weighted_sum(&d[..10], &[3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11 % 10;
            matches!(d[0], 1..=8)
                && begins_yymmdd(&d[1..])
                && u32::from(d[10]) == if first < 10 { first } else { second }
        },
    },
    Number {
        name: "ru_snils",
        words: national_id::RU_SNILS,
        acronyms: &[],
        layouts: &[
            unseparated_layout(&[11]),
            separated_layout(&[3, 3, 3, 2], &[Hyphen, Hyphen, Space]),
            separated_layout(&[3, 3, 3, 2], &[Hyphen]),
        ],
        check: |d| {
            let sum = weighted_sum(&d[..9], &[9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101;
            (if sum == 100 { 0 } else { sum }) == two_digits(d, 9)
        },
    },
    Number {
        name: "ru_inn",
        words: national_id::RU_INN,
        acronyms: &[],
        layouts: &[unseparated_layout(&[12])],
        check: |d| {
            let first = weighted_sum(&d[..10], &[7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
            let second = weighted_sum(&d[..11], &[3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
            first == u32::from(d[10]) && second == u32::from(d[11])
        },
    },
    Number {
        name: "is_kennitala",
        words: national_id::IS_KENNITALA,
        acronyms: &[],
        layouts: &[unseparated_layout(&[10]), separated_layout(&[6, 4], &[Hyphen])],
        check: |d| begins_ddmmyy(d) && weighted_sum(d, &[3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11),
    },
];

/// Whether the most frequent of the first ten digits occurs two or three times, as in every German tax number.
fn has_repeated_digit(digits: &[u8]) -> bool {
    let max_count = (0..10).map(|digit| digits[..10].iter().filter(|d| **d == digit).count()).max().unwrap_or(0);
    (2..=3).contains(&max_count)
}
