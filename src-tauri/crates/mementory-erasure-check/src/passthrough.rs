//! Searches the passthrough files from the first byte to the last, without the code that rewrites them. The words are
//! searched for as bytes, plain and as JSON writes them.
use crate::{ErasureCheck, Evidence, PlaceOutcome, ReceiptPlace, receipt::checked_place};
use memchr::memmem;
use mementory_model::normal_text;
use mementory_search::Needles;
use mementory_store::{StoreError, StoreResult};
use std::{collections::BTreeSet, fmt::Write, io::Read, ops::Range};

/// Length in bytes of the beginning of a text that is searched for. Where it is found, the whole text is compared.
const HEAD_BYTES: usize = 48;
/// Texts with fewer bytes than this are not searched for, since they occur in any file by chance.
const MIN_TEXT_BYTES: usize = 5;
/// Shortest piece of a text beside a redaction mark that is searched for, in bytes of its normal form.
const MIN_PIECE_BYTES: usize = 12;
/// Length of a redaction mark, in bytes, for which a piece beside it is surely found across two windows.
const MAX_MARK_BYTES: usize = 128;
/// Start of a redaction mark.
const REDACTED: &[u8] = mementory_model::REDACTED.as_bytes();
/// Bytes read at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// First bytes of compressed files, in which words cannot be found.
const COMPRESSED_SIGNATURES: [&[u8]; 8] =
    [b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x89PNG", b"\xff\xd8\xff", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf"];

struct TextFinder {
    heads: Needles,
    forms: Vec<Vec<u8>>,
    max_form_bytes: usize,
    /// All forms, each followed by a zero byte. Pieces of a quoted text are searched for in it.
    joined_forms: Vec<u8>,
}

/// Result of searching one file.
enum SearchResult {
    Clean,
    Compressed,
    Found,
}

impl ErasureCheck<'_> {
    pub(crate) fn check_passthrough(&self, evidence: &Evidence) -> StoreResult<ReceiptPlace> {
        let blobs: BTreeSet<[u8; 32]> = {
            let connection = self.store.extra_reader()?;
            // The join begins with the few named blobs, because there is no index on the records' kind.
            let mut statement = connection
                .prepare("SELECT n.blob FROM named_blobs n CROSS JOIN records r ON r.row = n.row WHERE r.kind = ?1")?;
            let kind = mementory_store::kind_code(mementory_model::Kind::Foreign);
            let found = statement.query_map([kind], |r| r.get(0))?;
            found.collect::<Result<_, _>>()?
        };
        let Some(finder) =
            TextFinder::new(evidence.texts.iter().chain(&evidence.fragments))?.filter(|_| !blobs.is_empty())
        else {
            let reason = if blobs.is_empty() { "there are none" } else { "nothing long enough to be looked for" };
            return Ok(checked_place(
                "passthrough",
                true,
                place_outcome(evidence),
                with_rewritten_count(evidence, reason.into()),
            ));
        };
        let (mut with_words, mut unread, mut compressed) = (0, 0, 0);
        for blob in &blobs {
            match self.blobs.open(blob).map(|source| finder.search(source)) {
                Ok(Ok(SearchResult::Clean)) => {}
                Ok(Ok(SearchResult::Compressed)) => compressed += 1,
                Ok(Ok(SearchResult::Found)) => with_words += 1,
                Ok(Err(_)) | Err(_) => unread += 1,
            }
        }
        let mut detail = format!("{} parts of imports searched", blobs.len());
        for (n, what) in [
            (with_words, "still hold the words"),
            (unread, "could not be read"),
            (compressed, "are compressed inside and were searched as they are"),
        ] {
            if n > 0 {
                let _ = write!(detail, ", {n} {what}");
            }
        }
        Ok(checked_place(
            "passthrough",
            with_words + unread == 0,
            place_outcome(evidence),
            with_rewritten_count(evidence, detail),
        ))
    }
}

fn place_outcome(evidence: &Evidence) -> PlaceOutcome {
    if evidence.passthrough_files > 0 { PlaceOutcome::Redacted } else { PlaceOutcome::NotPresent }
}

fn with_rewritten_count(evidence: &Evidence, detail: String) -> String {
    if evidence.passthrough_files > 0 { format!("{} rewritten; {detail}", evidence.passthrough_files) } else { detail }
}

