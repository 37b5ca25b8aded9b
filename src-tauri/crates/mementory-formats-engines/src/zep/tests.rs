//! Tests with the cases in `fixtures/zep` and with the shared sample.
use super::Zep;
use crate::cases::{check_cases_under_any_name, claiming, read_sample};
use crate::testing::read;
use mementory_format::testkit::Scratch;
use mementory_model::Kind;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&Zep);
}

#[test]
fn the_sample_has_a_fact_that_holds_and_one_that_does_not() {
    let Some(imported) = read_sample("14-zep", &Zep) else { return };
    let facts = imported.records.iter().filter(|r| r.kind == Kind::Memory);
    let states: Vec<Option<&str>> = facts.map(|fact| fact.status.as_deref()).collect();
    assert_eq!(states, [Some("active"), Some("superseded")]);
}

#[test]
fn texts_that_only_quote_a_context_block_are_not_claimed() {
    let scratch = Scratch::new("blocks");
    let block = "<FACTS>\n- Mo keeps bees (unknown - present)\n</FACTS>\n# format: FACT (Date range: from - to)\n";
    for (name, text) in [
        ("chat.txt", format!("User: what is this?\n{block}")),
        ("facts.txt", "<FACTS>\n- Bees have six legs.\n</FACTS>\n".to_owned()),
        ("answer.json", r#"{"context":"the FACTS and nothing else","tokens":7}"#.to_owned()),
    ] {
        let path = scratch.put(name, text);
        assert!(!claiming(&path).contains(&"zep"), "{name}");
    }
    assert_eq!(claiming(&scratch.put("block.txt", block)), ["zep"]);
}

#[test]
fn words_outside_the_sections_of_a_block_are_stored() {
    let scratch = Scratch::new("outside");
    let block = "# This is the user summary\n<USER_SUMMARY>\nMo gardens.\n</USER_SUMMARY>\n";
    for (more, is_stored) in [("\n# Facts\n", false), ("Answer in verse.\n", true), ("<FACTS>- Bees</FACTS>\n", true)] {
        let imported = read(&scratch.put("block.txt", format!("{block}{more}")), &Zep);
        assert_eq!((imported.records.len(), imported.parts.len()), (1, usize::from(is_stored)), "{more}");
    }
}
