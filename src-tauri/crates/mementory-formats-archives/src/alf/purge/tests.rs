//! Tests the requirements on hard deletion (spec §10.14) that apply to local files.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::super::testing::*;
use super::{PurgeOptions, purge, purge_agent};
use mementory_format::FormatError;
use mementory_model::{Limits, Timestamp};
use serde_json::Value;
use std::path::Path;

const AGENT_ID: &str = "0197f2a0-1111-7000-8000-00000000000a";

fn id(n: u32) -> String {
    format!("0197f2a0-4444-7000-8000-{n:012x}")
}

fn line(n: u32, created: &str, more_members: &str) -> String {
    format!(
        r#"{{"id":"{}","agent_id":"{AGENT_ID}","content":"Secret number {n} of the \"harbour\" is kept.","memory_type":"semantic","source":{{"runtime":"r"}},"temporal":{{"created_at":"{created}"}},"status":"active","namespace":"n"{more_members}}}"#,
        id(n)
    )
}

fn options() -> PurgeOptions {
    PurgeOptions {
        out: None,
        reason: "user_request".into(),
        requested_by: Some("0197f2a0-1111-7000-8000-0000000000aa".into()),
        strip_links: false,
        dry_run: false,
        deltas: vec![],
        passphrase: None,
        now: Timestamp::parse("2026-11-20T12:00:00Z").unwrap(),
        limits: Limits::default(),
    }
}

/// Writes an archive with 100 records in a sealed quarter, 10 records in another quarter and 5 records in the current
/// quarter. Files in the archive contain the texts of records 3 and 7.
fn write_agent(path: &Path) {
    let quarter = |from: u32, to: u32, month: &str| {
        (from..to).map(|n| line(n, &format!("{month}-02T00:00:00Z"), "") + "\n").collect::<String>()
    };
    let mut third_quarter = quarter(0, 100, "2025-08");
    let link = format!(
        r#","supersedes":"{}","related_records":[{{"id":"{}","relation":"caused_by"}},{{"id":"{}","relation":"x"}}]"#,
        id(3),
        id(3),
        id(4)
    );
    third_quarter =
        third_quarter.replace(&line(50, "2025-08-02T00:00:00Z", ""), &line(50, "2025-08-02T00:00:00Z", &link));
    let manifest = format!(
        r#"{{"alf_version":"1.0.0","created_at":"2026-11-01T00:00:00Z","agent":{{"id":"{AGENT_ID}","name":"A","source_runtime":"openclaw"}},"layers":{{"attachments":{{"count":1,"file":"attachments.json"}},"memory":{{"record_count":115,"index_file":"memory/index.json","partitions":[
        {{"file":"memory/partitions/2025-Q3.jsonl","from":"2025-07-01","to":"2025-09-30","record_count":100,"sealed":true}},
        {{"file":"memory/partitions/2025-Q4.jsonl","from":"2025-10-01","to":"2025-12-31","record_count":10,"sealed":true}},
        {{"file":"memory/partitions/2026-Q4.jsonl","from":"2026-10-01","to":null,"record_count":5,"sealed":false}}]}}}},"raw_sources":["openclaw"]}}"#
    );
    let attachments = format!(
        r#"{{"artifact_size_threshold":102400,"attachments":[{{"id":"{}","filename":"a.txt","media_type":"text/plain","size_bytes":0,"hash":{{"algorithm":"sha256","value":""}},"source_path":"a.txt","archive_path":null,"remote_ref":null,"referenced_by":["{}","{}"]}}]}}"#,
        id(900),
        id(3),
        id(5)
    );
    pack(
        path,
        &[
            ("manifest.json", manifest.as_bytes()),
            ("attachments.json", attachments.as_bytes()),
            ("memory/partitions/2025-Q3.jsonl", third_quarter.as_bytes()),
            ("memory/partitions/2025-Q4.jsonl", quarter(100, 110, "2025-11").as_bytes()),
            ("memory/partitions/2026-Q4.jsonl", quarter(110, 115, "2026-10").as_bytes()),
            ("raw/openclaw/memory/2025-08-02.md", b"## Notes\nsecret   number 3 of the \"Harbour\" is kept.\nMore."),
            ("artifacts/notes.json", br#"{"n":"Secret number 7 of the \"harbour\" is kept."}"#),
            ("artifacts/clean.txt", b"nothing here"),
            ("artifacts/packed.gz", b"\x1f\x8b\x08rest"),
        ],
    );
}

