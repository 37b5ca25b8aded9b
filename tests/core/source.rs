//! Builds records as a reader would return them, for tests that import similar records several times.
use mementory_formats::{AttachmentFile, FormatError, PassthroughItem, Sink};
use mementory_model::{AttachmentRef, Kind, Link, MessagePart, Record, RecordKey, Unit};
use mementory_testkit::{TempVault, at, options};
use mementory_vault::{ImportReport, IndexFilter, ListQuery, RowView};
use std::sync::atomic::AtomicBool;

pub type Read<'r> = &'r (dyn Fn(&mut dyn Sink) -> Result<(), FormatError> + Sync);

/// Every order in which three imports can be undone.
pub const ORDERS_OF_THREE: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

pub fn key(value: &str) -> RecordKey {
    RecordKey::new("test", value)
}

pub fn record(kind: Kind, value: &str, text: &str) -> Record {
    let mut record = Record::new(kind, key(value), text);
    record.source.platform = "test".into();
    record
}

/// The conversation `c`, last changed on `day`, with messages given as (id, parent, text, on the active branch).
pub fn conversation(day: i64, messages: &[(&str, Option<&str>, &str, bool)]) -> Unit {
    let mut head = record(Kind::Conversation, "c", "");
    head.title = Some("Pets".into());
    head.times.updated = Some(at(day));
    let mut records = vec![head];
    for (position, (id, parent, text, active)) in messages.iter().enumerate() {
        let mut message = record(Kind::Message, id, text);
        message.parent = Some(key("c"));
        message.message = Some(MessagePart {
            role: "user".into(),
            parent: parent.map(key),
            position: position as u32,
            active: *active,
            content_type: "text".into(),
            ..MessagePart::default()
        });
        records.push(message);
    }
    Unit { records }
}

pub fn derived(mut record: Record, kind: Kind, target: &str) -> Record {
    record.links.push(Link {
        relation: "derived_from".into(),
        kind,
        target: key(target),
    });
    record
}

pub fn with_attachment(mut record: Record, file: &str) -> Record {
    record.attachments.push(attachment_ref(file));
    record
}

pub fn attachment_ref(file: &str) -> AttachmentRef {
    AttachmentRef {
        key: key(file),
        origin_id: None,
        name: format!("{file}.txt"),
        media_type: None,
        size: None,
        text: None,
    }
}

pub fn send_file(sink: &mut dyn Sink, name: &str, bytes: &str) -> Result<(), FormatError> {
    let file = AttachmentFile {
        key: key(name),
        origin_id: None,
        name: format!("{name}.txt"),
        media_type: Some("text/plain".into()),
        place: format!("{name}.txt"),
    };
    sink.attachment(file, &mut bytes.as_bytes())
}

pub fn send_part(sink: &mut dyn Sink, name: &str, bytes: &str) -> Result<(), FormatError> {
    let part = PassthroughItem {
        format: "test".into(),
        group: "g".into(),
        name: name.into(),
        role: "sidecar".into(),
        place: name.into(),
    };
    sink.passthrough(part, &mut bytes.as_bytes())
}

/// Imports the records and files that `read` sends.
pub fn import_from(t: &TempVault, read: Read<'_>) -> ImportReport {
    let cancel = AtomicBool::new(false);
    t.import_with(&options(&cancel, false), read).unwrap()
}

pub fn import_units(t: &TempVault, units: &[Unit]) -> ImportReport {
    import_from(t, &|sink| {
        units.iter().cloned().try_for_each(|unit| sink.unit(unit))
    })
}

/// Returns the numbers of found, added, updated, unchanged and blocked records.
pub fn outcome_counts(report: &ImportReport) -> [u32; 5] {
    let sum = report.total();
    [
        sum.found,
        sum.added,
        sum.updated,
        sum.unchanged,
        sum.blocked,
    ]
}

/// Returns the records of a kind that are not in the Trash.
pub fn live_records(t: &TempVault, kind: Kind) -> Vec<(RowView, Record)> {
    let query = ListQuery {
        kind: Some(kind),
        limit: 100,
        ..ListQuery::default()
    };
    let rows = t.vault.queries().list(&query).unwrap().rows;
    rows.into_iter()
        .map(|row| (row.clone(), t.vault.reader().record(&row).unwrap()))
        .collect()
}

/// Returns the record of this kind whose id in the source is `value`.
pub fn record_with_id(t: &TempVault, kind: Kind, value: &str) -> (RowView, Record) {
    live_records(t, kind)
        .into_iter()
        .find(|(_, r)| r.key.value == value)
        .unwrap()
}

/// Returns the sorted texts of the records of a kind that are not in the Trash.
pub fn texts(t: &TempVault, kind: Kind) -> Vec<String> {
    let mut texts: Vec<String> = live_records(t, kind)
        .into_iter()
        .map(|(_, r)| r.text)
        .collect();
    texts.sort();
    texts
}

pub fn hit_count(t: &TempVault, query: &str) -> u32 {
    t.vault
        .search()
        .search(query, &IndexFilter::default(), 10, 0)
        .unwrap()
        .total
}

/// Returns the places that failed the integrity check, with details.
pub fn faults(t: &TempVault) -> Vec<String> {
    let places = t.vault.integrity().check().unwrap();
    places
        .into_iter()
        .filter(|p| !p.ok)
        .map(|p| format!("{}: {}", p.place, p.detail))
        .collect()
}

/// Asserts that the integrity check passes and that no page (free or used) and no pack contains the words.
pub fn assert_no_trace_of(t: &TempVault, words: &[&str]) {
    assert_eq!(faults(t), [""; 0], "the vault checks clean");
    let bytes = t.decrypted();
    for words in words {
        assert!(
            !mementory_testkit::contains_text(&bytes, words),
            "{words:?} is still there"
        );
    }
}
