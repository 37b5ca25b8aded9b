#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
use crate::{by_id, detect};
use mementory_format::testkit::{Scratch, repo};
use mementory_format::{AttachmentFile, Catalog, FormatError, PassthroughItem, ReadContext, Sink};
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Limits, Record, Timestamp, Tombstone, Unit};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::Read,
    path::{Path, PathBuf},
};

/// A sink that stores one record for each kind and key, as the vault does.
#[derive(Default)]
struct RecordingSink {
    records: HashMap<(Kind, String), Record>,
    files: HashMap<String, (AttachmentFile, usize)>,
    parts: Vec<PassthroughItem>,
    notes: Vec<Issue>,
    dropped: Vec<Dropped>,
    progress: u64,
}

impl Sink for RecordingSink {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        for record in unit.records {
            let slot = (record.kind, format!("{}:{}", record.key.scope, record.key.value));
            match self.records.get_mut(&slot) {
                Some(known) => known.links.extend(record.links),
                None => {
                    self.records.insert(slot, record);
                }
            }
        }
        Ok(())
    }
    fn attachment(&mut self, file: AttachmentFile, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let n = std::io::copy(bytes, &mut std::io::sink()).map_err(|e| FormatError::io(&file.place, e))?;
        self.files.insert(file.key.value.clone(), (file, n as usize));
        Ok(())
    }
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        std::io::copy(bytes, &mut std::io::sink()).map_err(|e| FormatError::io(&item.place, e))?;
        self.parts.push(item);
        Ok(())
    }
    fn tombstone(&mut self, _: Tombstone) -> Result<(), FormatError> {
        panic!("ChatGPT has none")
    }
    fn note(&mut self, issue: Issue) {
        self.notes.push(issue);
    }
    fn dropped(&mut self, dropped: Dropped) {
        self.dropped.push(dropped);
    }
    fn progress(&mut self, bytes: u64) -> Result<(), FormatError> {
        assert!(bytes >= self.progress, "progress goes forward");
        self.progress = bytes;
        Ok(())
    }
}

impl RecordingSink {
    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Record> {
        self.records.values().filter(move |r| r.kind == kind)
    }
    fn count(&self, kind: Kind) -> u64 {
        self.of_kind(kind).count() as u64
    }
    fn referenced_files(&self) -> HashSet<&str> {
        self.records.values().flat_map(|r| &r.attachments).map(|a| a.key.value.as_str()).collect()
    }
    fn methods(&self) -> BTreeMap<&str, u64> {
        let mut out = BTreeMap::new();
        for r in self.of_kind(Kind::Memory) {
            *out.entry(r.source.method.as_deref().unwrap_or("")).or_default() += 1;
        }
        out
    }
    fn has_report(&self, code: &str) -> bool {
        self.notes.iter().any(|n| n.code == code)
            || self.dropped.iter().any(|d| d.reason.split(':').next() == Some(code))
    }
}

struct Import {
    catalog: Catalog,
    sink: RecordingSink,
    versions: Vec<String>,
    missing: Vec<String>,
    confidence: f64,
    unknown: usize,
}

fn import(path: &Path) -> Result<Import, FormatError> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None)?;
    let detection = detect(&catalog, &limits, Some("chatgpt"))?;
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    let mut sink = RecordingSink::default();
    let (mut versions, mut missing, mut confidence) = (vec![], vec![], 0.0_f64);
    for source in &detection.sources {
        sink.progress = 0;
        by_id("chatgpt").unwrap().read(&catalog, source, &context, &mut sink)?;
        versions.push(source.claim.version.clone().unwrap());
        missing.extend(source.claim.missing_parts.clone());
        confidence = confidence.max(source.claim.confidence);
        assert_eq!(sink.progress, source.total_bytes, "progress ends at the total");
    }
    Ok(Import { catalog, sink, versions, missing, confidence, unknown: detection.unknown.len() })
}

fn shared_data_folder() -> Option<PathBuf> {
    mementory_format::testkit::shared("exports").and_then(|exports| Some(exports.parent()?.to_path_buf()))
}

