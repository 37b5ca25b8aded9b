//! Tests what a grant makes visible: for random grants and vaults, no call returns anything outside of the grant.
use crate::source::key;
use mementory_crypto::{VaultKeys, keyed_id};
use mementory_formats::{AnswerOptions, FormatOptions, Selector, WriteOptions};
use mementory_model::{Kind, MessagePart, Record, RecordKey, Timestamp, Unit};
use mementory_testkit::{TempVault, at};
use mementory_vault::{
    Call, ExportRange, Grant, GrantRefusal, GrantRights, GrantScope, GrantedRecord, GrantedView,
    NewGrant, Suggestion, SuggestionOp, VaultError,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::Range;

/// A word in every record.
const WORD: &str = "tortoise";
const SECRETS: [&str; 3] = [
    "ghp_9fJ2kLm4Qx7RtV1wZb6Yc3Nd8Ps5Ua0He2Gi",
    "4539 1488 0343 6467",
    "ada.kovalenko@orchardmail.eu",
];
/// Texts to put before each of [`SECRETS`], so that the detectors recognise it.
const TEXT_BEFORE_SECRET: [&str; 3] = ["The deploy token is ", "Pay with card ", "Mail: "];
const SOURCES: [&str; 3] = ["chatgpt", "claude", "me"];
const TYPES: [&str; 3] = ["preference", "fact", "project"];
const TAGS: [&str; 3] = ["home", "work", "private"];
const LISTED_KINDS: [Kind; 5] = [
    Kind::Memory,
    Kind::Profile,
    Kind::Fact,
    Kind::Procedure,
    Kind::Todo,
];

#[derive(Debug, Clone)]
struct RecordSpec {
    kind: Kind,
    source: usize,
    record_type: Option<usize>,
    tags: Vec<usize>,
    /// If this is None, the record has no date, and the vault uses the day of the import.
    day: Option<i64>,
    secret: Option<usize>,
    secret_in_title: bool,
    trashed: bool,
    hidden: bool,
    not_exportable: bool,
}

prop_compose! {
    fn any_spec()(
        kind in proptest::sample::select(vec![
            Kind::Memory, Kind::Memory, Kind::Fact, Kind::Profile, Kind::Conversation, Kind::Conversation,
            Kind::Resource, Kind::Todo, Kind::Entity, Kind::Credential, Kind::Audit,
        ]),
        source in 0..3usize, record_type in proptest::option::of(0..3usize),
        tags in proptest::collection::vec(0..3usize, 0..3), day in proptest::option::weighted(0.8, 0..10i64),
        secret in proptest::option::of(0..3usize), secret_in_title in any::<bool>(),
        trashed in proptest::bool::weighted(0.15), hidden in proptest::bool::weighted(0.15),
        not_exportable in proptest::bool::weighted(0.15),
    ) -> RecordSpec {
        RecordSpec { kind, source, record_type, tags, day, secret, secret_in_title, trashed, hidden, not_exportable }
    }
}

/// Generates the list of values that a scope is limited to. In three of four cases the list is empty, which means no
/// limit: with more limits in one scope, most grants would show no record, and the test would miss a limit that has no
/// effect.
fn some_of<T: Debug + Clone>(
    value: impl Strategy<Value = T>,
    size: Range<usize>,
) -> impl Strategy<Value = Vec<T>> {
    proptest::option::weighted(0.25, proptest::collection::vec(value, size))
        .prop_map(Option::unwrap_or_default)
}

prop_compose! {
    fn any_scope()(
        sources in some_of(0..3usize, 1..3),
        kinds in some_of(proptest::sample::select(Kind::ALL.to_vec()), 1..5),
        types in some_of(0..3usize, 1..2),
        tags in some_of(0..3usize, 1..2),
        since in proptest::option::weighted(0.4, 1..9i64), until in proptest::option::weighted(0.4, 1..9i64),
        conversations in any::<bool>(), uncovered in proptest::bool::weighted(0.25),
    ) -> GrantScope {
        let chosen_names = |all: [&str; 3], chosen: Vec<usize>| chosen.into_iter().map(|n| all[n].to_owned()).collect();
        GrantScope {
            sources: chosen_names(SOURCES, sources), kinds: kinds.into_iter().map(|k| k.as_str().to_owned()).collect(),
            types: chosen_names(TYPES, types), tags: chosen_names(TAGS, tags),
            since: since.map(|day| start_of_day(day).as_micros()),
            until: until.map(|day| start_of_day(day).as_micros()),
            conversations, uncovered,
        }
    }
}

fn start_of_day(day: i64) -> Timestamp {
    at(day * 86_400)
}

/// The time at which [`crate::source::import_units`] imports.
fn import_time() -> Timestamp {
    at(60)
}

/// Returns record number `n`. A conversation also gets a message with the same properties.
fn unit(n: usize, spec: &RecordSpec) -> Unit {
    let secret = spec
        .secret
        .map(|n| format!("{}{}", TEXT_BEFORE_SECRET[n], SECRETS[n]))
        .unwrap_or_default();
    let mut record = Record::new(
        spec.kind,
        key(&format!("r{n}")),
        format!("{WORD} number{n}. {secret}"),
    );
    record.title = Some(match spec.secret_in_title {
        true => format!("{WORD} title{n}. {secret}"),
        false => format!("{WORD} title{n}"),
    });
    record.source.platform = SOURCES[spec.source].into();
    record.record_type = spec.record_type.map(|n| TYPES[n].to_owned());
    record.tags = spec.tags.iter().map(|n| TAGS[*n].to_owned()).collect();
    record.times.created = spec.day.map(start_of_day);
    if spec.not_exportable {
        record.origin.format = "pam".into();
        record
            .fields
            .insert("access".into(), serde_json::json!({"exportable": false}));
    }
    let mut records = vec![record];
    if spec.kind == Kind::Conversation {
        let mut message = Record::new(
            Kind::Message,
            key(&format!("m{n}")),
            format!("{WORD} said{n}. {secret}"),
        );
        message.source.platform = SOURCES[spec.source].into();
        message.times.created = spec.day.map(|day| start_of_day(day + 1));
        message.parent = Some(key(&format!("r{n}")));
        message.message = Some(MessagePart {
            role: "user".into(),
            hidden: spec.hidden,
            active: true,
            content_type: "text".into(),
            ..MessagePart::default()
        });
        records.push(message);
    }
    Unit { records }
}

/// Returns whether a client with this scope may see a record. This is written independently of the vault's code.
fn is_visible(scope: &GrantScope, record: &Record, spec: &RecordSpec) -> bool {
    let kind = record.kind;
    let is_never_visible = [
        Kind::Attachment,
        Kind::Audit,
        Kind::Foreign,
        Kind::Credential,
    ]
    .contains(&kind);
    let is_chat = [Kind::Conversation, Kind::Message].contains(&kind);
    let is_hidden = spec.hidden && kind == Kind::Message;
    let is_not_exportable = spec.not_exportable && kind == Kind::Memory;
    let date = record.times.created.unwrap_or(import_time()).as_micros();
    let is_allowed = |names: &Vec<String>, name: Option<&str>| {
        names.is_empty() || name.is_some_and(|name| names.iter().any(|n| n == name))
    };
    !is_never_visible
        && !spec.trashed
        && !is_hidden
        && !is_not_exportable
        && (scope.conversations || !is_chat)
        && is_allowed(&scope.kinds, Some(kind.as_str()))
        && is_allowed(&scope.sources, Some(&record.source.platform))
        && is_allowed(&scope.types, record.record_type.as_deref())
        && (scope.tags.is_empty() || scope.tags.iter().any(|tag| record.tags.contains(tag)))
        && scope.since.is_none_or(|since| date >= since)
        && scope.until.is_none_or(|until| date <= until)
}

/// Computes the vault's ids of records. The keys are read from the vault's header only once, because that is slow.
struct Ids(VaultKeys);

impl Ids {
    fn of(&self, key: &RecordKey) -> String {
        let parts: [&[u8]; 3] = [b"record", key.scope.as_bytes(), key.value.as_bytes()];
        hex::encode(keyed_id(self.0.ids(), &parts))
    }
}

pub fn scan_all(t: &TempVault) {
    while t.vault.scanner().scan_next(at(50)).unwrap().left > 0 {}
}

fn grant(t: &TempVault, scope: GrantScope) -> (Grant, String) {
    let new = NewGrant {
        name: "Client".into(),
        scope,
        rights: GrantRights {
            read: true,
            suggest: true,
            export: true,
        },
        records_per_call: 50,
        records_per_day: 100,
        expires: None,
    };
    t.vault.grants().add(new, at(10)).unwrap()
}

/// Returns the records of all pages of a list, with two records per page, and the totals that the pages state.
fn list_all(view: &mut GrantedView<'_>) -> (Vec<GrantedRecord>, BTreeSet<u32>) {
    let (mut all, mut totals, mut cursor) = (Vec::new(), BTreeSet::new(), None);
    loop {
        let page = view.list(cursor.as_deref(), 2, usize::MAX).unwrap();
        totals.insert(page.total);
        all.extend(page.records);
        match page.next {
            Some(next) => cursor = Some(next),
            None => return (all, totals),
        }
    }
}

/// Calls the export tools for all visible records. Returns each document with the number of records of each kind in
/// that document.
fn documents(
    t: &TempVault,
    view: &mut GrantedView<'_>,
    range: &ExportRange,
) -> Vec<(String, BTreeMap<Kind, u32>)> {
    let export = view.export(range, 100, usize::MAX).unwrap();
    assert!(!export.is_cut_off());
    let options_for_encoding = |encoding: &str| WriteOptions {
        encoding: Some(encoding.to_owned()),
        ..WriteOptions::default()
    };
    let options_for_bundle = |sign: bool, disclose: Option<Selector>| WriteOptions {
        signer: sign.then(|| t.vault.exporter().signer()),
        format_options: FormatOptions::new(AnswerOptions {
            session: "s".into(),
            disclose,
            numbers: export.numbers.clone(),
            ..AnswerOptions::default()
        }),
        ..WriteOptions::default()
    };
    let mut calls = vec![
        ("export_memory", options_for_encoding("json")),
        ("export_memory", options_for_encoding("yaml")),
        ("export_memory", options_for_encoding("jsonl")),
        ("memory_export", options_for_bundle(false, None)),
    ];
    if !export.numbers.is_empty() {
        calls.push(("memory_export", options_for_bundle(true, None)));
        calls.push((
            "memory_export",
            options_for_bundle(true, Some(Selector::default())),
        ));
    }
    calls
        .iter()
        .map(|(tool, options)| {
            view.write_document(tool, &export, "owner", options, at(60))
                .unwrap()
        })
        .collect()
}

/// A record's id as documents may write it: plain, or as a UUID with dashes.
fn id_spellings(id: &str) -> [String; 2] {
    let parts = [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]];
    [id.to_owned(), parts.join("-")]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_call_returns_anything_outside_the_grant(
        all in proptest::collection::vec(any_spec(), 4..14), scope in any_scope(),
    ) {
        let t = TempVault::new();
        let ids = Ids(t.keys());
        let units: Vec<Unit> = all.iter().enumerate().map(|(n, spec)| unit(n, spec)).collect();
        crate::source::import_units(&t, &units);
        for (spec, unit) in all.iter().zip(&units).filter(|(spec, _)| spec.trashed) {
            let id = ids.of(&unit.records[0].key);
            prop_assert!(t.vault.trash().trash(&[id], at(20)).is_ok(), "{spec:?}");
        }
        scan_all(&t);
        let (grant, _) = grant(&t, scope.clone());
        let mut view = t.vault.grants().view(&grant).unwrap();

        let (mut visible, mut outside) = (BTreeMap::new(), BTreeSet::new());
        for (spec, unit) in all.iter().zip(&units) {
            for record in &unit.records {
                let id = ids.of(&record.key);
                if is_visible(&scope, record, spec) {
                    visible.insert(id, record);
                } else {
                    outside.insert(id);
                }
            }
        }
        let mut returned: Vec<GrantedRecord> = Vec::new();

        let (listed, totals) = list_all(&mut view);
        let expected: BTreeSet<&String> =
            visible.iter().filter(|(_, r)| LISTED_KINDS.contains(&r.kind)).map(|(id, _)| id).collect();
        prop_assert_eq!(listed.iter().map(|r| &r.id).collect::<BTreeSet<_>>(), expected.clone(), "the list is complete");
        prop_assert_eq!(listed.len(), expected.len(), "and names each record once");
        prop_assert_eq!(totals, BTreeSet::from([expected.len() as u32]));
        returned.extend(listed);

        let mut counts: BTreeMap<Kind, u32> = BTreeMap::new();
        visible.values().for_each(|record| *counts.entry(record.kind).or_default() += 1);
        prop_assert_eq!(view.counts().unwrap(), counts.clone());

        let documents = documents(&t, &mut view, &ExportRange::default());
        for (document, left) in &documents {
            prop_assert_eq!(left, &counts, "what leaves is counted");
            for id in &outside {
                prop_assert!(!id_spellings(id).iter().any(|form| document.contains(form)), "{id} in {document}");
            }
            for (n, (spec, unit)) in all.iter().zip(&units).enumerate() {
                for (record, word) in unit.records.iter().zip([format!("number{n}."), format!("said{n}.")]) {
                    let expected = is_visible(&scope, record, spec);
                    prop_assert_eq!(document.contains(&word), expected, "{} in {}", word, document);
                }
            }
        }
        let texts_of_all: Vec<&str> = units.iter().flat_map(|u| &u.records).map(|r| r.text.as_str()).collect();
        for text in view.known_texts(&texts_of_all).unwrap() {
            prop_assert!(visible.values().any(|record| record.text == text), "{text}");
        }

        let hits = view.search(WORD, 100).unwrap();
        let hit_ids: BTreeSet<&String> = hits.iter().map(|(record, _)| &record.id).collect();
        prop_assert_eq!(&hit_ids, &visible.keys().collect::<BTreeSet<_>>(), "a search finds what is visible");
        let texts: Vec<String> = hits.iter().map(|(_, text)| text.clone()).collect();
        returned.extend(hits.into_iter().map(|(record, _)| record));

        for id in &outside {
            let refused = view.record(id);
            prop_assert!(matches!(refused, Err(VaultError::NotFound { erased: false, .. })), "{refused:?}");
            prop_assert!(view.messages(id, 0, 10, usize::MAX).is_err());
        }
        for id in visible.keys() {
            returned.push(view.record(id).unwrap());
            returned.extend(view.messages(id, 0, 10, usize::MAX).unwrap().0);
        }
        for record in &returned {
            prop_assert!(visible.contains_key(&record.id), "{record:?}");
            prop_assert!(record.conversation.as_ref().is_none_or(|id| visible.contains_key(id)), "{record:?}");
        }
        if !scope.uncovered {
            let answers = format!("{returned:?}{texts:?}{documents:?}");
            for secret in SECRETS {
                prop_assert!(!answers.contains(secret), "{secret} in {answers}");
            }
            // A search must not reveal masked values either.
            for query in [SECRETS[0], "4539", "kovalenko"] {
                let hits = view.search(query, 100).unwrap();
                prop_assert!(hits.is_empty(), "{query}: {hits:?}");
            }
        }
    }
}

