//! A bundle without its entries: its kind, the bytes that its signature covers, and its layout.
use super::canonical::canonical;
use mementory_json::{Members, Tree};
use mementory_model::Bounds;
use serde_json::value::RawValue;

/// Version of an unsigned bundle.
pub(super) const UNSIGNED_VERSION: &str = "zaxy.export.unsigned.v1";
/// Version of a signed bundle and of a disclosed subset.
pub(super) const PORTABLE_VERSION: &str = "zaxy.portable.v1";
pub(super) const ENTRY_VERSION: &str = "zaxy.export.v1";

/// Members that a signature covers. The entries are covered through the Merkle root.
pub(super) const SIGNED_MEMBERS: [&str; 7] =
    ["algorithm", "created_at", "merkle_root", "nonce", "public_key", "session_id", "version"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BundleKind {
    /// Entries without wrappers, ids or a signature.
    Unsigned,
    /// Entries with ids, a Merkle root and a signature.
    Signed,
    /// Some entries of a signed bundle, with their proofs.
    Subset,
}

impl BundleKind {
    /// Name of the kind in the option `--expect`.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned",
            Self::Signed => "signed",
            Self::Subset => "subset",
        }
    }

    /// Name of the envelope member that contains the list of entries.
    pub(super) fn list_name(self) -> &'static str {
        if self == Self::Subset { "disclosed" } else { "entries" }
    }

    /// JSON pointer to an entry.
    pub(super) fn pointer(self, index: u64) -> String {
        format!("/{}/{index}", self.list_name())
    }
}

/// Error for a text that is not an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EnvelopeError {
    /// The version is not known.
    Version(String),
    /// Code and message of any other error.
    Malformed(&'static str, String),
}

fn malformed<T>(message: impl Into<String>) -> Result<T, EnvelopeError> {
    Err(EnvelopeError::Malformed("malformed", message.into()))
}

#[derive(Debug, Clone)]
pub(super) struct Envelope {
    /// Original text, with an empty list of entries.
    pub text: String,
    /// The parsed text.
    pub tree: Tree,
    pub kind: BundleKind,
}

impl Envelope {
    /// Parses an envelope and determines its kind.
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
            (Some(Tree::Text(version)), ..) if version != UNSIGNED_VERSION && version != PORTABLE_VERSION => {
                return Err(EnvelopeError::Version(version.clone()));
            }
            (Some(Tree::Text(version)), 1, 0) if version == UNSIGNED_VERSION => BundleKind::Unsigned,
            (Some(Tree::Text(version)), 1, 0) if version == PORTABLE_VERSION => BundleKind::Signed,
            (Some(Tree::Text(version)), 0, 1) if version == PORTABLE_VERSION => BundleKind::Subset,
            (Some(Tree::Text(_)), 0, 0) => return malformed("entries is missing"),
            (Some(Tree::Text(_)), ..) => {
                return Err(EnvelopeError::Malformed("duplicate_key", "more than one list of entries".into()));
            }
            _ => return malformed("version is missing"),
        };
        if !matches!(tree.get(kind.list_name()), Some(Tree::Array(_))) {
            return malformed(format!("{} is not a list", kind.list_name()));
        }
        if kind == BundleKind::Unsigned
            && let Some(Tree::Text(version)) = tree.get("schema_version")
            && version != ENTRY_VERSION
        {
            return Err(EnvelopeError::Version(version.clone()));
        }
        Ok(Self { text: text.to_owned(), tree, kind })
    }

    pub(super) fn text_member(&self, key: &str) -> Option<&str> {
        self.tree.get(key).and_then(Tree::as_str)
    }

    /// Decodes a member that contains bytes in hex. Like Python's `bytes.fromhex`, it accepts upper and lower case, and
    /// white space between bytes.
    pub(super) fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        from_hex(self.text_member(key)?)
    }

    /// The bytes that the signature covers. None if one of the signed members is missing.
    pub(super) fn message(&self) -> Option<Vec<u8>> {
        let texts: Option<Vec<_>> = SIGNED_MEMBERS.iter().map(|k| Some((*k, self.text_member(k)?))).collect();
        Some(signed_bytes(&texts?))
    }

    /// The text before the first entry, and the text after the last entry.
    pub(super) fn split_at_entries(&self) -> Option<(&str, &str)> {
        let text = self.text.as_str();
        let inner = text.trim_start_matches('\u{feff}').trim();
        let members: Members = serde_json::from_str(inner).ok()?;
        let list: &RawValue = members.0.into_iter().rev().find(|(k, _)| k == self.kind.list_name()).map(|(_, v)| v)?;
        let at = (list.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
        let end = at + list.get().len();
        Some((text.get(..=at)?, text.get(end.checked_sub(1)?..)?))
    }
}

