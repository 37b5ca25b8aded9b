//! Tests of archives whose manifest states a wrong name for the memory index: the name of a file with another purpose,
//! or a path that is not allowed in an archive. Such an archive can be imported, so it must be possible to export it
//! and to apply deltas to it.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::delta::apply;
use super::testing::*;
use mementory_model::Limits;
use serde_json::{Value, json};

const PARTITION: &str = "memory/partitions/2026-Q1.jsonl";
const SOUL: (&str, &[u8]) = ("raw/openclaw/SOUL.md", b"# Calm\n");

fn manifest_of(path: &std::path::Path) -> Value {
    serde_json::from_slice(&entries(path)["manifest.json"]).unwrap()
}

#[test]
fn an_index_file_of_another_purpose_is_not_overwritten() {
    let scratch = Scratch::new("index-name");
    let [whole_archive, first_archive, second_archive, delta, third_archive] =
        ["whole.alf", "a.alf", "b.alf", "one.alf-delta", "c.alf"].map(|name| scratch.0.join(name));
    pack_folder(&repo().join("fixtures/alf/every-field/input"), &whole_archive);
    let agent = manifest_of(&whole_archive)["agent"]["id"].clone();
    let delta_manifest = json!({"alf_version": "1.0.0", "created_at": "2026-03-02T00:00:00Z", "agent": {"id": agent},
        "sync": {"base_sequence": 3, "new_sequence": 4}, "changes": {}});
    pack(&delta, &[("manifest.json", delta_manifest.to_string().as_bytes())]);
    let stated_names = [
        "memory/index.json", // the usual name
        "manifest.json",
        "identity.json",
        "credentials.json",
        "artifacts/data/hives.csv",
        PARTITION,
        SOUL.0,
        "../index.json",
        "a:b.json",
        "memory//index.json",
        "",
    ];
    for stated in stated_names {
        let mut all_entries = entries(&whole_archive);
        let mut manifest = manifest_of(&whole_archive);
        manifest["layers"]["memory"]["index_file"] = json!(stated);
        all_entries.insert("manifest.json".into(), manifest.to_string().into_bytes());
        all_entries.insert(SOUL.0.into(), SOUL.1.to_vec());
        pack(
            &first_archive,
            &all_entries.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect::<Vec<_>>(),
        );

        let is_unsafe = ["", "../index.json", "a:b.json"].contains(&stated);
        assert_eq!(validate(&first_archive).errors.iter().any(|f| f.code == "unsafe_path"), is_unsafe, "{stated:?}");
        let mut vault = read(&first_archive).unwrap();
        write(&mut vault, &second_archive);
        apply(&first_archive, std::slice::from_ref(&delta), &third_archive, &Limits::default()).unwrap();
        for (path, what) in [(&second_archive, "exported"), (&third_archive, "with a delta")] {
            let written_entries = entries(path);
            let index = manifest_of(path)["layers"]["memory"]["index_file"].as_str().unwrap().to_owned();
            let index: Value = serde_json::from_slice(&written_entries[&index]).unwrap();
            assert!(index["partitions"].is_array(), "{stated:?} {what}");
            for name in ["identity.json", "credentials.json", "artifacts/data/hives.csv", PARTITION, SOUL.0] {
                assert_eq!(written_entries[name], all_entries[name], "{stated:?} {what}: {name}");
            }
            assert_eq!(validate(path).errors, [], "{stated:?} {what}");
        }
        std::fs::remove_file(&second_archive).unwrap();
        std::fs::remove_file(&third_archive).unwrap();
    }
}
