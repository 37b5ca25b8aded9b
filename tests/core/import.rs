//! Imports are previewed, atomic and cancellable, add nothing twice, and their counts add up.
use crate::source::{import_from, send_part};
use mementory_formats::FormatError;
use mementory_model::{Kind, Link, Record, RecordKey, Unit};
use mementory_testkit::{TempVault, at, options, sample};
use mementory_vault::{ListQuery, VaultError};
use std::sync::atomic::{AtomicBool, Ordering};

const SAMPLES: [&str; 2] = ["chatgpt-export.zip", "claude-export.zip"];

#[test]
fn sample_imports_add_up_and_a_second_import_adds_nothing() {
    for name in SAMPLES {
        let t = TempVault::new();
        let first = t.import(&[sample(name)]).unwrap();
        for (kind, c) in first
            .by_kind
            .iter()
            .map(|(k, c)| (k.as_str(), *c))
            .chain([("total", first.total())])
        {
            assert_eq!(
                c.found,
                c.added + c.updated + c.unchanged + c.blocked + c.skipped + c.failed,
                "{name} {kind} reconciles"
            );
        }
        let second = t.import(&[sample(name)]).unwrap();
        assert_eq!(
            (second.total().added, second.total().updated),
            (0, 0),
            "{name}: the second import adds nothing"
        );
        assert_eq!(
            second.total().unchanged,
            first.total().added,
            "{name}: all of it is the same"
        );
        assert_eq!(
            second.counts, first.counts,
            "{name}: the input holds what it held"
        );
        let totals: Vec<_> = t
            .vault
            .batches()
            .batches()
            .unwrap()
            .iter()
            .map(|b| b.total)
            .collect();
        assert_eq!(
            totals,
            [second.total(), first.total()],
            "{name}: the list of imports has the numbers of their reports"
        );
    }
}

#[test]
fn several_files_dropped_together_are_one_batch() {
    let t = TempVault::new();
    let report = t.import(&SAMPLES.map(sample)).unwrap();
    assert_eq!(report.sources.len(), 2, "two sources");
    assert_eq!(t.vault.batches().batches().unwrap().len(), 1, "one batch");
}

#[test]
fn a_preview_reports_what_the_import_does_and_writes_nothing() {
    let t = TempVault::new();
    let read = |sink: &mut dyn mementory_formats::Sink| {
        (0..20).try_for_each(|n| sink.unit(memory(n).into()))
    };
    let cancel = AtomicBool::new(false);
    let preview = t.import_with(&options(&cancel, true), &read).unwrap();
    assert_eq!(
        t.vault.queries().list(&ListQuery::default()).unwrap().total,
        0,
        "nothing was written"
    );
    let done = t.import_with(&options(&cancel, false), &read).unwrap();
    assert_eq!(
        (preview.by_kind, preview.counts),
        (done.by_kind, done.counts),
        "the same numbers"
    );
}

#[test]
fn an_import_that_is_cancelled_or_fails_leaves_nothing() {
    let t = TempVault::new();
    let cancel = AtomicBool::new(false);
    let cancelled = t.import_with(&options(&cancel, false), &|sink| {
        sink.unit(memory(1).into())?;
        cancel.store(true, Ordering::Relaxed);
        sink.progress(1)?;
        sink.unit(memory(2).into())
    });
    assert!(matches!(cancelled, Err(VaultError::Cancelled)), "cancelled");
    let cancel = AtomicBool::new(false);
    let failed = t.import_with(&options(&cancel, false), &|sink| {
        sink.unit(memory(1).into())?;
        sink.passthrough(
            mementory_formats::PassthroughItem {
                format: "t".into(),
                group: "g".into(),
                name: "n".into(),
                role: "r".into(),
                place: "p".into(),
            },
            &mut &b"side"[..],
        )?;
        Err(FormatError::invalid("malformed", "test", "half-way"))
    });
    assert!(failed.is_err(), "failed");
    assert_eq!(
        t.vault.queries().list(&ListQuery::default()).unwrap().total,
        0,
        "nothing of either is there"
    );
    assert_eq!(t.vault.batches().batches().unwrap().len(), 0, "no batch");
    assert_eq!(
        std::fs::read_dir(t.dir().join("blobs")).unwrap().count(),
        0,
        "no blob"
    );
    assert!(
        t.vault.integrity().check().unwrap().iter().all(|p| p.ok),
        "the vault checks clean"
    );
}

