//! Checks one entry on its own, so that all cores can work on the entries of a batch.
use super::{
    cited_event::CitedEvent,
    entry::{check_contract, digests, entry_fault, order_in_event, parse_element, seq},
    envelope::BundleKind,
};
use mementory_json::{Tree, canonical::MAX_INTEGER_DIGITS};
use mementory_model::Bounds;

/// What the validator reports about one entry.
#[derive(Default)]
pub(super) struct CheckedEntry {
    /// Error message if the text is not an entry.
    pub malformed: Option<String>,
    /// Code and message of each fault.
    pub faults: Vec<(&'static str, String)>,
    /// Sequence number of the event, and the position within the event. None if the entry has a fault that makes it
    /// unreadable.
    pub event_position: Option<(u64, u8)>,
    /// The event that the entry is, if it is one that can be compared with the others.
    pub cited_event: Option<CitedEvent>,
    /// True if a key occurs twice in one object.
    pub repeats_a_key: bool,
    /// True if the entry is in a subset and its index is missing or not a whole number.
    pub lacks_index: bool,
}

impl CheckedEntry {
    /// Result for a text that is not an entry.
    pub(super) fn malformed(why: String) -> Self {
        Self { malformed: Some(why), ..Self::default() }
    }

    /// Checks the text of an element of `entries` or `disclosed`.
    pub(super) fn of(kind: BundleKind, text: &str, bounds: Bounds) -> Self {
        let (wrapped, tree) = match parse_element(kind, text, bounds) {
            Ok(parsed) => parsed,
            Err(why) => return Self::malformed(why),
        };
        // Only a long text can contain a number that is too long to be hashed.
        if text.len() > MAX_INTEGER_DIGITS
            && let Err(why) = digests(&tree)
        {
            return Self::malformed(why);
        }
        let mut out = Self {
            repeats_a_key: wrapped.repeats_a_key || tree.repeats_a_key_at_any_depth(),
            lacks_index: kind == BundleKind::Subset && !wrapped.index.as_ref().is_some_and(is_index),
            ..Self::default()
        };
        match entry_fault(&tree) {
            Some(fault) => out.faults.push(fault),
            None => {
                check_contract(&tree, &mut |code, why| out.faults.push((code, why.to_owned())));
                out.cited_event = CitedEvent::of(&tree);
                out.event_position = Some((seq(&tree).unwrap_or_default(), order_in_event(&tree)));
            }
        }
        out
    }
}

/// True if `value` is a whole number without a sign, as the index of a disclosed entry must be.
pub(super) fn is_index(value: &Tree) -> bool {
    matches!(value, Tree::Number(n) if n.bytes().all(|b| b.is_ascii_digit()))
}
