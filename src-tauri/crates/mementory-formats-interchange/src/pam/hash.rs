//! Content hash (spec §6), integrity checksum (§15), and the form in which the Python SDK sees a memory.
use super::canonical;
use mementory_json::Tree;
use sha2::{Digest, Sha256};
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// `sha256:<hex>`.
pub(super) fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

/// White space as the reference code (Python) knows it: four separators more than Rust.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Trimmed, lower case, NFC, every run of white space one space, in that order.
pub(super) fn normal(content: &str) -> String {
    if content.is_ascii() { normal_ascii(content) } else { normal_unicode(content) }
}

fn normal_unicode(content: &str) -> String {
    let lower = content.trim_matches(is_space).to_lowercase();
    let composed: String = lower.nfc().collect();
    composed.split(is_space).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The same of ASCII, which is composed already: nearly all texts.
fn normal_ascii(content: &str) -> String {
    let lower = content.to_ascii_lowercase();
    let other_space = |b: u8| matches!(b, b'\t'..=b'\r' | b'\x1c'..=b'\x1f');
    let untidy = lower.starts_with(' ') || lower.ends_with(' ') || lower.contains("  ");
    if !untidy && !lower.bytes().any(other_space) {
        return lower;
    }
    lower.split(is_space).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The value of `content_hash`.
pub(super) fn content_hash(content: &str) -> String {
    sha256(normal(content).as_bytes())
}

/// Adds up to the checksum of a memories array: objects by id, canonical, hashed.
#[derive(Default)]
pub(super) struct Checksum {
    /// Ids, and where in `text` the canonical form stands.
    rows: Vec<(String, Range<usize>)>,
    text: String,
    unusable: bool,
}

impl Checksum {
    /// With room for so many bytes of text, which would otherwise be moved from one place to the next as it grows.
    pub fn with_room(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ..Self::default() }
    }

    /// One memory exactly as the file has it.
    pub fn add(&mut self, memory: &Tree) {
        let id = memory.get("id").and_then(Tree::as_str).unwrap_or_default().to_owned();
        let start = self.text.len();
        match canonical::write(memory, &mut self.text) {
            Some(()) => self.rows.push((id, start..self.text.len())),
            None => self.unusable = true,
        }
    }

    /// The same from its id and its canonical form, if it has one.
    pub fn add_text(&mut self, id: &str, canonical: Option<&str>) {
        let Some(canonical) = canonical else {
            self.unusable = true;
            return;
        };
        let start = self.text.len();
        self.text.push_str(canonical);
        self.rows.push((id.to_owned(), start..self.text.len()));
    }

    /// None when a memory has a number that canonical JSON cannot hold.
    pub fn finish(mut self) -> Option<String> {
        if self.unusable {
            return None;
        }
        self.rows.sort_by(|a, b| a.0.cmp(&b.0)); // stable, by code point
        let mut hash = Sha256::new();
        hash.update(b"[");
        for (i, (_, place)) in self.rows.into_iter().enumerate() {
            if i > 0 {
                hash.update(b",");
            }
            hash.update(&self.text.as_bytes()[place]);
        }
        hash.update(b"]");
        Some(format!("sha256:{}", hex::encode(hash.finalize())))
    }
}

/// Members of a memory whose values are objects of the format's own.
const BLOCKS: [&str; 4] = ["confidence", "temporal", "provenance", "access"];
/// Times inside them.
const TIMES: [&str; 6] = ["last_reinforced", "created_at", "updated_at", "valid_from", "valid_until", "extracted_at"];

/// The memory as the Python SDK (1.0.0) hashes it: nulls gone, defaults there, times in its own spelling.
pub(super) fn sdk_form(memory: &Tree) -> Tree {
    let mut out = without_nulls(memory);
    let default = |out: &mut Tree, key: &str, value: Tree| {
        if out.get(key).is_none() {
            out.set(key, value);
        }
    };
    default(&mut out, "status", Tree::Text("active".into()));
    default(&mut out, "tags", Tree::Array(vec![]));
    for block in BLOCKS {
        let Some(value) = out.get(block) else { continue };
        let mut value = without_nulls(value);
        if block == "access" {
            default(&mut value, "visibility", Tree::Text("private".into()));
            default(&mut value, "exportable", Tree::Bool(true));
            default(&mut value, "shared_with", Tree::Array(vec![]));
        }
        if let Tree::Object(members) = &mut value {
            for (_, time) in members.iter_mut().filter(|(k, _)| TIMES.contains(&k.as_str())) {
                if let Some(respelled) = time.as_str().and_then(respelled) {
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

/// A time as pydantic prints it: `T` between, no fraction or six digits, `Z` for a zero offset.
fn respelled(text: &str) -> Option<String> {
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
    fn content_is_normalised_as_the_reference_does() {
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
                assert_eq!(normal(input), "σοφο\u{3c2}");
            } else {
                assert_eq!(normal(input), expected, "{input:?}");
            }
        }
        assert_eq!(content_hash("  Likes   tea "), sha256(b"likes tea"),);
    }

    #[test]
    fn ascii_is_normalised_as_everything_else() {
        let mut texts = vec![String::new()];
        for length in 0..5 {
            for text in texts.clone().iter().filter(|t| t.len() == length) {
                texts.extend([" ", "\t", "\r", "\u{1b}", "\u{1c}", "\u{1f}", "A", "z"].map(|c| format!("{text}{c}")));
            }
        }
        for text in texts {
            assert_eq!(normal_ascii(&text), normal_unicode(&text), "{text:?}");
        }
    }

    #[test]
    fn times_are_respelled_as_the_sdk_does() {
        let cases = [
            ("2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00+02:00"),
            ("2026-01-01T00:00:00.1234567Z", "2026-01-01T00:00:00.123456Z"),
            ("2026-01-01T00:00:00", "2026-01-01T00:00:00"),
            ("2026-01-01 00:00:00-00:00", "2026-01-01T00:00:00Z"),
            ("2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.123000Z"),
            ("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00Z"),
        ];
        for (input, expected) in cases {
            assert_eq!(respelled(input).as_deref(), Some(expected), "{input}");
        }
        assert_eq!(respelled("soon"), None);
    }

    #[test]
    fn order_of_ids_is_by_code_point_and_order_in_the_file_is_nothing() {
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
