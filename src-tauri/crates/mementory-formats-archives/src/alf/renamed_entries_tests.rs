//! Tests of files that get a different name in an archive, because some systems refuse the original name or cannot
//! distinguish it from another one.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::sealed_secrets::sha256;
use super::testing::*;
use mementory_format::testkit::FakeCipher;
use mementory_format::{Format, Passphrase, WriteOptions, folded_name};
use mementory_formats_agents::openclaw::OpenClaw;
use mementory_model::LossKind;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

fn passphrase() -> Option<Arc<dyn Passphrase>> {
    Some(Arc::new(FakeCipher("tea")))
}

fn write_sealed(vault: &mut MemorySource, path: &Path) -> mementory_format::WriteReport {
    let options = WriteOptions { everything: true, passphrase: passphrase(), ..WriteOptions::default() };
    super::Alf.write(vault, path, &options).unwrap()
}

fn settings_with(key: &str) -> String {
    format!("{{\"api_key\": \"sk-{key}-0123456789abcdefghij\", \"lines\": 3}}\n")
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "other systems do not have such files")]
fn secrets_of_renamed_settings_files_are_restored() {
    let scratch = Scratch::new("renamed-secrets");
    let (folder, archive) = (scratch.0.join("w"), scratch.0.join("a.alf"));
    workspace::put(&folder, &[("SOUL.md", b"# Wren\nCalm.\n")]);
    // The archive renames `skills/.env` to the last of these names, which another file already has.
    let names = ["aux.json", "skills/.ENV", "skills/.env", "skills/.env~2"];
    for name in names {
        workspace::put(&folder, &[(name, settings_with(&sha256(name.as_bytes())[..4]).as_bytes())]);
    }
    let report = write_sealed(&mut workspace::read(&folder, &OpenClaw), &archive);
    assert_eq!(report.losses.count("file", LossKind::Narrowed), 3, "{:?}", report.losses.items);
    assert_eq!(report.losses.count("secret", LossKind::LeftOut), 0, "sealed, not lost");
    let reread = read_with(&archive, passphrase()).unwrap();
    assert!(reread.notes.iter().all(|note| note.code != "secrets_not_restored"), "{:?}", reread.notes);
    for name in names {
        let restored = reread.parts.iter().find(|(item, _)| item.format == "openclaw" && item.name == name);
        let expected = settings_with(&sha256(name.as_bytes())[..4]);
        assert_eq!(restored.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()), Some(expected), "{name}");
    }
}

#[test]
fn key_files_of_several_workspaces_are_restored_into_their_own() {
    let scratch = Scratch::new("several-keys");
    for (name, notes) in [("a", 4), ("b", 1)] {
        let folder = scratch.0.join(name);
        let soul = format!("# Agent {name}\n");
        workspace::put(&folder, &[("SOUL.md", soul.as_bytes()), ("id_ed25519", name.as_bytes())]);
        for n in 0..notes {
            workspace::put(&folder, &[(&format!("memory/2026-01-0{}.md", n + 1), b"## Notes\nCalm.\n")]);
        }
    }
    let mut merged_vault = workspace::read(&scratch.0.join("a"), &OpenClaw);
    let second_workspace = workspace::read(&scratch.0.join("b"), &OpenClaw);
    merged_vault.records.extend(second_workspace.records);
    merged_vault.parts.extend(second_workspace.parts);
    let keys = |vault: &MemorySource| {
        let key_parts = vault.parts.iter().filter(|(item, _)| item.name.ends_with("id_ed25519"));
        key_parts.map(|(item, bytes)| (item.group.clone(), item.name.clone(), bytes.clone())).collect::<BTreeSet<_>>()
    };
    assert_eq!(keys(&merged_vault).len(), 2);
    let archive = scratch.0.join("x.alf");
    write_sealed(&mut merged_vault, &archive);
    assert_eq!(keys(&read_with(&archive, passphrase()).unwrap()), keys(&merged_vault));
}

/// Entries of the fixture `every-field` after a change.
fn changed_entries(scratch: &Scratch, change: impl Fn(&mut BTreeMap<String, Vec<u8>>)) -> BTreeMap<String, Vec<u8>> {
    let whole_archive = scratch.0.join("whole.alf");
    pack_folder(&repo().join("fixtures/alf/every-field/input"), &whole_archive);
    let mut all_entries = entries(&whole_archive);
    change(&mut all_entries);
    all_entries
}

fn pack_all(path: &Path, all_entries: &BTreeMap<String, Vec<u8>>) {
    pack(path, &all_entries.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect::<Vec<_>>());
}

fn edit_json(all_entries: &mut BTreeMap<String, Vec<u8>>, name: &str, change: impl Fn(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&all_entries[name]).unwrap();
    change(&mut value);
    all_entries.insert(name.to_owned(), value.to_string().into_bytes());
}

