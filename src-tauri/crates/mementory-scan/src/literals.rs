//! Every literal that makes a detector look closer, found in one pass over the text.
use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, Input, MatchKind};

use crate::context::bits;
use crate::word_lists::{number, password, secret};
use crate::{national, token_formats};

/// What a literal leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tag {
    /// A token of a known format may start here: index into `token_formats::FORMATS`.
    Token(usize),
    /// A private key may start here.
    PrivateKey,
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

/// What a literal leads to, and how it must appear in the text.
struct Literal {
    tag: Tag,
    /// Only in exactly this case: short acronyms that are ordinary words otherwise.
    exact_case: bool,
    /// Not within a longer word.
    whole_word: bool,
    /// The beginning of a word that may take an ending: `telefonnummeret`. Marked with a `*` in the lists.
    stem: bool,
}

/// The longest ending of a stem, in letters: `telefonnummeret`, `puhelinnumerossa`. `Telefonvertrag` is another word.
const MAX_ENDING: usize = 6;

/// Headers and schemes before a token. The space or colon is part of it: "bearer of news" is no header.
const BEARER: &[&str] = &["bearer ", "authorization: token ", "authorization: basic ", "x-api-key: ", "\"basic "];

const COMMANDS: &[&str] = &[
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

const PRIVATE_KEY_STARTS: [&str; 6] =
    ["-----BEGIN", "---- BEGIN SSH2", "AGE-SECRET-KEY-", "PuTTY-User-Key-File-", "xprv", "nsec1"];

/// The literals as the search takes them and, by the same index, what each leads to.
static TABLE: LazyLock<(Vec<String>, Vec<Literal>)> = LazyLock::new(|| {
    let mut table = (Vec::new(), Vec::new());
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut add = |text: &str, tag: Tag, exact_case: bool, whole_word: bool| {
        let stem = text.ends_with('*');
        let text = text.trim_end_matches('*');
        let at = *known.entry(text.to_ascii_lowercase()).or_insert(table.1.len());
        match (table.1.get_mut(at), tag) {
            // The same word may point to several kinds of number: combine their bits.
            (
                Some(Literal { tag: Tag::Context(old_bits), exact_case: old_exact, stem: old_stem, .. }),
                Tag::Context(new_bits),
            ) => {
                *old_bits |= new_bits;
                *old_exact &= exact_case;
                *old_stem |= stem;
            }
            (Some(_), _) => {}
            (None, _) => {
                table.0.push(text.to_string());
                table.1.push(Literal { tag, exact_case, whole_word, stem });
            }
        }
    };
    for (index, format) in token_formats::FORMATS.iter().enumerate() {
        for literal in format.literals() {
            add(&literal, Tag::Token(index), !format.is_name(), format.whole_word);
        }
    }
    PRIVATE_KEY_STARTS.iter().for_each(|literal| add(literal, Tag::PrivateKey, true, false));
    add("://", Tag::Url, false, false);
    BEARER.iter().for_each(|literal| add(literal, Tag::Bearer, false, true));
    COMMANDS.iter().for_each(|literal| add(literal, Tag::Command, false, true));
    password::NAMES.iter().for_each(|literal| add(literal, Tag::Password, false, false));
    secret::NAMES.iter().for_each(|literal| add(literal, Tag::Secret, false, false));
    for (list, bit) in [
        (number::PHONE, bits::PHONE),
        (number::CALL, bits::CALL),
        (number::CARD, bits::CARD),
        (number::OTHER, bits::OTHER),
        (number::EXAMPLE, bits::EXAMPLE),
    ] {
        list.iter().for_each(|literal| add(literal, Tag::Context(bit), false, true));
    }
    for (literal, mask, exact_case) in national::words() {
        add(literal, Tag::Context(mask), exact_case, true);
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

fn is_alphanumeric(byte: Option<&u8>) -> bool {
    byte.is_some_and(|b| b.is_ascii_alphanumeric())
}

/// Every literal in `text` that passes its boundary rules, in order and not overlapping. A match rejected by its
/// boundary rules does not suppress matches that start inside it: "n° de sécurité" contains the short form "n° de
/// sécu".
pub(crate) fn hits(text: &str) -> impl Iterator<Item = (Tag, usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let search = SEARCH.as_ref()?;
        while at < text.len() {
            let hit = search.find(Input::new(text).range(at..))?;
            let (start, end) = (hit.start(), hit.end());
            if let Some(tag) = tag_within_boundaries(text.as_bytes(), hit.pattern().as_usize(), start, end) {
                at = end;
                return Some((tag, start, end));
            }
            at = start + 1;
        }
        None
    })
}

/// What the literal at `start..end` leads to; `None` if its case or the characters around it do not fit.
fn tag_within_boundaries(bytes: &[u8], pattern: usize, start: usize, end: usize) -> Option<Tag> {
    let literal = TABLE.1.get(pattern)?;
    if literal.exact_case && TABLE.0.get(pattern)?.as_bytes() != &bytes[start..end] {
        return None;
    }
    if literal.whole_word {
        let first = bytes[start].is_ascii_alphanumeric();
        let before = start.checked_sub(1).and_then(|n| bytes.get(n));
        if first && is_alphanumeric(before) && !camel_boundary(bytes, start) {
            return None;
        }
        // `VHOST_SET_VRING_CALL`: a verb within a name in code does not introduce a telephone number.
        if matches!(literal.tag, Tag::Context(bits::CALL)) && before == Some(&b'_') {
            return None;
        }
        // What follows the prefix of a token is checked by its format; a context word must end here.
        let ends_in_letter = bytes[end - 1].is_ascii_alphabetic();
        let ending = bytes[end..].iter().take(MAX_ENDING + 1).take_while(|b| b.is_ascii_lowercase()).count();
        let allowed = if literal.stem { MAX_ENDING } else { 0 };
        if matches!(literal.tag, Tag::Context(_)) && ends_in_letter && ending > allowed {
            return None;
        }
        // `GSMIOC`: a word in capitals that continues.
        let all_caps = bytes[end - 1].is_ascii_uppercase() && bytes.get(end).is_some_and(u8::is_ascii_uppercase);
        if matches!(literal.tag, Tag::Context(_)) && all_caps {
            return None;
        }
    }
    Some(literal.tag)
}

/// Whether a new word of a camelCase name starts at `at`: `userPhone`, `customerSSN`.
fn camel_boundary(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase()
}
