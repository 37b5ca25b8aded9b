//! One entry (`zaxy.export.v1`): its wrapper, its digests, and the check against Zaxy's export contract.
use super::{
    canonical::canonical,
    envelope::{BundleKind, ENTRY_VERSION, from_hex},
    merkle::{Hash, MAX_PROOF_STEPS, Side, leaf},
};
use mementory_json::{Members, Tree};
use mementory_model::{Bounds, Timestamp};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// An element of `entries` or `disclosed`, split into its wrapper and its entry.
#[derive(Debug)]
pub(super) struct Wrapped<'a> {
    /// Text of the entry.
    pub content: &'a str,
    /// `id` of the entry in a signed bundle.
    pub id: Option<Tree>,
    /// `index` of a disclosed entry.
    pub index: Option<Tree>,
    /// `proof` of a disclosed entry.
    pub proof: Option<Tree>,
    /// Unknown members of the wrapper.
    pub extra: Vec<(String, Tree)>,
    /// True if a key occurs twice in the wrapper or in one of its members other than the entry.
    pub repeats_a_key: bool,
}

/// Splits an element into its wrapper and the text of its entry. If a key occurs several times, the last member is
/// used, as in the reference implementation.
fn split_element(bundle_kind: BundleKind, text: &str, bounds: Bounds) -> Result<Wrapped<'_>, String> {
    let unwrapped = Wrapped { content: text, id: None, index: None, proof: None, extra: vec![], repeats_a_key: false };
    if bundle_kind == BundleKind::Unsigned {
        return Ok(unwrapped);
    }
    let members: Members = serde_json::from_str(text).map_err(|_| "not an object".to_owned())?;
    let mut out = Wrapped { content: "", repeats_a_key: has_repeated_key(&members), ..unwrapped };
    let mut extra: HashMap<String, (usize, Tree)> = HashMap::new();
    for (at, (key, raw)) in members.0.into_iter().enumerate() {
        if key == "content" {
            out.content = raw.get();
            continue;
        }
        let value = Tree::from_raw(raw, bounds).map_err(|e| e.to_string())?;
        out.repeats_a_key |= value.repeats_a_key_at_any_depth();
        match (key.as_ref(), bundle_kind) {
            ("id", BundleKind::Signed) => out.id = Some(value),
            ("index", BundleKind::Subset) => out.index = Some(value),
            ("proof", BundleKind::Subset) => out.proof = Some(value),
            _ => drop(extra.insert(key.into_owned(), (at, value))),
        }
    }
    let mut extra: Vec<_> = extra.into_iter().collect();
    extra.sort_unstable_by_key(|(_, (at, _))| *at);
    out.extra = extra.into_iter().map(|(key, (_, value))| (key, value)).collect();
    if out.content.is_empty() { Err("content is missing".into()) } else { Ok(out) }
}

fn has_repeated_key(members: &Members<'_>) -> bool {
    let mut keys: HashSet<&str> = HashSet::with_capacity(members.0.len());
    !members.0.iter().all(|(key, _)| keys.insert(key))
}

/// Splits an element into its wrapper and its entry, and parses the entry.
pub(super) fn parse_element(kind: BundleKind, text: &str, bounds: Bounds) -> Result<(Wrapped<'_>, Tree), String> {
    let wrapped = split_element(kind, text, bounds)?;
    let tree = Tree::parse(wrapped.content, bounds).map_err(|e| e.to_string())?;
    Ok((wrapped, tree))
}

/// Parses a proof: a list of `[hash, side]` from leaf to root. The side is `L` or `R`, or `left` or `right` as in the
/// example of the specification.
pub(super) fn parse_proof(tree: &Tree) -> Option<Vec<(Hash, Side)>> {
    let Tree::Array(steps) = tree else { return None };
    if steps.len() > MAX_PROOF_STEPS {
        return None;
    }
    let step = |step: &Tree| match step {
        Tree::Array(pair) => match pair.as_slice() {
            [Tree::Text(hash), Tree::Text(side)] => {
                let side = match side.as_str() {
                    "L" | "left" => Side::Left,
                    "R" | "right" => Side::Right,
                    _ => return None,
                };
                Some((Hash::try_from(from_hex(hash)?).ok()?, side))
            }
            _ => None,
        },
        _ => None,
    };
    steps.iter().map(step).collect()
}

