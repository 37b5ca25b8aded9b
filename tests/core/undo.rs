//! Undoing an import removes the records that no other import added, and restores what the import replaced.
use crate::source::*;
use mementory_formats::{FormatError, Sink};
use mementory_model::{Derived, Kind, Record, Tombstone, TombstoneOp, Unit};
use mementory_testkit::{TempVault, at};
use mementory_vault::FailedStep;

#[test]
fn a_version_added_by_an_undone_import_is_in_no_pack() {
    let t = TempVault::new();
    let other_memory = |text: &str| Unit::from(record(Kind::Memory, "bystander", text));
    let first = import_units(&t, &[record(Kind::Memory, "m", "Keeps a wombat.").into()]);
    let second = import_units(
        &t,
        &[
            record(Kind::Memory, "m", "Keeps a numbat.").into(),
            other_memory("Likes tea."),
        ],
    );
    t.vault.importer().undo(&second.batch, at(200)).unwrap();
    assert_eq!(texts(&t, Kind::Memory), ["Keeps a wombat."]);
    assert_no_trace_of(&t, &["numbat", "Likes tea"]);
    import_units(
        &t,
        &[
            record(Kind::Memory, "m", "Keeps a numbat.").into(),
            other_memory("Likes tea."),
        ],
    );
    t.vault.importer().undo(&first.batch, at(300)).unwrap();
    assert_eq!(
        texts(&t, Kind::Memory),
        ["Keeps a numbat.", "Likes tea."],
        "the later import told it too"
    );
    assert_no_trace_of(&t, &["wombat"]);
    let id = record_with_id(&t, Kind::Memory, "m").0.id_text();
    t.vault
        .eraser()
        .erase(&[id], "test", &[], at(400), &|_| {})
        .unwrap();
    assert_no_trace_of(&t, &["wombat", "numbat"]);
}

#[test]
fn undo_restores_everything_an_update_replaced() {
    let messages: Vec<Unit> = ["x", "y"]
        .map(|m| record(Kind::Message, m, m).into())
        .to_vec();
    let memory = |text: &str, source: &str, name: &str, time: i64, tag: &str| {
        let mut memory = with_attachment(
            derived(record(Kind::Memory, "m", text), Kind::Message, source),
            name,
        );
        memory.times.created = Some(at(time));
        memory.tags = vec![tag.into()];
        memory.title = Some(tag.into());
        memory
    };
    let first = |sink: &mut dyn Sink| {
        messages.iter().cloned().try_for_each(|u| sink.unit(u))?;
        sink.unit(memory("Old.", "x", "f", 1, "old").into())?;
        send_file(sink, "f", "old bytes")?;
        send_part(sink, "side", "old side")
    };
    let second = |sink: &mut dyn Sink| {
        sink.unit(memory("New.", "y", "g", 2, "new").into())?;
        send_file(sink, "f", "new bytes")?;
        send_file(sink, "g", "more bytes")?;
        send_part(sink, "side", "new side")
    };
    let memory_state = |t: &TempVault| {
        let (row, record) = record_with_id(t, Kind::Memory, "m");
        let links: Vec<String> = t
            .vault
            .reader()
            .links(&row)
            .unwrap()
            .iter()
            .map(|l| format!("{l:?}"))
            .collect();
        let bytes = |row: &mementory_vault::RowView| {
            String::from_utf8(t.vault.files().file_bytes(row, 99).unwrap()).unwrap()
        };
        let files: Vec<String> = t
            .vault
            .files()
            .files(row.row)
            .unwrap()
            .iter()
            .map(|(f, _)| bytes(f))
            .collect();
        let passthrough_text = bytes(&live_records(t, Kind::Foreign)[0].0);
        (
            row.sort,
            row.title,
            record,
            links,
            t.vault.reader().tags(row.row).unwrap(),
            files,
            passthrough_text,
        )
    };
    let t = TempVault::new();
    import_from(&t, &first);
    let before = memory_state(&t);
    let report = import_from(&t, &second);
    assert_eq!(memory_state(&t).5, ["more bytes"], "the update is in place");
    assert_eq!(
        std::fs::read_dir(t.dir().join("blobs")).unwrap().count(),
        5,
        "the former bytes are kept for the undo"
    );
    let t = t.reopen();
    t.vault.importer().undo(&report.batch, at(200)).unwrap();
    assert_eq!(memory_state(&t), before, "links, files, bytes, order, tags");
    assert_eq!(
        std::fs::read_dir(t.dir().join("blobs")).unwrap().count(),
        2,
        "the newer bytes are gone"
    );
    assert_eq!(faults(&t), [""; 0]);
}

