//! Reads the memories of an export with its passphrase.
use super::object::{Opened, open};
use super::wire::Export;
use super::{ID, cbor};
use ciborium::Value;
use mementory_format::{
    Catalog, Detected, FormatError, KeyDerivation, KeyPair, Member, Passphrase, PassthroughItem, Sink,
};
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Limits, Origin, Record, RecordKey, Timestamp, Verbatim};
use serde_json::json;
use std::io::Read;

/// Keys of the members of a memory for which the model has a field: type, content, confidence, source, trust, tags and
/// times.
const KNOWN_MEMBERS: [&str; 7] = ["1", "2", "3", "4", "5", "6", "7"];

/// Reads every claimed export.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    limits: &Limits,
    passphrase: Option<&dyn Passphrase>,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut read_bytes = 0;
    for (member, export) in exports(catalog, detected, limits)? {
        let keys = unlock(&export, passphrase, &member.place)?;
        read_export(&export, keys.as_ref(), member, sink)?;
        read_bytes += member.size;
        sink.progress(read_bytes)?;
    }
    Ok(())
}

/// Returns the claimed exports. Their memories are still encrypted.
pub(super) fn exports<'c>(
    catalog: &'c Catalog,
    detected: &Detected,
    limits: &Limits,
) -> Result<Vec<(&'c Member, Export)>, FormatError> {
    let members = detected.claim.parts.iter().filter_map(|part| catalog.members().get(part.member));
    let parsed = members.map(|member| {
        let bytes = content(catalog, member, limits.element_bytes)?;
        Ok((member, parse(&bytes, &member.place)?))
    });
    parsed.collect()
}

pub(super) fn parse(bytes: &[u8], place: &str) -> Result<Export, FormatError> {
    Export::parse(bytes).map_err(|why| FormatError::invalid("malformed", place, why))
}

fn content(catalog: &Catalog, member: &Member, limit: u64) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    catalog.read(member, |reader| {
        let io = |error| FormatError::io(&member.place, error);
        reader.take(limit.saturating_add(1)).read_to_end(&mut bytes).map(drop).map_err(io)
    })?;
    if bytes.len() as u64 > limit {
        return Err(FormatError::invalid("too_large", &member.place, "the export is larger than one element may be"));
    }
    Ok(bytes)
}

/// Returns the parameters with which the owner's keys are derived. Only the salt differs between exports.
pub(super) fn derivation(salt: &[u8]) -> KeyDerivation<'_> {
    KeyDerivation {
        salt,
        memory_kib: 64 << 10,
        passes: 3,
        lanes: 4,
        signing_label: b"apertomemory/v1/sign",
        agreement_label: b"apertomemory/v1/ka",
    }
}

/// Derives the owner's keys from the passphrase and the salt of the export.
pub(super) fn unlock(
    export: &Export,
    passphrase: Option<&dyn Passphrase>,
    place: &str,
) -> Result<Box<dyn KeyPair>, FormatError> {
    let Some(passphrase) = passphrase else {
        let message = "the memories are encrypted; give the passphrase of the vault they are from";
        return Err(FormatError::invalid("passphrase_needed", place, message));
    };
    let keys = passphrase.key_pair(&derivation(&export.salt))?;
    if keys.signing_key()[..] != export.signing_key[..] {
        let message = "the passphrase is wrong, or the file was changed";
        return Err(FormatError::invalid("passphrase_wrong", place, message));
    }
    Ok(keys)
}

fn read_export(export: &Export, keys: &dyn KeyPair, member: &Member, sink: &mut dyn Sink) -> Result<(), FormatError> {
    for (n, sealed) in export.objects.iter().enumerate() {
        let pointer = format!("/3/{n}");
        let place = format!("{}#{pointer}", member.place);
        let opened = open(sealed, export, keys).and_then(|opened| {
            let record = record(&opened).ok_or("no_content: this memory has no text")?;
            Ok((opened, record))
        });
        match opened {
            Ok((opened, mut record)) => {
                if opened.version == 1 {
                    let message = "memories of version 1 are not bound to their place, so their author is not certain";
                    sink.note(Issue::new("unverified", &place, message));
                }
                let (format, container) = (ID.into(), member.place.clone());
                record.origin = Origin { format, version: Some(opened.version.to_string()), container, pointer };
                sink.unit(record.into())?;
            }
            Err(reason) => {
                let (outcome, kind) = (DroppedAs::Failed, Some(Kind::Memory));
                sink.dropped(Dropped { place, outcome, reason: reason.into(), kind });
            }
        }
    }
    let Some(other) = &export.other else { return Ok(()) };
    let (name, place) = (format!("{}#", member.name), format!("{}#", member.place));
    let item = PassthroughItem { format: ID.into(), group: String::new(), name, role: "raw".into(), place };
    sink.passthrough(item, &mut other.as_bytes())
}

