//! A record in the Trash is hidden at once and can be restored. Only expired records are erased automatically.
use crate::deletion::{CANARY, SENTENCE, conversation_of, hit_count, id_of, vault_with_canary};
use mementory_model::Kind;
use mementory_testkit::{TempVault, at};
use mementory_vault::{IndexFilter, ListQuery, Sort, VaultError};

const DAY: i64 = 86_400;

#[test]
fn records_in_the_trash_are_hidden_and_can_be_restored() {
    let t = vault_with_canary();
    let conversation = conversation_of(&t);
    t.vault
        .trash()
        .trash(std::slice::from_ref(&conversation), at(100))
        .unwrap();
    assert_eq!(
        t.vault
            .queries()
            .list(&ListQuery {
                kind: Some(Kind::Message),
                ..ListQuery::default()
            })
            .unwrap()
            .total,
        0,
        "its messages go along"
    );
    assert_eq!(
        t.vault
            .search()
            .search("Listen", &IndexFilter::default(), 10, 0)
            .unwrap()
            .total,
        0,
        "search does not answer"
    );
    assert_eq!(
        t.vault
            .queries()
            .list(&ListQuery {
                trash: true,
                ..ListQuery::default()
            })
            .unwrap()
            .total,
        1,
        "one thing in the Trash"
    );
    let t = t.reopen();
    t.vault.trash().restore(&[conversation], at(200)).unwrap();
    assert_eq!(
        t.vault
            .search()
            .search("Listen", &IndexFilter::default(), 10, 0)
            .unwrap()
            .total,
        1,
        "and back it is"
    );
}

#[test]
fn the_trash_can_be_listed_by_the_time_of_deletion() {
    for is_memory_first in [true, false] {
        let t = vault_with_canary();
        let mut ids = vec![id_of(&t, Kind::Memory, SENTENCE), conversation_of(&t)];
        if !is_memory_first {
            ids.reverse();
        }
        for (id, time) in ids.iter().zip([100, 200]) {
            t.vault
                .trash()
                .trash(std::slice::from_ref(id), at(time))
                .unwrap();
        }
        let mut listed = Vec::new();
        let mut cursor = None;
        loop {
            let query = ListQuery {
                trash: true,
                sort: Sort::Trashed,
                limit: 1,
                cursor,
                ..ListQuery::default()
            };
            let page = t.vault.queries().list(&query).unwrap();
            listed.extend(page.rows.iter().map(|row| row.id_text()));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        ids.reverse();
        assert_eq!(listed, ids, "the record that was deleted last is the first");
    }
}

#[test]
fn expired_records_in_the_trash_are_erased() {
    let t = vault_with_canary();
    let id = id_of(&t, Kind::Memory, "tea");
    t.vault
        .trash()
        .trash(std::slice::from_ref(&id), at(0))
        .unwrap();
    let expired = t.vault.trash().empty_expired(30, at(29 * DAY)).unwrap();
    assert_eq!(expired.erased, 0, "not yet");
    let expired = t.vault.trash().empty_expired(30, at(30 * DAY)).unwrap();
    assert_eq!(expired.erased, 1, "its time is over");
    assert!(
        matches!(
            t.vault.reader().view(&id),
            Err(VaultError::NotFound { erased: true, .. })
        ),
        "erased like any other"
    );
}

#[test]
fn emptying_the_trash_leaves_records_in_use() {
    let t = vault_with_canary();
    let (conversation, memory) = (conversation_of(&t), id_of(&t, Kind::Memory, CANARY));
    t.vault
        .trash()
        .trash(std::slice::from_ref(&conversation), at(0))
        .unwrap();
    let expired = t.vault.trash().empty_expired(30, at(30 * DAY)).unwrap();
    assert_eq!(
        (expired.erased, expired.failed.len()),
        (1, 0),
        "the conversation went"
    );
    assert!(
        matches!(
            t.vault.reader().view(&conversation),
            Err(VaultError::NotFound { erased: true, .. })
        ),
        "for good"
    );
    let view = t.vault.reader().view(&memory).unwrap();
    assert_eq!(
        t.vault.reader().links(&view).unwrap().len(),
        0,
        "the memory taken from it stays, without the link"
    );
    assert_eq!(hit_count(&t, CANARY), 2, "the file stays as well");
    let files = t.vault.queries().list(&ListQuery {
        kind: Some(Kind::Attachment),
        ..ListQuery::default()
    });
    assert!(
        t.vault
            .files()
            .file_facts(files.unwrap().rows[0].row)
            .unwrap()
            .present,
        "with its bytes"
    );
    let t = t.reopen();
    assert!(
        t.vault.integrity().check().unwrap().iter().all(|p| p.ok),
        "the vault checks clean"
    );
}

#[test]
fn records_in_the_trash_that_have_not_expired_stay() {
    let t = vault_with_canary();
    let (conversation, memory) = (conversation_of(&t), id_of(&t, Kind::Memory, CANARY));
    t.vault.trash().trash(&[conversation], at(0)).unwrap();
    t.vault
        .trash()
        .trash(std::slice::from_ref(&memory), at(20 * DAY))
        .unwrap();
    let expired = t.vault.trash().empty_expired(30, at(30 * DAY)).unwrap();
    assert_eq!(expired.erased, 1, "the conversation's time is over");
    t.vault
        .trash()
        .restore(std::slice::from_ref(&memory), at(31 * DAY))
        .unwrap();
    assert!(
        t.vault.reader().view(&memory).unwrap().trashed.is_none(),
        "the memory's is not"
    );
}

#[test]
fn one_damaged_pack_does_not_keep_the_others_in_the_trash() {
    let t = TempVault::new();
    let ids: Vec<String> = (0..5)
        .map(|n| {
            let text = format!("Memory number {n}");
            t.vault
                .editor()
                .add(&text, None, vec![], at(0))
                .unwrap()
                .value
        })
        .collect();
    t.vault.trash().trash(&ids, at(0)).unwrap();
    let pack = t.vault.reader().view(&ids[3]).unwrap().pack;
    t.database()
        .execute("UPDATE packs SET data = x'00' WHERE id = ?1", [pack])
        .unwrap();
    let t = t.reopen();
    let expired = t.vault.trash().empty_expired(30, at(30 * DAY)).unwrap();
    assert_eq!(expired.erased, 4, "the others went");
    let failed: Vec<&str> = expired.failed.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(failed, [ids[3].as_str()], "the damaged one is told");
}
