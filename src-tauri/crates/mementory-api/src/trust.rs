//! Do signatures hold, and whose are they? Formats say what was signed; it is judged here, beside the key library.
use crate::{
    ApiError, ApiResult,
    types::{CheckedSignature, TombstoneSignature},
};
use mementory_crypto::portable::{self, Refusal};
use mementory_formats::{
    Catalog, Detected, Detection, Finding, Format, FormatError, Signed, Validation, by_id, did_key,
};
use mementory_model::{Issue, Limits};
use std::collections::BTreeSet;

/// The public keys that count. None = signatures are looked at, and nobody is required to have signed.
pub(crate) struct Trust(Vec<Vec<u8>>);

impl Trust {
    /// Keys in hex or as did:key.
    pub(crate) fn parse(keys: &[String]) -> ApiResult<Self> {
        Ok(Self(keys.iter().map(|key| public_key(key).map(|(_, bytes)| bytes)).collect::<ApiResult<_>>()?))
    }

    /// Verifies every signature of a file. What speaks against it is added to the findings: an error when keys were
    /// asked for, otherwise a warning, since then nobody relies on it (spec of `.mem` v1.1 §1.3).
    pub(crate) fn judge(
        &self,
        format: &dyn Format,
        catalog: &Catalog,
        source: &Detected,
        limits: &Limits,
        found: &mut Validation,
    ) -> ApiResult<CheckedSignature> {
        let (present, algorithm, _, _, key) = found.signature.clone();
        let mut out = CheckedSignature { present, algorithm, key, ..CheckedSignature::default() };
        let mut against: Vec<Finding> = Vec::new();
        let mut visit = |signed: Signed| {
            let (verdict, trusted) = self.verdict(&signed);
            let valid = verdict.is_ok();
            let what = if signed.tombstone.is_some() { "the tombstone's signature" } else { "the signature" };
            let (code, message) = match (verdict, trusted) {
                (Err(Refusal::RsaTooWeak(bits)), _) => (
                    "signature_key_weak",
                    format!("{what} proves nothing: an RSA key of {bits} bits, 2048 is the least"),
                ),
                (Err(Refusal::RsaTooLarge(bits)), _) => (
                    "signature_key_large",
                    format!("{what} is not looked at: an RSA key of {bits} bits, 8192 is the most"),
                ),
                (Err(Refusal::Unfit), _) if signed.token.is_none() => {
                    ("signature_invalid", format!("{what} is not in the format's form"))
                }
                (Err(Refusal::Unfit), _) => {
                    ("signature_invalid", format!("{what} does not fit: what it is over was changed"))
                }
                (Ok(()), Some(false)) => ("signature_untrusted", format!("{what} is not by a trusted key")),
                (Ok(()), _) => ("", String::new()),
            };
            if !code.is_empty() {
                against.push(Finding { code: code.into(), place: signed.place.clone(), message });
            }
            match signed.tombstone {
                Some(id) => out.tombstones.push(TombstoneSignature { id, valid, trusted }),
                None => {
                    (out.valid, out.trusted) = (Some(valid), trusted);
                    // However the format writes it: one form to compare and to show.
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
            // What cannot be read is among the validator's own findings.
            Ok(()) | Err(FormatError::Invalid { .. } | FormatError::Limit { .. }) => {}
            Err(other) => return Err(other.into()),
        }
        let required = !self.0.is_empty();
        if required && !present && !found.errors.iter().any(|f| f.code == "signature_missing") {
            let message = "the file is not signed, and a signature by a trusted key is asked for".into();
            found.errors.push(Finding { code: "signature_missing".into(), place: String::new(), message });
        }
        for finding in against {
            // A deletion may have been signed by another vault; that alone does not make the file bad.
            let foreign = finding.code == "signature_untrusted" && present && out.trusted == Some(true);
            let list = if required && !foreign { &mut found.errors } else { &mut found.warnings };
            list.push(finding);
        }
        Ok(out)
    }

    /// Valid; and by one of the keys, if there are any. Never trusted without being valid.
    fn verdict(&self, signed: &Signed) -> (Result<(), Refusal>, Option<bool>) {
        let token = signed.token.as_ref();
        let verdict = token.map_or(Err(Refusal::Unfit), |(key, signature)| {
            portable::check(&signed.algorithm, key, &signed.message, signature)
        });
        let known = token.is_some_and(|(key, _)| self.0.contains(key));
        (verdict, (!self.0.is_empty()).then_some(verdict.is_ok() && known))
    }
}

/// A public key in hex or as did:key, and the algorithm that it is for.
///
/// # Errors
/// `bad_key`.
pub(crate) fn public_key(text: &str) -> ApiResult<(&'static str, Vec<u8>)> {
    let text = text.trim();
    let bytes = if text.starts_with("did:key:") { did_key(text) } else { hex::decode(text).ok() };
    let key = bytes.and_then(|bytes| portable::public_key(&bytes)).ok_or_else(|| {
        let message = "A key to trust has to be a public key in hex (64 digits for Ed25519, 3904 for ML-DSA-65, \
                       a point for ECDSA, SubjectPublicKeyInfo for RSA of 2048 to 8192 bits) or did:key:z…";
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

/// Formats in which a signature that does not hold is worth a warning and no reason to refuse.
const WARNS: [&str; 1] = ["pam"];

/// Who signed what is to be imported.
#[derive(Debug, Default)]
pub(crate) struct Signers {
    /// Algorithm and key of every signature over a whole source.
    pub keys: Vec<(String, Vec<u8>)>,
    /// Ids of tombstones that were changed after they were signed.
    pub forged: BTreeSet<String>,
    /// Signatures that do not hold and stop nothing, to be told with the import.
    pub doubts: Vec<Issue>,
}

/// Looks at every signature of the sources. What cannot be read signs nothing.
///
/// A signature over a whole source that does not hold is a doubt where the format wants no more than a warning (PAM §21.4:
/// the key is in the file itself, and whoever changed the file could have taken the signature out). By a key that is
/// `known` here it is more: somebody uses a name that means something.
///
/// # Errors
/// `signature_invalid`, with the place, when one over a whole source does not hold: somebody changed what was signed.
pub(crate) fn signers(catalog: &Catalog, found: &Detection, limits: &Limits, known: Known) -> ApiResult<Signers> {
    let (signers, broken) = look(catalog, found, limits, known);
    broken.map_or(Ok(signers), |place| Err(unfit(place, "Nothing was imported.")))
}

/// Before something is made of a signed file: nobody can verify a part of what was changed.
///
/// # Errors
/// `signature_invalid`, with the place, when a signature over a whole source does not hold.
pub(crate) fn hold(catalog: &Catalog, found: &Detection, limits: &Limits) -> ApiResult<()> {
    let (_, broken) = look(catalog, found, limits, &|_| true);
    broken.map_or(Ok(()), |place| Err(unfit(place, "Nothing was written.")))
}

fn unfit(place: String, outcome: &str) -> ApiError {
    let message = format!("The signature does not fit: this was changed after it was signed. {outcome}");
    ApiError::new("signature_invalid", 1, message).with("place", place)
}

/// Whether a public key means something here.
type Known<'a> = &'a dyn Fn(&Vec<u8>) -> bool;

/// Who signed, and where the first signature over a whole source stands that does not hold.
fn look(catalog: &Catalog, found: &Detection, limits: &Limits, known: Known) -> (Signers, Option<String>) {
    let mut out = Signers::default();
    let mut broken = None;
    for source in &found.sources {
        let Some(format) = by_id(source.format) else { continue };
        let _ = format.signatures(catalog, source, limits, &mut |signed| {
            let holds = Trust(Vec::new()).verdict(&signed).0.is_ok();
            let by_known = signed.token.as_ref().is_some_and(|(key, _)| known(key));
            match signed.tombstone {
                Some(id) if !holds => drop(out.forged.insert(id)),
                Some(_) => {}
                None if holds => out.keys.extend(signed.token.map(|(key, _)| (signed.algorithm, key))),
                None if WARNS.contains(&source.format) && !by_known => {
                    let message = "THE SIGNATURE DOES NOT FIT: this is not what was signed, or it was never signed by \
                                   this key. Nothing here proves who wrote it; the key was not taken on";
                    out.doubts.push(Issue::new("signature_invalid", &signed.place, message));
                }
                None => drop(broken.get_or_insert(signed.place)),
            }
            Ok(())
        });
    }
    (out, broken)
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

    /// A bundle of ours, copied to where it can be signed.
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
    fn a_signature_is_trusted_only_when_it_holds() {
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

        // The text of a trusted key with a signature over something else.
        sign(&bundle, &ours, b"another manifest");
        let checked = check(&bundle, &keys(&ours));
        assert_eq!(state(&checked), (false, Some(false), Some(false)));
        assert_eq!(checked.errors[0].code, "signature_invalid");
        let checked = check(&bundle, &[]);
        assert_eq!(state(&checked), (true, Some(false), None));
        assert_eq!(checked.warnings[0].code, "signature_invalid");

        std::fs::write(bundle.join("manifest.sig"), b"\xff\n").unwrap();
        assert_eq!(state(&check(&bundle, &keys(&ours))), (false, Some(false), Some(false)));
        std::fs::remove_dir_all(&bundle).unwrap();
    }

    #[test]
    fn tombstones_are_judged_one_by_one() {
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
        let found: Vec<_> = checked.signature.tombstones.iter().map(|t| (t.id.as_str(), t.valid, t.trusted)).collect();
        assert_eq!(found, [("held", true, Some(true)), ("moved", false, Some(false))]);
        assert!(
            checked.errors.iter().any(|e| e.code == "signature_invalid" && e.place.ends_with("tombstones.jsonl:2"))
        );
        std::fs::remove_dir_all(&bundle).unwrap();
    }

    /// `fixtures/pam/signed-*`: keys and signatures that another library made.
    #[test]
    fn every_algorithm_of_pam_is_judged_as_its_cases_say() {
        let folder = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/pam");
        let (mut algorithms, mut refused, mut strangers) = (BTreeSet::new(), BTreeSet::new(), Vec::<String>::new());
        let mut cases: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        cases.sort();
        for folder in cases {
            let Ok(text) = std::fs::read_to_string(folder.join("case.json")) else { continue };
            let case: Value = serde_json::from_str(&text).unwrap();
            let told = &case["signature"];
            let Some(valid) = told["valid"].as_bool() else { continue };
            let words = |list: &Value| -> Vec<String> {
                list.as_array().unwrap().iter().map(|w| w.as_str().unwrap().to_owned()).collect()
            };
            let codes = |list: &[crate::types::Finding]| list.iter().map(|f| f.code.clone()).collect::<Vec<_>>();
            let (name, input) = (folder.file_name().unwrap().to_string_lossy().into_owned(), folder.join("input"));
            let finding = told["finding"].as_str().map(str::to_owned);
            let keys = words(&told["keys"]);

            let checked = check(&input, &[]);
            assert_eq!(state(&checked), (true, Some(valid), None), "{name}");
            let expected: Vec<_> = words(&case["warnings"]).into_iter().chain(finding.clone()).collect();
            assert_eq!(codes(&checked.warnings), expected, "{name}");
            algorithms.extend(checked.signature.algorithm.filter(|_| valid));
            if valid {
                assert_eq!(checked.signature.key.as_ref(), keys.first(), "{name}");
            }
            for key in &keys {
                let checked = check(&input, std::slice::from_ref(key));
                assert_eq!(state(&checked), (valid, Some(valid), Some(valid)), "{name} {key}");
                assert_eq!(codes(&checked.errors), Vec::from_iter(finding.clone()), "{name} {key}");
            }
            if let Some(stranger) = strangers.iter().rfind(|key| !keys.contains(key)) {
                let checked = check(&input, std::slice::from_ref(stranger));
                assert_eq!(state(&checked), (false, Some(valid), Some(false)), "{name}");
                assert_eq!(codes(&checked.errors), [finding.clone().unwrap_or("signature_untrusted".into())], "{name}");
            }
            refused.extend(finding);
            strangers.extend(keys);
        }
        assert_eq!(
            algorithms.into_iter().collect::<Vec<_>>(),
            ["ES256", "ES384", "Ed25519", "RS256", "RS384", "RS512"]
        );
        assert_eq!(refused.len(), 3, "{refused:?}");
    }

    #[test]
    fn keys_in_both_forms() {
        let did = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
        let parsed = Trust::parse(&[did.into(), format!("{did}#z6Mkha")]).unwrap();
        assert_eq!(hex(&parsed.0[0]), "2e6fcce36701dc791488e0d0b1745cc1e33a4c1c9fcc41c63bd343dbbe0970e6");
        assert_eq!(parsed.0[0], parsed.0[1]);
        for bad in ["", "00", "zz", "did:key:z6", "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme"] {
            assert_eq!(Trust::parse(&[bad.into()]).err().map(|e| e.exit), Some(2), "{bad}");
        }
    }
}