/// Converts a proof to JSON, with the sides `L` and `R`.
pub(super) fn proof_tree(steps: &[(Hash, Side)]) -> Tree {
    let step = |(hash, side): &(Hash, Side)| {
        let side = if *side == Side::Left { "L" } else { "R" };
        Tree::Array(vec![Tree::Text(hex::encode(hash)), Tree::Text(side.into())])
    };
    Tree::Array(steps.iter().map(step).collect())
}

/// Id and Merkle leaf of an entry.
pub(super) fn digests(content: &Tree) -> Result<(String, Hash), String> {
    let text = canonical(content).map_err(|_| "a number is too long".to_owned())?;
    Ok((hex::encode(Sha256::digest(&text)), leaf(&text)))
}

/// A parsed citation `eventloom://<thread>/events/<seq>#<hash>`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Citation<'a> {
    /// Thread of the event.
    pub thread: &'a str,
    /// Number of the event, in digits.
    pub seq: &'a str,
    /// Hash of the event: 64 hex digits without prefix.
    pub hash: &'a str,
}

/// Parses a complete citation.
pub(super) fn citation(text: &str) -> Option<Citation<'_>> {
    let path = text.strip_prefix("eventloom://")?;
    let (place, hash) = path.rsplit_once('#')?;
    let (thread, seq) = place.rsplit_once("/events/")?;
    let is_number = !seq.is_empty() && !seq.starts_with('0') && seq.bytes().all(|b| b.is_ascii_digit());
    let is_hex = hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    (is_number && is_hex && !thread.is_empty()).then_some(Citation { thread, seq, hash })
}

/// Grain of an entry: an event, or knowledge derived from an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Grain {
    /// A sealed event.
    Event,
    /// An entity or edge derived from an event.
    Semantic,
}

impl Grain {
    /// Name of the grain in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Semantic => "semantic",
        }
    }

    /// Returns the grain with this name. None if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Event, Self::Semantic].into_iter().find(|g| g.as_str() == name)
    }
}

pub(super) fn text_member<'a>(tree: &'a Tree, key: &str) -> Option<&'a str> {
    tree.get(key).and_then(Tree::as_str)
}

/// Code and message of the fault that makes an entry unreadable, if any.
pub(super) fn entry_fault(tree: &Tree) -> Option<(&'static str, String)> {
    let missing_fault = |what: &str| Some(("malformed_entry", format!("{what} is missing or of the wrong type")));
    match (tree, tree.get("schema_version")) {
        (Tree::Object(_), Some(Tree::Text(version))) if version == ENTRY_VERSION => {}
        (Tree::Object(_), Some(Tree::Text(_))) => {
            return Some(("unsupported_version", "the entry has a version that is not known here".into()));
        }
        (Tree::Object(_), _) => return missing_fault("schema_version"),
        _ => return Some(("malformed_entry", "not an object".into())),
    }
    let Some(grain) = text_member(tree, "grain") else { return missing_fault("grain") };
    let Some(kind) = text_member(tree, "kind") else { return missing_fault("kind") };
    let Some(content @ Tree::Object(_)) = tree.get("content") else { return missing_fault("content") };
    let missing_of = |names: &[&str]| {
        names.iter().find(|n| text_member(content, n).is_none()).and_then(|n| missing_fault(&format!("content.{n}")))
    };
    match Grain::parse(grain) {
        Some(Grain::Event) => match content.get("payload") {
            Some(Tree::Object(_)) => missing_of(&["type", "actor", "thread"]),
            _ => missing_fault("content.payload"),
        },
        Some(Grain::Semantic) if kind.starts_with("entity:") => missing_of(&["name", "entity_type"]),
        Some(Grain::Semantic) if kind.starts_with("edge:") => missing_of(&["source", "target", "relation_type"]),
        Some(Grain::Semantic) => Some(("malformed_entry", "kind is neither entity: nor edge:".into())),
        None => Some(("malformed_entry", "grain is neither event nor semantic".into())),
    }
}

