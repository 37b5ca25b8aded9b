//! Decides which overlapping findings are reported.
use std::collections::BTreeMap;

use crate::Finding;

/// The findings in text order, without overlaps. Of two findings that overlap, the one with the higher confidence is
/// returned. Ties are resolved by length (the longer one), and then by class (the class that is listed first), so that
/// a token used as a password is reported as a token.
pub(crate) fn resolve_overlaps(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| {
        b.confidence
            .cmp(&a.confidence)
            .then((b.end - b.start).cmp(&(a.end - a.start)))
            .then(a.class.cmp(&b.class))
            .then(a.start.cmp(&b.start))
    });
    let mut accepted: BTreeMap<usize, Finding> = BTreeMap::new();
    for finding in findings {
        // Accepted findings do not overlap each other, so only the last accepted finding that starts before the end of
        // this finding can overlap it.
        let last = accepted.range(..finding.end).next_back();
        let is_free = last.is_none_or(|(_, other)| other.end <= finding.start);
        if is_free && finding.start < finding.end {
            accepted.insert(finding.start, finding);
        }
    }
    accepted.into_values().collect()
}