fn assert_names_differ_folded(all_entries: &BTreeMap<String, Vec<u8>>) {
    let folded_names: BTreeSet<String> = all_entries.keys().map(|name| folded_name(name)).collect();
    assert_eq!(folded_names.len(), all_entries.len(), "{:?}", all_entries.keys());
}

#[test]
fn a_secret_file_with_an_unusual_name_does_not_prevent_restoring_the_others() {
    let scratch = Scratch::new("unusual-name");
    let (first_archive, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    let names = ["raw/openclaw/a:b.json", "raw/openclaw/plain.json"];
    let all_entries = changed_entries(&scratch, |all_entries| {
        for name in names {
            all_entries.insert(name.to_owned(), settings_with("same").into_bytes());
        }
    });
    pack_all(&first_archive, &all_entries);
    write_sealed(&mut read(&first_archive).unwrap(), &second_archive);
    let reread = read_with(&second_archive, passphrase()).unwrap();
    assert!(reread.notes.iter().all(|note| note.code != "credential_closed"), "{:?}", reread.notes);
    for name in names {
        let restored = reread.parts.iter().find(|(item, _)| item.name == name).map(|(_, bytes)| bytes.clone());
        assert_eq!(restored, Some(settings_with("same").into_bytes()), "{name}");
    }
}

#[test]
fn a_generated_entry_does_not_take_the_name_of_a_passthrough_file_in_another_case() {
    let scratch = Scratch::new("reserved-case");
    let (first_archive, second_archive) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    let unlisted_entry = "memory/partitions/2026-q1.jsonl";
    let all_entries = changed_entries(&scratch, |all_entries| {
        let lines = all_entries.remove("memory/partitions/2026-Q1.jsonl").unwrap();
        all_entries.insert("memory/all.jsonl".into(), lines);
        all_entries.insert(unlisted_entry.into(), b"{\"of\":\"another program\"}\n".to_vec());
        edit_json(all_entries, "manifest.json", |manifest| {
            manifest["layers"]["memory"]["partitions"][0]["file"] = json!("memory/all.jsonl");
        });
    });
    pack_all(&first_archive, &all_entries);
    write(&mut read(&first_archive).unwrap(), &second_archive);
    let written_entries = entries(&second_archive);
    assert_eq!(written_entries[unlisted_entry], all_entries[unlisted_entry], "the other program's file keeps its name");
    assert_names_differ_folded(&written_entries);
    assert_eq!(validate(&second_archive).errors, []);
}

#[test]
fn artifacts_of_two_agents_that_differ_only_by_case_are_both_kept() {
    let scratch = Scratch::new("case-of-two-agents");
    let (first_archive, second_archive, joined_archive) =
        (scratch.0.join("a.alf"), scratch.0.join("b.alf"), scratch.0.join("both.alf"));
    pack_all(&first_archive, &changed_entries(&scratch, |_| {}));
    // Another agent, whose ids all differ from those of the first agent.
    let other = changed_entries(&scratch, |other_entries| {
        let artifact = b"hive,weight\n2,99\n".to_vec();
        edit_json(other_entries, "attachments.json", |index| {
            let row = &mut index["attachments"][0];
            row["archive_path"] = json!("artifacts/Data/HIVES.csv");
            row["hash"]["value"] = json!(sha256(&artifact));
        });
        other_entries.remove("artifacts/data/hives.csv");
        other_entries.insert("artifacts/Data/HIVES.csv".into(), artifact);
        for bytes in other_entries.values_mut() {
            *bytes = String::from_utf8(bytes.clone()).unwrap().replace("0197f2a0-", "0197f2a1-").into_bytes();
        }
    });
    pack_all(&second_archive, &other);

    let mut vault = read(&first_archive).unwrap();
    let other_vault = read(&second_archive).unwrap();
    vault.records.extend(other_vault.records);
    vault.files.extend(other_vault.files);
    vault.parts.extend(other_vault.parts);
    write(&mut vault, &joined_archive);
    let written_entries = entries(&joined_archive);
    assert_names_differ_folded(&written_entries);
    assert_eq!(validate(&joined_archive).errors, []);
    let index: Value = serde_json::from_slice(&written_entries["attachments.json"]).unwrap();
    let rows = index["attachments"].as_array().unwrap().iter();
    let included: Vec<&Value> = rows.filter(|row| row["archive_path"].is_string()).collect();
    assert_eq!(included.len(), 2);
    for row in included {
        assert_eq!(row["hash"]["value"], sha256(&written_entries[row["archive_path"].as_str().unwrap()]));
    }
    let texts = |vault: &MemorySource| vault.files.iter().map(|(_, bytes)| bytes.clone()).collect::<BTreeSet<_>>();
    let reread = read(&joined_archive).unwrap();
    assert_eq!((texts(&reread).len(), texts(&reread)), (2, texts(&vault)));
}