/// Returns the record of a memory, without its origin. None if the memory has no text.
pub(super) fn record(opened: &Opened) -> Option<Record> {
    let payload = &opened.payload;
    let text = cbor::member(payload, 2).and_then(Value::as_text).filter(|text| !text.trim().is_empty())?;
    let (kind, record_type) = match cbor::member(payload, 1).and_then(cbor::number) {
        Some(1) => (Kind::Memory, Some("episodic".to_owned())),
        Some(2) => (Kind::Memory, Some("semantic".to_owned())),
        Some(3) => (Kind::Procedure, Some("procedural".to_owned())),
        other => (Kind::Memory, other.map(|number| number.to_string())),
    };
    let mut record = Record::new(kind, RecordKey::new(ID, &opened.id), text);
    record.origin_id = Some(opened.id.clone());
    record.source.platform = ID.into();
    record.record_type = record_type;
    record.namespace = Some(opened.scope.clone());
    record.confidence = cbor::member(payload, 3).and_then(Value::as_float).filter(|share| (0.0..=1.0).contains(share));
    let tags = cbor::member(payload, 6).and_then(Value::as_array).into_iter().flatten();
    record.tags = tags.filter_map(|tag| Some(tag.as_text()?.to_owned())).collect();
    record.times.created = time(payload, 1);
    record.times.updated = time(payload, 2);
    let source = cbor::member(payload, 4);
    if let Some(tool) = source.and_then(|source| cbor::member(source, 1)).and_then(Value::as_text) {
        record.fields.insert("tool".into(), tool.into());
    }
    let session = source.and_then(|source| cbor::member(source, 3)).and_then(Value::as_text);
    record.source.conversation = session.map(str::to_owned);
    if let Some(author) = source.and_then(|source| cbor::member(source, 2)).and_then(Value::as_bytes) {
        record.fields.insert("author_key_id".into(), hex::encode(author).into());
    }
    record.fields.insert("trust".into(), opened.trust.into());
    let members = payload.as_map().into_iter().flatten().map(|(key, value)| (cbor::key_text(key), value));
    for (key, value) in members.filter(|(key, _)| !KNOWN_MEMBERS.contains(&key.as_str())) {
        if key != "20" {
            record.fields.insert(format!("extension_{key}"), cbor::to_json(value));
        } else if let Some(members) = value.as_map() {
            // Member 4 is the id of an author whose identity was verified. It is stored only if the signature in the
            // file is trusted. Otherwise an export from this vault would confirm an author whom nobody has verified.
            let is_kept = |key: &Value| opened.trust == "trusted" || cbor::number(key) != Some(4);
            let kept_members = members.iter().filter(|(key, _)| is_kept(key)).cloned().collect();
            record.fields.insert("custody".into(), cbor::to_json(&Value::Map(kept_members)));
        }
    }
    // The file contains CBOR, so the verbatim is the content of the memory as JSON.
    let content = json!({ "id": opened.id, "scope": opened.scope, "format_version": opened.version,
        "payload": cbor::to_json(payload) });
    record.verbatim = Some(Verbatim::json(content.to_string()));
    Some(record)
}

/// Returns a time of a memory: that of its creation for `key` 1, and that of its last change for `key` 2.
fn time(payload: &Value, key: i64) -> Option<Timestamp> {
    let seconds = cbor::member(payload, 7).and_then(|times| cbor::member(times, key)).and_then(cbor::number)?;
    Timestamp::from_micros(seconds.checked_mul(1_000_000)?)
}
