//! Detects files of memory engines by the keys at their start.
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_json::{Keys, decoded_head, keys_of};
use std::collections::BTreeMap;

/// Number of bytes of a file that detection reads.
const HEAD_BYTES: usize = 64 << 10;
/// Extensions of files that may be JSON.
const ENDINGS: [&str; 6] = ["json", "jsonl", "ndjson", "txt", "af", "data"];

/// The start of a JSON file.
pub struct Head {
    /// True if the text begins with a list.
    pub is_list: bool,
    keys: Keys,
    bytes: Vec<u8>,
}

impl Head {
    /// The start of a member. None if the member cannot be read or is not JSON.
    pub fn of(catalog: &Catalog, member: &Member) -> Option<Self> {
        let head = catalog.read(member, |r| decoded_head(r, HEAD_BYTES).map_err(|e| FormatError::io(&member.place, e)));
        Self::of_bytes(head.ok()?)
    }

    /// The start of a text. None if the text is not JSON.
    pub fn of_bytes(bytes: Vec<u8>) -> Option<Self> {
        let first = *bytes.iter().find(|b| !b.is_ascii_whitespace())?;
        matches!(first, b'{' | b'[').then(|| Self { is_list: first == b'[', keys: keys_of(&bytes), bytes })
    }

    /// True if this path of keys was found.
    pub fn has(&self, path: &str) -> bool {
        self.keys.has(path)
    }

    /// True if all of these members were found in the rows of `list`. If `list` is empty, in rows at top level.
    pub fn has_all(&self, list: &str, members: &[&str]) -> bool {
        members.iter().all(|member| self.has(&path(list, member)))
    }

    /// True if one of these members was found in the rows of `list`.
    pub fn has_any(&self, list: &str, members: &[&str]) -> bool {
        members.iter().any(|member| self.has(&path(list, member)))
    }

    /// True if the text contains this value in quotes.
    pub fn says(&self, value: &str) -> bool {
        memchr::memmem::find(&self.bytes, format!("\"{value}\"").as_bytes()).is_some()
    }
}

fn path(list: &str, member: &str) -> String {
    if list.is_empty() { member.to_owned() } else { format!("{list}.{member}") }
}

/// True if the name of a member allows JSON.
pub fn is_candidate(member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    let is_junk = name.starts_with("._") || member.name.split('/').any(|part| part == "__MACOSX");
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    !is_junk && ending.is_none_or(|ending| ENDINGS.contains(&ending))
}

/// Claims the files that `test` accepts, with one claim for each folder or archive. `test` returns the version or
/// layout.
pub fn claims(
    catalog: &Catalog,
    confidence: f64,
    reason: &str,
    test: impl Fn(&Head) -> Option<&'static str>,
) -> Vec<Claim> {
    let found = catalog.members().iter().filter(|member| is_candidate(member)).filter_map(|member| {
        let version = test(&Head::of(catalog, member)?)?;
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
