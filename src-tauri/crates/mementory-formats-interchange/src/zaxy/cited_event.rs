//! Finds events that occur more than once. A citation names one sealed event, so all entries that cite it as an event
//! must be equal.
use super::{
    canonical::canonical,
    entry::{order_in_event, text_member},
    extension::without_extension,
    to_record::is_forgotten,
};
use mementory_json::Tree;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, hash_map::Entry};

/// Half of a SHA-256 digest: enough to compare, and a bundle may have a million events.
type ShortDigest = [u8; 16];

/// The citation of an event and its entry, as digests.
#[derive(Debug, Clone, Copy)]
pub(super) struct CitedEvent {
    citation: ShortDigest,
    entry: ShortDigest,
}

impl CitedEvent {
    /// None if the entry is not an event. Also None for an erased event, because a bundle that was made before the
    /// erasure has another entry for it.
    pub(super) fn of(tree: &Tree) -> Option<Self> {
        if order_in_event(tree) != 0 || tree.get("content")?.get("payload").is_some_and(is_forgotten) {
            return None;
        }
        // The extension slot may differ between two exports of the same record.
        let entry = canonical(&without_extension(tree)).ok()?;
        Some(Self { citation: short_digest(text_member(tree, "citation")?)?, entry: short_digest(&entry)? })
    }
}

fn short_digest(text: &str) -> Option<ShortDigest> {
    Sha256::digest(text).first_chunk().copied()
}

/// How an event relates to the earlier ones with the same citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occurrence {
    First,
    /// An earlier entry is equal.
    Repeated,
    /// An earlier entry has the same citation and another content.
    Conflicting,
}

/// The events so far.
#[derive(Debug, Default)]
pub(super) struct CitedEvents(HashMap<ShortDigest, ShortDigest>);

impl CitedEvents {
    pub(super) fn add(&mut self, event: CitedEvent) -> Occurrence {
        match self.0.entry(event.citation) {
            Entry::Vacant(place) => {
                place.insert(event.entry);
                Occurrence::First
            }
            Entry::Occupied(first) if *first.get() == event.entry => Occurrence::Repeated,
            Entry::Occupied(_) => Occurrence::Conflicting,
        }
    }
}
