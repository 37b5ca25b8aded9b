//! A change as a unified diff.
use similar::TextDiff;
use std::path::Path;

/// The change of a file from `before` to `after`; empty if there is none. A missing file is `/dev/null`.
pub(crate) fn unified(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let name = path.display().to_string();
    let header = |side: Option<&str>| if side.is_some() { name.clone() } else { "/dev/null".into() };
    TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default())
        .unified_diff()
        .header(&header(before), &header(after))
        .to_string()
}
