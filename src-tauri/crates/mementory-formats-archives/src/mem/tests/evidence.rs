//! Tests of evidence packs: what they contain, and that they are valid bundles.
use super::{
    harness::{FakeSigner, TempDir, all_signed_by_fake, bundle, files, now, read, repo, source, validate, vault_id},
    other_formats::{records_of_every_kind, tombstone},
};
use crate::mem::evidence::{
    AUDIT_CHAIN_FILE, AuditEntry, EvidencePack, EvidenceReport, ProvenanceEdge, RECEIPTS_FILE, SelectedParts,
    provenance, write,
};
use mementory_model::{Kind, RecordKey, Timestamp};
use std::collections::BTreeMap;

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn entry(time: &str, target: &str, kind: Option<Kind>) -> AuditEntry {
    let (actor, op) = ("owner".into(), "erase".into());
    AuditEntry { at: at(time), actor, op, target: target.into(), kind, reason: String::new() }
}

fn pack() -> EvidencePack {
    let mut old_tombstone = tombstone("keepsake", "fact", &"cd".repeat(16));
    old_tombstone.at = at("2026-01-01T00:00:00Z");
    EvidencePack {
        generator: "mementory/test".into(),
        created: now(),
        selected: SelectedParts::default(),
        since: None,
        until: None,
        tombstones: vec![tombstone("keepsake", "memory", &"ab".repeat(16)), old_tombstone],
        audit: vec![
            entry("2026-01-01T00:00:00Z", "mem", None),
            entry("2026-04-01T00:00:00Z", &"ab".repeat(16), Some(Kind::Memory)),
        ],
        edges: provenance(&mut source(&records_of_every_kind())).unwrap(),
        extra_files: BTreeMap::new(),
    }
}

#[test]
fn a_pack_proves_deletions_and_is_a_bundle() {
    let temp = TempDir::new();
    let (plain, signed) = (temp.join("plain.mem"), temp.join("signed.mem"));
    let report = write(&pack(), &plain, None).unwrap();
    let edge_count = pack().edges.len() as u64;
    assert!(edge_count > 0);
    assert_eq!((report.tombstones, report.audit_entries, report.provenance_edges), (2, 2, edge_count));
    let expected_files =
        ["CHECKSUMS", "audit/log.jsonl", "audit/tombstones.jsonl", "manifest.json", "provenance/edges.jsonl"];
    assert_eq!(files(&plain).into_keys().collect::<Vec<_>>(), expected_files);
    let manifest: serde_json::Value = serde_json::from_slice(&files(&plain)["manifest.json"]).unwrap();
    assert_eq!(manifest["conformanceLevel"], "L3");
    assert_eq!(manifest["exportMode"], "full");
    assert_eq!(manifest["counts"], serde_json::json!({"audit": 2, "tombstone": 2, "provenanceEdge": edge_count}));
    assert_eq!(
        manifest["capabilities"],
        serde_json::json!(["evidence-pack", "proof-of-deletion", "audit", "provenance"])
    );
    assert!(manifest.get("coverage").is_none() && manifest.get("scopes").is_none());
    let log = String::from_utf8(files(&plain)["audit/log.jsonl"].clone()).unwrap();
    assert!(log.contains(&format!("\"targetID\":\"ep_{}\"", "ab".repeat(16))), "named as bundles name it: {log}");
    let validation = validate(&plain, &[]);
    assert!(validation.errors.is_empty(), "{validation:?}");
    let codes: Vec<_> = validation.warnings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes, ["tombstone_unsigned"], "L3 requires signed deletions");

    let second_report = write(&pack(), &signed, Some(&FakeSigner)).unwrap();
    assert_eq!(second_report, EvidenceReport { digest: second_report.digest.clone(), signed: true, ..report });
    assert!(all_signed_by_fake(&signed));
    let validation = validate(&signed, &["07".repeat(32)]);
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");
    // An import of the pack yields the deletions, and records only from the audit trail.
    let reread = read(&signed);
    assert_eq!(reread.tombstones.len(), 2);
    assert!(reread.records.iter().all(|r| r.kind == Kind::Audit));
    assert!(write(&pack(), &signed, None).is_err(), "never over something");
}

#[test]
fn since_does_not_filter_edges() {
    let temp = TempDir::new();
    let out = temp.join("out.mem.zip");
    let pack = EvidencePack { since: Some(at("2026-03-01T00:00:00.5Z")), ..pack() };
    let report = write(&pack, &out, None).unwrap();
    assert_eq!((report.tombstones, report.audit_entries), (1, 1));
    assert_eq!(report.provenance_edges as usize, pack.edges.len());
    let validation = validate(&out, &[]);
    assert!(validation.errors.is_empty(), "{validation:?}");
    assert_eq!(validation.kind.as_deref(), Some("incremental"));
}

