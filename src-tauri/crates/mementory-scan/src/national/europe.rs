//! Numbers of European states, each by the rule its office published.
use super::check::{begins_ddmmyy, begins_yymmdd, day_month, mod_11_10, number, two, weighted};
use super::{Number, bare, free, marked};
use crate::card::luhn;
use crate::digits::Gap::{Dot, Hyphen, Slash, Space};

pub(super) const NUMBERS: &[Number] = &[
    Number {
        name: "de_steuer_id",
        words: &[
            "steuer-id",
            "steuer id",
            "steuerid",
            "steuer-identifikationsnummer",
            "steueridentifikationsnummer*",
            "steuerliche identifikationsnummer",
            "identifikationsnummer*",
            "idnr",
            "steuer-idnr",
            "steuernummer*",
            "german tax id",
            "tax id",
            "tax identification number",
            "steuer_id",
            "tax_id",
        ],
        acronyms: &["TIN", "IdNr"],
        forms: &[bare(&[11]), marked(&[2, 3, 3, 3], &[Space])],
        check: |d| d[0] != 0 && mod_11_10(d) && repeats(d),
    },
    Number {
        name: "fr_nir",
        words: &[
            "numéro de sécurité sociale",
            "numero de securite sociale",
            "sécurité sociale",
            "securite sociale",
            "numéro de sécu",
            "n° de sécu",
            "n° de sécurité sociale",
            "no sécu",
            "nº sécu",
            "n° sécu",
            "french social security",
            "social security number",
            "carte vitale",
            "nir",
            "numéro ss",
            "insee",
        ],
        acronyms: &["NIR", "INSEE", "NSS"],
        forms: &[
            bare(&[15]),
            bare(&[13, 2]),
            free(&[1, 2, 2, 2, 3, 3, 2], &[Space]),
            free(&[1, 2, 2, 2, 3, 3, 2], &[Hyphen]),
            free(&[1, 2, 2, 2, 3, 3, 2], &[Dot]),
            free(&[1, 2, 2, 5, 3, 2], &[Space]),
        ],
        check: |d| {
            matches!(d[0], 1..=4 | 7 | 8)
                && matches!(two(d, 3), 1..=12 | 20..=42 | 50..=99)
                && 97 - number(&d[..13]) % 97 == number(&d[13..])
        },
    },
    Number {
        name: "nl_bsn",
        words: &[
            "bsn",
            "burgerservicenummer*",
            "bsn-nummer*",
            "sofinummer*",
            "sofi-nummer",
            "sofi",
            "citizen service number*",
            "dutch bsn",
        ],
        acronyms: &[],
        forms: &[
            bare(&[9]),
            marked(&[4, 2, 3], &[Dot]),
            marked(&[3, 3, 3], &[Space]),
            marked(&[3, 3, 3], &[Dot]),
            marked(&[4, 2, 3], &[Space]),
            marked(&[3, 2, 4], &[Space]),
        ],
        check: |d| (i64::from(weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2])) - i64::from(d[8])) % 11 == 0,
    },
    Number {
        name: "be_national_number",
        words: &[
            "rijksregisternummer*",
            "rijksregister",
            "numéro national",
            "numero national",
            "registre national",
            "numéro de registre national",
            "national register number",
            "national number*",
            "insz",
            "niss",
            "rrn",
            "nationaal nummer",
            "belgian national number",
        ],
        acronyms: &["INSZ", "NISS"],
        forms: &[
            bare(&[11]),
            free(&[2, 2, 2, 3, 2], &[Dot, Dot, Hyphen, Dot]),
            free(&[2, 2, 2, 3, 2], &[Dot, Dot, Hyphen, Hyphen]),
            marked(&[6, 3, 2], &[Hyphen]),
            marked(&[6, 3, 2], &[Space]),
            marked(&[2, 2, 2, 3, 2], &[Space]),
        ],
        check: |d| {
            two(d, 2) <= 12
                && two(d, 4) <= 31
                && (97 - number(&d[..9]) % 97 == number(&d[9..])
                    || 97 - (2_000_000_000 + number(&d[..9])) % 97 == number(&d[9..]))
        },
    },
    Number {
        name: "pl_pesel",
        words: &["pesel*", "nr pesel", "numer pesel"],
        acronyms: &[],
        forms: &[bare(&[11])],
        check: |d| {
            day_month(two(d, 4), two(d, 2) % 20) && weighted(d, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]).is_multiple_of(10)
        },
    },
    Number {
        name: "se_personnummer",
        words: &[
            "personnummer*",
            "personnr",
            "pnr",
            "samordningsnummer*",
            "swedish personal number",
            "personal identity number",
            "personnumre*",
            "samordningsnumre*",
        ],
        acronyms: &[],
        forms: &[
            bare(&[10]),
            bare(&[12]),
            free(&[6, 4], &[Hyphen]),
            free(&[8, 4], &[Hyphen]),
            marked(&[6, 4], &[Space]),
            marked(&[8, 4], &[Space]),
        ],
        check: |d| {
            let short = if d.len() == 12 { &d[2..] } else { d };
            let day = two(short, 4);
            let century = d.len() == 10 || matches!(two(d, 0), 18..=20);
            century && day_month(if day > 60 { day - 60 } else { day }, two(short, 2)) && luhn(short)
        },
    },
    Number {
        name: "no_fodselsnummer",
        words: &[
            "fødselsnummer*",
            "fodselsnummer*",
            "fødselsnr",
            "fødselsnumre*",
            "fodselsnumre*",
            "fnr",
            "personnummer*",
            "d-nummer*",
            "norwegian national id",
            "birth number*",
        ],
        acronyms: &[],
        forms: &[bare(&[11]), marked(&[6, 5], &[Space]), marked(&[6, 5], &[Hyphen])],
        check: |d| {
            let day = two(d, 0);
            day_month(if day > 40 { day - 40 } else { day }, two(d, 2) % 40)
                && weighted(d, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]).is_multiple_of(11)
                && weighted(d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
        },
    },
    Number {
        name: "dk_cpr",
        words: &[
            "cpr",
            "cpr-nummer*",
            "cpr-nr",
            "cpr nr",
            "cprnr",
            "cpr-nr.",
            "cpr nummer*",
            "cpr number",
            "personnummer*",
            "danish cpr",
        ],
        acronyms: &[],
        forms: &[bare(&[10]), marked(&[6, 4], &[Hyphen]), marked(&[6, 4], &[Space])],
        check: |d| begins_ddmmyy(d),
    },
    Number {
        name: "uk_nhs_number",
        words: &["nhs", "nhs number*", "nhs no", "nhs_number", "nhs no."],
        acronyms: &[],
        forms: &[bare(&[10]), marked(&[3, 3, 4], &[Space]), marked(&[3, 3, 4], &[Hyphen])],
        check: |d| weighted(d, &[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11),
    },
    Number {
        name: "pt_nif",
        words: &[
            "nif",
            "número de identificação fiscal",
            "numero de identificacao fiscal",
            "contribuinte",
            "número de contribuinte",
            "nº contribuinte",
            "portuguese tax number",
            "tax id",
            "tax number*",
            "nº de contribuinte",
        ],
        acronyms: &["NIF", "NIPC"],
        forms: &[bare(&[9]), marked(&[3, 3, 3], &[Space])],
        check: |d| {
            let rest = weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
            matches!(d[0], 1..=3 | 5 | 6 | 8 | 9) && u32::from(d[8]) == if rest < 2 { 0 } else { 11 - rest }
        },
    },
    Number {
        name: "tr_kimlik",
        words: &[
            "tc kimlik",
            "t.c. kimlik",
            "kimlik",
            "kimlik no",
            "tckn",
            "tc no",
            "tc kimlik no",
            "turkish id",
            "turkish identity number",
            "kimlik numara*",
            "tc kimlik numara*",
        ],
        acronyms: &["TCKN", "TC", "T.C."],
        forms: &[bare(&[11]), marked(&[3, 3, 3, 2], &[Space])],
        check: |d| {
            let odd: u32 = d[..9].iter().step_by(2).map(|n| u32::from(*n)).sum();
            let even: u32 = d[1..8].iter().step_by(2).map(|n| u32::from(*n)).sum();
            let all: u32 = d[..10].iter().map(|n| u32::from(*n)).sum();
            d[0] != 0 && (odd * 7 + 90 - even) % 10 == u32::from(d[9]) && all % 10 == u32::from(d[10])
        },
    },
    Number {
        name: "ch_ahv",
        words: &[
            "ahv",
            "ahv-nummer*",
            "ahv-nr",
            "ahvn13",
            "numéro avs",
            "avs",
            "numero avs",
            "sozialversicherungsnummer*",
            "ahv nummer*",
            "oasi",
            "ahv nr",
            "swiss social security",
        ],
        acronyms: &["AHV", "AVS"],
        forms: &[free(&[3, 4, 4, 2], &[Dot]), free(&[3, 4, 4, 2], &[Space]), free(&[13], &[])],
        check: |d| number(&d[..3]) == 756 && weighted(d, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]).is_multiple_of(10),
    },
    Number {
        name: "cz_rodne_cislo",
        words: &[
            "rodné číslo",
            "rodne cislo",
            "rodného čísla",
            "rodným číslem",
            "rodným číslom",
            "r.č.",
            "rč",
            "birth number*",
        ],
        acronyms: &[],
        forms: &[bare(&[10]), marked(&[6, 4], &[Slash])],
        check: |d| {
            let month = two(d, 2);
            day_month(two(d, 4), month % 50 % 20) && number(d).is_multiple_of(11)
        },
    },
    Number {
        name: "ro_cnp",
        words: &["cnp", "cod numeric personal", "codul numeric personal"],
        acronyms: &[],
        forms: &[bare(&[13])],
        check: |d| {
            let rest = weighted(&d[..12], &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
            d[0] != 0 && begins_yymmdd(&d[1..]) && u32::from(d[12]) == if rest == 10 { 1 } else { rest }
        },
    },
    Number {
        name: "hr_oib",
        words: &["oib", "osobni identifikacijski broj*"],
        acronyms: &[],
        forms: &[bare(&[11])],
        check: mod_11_10,
    },
    Number {
        name: "bg_egn",
        words: &["егн", "ЕГН", "egn"],
        acronyms: &[],
        forms: &[bare(&[10])],
        check: |d| {
            day_month(two(d, 4), two(d, 2) % 20)
                && weighted(&d[..9], &[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == u32::from(d[9])
        },
    },
    Number {
        name: "gr_amka",
        words: &["αμκα", "ΑΜΚΑ", "amka"],
        acronyms: &[],
        forms: &[bare(&[11])],
        check: |d| begins_ddmmyy(d) && luhn(d),
    },
    Number {
        name: "at_svnr",
        words: &["sozialversicherungsnummer*", "svnr", "sv-nummer", "sv-nr", "versicherungsnummer*"],
        acronyms: &["SVNR"],
        forms: &[bare(&[10]), marked(&[4, 6], &[Space])],
        check: |d| {
            let sum = weighted(d, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]);
            d[0] != 0 && two(d, 4) <= 31 && sum % 11 == u32::from(d[3])
        },
    },
    Number {
        name: "baltic_personal_code",
        words: &["isikukood*", "asmens kodas", "personas kods", "personas kodu", "personal code", "asmens kodą"],
        acronyms: &[],
        forms: &[bare(&[11])],
        check: |d| {
            let first = weighted(&d[..10], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
            let second = weighted(&d[..10], &[3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11 % 10;
            matches!(d[0], 1..=8)
                && begins_yymmdd(&d[1..])
                && u32::from(d[10]) == if first < 10 { first } else { second }
        },
    },
    Number {
        name: "ru_snils",
        words: &["снилс", "СНИЛС", "snils"],
        acronyms: &[],
        forms: &[bare(&[11]), marked(&[3, 3, 3, 2], &[Hyphen, Hyphen, Space]), marked(&[3, 3, 3, 2], &[Hyphen])],
        check: |d| {
            let sum = weighted(&d[..9], &[9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101;
            (if sum == 100 { 0 } else { sum }) == two(d, 9)
        },
    },
    Number {
        name: "ru_inn",
        words: &["инн", "ИНН"],
        acronyms: &[],
        forms: &[bare(&[12])],
        check: |d| {
            let first = weighted(&d[..10], &[7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
            let second = weighted(&d[..11], &[3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
            first == u32::from(d[10]) && second == u32::from(d[11])
        },
    },
    Number {
        name: "is_kennitala",
        words: &["kennitala", "kennitalan", "kt."],
        acronyms: &[],
        forms: &[bare(&[10]), marked(&[6, 4], &[Hyphen])],
        check: |d| begins_ddmmyy(d) && weighted(d, &[3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11),
    },
];

/// In a German number one of the first ten digits stands two or three times, and not all ten differ.
fn repeats(digits: &[u8]) -> bool {
    let most = (0..10).map(|digit| digits[..10].iter().filter(|d| **d == digit).count()).max().unwrap_or(0);
    (2..=3).contains(&most)
}
