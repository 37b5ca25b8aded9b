//! What can be said of one memory without the others: its faults, its canonical text, the hash of its content. That is
//! most of the work of a check, and is done on all cores, some thousand memories at a time.
use super::{
    check::{Fault, check},
    hash::content_hash,
    jcs::canonical,
    shapes::MEMORY,
};
use keepsake_model::json::Tree;
use serde_json::value::RawValue;
use std::num::NonZero;

/// Memories in work at a time: bounds what is held besides the document.
pub(super) const BATCH: usize = 4096;

/// One memory, looked at.
pub(super) struct Examined {
    /// It.
    pub tree: Tree,
    /// RFC 8785; None when a number has no canonical form.
    pub canonical: Option<String>,
    /// By the tables.
    pub faults: Vec<Fault>,
    /// What its `content_hash` should be, if it has a content.
    pub hash: Option<String>,
}

/// In the order of `raws`; None for one that is nested too deep or no Unicode.
pub(super) fn examine(raws: &[&RawValue], depth: u32) -> Vec<Option<Examined>> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = raws.len().div_ceil(cores).max(1);
    let work = |part: &[&RawValue]| part.iter().map(|raw| one(raw, depth)).collect::<Vec<_>>();
    let (first, rest) = raws.split_at(share.min(raws.len()));
    std::thread::scope(|scope| {
        let others: Vec<_> = rest.chunks(share).map(|part| (part, scope.spawn(move || work(part)))).collect();
        let mut out = work(first);
        for (part, other) in others {
            // A thread that could not do its part leaves it to this one.
            out.extend(other.join().unwrap_or_else(|_| work(part)));
        }
        out
    })
}

fn one(raw: &RawValue, depth: u32) -> Option<Examined> {
    let tree = Tree::parse(raw.get(), depth).ok()?;
    let canonical = canonical(&tree);
    let faults = check(&MEMORY, &tree);
    let hash = tree.get("content").and_then(Tree::as_str).map(content_hash);
    Some(Examined { tree, canonical, faults, hash })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn order_and_number_are_those_of_the_input() {
        for count in [0, 1, 2, 3, 7, 100] {
            let texts: Vec<String> = (0..count).map(|n| format!(r#"{{"id":"{n}"}}"#)).collect();
            let raws: Vec<&RawValue> = texts.iter().map(|t| serde_json::from_str(t).unwrap()).collect();
            let found = examine(&raws, 8);
            let ids =
                found.iter().map(|e| e.as_ref().unwrap().tree.get("id").and_then(Tree::as_str).unwrap().to_owned());
            assert!(ids.eq((0..count).map(|n| n.to_string())), "{count}");
        }
        let deep: &RawValue = serde_json::from_str("[[[[1]]]]").unwrap();
        assert!(examine(&[deep], 2)[0].is_none());
    }
}
