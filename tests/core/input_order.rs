//! Tests of several exports of one source in the same import.
use crate::source::*;
use mementory_model::{Kind, Unit};
use mementory_testkit::{TempVault, at, options};
use std::sync::atomic::AtomicBool;

#[test]
fn of_two_exports_in_one_import_the_newer_one_wins_in_either_order() {
    let older = conversation(
        1,
        &[
            ("a", None, "Hello.", true),
            ("b", Some("a"), "Partial ans", true),
        ],
    );
    let newer = conversation(
        2,
        &[
            ("a", None, "Hello.", true),
            ("b", Some("a"), "Partial answer, now finished.", false),
            ("d", Some("a"), "Another answer.", true),
        ],
    );
    for exports in [
        [older.clone(), newer.clone()],
        [newer.clone(), older.clone()],
    ] {
        let t = TempVault::new();
        import_units(&t, &exports);
        let expected_texts = ["Another answer.", "Hello.", "Partial answer, now finished."];
        assert_eq!(texts(&t, Kind::Message), expected_texts);
        let is_active = |value| record_with_id(&t, Kind::Message, value).0.active();
        assert_eq!(
            (is_active("a"), is_active("b"), is_active("d")),
            (true, false, true)
        );
        assert_eq!(faults(&t), [""; 0]);
    }
    // When the same exports are imported one after the other, the older export must not undo changes of the newer one.
    let t = TempVault::new();
    import_units(&t, &[newer]);
    import_units(&t, &[older]);
    assert_eq!(
        record_with_id(&t, Kind::Message, "b").1.text,
        "Partial answer, now finished."
    );
}

/// Returns the texts of all versions of the memory `m`, the current version first.
fn versions(t: &TempVault) -> Vec<String> {
    let view = record_with_id(t, Kind::Memory, "m").0;
    let versions = t.vault.reader().versions(&view).unwrap();
    versions
        .into_iter()
        .map(|version| version.record.text)
        .collect()
}

/// The memory `m`, which was last changed on `day`. Without `day` it has no time of change.
fn memory(day: Option<i64>, text: &str) -> Unit {
    let mut memory = record(Kind::Memory, "m", text);
    memory.times.updated = day.map(at);
    memory.into()
}

#[test]
fn each_different_content_of_one_id_in_an_input_becomes_a_version() {
    let (tea, coffee) = ("Likes tea.", "Likes coffee.");
    let undated = [memory(None, tea), memory(None, coffee)];
    let dated = [memory(Some(1), tea), memory(Some(2), coffee)];
    let partly_dated = [memory(Some(1), tea), memory(None, coffee)];
    let same_day = [memory(Some(1), tea), memory(Some(1), coffee)];
    for (name, units) in [
        ("undated", undated),
        ("dated", dated),
        ("partly dated", partly_dated),
        ("same day", same_day),
    ] {
        for known in [false, true] {
            let t = TempVault::new();
            if known {
                import_units(&t, &[memory(None, "Likes water.")]);
            }
            let expected = [
                &[coffee, tea][..],
                if known { &["Likes water."] } else { &[] },
            ]
            .concat();
            let cancel = AtomicBool::new(false);
            let read: Read<'_> = &|sink| units.iter().cloned().try_for_each(|unit| sink.unit(unit));
            let plan = t.import_with(&options(&cancel, true), read).unwrap();
            let report = import_units(&t, &units);
            let counts = if known {
                [2, 0, 2, 0, 0]
            } else {
                [2, 1, 1, 0, 0]
            };
            assert_eq!(outcome_counts(&report), counts, "{name}, known: {known}");
            assert_eq!(plan.by_kind, report.by_kind, "{name}, known: {known}");
            assert_eq!(versions(&t), expected, "{name}, known: {known}");
            let second_report = import_units(&t, &units);
            assert_eq!(
                outcome_counts(&second_report),
                [2, 0, 0, 2, 0],
                "{name}, known: {known}: a second import adds nothing"
            );
            assert_eq!(versions(&t), expected, "{name}, known: {known}");
            t.vault
                .importer()
                .undo(&second_report.batch, at(200))
                .unwrap();
            assert_eq!(versions(&t), expected, "{name}, known: {known}");
            t.vault.importer().undo(&report.batch, at(300)).unwrap();
            let remaining_texts = if known { vec!["Likes water."] } else { vec![] };
            assert_eq!(
                texts(&t, Kind::Memory),
                remaining_texts,
                "{name}, known: {known}"
            );
            if known {
                assert_eq!(versions(&t), remaining_texts, "{name}");
            }
            assert_eq!(faults(&t), [""; 0], "{name}, known: {known}");
        }
    }
}

#[test]
fn the_report_says_which_occurrence_was_not_imported() {
    let t = TempVault::new();
    let units = [
        memory(Some(2), "Likes coffee."),
        memory(Some(1), "Likes tea."),
        memory(Some(2), "Likes coffee."),
    ];
    let report = import_units(&t, &units);
    let reasons: Vec<&str> = report
        .items
        .iter()
        .map(|item| item.reason.as_str())
        .collect();
    assert_eq!(
        reasons,
        [
            "older than another version in this input",
            "duplicate: it occurs twice in this input"
        ]
    );
    assert_eq!(versions(&t), ["Likes coffee."]);
}

#[test]
fn a_version_of_another_import_stays_when_that_import_is_undone() {
    let t = TempVault::new();
    let first = import_units(&t, &[memory(None, "Likes tea.")]);
    let both_versions = [memory(None, "Likes tea."), memory(None, "Likes coffee.")];
    let second = import_units(&t, &both_versions);
    t.vault.importer().undo(&first.batch, at(200)).unwrap();
    assert_eq!(versions(&t), ["Likes coffee.", "Likes tea."]);
    t.vault.importer().undo(&second.batch, at(300)).unwrap();
    assert_eq!(texts(&t, Kind::Memory), [""; 0]);
    assert_eq!(faults(&t), [""; 0]);
}

#[test]
fn a_record_whose_words_differ_from_the_blocked_words_is_imported() {
    let t = TempVault::new();
    import_units(&t, &[record(Kind::Memory, "old", "Owns a boat.").into()]);
    let id = record_with_id(&t, Kind::Memory, "old").0.id_text();
    t.vault
        .eraser()
        .erase(&[id], "test", &[], at(100), &|_| {})
        .unwrap();
    let units = [
        memory(None, "Owns a boat."),
        memory(None, "Owns a bicycle."),
        memory(None, "Owns a boat."),
    ];
    let report = import_units(&t, &units);
    assert_eq!(outcome_counts(&report), [3, 1, 0, 0, 2]);
    assert_eq!(versions(&t), ["Owns a bicycle."]);
}

#[test]
fn a_second_file_with_other_bytes_is_not_called_a_duplicate() {
    let t = TempVault::new();
    let read: Read<'_> = &|sink| {
        send_file(sink, "f", "first")?;
        send_file(sink, "f", "first")?;
        send_file(sink, "f", "other")
    };
    let report = import_from(&t, read);
    let reasons: Vec<&str> = report
        .items
        .iter()
        .map(|item| item.reason.as_str())
        .collect();
    assert_eq!(
        reasons,
        [
            "duplicate: it occurs twice in this input",
            "other bytes: another file of this input has the same id, and is kept"
        ]
    );
}
