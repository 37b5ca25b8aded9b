#![allow(clippy::unwrap_used)]
use super::Perplexity;
use crate::cases::{check_cases_under_any_name, check_texts_are_in_one_verbatim, count, keys};
use crate::detect;
use crate::testing::read;
use mementory_format::{Catalog, FormatError, testkit::Scratch};
use mementory_model::{Kind, Limits};

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    check_cases_under_any_name(&Perplexity);
}

#[test]
fn a_query_is_not_in_the_verbatim_of_its_answer() {
    check_texts_are_in_one_verbatim(&Perplexity, &["threads", "wrapped_api", "thread_ids", "document"]);
}

#[test]
fn two_files_of_one_thread_are_one_conversation() {
    let Some(sample) = mementory_format::testkit::shared("exports/21-perplexity") else { return };
    let imported = read(&sample, &Perplexity);
    assert_eq!((count(&imported, Kind::Conversation), count(&imported, Kind::Message)), (1, 4));
    let texts: Vec<&str> =
        imported.records.iter().filter(|r| r.kind == Kind::Message).map(|r| r.text.as_str()).collect();
    assert_eq!(texts, ["what eats slugs", "Hedgehogs[1].", "and snails?", "Thrushes."]);
    assert_eq!(keys(&imported), keys(&read(&sample, &Perplexity)));
}

#[test]
fn a_thread_that_grows_from_one_entry_keeps_its_keys() {
    let scratch = Scratch::new("perplexity-growing");
    let entry = |n: u32, members: &str| {
        format!(r#"{{"uuid":"e-{n}","backend_uuid":"b-{n}",{members}"query_str":"q {n}","answer":"a {n}"}}"#)
    };
    let keys_of = |name: &str, entries: &[String]| {
        let text = format!(r#"{{"status":"success",{name}"entries":[{}]}}"#, entries.join(","));
        keys(&read(&scratch.put("response.json", text), &Perplexity))
    };
    let own = |n: u32| entry(n, &format!(r#""thread_url_slug":"ferns-{n}","#));
    let shared = |n: u32| entry(n, r#""thread_url_slug":"ferns","#);
    let unnamed = |n: u32| entry(n, r#""blocks":[],"#);
    let named_later = |n: u32| if n == 1 { unnamed(n) } else { own(n) };
    let cases: [(&str, &dyn Fn(u32) -> String); 5] = [
        ("", &own),
        ("", &shared),
        ("", &unnamed),
        ("", &named_later),
        (r#""thread_title":"Ferns","thread_id":"t-1","#, &own),
    ];
    for (name, entry) in cases {
        let (first, second) = (keys_of(name, &[entry(1)]), keys_of(name, &[entry(1), entry(2)]));
        assert_eq!((first.len(), second.len()), (3, 5), "{second:?}");
        assert!(first.is_subset(&second), "{first:?} {second:?}");
    }
}

#[test]
fn a_workbook_that_expands_too_far_is_refused() {
    let Some(bytes) = mementory_formats_shared::workbook::testing::workbook("MEMORY_VALUE", &"x".repeat(200_000))
    else {
        return;
    };
    let scratch = Scratch::new("perplexity-bomb");
    let path = scratch.put("bomb.xlsx", bytes);
    let limits = Limits { expanded_bytes: 1000, ..Limits::default() };
    let catalog = Catalog::open(&[path], &limits, None).unwrap();
    let detection = detect(&catalog, &limits, Some("perplexity")).unwrap();
    let context = mementory_format::ReadContext {
        limits,
        now: mementory_model::Timestamp::from_micros(0).unwrap(),
        passphrase: None,
    };
    let mut sink = mementory_format::testkit::MemorySource::default();
    let result = mementory_format::Format::read(&Perplexity, &catalog, &detection.sources[0], &context, &mut sink);
    assert!(matches!(result, Err(FormatError::Limit { limit: "expanded_bytes", .. })), "{result:?}");
}

#[test]
fn files_of_other_programs_are_not_claimed() {
    for text in [
        r#"{"conversations":[{"query":"x","answer":"y"}]}"#,
        r#"{"metadata":{"title":"x"},"conversations":[{"query":"x"}]}"#,
        r#"{"entries":[{"query":"x","answer":"y"}]}"#,
        r#"[{"query_str":"x"}]"#,
    ] {
        let limits = Limits::default();
        let catalog = Catalog::from_text(text, &limits);
        let detection = detect(&catalog, &limits, None).unwrap();
        assert!(detection.sources.iter().all(|source| source.format != "perplexity"), "{text}");
    }
}
