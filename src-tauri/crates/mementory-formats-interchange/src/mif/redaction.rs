//! What is said of values that are covered or were taken out: `redactions` beside a content (specification §6.1), and
//! `privacy` in the metadata (§7). Positions and lengths are in bytes, which is how the reference program finds such
//! values; the specification names no unit. Never the value itself, and no number that is not known.
use super::{
    map::value,
    sections::Section,
    wire::{Shape, json, text, texts},
};
use mementory_format::extension::is_member;
use mementory_format::{REDACTED, Redaction, StoredRecord};
use mementory_json::Tree;
use mementory_model::Record;
use std::{borrow::Cow, collections::BTreeSet};

/// Name of the member.
const MEMBER: &str = "redactions";
/// Classes of marks that are of a person, ours and the words of the specification's list.
const PERSONAL: [&str; 12] = [
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
/// Classes of marks that open something.
const SECRETS: [&str; 7] = ["access_key", "private_key", "password", "api_key", "token", "secret", "credential"];

/// Puts the redactions of a record's text beside the content that the element has of it, behind those that it has; the
/// record with them in its fields, so that reading the element gives the same one.
pub(super) fn attach<'r>(
    stored: &'r StoredRecord,
    section: &Section,
    shape: Shape,
    tree: &mut Tree,
) -> Cow<'r, Record> {
    let record = Cow::Borrowed(&stored.record);
    let content = text(tree, "content").unwrap_or_default();
    // Version 2 has no such member; where the text is empty, the content is something else.
    let told = shape == Shape::V1 && matches!(section.key, "memory" | "todo") && record.text.starts_with(content);
    if !told || stored.redactions.is_empty() {
        return record;
    }
    let mut list = match tree.get(MEMBER) {
        Some(Tree::Array(items)) => items.clone(),
        _ => vec![],
    };
    // What came in with its redactions and was redacted since: marks that are told of already.
    let mut known: Vec<String> = list.iter().filter_map(|r| text(r, "type").map(str::to_owned)).collect();
    for redaction in stored.redactions.iter().filter(|r| r.mark.end <= content.len()) {
        let before = known.iter().position(|class| redaction.value.is_none() && *class == redaction.class);
        match before {
            Some(at) => drop(known.swap_remove(at)),
            None => list.push(of(redaction)),
        }
    }
    let list = Tree::Array(list);
    let mut record = record;
    record.to_mut().fields.insert(MEMBER.into(), value(&list));
    tree.set(MEMBER, list);
    record
}

fn of(redaction: &Redaction) -> Tree {
    let number = |n: usize| Tree::Number(n.to_string());
    let mut out = Tree::Object(vec![("type".into(), Tree::Text(redaction.class.clone()))]);
    if let Some(at) = &redaction.value {
        out.set("original_length", number(at.len()));
        out.set("position", Tree::Array(vec![number(at.start), number(at.end)]));
    }
    out
}

/// What marks in a document say of it.
#[derive(Default)]
pub(super) struct Privacy {
    fields: BTreeSet<String>,
    personal: bool,
    secrets: bool,
}

impl Privacy {
    /// Takes note of the marks in an element.
    pub fn note(&mut self, element: &str, depth: u32) {
        if !element.contains(REDACTED) {
            return;
        }
        for (at, _) in element.match_indices(REDACTED) {
            let class = element[at + REDACTED.len()..].split(']').next().unwrap_or_default();
            self.personal |= PERSONAL.contains(&class);
            self.secrets |= SECRETS.contains(&class);
        }
        if let Ok(Tree::Object(members)) = Tree::parse(element, depth) {
            let marked = members.into_iter().filter(|(k, v)| !is_member(k) && json(v).contains(REDACTED));
            self.fields.extend(marked.map(|(name, _)| name));
        }
    }

    /// The object, over what the document says already; None = there is nothing to say. `looked`: values were looked
    /// for, so without a mark none was found.
    pub fn object(&self, before: Option<&Tree>, looked: bool) -> Option<Tree> {
        if !looked && !self.personal && !self.secrets && self.fields.is_empty() {
            return None;
        }
        let mut out = before.filter(|tree| matches!(tree, Tree::Object(_))).cloned().unwrap_or(Tree::Object(vec![]));
        for (name, found) in [("pii_detected", self.personal), ("secrets_detected", self.secrets)] {
            if found || looked && out.get(name).is_none() {
                out.set(name, Tree::Bool(found));
            }
        }
        let mut fields = super::wire::list(&out, "redacted_fields");
        fields.extend(self.fields.iter().filter(|name| !fields.contains(name)).cloned().collect::<Vec<_>>());
        out.set("redacted_fields", texts(&fields));
        Some(out)
    }
}
