//! Signatures in a store (spec §18): the bytes that are signed, and the encodings of keys and signatures.
use super::canonical::canonical;
use base64::{
    Engine,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use mementory_format::did_key::{base58, did_key};
use mementory_json::Tree;
use pkcs1::{RsaPublicKeyRef, UintRef};
use spki::{
    ObjectIdentifier, SubjectPublicKeyInfoRef,
    der::{Decode, Encode, asn1::BitStringRef},
};

/// Length limit of an encoded key in bytes. Even a 16,384-bit RSA key in PEM is shorter.
const MAX_KEY_TEXT_BYTES: usize = 16 << 10;

/// Reads base64url with or without padding, because some programs write padding. Writes it without padding.
const BASE64URL_ENGINE: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Base64url without padding.
pub(super) fn base64url(bytes: &[u8]) -> String {
    BASE64URL_ENGINE.encode(bytes)
}

/// Decodes base64url with or without padding.
pub(super) fn from_base64url(text: &str) -> Option<Vec<u8>> {
    (text.len() <= MAX_KEY_TEXT_BYTES).then(|| BASE64URL_ENGINE.decode(text).ok()).flatten()
}

/// Decodes an Ed25519 key from `z6Mk…`, `did:key:z6Mk…` or Base58 without a prefix to 32 bytes.
pub(super) fn ed25519(text: &str) -> Option<Vec<u8>> {
    let decode_base58 = || base58(text.strip_prefix("did:key:").unwrap_or(text).split('#').next()?);
    did_key(text).or_else(decode_base58).filter(|key| key.len() == 32)
}

/// True if the `did:key` contains this key. None if the `did:key` has an unsupported key type, such as RSA.
pub(super) fn is_key_of_did(did: &str, key: &[u8]) -> Option<bool> {
    let key_in_did = did_key(did)?;
    Some(match key {
        // A `did:key` contains the compressed point: the sign of y, then x.
        [4, point @ ..] if matches!(point.len(), 64 | 96) => {
            let (x, y) = point.split_at(point.len() / 2);
            key_in_did.split_first().is_some_and(|(sign, rest)| rest == x && *sign == 2 + (y[y.len() - 1] & 1))
        }
        _ => key_in_did == key,
    })
}

/// Decodes a public key in JWK or PEM form, or an Ed25519 key in the forms of [`ed25519`]. The result is 32 bytes for
/// Ed25519, the SEC1 point for ECDSA, and a DER `SubjectPublicKeyInfo` for RSA.
pub(super) fn public_key(algorithm: &str, text: &str) -> Option<Vec<u8>> {
    if text.len() > MAX_KEY_TEXT_BYTES {
        return None;
    }
    if algorithm == "Ed25519" {
        return ed25519(text).or_else(|| jwk(algorithm, text)).or_else(|| pem(algorithm, text));
    }
    jwk(algorithm, text).or_else(|| pem(algorithm, text))
}

fn jwk(algorithm: &str, text: &str) -> Option<Vec<u8>> {
    let tree = Tree::parse(text.trim(), 4).ok()?;
    let part = |name: &str| tree.get(name).and_then(Tree::as_str).and_then(from_base64url);
    let is = |name: &str, value: &str| tree.get(name).and_then(Tree::as_str) == Some(value);
    // A JWK may restrict its use and its algorithm (RFC 7517 §4.2, §4.4). `EdDSA` is the JOSE name of Ed25519.
    let allows =
        |name: &str, values: &[&str]| tree.get(name).and_then(Tree::as_str).is_none_or(|v| values.contains(&v));
    let names = [if algorithm == "Ed25519" { "EdDSA" } else { algorithm }, algorithm];
    if !allows("use", &["sig"]) || !allows("alg", &names) {
        return None;
    }
    match algorithm {
        "Ed25519" => part("x").filter(|x| x.len() == 32 && is("kty", "OKP") && is("crv", "Ed25519")),
        "ES256" | "ES384" => {
            let (size, curve) = if algorithm == "ES256" { (32, "P-256") } else { (48, "P-384") };
            let (x, y) = (part("x")?, part("y")?);
            (x.len() == size && y.len() == size && is("kty", "EC") && is("crv", curve))
                .then(|| [&[4][..], &x, &y].concat())
        }
        _ => {
            is("kty", "RSA").then_some(())?;
            rsa_spki(&part("n")?, &part("e")?)
        }
    }
}

/// Types of keys in a `SubjectPublicKeyInfo` (RFC 8410 §3, RFC 5480 §2.1.1).
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const ELLIPTIC_CURVE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");

fn pem(algorithm: &str, text: &str) -> Option<Vec<u8>> {
    let body = text.split("-----BEGIN PUBLIC KEY-----").nth(1)?.split("-----END PUBLIC KEY-----").next()?;
    let body: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let der = base64::engine::general_purpose::STANDARD.decode(body).ok()?;
    let info = SubjectPublicKeyInfoRef::from_der(&der).ok()?;
    let (kind, curve) = (info.algorithm.oid, info.algorithm.parameters_oid().ok());
    let key = info.subject_public_key.as_bytes()?;
    let is_point_on =
        |of: ObjectIdentifier, len: usize| kind == ELLIPTIC_CURVE && curve == Some(of) && key.len() == len;
    match algorithm {
        "Ed25519" => (kind == ED25519 && key.len() == 32).then(|| key.to_vec()),
        "ES256" => is_point_on(P256, 65).then(|| key.to_vec()),
        "ES384" => is_point_on(P384, 97).then(|| key.to_vec()),
        _ => (kind == pkcs1::ALGORITHM_OID).then(|| der.clone()),
    }
}

/// DER `SubjectPublicKeyInfo` of an RSA key with modulus `n` and exponent `e`.
fn rsa_spki(n: &[u8], e: &[u8]) -> Option<Vec<u8>> {
    let key = RsaPublicKeyRef { modulus: UintRef::new(n).ok()?, public_exponent: UintRef::new(e).ok()? };
    let key = key.to_der().ok()?;
    let subject_public_key = BitStringRef::from_bytes(&key).ok()?;
    SubjectPublicKeyInfoRef { algorithm: pkcs1::ALGORITHM_ID, subject_public_key }.to_der().ok()
}

/// Size of the modulus of an RSA key in a DER `SubjectPublicKeyInfo`, in bits.
pub(super) fn rsa_bits(key: &[u8]) -> Option<usize> {
    let info = SubjectPublicKeyInfoRef::from_der(key).ok()?;
    let key = RsaPublicKeyRef::from_der(info.subject_public_key.as_bytes()?).ok()?;
    let modulus = key.modulus.as_bytes();
    Some(8 * modulus.len() - modulus.first()?.leading_zeros() as usize)
}

/// The signed bytes (§18.3): a canonical JSON object of four strings, exactly as in the file.
pub(super) fn payload(outline: &Tree) -> Option<Vec<u8>> {
    let text = |value: Option<&Tree>| Some(Tree::Text(value?.as_str()?.to_owned()));
    let members = vec![
        ("checksum".to_owned(), text(outline.get("integrity").and_then(|i| i.get("checksum")))?),
        ("export_date".to_owned(), text(outline.get("export_date"))?),
        ("export_id".to_owned(), text(outline.get("export_id"))?),
        ("owner_id".to_owned(), text(outline.get("owner").and_then(|o| o.get("id")))?),
    ];
    canonical(&Tree::Object(members)).map(String::into_bytes)
}

/// Name that [`mementory_format::Signed`] uses for an algorithm. None if the algorithm is unknown.
pub(super) fn algorithm_name(algorithm: &str) -> Option<&'static str> {
    Some(match algorithm {
        "Ed25519" => "ed25519",
        "ES256" => "es256",
        "ES384" => "es384",
        "RS256" => "rs256",
        "RS384" => "rs384",
        "RS512" => "rs512",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_format::did_key::multikey;

    #[test]
    fn keys_are_decoded_from_every_form() {
        let spec = "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
        let key = ed25519(spec).unwrap();
        assert_eq!(hex::encode(&key), "2e6fcce36701dc791488e0d0b1745cc1e33a4c1c9fcc41c63bd343dbbe0970e6");
        assert_eq!(multikey(&key), spec);
        assert_eq!(ed25519(&format!("did:key:{spec}")).unwrap(), key);
        assert_eq!(ed25519(&format!("did:key:{spec}#{spec}")).unwrap(), key);
        // This key has no prefix, and its Base58 form starts with `1`, because its first bytes are zero.
        let zero = [vec![0, 0], vec![7; 30]].concat();
        let bare = multikey(&zero);
        assert_eq!(ed25519(&bare).unwrap(), zero);
        assert_eq!(base58("11").unwrap(), [0, 0]);
        for bad in ["", "z6Mk", "0OIl", "did:key:z6Mk", &"1".repeat(5000)] {
            assert_eq!(ed25519(bad), None, "{bad}");
        }
        let jwk = format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{}"}}"#, base64url(&key));
        assert_eq!(public_key("Ed25519", &jwk).unwrap(), key);
        let ec = format!(r#"{{"kty":"EC","crv":"P-256","x":"{0}","y":"{0}="}}"#, base64url(&[9; 32]));
        assert_eq!(public_key("ES256", &ec).unwrap().len(), 65);
        assert_eq!(public_key("ES384", &ec), None);
        for (member, is_accepted) in
            [(r#""alg":"ES256""#, true), (r#""alg":"ES384""#, false), (r#""use":"enc""#, false)]
        {
            let limited = ec.replacen('{', &format!("{{{member},"), 1);
            assert_eq!(public_key("ES256", &limited).is_some(), is_accepted, "{limited}");
        }
    }

    #[test]
    fn the_size_of_an_rsa_key_is_that_of_its_modulus() {
        for bytes in [128, 256, 384, 512] {
            let key = rsa_spki(&[&[0x80][..], &vec![7; bytes - 1]].concat(), &[1, 0, 1]).unwrap();
            assert_eq!(rsa_bits(&key), Some(8 * bytes));
            assert_eq!(rsa_bits(&key[..key.len() / 2]), None, "truncated");
        }
        assert_eq!(rsa_bits(&rsa_spki(&[0, 0, 0x7f, 1], &[3]).unwrap()), Some(15));
        assert_eq!(rsa_bits(&[4; 65]), None);
    }

    #[test]
    fn base64url_is_decoded_with_and_without_padding() {
        assert_eq!(from_base64url("-_8").unwrap(), [0xfb, 0xff]);
        assert_eq!(from_base64url("-_8=").unwrap(), [0xfb, 0xff]);
        assert_eq!(from_base64url("+/8="), None);
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
    }
}
