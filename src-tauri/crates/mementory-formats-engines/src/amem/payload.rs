//! Builds the content of a memory of ApertoMemory from a record.
use super::ID;
use super::cbor::{self, from_json, map};
use super::object::CUSTODY;
use super::wire::KeyId;
use ciborium::Value;
use mementory_format::StoredRecord;
use mementory_formats_shared::export::words;
use mementory_model::{Kind, Record, Timestamp};

/// The confidence that is written for a memory without one. The format requires a value, and ApertoMemory writes this
/// one.
pub(super) const CONFIDENCE: f64 = 0.8;
/// Prefix of the fields in which the reader stores members for which the model has no field.
const EXTENSION: &str = "extension_";
/// Scope of a memory that has no scope of ApertoMemory. ApertoMemory's server for assistants expects a scope of this
/// name.
const DEFAULT_SCOPE: &str = "default";

/// Values that all memories of an export share.
pub(super) struct Author {
    /// Id of the key that signs the memories.
    pub key: KeyId,
    /// Name and version of the program that writes the export.
    pub generator: String,
    /// Time of the export.
    pub now: Timestamp,
    /// True if the ids of accounts and the names of platforms must not be written.
    pub strip: bool,
}

/// Returns the name of the scope for a record. Names of scopes are not encrypted, so only names from an export of
/// ApertoMemory are written. Namespaces of other sources may contain names of people and accounts.
pub(super) fn scope_name(record: &Record, strip: bool) -> &str {
    let own_scope = record.namespace.as_deref().filter(|name| is_from_amem(record) && !strip && !name.is_empty());
    own_scope.unwrap_or(DEFAULT_SCOPE)
}

/// True if the record was read from an export of ApertoMemory.
pub(super) fn is_from_amem(record: &Record) -> bool {
    record.origin.format == ID
}

/// Returns the content of a memory as a CBOR map.
pub(super) fn payload(stored: &StoredRecord, author: &Author) -> Value {
    let record = &stored.record;
    let confidence = record.confidence.filter(|share| (0.0..=1.0).contains(share)).unwrap_or(CONFIDENCE);
    let mut members: Vec<(Value, Value)> = vec![
        (1.into(), type_number(record).into()),
        (2.into(), words(record).into()),
        (3.into(), confidence.into()),
        (4.into(), provenance(record, author)),
        // The trust. 1 means that the owner is the author. Readers ignore this member and derive the trust from the
        // signature.
        (5.into(), 1.into()),
        (7.into(), times(record, author.now)),
    ];
    if !record.tags.is_empty() {
        members.push((6.into(), Value::Array(record.tags.iter().map(|tag| tag.as_str().into()).collect())));
    }
    if let Some(custody) = custody(stored, author) {
        members.push((CUSTODY.into(), custody));
    }
    let extensions = record.fields.iter().filter(|_| is_from_amem(record)).filter_map(|(name, value)| {
        let key = name.strip_prefix(EXTENSION)?;
        let number = key.parse::<u64>();
        let is_known = number.as_ref().is_ok_and(|number| (1..=7).contains(number) || *number == CUSTODY as u64);
        (!is_known).then(|| (number.map_or_else(|_| key.into(), Value::from), from_json(value)))
    });
    members.extend(extensions);
    map(members)
}

fn type_number(record: &Record) -> i64 {
    match (record.kind, record.record_type.as_deref()) {
        (Kind::Procedure, _) | (_, Some("procedural")) => 3,
        (_, Some("episodic" | "episode" | "event")) => 1,
        _ => 2,
    }
}

/// Returns the member that states where a memory comes from: the program, the key of the author, and the session.
fn provenance(record: &Record, author: &Author) -> Value {
    let own_tool = record.fields.get("tool").and_then(|tool| tool.as_str()).filter(|_| is_from_amem(record));
    let tool = own_tool.unwrap_or(&record.source.platform);
    let tool = if author.strip || tool.is_empty() { author.generator.as_str() } else { tool };
    let mut members: Vec<(Value, Value)> = vec![(1.into(), tool.into()), (2.into(), cbor::bytes(&author.key))];
    if let Some(session) = record.source.conversation.as_deref().filter(|_| !author.strip) {
        members.push((3.into(), session.into()));
    }
    map(members)
}

/// Returns the times of creation and of the last change, in seconds. The format requires a time of creation. If no time
/// is known, the time of the export is written, as ApertoMemory does.
fn times(record: &Record, now: Timestamp) -> Value {
    let seconds = |time: Timestamp| Value::from(time.as_micros().div_euclid(1_000_000).max(0));
    let created = record.times.created.or(record.times.updated).or(record.times.observed).unwrap_or(now);
    let mut members: Vec<(Value, Value)> = vec![(1.into(), seconds(created))];
    if let Some(updated) = record.times.updated {
        members.push((2.into(), seconds(updated)));
    }
    map(members)
}

/// Returns the owner's statement that they sign a memory of another author. None for a memory of the owner, and for a
/// memory of another source: the owner's assistants wrote it, so it is signed as the owner's own, as ApertoMemory does.
///
/// For an edited memory, the statement does not contain the id of a proven author (member 4), because that author did
/// not write the edited text.
fn custody(stored: &StoredRecord, author: &Author) -> Option<Value> {
    let record = &stored.record;
    if !is_from_amem(record) {
        return None;
    }
    let field = |name: &str| record.fields.get(name).filter(|_| !author.strip);
    if let Some(custody) = field("custody").and_then(|custody| custody.as_object()) {
        let mut custody = custody.clone();
        custody.retain(|key, _| key != "4" || !stored.edited);
        return Some(from_json(&custody.into()));
    }
    let trust = record.fields.get("trust").and_then(|trust| trust.as_str());
    if trust == Some("self") && !record.fields.contains_key("custody") {
        return None;
    }
    let version = record.origin.version.as_deref().and_then(|version| version.parse::<i64>().ok()).unwrap_or(1);
    let key = field("author_key_id").and_then(|key| hex::decode(key.as_str()?).ok()).filter(|key| key.len() == 8);
    let claimed = key.clone().unwrap_or_else(|| vec![0; 8]);
    let now = author.now.as_micros().div_euclid(1_000_000);
    let mut members: Vec<(Value, Value)> =
        vec![(1.into(), version.into()), (2.into(), Value::Bytes(claimed)), (3.into(), now.into())];
    if let Some(proven_author) = key.filter(|_| trust == Some("trusted") && !stored.edited) {
        members.push((4.into(), Value::Bytes(proven_author)));
    }
    Some(map(members))
}