#[test]
fn an_erased_record_is_gone_from_every_call_and_a_cursor_does_not_bring_it_back() {
    let t = TempVault::new();
    let records = (0..5).map(|n| {
        let mut record = Record::new(
            Kind::Memory,
            key(&format!("r{n}")),
            format!("{WORD} number{n}"),
        );
        record.times.created = Some(start_of_day(n));
        record
    });
    t.import_records(records.collect()).unwrap();
    scan_all(&t);
    let (grant, _) = grant(&t, GrantScope::default());
    let mut view = t.vault.grants().view(&grant).unwrap();
    let first = view.list(None, 2, usize::MAX).unwrap();
    let erased_id = Ids(t.keys()).of(&key("r2"));
    let last_shown = first.records[1].id.clone();
    for id in [erased_id.clone(), last_shown.clone()] {
        t.vault
            .eraser()
            .erase(&[id], "test", &[], at(100), &|_| {})
            .unwrap();
    }
    let second_page = view.list(first.next.as_deref(), 10, usize::MAX).unwrap();
    assert_eq!(
        (second_page.records.len(), second_page.total),
        (2, 3),
        "{second_page:?}"
    );
    for (document, _) in documents(&t, &mut view, &ExportRange::default()) {
        for id in [&erased_id, &last_shown] {
            assert!(id_spellings(id).iter().all(|form| !document.contains(form)));
        }
        assert!(document.contains("number0"), "{document}");
    }
    for id in [erased_id, last_shown] {
        assert!(matches!(
            view.record(&id),
            Err(VaultError::NotFound { erased: false, .. })
        ));
        assert!(
            view.search(WORD, 10)
                .unwrap()
                .iter()
                .all(|(record, _)| record.id != id)
        );
    }
}

