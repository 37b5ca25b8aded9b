//! Finds missing parts of exports without a manifest, by gaps in the numbers of the parts.
use super::{
    attachments::last_segment,
    part_names::{is_portal_part, shard_number},
};
use mementory_format::plain_name;
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of missing parts that is reported. If more numbers are missing, the numbers in the file names do not
/// count parts, and nothing is reported.
const MAX_MISSING_NUMBERS: u64 = 1000;

/// Returns the names of the missing conversation files, such as `conversations-001.json` if only the files 000 and 002
/// are present. Numbers start at 0.
pub(super) fn missing_shards<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let present: BTreeSet<u64> = names.filter_map(shard_number).collect();
    missing_numbers(&present, 0).map(|n| format!("conversations-{n:03}.json")).collect()
}

/// Returns the names of the missing archives of a portal export, such as `Conversations__x-chatgpt-0001-part-0002.zip`
/// if only the parts 1 and 3 are present. The numbers of archives and of parts start at 1.
pub(super) fn missing_portal_parts<'a>(places: impl Iterator<Item = &'a str>) -> Vec<String> {
    // A place contains the name of the archive in the middle (`….zip!/…`). An archive of 0 bytes is not opened, so its
    // place ends with its name.
    let archives: BTreeSet<&str> =
        places.flat_map(|place| place.split("!/")).map(last_segment).filter(|name| is_portal_part(name)).collect();
    let mut numbers: BTreeMap<String, (BTreeSet<u64>, usize)> = BTreeMap::new();
    for archive in archives {
        let stem = archive.get(..plain_name(archive).len().saturating_sub(4)).unwrap_or(archive);
        let mut remainder = Some(stem);
        while let Some((prefix, number)) = remainder.and_then(split_number) {
            let entry = numbers.entry(prefix.to_owned()).or_insert((BTreeSet::new(), 4));
            entry.0.extend(number.parse::<u64>().ok());
            entry.1 = number.len();
            remainder = prefix.strip_suffix("-part-");
        }
    }
    let missing_names = |(prefix, (present, width)): (&String, &(BTreeSet<u64>, usize))| {
        missing_numbers(present, 1).map(|n| format!("{prefix}{n:0width$}.zip")).collect::<Vec<_>>()
    };
    numbers.iter().flat_map(missing_names).collect()
}

/// Splits off the digits at the end of a name. None if the name does not end with a digit or consists only of digits.
fn split_number(stem: &str) -> Option<(&str, &str)> {
    let at = stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    (at < stem.len() && at > 0).then(|| stem.split_at(at))
}

fn missing_numbers(present: &BTreeSet<u64>, first: u64) -> impl Iterator<Item = u64> {
    let last = present.last().copied().unwrap_or(first);
    let expected =
        if last.saturating_sub(first) < MAX_MISSING_NUMBERS + present.len() as u64 { first..last } else { 0..0 };
    expected.filter(|n| !present.contains(n))
}