#[test]
fn older_bytes_of_a_file_are_erased_with_it() {
    let t = TempVault::new();
    let record_with_file = Unit::from(with_attachment(
        record(Kind::Memory, "m", "See the list."),
        "f",
    ));
    for bytes in ["first wombat", "second wombat"] {
        import_from(&t, &|sink| {
            sink.unit(record_with_file.clone())?;
            send_file(sink, "f", bytes)
        });
    }
    assert_eq!(std::fs::read_dir(t.dir().join("blobs")).unwrap().count(), 2);
    let id = record_with_id(&t, Kind::Attachment, "f").0.id_text();
    let erased = t
        .vault
        .eraser()
        .erase(&[id], "test", &[], at(100), &|_| {})
        .unwrap()
        .value;
    assert!(erased.receipt.complete);
    assert_eq!(
        std::fs::read_dir(t.dir().join("blobs")).unwrap().count(),
        0,
        "the bytes before too"
    );
}

#[test]
fn older_bytes_of_a_passthrough_file_are_redacted_too() {
    let t = TempVault::new();
    let words = "The zanzibarquokka sleeps under the piano.";
    import_from(&t, &|sink| {
        sink.unit(record(Kind::Memory, "m", words).into())?;
        send_part(sink, "side", words)
    });
    let second = import_from(&t, &|sink| send_part(sink, "side", "nothing of it"));
    let id = record_with_id(&t, Kind::Memory, "m").0.id_text();
    t.vault
        .eraser()
        .erase(&[id], "test", &[], at(100), &|_| {})
        .unwrap();
    t.vault.importer().undo(&second.batch, at(200)).unwrap();
    let bytes = t
        .vault
        .files()
        .file_bytes(&live_records(&t, Kind::Foreign)[0].0, 999)
        .unwrap();
    assert!(
        !String::from_utf8(bytes).unwrap().contains("zanzibarquokka"),
        "an undo does not bring them back"
    );
    assert_eq!(faults(&t), [""; 0]);
}

type ReadSource = fn(&mut dyn Sink) -> Result<(), FormatError>;

/// Returns one line per record that is not in the Trash: kind, key, title, text, whether its owner exists, names of its
/// files, and bytes.
fn live_contents(t: &TempVault) -> Vec<String> {
    let mut out = Vec::new();
    for kind in [
        Kind::Conversation,
        Kind::Message,
        Kind::Memory,
        Kind::Fact,
        Kind::Attachment,
        Kind::Foreign,
    ] {
        for (row, record) in live_records(t, kind) {
            let owner = row
                .owner
                .map(|o| t.vault.reader().view_by_row(o).unwrap().is_some());
            let bytes = t
                .vault
                .files()
                .file_bytes(&row, 99)
                .map(|b| String::from_utf8(b).unwrap())
                .unwrap_or_default();
            let files: Vec<_> = t
                .vault
                .files()
                .files(row.row)
                .unwrap()
                .into_iter()
                .map(|(f, _)| f.title.unwrap_or_default())
                .collect();
            let title = row.title.filter(|_| kind == Kind::Conversation);
            out.push(format!(
                "{kind:?} {} {title:?} {:?} {owner:?} {files:?} {bytes}",
                record.key.value, record.text
            ));
        }
    }
    out.sort();
    out
}

fn memory(value: &str, text: &str) -> Unit {
    record(Kind::Memory, value, text).into()
}

