//! Names of the parts of an export.

/// True for the name of a part of a privacy portal export: `Conversations__…zip`, `Files__…zip`, `Ads__…zip`.
pub(super) fn is_portal_part(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".zip") && ["conversations__", "files__", "ads__"].iter().any(|p| name.starts_with(p))
}

/// The number of a conversation file: `000` in `conversations-000.json`.
pub(super) fn shard_number(name: &str) -> Option<u64> {
    let suffix = name.strip_prefix("conversations-")?;
    let digits = suffix.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}