impl TextFinder {
    fn new<'t>(texts: impl Iterator<Item = &'t String>) -> StoreResult<Option<Self>> {
        let is_distinctive = |t: &&String| {
            t.len() >= MIN_TEXT_BYTES
                && t.chars().any(char::is_alphabetic)
                && !["true", "false", "null"].contains(&t.as_str())
        };
        let forms: Vec<Vec<u8>> = texts.filter(is_distinctive).flat_map(|t| written_forms(t)).collect();
        let Some(max_form_bytes) = forms.iter().map(Vec::len).max() else { return Ok(None) };
        let heads: Vec<&[u8]> = forms.iter().map(|f| f.get(..HEAD_BYTES).unwrap_or(f)).collect();
        let heads = Needles::new(&heads).map_err(|e| StoreError::Usage(e.to_string()))?;
        let joined_forms = forms.iter().flat_map(|form| form.iter().copied().chain([0])).collect();
        Ok(Some(Self { heads, forms, max_form_bytes, joined_forms }))
    }

    fn search(&self, mut source: impl Read) -> std::io::Result<SearchResult> {
        let mut window: Vec<u8> = Vec::new();
        let mut search_result = SearchResult::Clean;
        let mut first = true;
        let mut is_json = false;
        loop {
            let read = source.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut window)?;
            if first && COMPRESSED_SIGNATURES.iter().any(|magic| window.starts_with(magic)) {
                search_result = SearchResult::Compressed;
            }
            if first {
                is_json = window.trim_ascii_start().starts_with(b"{") || window.trim_ascii_start().starts_with(b"[");
            }
            first = false;
            if self.is_in_window(&window, is_json) {
                return Ok(SearchResult::Found);
            }
            if read == 0 {
                return Ok(search_result);
            }
            // Keeps the end of the window, so that a text that begins there is found together with the next bytes.
            window.drain(..window.len().saturating_sub(self.max_form_bytes + MAX_MARK_BYTES));
        }
    }

    fn is_in_window(&self, window: &[u8], is_json: bool) -> bool {
        self.heads.each(window).any(|(number, start)| {
            let rest = window.get(start..).unwrap_or_default();
            self.forms.get(number).is_some_and(|form| rest.starts_with(form))
        }) || self.has_piece_beside_mark(window, is_json)
    }

    /// True if the window contains a redaction mark, and all that stands between it and the next mark, or the edge of
    /// the string or line, is part of one of the texts. An earlier redaction left such a mark inside a quoted text.
    fn has_piece_beside_mark(&self, window: &[u8], is_json: bool) -> bool {
        let marks = redaction_marks(window);
        marks.iter().enumerate().any(|(n, mark)| {
            let earlier = n.checked_sub(1).and_then(|n| marks.get(n)).map(|mark| mark.end);
            let later = marks.get(n + 1).map(|mark| mark.start);
            // A piece that goes beyond the window is left out here. It is whole in the next window.
            let from = (earlier.unwrap_or(0)..mark.start).rev().find(|at| is_edge(window, *at, is_json));
            let to = (mark.end..later.unwrap_or(window.len())).find(|at| is_edge(window, *at, is_json));
            let before = from.map(|at| at + 1).or(earlier).and_then(|from| window.get(from..mark.start));
            let after = to.or(later).and_then(|to| window.get(mark.end..to));
            [before, after].into_iter().flatten().any(|piece| self.is_in_text(piece))
        })
    }

    fn is_in_text(&self, piece: &[u8]) -> bool {
        let normal = normal_text(&String::from_utf8_lossy(piece));
        normal.len() >= MIN_PIECE_BYTES
            && normal.contains(' ')
            && memmem::find(&self.joined_forms, piece.trim_ascii()).is_some()
    }
}

/// The positions of the redaction marks in a window.
fn redaction_marks(window: &[u8]) -> Vec<Range<usize>> {
    let mark_at = |start: usize| {
        let class = window.get(start + REDACTED.len()..)?;
        let length = class.iter().take_while(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')).count();
        let is_mark = length > 0 && class.get(length) == Some(&b']');
        is_mark.then_some(start..start + REDACTED.len() + length + 1)
    };
    memmem::find_iter(window, REDACTED).filter_map(mark_at).collect()
}

/// True if a string or a line ends at this byte: a quotation mark of JSON that is not escaped, or a line break.
fn is_edge(window: &[u8], at: usize, is_json: bool) -> bool {
    let is_escaped = || window.iter().take(at).rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    match window.get(at) {
        Some(b'\n') => true,
        Some(b'"') => is_json && !is_escaped(),
        _ => false,
    }
}

/// The text as it is, as JSON writes it, and as JSON writes it in ASCII only (with lower-case and upper-case escapes).
fn written_forms(text: &str) -> BTreeSet<Vec<u8>> {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let json = quoted.trim_matches('"').to_owned();
    let mut out = BTreeSet::from([text.to_owned(), json.clone()]);
    for upper in [false, true] {
        let mut ascii = String::new();
        for unit in json.encode_utf16() {
            let _ = match (char::from_u32(u32::from(unit)).filter(char::is_ascii), upper) {
                (Some(c), _) => write!(ascii, "{c}"),
                (None, false) => write!(ascii, "\\u{unit:04x}"),
                (None, true) => write!(ascii, "\\u{unit:04X}"),
            };
        }
        out.insert(ascii);
    }
    out.into_iter().map(String::into_bytes).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn words_are_found_across_chunks_and_when_escaped() {
        let finder = TextFinder::new(["Herr \"Müller\"".to_owned()].iter()).unwrap().unwrap();
        let mut source = vec![b'x'; CHUNK_BYTES - 4];
        source.extend_from_slice("Herr \"Müller\"".as_bytes());
        assert!(matches!(finder.search(source.as_slice()), Ok(SearchResult::Found)), "across an edge");
        assert!(
            matches!(finder.search(&b"{\"a\":\"Herr \\\"M\\u00FCller\\\"\"}"[..]), Ok(SearchResult::Found)),
            "escaped"
        );
        assert!(matches!(finder.search(&b"Herr nobody"[..]), Ok(SearchResult::Clean)), "something else");
    }

    #[test]
    fn pieces_of_a_quoted_text_beside_a_mark_are_found() {
        let texts = ["The key is under the \"red\" stone. Tell nobody.".to_owned()];
        let finder = TextFinder::new(texts.iter()).unwrap().unwrap();
        let found = |bytes: &str| matches!(finder.search(bytes.as_bytes()), Ok(SearchResult::Found));
        assert!(found(r#"{"a":"The key is under the \"red\" st[REDACTED:name]."}"#), "before a mark, in JSON");
        assert!(found("x\n[REDACTED:name]under the \"red\" stone. Tell nobody.\n"), "after a mark, in a line");
        assert!(!found(r#"{"a":"Other words. [REDACTED:name] And more."}"#), "other words");
        assert!(!found(r#"{"a":"nobody [REDACTED:name]","b":"The key"}"#), "too short");
        assert!(!found(r#"{"a":"So the key is under the [REDACTED:name]"}"#), "more than the text");
    }
}
