//! Tests with the cases in `fixtures/pam/<case>`, which list the expected findings and records.
use super::harness::*;
use crate::pam::schema::{CONVERSATION_RULE, EMBEDDINGS_RULE, STORE_RULE};
use mementory_json::schema::Rule;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn words(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().map(|v| v.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_case_gives_its_expected_findings_and_records() {
    let mut case_count = 0;
    for entry in std::fs::read_dir(repo().join("fixtures/pam")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(folder.join("case.json")) else { continue };
        case_count += 1;
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let case: Value = serde_json::from_str(&text).unwrap();
        let input = folder.join("input");
        let (catalog, detection) = open(&input, None);
        assert_eq!(detection.sources.len(), 1, "{name}");
        assert_eq!(detection.sources[0].format, "pam", "{name}");
        let found = crate::by_id("pam").unwrap().validate(
            &catalog,
            &detection.sources[0],
            &mementory_model::Limits::default(),
            &[],
        );
        match case["refused"].as_str() {
            Some(code) if code != "unsupported_version" && code != "checksum_mismatch" => {
                let error = found.unwrap_err();
                assert!(
                    matches!(&error, mementory_format::FormatError::Invalid { code: c, .. } if *c == code),
                    "{name}: {error}"
                );
            }
            _ => {
                let found = found.unwrap();
                let codes =
                    |list: &[mementory_format::Finding]| list.iter().map(|f| f.code.clone()).collect::<BTreeSet<_>>();
                assert_eq!(codes(&found.errors), words(&case["errors"]), "{name}: {:?}", found.errors);
                assert_eq!(codes(&found.warnings), words(&case["warnings"]), "{name}: {:?}", found.warnings);
                assert!(found.errors.iter().all(|f| f.place.starts_with("input/")), "{name}: {:?}", found.errors);
            }
        }
        let source = read(&input);
        if let Some(code) = case["refused"].as_str() {
            let error = source.err().unwrap_or_else(|| panic!("{name} was read"));
            let is_expected = match &error {
                mementory_format::FormatError::Invalid { code: c, .. } => *c == code,
                mementory_format::FormatError::Version { .. } => code == "unsupported_version",
                _ => false,
            };
            assert!(is_expected, "{name}: {error}");
            continue;
        }
        let source = source.unwrap();
        let mut kinds = BTreeMap::<&str, u64>::new();
        source.records.iter().for_each(|r| *kinds.entry(r.kind.as_str()).or_default() += 1);
        assert_eq!(serde_json::to_value(kinds).unwrap(), case["records"], "{name}");
        let dropped: Vec<&str> = source.dropped.iter().map(|d| d.reason.split(':').next().unwrap()).collect();
        assert_eq!(serde_json::to_value(dropped).unwrap(), case["dropped"], "{name}");
    }
    assert!(case_count >= 8, "{case_count} cases");
}

#[test]
fn a_whole_bundle_is_read() {
    let source = read(&repo().join("fixtures/pam/whole/input")).unwrap();
    let tea = source.record("memory/mem-tea");
    assert_eq!(tea.key.scope, "pam:6a1f0c1e-0000-4000-8000-00000000aa01");
    assert_eq!((tea.record_type.as_deref(), tea.status.as_deref()), (Some("preference"), Some("superseded")));
    assert_eq!(tea.title.as_deref(), Some("Tea"));
    assert_eq!(tea.confidence, Some(0.8));
    let links: Vec<_> = tea.links.iter().map(|l| (l.relation.as_str(), l.target.value.as_str())).collect();
    assert_eq!(
        links,
        [
            ("superseded_by", "memory/mem-coffee"),
            ("derived_from", "conversation/talk-1"),
            ("derived_from", "message/talk-1/m1")
        ]
    );
    assert_eq!(tea.source.account.as_deref(), Some("acct-9917"));
    assert_eq!(tea.embeddings.len(), 1);
    assert!(tea.embeddings[0].json.contains("0.10"), "number text is kept");
    let custom = source.record("memory/mem-boat");
    assert_eq!(custom.record_type.as_deref(), Some("boat_licence"));
    assert_eq!(custom.status.as_deref(), Some("retracted"), "kept, with its status");
    assert!(custom.verbatim.as_ref().unwrap().text.contains("12345678901234567890123"));
    let relation = source.record("relation/rel-1");
    assert_eq!(relation.record_type.as_deref(), Some("supersedes"));
    let conversation = source.record("conversation/talk-1");
    assert_eq!((conversation.title.as_deref(), conversation.status.as_deref()), (Some("Hot drinks"), Some("archived")));
    let branch = source.record("message/talk-1/m2b").message.clone().unwrap();
    assert!(branch.active && !source.record("message/talk-1/m2a").message.clone().unwrap().active);
    assert_eq!(branch.parent.unwrap().value, "message/talk-1/m1");
    assert_eq!(source.record("message/talk-1/m3").text, "First part\nSecond part");
    assert_eq!(source.record("message/talk-1/m4").text, "brew\n{\"minutes\":3}\ndone");
    let message = source.record("message/talk-1/m1");
    assert_eq!(message.attachments[0].name, "cup.png");
}

#[test]
fn an_unedited_bundle_from_a_folder_or_zip_is_written_unchanged() {
    let input = repo().join("fixtures/pam/whole/input");
    let scratch = Scratch::new("back");
    pack(&input, &scratch.at("bundle.zip"));
    for (name, source) in [("folder", input.clone()), ("zip", scratch.at("bundle.zip"))] {
        let mut source = read(&source).unwrap();
        let out = scratch.at(name);
        let report = write(&mut source, &out, &full_export());
        assert_eq!(report.losses.items, []);
        for file in ["memory-store.json", "embeddings.json", "conversations/talk-1.json"] {
            assert_eq!(json(&input.join(file)), json(&out.join(file)), "{name}/{file}");
        }
        let before = std::fs::read_to_string(input.join("memory-store.json")).unwrap();
        let after = std::fs::read_to_string(out.join("memory-store.json")).unwrap();
        for part in ["12345678901234567890123", "1.50", "\"x\" : [ ]"] {
            assert!(before.contains(part) && after.contains(part), "{part}");
        }
        assert_eq!(sorted_json(&read(&out).unwrap().records).len(), source.records.len());
    }
    let mut source = read(&input).unwrap();
    std::fs::create_dir(scratch.at("single")).unwrap();
    write(&mut source, &scratch.at("single/mine.json"), &full_export());
    assert_eq!(json(&input.join("memory-store.json")), json(&scratch.at("single/mine.json")));
    assert!(scratch.at("single/conversations/talk-1.json").is_file() && scratch.at("single/embeddings.json").is_file());
    let reread = read(&scratch.at("single")).unwrap();
    assert_eq!(reread.records.len(), source.records.len());
}

#[test]
fn official_samples_are_valid_and_written_back_unchanged() {
    let Some(folder) = shared("reference/pam") else { return };
    let scratch = Scratch::new("official");
    for (from, to) in [
        ("example-memory-store.json", "in/memory-store.json"),
        ("example-embeddings.json", "in/embeddings.json"),
        ("example-conversation.json", "in/conversations/conv-001.json"),
    ] {
        scratch.put(to, std::fs::read_to_string(folder.join(from)).unwrap());
    }
    assert_eq!(errors(&scratch.at("in")), Vec::<String>::new());
    let mut source = read(&scratch.at("in")).unwrap();
    write(&mut source, &scratch.at("out"), &full_export());
    for (was, is) in [
        ("in/memory-store.json", "out/memory-store.json"),
        ("in/embeddings.json", "out/embeddings.json"),
        ("in/conversations/conv-001.json", "out/conversations/conv-001.json"),
    ] {
        assert_eq!(json(&scratch.at(was)), json(&scratch.at(is)), "{was}");
    }
    let sdk_file = folder.join("sdk-fixture-memory-store.json");
    assert_eq!(errors(&sdk_file), Vec::<String>::new());
    let mut source = read(&sdk_file).unwrap();
    write(&mut source, &scratch.at("sdk"), &full_export());
    // Without an embeddings file, no memory may refer to an embedding (§12.1).
    let mut expected = json(&sdk_file)["memories"].take();
    for memory in expected.as_array_mut().unwrap() {
        assert!(memory.as_object_mut().unwrap().remove("embedding_ref").is_some());
    }
    assert_eq!(json(&scratch.at("sdk/memory-store.json"))["memories"], expected);
    assert_eq!(errors(&scratch.at("sdk")), Vec::<String>::new());
    // The signature in the official example is a placeholder.
    let signed = signatures(&scratch.at("in"));
    assert!(!signed.is_empty(), "the example has an integrity with a place for one");
    assert!(signed.iter().all(|s| s.token.as_ref().is_none_or(|(_, signature)| signature.is_empty())));
}

/// Checks that a JSON Schema has the same members and required members as the validator's rule.
fn assert_same_names(rule: &Rule, schema: &Value, root: &Value, at: &str) {
    let schema = resolve_ref(schema, root);
    let fields = rule.fields().unwrap();
    let names = |list: &mut dyn Iterator<Item = String>| list.collect::<BTreeSet<String>>();
    let properties = schema["properties"].as_object().unwrap();
    let known_names = names(&mut properties.keys().filter(|k| !mementory_format::extension::is_slot_name(k)).cloned());
    assert_eq!(known_names, names(&mut fields.iter().map(|f| f.name.to_owned())), "{at}");
    let required = names(&mut fields.iter().filter(|f| f.required).map(|f| f.name.to_owned()));
    assert_eq!(words(&schema["required"]), required, "{at}");
    assert_eq!(schema["additionalProperties"] == true, matches!(rule, Rule::Object(_)), "{at}");
    for field in fields {
        let (mut rule, mut inner) = (&field.rule, &properties[field.name]);
        while let Rule::List(item) | Rule::Set(item, _) = rule {
            inner = &resolve_ref(inner, root)["items"];
            rule = item;
        }
        if rule.fields().is_some() {
            assert_same_names(rule, inner, root, &format!("{at}/{}", field.name));
        }
    }
}

fn resolve_ref<'v>(schema: &'v Value, root: &'v Value) -> &'v Value {
    let schema = schema["anyOf"].get(0).unwrap_or(schema);
    match schema["$ref"].as_str() {
        Some(path) => root.pointer(path.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

#[test]
fn json_schemas_agree_with_the_tables() {
    for (name, rule) in
        [("memory-store", &STORE_RULE), ("conversation", &CONVERSATION_RULE), ("embeddings", &EMBEDDINGS_RULE)]
    {
        let schema = json(&repo().join(format!("schemas/pam/{name}.schema.json")));
        assert_same_names(rule, &schema, &schema, name);
    }
}

/// Some systems cannot have two files with these names.
#[cfg(target_os = "linux")]
#[test]
fn similar_names_in_a_folder_are_refused() {
    let input = repo().join("fixtures/pam/empty-references/input");
    for (name, similar_name) in [("talk.json", "Talk.json"), ("caf\u{e9}.json", "cafe\u{301}.json")] {
        let scratch = Scratch::new("similar");
        for (from, to) in [
            ("memory-store.json", "memory-store.json".to_owned()),
            ("conversations/a.json", format!("conversations/{name}")),
            ("conversations/b.json", format!("conversations/{similar_name}")),
        ] {
            scratch.put(&to, std::fs::read(input.join(from)).unwrap());
        }
        let found: Vec<String> = validate(&scratch.0).errors.into_iter().map(|finding| finding.code).collect();
        assert!(found.contains(&"container_similar_names".to_owned()), "{name}: {found:?}");
        let error = read(&scratch.0).err().unwrap();
        assert!(
            matches!(&error, mementory_format::FormatError::Invalid { code: "container_similar_names", .. }),
            "{name}: {error}"
        );
    }
}
