//! Tests of incremental exports, which contain the changes since a time, or the differences from another export.
use super::{
    harness::{MemorySink, TempDir, bundle, files, now, read, repo, validate, write, write_as},
    other_formats::tombstone,
};
use mementory_format::WriteOptions;
use mementory_model::{Kind, Timestamp};
use std::path::Path;

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn options_since(text: &str) -> WriteOptions {
    WriteOptions { since: Some(at(text)), ..WriteOptions::default() }
}

fn options_with_base(base: &Path) -> WriteOptions {
    WriteOptions { base: Some(base.to_path_buf()), ..WriteOptions::default() }
}

fn episode(id: &str, context: &str, event: &str, ingested: &str, mentioned: &str) -> String {
    format!(
        "{{\"accessCount\":0,\"actors\":[],\"categories\":[],\"confidence\":0.7,{context}\"details\":\"About {id}.\",\
         \"eventTime\":\"{event}\",\"extractionState\":\"done\",\"id\":\"{id}\",\"importance\":0.5,\
         \"ingestionTime\":\"{ingested}\",\"lifecycleState\":\"HOT\",\"mentionTime\":\"{mentioned}\",\"metadata\":{{}},\
         \"pinned\":false,\"sensitivity\":\"low\",\"sourceType\":\"note\",\"summary\":\"About {id}.\",\"vaultRefs\":[]}}\n"
    )
}

fn resource(id: &str, created: &str, modified: &str) -> String {
    format!(
        "{{\"contentHash\":\"\",\"created\":\"{created}\",\"id\":\"{id}\",\"mimeType\":\"text/plain\",\
         \"modified\":\"{modified}\",\"summary\":\"s\",\"title\":\"t\",\"uri\":\"u:{id}\"}}\n"
    )
}

fn fact(id: &str, created: &str, more_members: &str) -> String {
    format!(
        "{{\"confidence\":1,\"createdAt\":\"{created}\",\"episodeID\":\"ep_old\",\"id\":\"{id}\",\"importance\":1,\
         \"object\":\"o\",\"predicate\":\"p\",\"subject\":\"s\",{more_members}\"tValidFrom\":\"2026-01-01T00:00:00Z\",\"text\":\"{id}\"}}\n"
    )
}

const OLD_TIME: &str = "2026-01-01T00:00:00Z";
const CURSOR_TIME: &str = "2026-03-01T00:00:00Z";
const NEW_TIME: &str = "2026-04-01T00:00:00Z";

/// A bundle with records before, at and after [`CURSOR_TIME`].
fn bundle_around_cursor(temp: &TempDir) -> MemorySink {
    let chunk = |id: &str, resource_id: &str| {
        format!(
            "{{\"id\":\"{id}\",\"position\":0,\"resourceID\":\"{resource_id}\",\"sensitivity\":\"low\",\"text\":\"{id}\"}}\n"
        )
    };
    let context =
        |id: &str| format!("{{\"archived\":false,\"createdAt\":\"{OLD_TIME}\",\"id\":\"{id}\",\"label\":\"l\"}}\n");
    let episodes = [
        episode("ep_cut", "\"contextID\":\"ctx_z\",", "2026-02-02T00:00:00Z", CURSOR_TIME, CURSOR_TIME),
        episode("ep_edited", "", "2026-01-15T00:00:00Z", OLD_TIME, NEW_TIME),
        episode("ep_new", "\"contextID\":\"ctx_a\",", "2027-01-01T00:00:00Z", NEW_TIME, NEW_TIME),
        episode("ep_old", "\"contextID\":\"ctx_old\",", NEW_TIME, OLD_TIME, OLD_TIME),
    ];
    let facts = [
        fact("fact_closed", OLD_TIME, "\"supersededBy\":\"fact_new\",\"tValidTo\":\"2026-04-01T00:00:00Z\","),
        fact("fact_ends_later", OLD_TIME, "\"tValidTo\":\"2030-01-01T00:00:00Z\","),
        fact("fact_new", NEW_TIME, ""),
        fact("fact_old", OLD_TIME, ""),
    ];
    let resources = [
        resource("res_changed", OLD_TIME, NEW_TIME),
        resource("res_new", NEW_TIME, NEW_TIME),
        resource("res_old", OLD_TIME, OLD_TIME),
    ];
    let log = |ts: &str| format!("{{\"actor\":\"a\",\"op\":\"add\",\"targetID\":\"x\",\"ts\":\"{ts}\"}}\n");
    let folder = temp.join("store.mem");
    bundle(
        &folder,
        &[
            ("audit/log.jsonl", &(log(OLD_TIME) + &log(NEW_TIME))),
            ("items/acmeNote.jsonl", "{\"id\":\"n1\"}\n"),
            ("items/chunk.jsonl", &(chunk("chunk_new", "res_changed") + &chunk("chunk_old", "res_old"))),
            ("items/context.jsonl", &(context("ctx_a") + &context("ctx_b"))),
            ("items/episode.jsonl", &episodes.concat()),
            ("items/fact.jsonl", &facts.concat()),
            ("items/preference.jsonl", "{\"key\":\"k\",\"value\":\"v\"}\n"),
            ("items/resource.jsonl", &resources.concat()),
        ],
    );
    let mut sink = read(&folder);
    for (id, time) in [("old", OLD_TIME), ("cut", CURSOR_TIME), ("new", NEW_TIME)] {
        let mut tombstone_at_time = tombstone("mem", "episode", id);
        tombstone_at_time.at = at(time);
        sink.tombstones.push(tombstone_at_time);
    }
    sink
}

