//! Tests that `export --since` exports every record that changed since the given time, whenever it was created.
use mementory_api::{CreateOptions, Job, Session, files, types::*};
use serde_json::Value;
use std::path::{Path, PathBuf};

const PASSPHRASE: &str = "harbour copper nineteen kite lantern";

/// Writes six old memories, one of which was updated recently in its source, and an old conversation.
fn old_memories(folder: &Path) -> (PathBuf, PathBuf) {
    let memory = |id: &str, updated: &str| {
        let content = format!("The words of {id}.");
        serde_json::json!({"id": id, "type": "fact", "content": content,
            "content_hash": format!("sha256:{}", mementory_formats::sha256(&mut content.to_lowercase().as_bytes(), "content").unwrap()),
            "temporal": {"created_at": "2020-01-01T00:00:00Z", "updated_at": updated},
            "provenance": {"platform": "claude"}})
    };
    let old = "2020-01-02T00:00:00Z";
    let memories: Vec<Value> = ["edited", "tagged", "redacted", "restored", "untouched"]
        .into_iter()
        .map(|id| memory(id, old))
        .chain([memory("updated", "2026-06-01T00:00:00Z")])
        .collect();
    let store = serde_json::json!({"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {"id": "ines"},
        "memories": memories});
    let path = folder.join("memory-store.json");
    std::fs::write(&path, store.to_string()).unwrap();
    let chat = r#"[{"id": "a1", "conversation_id": "a1", "title": "Old talk", "create_time": 1500000000,
      "update_time": 1500000000, "current_node": "n1", "mapping": {
        "n0": {"id": "n0", "message": null, "parent": null, "children": ["n1"]},
        "n1": {"id": "n1", "parent": "n0", "children": [], "message": {"id": "n1", "author": {"role": "user"},
          "create_time": 1500000000, "content": {"content_type": "text", "parts": ["Words of long ago."]}}}}}]"#;
    let export = folder.join("chatgpt");
    std::fs::create_dir(&export).unwrap();
    std::fs::write(export.join("conversations.json"), chat).unwrap();
    (path, export)
}

#[test]
fn an_export_since_a_time_contains_every_later_edit_of_an_older_record() {
    let folder = tempfile::tempdir().unwrap();
    let options = CreateOptions { kdf_floor: true };
    let (session, _) = Session::create(&folder.path().join("v"), PASSPHRASE, options).unwrap();
    let (memories, chat) = old_memories(folder.path());
    for path in [memories, chat] {
        let request = ImportRequest { paths: vec![path.display().to_string()], ..ImportRequest::default() };
        session.imports().import(&request, false, &Job::silent()).unwrap();
    }
    let all = session.records().list(&ListRequest { limit: Some(100), ..ListRequest::default() }).unwrap().items;
    let id = |origin: &str| {
        let item_with_id = all.iter().find(|item| item.origin_id.as_deref() == Some(origin));
        item_with_id.unwrap_or_else(|| panic!("{origin}")).id.clone()
    };
    let message = all.iter().find(|item| item.kind == "message").unwrap().id.clone();
    let since = "2026-05-01T00:00:00Z";
    let changes = session.changes();
    let edit = |id: String| {
        let text = Some("Words of today.".to_owned());
        changes.edit(&EditRequest { id, text, title: None, tags: None, record_type: None }).unwrap();
    };
    edit(id("edited"));
    edit(message);
    let tag = TagRequest { ids: vec![id("tagged")], tag: "blue".into(), on: true };
    changes.tag(&tag, &Job::silent()).unwrap();
    let span = Span { start: 4, end: 9, class: None };
    let redact = RedactRequest { id: id("redacted"), spans: vec![span], everywhere: false };
    changes.redact(&redact, &Job::silent()).unwrap();
    changes.delete(&[id("restored")]).unwrap();
    changes.restore(&[id("restored")]).unwrap();

    let filter = Filter { since: Some(since.into()), ..Filter::default() };
    for format in ["mem", "pam", "mif", "alf", "zaxy"] {
        let out = folder.path().join(format!("since.{format}"));
        let request = ExportRequest {
            format: format.into(),
            out: out.display().to_string(),
            filter: filter.clone(),
            ..ExportRequest::default()
        };
        let written = session.exports().export(&request, &Job::silent()).unwrap();
        let kinds = |kind: &str| written.by_kind.get(kind).copied().unwrap_or_default();
        assert_eq!((kinds("memory"), kinds("message")), (5, 1), "{format}: {:?}", written.by_kind);
        let checked = files::validate(&out, &files::Check::default(), &Job::silent()).unwrap();
        assert!(written.validated, "{format}: {:?}", checked.errors);
    }
    // Nothing has changed since a date in the future.
    let filter = Filter { since: Some("2999-01-01".into()), ..Filter::default() };
    for format in ["mem", "pam"] {
        let out = folder.path().join(format!("later.{format}")).display().to_string();
        let request = ExportRequest { format: format.into(), out, filter: filter.clone(), ..ExportRequest::default() };
        let written = session.exports().export(&request, &Job::silent()).unwrap();
        assert_eq!(written.by_kind.get("memory"), None, "{format}");
    }
}

