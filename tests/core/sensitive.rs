//! Sensitive values are found once, redacted everywhere, ignored permanently and masked in exports, and never shown.
use crate::deletion::record;
use mementory_model::{Kind, Record, Verbatim};
use mementory_testkit::{TempVault, at, contains_text};
use mementory_vault::{
    EditFields, ExportRun, Scope, SensitiveClass, SensitiveList, SensitiveQuery, SensitiveState,
};
use std::{path::Path, sync::atomic::AtomicBool};

const KEY: &str = "ghp_9fJ2kLm4Qx7RtV1wZb6Yc3Nd8Ps5Ua0He2Gi";
const CARD: &str = "4539 1488 0343 6467";
const CARD_PLAIN: &str = "4539148803436467";
const MAIL: &str = "ada.kovalenko@orchardmail.eu";
const WORKER: &str = "w.lindqvist@orchardmail.eu";
const AWS: &str = "AKIAQ7RT2VWZB6YC3NDX";

fn secrets() -> Vec<Record> {
    let mut memory_with_title = record(Kind::Memory, "titled", "Nothing in the text.");
    memory_with_title.title = Some(format!("Mail of {MAIL}"));
    vec![
        record(
            Kind::Memory,
            "key",
            &format!("The deploy token is {KEY} and rotates in June."),
        ),
        record(
            Kind::Memory,
            "key again",
            &format!("export GITHUB_TOKEN={KEY}"),
        ),
        record(Kind::Memory, "card", &format!("Pay with card {CARD}.")),
        record(
            Kind::Memory,
            "card, plain",
            &format!("Credit card number: {CARD_PLAIN}"),
        ),
        memory_with_title,
        record(Kind::Memory, "plain", "Prefers trains."),
    ]
}

pub fn vault_with_secrets() -> TempVault {
    let t = TempVault::new();
    t.import_records(secrets()).unwrap();
    scan_all(&t);
    t
}

fn scan_all(t: &TempVault) -> u64 {
    let mut all = 0;
    loop {
        let scan = t.vault.scanner().scan_next(at(50)).unwrap();
        all += scan.records;
        if scan.left == 0 {
            return all;
        }
    }
}

fn queue_in(t: &TempVault, state: SensitiveState) -> SensitiveList {
    let query = SensitiveQuery {
        state,
        ..SensitiveQuery::default()
    };
    t.vault.scanner().sensitive_values(&query).unwrap()
}

fn open_value_of(t: &TempVault, class: SensitiveClass) -> String {
    let list = queue_in(t, SensitiveState::Open);
    list.values
        .iter()
        .find(|v| v.class == class)
        .unwrap()
        .value
        .clone()
}

#[test]
fn each_value_is_one_entry_however_it_is_written() {
    let t = vault_with_secrets();
    let list = queue_in(&t, SensitiveState::Open);
    let places: Vec<_> = list.values.iter().map(|v| (v.class, v.places)).collect();
    assert_eq!(
        places,
        [
            (SensitiveClass::AccessKey, 2),
            (SensitiveClass::Card, 2),
            (SensitiveClass::Email, 1)
        ]
    );
    let shown_context: String = list
        .values
        .iter()
        .map(|v| format!("{:?}", v.context))
        .collect();
    for secret in [KEY, CARD, CARD_PLAIN, MAIL] {
        assert!(
            !shown_context.contains(secret),
            "{secret} is shown: {shown_context}"
        );
    }
    let key = &list.values[0];
    assert_eq!(
        key.context[0].text, "The deploy token is ",
        "the text before it"
    );
    assert!(key.context[1].this && key.context[1].text.is_empty());
    assert!(
        t.vault
            .scanner()
            .sensitive_value(&key.value)
            .unwrap()
            .1
            .len()
            == 2
    );
    let stored = t.number("SELECT count(*) FROM findings");
    assert_eq!(stored, 5);
}

