//! Content hash (spec §6), integrity checksum (§15), and the normalized memory that the Python SDK hashes.
use super::canonical;
use mementory_json::Tree;
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

/// SHA-256 as `sha256:<hex>`.
pub(super) fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

/// White space by Python's definition, which includes four separators that are not white space in Rust.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Trims, lower-cases, applies NFC and collapses white space, in that order.
pub(super) fn normalize(content: &str) -> String {
    if content.is_ascii() { normalize_ascii(content) } else { normalize_unicode(content) }
}

fn normalize_unicode(content: &str) -> String {
    let lower = content.trim_matches(is_space).to_lowercase();
    let composed: String = lower.nfc().collect();
    composed.split(is_space).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A faster [`normalize_unicode`] for ASCII, which NFC does not change.
fn normalize_ascii(content: &str) -> String {
    let lower = content.to_ascii_lowercase();
    let other_space = |b: u8| matches!(b, b'\t'..=b'\r' | b'\x1c'..=b'\x1f');
    let needs_collapsing = lower.starts_with(' ') || lower.ends_with(' ') || lower.contains("  ");
    if !needs_collapsing && !lower.bytes().any(other_space) {
        return lower;
    }
    lower.split(is_space).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Computes the `content_hash` of a memory from its content.
pub(super) fn content_hash(content: &str) -> String {
    sha256(normalize(content).as_bytes())
}

/// Computes the checksum of the memories: their canonical objects, sorted by id and hashed as one array.
#[derive(Default)]
pub(super) struct Checksum {
    /// Id and canonical form of each memory.
    rows: Vec<(String, Box<str>)>,
    not_canonical: bool,
}

impl Checksum {
    /// Adds a memory as it is, without the normalization of the Python SDK.
    pub fn add(&mut self, memory: &Tree) {
        let id = memory.get("id").and_then(Tree::as_str).unwrap_or_default();
        self.add_text(id, canonical::canonical(memory).map(String::into_boxed_str));
    }

    /// Adds a memory by its id and canonical form. `canonical` is None if the memory has no canonical form.
    pub fn add_text(&mut self, id: &str, canonical: Option<Box<str>>) {
        match canonical {
            Some(canonical) => self.rows.push((id.to_owned(), canonical)),
            None => self.not_canonical = true,
        }
    }

    /// The checksum. None if a memory has a number that canonical JSON cannot express.
    pub fn finish(mut self) -> Option<String> {
        if self.not_canonical {
            return None;
        }
        self.rows.sort_by(|a, b| a.0.cmp(&b.0)); // a stable sort by code point
        let mut hash = Sha256::new();
        hash.update(b"[");
        for (i, (_, canonical)) in self.rows.iter().enumerate() {
            if i > 0 {
                hash.update(b",");
            }
            hash.update(canonical.as_bytes());
        }
        hash.update(b"]");
        Some(format!("sha256:{}", hex::encode(hash.finalize())))
    }
}

/// Members of a memory that are objects with defined members.
const BLOCK_MEMBERS: [&str; 4] = ["confidence", "temporal", "provenance", "access"];
/// Members of the objects in [`BLOCK_MEMBERS`] that are times.
const TIME_MEMBERS: [&str; 6] =
    ["last_reinforced", "created_at", "updated_at", "valid_from", "valid_until", "extracted_at"];

/// The normalized memory that the Python SDK (1.0.0) hashes: without nulls, with defaults, and with times in the SDK's
/// notation.
pub(super) fn sdk_form(memory: &Tree) -> Tree {
    let mut out = without_nulls(memory);
    let default = |out: &mut Tree, key: &str, value: Tree| {
        if out.get(key).is_none() {
            out.set(key, value);
        }
    };
    default(&mut out, "status", Tree::Text("active".into()));
    default(&mut out, "tags", Tree::Array(vec![]));
    for block in BLOCK_MEMBERS {
        let Some(value) = out.get(block) else { continue };
        let mut value = without_nulls(value);
        if block == "access" {
            default(&mut value, "visibility", Tree::Text("private".into()));
            default(&mut value, "exportable", Tree::Bool(true));
            default(&mut value, "shared_with", Tree::Array(vec![]));
        }
        if let Tree::Object(members) = &mut value {
            for (_, time) in members.iter_mut().filter(|(k, _)| TIME_MEMBERS.contains(&k.as_str())) {
                if let Some(respelled) = time.as_str().and_then(sdk_time) {
                    *time = Tree::Text(respelled);
                }
            }
        }
        out.set(block, value);
    }
    if let Some(metadata) = out.get("metadata") {
        let metadata = without_nulls(metadata);
        out.set("metadata", metadata);
    }
    out
}

fn without_nulls(tree: &Tree) -> Tree {
    match tree {
        Tree::Object(members) => Tree::Object(members.iter().filter(|(_, v)| *v != Tree::Null).cloned().collect()),
        other => other.clone(),
    }
}

/// Formats a time as pydantic does: `T` as separator, a fraction of six digits or none, and `Z` if the offset is zero.
fn sdk_time(text: &str) -> Option<String> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't', ' ', '_'])?;
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(zone_at);
    let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let clock = if clock.len() == 5 { format!("{clock}:00") } else { clock.to_owned() };
    let fraction: String = fraction.chars().chain(std::iter::repeat('0')).take(6).collect();
    let fraction = if fraction == "000000" { String::new() } else { format!(".{fraction}") };
    let zone = match zone {
        "" => String::new(),
        "Z" | "z" => "Z".into(),
        zone => {
            let digits: String = zone.chars().filter(char::is_ascii_digit).chain("0000".chars()).take(4).collect();
            match digits.as_str() {
                "0000" => "Z".into(),
                _ => format!("{}{}:{}", &zone[..1], &digits[..2], &digits[2..]),
            }
        }
    };
    Some(format!("{date}T{clock}{fraction}{zone}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn content_is_normalized_as_the_reference_does() {
        let cases = [
            ("  A\n\tb\u{a0}\u{3000}C ", "a b c"),
            ("\u{1c}x\u{1d}\u{1e}y\u{1f}", "x y"),
            ("ΣΟΦΟΣ", "σοφος".trim_end_matches('σ')),
            ("e\u{301}", "é"),
            ("Straße \u{200b}x", "straße \u{200b}x"),
            ("ﬁ", "ﬁ"),
        ];
        for (input, expected) in cases {
            if input == "ΣΟΦΟΣ" {
                assert_eq!(normalize(input), "σοφο\u{3c2}");
            } else {
                assert_eq!(normalize(input), expected, "{input:?}");
            }
        }
        assert_eq!(content_hash("  Likes   tea "), sha256(b"likes tea"),);
    }

    #[test]
    fn ascii_fast_path_equals_the_unicode_path() {
        let mut texts = vec![String::new()];
        for length in 0..5 {
            for text in texts.clone().iter().filter(|t| t.len() == length) {
                texts.extend([" ", "\t", "\r", "\u{1b}", "\u{1c}", "\u{1f}", "A", "z"].map(|c| format!("{text}{c}")));
            }
        }
        for text in texts {
            assert_eq!(normalize_ascii(&text), normalize_unicode(&text), "{text:?}");
        }
    }

    #[test]
    fn times_are_written_in_the_form_of_the_sdk() {
        let cases = [
            ("2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00+02:00"),
            ("2026-01-01T00:00:00.1234567Z", "2026-01-01T00:00:00.123456Z"),
            ("2026-01-01T00:00:00", "2026-01-01T00:00:00"),
            ("2026-01-01 00:00:00-00:00", "2026-01-01T00:00:00Z"),
            ("2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.123000Z"),
            ("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00Z"),
        ];
        for (input, expected) in cases {
            assert_eq!(sdk_time(input).as_deref(), Some(expected), "{input}");
        }
        assert_eq!(sdk_time("soon"), None);
    }

    #[test]
    fn checksum_does_not_depend_on_the_order_of_memories_in_the_file() {
        let memory = |id: &str| Tree::parse(&format!(r#"{{"id":"{id}","n":1.0}}"#), 8).unwrap();
        let sum = |ids: [&str; 2]| {
            let mut checksum = Checksum::default();
            ids.iter().for_each(|id| checksum.add(&memory(id)));
            checksum.finish()
        };
        assert_eq!(sum(["\u{FF5E}", "\u{1F600}"]), sum(["\u{1F600}", "\u{FF5E}"]));
        let text = "[{\"id\":\"\u{FF5E}\",\"n\":1},{\"id\":\"\u{1F600}\",\"n\":1}]";
        assert_eq!(sum(["\u{1F600}", "\u{FF5E}"]).unwrap(), sha256(text.as_bytes()));
    }
}
