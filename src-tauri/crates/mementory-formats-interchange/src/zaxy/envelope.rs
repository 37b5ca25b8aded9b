//! A bundle without its entries: which of the three shapes it has, what its signature is over, and how it is laid out.
use super::canonical::canonical;
use mementory_json::{Members, Tree};
use mementory_model::Bounds;
use serde_json::value::RawValue;

/// Version of an unsigned bundle.
pub(super) const UNSIGNED: &str = "zaxy.export.unsigned.v1";
/// Version of a signed bundle and of a disclosed subset.
pub(super) const PORTABLE: &str = "zaxy.portable.v1";
/// Version of an entry.
pub(super) const ENTRY: &str = "zaxy.export.v1";

/// The texts that a signature binds, by key. The entries are in it by their root.
pub(super) const HEADER: [&str; 7] =
    ["algorithm", "created_at", "merkle_root", "nonce", "public_key", "session_id", "version"];

/// Which kind of bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BundleKind {
    /// Bare entries, no integrity.
    Unsigned,
    /// Entries with ids, a root and a signature.
    Signed,
    /// Some entries of a signed bundle with their proofs.
    Subset,
}

impl BundleKind {
    /// As `--expect` names it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned",
            Self::Signed => "signed",
            Self::Subset => "subset",
        }
    }

    /// Key of the array of entries.
    pub(super) fn list(self) -> &'static str {
        if self == Self::Subset { "disclosed" } else { "entries" }
    }
}

/// Why an envelope cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EnvelopeError {
    /// A version that is not known here.
    Version(String),
    /// Anything else: code and message.
    Malformed(&'static str, String),
}

fn malformed<T>(message: impl Into<String>) -> Result<T, EnvelopeError> {
    Err(EnvelopeError::Malformed("malformed", message.into()))
}

/// The envelope.
#[derive(Debug, Clone)]
pub(super) struct Envelope {
    /// The source's own text, with an empty array of entries.
    pub text: String,
    /// The same, parsed.
    pub tree: Tree,
    /// What it is.
    pub kind: BundleKind,
}

impl Envelope {
    /// Reads an envelope and says whether it is one.
    pub(super) fn parse(text: &str, bounds: impl Into<Bounds>) -> Result<Self, EnvelopeError> {
        let tree = match Tree::parse(text.trim_start_matches('\u{feff}').trim(), bounds) {
            Ok(tree @ Tree::Object(_)) => tree,
            Ok(_) => return malformed("not an object"),
            Err(error) => return malformed(error.to_string()),
        };
        let count = |key: &str| match &tree {
            Tree::Object(members) => members.iter().filter(|(k, _)| k == key).count(),
            _ => 0,
        };
        let (entries, disclosed) = (count("entries"), count("disclosed"));
        let kind = match (tree.get("version"), entries, disclosed) {
            (Some(Tree::Text(version)), ..) if version != UNSIGNED && version != PORTABLE => {
                return Err(EnvelopeError::Version(version.clone()));
            }
            (Some(Tree::Text(version)), 1, 0) if version == UNSIGNED => BundleKind::Unsigned,
            (Some(Tree::Text(version)), 1, 0) if version == PORTABLE => BundleKind::Signed,
            (Some(Tree::Text(version)), 0, 1) if version == PORTABLE => BundleKind::Subset,
            (Some(Tree::Text(_)), 0, 0) => return malformed("entries is missing"),
            (Some(Tree::Text(_)), ..) => {
                return Err(EnvelopeError::Malformed("duplicate_key", "more than one list of entries".into()));
            }
            _ => return malformed("version is missing"),
        };
        if !matches!(tree.get(kind.list()), Some(Tree::Array(_))) {
            return malformed(format!("{} is not a list", kind.list()));
        }
        if kind == BundleKind::Unsigned
            && let Some(Tree::Text(version)) = tree.get("schema_version")
            && version != ENTRY
        {
            return Err(EnvelopeError::Version(version.clone()));
        }
        Ok(Self { text: text.to_owned(), tree, kind })
    }

