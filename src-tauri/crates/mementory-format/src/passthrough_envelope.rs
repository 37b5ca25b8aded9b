//! Envelopes: records of kind `foreign` that contain a passthrough file (a header, a manifest) or an imported deletion.
//! Other formats have no field for these, so an export to another format contains them as envelopes. When such an
//! export is imported, the envelopes become passthrough files and tombstones again, so that the original file can be
//! restored completely.
use crate::{FormatError, PassthroughItem, RecordSource, is_safe_path};
use base64::{Engine, prelude::BASE64_STANDARD};
use mementory_model::{Kind, LossKind, LossReport, Record, RecordKey, Tombstone, Verbatim};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Largest size in bytes of a file that is written into an envelope. Larger files are listed as losses.
pub const MAX_FILE_BYTES: u64 = 1 << 20;
/// Scope of the record keys of envelopes.
const ENVELOPE_SCOPE: &str = "keepsake/carried";
/// Media type of an envelope whose file is not UTF-8 text.
const BASE64_MEDIA_TYPE: &str = "application/base64";
const TEXT_MEDIA_TYPE: &str = "text/plain";

/// Content of an envelope.
#[derive(Debug, Clone)]
pub enum Unpacked {
    /// A file and its bytes.
    File(PassthroughItem, Vec<u8>),
    /// A deletion.
    Tombstone(Box<Tombstone>),
}

/// Metadata of a passthrough file, stored in the fields of its envelope record.
#[derive(Serialize, Deserialize)]
struct PassthroughLabel {
    format: String,
    group: String,
    name: String,
    role: String,
    place: String,
}

/// True if this file may be written into an envelope. Files of agents (`raw/`, artifacts) may not, because they can
/// contain secrets that only their own format recognises.
pub fn is_embeddable(item: &PassthroughItem) -> bool {
    !matches!(item.role.as_str(), "raw" | "artifact")
}

/// Reports the passthrough files of every format that `is_left_out` selects as losses, because they are not exported.
///
/// # Errors
/// Errors of the source.
pub fn note_left_out(
    source: &mut dyn RecordSource,
    is_left_out: impl Fn(&str) -> bool,
    losses: &mut LossReport,
) -> Result<(), FormatError> {
    for format in source.passthrough_formats()?.iter().filter(|f| is_left_out(f)) {
        source.passthrough(format, &mut |item, _| {
            losses.add(&item.name, "passthrough", LossKind::LeftOut, "a part of another format's export");
            Ok(())
        })?;
    }
    Ok(())
}

/// Packs a passthrough file into an envelope record.
pub fn pack_file(item: &PassthroughItem, bytes: &[u8]) -> Record {
    let PassthroughItem { format, group, name, role, place } = item.clone();
    let text = format!("Kept for the way back to {format}: {name}");
    let mut record = envelope_record(&format!("part/{format}/{group}/{name}"), text);
    record.title = Some(name.clone());
    record.record_type = Some("part".into());
    record.source.platform.clone_from(&format);
    if let Ok(label) = serde_json::to_value(PassthroughLabel { format, group, name, role, place }) {
        record.fields.insert("part".into(), label);
    }
    record.verbatim = Some(match std::str::from_utf8(bytes) {
        Ok(text) => Verbatim { media_type: TEXT_MEDIA_TYPE.into(), text: text.into() },
        Err(_) => Verbatim { media_type: BASE64_MEDIA_TYPE.into(), text: BASE64_STANDARD.encode(bytes) },
    });
    record
}

/// The export id of an envelope. It is the same in every vault, because no vault stores an envelope under an id. A
/// plain digest is enough, because the envelope itself contains everything that is hashed.
pub fn export_id(envelope: &Record) -> String {
    hex::encode(&Sha256::digest(format!("{}\u{0}{}", envelope.key.scope, envelope.key.value))[..16])
}

/// Packs a deletion from an imported file into an envelope record. None for a deletion of this vault, which is only
/// written into formats that have tombstones.
pub fn pack_tombstone(tombstone: &Tombstone) -> Option<Record> {
    tombstone.verbatim.as_ref()?;
    let mut record =
        envelope_record(&format!("tombstone/{}", tombstone.id), "Kept for the way back: a deletion".to_owned());
    record.record_type = Some("tombstone".into());
    record.source.platform.clone_from(&tombstone.scope);
    record.verbatim = Some(Verbatim::json(serde_json::to_string(tombstone).ok()?));
    Some(record)
}

/// The content of an envelope record. None for any other record, and for content that our writers do not produce.
/// `carries` returns true if exports in the format with this id can contain passthrough files.
pub fn unpack(record: &Record, carries: impl Fn(&str) -> bool) -> Option<Unpacked> {
    if record.kind != Kind::Foreign || record.key.scope != ENVELOPE_SCOPE {
        return None;
    }
    let verbatim = record.verbatim.as_ref()?;
    if record.record_type.as_deref() == Some("tombstone") {
        return serde_json::from_str(&verbatim.text).ok().map(|t| Unpacked::Tombstone(Box::new(t)));
    }
    let label = PassthroughLabel::deserialize(record.fields.get("part")?).ok()?;
    let bytes = match verbatim.media_type.as_str() {
        BASE64_MEDIA_TYPE => BASE64_STANDARD.decode(&verbatim.text).ok()?,
        _ => verbatim.text.clone().into_bytes(),
    };
    let PassthroughLabel { format, group, name, role, place } = label;
    let item = PassthroughItem { format, group, name, role, place };
    // The name becomes a path when the file is exported. In an untrusted envelope it could lead out of the target
    // folder.
    let is_known = carries(&item.format) && is_embeddable(&item);
    (is_known && is_safe_path(&item.name)).then_some(Unpacked::File(item, bytes))
}

fn envelope_record(value: &str, text: String) -> Record {
    let mut record = Record::new(Kind::Foreign, RecordKey::new(ENVELOPE_SCOPE, value), text);
    record.origin.format = "keepsake".into();
    record
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn carries(format: &str) -> bool {
        format == "alf"
    }

    fn item(name: &str, role: &str) -> PassthroughItem {
        let [format, group, role, place] = ["alf", "g", role, "a.alf"].map(str::to_owned);
        PassthroughItem { format, group, name: name.into(), role, place }
    }

    #[test]
    fn an_unpacked_file_equals_the_packed_one() {
        for bytes in ["{\"a\": 1.0}\n".as_bytes(), &[0xff, 0, 0xfe], b""] {
            let item = item("x/manifest.json", "manifest");
            match unpack(&pack_file(&item, bytes), carries).unwrap() {
                Unpacked::File(back, same) => {
                    assert_eq!(same, bytes);
                    assert_eq!((back.format, back.group, back.name), (item.format, item.group, item.name));
                    assert_eq!((back.role, back.place), (item.role, item.place));
                }
                Unpacked::Tombstone(_) => panic!("a part"),
            }
        }
    }

    #[test]
    fn unsafe_names_and_files_of_agents_are_not_unpacked() {
        for name in ["../x", "/x", "a/../../x", "a\\b", "", "c:x", "a\0"] {
            assert!(unpack(&pack_file(&item(name, "entry"), b""), carries).is_none(), "{name}");
        }
        assert!(unpack(&pack_file(&item("x", "raw"), b""), carries).is_none());
        assert!(unpack(&pack_file(&item("x", "entry"), b""), carries).is_some());
    }

    #[test]
    fn only_our_own_records_are_unpacked() {
        let mut record = pack_file(&item("x", "entry"), b"");
        record.key.scope = "mem".into();
        assert!(unpack(&record, carries).is_none());
    }
}
