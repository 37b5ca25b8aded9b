//! The check after an erasure finds traces that are left, ignores words that other records contain, and finishes
//! interrupted erasures.
use crate::{
    deletion::{CANARY, SENTENCE, erase, hit_count, id_of, outcome, record, vault_with_canary},
    redaction::redact,
};
use mementory_formats::PassthroughItem;
use mementory_model::Kind;
use mementory_testkit::{TempVault, at, contains_text, options};
use mementory_vault::{EditFields, ImportReport, IndexState, PlaceOutcome, Sabotage, Vault};
use std::{path::Path, sync::atomic::AtomicBool};

const LONG_SENTENCE: &str = "The zanzibarquokka sleeps under the piano and dreams of lettuce.";

pub fn vault_with(texts: &[&str]) -> (TempVault, Vec<String>) {
    let t = TempVault::new();
    let ids = texts.iter().map(|text| {
        t.vault
            .editor()
            .add(text, None, vec![], at(0))
            .unwrap()
            .value
    });
    let ids = ids.collect();
    (t, ids)
}

#[test]
fn leftovers_are_wiped_even_if_another_record_begins_with_the_same_words() {
    let (t, ids) = vault_with(&[
        LONG_SENTENCE,
        "The zanzibarquokka is a rodent.",
        LONG_SENTENCE,
    ]);
    t.write_into_page_gap(LONG_SENTENCE.as_bytes());
    let done = erase(&t, &ids[..1]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let done = erase(&t, &ids[2..]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert!(
        !contains_text(&t.decrypted(), LONG_SENTENCE),
        "no page holds it"
    );
    assert_eq!(hit_count(&t, CANARY), 1, "the other one stays");
}

#[test]
fn a_leftover_is_found_even_if_its_first_words_are_in_use() {
    let short = "The zanzibarquokka sleeps";
    let (t, ids) = vault_with(&[short, LONG_SENTENCE, "The zanzibarquokka sleeps in"]);
    // This trace cannot be wiped, because it is in a cell that is in use.
    t.database()
        .execute(
            "INSERT INTO meta (key, value) VALUES ('note', ?1)",
            [LONG_SENTENCE],
        )
        .unwrap();
    let done = erase(&t, &ids[..2]);
    let (place_outcome, detail) = outcome(&done, "database_pages");
    assert_eq!(place_outcome, PlaceOutcome::Failed, "{detail}");
}

#[test]
fn words_of_another_record_are_not_leftovers() {
    let (t, ids) = vault_with(&[LONG_SENTENCE, LONG_SENTENCE, LONG_SENTENCE]);
    let done = erase(&t, &ids[..1]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert_eq!(done.receipt.copies_left, 2, "it is counted as a copy");
    t.vault.trash().trash(&ids[1..2], at(50)).unwrap();
    let done = erase(&t, &ids[2..]);
    assert!(
        done.receipt.complete,
        "one in the Trash neither: {:?}",
        done.receipt.places
    );
}

#[test]
fn words_formed_by_two_adjacent_columns_are_not_leftovers() {
    let (t, ids) = vault_with(&["All attachments are there."]);
    // On the page, the blob follows the text and begins with `s`, so the two columns together read `attachments`.
    t.database()
        .execute(
            "INSERT INTO findings VALUES (9999, 0, 0, 0, 0, 'attachment', X'7300')",
            [],
        )
        .unwrap();
    let done = redact(&t, &ids[0], "attachments", true);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
}

#[test]
fn names_that_the_program_stores_are_not_leftovers() {
    let text = "These are derived_from what you said, as who_you_are shows.";
    let (t, ids) = vault_with(&[text]);
    t.database()
        .execute_batch(
            "INSERT INTO links VALUES (9999, 'derived_from', X'01');
             INSERT INTO meta (key, value) VALUES ('about/00', 'who_you_are');",
        )
        .unwrap();
    for word in ["derived_from", "who_you_are"] {
        let done = redact(&t, &ids[0], word, true);
        assert!(done.receipt.complete, "{word}: {:?}", done.receipt.places);
    }
}

#[test]
fn words_in_the_trash_or_the_history_are_not_leftovers_in_the_index() {
    let t = TempVault::new();
    // One import, so that all records are in one segment and no merge drops the words of some of them.
    let texts = [
        LONG_SENTENCE,
        "A piano!",
        "One lettuce, edited later",
        "Likes tea.",
    ];
    let records = texts
        .iter()
        .map(|text| record(Kind::Memory, text, text))
        .collect();
    t.import_records(records).unwrap();
    t.vault
        .trash()
        .trash(&[id_of(&t, Kind::Memory, "piano!")], at(50))
        .unwrap();
    let new_text = EditFields {
        text: Some("Something else".into()),
        ..EditFields::default()
    };
    t.vault
        .editor()
        .edit(&id_of(&t, Kind::Memory, "edited"), new_text, at(50))
        .unwrap();
    // The new record is in a segment of its own, so that erasing it does not rewrite the others.
    let added_id = t
        .vault
        .editor()
        .add(LONG_SENTENCE, None, vec![], at(0))
        .unwrap()
        .value;
    let done = erase(&t, &[added_id]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let first = id_of(&t, Kind::Memory, CANARY);
    t.vault
        .trash()
        .trash(std::slice::from_ref(&first), at(60))
        .unwrap();
    let added_id = t
        .vault
        .editor()
        .add(LONG_SENTENCE, None, vec![], at(0))
        .unwrap()
        .value;
    let done = erase(&t, &[added_id]);
    assert!(
        done.receipt.complete,
        "only the Trash says it now: {:?}",
        done.receipt.places
    );
    let done = erase(&t, &[first]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
}

pub fn import_parts(t: &TempVault, parts: &[(&str, &[u8])]) -> ImportReport {
    let cancel = AtomicBool::new(false);
    t.import_with(&options(&cancel, false), &|sink| {
        for (name, mut bytes) in parts.iter().copied() {
            let item = PassthroughItem {
                format: "test".into(),
                group: "g".into(),
                name: name.into(),
                role: "sidecar".into(),
                place: name.into(),
            };
            sink.passthrough(item, &mut bytes)?;
        }
        Ok(())
    })
    .unwrap()
}

#[test]
fn passthrough_files_of_every_encoding_lose_the_words() {
    let (t, ids) = vault_with(&["Frau M\u{fc}ller sagt \"nie\" dazu"]);
    import_parts(
        &t,
        &[
            (
                "lines.jsonl",
                b"{\"a\":1}\n{\"b\":\"Frau M\\u00fcller sagt \\\"nie\\\" dazu\"}\n",
            ),
            (
                "script.js",
                b"var a = \"Frau M\\u00FCller sagt \\\"nie\\\" dazu\";",
            ),
            ("latin.txt", b"caf\xe9: Frau M\xfcller sagt \"nie\" dazu"),
            ("bystander.txt", b"Frau Meier sagt oft dazu"),
        ],
    );
    assert_eq!(t.vault.eraser().erase_plan(&ids).unwrap().passthrough, 3);
    let done = erase(&t, &ids);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let (place_outcome, detail) = outcome(&done, "passthrough");
    assert_eq!(place_outcome, PlaceOutcome::Redacted);
    assert_eq!(detail, "3 rewritten; 4 parts of imports searched");
}

#[test]
fn a_phrase_of_an_erased_text_stays_in_other_texts() {
    let (t, ids) = vault_with(&["I am quite sure that Al is right here today."]);
    // Words of only two letters are not redacted in files, so the file still quotes the text without a redaction mark.
    redact(&t, &ids[0], "Al", true);
    let others = r#""I am quite sure that tea is good.","The cat is right here today."]"#;
    let quoted = format!(r#"["I am quite sure that Al is right here today.",{others}"#);
    import_parts(&t, &[("side.json", quoted.as_bytes())]);
    let done = erase(&t, &ids);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let texts = t
        .vault
        .files()
        .passthrough_texts("test", "side.json", 1000)
        .unwrap();
    let expected = format!(r#"["[REDACTED:erased] Al [REDACTED:erased]",{others}"#);
    assert_eq!(texts, [expected]);
}

#[test]
fn a_text_of_several_lines_with_an_earlier_mark_is_removed() {
    let text = "Plan of the garden:\nThe old key is under the red shed.\nAsk Lena for it.\nTea is at four.";
    let (t, ids) = vault_with(&[text]);
    let quoted = format!(
        "# Notes\n{}\nOr not.\n",
        text.replace("Lena", "[REDACTED:name]")
    );
    import_parts(&t, &[("notes.md", quoted.as_bytes())]);
    let done = erase(&t, &ids);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let texts = t
        .vault
        .files()
        .passthrough_texts("test", "notes.md", 1000)
        .unwrap();
    let expected =
        "# Notes\n[REDACTED:erased] [REDACTED:name][REDACTED:erased]\nOr not.\n".to_owned();
    assert_eq!(texts, [expected]);
}

#[test]
fn a_text_of_several_lines_is_removed_from_files_with_the_line_ends_of_windows() {
    let text = "Plan of the garden:\nThe old key is under the red shed.\nAsk Lena for it.\nTea is at four.";
    let (t, ids) = vault_with(&[text]);
    let plain = format!("# Notes\r\n{}\r\nOr not.\r\n", text.replace('\n', "\r\n"));
    let marked = plain.replace("Lena", "[REDACTED:name]");
    import_parts(
        &t,
        &[
            ("plain.md", plain.as_bytes()),
            ("marked.md", marked.as_bytes()),
        ],
    );
    let done = erase(&t, &ids);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    for name in ["plain.md", "marked.md"] {
        let texts = t
            .vault
            .files()
            .passthrough_texts("test", name, 1000)
            .unwrap();
        let text = texts.concat();
        assert!(
            text.contains("# Notes") && text.contains("Or not."),
            "{text}"
        );
        for words in ["garden", "old key", "Ask", "Tea"] {
            assert!(!text.contains(words), "{name}: {text}");
        }
    }
}

/// Flips a bit in every blob. A second call restores the blobs.
pub fn flip_blobs(t: &TempVault) {
    for blob in std::fs::read_dir(t.dir().join("blobs")).unwrap() {
        let path = blob.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(path, bytes).unwrap();
    }
}

#[test]
fn an_unreadable_passthrough_file_is_not_clean() {
    let (t, ids) = vault_with(&[LONG_SENTENCE]);
    import_parts(&t, &[("a.txt", b"nothing of it")]);
    flip_blobs(&t);
    let done = erase(&t, &ids);
    let (place_outcome, detail) = outcome(&done, "passthrough");
    assert_eq!(place_outcome, PlaceOutcome::Failed, "{detail}");
    assert!(!done.receipt.complete);
}

#[test]
fn a_file_in_the_vault_folder_fails_the_receipt_only_if_it_is_a_copy_of_the_vault() {
    let (t, ids) = vault_with(&[LONG_SENTENCE, SENTENCE]);
    for name in [
        ".DS_Store",
        "desktop.ini",
        "notes.txt",
        ".vault.json.a1b2c3",
    ] {
        std::fs::write(t.dir().join(name), "x").unwrap();
    }
    let done = erase(&t, &ids[..1]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    let (_, detail) = outcome(&done, "temporary_files");
    assert!(
        detail.contains("notes.txt") && !detail.contains("DS_Store"),
        "strangers are named: {detail}"
    );
    let t = t.reopen();
    assert!(
        !t.dir().join(".vault.json.a1b2c3").exists(),
        "a half-written header goes at the next opening"
    );
    let backup = t.dir().join("store.schema-1.db");
    std::fs::write(&backup, "x").unwrap();
    let done = erase(&t, &ids[1..]);
    assert_eq!(outcome(&done, "temporary_files").0, PlaceOutcome::Failed);
    // A retry checks the receipt again, because the file that failed the check may be gone. Here that file still
    // exists.
    t.vault.receipts().finish_interrupted(at(200)).unwrap();
    assert!(!t.vault.receipts().get(&done.receipt.id).unwrap().complete);
    std::fs::remove_file(backup).unwrap();
    t.vault.receipts().finish_interrupted(at(300)).unwrap();
    assert!(t.vault.receipts().get(&done.receipt.id).unwrap().complete);
}

#[test]
fn an_interrupted_erasure_is_wiped_and_checked() {
    let (t, ids) = vault_with(&[LONG_SENTENCE, "Likes tea."]);
    let done = erase(&t, &ids[..1]);
    // Make the vault look as if the program had died before the check and left words between cells and in a free page.
    t.database()
        .execute("UPDATE receipts SET complete = 0, body = ''", [])
        .unwrap();
    t.write_into_page_gap(LONG_SENTENCE.as_bytes());
    let t = t.reopen();
    assert_eq!(t.vault.receipts().finish_interrupted(at(200)).unwrap(), 1);
    assert!(!contains_text(&t.decrypted(), CANARY), "nothing is left");
    let receipt = t.vault.receipts().get(&done.receipt.id).unwrap();
    assert!(receipt.complete, "{:?}", receipt.places);
    let pages = receipt.places.iter().find(|p| p.place == "database_pages");
    assert!(
        pages.unwrap().detail.contains("unused bytes"),
        "the receipt says what was searched"
    );
    assert!(
        t.vault.integrity().check().unwrap().iter().all(|p| p.ok),
        "the vault is whole"
    );
}

#[test]
fn the_change_log_is_short_and_an_older_index_is_rebuilt() {
    let (t, ids) = vault_with(&[LONG_SENTENCE, "Likes tea."]);
    let older_index = t.folder.path().join("older");
    let t = t.reopen();
    copy(&t.dir().join("index"), &older_index);
    let added = t
        .vault
        .editor()
        .add("Plays the bassoon.", None, vec![], at(10))
        .unwrap()
        .value;
    erase(&t, &ids[..1]);
    assert!(
        t.number("SELECT count(*) FROM changes") <= 1,
        "only the last"
    );
    let (dir, TempVault { folder, vault }) = (t.dir(), t);
    drop(vault);
    std::fs::remove_dir_all(dir.join("index")).unwrap();
    copy(&older_index, &dir.join("index"));
    let vault = Vault::open(&dir, mementory_testkit::PASSPHRASE).unwrap();
    let t = TempVault { folder, vault };
    assert_eq!(t.vault.index_state(), IndexState::Rebuilt);
    assert_eq!(hit_count(&t, "bassoon"), 1, "{added}");
    assert_eq!(hit_count(&t, CANARY), 0);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn erasing_a_word_of_the_reports_leaves_them_readable() {
    let t = vault_with_canary();
    import_parts(&t, &[("missing_parts.txt", b"x")]);
    t.import_records(vec![record(Kind::Memory, "w", "missing_parts")])
        .unwrap();
    let id = id_of(&t, Kind::Memory, "missing_parts");
    let done = erase(&t, &[id]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    for batch in t.vault.batches().batches().unwrap() {
        let report = t.vault.batches().batch_report(&batch.uid).unwrap();
        assert!(
            serde_json::from_str::<ImportReport>(&report).is_ok(),
            "{}",
            report
        );
    }
}

fn sabotaged_vault(sabotage: Sabotage) -> (TempVault, String) {
    let t = vault_with_canary();
    let conversation = crate::deletion::conversation_of(&t);
    let done = t
        .vault
        .eraser()
        .erase_sabotaged(&[conversation], at(100), sabotage)
        .unwrap()
        .value;
    assert!(!done.receipt.complete, "the control: {sabotage:?}");
    (t, done.receipt.id)
}

fn sabotages() -> [Sabotage; 4] {
    let mut all = [Sabotage::default(); 4];
    all[0].keep_index = true;
    all[1].keep_blobs = true;
    all[2].keep_packs = true;
    all[3].keep_pages = true;
    all
}

#[test]
fn a_retry_cleans_leftovers_and_searches_for_the_words() {
    for sabotage in sabotages() {
        let (t, id) = sabotaged_vault(sabotage);
        let receipt = t.vault.receipts().retry(&id, at(200), &|_| {}).unwrap();
        assert!(receipt.complete, "{sabotage:?}: {:?}", receipt.places);
        assert_eq!(
            (&receipt.id, receipt.at),
            (&id, at(200)),
            "the same receipt, of a later check"
        );
        assert_eq!(t.vault.receipts().get(&id).unwrap(), receipt, "it is kept");
        assert!(
            !contains_text(&t.decrypted(), CANARY),
            "{sabotage:?}: no page holds it"
        );
        assert_eq!(hit_count(&t, CANARY), 0);
        assert_eq!(hit_count(&t, "milk"), 1, "the others are still found");
        let places = t.vault.integrity().check().unwrap();
        assert!(places.iter().all(|p| p.ok), "{sabotage:?}: {places:?}");
        assert!(
            t.vault.audit().verify().unwrap(),
            "the log has an entry for it and is intact"
        );
        assert_eq!(
            t.vault.receipts().retry(&id, at(300), &|_| {}).unwrap(),
            receipt,
            "a clean one is left alone"
        );
    }
}

#[test]
fn a_retry_cleans_leftovers_after_the_words_are_forgotten() {
    for sabotage in sabotages() {
        let (t, id) = sabotaged_vault(sabotage);
        let t = t.reopen();
        let receipt = t.vault.receipts().retry(&id, at(200), &|_| {}).unwrap();
        // After reopening, the words to search for are no longer known. The retry overwrites all unused bytes of the
        // database, but it cannot search the pages for the words, so a receipt that failed there stays incomplete.
        let can_be_complete = !sabotage.keep_pages;
        assert_eq!(
            receipt.complete, can_be_complete,
            "{sabotage:?}: {:?}",
            receipt.places
        );
        assert!(
            !contains_text(&t.decrypted(), CANARY),
            "{sabotage:?}: no page holds it"
        );
        assert_eq!(hit_count(&t, "milk"), 1, "the others are still found");
        let places = t.vault.integrity().check().unwrap();
        assert!(places.iter().all(|p| p.ok), "{sabotage:?}: {places:?}");
    }
}

#[test]
fn a_retry_does_not_report_words_in_use_as_clean() {
    let (t, ids) = vault_with(&[LONG_SENTENCE, "Likes tea."]);
    t.database()
        .execute(
            "INSERT INTO meta (key, value) VALUES ('note', ?1)",
            [LONG_SENTENCE],
        )
        .unwrap();
    let id = erase(&t, &ids[..1]).receipt.id;
    let outcome = |t: &TempVault| {
        let receipt = t.vault.receipts().retry(&id, at(200), &|_| {}).unwrap();
        let pages = receipt
            .places
            .iter()
            .find(|p| p.place == "database_pages")
            .cloned();
        (receipt.complete, pages.unwrap().outcome)
    };
    let failed = (false, PlaceOutcome::Failed);
    assert_eq!(outcome(&t), failed, "the words are known and found");
    assert_eq!(outcome(&t), failed, "as often as it is tried");
    let t = t.reopen();
    assert_eq!(
        outcome(&t),
        failed,
        "nothing was found that held them, so nobody can say that they went"
    );
    let t = t.reopen();
    t.database()
        .execute("DELETE FROM meta WHERE key = 'note'", [])
        .unwrap();
    assert_eq!(outcome(&t), failed, "nor is it known now");
}

#[test]
fn a_passthrough_file_that_is_readable_again_loses_the_words() {
    let (t, ids) = vault_with(&[LONG_SENTENCE]);
    import_parts(&t, &[("a.txt", LONG_SENTENCE.as_bytes())]);
    flip_blobs(&t);
    let done = erase(&t, &ids);
    assert_eq!(
        outcome(&done, "passthrough").0,
        PlaceOutcome::Failed,
        "it cannot be read"
    );
    flip_blobs(&t);
    let receipt = t
        .vault
        .receipts()
        .retry(&done.receipt.id, at(200), &|_| {})
        .unwrap();
    assert!(receipt.complete, "{:?}", receipt.places);
    let part = receipt
        .places
        .iter()
        .find(|p| p.place == "passthrough")
        .unwrap();
    assert_eq!(part.outcome, PlaceOutcome::Redacted, "{}", part.detail);
}

#[test]
fn a_retry_finishes_an_interrupted_receipt() {
    let (t, ids) = vault_with(&[LONG_SENTENCE, "Likes tea."]);
    let id = erase(&t, &ids[..1]).receipt.id;
    t.database()
        .execute("UPDATE receipts SET complete = 0, body = ''", [])
        .unwrap();
    assert!(
        t.vault.receipts().get(&id).is_err(),
        "the control: there is none yet"
    );
    assert!(
        t.vault
            .receipts()
            .retry(&id, at(200), &|_| {})
            .unwrap()
            .complete
    );
    assert!(
        t.vault
            .receipts()
            .retry("nobody", at(200), &|_| {})
            .is_err(),
        "no such receipt"
    );
}
