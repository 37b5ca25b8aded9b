//! Parts that numbering implies and that are not there, where no manifest says what there should be.
use super::{
    attachments::last,
    detect::{is_portal_part, number},
};
use mementory_format::plain_name;
use std::collections::{BTreeMap, BTreeSet};

/// More missing numbers than this below the highest are not a gap but another way of counting.
const MOST: u64 = 1000;

/// `conversations-001.json` when 000 and 002 are there. Shards count from 0.
pub(super) fn shards<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let present: BTreeSet<u64> = names.filter_map(number).collect();
    missing(&present, 0).map(|n| format!("conversations-{n:03}.json")).collect()
}

/// `Conversations__x-chatgpt-0001-part-0002.zip` when part 1 and part 3 are there. Parts count from 1, archives too.
pub(super) fn portal_parts<'a>(places: impl Iterator<Item = &'a str>) -> Vec<String> {
    // An empty part was not opened: it is a member itself.
    let archives: BTreeSet<&str> =
        places.flat_map(|place| place.split("!/")).map(last).filter(|name| is_portal_part(name)).collect();
    let mut numbers: BTreeMap<String, (BTreeSet<u64>, usize)> = BTreeMap::new();
    for archive in archives {
        let stem = archive.get(..plain_name(archive).len().saturating_sub(4)).unwrap_or(archive);
        let mut rest = Some(stem);
        while let Some((prefix, number)) = rest.and_then(numbered) {
            let entry = numbers.entry(prefix.to_owned()).or_insert((BTreeSet::new(), 4));
            entry.0.extend(number.parse::<u64>().ok());
            entry.1 = number.len();
            rest = prefix.strip_suffix("-part-");
        }
    }
    let gaps = |(prefix, (present, width)): (&String, &(BTreeSet<u64>, usize))| {
        missing(present, 1).map(|n| format!("{prefix}{n:0width$}.zip")).collect::<Vec<_>>()
    };
    numbers.iter().flat_map(gaps).collect()
}

/// Digits at the end, and what stands before them.
fn numbered(stem: &str) -> Option<(&str, &str)> {
    let at = stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    (at < stem.len() && at > 0).then(|| stem.split_at(at))
}

fn missing(present: &BTreeSet<u64>, first: u64) -> impl Iterator<Item = u64> {
    let last = present.last().copied().unwrap_or(first);
    let expected = if last.saturating_sub(first) < MOST + present.len() as u64 { first..last } else { 0..0 };
    expected.filter(|n| !present.contains(n))
}
