//! Finds secrets that are not encrypted, and removes them from exports. According to spec §8.3, no file of an archive
//! may contain an unencrypted credential.
use super::archive_writer::ArchiveWriter;
use super::findings::Findings;
use super::manifest::{Archive, DELTA_MANIFEST_FILE, MANIFEST_FILE};
use mementory_format::{FormatError, Member};
use mementory_formats_agents::openclaw::{
    files::{self, FileRole},
    redact::{REDACTED, has_secrets},
};
use mementory_model::{Limits, LossKind, LossReport};
use mementory_scan::scan_keys;
use std::io::Read;

/// Size in bytes of the largest file that is searched for secrets. Settings and notes are smaller.
const MAX_SEARCHED_BYTES: u64 = 4 << 20;
/// Folders whose files are searched for secrets.
const SEARCHED_FOLDERS: [&str; 2] = ["raw/", "artifacts/"];

/// True if the text contains a key or token that is recognisable as a secret by its format alone.
pub(super) fn has_secret(text: &str) -> bool {
    !scan_keys(text).is_empty()
}

/// True if the validator reports a secret in a file with these bytes.
pub(super) fn file_has_secret(bytes: &[u8]) -> bool {
    bytes.len() as u64 <= MAX_SEARCHED_BYTES && has_secret(&String::from_utf8_lossy(bytes))
}

/// Reads the start of a file, with at most as many bytes as [`file_has_secret`] needs.
pub(super) fn read_head(bytes: &mut dyn Read, place: &str) -> Result<Vec<u8>, FormatError> {
    let mut head = Vec::new();
    bytes.take(MAX_SEARCHED_BYTES + 1).read_to_end(&mut head).map_err(|e| FormatError::io(place, e))?;
    Ok(head)
}

/// The text with all secrets replaced. None if the result still contains a secret.
fn redact(text: &str) -> Option<String> {
    let (mut out, mut copied_until) = (String::with_capacity(text.len()), 0);
    for secret in scan_keys(text) {
        out.push_str(text.get(copied_until..secret.start)?);
        out.push_str(REDACTED);
        copied_until = secret.end;
    }
    out.push_str(text.get(copied_until..)?);
    (!has_secret(&out)).then_some(out)
}

/// Writes a file into the archive. Unless the archive is encrypted, secrets in a text file are replaced, and any other
/// file with secrets is left out. `loss_name` is the name of the file in the list of losses. Returns the digest, or
/// None if the file was left out.
pub(super) fn write_redacted(
    out: &mut ArchiveWriter,
    name: &str,
    loss_name: &str,
    mut bytes: &mut dyn Read,
    losses: &mut LossReport,
) -> Result<Option<String>, FormatError> {
    if out.is_encrypted() {
        return out.entry(name, bytes).map(|(_, digest)| Some(digest));
    }
    let head = read_head(&mut bytes, name)?;
    if !file_has_secret(&head) {
        return out.entry(name, &mut head.as_slice().chain(bytes)).map(|(_, digest)| Some(digest));
    }
    let Some(redacted) = std::str::from_utf8(&head).ok().and_then(redact) else {
        losses.add(loss_name, "secret", LossKind::LeftOut, LEFT_OUT_NOTE);
        return Ok(None);
    };
    losses.add(loss_name, "secret", LossKind::LeftOut, "keys and tokens in this file are replaced by <redacted>");
    out.entry(name, &mut redacted.as_bytes()).map(|(_, digest)| Some(digest))
}

/// Writes the identity or the principals. Unless the archive is encrypted, the secrets in their texts are replaced, which
/// is reported as a loss.
pub(super) fn write_document(
    out: &mut ArchiveWriter,
    name: &str,
    text: &str,
    losses: &mut LossReport,
) -> Result<(), FormatError> {
    let redacted_text = redacted_document(text, out.is_encrypted());
    if redacted_text.is_some() {
        report_redacted(name, losses);
    }
    out.entry(name, &mut redacted_text.as_deref().unwrap_or(text).as_bytes()).map(drop)
}

/// Replaces the secrets in the texts of a document (identity, principals or manifest). Returns None if the document
/// must be written unchanged, because it has no secrets or because the archive is encrypted.
pub(super) fn redacted_document(text: &str, is_encrypted: bool) -> Option<String> {
    redact(text).filter(|redacted| !is_encrypted && redacted != text)
}

/// Reports the secrets that [`redacted_document`] replaced in the document `name`.
pub(super) fn report_redacted(name: &str, losses: &mut LossReport) {
    losses.add(name, "secret", LossKind::LeftOut, "keys and tokens in these texts are replaced by <redacted>");
}

/// The loss note for a file that is not exported because of its secrets.
pub(super) const LEFT_OUT_NOTE: &str =
    "this file contains a key or token in the clear, so only an encrypted export has its content";

/// Reports raw files and artifacts that contain a secret in the clear. If the archive is encrypted as a whole, the
/// finding is only a warning. So is a file of a runtime that our exports would not write as it is.
pub(super) fn check_files(archive: &Archive<'_>, findings: &mut Findings) -> Result<(), FormatError> {
    for (name, member) in &archive.entries {
        if SEARCHED_FOLDERS.iter().any(|folder| name.starts_with(folder)) && member.size <= MAX_SEARCHED_BYTES {
            let bytes = match archive.catalog.bytes(member, MAX_SEARCHED_BYTES) {
                Ok(bytes) => bytes,
                // A damaged file is skipped here, because the catalog reports it.
                Err(FormatError::Io { source, .. }) if mementory_model::is_damage(&source) => continue,
                Err(error) => return Err(error),
            };
            let text = String::from_utf8_lossy(&bytes);
            check_text(archive, member, &text, findings);
            if let Some(message) = runtime_secret(name, &text).filter(|_| !has_secret(&text)) {
                findings.warning(FINDING_CODE, &member.place, message);
            }
        }
    }
    Ok(())
}

/// Says what kind of secret a file of a runtime seems to contain, judged by the name of the file or by the names of its
/// settings. Such a value need not look like a secret (a password, for example), and need not be one.
fn runtime_secret(name: &str, text: &str) -> Option<&'static str> {
    let (_, path) = name.strip_prefix("raw/")?.split_once('/')?;
    match files::role(path) {
        FileRole::Settings if has_secrets(text) => Some("this settings file holds a secret in the clear"),
        FileRole::Secret if !text.is_empty() => Some("this is a key file, whose content is a secret in the clear"),
        _ => None,
    }
}

/// Reports an unencrypted secret in the manifest, for example in the notes of the runtime (spec §3.2.5).
pub(super) fn check_manifest(archive: &Archive<'_>, limits: &Limits, findings: &mut Findings) {
    for member in [MANIFEST_FILE, DELTA_MANIFEST_FILE].into_iter().filter_map(|name| archive.entry(name)) {
        // Skips a manifest that cannot be read, because its reader reports it.
        if let Ok(text) = archive.text(member, limits) {
            check_text(archive, member, &text, findings);
        }
    }
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

/// Reports a secret in the text of a memory. The finding is only a warning, because a person may have written the
/// secret on purpose.
pub(super) fn check_memory(line: &str, place: &str, findings: &mut Findings) {
    if has_secret(line) {
        report_in_memory(place, findings);
    }
}

/// Reports that the text of a memory has a secret.
pub(super) fn report_in_memory(place: &str, findings: &mut Findings) {
    findings.warning(FINDING_CODE, place, "a key or token that is not encrypted");
}

const FINDING_CODE: &str = "secret_in_the_clear";
