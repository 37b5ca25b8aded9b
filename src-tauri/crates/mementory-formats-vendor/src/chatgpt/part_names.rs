//! Names of the parts of an export.

/// True for the name of a part of a privacy portal export: `Conversations__…zip`, `Files__…zip`, `Ads__…zip`. Other
/// programs write such names with a single underscore, so a name with a single underscore must also contain
/// `-chatgpt-`, `-files-` or `-ads-`.
pub(super) fn is_portal_part(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_part = |prefix: &str, word: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('_') || rest.contains(word))
    };
    name.ends_with(".zip")
        && (is_part("conversations_", "-chatgpt-") || is_part("files_", "-files-") || is_part("ads_", "-ads-"))
}

/// True for the name of an archive of user files (`Files__…`, `Files_…-files-0001`), or of the folder into which it was
/// unpacked.
pub(super) fn contains_user_files(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.strip_prefix("files_").is_some_and(|rest| rest.starts_with('_') || rest.contains("-files-"))
}

/// Returns the number of a conversation file, which is `000` in `conversations-000.json`.
pub(super) fn shard_number(name: &str) -> Option<u64> {
    let suffix = name.strip_prefix("conversations-")?;
    let digits = suffix.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_portal_parts_have_one_or_two_underscores() {
        for name in ["Conversations__a-chatgpt-0001.zip", "Conversations_a-chatgpt-0001-part-0002.zip", "Files__x.zip"]
        {
            assert!(is_portal_part(name), "{name}");
        }
        for name in ["conversations_2024.zip", "Files_backup.zip", "Conversations__a.json"] {
            assert!(!is_portal_part(name), "{name}");
        }
        assert!(contains_user_files("Files_a-files-0001.zip") && !contains_user_files("Files_old"));
    }
}
