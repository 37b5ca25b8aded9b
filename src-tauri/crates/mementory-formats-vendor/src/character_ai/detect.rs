//! Detects histories by the keys of their messages, chats of SillyTavern by the keys of their lines, and characters.
use super::card;
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::files::{json_keys, root_of};
use mementory_json::Keys;
use std::collections::BTreeMap;

/// The shape of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    /// `{histories:{histories:[{msgs:[…]}]}}`, or lists of turns.
    Histories,
    /// Lines with `mes` and `is_user`.
    Tavern,
    /// A character, as JSON or in a picture.
    Card,
}

impl Shape {
    fn as_str(self) -> &'static str {
        match self {
            Self::Histories => "histories",
            Self::Tavern => "tavern",
            Self::Card => "card",
        }
    }

    fn role(self) -> Role {
        if self == Self::Card { Role::Projects } else { Role::Conversations }
    }
}

/// Shape, root and archive of files that form one claim.
type Group = (Shape, Option<usize>, Option<usize>);

/// Returns one claim for each shape in each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut groups: BTreeMap<Group, Vec<&Member>> = BTreeMap::new();
    for member in catalog.members() {
        let Some(shape) = shape_in(catalog, member) else { continue };
        groups.entry((shape, root_of(member), member.archive)).or_default().push(member);
    }
    let claim = |((shape, ..), found): (Group, Vec<&Member>)| Claim {
        version: Some(shape.as_str().into()),
        confidence: 0.9,
        reason: match shape {
            Shape::Card => format!("{} files with characters of SillyTavern", found.len()),
            Shape::Histories => format!("{} files with histories of Character.AI", found.len()),
            Shape::Tavern => format!("{} files with chats in SillyTavern's format", found.len()),
        },
        parts: found.iter().map(|m| Part { member: m.id, role: shape.role() }).collect(),
        missing_parts: vec![],
    };
    groups.into_iter().map(claim).collect()
}

/// Determines the shape of a file. None if the file has none of the shapes, because another program wrote it.
pub(super) fn shape_in(catalog: &Catalog, member: &Member) -> Option<Shape> {
    let shape = json_keys(catalog, member).and_then(|keys| shape_of(&keys));
    shape.or_else(|| card::is_picture(catalog, member).then_some(Shape::Card))
}

fn shape_of(keys: &Keys) -> Option<Shape> {
    if card::is_card(keys) {
        return Some(Shape::Card);
    }
    let is_message = |at: &str| {
        let has_at_any_level = |key: &str| keys.has_at_any_level(&format!("{at}.{key}"));
        has_at_any_level("src") && (has_at_any_level("text") || has_at_any_level("created"))
            || has_at_any_level("turn_key") && has_at_any_level("candidates")
    };
    // A script that saves a chat may write only its turns, without a history around them.
    let is_turn = keys.has("turn_key.turn_id") && keys.has("candidates.raw_content");
    let has_lines = keys.has("mes") && (keys.has("is_user") || keys.has("send_date"));
    if is_message("msgs") || is_message("turns") || is_turn {
        return Some(Shape::Histories);
    }
    has_lines.then_some(Shape::Tavern)
}
