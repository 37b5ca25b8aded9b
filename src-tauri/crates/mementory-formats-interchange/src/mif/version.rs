//! Version numbers of the format.

/// Major and minor number of a version.
pub(super) fn version_parts(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    let digits = |s: &str| !s.is_empty() && s.len() < 9 && s.bytes().all(|b| b.is_ascii_digit());
    (digits(major) && digits(minor)).then_some(())?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// True if this version can be read. The major number must be 1 or 2 (spec §9). The minor number may be missing.
pub(super) fn is_supported(version: &str) -> bool {
    let major = version_parts(version).map(|(major, _)| major).or_else(|| version.parse().ok());
    matches!(major, Some(1 | 2))
}
