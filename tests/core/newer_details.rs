//! A record is imported again with the same text, but with other links, entities, vectors or another original text. The
//! record gets a new version if its time of change is later, or if neither version has a time and the new version
//! contains more.
use crate::source::*;
use mementory_model::{Embedding, EntityRef, Kind, Record, Unit, Verbatim};
use mementory_testkit::{TempVault, at, options};
use mementory_vault::{EditFields, ImportReport};
use std::sync::atomic::AtomicBool;

const SAME: [u32; 5] = [1, 0, 0, 1, 0];
const UPDATED: [u32; 5] = [1, 0, 1, 0, 0];

type Change = fn(&mut Record);

/// The memory `m`, which the source last changed on `day`. Without `day` it has no time of change.
fn tea(day: Option<i64>) -> Record {
    let mut memory = record(Kind::Memory, "m", "Likes tea.");
    memory.times.updated = day.map(at);
    memory.verbatim = Some(Verbatim::json(r#"{"id":"m","text":"Likes tea.","seen":1}"#));
    memory
}

fn changes() -> [(&'static str, Change); 4] {
    [
        ("links", |r| {
            *r = derived(r.clone(), Kind::Memory, "other");
        }),
        ("entities", |r| {
            r.entities.push(EntityRef {
                name: "Tea".into(),
                entity_type: None,
                role: None,
            });
        }),
        ("vectors", |r| {
            r.embeddings.push(Embedding {
                model: "m".into(),
                json: "[1,2]".into(),
            });
        }),
        ("original text", |r| {
            r.verbatim = Some(Verbatim::json(r#"{"id":"m","text":"Likes tea.","seen":2}"#));
        }),
    ]
}

#[test]
fn other_details_of_a_newer_version_are_imported() {
    for (name, change) in changes() {
        for (days, expected) in [
            ([Some(1), Some(2)], UPDATED),
            ([None, Some(2)], UPDATED),
            ([Some(2), Some(2)], SAME),
            ([Some(2), Some(1)], SAME),
            ([Some(2), None], SAME),
            ([None, None], UPDATED),
        ] {
            let t = TempVault::new();
            let (before, mut after) = (tea(days[0]), tea(days[1]));
            change(&mut after);
            import_units(&t, &[before.clone().into()]);
            let report = import_units(&t, &[after.clone().into()]);
            assert_eq!(outcome_counts(&report), expected, "{name} {days:?}");
            let stored = record_with_id(&t, Kind::Memory, "m").1;
            let expected_record = if expected == UPDATED { after } else { before };
            assert_eq!(stored, expected_record, "{name} {days:?}");
            assert_eq!(faults(&t), [""; 0], "{name} {days:?}");
        }
    }
}

#[test]
fn of_two_versions_in_one_import_the_details_of_the_newer_one_stay() {
    for (name, change) in changes() {
        let (older, mut newer) = (tea(Some(1)), tea(Some(2)));
        change(&mut newer);
        let units: [Unit; 2] = [older.into(), newer.clone().into()];
        for order in [[0, 1], [1, 0]] {
            let t = TempVault::new();
            import_units(&t, &order.map(|n| units[n].clone()));
            let stored = record_with_id(&t, Kind::Memory, "m").1;
            assert_eq!(stored, newer, "{name}");
            assert_eq!(faults(&t), [""; 0], "{name}");
        }
    }
}

#[test]
fn the_same_json_in_another_notation_is_the_same_record() {
    let t = TempVault::new();
    import_units(&t, &[tea(Some(1)).into()]);
    let mut reformatted = tea(Some(2));
    reformatted.verbatim = Some(Verbatim::json(
        "{ \"text\": \"Likes tea.\", \"seen\": 1, \"id\": \"m\" }",
    ));
    let report = import_units(&t, &[reformatted.into()]);
    assert_eq!(outcome_counts(&report), SAME);
}

#[test]
fn newer_details_do_not_replace_the_persons_edit() {
    let t = TempVault::new();
    import_units(&t, &[tea(Some(1)).into()]);
    let id = record_with_id(&t, Kind::Memory, "m").0.id_text();
    for text in ["Likes green tea.", "Likes tea."] {
        let fields = EditFields {
            text: Some(text.into()),
            ..EditFields::default()
        };
        t.vault.editor().edit(&id, fields, at(50)).unwrap();
    }
    let mut newer = tea(Some(100));
    newer = derived(newer, Kind::Memory, "other");
    assert_eq!(outcome_counts(&import_units(&t, &[newer.into()])), SAME);
    assert_eq!(record_with_id(&t, Kind::Memory, "m").1.links, []);
}

#[test]
fn undoing_an_import_restores_the_older_details() {
    let t = TempVault::new();
    import_units(&t, &[tea(Some(1)).into()]);
    let newer = derived(tea(Some(2)), Kind::Memory, "other");
    let report = import_units(&t, &[newer.into()]);
    t.vault.importer().undo(&report.batch, at(100)).unwrap();
    assert_eq!(record_with_id(&t, Kind::Memory, "m").1, tea(Some(1)));
    assert_eq!(faults(&t), [""; 0]);
}

/// The memory `m` without a time of change, derived from two other memories.
fn two_links() -> Record {
    derived(derived(tea(None), Kind::Memory, "one"), Kind::Memory, "two")
}

#[test]
fn an_undated_record_that_says_less_or_is_of_another_format_changes_nothing() {
    let fewer_links: Change = |r| drop(r.links.pop());
    let other_format: Change = |r| {
        r.origin.format = "other".into();
        *r = derived(r.clone(), Kind::Memory, "three");
    };
    let without_original: Change = |r| r.verbatim = None;
    for (name, change) in [
        ("less", fewer_links),
        ("other format", other_format),
        ("without original", without_original),
    ] {
        let t = TempVault::new();
        import_units(&t, &[two_links().into()]);
        let mut after = two_links();
        change(&mut after);
        assert_eq!(
            outcome_counts(&import_units(&t, &[after.into()])),
            SAME,
            "{name}"
        );
        assert_eq!(
            record_with_id(&t, Kind::Memory, "m").1,
            two_links(),
            "{name}"
        );
    }
}

#[test]
fn every_detail_of_an_undated_record_in_one_input_is_a_version() {
    for (name, change) in changes() {
        let (before, mut after) = (tea(None), tea(None));
        change(&mut after);
        let units: [Unit; 2] = [before.into(), after.clone().into()];
        let t = TempVault::new();
        assert_eq!(
            outcome_counts(&import_units(&t, &units)),
            [2, 1, 1, 0, 0],
            "{name}"
        );
        assert_eq!(record_with_id(&t, Kind::Memory, "m").1, after, "{name}");
        let second_report = import_units(&t, &units);
        assert_eq!(
            second_report.total().updated,
            0,
            "{name}: a second import adds nothing"
        );
        assert_eq!(record_with_id(&t, Kind::Memory, "m").1, after, "{name}");
        let mut third_version = after.clone();
        third_version.links.push(two_links().links.remove(1));
        assert_eq!(
            outcome_counts(&import_units(&t, &[third_version.into()])),
            UPDATED,
            "{name}: other details than any before"
        );
        assert_eq!(faults(&t), [""; 0], "{name}");
    }
}

#[test]
fn a_preview_and_the_import_report_the_same_about_repeated_records() {
    let days = [
        [None, None],
        [None, Some(2)],
        [Some(1), Some(2)],
        [Some(2), Some(1)],
        [Some(2), Some(2)],
        [Some(2), None],
    ];
    let (mut known_units, mut units) = (Vec::new(), Vec::new());
    for (name, change) in changes() {
        for days in days {
            for known_day in [None, Some(None), Some(Some(1))] {
                let unit_with_key = |mut record: Record| {
                    record.key = key(&format!("{name} {days:?} {known_day:?}"));
                    Unit::from(record)
                };
                known_units.extend(known_day.map(|day| unit_with_key(tea(day))));
                let mut after = tea(days[1]);
                change(&mut after);
                let mut reformatted = after.clone();
                let original = after.verbatim.as_ref().map(|v| v.text.replace(':', " : "));
                reformatted.verbatim = original.map(Verbatim::json);
                units.extend([tea(days[0]), after, reformatted].map(unit_with_key));
            }
        }
    }
    let t = TempVault::new();
    import_units(&t, &known_units);
    let cancel = AtomicBool::new(false);
    let read: Read<'_> = &|sink| units.iter().cloned().try_for_each(|unit| sink.unit(unit));
    let plan = t.import_with(&options(&cancel, true), read).unwrap();
    let report = import_units(&t, &units);
    assert_eq!(plan.by_kind, report.by_kind);
    let reasons = |report: &ImportReport| -> Vec<String> {
        report
            .items
            .iter()
            .map(|item| item.reason.clone())
            .collect()
    };
    assert_eq!(reasons(&plan), reasons(&report));
    assert!(report.total().updated > 0, "some are versions");
    assert_eq!(faults(&t), [""; 0]);
}