#[test]
fn only_new_or_changed_records_are_scanned_again() {
    let t = vault_with_secrets();
    assert_eq!(scan_all(&t), 0, "nothing changed");
    let id = t
        .vault
        .editor()
        .add("My mail is a.b@orchardmail.eu", None, vec![], at(60))
        .unwrap()
        .value;
    assert_eq!(scan_all(&t), 1);
    assert_eq!(
        queue_in(&t, SensitiveState::Open).open[&SensitiveClass::Email],
        2
    );
    let text = Some("Nothing any more.".to_owned());
    t.vault
        .editor()
        .edit(
            &id,
            EditFields {
                text,
                ..EditFields::default()
            },
            at(61),
        )
        .unwrap();
    assert!(t.vault.scanner().progress().unwrap().1 > 0);
    assert_eq!(scan_all(&t), 1);
    assert_eq!(
        queue_in(&t, SensitiveState::Open).open[&SensitiveClass::Email],
        1
    );
    t.vault.scanner().rescan().unwrap();
    assert_eq!(scan_all(&t), 7, "all of it");
    t.vault.trash().trash(&[id], at(70)).unwrap();
    assert_eq!(t.vault.scanner().progress().unwrap().1, 0);
}

#[test]
fn text_that_moved_since_the_scan_shows_no_value() {
    let t = vault_with_secrets();
    let row = t.number("SELECT min(row) FROM findings WHERE class = 0");
    t.database()
        .execute(
            "UPDATE findings SET start = start + 9 WHERE row = ?1",
            [row],
        )
        .unwrap();
    let values = queue_in(&t, SensitiveState::Open).values;
    let shown_context: String = values.iter().map(|v| format!("{:?}", v.context)).collect();
    assert!(
        shown_context.contains("The deploy token is ")
            && !shown_context.contains("ghp_")
            && !shown_context.contains(&KEY[9..]),
        "{shown_context}"
    );
}

#[test]
fn a_redacted_value_is_removed_everywhere_and_the_receipt_is_complete() {
    let t = vault_with_secrets();
    let (key, card) = (
        open_value_of(&t, SensitiveClass::AccessKey),
        open_value_of(&t, SensitiveClass::Card),
    );
    let done = t
        .vault
        .redactor()
        .redact_values(&[key.clone(), card], None, at(100), &|_| {})
        .unwrap()
        .value;
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert_eq!(done.copies_redacted, 4);
    assert_eq!(done.tombstones.len(), 4);
    let pages = t.decrypted();
    for secret in [KEY, CARD, CARD_PLAIN] {
        assert!(
            !contains_text(&pages, secret),
            "{secret} is left in the pages"
        );
        assert_eq!(crate::deletion::hit_count(&t, secret), 0);
    }
    assert_eq!(queue_in(&t, SensitiveState::Open).values.len(), 1);
    let redacted = queue_in(&t, SensitiveState::Redacted);
    assert_eq!(redacted.values.len(), 2);
    assert!(
        t.vault.scanner().sensitive_value(&key).is_err(),
        "no place is left"
    );
    t.import_records(secrets()).unwrap();
    scan_all(&t);
    assert_eq!(
        queue_in(&t, SensitiveState::Open).values.len(),
        1,
        "the source shown it again, and it stays out"
    );
}

