//! How an account's newest export differs from its older ones: which conversations are new, changed or gone.
use mementory_model::Kind;
use mementory_testkit::TempVault;
use mementory_vault::{ExportDiffStatus, ListQuery};
use std::path::{Path, PathBuf};

/// Writes a ChatGPT export to a new folder. Each conversation is given as (id, title, time).
fn export(folder: &Path, name: &str, conversations: &[(&str, &str, i64)]) -> PathBuf {
    let dir = folder.join(name);
    std::fs::create_dir(&dir).unwrap();
    let entries: Vec<serde_json::Value> = conversations
        .iter()
        .map(|(id, title, time)| {
            serde_json::json!({
                "id": id, "conversation_id": id, "title": title,
                "create_time": time, "update_time": time, "current_node": format!("{id}-1"),
                "mapping": {
                    format!("{id}-0"): { "id": format!("{id}-0"), "message": null, "parent": null, "children": [format!("{id}-1")] },
                    format!("{id}-1"): {
                        "id": format!("{id}-1"), "parent": format!("{id}-0"), "children": [],
                        "message": {
                            "id": format!("{id}-1"), "author": { "role": "user" }, "create_time": time,
                            "content": { "content_type": "text", "parts": [format!("About {title}")] }
                        }
                    }
                }
            })
        })
        .collect();
    std::fs::write(
        dir.join("conversations.json"),
        serde_json::to_vec(&entries).unwrap(),
    )
    .unwrap();
    dir
}

fn statuses(t: &TempVault) -> Vec<(String, Option<ExportDiffStatus>)> {
    let query = ListQuery {
        kind: Some(Kind::Conversation),
        limit: 100,
        ..ListQuery::default()
    };
    let diff = t.vault.export_diff().unwrap();
    let rows = t.vault.queries().list(&query).unwrap().rows;
    let mut out: Vec<_> = rows
        .iter()
        .map(|row| (row.title.clone().unwrap(), diff.status_of(row)))
        .collect();
    out.sort();
    out
}

const FIRST_EXPORT: [(&str, &str, i64); 4] = [
    ("aaaaaaaa-1", "Oldest", 1_600_000_000),
    ("aaaaaaaa-2", "Stays", 1_700_000_000),
    ("aaaaaaaa-3", "Goes", 1_710_000_000),
    ("aaaaaaaa-4", "Before", 1_720_000_000),
];
const SECOND_EXPORT: [(&str, &str, i64); 3] = [
    ("aaaaaaaa-2", "Stays", 1_700_000_000),
    ("aaaaaaaa-4", "After", 1_720_000_000),
    ("aaaaaaaa-5", "Added", 1_730_000_000),
];

fn status_of(
    found: &[(String, Option<ExportDiffStatus>)],
    title: &str,
) -> Option<ExportDiffStatus> {
    found.iter().find(|(name, _)| name == title).unwrap().1
}

#[test]
fn a_newer_export_marks_what_is_new_changed_and_gone() {
    let folder = tempfile::tempdir().unwrap();
    let t = TempVault::new();
    t.import(&[export(folder.path(), "first", &FIRST_EXPORT)])
        .unwrap();
    assert!(
        statuses(&t).iter().all(|(_, s)| s.is_none()),
        "one export says nothing"
    );
    let second = export(folder.path(), "second", &SECOND_EXPORT);
    let planned = t.plan(std::slice::from_ref(&second)).unwrap();
    assert!(statuses(&t).iter().all(|(_, s)| s.is_none()));
    let report = t.import(&[second]).unwrap();
    assert_eq!(
        planned.gone, report.gone,
        "the plan says what the import then says"
    );
    assert_eq!(report.gone["conversation"], 1);
    let found_statuses = statuses(&t);
    assert_eq!(
        status_of(&found_statuses, "Added"),
        Some(ExportDiffStatus::New)
    );
    assert_eq!(
        status_of(&found_statuses, "After"),
        Some(ExportDiffStatus::Changed)
    );
    assert_eq!(
        status_of(&found_statuses, "Goes"),
        Some(ExportDiffStatus::Gone)
    );
    assert_eq!(status_of(&found_statuses, "Stays"), None);
    assert_eq!(
        status_of(&found_statuses, "Oldest"),
        None,
        "older than all of the newer export: perhaps not asked for"
    );
    let counts = &t.vault.export_diff().unwrap().counts;
    assert_eq!(
        counts[&("chatgpt".into(), "conversation", ExportDiffStatus::Gone)],
        1
    );
    t.vault
        .importer()
        .undo(&report.batch, mementory_testkit::at(10))
        .unwrap();
    assert!(
        statuses(&t).iter().all(|(_, s)| s.is_none()),
        "undone, nothing is compared"
    );
}

#[test]
fn an_export_of_another_account_marks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let t = TempVault::new();
    t.import(&[export(folder.path(), "mine", &FIRST_EXPORT)])
        .unwrap();
    let other_account = [("bbbbbbbb-1", "Somebody else's", 1_500_000_000)];
    t.import(&[export(folder.path(), "other", &other_account)])
        .unwrap();
    assert!(statuses(&t).iter().all(|(_, s)| s.is_none()));
}

#[test]
fn an_older_export_imported_later_marks_nothing_as_gone() {
    let folder = tempfile::tempdir().unwrap();
    let t = TempVault::new();
    t.import(&[export(folder.path(), "june", &FIRST_EXPORT)])
        .unwrap();
    let january = [FIRST_EXPORT[0], FIRST_EXPORT[1]];
    t.import(&[export(folder.path(), "january", &january)])
        .unwrap();
    assert!(
        statuses(&t)
            .iter()
            .all(|(_, s)| *s != Some(ExportDiffStatus::Gone)),
        "{:?}",
        statuses(&t)
    );
}

#[test]
fn a_conversation_that_grew_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let t = TempVault::new();
    t.import(&[export(folder.path(), "first", &FIRST_EXPORT)])
        .unwrap();
    let dir = export(folder.path(), "second", &FIRST_EXPORT);
    let path = dir.join("conversations.json");
    let mut entries: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let mapping = &mut entries[1]["mapping"];
    mapping["aaaaaaaa-2-1"]["children"] = serde_json::json!(["more"]);
    mapping["more"] = serde_json::json!({
        "id": "more", "parent": "aaaaaaaa-2-1", "children": [],
        "message": {
            "id": "more", "author": { "role": "assistant" }, "create_time": 1_700_000_001,
            "content": { "content_type": "text", "parts": ["And more."] }
        }
    });
    std::fs::write(&path, serde_json::to_vec(&entries).unwrap()).unwrap();
    t.import(&[dir]).unwrap();
    assert_eq!(
        status_of(&statuses(&t), "Stays"),
        Some(ExportDiffStatus::Changed),
        "it has one message more"
    );
}