fn manifest(path: &Path) -> Value {
    serde_json::from_slice(&entries(path)["manifest.json"]).unwrap()
}

#[test]
fn spec_10_14_purge_removes_only_the_requested_records() {
    let scratch = Scratch::new("purge");
    let file = scratch.0.join("a.alf");
    write_agent(&file);
    let bytes_before = std::fs::read(&file).unwrap();
    let entries_before = entries(&file);
    let ids = [id(3).to_uppercase(), id(40), id(41), "0197f2a0-4444-7000-8000-00000000ffff".to_owned()];

    let dry = purge(&file, &ids, &PurgeOptions { dry_run: true, ..options() }).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), bytes_before, "a dry run writes nothing");
    assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 1);
    assert_eq!((dry.removed, dry.audit_path.clone(), dry.audit.completed_at.clone()), (3, None, None));

    let purge_report = purge(&file, &ids, &options()).unwrap();
    assert_eq!((purge_report.removed, purge_report.links), (3, 2));
    assert_eq!(purge_report.leftovers, dry.leftovers);
    assert_eq!(purge_report.not_found, ["0197f2a0-4444-7000-8000-00000000ffff"]);
    assert_eq!(
        purge_report.removed_from.iter().collect::<Vec<_>>(),
        [(&"memory/partitions/2025-Q3.jsonl".to_owned(), &3)]
    );
    let new_entries = entries(&file);
    let third_quarter = String::from_utf8(new_entries["memory/partitions/2025-Q3.jsonl"].clone()).unwrap();
    assert_eq!(third_quarter.lines().count(), 97, "10.14.2a");
    let remaining_lines: Vec<&str> = third_quarter.lines().collect();
    let old_third_quarter = String::from_utf8(entries_before["memory/partitions/2025-Q3.jsonl"].clone()).unwrap();
    assert!(
        remaining_lines.iter().all(|l| old_third_quarter.lines().any(|o| o == *l)),
        "all other lines keep their bytes"
    );
    for name in [
        "memory/partitions/2025-Q4.jsonl",
        "memory/partitions/2026-Q4.jsonl",
        "attachments.json",
        "artifacts/notes.json",
    ] {
        assert_eq!(new_entries[name], entries_before[name], "{name}");
    }
    let row = manifest(&file)["layers"]["memory"]["partitions"][0].clone();
    assert_eq!((&row["record_count"], &row["sealed"], &row["to"]), (&97.into(), &true.into(), &"2025-09-30".into()));
    assert_eq!(manifest(&file)["layers"]["memory"]["record_count"], 112);
    let digest = {
        use sha2::Digest;
        hex::encode(sha2::Sha256::digest(&new_entries["memory/partitions/2025-Q3.jsonl"]))
    };
    assert_eq!(row["sha256"], digest.as_str(), "10.14.2c, 10.14.7: another digest");
    assert_eq!(validate(&file).errors, [], "10.14.8");
    let places: Vec<_> = purge_report.leftovers.iter().map(|l| (l.place.as_str(), l.reason.as_str())).collect();
    assert_eq!(
        places,
        [("artifacts/packed.gz", "cannot_be_searched"), ("raw/openclaw/memory/2025-08-02.md", "holds_text")]
    );

    let audit_path = purge_report.audit_path.unwrap();
    assert_eq!(audit_path.parent(), file.parent(), "beside the output");
    let audit = std::fs::read_to_string(audit_path).unwrap();
    let audit: Value = serde_json::from_str(&audit).unwrap();
    assert_eq!(audit["scope"], "record_purge");
    assert_eq!(audit["record_ids"], serde_json::json!([id(3), id(40), id(41)]));
    assert_eq!(audit["partitions_affected"], serde_json::json!(["memory/partitions/2025-Q3.jsonl"]));
    assert_eq!((&audit["reason"], &audit["agent_id"]), (&"user_request".into(), &AGENT_ID.into()));
    assert!(audit["completed_at"].as_str().unwrap() > "2026" && audit["requested_at"] == "2026-11-20T12:00:00Z");
    assert!(!audit.to_string().contains("harbour"), "10.14.9");
    let raw = std::fs::read(&file).unwrap();
    let raw = String::from_utf8_lossy(&raw).into_owned();
    assert!(!raw.contains("number 40 of"));

    // §10.2.2, step 4: the record that links to the deleted record can still be read.
    let vault = read(&file).unwrap();
    let linking_record = vault.records.iter().find(|r| r.key.value == id(50)).unwrap();
    assert_eq!(linking_record.links.len(), 3);
    assert!(matches!(purge(&file, &[id(3)], &options()), Err(FormatError::Invalid { code: "not_found", .. })));
}