#[test]
fn a_cursor_of_another_list_is_refused() {
    let t = TempVault::new();
    let (grant, _) = grant(&t, GrantScope::default());
    let mut view = t.vault.grants().view(&grant).unwrap();
    for cursor in ["", "1", "1.2", "x.00", "1.2.3", "🐢.🐢"] {
        assert!(
            matches!(view.list(Some(cursor), 2, 10), Err(VaultError::Usage(_))),
            "{cursor}"
        );
    }
}

#[test]
fn what_a_client_receives_is_counted_logged_and_limited() {
    let t = TempVault::new();
    let (stored_grant, token) = grant(&t, GrantScope::default());
    let grants = t.vault.grants();
    let remaining_records = |t| {
        grants
            .check(&token, t)
            .unwrap()
            .map(|(_, remaining_records)| remaining_records)
    };
    assert_eq!(remaining_records(at(20)), Ok(100));
    let mut call = Call::new("client_search");
    call.returned.insert(Kind::Memory, 60);
    call.returned.insert(Kind::Fact, 1);
    assert_eq!(grants.record(&stored_grant, &call, at(20)).unwrap(), Ok(()));
    assert_eq!(remaining_records(at(21)), Ok(39));
    assert_eq!(
        grants.record(&stored_grant, &call, at(22)).unwrap(),
        Err(GrantRefusal::DailyLimit)
    );
    assert_eq!(
        remaining_records(at(23)),
        Ok(39),
        "what is refused is not counted"
    );
    assert_eq!(
        remaining_records(at(86_400)),
        Ok(100),
        "the next day begins with nothing used"
    );
    let log = t.vault.audit().entries().unwrap();
    let calls: Vec<_> = log.iter().filter(|entry| entry.actor == "client").collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (calls[0].op.as_str(), calls[0].target.as_str()),
        ("client_search", stored_grant.id.as_str())
    );
    assert_eq!(calls[0].detail, "memory 60, fact 1");
    assert!(t.vault.audit().verify().unwrap());
}

