//! Every folder of `fixtures/generic_chat` has an input and the expected result.
#![allow(clippy::unwrap_used)]
use super::GenericChat;
use crate::cases::{check_cases, check_texts_are_in_one_verbatim, claiming};
use mementory_format::testkit::Scratch;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&GenericChat);
}

#[test]
fn a_question_is_not_in_the_verbatim_of_its_answer() {
    check_texts_are_in_one_verbatim(
        &GenericChat,
        &["chat_history", "webui_pairs", "prompts", "speaker_pairs", "amazon_q", "amazon_q_pairs"],
    );
}

#[test]
fn a_chat_of_a_known_format_is_claimed_only_by_it() {
    let scratch = Scratch::new("known");
    scratch.put("a.json", r#"[{"uuid":"c","name":"n","chat_messages":[{"uuid":"a","sender":"human","text":"hi"}]}]"#);
    assert_eq!(claiming(&scratch.at("a.json")), ["claude"]);
    scratch.put(
        "b.json",
        r#"[{"id":"c","chat":{"history":{"currentId":"m","messages":{"m":{"role":"user","content":"hi"}}}}}]"#,
    );
    assert_eq!(claiming(&scratch.at("b.json")), ["open_webui"]);
}

#[test]
fn a_second_export_with_one_more_message_keeps_all_keys() {
    let scratch = Scratch::new("again");
    let keys = |messages: &str| {
        let path = scratch.put("chat.json", format!(r#"{{"title":"t","messages":[{messages}]}}"#));
        crate::testing::read(&path, &GenericChat).records.into_iter().map(|r| r.key).collect::<Vec<_>>()
    };
    let two = r#"{"role":"user","content":"One"},{"role":"assistant","content":"Two"}"#;
    let (first, second) = (keys(two), keys(&format!(r#"{two},{{"role":"user","content":"Three"}}"#)));
    assert_eq!(first[..], second[..3]);
    let other = keys(r#"{"role":"user","content":"One"},{"role":"assistant","content":"Another answer"}"#);
    assert_ne!(first[0], other[0]);
}
