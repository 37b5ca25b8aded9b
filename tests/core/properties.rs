//! Properties that must hold for any record, when records are stored, edited and restored, when an import is undone,
//! and when tombstones block records.
use crate::source::import_from;
use mementory_model::{
    Derived, Kind, Record, RecordKey, Timestamp, Tombstone, TombstoneOp, Unit, Verbatim,
};
use mementory_testkit::{TempVault, at};
use mementory_vault::{EditFields, ListQuery, Vault};
use proptest::prelude::*;

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9 ,.!?äöüßéñ]{1,80}",
        proptest::collection::vec(any::<char>(), 1..60).prop_map(|c| c.into_iter().collect()),
        Just("明日の会議の議事録を日本語でまとめてください。".to_owned()),
        Just("a\u{0}b\u{1f}\"\\\u{202e}RTL 🧑‍🚀".to_owned()),
    ]
}

prop_compose! {
    fn any_record()(
        number in 0..u32::MAX, text in any_text(), title in proptest::option::of(any_text()),
        kind in proptest::sample::select(vec![Kind::Memory, Kind::Fact, Kind::Conversation, Kind::Profile, Kind::Resource, Kind::Todo]),
        created in proptest::option::of(-62_135_596_800_000_000i64..253_402_214_400_000_000),
        tags in proptest::collection::vec("[a-z]{1,8}", 0..4), confidence in proptest::option::of(0.0f64..=1.0),
        status in proptest::option::of("[a-z]{1,8}"), verbatim in proptest::option::of(any_text()),
    ) -> Record {
        let mut record = Record::new(kind, RecordKey::new("test", format!("r{number}")), text);
        record.origin_id = Some(format!("r{number}"));
        record.title = title;
        record.times.created = created.and_then(Timestamp::from_micros);
        record.tags = tags;
        record.confidence = confidence;
        record.status = status;
        record.source.platform = "test".into();
        record.fields.insert("number".into(), serde_json::json!({"a": [1, 2.5, null, "x"], "b": number}));
        record.verbatim = verbatim.map(|text| Verbatim { media_type: "text/plain".into(), text });
        record
    }
}

fn all_records(vault: &Vault) -> Vec<Record> {
    let page = vault
        .queries()
        .list(&ListQuery {
            limit: 1000,
            ..ListQuery::default()
        })
        .unwrap();
    page.rows
        .iter()
        .map(|row| vault.reader().record(row).unwrap())
        .collect()
}

fn only_id(vault: &Vault) -> String {
    vault.queries().list(&ListQuery::default()).unwrap().rows[0].id_text()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_record_survives_store_and_reopening(mut records in proptest::collection::vec(any_record(), 1..12)) {
        records.sort_by(|a, b| a.key.value.cmp(&b.key.value));
        records.dedup_by(|a, b| a.key == b.key);
        let t = TempVault::new();
        let report = t.import_records(records.clone()).unwrap();
        prop_assert_eq!(report.total().added as usize, records.len(), "everything is added");
        let again = t.import_records(records.clone()).unwrap();
        prop_assert_eq!(again.total().unchanged as usize, records.len(), "a second import adds nothing");
        let t = t.reopen();
        let mut back = all_records(&t.vault);
        back.sort_by(|a, b| a.key.value.cmp(&b.key.value));
        prop_assert_eq!(back, records, "every field comes back as it went in");
        prop_assert!(t.vault.integrity().check().unwrap().iter().all(|p| p.ok), "and the vault checks clean");
    }

    #[test]
    fn an_edit_keeps_the_old_version_which_can_be_restored(record in any_record(), text in "[a-z]{1,40}") {
        let t = TempVault::new();
        t.import_records(vec![record.clone()]).unwrap();
        let id = only_id(&t.vault);
        t.vault.editor().edit(&id, EditFields { text: Some(text.clone()), ..EditFields::default() }, at(100)).unwrap();
        t.vault.editor().restore_version(&id, 1, at(200)).unwrap();
        let view = t.vault.reader().view(&id).unwrap();
        let texts: Vec<String> = t.vault.reader().versions(&view).unwrap().into_iter().map(|v| v.record.text).collect();
        prop_assert_eq!(texts, vec![record.text.clone(), text, record.text], "three versions, newest first");
    }

    #[test]
    fn an_erased_record_is_never_imported_again(record in any_record(), other_id in any::<bool>()) {
        let t = TempVault::new();
        t.import_records(vec![record.clone()]).unwrap();
        let id = only_id(&t.vault);
        t.vault.eraser().erase(&[id], "test", &[], at(100), &|_| {}).unwrap();
        let mut again = record.clone();
        let fingerprinted = matches!(record.kind, Kind::Memory | Kind::Fact | Kind::Profile) && record.text.chars().any(char::is_alphanumeric);
        if other_id && fingerprinted {
            again.key.value.push_str("-under-another-id");
        }
        let report = t.import_records(vec![again]).unwrap();
        prop_assert_eq!(report.total().blocked, 1, "held back by id or by its words");
        prop_assert_eq!(all_records(&t.vault).len(), 0, "nothing came back");
    }

    #[test]
    fn undo_removes_a_whole_batch(first in any_record(), text in "[a-z]{3,40}", added in any_record()) {
        prop_assume!(first.key != added.key && first.text != text);
        let t = TempVault::new();
        t.import_records(vec![first.clone()]).unwrap();
        let mut newer = first.clone();
        newer.text = text;
        let report = t.import_records(vec![newer, added]).unwrap();
        prop_assert_eq!((report.total().updated, report.total().added), (1, 1), "one changed, one new");
        t.vault.importer().undo(&report.batch, at(300)).unwrap();
        prop_assert_eq!(all_records(&t.vault), vec![first], "as before");
        prop_assert!(t.vault.integrity().check().unwrap().iter().all(|p| p.ok), "and the vault checks clean");
    }
}

