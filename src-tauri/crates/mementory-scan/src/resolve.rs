//! Of overlapping findings, which stay.
use std::collections::BTreeMap;

use crate::Finding;

/// The findings in order, without overlaps. The more certain wins, then the longer, then the earlier class (a token
/// in the place of a password is a token).
pub(crate) fn resolve(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by(|a, b| {
        b.confidence
            .cmp(&a.confidence)
            .then((b.end - b.start).cmp(&(a.end - a.start)))
            .then(a.class.cmp(&b.class))
            .then(a.start.cmp(&b.start))
    });
    let mut kept: BTreeMap<usize, Finding> = BTreeMap::new();
    for finding in found {
        // Those kept do not overlap, so only the last one that starts before this one's end can touch it.
        let free = kept.range(..finding.end).next_back().is_none_or(|(_, other)| other.end <= finding.start);
        if free && finding.start < finding.end {
            kept.insert(finding.start, finding);
        }
    }
    kept.into_values().collect()
}
