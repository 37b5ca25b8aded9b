//! Every literal that starts a closer look, found in one pass over the text.
use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, Input, MatchKind};

use crate::context::bits;
use crate::context_words::{CALL, CARD, EXAMPLE, OTHER, PHONE};
use crate::{national, password_words, token_formats};

/// What a literal leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tag {
    /// A key of a known shape may start here: index into `token_formats::SHAPES`.
    Shape(usize),
    /// A private key may start here.
    Private,
    /// `://`: credentials may follow.
    Url,
    /// A credential of an HTTP header may follow.
    Bearer,
    /// A name such as key, token or secret.
    Secret,
    /// A name such as password, in any language.
    Password,
    /// A program that takes a password as an option.
    Command,
    /// A word that says what a number near it is.
    Context(u64),
}

/// A literal and how it must stand in the text.
struct Word {
    tag: Tag,
    /// In exactly this case: short acronyms that are words of some language otherwise.
    exact: bool,
    /// Not within a longer word.
    alone: bool,
    /// The beginning of words: an ending may follow, `telefonnummeret`. Written with a `*` in the lists.
    stem: bool,
}

/// The longest ending of a stem, in letters: `telefonnummeret`, `puhelinnumerossa`. `Telefonvertrag` is another word.
const ENDING: usize = 6;

const SECRET: &[&str] = &[
    "key",
    "token",
    "secret",
    "credential",
    "auth",
    "jwt",
    "schlüssel",
    "clave",
    "llave",
    "chave",
    "clé",
    "jeton",
    "chiave",
    "sleutel",
    "klucz",
    "klíč",
    "kľúč",
    "ključ",
    "kulcs",
    "cheie",
    "cheia",
    "kunci",
    "ключ",
    "Ключ",
    "токен",
    "Токен",
    "κλειδί",
    "Κλειδί",
    "密钥",
    "密鑰",
    "金鑰",
    "秘钥",
    "令牌",
    "キー",
    "トークン",
    "키",
    "토큰",
    "nyckel",
    "nøgle",
    "nøkkel",
    "avain",
    "avaime",
    "anahtar",
    "مفتاح",
    "מפתח",
    "कुंजी",
];

/// Headers and schemes before a token. The space or colon is part of it: "bearer of news" is none.
const BEARER: &[&str] = &["bearer ", "authorization: token ", "authorization: basic ", "x-api-key: ", "\"basic "];

const COMMAND: &[&str] = &[
    "sshpass -p",
    "mysql ",
    "mysqldump ",
    "mysqladmin ",
    "mariadb ",
    "curl ",
    "docker login ",
    "redis-cli ",
    "wget ",
    "identified by ",
];

static TABLE: LazyLock<(Vec<String>, Vec<Word>)> = LazyLock::new(|| {
    let mut table = (Vec::new(), Vec::new());
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut add = |literal: &str, tag: Tag, exact: bool, alone: bool| {
        let stem = literal.ends_with('*');
        let literal = literal.trim_end_matches('*');
        let at = *known.entry(literal.to_ascii_lowercase()).or_insert(table.1.len());
        match (table.1.get_mut(at), tag) {
            // The same word may speak for several things; a later one adds its bits.
            (Some(Word { tag: Tag::Context(old), exact: kept, stem: also, .. }), Tag::Context(new)) => {
                *old |= new;
                *kept &= exact;
                *also |= stem;
            }
            (Some(_), _) => {}
            (None, _) => {
                table.0.push(literal.to_string());
                table.1.push(Word { tag, exact, alone, stem });
            }
        }
    };
    for (index, shape) in token_formats::SHAPES.iter().enumerate() {
        for literal in shape.literals() {
            add(&literal, Tag::Shape(index), !shape.is_name(), shape.alone);
        }
    }
    for literal in ["-----BEGIN", "---- BEGIN SSH2", "AGE-SECRET-KEY-", "PuTTY-User-Key-File-", "xprv", "nsec1"] {
        add(literal, Tag::Private, true, false);
    }
    add("://", Tag::Url, false, false);
    BEARER.iter().for_each(|literal| add(literal, Tag::Bearer, false, true));
    COMMAND.iter().for_each(|literal| add(literal, Tag::Command, false, true));
    password_words::NAMES.iter().for_each(|literal| add(literal, Tag::Password, false, false));
    SECRET.iter().for_each(|literal| add(literal, Tag::Secret, false, false));
    for (list, bit) in
        [(PHONE, bits::PHONE), (CALL, bits::CALL), (CARD, bits::CARD), (OTHER, bits::OTHER), (EXAMPLE, bits::EXAMPLE)]
    {
        list.iter().for_each(|literal| add(literal, Tag::Context(bit), false, true));
    }
    for (literal, mask, exact) in national::words() {
        add(literal, Tag::Context(mask), exact, true);
    }
    table
});

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(&TABLE.0)
        .ok()
});

/// Whether a byte belongs to a word of ASCII letters and digits, or to a letter of another script.
fn letter(byte: Option<&u8>) -> bool {
    byte.is_some_and(|b| b.is_ascii_alphanumeric())
}

/// Every literal in `text` that stands as it must, in order, not overlapping. One that does not stand as it must
/// hides none that begins inside it: "n° de sécurité" holds the short form "n° de sécu".
pub(crate) fn hits(text: &str) -> impl Iterator<Item = (Tag, usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let search = SEARCH.as_ref()?;
        while at < text.len() {
            let hit = search.find(Input::new(text).range(at..))?;
            let (start, end) = (hit.start(), hit.end());
            if let Some(tag) = standing(text.as_bytes(), hit.pattern().as_usize(), start, end) {
                at = end;
                return Some((tag, start, end));
            }
            at = start + 1;
        }
        None
    })
}

/// What the literal found at `start..end` leads to, if it stands as it must.
fn standing(bytes: &[u8], pattern: usize, start: usize, end: usize) -> Option<Tag> {
    let word = TABLE.1.get(pattern)?;
    if word.exact && TABLE.0.get(pattern)?.as_bytes() != &bytes[start..end] {
        return None;
    }
    if word.alone {
        let first = bytes[start].is_ascii_alphanumeric();
        let before = start.checked_sub(1).and_then(|n| bytes.get(n));
        if first && letter(before) && !hump(bytes, start) {
            return None;
        }
        // `VHOST_SET_VRING_CALL`: a verb within a name of code asks for no telephone.
        if matches!(word.tag, Tag::Context(bits::CALL)) && before == Some(&b'_') {
            return None;
        }
        // What follows a prefix is checked by its shape; a word must end.
        let last = bytes[end - 1].is_ascii_alphabetic();
        let ending = bytes[end..].iter().take(ENDING + 1).take_while(|b| b.is_ascii_lowercase()).count();
        let most = if word.stem { ENDING } else { 0 };
        if matches!(word.tag, Tag::Context(_)) && last && ending > most {
            return None;
        }
        // `GSMIOC`: capitals that go on.
        let shout = bytes[end - 1].is_ascii_uppercase() && bytes.get(end).is_some_and(u8::is_ascii_uppercase);
        if matches!(word.tag, Tag::Context(_)) && shout {
            return None;
        }
    }
    Some(word.tag)
}

/// Whether a new word of a camelCase name starts at `at`: `userPhone`, `customerSSN`.
fn hump(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase()
}
