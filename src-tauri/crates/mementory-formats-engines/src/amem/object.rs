//! Opens and seals one memory, which is a COSE_Encrypt0 message around a COSE_Sign1 message around a CBOR map.
use super::cbor;
use super::wire::{Export, Id, KeyId, Scope, key_id};
use ciborium::Value;
use coset::{
    CborSerializable, CoseEncrypt0, CoseEncrypt0Builder, CoseSign1, CoseSign1Builder, HeaderBuilder,
    RegisteredLabelWithPrivate, TaggedCborSerializable, iana::Algorithm,
};
use mementory_format::{FormatError, KeyPair, SealedContent, WrappedKey};
use std::collections::HashSet;

/// HKDF label of the key that wraps the key of a scope. In the complete label, the id of the scope follows.
const WRAP_LABEL: &[u8] = b"apertomemory/v1/kek-wrap";
/// The version in which memories are written.
pub(super) const WRITTEN_VERSION: i64 = 2;
/// Key of the member `custody`, in which the owner states that they signed a memory of another author.
pub(super) const CUSTODY: i64 = 20;

/// A memory after its decryption.
pub(super) struct Opened {
    /// Id of the memory, in hex.
    pub id: String,
    /// Name of the scope of the memory.
    pub scope: String,
    /// Version of the format of the memory: 1 or 2.
    pub version: i64,
    /// Content of the memory, as a CBOR map.
    pub payload: Value,
    /// Whether the author is known: `self`, `trusted` or `unverified`.
    pub trust: &'static str,
}

/// Reason why a memory cannot be read, in the form `code: text`.
type Reason = &'static str;

const MALFORMED: Reason = "malformed: this memory has not the form of one";

/// The members of a memory that are not encrypted.
pub(super) struct Envelope<'e> {
    id: Vec<u8>,
    scope_id: Vec<u8>,
    version: i64,
    message: Vec<u8>,
    scope: &'e Scope,
    wrapped_key: &'e [u8],
}

/// Reads the members of a memory that are not encrypted.
///
/// # Errors
/// Returns the reason if the memory is malformed or of an unknown version, or if the export does not contain its scope
/// or its key.
pub(super) fn envelope<'e>(sealed: &Value, export: &'e Export) -> Result<Envelope<'e>, Reason> {
    // In an export, each memory is a byte string that contains CBOR.
    let parsed = sealed.as_bytes().map(|bytes| cbor::parse(bytes).ok_or(MALFORMED)).transpose()?;
    let sealed = parsed.as_ref().unwrap_or(sealed);
    let bytes_of = |key: i64| cbor::member(sealed, key).and_then(Value::as_bytes).cloned().ok_or(MALFORMED);
    let (id, scope_id, message) = (bytes_of(1)?, bytes_of(2)?, bytes_of(4)?);
    let version = cbor::member(sealed, 3).and_then(cbor::number).ok_or(MALFORMED)?;
    if !(1..=WRITTEN_VERSION).contains(&version) {
        return Err("unsupported_version: only versions 1 and 2 of memories are known");
    }
    let scope = export.scopes.get(&scope_id).ok_or("malformed: the scope of this memory is not in the export")?;
    let wrapped_key = export.keys.get(&id).ok_or("malformed: the key of this memory is not in the export")?;
    Ok(Envelope { id, scope_id, version, message, scope, wrapped_key })
}