#[test]
fn a_missing_file_imported_later_is_linked() {
    let t = TempVault::new();
    let cancel = AtomicBool::new(false);
    let key = RecordKey::new("test", "file/1");
    let attachment = mementory_model::AttachmentRef {
        key: key.clone(),
        origin_id: None,
        name: "plan.pdf".into(),
        media_type: None,
        size: None,
        text: None,
    };
    let mut memory_with_file = memory(1);
    memory_with_file.attachments.push(attachment);
    t.import_records(vec![memory_with_file.clone()]).unwrap();
    let files = || {
        t.vault
            .files()
            .files(
                t.vault
                    .queries()
                    .list(&ListQuery {
                        kind: Some(Kind::Memory),
                        ..ListQuery::default()
                    })
                    .unwrap()
                    .rows[0]
                    .row,
            )
            .unwrap()
    };
    assert!(!files()[0].1.present, "named, not there");
    let report = t
        .import_with(&options(&cancel, false), &|sink| {
            sink.unit(Unit::from(memory_with_file.clone()))?;
            sink.attachment(
                mementory_formats::AttachmentFile {
                    key: key.clone(),
                    origin_id: None,
                    name: "plan.pdf".into(),
                    media_type: Some("application/pdf".into()),
                    place: "plan.pdf".into(),
                },
                &mut &b"%PDF"[..],
            )
        })
        .unwrap();
    assert_eq!(report.counts.attachments_present, 1, "its bytes came");
    assert!(files()[0].1.present, "and they are there now");
}

#[test]
fn a_sentence_that_a_newer_text_drops_is_kept_as_superseded() {
    let t = TempVault::new();
    let import_day = |day: i64, sentences: &[&str]| {
        let cancel = AtomicBool::new(false);
        t.import_with(&options(&cancel, false), &|sink| {
            sink.unit(Unit {
                records: memory_with_facts(day, sentences),
            })
        })
        .unwrap()
    };
    let list_facts = || {
        let query = ListQuery {
            kind: Some(Kind::Fact),
            ..ListQuery::default()
        };
        let mut facts: Vec<_> = t
            .vault
            .queries()
            .list(&query)
            .unwrap()
            .rows
            .iter()
            .map(|row| t.vault.reader().record(row).unwrap())
            .map(|fact| (fact.text, fact.status.is_some()))
            .collect();
        facts.sort();
        facts
    };
    let both_without_status = [
        ("Likes tea.".to_owned(), false),
        ("Lives in Kyoto.".to_owned(), false),
    ];
    let one_with_status = [
        ("Likes tea.".to_owned(), false),
        ("Lives in Kyoto.".to_owned(), true),
    ];

    import_day(1, &["Likes tea.", "Lives in Kyoto."]);
    assert_eq!(list_facts(), both_without_status);
    let newer = import_day(2, &["Likes tea."]);
    assert_eq!(
        list_facts(),
        one_with_status,
        "the newer text does not say it any more"
    );
    assert!(
        newer
            .warnings
            .keys()
            .any(|code| code.starts_with("statements_gone")),
        "and the report lists it"
    );
    assert_eq!(newer.total().found, 2, "what is gone was not found");

    import_day(1, &["Likes tea.", "Lives in Kyoto."]);
    assert_eq!(
        list_facts(),
        one_with_status,
        "an older export changes nothing"
    );
    let again = import_day(2, &["Likes tea."]);
    assert_eq!(
        (again.total().added, again.total().updated),
        (0, 0),
        "nor does the same one"
    );
    import_day(3, &["Likes tea.", "Lives in Kyoto."]);
    assert_eq!(list_facts(), both_without_status, "it is said again");
    t.vault.importer().undo(&newer.batch, at(9)).unwrap();
    assert!(
        t.vault.integrity().check().unwrap().iter().all(|p| p.ok),
        "the vault checks clean"
    );
}

/// A memory with this text, and one fact for each of its sentences.
fn memory_with_facts(day: i64, sentences: &[&str]) -> Vec<Record> {
    let text = RecordKey::new("test", "document");
    let mut records = vec![Record::new(Kind::Memory, text.clone(), sentences.join(" "))];
    for sentence in sentences {
        let mut fact = Record::new(Kind::Fact, RecordKey::new("test", *sentence), *sentence);
        fact.links.push(Link {
            relation: "derived_from".into(),
            kind: Kind::Memory,
            target: text.clone(),
        });
        records.push(fact);
    }
    for record in &mut records {
        record.times.updated = Some(at(day));
    }
    records
}

fn memory(n: u32) -> Record {
    let mut record = Record::new(
        Kind::Memory,
        RecordKey::new("test", n.to_string()),
        format!("Thought number {n}."),
    );
    record.source.platform = "test".into();
    record.times.created = Some(at(i64::from(n)));
    record
}

#[test]
fn settings_without_their_secrets_do_not_replace_those_that_have_them() {
    let t = TempVault::new();
    let import_settings = |text: &str| {
        let text = text.to_owned();
        import_from(&t, &move |sink| send_part(sink, "config.toml", &text));
        let row = t
            .vault
            .queries()
            .list(&ListQuery {
                kind: Some(Kind::Foreign),
                ..ListQuery::default()
            })
            .unwrap()
            .rows
            .remove(0);
        String::from_utf8(t.vault.files().file_bytes(&row, 1000).unwrap()).unwrap()
    };
    let original = "api_key = \"sk-0123456789abcdefghij\"\nmodel = \"m\"\n";
    assert_eq!(import_settings(original), original);
    let masked = "api_key = \"<redacted>\"\nmodel = \"m\"\n";
    assert_eq!(
        import_settings(masked),
        original,
        "as our own exports have them"
    );
    let newer = "api_key = \"<redacted>\"\nmodel = \"n\"\n";
    assert_eq!(import_settings(newer), newer, "something else was changed");
}
