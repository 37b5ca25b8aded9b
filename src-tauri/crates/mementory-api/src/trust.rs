//! Verifies signatures and compares their keys with trusted ones. Formats only report which content was signed and how.
//! This module verifies the signatures.
use crate::{
    ApiError, ApiResult,
    types::{CheckedSignature, TombstoneSignature},
};
use mementory_crypto::portable::{self, Refusal};
use mementory_formats::{
    Catalog, Detected, Detection, Finding, Format, FormatError, Signed, Validation, by_id, did_key,
};
use mementory_model::{Issue, Limits};
use mementory_vault::MissingPart;
use std::collections::BTreeSet;

/// The trusted public keys. If the list is empty, signatures are verified but not required.
pub(crate) struct Trust(Vec<Vec<u8>>);

impl Trust {
    /// Parses keys in hex or as did:key.
    pub(crate) fn parse(keys: &[String]) -> ApiResult<Self> {
        Ok(Self(keys.iter().map(|key| public_key(key).map(|(_, bytes)| bytes)).collect::<ApiResult<_>>()?))
    }

    /// Verifies every signature of a file and adds the problems to the findings of `found`. An invalid signature is
    /// always an error, because the content differs from what was signed. If there are trusted keys, a missing
    /// signature and a signature by another key are errors too. A tombstone signed by another key is only a warning if
    /// the file itself is signed by a trusted key. If the signed digests do not match the content, the signature counts
    /// as invalid.
    pub(crate) fn verify_signatures(
        &self,
        format: &dyn Format,
        catalog: &Catalog,
        source: &Detected,
        limits: &Limits,
        found: &mut Validation,
    ) -> ApiResult<CheckedSignature> {
        let (present, algorithm, _, _, key) = found.signature.clone();
        let mut out = CheckedSignature { present, algorithm, key, ..CheckedSignature::default() };
        let mut problems: Vec<(bool, Finding)> = Vec::new();
        let mut visit = |signed: Signed| {
            let (verdict, trusted) = self.verdict(&signed);
            let valid = verdict.is_ok();
            let subject = if signed.tombstone.is_some() { "the tombstone's signature" } else { "the signature" };
            let (code, message) = match (verdict, trusted) {
                (Err(Refusal::Invalid), _) if signed.token.is_none() => {
                    ("signature_invalid", format!("{subject} is malformed"))
                }
                (Err(Refusal::Invalid), _) => {
                    ("signature_invalid", format!("{subject} is invalid: {CHANGED_OR_OTHER_KEY}"))
                }
                (Err(refusal), _) => ("signature_invalid", format!("{subject} {}", key_problem(refusal))),
                (Ok(()), Some(false)) => ("signature_untrusted", format!("{subject} is not by a trusted key")),
                (Ok(()), _) => ("", String::new()),
            };
            if !code.is_empty() {
                problems.push((valid, Finding { code: code.into(), place: signed.place.clone(), message }));
            }
            match signed.tombstone {
                // A tombstone may have two signatures, and both must be valid.
                Some(id) => match out.tombstones.last_mut().filter(|last| last.id == id) {
                    Some(last) => {
                        last.valid &= valid;
                        last.trusted = last.trusted.zip(trusted).map(|(last, this)| last && this);
                    }
                    None => out.tombstones.push(TombstoneSignature { id, valid, trusted }),
                },
                None => {
                    (out.valid, out.trusted) = (Some(valid), trusted);
                    // The key is always given in hex, whatever encoding the format uses, so that keys can be compared.
                    out.key = signed.token.map(|(key, _)| hex::encode(key)).or(out.key.take());
                }
            }
            Ok(())
        };
        let visited = match found.unsigned {
            true => Ok(()),
            false => format.signatures(catalog, source, limits, &mut visit),
        };
        match visited {
            // Content that cannot be read is ignored here, because the validator reports it.
            Ok(()) | Err(FormatError::Invalid { .. } | FormatError::Limit { .. }) => {}
            Err(other) => return Err(other.into()),
        }
        let is_required = !self.0.is_empty();
        if is_required && !present && !found.errors.iter().any(|f| f.code == "signature_missing") {
            let message = "the file is not signed, but a signature by a trusted key is required".into();
            found.errors.push(Finding { code: "signature_missing".into(), place: String::new(), message });
        }
        for (valid, finding) in problems {
            // A tombstone signed by another vault does not make the file invalid.
            let is_foreign_deletion = present && out.trusted == Some(true);
            let list =
                if !valid || is_required && !is_foreign_deletion { &mut found.errors } else { &mut found.warnings };
            list.push(finding);
        }
        let is_digest_error = |found: &Finding| format.digest_error_codes().contains(&found.code.as_str());
        if out.valid == Some(true) && found.errors.iter().any(is_digest_error) {
            (out.valid, out.trusted) = (Some(false), out.trusted.map(|_| false));
        }
        Ok(out)
    }

