//! A receipt reports what happened to other records that contain the same words: how many were redacted, how many were
//! left unchanged, or that the number is not known.
use crate::{
    deletion::{hit_count, record},
    redaction::redact,
};
use mementory_model::Kind;
use mementory_testkit::{TempVault, at};
use mementory_vault::EraseOutcome;

const SENTENCE: &str = "The zanzibarquokka sleeps under the piano.";

/// Returns a vault with a memory and `times` other memories that contain its sentence in a longer text, and their ids.
/// The first id is that of the memory itself.
fn vault_with_copies(times: usize) -> (TempVault, Vec<String>) {
    let t = TempVault::new();
    let others = (0..times).map(|n| format!("Number {n} says: {SENTENCE} Good night."));
    let texts = std::iter::once(SENTENCE.to_owned()).chain(others);
    let ids = texts.map(|text| {
        t.vault
            .editor()
            .add(&text, None, vec![], at(0))
            .unwrap()
            .value
    });
    let ids = ids.collect();
    (t, ids)
}

fn erase_with(t: &TempVault, id: &str, copies: &[String]) -> EraseOutcome {
    let ids = [id.to_owned()];
    t.vault
        .eraser()
        .erase(&ids, "test", copies, at(100), &|_| {})
        .unwrap()
        .value
}

#[test]
fn a_receipt_counts_records_with_the_same_words() {
    // Pairs of numbers: how many other records there are, and how many of them are redacted.
    for (copy_count, chosen) in [(0, 0), (1, 0), (3, 0), (3, 2), (3, 3)] {
        let (t, ids) = vault_with_copies(copy_count);
        let receipt = erase_with(&t, &ids[0], &ids[1..=chosen]).receipt;
        let reported = (receipt.copies_redacted, receipt.copies_left);
        let unredacted = (copy_count - chosen) as u32;
        assert_eq!(
            reported,
            (Some(chosen as u32), unredacted),
            "{chosen} of {copy_count}"
        );
        assert!(receipt.complete, "left on purpose: {:?}", receipt.places);
        assert_eq!(
            hit_count(&t, "zanzibarquokka") as u32,
            unredacted,
            "as the search finds them"
        );
        let stored_receipt = t.vault.receipts().get(&receipt.id).unwrap();
        assert_eq!(stored_receipt, receipt, "and it is kept");
    }
}

#[test]
fn records_reported_as_left_are_those_that_were_offered() {
    let cases = [
        ("THE ZANZIBARQUOKKA: sleeps, under the piano!", vec![], 1),
        (
            "Nothing of it.\nThe zanzibarquokka sleeps under the piano",
            vec![],
            1,
        ),
        ("The zanzibarquokka sleeps.", vec![], 0),
        ("Under the piano sleeps the zanzibarquokka.", vec![], 0),
        ("Likes tea.", vec![SENTENCE.to_owned()], 0),
    ];
    for (text, tags, expected) in cases {
        let t = TempVault::new();
        let id = t
            .vault
            .editor()
            .add(SENTENCE, None, vec![], at(0))
            .unwrap()
            .value;
        t.vault.editor().add(text, None, tags, at(0)).unwrap();
        let plan = t
            .vault
            .eraser()
            .erase_plan(std::slice::from_ref(&id))
            .unwrap();
        assert_eq!(plan.copies.len(), expected, "the control: {text}");
        let receipt = erase_with(&t, &id, &[]).receipt;
        assert_eq!(receipt.copies_left as usize, expected, "{text}");
    }
}

#[test]
fn sentences_of_scripts_without_spaces_are_found_in_other_records() {
    let cases = [
        (
            "庭の小屋の鍵は赤い石の下にある",
            "友人は庭の小屋の鍵は赤い石の下にあると言った。おやすみ。",
            1,
        ),
        ("กุญแจสวนเก่าอยู่ใต้หินสีแดง", "เพื่อนบอกว่ากุญแจสวนเก่าอยู่ใต้หินสีแดง!", 1),
        (
            "庭の小屋の鍵は赤い石の下にある",
            "小屋の鍵は青い石の下にある。",
            0,
        ),
    ];
    for (text, other, expected) in cases {
        let t = TempVault::new();
        let add = |text: &str| {
            let added = t.vault.editor().add(text, None, vec![], at(0));
            added.unwrap().value
        };
        let id = add(text);
        add(other);
        let plan = t
            .vault
            .eraser()
            .erase_plan(std::slice::from_ref(&id))
            .unwrap();
        assert_eq!(plan.copies.len(), expected, "{other}");
        let receipt = erase_with(&t, &id, &[]).receipt;
        assert_eq!(receipt.copies_left as usize, expected, "{other}");
    }
}

#[test]
fn a_redaction_reports_other_records_too() {
    for (everywhere, expected) in [(true, (Some(1), 0)), (false, (Some(0), 1))] {
        let t = TempVault::new();
        t.import_records(vec![
            record(Kind::Memory, "a", "Likes Darjeeling with milk."),
            record(Kind::Memory, "b", "Buys Darjeeling on Fridays."),
        ])
        .unwrap();
        let id = crate::deletion::id_of(&t, Kind::Memory, "milk");
        let receipt = redact(&t, &id, "Darjeeling", everywhere).receipt;
        let counts = (receipt.copies_redacted, receipt.copies_left);
        assert_eq!(counts, expected, "everywhere: {everywhere}");
    }
}

#[test]
fn older_receipts_without_the_count_are_read_as_unknown() {
    let (t, ids) = vault_with_copies(1);
    let id = erase_with(&t, &ids[0], &ids[1..]).receipt.id;
    let former = "UPDATE receipts SET body = json_remove(body, '$.copies_redacted')";
    t.database().execute(former, []).unwrap();
    let receipt = t.vault.receipts().get(&id).unwrap();
    assert!(receipt.complete && receipt.copies_redacted.is_none());
    // If the program stops before the check, the number of redacted copies cannot be determined afterwards.
    t.database()
        .execute("UPDATE receipts SET complete = 0, body = ''", [])
        .unwrap();
    let t = t.reopen();
    t.vault.receipts().finish_interrupted(at(200)).unwrap();
    assert_eq!(t.vault.receipts().get(&id).unwrap().copies_redacted, None);
}
