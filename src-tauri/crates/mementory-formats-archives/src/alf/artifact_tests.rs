//! Tests that workspace files of all three tiers (spec §3.1.9, §10.6) survive an export to an archive and an import.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::sealed_secrets::sha256;
use super::testing::*;
use crate::alf::testing::workspace;
use mementory_format::{Format, WriteOptions, WriteReport};
use mementory_formats_agents::openclaw::{OpenClaw, files::ABSENT_FILE, redact};
use mementory_model::{Kind, LossKind};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn case() -> Value {
    let text = std::fs::read(repo().join("fixtures/openclaw/artifacts/case.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Creates the workspace of the fixture, including its large files.
fn create_workspace(scratch: &Scratch) -> PathBuf {
    let folder = scratch.0.join("made");
    for (name, bytes) in workspace::tree(&repo().join("fixtures/openclaw/artifacts/input")) {
        workspace::put(&folder, &[(&name, &bytes)]);
    }
    for (name, size) in case()["made"].as_object().unwrap() {
        let size = usize::try_from(size.as_u64().unwrap()).unwrap();
        workspace::put(&folder, &[(name, &vec![u8::try_from(size % 251).unwrap(); size])]);
    }
    folder
}

fn write_with(vault: &mut MemorySource, path: &Path, threshold: Option<u64>) -> WriteReport {
    let options = WriteOptions { everything: true, artifact_threshold: threshold, ..WriteOptions::default() };
    super::Alf.write(vault, path, &options).unwrap()
}

fn document(path: &Path, name: &str) -> Value {
    serde_json::from_slice(&entries(path)[name]).unwrap()
}

/// Rows of the attachment index by source path.
fn index(path: &Path) -> BTreeMap<String, Value> {
    let rows = document(path, "attachments.json")["attachments"].as_array().unwrap().clone();
    rows.into_iter().map(|row| (row["source_path"].as_str().unwrap().to_owned(), row)).collect()
}

/// Returns the files of a workspace, with the secrets in the settings file redacted.
fn redacted(mut tree: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    let settings = tree.get_mut("deploy/settings.json").unwrap();
    *settings = redact::redact(std::str::from_utf8(settings).unwrap()).0.into_bytes();
    tree
}

/// Asserts the tier of every file, and that the index describes each file correctly.
fn assert_tiers(archive: &Path, files: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, u64>) {
    let (all_entries, rows) = (entries(archive), index(archive));
    assert_eq!(files.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, tier) in expected {
        let raw = all_entries.get(&format!("raw/openclaw/{name}"));
        let row = rows.get(name);
        match tier {
            1 => assert!(raw.is_some() && row.is_none(), "{name}"),
            tier => {
                let row = row.unwrap_or_else(|| panic!("{name} has no row"));
                assert_eq!(raw, None, "{name}");
                assert_eq!(row["size_bytes"], files[name].len(), "{name}");
                assert_eq!(row["hash"], json!({"algorithm": "sha256", "value": sha256(&files[name])}), "{name}");
                assert_eq!(row["remote_ref"], Value::Null);
                match row["archive_path"].as_str() {
                    Some(path) => {
                        assert!(
                            *tier == 2 && path.starts_with("artifacts/") && all_entries[path] == files[name],
                            "{name}"
                        )
                    }
                    None => assert_eq!(*tier, 3, "{name}"),
                }
            }
        }
    }
    let sum = |tier: u64| {
        let sizes_of_tier = expected.iter().filter(|(_, t)| **t == tier).map(|(name, _)| files[name].len());
        (sizes_of_tier.clone().count(), sizes_of_tier.sum::<usize>())
    };
    let layer = &document(archive, "manifest.json")["layers"]["attachments"];
    let count_and_size = |count: &str, size: &str| (layer[count].clone(), layer[size].clone());
    let ((two, two_size), (three, three_size)) = (sum(2), sum(3));
    assert_eq!(count_and_size("included_count", "included_size_bytes"), (two.into(), two_size.into()));
    assert_eq!(count_and_size("referenced_count", "referenced_size_bytes"), (three.into(), three_size.into()));
    assert_eq!(layer["count"], two + three);
    assert_eq!(validate(archive).errors, []);
}

fn expected(case: &Value) -> BTreeMap<String, u64> {
    case["tiers"].as_object().unwrap().iter().map(|(name, tier)| (name.clone(), tier.as_u64().unwrap())).collect()
}

#[test]
fn spec_10_6_1_workspace_files_get_their_tier() {
    let (scratch, case) = (Scratch::new("10-6-1"), case());
    let (source, archive) = (create_workspace(&scratch), scratch.0.join("a.alf"));
    let report = write_with(&mut workspace::read(&source, &OpenClaw), &archive, None);
    copy_for_interop(&archive, "artifacts.alf");
    let files = workspace::tree(&source);
    assert_tiers(&archive, &files, &expected(&case));
    assert_eq!(document(&archive, "attachments.json")["artifact_size_threshold"], 102_400);
    let lost_files: BTreeSet<&str> =
        report.losses.items.iter().filter(|l| l.field == "file").map(|l| l.record.as_str()).collect();
    assert_eq!(lost_files, BTreeSet::from(["docs/manual.pdf", "images/quay.png"]), "large files are reported");
    let planned_report = super::Alf
        .plan(&mut workspace::read(&source, &OpenClaw), &WriteOptions { everything: true, ..WriteOptions::default() })
        .unwrap();
    assert_eq!(planned_report.losses.count("file", LossKind::LeftOut), 2, "a dry run reports them as well");
    let all_entries = entries(&archive);
    assert!(!String::from_utf8_lossy(&all_entries["raw/openclaw/deploy/settings.json"]).contains("not-a-real-key"));

    // Checks the media types (spec §10.6.7) and the references (spec §10.6.6).
    let rows = index(&archive);
    for (name, media) in case["media_types"].as_object().unwrap() {
        assert_eq!(rows[name]["media_type"], *media, "{name}");
    }
    let lines = String::from_utf8(all_entries["memory/partitions/2026-Q2.jsonl"].clone()).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (name, titles) in case["spoken_of"].as_object().unwrap() {
        let references = rows[name]["referenced_by"].as_array().unwrap();
        let has_title = |line: &&Value| {
            titles.as_array().unwrap().contains(&line["raw_source_format"]["mementory"]["record"]["title"])
        };
        let ids: Vec<&Value> = lines.iter().filter(has_title).map(|line| &line["id"]).collect();
        assert_eq!(references.iter().collect::<Vec<_>>(), ids, "{name}");
    }
}

#[test]
fn spec_10_6_2_threshold_decides_the_tier() {
    let (scratch, case) = (Scratch::new("10-6-2"), case());
    let (source, archive) = (create_workspace(&scratch), scratch.0.join("a.alf"));
    let files = workspace::tree(&source);
    write_with(&mut workspace::read(&source, &OpenClaw), &archive, Some(10_240));
    let mut expected_tiers = expected(&case);
    for (name, tier) in case["tiers_below_10240"].as_object().unwrap() {
        expected_tiers.insert(name.clone(), tier.as_u64().unwrap());
    }
    assert_tiers(&archive, &files, &expected_tiers);
    assert_eq!(document(&archive, "attachments.json")["artifact_size_threshold"], 10_240);

    // With a threshold above the size of every file, the archive contains the whole workspace.
    let complete_archive = scratch.0.join("whole.alf");
    let report = write_with(&mut workspace::read(&source, &OpenClaw), &complete_archive, Some(1 << 30));
    assert_eq!(report.losses.count("file", LossKind::LeftOut), 0);
    workspace::write(&mut read(&complete_archive).unwrap(), &scratch.0.join("w"), &OpenClaw);
    assert_eq!(workspace::tree(&scratch.0.join("w")), redacted(files));
}

#[test]
fn spec_10_6_2_threshold_applies_to_imported_rows_when_set() {
    let scratch = Scratch::new("10-6-2-own");
    let (first_archive, second_archive, third_archive) =
        (scratch.0.join("a.alf"), scratch.0.join("b.alf"), scratch.0.join("c.alf"));
    pack_folder(&repo().join("fixtures/alf/every-field/input"), &first_archive);
    let mut vault = read(&first_archive).unwrap();
    write_with(&mut vault, &second_archive, None);
    assert!(entries(&second_archive).contains_key("artifacts/data/hives.csv"));
    let report = write_with(&mut vault, &third_archive, Some(10));
    assert_eq!(document(&third_archive, "attachments.json")["artifact_size_threshold"], 10);
    assert_eq!(index(&third_archive)["data/hives.csv"]["archive_path"], Value::Null);
    assert!(!entries(&third_archive).contains_key("artifacts/data/hives.csv"));
    let reported_losses = report.losses.items.iter().filter(|l| l.field == "attachment" && l.note.contains("tier 3"));
    assert_eq!(reported_losses.count(), 1);
    assert_eq!(validate(&third_archive).errors, validate(&second_archive).errors);
}

#[test]
fn spec_10_6_3_and_10_6_4_small_files_are_restored_and_large_ones_reported() {
    let (scratch, case) = (Scratch::new("10-6-3"), case());
    let (source, archive, second_archive) =
        (create_workspace(&scratch), scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    write_with(&mut workspace::read(&source, &OpenClaw), &archive, None);
    let mut reread = read(&archive).unwrap();
    assert_eq!(reread.dropped, []);
    assert!(
        reread.files.is_empty() && reread.records.iter().all(|r| r.kind != Kind::Attachment),
        "files of a workspace"
    );
    let reported_losses: Vec<&str> =
        reread.notes.iter().filter(|n| n.code == "attachment_not_in_archive").map(|n| n.message.as_str()).collect();
    assert_eq!(reported_losses.len(), 2, "{reported_losses:?}");
    assert!(reported_losses.iter().any(|m| m.contains("manual.pdf (2097152 bytes)")), "{reported_losses:?}");

    // The restored folder needs the same name, because the origin of the records includes it.
    let folder = scratch.0.join("home/made");
    std::fs::create_dir(scratch.0.join("home")).unwrap();
    workspace::write(&mut reread, &folder, &OpenClaw);
    let mut home = workspace::tree(&folder);
    let list: Value = serde_json::from_slice(&home.remove(ABSENT_FILE).unwrap()).unwrap();
    let listed_paths: BTreeSet<&str> =
        list.as_array().unwrap().iter().map(|r| r["source_path"].as_str().unwrap()).collect();
    assert_eq!(listed_paths, BTreeSet::from(["docs/manual.pdf", "images/quay.png"]));
    let mut tree_before = redacted(workspace::tree(&source));
    tree_before.retain(|name, _| case["tiers"][name] != 3);
    assert_eq!(home, tree_before);

    // An export of the imported vault equals the export of the original folder, except for the manifest.
    let other_entries =
        |path: &Path| entries(path).into_iter().filter(|(n, _)| n != "manifest.json").collect::<BTreeMap<_, _>>();
    write_with(&mut reread, &second_archive, None);
    assert_eq!(other_entries(&second_archive), other_entries(&archive));
    write_with(&mut workspace::read(&folder, &OpenClaw), &scratch.0.join("c.alf"), None);
    assert_eq!(other_entries(&scratch.0.join("c.alf")), other_entries(&archive));
}

#[test]
fn reimport_into_the_same_vault_keeps_every_byte() {
    let scratch = Scratch::new("10-6-vault");
    let (source, archive) = (create_workspace(&scratch), scratch.0.join("a.alf"));
    let mut vault = workspace::read(&source, &OpenClaw);
    write_with(&mut vault, &archive, None);
    // As in a vault, an imported passthrough file replaces the file with the same format, group and name.
    for (item, bytes) in read(&archive).unwrap().parts {
        vault.parts.retain(|(old, _)| (&old.format, &old.group, &old.name) != (&item.format, &item.group, &item.name));
        vault.parts.push((item, bytes));
    }
    workspace::write(&mut vault, &scratch.0.join("w"), &OpenClaw);
    assert_eq!(workspace::tree(&scratch.0.join("w")), redacted(workspace::tree(&source)));
}

#[test]
fn spec_10_6_5_file_that_differs_from_its_row_is_not_imported_into_the_workspace() {
    let scratch = Scratch::new("10-6-5");
    let (source, archive, second_archive) =
        (create_workspace(&scratch), scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    write_with(&mut workspace::read(&source, &OpenClaw), &archive, None);
    let repack = |change: &dyn Fn(&str, &mut Vec<u8>)| {
        let mut all_entries = entries(&archive);
        all_entries.iter_mut().for_each(|(name, bytes)| change(name, bytes));
        pack(&second_archive, &all_entries.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect::<Vec<_>>());
        read(&second_archive).unwrap()
    };
    let csv = |vault: &MemorySource, format: &str| {
        vault.parts.iter().any(|(item, _)| item.format == format && item.name.ends_with("data/tides.csv"))
    };
    let changed_archive = repack(&|name, bytes| {
        if name == "artifacts/data/tides.csv" {
            bytes.push(b'!');
        }
    });
    assert!(changed_archive.notes.iter().any(|n| n.code == "attachment_checksum_mismatch"));
    assert!(
        csv(&changed_archive, "alf") && !csv(&changed_archive, "openclaw"),
        "stored with the archive, not in the workspace"
    );
    // Only a manifest generated by Mementory may assign files to a workspace.
    let foreign_archive = repack(&|name, bytes| {
        if name == "manifest.json" {
            let mut manifest: Value = serde_json::from_slice(bytes).unwrap();
            manifest["mementory"]["generated"] = json!(false);
            *bytes = manifest.to_string().into_bytes();
        }
    });
    assert!(!csv(&foreign_archive, "openclaw"));
    assert_eq!(foreign_archive.records.iter().filter(|r| r.kind == Kind::Attachment).count(), 7);
}

#[test]
fn spec_10_6_3_archive_files_are_written_to_their_source_path() {
    use mementory_formats_agents::zeroclaw::ZeroClaw;
    let folder = repo().join("fixtures/alf/artifacts");
    let case: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
    let (scratch, input) = (Scratch::new("10-6-3-foreign"), folder.join("input"));
    let archive = scratch.0.join("a.alf");
    pack_folder(&input, &archive);
    assert_eq!(validate(&archive).errors, []);
    let rows = document(&archive, "attachments.json")["attachments"].as_array().unwrap().clone();
    let mut vault = read(&archive).unwrap();
    for format in [&OpenClaw as &dyn Format, &ZeroClaw] {
        let out = scratch.0.join(format.id());
        let report = workspace::write(&mut vault, &out, format);
        let tree = workspace::tree(&out);
        for row in &rows {
            let Some(place) = case["places"][row["id"].as_str().unwrap()].as_str() else { continue };
            if place == "artifacts/SOUL.md" && format.id() == "zeroclaw" {
                continue; // ZeroClaw does not use raw/openclaw/, so the file is at its own path SOUL.md.
            }
            let original = std::fs::read(input.join(row["archive_path"].as_str().unwrap())).unwrap();
            let restored_bytes = tree.get(place).unwrap_or_else(|| panic!("{place} is not there"));
            if case["redacted"].as_array().unwrap().contains(&json!(place)) {
                assert!(!String::from_utf8_lossy(restored_bytes).contains("not-a-real-key"), "{place}");
            } else {
                assert_eq!(*restored_bytes, original, "{place}");
            }
        }
        assert!(!tree.keys().any(|name| name.starts_with(".git/")));
        let forged_bytes = std::fs::read(input.join("artifacts/records.jsonl")).unwrap();
        assert_ne!(
            tree.get(".mementory/records.jsonl"),
            Some(&forged_bytes),
            "an import must not bring our bookkeeping files"
        );
        assert!(format.id() == "zeroclaw" || tree["SOUL.md"].starts_with(b"# Tern"));
        let reported_losses: Vec<_> = report.losses.items.iter().filter(|l| l.field == "attachment").collect();
        assert!(
            reported_losses.len() == 1 && reported_losses[0].note.contains("quay.mov (734003200 bytes)"),
            "{reported_losses:?}"
        );
        let list: Value = serde_json::from_slice(&tree[ABSENT_FILE]).unwrap();
        assert_eq!(list[0]["source_path"], case["only_named"]);

        // A file that exists in the workspace or in the home is not listed as absent.
        let prefix = if format.id() == "zeroclaw" { "workspace/" } else { "" };
        let (home, both) =
            (scratch.0.join(format!("{}-home", format.id())), scratch.0.join(format!("{}-both", format.id())));
        let quay_path = format!("{prefix}images/quay.mov");
        match prefix {
            "" => workspace::put(&home, &[("SOUL.md", b"# Wren\n")]),
            _ => mementory_formats_agents::zeroclaw::testing::create_home(&home),
        }
        workspace::put(&home, &[(&quay_path, b"film")]);
        let mut merged_vault = workspace::read(&home, format);
        let vault = read(&archive).unwrap();
        merged_vault.records.extend(vault.records);
        merged_vault.parts.extend(vault.parts);
        merged_vault.files.extend(vault.files);
        workspace::write(&mut merged_vault, &both, format);
        let tree = workspace::tree(&both);
        assert_eq!((tree[&quay_path].as_slice(), tree.get(ABSENT_FILE)), (&b"film"[..], None), "{}", format.id());

        // An export of the restored workspace includes its files, and lists the absent files.
        let second_archive = scratch.0.join(format!("{}.alf", format.id()));
        write_with(&mut workspace::read(&out, format), &second_archive, None);
        assert_eq!(validate(&second_archive).errors, []);
        let index = index(&second_archive);
        assert_eq!(index["data/tides.csv"]["hash"], rows[0]["hash"]);
        assert_eq!(index["images/quay.mov"]["hash"], rows[10]["hash"]);
        assert_eq!(index["images/quay.mov"]["archive_path"], Value::Null);
    }
    let outside_file = scratch.0.join("outside.txt");
    assert!(!outside_file.exists());
}

#[test]
fn spec_10_6_9_validator_reports_wrong_sizes_and_counts_of_files() {
    let folder = repo().join("fixtures/alf/artifacts");
    let faults: Vec<Value> = serde_json::from_slice(&std::fs::read(folder.join("faults.json")).unwrap()).unwrap();
    let scratch = Scratch::new("10-6-9");
    let (whole_archive, file) = (scratch.0.join("whole.alf"), scratch.0.join("a.alf"));
    pack_folder(&folder.join("input"), &whole_archive);
    for fault in faults {
        let mut all_entries = entries(&whole_archive);
        if let Some(entry) = fault["entry"].as_str() {
            let bytes = all_entries.entry(entry.to_owned()).or_default();
            match (fault["at"].as_str(), fault["add"].as_str()) {
                (Some(at), _) => {
                    let mut document: Value = serde_json::from_slice(bytes).unwrap();
                    *document.pointer_mut(at).unwrap() = fault["to"].clone();
                    *bytes = document.to_string().into_bytes();
                }
                (None, text) => bytes.extend(text.unwrap().as_bytes()),
            }
        }
        pack(&file, &all_entries.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect::<Vec<_>>());
        let validation = validate(&file);
        let codes = |validation: &[mementory_format::Finding]| {
            let codes: BTreeSet<&str> = validation.iter().map(|f| f.code.as_str()).collect();
            json!(codes)
        };
        assert_eq!(codes(&validation.errors), fault["errors"], "{}", fault["about"]);
        assert_eq!(codes(&validation.warnings), fault["warnings"], "{}", fault["about"]);
    }
}

#[test]
fn spec_10_6_2_large_files_of_other_formats_are_streamed() {
    let scratch = Scratch::new("10-6-2-large");
    let bytes: Vec<u8> = (0..3u32 << 20).map(|n| (n % 251) as u8).collect();
    let key = mementory_model::RecordKey::new("chatgpt", "large.bin");
    let mut record =
        mementory_model::Record::new(Kind::Memory, mementory_model::RecordKey::new("chatgpt", "m"), "See it.");
    let (name, size) = ("large.bin".to_owned(), Some(bytes.len() as u64));
    let reference = mementory_model::AttachmentRef {
        key: key.clone(),
        origin_id: None,
        name: name.clone(),
        media_type: None,
        size,
        text: None,
    };
    record.attachments.push(reference);
    let file = mementory_format::AttachmentFile { key, origin_id: None, name, media_type: None, place: String::new() };
    let mut vault =
        MemorySource { records: vec![record], files: vec![(file, bytes.clone())], ..MemorySource::default() };
    let archive = scratch.0.join("a.alf");
    write_with(&mut vault, &archive, Some(u64::MAX));
    let row = &document(&archive, "attachments.json")["attachments"][0];
    assert_eq!(row["hash"]["value"], sha256(&bytes));
    assert!(entries(&archive)[row["archive_path"].as_str().unwrap()] == bytes);
    assert_eq!(validate(&archive).errors, []);

    // The bytes are returned only if there are at most `bound` of them.
    let measure = |bound: u64| super::write::size_digest_and_bytes(&mut bytes.as_slice(), bound).unwrap();
    assert_eq!(measure(3 << 20), (3 << 20, sha256(&bytes), Some(bytes.clone())));
    assert_eq!(measure((3 << 20) - 1), (3 << 20, sha256(&bytes), None));
}

#[test]
fn archives_cannot_write_bookkeeping_files_into_a_workspace() {
    let scratch = Scratch::new("10-6-forged");
    let (source, archive, forged_archive) =
        (create_workspace(&scratch), scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    write_with(&mut workspace::read(&source, &OpenClaw), &archive, None);
    let bookkeeping = [".mementory/records.jsonl", ".mementory/lineage.json"];
    for (name, generated) in [("row", true), ("raw", true), ("raw", false)] {
        for path in bookkeeping {
            let mut all_entries = entries(&archive);
            let mut manifest: Value = serde_json::from_slice(&all_entries["manifest.json"]).unwrap();
            manifest["mementory"]["generated"] = json!(generated);
            if name == "raw" {
                all_entries.insert(format!("raw/openclaw/{path}"), b"{\"forged\":1}\n".to_vec());
            } else {
                let mut index: Value = serde_json::from_slice(&all_entries["attachments.json"]).unwrap();
                let rows = index["attachments"].as_array_mut().unwrap();
                let row = rows.iter_mut().find(|row| row["archive_path"].is_string()).unwrap();
                row["mementory"]["path"] = json!(path);
                all_entries.insert("attachments.json".into(), index.to_string().into_bytes());
            }
            all_entries.insert("manifest.json".into(), manifest.to_string().into_bytes());
            pack(&forged_archive, &all_entries.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect::<Vec<_>>());
            let mut vault = read(&forged_archive).unwrap();
            let is_forged_file = |(item, _): &(mementory_format::PassthroughItem, Vec<u8>)| {
                item.format == "openclaw" && item.name == path
            };
            assert!(!vault.parts.iter().any(is_forged_file), "{name} {path}");
            // The raw files of another program's archive must not bring the forged file into a workspace either.
            let out = scratch.0.join(format!("{name}-{generated}-{}", path.len()));
            workspace::write(&mut vault, &out, &OpenClaw);
            let restored_bytes = workspace::tree(&out).remove(path).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&restored_bytes).contains("forged"), "{name} {path}");
        }
    }
}
