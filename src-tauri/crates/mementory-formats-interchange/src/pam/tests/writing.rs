//! Tests of writing: edits, access rules, increments, signatures, stripped identifiers, hostile ids.
use super::harness::*;
use mementory_format::{FormatError, WriteOptions};
use mementory_model::{Kind, LossKind, Record, RecordKey, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;

fn read_whole_fixture() -> MemorySource {
    read(&repo().join("fixtures/pam/whole/input")).unwrap()
}

#[test]
fn an_edit_changes_only_the_edited_members() {
    let scratch = Scratch::new("edit");
    let mut source = read_whole_fixture();
    source.edit("memory/mem-tea", |r| {
        r.text = "Drinks green tea.".into();
        r.tags = vec!["Hot Drinks".into(), "tea".into()];
        r.times.updated = Timestamp::parse("2026-10-01T08:00:00.25Z");
    });
    source.edit("conversation/talk-1", |r| r.title = Some("Warm drinks".into()));
    source.edit("message/talk-1/m2a", |r| r.text = "Changed answer.".into());
    let report = write(&mut source, &scratch.at("out"), &full_export());
    assert_eq!(errors(&scratch.at("out")), Vec::<String>::new());
    let store = json(&scratch.at("out/memory-store.json"));
    let memory = store["memories"].as_array().unwrap().iter().find(|m| m["id"] == "mem-tea").unwrap();
    assert_eq!(memory["content"], "Drinks green tea.");
    assert_eq!(memory["tags"], json!(["hot-drinks", "tea"]));
    assert_eq!(memory["temporal"]["updated_at"], "2026-10-01T08:00:00.250000Z");
    assert_eq!(memory["provenance"]["platform_user_id"], "acct-9917", "the rest is as it was");
    assert!(memory.get("embedding_ref").is_none(), "the vector was of the former text");
    assert_eq!(report.losses.count("embeddings", LossKind::LeftOut), 1);
    let conversation = json(&scratch.at("out/conversations/talk-1.json"));
    assert_eq!(
        (&conversation["title"], &store["conversations_index"][0]["title"]),
        (&json!("Warm drinks"), &json!("Warm drinks"))
    );
    assert_eq!(conversation["messages"][1]["content"]["text"], "Changed answer.");
    let old = json(&repo().join("fixtures/pam/whole/input/memory-store.json"));
    assert_ne!(store["export_id"], old["export_id"], "another export");
    assert_eq!(store["owner"], old["owner"]);
    let reread = read(&scratch.at("out")).unwrap();
    let tea = reread.record("memory/mem-tea");
    assert_eq!(tea.text, "Drinks green tea.");
    assert_eq!(tea.tags, ["Hot Drinks", "tea"], "as they were, from the extension");
    assert!(!reread.codes().contains(&"changed_elsewhere".to_owned()));
}

#[test]
fn the_hash_of_a_removed_text_is_written_nowhere() {
    let scratch = Scratch::new("hash");
    let mut source = read_whole_fixture();
    let removed = source.record("memory/mem-tea").text.clone();
    // A redaction changes the text in the verbatim too.
    source.edit("memory/mem-tea", |r| {
        r.text = "Drinks [REDACTED:name].".into();
        let json = |text: &str| serde_json::to_string(text).unwrap();
        let verbatim = r.verbatim.as_mut().unwrap();
        assert!(verbatim.text.contains(&json(&removed)));
        verbatim.text = verbatim.text.replace(&json(&removed), &json(&r.text));
    });
    write(&mut source, &scratch.at("out"), &full_export());
    assert_eq!(errors(&scratch.at("out")), Vec::<String>::new());
    let written = std::fs::read_to_string(scratch.at("out/memory-store.json")).unwrap();
    assert!(!written.contains(&crate::pam::hash::content_hash(&removed)));
}

#[test]
fn neither_memories_marked_as_not_exportable_nor_references_to_them_are_exported() {
    let scratch = Scratch::new("access");
    let mut store = json(&repo().join("fixtures/pam/whole/input/memory-store.json"));
    let memory = store["memories"].as_array_mut().unwrap().iter_mut().find(|m| m["id"] == "mem-coffee").unwrap();
    memory["access"] = json!({"exportable": false});
    memory["content"] = "QWERTZ secret".into();
    memory["content_hash"] = crate::pam::hash::content_hash("QWERTZ secret").into();
    store.as_object_mut().unwrap().remove("integrity");
    scratch.put("in/memory-store.json", store.to_string());
    for companion in ["embeddings.json", "conversations/talk-1.json"] {
        let text = std::fs::read_to_string(repo().join("fixtures/pam/whole/input").join(companion)).unwrap();
        scratch.put(&format!("in/{companion}"), &text);
    }
    let mut source = read(&scratch.at("in")).unwrap();
    let mut fact = Record::new(Kind::Fact, RecordKey::new("test", "fact"), "QWERTZ again");
    let target = source.record("memory/mem-coffee").key.clone();
    fact.links.push(mementory_model::Link { relation: "derived_from".into(), kind: Kind::Memory, target });
    source.records.push(fact);
    let report = write(&mut source, &scratch.at("out"), &full_export());
    assert_eq!(report.withheld["not_exportable"], 1);
    assert_eq!(report.withheld["made_from_not_exportable"], 1);
    assert_eq!(report.withheld["names_not_exportable"], 1);
    let text = std::fs::read_to_string(scratch.at("out/memory-store.json")).unwrap();
    let vectors = std::fs::read_to_string(scratch.at("out/embeddings.json")).unwrap();
    assert!(!text.contains("QWERTZ") && !text.contains("mem-coffee") && !vectors.contains("mem-coffee"));
    assert_eq!(errors(&scratch.at("out")), Vec::<String>::new());
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["integrity"]["total_memories"], written["memories"].as_array().unwrap().len());
}