#[test]
fn until_leaves_out_later_entries() {
    let temp = TempDir::new();
    let (since, until) = (at("2025-12-31T00:00:00Z"), at("2026-01-31T00:00:00Z"));
    let pack = EvidencePack { since: Some(since), until: Some(until), ..pack() };
    let report = write(&pack, &temp.join("out.mem"), None).unwrap();
    assert_eq!((report.tombstones, report.audit_entries), (1, 1));
}

/// A pack with only some parts is valid, and declares only the capabilities of these parts.
#[test]
fn a_pack_with_only_some_parts_is_valid() {
    let temp = TempDir::new();
    for number in 0..8u8 {
        let [tombstones, audit_trail, howto] = [1, 2, 4].map(|bit| number & bit != 0);
        let mut pack = EvidencePack { selected: SelectedParts { tombstones, audit_trail, howto }, ..pack() };
        if tombstones {
            pack.extra_files.insert(RECEIPTS_FILE, vec!["{\"id\":\"r\"}".into()]);
        }
        if audit_trail {
            pack.extra_files.insert(AUDIT_CHAIN_FILE, vec!["{\"seq\":1}".into()]);
        }
        let out = temp.join(&format!("{number}.mem"));
        let report = write(&pack, &out, Some(&FakeSigner)).unwrap();
        assert_eq!(report.tombstones > 0, tombstones, "{number}");
        assert_eq!(report.provenance_edges > 0, tombstones, "{number}");
        assert_eq!(report.audit_entries > 0, audit_trail, "{number}");
        let actual_files = files(&out);
        for (path, expected) in [
            ("audit/tombstones.jsonl", tombstones),
            (RECEIPTS_FILE, tombstones),
            ("provenance/edges.jsonl", tombstones),
            ("audit/log.jsonl", audit_trail),
            (AUDIT_CHAIN_FILE, audit_trail),
            ("HOW-TO-CHECK.txt", howto),
            ("public-key.pem", howto),
        ] {
            assert_eq!(actual_files.contains_key(path), expected, "{number}: {path}");
        }
        let manifest: serde_json::Value = serde_json::from_slice(&actual_files["manifest.json"]).unwrap();
        assert_eq!(manifest["conformanceLevel"], if audit_trail { "L3" } else { "L2" });
        let declared_capabilities = manifest["capabilities"].to_string();
        assert_eq!(
            (declared_capabilities.contains("proof-of-deletion"), declared_capabilities.contains("\"audit\"")),
            (tombstones, audit_trail),
            "{declared_capabilities}"
        );
        let validation = validate(&out, &["07".repeat(32)]);
        assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{number}: {validation:?}");
    }
}

#[test]
fn the_howto_describes_the_files_in_the_pack() {
    let temp = TempDir::new();
    let selected = SelectedParts { tombstones: true, audit_trail: false, howto: true };
    let read = |out: &str, is_signed: bool| {
        let out = temp.join(out);
        write(&EvidencePack { selected, ..pack() }, &out, is_signed.then_some(&FakeSigner as _)).unwrap();
        files(&out)
    };
    let signed_files = read("signed.mem", true);
    let text = String::from_utf8(signed_files["HOW-TO-CHECK.txt"].clone()).unwrap();
    assert!(text.contains("audit/tombstones.jsonl") && !text.contains("audit/log.jsonl"), "{text}");
    assert!(text.contains("openssl") && text.contains(&"07".repeat(32)), "{text}");
    let key = String::from_utf8(signed_files["public-key.pem"].clone()).unwrap();
    assert_eq!(
        key.lines().nth(1),
        Some("MCowBQYDK2VwAyEABwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="),
        "as openssl reads it"
    );
    let unsigned_files = read("plain.mem", false);
    assert!(!unsigned_files.contains_key("public-key.pem"), "nothing is signed");
    assert!(String::from_utf8_lossy(&unsigned_files["HOW-TO-CHECK.txt"]).contains("not signed"));
}

