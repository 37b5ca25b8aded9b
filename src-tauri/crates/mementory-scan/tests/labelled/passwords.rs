//! Generates passwords such as people choose and password managers generate.
use super::rng::Rng;

const WORDS: &[&str] = &[
    "sommer",
    "winter",
    "fluffy",
    "drachen",
    "soleil",
    "verano",
    "tulipan",
    "borboleta",
    "pierogi",
    "sakura",
    "yildiz",
    "kettle",
    "harbour",
    "mokka",
    "gepard",
    "luciole",
    "naranja",
    "granchio",
    "moinho",
    "fietsbel",
    "smultron",
    "marmot",
    "pepper",
    "biscuit",
    "lighthouse",
    "waldmeister",
    "papillon",
    "cometa",
    "kolibri",
    "thistle",
];

fn random_word(rng: &mut Rng) -> String {
    let word = rng.pick(WORDS);
    if rng.chance(50) { capitalized(word) } else { word.to_owned() }
}

pub fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A password that a person might choose: a word with a year, a number or a sign.
pub fn weak_password(rng: &mut Rng) -> String {
    let word = random_word(rng);
    match rng.below(6) {
        0 => format!("{word}{}", rng.range(1962, 2025)),
        1 => format!("{word}{}!", rng.range(10, 2025)),
        2 => format!("{word}{}", rng.range(7, 999)),
        3 => format!("{word}_{}", rng.range(10, 99)),
        4 => format!("{}{word}", rng.range(10, 9999)),
        _ => format!("{}{}", word.replace('i', "1").replace('o', "0").replace('e', "3"), rng.range(10, 99)),
    }
}

/// A password like those of password managers: letters, digits and signs, with a letter or digit at both ends. It has
/// no quotes, brackets, commas, `$`, `#` or spaces, because people would disagree on where such a value ends.
pub fn strong_password(rng: &mut Rng) -> String {
    let half_len = rng.range(3, 8) as usize;
    let mark = rng.pattern("[=!|@|%|&|*|+|-|_|=|?|^|~]");
    let mark = if rng.chance(40) { mark + &rng.pattern("[=!|@|%|*|+|-|_|?|^]") } else { mark };
    let lead = rng.range(1, 5) as usize;
    let start = rng.random_text(super::rng::BASE62, lead) + &rng.pattern("[alpha:1]");
    format!("{start}{}{mark}{}{}", rng.pattern("[dig:1]"), rng.pattern("[b62:3]"), {
        let second_half = rng.random_text("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789!*+-_", half_len);
        second_half + &rng.pattern("[b62:2]")
    })
}

/// Two or three words and a number.
fn passphrase(rng: &mut Rng) -> String {
    let mut parts: Vec<String> = (0..rng.range(2, 3)).map(|_| random_word(rng)).collect();
    parts.push(rng.range(2, 99).to_string());
    parts.join(["-", ".", "_"][rng.below(3)])
}

pub fn any_password(rng: &mut Rng) -> String {
    match rng.below(10) {
        0..=4 => weak_password(rng),
        5..=8 => strong_password(rng),
        _ => passphrase(rng),
    }
}

/// A password of two joined words, for templates in which only a password can follow.
pub fn two_word_password(rng: &mut Rng) -> String {
    let (one, two) = (random_word(rng), rng.pick(WORDS));
    format!("{one}{two}")
}

/// A password as written in a URL, where some characters are percent-encoded.
pub fn password_for_url(rng: &mut Rng) -> String {
    match rng.below(4) {
        0 => rng.pattern("[b62:6]%[=40|23|21|2B][b62:5]"),
        1 => rng.pattern("[b62:4]_[b62:8]"),
        2 => weak_password(rng).replace('!', ""),
        _ => rng.pattern("[alpha:2][dig:2][b62:12]"),
    }
}