#[test]
fn an_export_since_a_time_contains_the_deletions_since_then() {
    let folder = tempfile::tempdir().unwrap();
    let options = CreateOptions { kdf_floor: true };
    let (session, _) = Session::create(&folder.path().join("v"), PASSPHRASE, options).unwrap();
    let add = AddRequest { text: "Likes tea with milk.".into(), ..AddRequest::default() };
    let ids = session.changes().add(&add).unwrap().value.ids;
    session.changes().erase(&EraseRequest { ids, ..EraseRequest::default() }, &Job::silent()).unwrap();
    for (since, deletions) in [("2026-01-01", 1), ("2999-01-01", 0)] {
        let out = folder.path().join(since);
        let filter = Filter { since: Some(since.into()), ..Filter::default() };
        let request =
            ExportRequest { format: "mem".into(), out: out.display().to_string(), filter, ..ExportRequest::default() };
        session.exports().export(&request, &Job::silent()).unwrap();
        let lines = std::fs::read_to_string(out.join("audit/tombstones.jsonl")).unwrap_or_default();
        assert_eq!(lines.lines().count(), deletions, "since {since}");
    }
}

#[test]
fn an_increment_says_nothing_about_facts_that_it_does_not_contain() {
    let folder = tempfile::tempdir().unwrap();
    let options = CreateOptions { kdf_floor: true };
    let bundle =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/mem/all-kinds/input.mem");
    let open = |name: &str| Session::create(&folder.path().join(name), PASSPHRASE, options).unwrap().0;
    let import = |session: &Session, path: &Path| {
        let request = ImportRequest { paths: vec![path.display().to_string()], ..ImportRequest::default() };
        session.imports().import(&request, false, &Job::silent()).unwrap()
    };
    let list = |session: &Session, kind: &str| {
        let filter = Filter { kind: Some(kind.into()), ..Filter::default() };
        let request = ListRequest { filter, limit: Some(100), ..ListRequest::default() };
        session.records().list(&request).unwrap().items
    };
    let facts = |session: &Session| {
        let mut all: Vec<_> = list(session, "fact").into_iter().map(|fact| (fact.text, fact.status)).collect();
        all.sort();
        all
    };
    let (first, second) = (open("first"), open("second"));
    import(&first, &bundle);
    import(&second, &bundle);
    let before = facts(&second);
    assert!(before.len() > 1, "{before:?}");

    // The two facts of the fixture are derived from this memory.
    let memories = list(&first, "memory");
    let id = memories.iter().find(|item| item.origin_id.as_deref() == Some("ep_tea")).unwrap().id.clone();
    let text = Some("Drinks black tea now.".to_owned());
    first.changes().edit(&EditRequest { id, text, title: None, tags: None, record_type: None }).unwrap();
    let out = folder.path().join("since.mem");
    let filter = Filter { since: Some("2026-05-01T00:00:00Z".into()), ..Filter::default() };
    let request =
        ExportRequest { format: "mem".into(), out: out.display().to_string(), filter, ..ExportRequest::default() };
    first.exports().export(&request, &Job::silent()).unwrap();

    import(&second, &out);
    assert!(list(&second, "memory").iter().any(|item| item.text == "Drinks black tea now."));
    assert_eq!(facts(&second), before);
}