#[test]
fn older_versions_other_spellings_and_unlabelled_values_are_redacted_too() {
    let t = TempVault::new();
    let password = "mossy-Tulip-47!";
    t.import_records(vec![
        record(Kind::Memory, "card", &format!("Pay with card {CARD}.")),
        record(
            Kind::Memory,
            "says",
            &format!("The router has password: {password}"),
        ),
        record(
            Kind::Memory,
            "bare",
            &format!("I typed {password} into the box."),
        ),
        record(
            Kind::Memory,
            "short",
            "postgres://app:train@db.intern:5432/app is where it runs.",
        ),
        record(Kind::Memory, "training", "Is training for a marathon."),
    ])
    .unwrap();
    let card = crate::deletion::id_of(&t, Kind::Memory, CARD);
    let text = Some(format!("Credit card number: {CARD_PLAIN}"));
    t.vault
        .editor()
        .edit(
            &card,
            EditFields {
                text,
                ..EditFields::default()
            },
            at(60),
        )
        .unwrap();
    // This record is imported after the scan, but must be redacted too.
    scan_all(&t);
    t.import_records(vec![record(
        Kind::Memory,
        "late",
        &format!("password: {password}"),
    )])
    .unwrap();
    let classes = [SensitiveClass::Card, SensitiveClass::Password];
    let values = t.vault.scanner().open_values(&classes).unwrap();
    let done = t
        .vault
        .redactor()
        .redact_values(&values, None, at(100), &|_| {})
        .unwrap()
        .value;
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let query = mementory_vault::ListQuery {
        limit: 100,
        ..mementory_vault::ListQuery::default()
    };
    for row in t.vault.queries().list(&query).unwrap().rows {
        for version in t.vault.reader().versions(&row).unwrap() {
            let json = serde_json::to_string(&version.record).unwrap();
            for secret in [CARD, CARD_PLAIN, password] {
                assert!(!json.contains(secret), "{secret} is left: {json}");
            }
        }
    }
    assert_eq!(
        crate::deletion::hit_count(&t, "training"),
        1,
        "few letters go only where they are said to be a password"
    );
    assert!(t.vault.scanner().open_values(&classes).unwrap().is_empty());
}

#[test]
fn a_value_that_occurs_twice_is_shown_nowhere() {
    let t = TempVault::new();
    let password = "mossy-Tulip-47!";
    let text = format!("The router has password: {password} and I typed {password} twice.");
    t.import_records(vec![record(Kind::Memory, "twice", &text)])
        .unwrap();
    scan_all(&t);
    let queue = queue_in(&t, SensitiveState::Open);
    let shown_context = format!("{:?}", queue.values[0].context);
    assert!(!shown_context.contains(password), "{shown_context}");
    assert!(!t.vault.scanner().masked(&text).contains(password));
}

#[test]
fn a_value_is_redacted_in_the_chosen_places_only() {
    let t = vault_with_secrets();
    let key = open_value_of(&t, SensitiveClass::AccessKey);
    let (_, places) = t.vault.scanner().sensitive_value(&key).unwrap();
    let chosen = [places[0].view.id_text()];
    let done = t
        .vault
        .redactor()
        .redact_values(std::slice::from_ref(&key), Some(&chosen), at(100), &|_| {})
        .unwrap()
        .value;
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert_eq!(done.copies_redacted, 1);
    assert_eq!(t.vault.scanner().sensitive_value(&key).unwrap().1.len(), 1);
    // Redact all values, but only in one record: the audit log counts the values of that record, not all open values.
    let all = t.vault.scanner().open_values(&[]).unwrap();
    assert!(all.len() > 1, "the control: others are open too");
    let last = [t.vault.scanner().sensitive_value(&key).unwrap().1[0]
        .view
        .id_text()];
    t.vault
        .redactor()
        .redact_values(&all, Some(&last), at(100), &|_| {})
        .unwrap();
    let detail = t.vault.audit().entries().unwrap().pop().unwrap().detail;
    assert_eq!(detail, "1 values, 1 records");
    assert!(t.vault.scanner().open_values(&[]).unwrap().len() == all.len() - 1);
    let email = open_value_of(&t, SensitiveClass::Email);
    let done = t
        .vault
        .redactor()
        .redact_values(&[email], None, at(101), &|_| {})
        .unwrap()
        .value;
    assert!(
        done.receipt.complete,
        "in a title: {:?}",
        done.receipt.places
    );
    assert!(!contains_text(&t.decrypted(), MAIL));
}

