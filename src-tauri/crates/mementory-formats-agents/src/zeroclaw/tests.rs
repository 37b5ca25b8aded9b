//! Tests of round trips of ZeroClaw homes with SQLite, Markdown and AIEOS.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::{
    ZeroClaw, database,
    testing::{SETTINGS, create_home, database_at},
};
use crate::testing::{put, read, tree, validate, write};
use mementory_format::testkit::{MemorySource, Scratch};
use mementory_model::{Kind, LossKind, Record, RecordKey, Timestamp};
use rusqlite::Connection;
use std::path::Path;

fn rows_of_database(path: &Path) -> Vec<(String, String)> {
    let db = Connection::open(path).unwrap();
    let mut all = db.prepare("SELECT id, content FROM memories ORDER BY rowid").unwrap();
    all.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn spec_10_2_home_round_trip_is_byte_exact() {
    let scratch = Scratch::new("zeroclaw");
    create_home(&scratch.0.join("home"));
    let mut source = read(&scratch.0.join("home"), &ZeroClaw);
    let find = |text: &str| source.records.iter().find(|r| r.text.contains(text)).unwrap();
    let tea = find("green tea");
    assert_eq!(
        (tea.title.as_deref(), tea.record_type.as_deref(), tea.namespace.as_deref()),
        (Some("tea"), Some("semantic"), Some("core"))
    );
    assert_eq!(tea.times.created, Timestamp::parse("2026-02-03T04:05:06Z"));
    assert_eq!((tea.embeddings.len(), tea.embeddings[0].model.as_str()), (1, "openai/text-embedding-3-small"));
    assert_eq!(find("by the weir").namespace.as_deref(), Some("daily"));
    assert_eq!(find("Talked about").namespace.as_deref(), Some("custom:gardening"));
    let wren = find("Keep order");
    assert_eq!((wren.kind, wren.title.as_deref()), (Kind::Profile, Some("Wren")));
    let credential = source.records.iter().find(|r| r.kind == Kind::Credential).unwrap();
    assert_eq!(credential.title.as_deref(), Some("api_key"));
    assert!(
        source.records.iter().all(|r| !serde_json::to_string(r).unwrap().contains("sk-zc-")),
        "10.5: no secret in a record"
    );
    assert_eq!(source.dropped, []);

    let report = write(&mut source, &scratch.0.join("out"), &ZeroClaw);
    let (mut before, mut after) = (tree(&scratch.0.join("home")), tree(&scratch.0.join("out")));
    assert!(before.remove(".secret_key").is_some() && !after.contains_key(".secret_key"), "key files are not exported");
    let (_, config) = (before.remove("config.toml").unwrap(), after.remove("config.toml").unwrap());
    assert_eq!(String::from_utf8(config).unwrap(), SETTINGS.replace("sk-zc-0123456789abcdefghij", "<redacted>"));
    assert_eq!(before, after, "including the database");
    assert_eq!(report.losses.count("secret", LossKind::LeftOut), 2);
    assert_eq!(validate(&scratch.0.join("out"), &ZeroClaw).errors, []);
}

#[test]
fn an_edit_changes_its_row_and_no_page_contains_removed_text() {
    let scratch = Scratch::new("zeroclaw-edit");
    create_home(&scratch.0.join("home"));
    let mut source = read(&scratch.0.join("home"), &ZeroClaw);
    let removed_position = source.records.iter().position(|r| r.text.contains("by the weir")).unwrap();
    source.records.remove(removed_position);
    let at = source.records.iter().position(|r| r.text.contains("green tea")).unwrap();
    source.records[at].text = "Likes black tea.".into();
    source.edited.insert(at);
    let mut fact = Record::new(Kind::Memory, RecordKey::new("chatgpt", "bio-1"), "Has two cats.");
    fact.source.platform = "chatgpt".into();
    source.records.push(fact.clone());
    write(&mut source, &scratch.0.join("out"), &ZeroClaw);
    let db = scratch.0.join("out/workspace/memory/brain.db");
    let rows = rows_of_database(&db);
    let texts: Vec<&str> = rows.iter().map(|(_, c)| c.as_str()).collect();
    assert_eq!(texts, ["Likes black tea.", "Talked about beans.", "Has two cats."]);
    let bytes = std::fs::read(&db).unwrap();
    for word in ["by the weir", "green tea"] {
        assert!(memchr::memmem::find(&bytes, word.as_bytes()).is_none(), "{word}");
    }
    let hits: i64 = Connection::open(&db)
        .unwrap()
        .query_row("SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'cats'", [], |r| r.get(0))
        .unwrap();
    assert_eq!(hits, 1, "the runtime's own search finds it");
    let mut reread = read(&scratch.0.join("out"), &ZeroClaw);
    assert!(reread.records.contains(&fact), "the record is restored unchanged");
    write(&mut reread, &scratch.0.join("again"), &ZeroClaw);
    assert_eq!(rows_of_database(&scratch.0.join("again/workspace/memory/brain.db")), rows);
}

#[test]
fn a_database_in_use_is_read_with_its_write_ahead_log() {
    let scratch = Scratch::new("zeroclaw-wal");
    let open_path = scratch.0.join("live/memory.db");
    database_at(&open_path, &[("a", "a", "Old words.", "core")]);
    let db = Connection::open(&open_path).unwrap();
    db.pragma_update(None, "journal_mode", "wal").unwrap();
    db.execute("UPDATE memories SET content = 'New words.'", []).unwrap();
    db.execute(
        "INSERT INTO memories VALUES ('b', 'b', 'More words.', 'core', NULL, '2026-02-03 04:05:06', 'never')",
        [],
    )
    .unwrap();
    let copy = scratch.0.join("copy");
    std::fs::create_dir(&copy).unwrap();
    for name in ["memory.db", "memory.db-wal"] {
        std::fs::copy(open_path.with_file_name(name), copy.join(name)).unwrap();
    }
    drop(db);
    let before = tree(&copy);
    let mut source = read(&copy, &ZeroClaw);
    let texts: Vec<&str> = source.records.iter().map(|r| r.text.as_str()).collect();
    assert_eq!(texts, ["New words.", "More words."]);
    assert_eq!(source.records[1].times.created, Timestamp::parse("2026-02-03T04:05:06Z"));
    assert_eq!(tree(&copy), before, "reading writes nothing beside the database");
    write(&mut source, &scratch.0.join("out"), &ZeroClaw);
    assert_eq!(tree(&scratch.0.join("out")), before);
}

#[test]
fn a_hostile_or_damaged_database_does_not_affect_other_files() {
    let scratch = Scratch::new("zeroclaw-bad");
    let valid_bytes = {
        let database_path = scratch.0.join("g/memory.db");
        database_at(&database_path, &[("a", "a", "Some words that are longer than a few.", "core")]);
        std::fs::read(database_path).unwrap()
    };
    let mut database_bytes = valid_bytes.clone();
    database_bytes.truncate(valid_bytes.len() / 2);
    let mut overwritten_bytes = valid_bytes.clone();
    overwritten_bytes[100..4000].fill(0xff);
    let view = {
        let at = scratch.0.join("v.db");
        let db = Connection::open(&at).unwrap();
        db.execute_batch("CREATE TABLE category_content (x); CREATE VIEW memories AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id FROM n) SELECT id, '' AS key, '' AS content FROM n;").unwrap();
        drop(db);
        std::fs::read(at).unwrap()
    };
    for (n, bytes) in
        [database_bytes, overwritten_bytes, view, b"SQLite format 3\0".to_vec(), b"not a database".to_vec()]
            .into_iter()
            .enumerate()
    {
        let home = scratch.0.join(format!("{n}/home"));
        put(&home, &[("config.toml", SETTINGS.as_bytes()), ("memory.db", &bytes), ("SOUL.md", b"# A\n")]);
        let mut source = read(&home, &ZeroClaw);
        assert!(source.records.iter().any(|r| r.kind == Kind::Profile), "the other files are read");
        assert!(source.parts.iter().any(|(p, b)| p.name == "memory.db" && *b == bytes), "stored unchanged");
        let row_count = source.records.iter().filter(|r| r.kind == Kind::Memory).count();
        assert!(source.dropped.len() == 1 || row_count <= 1, "{n}");
        let out = scratch.0.join(format!("{n}/out"));
        write(&mut source, &out, &ZeroClaw);
        if !source.dropped.is_empty() {
            assert_eq!(tree(&out)["memory.db"], bytes, "{n}");
        }
    }
    assert!(matches!(database::open_image(vec![0; 10], None, true), Err(database::DatabaseError::Open(_))));
}

#[test]
fn records_of_other_formats_get_a_new_database() {
    let scratch = Scratch::new("zeroclaw-new");
    let mut fact = Record::new(Kind::Memory, RecordKey::new("chatgpt", "bio-1"), "Has two cats.");
    fact.source.platform = "chatgpt".into();
    let mut duplicate = fact.clone();
    duplicate.key.value = "bio-2".into();
    let mut source = MemorySource { records: vec![fact.clone(), duplicate.clone()], ..MemorySource::default() };
    write(&mut source, &scratch.0.join("out"), &ZeroClaw);
    assert_eq!(rows_of_database(&scratch.0.join("out/memory.db")).len(), 2);
    let reread = read(&scratch.0.join("out"), &ZeroClaw);
    let mut records: Vec<Record> = reread.records;
    records.sort_by(|a, b| a.key.value.cmp(&b.key.value));
    assert_eq!(records, [fact, duplicate]);
    assert_eq!(validate(&scratch.0.join("out"), &ZeroClaw).errors, []);
}
