//! Tests the document tools: a document must be valid in its format, and contain nothing that the grant does not make
//! visible.
use super::*;
use mementory_api::{Job, files, files::Check};
use std::collections::BTreeSet;

const SECRET: &str = "ada.kovalenko@orchardmail.eu";
/// A text with invisible characters, one of which reverses the direction of the characters after it.
const HIDDEN: &str = "Likes \u{202e}trains\u{200b} and \u{e0041}trams.";

/// The report of Mementory's validator about a document.
pub(super) fn validated(v: &TestVault, name: &str, text: &str) -> Validation {
    let path = v.folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    files::validate(&path, &Check::default(), &Job::default()).unwrap()
}

fn filled_vault() -> (TestVault, Vec<String>) {
    let v = open();
    let texts = ["Has a tortoise called Rui.".to_owned(), format!("Mail: {SECRET}"), HIDDEN.to_owned()];
    let ids = texts.iter().map(|text| v.add(text)).collect();
    (v, ids)
}

fn text<'a>(out: &'a Value, member: &str) -> &'a str {
    out[member].as_str().unwrap()
}

#[test]
fn export_memory_is_valid_and_complete_in_each_encoding() {
    let (v, ids) = filled_vault();
    let token = v.token(&["export"], |_| {});
    for (format, name) in [("json", "x.mif.json"), ("yaml", "x.mif.yaml"), ("jsonl", "x.mif.jsonl")] {
        let out = v.call(&token, "export_memory", json!({"format": format})).unwrap();
        let data = text(&out, "data");
        assert!(!has_hidden(data), "{data:?}");
        let validation = validated(&v, name, data);
        assert!(validation.ok && validation.errors.is_empty(), "{validation:?}");
        assert_eq!(validation.records, 3, "{format}");
        assert_eq!((&out["records"], &out["complete"], &out["masked"]), (&json!(3), &json!(true), &json!(true)));
        assert!(!data.contains(SECRET) && data.contains("[REDACTED:email]"), "{data}");
        for id in &ids {
            assert!(data.replace('-', "").contains(id), "{id} in {data}");
        }
    }
    let out = v.call(&token, "export_memory", json!({})).unwrap();
    let document: Value = serde_json::from_str(text(&out, "data")).unwrap();
    let contents: BTreeSet<&str> =
        document["memories"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect();
    assert!(contents.contains(HIDDEN), "escapes keep the text");
    assert_eq!(document["metadata"]["total_memories"], 3);
}

#[test]
fn only_a_grant_without_masking_allows_a_client_to_turn_masking_off() {
    let (v, _) = filled_vault();
    let masked = v.token(&["export"], |_| {});
    let uncovered = v.token(&["export"], |request| {
        request.name = "Uncovered".into();
        request.uncovered = true;
    });
    let has_secret = |token: &str, arguments: Value| {
        text(&v.call(token, "export_memory", arguments).unwrap(), "data").contains(SECRET)
    };
    assert!(!has_secret(&masked, json!({"redact_pii": false})));
    assert!(!has_secret(&uncovered, json!({})), "it is masked unless the client asks otherwise");
    assert!(has_secret(&uncovered, json!({"redact_pii": false})));
}

#[test]
fn an_export_that_is_cut_off_says_so_and_can_be_continued() {
    let v = open();
    (0..7).for_each(|n| drop(v.add(&format!("Memory number {n}"))));
    let token = v.token(&["export"], |request| request.records_per_call = Some(3));
    let numbers = |document: &Value, list: &str| -> Vec<String> {
        let found = |item: &Value| {
            let text = item["content"].as_str().or(item["content"]["payload"]["text"].as_str()).unwrap();
            text.trim_start_matches("Memory number ").to_owned()
        };
        document[list].as_array().unwrap().iter().map(found).collect()
    };
    for (tool, list, member, next, ask) in [
        ("export_memory", "memories", "data", "next_since", "since"),
        ("export_memory", "memories", "data", "next_cursor", "cursor"),
        ("memory_export", "entries", "bundle", "next_cursor", "cursor"),
    ] {
        let (mut all, mut arguments, mut calls) = (Vec::new(), json!({}), 0);
        loop {
            let out = v.call(&token, tool, arguments.clone()).unwrap();
            let document: Value = serde_json::from_str(text(&out, member)).unwrap();
            all.extend(numbers(&document, list));
            calls += 1;
            if out["complete"] == true {
                assert!(out[next].is_null(), "{out}");
                break;
            }
            arguments[ask] = out[next].clone();
            assert!(!arguments[ask].is_null(), "{out}");
        }
        all.sort();
        assert_eq!(all, ["0", "1", "2", "3", "4", "5", "6"], "{tool}: each record once");
        assert_eq!(calls, 3, "{tool}");
    }
}

#[test]
fn a_cursor_neither_skips_nor_brings_back_a_record_after_an_erasure_and_an_import() {
    for (tool, list, member) in [("export_memory", "memories", "data"), ("memory_export", "entries", "bundle")] {
        let v = open();
        let ids: Vec<String> = (0..7).map(|n| v.add(&format!("Memory number {n}"))).collect();
        let token = v.token(&["export"], |request| request.records_per_call = Some(3));
        let page = |arguments: Value| {
            let out = v.call(&token, tool, arguments).unwrap();
            let document: Value = serde_json::from_str(text(&out, member)).unwrap();
            let items: Vec<String> = document[list].as_array().unwrap().iter().map(ToString::to_string).collect();
            let has = move |n: usize| items.iter().any(|entry| entry.contains(&format!("Memory number {n}")));
            ((0..8).filter(|n| has(*n)).collect::<Vec<_>>(), out)
        };
        let (first, out) = page(json!({}));
        assert_eq!(first, [0, 1, 2], "{tool}");
        // Erases a memory before the cursor, the memory at the cursor, and one after it.
        for id in [&ids[0], &ids[2], &ids[4]] {
            let request = EraseRequest { ids: vec![id.clone()], reason: None, with_copies: false, copies: None };
            v.session.changes().erase(&request, &Job::default()).unwrap();
        }
        // An older memory is imported between the two calls, which shifts the positions of all the others.
        let older = document("1.0", &[memory("mem_0a", "Memory number 7")]).replace("2026-", "2001-");
        let request = ImportRequest { text: Some(older), ..ImportRequest::default() };
        v.session.imports().import(&request, false, &Job::default()).unwrap();
        let (rest, last) = page(json!({"cursor": out["next_cursor"]}));
        assert_eq!(rest, [3, 5, 6], "{tool}: {last}");
        assert!(last["complete"] == true && last["next_cursor"].is_null(), "{last}");
        assert_eq!(v.call(&token, tool, json!({"cursor": "1.2"})), Err("usage"), "{tool}");
    }
}

#[test]
fn an_imported_memory_keeps_its_date() {
    let v = open();
    let token = v.token(&["suggest"], |_| {});
    let data = document("1.0", &[memory("mem_0a", "Likes boats.")]);
    v.call(&token, "import_memory", json!({"data": data})).unwrap();
    let suggestions = v.session.agents().suggestions().unwrap().items;
    assert!(suggestions[0].created_at.as_ref().unwrap().starts_with("2026-01-01"), "{suggestions:?}");
    let closed = v.session.agents().decide(&decision(&[suggestions[0].id.clone()], &[])).unwrap();
    let shown = v.session.records().show(&closed.accepted[0].record, false, false).unwrap();
    assert!(shown.record.created_at.unwrap().starts_with("2026-01-01"));
}

#[test]
fn memory_export_is_a_valid_bundle_whose_signature_verifies() {
    let (v, _) = filled_vault();
    let token = v.token(&["export"], |_| {});
    let bundle = |arguments: Value| v.call(&token, "memory_export", arguments).unwrap();
    let unsigned = bundle(json!({}));
    let checked = validated(&v, "unsigned.json", text(&unsigned, "bundle"));
    assert!(checked.ok && !checked.signature.present, "{checked:?}");
    assert_eq!((checked.records, &unsigned["records"]), (3, &json!(3)));

    let signed = bundle(json!({"sign": true}));
    assert!(!has_hidden(text(&signed, "bundle")));
    let checked = validated(&v, "signed.json", text(&signed, "bundle"));
    assert!(checked.ok && checked.signature.valid == Some(true), "{checked:?}");
    assert!(!text(&signed, "bundle").contains(SECRET));
    let forged = text(&signed, "bundle").replace("tortoise", "hedgehog");
    assert!(!validated(&v, "forged.json", &forged).ok);

    let part = bundle(json!({"disclose": {"since_seq": 1, "max_seq": 2}}));
    let checked = validated(&v, "part.json", text(&part, "bundle"));
    assert!(checked.ok && checked.signature.valid == Some(true), "{checked:?}");
    assert_eq!((checked.records, &part["records"]), (1, &json!(1)), "only the disclosed entry left");
    let log = v.session.overview().audit(false).unwrap();
    let details: Vec<&str> =
        log.entries.iter().filter(|e| e.op == "client_memory_export").map(|e| e.detail.as_str()).collect();
    assert_eq!(details.iter().filter(|detail| **detail == "memory 1").count(), 1, "{details:?}");
}

#[test]
fn memory_export_selects_as_its_specification_says() {
    let v = open();
    for text in ["Has a tortoise called Rui.", "Likes trains.", "Likes trams."] {
        v.add(text);
    }
    let token = v.token(&["export"], |_| {});
    let seqs = |arguments: Value| -> Vec<u64> {
        let out = v.call(&token, "memory_export", arguments).unwrap();
        let bundle: Value = serde_json::from_str(text(&out, "bundle")).unwrap();
        assert!(bundle["session_id"].as_str().unwrap().starts_with("mementory-"));
        bundle["entries"].as_array().unwrap().iter().map(|entry| entry["seq"].as_u64().unwrap()).collect()
    };
    let none: [u64; 0] = [];
    assert_eq!(seqs(json!({})), [1, 2, 3]);
    assert_eq!(seqs(json!({"since_seq": 1})), [2, 3]);
    assert_eq!(seqs(json!({"max_seq": 2})), [1, 2]);
    assert_eq!(seqs(json!({"limit": 1})), [3], "the most recent");
    assert_eq!(seqs(json!({"query": "tortoise"})), [1]);
    assert_eq!(seqs(json!({"query": "likes", "limit": 1})), [3]);
    assert_eq!(seqs(json!({"kinds": ["memory.recorded"]})), [1, 2, 3]);
    assert_eq!(seqs(json!({"kinds": ["decision.made"]})), none);
    assert_eq!(seqs(json!({"grains": ["semantic"]})), none);
    assert_eq!(seqs(json!({"exclude_sensitivities": ["public"]})), none);
    assert_eq!(seqs(json!({"until_time": "2001-01-01"})), none);
    assert_eq!(seqs(json!({"since_time": "2001-01-01", "grains": ["event", "semantic"]})), [1, 2, 3]);
    for (arguments, code) in [
        (json!({"session_id": "other"}), "not_found"),
        (json!({"private_key": "x"}), "usage"),
        (json!({"admin_token": "x"}), "usage"),
        (json!({"grains": ["whole"]}), "usage"),
        (json!({"since_time": "soon"}), "usage"),
        (json!({"sign": true, "max_seq": 0}), "usage"),
        (json!({"disclose": {"query": "x"}}), "usage"),
    ] {
        assert_eq!(v.call(&token, "memory_export", arguments.clone()), Err(code), "{arguments}");
    }
}

#[test]
fn import_memory_only_fills_the_queue() {
    let (v, ids) = filled_vault();
    let token = v.token(&["read", "suggest", "export"], |_| {});
    let exported = v.call(&token, "export_memory", json!({})).unwrap();
    let mut document: Value = serde_json::from_str(text(&exported, "data")).unwrap();
    let before = v.state();
    let import = |data: &Value, strategy: &str| {
        v.call(&token, "import_memory", json!({"data": data.to_string(), "merge_strategy": strategy})).unwrap()
    };
    let again = import(&document, "skip_duplicates");
    assert_eq!((&again["suggestions"], &again["skipped"]), (&json!([]), &json!({"duplicate": 3})));
    assert_eq!(v.state(), before);

    // The digest of the unchanged document no longer matches, so it is removed.
    document["export"].as_object_mut().unwrap().remove("checksum");
    for memory in document["memories"].as_array_mut().unwrap() {
        let changed = memory["content"].as_str().unwrap().replace("tortoise", "hedgehog");
        memory["content"] = changed.into();
        memory.as_object_mut().unwrap().retain(|name, _| !name.starts_with("x_"));
    }
    assert_eq!(import(&document, "skip_duplicates")["skipped"], json!({"duplicate": 3}), "the same ids");
    let changed = import(&document, "overwrite");
    assert_eq!(changed["suggestions"].as_array().unwrap().len(), 1, "{changed}");
    let suggestions = v.session.agents().suggestions().unwrap().items;
    assert_eq!((suggestions[0].op.as_str(), suggestions[0].target.as_ref()), ("change", Some(&ids[0])));
    assert_eq!(suggestions[0].text.as_deref(), Some("Has a hedgehog called Rui."));
    let renamed = import(&document, "rename");
    assert_eq!(renamed["suggestions"].as_array().unwrap().len(), 3);
    let suggestions = v.session.agents().suggestions().unwrap().items;
    assert_eq!(suggestions.iter().filter(|item| item.op == "new").count(), 3);
    assert_eq!(v.session.records().list(&ListRequest::default()).unwrap().total, 3, "no record was added");
}

fn document(version: &str, memories: &[Value]) -> String {
    let export = json!({"id": "exp_1", "created_at": "2026-01-01T00:00:00.000Z", "user_id": "x"});
    json!({"mif_version": version, "export": export, "memories": memories}).to_string()
}

fn memory(id: &str, text: &str) -> Value {
    json!({"id": id, "content": text, "type": "Observation", "created_at": "2026-01-01T00:00:00.000Z"})
}

#[test]
fn import_memory_says_nothing_of_what_the_client_may_not_see() {
    let (v, ids) = filled_vault();
    let suggest_only = v.token(&["suggest"], |_| {});
    let other = v.token(&["read", "suggest"], |request| request.tags = vec!["garden".into()]);
    let known = document("1.0", &[memory(&format!("mem_{}", ids[0]), "Has a tortoise called Rui.")]);
    for token in [&suggest_only, &other] {
        for strategy in ["skip_duplicates", "overwrite", "rename"] {
            let out = v.call(token, "import_memory", json!({"data": known, "merge_strategy": strategy})).unwrap();
            assert_eq!(out["skipped"], json!({}), "{out}");
            assert_eq!(out["suggestions"].as_array().unwrap().len(), 1, "{out}");
        }
    }
}

#[test]
fn a_text_that_is_not_a_document_suggests_nothing() {
    let v = open();
    let token = v.token(&["suggest"], |_| {});
    let many: Vec<Value> = (0..600).map(|n| memory(&format!("mem_{n:032x}"), &format!("Fact {n}"))).collect();
    let file = v.folder.path().join("secret.mif.json");
    std::fs::write(&file, document("1.0", &many[..1])).unwrap();
    let before = v.state();
    for data in [
        file.display().to_string(),
        "/etc/passwd".into(),
        "file:///etc/passwd".into(),
        String::new(),
        "[]".into(),
        "{\"a\": 1}".into(),
        "[".repeat(100_000),
        document("1.0", &many),
    ] {
        let start: String = data.chars().take(40).collect();
        let out = v.call(&token, "import_memory", json!({"data": data}));
        assert_eq!(out.map(|out| out.to_string()), Err("usage"), "{start}");
    }
    assert!(v.call(&token, "import_memory", json!({"data": document("3.0", &many[..1])})).is_err());
    assert_eq!(v.call(&token, "import_memory", json!({"data": "{}", "merge_strategy": "x"})), Err("usage"));
    assert_eq!(v.call(&token, "import_memory", json!({"data": "{}", "path": "x"})), Err("usage"));
    assert_eq!(v.state(), before);
}
