//! Finds all literals in one pass: the fixed strings that trigger a detector or serve as context words.
use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, Anchored, Input, MatchKind, StartKind};

use crate::context::bits;
use crate::prefix_filter::PrefixFilter;
use crate::word_lists::{number, password, secret};
use crate::{national, token_formats};

/// What a literal indicates.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LiteralKind {
    /// A token of a known format may start here. The value is its index in `token_formats::TOKEN_FORMATS`.
    Token(usize),
    /// A private key may start here.
    PrivateKey,
    /// `://`. A URL with a password in it may follow.
    Url,
    /// An HTTP header or scheme after which a token may follow, such as `Bearer`.
    Bearer,
    /// A name for a key, token or other secret.
    Secret,
    /// A name for a password, in any language.
    Password,
    /// A program with an option for a password.
    Command,
    /// A word that indicates the kind of a nearby number. The value contains the bits for these kinds (see
    /// `context::bits`).
    Context(u64),
}

/// The tag of a literal, with the rules for its case and for the characters around it in the text.
struct Literal {
    tag: LiteralKind,
    /// True if the literal is case-sensitive. For short acronyms that are ordinary words in lower case.
    is_case_sensitive: bool,
    /// True if the literal must not be part of a longer word.
    is_whole_word: bool,
    /// True if an inflectional ending may follow, as in `telefonnummeret`. Such words are marked with `*` in the lists.
    is_stem: bool,
}

/// Largest number of letters in an ending that may follow a stem. This limit lets `telefonnummeret` and
/// `puhelinnumerossa` match, but not `Telefonvertrag`.
const MAX_ENDING_LETTERS: usize = 6;

/// Headers and schemes that are followed by a token. The space or colon is part of the literal, because "bearer" is
/// also an ordinary word.
const TOKEN_SCHEMES: &[&str] =
    &["bearer ", "authorization: token ", "authorization: basic ", "x-api-key: ", "\"basic "];

/// Beginnings of commands and statements that may contain a password.
const PASSWORD_COMMANDS: &[&str] = &[
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

/// The texts of all literals, and their tags and rules at the same indexes.
static LITERAL_TABLE: LazyLock<(Vec<String>, Vec<Literal>)> = LazyLock::new(|| {
    let mut table = (Vec::new(), Vec::new());
    let mut index_by_text: HashMap<String, usize> = HashMap::new();
    let mut add = |text: &str, tag: LiteralKind, is_case_sensitive: bool, is_whole_word: bool| {
        let is_stem = text.ends_with('*');
        let text = text.trim_end_matches('*');
        let at = *index_by_text.entry(text.to_ascii_lowercase()).or_insert(table.1.len());
        match (table.1.get_mut(at), tag) {
            // The same word may indicate several kinds of number, so their bits are combined.
            (
                Some(Literal {
                    tag: LiteralKind::Context(old_bits),
                    is_case_sensitive: old_exact,
                    is_stem: old_is_stem,
                    ..
                }),
                LiteralKind::Context(new_bits),
            ) => {
                *old_bits |= new_bits;
                *old_exact &= is_case_sensitive;
                *old_is_stem |= is_stem;
            }
            (Some(_), _) => {}
            (None, _) => {
                table.0.push(text.to_string());
                table.1.push(Literal { tag, is_case_sensitive, is_whole_word, is_stem });
            }
        }
    };
    for (index, format) in token_formats::TOKEN_FORMATS.iter().enumerate() {
        for literal in format.literals() {
            add(&literal, LiteralKind::Token(index), !format.is_name(), format.is_whole_word);
        }
    }
    PRIVATE_KEY_STARTS.iter().for_each(|literal| add(literal, LiteralKind::PrivateKey, true, false));
    add("://", LiteralKind::Url, false, false);
    TOKEN_SCHEMES.iter().for_each(|literal| add(literal, LiteralKind::Bearer, false, true));
    PASSWORD_COMMANDS.iter().for_each(|literal| add(literal, LiteralKind::Command, false, true));
    password::NAMES.iter().for_each(|literal| add(literal, LiteralKind::Password, false, false));
    secret::NAMES.iter().for_each(|literal| add(literal, LiteralKind::Secret, false, false));
    for (list, bit) in [
        (number::PHONE, bits::PHONE),
        (number::CALL, bits::CALL),
        (number::CARD, bits::CARD),
        (number::OTHER, bits::OTHER),
        (number::EXAMPLE, bits::EXAMPLE),
    ] {
        list.iter().for_each(|literal| add(literal, LiteralKind::Context(bit), false, true));
    }
    for (literal, mask, is_case_sensitive) in national::context_words() {
        add(literal, LiteralKind::Context(mask), is_case_sensitive, true);
    }
    table
});

/// A set of literals that are searched for together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiteralSet {
    /// All literals.
    All,
    /// The literals near which keys and tokens are found. The words for passwords are included too: in "wifi key", the
    /// word "key" belongs to a password and must not be taken for an access key. These literals are long enough for a
    /// [`PrefixFilter`].
    Keys,
}

/// Searches for a set of literals.
struct Searcher {
    automaton: AhoCorasick,
    /// The index in [`LITERAL_TABLE`] of each pattern.
    literals: Vec<usize>,
    /// If there is a filter, the automaton searches only at the positions that the filter lets through.
    filter: Option<PrefixFilter>,
}