#[test]
fn undoing_an_older_import_leaves_what_a_newer_one_contained() {
    let grown: ReadSource = |sink| {
        sink.unit(conversation(
            2,
            &[("a", None, "One.", true), ("b", Some("a"), "Two.", true)],
        ))?;
        sink.unit(with_attachment(record(Kind::Memory, "m", "Likes tea."), "f").into())?;
        send_file(sink, "f", "bytes")?;
        send_part(sink, "side", "side")
    };
    let small: ReadSource = |sink| {
        sink.unit(conversation(1, &[("a", None, "One.", true)]))?;
        sink.unit(memory("alone", "Only the first says it."))?;
        sink.unit(with_attachment(record(Kind::Memory, "m", "Likes tea."), "f").into())?;
        send_file(sink, "f", "bytes")?;
        send_file(sink, "lonely", "lonely bytes")?;
        send_part(sink, "side", "side")
    };
    let changed: ReadSource = |sink| {
        sink.unit(conversation(2, &[("a", None, "One, changed.", true)]))?;
        sink.unit(with_attachment(record(Kind::Memory, "m", "Likes milk."), "f").into())?;
        send_file(sink, "f", "other bytes")?;
        send_part(sink, "side", "other side")
    };
    let cases: [(&str, ReadSource, ReadSource); 5] = [
        ("grown", small, grown),
        ("the same", small, small),
        ("less", grown, small),
        ("changed", small, changed),
        ("changed and grown", changed, grown),
    ];
    for (name, first, second) in cases {
        let reference = TempVault::new();
        import_from(&reference, &second);
        let t = TempVault::new();
        let undone = import_from(&t, &first);
        let second_import = import_from(&t, &second);
        t.vault.importer().undo(&undone.batch, at(200)).unwrap();
        assert_eq!(faults(&t), [""; 0], "{name}");
        assert_eq!(
            live_contents(&t),
            live_contents(&reference),
            "{name}: as if the first had never been"
        );
        let t = t.reopen();
        assert_eq!(hit_count(&t, "One"), 1, "{name}: and it is found");
        assert_eq!(
            outcome_counts(&import_from(&t, &second))[1..3],
            [0, 0],
            "{name}: the second once more adds nothing"
        );
        t.vault
            .importer()
            .undo(&second_import.batch, at(300))
            .unwrap();
        assert_eq!(faults(&t), [""; 0], "{name}");
        assert_eq!(
            live_contents(&t),
            live_contents(&reference),
            "{name}: the third import contained all of it"
        );
    }
}

/// The memory `m`, last changed on `day`.
fn dated_memory(day: i64, text: &str) -> Unit {
    let mut memory = record(Kind::Memory, "m", text);
    memory.times.updated = Some(at(day));
    memory.into()
}

#[test]
fn an_undo_says_how_many_records_keep_a_text_that_no_later_import_contains() {
    let t = TempVault::new();
    let tea = memory("tea", "Likes tea.");
    let newer = import_units(&t, &[dated_memory(5, "Keeps a numbat."), tea.clone()]);
    let older = import_units(&t, &[dated_memory(1, "Keeps a wombat."), tea]);
    let undone = t.vault.importer().undo(&newer.batch, at(200)).unwrap();
    let expected_warning = FailedStep::OtherVersionNotStored { records: 1 };
    assert_eq!(undone.warnings, [expected_warning].into());
    assert_eq!(
        texts(&t, Kind::Memory),
        ["Keeps a numbat.", "Likes tea."],
        "the older text is not stored, and the record is not lost"
    );
    let undone = t.vault.importer().undo(&older.batch, at(300)).unwrap();
    assert_eq!((undone.value, undone.warnings.len()), (2, 0));
    assert_eq!(texts(&t, Kind::Memory), [""; 0]);
    assert_eq!(faults(&t), [""; 0]);
}