    /// Text of a member.
    pub(super) fn word(&self, key: &str) -> Option<&str> {
        self.tree.get(key).and_then(Tree::as_str)
    }

    /// A member that is hex, as Python's `bytes.fromhex` reads it: either case, white space between bytes.
    pub(super) fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        from_hex(self.word(key)?)
    }

    /// The bytes that the signature is over; None when one of the texts is missing.
    pub(super) fn message(&self) -> Option<Vec<u8>> {
        let texts: Option<Vec<_>> = HEADER.iter().map(|k| Some((*k, self.word(k)?))).collect();
        Some(header(&texts?))
    }

    /// Its text before the first entry and behind the last.
    pub(super) fn halves(&self) -> Option<(&str, &str)> {
        let text = self.text.as_str();
        let inner = text.trim_start_matches('\u{feff}').trim();
        let members: Members = serde_json::from_str(inner).ok()?;
        let list: &RawValue = members.0.into_iter().rev().find(|(k, _)| k == self.kind.list()).map(|(_, v)| v)?;
        let at = (list.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
        let end = at + list.get().len();
        Some((text.get(..=at)?, text.get(end.checked_sub(1)?..)?))
    }
}

/// The signed bytes of seven texts.
pub(super) fn header(texts: &[(&str, &str)]) -> Vec<u8> {
    let members = texts.iter().map(|(k, v)| ((*k).to_owned(), Tree::Text((*v).to_owned()))).collect();
    // Texts only: there is no number that could be bad.
    canonical(&Tree::Object(members)).unwrap_or_default().into_bytes()
}

/// Hex of either case with white space between bytes.
pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    text.split_ascii_whitespace().map(hex::decode).collect::<Result<Vec<_>, _>>().ok().map(|parts| parts.concat())
}

/// How JSON is laid out: as Python's `json.dumps` does with or without an indent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// Line end and indent of one level.
    lines: Option<(String, String)>,
    spaced: bool,
}

/// A member's value: made, or text that is copied.
pub(super) enum Piece<'a> {
    /// Printed in this style.
    Tree(Tree),
    /// Copied.
    Raw(&'a str),
}

impl Layout {
    /// Two spaces, as Zaxy writes its files.
    pub(super) fn zaxy() -> Self {
        Self { lines: Some(("\n".into(), "  ".into())), spaced: true }
    }

    /// The style of an existing text.
    pub(super) fn of(text: &str) -> Self {
        let inside = text.trim_start_matches('\u{feff}').trim_start().trim_start_matches('{');
        let space = &inside[..inside.find('"').unwrap_or_default()];
        let lines = space.rfind('\n').map(|at| (space[..=at].to_owned(), space[at + 1..].to_owned()));
        let spaced = inside.find("\":").is_some_and(|at| inside[at + 2..].starts_with(' '));
        Self { lines, spaced }
    }

    /// Line break and indent, or nothing.
    pub(super) fn lead(&self, level: usize, out: &mut String) {
        if let Some((end, unit)) = &self.lines {
            out.push_str(end);
            out.push_str(&unit.repeat(level));
        }
    }

    /// Between two elements.
    pub(super) fn comma(&self, level: usize, out: &mut String) {
        out.push(',');
        if self.lines.is_some() {
            self.lead(level, out);
        } else if self.spaced {
            out.push(' ');
        }
    }

