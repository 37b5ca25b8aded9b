//! The validator (spec v1.1 §9): everything that is wrong, and everything odd. Signatures are looked at, not verified:
//! that takes a key library, which formats do not have.
use super::{
    bundle::{Bundle, SIGNATURE},
    verify::{Severity, verify},
};
use crate::{Finding, FormatError, Validation};

/// Checks a bundle. `trust` holds the public keys (hex) of which one must have signed; empty = any or none.
pub(super) fn validate(bundle: &Bundle, trust: &[String]) -> Result<Validation, FormatError> {
    let mut report = verify(bundle, &mut || Ok(()))?;
    let signature = if report.manifest.is_some() { signature(bundle, trust, &mut report)? } else { Default::default() };
    let pick = |errors: bool| -> Vec<Finding> {
        let matching = report.findings.iter().filter(|(s, _, _)| (*s != Severity::Warning) == errors);
        matching.map(|(_, _, f)| Finding { place: bundle.place_of(&f.place), ..f.clone() }).collect()
    };
    Ok(Validation {
        version: report.manifest.as_ref().map(|m| m.format.clone()),
        level: report.manifest.as_ref().map(|m| m.level.clone()),
        records: report.lines.iter().filter(|(k, _)| *k != "tombstone").map(|(_, n)| n).sum(),
        kind: report.manifest.as_ref().map(|m| m.mode.clone()),
        signature,
        errors: pick(true),
        warnings: pick(false),
    })
}

type Signature = (bool, Option<String>, Option<bool>, Option<bool>, Option<String>);

fn signature(bundle: &Bundle, trust: &[String], report: &mut super::verify::Report) -> Result<Signature, FormatError> {
    let token = bundle.bytes(SIGNATURE)?.and_then(|b| String::from_utf8(b).ok()).map(|t| t.trim().to_owned());
    let Some(token) = token else {
        if !trust.is_empty() {
            report.add(Severity::Error, "signature_missing", SIGNATURE, "manifest.sig missing (signature required)");
        }
        return Ok((false, None, None, None, None));
    };
    let key = public_key(&token);
    let trusted = (!trust.is_empty())
        .then(|| key.as_ref().is_some_and(|key| trust.iter().any(|t| t.trim().eq_ignore_ascii_case(key))));
    if trusted == Some(false) {
        let message = "manifest signature invalid or not signed by a trusted key";
        report.add(Severity::Error, "signature_untrusted", SIGNATURE, message);
    } else if key.is_none() {
        report.add(Severity::Warning, "signature_malformed", SIGNATURE, "the signature is not an Ed25519 token");
    }
    report.add(Severity::Warning, "signature_not_checked", SIGNATURE, "the signature was not verified");
    Ok((true, Some("Ed25519".into()), None, trusted, key))
}

/// Public key of `ed25519:<64 hex>:<128 hex>`.
fn public_key(token: &str) -> Option<String> {
    let parts: Vec<&str> = token.split(':').collect();
    let [algorithm, key, signature] = parts.as_slice() else { return None };
    let hex = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_hexdigit());
    (*algorithm == "ed25519" && hex(key, 64) && hex(signature, 128)).then(|| key.to_ascii_lowercase())
}
