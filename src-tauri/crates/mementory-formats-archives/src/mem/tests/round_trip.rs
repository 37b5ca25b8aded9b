//! Tests of round trips of bundles.
use super::harness::{TempDir, bundle, copy, files, read, reference, repo, signatures, validate, write, write_as};
use mementory_format::{PassthroughItem, WriteOptions};
use mementory_model::{Kind, LossKind, RecordKey};

fn assert_round_trip(from: &std::path::Path, digest: &str) {
    let sink = read(from);
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    let report = write(&sink, &[], &out);
    assert_eq!(report.digest, digest);
    assert!(report.losses.counts.is_empty(), "{:?}", report.losses.counts);
    let (before, after) = (files(from), files(&out));
    for (name, bytes) in before.iter().filter(|(n, _)| !n.starts_with("manifest.")) {
        assert_eq!(after.get(name), Some(bytes), "{name}");
    }
    let validation = validate(&out, &[]);
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");
    assert_eq!(validation.version.as_deref(), Some("1.1.0"));
    assert_eq!(validation.level.as_deref(), Some("L2"));
}

#[test]
fn official_bundles_round_trip_byte_for_byte() {
    for (path, digest) in [
        ("fixtures/sample.mem", "77b01d51"),
        ("fixtures/sample-1.1.mem", "d9b8b889"),
        ("vectors/signed.mem", "f0b9de85"),
    ] {
        let Some(bundle) = reference(path) else { continue };
        let sums = std::fs::read(bundle.join("CHECKSUMS")).unwrap();
        let whole_digest = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(sums));
        assert!(whole_digest.starts_with(digest));
        assert_round_trip(&bundle, &whole_digest);
    }
}

/// The signature is listed with the exact bytes of the manifest, and the caller verifies it.
#[test]
fn official_signature_is_listed_but_not_verified() {
    let Some(bundle) = reference("vectors/signed.mem") else { return };
    let validation = validate(&bundle, &["00".repeat(32)]);
    let (present, algorithm, valid, trusted, key) = validation.signature;
    assert!(present && valid.is_none() && trusted.is_none());
    assert_eq!(algorithm.as_deref(), Some("Ed25519"));
    assert!(validation.errors.is_empty() && validation.warnings.is_empty());
    let listed_signatures = signatures(&bundle);
    assert_eq!(listed_signatures.len(), 1);
    assert_eq!(listed_signatures[0].message, std::fs::read(bundle.join("manifest.json")).unwrap());
    let (public, signature) = listed_signatures[0].token.clone().unwrap();
    assert_eq!(Some(hex::encode(public)), key);
    let token = std::fs::read_to_string(bundle.join("manifest.sig")).unwrap();
    assert!(token.trim().ends_with(&hex::encode(signature)));
    assert!(read(&bundle).parts.iter().any(|(item, _)| item.name == "manifest.sig"));
}

