//! Detects histories by their messages, and chats of SillyTavern by the members of their lines.
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::files::json_keys;
use mementory_json::Keys;
use std::collections::BTreeMap;

/// What a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    /// `{histories:{histories:[{msgs:[…]}]}}`, or lists of turns.
    Histories,
    /// Lines with `mes` and `is_user`.
    Tavern,
}

/// Shape, root and archive of files that belong together.
type Group = (Shape, Option<usize>, Option<usize>);

/// One claim for each shape in each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut groups: BTreeMap<Group, Vec<&Member>> = BTreeMap::new();
    for member in catalog.members() {
        let Some(shape) = json_keys(catalog, member).and_then(|keys| shape_of(&keys)) else { continue };
        let is_loose = member.archive.is_none() && member.place == member.name;
        groups.entry((shape, (!is_loose).then_some(member.root), member.archive)).or_default().push(member);
    }
    let claim = |((shape, ..), found): (Group, Vec<&Member>)| Claim {
        version: Some(if shape == Shape::Histories { "histories" } else { "tavern" }.into()),
        confidence: 0.9,
        reason: match shape {
            Shape::Histories => format!("{} files with histories of Character.AI", found.len()),
            Shape::Tavern => format!("{} files with chats in SillyTavern's format", found.len()),
        },
        parts: found.iter().map(|m| Part { member: m.id, role: Role::Conversations }).collect(),
        missing_parts: vec![],
    };
    groups.into_iter().map(claim).collect()
}

/// Determines the shape of a file from its keys. None if another program wrote the file.
pub(super) fn shape_of(keys: &Keys) -> Option<Shape> {
    let is_message = |at: &str| {
        let has_below = |key: &str| keys.has_below(&format!("{at}.{key}"));
        has_below("src") && (has_below("text") || has_below("created"))
            || has_below("turn_key") && has_below("candidates")
    };
    let has_lines = keys.has("mes") && (keys.has("is_user") || keys.has("send_date"));
    if is_message("msgs") || is_message("turns") { Some(Shape::Histories) } else { has_lines.then_some(Shape::Tavern) }
}
