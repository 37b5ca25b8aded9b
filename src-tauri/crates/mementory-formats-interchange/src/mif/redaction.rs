//! Describes values that were masked or redacted: in `redactions` of an element (spec §6.1) and in `privacy` of the
//! document (§7). Positions and lengths are in bytes, as in the reference program; the specification defines no unit.
//! The values themselves are never written.
use super::{
    sections::Section,
    wire::{Shape, json, text, texts},
};
use mementory_format::extension::is_slot_name;
use mementory_format::{REDACTED, Redaction, StoredRecord};
use mementory_json::{Tree, value_of};
use mementory_model::Record;
use std::{borrow::Cow, collections::BTreeSet};

/// Name of the member of an element that lists its redactions.
const REDACTIONS_MEMBER: &str = "redactions";
/// Classes of personal data that Mementory or the specification defines.
const PERSONAL_CLASSES: [&str; 12] = [
    "email",
    "phone",
    "phone_number",
    "card",
    "credit_card",
    "iban",
    "national_id",
    "ssn",
    "name",
    "address",
    "person",
    "pii",
];
const SECRET_CLASSES: [&str; 8] =
    ["access_key", "private_key", "password", "stored_secret", "api_key", "token", "secret", "credential"];

/// Adds the redactions of a record's text to the redactions that its element already lists. Returns the record with the
/// complete list in its fields, because a reader of the element will produce that record.
pub(super) fn attach<'r>(
    stored: &'r StoredRecord,
    section: &Section,
    shape: Shape,
    tree: &mut Tree,
) -> Cow<'r, Record> {
    let record = Cow::Borrowed(&stored.record);
    let content = text(tree, "content").unwrap_or_default();
    // Version 2 has no `redactions`. The positions apply only if the content is the record's text and not its title.
    let redactions_apply =
        shape == Shape::V1 && matches!(section.key, "memory" | "todo") && record.text.starts_with(content);
    if !redactions_apply || stored.redactions.is_empty() {
        return record;
    }
    let mut list = match tree.get(REDACTIONS_MEMBER) {
        Some(Tree::Array(items)) => items.clone(),
        _ => vec![],
    };
    // Redactions that the imported element already lists are not added again.
    let mut listed_classes: Vec<String> = list.iter().filter_map(|r| text(r, "type").map(str::to_owned)).collect();
    for redaction in stored.redactions.iter().filter(|r| r.mark.end <= content.len()) {
        let listed_position =
            listed_classes.iter().position(|class| redaction.value.is_none() && *class == redaction.class);
        match listed_position {
            Some(at) => drop(listed_classes.swap_remove(at)),
            None => list.push(redaction_entry(redaction)),
        }
    }
    let list = Tree::Array(list);
    let mut record = record;
    record.to_mut().fields.insert(REDACTIONS_MEMBER.into(), value_of(&list));
    tree.set(REDACTIONS_MEMBER, list);
    record
}

/// True if a redaction has no position, or if its position matches its original length.
pub(super) fn has_valid_position(redaction: &Tree) -> bool {
    let Some(Tree::Array(range)) = redaction.get("position") else { return true };
    let ends: Vec<f64> = range.iter().filter_map(Tree::as_f64).collect();
    let length = redaction.get("original_length").and_then(Tree::as_f64);
    match ends.as_slice() {
        [from, to] => from <= to && length.is_none_or(|l| (to - from - l).abs() < 0.5),
        _ => false,
    }
}

fn redaction_entry(redaction: &Redaction) -> Tree {
    let number = |n: usize| Tree::Number(n.to_string());
    let mut out = Tree::Object(vec![("type".into(), Tree::Text(redaction.class.clone()))]);
    if let Some(at) = &redaction.value {
        out.set("original_length", number(at.len()));
        out.set("position", Tree::Array(vec![number(at.start), number(at.end)]));
    }
    out
}

/// Fields of a document that contain redaction marks, and the types of data that the marks replace.
#[derive(Default)]
pub(super) struct Privacy {
    fields: BTreeSet<String>,
    personal: bool,
    secrets: bool,
}

impl Privacy {
    /// Collects the redaction marks in an element.
    pub fn note_marks(&mut self, element: &str, depth: u32) {
        if !element.contains(REDACTED) {
            return;
        }
        for (at, _) in element.match_indices(REDACTED) {
            let class = element[at + REDACTED.len()..].split(']').next().unwrap_or_default();
            self.personal |= PERSONAL_CLASSES.contains(&class);
            self.secrets |= SECRET_CLASSES.contains(&class);
        }
        if let Ok(Tree::Object(members)) = Tree::parse(element, depth) {
            let marked = members.into_iter().filter(|(k, v)| !is_slot_name(k) && json(v).contains(REDACTED));
            self.fields.extend(marked.map(|(name, _)| name));
        }
    }

    /// The `privacy` object: `declared`, updated with the redaction marks that were found. `values_were_scanned` is
    /// true if all records were scanned for sensitive values; the object then also states which types of data were not
    /// found. None if there are no marks and the records were not scanned.
    pub fn privacy_object(&self, declared: Option<&Tree>, values_were_scanned: bool) -> Option<Tree> {
        if !values_were_scanned && !self.personal && !self.secrets && self.fields.is_empty() {
            return None;
        }
        let mut out = declared.filter(|tree| matches!(tree, Tree::Object(_))).cloned().unwrap_or(Tree::Object(vec![]));
        for (name, found) in [("pii_detected", self.personal), ("secrets_detected", self.secrets)] {
            if found || values_were_scanned && out.get(name).is_none() {
                out.set(name, Tree::Bool(found));
            }
        }
        let mut fields = super::wire::list(&out, "redacted_fields");
        fields.extend(self.fields.iter().filter(|name| !fields.contains(name)).cloned().collect::<Vec<_>>());
        out.set("redacted_fields", texts(&fields));
        Some(out)
    }
}
