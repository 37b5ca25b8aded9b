//! Tests that the formats of notes and of local chat programs do not claim the shared samples of other vendors.
#![allow(clippy::unwrap_used)]
use crate::cases::claiming;
use mementory_format::testkit::shared;

/// Formats that accept notes and chats of many shapes, so that they could claim samples of other vendors by mistake.
const NOTES_AND_CHATS: [&str; 7] = ["basic_memory", "obsidian", "okf", "open_webui", "librechat", "lm_studio", "jan"];

#[test]
fn samples_of_vendors_are_not_claimed_as_notes_or_local_chats() {
    let Some(folder) = shared("exports") else { return };
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_own_sample = ["15-basic-memory", "17-obsidian-vault"].contains(&name.as_str());
        if is_own_sample || name.ends_with(".py") || name == "edge" {
            continue;
        }
        let formats = claiming(&path);
        let wrong_claims: Vec<_> = formats.iter().filter(|format| NOTES_AND_CHATS.contains(format)).collect();
        assert!(wrong_claims.is_empty(), "{name}: {formats:?}");
    }
}
