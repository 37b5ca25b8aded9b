//! Finds the values of a member in the start of a file, whose JSON may be cut off.

/// The texts that follow the first 50 occurrences of a key in quotes.
pub(super) fn values_of<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let values = text.match_indices(key).take(50).filter_map(|(at, _)| {
        let rest = text.get(at + key.len()..)?.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        rest.split('"').next()
    });
    values.collect()
}