/// Code of the first fault that makes an entry unreadable. If there is none, code of the first violation of the
/// contract.
pub(super) fn first_fault(tree: &Tree) -> Option<&'static str> {
    let mut first = entry_fault(tree).map(|(code, _)| code);
    if first.is_none() {
        check_contract(tree, &mut |code, _| first = first.or(Some(code)));
    }
    first
}

/// Checks a readable entry against the remaining rules of the contract. Calls `visit` with the code and message of each
/// violation.
pub(super) fn check_contract(tree: &Tree, visit: &mut dyn FnMut(&'static str, &str)) {
    let grain = text_member(tree, "grain").and_then(Grain::parse);
    let cited = text_member(tree, "citation").and_then(citation);
    if cited.is_none() {
        visit("citation_malformed", "citation is not eventloom://<thread>/events/<seq>#<64 hex digits>");
    }
    let seq = match tree.get("seq") {
        Some(Tree::Number(token)) if !token.starts_with(['-', '0']) && token.bytes().all(|b| b.is_ascii_digit()) => {
            Some(token.as_str())
        }
        _ => None,
    };
    match (seq, &cited) {
        (None, _) => visit("malformed_entry", "seq is not a whole number from 1"),
        (Some(seq), Some(cited)) if cited.seq != seq => visit("seq_mismatch", "seq is not the number in the citation"),
        _ => {}
    }
    for name in ["valid_from", "valid_to"] {
        match tree.get(name) {
            Some(Tree::Text(text)) if !is_time(text) => visit("bad_value", &format!("{name} is not an ISO 8601 time")),
            Some(Tree::Null | Tree::Text(_)) => {}
            _ => visit("malformed_entry", &format!("{name} is missing or of the wrong type")),
        }
    }
    let is_edge = grain == Some(Grain::Semantic) && text_member(tree, "kind").is_some_and(|k| k.starts_with("edge:"));
    if !is_edge && matches!(tree.get("valid_to"), Some(Tree::Text(_))) {
        visit("bad_value", "valid_to is not null, but only an edge ends to be valid");
    }
    let lane = if grain == Some(Grain::Event) { "eventloom" } else { "extraction" };
    if text_member(tree, "source") != Some(lane) {
        visit("malformed_entry", &format!("source is not {lane}"));
    }
    let Some(content) = tree.get("content") else { return };
    let kind = text_member(tree, "kind").unwrap_or_default();
    let (word_in_kind, content_member) = match grain {
        Some(Grain::Event) => {
            if cited.as_ref().is_some_and(|c| text_member(content, "thread") != Some(c.thread)) {
                visit("thread_mismatch", "content.thread is not the thread in the citation");
            }
            (Some(kind), "type")
        }
        _ if kind.starts_with("entity:") => (kind.strip_prefix("entity:"), "entity_type"),
        _ => (kind.strip_prefix("edge:"), "relation_type"),
    };
    if text_member(content, content_member) != word_in_kind {
        visit("kind_mismatch", &format!("kind is not what content.{content_member} says"));
    }
    if grain == Some(Grain::Semantic) {
        check_semantic_content(content, is_edge, visit);
    }
}

/// Checks the types of the optional members of a semantic entry's content. Each of them may be absent or null.
fn check_semantic_content(content: &Tree, is_edge: bool, visit: &mut dyn FnMut(&'static str, &str)) {
    type TypeCheck = fn(&Tree) -> bool;
    let text: TypeCheck = |value| matches!(value, Tree::Text(_));
    // A number beyond a double has no canonical text that is JSON.
    let number: TypeCheck =
        |value| matches!(value, Tree::Number(token) if token.parse::<f64>().is_ok_and(f64::is_finite));
    let object: TypeCheck = |value| matches!(value, Tree::Object(_));
    let boolean: TypeCheck = |value| matches!(value, Tree::Bool(_));
    let members: &[(&str, TypeCheck)] = if is_edge {
        &[("confidence", number), ("inferred", boolean), ("inference_method", text)]
    } else {
        &[("summary", text), ("properties", object)]
    };
    for (name, has_type) in members {
        if content.get(name).is_some_and(|value| *value != Tree::Null && !has_type(value)) {
            visit("malformed_entry", &format!("content.{name} is of the wrong type"));
        }
    }
}

/// True for a date or time in ISO 8601, with or without a time zone. A date may be only a year, or a year and a month.
pub(super) fn is_time(text: &str) -> bool {
    // `Timestamp::parse` ignores white space around a time, and accepts offsets of more than a day.
    let offset = text.get(10..).and_then(|time| time.rsplit_once(['+', '-'])).and_then(|(_, offset)| offset.get(..2));
    let is_valid_offset = offset.and_then(|hours| hours.parse::<u8>().ok()).is_none_or(|hours| hours <= 23);
    if !is_valid_offset || text.trim() != text {
        return false;
    }
    ["", "Z", "T00:00:00Z", "-01", "-01-01"].iter().any(|suffix| Timestamp::parse(&format!("{text}{suffix}")).is_some())
}

/// Sort key of an entry among the entries of one event: first the event itself, then its entities, then its edges.
pub(super) fn order_in_event(tree: &Tree) -> u8 {
    match text_member(tree, "kind") {
        _ if text_member(tree, "grain") == Some("event") => 0,
        Some(kind) if kind.starts_with("entity:") => 1,
        _ => 2,
    }
}

/// Number of an entry. None if it is missing or does not fit into 64 bits.
pub(super) fn seq(tree: &Tree) -> Option<u64> {
    match tree.get("seq") {
        Some(Tree::Number(token)) => token.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_time_may_leave_out_its_day_or_its_month() {
        for text in ["2026", "2026-06", "2026-06-15", "2026-06-15T08:30:00", "2026-06-15T08:30:00.5+02:00"] {
            assert!(is_time(text), "{text}");
        }
        for text in ["", "yesterday", "20", "2026-13", "2026-6", "2026-06-31", "2026-", "06-15"] {
            assert!(!is_time(text), "{text}");
        }
    }

    #[test]
    fn a_time_has_an_offset_of_less_than_a_day_and_nothing_around_it() {
        for text in ["2026-06-15T08:30:00+23:59", "2026-06-15T08:30:00-23:59", "20260615T083000Z"] {
            assert!(is_time(text), "{text}");
        }
        for text in ["2026-06-15T08:30:00+24:00", "2026-06-15T08:30:00-25:00", "2026-06-15T08:30:00Z\n", " 2026"] {
            assert!(!is_time(text), "{text}");
        }
    }

    #[test]
    fn repeated_keys_of_a_wrapper_are_found() {
        let repeats_a_key =
            |text: &str| split_element(BundleKind::Signed, text, 16_u32.into()).map(|w| w.repeats_a_key);
        assert_eq!(repeats_a_key(r#"{"id":"a","content":{}}"#), Ok(false));
        for text in [
            r#"{"id":"a","id":"b","content":{}}"#,
            r#"{"content":{},"\u0063ontent":{}}"#,
            r#"{"content":{},"x":{"y":1,"y":2}}"#,
        ] {
            assert_eq!(repeats_a_key(text), Ok(true), "{text}");
        }
    }

    #[test]
    fn the_confidence_of_an_edge_is_finite() {
        let is_valid = |confidence: &str| {
            let content = Tree::parse(&format!(r#"{{"confidence":{confidence}}}"#), 16).unwrap();
            let mut is_valid = true;
            check_semantic_content(&content, true, &mut |_, _| is_valid = false);
            is_valid
        };
        assert!(is_valid("1.0") && is_valid("-0") && is_valid("null"));
        assert!(!is_valid("1e400") && !is_valid("\"1\""));
    }
}
