//! When the same source is imported again, erasures, redactions, edits and moves to the Trash stay in effect, and
//! records that moved in the source also move in the vault.
use crate::source::*;
use mementory_model::{Kind, Unit};
use mementory_testkit::{TempVault, at, options};
use mementory_vault::{EditFields, ImportOptions, RedactSpan, VaultError};
use std::sync::atomic::AtomicBool;

type PersonAction = fn(&TempVault);

const SECRET: &str = "The zanzibarquokka sleeps under the piano.";

fn erase(t: &TempVault, kind: Kind, value: &str) {
    let id = record_with_id(t, kind, value).0.id_text();
    t.vault
        .eraser()
        .erase(&[id], "test", &[], at(100), &|_| {})
        .unwrap();
}

/// Redacts the whole text of a record.
fn redact(t: &TempVault, kind: Kind, value: &str) {
    let (row, record) = record_with_id(t, kind, value);
    let span = RedactSpan {
        start: 0,
        end: record.text.chars().count() as u32,
        class: "secret".into(),
    };
    t.vault
        .redactor()
        .redact(&row.id_text(), &[span], false, at(100), &|_| {})
        .unwrap();
}

#[test]
fn passthrough_files_that_were_redacted_stay_redacted() {
    let passthrough_text = format!("{{\"said\":\"{SECRET}\"}}");
    let read: Read<'_> = &|sink| {
        sink.unit(record(Kind::Memory, "m", SECRET).into())?;
        send_part(sink, "side.json", &passthrough_text)
    };
    let cases: [(&str, PersonAction); 2] = [
        ("erased", |t| erase(t, Kind::Memory, "m")),
        ("redacted", |t| redact(t, Kind::Memory, "m")),
    ];
    for (name, remove) in cases {
        let t = TempVault::new();
        import_from(&t, read);
        remove(&t);
        let bytes = || {
            String::from_utf8(
                t.vault
                    .files()
                    .file_bytes(&live_records(&t, Kind::Foreign)[0].0, 999)
                    .unwrap(),
            )
            .unwrap()
        };
        let before = bytes();
        assert!(
            !before.contains("zanzibarquokka"),
            "{name}: the part was cleaned"
        );
        let second_report = import_from(&t, read);
        assert_eq!(
            second_report.by_kind["foreign"].blocked, 1,
            "{name}: and is held back when it comes again"
        );
        assert_eq!(bytes(), before, "{name}: nothing was written");
        assert_eq!(
            std::fs::read_dir(t.dir().join("blobs")).unwrap().count(),
            1,
            "{name}: its bytes are not kept"
        );
    }
}

#[test]
fn an_erased_file_that_is_imported_again_leaves_no_bytes() {
    let read: Read<'_> = &|sink| {
        sink.unit(with_attachment(record(Kind::Memory, "m", "Keeps a list."), "f").into())?;
        send_file(sink, "f", SECRET)
    };
    let t = TempVault::new();
    import_from(&t, read);
    erase(&t, Kind::Attachment, "f");
    let second_report = import_from(&t, read);
    assert_eq!(second_report.by_kind["attachment"].blocked, 1, "held back");
    assert_eq!(
        std::fs::read_dir(t.dir().join("blobs")).unwrap().count(),
        0,
        "no bytes of it"
    );
}

