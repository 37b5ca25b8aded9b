//! Tests with the cases in `fixtures/snapchat`.
#![allow(clippy::unwrap_used)]
use super::Snapchat;
use crate::cases::{check_cases, claiming};
use crate::testing::read;
use mementory_format::testkit::Scratch;
use std::collections::BTreeSet;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&Snapchat);
}

#[test]
fn other_files_of_an_account_are_not_claimed() {
    let scratch = Scratch::new("snapchat");
    for (name, text) in [
        ("chat_history.json", r#"{"mo":[{"From":"mo","Media Type":"TEXT","Created":"2026-01-01 10:00:00 UTC"}]}"#),
        ("friends.json", r#"{"Friends":[{"Username":"mo","Display Name":"Mo"}]}"#),
        ("page.json", r#"{"My AI Content":"a title"}"#),
    ] {
        let path = scratch.put(name, text);
        assert!(!claiming(&path).contains(&"snapchat"), "{text}");
    }
}

#[test]
fn a_later_export_without_the_oldest_messages_keeps_the_keys_of_the_others() {
    let scratch = Scratch::new("later");
    let message = |time: &str, text: &str| format!(r#"{{"Timestamp":"{time} UTC","Type":"TEXT","Content":"{text}"}}"#);
    let keys = |messages: &[String]| -> BTreeSet<String> {
        let path = scratch.put("snapchat_ai.json", format!(r#"{{"My AI Content":[{}]}}"#, messages.join(",")));
        read(&path, &Snapchat).records.into_iter().map(|record| record.key.value).collect()
    };
    let all = [message("2026-01-01 10:00:00", "One"), message("2026-01-02 10:00:00", "Two")];
    assert!(keys(&all[1..]).is_subset(&keys(&all)));
}

#[test]
fn a_chat_with_my_ai_far_behind_the_others_is_found() {
    let scratch = Scratch::new("late");
    let message = |from: &str, text: &str| {
        let sender = from == "mo";
        format!(
            r#"{{"From":"{from}","Media Type":"TEXT","Created":"2026-01-01 10:00:00 UTC","Content":"{text}","IsSender":{sender}}}"#
        )
    };
    let others = vec![message("leo", "See \\\"myai\\\": there"); 2000].join(",");
    let chats = |last: &str| format!(r#"{{"leo":[{others}]{last}}}"#);
    let path = scratch.put("chat_history.json", chats(&format!(r#","myai" :[{}]"#, message("mo", "Do frogs sleep?"))));
    let source = read(&path, &Snapchat);
    let texts: Vec<&str> = source.records.iter().map(|record| record.text.as_str()).collect();
    assert_eq!(texts, ["", "Do frogs sleep?"]);
    let path = scratch.put("chats.json", chats(""));
    assert!(!claiming(&path).contains(&"snapchat"));
}
