//! Tests with the fixtures, with the samples, and with files of other products.
#![allow(clippy::unwrap_used)]
use super::Gemini;
use crate::cases::{check_cases, check_texts_are_in_one_verbatim, formats_claiming, import, import_with, roles};
use mementory_format::testkit::{Scratch, repo, shared};
use mementory_model::{Kind, Limits};
use serde_json::{Value, json};

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases(&Gemini);
}

#[test]
fn a_prompt_is_not_in_the_verbatim_of_its_answer() {
    check_texts_are_in_one_verbatim(
        &Gemini,
        &[
            "voyager",
            "workspace_pairs",
            "label_in_header",
            "details_only",
            "label_in_header_page",
            "time_in_header",
            "described_answer",
        ],
    );
}

/// Compares the result of importing a sample with `expected.json`.
fn check_sample(name: &str, gems: u64) {
    let Some(exports) = shared("exports") else { return };
    let expected: Value = serde_json::from_slice(&std::fs::read(exports.join("expected.json")).unwrap()).unwrap();
    let expected = &expected["samples"][name];
    let (_, imported) = import(&exports.join(name), &Gemini);
    let count = |kind| json!(imported.records.iter().filter(|record| record.kind == kind).count());
    assert_eq!(count(Kind::Conversation), expected["conversations"]);
    assert_eq!(count(Kind::Message), expected["messages"]);
    assert_eq!(count(Kind::Memory), expected["memories"]);
    assert_eq!(count(Kind::Audit), expected["notes"]["gemini non-prompt activity"]);
    assert_eq!(json!(roles(&imported)), expected["roles"]);
    assert_eq!(count(Kind::Profile), json!(gems));
    assert_eq!(json!(imported.files.len()), expected["attachments_present"]);
    let references = imported.records.iter().map(|record| record.attachments.len()).sum::<usize>();
    assert_eq!(json!(references), expected["attachments_referenced"]);
}

#[test]
fn the_sample_as_json_has_its_counts() {
    check_sample("08-gemini-takeout-json.zip", 0);
}

#[test]
fn the_sample_as_a_page_has_its_counts() {
    check_sample("08b-gemini-takeout-html.zip", 1);
}

#[test]
fn json_and_page_of_one_activity_have_the_same_keys() {
    let scratch = Scratch::new("gemini-both");
    let row = r#"[{"header":"Gemini Apps","title":"Prompted what eats slugs?","time":"2026-07-26T10:00:00.123Z"}]"#;
    scratch.put("json/MyActivity.json", row);
    let page = r#"<div class="outer-cell"><div class="header-cell">Gemini Apps</div><div class="content-cell">Prompted&nbsp;what
        eats slugs?<br>26 Jul 2026, 12:00:00 CEST<br></div></div>"#;
    scratch.put("html/MyActivity.html", page);
    let keys = |name: &str| -> Vec<String> {
        let (_, imported) = import(&scratch.at(name), &Gemini);
        imported.records.into_iter().map(|record| record.key.value).collect()
    };
    assert_eq!(keys("json"), keys("html"));
    // If one import contains both files, the activity in the second file is a duplicate.
    let (_, imported) = import(&scratch.0, &Gemini);
    assert_eq!(imported.records.len(), 2);
    assert_eq!(imported.dropped.len(), 1);
}

#[test]
fn an_activity_has_the_same_key_after_the_account_has_another_language() {
    let scratch = Scratch::new("gemini-language");
    let row = |title: &str, header: &str| {
        format!(
            r#"[{{"header":"{header}","title":"{title}","time":"2026-07-26T10:00:00Z","products":["{header}"],"safeHtmlItem":[{{"html":"Frogs."}}]}}]"#
        )
    };
    let keys = |name: &str, text: String| -> Vec<String> {
        let (_, imported) = import(&scratch.put(name, text), &Gemini);
        imported.records.into_iter().map(|record| record.key.value).collect()
    };
    let english = keys("a.json", row("Prompted what eats slugs?", "Gemini Apps"));
    assert_eq!(english.len(), 3);
    assert_eq!(keys("b.json", row("Eingegebener Prompt: what eats slugs?", "Gemini-Apps")), english);
    assert_ne!(keys("c.json", row("Prompted what eats snails?", "Gemini Apps")), english);
}

