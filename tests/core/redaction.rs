//! A redaction removes words from every version of a record and from records derived from it, and blocks them in later
//! imports.
use crate::deletion::{CANARY, SENTENCE, hit_count, id_of, record, vault_with_canary};
use mementory_model::{Derived, Kind, Link, Record, RecordKey, Tombstone, TombstoneOp, Verbatim};
use mementory_testkit::{TempVault, at, contains_text, options};
use mementory_vault::{EditFields, EraseOutcome, RedactSpan, VaultError};
use std::sync::atomic::AtomicBool;

/// Redacts `words`, which must occur exactly once in the record's text.
pub fn redact(t: &TempVault, id: &str, words: &str, everywhere: bool) -> EraseOutcome {
    let text = t
        .vault
        .reader()
        .record(&t.vault.reader().view(id).unwrap())
        .unwrap()
        .text;
    let start = text[..text.find(words).unwrap()].chars().count() as u32;
    let span = RedactSpan {
        start,
        end: start + words.chars().count() as u32,
        class: "test".into(),
    };
    t.vault
        .redactor()
        .redact(id, &[span], everywhere, at(100), &|_| {})
        .unwrap()
        .value
}

#[test]
fn redaction_reaches_history_verbatim_and_index() {
    let t = vault_with_canary();
    let id = id_of(&t, Kind::Memory, CANARY);
    t.vault
        .editor()
        .edit(
            &id,
            EditFields {
                text: Some(format!("{SENTENCE} 🎹 Really.")),
                ..EditFields::default()
            },
            at(90),
        )
        .unwrap();
    let spans = [RedactSpan {
        start: 4,
        end: 18,
        class: "animal".into(),
    }];
    let outcome = t
        .vault
        .redactor()
        .redact(&id, &spans, true, at(100), &|_| {})
        .unwrap()
        .value;
    assert!(outcome.receipt.complete, "{:?}", outcome.receipt.places);
    let view = t.vault.reader().view(&id).unwrap();
    for version in t.vault.reader().versions(&view).unwrap() {
        assert!(
            version
                .record
                .text
                .starts_with("The [REDACTED:animal] sleeps"),
            "every version: {}",
            version.record.text
        );
        assert!(
            version
                .record
                .verbatim
                .is_none_or(|v| !v.text.contains(CANARY)),
            "and its verbatim"
        );
    }
    assert_eq!(
        hit_count(&t, &format!("+{CANARY} +sleeps")),
        0,
        "the words are not found together any more"
    );
}

#[test]
fn a_record_erased_or_redacted_does_not_come_back() {
    let t = vault_with_canary();
    let id = id_of(&t, Kind::Memory, "tea");
    t.vault
        .redactor()
        .redact(
            &id,
            &[RedactSpan {
                start: 6,
                end: 9,
                class: "drink".into(),
            }],
            false,
            at(100),
            &|_| {},
        )
        .unwrap();
    let mut newer = record(Kind::Memory, "bystander", "Likes tea with milk and sugar.");
    newer.times.updated = Some(at(500));
    let report = t.import_records(vec![newer]).unwrap();
    assert_eq!(
        report.total().blocked,
        1,
        "a newer version of a redacted record is blocked"
    );
    assert_eq!(hit_count(&t, "tea"), 0, "the word stays away");
}

#[test]
fn redacted_words_do_not_come_back_under_another_id() {
    let t = vault_with_canary();
    let id = id_of(&t, Kind::Memory, "tea");
    let edit = EditFields {
        text: Some("Likes tea with milk, and scones.".into()),
        ..EditFields::default()
    };
    t.vault.editor().edit(&id, edit, at(90)).unwrap();
    redact(&t, &id, "tea", false);
    let report = t
        .import_records(vec![
            record(Kind::Memory, "other", "Likes tea with milk."),
            record(Kind::Memory, "third", "Likes TEA with milk, and scones!"),
        ])
        .unwrap();
    assert_eq!(
        report.total().blocked,
        2,
        "neither the present text nor a former one"
    );
    assert_eq!(hit_count(&t, "tea"), 0, "the word stays away");
    assert_eq!(
        t.number("SELECT count(*) FROM redacted"),
        1,
        "the record is remembered, should it be unknown again"
    );
}

