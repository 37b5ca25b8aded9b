//! The validator. It does not verify the signature of the store, but returns the signature to the caller.
use super::{
    bundle::Bundle,
    conformance::{check_conformance, signed_outline},
    keys,
    report::Integrity,
};
use mementory_format::{FormatError, Signed, Validation};
use mementory_json::Tree;

/// Validates a source. An unsigned source is an error if `trust` contains keys.
pub(super) fn validate(bundle: &Bundle, trust: &[String]) -> Result<Validation, FormatError> {
    let mut report = match check_conformance(bundle, &mut || Ok(())) {
        Ok(report) => report,
        Err(FormatError::Version { place, version }) => {
            let mut out = Validation { version: Some(version), ..Validation::default() };
            let message = "another major version: this validator knows 1.x".into();
            out.errors.push(mementory_format::Finding { code: "unsupported_version".into(), place, message });
            return Ok(out);
        }
        Err(other) => return Err(other),
    };
    let block = report.outline.as_ref().and_then(|o| o.get("signature")).filter(|s| **s != Tree::Null);
    let text_of = |name: &str| block.and_then(|b| b.get(name)).and_then(Tree::as_str).map(str::to_owned);
    let (algorithm, key) = (text_of("algorithm"), text_of("public_key"));
    let shown_key = match (algorithm.as_deref(), &key) {
        (Some(algorithm), Some(key)) if keys::algorithm_name(algorithm).is_some() => {
            keys::public_key(algorithm, key).map(hex::encode)
        }
        _ => key.clone(),
    };
    let signature = (block.is_some(), algorithm, None, None, shown_key);
    if !signature.0 && !trust.is_empty() {
        let place = bundle.store.map_or("", |s| s.place.as_str());
        report.error("signature_missing", place, "the export is not signed, and a signature is asked for");
    }
    Ok(Validation {
        version: report.version,
        level: None,
        records: report.records,
        kind: report.kind,
        unsigned: !signature.0,
        signature,
        errors: report.errors,
        warnings: report.warnings,
    })
}

/// Calls `visit` with the store's signature and the bytes that it covers. If the checksum is missing or wrong, the
/// signature proves nothing about the memories, so an empty signature is passed, which is never valid.
pub(super) fn signatures(
    bundle: &Bundle,
    visit: &mut dyn FnMut(Signed) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let Some(store) = bundle.store else { return Ok(()) };
    let Some((outline, integrity)) = signed_outline(bundle)? else { return Ok(()) };
    let is_intact = matches!(integrity, Integrity::Matches | Integrity::MatchesSdkForm);
    signed(&outline, is_intact, &store.place).map_or(Ok(()), visit)
}

/// The signature of a store. `outline` is the store without its records, and `is_intact` is true if its checksum is
/// correct.
pub(super) fn signed(outline: &Tree, is_intact: bool, place: &str) -> Option<Signed> {
    let block = outline.get("signature").filter(|block| **block != Tree::Null)?;
    let text_of = |name: &str| block.get(name).and_then(Tree::as_str).unwrap_or_default();
    let algorithm = keys::algorithm_name(text_of("algorithm"));
    let message = keys::payload(outline);
    let may_be_valid = is_intact && message.is_some();
    // If the signature cannot be decoded, the key is still reported, with an empty signature, which is never valid.
    let value = keys::from_base64url(text_of("value")).filter(|_| may_be_valid).unwrap_or_default();
    let key = algorithm.and_then(|_| keys::public_key(text_of("algorithm"), text_of("public_key")));
    let token = key.map(|key| (key, value));
    Some(Signed {
        tombstone: None,
        place: format!("{place}/signature"),
        token,
        message: message.unwrap_or_default(),
        algorithm: algorithm.unwrap_or("unknown").into(),
    })
}