#[test]
fn a_version_replaced_in_the_same_input_can_be_erased() {
    let newer = |day: i64, text: &str| {
        let mut memory = record(Kind::Memory, "m", text);
        memory.times.updated = Some(at(day));
        Unit::from(memory)
    };
    let file_with_text = |text: &str| {
        let mut reference = attachment_ref("f");
        reference.text = Some(text.into());
        let mut file = record(Kind::Attachment, "f", text);
        file.attachments.push(reference);
        Unit::from(file)
    };
    let mut record_with_file = record(Kind::Memory, "m", "See the file.");
    record_with_file.attachments.push(attachment_ref("f"));
    record_with_file.attachments[0].text = Some(SECRET.into());
    let filler_units: Vec<Unit> = (0..2_000)
        .map(|n| {
            record(
                Kind::Procedure,
                &format!("filler {n}"),
                &format!("{n} {}", "word ".repeat(60)),
            )
            .into()
        })
        .collect();
    let cases = [
        (
            "pending",
            vec![newer(1, SECRET), newer(2, "Sold the piano.")],
        ),
        (
            "written",
            [
                vec![newer(1, SECRET)],
                filler_units,
                vec![newer(2, "Sold the piano.")],
            ]
            .concat(),
        ),
        (
            "file in full",
            vec![record_with_file.into(), file_with_text("A file.")],
        ),
    ];
    for (name, units) in cases {
        let t = TempVault::new();
        import_units(&t, &units);
        assert_eq!(
            faults(&t),
            [""; 0],
            "{name}: every entry of a pack belongs to a version"
        );
        assert!(
            mementory_testkit::contains_text(&t.decrypted(), SECRET),
            "{name}: what the input contains is stored"
        );
        erase(&t, Kind::Memory, "m");
        assert_no_trace_of(&t, &["zanzibarquokka"]);
        import_units(&t, &units);
        assert_no_trace_of(&t, &["zanzibarquokka"]);
    }
}

#[test]
fn a_memory_repeated_in_another_place_is_the_same_memory() {
    let repeated = |time: i64, from: &str| {
        let mut memory = derived(record(Kind::Memory, "m", "Likes tea."), Kind::Message, from);
        memory.times.created = Some(at(time));
        memory.repeats = true;
        Unit::from(memory)
    };
    let t = TempVault::new();
    import_units(&t, &[repeated(1, "a")]);
    let id = record_with_id(&t, Kind::Memory, "m").0.id_text();
    t.vault
        .editor()
        .edit(
            &id,
            EditFields {
                text: Some("Likes green tea.".into()),
                ..EditFields::default()
            },
            at(50),
        )
        .unwrap();
    let second_report = import_units(&t, &[repeated(2, "b")]);
    assert_eq!(outcome_counts(&second_report), [1, 0, 0, 1, 0], "unchanged");
    assert_eq!(
        texts(&t, Kind::Memory),
        ["Likes green tea."],
        "the person's words stay"
    );
}

#[test]
fn an_older_export_never_replaces_the_persons_edit() {
    let memory = |text: &str| [Unit::from(record(Kind::Memory, "m", text))];
    let t = TempVault::new();
    import_units(&t, &memory("Likes tea."));
    import_units(&t, &memory("Likes milk."));
    let id = record_with_id(&t, Kind::Memory, "m").0.id_text();
    t.vault
        .editor()
        .edit(
            &id,
            EditFields {
                text: Some("Likes cocoa.".into()),
                ..EditFields::default()
            },
            at(50),
        )
        .unwrap();
    for text in ["Likes tea.", "Likes milk."] {
        assert_eq!(
            outcome_counts(&import_units(&t, &memory(text))),
            [1, 0, 0, 1, 0],
            "{text} was imported before"
        );
    }
    assert_eq!(texts(&t, Kind::Memory), ["Likes cocoa."]);
}