/// Ids in a file of a bundle.
fn ids(bundle: &Path, path: &str) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(bundle.join(path)) else { return vec![] };
    let id = |line: &str| {
        let tree: serde_json::Value = serde_json::from_str(line).unwrap();
        tree["id"].as_str().or(tree["ts"].as_str()).unwrap().to_owned()
    };
    text.lines().map(id).collect()
}

#[test]
fn an_export_since_a_time_has_every_row_that_may_have_changed() {
    let temp = TempDir::new();
    let sink = bundle_around_cursor(&temp);
    let out = temp.join("out.mem");
    let report = write_as(&sink, &[], &out, options_since(CURSOR_TIME)).unwrap();
    assert_eq!(ids(&out, "items/episode.jsonl"), ["ep_cut", "ep_edited", "ep_new"], "the cursor's second is in");
    let mut facts = ids(&out, "items/fact.jsonl");
    facts.sort();
    assert_eq!(
        facts,
        ["fact_closed", "fact_new"],
        "a row that was closed since is a change; one that ends later is not"
    );
    assert_eq!(ids(&out, "items/resource.jsonl").len(), 2);
    assert_eq!(ids(&out, "items/chunk.jsonl"), ["chunk_new"], "a chunk is exported with its resource");
    assert_eq!(ids(&out, "audit/tombstones.jsonl"), ["tomb_cut", "tomb_new"]);
    assert_eq!(ids(&out, "audit/log.jsonl"), [NEW_TIME]);
    for complete in ["items/context.jsonl", "items/preference.jsonl", "items/acmeNote.jsonl"] {
        assert_eq!(
            files(&out).get(complete),
            files(&temp.join("store.mem")).get(complete),
            "{complete} is exported completely"
        );
    }
    assert_eq!(report.withheld["unchanged"], 6);
    assert_eq!(report.by_kind["memory"], 3);
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("manifest.json")).unwrap()).unwrap();
    assert_eq!((manifest["exportMode"].as_str(), manifest["since"].as_str()), (Some("incremental"), Some(CURSOR_TIME)));
    assert_eq!(
        manifest["coverage"],
        serde_json::json!({"from": "2026-01-15T00:00:00Z", "to": "2027-01-01T00:00:00Z"}),
        "of the episodes in this bundle"
    );
    assert_eq!(manifest["scopes"], serde_json::json!(["ctx_a", "ctx_b", "ctx_z"]));
    assert_eq!(manifest["bundleDigest"].as_str(), Some(report.digest.as_str()));
    let validation = validate(&out, &[]);
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");
    assert_eq!(validation.kind.as_deref(), Some("incremental"));
}