#[test]
fn a_memory_whose_permission_is_no_boolean_is_not_exported() {
    for (i, (value, is_exported)) in
        [(json!("false"), false), (json!("true"), false), (json!(0), false), (json!(true), true), (json!(null), true)]
            .into_iter()
            .enumerate()
    {
        let scratch = Scratch::new(&format!("permission-{i}"));
        let mut store = json(&repo().join("fixtures/pam/whole/input/memory-store.json"));
        let memory = store["memories"].as_array_mut().unwrap().iter_mut().find(|m| m["id"] == "mem-coffee").unwrap();
        memory["access"] = json!({"exportable": value});
        store.as_object_mut().unwrap().remove("integrity");
        scratch.put("in/memory-store.json", store.to_string());
        for companion in ["embeddings.json", "conversations/talk-1.json"] {
            let text = std::fs::read_to_string(repo().join("fixtures/pam/whole/input").join(companion)).unwrap();
            scratch.put(&format!("in/{companion}"), &text);
        }
        let mut source = read(&scratch.at("in")).unwrap();
        let report = write(&mut source, &scratch.at("out"), &full_export());
        assert_eq!(report.withheld.contains_key("not_exportable"), !is_exported, "{value}");
        let text = std::fs::read_to_string(scratch.at("out/memory-store.json")).unwrap();
        assert_eq!(text.contains("mem-coffee"), is_exported, "{value}");
        assert_eq!(errors(&scratch.at("out")), Vec::<String>::new(), "{value}");
    }
}