#[test]
fn sample_exports_have_the_expected_counts() {
    let Some(shared) = shared_data_folder() else { return };
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(shared.join("exports/expected.json")).unwrap()).unwrap();
    for (name, version) in [
        ("01-chatgpt-classic-2024.zip", "classic"),
        ("02-chatgpt-2026-sharded.zip", "sharded"),
        ("03-chatgpt-privacy-portal.zip", "portal"),
        ("04-chatgpt-unzipped-folder", "folder"),
    ] {
        let want = &expected["samples"][name];
        let got = import(&shared.join("exports").join(name)).unwrap();
        let sink = &got.sink;
        assert_eq!(got.versions, [version], "{name}");
        assert_eq!(got.missing, [""; 0], "{name}");
        let mut roles = BTreeMap::<String, u64>::new();
        for r in sink.of_kind(Kind::Message) {
            *roles.entry(r.message.as_ref().unwrap().role.clone()).or_default() += 1;
        }
        let nonempty: HashSet<_> = sink.of_kind(Kind::Message).map(|r| r.parent.clone().unwrap().value).collect();
        let counts = serde_json::json!({
            "conversations": sink.count(Kind::Conversation),
            "conversations_nonempty": nonempty.len(),
            "messages": sink.count(Kind::Message),
            "roles": roles,
            "memories": sink.count(Kind::Memory),
            "memory_kinds": sink.methods(),
            "attachments_referenced": sink.referenced_files().len(),
            "attachments_present": sink.files.len(),
        });
        for (count, value) in counts.as_object().unwrap() {
            assert_eq!(value, &want[count], "{name}: {count}\n{:?}\n{:?}", sink.notes, sink.dropped);
        }
        assert!(
            sink.of_kind(Kind::Message).filter(|r| r.message.as_ref().unwrap().active).count() as u64
                >= want["active_path"].as_u64().unwrap()
        );
        for r in sink.records.values() {
            if let Some(v) = &r.verbatim {
                serde_json::from_str::<&serde_json::value::RawValue>(&v.text).unwrap();
            }
        }
        eprintln!(
            "{name}: unknown {} notes {:?} dropped {:?} parts {:?} files {:?}",
            got.unknown,
            sink.notes,
            sink.dropped,
            sink.parts.iter().map(|p| &p.name).collect::<Vec<_>>(),
            sink.files.values().map(|(f, n)| (&f.name, &f.media_type, n)).collect::<Vec<_>>()
        );
    }
}

#[test]
fn keys_beside_the_conversations_are_not_stored() {
    let scratch = Scratch::new("chatgpt-beside");
    let chats = r#"{"note":"keep me","settings":{"apiKey":"invented-key-1"},"conversations":[{"id":"c","title":"t",
        "create_time":1.0,"mapping":{"n":{"id":"n","parent":null,"message":{"id":"n","author":{"role":"user"},
        "content":{"content_type":"text","parts":["Hello"]}}}},"current_node":"n"}]}"#;
    let got = import(&scratch.put("conversations.json", chats)).unwrap();
    assert_eq!(got.sink.parts.iter().map(|item| item.name.as_str()).collect::<Vec<_>>(), ["conversations.json#"]);
    assert!(got.sink.has_report("kept_members") && got.sink.has_report("secret_left_out"));
}

#[test]
fn a_shared_page_that_cannot_be_read_is_recognised_and_reported() {
    let scratch = Scratch::new("shared-page-damaged");
    let page = std::fs::read_to_string(repo().join("fixtures/chatgpt/shared-page/input/Beans.html")).unwrap();
    let cut = page.rfind("linear_conversation").unwrap();
    let got = import(&scratch.put("cut.html", &page[..cut])).unwrap();
    let reasons: Vec<_> = got.sink.dropped.iter().map(|d| d.reason.split(':').next().unwrap()).collect();
    assert_eq!((reasons, got.sink.count(Kind::Message)), (vec!["malformed"], 0));
}

#[test]
fn a_page_about_shared_conversations_is_not_claimed() {
    let scratch = Scratch::new("shared-page-article");
    let article = "<html><body>On chatgpt.com a page has sharedConversationId and linear_conversation in a call of \
        <code>.enqueue(</code>: sharedConversationId comes first.</body></html>";
    assert!(import(&scratch.put("article.html", article)).unwrap().versions.is_empty());
}

