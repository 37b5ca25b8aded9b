//! Secrets in the clear (spec §8.3: no file of an archive contains a credential that is not encrypted).
use super::findings::Findings;
use super::manifest::Archive;
use mementory_format::{FormatError, Member};
use mementory_scan::{Class, Confidence, scan};

/// Largest file that is searched. A file of settings or notes is smaller.
const MAX_BYTES: u64 = 4 << 20;
/// Folders whose files are searched.
const FOLDERS: [&str; 2] = ["raw/", "artifacts/"];

/// True if the text contains a key or token whose form alone shows that it is a secret.
pub(super) fn has_secret(text: &str) -> bool {
    scan(text).iter().any(|found| {
        matches!(found.class, Class::AccessKey | Class::PrivateKey) && found.confidence == Confidence::VeryLikely
    })
}

/// Reports raw files and artifacts that contain a secret in the clear. If the archive is encrypted as a whole, this is
/// only a warning.
pub(super) fn check_files(archive: &Archive<'_>, findings: &mut Findings) -> Result<(), FormatError> {
    for (name, member) in &archive.entries {
        if FOLDERS.iter().any(|folder| name.starts_with(folder)) && member.size <= MAX_BYTES {
            let bytes = match archive.catalog.bytes(member, MAX_BYTES) {
                Ok(bytes) => bytes,
                // The check of the container reports damage.
                Err(FormatError::Io { source, .. }) if mementory_model::is_damage(&source) => continue,
                Err(error) => return Err(error),
            };
            check_text(archive, member, &String::from_utf8_lossy(&bytes), findings);
        }
    }
    Ok(())
}

/// Reports a secret in the clear in the text of an entry.
pub(super) fn check_text(archive: &Archive<'_>, member: &Member, text: &str, findings: &mut Findings) {
    if has_secret(text) {
        let message = "a key or token that is not encrypted";
        match archive.catalog.is_decrypted(member.root) {
            true => findings.warning(FINDING_CODE, &member.place, message),
            false => findings.error(FINDING_CODE, &member.place, message),
        }
    }
}

/// Reports a secret in the text of a memory. A person may have written it, so it is only a warning.
pub(super) fn check_memory(line: &str, place: &str, findings: &mut Findings) {
    if has_secret(line) {
        findings.warning(FINDING_CODE, place, "a key or token that is not encrypted");
    }
}

const FINDING_CODE: &str = "secret_in_the_clear";
