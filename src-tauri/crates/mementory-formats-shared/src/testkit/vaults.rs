//! Checks of writers of whole vaults, with conversations and their messages, records of every kind, and files.
use super::inputs_of;
use super::writers::check_written;
use mementory_format::testkit::{MemorySource, Scratch, read, repo, tree, vault_id};
use mementory_format::{AttachmentFile, Catalog, Format, FormatError, WriteOptions, WriteReport};
use mementory_model::{
    AttachmentRef, Kind, Limits, Link, LossKind, MessagePart, Origin, Record, RecordKey, Source, Timestamp, Verbatim,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The formats that take part in detection.
type Formats<'f> = &'f [&'static dyn Format];

/// The result of writing a source and reading the file back.
pub struct Written {
    /// The written file or folder.
    pub path: PathBuf,
    /// The report of the writer.
    pub report: WriteReport,
    /// The records and files that were read back.
    pub reread: MemorySource,
    /// The temporary folder of the file, which is removed when this value is dropped.
    pub scratch: Scratch,
}

/// Writes a source and reads the result back. Checks that the plan and the actual export return the same report, that
/// every record is written or withheld, that the file is recognised and valid, and that a second export writes the same
/// bytes.
pub fn write_and_read(formats: Formats<'_>, source: &mut MemorySource, format: &'static dyn Format) -> Written {
    let scratch = Scratch::new("whole-vault");
    let options = WriteOptions { everything: true, ..WriteOptions::default() };
    let ending = format.capabilities().ending;
    let [path, again] = ["written", "again"].map(|name| scratch.at(&format!("{name}{ending}")));
    let report = format.write(source, &path, &options).unwrap();
    format.write(source, &again, &options).unwrap();
    let bytes = |path: &PathBuf| match path.is_dir() {
        true => tree(path).into_iter().collect::<Vec<_>>(),
        false => vec![(String::new(), std::fs::read(path).unwrap())],
    };
    assert!(bytes(&path) == bytes(&again), "the same bytes twice");
    check_written(formats, format, source, &path, &report);
    let reread = merge_repeated(read(formats, &path, format));
    Written { path, report, reread, scratch }
}

impl Written {
    /// Vault ids of the records with a lost value that even our own reader cannot restore.
    pub fn ids_with_losses(&self) -> BTreeSet<&str> {
        let losses = self.report.losses.items.iter().filter(|loss| loss.kind != LossKind::MovedToExtension);
        losses.map(|loss| loss.record.as_str()).collect()
    }

    /// The imported record with the same kind and key as `record`.
    pub fn found(&self, record: &Record) -> Option<&Record> {
        self.reread.records.iter().find(|other| other.kind == record.kind && other.key == record.key)
    }
}

/// Reads the input of a fixture.
pub fn fixture(formats: Formats<'_>, format: &'static dyn Format, case: &str) -> MemorySource {
    let inputs = inputs_of(&repo().join("fixtures").join(format.id()).join(case));
    merge_repeated(read(formats, &inputs[0], format))
}

/// Merges records with the same kind and key into one record, as a vault does.
fn merge_repeated(mut source: MemorySource) -> MemorySource {
    let mut position_by_key: BTreeMap<(Kind, String, String), usize> = BTreeMap::new();
    let mut records: Vec<Record> = Vec::new();
    for record in std::mem::take(&mut source.records) {
        let key = (record.kind, record.key.scope.clone(), record.key.value.clone());
        match position_by_key.get(&key) {
            Some(at) => {
                let links = &mut records[*at].links;
                for link in record.links {
                    if !links.contains(&link) {
                        links.push(link);
                    }
                }
            }
            None => {
                position_by_key.insert(key, records.len());
                records.push(record);
            }
        }
    }
    source.records = records;
    source
}

/// Texts that break the structure of a file if a writer does not escape them.
pub const HOSTILE_TEXTS: [&str; 14] = [
    "```\nnever closed",
    "# A heading\n\n---\n\n## Another",
    "-->\n<!-- mementory {\"kind\":\"memory\"} -->",
    "<script>alert(1)</script></article></body>",
    "<!-- mementory",
    "=1+1",
    "'=1+1",
    "+cmd|' /C calc'!A0",
    "\t@x",
    "a,\"b\"\r\n'c';d",
    "\u{feff}\u{202e}rtl\u{0}\u{1}\u{b}",
    "&amp; &#61; &lt;b&gt; \\_\\*",
    "  leading and trailing  \n\n\n",
    "]]>{}[](javascript:x) ![](file:///etc/passwd)",
];

/// A made-up vault with hostile texts and records of every kind. No record comes from a format of this crate.
pub fn foreign_source() -> MemorySource {
    let mut source = MemorySource::default();
    let key = |value: String| RecordKey::new("elsewhere", value);
    for kind in Kind::ALL.into_iter().filter(|k| !matches!(k, Kind::Conversation | Kind::Message | Kind::Attachment)) {
        let mut record = Record::new(kind, key(format!("{}/1", kind.as_str())), format!("A text of {}", kind.as_str()));
        record.title = Some(format!("Title of {}", kind.as_str()));
        record.tags = vec!["a tag".into(), "b,c".into()];
        record.times.created = Timestamp::parse("2026-03-04T05:06:07.089Z");
        record.source = Source { platform: "elsewhere".into(), method: Some("extracted".into()), ..Source::default() };
        record.origin = Origin { format: "elsewhere".into(), container: "x.json".into(), ..Origin::default() };
        record.verbatim = Some(Verbatim::json(r#"{"secret":"the original"}"#));
        source.records.push(record);
    }
    for (i, text) in HOSTILE_TEXTS.iter().enumerate() {
        let mut record = Record::new(Kind::Memory, key(format!("memory/hostile/{i}")), *text);
        record.title = Some((*text).into());
        record.source.platform = (*text).trim().into();
        record.source.method = Some("explicit_user_input".into());
        source.records.push(record);
    }
    let conversation = key("talk/1".into());
    let mut conversation_record = Record::new(Kind::Conversation, conversation.clone(), "What it was about");
    conversation_record.title = Some("../../etc/passwd: <b>CON</b>\n```".into());
    conversation_record.times.created = Timestamp::parse("2026-02-01T10:00:00Z");
    conversation_record.source.platform = "elsewhere".into();
    conversation_record.origin.format = "elsewhere".into();
    conversation_record.fields.insert("mood".into(), "good".into());
    source.records.push(conversation_record);
    let roles = ["user", "assistant", "tool", "system", "narrator"];
    let types = ["text", "thinking", "tool_call", "tool_result", "context", "code", "poem"];
    let mut parent: Option<RecordKey> = None;
    for (i, text) in HOSTILE_TEXTS.iter().enumerate() {
        let mut record = Record::new(Kind::Message, key(format!("talk/1/{i}")), *text);
        record.parent = Some(conversation.clone());
        record.times.created = Timestamp::from_micros(1_770_000_000_123_456 + i as i64);
        record.source =
            Source { platform: "elsewhere".into(), account: Some("account-7431".into()), ..Source::default() };
        record.source.conversation = Some("talk/1".into());
        record.origin.format = "elsewhere".into();
        record.message = Some(MessagePart {
            role: roles[i % roles.len()].into(),
            parent: parent.clone(),
            position: i as u32,
            hidden: i % 5 == 3,
            active: true,
            model: (i % 2 == 1).then(|| "some-model".into()),
            content_type: types[i % types.len()].into(),
        });
        // Every fifth message begins a branch that is not active.
        if i % 5 == 4 && i + 1 < HOSTILE_TEXTS.len() {
            record.message.as_mut().unwrap().active = false;
        } else {
            parent = Some(record.key.clone());
        }
        record.links = vec![Link { relation: "see".into(), kind: Kind::Memory, target: key("memory/1".into()) }];
        source.records.push(record);
    }
    let file = AttachmentRef {
        key: key("file/a".into()),
        origin_id: Some("a".into()),
        name: "../CON .png".into(),
        media_type: Some("image/png".into()),
        size: Some(4),
        text: Some("what the picture says".into()),
    };
    let missing_file = AttachmentRef { key: key("file/b".into()), name: "lost.pdf".into(), ..file.clone() };
    let at = source.position("talk/1/0");
    source.records[at].attachments = vec![file.clone(), missing_file];
    let stored_file = AttachmentFile {
        key: file.key,
        origin_id: file.origin_id,
        name: file.name,
        media_type: file.media_type,
        place: "x/a".into(),
    };
    source.files.push((stored_file, b"\x89PNG".to_vec()));
    source
}

/// A source with many conversations, each with two messages.
pub fn conversations(count: usize) -> MemorySource {
    let mut source = MemorySource::default();
    for c in 0..count {
        let conversation = RecordKey::new("many", format!("c{c}"));
        let mut record = Record::new(Kind::Conversation, conversation.clone(), "");
        record.title = Some(format!("Talk {c}"));
        source.records.push(record);
        for (i, role) in ["user", "assistant"].into_iter().enumerate() {
            let mut record =
                Record::new(Kind::Message, RecordKey::new("many", format!("c{c}/{i}")), format!("{role} {c}"));
            record.parent = Some(conversation.clone());
            record.message = Some(MessagePart {
                role: role.into(),
                parent: (i > 0).then(|| RecordKey::new("many", format!("c{c}/0"))),
                position: i as u32,
                active: true,
                content_type: "text".into(),
                ..MessagePart::default()
            });
            source.records.push(record);
        }
    }
    source
}

/// The vault id of a record.
pub fn id_of(record: &Record) -> String {
    vault_id(record.kind, &record.key)
}

/// Checks the records that were read back from a format that people read. All records except credentials must be
/// present. Only the members that the loss report lists may be missing in a record.
pub fn check_readable(source: &MemorySource, written: &Written) {
    let expected: Vec<&Record> = source.records.iter().filter(|r| r.kind != Kind::Credential).collect();
    for record in &expected {
        let reread = written.found(record).unwrap_or_else(|| panic!("{:?} is missing", record.key));
        let vault_id = id_of(record);
        let losses = written.report.losses.items.iter().filter(|loss| loss.record == vault_id);
        let lost_fields: BTreeSet<&str> = losses.map(|loss| loss.field.as_str()).collect();
        let members = |record: &Record| {
            let mut members = mementory_format::extension::members(record);
            members.retain(|name, _| name != "origin" && !lost_fields.contains(name.as_str()));
            members
        };
        assert_eq!(members(reread), members(record), "without {lost_fields:?}");
    }
    assert_eq!(written.reread.records.len(), expected.len());
    let credential_count = source.records.len() - expected.len();
    assert_eq!(written.report.withheld.values().sum::<u64>(), credential_count as u64);
}

/// Checks that the text of each message is in no other record's verbatim, so that erasing the message erases the text.
pub fn check_texts_are_in_one_verbatim(formats: Formats<'_>, format: &'static dyn Format, cases: &[&str]) {
    for case in cases {
        let imported = fixture(formats, format, case);
        for message in imported.records.iter().filter(|record| record.message.is_some() && !record.text.is_empty()) {
            let as_json = serde_json::Value::from(message.text.as_str()).to_string();
            for other in imported.records.iter().filter(|other| other.key != message.key) {
                let verbatim = other.verbatim.as_ref().map_or("", |verbatim| verbatim.text.as_str());
                let is_inside = verbatim.contains(as_json.trim_matches('"')) || verbatim.contains(&message.text);
                assert!(!is_inside, "{case}: {:?} is in the verbatim of {:?}: {verbatim}", message.text, other.key);
            }
        }
    }
}

/// Checks an export without identifiers: no file contains the account, the platform or an id of the source, and the
/// report lists what is left out.
pub fn check_stripped(formats: Formats<'_>, format: &'static dyn Format) {
    let mut source = foreign_source();
    let scratch = Scratch::new("stripped");
    let path = scratch.at(&format!("out{}", format.capabilities().ending));
    let options = WriteOptions { strip_identifiers: true, ..WriteOptions::default() };
    let report = format.write(&mut source, &path, &options).unwrap();
    let plan = format.plan(&mut source, &options).unwrap();
    assert_eq!((&plan.by_kind, &plan.losses, &plan.withheld), (&report.by_kind, &report.losses, &report.withheld));
    for (name, text) in contents(&path) {
        for identifier in ["elsewhere", "account-7431", "talk/1", "memory/1"] {
            assert!(
                !text.contains(identifier) && !name.contains(identifier),
                "{}: {name} has {identifier}",
                format.id()
            );
        }
    }
    let written_count = source.records.iter().filter(|record| record.kind == Kind::Message).count() as u64;
    assert!(report.losses.count("source", LossKind::LeftOut) >= written_count, "{:?}", report.losses.counts);
    let reread = read(formats, &path, format);
    let texts = |source: &MemorySource| -> BTreeSet<String> {
        source.records.iter().filter(|r| r.kind == Kind::Message).map(|r| r.text.clone()).collect()
    };
    assert_eq!(texts(&reread), texts(&source));
}

/// Names and texts of all files of an export.
fn contents(path: &Path) -> Vec<(String, String)> {
    let catalog = Catalog::open(&[path.to_path_buf()], &Limits::default(), None).unwrap();
    let text = |member| {
        let mut bytes = Vec::new();
        let mut copy = |read: &mut dyn std::io::Read| std::io::copy(read, &mut bytes).map(drop);
        catalog.read(member, |read| copy(read).map_err(|e| FormatError::io("test", e))).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    catalog.members().iter().map(|member| (member.name.clone(), text(member))).collect()
}

/// Checks that an export without records is refused and creates no file.
pub fn check_nothing_to_write(format: &'static dyn Format) {
    let scratch = Scratch::new("nothing");
    let out = scratch.at(&format!("out{}", format.capabilities().ending));
    let mut empty_source = MemorySource::default();
    let refusal = format.write(&mut empty_source, &out, &WriteOptions::default());
    assert!(matches!(refusal, Err(FormatError::Invalid { code: "nothing_to_write", .. })), "{refusal:?}");
    assert!(!out.exists());
    assert!(format.plan(&mut empty_source, &WriteOptions::default()).unwrap().by_kind.is_empty());
}
