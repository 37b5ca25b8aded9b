//! Vault ids, fingerprints and digests: all keyed, so that none of them says anything about content.
use mementory_crypto::{KeyedHasher, VaultKeys, keyed_id};
use mementory_model::{Kind, Record, RecordKey, Times, normal_text};

/// Shortest normal text of a message whose fingerprint blocks; a "yes" must not block every other "yes".
const MESSAGE_FINGERPRINT_MIN: usize = 24;

/// Stable id of a record.
pub fn record_id(keys: &VaultKeys, key: &RecordKey) -> [u8; 16] {
    keyed_id(keys.ids(), &[b"record", key.scope.as_bytes(), key.value.as_bytes()])
}

/// Fingerprint of what a record says, the same for the same words under another id; None where words are too few to
/// mean anything.
pub fn fingerprint(keys: &VaultKeys, kind: Kind, text: &str) -> Option<[u8; 16]> {
    let least = match kind {
        Kind::Memory | Kind::Fact | Kind::Profile | Kind::Procedure => 1,
        Kind::Message | Kind::Resource | Kind::Chunk | Kind::Todo => MESSAGE_FINGERPRINT_MIN,
        _ => return None,
    };
    let normal = normal_text(text);
    (normal.len() >= least).then(|| keyed_id(keys.fingerprints(), &[b"text", normal.as_bytes()]))
}

/// Digest of what a source says in a record: equal = unchanged. Place, position and branch are not part of it, since
/// they differ between two exports of the same thing.
pub fn content_digest(keys: &VaultKeys, record: &Record) -> [u8; 16] {
    let mut h = KeyedHasher::new(keys.ids());
    let mut part = |bytes: &[u8]| {
        h.update(&(bytes.len() as u64).to_le_bytes());
        h.update(bytes);
    };
    part(record.kind.as_str().as_bytes());
    part(record.text.as_bytes());
    for text in [&record.title, &record.record_type, &record.status, &record.sensitivity, &record.namespace] {
        part(text.as_deref().unwrap_or("\u{0}").as_bytes());
    }
    // A record that a source repeats has the time of whichever occurrence came first.
    let times = if record.repeats { &Times::default() } else { &record.times };
    for time in [times.created, times.valid_from, times.valid_to, times.observed] {
        part(&time.map_or(i64::MIN, mementory_model::Timestamp::as_micros).to_le_bytes());
    }
    for tag in &record.tags {
        part(tag.as_bytes());
    }
    for number in [record.confidence, record.importance] {
        part(&number.unwrap_or(f64::NAN).to_bits().to_le_bytes());
    }
    if !record.fields.is_empty() {
        part(&serde_json::to_vec(&record.fields).unwrap_or_default());
    }
    for attachment in &record.attachments {
        part(attachment.key.value.as_bytes());
        part(attachment.text.as_deref().unwrap_or("").as_bytes());
    }
    if let Some(message) = &record.message {
        part(message.role.as_bytes());
        part(message.content_type.as_bytes());
    }
    let full = h.finish();
    let mut out = [0; 16];
    out.copy_from_slice(&full[..16]);
    out
}

/// Reads the text form of an id.
pub fn parse_id(text: &str) -> Option<[u8; 16]> {
    hex::decode(text).ok()?.try_into().ok()
}

/// A random id in text form.
pub fn random_text() -> crate::StoreResult<String> {
    Ok(hex::encode(mementory_crypto::random_id()?))
}