    /// Returns whether a signature is valid, and whether its key is trusted. The latter is None if there are no trusted
    /// keys. The key of an invalid signature is never trusted.
    fn verdict(&self, signed: &Signed) -> (Result<(), Refusal>, Option<bool>) {
        let token = signed.token.as_ref();
        let verdict = token.map_or(Err(Refusal::Invalid), |(key, signature)| {
            portable::check(&signed.algorithm, key, &signed.message, signature)
        });
        let is_known = token.is_some_and(|(key, _)| self.0.contains(key));
        (verdict, (!self.0.is_empty()).then_some(verdict.is_ok() && is_known))
    }
}

/// Why a well-formed signature can be invalid.
const CHANGED_OR_OTHER_KEY: &str = "the content was changed after it was signed, or another key signed it";

/// What is wrong with a signature whose key is not accepted, after "The signature".
fn key_problem(refusal: Refusal) -> String {
    match refusal {
        Refusal::RsaTooWeak(bits) => format!("proves nothing: its RSA key has {bits} bits, at least 2048 are needed"),
        Refusal::RsaTooLarge(bits) => {
            format!("was not verified: its RSA key has {bits} bits, at most 8192 are accepted")
        }
        Refusal::Invalid => "is invalid".into(),
    }
}

/// Parses a public key in hex or as did:key. Returns its algorithm and its canonical form.
///
/// # Errors
/// `bad_key`.
pub(crate) fn public_key(text: &str) -> ApiResult<(&'static str, Vec<u8>)> {
    let text = text.trim();
    let bytes = if text.starts_with("did:key:") { did_key(text) } else { hex::decode(text).ok() };
    let key = bytes.and_then(|bytes| portable::public_key(&bytes)).ok_or_else(|| {
        let message = "This is not a public key. Nothing was changed. Give it in hex (64 digits for Ed25519, 3904 for ML-DSA-65, \
                       a point for ECDSA, SubjectPublicKeyInfo for RSA of 2048 to 8192 bits) or as did:key:z…";
        ApiError::new("bad_key", 2, message)
    })?;
    let algorithm = match key.len() {
        32 => "ed25519",
        1952 => "ml-dsa-65",
        65 => "es256",
        97 => "es384",
        _ => "rsa",
    };
    Ok((algorithm, key))
}

/// The verified signatures of files to import.
#[derive(Debug, Default)]
pub(crate) struct Signers {
    /// Algorithm and key of every valid signature of a whole source.
    pub keys: Vec<(String, Vec<u8>)>,
    /// Ids of tombstones with an invalid signature.
    pub forged: BTreeSet<String>,
    /// All invalid signatures, including those of tombstones.
    pub invalid: Vec<InvalidSignature>,
}

/// An invalid signature in a file to import.
#[derive(Debug)]
pub(crate) struct InvalidSignature {
    pub place: String,
    /// None if the signature or its key is malformed.
    pub refusal: Option<Refusal>,
    /// True for the signature of a tombstone, false for the signature of a whole source.
    pub of_tombstone: bool,
    /// True if the signature states a key that this vault trusts or has seen. Somebody may then be impersonating the
    /// owner of the key.
    pub by_known_key: bool,
}

impl InvalidSignature {
    /// The warning for an import that dropped this invalid signature. None for a signature of a tombstone, which is
    /// reported when the tombstone is applied.
    pub(crate) fn dropped_warning(&self) -> Option<Issue> {
        let message = "the signature was invalid and was dropped: nothing proves who wrote the file, and its key was not \
                       remembered";
        (!self.of_tombstone).then(|| Issue::new("signature_invalid", &self.place, message))
    }
}

impl Signers {
    /// Removes the invalid signatures of tombstones in files that are not imported.
    pub(crate) fn leave_out(&mut self, missing: &[MissingPart]) {
        let is_in = |place: &str, file: &str| place.strip_prefix(file).is_some_and(|line| line.starts_with(':'));
        self.invalid.retain(|signature| {
            !signature.of_tombstone || !missing.iter().any(|part| is_in(&signature.place, &part.place))
        });
    }

