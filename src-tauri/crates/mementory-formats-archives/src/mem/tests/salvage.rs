//! Tests of the salvage of a damaged bundle: what it reads, and what it leaves out.
use super::harness::{MemorySink, TempDir, copy, now, read, read_with, repo, single_bundle, validate};
use crate::mem::Mem;
use mementory_format::{Catalog, Format, FormatError, ReadContext};
use mementory_model::Limits;
use std::path::Path;

const EPISODES: &str = "items/episode.jsonl";

fn salvage(path: &Path) -> Result<MemorySink, FormatError> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let context = ReadContext { limits: limits.clone(), now: now(), passphrase: None };
    let mut sink = MemorySink::default();
    Mem.salvage(&catalog, &single_bundle(&catalog, &limits), &context, &mut sink)?;
    Ok(sink)
}

fn edit(file: &Path, change: impl Fn(String) -> String) {
    std::fs::write(file, change(std::fs::read_to_string(file).unwrap())).unwrap();
}

/// Sets the digest and size in the manifest to those of the current file.
fn update_listed_digest(bundle: &Path, path: &str) {
    let bytes = std::fs::read(bundle.join(path)).unwrap();
    let digest = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&bytes));
    let manifest = std::fs::read_to_string(bundle.join("manifest.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let rows = manifest["files"].as_array_mut().unwrap();
    let row = rows.iter_mut().find(|row| row["path"] == path).unwrap();
    row["sha256"] = digest.into();
    row["bytes"] = bytes.len().into();
    std::fs::write(bundle.join("manifest.json"), manifest.to_string()).unwrap();
}

#[test]
fn files_that_differ_from_the_manifest_are_left_out_and_all_others_are_read() {
    type Change = fn(&Path);
    let cases: [(&str, Change); 4] = [
        ("checksum_mismatch", |b| edit(&b.join(EPISODES), |text| text.replacen("a", "e", 1))),
        ("checksum_mismatch", |b| {
            edit(&b.join(EPISODES), |text| text.lines().take(1).map(|l| format!("{l}\n")).collect())
        }),
        ("checksum_mismatch", |b| std::fs::write(b.join(EPISODES), "").unwrap()),
        ("file_missing", |b| std::fs::remove_file(b.join(EPISODES)).unwrap()),
    ];
    for (code, change) in cases {
        let temp = TempDir::new();
        let folder = temp.join("t.mem");
        copy(&repo().join("fixtures/mem/small/input.mem"), &folder);
        let undamaged_sink = read(&folder);
        change(&folder);
        let mut refused_sink = MemorySink::default();
        assert!(
            read_with(&folder, &Limits::default(), &mut refused_sink).is_err() && refused_sink.is_empty(),
            "{code}"
        );
        let errors = validate(&folder, &[]).errors;
        assert!(errors.iter().any(|f| f.code == code && f.place.ends_with(EPISODES)), "{code}: {errors:?}");
        let salvaged_sink = salvage(&folder).unwrap();
        let of_episodes = |pointer: &str| pointer.starts_with(EPISODES);
        assert!(!salvaged_sink.records.iter().any(|record| of_episodes(&record.origin.pointer)), "{code}");
        let other_count = undamaged_sink.records.iter().filter(|record| !of_episodes(&record.origin.pointer)).count();
        assert!(other_count > 0 && undamaged_sink.records.len() > other_count, "the fixture has episodes and others");
        assert_eq!(
            (salvaged_sink.records.len(), salvaged_sink.tombstones.len()),
            (other_count, undamaged_sink.tombstones.len()),
            "{code}"
        );
    }
}

#[test]
fn only_the_line_that_is_not_a_record_is_left_out() {
    let temp = TempDir::new();
    let folder = temp.join("t.mem");
    copy(&repo().join("fixtures/mem/small/input.mem"), &folder);
    let undamaged_sink = read(&folder);
    edit(&folder.join(EPISODES), |text| format!("{{broken\n{text}[]\n"));
    update_listed_digest(&folder, EPISODES);
    let errors = validate(&folder, &[]).errors;
    let lines: Vec<&str> = errors.iter().filter(|f| f.code == "malformed").map(|f| f.place.as_str()).collect();
    assert_eq!(lines.len(), 2, "every such line is listed: {lines:?}");
    let salvaged_sink = salvage(&folder).unwrap();
    assert_eq!(salvaged_sink.records.len(), undamaged_sink.records.len());
    assert_eq!(salvaged_sink.dropped.iter().filter(|dropped| dropped.reason.starts_with("malformed")).count(), 2);
}

#[test]
fn a_file_that_is_not_listed_is_left_out() {
    let temp = TempDir::new();
    let folder = temp.join("t.mem");
    copy(&repo().join("fixtures/mem/small/input.mem"), &folder);
    let undamaged_sink = read(&folder);
    std::fs::write(folder.join("items/stranger.jsonl"), "{\"id\":\"x\"}\n").unwrap();
    let salvaged_sink = salvage(&folder).unwrap();
    assert_eq!(
        (salvaged_sink.records.len(), salvaged_sink.parts.len()),
        (undamaged_sink.records.len(), undamaged_sink.parts.len())
    );
}

#[test]
fn nothing_is_salvaged_without_a_manifest() {
    for change in [|path: &Path| std::fs::remove_file(path).unwrap(), |path: &Path| std::fs::write(path, "{").unwrap()]
    {
        let temp = TempDir::new();
        let folder = temp.join("t.mem");
        copy(&repo().join("fixtures/mem/small/input.mem"), &folder);
        change(&folder.join("manifest.json"));
        assert!(salvage(&folder).is_err());
    }
}

#[test]
fn a_bundle_with_a_damaged_manifest_is_detected_even_beside_a_store_of_another_format() {
    type Change = fn(&Path);
    let changes: [Change; 4] = [
        |path| std::fs::write(path, "{").unwrap(),
        |path| std::fs::write(path, "{}").unwrap(),
        |path| std::fs::remove_file(path).unwrap(),
        |_| {},
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let temp = TempDir::new();
        let folder = temp.join("t.mem");
        copy(&repo().join("fixtures/mem/small/input.mem"), &folder);
        let store = repo().join("fixtures/pam/whole/input/memory-store.json");
        std::fs::copy(store, folder.join("memory-store.json")).unwrap();
        change(&folder.join("manifest.json"));
        let limits = Limits::default();
        let catalog = Catalog::open(&[folder], &limits, None).unwrap();
        let detection = crate::detect(&catalog, &limits, None).unwrap();
        let formats: Vec<&str> = detection.sources.iter().map(|source| source.format).collect();
        assert_eq!((formats, detection.ties.len()), (vec!["mem"], 0), "change {i}");
    }
}