/// The bytes that a signature covers, from the names and texts of the signed members.
pub(super) fn signed_bytes(texts: &[(&str, &str)]) -> Vec<u8> {
    let members = texts.iter().map(|(k, v)| ((*k).to_owned(), Tree::Text((*v).to_owned()))).collect();
    // Cannot fail, because the object contains only texts.
    canonical(&Tree::Object(members)).unwrap_or_default().into_bytes()
}

/// Decodes hex in upper or lower case, with optional white space between bytes.
pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    text.split_ascii_whitespace().map(hex::decode).collect::<Result<Vec<_>, _>>().ok().map(|parts| parts.concat())
}

/// White space in JSON, as in the output of Python's `json.dumps` with or without an indent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// The line break, and the indent of one level. None if everything is on one line.
    line_break_and_indent: Option<(String, String)>,
    has_spaces: bool,
}

/// Value of a member for [`Layout::push_object`].
pub(super) enum ValueToWrite<'a> {
    /// A value that is printed in the layout.
    Tree(Tree),
    /// A text that is copied unchanged.
    Raw(&'a str),
}

impl Layout {
    /// The layout of Zaxy's own files: an indent of two spaces.
    pub(super) fn zaxy() -> Self {
        Self { line_break_and_indent: Some(("\n".into(), "  ".into())), has_spaces: true }
    }

    /// Detects the layout of an existing JSON object.
    pub(super) fn of_text(text: &str) -> Self {
        let inside = text.trim_start_matches('\u{feff}').trim_start().trim_start_matches('{');
        let space = &inside[..inside.find('"').unwrap_or_default()];
        let line_break_and_indent = space.rfind('\n').map(|at| (space[..=at].to_owned(), space[at + 1..].to_owned()));
        let has_spaces = inside.find("\":").is_some_and(|at| inside[at + 2..].starts_with(' '));
        Self { line_break_and_indent, has_spaces }
    }

    /// Appends a line break and an indent, or nothing if everything is on one line.
    pub(super) fn push_line_break(&self, level: usize, out: &mut String) {
        if let Some((end, unit)) = &self.line_break_and_indent {
            out.push_str(end);
            out.push_str(&unit.repeat(level));
        }
    }

    /// Appends the separator between two elements.
    pub(super) fn push_comma(&self, level: usize, out: &mut String) {
        out.push(',');
        if self.line_break_and_indent.is_some() {
            self.push_line_break(level, out);
        } else if self.has_spaces {
            out.push(' ');
        }
    }

    /// Appends an object. Its members are indented by `level + 1` levels.
    pub(super) fn push_object(&self, members: &[(&str, ValueToWrite<'_>)], level: usize, out: &mut String) {
        out.push('{');
        for (i, (key, piece)) in members.iter().enumerate() {
            if i == 0 {
                self.push_line_break(level + 1, out)
            } else {
                self.push_comma(level + 1, out)
            }
            mementory_json::write_string(key, out);
            out.push_str(if self.has_spaces { ": " } else { ":" });
            match piece {
                ValueToWrite::Tree(tree) => self.push_value(tree, level + 1, out),
                ValueToWrite::Raw(text) => out.push_str(text),
            }
        }
        if !members.is_empty() {
            self.push_line_break(level, out);
        }
        out.push('}');
    }

    /// Appends a value whose first line is indented by `level` levels.
    pub(super) fn push_value(&self, tree: &Tree, level: usize, out: &mut String) {
        match tree {
            Tree::Array(items) if !items.is_empty() => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i == 0 {
                        self.push_line_break(level + 1, out)
                    } else {
                        self.push_comma(level + 1, out)
                    }
                    self.push_value(item, level + 1, out);
                }
                self.push_line_break(level, out);
                out.push(']');
            }
            Tree::Object(members) => {
                let pieces: Vec<_> = members.iter().map(|(k, v)| (k.as_str(), ValueToWrite::Tree(v.clone()))).collect();
                self.push_object(&pieces, level, out);
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
            Layout::of_text(text).push_value(&tree, 0, &mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn kinds_and_faults_of_envelopes_are_recognized() {
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
    fn the_list_of_entries_is_found_at_any_position() {
        let text = "{ \"x\": [[]], \"entries\" : [ ] , \"version\": \"zaxy.portable.v1\"}\n";
        let envelope = Envelope::parse(text, 8).unwrap();
        assert_eq!(
            envelope.split_at_entries(),
            Some(("{ \"x\": [[]], \"entries\" : [", "] , \"version\": \"zaxy.portable.v1\"}\n"))
        );
        assert_eq!(from_hex(" aB 01\n"), Some(vec![0xab, 1]));
        assert_eq!(from_hex("a b"), None);
    }
}
