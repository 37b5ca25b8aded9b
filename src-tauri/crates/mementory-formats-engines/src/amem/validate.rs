//! Checks an export. With the passphrase, every memory is decrypted and its signature is verified. Without the
//! passphrase, only the members that are not encrypted are checked.
use super::object::envelope;
use super::read::{exports, read};
use mementory_format::{Catalog, Detected, Finding, FormatError, Passphrase, Validation};
use mementory_formats_shared::check::{MAX_FINDINGS, findings};
use mementory_model::Limits;

pub(super) fn validate(
    catalog: &Catalog,
    detected: &Detected,
    limits: &Limits,
    passphrase: Option<&dyn Passphrase>,
) -> Result<Validation, FormatError> {
    if passphrase.is_some() {
        return findings(detected, |sink| read(catalog, detected, limits, passphrase, sink));
    }
    let mut out = findings(detected, |_| Ok(()))?;
    for (member, export) in exports(catalog, detected, limits)? {
        out.records += export.objects.len() as u64;
        for (n, sealed) in export.objects.iter().enumerate() {
            let Err(reason) = envelope(sealed, &export) else { continue };
            let (code, message) = reason.split_once(": ").unwrap_or(("malformed", reason));
            let place = format!("{}#/3/{n}", member.place);
            if out.errors.len() < MAX_FINDINGS {
                out.errors.push(Finding { code: code.into(), place, message: message.into() });
            }
        }
        let message = "the memories are encrypted; without the passphrase their content and signatures are not checked";
        out.warnings.push(Finding { code: "encrypted".into(), place: member.place.clone(), message: message.into() });
    }
    Ok(out)
}