#[test]
fn redacted_copies_have_a_tombstone_each() {
    let t = vault_with_canary();
    let memory = id_of(&t, Kind::Memory, CANARY);
    let message = id_of(&t, Kind::Message, "Listen");
    t.vault
        .eraser()
        .erase(
            &[memory],
            "test",
            std::slice::from_ref(&message),
            at(100),
            &|_| {},
        )
        .unwrap();
    let tombstones = t.vault.audit().tombstones().unwrap();
    let copy = tombstones.iter().find(|s| s.target == message).unwrap();
    assert!(
        copy.op == TombstoneOp::Redact && copy.signature_valid,
        "{copy:?}"
    );
    assert_eq!(t.number("SELECT count(*) FROM redacted"), 1);
    let message_again = record(
        Kind::Message,
        "elsewhere",
        &format!("Listen. {SENTENCE} Good night."),
    );
    assert_eq!(
        t.import_records(vec![message_again])
            .unwrap()
            .total()
            .blocked,
        1,
        "the message as it was is held back"
    );
}

/// The tombstone that another vault writes when it redacts `ep_1`.
fn redacted_elsewhere() -> Tombstone {
    Tombstone {
        id: "tomb_1".into(),
        op: TombstoneOp::Redact,
        target_kind: "episode".into(),
        target_id: "ep_1".into(),
        scope: "mem".into(),
        at: at(0),
        actor: "somebody".into(),
        reason: "test".into(),
        derived: Derived::default(),
        signature: None,
        verbatim: None,
    }
}

/// The record `ep_1` as an imported file might contain it: without any text, unless `change` adds some.
fn redacted_record(change: impl Fn(&mut Record)) -> Record {
    let mut record = Record::new(Kind::Memory, RecordKey::new("mem", "episode/ep_1"), "");
    change(&mut record);
    record
}

