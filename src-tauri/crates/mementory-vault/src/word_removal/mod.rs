//! Removes words from text, record bodies, JSON and bytes of any kind.
mod around_marks;
pub(crate) mod bytes;
mod changed_parts;
mod entities;
mod pattern_finder;
mod removal;
mod spans;
mod split_texts;
mod unescape;
mod utf16;
mod window_filter;

pub(crate) use removal::Removal;
pub(crate) use spans::Spans;

use mementory_json::Tree;
use mementory_model::word_count;

/// The mark that replaces erased words in other records and in files.
pub(crate) const ERASED_MARK: &str = "[REDACTED:erased]";

/// Parses JSON from a file or a record's `verbatim`. Returns None if the text is not JSON.
fn parse_json(text: &str) -> Option<Tree> {
    const MAX_DEPTH: u32 = 512;
    // Readers keep the escapes of lone surrogates in the `verbatim`. Lone surrogates are not Unicode, so the escapes
    // are repaired before the text is parsed.
    let repaired = || Tree::parse(&mementory_json::repair(text.as_bytes())?.0, MAX_DEPTH).ok();
    Tree::parse(text, MAX_DEPTH).ok().or_else(repaired)
}

/// Parses JSON text, changes it with `edit`, and writes it again. `edit` returns whether it changed anything. Returns
/// None if the text is not JSON, and Some(None) if nothing was changed.
fn edit_json(text: &str, edit: impl FnOnce(&mut Tree) -> bool) -> Option<Option<String>> {
    let mut tree = parse_json(text)?;
    if !edit(&mut tree) {
        return Some(None);
    }
    let mut out = String::with_capacity(text.len());
    tree.write(&mut out);
    Some(Some(out))
}

/// Length of the shortest sentence that is searched for, in bytes of its normal form.
const MIN_SENTENCE_BYTES: usize = 12;

/// True if a sentence or a piece of a text, in normal form, is long enough to be searched for: more than one word.
pub(crate) fn is_distinctive_sentence(normal: &str) -> bool {
    normal.len() >= MIN_SENTENCE_BYTES && word_count(normal) > 1
}

/// Returns the text with Windows line endings, or None if the text would not change. Many readers store `\n` in a
/// record, while the file contains `\r\n`.
fn with_windows_line_ends(text: &str) -> Option<String> {
    let new = text.replace("\r\n", "\n").replace('\n', "\r\n");
    (new != text).then_some(new)
}

/// Length of the shortest phrase that is assumed to occur in only one text, in bytes of its normal form.
const MIN_RARE_PHRASE_BYTES: usize = 32;
/// Number of words of the shortest phrase that is assumed to occur in only one text.
const MIN_RARE_PHRASE_WORDS: usize = 5;
/// Largest number of bytes between two pieces that count as neighbours in a text. An earlier redaction may have removed
/// these bytes.
const MAX_GAP_BYTES: usize = 128;

/// True if a phrase in normal form is too long to occur in another text by chance. Shorter phrases (`I am sure that`)
/// occur in many texts.
fn is_rare_phrase(normal: &str) -> bool {
    normal.len() >= MIN_RARE_PHRASE_BYTES && word_count(normal) >= MIN_RARE_PHRASE_WORDS
}
