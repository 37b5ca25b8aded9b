//! The summary of a selection of records: counts, dates and sensitive values.
use crate::{
    deletion::{SENTENCE, id_of, vault_with_canary},
    sensitive::vault_with_secrets,
};
use mementory_model::{Kind, Record, RecordKey};
use mementory_testkit::{TempVault, at};
use mementory_vault::{EditFields, ListQuery, SensitiveQuery, Summary};

fn memories() -> ListQuery {
    ListQuery {
        kind: Some(Kind::Memory),
        ..ListQuery::default()
    }
}

#[test]
fn a_summary_counts_versions_and_source_conversations() {
    let t = vault_with_canary();
    let before = t.vault.queries().summary(&memories()).unwrap();
    // One memory was derived from a message, and no memory has a date.
    assert_eq!(
        before,
        Summary {
            versions: 2,
            conversations: 1,
            ..Summary::default()
        }
    );
    let id = id_of(&t, Kind::Memory, SENTENCE);
    let fields = EditFields {
        tags: Some(vec!["pets".into()]),
        ..EditFields::default()
    };
    t.vault
        .editor()
        .edit(&id, fields, at(2_000_000_000))
        .unwrap();
    let after = t.vault.queries().summary(&memories()).unwrap();
    assert_eq!(after.versions, 3);
    assert_eq!(after.dated, 0, "an edit gives no date");
    let edited_record = ListQuery {
        ids: Some(vec![id]),
        ..ListQuery::default()
    };
    assert_eq!(
        t.vault.queries().summary(&edited_record).unwrap().versions,
        2,
        "only of those that are asked for"
    );
}

#[test]
fn a_summary_has_the_first_and_last_date_of_its_records() {
    let t = TempVault::new();
    let records = [Some(300), None, Some(100), Some(200)].map(|second| {
        let mut record = Record::new(
            Kind::Memory,
            RecordKey::new("test", format!("{second:?}")),
            "Something.",
        );
        record.times.created = second.map(at);
        record
    });
    t.import_records(records.to_vec()).unwrap();
    let summary = t.vault.queries().summary(&memories()).unwrap();
    let micros = |second| Some(at(second).as_micros());
    assert_eq!(
        (summary.dated, summary.first, summary.last),
        (3, micros(100), micros(300))
    );
    t.vault
        .editor()
        .add("Written here.", None, vec![], at(400))
        .unwrap();
    let summary = t.vault.queries().summary(&memories()).unwrap();
    assert_eq!(
        (summary.dated, summary.last),
        (4, micros(400)),
        "what is written here has the date of that"
    );
}

#[test]
fn a_sensitive_value_counts_once_and_not_when_it_is_ignored() {
    let t = vault_with_secrets();
    let findings = || t.vault.queries().summary(&memories()).unwrap().findings;
    assert_eq!(findings().values().sum::<u32>(), 3);
    let queue = t
        .vault
        .scanner()
        .sensitive_values(&SensitiveQuery::default())
        .unwrap();
    assert_eq!(findings(), queue.open, "by the classes that the queue has");
    let value = t
        .vault
        .scanner()
        .sensitive_values(&SensitiveQuery::default())
        .unwrap()
        .values
        .remove(0)
        .value;
    t.vault
        .scanner()
        .ignore_values(&[value], true, at(60))
        .unwrap();
    assert_eq!(findings().values().sum::<u32>(), 2);
}