    /// An object whose members stand at `level + 1`.
    pub(super) fn object(&self, members: &[(&str, Piece<'_>)], level: usize, out: &mut String) {
        out.push('{');
        for (i, (key, piece)) in members.iter().enumerate() {
            if i == 0 {
                self.lead(level + 1, out)
            } else {
                self.comma(level + 1, out)
            }
            mementory_json::write_string(key, out);
            out.push_str(if self.spaced { ": " } else { ":" });
            match piece {
                Piece::Tree(tree) => self.value(tree, level + 1, out),
                Piece::Raw(text) => out.push_str(text),
            }
        }
        if !members.is_empty() {
            self.lead(level, out);
        }
        out.push('}');
    }

    /// Any value that starts at `level`.
    pub(super) fn value(&self, tree: &Tree, level: usize, out: &mut String) {
        match tree {
            Tree::Array(items) if !items.is_empty() => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i == 0 {
                        self.lead(level + 1, out)
                    } else {
                        self.comma(level + 1, out)
                    }
                    self.value(item, level + 1, out);
                }
                self.lead(level, out);
                out.push(']');
            }
            Tree::Object(members) => {
                let pieces: Vec<_> = members.iter().map(|(k, v)| (k.as_str(), Piece::Tree(v.clone()))).collect();
                self.object(&pieces, level, out);
            }
            other => other.write(out),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn layouts_are_distinguished_and_preserved() {
        let tree = Tree::parse("{\"a\":1.0,\"b\":[],\"c\":[[\"x\",\"L\"]],\"d\":{}}", 8).unwrap();
        for text in [
            "{\n  \"a\": 1.0,\n  \"b\": [],\n  \"c\": [\n    [\n      \"x\",\n      \"L\"\n    ]\n  ],\n  \"d\": {}\n}",
            "{\"a\": 1.0, \"b\": [], \"c\": [[\"x\", \"L\"]], \"d\": {}}",
            "{\"a\":1.0,\"b\":[],\"c\":[[\"x\",\"L\"]],\"d\":{}}",
            "{\r\n\t\"a\": 1.0,\r\n\t\"b\": [],\r\n\t\"c\": [\r\n\t\t[\r\n\t\t\t\"x\",\r\n\t\t\t\"L\"\r\n\t\t]\r\n\t],\r\n\t\"d\": {}\r\n}",
        ] {
            let mut out = String::new();
            Layout::of(text).value(&tree, 0, &mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn what_is_no_envelope() {
        let code = |text: &str| match Envelope::parse(text, 8) {
            Ok(envelope) => envelope.kind.as_str().to_owned(),
            Err(EnvelopeError::Version(version)) => format!("version {version}"),
            Err(EnvelopeError::Malformed(code, _)) => code.to_owned(),
        };
        for (text, expected) in [
            (r#"{"version":"zaxy.portable.v1","entries":[]}"#, "signed"),
            (r#"{"version":"zaxy.portable.v1","disclosed":[]}"#, "subset"),
            (r#"{"version":"zaxy.export.unsigned.v1","entries":[]}"#, "unsigned"),
            (r#"{"version":"zaxy.portable.v2","entries":[]}"#, "version zaxy.portable.v2"),
            (
                r#"{"version":"zaxy.export.unsigned.v1","schema_version":"zaxy.export.v2","entries":[]}"#,
                "version zaxy.export.v2",
            ),
            (r#"{"version":"zaxy.portable.v1","entries":[],"disclosed":[]}"#, "duplicate_key"),
            (r#"{"version":"zaxy.portable.v1","entries":[],"entries":[]}"#, "duplicate_key"),
            (r#"{"version":"zaxy.portable.v1","entries":{}}"#, "malformed"),
            (r#"{"version":"zaxy.export.unsigned.v1","disclosed":[]}"#, "duplicate_key"),
            (r#"{"version":1,"entries":[]}"#, "malformed"),
            ("[]", "malformed"),
            ("{", "malformed"),
        ] {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn the_list_is_found_wherever_it_stands() {
        let text = "{ \"x\": [[]], \"entries\" : [ ] , \"version\": \"zaxy.portable.v1\"}\n";
        let envelope = Envelope::parse(text, 8).unwrap();
        assert_eq!(
            envelope.halves(),
            Some(("{ \"x\": [[]], \"entries\" : [", "] , \"version\": \"zaxy.portable.v1\"}\n"))
        );
        assert_eq!(from_hex(" aB 01\n"), Some(vec![0xab, 1]));
        assert_eq!(from_hex("a b"), None);
    }
}
