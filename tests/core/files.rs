//! How the vault counts files by kind, adds up their sizes, and lists the files of one kind.
use mementory_formats::AttachmentFile;
use mementory_model::{AttachmentRef, Kind, Record, RecordKey, Unit};
use mementory_testkit::{TempVault, at, options};
use mementory_vault::{FileCount, FileKind, ListQuery};
use std::sync::atomic::AtomicBool;

/// Files as (name, media type, number of bytes in the export). The number is None if the export only names the file.
const FILES: [(&str, Option<&str>, Option<usize>); 5] = [
    ("joists.jpg", Some("image/jpeg"), Some(700)),
    ("sketch.heic", Some("application/octet-stream"), Some(90)),
    ("tide.rs", None, Some(12)),
    ("note", Some("application/pdf"), Some(30)),
    ("plan.jpg", Some("image/jpeg"), None),
];

/// A vault with one memory that has all these files as attachments.
fn vault_with_files() -> TempVault {
    let t = TempVault::new();
    let cancel = AtomicBool::new(false);
    let key = |name: &str| RecordKey::new("test", format!("file/{name}"));
    let mut memory_with_files =
        Record::new(Kind::Memory, RecordKey::new("test", "1"), "Here they are.");
    memory_with_files.source.platform = "test".into();
    memory_with_files.times.created = Some(at(1));
    memory_with_files.attachments = FILES
        .iter()
        .map(|(name, media_type, _)| AttachmentRef {
            key: key(name),
            origin_id: None,
            name: (*name).into(),
            media_type: media_type.map(Into::into),
            // The export states a size for a file that it does not contain. That size must not be counted.
            size: Some(5_000),
            text: None,
        })
        .collect();
    t.import_with(&options(&cancel, false), &|sink| {
        sink.unit(Unit::from(memory_with_files.clone()))?;
        for (name, media_type, size) in FILES {
            let Some(size) = size else { continue };
            let file = AttachmentFile {
                key: key(name),
                origin_id: None,
                name: name.into(),
                media_type: media_type.map(Into::into),
                place: name.into(),
            };
            // Each file has different bytes, because equal bytes would be one blob.
            let bytes = name.repeat(size);
            sink.attachment(file, &mut &bytes.as_bytes()[..size])?;
        }
        Ok(())
    })
    .unwrap();
    t
}

fn files(kind: Option<FileKind>) -> ListQuery {
    ListQuery {
        kind: Some(Kind::Attachment),
        file_kind: kind,
        ..ListQuery::default()
    }
}

#[test]
fn each_file_is_counted_once_with_its_stored_bytes() {
    let t = vault_with_files();
    let expected = [
        (
            FileKind::Picture,
            FileCount {
                count: 2,
                bytes: 790,
            },
        ),
        (
            FileKind::Document,
            FileCount {
                count: 1,
                bytes: 30,
            },
        ),
        (
            FileKind::Code,
            FileCount {
                count: 1,
                bytes: 12,
            },
        ),
        (FileKind::Missing, FileCount { count: 1, bytes: 0 }),
    ];
    assert_eq!(
        t.vault.queries().file_counts(&files(None)).unwrap(),
        expected.into()
    );
    assert_eq!(
        t.vault.queries().list(&files(None)).unwrap().total,
        5,
        "all of them"
    );
    for (kind, FileCount { count, .. }) in expected {
        let page = t.vault.queries().list(&files(Some(kind))).unwrap();
        assert_eq!(
            (page.total, page.rows.len()),
            (count, count as usize),
            "{kind:?}"
        );
        assert_eq!(
            t.vault.queries().rows(&files(Some(kind))).unwrap(),
            page.rows.iter().map(|row| row.row).collect()
        );
    }
    assert_eq!(
        t.vault
            .queries()
            .list(&files(Some(FileKind::Sound)))
            .unwrap()
            .total,
        0,
        "there is none"
    );
    let missing_files = t
        .vault
        .queries()
        .list(&files(Some(FileKind::Missing)))
        .unwrap();
    assert_eq!(missing_files.rows[0].title.as_deref(), Some("plan.jpg"));
}

#[test]
fn counts_by_file_kind_follow_the_other_filters() {
    let t = vault_with_files();
    let missing_files = ListQuery {
        file_kind: Some(FileKind::Missing),
        ..ListQuery::default()
    };
    assert_eq!(
        t.vault.queries().list(&missing_files).unwrap().total,
        1,
        "a memory is no missing file"
    );
    let code_file = t
        .vault
        .queries()
        .list(&files(Some(FileKind::Code)))
        .unwrap()
        .rows
        .remove(0);
    t.vault
        .trash()
        .trash(&[code_file.id_text()], at(9))
        .unwrap();
    assert!(
        !t.vault
            .queries()
            .file_counts(&files(None))
            .unwrap()
            .contains_key(&FileKind::Code),
        "what is in the Trash"
    );
    let other_source_query = ListQuery {
        source: Some("other".into()),
        ..files(None)
    };
    assert!(
        t.vault
            .queries()
            .file_counts(&other_source_query)
            .unwrap()
            .is_empty(),
        "another source has none"
    );
}