impl Searcher {
    /// A filter is useful only if all literals are long enough that few positions pass it.
    fn new(is_in_set: fn(LiteralKind) -> bool, has_filter: bool) -> Option<Self> {
        let (texts, literals) = (&LITERAL_TABLE.0, &LITERAL_TABLE.1);
        let (indexes, patterns): (Vec<usize>, Vec<&String>) =
            texts.iter().enumerate().filter(|(index, _)| is_in_set(literals[*index].tag)).unzip();
        let automaton = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .start_kind(if has_filter { StartKind::Anchored } else { StartKind::Unanchored })
            .build(patterns)
            .ok()?;
        let rules = indexes.iter().map(|index| (texts[*index].as_str(), literals[*index].is_case_sensitive));
        let filter = has_filter.then(|| PrefixFilter::new(rules));
        Some(Self { automaton, filter, literals: indexes })
    }

    /// The first match from `position` on: the pattern, its start and its end. If several literals start at the same
    /// place, the longest is returned.
    fn find(&self, text: &str, mut position: usize) -> Option<(usize, usize, usize)> {
        let hit = match &self.filter {
            None => self.automaton.try_find(Input::new(text).range(position..)).ok()??,
            Some(filter) => loop {
                position = filter.next_candidate(text.as_bytes(), position)?;
                let input = Input::new(text).range(position..).anchored(Anchored::Yes);
                if let Some(hit) = self.automaton.try_find(input).ok()? {
                    break hit;
                }
                position += 1;
            },
        };
        Some((*self.literals.get(hit.pattern().as_usize())?, hit.start(), hit.end()))
    }
}

static ALL_SEARCHER: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(|_| true, false));
static KEY_SEARCHER: LazyLock<Option<Searcher>> =
    LazyLock::new(|| Searcher::new(|tag| !matches!(tag, LiteralKind::Context(_) | LiteralKind::Url), true));

fn is_alphanumeric(byte: Option<&u8>) -> bool {
    byte.is_some_and(|b| b.is_ascii_alphanumeric())
}

/// Every literal of the set in `text` whose case and boundaries match its rules, in text order and without overlaps. If
/// the rules of a literal do not match, the search continues one byte after its start, because another literal may
/// start inside it.
pub(crate) fn find_literals(text: &str, set: LiteralSet) -> impl Iterator<Item = (LiteralKind, usize, usize)> {
    let mut position = 0;
    let searcher = match set {
        LiteralSet::All => &ALL_SEARCHER,
        LiteralSet::Keys => &KEY_SEARCHER,
    };
    std::iter::from_fn(move || {
        let searcher = searcher.as_ref()?;
        while position < text.len() {
            let (literal, start, end) = searcher.find(text, position)?;
            if let Some(tag) = tag_within_boundaries(text.as_bytes(), literal, start, end) {
                position = end;
                return Some((tag, start, end));
            }
            position = start + 1;
        }
        None
    })
}

/// The tag of the literal at `start..end`. `None` if its case or boundaries do not match its rules.
fn tag_within_boundaries(bytes: &[u8], index: usize, start: usize, end: usize) -> Option<LiteralKind> {
    let literal = LITERAL_TABLE.1.get(index)?;
    if literal.is_case_sensitive && LITERAL_TABLE.0.get(index)?.as_bytes() != &bytes[start..end] {
        return None;
    }
    if literal.is_whole_word {
        let starts_alphanumeric = bytes[start].is_ascii_alphanumeric();
        let byte_before = start.checked_sub(1).and_then(|n| bytes.get(n));
        if starts_alphanumeric && is_alphanumeric(byte_before) && !starts_camel_case_word(bytes, start) {
            return None;
        }
        // "Call" inside an identifier (`VHOST_SET_VRING_CALL`) does not indicate a telephone number.
        if matches!(literal.tag, LiteralKind::Context(bits::CALL)) && byte_before == Some(&b'_') {
            return None;
        }
        // The text after a token's prefix is checked later, by the token's pattern. A context word must end here, or
        // have only a short ending.
        let ends_in_letter = bytes[end - 1].is_ascii_alphabetic();
        let ending_len =
            bytes[end..].iter().take(MAX_ENDING_LETTERS + 1).take_while(|b| b.is_ascii_lowercase()).count();
        let max_ending_len = if literal.is_stem { MAX_ENDING_LETTERS } else { 0 };
        if matches!(literal.tag, LiteralKind::Context(_)) && ends_in_letter && ending_len > max_ending_len {
            return None;
        }
        // If more capitals follow a word in capitals, it is part of another word, as in `GSMIOC`.
        let continues_in_capitals =
            bytes[end - 1].is_ascii_uppercase() && bytes.get(end).is_some_and(u8::is_ascii_uppercase);
        if matches!(literal.tag, LiteralKind::Context(_)) && continues_in_capitals {
            return None;
        }
    }
    Some(literal.tag)
}

/// Whether a new word of a camelCase name starts at `position`, as in `userPhone` and `customerSSN`.
fn starts_camel_case_word(bytes: &[u8], position: usize) -> bool {
    position > 0 && bytes[position].is_ascii_uppercase() && bytes[position - 1].is_ascii_lowercase()
}