#[test]
fn a_conversation_with_a_prompt_erased_elsewhere_stays_complete() {
    let prompt = "Please write a letter to my landlord about the heating.";
    let chat = |name: &str| {
        let mut conversation_record = record(Kind::Conversation, name, "");
        conversation_record.title = Some(name.into());
        let mut prompt_message = conversation(1, &[("x", None, prompt, true)])
            .records
            .remove(1);
        prompt_message.key = key(&format!("{name}/ask"));
        prompt_message.parent = Some(key(name));
        let mut reply = prompt_message.clone();
        reply.key = key(&format!("{name}/reply"));
        reply.text = format!("Dear landlord of {name}, it is cold in here.");
        if let Some(part) = &mut reply.message {
            part.parent = Some(prompt_message.key.clone());
            part.position = 1;
        }
        Unit {
            records: vec![conversation_record, prompt_message, reply],
        }
    };
    let units = [chat("one"), chat("two")];
    let t = TempVault::new();
    import_units(&t, &units);
    erase(&t, Kind::Conversation, "one");
    let second_report = import_units(&t, &units);
    assert_eq!(
        outcome_counts(&second_report),
        [6, 0, 0, 3, 3],
        "one is held back, the other is the same as before"
    );
    let longer_chat = {
        let mut unit = chat("two");
        let mut new_message = unit.records[2].clone();
        new_message.key = key("two/more");
        new_message.text = "And one more thing.".into();
        if let Some(part) = &mut new_message.message {
            part.parent = Some(key("two/ask"));
        }
        unit.records.push(new_message);
        unit
    };
    import_units(&t, &[longer_chat]);
    let (ask, more) = (
        record_with_id(&t, Kind::Message, "two/ask").0,
        record_with_id(&t, Kind::Message, "two/more").0,
    );
    assert_eq!(
        more.parent,
        Some(ask.row),
        "a reply still has what it replies to"
    );
}

#[test]
fn redacted_words_do_not_come_back_in_another_field() {
    let text = "Plays the piano. Lives in Kyoto.";
    let fact = |value: &str, sentence: &str| {
        Unit::from(derived(
            record(Kind::Fact, value, sentence),
            Kind::Memory,
            "doc",
        ))
    };
    let renamed = Unit::from(record(Kind::Memory, "doc 2", text));
    let derived_from_renamed = Unit::from(derived(
        record(Kind::Fact, "of 2", "Lives in Kyoto."),
        Kind::Memory,
        "doc 2",
    ));
    let derived_from_two = {
        let fact = derived(
            record(Kind::Fact, "of both", "Lives somewhere."),
            Kind::Memory,
            "doc",
        );
        Unit::from(derived(fact, Kind::Memory, "other"))
    };
    let other = Unit::from(record(Kind::Memory, "other", "Moved last year."));
    let other_with_text = |text: &str| Unit::from(record(Kind::Memory, "other", text));
    type RemovalAction = fn(&TempVault);
    let erased: RemovalAction = |t| erase(t, Kind::Memory, "doc");
    let redacted: RemovalAction = |t| redact(t, Kind::Memory, "doc");
    // Columns of the expected counts: found, added, updated, unchanged, blocked.
    let cases: [(&str, RemovalAction, Vec<Unit>, [u32; 5]); 7] = [
        (
            "a new statement of an erased text",
            erased,
            vec![fact("f", "Lives in Kyoto.")],
            [1, 0, 0, 0, 1],
        ),
        (
            "a new statement of a redacted text",
            redacted,
            vec![fact("f", "Lives in Kyoto.")],
            [1, 0, 0, 0, 1],
        ),
        (
            "the text under another id, and its statement",
            erased,
            vec![renamed, derived_from_renamed],
            [2, 0, 0, 0, 2],
        ),
        (
            "a statement of another text too",
            erased,
            vec![derived_from_two.clone()],
            [1, 1, 0, 0, 0],
        ),
        (
            "the same, of a redacted text",
            redacted,
            vec![derived_from_two],
            [1, 0, 0, 0, 1],
        ),
        (
            "a known record that now says it",
            erased,
            vec![other_with_text(text)],
            [1, 0, 0, 0, 1],
        ),
        (
            "a known record that says something else",
            erased,
            vec![other_with_text("Moved again.")],
            [1, 0, 1, 0, 0],
        ),
    ];
    for (name, remove, units, expected) in cases {
        let t = TempVault::new();
        import_units(
            &t,
            &[Unit::from(record(Kind::Memory, "doc", text)), other.clone()],
        );
        remove(&t);
        assert_eq!(
            outcome_counts(&import_units(&t, &units)),
            expected,
            "{name}"
        );
        assert_eq!(faults(&t), [""; 0], "{name}");
    }
}

