//! Tests of round trips of other formats' records through a store.
use super::harness::*;
use mementory_model::LossKind;
use std::{collections::BTreeSet, path::PathBuf};

fn inputs(scratch: &Scratch) -> Vec<(String, PathBuf)> {
    let mut out = Vec::new();
    for (format, cases) in
        [("mem", &["all-kinds", "small"][..]), ("chatgpt", &["memories", "content-types", "graph-damage"][..])]
    {
        for case in cases {
            let folder = repo().join("fixtures").join(format).join(case);
            let inside = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path());
            let input = inside.into_iter().find(|p| p.file_name().unwrap().to_string_lossy().starts_with("input"));
            out.push((format!("{format}-{case}"), input.unwrap_or(folder)));
        }
    }
    let alf = scratch.at("lossless.alf");
    pack(&repo().join("fixtures/alf/lossless/input"), &alf);
    out.push(("alf-lossless".into(), alf));
    for sample in ["chatgpt-export.zip", "claude-export.zip", "chatgpt-saved-memories.txt"] {
        out.push((sample.split('.').next().unwrap().into(), repo().join("fixtures/samples").join(sample)));
    }
    out
}

#[test]
fn records_of_other_formats_round_trip_unchanged() {
    let scratch = Scratch::new("travel");
    for (name, input) in inputs(&scratch) {
        let mut source = read_any(&input).unwrap();
        // Like a vault, keeps only one copy of a record that a source lists several times.
        let mut seen = BTreeSet::new();
        source.records.retain(|r| seen.insert((r.key.scope.clone(), r.key.value.clone())));
        assert!(!source.records.is_empty(), "{name}");
        let out = scratch.at(&name);
        let report = write(&mut source, &out, &full_export());
        assert_eq!(report.by_kind.values().sum::<u64>(), source.records.len() as u64, "{name}");
        assert_eq!(errors(&out), Vec::<String>::new(), "{name}");
        let mut reread = read(&out).unwrap();
        assert!(!reread.codes().contains(&"changed_elsewhere".to_owned()), "{name}");
        let (before, after) = (sorted_json(&source.records), sorted_json(&reread.records));
        assert_eq!(before.len(), after.len(), "{name}");
        for (a, b) in before.iter().zip(&after) {
            assert_eq!(a, b, "{name}");
        }
        // Writing the same records again yields the same memories.
        let rewritten = scratch.at(&format!("{name}-twice"));
        reread.parts.clear();
        write(&mut reread, &rewritten, &full_export());
        assert_eq!(
            json(&out.join("memory-store.json"))["memories"],
            json(&rewritten.join("memory-store.json"))["memories"]
        );
    }
}

#[test]
fn only_an_edit_by_the_python_sdk_counts_as_a_change() {
    let scratch = Scratch::new("saved");
    let mut source = read_any(&repo().join("fixtures/mem/all-kinds/input.mem")).unwrap();
    let out = scratch.at("out");
    write(&mut source, &out, &full_export());
    let mut store = json(&out.join("memory-store.json"));
    for memory in store["memories"].as_array_mut().unwrap() {
        memory["custom_type"] = memory.get("custom_type").cloned().unwrap_or_default();
        memory["temporal"]["valid_until"] = memory["temporal"].get("valid_until").cloned().unwrap_or_default();
    }
    store.as_object_mut().unwrap().remove("integrity");
    std::fs::write(out.join("memory-store.json"), store.to_string()).unwrap();
    let reread = read(&out).unwrap();
    assert!(!reread.codes().contains(&"changed_elsewhere".to_owned()));
    assert_eq!(sorted_json(&reread.records), sorted_json(&source.records));

    let memory = &mut store["memories"][0];
    memory["content"] = "Somebody else wrote this.".into();
    memory["content_hash"] = crate::pam::hash::content_hash("Somebody else wrote this.").into();
    let id = memory["id"].as_str().unwrap().to_owned();
    std::fs::write(out.join("memory-store.json"), store.to_string()).unwrap();
    let reread = read(&out).unwrap();
    assert_eq!(reread.notes.iter().filter(|n| n.code == "changed_elsewhere").count(), 1);
    let changed = reread.records.iter().find(|r| r.text == "Somebody else wrote this.").unwrap();
    assert_eq!(changed.origin.format, "pam");
    assert!(changed.verbatim.as_ref().unwrap().text.contains(&id));
}

#[test]
fn losses_are_reported() {
    let scratch = Scratch::new("losses");
    let mut source = read_any(&repo().join("fixtures/mem/all-kinds/input.mem")).unwrap();
    let report = write(&mut source, &scratch.at("out"), &full_export());
    assert!(report.losses.count("fields", LossKind::MovedToExtension) > 0);
    assert!(report.losses.count("passthrough", LossKind::LeftOut) > 0, "manifest of the other format");
}

#[test]
fn records_without_a_time_are_the_same_in_every_export() {
    let scratch = Scratch::new("undated");
    let mut source = read_any(&repo().join("fixtures/mcp_memory/graph/input.json")).unwrap();
    assert!(source.records.iter().all(|record| record.times.created.is_none()), "the fixture has no times");
    let mut stores = Vec::new();
    for (name, now) in [("first", "2026-11-20T12:00:00Z"), ("second", "2026-12-24T18:30:00Z")] {
        source.now = Some(now);
        let report = write(&mut source, &scratch.at(name), &full_export());
        assert_eq!(report.losses.count("created", LossKind::Narrowed), source.records.len() as u64);
        stores.push(json(&scratch.at(name).join("memory-store.json")));
    }
    assert_eq!(stores[0]["memories"], stores[1]["memories"]);
    assert_ne!(stores[0]["export_date"], stores[1]["export_date"], "only the store has the time of the export");
}