#[test]
fn a_wrong_revoked_or_expired_token_is_refused_and_survives_reopening() {
    let (t, other) = (TempVault::new(), TempVault::new());
    let (stored_grant, token) = grant(&t, GrantScope::default());
    let (_, foreign) = grant(&other, GrantScope::default());
    let check_token =
        |t: &TempVault, token: &str, now| t.vault.grants().check(token, now).unwrap().map(drop);
    assert_eq!(check_token(&t, &token, at(20)), Ok(()));
    for wrong in [foreign.as_str(), "", "mementory_rs_0_0", &token[1..]] {
        assert_eq!(
            check_token(&t, wrong, at(20)),
            Err(GrantRefusal::UnknownToken),
            "{wrong}"
        );
    }
    let t = t.reopen();
    assert_eq!(check_token(&t, &token, at(20)), Ok(()));
    t.vault.grants().revoke("Client", at(30)).unwrap();
    assert_eq!(check_token(&t, &token, at(40)), Err(GrantRefusal::Revoked));
    assert_eq!(
        t.vault
            .grants()
            .record(&stored_grant, &Call::new("client_about"), at(40))
            .unwrap(),
        Err(GrantRefusal::Revoked)
    );
    assert!(t.vault.grants().revoke("Client", at(50)).is_err());
    let new = NewGrant {
        name: "Client".into(),
        rights: GrantRights {
            read: true,
            ..GrantRights::default()
        },
        records_per_call: 1,
        records_per_day: 1,
        expires: Some(at(60).as_micros()),
        ..NewGrant::default()
    };
    let (_, token) = t.vault.grants().add(new, at(50)).unwrap();
    assert_eq!(check_token(&t, &token, at(59)), Ok(()));
    assert_eq!(check_token(&t, &token, at(60)), Err(GrantRefusal::Expired));
}