#[test]
fn a_tombstone_is_signed_without_its_signature_and_without_foreign_fields() {
    let bundle = repo().join("fixtures/mem/all-kinds/input.mem");
    let temp = TempDir::new();
    let out = temp.join("signed.mem");
    copy(&bundle, &out);
    let empty_derived = r#"{"chunkIDs":[],"edgeIDs":[],"embeddingCacheKeys":[],"entityIDs":[],"episodeLinkCount":0,"factIDs":[],"sentenceIDs":[]}"#;
    let line = |signature: &str| {
        format!(
            r#"{{"targetID":"e","id":"t1","zz":1,"op":"delete","targetKind":"episode","actor":"a","deletedAt":"2026-01-01T00:00:00.5Z"{signature}}}"#
        )
    };
    let token = format!(r#","signature":"ed25519:{}:{}""#, "ab".repeat(32), "cd".repeat(64));
    let in_upper_case = token.replace("cd", "CD");
    let lines = [line(&token), line(r#","signature":"ed25519:ab""#), line(&in_upper_case), line("")];
    std::fs::write(out.join("audit/tombstones.jsonl"), lines.join("\n")).unwrap();
    let listed_signatures = signatures(&out);
    assert_eq!(listed_signatures.len(), 3);
    assert_eq!(listed_signatures[0].tombstone.as_deref(), Some("t1"));
    assert_eq!(listed_signatures[0].token, Some((vec![0xab; 32], vec![0xcd; 64])));
    let expected = format!(
        r#"{{"actor":"a","deletedAt":"2026-01-01T00:00:00Z","derived":{empty_derived},"id":"t1","op":"delete","targetID":"e","targetKind":"episode"}}"#
    );
    assert_eq!(String::from_utf8(listed_signatures[0].message.clone()).unwrap(), expected);
    assert_eq!(
        (&listed_signatures[1].token, &listed_signatures[2].token),
        (&None, &None),
        "cut short; not lowercase (§1.3)"
    );
}

/// Every fixture yields the results that its `case.json` expects.
#[test]
fn fixtures_match_their_case_file() {
    let root = repo().join("fixtures/mem");
    let mut case_count = 0;
    for entry in std::fs::read_dir(root).unwrap().filter(|e| e.as_ref().unwrap().path().is_dir()) {
        let folder = entry.unwrap().path();
        let case: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
        let input = folder.join(case["input"].as_str().unwrap());
        let name = case["name"].as_str().unwrap();
        let validation = validate(&input, &[]);
        let texts = |list: &[mementory_format::Finding]| list.iter().map(|f| f.message.clone()).collect::<Vec<_>>();
        let errors: Vec<String> = serde_json::from_value(case["errors"].clone()).unwrap();
        assert_eq!(texts(&validation.errors), errors, "{name}");
        if errors.is_empty() {
            let sink = read(&input);
            let mut kinds = serde_json::Map::new();
            for record in &sink.records {
                let count = kinds.entry(record.kind.as_str()).or_insert(0.into());
                *count = (count.as_u64().unwrap() + 1).into();
            }
            assert_eq!(serde_json::Value::Object(kinds), case["records"], "{name}");
            assert_eq!(sink.tombstones.len() as u64, case["tombstones"].as_u64().unwrap(), "{name}");
            if case["canonical"] == true {
                assert_round_trip(&input, &validation_digest(&input));
            }
        }
        case_count += 1;
    }
    assert!(case_count >= 3);
}

fn validation_digest(bundle: &std::path::Path) -> String {
    hex::encode(<sha2::Sha256 as sha2::Digest>::digest(std::fs::read(bundle.join("CHECKSUMS")).unwrap()))
}

#[test]
fn every_kind_is_mapped() {
    let sink = read(&repo().join("fixtures/mem/all-kinds/input.mem"));
    let find = |key: &str| {
        sink.records.iter().find(|r| r.key == RecordKey::new("mem", key)).unwrap_or_else(|| panic!("{key}"))
    };
    let episode = find("episode/ep_tea");
    assert_eq!(episode.kind, Kind::Memory);
    assert_eq!(episode.text, "Drinks green tea in the morning, never coffee.");
    assert_eq!(episode.title, None);
    assert_eq!(episode.origin.pointer, "items/episode.jsonl:2");
    assert_eq!(episode.origin.container, "input.mem");
    assert_eq!(episode.namespace.as_deref(), Some("ctx_home"));
    assert_eq!(episode.tags, ["food"]);
    assert_eq!(episode.status.as_deref(), Some("HOT"));
    assert_eq!(episode.record_type.as_deref(), Some("chat"));
    assert_eq!(episode.source.platform, "chatgpt");
    assert_eq!(episode.times.observed.unwrap().to_string(), "2026-02-01T07:30:00Z");
    assert_eq!(episode.times.created.unwrap().to_string(), "2026-02-02T00:00:00Z");
    assert_eq!(find("episode/ep_move").title.as_deref(), Some("Moved house"));
    assert_eq!(find("edge/edge_1").links.len(), 3);
    assert_eq!(find("factLink/fact_1|fact_2|refines").kind, Kind::Relation);
    assert_eq!(find("preference/units").text, "metric");
    assert_eq!(find("chunk/chunk_1").parent, Some(RecordKey::new("mem", "resource/res_1")));
    assert_eq!(find("secretRef/sec_1").kind, Kind::Credential);
    assert_eq!(find("acmeNote/n1").verbatim.as_ref().unwrap().text, "  {\"id\":\"n1\",  \"b\":1.0}\r");
    assert!(sink.records.iter().any(|r| r.kind == Kind::Audit));
    let tombstone = &sink.tombstones[0];
    assert_eq!((tombstone.scope.as_str(), tombstone.target_kind.as_str()), ("mem", "episode"));
    assert_eq!(tombstone.derived.fact_ids, ["fact_gone"]);
}

#[test]
fn an_edit_changes_only_the_edited_fields() {
    let input = repo().join("fixtures/mem/all-kinds/input.mem");
    let mut sink = read(&input);
    let record = sink.records.iter_mut().find(|r| r.key.value == "episode/ep_tea").unwrap();
    record.text = "Drinks black tea.".into();
    record.tags.push("habit".into());
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    write(&sink, &["episode/ep_tea"], &out);
    let before = std::fs::read_to_string(input.join("items/episode.jsonl")).unwrap();
    let after = std::fs::read_to_string(out.join("items/episode.jsonl")).unwrap();
    let expected = before
        .replace("Drinks green tea in the morning, never coffee.", "Drinks black tea.")
        .replace("[\"food\"]", "[\"food\",\"habit\"]");
    assert_eq!(after, expected);
}

#[test]
fn bundles_are_found_anywhere_in_a_folder_or_archive() {
    let input = repo().join("fixtures/mem/all-kinds/input.mem");
    let temp = TempDir::new();
    copy(&input, &temp.join("a/b/deep.mem"));
    let expected_count = read(&input).records.len();
    assert_eq!(read(&temp.join("a")).records.len(), expected_count);
    let archive = temp.join("sent.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&archive).unwrap());
    for (name, bytes) in files(&input) {
        zip.start_file(format!("x/deep.mem/{name}"), zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zip, &bytes).unwrap();
    }
    zip.finish().unwrap();
    let sink = read(&archive);
    assert_eq!(sink.records.len(), expected_count);
    assert_eq!(sink.records[0].origin.container, "sent.zip!/x/deep.mem");
    assert!(validate(&archive, &[]).errors.is_empty());
}

/// Edited values without a field in the format are stored in the extension slot, and the line stays valid.
#[test]
fn an_edit_without_a_format_field_round_trips() {
    let mut sink = read(&repo().join("fixtures/mem/all-kinds/input.mem"));
    let edits = ["edge/edge_1", "context/ctx_home", "procedure/proc_1", "core/human", "episode/ep_move"];
    for record in sink.records.iter_mut().filter(|r| edits.contains(&r.key.value.as_str())) {
        record.text = "Said otherwise\nin two lines".into();
        record.title = Some("Another name".into());
        record.status = Some("archived".into());
        record.tags = vec!["t".into()];
    }
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    let report = write(&sink, &edits, &out);
    assert!(validate(&out, &[]).errors.is_empty());
    assert!(report.losses.count("tags", LossKind::MovedToExtension) > 0, "{:?}", report.losses.counts);
    let reread = read(&out);
    for record in &sink.records {
        let read_back = reread.records.iter().find(|r| r.key == record.key && r.kind == record.kind).unwrap();
        let shown_members =
            |r: &mementory_model::Record| (r.text.clone(), r.title.clone(), r.status.clone(), r.tags.clone());
        assert_eq!(shown_members(read_back), shown_members(record), "{}", record.key.value);
        assert_eq!(read_back.origin.format, "mem");
    }
    let episode = std::fs::read_to_string(out.join("items/episode.jsonl")).unwrap();
    assert!(
        episode.contains("\"details\":\"Said otherwise\\nin two lines\"") && episode.contains("\"acmeScore\":0.92")
    );
    assert!(episode.contains("\"acmeTiny\":1e-05") && episode.contains("\"acmeBig\":18446744073709551615"));
}

#[test]
fn only_a_conversion_copies_vectors() {
    const VECTORS: &str = "embeddings/episode.m.vec";
    let (format, group, role) = ("mem".to_owned(), "g".to_owned(), "entry".to_owned());
    let item = PassthroughItem { format, group, name: VECTORS.into(), role, place: String::new() };
    let mut sink = read(&repo().join("fixtures/mem/small/input.mem"));
    sink.parts.push((item, vec![0, 159, 146, 150]));
    let temp = TempDir::new();
    let [converted, again, exported] = ["converted.mem", "again.mem", "exported.mem"].map(|name| temp.join(name));
    let conversion = || WriteOptions { source_version: Some("1.1.0".into()), ..WriteOptions::default() };
    write_as(&sink, &[], &converted, conversion()).unwrap();
    assert_eq!(files(&converted)[VECTORS], [0, 159, 146, 150]);
    let validation = validate(&converted, &[]);
    assert!(
        validation.errors.is_empty() && validation.warnings.iter().all(|w| !w.code.starts_with("embeddings")),
        "{validation:?}"
    );
    write_as(&read(&converted), &[], &again, conversion()).unwrap();
    assert_eq!(files(&again), files(&converted));
    let report = write(&read(&converted), &[], &exported);
    assert!(report.losses.items.iter().any(|loss| loss.record == VECTORS && loss.kind == LossKind::LeftOut));
    assert!(!files(&exported).contains_key(VECTORS));
}

/// The key of a link joins its ids, and an id may contain the separator.
#[test]
fn links_with_separators_in_their_ids_have_different_keys() {
    let dir = TempDir::new();
    let (input, out) = (dir.join("links.mem"), dir.join("out.mem"));
    let line = |from: &str, to: &str| {
        format!("{{\"dstEpisodeID\":\"{to}\",\"linkType\":\"next\",\"srcEpisodeID\":\"{from}\",\"weight\":0.5}}\n")
    };
    let links = [line("a", "b|c"), line(r"a\\", "b|c"), line("a|b", "c"), line(r"a|b\\", "c")].concat();
    bundle(&input, &[("items/episodeLink.jsonl", &links)]);
    let sink = read(&input);
    let keys: std::collections::BTreeSet<_> =
        sink.records.iter().filter(|r| r.kind == Kind::Relation).map(|r| r.key.value.as_str()).collect();
    assert_eq!(keys.len(), 4, "{keys:?}");
    assert!(keys.contains(r"episodeLink/a|b\|c|next"), "{keys:?}");
    write(&sink, &[], &out);
    assert_eq!(files(&out)["items/episodeLink.jsonl"], links.as_bytes());
}

/// The SDK applies both tombstones. A vault gives the second tombstone a different id.
#[test]
fn two_tombstones_with_one_id_are_both_written() {
    let dir = TempDir::new();
    let (input, out) = (dir.join("deletions.mem"), dir.join("out.mem"));
    let line = |target: &str| {
        format!(
            "{{\"actor\":\"user\",\"deletedAt\":\"2026-04-20T00:00:00Z\",\"derived\":{{\"chunkIDs\":[],\"edgeIDs\":[],\
             \"embeddingCacheKeys\":[],\"entityIDs\":[],\"episodeLinkCount\":0,\"factIDs\":[],\"sentenceIDs\":[]}},\
             \"id\":\"t-1\",\"op\":\"delete\",\"targetID\":\"{target}\",\"targetKind\":\"episode\"}}\n"
        )
    };
    let lines = [line("ep_1"), line("ep_2")].concat();
    bundle(&input, &[("audit/tombstones.jsonl", &lines)]);
    let mut sink = read(&input);
    sink.tombstones[1].id.push_str("#0123456789abcdef");
    write(&sink, &[], &out);
    assert_eq!(files(&out)["audit/tombstones.jsonl"], lines.as_bytes());
}

#[test]
fn the_key_of_a_repeated_vendor_id_is_not_the_id_of_another_line() {
    let dir = TempDir::new();
    let line = |id: &str, n: u32| format!("{{\"id\":\"{id}\",\"n\":{n}}}\n");
    for (name, ids) in [("last", ["x", "x", "x#2"]), ("first", ["x#2", "x", "x"])] {
        let (input, out) = (dir.join(&format!("{name}.mem")), dir.join(&format!("{name}-out.mem")));
        let lines: String = ids.iter().zip(1..).map(|(id, n)| line(id, n)).collect();
        bundle(&input, &[("items/acmeNote.jsonl", &lines)]);
        let sink = read(&input);
        let keys: std::collections::BTreeSet<_> = sink.records.iter().map(|r| r.key.value.as_str()).collect();
        assert_eq!(keys.len(), 3, "{keys:?}");
        write(&sink, &[], &out);
        assert_eq!(files(&out)["items/acmeNote.jsonl"], lines.as_bytes(), "{name}");
    }
}
