//! After an erasure no query returns the record, and no page, index file or blob contains its words. The erasure check
//! reports each place that still contains them.
use mementory_formats::{AttachmentFile, PassthroughItem};
use mementory_model::{AttachmentRef, Kind, MessagePart, Record, RecordKey, Unit, Verbatim};
use mementory_testkit::{TempVault, at, contains_text, files_containing, options};
use mementory_vault::{EraseOutcome, IndexFilter, ListQuery, PlaceOutcome, Sabotage, VaultError};
use std::sync::atomic::AtomicBool;

pub const CANARY: &str = "zanzibarquokka";
pub const SENTENCE: &str = "The zanzibarquokka sleeps under the piano.";

pub fn record(kind: Kind, value: &str, text: &str) -> Record {
    let mut record = Record::new(kind, RecordKey::new("test", value), text);
    record.source.platform = "test".into();
    record.verbatim = Some(Verbatim::json(format!(
        "{{\"text\":{}}}",
        serde_json::to_string(text).unwrap()
    )));
    record
}

/// A vault with a conversation whose message, memory, attachment name and passthrough file all contain the canary word.
pub fn vault_with_canary() -> TempVault {
    let t = TempVault::new();
    let cancel = AtomicBool::new(false);
    t.import_with(&options(&cancel, false), &|sink| {
        let mut conversation = record(Kind::Conversation, "c", "");
        conversation.title = Some("About pets".into());
        let mut message = record(
            Kind::Message,
            "c/m",
            &format!("Listen. {SENTENCE} Good night."),
        );
        message.parent = Some(conversation.key.clone());
        message.message = Some(MessagePart {
            role: "user".into(),
            active: true,
            content_type: "text".into(),
            ..MessagePart::default()
        });
        let attachment = AttachmentRef {
            key: RecordKey::new("test", "file/1"),
            origin_id: None,
            name: format!("{CANARY}.png"),
            media_type: None,
            size: None,
            text: None,
        };
        message.attachments.push(attachment.clone());
        let mut memory = record(Kind::Memory, "memory", SENTENCE);
        memory.links.push(mementory_model::Link {
            relation: "derived_from".into(),
            kind: Kind::Message,
            target: message.key.clone(),
        });
        sink.unit(Unit {
            records: vec![
                conversation,
                message,
                memory,
                record(Kind::Memory, "bystander", "Likes tea with milk."),
            ],
        })?;
        sink.attachment(
            AttachmentFile {
                key: attachment.key,
                origin_id: None,
                name: attachment.name,
                media_type: None,
                place: "1.png".into(),
            },
            &mut CANARY.as_bytes(),
        )?;
        let part = PassthroughItem {
            format: "test".into(),
            group: "g".into(),
            name: "side.json".into(),
            role: "sidecar".into(),
            place: "side.json".into(),
        };
        let passthrough_text = format!(
            "{{\"n\":1.50,\"said\":{}}}",
            serde_json::to_string(SENTENCE).unwrap()
        );
        sink.passthrough(part, &mut passthrough_text.as_bytes())
    })
    .unwrap();
    t
}

pub fn id_of(t: &TempVault, kind: Kind, text: &str) -> String {
    let page = t
        .vault
        .queries()
        .list(&ListQuery {
            kind: Some(kind),
            limit: 100,
            ..ListQuery::default()
        })
        .unwrap();
    page.rows
        .iter()
        .find(|r| t.vault.reader().record(r).unwrap().text.contains(text))
        .unwrap()
        .id_text()
}

pub fn hit_count(t: &TempVault, query: &str) -> usize {
    t.vault
        .search()
        .search(query, &IndexFilter::default(), 10, 0)
        .unwrap()
        .hits
        .len()
}

pub fn conversation_of(t: &TempVault) -> String {
    let query = ListQuery {
        kind: Some(Kind::Conversation),
        ..ListQuery::default()
    };
    t.vault.queries().list(&query).unwrap().rows[0].id_text()
}