#[test]
fn a_suggestion_with_erased_words_or_for_an_erased_record_goes_with_them() {
    let t = TempVault::new();
    let text = "Keeps the spare key under the blue flowerpot beside the garden door.";
    let records = [("a", text), ("b", "Has a tortoise called Rui.")];
    let records = records.map(|(name, text)| Record::new(Kind::Memory, key(name), text));
    t.import_records(records.to_vec()).unwrap();
    let id = Ids(t.keys()).of(&key("a"));
    let suggest = |op, target: Option<&str>, text: &str| {
        let suggestion = Suggestion {
            id: String::new(),
            grant: "g".into(),
            client: "Client".into(),
            op,
            target: target.map(|id| (id.to_owned(), 1)),
            text: Some(text.to_owned()),
            record_type: None,
            tags: Vec::new(),
            reason: None,
            created: None,
            at: at(30).as_micros(),
        };
        t.vault.suggestions().add(suggestion).unwrap()
    };
    suggest(SuggestionOp::New, None, &format!("Note: {text}"));
    suggest(SuggestionOp::Change, Some(&id), "Moved the spare key.");
    let suggestion = suggest(SuggestionOp::New, None, "Likes trains.");
    assert_eq!(
        suggest(SuggestionOp::New, None, "Likes trains."),
        suggestion,
        "the same one is stored once"
    );
    let outcome = t
        .vault
        .eraser()
        .erase(&[id], "test", &[], at(100), &|_| {})
        .unwrap()
        .value;
    assert!(outcome.receipt.complete, "{:?}", outcome.receipt);
    let waiting = t.vault.suggestions().waiting().unwrap();
    assert_eq!(
        waiting.iter().map(|s| &s.id).collect::<Vec<_>>(),
        [&suggestion]
    );
}
