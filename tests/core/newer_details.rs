//! The same content again, with other links, entities, vectors or another original text: it is a new version only if
//! the source says that it is newer.
use crate::source::*;
use mementory_model::{Embedding, EntityRef, Kind, Record, Unit, Verbatim};
use mementory_testkit::{TempVault, at};
use mementory_vault::EditFields;

const SAME: [u32; 5] = [1, 0, 0, 1, 0];
const UPDATED: [u32; 5] = [1, 0, 1, 0, 0];

type Change = fn(&mut Record);

/// A memory that the source last changed on `day`.
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
            ([None, None], SAME),
        ] {
            let t = TempVault::new();
            let (before, mut after) = (tea(days[0]), tea(days[1]));
            change(&mut after);
            import_units(&t, &[before.clone().into()]);
            let report = import_units(&t, &[after.clone().into()]);
            assert_eq!(outcome_counts(&report), expected, "{name} {days:?}");
            let stored = record_with_id(&t, Kind::Memory, "m").1;
            let kept = if expected == UPDATED { after } else { before };
            assert_eq!(stored, kept, "{name} {days:?}");
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
    let mut again = tea(Some(2));
    again.verbatim = Some(Verbatim::json(
        "{ \"text\": \"Likes tea.\", \"seen\": 1, \"id\": \"m\" }",
    ));
    let report = import_units(&t, &[again.into()]);
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
fn undoing_an_import_takes_newer_details_back() {
    let t = TempVault::new();
    import_units(&t, &[tea(Some(1)).into()]);
    let newer = derived(tea(Some(2)), Kind::Memory, "other");
    let report = import_units(&t, &[newer.into()]);
    t.vault.importer().undo(&report.batch, at(100)).unwrap();
    assert_eq!(record_with_id(&t, Kind::Memory, "m").1, tea(Some(1)));
    assert_eq!(faults(&t), [""; 0]);
}
