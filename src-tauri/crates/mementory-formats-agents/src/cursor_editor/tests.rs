#![allow(clippy::unwrap_used)]
//! Tests with the fixtures, a database in use, large and damaged databases, and databases of other programs.
use super::CursorEditor;
use crate::cases;
use crate::testing::{detect, read};
use mementory_format::testkit::{MemorySource, Scratch, repo, tree};
use mementory_format::{Catalog, Format, ReadContext};
use mementory_model::{Kind, Limits, Timestamp};
use rusqlite::Connection;
use std::path::Path;

#[test]
fn every_fixture_is_read_as_its_case_expects() {
    assert!(cases::check_cases(&CursorEditor) >= 4);
}

fn read_with(path: &Path, limits: Limits) -> MemorySource {
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = detect(&catalog, &limits, Some("cursor")).unwrap();
    let mut source = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    CursorEditor.read(&catalog, &detection.sources[0], &context, &mut source).unwrap();
    source
}

#[test]
fn access_tokens_are_never_stored() {
    let folder = repo().join("fixtures/cursor/full/input");
    let imported = read(&folder, &CursorEditor);
    assert!(imported.parts.is_empty());
    assert!(!format!("{:?}", imported.records).contains("secret-token"));
}

#[test]
fn a_database_that_is_open_elsewhere_is_read_with_its_log_and_not_changed() {
    let folder = Scratch::new("cursor-open");
    let path = folder.at("state.vscdb");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode=WAL; CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
         INSERT INTO cursorDiskKV VALUES ('composerData:c', '{\"name\":\"Open\",\"createdAt\":1}');
         INSERT INTO cursorDiskKV VALUES ('bubbleId:c:1', '{\"type\":1,\"text\":\"in the log\"}');",
    )
    .unwrap();
    db.execute_batch("BEGIN IMMEDIATE; INSERT INTO cursorDiskKV VALUES ('bubbleId:c:2', '{}');").unwrap();
    let before = tree(&folder.0);
    let imported = read(&folder.0, &CursorEditor);
    assert_eq!(imported.records.iter().filter(|r| r.kind == Kind::Message).count(), 1);
    assert_eq!(tree(&folder.0), before);
}

#[test]
fn an_empty_tab_is_not_a_conversation() {
    let folder = Scratch::new("cursor-new-tab");
    let db = Connection::open(folder.at("state.vscdb")).unwrap();
    db.execute_batch(
        "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
         INSERT INTO cursorDiskKV VALUES ('composerData:new',
             '{\"createdAt\":1785574800000,\"text\":\"\",\"fullConversationHeadersOnly\":[]}');
         INSERT INTO cursorDiskKV VALUES ('composerData:draft', '{\"createdAt\":1785574800000,\"text\":\"unsent\"}');
         INSERT INTO cursorDiskKV VALUES ('composerData:lost',
             '{\"createdAt\":1785574800000,\"fullConversationHeadersOnly\":[{\"bubbleId\":\"gone\",\"type\":1}]}');",
    )
    .unwrap();
    drop(db);
    let imported = read(&folder.0, &CursorEditor);
    let ids: Vec<&str> = imported.records.iter().filter_map(|record| record.origin_id.as_deref()).collect();
    assert_eq!(ids, ["draft", "lost"]);
    assert_eq!(imported.dropped.len(), 1);
}

#[test]
fn a_large_database_is_read_from_disk() {
    let folder = Scratch::new("cursor-large");
    std::fs::copy(repo().join("fixtures/cursor/full/input/globalStorage/state.vscdb"), folder.at("state.vscdb"))
        .unwrap();
    let in_memory = read(&folder.0, &CursorEditor);
    let limits = Limits { element_bytes: 4000, ..Limits::default() };
    let imported = read_with(&folder.0, limits);
    assert_eq!(cases::keys(&imported), cases::keys(&in_memory));
}

#[test]
fn a_damaged_database_is_reported_and_does_not_hang() {
    let bytes = std::fs::read(repo().join("fixtures/cursor/full/input/globalStorage/state.vscdb")).unwrap();
    for seed in 0..60usize {
        let folder = Scratch::new("cursor-damaged");
        let mut damaged = bytes.clone();
        for n in 0..40 {
            let at = 100 + (seed * 7919 + n * 104_729) % (damaged.len() - 100);
            damaged[at] ^= (seed + n + 1) as u8;
        }
        folder.put("state.vscdb", &damaged);
        let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
        let detection = detect(&catalog, &Limits::default(), Some("cursor")).unwrap();
        let Some(source) = detection.sources.first() else { continue };
        let context =
            ReadContext { limits: Limits::default(), now: Timestamp::from_micros(0).unwrap(), passphrase: None };
        CursorEditor.read(&catalog, source, &context, &mut MemorySource::default()).unwrap();
    }
}

#[test]
fn databases_and_lines_of_other_programs_are_not_claimed() {
    let folder = Scratch::new("cursor-none");
    let db = Connection::open(folder.at("state.vscdb")).unwrap();
    db.execute_batch("CREATE TABLE ItemTable (key TEXT, value BLOB); INSERT INTO ItemTable VALUES ('vscode.x', '1');")
        .unwrap();
    drop(db);
    let db = Connection::open(folder.at("store.db")).unwrap();
    db.execute_batch("CREATE TABLE blobs (id TEXT, data BLOB); CREATE TABLE meta (key TEXT, value TEXT);").unwrap();
    drop(db);
    folder.put("a.jsonl", r#"{"role":"user","content":"hi"}"#);
    folder.put("c.json", r#"{"data":{"composerId":"c","conversationMap":{}}}"#);
    folder.put("d.jsonl", r#"{"composerId":"c","bubbleId":"b","text":"hi"}"#);
    folder.put("b.jsonl", r#"{"type":"user","role":"user","message":{"content":"hi"}}"#);
    let catalog = Catalog::open(std::slice::from_ref(&folder.0), &Limits::default(), None).unwrap();
    let detection = detect(&catalog, &Limits::default(), None).unwrap();
    assert!(detection.sources.iter().all(|s| s.format != "cursor"), "{:?}", detection.sources);
}
