//! Detects files of memory engines by the keys at their start.
use super::json_head::may_be_json;
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role};
use std::{collections::BTreeMap, sync::Arc};

/// The start of a JSON file.
pub struct Head<'c> {
    /// True if the text begins with a list.
    pub is_list: bool,
    json: JsonHead<'c>,
}

impl<'c> Head<'c> {
    /// The start of a member. None if the member cannot be read or is not JSON.
    pub fn of(catalog: &'c Catalog, member: &'c Member) -> Option<Self> {
        let json = JsonHead::of(catalog, member)?;
        matches!(json.first, b'{' | b'[').then(|| Self { is_list: json.first == b'[', json })
    }

    /// The start of a member. None if its name shows that it is not JSON, if it cannot be read, or if its content is not
    /// JSON.
    pub fn candidate(catalog: &'c Catalog, member: &'c Member) -> Option<Self> {
        is_candidate(member).then(|| Self::of(catalog, member)).flatten()
    }

    /// The decoded bytes at the start of the file.
    pub fn bytes(&self) -> Arc<[u8]> {
        self.json.bytes()
    }

    /// True if a JSON member with this name has a string as its value.
    pub fn has_text_value(&self, name: &str) -> bool {
        let bytes = self.bytes();
        [":\"", ": \""]
            .iter()
            .any(|between| memchr::memmem::find(&bytes, format!("\"{name}\"{between}").as_bytes()).is_some())
    }

    /// True if the start of the file contains this path of keys.
    pub fn has(&self, path: &str) -> bool {
        self.json.keys.has(path)
    }

    /// True if the start of the file has a key with one of these names, at any level.
    pub fn has_name(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.json.keys.has_name(name))
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
    pub fn has_value_starting_with(&self, beginning: &str) -> bool {
        memchr::memmem::find(&self.bytes(), format!("\"{beginning}").as_bytes()).is_some()
    }

    /// True if the text contains this value in quotes.
    pub fn says(&self, value: &str) -> bool {
        memchr::memmem::find(&self.bytes(), format!("\"{value}\"").as_bytes()).is_some()
    }
}

fn path(list: &str, member: &str) -> String {
    if list.is_empty() { member.to_owned() } else { format!("{list}.{member}") }
}

/// True if a member may be JSON by its name. People rename exports, so any extension is accepted unless it belongs to
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
    claims_with_roles(catalog, confidence, reason, |member| Some((test(&Head::of(catalog, member)?)?, Role::Memories)))
}

/// Like [`claims`], but `test` receives the whole member instead of its start. `test` returns the version or layout of
/// a file, and its role.
pub fn claims_with_roles(
    catalog: &Catalog,
    confidence: f64,
    reason: &str,
    test: impl Fn(&Member) -> Option<(&'static str, Role)>,
) -> Vec<Claim> {
    let candidates = catalog.members().iter().filter(|member| is_candidate(member));
    let files = candidates.filter_map(|member| test(member).map(|(version, role)| (member, version, role)));
    let mut groups: BTreeMap<(usize, Option<usize>), Claim> = BTreeMap::new();
    for (member, version, role) in files {
        let claim = groups.entry((member.root, member.archive)).or_insert_with(|| Claim {
            version: Some(version.to_owned()).filter(|v| !v.is_empty()),
            confidence,
            reason: reason.to_owned(),
            parts: vec![],
            missing_parts: vec![],
        });
        claim.parts.push(Part { member: member.id, role });
    }
    groups.into_values().collect()
}