#[test]
fn spec_10_14_strips_links_on_request_in_several_partitions() {
    let scratch = Scratch::new("purge-more");
    let (file, out) = (scratch.0.join("a.alf"), scratch.0.join("b.alf"));
    write_agent(&file);
    let purge_options = PurgeOptions { out: Some(out.clone()), strip_links: true, ..options() };
    let purge_report = purge(&file, &[id(3), id(7), id(105), id(112)], &purge_options).unwrap();
    assert_eq!(
        purge_report.removed_from.len(),
        3,
        "10.14.3 and 10.14.4: each partition for itself, the current one too"
    );
    let second_purge = purge(&file, &[id(3)], &purge_options);
    assert!(matches!(second_purge, Err(FormatError::Io { .. })), "an existing file is not replaced");
    let new_entries = entries(&out);
    for (name, bytes) in &new_entries {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(&id(3)), "10.14.2d: nowhere, {name}");
    }
    let third_quarter = String::from_utf8(new_entries["memory/partitions/2025-Q3.jsonl"].clone()).unwrap();
    let linking_record: Value =
        serde_json::from_str(third_quarter.lines().find(|l| l.contains(&id(50))).unwrap()).unwrap();
    assert_eq!(linking_record.get("supersedes"), None);
    assert_eq!(linking_record["related_records"], serde_json::json!([{"id": id(4), "relation": "x"}]));
    let attachments: Value = serde_json::from_slice(&new_entries["attachments.json"]).unwrap();
    assert_eq!(attachments["attachments"][0]["referenced_by"], serde_json::json!([id(5)]));
    assert_eq!(validate(&out).errors, []);
    let places: Vec<_> = purge_report.leftovers.iter().map(|l| l.place.as_str()).collect();
    assert_eq!(places, ["artifacts/notes.json", "artifacts/packed.gz", "raw/openclaw/memory/2025-08-02.md"]);
}

