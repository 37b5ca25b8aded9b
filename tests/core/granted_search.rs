//! Tests that a search of a connected client reveals neither masked values nor records outside of its grant.
use crate::{grants::scan_all, source::key};
use mementory_model::{Kind, Record};
use mementory_testkit::{TempVault, at};
use mementory_vault::{GrantRights, GrantScope, NewGrant};

/// A word that every record of the grant contains.
const WORD: &str = "tortoise";
const TEXTS_WITH_SECRETS: [&str; 3] = [
    "The deploy token is ghp_9fJ2kLm4Qx7RtV1wZb6Yc3Nd8Ps5Ua0He2Gi",
    "Pay with card 4539 1488 0343 6467",
    "Mail: ada.kovalenko@orchardmail.eu",
];

/// Returns the texts of the best hits when a client with this scope searches for `query`.
fn best_hits(t: &TempVault, scope: GrantScope, query: &str, limit: u32) -> Vec<String> {
    let new = NewGrant {
        name: query.to_owned(),
        scope,
        rights: GrantRights {
            read: true,
            ..GrantRights::default()
        },
        ..NewGrant::default()
    };
    let (grant, _) = t.vault.grants().add(new, at(10)).unwrap();
    let mut view = t.vault.grants().view(&grant).unwrap();
    let hits = view.search(query, limit).unwrap();
    hits.into_iter().map(|(record, _)| record.text).collect()
}

#[test]
fn a_search_does_not_reveal_masked_values_by_what_it_ranks_first() {
    let t = TempVault::new();
    let mut records: Vec<Record> = TEXTS_WITH_SECRETS
        .iter()
        .map(|text| {
            let longer_text = format!("{WORD} with a longer text than the other. {text}");
            Record::new(Kind::Memory, key(text), longer_text)
        })
        .collect();
    records.push(Record::new(Kind::Memory, key("plain"), WORD));
    t.import_records(records).unwrap();
    scan_all(&t);
    for word in [
        "unheard",
        "4539",
        "kovalenko",
        "ghp_9fJ2kLm4Qx7RtV1wZb6Yc3Nd8Ps5Ua0He2Gi",
    ] {
        let query = format!("{WORD} {word}");
        let hits = best_hits(&t, GrantScope::default(), &query, 1);
        assert_eq!(hits, [WORD], "{query}");
    }
}

#[test]
fn a_search_does_not_reveal_words_outside_the_grant() {
    let t = TempVault::new();
    // In an index of this size, a search for a frequent word and a rarer word ignores the frequent word.
    let mut records: Vec<Record> = (0..1100)
        .map(|n| {
            let mut record = Record::new(
                Kind::Memory,
                key(&format!("r{n}")),
                format!("{WORD} number{n}"),
            );
            record.source.platform = "chatgpt".into();
            record
        })
        .collect();
    let mut outside = Record::new(Kind::Memory, key("outside"), "zebra");
    outside.source.platform = "claude".into();
    records.push(outside);
    t.import_records(records).unwrap();
    scan_all(&t);
    for (uncovered, word) in [
        (false, "zebra"),
        (false, "unheard"),
        (true, "-unheard zebra"),
    ] {
        let scope = GrantScope {
            sources: vec!["chatgpt".into()],
            uncovered,
            ..GrantScope::default()
        };
        let query = format!("{WORD} {word}");
        let hits = best_hits(&t, scope, &query, 5);
        assert_eq!(hits.len(), 5, "{query}");
    }
}
