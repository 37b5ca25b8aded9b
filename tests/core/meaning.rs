//! The vector of a text is removed together with the text: no edit, redaction, deletion or erasure leaves a vector, and
//! the check after an erasure reports a vector that is left. Search by meaning finds memories that use other words than
//! the query.
use crate::deletion::{
    CANARY, SENTENCE, conversation_of, erase, id_of, outcome, vault_with_canary,
};
use mementory_format::testkit::skipped;
use mementory_model::Kind;
use mementory_testkit::{TempVault, at};
use mementory_vault::{
    EditFields, Encoder, ListQuery, Meaning, PlaceOutcome, RedactSpan, Sabotage,
};
use rusqlite::params;

const BYSTANDER: &str = "Likes tea with milk.";

/// Made-up bytes of a stored vector.
fn stored_vector(seed: u8) -> Vec<u8> {
    let mut state = u32::from(seed) + 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    let scale = 0.001f32.to_le_bytes();
    scale.into_iter().chain((0..512).map(|_| next())).collect()
}

/// Stores a vector for every record. Returns the vector of the record `id`.
fn store_vectors(t: &TempVault, id: &str) -> Vec<u8> {
    let db = t.database();
    let mut rows = db.prepare("SELECT row FROM records").unwrap();
    let rows: Vec<i64> = rows
        .query_map([], |r| r.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for row in rows {
        db.execute(
            "INSERT INTO vectors (row, part, vector) VALUES (?1, 0, ?2)",
            params![row, stored_vector(row as u8)],
        )
        .unwrap();
    }
    stored_vector(t.vault.reader().view(id).unwrap().row as u8)
}

fn contains(t: &TempVault, vector: &[u8]) -> bool {
    let pages = t.decrypted();
    // SQLite may split a row, so search for pieces of the vector.
    vector
        .chunks(64)
        .any(|piece| piece.len() == 64 && pages.windows(64).any(|bytes| bytes == piece))
}

fn vectors(t: &TempVault) -> i64 {
    t.number("SELECT count(*) FROM vectors")
}

#[test]
fn an_erasure_removes_the_vectors() {
    let t = vault_with_canary();
    let memory = id_of(&t, Kind::Memory, CANARY);
    let vector = store_vectors(&t, &memory);
    let before = vectors(&t);
    assert!(contains(&t, &vector), "the control");
    let done = erase(&t, &[memory]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert!(outcome(&done, "record").1.contains("vectors"));
    assert_eq!(vectors(&t), before - 1);
    assert!(!contains(&t, &vector));
    // Erasing a conversation also erases its messages, and with them their vectors.
    let vector = stored_vector(t.vault.reader().view(&conversation_of(&t)).unwrap().row as u8);
    assert!(contains(&t, &vector), "the control");
    assert!(erase(&t, &[conversation_of(&t)]).receipt.complete);
    assert!(!contains(&t, &vector));
}

#[test]
fn the_check_finds_a_vector_that_is_left() {
    let t = vault_with_canary();
    let memory = id_of(&t, Kind::Memory, CANARY);
    let vector = store_vectors(&t, &memory);
    t.write_into_page_gap(&vector[200..400]);
    // If a test leaves out a step of the erasure, the check only reports the traces that it finds and does not wipe
    // them.
    let sabotage = Sabotage {
        keep_blobs: true,
        ..Sabotage::default()
    };
    let done = t
        .vault
        .eraser()
        .erase_sabotaged(&[memory], at(100), sabotage)
        .unwrap()
        .value;
    assert_eq!(
        outcome(&done, "database_pages").0,
        PlaceOutcome::Failed,
        "{:?}",
        done.receipt.places
    );
}

#[test]
fn an_equal_vector_of_another_memory_survives_an_erasure() {
    let t = vault_with_canary();
    let memory = id_of(&t, Kind::Memory, CANARY);
    let vector = store_vectors(&t, &memory);
    let other_row = t
        .vault
        .reader()
        .view(&id_of(&t, Kind::Memory, BYSTANDER))
        .unwrap()
        .row;
    t.database()
        .execute(
            "UPDATE vectors SET vector = ?2 WHERE row = ?1",
            params![other_row, vector],
        )
        .unwrap();
    let done = erase(&t, &[memory]);
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert!(contains(&t, &vector), "the other one has it");
}

#[test]
fn a_redaction_an_edit_and_the_trash_remove_the_vector() {
    let t = vault_with_canary();
    let memory = id_of(&t, Kind::Memory, CANARY);
    let bystander = id_of(&t, Kind::Memory, BYSTANDER);
    let row = |id: &str| t.vault.reader().view(id).unwrap().row;
    let has = |id: &str| {
        t.number(&format!(
            "SELECT count(*) FROM vectors WHERE row = {}",
            row(id)
        )) > 0
    };

    let vector = store_vectors(&t, &memory);
    let word_start = u32::try_from(SENTENCE.find(CANARY).unwrap()).unwrap();
    let span = RedactSpan {
        start: word_start,
        end: word_start + CANARY.len() as u32,
        class: "name".into(),
    };
    let done = t
        .vault
        .redactor()
        .redact(&memory, &[span], false, at(100), &|_| {})
        .unwrap()
        .value;
    assert!(done.receipt.complete, "{:?}", done.receipt.places);
    assert!(!has(&memory) && !contains(&t, &vector), "redacted");
    assert!(has(&bystander), "another record's stays");

    let fields = EditFields {
        text: Some("Likes coffee.".into()),
        ..EditFields::default()
    };
    t.vault.editor().edit(&bystander, fields, at(110)).unwrap();
    assert!(!has(&bystander), "edited");

    t.database().execute("DELETE FROM vectors", []).unwrap();
    store_vectors(&t, &bystander);
    t.vault
        .trash()
        .trash(std::slice::from_ref(&bystander), at(120))
        .unwrap();
    assert!(!has(&bystander), "in the Trash");
}

/// Returns the encoder, or None if its weights are not installed.
fn encoder() -> Option<Encoder> {
    let Some(folder) = std::env::var_os("MEMENTORY_WEIGHTS_DIR") else {
        skipped("MEMENTORY_WEIGHTS_DIR is not set");
        return None;
    };
    Some(Encoder::open(folder.as_ref()).unwrap())
}

fn encode_all(t: &TempVault, encoder: &Encoder) -> usize {
    let pending = Meaning::of(&t.vault).rows_to_encode().unwrap();
    Meaning::of(&t.vault).encode(encoder, &pending).unwrap();
    pending.len()
}

/// Returns the texts of the memories nearest to `text`, the nearest first.
fn nearest(t: &TempVault, encoder: &Encoder, text: &str) -> Vec<String> {
    let found = Meaning::of(&t.vault)
        .nearest(
            &encoder.encode(&[text]),
            &ListQuery::default(),
            10,
            0.2,
            &[],
        )
        .unwrap();
    t.vault
        .search()
        .hits(&found)
        .unwrap()
        .into_iter()
        .map(|(_, record, _)| record.text)
        .collect()
}

#[test]
fn other_words_and_languages_find_a_memory_until_it_is_erased() {
    let Some(encoder) = encoder() else { return };
    let t = vault_with_canary();
    t.vault
        .editor()
        .add(
            "Meine Tochter kommt im September in die Schule.",
            None,
            Vec::new(),
            at(70),
        )
        .unwrap();
    let tea = t
        .vault
        .editor()
        .add("Never drinks alcohol.", None, Vec::new(), at(71))
        .unwrap()
        .value;
    assert_eq!(encode_all(&t, &encoder), 4, "the memories, no messages");
    assert_eq!(encode_all(&t, &encoder), 0);
    assert!(
        nearest(
            &t,
            &encoder,
            "her girl will begin elementary school in autumn"
        )[0]
        .contains("Tochter")
    );
    assert_eq!(
        nearest(&t, &encoder, "お酒を飲みません")[0],
        "Never drinks alcohol."
    );

    // An edited memory is found by its new text as soon as that text is encoded.
    let fields = EditFields {
        text: Some("Collects old maps of railways.".into()),
        ..EditFields::default()
    };
    t.vault.editor().edit(&tea, fields, at(110)).unwrap();
    assert!(
        !nearest(&t, &encoder, "Never drinks alcohol.")
            .iter()
            .any(|text| text.contains("maps"))
    );
    assert_eq!(encode_all(&t, &encoder), 1);
    assert_eq!(
        nearest(&t, &encoder, "train cartography as a hobby")[0],
        "Collects old maps of railways."
    );

    // After the erasure, another memory is nearest to the erased text, also after the vectors are read again.
    let memory = id_of(&t, Kind::Memory, CANARY);
    assert_eq!(nearest(&t, &encoder, SENTENCE)[0], SENTENCE);
    assert!(erase(&t, &[memory]).receipt.complete);
    assert!(
        !nearest(&t, &encoder, SENTENCE)
            .iter()
            .any(|text| text.contains(CANARY))
    );
    let t = t.reopen();
    assert!(
        !nearest(&t, &encoder, SENTENCE)
            .iter()
            .any(|text| text.contains(CANARY))
    );
    assert_eq!(encode_all(&t, &encoder), 0);

    // Move a memory to the Trash and restore it.
    t.vault
        .trash()
        .trash(std::slice::from_ref(&tea), at(120))
        .unwrap();
    assert!(
        !nearest(&t, &encoder, "old railway maps")
            .iter()
            .any(|text| text.contains("maps"))
    );
    t.vault.trash().restore(&[tea], at(130)).unwrap();
    assert_eq!(encode_all(&t, &encoder), 1);
    assert!(
        nearest(&t, &encoder, "old railway maps")
            .iter()
            .any(|text| text.contains("maps"))
    );
}

#[test]
fn unusual_texts_are_encoded_once() {
    let Some(encoder) = encoder() else { return };
    let t = TempVault::new();
    for text in [
        "😀",
        "\u{feff}.",
        &"日本語の長い文章。".repeat(20_000),
        "ᚠᛇᚻ",
    ] {
        t.vault
            .editor()
            .add(text, None, Vec::new(), at(70))
            .unwrap();
    }
    assert_eq!(encode_all(&t, &encoder), 4);
    assert_eq!(
        encode_all(&t, &encoder),
        0,
        "even what has nothing to encode"
    );
    assert!(vectors(&t) <= 3 + 32, "a long text has few parts");
}