#[test]
fn a_stored_earlier_version_is_restored_even_if_a_later_import_contains_it_as_an_older_one() {
    let t = TempVault::new();
    import_units(&t, &[dated_memory(1, "Keeps a wombat.")]);
    let newer = import_units(&t, &[dated_memory(5, "Keeps a numbat.")]);
    import_units(&t, &[dated_memory(1, "Keeps a wombat.")]);
    let undone = t.vault.importer().undo(&newer.batch, at(200)).unwrap();
    assert_eq!((undone.value, undone.warnings.len()), (1, 0));
    assert_eq!(texts(&t, Kind::Memory), ["Keeps a wombat."]);
    assert_no_trace_of(&t, &["numbat"]);
    assert_eq!(faults(&t), [""; 0]);
}

#[test]
fn imports_undone_in_any_order_leave_nothing() {
    let import_day = |t: &TempVault, day: i64| {
        let n = format!("Day {day}.");
        import_from(t, &move |sink| {
            sink.unit(conversation(
                day,
                &[
                    ("a", None, "One.", day % 2 == 0),
                    ("b", Some("a"), &n, true),
                ],
            ))?;
            sink.unit(with_attachment(record(Kind::Memory, "m", &n), "f").into())?;
            sink.unit(memory("same", "The same each day."))?;
            send_file(sink, "f", &n)?;
            send_part(sink, "side", &n)
        })
        .batch
    };
    for order in ORDERS_OF_THREE {
        let t = TempVault::new();
        let batches = [1, 2, 3].map(|day| import_day(&t, day));
        for (done, which) in order.into_iter().enumerate() {
            t.vault.importer().undo(&batches[which], at(200)).unwrap();
            assert_eq!(faults(&t), [""; 0], "{order:?}");
            let Some(last) = (0..3).rev().find(|b| !order[..=done].contains(b)) else {
                continue;
            };
            let reference = TempVault::new();
            import_day(&reference, last as i64 + 1);
            assert_eq!(
                live_contents(&t),
                live_contents(&reference),
                "{order:?} after {which}: what the last one left says"
            );
            let undone_texts = (0..3)
                .filter(|b| order[..=done].contains(b))
                .map(|b| format!("Day {}.", b + 1));
            let bytes = t.decrypted();
            undone_texts.for_each(|words| {
                assert!(
                    !mementory_testkit::contains_text(&bytes, &words),
                    "{order:?}: {words}"
                )
            });
        }
        assert_eq!(live_contents(&t), [""; 0], "{order:?}: nothing is left");
        assert_eq!(
            std::fs::read_dir(t.dir().join("blobs")).unwrap().count(),
            0,
            "{order:?}: no bytes"
        );
    }
}

fn deletion(id: &str, target: &str) -> Tombstone {
    Tombstone {
        id: id.into(),
        op: TombstoneOp::Delete,
        target_kind: "memory".into(),
        target_id: target.into(),
        scope: "test".into(),
        at: at(1),
        actor: "someone".into(),
        reason: "asked".into(),
        derived: Derived::default(),
        signature: None,
        verbatim: None,
    }
}

fn memories() -> Vec<Unit> {
    ["a", "b"]
        .map(|m| memory(m, &format!("Thought {m}.")))
        .to_vec()
}

#[test]
fn tombstones_of_an_import_are_undone_with_it() {
    let t = TempVault::new();
    import_units(&t, &memories());
    let bundle =
        |id: &'static str| import_from(&t, &move |sink| sink.tombstone(deletion(id, "a"))).batch;
    let blocked_count = || outcome_counts(&import_units(&t, &memories()))[4];
    let first = bundle("one");
    assert_eq!(texts(&t, Kind::Memory), ["Thought b."], "in the Trash");
    assert_eq!(
        (hit_count(&t, "Thought"), blocked_count()),
        (1, 1),
        "not found, and blocked"
    );
    let (second_batch, other_batch) = (bundle("one"), bundle("two"));
    for batch in [first, other_batch] {
        t.vault.importer().undo(&batch, at(200)).unwrap();
        assert_eq!(
            (texts(&t, Kind::Memory).len(), blocked_count()),
            (1, 1),
            "another import still says so"
        );
    }
    t.vault.importer().undo(&second_batch, at(200)).unwrap();
    assert_eq!(
        texts(&t, Kind::Memory),
        ["Thought a.", "Thought b."],
        "as before"
    );
    assert_eq!(
        (hit_count(&t, "Thought"), blocked_count()),
        (2, 0),
        "found, and free"
    );
    assert_eq!(
        t.vault.audit().tombstones().unwrap().len(),
        0,
        "no tombstone is left"
    );
    assert_eq!(faults(&t), [""; 0]);
}