#[test]
fn a_redacted_record_whose_import_was_undone_is_blocked() {
    let t = TempVault::new();
    let units = [Unit::from(record(Kind::Todo, "m", "Call mum."))];
    let report = import_units(&t, &units);
    let id = record_with_id(&t, Kind::Todo, "m").0.id_text();
    redact(&t, Kind::Todo, "m");
    t.vault.importer().undo(&report.batch, at(200)).unwrap();
    t.database()
        .execute(
            &format!("INSERT OR IGNORE INTO redacted (record, tombstone) VALUES (x'{id}', 't')"),
            [],
        )
        .unwrap();
    assert_eq!(
        outcome_counts(&import_units(&t, &units)),
        [1, 0, 0, 0, 1],
        "by its id"
    );
    let read: Read<'_> = &|sink| send_part(sink, "side", "words");
    let report = import_from(&t, read);
    let part = live_records(&t, Kind::Foreign)[0].0.id_text();
    t.vault.importer().undo(&report.batch, at(200)).unwrap();
    t.database()
        .execute(
            &format!("INSERT INTO redacted (record, tombstone) VALUES (x'{part}', 't')"),
            [],
        )
        .unwrap();
    assert_eq!(
        outcome_counts(&import_from(&t, read)),
        [1, 0, 0, 0, 1],
        "parts too"
    );
    assert_eq!(
        std::fs::read_dir(t.dir().join("blobs")).unwrap().count(),
        0,
        "and their bytes"
    );
}

#[test]
fn new_messages_of_a_conversation_in_the_trash_stay_in_the_trash() {
    let first = conversation(1, &[("a", None, "Does it bark?", true)]);
    let second = conversation(
        2,
        &[
            ("a", None, "Does it bark?", true),
            ("b", Some("a"), "It purrs.", true),
        ],
    );
    let changed_conversation = conversation(
        3,
        &[
            ("a", None, "Does it bark?", true),
            ("b", Some("a"), "It meows.", true),
        ],
    );
    let t = TempVault::new();
    import_units(&t, &[first]);
    let id = record_with_id(&t, Kind::Conversation, "c").0.id_text();
    t.vault
        .trash()
        .trash(std::slice::from_ref(&id), at(100))
        .unwrap();
    import_units(&t, &[second, changed_conversation]);
    assert_eq!(
        live_records(&t, Kind::Message).len(),
        0,
        "nothing of it is listed"
    );
    assert_eq!(
        (hit_count(&t, "purrs"), hit_count(&t, "meows")),
        (0, 0),
        "nor found"
    );
    assert_eq!(faults(&t), [""; 0], "index and store agree");
    t.vault.trash().restore(&[id], at(200)).unwrap();
    assert_eq!(
        live_records(&t, Kind::Message).len(),
        2,
        "all of it comes back"
    );
    assert_eq!(
        hit_count(&t, "purrs") + hit_count(&t, "meows"),
        1,
        "and is found"
    );
}

