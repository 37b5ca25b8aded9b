//! Tests of the identity version of each memory (spec §3.1.10, §10.2.1).
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::testing::*;
use crate::alf::testing::workspace;
use mementory_formats_agents::openclaw::OpenClaw;
use mementory_model::{Kind, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the current identity version, and a map from the text of each memory to its version.
fn versions(archive: &Path) -> (u64, BTreeMap<String, Option<u64>>) {
    let all_entries = entries(archive);
    let identity: Value = serde_json::from_slice(&all_entries["identity.json"]).unwrap();
    let manifest: Value = serde_json::from_slice(&all_entries["manifest.json"]).unwrap();
    assert_eq!(manifest["layers"]["identity"]["version"], identity["version"]);
    let files = all_entries.iter().filter(|(name, _)| name.starts_with("memory/partitions/"));
    let lines = files.flat_map(|(_, bytes)| std::str::from_utf8(bytes).unwrap().lines());
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let versions = lines.map(|l| (l["content"].as_str().unwrap().to_owned(), l["source"]["identity_version"].as_u64()));
    (identity["version"].as_u64().unwrap(), versions.collect())
}

fn at(day: u32) -> Timestamp {
    Timestamp::parse(&format!("2026-06-{day:02}T08:00:00Z")).unwrap()
}

#[test]
fn spec_10_2_1_memories_have_the_identity_version_of_their_time() {
    let scratch = Scratch::new("10-2-1-lineage");
    let path = |name: &str| scratch.0.join(name);
    let source = repo().join("fixtures/openclaw/workspace/input");
    let mut vault = workspace::read(&source, &OpenClaw);
    write(&mut vault, &path("one.alf"));
    let (identity, lines) = versions(&path("one.alf"));
    assert!(identity == 1 && lines.len() > 5 && lines.values().all(|v| *v == Some(1)), "10.2.1, 1: {lines:?}");

    // Everything was imported on day 1, a changed soul on day 3, and one more memory on day 5.
    for record in &vault.records {
        let is_soul = record.record_type.as_deref() == Some("soul");
        let times = if is_soul { vec![at(1), at(3)] } else { vec![at(1)] };
        vault.import_times.insert(record.key.value.clone(), times);
    }
    let later_memory = vault.records.iter().find(|r| r.kind == Kind::Memory).unwrap();
    let text = later_memory.text.clone();
    vault.import_times.insert(later_memory.key.value.clone(), vec![at(5)]);
    write(&mut vault, &path("two.alf"));
    let versions_before = versions(&path("two.alf"));
    assert_eq!(versions_before.0, 2);
    let expected = lines.keys().map(|line| (line.clone(), Some(if *line == text { 2 } else { 1 }))).collect();
    assert_eq!(versions_before.1, expected, "10.2.1, 2: older memories keep their version");
    assert_eq!(validate(&path("two.alf")).errors, []);

    // §10.2.1, step 3: each memory has one of the two versions.
    let count_of = |version| versions_before.1.iter().filter(move |(_, v)| **v == Some(version)).count();
    assert_eq!((count_of(1) + count_of(2), count_of(2)), (lines.len(), 1));

    // §10.2.1, step 4: another vault, which imported everything on one day, exports the same versions.
    let mut second_vault = read(&path("two.alf")).unwrap();
    second_vault.vault = Some("0191b2c3-0000-7000-8000-000000000002".into());
    second_vault.import_times = second_vault.records.iter().map(|r| (r.key.value.clone(), vec![at(9)])).collect();
    write(&mut second_vault, &path("three.alf"));
    assert_eq!(versions(&path("three.alf")), versions_before);
    // If the first vault imports the archive again, nothing is counted twice.
    let imported = read(&path("two.alf")).unwrap().parts;
    vault.parts.extend(imported.into_iter().filter(|(item, _)| item.name.ends_with("lineage.json")));
    write(&mut vault, &path("four.alf"));
    assert_eq!(versions(&path("four.alf")), versions_before);
    // The workspace folder does not contain the lineage file.
    workspace::write(&mut second_vault, &path("w"), &OpenClaw);
    assert!(!workspace::tree(&path("w")).keys().any(|name| name.contains("lineage")));
}
