//! Creates a ZeroClaw home, for tests.
use mementory_format::testkit::put;
use rusqlite::Connection;
use std::path::Path;

/// Content of the settings file in a test home.
pub const SETTINGS: &str = "default_provider = \"openai\"\ndefault_model = \"m\"\napi_key = \"sk-zc-0123456789abcdefghij\"\n\n[memory]\nbackend = \"sqlite\"\nembedding_provider = \"openai\"\n\n[identity]\nformat = \"aieos\"\naieos_path = \"identity.json\"\n";
/// AIEOS identity of the agent in a test home.
pub const AIEOS: &str = r#"{"identity": {"names": {"first": "Wren"}, "bio": {"gender": "none"}},"psychology":{"neural_matrix":{"logic":0.80}},"motivations":{"core_drive":"Keep order"},"x":1.0}"#;

/// Creates a database with the tables of the runtime, including its search table.
pub fn database_at(path: &Path, rows: &[(&str, &str, &str, &str)]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let db = Connection::open(path).unwrap();
    db.execute_batch(
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', embedding BLOB, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
         CREATE VIRTUAL TABLE memories_fts USING fts5(key, content, content=memories, content_rowid=rowid);
         CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN INSERT INTO memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;
         CREATE TRIGGER memories_ad AFTER DELETE ON memories BEGIN INSERT INTO memories_fts(memories_fts, rowid, key, content) VALUES ('delete', old.rowid, old.key, old.content); END;
         CREATE TRIGGER memories_au AFTER UPDATE ON memories BEGIN INSERT INTO memories_fts(memories_fts, rowid, key, content) VALUES ('delete', old.rowid, old.key, old.content); INSERT INTO memories_fts(rowid, key, content) VALUES (new.rowid, new.key, new.content); END;",
    )
    .unwrap();
    let vector: Vec<u8> = (0..64u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    for (id, key, content, category) in rows {
        let row = rusqlite::params![id, key, content, category, vector];
        db.execute("INSERT INTO memories VALUES (?1, ?2, ?3, ?4, ?5, '2026-02-03T04:05:06+00:00', '2026-02-04T00:00:00+00:00')", row).unwrap();
    }
}

/// Creates a home with settings, identity, Markdown and a database.
pub fn create_home(path: &Path) {
    put(
        path,
        &[
            ("config.toml", SETTINGS.as_bytes()),
            (".secret_key", b"0011"),
            ("workspace/identity.json", AIEOS.as_bytes()),
            ("workspace/SOUL.md", b"# Wren\nBe kind.\n"),
            ("workspace/memory/2026-02-05.md", b"## Noon\nPlanted beans.\n"),
            ("workspace/notes.bin", b"\x00\x01"),
        ],
    );
    let rows = [
        ("0197f2a0-6666-7000-8000-000000000001", "tea", "Likes green tea.", "core"),
        ("0197f2a0-6666-7000-8000-000000000002", "walk", "Went for a walk by the weir.", "daily"),
        ("x-3", "talk", "Talked about beans.", "gardening"),
    ];
    database_at(&path.join("workspace/memory/brain.db"), &rows);
}