#[test]
fn spec_10_14_purges_deltas_and_whole_agents() {
    let scratch = Scratch::new("purge-delta");
    let (file, delta) = (scratch.0.join("a.alf"), scratch.0.join("d.alf-delta"));
    write_agent(&file);
    let manifest = format!(
        r#"{{"alf_version":"1.0.0","created_at":"2026-11-20T12:00:00Z","agent":{{"id":"{AGENT_ID}"}},"sync":{{"base_sequence":0,"new_sequence":1}},"changes":{{"memory":{{"file":"memory/delta.jsonl","record_count":2}}}}}}"#
    );
    let update_line = |n: u32| line(n, "2025-08-02T00:00:00Z", r#","operation":"update""#);
    let lines = format!("{}\n{}\n", update_line(3), update_line(9));
    pack(&delta, &[("manifest.json", manifest.as_bytes()), ("memory/delta.jsonl", lines.as_bytes())]);
    let purge_report = purge(&file, &[id(3)], &PurgeOptions { deltas: vec![delta.clone()], ..options() }).unwrap();
    assert_eq!(purge_report.removed_from["d.alf-delta"], 1, "10.14.5");
    let new_entries = entries(&delta);
    assert_eq!(String::from_utf8_lossy(&new_entries["memory/delta.jsonl"]), update_line(9) + "\n");
    let manifest: Value = serde_json::from_slice(&new_entries["manifest.json"]).unwrap();
    assert_eq!(manifest["changes"]["memory"]["record_count"], 1);

    let foreign_delta = scratch.0.join("stranger.alf-delta");
    let foreign_manifest = manifest.to_string().replace(AGENT_ID, "0197f2a0-1111-7000-8000-00000000000b");
    pack(&foreign_delta, &[("manifest.json", foreign_manifest.as_bytes())]);
    let options_with_foreign_delta = PurgeOptions { deltas: vec![delta.clone(), foreign_delta.clone()], ..options() };
    assert!(matches!(
        purge_agent(&file, &options_with_foreign_delta),
        Err(FormatError::Invalid { code: "delta_wrong_agent", .. })
    ));
    assert!(
        file.exists() && delta.exists() && foreign_delta.exists(),
        "nothing is deleted when one file is of another agent"
    );

    let purge_options = PurgeOptions { deltas: vec![delta.clone()], ..options() };
    let dry = purge_agent(&file, &PurgeOptions { dry_run: true, ..purge_options.clone() }).unwrap();
    assert!(file.exists() && delta.exists() && dry.audit_path.is_none());
    let purge_report = purge_agent(&file, &purge_options).unwrap();
    assert!(!file.exists() && !delta.exists(), "10.14.1");
    assert_eq!((purge_report.removed, purge_report.files.len()), (114, 2));
    assert_eq!((dry.removed, &dry.files), (purge_report.removed, &purge_report.files));
    let (audit, written) = (purge_report.audit, purge_report.audit_path);
    assert_eq!((audit.scope.as_str(), audit.record_ids, audit.partitions_affected.len()), ("full_agent", None, 3));
    let text = std::fs::read_to_string(written.unwrap()).unwrap();
    assert!(!text.contains("harbour") && !text.contains("record_ids"));
}

#[test]
fn spec_8_3_encrypted_archive_stays_encrypted_when_purged_or_updated() {
    use super::super::delta::{AlfDelta, apply, apply_with};
    use mementory_format::{Format, Passphrase, WriteOptions, testkit::FakeCipher};
    let scratch = Scratch::new("purge-encrypted");
    let at = |name: &str| scratch.0.join(name);
    let key = || Some(std::sync::Arc::new(FakeCipher("tea")) as std::sync::Arc<dyn Passphrase>);
    let is_sealed = |path: &Path| std::fs::read(path).unwrap().starts_with(b"age-encryption.org/v1");
    write_agent(&at("plain.alf"));
    let mut vault = read(&at("plain.alf")).unwrap();
    let options_of = |base: Option<&str>| WriteOptions {
        everything: true,
        passphrase: key(),
        base: base.map(at),
        ..WriteOptions::default()
    };
    super::super::Alf.write(&mut vault, &at("a.alf"), &options_of(None)).unwrap();
    vault.records.retain(|r| r.key.value != id(4));
    AlfDelta.write(&mut vault, &at("d.alf-delta"), &options_of(Some("a.alf"))).unwrap();
    assert!(is_sealed(&at("a.alf")) && is_sealed(&at("d.alf-delta")));
    let limits = Limits::default();
    let deltas = [at("d.alf-delta")];

    assert!(apply(&at("a.alf"), &deltas, &at("b.alf"), &limits).is_err(), "cannot be opened without its passphrase");
    let applied = apply_with(&at("a.alf"), &deltas, &at("b.alf"), &limits, Some(&FakeCipher("tea"))).unwrap();
    assert_eq!(applied.deleted, 1);
    assert!(is_sealed(&at("b.alf")), "the result of an encrypted base is encrypted");
    assert!(read_with(&at("b.alf"), key()).unwrap().records.iter().all(|r| r.key.value != id(4)));
    let plain_result = apply_with(&at("plain.alf"), &deltas, &at("c.alf"), &limits, Some(&FakeCipher("tea")));
    assert!(plain_result.is_ok() && !is_sealed(&at("c.alf")), "the result of a plain base is plain");

    let result = purge(&at("a.alf"), &[id(3)], &options());
    assert!(matches!(result, Err(FormatError::Invalid { code: "passphrase_needed", .. })), "{result:?}");
    let purge_options = PurgeOptions { passphrase: key(), deltas: deltas.to_vec(), ..options() };
    let purge_report = purge(&at("a.alf"), &[id(3), id(4)], &purge_options).unwrap();
    assert_eq!((purge_report.removed, purge_report.removed_from["d.alf-delta"]), (2, 1));
    assert!(is_sealed(&at("a.alf")) && is_sealed(&at("d.alf-delta")));
    assert_eq!(read_with(&at("a.alf"), key()).unwrap().records.len(), 114);
    assert_eq!(purge_agent(&at("a.alf"), &purge_options).unwrap().removed, 113);
    assert!(!at("a.alf").exists() && !at("d.alf-delta").exists());
}

#[test]
fn file_named_twice_is_purged_once_and_a_failed_purge_leaves_an_audit_record() {
    let scratch = Scratch::new("purge-twice");
    let at = |name: &str| scratch.0.join(name);
    let (file, inner) = (at("a.alf"), scratch.0.join("sub"));
    std::fs::create_dir(&inner).unwrap();
    let manifest = format!(
        r#"{{"alf_version":"1.0.0","created_at":"2026-11-20T12:00:00Z","agent":{{"id":"{AGENT_ID}"}},"sync":{{"base_sequence":0,"new_sequence":1}},"changes":{{"memory":{{"file":"memory/delta.jsonl","record_count":1}}}}}}"#
    );
    let change = line(3, "2025-08-02T00:00:00Z", r#","operation":"update""#) + "\n";
    let delta = |path: &Path| {
        pack(path, &[("manifest.json", manifest.as_bytes()), ("memory/delta.jsonl", change.as_bytes())]);
    };
    let audits = || -> Vec<Value> {
        let names = std::fs::read_dir(&scratch.0).unwrap().map(|e| e.unwrap().path());
        let audits = names.filter(|p| p.to_string_lossy().contains(".purge-"));
        audits.map(|p| serde_json::from_slice(&std::fs::read(p).unwrap()).unwrap()).collect()
    };

    // The purge gets two deltas. The first delta is passed three times, once under a different path.
    write_agent(&file);
    delta(&at("a.alf-delta"));
    delta(&at("b.alf-delta"));
    let deltas = ["a.alf-delta", "b.alf-delta", "a.alf-delta", "sub/../a.alf-delta"].map(at);
    let purge_options = PurgeOptions { deltas: deltas.to_vec(), ..options() };
    let purge_report = purge(&file, &[id(3)], &purge_options).unwrap();
    assert_eq!(
        (purge_report.removed, purge_report.removed_from["a.alf-delta"], purge_report.removed_from["b.alf-delta"]),
        (1, 1, 1)
    );
    std::fs::remove_file(purge_report.audit_path.unwrap()).unwrap();
    delta(&at("a.alf-delta"));
    delta(&at("b.alf-delta"));
    let purge_report = purge_agent(&file, &purge_options).unwrap();
    assert_eq!(purge_report.files, [file.clone(), at("a.alf-delta"), at("b.alf-delta")]);
    assert!(purge_report.files.iter().all(|path| !path.exists()));
    let [audit] = audits().try_into().unwrap();
    assert!(audit["completed_at"].is_string() && audit.get("left").is_none(), "{audit}");
    std::fs::remove_file(purge_report.audit_path.unwrap()).unwrap();

    // Simulates a disk that fails.
    write_agent(&file);
    let unremovable = inner.join("c.alf-delta");
    delta(&unremovable);
    delta(&at("a.alf-delta"));
    let mut files = vec![unremovable.as_path(), file.as_path()];
    let fail = |unremovable_file: &'static str| {
        move |path: &Path| match path.ends_with(unremovable_file) {
            true => Err(FormatError::io(unremovable_file, std::io::ErrorKind::PermissionDenied.into())),
            false => Ok(()),
        }
    };
    let mut audit = super::Audit::of_whole_agent(AGENT_ID, vec![], &options());
    assert!(super::run_with_audit(&mut audit, &file, &files, &mut fail("c.alf-delta")).is_err());
    assert_eq!(audits(), Vec::<Value>::new(), "nothing was changed, so there is no audit record");
    assert!(super::run_with_audit(&mut audit, &file, &files, &mut fail("a.alf")).is_err());
    let [audit_record] = audits().try_into().unwrap();
    assert!(audit_record["completed_at"].is_null(), "{audit_record}");
    assert_eq!(audit_record["left"], serde_json::json!(["a.alf"]));
    files.truncate(1);
    let path = super::run_with_audit(&mut audit, &file, &files, &mut fail("a.alf")).unwrap();
    let [audit_record] = audits().try_into().unwrap();
    assert!(
        audit_record["completed_at"].is_string() && audit_record.get("left").is_none() && path.exists(),
        "{audit_record}"
    );
}
