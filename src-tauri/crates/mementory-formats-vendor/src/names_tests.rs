//! Tests that a file that was selected alone is recognised by its content under any name.
#![allow(clippy::unwrap_used)]
use crate::cases::claiming;
use mementory_format::testkit::{Scratch, repo};

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
