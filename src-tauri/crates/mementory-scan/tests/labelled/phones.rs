//! Generates telephone numbers by country. `~0~` is the trunk zero, which is dialled within the country and left out
//! after the country code. The ranges are real. Numbers reserved for films and service numbers (0800, 112) are left
//! out.
use super::rng::Rng;

type Country = (&'static str, &'static str, &'static [&'static str]);

pub const COUNTRIES: &[Country] = &[
    (
        "gb",
        "44",
        &[
            "~0~7[=4|5|7|8|9][dig:2] [d29:1][dig:5]",
            "~0~20 [=7|8][d29:1][dig:2] [dig:4]",
            "~0~161 [=2|8][dig:2] [dig:4]",
        ],
    ),
    (
        "us",
        "1",
        &[
            "([=212|312|415|617|206|503|720]) [=2|3|4|6|7|8][=2|3|4|6|7][dig:1]-[dig:4]",
            "[=212|312|415|617]-[=2|3|4|6|7][=2|3|4|6|7][dig:1]-[dig:4]",
        ],
    ),
    (
        "ca",
        "1",
        &[
            "([=416|604|514|403|613]) [=2|3|4|6|7|8][=2|3|4|6|7][dig:1]-[dig:4]",
            "[=416|604|514].[=2|3|4|6|7][=2|3|4|6|7][dig:1].[dig:4]",
        ],
    ),
    ("ie", "353", &["~0~8[=5|6|7] [d29:1][dig:2] [dig:4]", "~0~1 [=4|6|8][dig:2] [dig:4]"]),
    ("au", "61", &["~0~4[=0|1|2|3][dig:1] [dig:3] [dig:3]", "~0~2 9[=2|3|6|8][dig:2] [dig:4]"]),
    ("nz", "64", &["~0~21 [d29:1][dig:2] [dig:4]", "~0~27 [d29:1][dig:2] [dig:4]"]),
    ("in", "91", &["[=98|99|97|88][d29:1][dig:2] [dig:5]"]),
    ("za", "27", &["~0~8[=2|3|4] [d29:1][dig:2] [dig:4]"]),
    ("sg", "65", &["[=8|9][=1|2|3|4|6|7][dig:2] [dig:4]"]),
    (
        "de",
        "49",
        &[
            "~0~1[=51|52|60|70|71|72|75|76] [d29:1][dig:6]",
            "~0~1[=57|62|73|79]/[d29:1][dig:6]",
            "~0~30 [d29:1][dig:6]",
            "~0~221 [d29:1][dig:5]",
            "~0~89 [d29:1][dig:2] [dig:2] [dig:2]",
        ],
    ),
    ("at", "43", &["~0~6[=60|64|76|99] [d29:1][dig:6]", "~0~1 [d29:1][dig:2] [dig:2] [dig:2]"]),
    ("ch", "41", &["~0~7[=6|7|8|9] [d29:1][dig:2] [dig:2] [dig:2]", "~0~44 [d29:1][dig:2] [dig:2] [dig:2]"]),
    (
        "es",
        "34",
        &[
            "6[d29:1][dig:1] [dig:3] [dig:3]",
            "6[d29:1][dig:1] [dig:2] [dig:2] [dig:2]",
            "91 [=3|4|5|7][dig:2] [dig:2] [dig:2]",
        ],
    ),
    ("mx", "52", &["55 [d29:1][dig:3] [dig:4]", "33 [d29:1][dig:3] [dig:4]"]),
    ("ar", "54", &["11 [=4|5|6][d29:1][dig:2]-[dig:4]"]),
    ("cl", "56", &["9 [=5|6|7|8][d29:1][dig:2] [dig:4]"]),
    ("co", "57", &["3[=00|01|10|15|20] [d29:1][dig:2] [dig:4]"]),
    (
        "fr",
        "33",
        &[
            "~0~6 [d19:1][dig:1] [dig:2] [dig:2] [dig:2]",
            "~0~7 [=5|6|7|8][dig:1] [dig:2] [dig:2] [dig:2]",
            "~0~1 4[d29:1] [dig:2] [dig:2] [dig:2]",
            "~0~6.[d19:1][dig:1].[dig:2].[dig:2].[dig:2]",
        ],
    ),
    ("be", "32", &["~0~4[=70|75|85|95] [d29:1][dig:1] [dig:2] [dig:2]", "~0~2 [=5|6|7][dig:2] [dig:2] [dig:2]"]),
    (
        "it",
        "39",
        &[
            "3[=20|28|33|35|40|47|49] [d29:1][dig:2] [dig:4]",
            "3[=20|28|33|35|40|47|49] [d29:1][dig:6]",
            "02 [d29:1][dig:3] [dig:4]",
        ],
    ),
    ("pt", "351", &["9[=1|2|3|6][d29:1] [dig:3] [dig:3]", "21[=3|4|7|8] [dig:3] [dig:3]"]),
    ("br", "55", &["([=11|21|31|41|51|71]) 9[=6|7|8|9][dig:3]-[dig:4]"]),
    ("nl", "31", &["~0~6 [=1|2|3|4|5][dig:7]", "~0~6-[=1|2|3|4|5][dig:7]", "~0~20 [=3|4|5|6][dig:2] [dig:4]"]),
    (
        "pl",
        "48",
        &[
            "[=501|505|512|600|601|602|660|665|692|722|785|788|880] [dig:3] [dig:3]",
            "22 [=6|8][d29:1][dig:1] [dig:2] [dig:2]",
        ],
    ),
    ("se", "46", &["~0~7[=0|2|3|6]-[d29:1][dig:2] [dig:2] [dig:2]", "~0~8-[=5|6|7][d29:1][dig:1] [dig:3] [dig:2]"]),
    ("fi", "358", &["~0~40 [d29:1][dig:2] [dig:4]", "~0~50 [d29:1][dig:2] [dig:4]"]),
    ("no", "47", &["9[d29:1][dig:1] [dig:2] [dig:3]", "4[=0|1|5|6|7][dig:1] [dig:2] [dig:3]"]),
    ("dk", "45", &["[=20|22|26|28|31|40|42|50|51|60|61] [d29:1][dig:1] [dig:2] [dig:2]"]),
    ("jp", "81", &["~0~[=70|80|90]-[d29:1][dig:3]-[dig:4]", "~0~3-[=3|5|6][d29:1][dig:2]-[dig:4]"]),
    ("cn", "86", &["1[=38|39|50|58|59|36|86|88][dig:8]", "1[=38|39|50|58|59|36|86|88] [dig:4] [dig:4]"]),
    (
        "tr",
        "90",
        &[
            "~0~5[=32|33|35|42|43|44|52|55] [d29:1][dig:2] [dig:2] [dig:2]",
            "~0~212 [=2|3|6][d29:1][dig:1] [dig:2] [dig:2]",
        ],
    ),
    ("kr", "82", &["~0~10-[d29:1][dig:3]-[dig:4]"]),
];