#[test]
fn ignored_values_leave_the_queue_until_they_are_no_longer_ignored() {
    let t = vault_with_secrets();
    let mail = open_value_of(&t, SensitiveClass::Email);
    assert_eq!(
        t.vault
            .scanner()
            .ignore_values(std::slice::from_ref(&mail), true, at(80))
            .unwrap(),
        1
    );
    let later_memory = record(Kind::Memory, "later", &format!("Write to {MAIL} tomorrow."));
    t.import_records(vec![later_memory]).unwrap();
    scan_all(&t);
    assert!(
        !queue_in(&t, SensitiveState::Open)
            .open
            .contains_key(&SensitiveClass::Email),
        "in future finds too"
    );
    assert_eq!(queue_in(&t, SensitiveState::Ignored).values[0].places, 2);
    t.vault
        .scanner()
        .ignore_values(&[mail], false, at(81))
        .unwrap();
    assert_eq!(
        queue_in(&t, SensitiveState::Open).open[&SensitiveClass::Email],
        1
    );
}

#[test]
fn findings_are_removed_with_their_record() {
    let t = vault_with_secrets();
    let (_, places) = t
        .vault
        .scanner()
        .sensitive_value(&open_value_of(&t, SensitiveClass::AccessKey))
        .unwrap();
    let ids: Vec<String> = places.iter().map(|p| p.view.id_text()).collect();
    t.vault.trash().trash(&ids, at(90)).unwrap();
    assert!(
        !queue_in(&t, SensitiveState::Open)
            .open
            .contains_key(&SensitiveClass::AccessKey)
    );
    t.vault
        .eraser()
        .erase(&ids, "test", &[], at(100), &|_| {})
        .unwrap();
    assert_eq!(t.number("SELECT count(*) FROM findings WHERE class = 0"), 0);
}

/// Returns the bytes of a file, or of all files below a folder.
fn all_bytes(path: &Path) -> Vec<u8> {
    if path.is_file() {
        return std::fs::read(path).unwrap();
    }
    let mut all = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        all.extend(all_bytes(&entry.unwrap().path()));
    }
    all
}

#[test]
fn a_covered_export_contains_no_value_in_any_format() {
    let t = vault_with_secrets();
    let mut memory_with_settings = record(Kind::Memory, "named", "See the settings.");
    memory_with_settings.verbatim = Some(Verbatim::json(format!(
        r#"{{"id":"m-1","settings":{{"password":"mossy-Tulip-47!","note":"card {CARD_PLAIN} for \u0062ooks"}}}}"#
    )));
    memory_with_settings.fields.insert(
        "settings".into(),
        serde_json::json!({
            "password": "mossy-Tulip-47!",
            "user_id": WORKER,
            "aws_access_key_id": AWS,
            "numbers": { "card": 4_539_148_803_436_467_u64 },
            "contacts": { "bob.miller@orchardmail.eu": "friend" },
        }),
    );
    memory_with_settings.source.account = Some(WORKER.into());
    // The first text labels the value as a password, the second contains only the value.
    let named_as_password = record(
        Kind::Memory,
        "says",
        "The router has password: mossy-Tulip-47!",
    );
    let value_only = record(
        Kind::Memory,
        "bare",
        "Then enter mossy-Tulip-47! in the box.",
    );
    t.import_records(vec![memory_with_settings, named_as_password, value_only])
        .unwrap();
    scan_all(&t);
    let mail = open_value_of(&t, SensitiveClass::Email);
    t.vault
        .scanner()
        .ignore_values(&[mail], true, at(80))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    for format in ["mem", "mif", "pam", "zaxy"] {
        let out = folder.path().join(format);
        for (cover, name) in [(false, "plain"), (true, "covered")] {
            let out = out.with_extension(name);
            let scope = Scope {
                everything: true,
                cover,
                ..Scope::default()
            };
            let cancel = AtomicBool::new(false);
            let run = ExportRun {
                scope: &scope,
                now: at(90),
                cancel: &cancel,
                progress: &|_, _| {},
            };
            let done = t.vault.exporter().export(format, &out, false, run).unwrap();
            assert!(
                done.validation.errors.is_empty(),
                "{format}: {:?}",
                done.validation.errors
            );
            let written = all_bytes(&out);
            let other_values = [WORKER, AWS, "bob.miller@orchardmail.eu"];
            for secret in [KEY, CARD, CARD_PLAIN, "mossy-Tulip-47!"]
                .into_iter()
                .chain(other_values)
            {
                assert_eq!(
                    contains_text(&written, secret),
                    !cover,
                    "{secret} in {format}, {name}"
                );
            }
            assert!(
                contains_text(&written, MAIL),
                "{format}: ignored values are left"
            );
            assert_eq!(done.covered, if cover { 6 } else { 0 }, "{format}");
        }
    }
    assert!(contains_text(&t.decrypted(), KEY) || crate::deletion::hit_count(&t, KEY) > 0);
}