#[test]
fn an_increment_contains_the_changes_and_is_a_valid_store() {
    let scratch = Scratch::new("increment");
    let mut source = read_whole_fixture();
    let first = write(&mut source, &scratch.at("full"), &full_export());
    assert!(!first.withheld.contains_key("unchanged"));
    source.now = Some("2026-12-01T00:00:00Z");
    let mut fresh = Record::new(Kind::Memory, RecordKey::new("me", "new"), "Learns to sail.");
    fresh.times.created = Timestamp::parse("2026-11-25T10:00:00Z");
    fresh.source.platform = "me".into();
    source.records.push(fresh);
    source.edit("memory/mem-walk", |r| {
        r.text = "Walks at noon.".into();
        r.times.updated = Timestamp::parse("2026-11-26T10:00:00Z");
    });
    let by_time = WriteOptions { since: Timestamp::parse("2026-11-20T12:00:00Z"), ..full_export() };
    let by_base = WriteOptions { base: Some(scratch.at("full")), ..full_export() };
    let by_time_and_base = WriteOptions { since: by_time.since, base: by_base.base.clone(), ..full_export() };
    for (name, options, base) in [("time", by_time, false), ("base", by_base, true), ("both", by_time_and_base, true)] {
        let out = scratch.at(name);
        let report = write(&mut source, &out, &options);
        let store = json(&out.join("memory-store.json"));
        assert_eq!(store["export_type"], "incremental", "{name}");
        let texts: Vec<&str> =
            store["memories"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect();
        assert_eq!(texts, ["Walks at noon.", "Learns to sail."], "{name}");
        let old = json(&scratch.at("full/memory-store.json"));
        assert_eq!(store.get("base_export_id").is_some(), base, "{name}");
        assert!(!base || store["base_export_id"] == old["export_id"]);
        assert!(store["since"].is_string() && store["export_id"] != old["export_id"]);
        assert_eq!(ids(&store["conversations_index"]), Vec::<String>::new(), "{name}");
        assert!(report.withheld["unchanged"] >= 4, "{name}: {:?}", report.withheld);
        assert_eq!(errors(&out), Vec::<String>::new(), "{name}");
        assert_eq!(validate(&out).kind.as_deref(), Some("incremental"));
        assert!(read(&out).unwrap().codes().contains(&"incremental".to_owned()));
    }
    let missing = WriteOptions { base: Some(scratch.put("other.txt", "no export")), ..full_export() };
    let error =
        mementory_format::Format::write(&crate::pam::Pam, &mut source, &scratch.at("no"), &missing).unwrap_err();
    assert!(matches!(error, FormatError::Invalid { code: "base_not_recognised", .. }));
}

#[derive(Debug)]
struct FixedVerifier(bool);

impl mementory_format::Verifier for FixedVerifier {
    fn is_valid(&self, signed: &mementory_format::Signed) -> bool {
        assert!(!signed.message.is_empty());
        self.0
    }
}

#[test]
fn an_invalid_signature_of_the_imported_store_is_not_written_again() {
    let scratch = Scratch::new("verified");
    for valid in [true, false] {
        let mut source = read(&repo().join("fixtures/pam/signed-ed25519/input")).unwrap();
        let out = scratch.at(if valid { "valid" } else { "invalid" });
        let options = WriteOptions { verifier: Some(Arc::new(FixedVerifier(valid))), ..full_export() };
        let report = write(&mut source, &out, &options);
        assert_eq!(json(&out.join("memory-store.json")).get("signature").is_some(), valid);
        assert_eq!(report.losses.count("signature", LossKind::LeftOut), u64::from(!valid));
    }
}

#[test]
fn a_signature_covers_the_four_strings_exactly_as_in_the_file() {
    let scratch = Scratch::new("signed");
    let mut source = read_whole_fixture();
    source.parts.clear();
    let signed = WriteOptions { signer: Some(Arc::new(DigestSigner)), ..full_export() };
    write(&mut source, &scratch.at("out"), &signed);
    let store = json(&scratch.at("out/memory-store.json"));
    let block = &store["signature"];
    assert!(block["public_key"].as_str().unwrap().starts_with("z6Mk"));
    assert!(!block["value"].as_str().unwrap().contains('='));
    assert_eq!(
        block["key_id"],
        format!("{}#{}", store["owner"]["did"].as_str().unwrap(), block["public_key"].as_str().unwrap())
    );
    let found = signatures(&scratch.at("out"));
    let message = format!(
        "{{\"checksum\":{},\"export_date\":{},\"export_id\":{},\"owner_id\":{}}}",
        store["integrity"]["checksum"], store["export_date"], store["export_id"], store["owner"]["id"]
    );
    assert_eq!(String::from_utf8(found[0].message.clone()).unwrap(), message);
    let (key, value) = found[0].token.clone().unwrap();
    assert_eq!((key, found[0].algorithm.as_str()), (vec![7; 32], "ed25519"));
    assert_eq!(value, mementory_format::Signer::sign(&DigestSigner, message.as_bytes()).unwrap());
    assert_eq!(errors(&scratch.at("out")), Vec::<String>::new());
    assert_eq!(validate(&scratch.at("out")).signature.4.as_deref(), Some("07".repeat(32).as_str()));

    // An unedited store is written with its signature. An edited store is written without it.
    let mut reread = read(&scratch.at("out")).unwrap();
    write(&mut reread, &scratch.at("same"), &full_export());
    assert_eq!(json(&scratch.at("same/memory-store.json")), store);
    reread.edit("memory/mem-walk", |r| r.text = "Walks no more.".into());
    write(&mut reread, &scratch.at("other"), &full_export());
    assert!(json(&scratch.at("other/memory-store.json")).get("signature").is_none());

    // A wrong checksum makes the signature invalid.
    let mut forged = store.clone();
    forged["memories"][0]["summary"] = "forged".into();
    scratch.put("forged/memory-store.json", forged.to_string());
    let token = signatures(&scratch.at("forged"))[0].token.clone();
    assert_eq!(token.map(|(_, signature)| signature), Some(vec![]), "the key, without a signature");
    assert!(errors(&scratch.at("forged"))[0].starts_with("checksum_mismatch"));
}

#[test]
fn account_ids_are_removed_on_request() {
    let scratch = Scratch::new("strip");
    let mut source = read_whole_fixture();
    let mut chat = read_any(&repo().join("fixtures/samples/chatgpt-export.zip")).unwrap();
    for record in &mut chat.records {
        record.source.account = Some("acct-9917".into());
        record.fields.insert("user".into(), "acct-9917".into());
    }
    source.records.extend(chat.records);
    let options = WriteOptions { strip_identifiers: true, ..full_export() };
    let report = write(&mut source, &scratch.at("out"), &options);
    assert!(report.losses.count("source", LossKind::LeftOut) > 0);
    let mut pending = vec![scratch.at("out")];
    let mut file_count = 0;
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            file_count += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("acct-9917") && !text.contains("person-55"), "{}", path.display());
        }
    }
    assert!(file_count > 2);
    assert_eq!(errors(&scratch.at("out")), Vec::<String>::new());
}