/// Decrypts a memory and verifies its signature.
///
/// # Errors
/// Returns the reason if the memory cannot be read. For example, it may be damaged, encrypted for another key, or not
/// signed with a key that the owner knows.
pub(super) fn open(sealed: &Value, export: &Export, keys: &dyn KeyPair) -> Result<Opened, Reason> {
    let Envelope { id, scope_id, version, message, scope, wrapped_key } = envelope(sealed, export)?;
    // In version 1, neither the encryption nor the signature covers the id and the scope.
    let binding = if version == 1 { Vec::new() } else { binding(version, &id, &scope_id) };
    let outer = CoseEncrypt0::from_tagged_slice(&message).or_else(|_| CoseEncrypt0::from_slice(&message));
    let outer = outer.map_err(|_| MALFORMED)?;
    if outer.protected.header.alg != Some(RegisteredLabelWithPrivate::Assigned(Algorithm::A256GCM)) {
        return Err("encryption_algorithm: this memory is not encrypted with AES-256-GCM");
    }
    let nonce = [&outer.unprotected.iv, &outer.protected.header.iv].into_iter().find(|iv| !iv.is_empty()).cloned();
    let nonce = nonce.unwrap_or_default();
    let label = wrap_label(&scope_id);
    let decrypt = |ciphertext: &[u8], aad: &[u8]| {
        let content = SealedContent { wrapped_key: wrapped_key.to_vec(), nonce, ciphertext: ciphertext.to_vec() };
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

/// Returns the ids of the scopes whose keys certainly belong to the owner: the scope contains a memory that can be
/// decrypted and has the owner's signature. Without such a memory, somebody else could have replaced the key of the
/// scope, because the list of scopes is not signed.
pub(super) fn proven_scopes(export: &Export, keys: &dyn KeyPair) -> HashSet<Vec<u8>> {
    let scope_of_own_memory = |sealed: &Value| {
        let scope_id = envelope(sealed, export).ok()?.scope_id;
        let opened = open(sealed, export, keys).ok()?;
        (opened.version == WRITTEN_VERSION && opened.trust == "self").then_some(scope_id)
    };
    export.objects.iter().filter_map(scope_of_own_memory).collect()
}

/// Signs and encrypts a memory. Returns its bytes and its wrapped key.
///
/// # Errors
/// Returns an error if the memory cannot be encoded or encrypted.
pub(super) fn seal(
    payload: &Value,
    id: &Id,
    (scope_id, scope_key): (&[u8], &WrappedKey),
    keys: &dyn KeyPair,
) -> Result<(Vec<u8>, Vec<u8>), FormatError> {
    let not_encoded = |_| FormatError::invalid("not_encoded", hex::encode(id), "this memory cannot be encoded");
    let binding = binding(WRITTEN_VERSION, id, scope_id);
    let author = key_id(&keys.signing_key());
    let signed = CoseSign1Builder::new()
        .protected(HeaderBuilder::new().algorithm(Algorithm::EdDSA).key_id(author.to_vec()).build())
        .payload(cbor::to_bytes(payload))
        .create_signature(&binding, |message| keys.sign(message).to_vec())
        .build();
    let signed = signed.to_tagged_vec().map_err(not_encoded)?;
    let (mut wrapped_key, mut nonce) = (Vec::new(), Vec::new());
    let encrypted = CoseEncrypt0Builder::new()
        .protected(HeaderBuilder::new().algorithm(Algorithm::A256GCM).build())
        .try_create_ciphertext(&signed, &binding, |plain, aad| -> Result<Vec<u8>, FormatError> {
            let sealed = keys.seal(scope_key, &wrap_label(scope_id), aad, plain)?;
            (wrapped_key, nonce) = (sealed.wrapped_key, sealed.nonce);
            Ok(sealed.ciphertext)
        })?
        .unprotected(HeaderBuilder::new().iv(nonce).build())
        .build();
    let message = encrypted.to_tagged_vec().map_err(not_encoded)?;
    let sealed = cbor::map(vec![
        (1.into(), cbor::bytes(id)),
        (2.into(), cbor::bytes(scope_id)),
        (3.into(), WRITTEN_VERSION.into()),
        (4.into(), Value::Bytes(message)),
    ]);
    Ok((cbor::to_bytes(&sealed), wrapped_key))
}

/// Returns the HKDF label of the key that wraps the key of a scope.
pub(super) fn wrap_label(scope_id: &[u8]) -> Vec<u8> {
    [WRAP_LABEL, scope_id].concat()
}

/// Returns the bytes that the encryption and the signature of a memory also cover: its version, its id and the id of
/// its scope.
fn binding(version: i64, id: &[u8], scope_id: &[u8]) -> Vec<u8> {
    cbor::to_bytes(&Value::Array(vec![version.into(), cbor::bytes(id), cbor::bytes(scope_id)]))
}

/// Determines whether the author of a memory is known, from its signature. The trust that the memory itself states is
/// ignored.
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
    let known_keys = std::iter::once(&export.signing_key).chain(&export.known_keys);
    let verifies = |key: &&Vec<u8>| {
        let verified = signed.verify_signature(binding, |signature, message| {
            keys.verify(key, message, signature).then_some(()).ok_or(())
        });
        verified.is_ok()
    };
    let signer = known_keys.filter(is_author).find(verifies);
    let signer = signer.ok_or("signature_invalid: no key that the owner knows has signed this memory")?;
    if *signer == export.signing_key {
        return Ok(trust_of_owners(payload, &export.known_key_ids()));
    }
    Ok(if cbor::member(payload, CUSTODY).is_some() { "unverified" } else { "trusted" })
}

/// Returns the trust in a memory that the owner signed. `known_key_ids` contains the ids of the owner's key and of the
/// keys that the owner accepted.
pub(super) fn trust_of_owners(payload: &Value, known_key_ids: &[KeyId]) -> &'static str {
    // With `custody`, the memory is of another author, and the owner signed it when converting it to version 2.
    let Some(custody) = cbor::member(payload, CUSTODY) else { return "self" };
    let proven_author = cbor::member(custody, 4).and_then(Value::as_bytes);
    let is_proven =
        proven_author.is_some_and(|proven_author| known_key_ids.iter().any(|key| key[..] == proven_author[..]));
    if is_proven { "trusted" } else { "unverified" }
}
