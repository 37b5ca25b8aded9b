//! Tests with the fixtures, with the sample, and with other files of Meta.
#![allow(clippy::unwrap_used)]
use super::MetaAi;
use crate::cases::{check_cases, check_texts_are_in_one_verbatim, formats_claiming, import};
use mementory_format::testkit::{MemorySource, Scratch, repo, shared};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases(&MetaAi);
}

#[test]
fn the_text_of_a_message_is_only_in_its_own_verbatim() {
    let cases = ["page", "label_alone", "pairs", "thread", "whatsapp", "whatsapp_group"];
    check_texts_are_in_one_verbatim(&MetaAi, &cases);
}

#[test]
fn the_sample_has_the_counts_that_were_found_by_hand() {
    let Some(exports) = shared("exports") else { return };
    let expected: Value = serde_json::from_slice(&std::fs::read(exports.join("expected.json")).unwrap()).unwrap();
    let by_hand = &expected["samples"]["20-meta-ai"]["by_hand"];
    let (_, imported) = import(&exports.join("20-meta-ai"), &MetaAi);
    assert_eq!(json!(imported.kinds()["conversation"]), by_hand["conversations"]);
    assert_eq!(json!(imported.kinds()["message"]), by_hand["messages"]);
    assert_eq!(imported.find("What eats slugs?").message.as_ref().unwrap().role, "user");
    assert_eq!(imported.find("Hedgehogs.").message.as_ref().unwrap().role, "assistant");
}

#[test]
fn the_name_of_the_file_does_not_matter() {
    let scratch = Scratch::new("meta-ai-names");
    let path = repo().join("fixtures/meta_ai/page/input/meta_ai_profile/your_ai_conversations.html");
    let renamed = scratch.put("x", std::fs::read(&path).unwrap());
    let keys = |path| -> Vec<_> { import(path, &MetaAi).1.records.into_iter().map(|r| r.key).collect() };
    assert_eq!(keys(&path), keys(&renamed));
}

#[test]
fn a_longer_export_of_a_chat_of_whatsapp_has_the_same_keys() {
    let start = "7/9/26, 13:05 - Mirela: What eats slugs?\n7/9/26, 13:06 - Meta AI: Hedgehogs.\n";
    let scratch = Scratch::new("meta-ai-whatsapp-longer");
    let short = scratch.put("short.txt", start);
    let long = scratch.put("long.txt", format!("{start}7/19/26, 10:00 - Mirela: Thank you\n"));
    let (short, long) = (import(&short, &MetaAi).1, import(&long, &MetaAi).1);
    let message = |found: &MemorySource| found.find("What eats slugs?").clone();
    // Only the longer export contains a date that shows that the month comes first.
    assert_ne!(message(&short).times.created, message(&long).times.created);
    let long: BTreeSet<_> = long.records.into_iter().map(|record| record.key.value).collect();
    assert!(short.records.iter().all(|record| long.contains(&record.key.value)));
}

#[test]
fn other_files_of_meta_are_not_claimed() {
    let scratch = Scratch::new("meta-ai-none");
    for (n, (ending, text)) in [
        ("json", r#"{"participants":[{"name":"Mirela"},{"name":"Jonas"}],"messages":[{"sender_name":"Jonas","content":"Meta AI"}]}"#),
        (
            "json",
            r#"{"participants":[{"name":"Mirela"},{"name":"Jonas"},{"name":"Meta AI"}],"messages":[{"sender_name":"Jonas","content":"x"}]}"#,
        ),
        ("json", r#"{"label_values":[{"label":"Name","value":"Mirela"}]}"#),
        ("html", "<table><tr><td>You</td><td>liked a page</td></tr></table>"),
        ("html", "<p>Meta AI: a page about it</p>"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = scratch.put(&format!("{n}.{ending}"), text);
        assert!(!formats_claiming(&path).contains(&"meta_ai"), "{text}");
    }
}