    /// Refuses files with an invalid signature. `outcome` is a sentence for the message, such as "Nothing was
    /// imported."
    ///
    /// # Errors
    /// `signature_invalid`, with the place of the first invalid signature.
    pub(crate) fn refuse_invalid(&self, outcome: &str) -> ApiResult<()> {
        let of_whole_source = || self.invalid.iter().find(|signature| !signature.of_tombstone);
        let Some(first) = of_whole_source().or(self.invalid.first()) else { return Ok(()) };
        let subject = if first.of_tombstone { "The signature of a deletion in the file" } else { "The signature" };
        let problem = match (first.refusal, first.by_known_key && !first.of_tombstone) {
            (None, _) => format!("{subject} is malformed."),
            (Some(Refusal::Invalid), true) => format!(
                "{subject} is invalid: the file was changed after it was signed, or somebody misuses the key that it \
                 names, which this vault knows."
            ),
            (Some(Refusal::Invalid), false) => format!("{subject} is invalid: {CHANGED_OR_OTHER_KEY}."),
            (Some(refusal), _) => format!("{subject} {}.", key_problem(refusal)),
        };
        let message = format!(
            "{problem} {outcome} Get the file again from its author, or import it without the signature \
             (--accept-invalid-signature)."
        );
        Err(ApiError::new("signature_invalid", 1, message)
            .with("place", &first.place)
            .with("count", self.invalid.len()))
    }
}

/// Verifies every signature of the sources. A source that cannot be read counts as unsigned.
pub(crate) fn verify_signers(catalog: &Catalog, found: &Detection, limits: &Limits, is_known: IsKnown) -> Signers {
    let mut out = Signers::default();
    for source in &found.sources {
        let Some(format) = by_id(source.format) else { continue };
        let _ = format.signatures(catalog, source, limits, &mut |signed| {
            let verdict = Trust(Vec::new()).verdict(&signed).0;
            let by_known_key = signed.token.as_ref().is_some_and(|(key, _)| is_known(key));
            let of_tombstone = signed.tombstone.is_some();
            if let Err(refusal) = verdict {
                let refusal = signed.token.is_some().then_some(refusal);
                out.invalid.push(InvalidSignature { place: signed.place, refusal, of_tombstone, by_known_key });
                out.forged.extend(signed.tombstone);
            } else if !of_tombstone {
                out.keys.extend(signed.token.map(|(key, _)| (signed.algorithm, key)));
            }
            Ok(())
        });
    }
    out
}

/// A function that returns true if the vault trusts or has seen a public key.
type IsKnown<'a> = &'a dyn Fn(&Vec<u8>) -> bool;