/// The times in a manifest are whole seconds, so a fraction in the start time must not exclude records of that second.
#[test]
fn a_start_time_is_truncated_to_whole_seconds() {
    let temp = TempDir::new();
    let sink = bundle_around_cursor(&temp);
    let out = temp.join("out.mem");
    write_as(&sink, &[], &out, options_since("2026-03-01T00:00:00.9Z")).unwrap();
    assert!(ids(&out, "items/episode.jsonl").contains(&"ep_cut".to_owned()));
    let text = std::fs::read_to_string(out.join("manifest.json")).unwrap();
    assert!(text.contains("\"since\":\"2026-03-01T00:00:00Z\""));
}

#[test]
fn a_full_export_has_no_since() {
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    write(&bundle_around_cursor(&temp), &[], &out);
    let text = std::fs::read_to_string(out.join("manifest.json")).unwrap();
    assert!(text.contains("\"exportMode\":\"full\"") && !text.contains("\"since\""));
}

#[test]
fn relative_to_an_export_only_the_difference_is_exported() {
    let input = repo().join("fixtures/mem/all-kinds/input.mem");
    let mut sink = read(&input);
    let temp = TempDir::new();
    let empty_delta = temp.join("same.mem");
    let report = write_as(&sink, &[], &empty_delta, options_with_base(&input)).unwrap();
    assert_eq!(report.by_kind.values().sum::<u64>(), 0);
    assert_eq!(report.withheld["unchanged"] as usize, sink.records.len());
    assert_eq!(files(&empty_delta).into_keys().collect::<Vec<_>>(), ["CHECKSUMS", "manifest.json"], "nothing is new");
    let text = std::fs::read_to_string(empty_delta.join("manifest.json")).unwrap();
    assert!(text.contains("\"since\":\"2026-03-01T00:00:00Z\""), "the time of the base");

    let edited_record = sink.records.iter_mut().find(|r| r.key.value == "edge/edge_1").unwrap();
    edited_record.confidence = Some(0.5);
    sink.tombstones.push(tombstone("keepsake", "memory", &"ab".repeat(16)));
    let mut new_record = super::other_formats::records_of_every_kind().records.remove(0);
    new_record.text = "Something that was said since.".into();
    sink.records.push(new_record);
    let out = temp.join("out.mem");
    let report = write_as(&sink, &["edge/edge_1"], &out, options_with_base(&input)).unwrap();
    assert_eq!((report.by_kind["relation"], report.by_kind["memory"]), (1, 1));
    assert_eq!(report.by_kind.values().sum::<u64>(), 2);
    assert_eq!(ids(&out, "audit/tombstones.jsonl"), [format!("tomb_{}", "ab".repeat(16))], "listed once");
    assert_eq!(ids(&out, "items/edge.jsonl"), ["edge_1"]);
    let validation = validate(&out, &[]);
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");

    // The base and the incremental export together contain all records.
    let base_folder = temp.join("both");
    super::harness::copy(&input, &base_folder.join("1.mem"));
    super::harness::copy(&out, &base_folder.join("2.mem"));
    let last_bundle = temp.join("last.mem");
    let report = write_as(&sink, &["edge/edge_1"], &last_bundle, options_with_base(&base_folder)).unwrap();
    assert_eq!(report.by_kind.values().sum::<u64>(), 0, "several exports may be the base");
    let vendor_line_count = read(&input).records.iter().filter(|r| r.kind == Kind::Foreign).count();
    assert!(vendor_line_count > 0, "vendor lines were among what was compared");
}

#[test]
fn the_base_must_be_a_valid_bundle() {
    let temp = TempDir::new();
    let sink = bundle_around_cursor(&temp);
    let invalid_base = repo().join("fixtures/mem/wrong-checksum/input.mem");
    let refusal_of = |base: &Path| write_as(&sink, &[], &temp.join("out.mem"), options_with_base(base)).unwrap_err();
    assert!(matches!(
        refusal_of(&invalid_base),
        mementory_format::FormatError::Invalid { code: "checksum_mismatch", .. }
    ));
    std::fs::write(temp.join("note.txt"), "no bundle").unwrap();
    assert!(matches!(
        refusal_of(&temp.join("note.txt")),
        mementory_format::FormatError::Invalid { code: "base_not_found", .. }
    ));
    assert!(matches!(refusal_of(&temp.join("nowhere")), mementory_format::FormatError::Io { .. }));
    assert!(!temp.join("out.mem").exists());
    assert!(now() > at(NEW_TIME));
}