#[test]
fn edge_cases_are_read_as_expected() {
    let Some(shared) = shared_data_folder() else { return };
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(shared.join("exports/expected.json")).unwrap()).unwrap();
    for (name, want) in expected["edge_messages"].as_object().unwrap() {
        let got = import(&shared.join("exports/edge").join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let sink = &got.sink;
        let messages = sink.count(Kind::Message);
        let failed_count = sink.dropped.iter().filter(|d| d.outcome == DroppedAs::Failed).count();
        let skipped_count = sink.dropped.iter().filter(|d| d.reason.starts_with("not_a_record")).count();
        let issue = |code: &str| got.catalog.issues().iter().any(|i| i.code == code);
        eprintln!(
            "{name}: {messages} {:?} {:?} {:?} conf {}",
            got.catalog.issues(),
            sink.notes,
            sink.dropped,
            got.confidence
        );
        if let Some(want) = want.as_u64() {
            assert_eq!(messages, want, "{name}");
        }
        match name.as_str() {
            "raw-control-chars.json" => assert_eq!((messages, sink.has_report("control_character")), (2, true)),
            "nan-and-duplicate-keys.json" => {
                assert!(sink.has_report("nan"));
                assert_eq!(sink.of_kind(Kind::Conversation).next().unwrap().title.as_deref(), Some("second"));
            }
            "ndjson-conversations.jsonl" => assert_eq!(messages, 2),
            "one-bad-conversation.json" => assert_eq!((messages, failed_count, skipped_count), (2, 1, 2)),
            "empty-array.json" => assert_eq!((messages, sink.has_report("empty_export")), (0, true)),
            "truncated-conversations.json" => assert!(sink.has_report("truncated") && failed_count == 1),
            "truncated.zip" => assert!(issue("truncated_archive")),
            "nested-5-deep.zip" => assert!(issue("archive_depth") && messages == 0),
            "duplicate-members.zip" => assert!(issue("duplicate_name") && messages == 2),
            "zip-slip.zip" => assert_eq!(got.catalog.issues().iter().filter(|i| i.code == "unsafe_name").count(), 2),
            "cp437-name.zip" => assert!(got.catalog.members().iter().any(|m| m.name == "café.txt")),
            _ => {}
        }
    }
}