#[test]
fn a_newer_export_repositions_unchanged_records() {
    let branches = |day: i64, old: bool| {
        conversation(
            day,
            &[
                ("a", None, "Hello.", true),
                ("b", Some("a"), "Old branch.", old),
                ("d", Some("a"), "New branch.", !old),
            ],
        )
    };
    let first = conversation(
        1,
        &[
            ("a", None, "Hello.", true),
            ("b", Some("a"), "Old branch.", true),
        ],
    );
    let t = TempVault::new();
    let branch_state = || {
        let mut shown_ids: Vec<String> = live_records(&t, Kind::Message)
            .into_iter()
            .filter(|(v, _)| v.active())
            .map(|(_, r)| r.key.value)
            .collect();
        shown_ids.sort();
        let conversation_row = record_with_id(&t, Kind::Conversation, "c").0;
        (
            shown_ids.join(" "),
            conversation_row.branched(),
            conversation_row.sort == at(1).as_micros(),
        )
    };
    import_units(&t, std::slice::from_ref(&first));
    assert_eq!(branch_state(), ("a b".into(), false, true));
    let second = import_units(&t, &[branches(5, false)]);
    assert_eq!(
        outcome_counts(&second),
        [4, 1, 0, 3, 0],
        "only the new message is new"
    );
    assert_eq!(
        branch_state(),
        ("a d".into(), true, false),
        "one branch is shown, and the conversation moved up"
    );
    import_units(&t, &[first]);
    assert_eq!(
        branch_state(),
        ("a d".into(), true, false),
        "an older export moves nothing back"
    );
    let third = import_units(&t, &[branches(6, true)]);
    assert_eq!(branch_state(), ("a b".into(), true, false));
    t.vault.importer().undo(&third.batch, at(300)).unwrap();
    assert_eq!(
        branch_state(),
        ("a d".into(), true, false),
        "as the second export had it"
    );
    t.vault.importer().undo(&second.batch, at(300)).unwrap();
    assert_eq!(
        branch_state(),
        ("a b".into(), false, true),
        "as the first had it"
    );
    assert_eq!(faults(&t), [""; 0]);
}

#[test]
fn an_import_succeeds_even_if_the_index_cannot_be_updated() {
    let t = TempVault::new();
    let (index, moved_index) = (t.dir().join("index"), t.folder.path().join("aside"));
    let cancel = AtomicBool::new(false);
    let break_index = |stage: &str, _: u64, _: u64, _: u64| {
        // This stage is reported after the store's commit. Move the index folder away, so that the update of the index
        // fails.
        if stage == "index" {
            std::fs::rename(&index, &moved_index).unwrap();
            std::fs::write(&index, b"").unwrap();
        }
    };
    let options = ImportOptions {
        progress: &break_index,
        ..options(&cancel, false)
    };
    let report = t
        .import_with(&options, &|sink| {
            sink.unit(record(Kind::Memory, "m", SECRET).into())
        })
        .unwrap();
    assert!(
        report
            .warnings
            .keys()
            .any(|k| k.starts_with("index_behind")),
        "{:?}",
        report.warnings
    );
    assert_eq!(texts(&t, Kind::Memory), [SECRET], "the store has it");
    std::fs::remove_file(&index).unwrap();
    std::fs::rename(&moved_index, &index).unwrap();
    t.vault
        .editor()
        .add("Likes tea.", None, vec![], at(90))
        .unwrap();
    assert_eq!(
        (hit_count(&t, "zanzibarquokka"), hit_count(&t, "tea")),
        (1, 1),
        "the next change brings the index in step"
    );
    let t = t.reopen();
    assert_eq!(faults(&t), [""; 0]);
    assert!(matches!(
        t.vault.importer().undo("none", at(1)),
        Err(VaultError::NotFound { .. })
    ));
}

#[test]
fn a_relation_to_an_erased_record_is_blocked() {
    let t = TempVault::new();
    let entities = [
        record(Kind::Entity, "ada", "Ada Quokka"),
        record(Kind::Entity, "bo", "Bo"),
    ];
    import_units(&t, &entities.clone().map(Unit::from));
    erase(&t, Kind::Entity, "ada");
    let mut knows = record(Kind::Relation, "knows", "ada knows bo");
    for (relation, end) in [("source", "ada"), ("target", "bo")] {
        knows.links.push(mementory_model::Link {
            relation: relation.into(),
            kind: Kind::Entity,
            target: key(end),
        });
    }
    let report = import_units(&t, &[knows.into()]);
    assert_eq!(outcome_counts(&report), [1, 0, 0, 0, 1]);
}