/// Every derived record has an edge to its source, and graph edges are the same as in the bundle.
#[test]
fn every_derived_record_has_an_edge_to_its_source() {
    let edges = provenance(&mut source(&records_of_every_kind())).unwrap();
    let episode = format!("ep_{}", vault_id(&RecordKey::new("chatgpt", "full-memory")));
    let fact = format!("fact_{}", vault_id(&RecordKey::new("chatgpt", "full-fact")));
    let of_fact: Vec<_> = edges.iter().filter(|e| e.source == fact).collect();
    assert_eq!(of_fact.len(), 1);
    assert_eq!((of_fact[0].target.as_str(), of_fact[0].relation.as_str()), (episode.as_str(), "derived_from"));
    assert_eq!(of_fact[0].evidence, [episode]);
    assert_eq!(of_fact[0].confidence, 1.0);
    assert_eq!(of_fact[0].valid_from, at("2024-01-01T00:00:00Z"));

    let sink = read(&repo().join("fixtures/mem/all-kinds/input.mem"));
    let edges = provenance(&mut source(&sink)).unwrap();
    let graph = edges.iter().find(|e| e.id == "edge_1").unwrap();
    assert_eq!(
        *graph,
        ProvenanceEdge {
            id: "edge_1".into(),
            source: "ent_ada".into(),
            target: "ent_sea".into(),
            relation: "lives_at".into(),
            recorded: at("2026-01-05T00:00:00Z"),
            valid_from: at("2026-01-05T00:00:00Z"),
            valid_to: Some(at("2026-03-01T00:00:00Z")),
            superseded_by: None,
            confidence: 0.9,
            evidence: vec!["ep_move".into()],
        }
    );
    let derived_edge = edges.iter().find(|e| e.source == "fact_2").unwrap();
    assert_eq!((derived_edge.target.as_str(), derived_edge.superseded_by.as_deref()), ("ep_tea", Some("fact_1")));
    let ids: std::collections::BTreeSet<_> = edges.iter().map(|e| &e.id).collect();
    assert_eq!(ids.len(), edges.len(), "the ids of edges are unique");
}

#[test]
fn a_pack_contains_no_record_content() {
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    write(&pack(), &out, None).unwrap();
    for (name, bytes) in files(&out) {
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("ünïcödé") && !text.contains("Short text"), "{name}");
    }
}

#[test]
fn an_empty_vault_gives_a_valid_pack() {
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    let pack = EvidencePack { tombstones: vec![], audit: vec![], edges: vec![], ..pack() };
    let report = write(&pack, &out, None).unwrap();
    assert_eq!(report.digest, "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b");
    assert!(validate(&out, &[]).errors.is_empty());
    let invalid_edge = ProvenanceEdge {
        id: "e".into(),
        source: "a".into(),
        target: "b".into(),
        relation: "r".into(),
        recorded: now(),
        valid_from: now(),
        valid_to: None,
        superseded_by: None,
        confidence: f64::NAN,
        evidence: vec![],
    };
    let invalid_pack = temp.join("broken.mem");
    assert!(write(&EvidencePack { edges: vec![invalid_edge], ..pack }, &invalid_pack, None).is_err());
    assert!(!invalid_pack.exists());
}

/// The files in `provenance` are checked too, although the reference tool does not check them.
#[test]
fn files_in_provenance_are_checked() {
    let temp = TempDir::new();
    let edge = "{\"confidence\":1,\"dstEntityID\":\"b\",\"edgeType\":\"r\",\"evidenceEpisodeIDs\":[],\"id\":\"e\",\
                \"ingestionTime\":\"2026-01-01T00:00:00Z\",\"srcEntityID\":\"a\",\"tValidFrom\":\"2026-01-01T00:00:00Z\"}\n";
    let codes = |name: &str, text: &str, count: &str| -> Vec<String> {
        let folder = temp.join(name);
        bundle(&folder, &[("provenance/edges.jsonl", text)]);
        let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
        std::fs::write(folder.join("manifest.json"), manifest.replace("\"edges\":1", count)).unwrap();
        validate(&folder, &[]).errors.into_iter().map(|f| f.code).collect()
    };
    assert_eq!(codes("good.mem", edge, "\"provenanceEdge\":1"), [""; 0]);
    assert_eq!(codes("count.mem", edge, "\"provenanceEdge\":2"), ["counts_mismatch"]);
    assert_eq!(codes("bad.mem", &edge.replace("\"id\":\"e\",", ""), "\"provenanceEdge\":1"), ["malformed"]);
    let extra = temp.join("good.mem/provenance/more.jsonl");
    std::fs::write(extra, "{}\n").unwrap();
    let errors = validate(&temp.join("good.mem"), &[]).errors;
    assert_eq!(errors[0].message, "unlisted file present: provenance/more.jsonl");
}