#[test]
fn generated_exports_are_read_completely() {
    let Some(shared) = shared_data_folder() else { return };
    let dir = std::env::temp_dir().join(format!("mementory-chatgpt-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    for layout in ["classic", "sharded", "portal"] {
        let out = dir.join(format!("{layout}.zip"));
        let run = std::process::Command::new("python3")
            .arg(shared.join("exports/gen_exports.py"))
            .args(["chatgpt", "--conversations", "250", "--mb", "5", "--seed", "11", "--layout", layout, "--out"])
            .arg(&out)
            .output();
        if !run.as_ref().is_ok_and(|o| o.status.success()) {
            mementory_format::testkit::skipped(&format!("python3 cannot run the generator ({run:?})"));
            break;
        }
        let truth: serde_json::Value =
            serde_json::from_slice(&std::fs::read(dir.join(format!("{layout}.zip.truth.json"))).unwrap()).unwrap();
        let got = import(&out).unwrap();
        let sink = &got.sink;
        let n = |key: &str| truth[key].as_u64().unwrap();
        assert_eq!(got.versions, [layout]);
        assert_eq!(sink.count(Kind::Conversation), n("conversations"), "{layout}");
        assert_eq!(sink.count(Kind::Message), n("messages"), "{layout}");
        let is_dialogue = |r: &&Record| matches!(r.message.as_ref().unwrap().role.as_str(), "user" | "assistant");
        assert_eq!(
            sink.of_kind(Kind::Message).filter(is_dialogue).count() as u64,
            n("messages_user_assistant"),
            "{layout}"
        );
        assert_eq!(
            sink.of_kind(Kind::Message).filter(|r| r.message.as_ref().unwrap().active).count() as u64,
            n("active_path")
        );
        assert_eq!(sink.referenced_files().len() as u64, n("attachments_referenced"), "{layout}");
        assert_eq!(sink.files.len() as u64, n("attachments_present"), "{layout}");
        let memories = &truth["memories"];
        let want =
            memories["distinct_memory_texts"].as_u64().unwrap() + memories["custom_instructions"].as_u64().unwrap();
        assert_eq!(sink.count(Kind::Memory), want, "{layout} {memories}");
        for needle in truth["needles"].as_array().unwrap() {
            let (c, m) = (needle["conversation_id"].as_str().unwrap(), needle["message_id"].as_str().unwrap());
            let record = sink
                .of_kind(Kind::Message)
                .find(|r| r.origin_id.as_deref() == Some(m) && r.source.conversation.as_deref() == Some(c));
            assert!(record.unwrap().text.contains(needle["text"].as_str().unwrap()), "{needle}");
        }
        // Messages refer to every file of the export, by the key with which the file was stored.
        let referenced = sink.referenced_files();
        assert!(sink.files.keys().all(|k| referenced.contains(k.as_str())), "{layout}");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// Imports each case in `fixtures/chatgpt` and checks the properties that its `case.json` lists.
#[test]
fn fixtures_are_read_as_their_cases_say() {
    let root = mementory_format::testkit::repo().join("fixtures/chatgpt");
    let mut cases: Vec<_> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    for case in cases {
        let want: serde_json::Value = serde_json::from_slice(&std::fs::read(case.join("case.json")).unwrap()).unwrap();
        assert_case(&case.file_name().unwrap().to_string_lossy(), &want, &import(&case.join("input")).unwrap());
    }
}

fn assert_case(case: &str, want: &serde_json::Value, got: &Import) {
    let sink = &got.sink;
    let node = |r: &Record| r.key.value.rsplit('/').next().unwrap().to_owned();
    let messages: HashMap<String, &Record> = sink.of_kind(Kind::Message).map(|r| (node(r), r)).collect();
    let part = |n: &str| messages.get(n).unwrap_or_else(|| panic!("{case}: {n}")).message.as_ref().unwrap();
    let sorted = |mut v: Vec<String>| {
        v.sort();
        v
    };
    let strings = |key: &str| -> Vec<String> { serde_json::from_value(want[key].clone()).unwrap_or_default() };
    for (key, want) in want.as_object().unwrap() {
        let wanted = || want.as_object().unwrap().iter();
        match key.as_str() {
            "about" => {}
            "conversations" => assert_eq!(sink.count(Kind::Conversation), want.as_u64().unwrap(), "{case}"),
            "messages" => assert_eq!(sink.count(Kind::Message), want.as_u64().unwrap(), "{case}"),
            "memories" => assert_eq!(sink.count(Kind::Memory), want.as_u64().unwrap(), "{case}"),
            "active" => {
                let active_count = messages.keys().filter(|n| part(n).active).count();
                assert_eq!(active_count as u64, want.as_u64().unwrap(), "{case}: active");
            }
            "files_named" => assert_eq!(sink.referenced_files().len() as u64, want.as_u64().unwrap(), "{case}"),
            "files_present" => assert_eq!(sink.files.len() as u64, want.as_u64().unwrap(), "{case}"),
            "file_names" => {
                assert_eq!(sorted(sink.files.values().map(|f| f.0.name.clone()).collect()), strings(key), "{case}")
            }
            "texts" => wanted().for_each(|(n, t)| assert_eq!(messages[n].text, t.as_str().unwrap(), "{case}: {n}")),
            "types" => wanted().for_each(|(n, t)| assert_eq!(part(n).content_type, t.as_str().unwrap(), "{case}: {n}")),
            "models" => wanted().for_each(|(n, t)| assert_eq!(part(n).model.as_deref(), t.as_str(), "{case}: {n}")),
            "hidden" => {
                let hidden = messages.keys().filter(|n| part(n).hidden).cloned().collect();
                assert_eq!(sorted(hidden), sorted(strings(key)), "{case}");
            }
            "parents" => wanted().for_each(|(n, p)| {
                let parent = part(n).parent.as_ref().map(|k| k.value.rsplit('/').next().unwrap());
                assert_eq!(parent, p.as_str(), "{case}: parent of {n}");
            }),
            "active_only" => {
                let of = |r: &&Record| r.source.conversation.as_deref() == want["conversation"].as_str();
                let active = sink.of_kind(Kind::Message).filter(of).filter(|r| r.message.as_ref().unwrap().active);
                let nodes: Vec<String> = serde_json::from_value(want["nodes"].clone()).unwrap();
                assert_eq!(sorted(active.map(node).collect()), nodes, "{case}");
            }
            "created" => wanted().for_each(|(n, t)| {
                assert_eq!(messages[n].times.created, Timestamp::parse(t.as_str().unwrap()), "{case}: {n}");
            }),
            "notes" | "dropped" => {
                strings(key).iter().for_each(|code| assert!(sink.has_report(code), "{case}: {code} {:?}", sink.notes));
            }
            "missing" => assert_eq!(got.missing, strings(key), "{case}"),
            "unknown" => assert_eq!(got.unknown, strings(key).len(), "{case}"),
            "raw_kept" => {
                let raw_count = sink.parts.iter().filter(|p| p.role == "raw").count();
                assert_eq!(raw_count as u64, want.as_u64().unwrap(), "{case}");
            }
            "account" => assert!(sink.records.values().all(|r| r.source.account.as_deref() == want.as_str()), "{case}"),
            "memory_texts" => {
                assert_eq!(
                    sorted(sink.of_kind(Kind::Memory).map(|r| r.text.clone()).collect()),
                    strings(key),
                    "{case}"
                );
            }
            "memory_links" => wanted().for_each(|(text, n)| {
                let memory = sink.of_kind(Kind::Memory).find(|r| r.text == *text).unwrap();
                assert_eq!(memory.links.len() as u64, n.as_u64().unwrap(), "{case}: {text}");
                assert!(memory.repeats);
            }),
            other => panic!("{case}: {other} is not known here"),
        }
    }
}

/// The verbatim of each node, and the verbatim of the conversation outside the `mapping`, is identical to the source.
#[test]
fn verbatim_is_identical_to_the_source() {
    let node = r#"{ "message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["a\u00e9\ud83d"]},"n":1.50} , "parent" : null}"#;
    let text = format!(r#"{{"n":1.0, "mapping" : {{"k" : {node}}}, "title":"x\ud83d", "conversation_id":"c"}}"#);
    let names = super::attachments::FileNames::default();
    let place = super::conversation::ConversationPlace {
        version: None,
        container: "f",
        pointer: "/0",
        account: None,
        names: &names,
    };
    let out = super::conversation::read(text.as_bytes(), &place);
    let records = out.unit.unwrap().records;
    let verbatim = |i: usize| records[i].verbatim.as_ref().unwrap().text.as_str();
    assert_eq!(verbatim(0), r#"{"n":1.0, "mapping" : {}, "title":"x\ud83d", "conversation_id":"c"}"#);
    assert_eq!(verbatim(1), node);
    assert_eq!((records[0].title.as_deref(), records[1].text.as_str()), (Some("x\u{fffd}"), "aé\u{fffd}"));
    assert_eq!(out.issues.len(), 1);
}

/// Imports damaged files. The damage is pseudo-random and the same in each run.
#[test]
fn damaged_input_does_not_panic() {
    let Some(shared) = shared_data_folder() else { return };
    let dir = std::env::temp_dir().join(format!("mementory-damage-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n.max(1) as u64) as usize
    };
    for name in [
        "02-chatgpt-2026-sharded.zip",
        "03-chatgpt-privacy-portal.zip",
        "edge/ndjson-conversations.jsonl",
        "edge/object-wrapper.json",
        "edge/double-encoded.json",
        "edge/utf16-conversations.json",
        "edge/zip64-streamed.zip",
    ] {
        let bytes = std::fs::read(shared.join("exports").join(name)).unwrap();
        let path = dir.join(name.rsplit('/').next().unwrap());
        for _ in 0..60 {
            let mut damaged = bytes.clone();
            for _ in 0..=next(6) {
                let at = next(damaged.len());
                match next(4) {
                    0 => damaged[at] = next(256) as u8,
                    1 => damaged[at] = b"[]{}\",:\\u"[next(9)],
                    2 => damaged.truncate(at.max(30)),
                    _ => drop(damaged.splice(at..at, bytes[..next(60)].iter().copied())),
                }
            }
            std::fs::write(&path, &damaged).unwrap();
            let _ = import(&path);
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