#[test]
fn hostile_ids_do_not_write_outside_the_folder() {
    let scratch = Scratch::new("evil");
    let conversation = |id: &str| {
        json!({"schema": "portable-ai-memory-conversation", "schema_version": "1.0", "id": id,
            "provider": {"name": "claude"}, "temporal": {"created_at": "2026-01-01T00:00:00Z"},
            "messages": [{"id": "m", "role": "user", "created_at": "2026-01-01T00:00:00Z",
                "content": {"type": "text", "text": "hello"}}]})
    };
    for (i, id) in ["../../evil", "CON", "Talk", "talk", "a/b"].iter().enumerate() {
        scratch.put(&format!("in/conversations/{i}.json"), conversation(id).to_string());
    }
    let mut source = read(&scratch.at("in")).unwrap();
    assert_eq!(source.records.len(), 10);
    for record in &mut source.records {
        record.verbatim = record.verbatim.take().map(|v| mementory_model::Verbatim {
            text: v.text.replace("conversations/0.json", "../../evil.json"),
            ..v
        });
    }
    write(
        &mut source,
        &scratch
            .at("deep/er/out")
            .parent()
            .map(|p| {
                std::fs::create_dir_all(p).unwrap();
                p.join("out")
            })
            .unwrap(),
        &full_export(),
    );
    let out = scratch.at("deep/er/out");
    assert!(!scratch.at("evil.json").exists() && !scratch.at("deep/evil.json").exists());
    let names: Vec<_> = std::fs::read_dir(out.join("conversations")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 5);
    assert_eq!(errors(&out), Vec::<String>::new());
    assert_eq!(sorted_json(&read(&out).unwrap().records).len(), 10);
}

#[test]
fn deep_and_truncated_input_is_refused() {
    let scratch = Scratch::new("hostile");
    let deep = format!(
        r#"{{"schema":"portable-ai-memory","schema_version":"1.0","owner":{{"id":"o"}},"memories":[{{"id":"a","metadata":{}1{}}}]}}"#,
        "{\"x\":".repeat(100_000),
        "}".repeat(100_000)
    );
    let path = scratch.put("deep.json", &deep);
    let source = read(&path).unwrap();
    assert_eq!((source.records.len(), source.dropped.len()), (0, 1));
    let text = std::fs::read_to_string(repo().join("fixtures/pam/whole/input/memory-store.json")).unwrap();
    for cut in [text.len() / 3, text.len() / 2, text.len() - 3] {
        let at = (cut..).find(|n| text.is_char_boundary(*n)).unwrap();
        let path = scratch.put("cut.json", &text[..at]);
        assert!(matches!(read(&path), Err(FormatError::Invalid { code: "malformed", .. })), "{cut}");
    }
}

#[test]
fn an_invalid_value_is_reported_and_exported_only_in_metadata() {
    let scratch = Scratch::new("forbidden");
    let fixture_text = std::fs::read_to_string(repo().join("fixtures/pam/whole/input/memory-store.json")).unwrap();
    let mut store: Value = serde_json::from_str(&fixture_text).unwrap();
    store.as_object_mut().unwrap().remove("integrity");
    let memory = &mut store["memories"][0];
    memory["confidence"]["current"] = serde_json::json!(1.7);
    memory["metadata"]["language"] = serde_json::json!("english");
    memory["tags"] = serde_json::json!(["Drinks"]);
    scratch.put("in/memory-store.json", store.to_string());
    let mut source = read(&scratch.at("in")).unwrap();
    assert!(source.codes().contains(&"bad_value".to_owned()));
    for (name, edited) in [("unedited", false), ("edited", true)] {
        if edited {
            source.edit("memory/mem-tea", |r| r.text = "Ines drinks green tea.".into());
        }
        let report = write(&mut source, &scratch.at(name), &full_export());
        assert!(report.losses.counts.values().sum::<u64>() >= 3, "{name}");
        let written = json(&scratch.at(name).join("memory-store.json"));
        let memories = written["memories"].as_array().unwrap();
        let memory = memories.iter().find(|m| m["id"] == "mem-tea").unwrap();
        let moved_values = &memory["metadata"]["mementory_forbidden"];
        assert_eq!(moved_values["/confidence/current"], 1.7, "{name}");
        assert_eq!(
            (&moved_values["/metadata/language"], &moved_values["/tags/0"]),
            (&serde_json::json!("english"), &Value::Null),
            "{name}"
        );
        assert_eq!(moved_values["/tags"], serde_json::json!(["Drinks"]), "{name}");
        let error_codes = errors(&scratch.at(name));
        assert!(!error_codes.iter().any(|code| code == "bad_value"), "{name}: {error_codes:?}");
    }
}