pub fn erase(t: &TempVault, ids: &[String]) -> EraseOutcome {
    t.vault
        .eraser()
        .erase(ids, "test", &[], at(100), &|_| {})
        .unwrap()
        .value
}

/// Returns the outcome and the detail that the receipt states for `place`.
pub fn outcome(done: &EraseOutcome, place: &str) -> (PlaceOutcome, String) {
    let place_result = done.receipt.places.iter().find(|p| p.place == place);
    place_result.map(|p| (p.outcome, p.detail.clone())).unwrap()
}

#[test]
fn no_file_of_the_vault_contains_plain_text() {
    let t = vault_with_canary();
    assert!(
        contains_text(&t.decrypted(), CANARY),
        "the control: it is in the decrypted database"
    );
    assert_eq!(
        files_containing(&t.dir(), CANARY),
        Vec::<std::path::PathBuf>::new(),
        "no file of the vault shows it"
    );
    assert_eq!(
        files_containing(&t.dir(), "About pets"),
        Vec::<std::path::PathBuf>::new(),
        "nor the title"
    );
}

#[test]
fn an_erasure_leaves_no_trace_anywhere() {
    let t = vault_with_canary();
    let conversation = conversation_of(&t);
    let outcome = t
        .vault
        .eraser()
        .erase(
            std::slice::from_ref(&conversation),
            "test",
            &[],
            at(100),
            &|_| {},
        )
        .unwrap()
        .value;
    assert!(outcome.receipt.complete, "{:?}", outcome.receipt.places);
    // The message, the memory derived from it, and the file that no other record names are erased too, each with a
    // tombstone of its own.
    let mut kinds: Vec<&str> = outcome.tombstones.iter().map(|s| s.kind.as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        ["attachment", "conversation", "memory", "message"],
        "what goes with it"
    );
    assert!(
        t.vault
            .audit()
            .tombstones()
            .unwrap()
            .iter()
            .all(|s| s.signature_valid),
        "signatures hold"
    );
    assert_eq!(hit_count(&t, CANARY), 0, "search does not answer");
    assert!(
        matches!(
            t.vault.reader().view(&conversation),
            Err(VaultError::NotFound { erased: true, .. })
        ),
        "and says that it was erased"
    );
    assert!(
        !contains_text(&t.decrypted(), CANARY),
        "no decrypted page, free page or pack holds it"
    );
    assert_eq!(hit_count(&t, "tea"), 1, "the bystander is still there");
    let t = t.reopen();
    assert!(
        t.vault.integrity().check().unwrap().iter().all(|p| p.ok),
        "the vault checks clean"
    );
    assert!(t.vault.audit().verify().unwrap(), "the audit chain holds");
}

#[test]
fn the_same_words_elsewhere_are_found_and_redacted() {
    let t = vault_with_canary();
    let memory = id_of(&t, Kind::Memory, CANARY);
    let plan = t
        .vault
        .eraser()
        .erase_plan(std::slice::from_ref(&memory))
        .unwrap();
    assert_eq!(plan.copies.len(), 1, "the message says the same");
    assert_eq!(plan.passthrough, 1, "and so does the side file");
    let copies: Vec<String> = plan.copies.iter().map(|c| c.id_text()).collect();
    let outcome = t
        .vault
        .eraser()
        .erase(&[memory], "test", &copies, at(100), &|_| {})
        .unwrap()
        .value;
    assert!(outcome.receipt.complete, "{:?}", outcome.receipt.places);
    assert_eq!(
        (outcome.copies_redacted, outcome.receipt.copies_left),
        (1, 0),
        "the copy is redacted, none is left"
    );
    let message = id_of(&t, Kind::Message, "Listen");
    let text = t
        .vault
        .reader()
        .record(&t.vault.reader().view(&message).unwrap())
        .unwrap();
    assert_eq!(
        text.text, "Listen. [REDACTED:erased] Good night.",
        "only that sentence went"
    );
    assert!(
        !text.verbatim.unwrap().text.contains(CANARY),
        "from the verbatim too"
    );
}

