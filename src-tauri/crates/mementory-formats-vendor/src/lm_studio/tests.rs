//! Every folder of `fixtures/lm_studio` has an input and the expected result.
#![allow(clippy::unwrap_used)]
use super::LmStudio;
use crate::cases::check_cases;
use crate::testing::read;
use mementory_format::testkit::repo;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&LmStudio);
}

#[test]
fn versions_of_an_answer_are_branches_and_the_shown_one_is_active() {
    let imported = read(&repo().join("fixtures/lm_studio/full/input.json"), &LmStudio);
    let chat = &imported.records[0];
    assert_eq!(chat.title.as_deref(), Some("Slugs in pots"));
    assert_eq!(chat.fields["system_prompt"], "Answer briefly.");
    let texts: Vec<(&str, bool)> =
        imported.records[1..].iter().map(|r| (r.text.as_str(), r.message.as_ref().unwrap().active)).collect();
    assert_eq!(texts, [("What eats slugs?", true), ("Birds.", false), ("Hedgehogs.", true), ("And in pots?", true)]);
    let answer = &imported.records[3];
    assert_eq!(answer.message.as_ref().unwrap().model.as_deref(), Some("qwen-8b-q4"));
    let kinds: Vec<&str> =
        answer.fields["blocks"].as_array().unwrap().iter().map(|b| b["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "tool_call", "tool_result"]);
    assert_eq!(imported.records[1].attachments[0].name, "plot.pdf");
}
