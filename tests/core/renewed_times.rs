//! A record is imported again with the same text and a later time of change. The vault stores the later time, so that
//! another text, changed between the two times, does not replace the current one.
use crate::source::*;
use mementory_model::{Kind, Record, Unit};
use mementory_testkit::{TempVault, at};
use mementory_vault::{EditFields, ExportRun, Scope};
use std::sync::atomic::AtomicBool;

const TEA: &str = "Likes tea.";
const COFFEE: &str = "Likes coffee.";

fn dated(kind: Kind, day: Option<i64>, text: &str) -> Record {
    let mut record = record(kind, "m", text);
    record.times.updated = day.map(at);
    record
}

fn memory(day: Option<i64>, text: &str) -> Unit {
    dated(Kind::Memory, day, text).into()
}

fn memory_text(t: &TempVault) -> String {
    record_with_id(t, Kind::Memory, "m").1.text
}

/// Empties the columns that earlier versions of the program did not fill.
fn empty_newer_columns(t: &TempVault) {
    t.database()
        .execute_batch("UPDATE records SET details = NULL, updated = NULL")
        .unwrap();
}

#[test]
fn older_words_do_not_replace_words_whose_time_was_renewed() {
    for kind in [Kind::Memory, Kind::Fact, Kind::Message] {
        for first in [Some(1), None] {
            for is_old_vault in [false, true] {
                for one_input in [false, true] {
                    let name =
                        format!("{kind:?} {first:?} old: {is_old_vault} one input: {one_input}");
                    let t = TempVault::new();
                    let units = [first, Some(5)].map(|day| Unit::from(dated(kind, day, TEA)));
                    if one_input {
                        import_units(&t, &units);
                    } else {
                        import_units(&t, &units[..1]);
                        if is_old_vault {
                            empty_newer_columns(&t);
                        }
                        let second_report = import_units(&t, &units[1..]);
                        assert_eq!(outcome_counts(&second_report), [1, 0, 0, 1, 0], "{name}");
                    }
                    let older = import_units(&t, &[dated(kind, Some(3), COFFEE).into()]);
                    assert_eq!(outcome_counts(&older), [1, 0, 0, 1, 0], "{name}");
                    assert_eq!(record_with_id(&t, kind, "m").1.text, TEA, "{name}");
                    let newer = import_units(&t, &[dated(kind, Some(7), COFFEE).into()]);
                    assert_eq!(outcome_counts(&newer), [1, 0, 1, 0, 0], "{name}");
                    assert_eq!(faults(&t), [""; 0], "{name}");
                }
            }
        }
    }
}

#[test]
fn an_undo_restores_the_former_time() {
    let t = TempVault::new();
    import_units(&t, &[memory(Some(1), TEA)]);
    let second = import_units(&t, &[memory(Some(5), TEA)]);
    let third = import_units(&t, &[memory(Some(9), TEA)]);
    let time = || t.number("SELECT updated FROM records") - at(0).as_micros();
    assert_eq!(time(), 9_000_000);
    t.vault.importer().undo(&second.batch, at(200)).unwrap();
    assert_eq!(time(), 9_000_000, "the third import says so");
    t.vault.importer().undo(&third.batch, at(200)).unwrap();
    assert_eq!(time(), 1_000_000);
    import_units(&t, &[memory(Some(3), COFFEE)]);
    assert_eq!(memory_text(&t), COFFEE);
    assert_eq!(faults(&t), [""; 0]);
}

#[test]
fn an_import_with_the_earlier_time_does_not_keep_the_later_time_of_an_undone_import() {
    let t = TempVault::new();
    import_units(&t, &[memory(Some(1), TEA)]);
    let later = import_units(&t, &[memory(Some(5), TEA)]);
    import_units(&t, &[memory(Some(1), TEA)]);
    t.vault.importer().undo(&later.batch, at(200)).unwrap();
    import_units(&t, &[memory(Some(3), COFFEE)]);
    assert_eq!(memory_text(&t), COFFEE);
}

