//! Tests that a file that a person selects alone is recognised by its content, whatever its name is. Also tests that
//! the files of a folder are read in the same way whether a person selects the folder or each file.
#![allow(clippy::unwrap_used)]
use crate::cases::claiming;
use crate::testing::{by_id, detect};
use mementory_format::Catalog;
use mementory_format::testkit::{MemorySource, Scratch, read_context, repo};
use mementory_model::{Limits, Record};
use std::path::PathBuf;

/// Names that people and programs give to an export.
const FILE_NAMES: [&str; 6] =
    ["EXPORT.JSON", "export.json.txt", "export", "export.json.bak", "Chats 27.11.2026", "a.TXT"];

#[test]
fn a_json_file_alone_is_recognised_under_every_name() {
    for (format, fixture) in [
        ("character_ai", "character_ai/full/input.json"),
        ("deepseek", "deepseek/older/input.json"),
        ("gemini_aistudio", "gemini_aistudio/named/input.json"),
        ("grok", "grok/list/input.json"),
        ("librechat", "librechat/full/input.json"),
        ("meta_ai", "meta_ai/pairs/input.json"),
        ("mistral", "mistral/single/input.json"),
        ("open_webui", "open_webui/full/input.json"),
        ("perplexity", "perplexity/full/input.json"),
    ] {
        let bytes = std::fs::read(repo().join("fixtures").join(fixture)).unwrap();
        check(format, &bytes);
    }
    let node = r#"{"id":"n","parent":null,"message":{"id":"n","author":{"role":"user"},
        "content":{"content_type":"text","parts":["Hello"]}}}"#;
    let chats = format!(r#"[{{"id":"c","title":"t","create_time":1.0,"mapping":{{"n":{node}}},"current_node":"n"}}]"#);
    check("chatgpt", chats.as_bytes());
    let chats = r#"[{"uuid":"c","name":"n","chat_messages":[{"uuid":"m","sender":"human","text":"Hello"}]}]"#;
    check("claude", chats.as_bytes());
    let activity = r#"[{"header":"Gemini Apps","title":"Prompted Hello","time":"2026-07-19T10:00:00Z",
        "products":["Gemini Apps"],"titleUrl":"https://gemini.google.com/app/0123456789abcdef"}]"#;
    check("gemini", activity.as_bytes());
}

fn check(format: &str, bytes: &[u8]) {
    for name in FILE_NAMES {
        let scratch = Scratch::new("names");
        assert_eq!(claiming(&scratch.put(name, bytes)), [format], "{name}");
    }
}

#[test]
fn files_selected_one_by_one_are_read_like_their_folder() {
    for (format, folder) in [
        ("claude", "claude/export/input"),
        ("claude", "claude/empty-account/input"),
        ("generic_chat", "generic_chat/kiro/input"),
        ("mistral", "mistral/full/input"),
    ] {
        let folder = repo().join("fixtures").join(folder);
        let mut inside: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        inside.sort();
        let [whole, loose] = [vec![folder.clone()], inside].map(|paths| read_all(format, &paths));
        assert_eq!(whole, loose, "{}", folder.display());
    }
}

/// Returns the keys, titles and texts of all records, and the sizes of all files. The paths must contain exactly one
/// source.
fn read_all(format: &str, paths: &[PathBuf]) -> (Vec<String>, Vec<usize>) {
    let limits = Limits::default();
    let catalog = Catalog::open(paths, &limits, None).unwrap();
    let detection = detect(&catalog, &limits, None).unwrap();
    assert_eq!(detection.sources.iter().map(|s| s.format).collect::<Vec<_>>(), [format], "{paths:?}");
    let format = by_id(format).unwrap();
    let mut source = MemorySource::default();
    format.read(&catalog, &detection.sources[0], &read_context(format, limits), &mut source).unwrap();
    let line = |r: &Record| format!("{} {} {:?} {}", r.kind.as_str(), r.key.value, r.title, r.text);
    let mut records: Vec<String> = source.records.iter().map(line).collect();
    records.sort();
    (records, source.files.iter().map(|(_, bytes)| bytes.len()).collect())
}