#[test]
fn names_of_files_do_not_matter() {
    let scratch = Scratch::new("gemini-names");
    let fixtures = repo().join("fixtures/gemini");
    for (case, input, name) in [
        ("json", "Takeout/My Activity/Gemini Apps/MyActivity.json", "Moja dejavnost"),
        ("html", "Takeout/My Activity/Gemini Apps/MyActivity.html", "x.htm"),
        ("workspace", "Takeout/Gemini in Workspace/Conversation History/conversation_3.txt", "a.json"),
        ("gems", "Takeout/Gemini/gemini_gems_data.html", "y.html"),
    ] {
        let text = std::fs::read(fixtures.join(case).join("input").join(input)).unwrap();
        let path = scratch.at(name);
        std::fs::write(&path, text).unwrap();
        let keys = |path: &std::path::Path| -> Vec<String> {
            import(path, &Gemini).1.records.into_iter().map(|record| record.key.value).collect()
        };
        assert_eq!(keys(&path), keys(&fixtures.join(case).join("input").join(input)), "{case}");
    }
}

#[test]
fn pictures_have_their_media_type() {
    let fixtures = repo().join("fixtures/gemini");
    for case in ["json", "html", "workspace_pictures"] {
        let (_, imported) = import(&fixtures.join(case).join("input"), &Gemini);
        let types: Vec<_> = imported.files.iter().map(|(file, _)| file.media_type.as_deref()).collect();
        assert_eq!(types, [Some("image/png")], "{case}");
    }
}

#[test]
fn activities_of_other_products_are_not_claimed() {
    let scratch = Scratch::new("gemini-none");
    for (n, (name, text)) in [
        ("json", r#"[{"header":"Search","title":"Searched for gemini","time":"2026-01-01T00:00:00Z","products":["Search"]}]"#),
        ("json", r#"[{"header":"YouTube","title":"Watched Gemini Apps","titleUrl":"https://www.youtube.com/watch?v=gemini.google.com","time":"2026-01-01T00:00:00Z"}]"#),
        ("html", r#"<div class="outer-cell"><div class="header-cell">Search</div><div class="content-cell">Searched for Gemini Apps</div></div>"#),
        ("html", "<html><body><b>Ingredients:</b> eggs<br><b>Name:</b> omelette<br><b>Instructions:</b> stir</body></html>"),
        ("txt", "Prompted what eats slugs?"),
        ("json", r#"[{"header":"Deleted items","title":"Deleted a place","time":"2026-01-01T00:00:00Z"}]"#),
        ("json", r#"[{"header":"Prompt","title":"Rate your visit","time":"2026-01-01T00:00:00Z"}]"#),
        ("json", r#"[{"title":"Deleted a place","time":"2026-01-01T00:00:00Z","details":[{"name":"Request","value":"Removal"}]}]"#),
        ("html", r#"<div class="outer-cell"><div class="header-cell">Deleted items</div><div class="content-cell">Deleted a place<br>26 Jul 2026, 12:00:00 CEST</div></div>"#),
        ("json", r#"{"title":"x","turns":[{"user_turn":{"prompt":"x"}}]}"#),
    ]
    .into_iter()
    .enumerate()
    {
        let path = scratch.at(&format!("{n}.{name}"));
        std::fs::write(&path, text).unwrap();
        assert!(!formats_claiming(&path).contains(&"gemini"), "{text}");
    }
}

#[test]
fn activities_are_found_after_long_styles_and_other_products() {
    let scratch = Scratch::new("gemini-large");
    let other = r#"<div class="outer-cell"><div class="header-cell">Search</div><div class="content-cell">Searched</div></div>"#;
    let row = r#"<div class="outer-cell"><div class="header-cell">Gemini Apps</div><div class="content-cell">Prompted&nbsp;late<br>26 Jul 2026, 12:00:00 CEST<br>Yes.</div></div>"#;
    let page = format!("<html><style>{}</style>{}{row}</html>", "a{} .mdl-x{}".repeat(20_000), other.repeat(3000));
    scratch.put("page.html", &page);
    let (_, imported) = import(&scratch.at("page.html"), &Gemini);
    assert_eq!((imported.kinds()["message"], imported.dropped.len()), (2, 3000));
}

#[test]
fn only_the_activity_above_the_size_limit_is_dropped() {
    let scratch = Scratch::new("gemini-limit");
    let row = |prompt: &str| {
        format!(
            r#"<div class="outer-cell"><div class="header-cell">Gemini Apps</div><div class="content-cell">Prompted&nbsp;{prompt}<br>26 Jul 2026, 12:00:00 CEST<br>Yes.</div></div>"#
        )
    };
    let page = [row("first"), row(&"x".repeat(300_000)), row("last")].concat();
    scratch.put("page.html", &page);
    let limits = Limits { element_bytes: 100_000, ..Limits::default() };
    let (_, imported) = import_with(&scratch.at("page.html"), &Gemini, limits);
    assert_eq!(imported.kinds()["message"], 4);
    assert!(imported.dropped[0].reason.starts_with("too_large"));
}
