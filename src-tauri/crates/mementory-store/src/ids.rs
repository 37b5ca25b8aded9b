//! Vault ids, fingerprints and digests. All are keyed, so none of them reveals content.
use mementory_crypto::{VaultKeys, keyed_id};
use mementory_model::{Kind, Record, RecordKey, Times, WithoutUsage, normal_text};

/// A message, resource, chunk or task gets a fingerprint only if its normalised text has at least this many bytes.
/// Otherwise, deleting a "yes", for example, would block every other "yes".
const MIN_FINGERPRINTED_BYTES: usize = 24;

/// Id of a record in this vault. The same record key always produces the same id.
pub fn record_id(keys: &VaultKeys, key: &RecordKey) -> [u8; 16] {
    keys.id_hasher().id_of(&[b"record", key.scope.as_bytes(), key.value.as_bytes()])
}

/// Fingerprint of a record's text. Equal words produce the same fingerprint, whatever the record's id. None if the kind
/// has no fingerprint or the text is too short.
pub fn fingerprint(keys: &VaultKeys, kind: Kind, text: &str) -> Option<[u8; 16]> {
    let min_length = match kind {
        Kind::Memory | Kind::Fact | Kind::Profile | Kind::Procedure => 1,
        Kind::Message | Kind::Resource | Kind::Chunk | Kind::Todo => MIN_FINGERPRINTED_BYTES,
        _ => return None,
    };
    let normal = normal_text(text);
    (normal.len() >= min_length).then(|| keyed_id(keys.fingerprints(), &[b"text", normal.as_bytes()]))
}

/// Digest of a record's content, by which an import recognises that a record is unchanged. Origin, position and branch
/// are not part of it, because they differ between two exports of the same record.
pub fn content_digest(keys: &VaultKeys, record: &Record) -> [u8; 16] {
    let mut hasher = keys.id_hasher().clone();
    let mut hash_part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    hash_part(record.kind.as_str().as_bytes());
    hash_part(record.text.as_bytes());
    for text in [&record.title, &record.record_type, &record.status, &record.sensitivity, &record.namespace] {
        hash_part(text.as_deref().unwrap_or("\u{0}").as_bytes());
    }
    // If the source repeats a record, its time depends on which occurrence was read first, so the time is left out.
    let times = if record.repeats { &Times::default() } else { &record.times };
    for time in [times.created, times.valid_from, times.valid_to, times.observed] {
        hash_part(&time.map_or(i64::MIN, mementory_model::Timestamp::as_micros).to_le_bytes());
    }
    for tag in &record.tags {
        hash_part(tag.as_bytes());
    }
    for number in [record.confidence, record.importance] {
        hash_part(&number.unwrap_or(f64::NAN).to_bits().to_le_bytes());
    }
    // Counts of uses are left out, because another use of the record does not change its content.
    let fields = WithoutUsage(&record.fields);
    if !fields.is_empty() {
        hash_part(&serde_json::to_vec(&fields).unwrap_or_default());
    }
    for attachment in &record.attachments {
        hash_part(attachment.key.value.as_bytes());
        hash_part(attachment.text.as_deref().unwrap_or("").as_bytes());
    }
    if let Some(message) = &record.message {
        hash_part(message.role.as_bytes());
        hash_part(message.content_type.as_bytes());
    }
    let full_digest = hasher.finish();
    let mut out = [0; 16];
    out.copy_from_slice(&full_digest[..16]);
    out
}

/// Parses an id in hexadecimal.
pub fn parse_id(text: &str) -> Option<[u8; 16]> {
    hex::decode(text).ok()?.try_into().ok()
}

/// A new random id in hexadecimal.
pub fn random_hex_id() -> crate::StoreResult<String> {
    Ok(hex::encode(mementory_crypto::random_id()?))
}
