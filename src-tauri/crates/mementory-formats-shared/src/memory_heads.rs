//! Detects files of memory engines by the keys at their start.
use super::json_head::may_be_json;
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_json::{Keys, decoded_head, keys_of};
use std::{collections::BTreeMap, sync::Arc};

/// Number of bytes of a file that detection reads.
const HEAD_BYTES: usize = 64 << 10;
/// Number of bytes at the start of a file that show whether it may be JSON.
const FIRST_BYTES: usize = 256;

/// The start of a JSON file.
pub struct Head {
    /// True if the text begins with a list.
    pub is_list: bool,
    keys: Keys,
    bytes: Vec<u8>,
}

impl Head {
    /// The start of a member. None if the member cannot be read or is not JSON.
    pub fn of(catalog: &Catalog, member: &Member) -> Option<Arc<Self>> {
        if !begins_like_json(&catalog.head(member, FIRST_BYTES).ok()?) {
            return None;
        }
        let head = catalog.derived::<Option<Arc<Self>>>(member, || {
            let io = |e| FormatError::io(&member.place, e);
            let head = Self::of_bytes(catalog.read(member, |r| decoded_head(r, HEAD_BYTES).map_err(io))?).map(Arc::new);
            let bytes = head.as_ref().map_or(0, |head| head.bytes.len() + head.keys.memory_bytes());
            Ok((head, bytes))
        });
        head.ok().flatten()
    }

    /// The start of a member. None if its name shows that it is not JSON, if it cannot be read, or if its content is not
    /// JSON.
    pub fn candidate(catalog: &Catalog, member: &Member) -> Option<Arc<Self>> {
        is_candidate(member).then(|| Self::of(catalog, member)).flatten()
    }

    /// The decoded bytes of the start.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True if a member with this name has a string as its value.
    pub fn says_text_of(&self, name: &str) -> bool {
        [":\"", ": \""]
            .iter()
            .any(|between| memchr::memmem::find(&self.bytes, format!("\"{name}\"{between}").as_bytes()).is_some())
    }

    /// The start of the JSON in `bytes`. None if they are not JSON.
    pub fn of_bytes(bytes: Vec<u8>) -> Option<Self> {
        let first = *bytes.iter().find(|b| !b.is_ascii_whitespace())?;
        matches!(first, b'{' | b'[').then(|| Self { is_list: first == b'[', keys: keys_of(&bytes), bytes })
    }

    /// True if this path of keys was found.
    pub fn has(&self, path: &str) -> bool {
        self.keys.has(path)
    }

    /// True if the rows of `list`, or the rows at top level if `list` is empty, have all of these members.
    pub fn has_all(&self, list: &str, members: &[&str]) -> bool {
        members.iter().all(|member| self.has(&path(list, member)))
    }

    /// True if the rows of `list`, or the rows at top level if `list` is empty, have one of these members.
    pub fn has_any(&self, list: &str, members: &[&str]) -> bool {
        members.iter().any(|member| self.has(&path(list, member)))
    }

    /// True if any string in the text begins with `beginning`.
    pub fn has_value_from(&self, beginning: &str) -> bool {
        memchr::memmem::find(&self.bytes, format!("\"{beginning}").as_bytes()).is_some()
    }

    /// True if the text contains this value in quotes.
    pub fn says(&self, value: &str) -> bool {
        memchr::memmem::find(&self.bytes, format!("\"{value}\"").as_bytes()).is_some()
    }
}

fn path(list: &str, member: &str) -> String {
    if list.is_empty() { member.to_owned() } else { format!("{list}.{member}") }
}

/// True if the bytes may be JSON, in any encoding. A quoted string may be JSON that was encoded twice.
fn begins_like_json(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    first.is_none_or(|byte| matches!(byte, b'{' | b'[' | b'"' | 0 | 0xfe | 0xff))
}

/// True if the name of a member allows JSON. People rename exports, so any extension is accepted unless it belongs to
/// another kind of file.
pub fn is_candidate(member: &Member) -> bool {
    let is_junk = member.file_name().starts_with("._") || member.name.split('/').any(|part| part == "__MACOSX");
    !is_junk && may_be_json(member)
}

/// Claims the files that `test` accepts, with one claim for each folder or archive. `test` returns the version or
/// layout of a file.
pub fn claims(
    catalog: &Catalog,
    confidence: f64,
    reason: &str,
    test: impl Fn(&Head) -> Option<&'static str>,
) -> Vec<Claim> {
    let found = catalog.members().iter().filter(|member| is_candidate(member)).filter_map(|member| {
        let head = Head::of(catalog, member)?;
        let version = test(&head)?;
        Some((member, version))
    });
    let mut groups: BTreeMap<(usize, Option<usize>), Claim> = BTreeMap::new();
    for (member, version) in found {
        let claim = groups.entry((member.root, member.archive)).or_insert_with(|| Claim {
            version: Some(version.to_owned()).filter(|v| !v.is_empty()),
            confidence,
            reason: reason.to_owned(),
            parts: vec![],
            missing_parts: vec![],
        });
        claim.parts.push(Part { member: member.id, role: Role::Memories });
    }
    groups.into_values().collect()
}