#[test]
fn words_of_a_record_redacted_elsewhere_are_blocked_in_every_field() {
    let record_with = |name: &str| {
        let text = format!(r#"{{"id":"ep_1","{name}":"{SENTENCE}"}}"#);
        redacted_record(|r| r.verbatim = Some(Verbatim::json(text.clone())))
    };
    let cases = [
        ("text", redacted_record(|r| r.text = SENTENCE.into())),
        (
            "title",
            redacted_record(|r| r.title = Some(SENTENCE.into())),
        ),
        ("summary", record_with("summary")),
        ("content", record_with("content")),
    ];
    // Each row is a series of imports, and each import is given as (with the tombstone, with the record). An import
    // with the record contains the record three times: with the words, without the words, and with the words again.
    let rows: [&[(bool, bool)]; 3] = [
        &[(true, true)],
        &[(true, false), (false, true)],
        &[(false, true), (true, true)],
    ];
    for ((place, with_words), row) in cases.iter().flat_map(|c| rows.iter().map(move |r| (c, r))) {
        let t = TempVault::new();
        let cancel = AtomicBool::new(false);
        for (tombstone, records) in *row {
            t.import_with(&options(&cancel, false), &|sink| {
                if *tombstone {
                    sink.tombstone(redacted_elsewhere())?;
                }
                if *records {
                    sink.unit(with_words.clone().into())?;
                    sink.unit(redacted_record(|_| ()).into())?;
                    sink.unit(with_words.clone().into())?;
                }
                Ok(())
            })
            .unwrap();
        }
        // If the record was imported before the tombstone, its words stay in the Trash, because an imported deletion
        // does not erase permanently.
        let is_in_trash = row[0] == (false, true);
        assert_eq!(
            contains_text(&t.decrypted(), SENTENCE),
            is_in_trash,
            "{place}, {row:?}"
        );
        assert_eq!(hit_count(&t, CANARY), 0, "{place}, {row:?}");
    }
}

#[test]
fn a_redaction_tombstone_from_an_import_is_stored() {
    let t = TempVault::new();
    let cancel = AtomicBool::new(false);
    let tombstone = redacted_elsewhere();
    t.import_with(&options(&cancel, false), &|sink| {
        sink.tombstone(tombstone.clone())
    })
    .unwrap();
    assert!(t.number("SELECT count(*) FROM redacted WHERE tombstone = 'tomb_1'") > 0);
    assert_eq!(t.number("SELECT count(*) FROM blocked"), 0);
}

fn fact(value: &str, text: &str, source: &Record) -> Record {
    let mut fact = record(Kind::Fact, value, text);
    fact.links.push(Link {
        relation: "derived_from".into(),
        kind: Kind::Memory,
        target: source.key.clone(),
    });
    fact
}

#[test]
fn a_span_over_several_bullets_redacts_the_statements_derived_from_them() {
    let t = TempVault::new();
    let text = "- Allergic to **sesame**.\n- Lives in Ravenna now.\n- Likes tea.";
    let mut memory = record(Kind::Memory, "m", text);
    // The source stores the lines of this memory as separate strings.
    memory.verbatim = Some(mementory_model::Verbatim::json(
        r#"{"bullets":["Allergic to **sesame**.","Lives in Ravenna now.","Likes tea."]}"#,
    ));
    let facts = [
        fact("f1", "Allergic to sesame.", &memory),
        fact("f2", "Lives in Ravenna now.", &memory),
        fact("f3", "Likes tea.", &memory),
    ];
    t.import_records([vec![memory], facts.to_vec()].concat())
        .unwrap();
    let id = id_of(&t, Kind::Memory, "sesame");
    let done = redact(&t, &id, "**sesame**.\n- Lives in", false);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let decrypted = t.decrypted();
    for word in ["sesame", "Lives"] {
        assert_eq!(hit_count(&t, word), 0, "{word} is not found");
        assert!(!contains_text(&decrypted, word), "{word} is nowhere");
    }
    assert_eq!(hit_count(&t, "tea"), 2, "the third bullet stays");
    assert!(
        t.vault.audit().tombstones().unwrap().len() >= 3,
        "one for each record"
    );
}

#[test]
fn words_of_a_redaction_mark_are_not_redacted_again() {
    let t = vault_with_canary();
    let id = id_of(&t, Kind::Memory, CANARY);
    redact(&t, &id, CANARY, true);
    let text = |t: &TempVault| {
        t.vault
            .reader()
            .record(&t.vault.reader().view(&id).unwrap())
            .unwrap()
            .text
    };
    let redacted = text(&t);
    let start = redacted[..redacted.find("REDACTED:").unwrap()]
        .chars()
        .count() as u32;
    let inside_mark = RedactSpan {
        start,
        end: start + 13,
        class: "secret".into(),
    };
    let second_redaction = t
        .vault
        .redactor()
        .redact(&id, &[inside_mark], true, at(110), &|_| {});
    assert!(matches!(second_redaction, Err(VaultError::Usage(_))));
    assert_eq!(text(&t), redacted);
}

#[test]
fn ids_in_a_tombstone_do_not_reveal_the_words() {
    let t = TempVault::new();
    let mut file = record(
        Kind::Memory,
        "memory/Secret trip to Ravenna.md",
        "Pack light.",
    );
    file.title = Some("Secret trip to Ravenna".into());
    file.origin_id = Some("memory/Secret trip to Ravenna.md".into());
    file.origin.container = "memory/Secret trip to Ravenna.md".into();
    file.text = "# Secret trip to Ravenna".into();
    let mut second_file = file.clone();
    second_file.key.value = "memory/Secret trip to Ravenna (1).md".into();
    second_file.text = "Secret trip to Ravenna, day two".into();
    t.import_records(vec![file, second_file]).unwrap();
    let (first, second) = (
        id_of(&t, Kind::Memory, "# Secret"),
        id_of(&t, Kind::Memory, "day two"),
    );
    redact(&t, &first, "Secret trip to Ravenna", false);
    let redacted_record = t
        .vault
        .reader()
        .record(&t.vault.reader().view(&first).unwrap())
        .unwrap();
    assert!(
        !serde_json::to_string(&redacted_record)
            .unwrap()
            .contains("Ravenna"),
        "nothing of the record does, its key and its origin neither: {redacted_record:?}"
    );
    t.vault
        .eraser()
        .erase(&[first, second], "test", &[], at(200), &|_| {})
        .unwrap();
    assert!(
        t.vault
            .audit()
            .tombstones()
            .unwrap()
            .iter()
            .all(|s| s.origin_id.is_none()),
        "no tombstone names the file"
    );
    assert!(
        !contains_text(&t.decrypted(), "Ravenna"),
        "nothing in the database does"
    );
}

#[test]
fn a_tombstone_of_a_part_of_a_note_does_not_contain_the_title_of_the_note() {
    let t = TempVault::new();
    let mut note = record(Kind::Resource, "places/ravenna", "Pack light.");
    note.title = Some("Ravenna".into());
    note.origin_id = Some("places/ravenna".into());
    let mut fact = record(
        Kind::Fact,
        "places/ravenna/observations/1",
        "The hotel is full.",
    );
    fact.origin_id = Some(fact.key.value.clone());
    fact.links.push(Link {
        relation: "derived_from".into(),
        kind: Kind::Resource,
        target: note.key.clone(),
    });
    t.import_records(vec![note, fact]).unwrap();
    let id = id_of(&t, Kind::Resource, "Pack light");
    let done = t
        .vault
        .eraser()
        .erase(&[id], "test", &[], at(200), &|_| {})
        .unwrap()
        .value;
    assert_eq!(done.tombstones.len(), 2, "the fact is erased too");
    assert!(
        done.tombstones.iter().all(|s| s.origin_id.is_none()),
        "{:?}",
        done.tombstones
    );
    assert!(!contains_text(&t.decrypted(), "ravenna"));
}

#[test]
fn the_preview_counts_what_a_redaction_changes() {
    let record_text = "My number is 0791 55501. Call me.";
    let other_text = |n: usize| match n % 4 {
        0 => "It is 0791 55501, as ever.",
        1 => "0791 55501",
        2 => "It is 0791 55502, as ever.",
        _ => "My number is 0791 55501. CALL ME!",
    };
    for (words, everywhere) in [
        ("0791 55501", true),
        ("0791 55501", false),
        (record_text, true),
        ("me", true),
        ("is", true),
    ] {
        let t = TempVault::new();
        let add = |text: &str| {
            t.vault
                .editor()
                .add(text, None, vec![], at(0))
                .unwrap()
                .value
        };
        let id = add(record_text);
        let other_ids: Vec<String> = (0..12).map(|n| add(other_text(n))).collect();
        // The first of the other records contains the words only in an older version. The second is in the Trash,
        // where records are not searched.
        let fields = EditFields {
            text: Some("It changed.".into()),
            ..EditFields::default()
        };
        t.vault.editor().edit(&other_ids[0], fields, at(1)).unwrap();
        t.vault.trash().trash(&other_ids[1..2], at(2)).unwrap();
        let start = record_text[..record_text.find(words).unwrap()]
            .chars()
            .count() as u32;
        let end = start + words.chars().count() as u32;
        let span = RedactSpan {
            start,
            end,
            class: "test".into(),
        };
        let not_cancelled = AtomicBool::new(false);
        let ask = |stop: &AtomicBool| {
            t.vault
                .redactor()
                .redact_plan(&id, std::slice::from_ref(&span), everywhere, stop)
        };
        let plan = ask(&not_cancelled).unwrap().len();
        assert_eq!(
            plan,
            ask(&not_cancelled).unwrap().len(),
            "nothing is changed by asking"
        );
        assert!(t.vault.audit().tombstones().unwrap().is_empty());
        let stopped = ask(&AtomicBool::new(true));
        assert!(
            plan == 1 || matches!(stopped, Err(VaultError::Cancelled)),
            "a count can be stopped"
        );
        let done = t
            .vault
            .redactor()
            .redact(
                &id,
                std::slice::from_ref(&span),
                everywhere,
                at(100),
                &|_| {},
            )
            .unwrap()
            .value;
        let expected = match (words, everywhere) {
            ("0791 55501", true) => 8,
            (words, true) if words == record_text => 4,
            _ => 1,
        };
        let numbers = (plan as u32, done.copies_redacted);
        assert_eq!(
            numbers,
            (expected, expected),
            "{words}, everywhere: {everywhere}"
        );
    }
}

#[test]
fn redacting_everywhere_changes_every_record_or_is_refused() {
    let t = TempVault::new();
    let id = t
        .vault
        .editor()
        .add("All of quokkaville.", None, vec![], at(0))
        .unwrap()
        .value;
    let import_notes = |numbers: std::ops::Range<u32>| {
        let note = |n| {
            record(
                Kind::Memory,
                &format!("m{n}"),
                &format!("Note {n} of quokkaville."),
            )
        };
        t.import_records(numbers.map(note).collect()).unwrap();
    };
    import_notes(0..600);
    let done = redact(&t, &id, "quokkaville", true);
    let numbers = (done.copies_redacted, done.receipt.copies_left);
    assert_eq!(numbers, (601, 0), "more than one look at the index finds");
    let id = t
        .vault
        .editor()
        .add("Nobody knows quokkaville.", None, vec![], at(0))
        .unwrap()
        .value;
    import_notes(600..10_602);
    let span = [RedactSpan {
        start: 13,
        end: 24,
        class: "test".into(),
    }];
    let refused = t
        .vault
        .redactor()
        .redact(&id, &span, true, at(100), &|_| {});
    assert!(
        matches!(refused, Err(VaultError::TooMany { most: 10_000 })),
        "{refused:?}"
    );
    let plan = t
        .vault
        .redactor()
        .redact_plan(&id, &span, false, &AtomicBool::new(false))
        .unwrap();
    assert_eq!(plan.len(), 1, "here it can be done");
}
