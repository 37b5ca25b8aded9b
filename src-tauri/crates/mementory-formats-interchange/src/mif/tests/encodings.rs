//! Tests of the detection of documents in every encoding, of invalid and hostile files, and of the interop encodings.
use super::super::testing::*;
use mementory_format::FormatError;
use mementory_model::{DroppedAs, Kind, Timestamp};
use serde_json::Value;

const MEMORY_JSON: &str = r#"{"id":"mem_1","content":"x","type":"Learning","created_at":"2026-01-01T00:00:00Z"}"#;
const EXPORT_HEADER_JSON: &str = r#"{"id":"exp_1","created_at":"2026-01-01T00:00:00Z","user_id":"u"}"#;

#[test]
fn documents_are_detected_by_their_content() {
    let temp = Scratch::new("known");
    let our_files = [
        ("a.json", format!(r#"{{"mif_version":"1.0","export":{EXPORT_HEADER_JSON},"memories":[{MEMORY_JSON}]}}"#)),
        ("bom.json", format!("\u{feff} {{\"mif_version\":\"1.0\",\"export\":{EXPORT_HEADER_JSON},\"memories\":[{MEMORY_JSON}]}}")),
        ("other-order.json", format!(r#"{{"export":{EXPORT_HEADER_JSON},"memories":[{MEMORY_JSON}],"mif_version":"1.0"}}"#)),
        ("a.txt", format!(r#"{{"mif_version":"1.0","memories":[{MEMORY_JSON}]}}"#)),
        ("a.yaml", "mif_version: \"1.0\"\nexport:\n  id: exp_1\nmemories: []\n".into()),
        ("a.yml", "# hello\nexport: {id: exp_1}\nmemories: []\nmif_version: 1.0\n".into()),
        ("b.dat", "---\nmif_version: 1.0\nmemories:\n- content: x\n  id: mem_1\n".into()),
        ("a.jsonl", format!("{{\"type\":\"header\",\"mif_version\":\"1.0\",\"export\":{EXPORT_HEADER_JSON}}}\n{{\"type\":\"memory\",\"data\":{MEMORY_JSON}}}\n")),
        ("e.json", r#"{"encryption":{"algorithm":"aes-256-gcm","key_derivation":"argon2id","encrypted_payload":"AA==","iv":"AA==","auth_tag":"AA=="}}"#.into()),
    ];
    for (name, text) in our_files {
        let path = temp.put(name, text);
        assert_eq!(detected(&path, false).map(|d| d.0), Some("mif"), "{name}");
    }
    let utf16: Vec<u8> = format!(r#"{{"mif_version":"1.0","export":{EXPORT_HEADER_JSON},"memories":[{MEMORY_JSON}]}}"#)
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let path = temp.put("utf16.json", [vec![0xff, 0xfe], utf16.clone()].concat());
    assert_eq!(read(&path).unwrap().records.len(), 1);
    assert_eq!(codes(&validate(&path).errors), ["not_utf8"], "RFC 8259 §8.1");
    let two_marks = format!("\u{feff}\u{feff}{{\"mif_version\":\"1.0\",\"memories\":[{MEMORY_JSON}]}}");
    let path = temp.put("two-marks.json", two_marks);
    assert!(matches!(read(&path), Err(FormatError::Invalid { code: "malformed", .. })), "RFC 8259 §8.1 has one");
    assert_eq!(codes(&validate(&path).errors), ["malformed"]);
    // Half of a surrogate pair in place of the content, and half of a character behind the document.
    let content = utf16.windows(6).position(|window| window == b"\"\0x\0\"\0").unwrap() + 2;
    let half_pair = [&utf16[..content], [0x00, 0xd8].as_slice(), &utf16[content + 2..]].concat();
    for (bytes, text) in [(half_pair, "\u{fffd}"), ([utf16.as_slice(), b"}".as_slice()].concat(), "x")] {
        let path = temp.put("faulty.json", [vec![0xff, 0xfe], bytes].concat());
        let store = read(&path).unwrap();
        assert_eq!((store.records.len(), store.records[0].text.as_str()), (1, text));
        assert!(store.notes.iter().any(|note| note.code == "invalid_utf16"), "{:?}", store.notes);
        assert_eq!(codes(&validate(&path).errors), ["invalid_utf16"]);
    }
    let other_files = [
        ("chats.json", r#"[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]"#),
        (
            "mem0.json",
            r#"[{"id":"4b3b9c1e-0000-4000-8000-000000000001","memory":"x","hash":"a","created_at":"2026-01-01T00:00:00-07:00","updated_at":null,"user_id":"u"}]"#,
        ),
        ("mem0-answer.json", r#"{"results":[{"id":"1","memory":"x"}]}"#),
        ("list.json", r#"[{"content":"x","id":"1"}]"#),
        ("any.json", r#"{"export":{"id":"1"},"items":[]}"#),
        ("k8s.yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: memories\n"),
        ("note.md", "---\ntitle: A note\ntags: [x]\n---\nbody\n"),
        ("notes.txt", "The mif_version: 1.0 is what I read about.\nIt has memories: many.\n"),
        ("lines.jsonl", "{\"type\":\"header\",\"v\":1}\n{\"type\":\"memory\"}\n"),
    ];
    for (name, text) in other_files {
        let path = temp.put(name, text);
        assert_ne!(detected(&path, false).map(|d| d.0), Some("mif"), "{name}");
    }
}

#[test]
fn an_unsupported_version_is_refused() {
    let temp = Scratch::new("versions");
    let document_with = |version: &str, header: &str| {
        format!(r#"{{"mif_version":{version},"{header}":{EXPORT_HEADER_JSON},"memories":[{{"nonsense":1}}]}}"#)
    };
    for version in [r#""3.0""#, r#""10.0""#, r#""0.9""#, r#""one""#, "3.1"] {
        let path = temp.put("refused.json", document_with(version, "export"));
        assert!(matches!(read(&path), Err(FormatError::Version { .. })), "{version}");
        assert!(matches!(try_validate(&path), Err(FormatError::Version { .. })), "{version}");
    }
    for (version, header, note) in [
        (r#""1.9""#, "export", "other_minor_version"),
        (r#""1""#, "export", "other_minor_version"),
        (r#""1.0""#, "export_meta", "version_and_shape_differ"),
        (r#""2.0""#, "export", "version_and_shape_differ"),
        ("null", "export", "version_missing"),
    ] {
        let path = temp.put("taken.json", document_with(version, header));
        assert_eq!(read(&path).unwrap().codes(), [note], "{version}");
        assert!(!validate(&path).errors.is_empty(), "{version}");
    }
}

#[test]
fn yaml_size_and_depth_are_limited() {
    let temp = Scratch::new("bomb");
    let mut bomb = String::from(
        "mif_version: \"1.0\"\nmemories: []\nx0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n",
    );
    for i in 1..12 {
        let row = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("x{i}: &a{i} [{row}]\n"));
    }
    let flow = format!("mif_version: \"1.0\"\nmemories: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let block = format!("mif_version: \"1.0\"\nmemories:\n{}x\n", "- ".repeat(2000));
    let itself = "mif_version: \"1.0\"\nmemories: &a [*a]\n";
    let two = "mif_version: \"1.0\"\nmemories: []\n---\nmif_version: \"1.0\"\n";
    for (name, text, code) in [
        ("bomb", bomb.as_str(), "yaml_aliases"),
        ("flow", &flow, "malformed"),
        ("block", &block, "too_deep"),
        ("itself", itself, "malformed"),
        ("two", two, "malformed"),
        ("tabs", "mif_version: \"1.0\"\nmemories:\n\t- x\n", "malformed"),
    ] {
        let path = temp.put(&format!("{name}.yaml"), text);
        match read(&path) {
            Err(FormatError::Invalid { code: found, .. }) => assert_eq!(found, code, "{name}"),
            other => panic!("{name}: {:?}", other.map(|s| s.records.len())),
        }
        assert_eq!(codes(&validate(&path).errors), [code], "{name}");
    }
}

#[test]
fn duplicate_keys_in_yaml_are_reported() {
    let temp = Scratch::new("repeated");
    let text = "mif_version: \"1.0\"\nexport: {id: exp_1, created_at: \"2026-01-01T00:00:00.000Z\", user_id: u, id: exp_2}\nmemories:\n- id: mem_1\n  content: One\n  type: Learning\n  created_at: \"2026-01-01T00:00:00.000Z\"\n  content: Two\n";
    let path = temp.put("a.mif.yaml", text);
    let store = read(&path).unwrap();
    let reported: Vec<_> = store.notes.iter().filter(|n| n.code == "duplicate_key").map(|n| n.place.as_str()).collect();
    assert!(
        matches!(reported[..], [a, b] if a.ends_with("#/export/id") && b.ends_with("#/memories/0/content")),
        "{reported:?}"
    );
    assert_eq!(store.records[0].text, "Two");
    let errors = validate(&path).errors;
    assert_eq!(errors.iter().map(|e| e.code.as_str()).collect::<Vec<_>>(), ["duplicate_key", "duplicate_key"]);
    let path = temp.put("b.mif.yaml", text.replace(", id: exp_2", "").replace("  content: Two\n", ""));
    assert!(read(&path).unwrap().codes().is_empty() && validate(&path).errors.is_empty());
}

#[test]
fn truncated_deep_and_invalid_json_is_rejected() {
    let temp = Scratch::new("broken");
    let truncated = temp.put(
        "cut.json",
        format!(r#"{{"mif_version":"1.0","export":{EXPORT_HEADER_JSON},"memories":[{MEMORY_JSON},{{"id""#),
    );
    assert!(matches!(read(&truncated), Err(FormatError::Invalid { code: "malformed", .. })));
    assert_eq!(codes(&validate(&truncated).errors), ["malformed"]);
    let deep = format!(r#"{{"id":"mem_2","content":"y","x":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
    let path = temp.put(
        "deep.json",
        format!(r#"{{"mif_version":"1.0","export":{EXPORT_HEADER_JSON},"memories":[{deep},{MEMORY_JSON}]}}"#),
    );
    let store = read(&path).unwrap();
    assert_eq!((store.records.len(), store.dropped.len()), (1, 1));
}

/// Uses `fixtures/mif/not-json`. Nothing is repaired: invalid elements are dropped, and any other fault rejects the
/// document.
#[test]
fn elements_that_are_nearly_json_are_reported_with_their_location() {
    let folder = repo().join("fixtures/mif/not-json");
    let case: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
    for expectation in case["files"].as_array().unwrap() {
        let (name, at) = (expectation["file"].as_str().unwrap(), expectation["place"].as_str().unwrap());
        let code = expectation["refused"].as_str().or(expectation["dropped"].as_str()).unwrap();
        match read(&folder.join(name)) {
            Err(FormatError::Invalid { code: finding, place, .. }) => {
                assert_eq!(Some(finding), expectation["refused"].as_str(), "{name}");
                assert!(place.contains(name) && place.contains(at), "{name}: {place}");
            }
            Ok(store) => {
                assert_eq!(Some(store.records.len() as u64), expectation["records"].as_u64(), "{name}");
                let dropped: Vec<_> = store.dropped.iter().map(|d| (d.outcome, d.reason.split(':').next())).collect();
                assert_eq!(dropped, [(DroppedAs::Failed, Some(code))], "{name}");
                assert!(store.dropped[0].place.ends_with(&format!("{name}{at}")), "{name}: {}", store.dropped[0].place);
            }
            Err(other) => panic!("{name}: {other}"),
        }
        let validation = validate(&folder.join(name));
        let finding = validation.errors.iter().find(|f| f.code == code);
        assert!(finding.is_some_and(|f| f.place.contains(at)), "{name}: {:?}", validation.errors);
    }
    for name in case["taken"].as_array().unwrap() {
        let path = folder.join(name.as_str().unwrap());
        let store = read(&path).unwrap();
        assert_eq!((store.records.len(), store.dropped.len(), store.notes.len()), (1, 0, 0), "{name}");
        assert!(validate(&path).errors.is_empty(), "{name}: {:?}", validate(&path).errors);
    }
}

/// Uses `fixtures/mif/faults`.
#[test]
fn faults_are_errors_with_their_location() {
    let folder = repo().join("fixtures/mif/faults");
    let case: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
    for expectation in case["files"].as_array().unwrap() {
        let name = expectation["file"].as_str().unwrap();
        let rejected = match read(&folder.join(name)) {
            Err(FormatError::Invalid { code, .. }) => Some(code),
            Err(other) => panic!("{name}: {other}"),
            Ok(_) => None,
        };
        assert_eq!(rejected, expectation["refused"].as_str(), "{name}");
        let validation = validate(&folder.join(name));
        for warning in expectation["warnings"].as_array().into_iter().flatten() {
            let (code, at) = (warning[0].as_str().unwrap(), warning[1].as_str().unwrap());
            let is_listed = validation.warnings.iter().any(|f| f.code == code && f.place.ends_with(at));
            assert!(is_listed, "{name}: {:?}", validation.warnings);
        }
        let errors = validation.errors;
        let findings: Vec<_> =
            errors.iter().map(|f| (f.code.as_str(), &f.place[f.place.find('#').unwrap()..])).collect();
        let expected: Vec<_> = expectation["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| (e[0].as_str().unwrap(), e[1].as_str().unwrap()))
            .collect();
        assert_eq!(findings, expected, "{name}");
    }
}

#[test]
fn json_lines_need_only_a_header() {
    let temp = Scratch::new("lines");
    let header = format!(r#"{{"type":"header","mif_version":"1.0","export":{EXPORT_HEADER_JSON}}}"#);
    let text = format!(
        "\u{feff}{header}\r\n\r\n{{\"type\":\"memory\",\"data\":{MEMORY_JSON}}}\r\n{{\"type\":\"weather\",\"data\":1}}\r\n{{\"type\":\"memory\"}}\r\n{{broken\r\n"
    );
    let store = read(&temp.put("a.mif.jsonl", &text)).unwrap();
    assert_eq!(store.records.len(), 1);
    assert_eq!(store.codes(), ["footer_missing", "unknown_lines"]);
    let reasons: Vec<_> = store.dropped.iter().map(|d| d.reason.split(':').next().unwrap()).collect();
    assert_eq!(reasons, ["no_data", "not_json"]);
    let footer = r#"{"type":"footer","checksum":"sha256:00","counts":{"memories":5,"todos":0}}"#;
    let path = temp.put("b.mif.jsonl", format!("{header}\n{{\"type\":\"memory\",\"data\":{MEMORY_JSON}}}\n{footer}\n"));
    assert!(codes(&validate(&path).warnings).contains(&"count_differs".to_owned()));
    for (footer, place) in [
        (r#"{"type":"footer","counts":{"memories":"1"}}"#, "footer/counts/memories"),
        (r#"{"type":"footer","counts":{"memories":1,"todos":-1}}"#, "footer/counts/todos"),
        (r#"{"type":"footer","counts":[1]}"#, "footer/counts"),
        (r#"{"type":"footer","checksum":7}"#, "footer/checksum"),
    ] {
        let lines = format!("{header}\n{{\"type\":\"memory\",\"data\":{MEMORY_JSON}}}\n{footer}\n");
        let found = validate(&temp.put("d.mif.jsonl", lines)).errors;
        assert_eq!(found.len(), 1, "{footer}: {found:?}");
        assert!(found[0].place.ends_with(place), "{footer}: {found:?}");
    }
    let line = format!("{{\"type\":\"memory\",\"data\":{{\"id\":\"mem_00\"}},\"data\":{MEMORY_JSON}}}");
    let found = validate(&temp.put("e.mif.jsonl", format!("{header}\n{line}\n"))).warnings;
    assert!(found.iter().any(|f| f.code == "duplicate_key" && f.place.ends_with("#line 2/data")), "{found:?}");
    let path = temp.put(
        "c.mif.jsonl",
        format!("{{\"type\":\"memory\",\"mif_version\":\"1.0\",\"data\":{MEMORY_JSON}}}\n{header}\n"),
    );
    assert_eq!(detected(&path, false).map(|d| d.0), Some("mif"));
    assert!(matches!(read(&path), Err(FormatError::Invalid { code: "header_missing", .. })));
}

#[test]
fn interop_encodings_are_detected_and_read() {
    let temp = Scratch::new("interop");
    let mem0 = r#"{"results":[
        {"id":"m1","memory":"Prefers tea","user_id":"u1","agent_id":"g","created_at":"2026-01-01T00:00:00-07:00","metadata":{"category":"preference","tags":"a, b"},"score":0.5},
        {"id":"m2","memory":""}, 7]}"#;
    let path = temp.put("mem0.json", mem0);
    assert_eq!(detected(&path, true), Some(("mif", Some("mem0".into()))));
    let store = read(&path).unwrap();
    let tea = store.find("Prefers");
    assert_eq!((tea.record_type.as_deref(), tea.tags.join("|").as_str()), (Some("observation"), "a|b"));
    assert_eq!((tea.source.account.as_deref(), tea.fields["score"].as_f64()), (Some("u1"), Some(0.5)));
    assert_eq!((store.records.len(), store.dropped.len()), (1, 2));
    // The tag "memory" must not be mistaken for the member `memory` of mem0's encoding.
    let generic = r#"[{"content":"One","tags":["memory"],"date":"2026-01-01T00:00:00Z","type":"Decision"},{"id":5,"content":"Two"}]"#;
    let path = temp.put("generic.json", generic);
    assert_eq!(detected(&path, true), Some(("mif", Some("generic".into()))));
    let store = read(&path).unwrap();
    assert_eq!((store.find("One").record_type.as_deref(), store.records.len()), (Some("decision"), 2));

    let doubled = "---\ntype: decision\ncreated_at: 2026-01-01T00:00:00+00:00\ntags: [a, b]\n---\nFirst\n\n---\n\n---\ntype: error\ncreated_at: 2026-01-02T00:00:00+00:00\n---\nSecond\n---\na rule above\n";
    let adjacent = doubled.replace("\n\n---\n\n---\n", "\n---\n");
    for text in [doubled.to_owned(), adjacent] {
        let path = temp.put("notes.md", &text);
        assert_eq!(detected(&path, true), Some(("mif", Some("markdown".into()))));
        let store = read(&path).unwrap();
        let found: Vec<_> = store.records.iter().map(|r| (r.text.as_str(), r.record_type.as_deref())).collect();
        assert_eq!(found, [("First", Some("decision")), ("Second\n---\na rule above", Some("error"))], "{text}");
        assert_eq!(store.records[0].tags, ["a", "b"]);
        assert_eq!(store.records[1].times.created, Timestamp::parse("2026-01-02T00:00:00Z"));
        assert!(store.records.iter().all(|r| r.kind == Kind::Memory));
    }
}

#[test]
fn byte_order_marks_lose_no_block_of_markdown() {
    let temp = Scratch::new("marks");
    let text = std::fs::read_to_string(repo().join("fixtures/mif/interop/as-markdown.md")).unwrap();
    for marks in ["", "\u{feff}", "\u{feff}\u{feff}"] {
        let path = temp.put("notes.md", format!("{marks}{text}"));
        assert_eq!(read(&path).unwrap().records.len(), 4, "{} marks", marks.chars().count());
    }
    let path = temp.put("open.md", text.replacen("comma]\n---\nPrefers trains.", "comma]\nshe says: trains.", 1));
    let store = read(&path).unwrap();
    let reasons: Vec<_> = store.dropped.iter().map(|d| d.reason.split(':').next().unwrap()).collect();
    assert_eq!((store.records.len(), reasons), (3, vec!["no_block"]), "the first header has no end");
    assert_eq!(codes(&validate(&path).errors), ["no_block"]);
}

#[test]
fn elements_with_one_id_are_reported_and_all_imported() {
    let temp = Scratch::new("one-id");
    let mem0 = r#"[{"id":"m1","memory":"Tea"},{"id":"m1","memory":"Coffee"},{"id":"m1","memory":"Tea"}]"#;
    let path = temp.put("mem0.json", mem0);
    let store = read(&path).unwrap();
    let found: Vec<_> = store.records.iter().map(|r| (r.text.as_str(), r.key.value.as_str())).collect();
    assert_eq!(found, [("Tea", "memory/m1"), ("Coffee", "memory/m1#2")]);
    assert_eq!(store.dropped[0].reason, "duplicate: the same record occurs twice");
    assert!(store.notes.iter().any(|note| note.code == "duplicate_id"), "{:?}", store.notes);
    let validation = validate(&path);
    assert!(validation.errors.is_empty(), "{:?}", validation.errors);
    assert!(codes(&validation.warnings).contains(&"duplicate_id".to_owned()));
    // A later element is compared with all earlier ones. Without an id, equal texts are one memory.
    let (one, other) = (r#"{"id":"m1","memory":"Tea"}"#, r#"{"id":"m1","memory":"Coffee"}"#);
    let without_id = r#"{"memory":"Milk"},{"memory":"Milk","created_at":"2026-01-01T00:00:00Z"}"#;
    let store = read(&temp.put("again.json", format!("[{one},{other},{other},{without_id}]"))).unwrap();
    let texts: Vec<_> = store.records.iter().map(|r| r.text.as_str()).collect();
    assert_eq!((texts, store.dropped.len()), (vec!["Tea", "Coffee", "Milk"], 2));
    let memories =
        [MEMORY_JSON.to_owned(), MEMORY_JSON.replace("\"x\"", "\"y\""), MEMORY_JSON.replace("\"x\"", "\"y\"")];
    let document =
        format!(r#"{{"mif_version":"1.0","export":{EXPORT_HEADER_JSON},"memories":[{}]}}"#, memories.join(","));
    let store = read(&temp.put("again.mif.json", document)).unwrap();
    assert_eq!((store.records.len(), store.dropped.len()), (2, 1));
    // Two notations of one UUID are one id.
    let uuid = "5f0c1d2e-0001-4a00-8a00-000000000001";
    let memory = |id: &str, content: &str| MEMORY_JSON.replace("mem_1", &format!("mem_{id}")).replace("\"x\"", content);
    let memories = [memory(uuid, "\"One\""), memory(&uuid.to_uppercase(), "\"Two\"")].join(",");
    let document = format!(r#"{{"mif_version":"1.0","export":{EXPORT_HEADER_JSON},"memories":[{memories}]}}"#);
    let path = temp.put("notations.mif.json", document);
    assert_eq!(codes(&validate(&path).errors), ["duplicate_id"]);
    let mut store = read(&path).unwrap();
    assert_eq!(store.records.len(), 2);
    let out = temp.0.join("out.mif.json");
    write(&mut store, &out, &options("json", Some("1.0")));
    assert_eq!(codes(&validate(&out).errors), Vec::<String>::new(), "one of the ids is replaced");
}

#[test]
fn a_record_behind_the_footer_is_reported() {
    let temp = Scratch::new("footer");
    let header = format!(r#"{{"type":"header","mif_version":"1.0","export":{EXPORT_HEADER_JSON}}}"#);
    let footer = r#"{"type":"footer","counts":{"memories":1}}"#;
    let lines = format!("{header}\n{footer}\n{{\"type\":\"memory\",\"data\":{MEMORY_JSON}}}\n");
    let path = temp.put("a.mif.jsonl", lines);
    assert_eq!(read(&path).unwrap().records.len(), 1);
    let found = validate(&path).warnings;
    assert!(found.iter().any(|f| f.code == "after_footer" && f.place.ends_with("#line 3")), "{found:?}");
}

#[test]
fn a_parent_that_is_not_in_the_document_is_reported() {
    let temp = Scratch::new("parent");
    let todo =
        r#"{"id":"todo_1","content":"Pack","status":"todo","created_at":"2026-01-01T00:00:00Z","parent_id":"todo_2"}"#;
    let dangling = |todos: &str| {
        let document = format!(
            r#"{{"mif_version":"1.0","export":{EXPORT_HEADER_JSON},"memories":[{MEMORY_JSON}],"todos":[{todos}]}}"#
        );
        let found = validate(&temp.put("a.mif.json", document)).warnings;
        found.iter().filter(|f| f.code == "dangling_reference").map(|f| f.place.clone()).collect::<Vec<_>>()
    };
    let found = dangling(todo);
    assert!(matches!(&found[..], [place] if place.ends_with("#/todos/0/parent_id")), "{found:?}");
    let parent = todo.replace(",\"parent_id\":\"todo_2\"", "").replace("todo_1", "todo_2");
    assert!(dangling(&format!("{todo},{parent}")).is_empty());
}
