//! Signatures of stores (spec §18): builds the signature block, and signs an existing store.
use super::{
    bundle::{Bundle, KEY_SCOPE, STORE_LISTS},
    compose::{object, text_value},
    conformance::check_conformance,
    document::{self, Document},
    envelope, keys,
    report::Integrity,
    to_record,
};
use crate::detect;
use mementory_format::{Catalog, Finding, FormatError, Member, SignFiles, Signer, did_key};
use mementory_json::Tree;
use mementory_model::{Bounds, Limits, Timestamp};
use std::{iter, path::Path};

/// Refuses every key except an Ed25519 key. Only Ed25519 has a defined encoding (Appendix D).
pub(super) fn check_algorithm(signer: &dyn Signer) -> Result<(), FormatError> {
    match signer.algorithm() {
        "ed25519" => Ok(()),
        other => {
            let message = format!("PAM is signed with Ed25519, not with {other}");
            Err(FormatError::invalid("not_supported", KEY_SCOPE, message))
        }
    }
}

/// Builds the signature block of a store, with `now` as the time of the signature (`signed_at`). `outline` is the store
/// without its records.
///
/// # Errors
/// `signature_incomplete` if one of the four signed values is missing (§18.3), or an error of the signer.
pub(super) fn block(outline: &Tree, signer: &dyn Signer, now: &str) -> Result<Tree, FormatError> {
    let key = did_key::multikey(&signer.public_key());
    let did = format!("did:key:{key}");
    let message = keys::payload(outline).ok_or_else(|| {
        let message = "a signature is over integrity.checksum, export_id, export_date and owner.id, and one is missing";
        FormatError::invalid("signature_incomplete", "signature", message)
    })?;
    let value = signer.sign(&message)?;
    let owner_did = outline.get("owner").and_then(|owner| to_record::text(owner, "did"));
    let key_id = owner_did.is_none_or(|stated| stated == did).then(|| Tree::Text(format!("{did}#{key}")));
    Ok(object([
        ("algorithm", text_value("Ed25519")),
        ("public_key", text_value(key)),
        ("value", text_value(keys::base64url(&value))),
        ("signed_at", text_value(now)),
        ("key_id", key_id),
    ]))
}

impl SignFiles for super::Pam {
    fn signs_in_place(&self) -> bool {
        false
    }
    fn sign(
        &self,
        path: &Path,
        signer: &dyn Signer,
        out: &Path,
        now: Timestamp,
        limits: &Limits,
    ) -> Result<(), FormatError> {
        check_algorithm(signer)?;
        let catalog = Catalog::open(&[path.to_path_buf()], limits, None)?;
        let found = detect(&catalog, limits, Some(KEY_SCOPE))?;
        let place = || path.display().to_string();
        let [source] = found.sources.as_slice() else {
            return Err(FormatError::invalid("not_one_store", place(), "exactly one PAM export is needed here"));
        };
        let bundle = Bundle::open(&catalog, source, limits)?;
        let Some(store) = bundle.store.filter(|store| path.is_file() && store.archive.is_none()) else {
            let message =
                "only the file of a memory store is signed, not a folder or an archive; sign memory-store.json";
            return Err(FormatError::invalid("not_supported", place(), message));
        };
        check(&bundle, store)?;
        let text = signed_text(&bundle, store, signer, now)?;
        std::fs::write(out, text).map_err(|error| FormatError::io(out.display().to_string(), error))
    }
}

/// Refuses a store with errors, because a signature would confirm its content. Faults of the previous signature are
/// ignored, because it is replaced.
fn check(bundle: &Bundle, store: &Member) -> Result<(), FormatError> {
    let report = check_conformance(bundle, &mut || Ok(()))?;
    let of_signature = format!("{}/signature", store.place);
    let is_of_signature =
        |error: &Finding| error.code.starts_with("signature_") || error.place.starts_with(&of_signature);
    if let Some(error) = report.errors.iter().find(|error| !is_of_signature(error)) {
        return Err(FormatError::invalid("not_valid", error.place.clone(), error.message.clone()));
    }
    match report.integrity {
        Integrity::Matches | Integrity::MatchesSdkForm => Ok(()),
        Integrity::None | Integrity::Mismatch => {
            let message = "without a checksum of the memories there is nothing to sign";
            Err(FormatError::invalid("signature_incomplete", format!("{}/integrity", store.place), message))
        }
    }
}

/// Returns the text of the store with a new signature. The values of all other members are copied byte for byte.
fn signed_text(bundle: &Bundle, store: &Member, signer: &dyn Signer, now: Timestamp) -> Result<String, FormatError> {
    let text = document::read_text(bundle.catalog, store, bundle.limits)?;
    let doc = Document::open(&text, &store.place)?;
    let outline = doc.outline(&STORE_LISTS, Bounds::from(bundle.limits));
    let exported = outline.get("export_date").and_then(Tree::as_str).and_then(Timestamp::parse);
    // A store is not signed before it was exported (§18.5), even if a clock was wrong.
    let signed_at = exported.map_or(now, |exported| exported.max(now)).to_rfc3339();
    let mut signature = String::new();
    block(&outline, signer, &signed_at)?.write(&mut signature);
    let others = doc.members.iter().filter(|(key, _)| key != "signature").map(|(key, raw)| (key.as_ref(), raw.get()));
    Ok(format!("{}\n", envelope::object(others.chain(iter::once(("signature", signature.as_str()))))))
}