#[test]
fn records_trashed_by_an_import_do_not_expire() {
    let t = TempVault::new();
    import_units(&t, &memories());
    let id = record_with_id(&t, Kind::Memory, "a").0.id_text();
    let bundle = import_from(&t, &|sink| sink.tombstone(deletion("one", "a")));
    assert!(
        bundle
            .warnings
            .keys()
            .any(|k| k.starts_with("tombstones_to_trash")),
        "the report tells"
    );
    t.vault.trash().empty_expired(30, at(90 * 86_400)).unwrap();
    assert!(
        t.vault.reader().view(&id).is_ok(),
        "it is not erased for its age"
    );
    t.vault
        .trash()
        .restore(std::slice::from_ref(&id), at(100))
        .unwrap();
    assert_eq!(
        outcome_counts(&import_units(&t, &memories())),
        [2, 0, 0, 2, 0],
        "a person took it back: not blocked any more"
    );
    t.vault
        .eraser()
        .erase(&[id], "test", &[], at(200), &|_| {})
        .unwrap();
    t.vault.importer().undo(&bundle.batch, at(300)).unwrap();
    assert_eq!(
        outcome_counts(&import_units(&t, &memories()))[4],
        1,
        "the person's own erasure outlives the import"
    );
}

#[test]
fn a_persons_erasure_outlives_an_import_with_the_same_deletion() {
    let t = TempVault::new();
    import_units(&t, &memories());
    let id = record_with_id(&t, Kind::Memory, "a").0.id_text();
    let bundle = import_from(&t, &|sink| sink.tombstone(deletion("one", "a")));
    t.vault
        .eraser()
        .erase(&[id], "test", &[], at(200), &|_| {})
        .unwrap();
    t.vault.importer().undo(&bundle.batch, at(300)).unwrap();
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let options = mementory_vault::ImportOptions {
        include_blocked: true,
        ..mementory_testkit::options(&cancel, false)
    };
    let report = t
        .import_with(&options, &|sink| {
            memories().into_iter().try_for_each(|unit| sink.unit(unit))
        })
        .unwrap();
    assert_eq!(report.total().blocked, 1, "blocked by its id");
}

#[test]
fn a_statement_dropped_by_a_newer_text_in_the_same_import_is_superseded() {
    let doc = |day: i64, facts: &[&str]| {
        let mut records: Vec<Record> = vec![record(Kind::Memory, "doc", &facts.join(" "))];
        records.extend(
            facts
                .iter()
                .map(|f| derived(record(Kind::Fact, f, f), Kind::Memory, "doc")),
        );
        records
            .iter_mut()
            .for_each(|r| r.times.updated = Some(at(day)));
        Unit { records }
    };
    let t = TempVault::new();
    import_units(&t, &[memory("m", "Something is here.")]);
    let report = import_units(
        &t,
        &[
            doc(1, &["Likes tea.", "Likes milk."]),
            doc(2, &["Likes tea."]),
        ],
    );
    let dropped = record_with_id(&t, Kind::Fact, "Likes milk.").1;
    assert_eq!(dropped.status.as_deref(), Some("superseded"));
    assert_eq!(faults(&t), [""; 0]);
    t.vault.importer().undo(&report.batch, at(200)).unwrap();
    assert_eq!(texts(&t, Kind::Fact), [""; 0]);
    assert_eq!(faults(&t), [""; 0]);
}
