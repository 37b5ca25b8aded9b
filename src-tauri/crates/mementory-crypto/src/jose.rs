//! Verifies JOSE signatures (RFC 7518 §3.3, §3.4): ES256 and ES384 as `r || s`, RS256, RS384 and RS512 in PKCS#1 v1.5.
//! This program does not sign with these algorithms.
use crate::signature_algorithm::Refusal;
use rsa::{
    RsaPublicKey,
    pkcs1::der::{Decode, Encode},
    pkcs1v15,
    pkcs8::SubjectPublicKeyInfoRef,
    sha2::{Sha256, Sha384, Sha512},
    signature::Verifier,
};

/// Accepted bits of an RSA modulus. Fewer are too weak (NIST SP 800-131A); more would let a hostile file cause too much
/// work.
const ACCEPTED_RSA_BITS: std::ops::RangeInclusive<u32> = 2048..=8192;

/// Verifies `signature` over `message` with `key`. Returns `None` if the algorithm is none of the five in this module.
pub(crate) fn verify(algorithm: &str, key: &[u8], message: &[u8], signature: &[u8]) -> Option<Result<(), Refusal>> {
    Some(match algorithm {
        "es256" => verify_es256(key, message, signature).ok_or(Refusal::Invalid),
        "es384" => verify_es384(key, message, signature).ok_or(Refusal::Invalid),
        "rs256" | "rs384" | "rs512" => parse_rsa_key(key).and_then(|key| {
            let signature = pkcs1v15::Signature::try_from(signature).map_err(|_| Refusal::Invalid)?;
            let verified = match algorithm {
                "rs256" => pkcs1v15::VerifyingKey::<Sha256>::new(key).verify(message, &signature),
                "rs384" => pkcs1v15::VerifyingKey::<Sha384>::new(key).verify(message, &signature),
                _ => pkcs1v15::VerifyingKey::<Sha512>::new(key).verify(message, &signature),
            };
            verified.map_err(|_| Refusal::Invalid)
        }),
        _ => return None,
    })
}

fn verify_es256(key: &[u8], message: &[u8], signature: &[u8]) -> Option<()> {
    let signature = p256::ecdsa::Signature::from_slice(signature).ok()?;
    p256::ecdsa::VerifyingKey::from_sec1_bytes(key).ok()?.verify(message, &signature).ok()
}

fn verify_es384(key: &[u8], message: &[u8], signature: &[u8]) -> Option<()> {
    let signature = p384::ecdsa::Signature::from_slice(signature).ok()?;
    p384::ecdsa::VerifyingKey::from_sec1_bytes(key).ok()?.verify(message, &signature).ok()
}

/// Parses the RSA key in a DER `SubjectPublicKeyInfo`. Refuses trailing data and keys whose size is not accepted.
fn parse_rsa_key(der: &[u8]) -> Result<RsaPublicKey, Refusal> {
    let to_refusal = |_| Refusal::Invalid;
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(to_refusal)?;
    let bits = info.subject_public_key.as_bytes().ok_or(Refusal::Invalid)?;
    let parts = rsa::pkcs1::RsaPublicKeyRef::from_der(bits).map_err(to_refusal)?;
    let modulus = parts.modulus.as_bytes();
    let zeros = modulus.first().map_or(0, |byte| byte.leading_zeros());
    let size = u32::try_from(modulus.len()).unwrap_or(u32::MAX).saturating_mul(8) - zeros;
    if size < *ACCEPTED_RSA_BITS.start() {
        return Err(Refusal::RsaTooWeak(size));
    }
    if size > *ACCEPTED_RSA_BITS.end() {
        return Err(Refusal::RsaTooLarge(size));
    }
    RsaPublicKey::try_from(info).map_err(|_| Refusal::Invalid)
}

/// The canonical form of a public key. For a point of P-256 or P-384, compressed or not, it is the uncompressed point;
/// for an RSA key, the `SubjectPublicKeyInfo`. `None` for anything else.
pub(crate) fn canonical_public_key(bytes: &[u8]) -> Option<Vec<u8>> {
    match bytes.len() {
        33 | 65 => p256::PublicKey::from_sec1_bytes(bytes).ok().map(|key| {
            use p256::elliptic_curve::sec1::ToSec1Point;
            key.to_sec1_point(false).as_bytes().to_vec()
        }),
        49 | 97 => p384::PublicKey::from_sec1_bytes(bytes).ok().map(|key| {
            use p384::elliptic_curve::sec1::ToSec1Point;
            key.to_sec1_point(false).as_bytes().to_vec()
        }),
        _ => {
            parse_rsa_key(bytes).ok()?;
            SubjectPublicKeyInfoRef::from_der(bytes).ok()?.to_der().ok()
        }
    }
}