#[test]
fn undoing_a_new_version_restores_the_renewed_time_of_the_former_one() {
    let t = TempVault::new();
    import_units(&t, &[memory(Some(1), TEA)]);
    import_units(&t, &[memory(Some(5), TEA)]);
    let newest = import_units(&t, &[memory(Some(9), "Likes milk.")]);
    t.vault.importer().undo(&newest.batch, at(200)).unwrap();
    import_units(&t, &[memory(Some(3), COFFEE)]);
    assert_eq!(memory_text(&t), TEA);
}

#[test]
fn a_persons_edit_after_the_import_keeps_its_time_when_the_import_is_undone() {
    let t = TempVault::new();
    import_units(&t, &[memory(Some(1), TEA)]);
    let second = import_units(&t, &[memory(Some(5), TEA)]);
    let id = record_with_id(&t, Kind::Memory, "m").0.id_text();
    let fields = EditFields {
        text: Some("Likes cocoa.".into()),
        ..EditFields::default()
    };
    t.vault.editor().edit(&id, fields, at(100)).unwrap();
    t.vault.importer().undo(&second.batch, at(200)).unwrap();
    import_units(&t, &[memory(Some(7), COFFEE)]);
    assert_eq!(
        memory_text(&t),
        "Likes cocoa.",
        "the words of day 7 are older than the edit"
    );
}

#[test]
fn a_row_of_an_older_program_is_completed_by_the_next_import_of_its_record() {
    let t = TempVault::new();
    import_units(&t, &[memory(Some(1), TEA)]);
    let count = |column: &str| {
        t.number(&format!(
            "SELECT count(*) FROM records WHERE {column} IS NOT NULL"
        ))
    };
    let stored = t.number("SELECT details FROM records");
    empty_newer_columns(&t);
    assert_eq!((count("details"), count("updated")), (0, 0));
    assert_eq!(
        outcome_counts(&import_units(&t, &[memory(Some(1), TEA)])),
        [1, 0, 0, 1, 0]
    );
    assert_eq!((count("details"), count("updated")), (1, 1));
    assert_eq!(t.number("SELECT details FROM records"), stored);
}

#[test]
fn a_redaction_clears_the_digest_of_the_details() {
    let t = TempVault::new();
    import_units(&t, &[memory(Some(1), "Owns the zanzibarquokka.")]);
    import_units(&t, &[memory(Some(2), "Owns the zanzibarquokka still.")]);
    let (view, record) = record_with_id(&t, Kind::Memory, "m");
    let span = mementory_vault::RedactSpan {
        start: 0,
        end: record.text.chars().count() as u32,
        class: "secret".into(),
    };
    t.vault
        .redactor()
        .redact(&view.id_text(), &[span], false, at(100), &|_| {})
        .unwrap();
    let remaining_digests_sql = "SELECT count(*) FROM (SELECT details FROM records UNION ALL SELECT details FROM versions) WHERE details <> 0";
    assert_eq!(t.number(remaining_digests_sql), 0);
    t.vault
        .eraser()
        .erase(&[view.id_text()], "test", &[], at(200), &|_| {})
        .unwrap();
    assert_eq!(
        t.number("SELECT (SELECT count(*) FROM records) + (SELECT count(*) FROM versions)"),
        0
    );
}

/// Returns the record's time of change, in seconds after `at(0)`.
fn time(t: &TempVault) -> i64 {
    (t.number("SELECT updated FROM records") - at(0).as_micros()) / 1_000_000
}