/// Refuses to disclose part of a file whose signature is invalid, because nobody could verify that part.
///
/// # Errors
/// `signature_invalid`, with the place, if a signature of a whole source is invalid.
pub(crate) fn require_valid_signatures(catalog: &Catalog, found: &Detection, limits: &Limits) -> ApiResult<()> {
    let signers = verify_signers(catalog, found, limits, &|_| false);
    let Some(first) = signers.invalid.iter().find(|signature| !signature.of_tombstone) else { return Ok(()) };
    let problem = match first.refusal {
        None => "is malformed".into(),
        Some(Refusal::Invalid) => format!("is invalid: {CHANGED_OR_OTHER_KEY}"),
        Some(refusal) => key_problem(refusal),
    };
    let message = format!("The signature {problem}. Nothing was written. Get the file again from its author.");
    Err(ApiError::new("signature_invalid", 1, message).with("place", &first.place))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Job, files, types::Validation as Checked};
    use mementory_crypto::SigningKey;
    use serde_json::Value;
    use std::{
        collections::BTreeSet,
        path::{Path, PathBuf},
    };

    /// Copies a fixture to a temporary folder in order to sign it.
    fn bundle(name: &str) -> PathBuf {
        let from =
            Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/mem/small/input.mem");
        let to = std::env::temp_dir().join(format!("mementory-trust-{}-{name}.mem", std::process::id()));
        let _ = std::fs::remove_dir_all(&to);
        for dir in ["", "items", "audit"] {
            std::fs::create_dir_all(to.join(dir)).unwrap();
            let Ok(entries) = std::fs::read_dir(from.join(dir)) else { continue };
            for file in entries.map(|e| e.unwrap()).filter(|e| e.path().is_file()) {
                std::fs::copy(file.path(), to.join(dir).join(file.file_name())).unwrap();
            }
        }
        to
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    fn sign(bundle: &Path, key: &SigningKey, message: &[u8]) {
        let token = format!("ed25519:{}:{}\n", hex(&key.public()), hex(&key.sign(message)));
        std::fs::write(bundle.join("manifest.sig"), token).unwrap();
    }

    fn check(bundle: &Path, trust: &[String]) -> Checked {
        files::validate(bundle, &files::Check { trust, ..files::Check::default() }, &Job::default()).unwrap()
    }

    fn state(checked: &Checked) -> (bool, Option<bool>, Option<bool>) {
        (checked.ok, checked.signature.valid, checked.signature.trusted)
    }

    #[test]
    fn a_signature_is_trusted_only_if_it_is_valid() {
        let bundle = bundle("whole");
        let (ours, other) = (SigningKey::from_seed(&[7; 32]), SigningKey::from_seed(&[8; 32]));
        let keys = |key: &SigningKey| vec![hex(&key.public())];
        let manifest = std::fs::read(bundle.join("manifest.json")).unwrap();
        let checked = check(&bundle, &keys(&ours));
        assert_eq!((checked.ok, checked.errors[0].code.as_str()), (false, "signature_missing"));
        assert!(check(&bundle, &[]).ok);

        sign(&bundle, &ours, &manifest);
        assert_eq!(state(&check(&bundle, &[])), (true, Some(true), None));
        assert_eq!(state(&check(&bundle, &keys(&ours))), (true, Some(true), Some(true)));
        let checked = check(&bundle, &keys(&other));
        assert_eq!(state(&checked), (false, Some(true), Some(false)));
        assert_eq!(checked.errors[0].code, "signature_untrusted");

        // The key is trusted, but its signature is for different content.
        sign(&bundle, &ours, b"another manifest");
        let checked = check(&bundle, &keys(&ours));
        assert_eq!(state(&checked), (false, Some(false), Some(false)));
        assert_eq!(checked.errors[0].code, "signature_invalid");
        let checked = check(&bundle, &[]);
        assert_eq!(state(&checked), (false, Some(false), None));
        assert_eq!(checked.errors[0].code, "signature_invalid");

        // The signature is valid for the manifest, but the digests in the manifest do not match the content.
        sign(&bundle, &ours, &manifest);
        let file = bundle.join("items/episode.jsonl");
        let episodes = std::fs::read(&file).unwrap();
        std::fs::write(&file, episodes.iter().rev().copied().collect::<Vec<u8>>()).unwrap();
        let checked = check(&bundle, &keys(&ours));
        assert_eq!(state(&checked), (false, Some(false), Some(false)));
        assert!(checked.errors.iter().any(|error| error.code == "checksum_mismatch"));
        std::fs::write(&file, episodes).unwrap();

        std::fs::write(bundle.join("manifest.sig"), b"\xff\n").unwrap();
        assert_eq!(state(&check(&bundle, &keys(&ours))), (false, Some(false), Some(false)));
        std::fs::remove_dir_all(&bundle).unwrap();
    }

    #[test]
    fn signatures_of_tombstones_are_verified_one_by_one() {
        let key = SigningKey::from_seed(&[7; 32]);
        let line = |id: &str, signature: &str| {
            format!(
                r#"{{"actor":"a","deletedAt":"2026-01-01T00:00:00Z","derived":{{"chunkIDs":[],"edgeIDs":[],"embeddingCacheKeys":[],"entityIDs":[],"episodeLinkCount":0,"factIDs":[],"sentenceIDs":[]}},"id":"{id}","op":"delete"{signature},"targetID":"gone","targetKind":"episode"}}"#
            )
        };
        let token = |id: &str| {
            let signature = hex(&key.sign(line(id, "").as_bytes()));
            format!(r#","signature":"ed25519:{}:{signature}""#, hex(&key.public()))
        };
        let bundle = bundle("tombstones");
        let lines = [line("held", &token("held")), line("moved", &token("held")), line("bare", "")].join("\n");
        std::fs::write(bundle.join("audit/tombstones.jsonl"), lines).unwrap();
        let checked = check(&bundle, &[hex(&key.public())]);
        let verdicts: Vec<_> =
            checked.signature.tombstones.iter().map(|t| (t.id.as_str(), t.valid, t.trusted)).collect();
        assert_eq!(verdicts, [("held", true, Some(true)), ("moved", false, Some(false))]);
        assert!(
            checked.errors.iter().any(|e| e.code == "signature_invalid" && e.place.ends_with("tombstones.jsonl:2"))
        );
        std::fs::remove_dir_all(&bundle).unwrap();
    }

    #[test]
    fn the_reason_for_refusing_a_deletion_says_what_is_wrong_with_its_signature() {
        let reason = |refusal: Option<Refusal>, of_tombstone: bool| {
            let signature = InvalidSignature { place: "p".into(), refusal, of_tombstone, by_known_key: true };
            let signers = Signers { invalid: vec![signature], ..Signers::default() };
            signers.refuse_invalid("Nothing was imported.").unwrap_err().message
        };
        let deletion = "The signature of a deletion in the file";
        for (refusal, of_tombstone, expected) in [
            (None, true, format!("{deletion} is malformed. Nothing")),
            (Some(Refusal::Invalid), true, format!("{deletion} is invalid: {CHANGED_OR_OTHER_KEY}. Nothing")),
            (Some(Refusal::RsaTooWeak(1024)), true, format!("{deletion} proves nothing: its RSA key has 1024 bits")),
            (Some(Refusal::Invalid), false, "The signature is invalid: the file was changed".to_owned()),
            (None, false, "The signature is malformed. Nothing".to_owned()),
        ] {
            let message = reason(refusal, of_tombstone);
            assert!(message.starts_with(&expected), "{message}");
        }
    }

    /// Reads `fixtures/pam/signed-*`, whose keys and signatures were created by another library.
    #[test]
    fn pam_signatures_of_every_algorithm_verify_as_their_cases_expect() {
        let folder = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/pam");
        let (mut algorithms, mut refused, mut other_keys) = (BTreeSet::new(), BTreeSet::new(), Vec::<String>::new());
        let mut cases: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        cases.sort();
        for folder in cases {
            let Ok(text) = std::fs::read_to_string(folder.join("case.json")) else { continue };
            let case: Value = serde_json::from_str(&text).unwrap();
            let expected_signature = &case["signature"];
            let Some(valid) = expected_signature["valid"].as_bool() else { continue };
            let words = |list: &Value| -> Vec<String> {
                list.as_array().unwrap().iter().map(|w| w.as_str().unwrap().to_owned()).collect()
            };
            let codes = |list: &[crate::types::Finding]| list.iter().map(|f| f.code.clone()).collect::<Vec<_>>();
            let (name, input) = (folder.file_name().unwrap().to_string_lossy().into_owned(), folder.join("input"));
            let finding = expected_signature["finding"].as_str().map(str::to_owned);
            let keys = words(&expected_signature["keys"]);

            let checked = check(&input, &[]);
            assert_eq!(state(&checked), (valid, Some(valid), None), "{name}");
            assert_eq!(codes(&checked.warnings), words(&case["warnings"]), "{name}");
            assert_eq!(codes(&checked.errors), Vec::from_iter(finding.clone()), "{name}");
            algorithms.extend(checked.signature.algorithm.filter(|_| valid));
            if valid {
                assert_eq!(checked.signature.key.as_ref(), keys.first(), "{name}");
            }
            for key in &keys {
                let checked = check(&input, std::slice::from_ref(key));
                assert_eq!(state(&checked), (valid, Some(valid), Some(valid)), "{name} {key}");
                assert_eq!(codes(&checked.errors), Vec::from_iter(finding.clone()), "{name} {key}");
            }
            if let Some(stranger) = other_keys.iter().rfind(|key| !keys.contains(key)) {
                let checked = check(&input, std::slice::from_ref(stranger));
                assert_eq!(state(&checked), (false, Some(valid), Some(false)), "{name}");
                assert_eq!(codes(&checked.errors), [finding.clone().unwrap_or("signature_untrusted".into())], "{name}");
            }
            refused.extend(finding);
            other_keys.extend(keys);
        }
        assert_eq!(
            algorithms.into_iter().collect::<Vec<_>>(),
            ["ES256", "ES384", "Ed25519", "RS256", "RS384", "RS512"]
        );
        assert_eq!(Vec::from_iter(refused), ["signature_invalid"]);
    }

    #[test]
    fn keys_are_parsed_from_hex_and_did_key() {
        let did_key_text = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
        let parsed = Trust::parse(&[did_key_text.into(), format!("{did_key_text}#z6Mkha")]).unwrap();
        assert_eq!(hex(&parsed.0[0]), "2e6fcce36701dc791488e0d0b1745cc1e33a4c1c9fcc41c63bd343dbbe0970e6");
        assert_eq!(parsed.0[0], parsed.0[1]);
        for bad in ["", "00", "zz", "did:key:z6", "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme"] {
            assert_eq!(Trust::parse(&[bad.into()]).err().map(|e| e.exit), Some(2), "{bad}");
        }
    }
}
