//! Numbers of states outside of Europe.
use super::check::{begins_yymmdd, day_month, number, two, verhoeff, weighted};
use super::{Number, bare, free, marked};
use crate::card::luhn;
use crate::digits::Gap::{Dot, Hyphen, Space};

pub(super) const NUMBERS: &[Number] = &[
    Number {
        name: "us_ssn",
        words: &[
            "ssn",
            "social security",
            "social security number*",
            "social security no",
            "social security #",
            "social",
            "ssn#",
            "socialsecuritynumber",
            "social_security_number",
            "ssn_last",
            "itin",
            "tax id",
        ],
        acronyms: &["SSN", "ITIN"],
        forms: &[marked(&[3, 2, 4], &[Hyphen]), marked(&[3, 2, 4], &[Space]), bare(&[9]), marked(&[3, 2, 4], &[Dot])],
        // No check digit. Areas never given out, and the numbers of wallets and of documentation, are none.
        check: |d| {
            let area = number(&d[..3]);
            let itin = area >= 900 && matches!(two(d, 3), 50..=65 | 70..=88 | 90..=92 | 94..=99);
            let given = area != 0 && area != 666 && (area < 900 || itin) && two(d, 3) != 0 && number(&d[5..]) != 0;
            given && !matches!(number(d), 78_051_120 | 219_099_999 | 123_456_789 | 987_654_320..=987_654_329)
        },
    },
    Number {
        name: "ca_sin",
        words: &[
            "social insurance",
            "social insurance number*",
            "sin number",
            "numéro d'assurance sociale",
            "assurance sociale",
            "canadian sin",
            "sin #",
            "sin:",
            "\"sin\"",
            "sin is",
            "my sin",
            "nas:",
        ],
        acronyms: &["SIN", "NAS"],
        forms: &[bare(&[9]), marked(&[3, 3, 3], &[Space]), marked(&[3, 3, 3], &[Hyphen])],
        check: |d| d[0] != 0 && d[0] != 8 && luhn(d),
    },
    Number {
        name: "br_cpf",
        words: &["cpf", "cadastro de pessoas físicas", "nº cpf", "cpf nº"],
        acronyms: &[],
        forms: &[bare(&[11]), free(&[3, 3, 3, 2], &[Dot, Dot, Hyphen]), marked(&[9, 2], &[Hyphen])],
        check: |d| {
            let digit = |sum: u32| match sum * 10 % 11 {
                10 => 0,
                rest => rest,
            };
            digit(weighted(&d[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2])) == u32::from(d[9])
                && digit(weighted(&d[..10], &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2])) == u32::from(d[10])
        },
    },
    Number {
        name: "ar_cuit",
        words: &["cuit", "cuil", "cuit/cuil"],
        acronyms: &[],
        forms: &[bare(&[11]), marked(&[2, 8, 1], &[Hyphen])],
        check: |d| {
            let rest = 11 - weighted(&d[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
            matches!(two(d, 0), 20 | 23 | 24 | 25 | 26 | 27 | 30 | 33 | 34)
                && u32::from(d[10]) == if rest == 11 { 0 } else { rest }
        },
    },
    Number {
        name: "in_aadhaar",
        words: &["aadhaar", "aadhar", "adhaar", "uidai", "आधार", "aadhaar number*", "aadhaar no"],
        acronyms: &[],
        forms: &[bare(&[12]), marked(&[4, 4, 4], &[Space]), marked(&[4, 4, 4], &[Hyphen])],
        check: |d| d[0] >= 2 && verhoeff(d),
    },
    Number {
        name: "cn_resident_id",
        words: &[
            "身份证",
            "身份證",
            "居民身份证",
            "身份证号",
            "身份证号码",
            "resident id",
            "resident identity",
            "chinese id",
        ],
        acronyms: &[],
        forms: &[free(&[18], &[]), marked(&[6, 8, 4], &[Space])],
        check: |d| {
            let check = weighted(&d[..17], &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11;
            chinese(d) && (12 - check) % 11 == u32::from(d[17])
        },
    },
    Number {
        name: "jp_my_number",
        words: &["マイナンバー", "個人番号", "my number", "mynumber", "my_number", "individual number"],
        acronyms: &[],
        forms: &[bare(&[12]), marked(&[4, 4, 4], &[Space]), marked(&[4, 4, 4], &[Hyphen])],
        check: |d| {
            let rest = weighted(&d[..11], &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
            u32::from(d[11]) == if rest <= 1 { 0 } else { 11 - rest }
        },
    },
    Number {
        name: "kr_rrn",
        words: &[
            "주민등록번호",
            "주민번호",
            "resident registration",
            "resident registration number",
            "rrn",
            "korean rrn",
        ],
        acronyms: &["RRN"],
        forms: &[bare(&[13]), free(&[6, 7], &[Hyphen])],
        // Numbers given out since October 2020 have no check digit; the date and the digit for the century remain.
        check: |d| {
            let check = (11 - weighted(&d[..12], &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11) % 10;
            begins_yymmdd(d)
                && matches!(d[6], 1..=8)
                && (check == u32::from(d[12]) || two(d, 0) >= 20 && matches!(d[6], 3 | 4 | 7 | 8))
        },
    },
    Number {
        name: "za_id",
        words: &["south african id", "sa id", "rsa id", "id number", "sa id number", "said"],
        acronyms: &[],
        forms: &[bare(&[13]), marked(&[6, 4, 3], &[Space]), marked(&[6, 4, 2, 1], &[Space])],
        check: |d| begins_yymmdd(d) && d[10] <= 2 && luhn(d),
    },
    Number {
        name: "au_tfn",
        words: &["tax file number", "tfn"],
        acronyms: &[],
        forms: &[bare(&[9]), marked(&[3, 3, 3], &[Space])],
        check: |d| weighted(d, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11),
    },
    Number {
        name: "au_medicare",
        words: &["medicare", "medicare number", "medicare card"],
        acronyms: &[],
        forms: &[bare(&[10]), marked(&[4, 5, 1], &[Space])],
        check: |d| (2..=6).contains(&d[0]) && weighted(&d[..8], &[1, 3, 7, 9, 1, 3, 7, 9]) % 10 == u32::from(d[8]),
    },
    Number {
        name: "il_id",
        words: &["teudat zehut", "תעודת זהות", "ת.ז.", "ת\"ז", "מספר זהות", "israeli id"],
        acronyms: &[],
        forms: &[bare(&[9])],
        check: luhn,
    },
    Number {
        name: "th_id",
        words: &["เลขบัตรประชาชน", "เลขประจำตัวประชาชน", "thai id", "thai national id"],
        acronyms: &[],
        forms: &[bare(&[13]), free(&[1, 4, 5, 2, 1], &[Hyphen]), marked(&[1, 4, 5, 2, 1], &[Space])],
        check: |d| (11 - weighted(&d[..12], &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 10 == u32::from(d[12]),
    },
];

/// Date of birth and region of a Chinese number.
pub(super) fn chinese(digits: &[u8]) -> bool {
    let region = two(digits, 0);
    let year = two(digits, 6) * 100 + two(digits, 8);
    matches!(region, 11..=15 | 21..=23 | 31..=37 | 41..=46 | 50..=54 | 61..=65 | 71 | 81..=83 | 91)
        && (1900..=2029).contains(&year)
        && day_month(two(digits, 12), two(digits, 10))
}
