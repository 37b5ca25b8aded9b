//! The validator (spec v1.1 §9) reports all errors and warnings. Signatures are listed but not verified, because
//! formats have no cryptography library (see [`super::signatures`]).
use super::{
    bundle::{Bundle, SIGNATURE_FILE},
    conformance::{CheckDepth, Severity, check_bundle},
    signatures,
};
use mementory_format::{Finding, FormatError, Validation};
use mementory_model::is_damage;

/// Validates a bundle. If `trust` has keys, a bundle without a signature is an error.
pub(super) fn validate(bundle: &Bundle, trust: &[String]) -> Result<Validation, FormatError> {
    let mut report = check_bundle(bundle, CheckDepth::Full, &mut || Ok(()))?;
    // Refuses a bundle of another major version, because the rules of that version are unknown.
    if let Some(refusal @ FormatError::Version { .. }) = report.fatal_error(bundle, &[]) {
        return Err(refusal);
    }
    let signature =
        if report.manifest.is_some() { signature_state(bundle, trust, &mut report)? } else { Default::default() };
    let findings_of = |are_errors: bool| -> Vec<Finding> {
        let matching_findings = report.findings.iter().filter(|(s, _, _)| (*s != Severity::Warning) == are_errors);
        matching_findings.map(|(_, _, f)| Finding { place: bundle.place_of(&f.place), ..f.clone() }).collect()
    };
    Ok(Validation {
        version: report.manifest.as_ref().map(|m| m.format.clone()),
        level: report.manifest.as_ref().map(|m| m.level.clone()),
        records: report.lines.iter().filter(|(k, _)| *k != "tombstone").map(|(_, n)| n).sum(),
        kind: report.manifest.as_ref().map(|m| m.mode.clone()),
        unsigned: false,
        signature,
        errors: findings_of(true),
        warnings: findings_of(false),
    })
}

/// Type of [`Validation::signature`].
type SignatureState = (bool, Option<String>, Option<bool>, Option<bool>, Option<String>);

fn signature_state(
    bundle: &Bundle,
    trust: &[String],
    report: &mut super::conformance::Report,
) -> Result<SignatureState, FormatError> {
    let bytes = match bundle.bytes(SIGNATURE_FILE) {
        // `check_bundle` has already reported the damage.
        Err(FormatError::Io { source, .. }) if is_damage(&source) => {
            return Ok((true, Some("Ed25519".into()), None, None, None));
        }
        other => other?,
    };
    let Some(bytes) = bytes else {
        if !trust.is_empty() {
            report.add_finding(
                Severity::Error,
                "signature_missing",
                SIGNATURE_FILE,
                "manifest.sig missing (signature required)",
            );
        }
        return Ok((false, None, None, None, None));
    };
    let token = std::str::from_utf8(&bytes).ok().and_then(|t| signatures::parse_token(t.trim()));
    Ok((true, Some("Ed25519".into()), None, None, token.map(|(key, _)| hex::encode(key))))
}