fn country_by_code(code: &str) -> &'static Country {
    COUNTRIES.iter().find(|c| c.0 == code).unwrap_or_else(|| panic!("no country {code}"))
}

/// A number as dialled within the country. Only the words around it show that it is a telephone number.
pub fn national_number(rng: &mut Rng, code: &str) -> String {
    let pattern = rng.pick(country_by_code(code).2);
    rng.pattern(pattern).replace('~', "")
}

/// A number with `+` or `00` and the country code. Some have no spaces, and some have the `(0)` used on letterheads.
pub fn international_number(rng: &mut Rng, code: &str) -> String {
    let (_, dial, patterns) = country_by_code(code);
    let pattern = rng.pick(patterns);
    let written = rng.pattern(pattern);
    let has_trunk_zero = written.contains("~0~") && rng.chance(8) && matches!(code, "de" | "gb" | "ch" | "at");
    let rest = written.replace("~0~", if has_trunk_zero { "(0)" } else { "" });
    let lead = if rng.chance(7) && code != "us" && code != "ca" { "00" } else { "+" };
    if rng.chance(25) && !has_trunk_zero {
        let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
        format!("+{dial}{digits}")
    } else if dial == &"1" || code == "br" {
        format!("{lead}{dial} {rest}")
    } else {
        format!("{lead}{dial} {}", rest.replace(['(', ')'], if has_trunk_zero { "\u{0}" } else { "" }))
            .replace("\u{0}0\u{0}", "(0)")
    }
}

/// A number of any country with `+` and the country code, for templates without a word for a telephone number.
pub fn number_of_any_country(rng: &mut Rng) -> String {
    let code = COUNTRIES[rng.below(COUNTRIES.len())].0;
    loop {
        let number = international_number(rng, code);
        if number.starts_with('+') {
            return number;
        }
    }
}
