//! Tests with random grants and calls that the log counts exactly the records of each kind that the client received.
use super::{documents::validated, *};
use mementory_api::Job;
use proptest::prelude::*;
use std::{collections::BTreeMap, path::Path};

/// The id of a record that does not exist. Calls with this id must be answered like calls with the id of a record that
/// the grant does not cover.
const NO_RECORD: &str = "00000000000000000000000000000000";

/// Number of records by kind.
type Counts = BTreeMap<String, u32>;

fn any_scope() -> impl Strategy<Value = GrantRequest> {
    let any_of = |all: &'static [&'static str]| {
        proptest::sample::subsequence(all, 0..=1)
            .prop_map(|v| v.into_iter().map(str::to_owned).collect::<Vec<String>>())
    };
    (
        any_of(&["chatgpt", "claude", "me"]),
        any_of(&["memory", "conversation", "message"]),
        any_of(&["home", "work"]),
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(1u32), Just(3), Just(50)],
        prop_oneof![Just(4u32), Just(20), Just(2000)],
    )
        .prop_map(|(sources, kinds, tags, conversations, uncovered, per_call, per_day)| GrantRequest {
            sources,
            kinds,
            tags,
            conversations,
            uncovered,
            records_per_call: Some(per_call),
            records_per_day: Some(per_day),
            ..GrantRequest::default()
        })
}

/// Random calls. Each is the number of a tool, and a number that determines its arguments.
fn any_calls() -> impl Strategy<Value = Vec<(usize, usize)>> {
    proptest::collection::vec((0..7usize, 0..1000usize), 1..12)
}

/// A vault with three memories, two of which contain values to mask, and with a sample's conversations. Also returns
/// the ids of all records, and `NO_RECORD`.
fn filled_vault() -> (TestVault, Vec<String>) {
    let v = open();
    let mut ids: Vec<String> = [
        "Has a tortoise called Rui.",
        "Mail: ada.kovalenko@orchardmail.eu",
        "The deploy token is ghp_9fJ2kLm4Qx7RtV1wZb6Yc3Nd8Ps5Ua0He2Gi",
    ]
    .map(|text| v.add(text))
    .to_vec();
    let crate_folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let export = Path::new(&crate_folder).join("../../../fixtures/samples/chatgpt-export.zip");
    let paths = vec![export.display().to_string()];
    let request = ImportRequest { paths, ..ImportRequest::default() };
    v.session.imports().import(&request, false, &Job::default()).unwrap();
    let all = v.session.records().list(&ListRequest { limit: Some(500), ..ListRequest::default() }).unwrap();
    ids.extend(all.items.into_iter().map(|item| item.id));
    ids.push(NO_RECORD.into());
    (v, ids)
}

/// Number of records in one answer, by kind. A document does not state the kinds that its records have in the vault, so
/// they are counted as "all".
fn received(v: &TestVault, tool: &str, out: &Value) -> Counts {
    let mut counts = Counts::new();
    let mut add = |kind: &Value, n: u32| *counts.entry(kind.as_str().unwrap_or("all").to_owned()).or_default() += n;
    match tool {
        "search" => out["results"].as_array().unwrap().iter().for_each(|hit| add(&hit["metadata"]["kind"], 1)),
        "list_memories" => out["memories"].as_array().unwrap().iter().for_each(|hit| add(&hit["metadata"]["kind"], 1)),
        "fetch" => {
            add(&out["metadata"]["kind"], 1);
            let heads = out["text"].as_str().unwrap().lines().filter(|line| !line.starts_with("> "));
            let messages = heads.filter(|line| line.contains(", message ")).count();
            add(&json!("message"), u32::try_from(messages).unwrap());
        }
        "export_memory" | "memory_export" => {
            let text = out["data"].as_str().or(out["bundle"].as_str()).unwrap();
            let validation = validated(v, &format!("{tool}.json"), text);
            assert!(validation.ok, "{validation:?}");
            add(&Value::Null, validation.records);
        }
        _ => {}
    }
    counts.retain(|_, n| *n > 0);
    counts
}

fn add_all(sum: &mut Counts, more: &Counts) {
    more.iter().for_each(|(kind, n)| *sum.entry(kind.clone()).or_default() += n);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_log_says_what_a_client_received(requests in proptest::collection::vec(any_scope(), 2), calls in any_calls()) {
        let (v, ids) = filled_vault();
        for (n, request) in requests.iter().enumerate() {
            let rights = ["read", "suggest", "export"];
            let token = v.token(&rights, |made| *made = GrantRequest {
                name: format!("Client {n}"),
                rights: made.rights.clone(),
                ..request.clone()
            });
            let (mut sum, mut in_documents) = (Counts::new(), 0);
            for (tool, number) in &calls {
                let id = &ids[number % ids.len()];
                let (tool, arguments) = match tool {
                    0 => ("search", json!({"query": (["tortoise", "the", "token"][number % 3])})),
                    1 => ("fetch", json!({"id": id})),
                    2 => ("list_memories", json!({"limit": number % 7 + 1})),
                    3 => ("about", json!({})),
                    4 => ("export_memory", json!({"redact_pii": number % 2 == 0})),
                    5 => ("memory_export", json!({})),
                    _ => ("suggest_forgetting", json!({"id": id})),
                };
                // A refused call returns no records, and the log must not count any.
                let Ok(out) = v.call(&token, tool, arguments) else { continue };
                let counts = received(&v, tool, &out);
                if tool.contains("export") {
                    in_documents += counts.values().sum::<u32>();
                } else {
                    add_all(&mut sum, &counts);
                }
            }
            let grant = v.session.agents().grant_of(&token).unwrap().unwrap();
            let log = v.session.agents().calls(Some(&grant.id), 1000).unwrap().calls;
            let (mut left, mut left_in_documents) = (Counts::new(), 0);
            for call in &log {
                match call.tool.contains("export") {
                    true => left_in_documents += call.left.values().sum::<u32>(),
                    false => add_all(&mut left, &call.left),
                }
            }
            prop_assert_eq!(&left, &sum, "{:?}", log);
            prop_assert_eq!(left_in_documents, in_documents, "{:?}", log);
            let total = left.values().sum::<u32>() + left_in_documents;
            prop_assert_eq!(total, grant.records_today, "the day counts the same");
            prop_assert!(total <= request.records_per_day.unwrap(), "the cap of the day holds");
        }
    }
}