fn fact_tombstone(n: usize) -> Tombstone {
    Tombstone {
        id: format!("t{n}"),
        op: TombstoneOp::Delete,
        target_kind: "fact".into(),
        target_id: n.to_string(),
        scope: "mem".into(),
        at: at(20),
        actor: "someone".into(),
        reason: String::new(),
        derived: Derived::default(),
        signature: None,
        verbatim: None,
    }
}

/// The tombstones and facts of a bundle. Each byte of `states` describes one fact: open (0), closed (1), deleted (2) or
/// missing (3).
fn bundle(states: &[u8]) -> (Vec<Tombstone>, Vec<Unit>) {
    let fact = |n: usize, closed: bool| {
        let mut fact = Record::new(
            Kind::Fact,
            RecordKey::new("mem", format!("fact/{n}")),
            format!("Fact {n}."),
        );
        fact.times.valid_from = Some(at(10));
        fact.times.valid_to = closed.then(|| at(50));
        Unit::from(fact)
    };
    let tombstones = states
        .iter()
        .enumerate()
        .filter(|(_, s)| **s == 2)
        .map(|(n, _)| fact_tombstone(n));
    let facts = states
        .iter()
        .enumerate()
        .filter(|(_, s)| **s < 2)
        .map(|(n, s)| fact(n, *s == 1));
    (tombstones.collect(), facts.collect())
}

fn facts(t: &TempVault) -> Vec<(String, Option<Timestamp>)> {
    let mut all: Vec<_> = all_records(&t.vault)
        .into_iter()
        .map(|r| (r.key.value.clone(), r.times.valid_to))
        .collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Importing two bundles with deletions and closed facts has the same result in either order, and importing both
    /// again changes nothing.
    #[test]
    fn bundles_merge_in_any_order(one in proptest::collection::vec(0u8..4, 1..8), other in proptest::collection::vec(0u8..4, 1..8)) {
        let import = |t: &TempVault, states: &[u8]| {
            let (tombstones, units) = bundle(states);
            import_from(t, &|sink| {
                tombstones.iter().cloned().try_for_each(|s| sink.tombstone(s))?;
                units.iter().cloned().try_for_each(|u| sink.unit(u))
            });
        };
        let (a, b) = (TempVault::new(), TempVault::new());
        import(&a, &one);
        import(&a, &other);
        import(&b, &other);
        import(&b, &one);
        prop_assert_eq!(facts(&a), facts(&b));
        let before = facts(&a);
        import(&a, &one);
        import(&a, &other);
        prop_assert_eq!(facts(&a), before);
    }
}