#[test]
fn a_record_has_its_first_time_again_after_all_undos_in_any_order() {
    let (milk, cocoa) = ("Likes milk.", "Likes cocoa.");
    let later = [
        [(5, TEA), (9, milk), (12, milk)],
        [(5, TEA), (7, TEA), (9, milk)],
        [(5, milk), (7, milk), (9, cocoa)],
        [(5, milk), (9, cocoa), (12, cocoa)],
    ];
    for imports in later {
        for order in ORDERS_OF_THREE {
            let t = TempVault::new();
            import_units(&t, &[memory(Some(1), TEA)]);
            let batches = imports.map(|(day, text)| import_units(&t, &[memory(Some(day), text)]));
            for undone in order {
                let batch = &batches[undone].batch;
                t.vault.importer().undo(batch, at(200)).unwrap();
            }
            let name = format!("{imports:?} {order:?}");
            assert_eq!((memory_text(&t).as_str(), time(&t)), (TEA, 1), "{name}");
            assert_eq!(t.number("SELECT count(*) FROM moved"), 0, "{name}");
            assert_eq!(faults(&t), [""; 0], "{name}");
        }
    }
}

#[test]
fn undoing_an_import_of_an_older_program_leaves_the_time_of_the_first() {
    for day in [1, 9] {
        let t = TempVault::new();
        import_units(&t, &[memory(Some(1), TEA)]);
        let second = import_units(&t, &[memory(Some(5), TEA)]);
        // Before schema 5, the table `moved` stored no time.
        empty_newer_columns(&t);
        t.database()
            .execute("UPDATE moved SET updated = NULL", [])
            .unwrap();
        let third = import_units(&t, &[memory(Some(day), TEA)]);
        for batch in [second.batch, third.batch] {
            t.vault.importer().undo(&batch, at(200)).unwrap();
        }
        assert_eq!(time(&t), 1, "{day}");
        import_units(&t, &[memory(Some(0), COFFEE)]);
        assert_eq!(memory_text(&t), TEA, "{day}");
        assert_eq!(faults(&t), [""; 0], "{day}");
    }
}

#[test]
fn an_undo_leaves_the_times_of_versions_that_other_imports_wrote() {
    let t = TempVault::new();
    import_units(&t, &[memory(Some(1), TEA)]);
    let renewed = import_units(&t, &[memory(Some(5), TEA)]);
    import_units(&t, &[memory(Some(9), COFFEE)]);
    let last = import_units(&t, &[memory(Some(12), COFFEE)]);
    t.vault.importer().undo(&renewed.batch, at(200)).unwrap();
    assert_eq!(time(&t), 12);
    t.vault.importer().undo(&last.batch, at(200)).unwrap();
    assert_eq!((memory_text(&t).as_str(), time(&t)), (COFFEE, 9));
}

#[test]
fn undoing_one_import_with_a_renewed_time_and_newer_words_restores_the_first_time() {
    let t = TempVault::new();
    import_units(&t, &[memory(Some(1), TEA)]);
    let units = [memory(Some(5), TEA), memory(Some(9), COFFEE)];
    let second = import_units(&t, &units);
    assert_eq!((memory_text(&t).as_str(), time(&t)), (COFFEE, 9));
    t.vault.importer().undo(&second.batch, at(200)).unwrap();
    assert_eq!((memory_text(&t).as_str(), time(&t)), (TEA, 1));
}

#[test]
fn a_renewed_time_is_shown_and_exported() {
    let t = TempVault::new();
    import_units(&t, &[memory(Some(1), TEA)]);
    import_units(&t, &[memory(Some(5), TEA)]);
    let shown_time = |t: &TempVault| {
        let (view, record) = record_with_id(t, Kind::Memory, "m");
        view.updated_time(&record)
    };
    assert_eq!(shown_time(&t), Some(at(5)));
    let scope = Scope {
        everything: true,
        ..Scope::default()
    };
    for format in ["mem", "alf", "mif", "pam"] {
        let extension = mementory_formats::by_id(format)
            .unwrap()
            .capabilities()
            .ending;
        let out = t.folder.path().join(format!("{format}{extension}"));
        let cancel = AtomicBool::new(false);
        let run = ExportRun {
            scope: &scope,
            now: at(9),
            cancel: &cancel,
            progress: &|_, _| {},
        };
        t.vault.exporter().export(format, &out, false, run).unwrap();
        let other_vault = TempVault::new();
        other_vault.import(&[out]).unwrap();
        assert_eq!(shown_time(&other_vault), Some(at(5)), "{format}");
    }
}