#[test]
fn the_check_notices_each_sabotaged_deletion() {
    let cases = [
        (
            "search_index",
            Sabotage {
                keep_index: true,
                ..Sabotage::default()
            },
        ),
        (
            "attachments",
            Sabotage {
                keep_blobs: true,
                ..Sabotage::default()
            },
        ),
        (
            "database_pages",
            Sabotage {
                keep_packs: true,
                ..Sabotage::default()
            },
        ),
        (
            "database_pages",
            Sabotage {
                keep_pages: true,
                ..Sabotage::default()
            },
        ),
    ];
    for (place, sabotage) in cases {
        let t = vault_with_canary();
        let conversation = conversation_of(&t);
        let receipt = t
            .vault
            .eraser()
            .erase_sabotaged(&[conversation], at(100), sabotage)
            .unwrap()
            .value
            .receipt;
        assert!(
            !receipt.complete,
            "{sabotage:?} must not be called complete"
        );
        let failed: Vec<&str> = receipt
            .places
            .iter()
            .filter(|p| p.outcome == PlaceOutcome::Failed)
            .map(|p| p.place.as_str())
            .collect();
        assert_eq!(failed, [place], "{sabotage:?}");
    }
}

#[test]
fn reports_and_the_list_of_imports_name_nothing_of_what_was_erased() {
    let t = TempVault::new();
    let note = |name: &str, title: &str| {
        let mut note = record(Kind::Memory, name, &format!("We spoke of {title} all day."));
        note.title = Some(title.into());
        note.origin.container = format!("notes.zip!/{name}");
        note
    };
    let notes = || vec![note("Ms Quokka.md", "Zoo"), note("tea.md", "Tea")];
    t.import_records(notes()).unwrap();
    // Import again, so that both notes are listed as unchanged.
    t.import_records(notes()).unwrap();
    t.database()
        .execute(
            "UPDATE batches SET names = ?1",
            [r#"["Ms Quokka.md","Zoo","tea.md"]"#],
        )
        .unwrap();
    let reports_and_names = |t: &TempVault| -> String {
        let batches = t.vault.batches().batches().unwrap();
        let reports = batches
            .iter()
            .map(|b| t.vault.batches().batch_report(&b.uid).unwrap());
        let names = batches.iter().map(|b| b.names.join(","));
        reports.chain(names).collect::<Vec<_>>().join("\n")
    };
    assert!(
        reports_and_names(&t).contains("Quokka"),
        "{}",
        reports_and_names(&t)
    );
    let done = erase(&t, &[id_of(&t, Kind::Memory, "Zoo")]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let after = reports_and_names(&t);
    assert!(
        !after.contains("Quokka") && !after.contains("Zoo"),
        "{after}"
    );
    assert!(
        after.contains("notes.zip!/tea.md"),
        "the other stays named: {after}"
    );
}

#[test]
fn an_erasure_and_an_undo_that_are_cancelled_change_nothing() {
    let t = vault_with_canary();
    let conversation = conversation_of(&t);
    let cancel = AtomicBool::new(true);
    let stopped = t.vault.eraser().erase_until(
        std::slice::from_ref(&conversation),
        "test",
        &[],
        at(100),
        &cancel,
        &|_| {},
    );
    assert!(matches!(stopped, Err(VaultError::Cancelled)), "{stopped:?}");
    let batch = t.vault.batches().batches().unwrap()[0].uid.clone();
    let stopped = t.vault.importer().undo_until(&batch, at(100), &cancel);
    assert!(matches!(stopped, Err(VaultError::Cancelled)), "{stopped:?}");
    let stopped = t.vault.integrity().check_until(&cancel);
    assert!(matches!(stopped, Err(VaultError::Cancelled)), "{stopped:?}");
    assert!(hit_count(&t, CANARY) > 0 && t.vault.audit().tombstones().unwrap().is_empty());
    assert!(t.vault.integrity().check().unwrap().iter().all(|p| p.ok));
    assert!(
        erase(&t, &[conversation]).receipt.complete,
        "it can be done afterwards"
    );
}
