//! One memory: a COSE_Encrypt0 message, which contains a COSE_Sign1 message, which contains a CBOR map.
use super::cbor;
use super::wire::Export;
use ciborium::Value;
use coset::{
    CborSerializable, CoseEncrypt0, CoseSign1, RegisteredLabelWithPrivate, TaggedCborSerializable, iana::Algorithm,
};
use mementory_format::{KeyPair, SealedContent};
use sha2::{Digest, Sha256};

/// Beginning of the HKDF label for the key that wraps the key of a scope. The id of the scope follows.
const WRAP_LABEL: &[u8] = b"apertomemory/v1/kek-wrap";

/// A memory that was decrypted.
pub(super) struct Opened {
    /// Its id, in hex.
    pub id: String,
    /// Name of its scope.
    pub scope: String,
    /// Version of the memory's format: 1 or 2.
    pub version: i64,
    /// Its content.
    pub payload: Value,
    /// How much is known about its author: `self`, `trusted` or `unverified`.
    pub trust: &'static str,
}

/// Reason why a memory cannot be read, in the form `code: text`.
type Reason = &'static str;

/// Decrypts a memory and verifies its signature.
///
/// # Errors
/// The reason why the memory cannot be read, for example that it is damaged, that it is encrypted for another key, or
/// that no key that the owner knows has signed it.
pub(super) fn open(sealed: &Value, export: &Export, keys: &dyn KeyPair) -> Result<Opened, Reason> {
    const MALFORMED: Reason = "malformed: this memory has not the form of one";
    // In an export, each memory is a byte string that contains CBOR.
    let parsed = sealed.as_bytes().map(|bytes| cbor::parse(bytes).ok_or(MALFORMED)).transpose()?;
    let sealed = parsed.as_ref().unwrap_or(sealed);
    let bytes_of = |key: i64| cbor::member(sealed, key).and_then(Value::as_bytes).ok_or(MALFORMED);
    let (id, scope_id, message) = (bytes_of(1)?, bytes_of(2)?, bytes_of(4)?);
    let version = cbor::member(sealed, 3).and_then(cbor::number).ok_or(MALFORMED)?;
    if !(1..=2).contains(&version) {
        return Err("unsupported_version: only versions 1 and 2 of memories are known");
    }
    let scope = export.scopes.get(scope_id).ok_or("malformed: the scope of this memory is not in the export")?;
    let wrapped_key = export.keys.get(id).ok_or("malformed: the key of this memory is not in the export")?.clone();
    // In version 1, neither the encryption nor the signature covers the id and the scope.
    let binding = if version == 1 { Vec::new() } else { binding(version, id, scope_id).ok_or(MALFORMED)? };
    let outer = CoseEncrypt0::from_tagged_slice(message).or_else(|_| CoseEncrypt0::from_slice(message));
    let outer = outer.map_err(|_| MALFORMED)?;
    if outer.protected.header.alg != Some(RegisteredLabelWithPrivate::Assigned(Algorithm::A256GCM)) {
        return Err("encryption_algorithm: this memory is not encrypted with AES-256-GCM");
    }
    let nonce = [&outer.unprotected.iv, &outer.protected.header.iv].into_iter().find(|iv| !iv.is_empty()).cloned();
    let nonce = nonce.unwrap_or_default();
    let label = [WRAP_LABEL, scope_id].concat();
    let decrypt = |ciphertext: &[u8], aad: &[u8]| {
        let content = SealedContent { wrapped_key, nonce, ciphertext: ciphertext.to_vec() };
        let opened = keys.open(&scope.key, &label, aad, &content);
        opened.map_err(|_| "decryption: this memory is damaged, or for another key")
    };
    let signed = outer.decrypt_ciphertext(&binding, || MALFORMED, decrypt)?;
    let signed = CoseSign1::from_tagged_slice(&signed).or_else(|_| CoseSign1::from_slice(&signed));
    let signed = signed.map_err(|_| MALFORMED)?;
    let payload = signed.payload.as_deref().and_then(cbor::parse).filter(Value::is_map).ok_or(MALFORMED)?;
    let trust = trust(&signed, &payload, &binding, version, export, keys)?;
    Ok(Opened { id: hex::encode(id), scope: scope.name.clone(), version, payload, trust })
}

/// The values to which the encryption and the signature bind a memory: its version, its id and the id of its scope.
fn binding(version: i64, id: &[u8], scope_id: &[u8]) -> Option<Vec<u8>> {
    let bytes = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
    let mut out = Vec::new();
    ciborium::into_writer(&Value::Array(vec![version.into(), bytes(id), bytes(scope_id)]), &mut out).ok()?;
    Some(out)
}

/// The trust that follows from the signature of a memory. What the memory itself says about its trust is ignored.
fn trust(
    signed: &CoseSign1,
    payload: &Value,
    binding: &[u8],
    version: i64,
    export: &Export,
    keys: &dyn KeyPair,
) -> Result<&'static str, Reason> {
    let author = cbor::member(payload, 4).and_then(|source| cbor::member(source, 2)).and_then(Value::as_bytes);
    let is_author = |key: &&Vec<u8>| author.is_some_and(|author| key_id(key)[..] == author[..]);
    // A signature of version 1 does not cover the id of the memory, so it does not prove that the signer wrote this
    // memory.
    if version == 1 {
        return Ok("unverified");
    }
    let header = &signed.protected.header.key_id;
    if !header.is_empty() && Some(header) != author {
        return Err("signature_invalid: this memory names two authors");
    }
    let known = std::iter::once(&export.signing_key).chain(&export.known_keys);
    let verifies = |key: &&Vec<u8>| {
        let verified = signed.verify_signature(binding, |signature, message| {
            keys.verify(key, message, signature).then_some(()).ok_or(())
        });
        verified.is_ok()
    };
    let signer = known.filter(is_author).find(verifies);
    let signer = signer.ok_or("signature_invalid: no key that the owner knows has signed this memory")?;
    let is_owner = *signer == export.signing_key;
    // Member 20 says that the owner signed this memory of another author when converting it to version 2.
    let Some(custody) = cbor::member(payload, 20) else { return Ok(if is_owner { "self" } else { "trusted" }) };
    let proven = cbor::member(custody, 4).and_then(Value::as_bytes);
    let mut known = std::iter::once(&export.signing_key).chain(&export.known_keys);
    let is_proven = proven.is_some_and(|proven| known.any(|key| key_id(key)[..] == proven[..]));
    Ok(if is_owner && is_proven { "trusted" } else { "unverified" })
}

/// The id of a public key: the first 8 bytes of its SHA-256.
fn key_id(key: &[u8]) -> [u8; 8] {
    let mut id = [0; 8];
    id.copy_from_slice(&Sha256::digest(key)[..8]);
    id
}