/// Records that label the value as a password must not crowd out records that contain only the value.
#[test]
fn a_value_is_redacted_in_every_record_however_many_identify_it() {
    let t = TempVault::new();
    let password = "plum-Harbour-4471";
    let memory =
        |name: &str, n: usize, text: String| record(Kind::Memory, &format!("{name} {n}"), &text);
    let value_only =
        |name| (0..5).map(move |n| memory(name, n, format!("Note {n}, {password}, by hand.")));
    let labelled =
        (0..205).map(|n| memory("named", n, format!("Number {n}, password: {password}")));
    // Import records that contain only the value both before and after the others, so that their position in the index
    // makes no difference.
    let all = value_only("before")
        .chain(labelled)
        .chain(value_only("after"));
    t.import_records(all.collect()).unwrap();
    scan_all(&t);
    let values = t
        .vault
        .scanner()
        .open_values(&[SensitiveClass::Password])
        .unwrap();
    assert_eq!(values.len(), 1);
    let done = t
        .vault
        .redactor()
        .redact_values(&values, None, at(100), &|_| {})
        .unwrap()
        .value;
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert_eq!(done.copies_redacted, 215);
    assert!(!contains_text(&t.decrypted(), password));
}

#[test]
fn a_secret_in_the_clear_in_a_credential_is_listed_by_its_class_and_redacted_without_being_shown() {
    const SECRET: &str = "marlinspike-7718-secret";
    let t = TempVault::new();
    let mut credential = record(Kind::Credential, "key", "service 1");
    let verbatim = format!(r#"{{"service":"service 1","encrypted_payload":"{SECRET}"}}"#);
    credential.verbatim = Some(Verbatim::json(verbatim));
    t.import_records(vec![
        credential,
        record(Kind::Memory, "plain", "Prefers trains."),
    ])
    .unwrap();
    scan_all(&t);
    let list = queue_in(&t, SensitiveState::Open);
    assert_eq!(list.open.get(&SensitiveClass::StoredSecret), Some(&1));
    let [value] = list.values.as_slice() else {
        panic!("{:?}", list.values)
    };
    assert_eq!(value.class, SensitiveClass::StoredSecret);
    assert_eq!(
        value.first.as_ref().map(|first| first.field),
        Some("verbatim")
    );
    let context_pieces: Vec<_> = value
        .context
        .iter()
        .map(|piece| (piece.text.as_str(), piece.hidden))
        .collect();
    assert_eq!(context_pieces, [("", Some(SensitiveClass::StoredSecret))]);
    let (detail, places) = t.vault.scanner().sensitive_value(&value.value).unwrap();
    assert!(!format!("{list:?}{detail:?}{places:?}").contains(SECRET));
    assert!(contains_text(&t.decrypted(), SECRET), "the vault keeps it");
    let done = t
        .vault
        .redactor()
        .redact_values(std::slice::from_ref(&value.value), None, at(100), &|_| {})
        .unwrap()
        .value;
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert!(!contains_text(&t.decrypted(), SECRET));
    scan_all(&t);
    assert!(queue_in(&t, SensitiveState::Open).values.is_empty());
}
