//! One test for each requirement of the conformance levels (spec v1.1 §4–§6, §8) that can be tested with files.
//! Requirements on the vault (merging, erasing) are tested in `tests/core`. Comments note the requirements that the
//! validator of the reference SDK does not check.
use super::harness::{MemorySink, TempDir, bundle, copy, files, read, read_with, repo, try_validate, validate};
use mementory_format::{FormatError, Validation};
use mementory_model::{Kind, Limits, TombstoneOp};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A copy of a fixture bundle in a temporary folder, which a test may change.
pub(super) struct FixtureBundle {
    _temp: TempDir,
    pub(super) path: PathBuf,
}

impl FixtureBundle {
    pub(super) fn copy_of(name: &str) -> Self {
        let temp = TempDir::new();
        let path = temp.join("b.mem");
        copy(&repo().join("fixtures/mem").join(name).join("input.mem"), &path);
        Self { _temp: temp, path }
    }

    pub(super) fn with_files(data: &[(&str, &str)]) -> Self {
        let temp = TempDir::new();
        let path = temp.join("b.mem");
        bundle(&path, data);
        Self { _temp: temp, path }
    }

    pub(super) fn replace(&self, file: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path.join(file)).unwrap();
        assert!(text.contains(from), "{from}");
        std::fs::write(self.path.join(file), text.replace(from, to)).unwrap();
    }

    /// Changes a listed file and updates its digest in the manifest and CHECKSUMS, so that only the content is wrong.
    pub(super) fn rewrite(&self, file: &str, from: &str, to: &str) {
        let digest_and_size = |at: &Path| {
            let bytes = std::fs::read(at.join(file)).unwrap();
            (hex::encode(Sha256::digest(&bytes)), bytes.len())
        };
        let sums = || hex::encode(Sha256::digest(std::fs::read(self.path.join("CHECKSUMS")).unwrap()));
        let ((old, size), old_sums) = (digest_and_size(&self.path), sums());
        self.replace(file, from, to);
        let (new, new_size) = digest_and_size(&self.path);
        self.replace("CHECKSUMS", &old, &new);
        self.replace("manifest.json", &old, &new);
        self.replace(
            "manifest.json",
            &format!("\"bytes\":{size},\"path\":\"{file}\""),
            &format!("\"bytes\":{new_size},\"path\":\"{file}\""),
        );
        if std::fs::read_to_string(self.path.join("manifest.json")).unwrap().contains(&old_sums) {
            self.replace("manifest.json", &old_sums, &sums());
        }
    }

    pub(super) fn validate(&self) -> Validation {
        validate(&self.path, &[])
    }

    pub(super) fn errors(&self) -> Vec<String> {
        self.validate().errors.into_iter().map(|f| f.code).collect()
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        self.validate().warnings.into_iter().map(|f| f.code).filter(|c| c != "malformed_detail").collect()
    }

    /// Imports the bundle. If the bundle is rejected, the sink must have received nothing.
    pub(super) fn import(&self) -> Result<MemorySink, FormatError> {
        let mut sink = MemorySink::default();
        let result = read_with(&self.path, &Limits::default(), &mut sink);
        assert!(result.is_ok() || sink.is_empty(), "half an import");
        result.map(|()| sink)
    }
}

pub(super) const EPISODES_FILE: &str = "items/episode.jsonl";

#[test]
fn l0_a_valid_bundle_has_no_findings() {
    for name in ["small", "all-kinds", "signed"] {
        let validation = FixtureBundle::copy_of(name).validate();
        assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{name}: {validation:?}");
    }
}

/// The reference SDK compares only the hash of CHECKSUMS and never reads the content. For 1.0 it does not even compare
/// the hash.
#[test]
fn l0_checksums_match_the_manifest() {
    for (from, to) in [
        ("items/episode.jsonl", "items/episodes.jsonl"),
        ("  items/episode", " *items/episode"),
        ("  items/context", "  ./items/context"),
    ] {
        let copy = FixtureBundle::copy_of("loose-1.0");
        let text = std::fs::read_to_string(copy.path.join("CHECKSUMS")).unwrap();
        if text.contains(from) {
            copy.replace("CHECKSUMS", from, to);
            assert_eq!(copy.errors(), ["checksums_mismatch"], "{to}");
            assert!(copy.import().is_err());
        }
    }
    let uppercase_digest = FixtureBundle::copy_of("loose-1.0");
    let text = std::fs::read_to_string(uppercase_digest.path.join("CHECKSUMS")).unwrap();
    let (digest, _) = text.split_once(' ').unwrap();
    uppercase_digest.replace("CHECKSUMS", digest, &digest.to_uppercase());
    assert_eq!(uppercase_digest.errors(), ["checksums_mismatch"], "lowercase hex");
    let with_extra_line = FixtureBundle::copy_of("loose-1.0");
    std::fs::write(with_extra_line.path.join("CHECKSUMS"), format!("{text}{}  manifest.json\n", "0".repeat(64)))
        .unwrap();
    assert_eq!(with_extra_line.errors(), ["checksums_mismatch"], "every listed file and no others");
    let without_checksums = FixtureBundle::copy_of("loose-1.0");
    std::fs::remove_file(without_checksums.path.join("CHECKSUMS")).unwrap();
    assert_eq!(without_checksums.errors(), ["checksums_missing"]);
}

#[test]
fn l0_digests_in_the_manifest_are_lowercase_and_correct() {
    let copy = FixtureBundle::copy_of("small");
    let digest = hex::encode(Sha256::digest(std::fs::read(copy.path.join(EPISODES_FILE)).unwrap()));
    copy.replace("manifest.json", &digest, &digest.to_uppercase());
    assert!(copy.errors().contains(&"checksum_mismatch".to_owned()));
    let size = FixtureBundle::copy_of("small");
    size.replace("manifest.json", "\"bytes\":861", "\"bytes\":860");
    assert_eq!(size.errors(), ["byte_count_mismatch"]);
    assert!(size.import().is_err(), "the importer of the reference does not check sizes");
}

#[test]
fn l0_the_bundle_digest_is_the_digest_of_checksums() {
    let copy = FixtureBundle::copy_of("small");
    let digest = hex::encode(Sha256::digest(std::fs::read(copy.path.join("CHECKSUMS")).unwrap()));
    copy.replace("manifest.json", &digest, &"0".repeat(64));
    assert_eq!(copy.errors(), ["bundle_digest_mismatch"]);
    assert!(copy.import().is_err());
}

#[test]
fn l0_manifest_checksums_and_signature_do_not_list_themselves() {
    let copy = FixtureBundle::copy_of("small");
    std::fs::write(copy.path.join("manifest.sig"), "x\n").unwrap();
    let digest = hex::encode(Sha256::digest(b"x\n"));
    copy.replace(
        "manifest.json",
        "\"files\":[",
        &format!("\"files\":[{{\"bytes\":2,\"path\":\"manifest.sig\",\"sha256\":\"{digest}\"}},"),
    );
    assert!(copy.errors().contains(&"self_listed".to_owned()), "{:?}", copy.errors());
}

/// The reference SDK does not check the counts.
#[test]
fn l0_counts_are_the_number_of_lines() {
    for (from, to) in [
        ("\"episode\":2", "\"episode\":1"),
        ("\"episode\":2", "\"episode\":2,\"fact\":1"),
        ("\"context\":1,", ""),
        ("\"episode\":2", "\"episode\":2,\"tombstone\":1"),
    ] {
        let copy = FixtureBundle::copy_of("small");
        copy.replace("manifest.json", from, to);
        assert_eq!(copy.errors(), ["counts_mismatch"], "{to}");
    }
    let zero_count = FixtureBundle::copy_of("small");
    zero_count.replace("manifest.json", "\"episode\":2", "\"episode\":2,\"fact\":0");
    assert!(zero_count.errors().is_empty(), "a zero says nothing");
}

#[test]
fn l0_coverage_and_scopes_match_the_records() {
    let copy = FixtureBundle::copy_of("small");
    copy.replace("manifest.json", "\"to\":\"2026-02-10", "\"to\":\"2026-02-11");
    copy.replace("manifest.json", "\"scopes\":[\"ctx_life\"]", "\"scopes\":[\"ctx_life\",\"ctx_more\"]");
    assert_eq!(copy.errors(), ["coverage_mismatch", "scopes_mismatch"]);
}

#[test]
fn l0_only_incremental_exports_have_since() {
    let full_export = FixtureBundle::copy_of("small");
    full_export.replace(
        "manifest.json",
        "\"scopes\":[\"ctx_life\"]",
        "\"scopes\":[\"ctx_life\"],\"since\":\"2026-01-01T00:00:00Z\"",
    );
    assert_eq!(full_export.warnings(), ["since_on_full"]);
    let delta = FixtureBundle::copy_of("small");
    delta.replace("manifest.json", "\"exportMode\":\"full\"", "\"exportMode\":\"incremental\"");
    assert_eq!(delta.warnings(), ["since_missing"]);
}

#[test]
fn l0_the_version_is_a_semantic_version() {
    let valid_versions = ["1.2.0", "1.1.0-rc.1", "1.10.0+a.01"].map(|version| (version, [""; 0].as_slice()));
    let invalid_versions = ["1", "1.1", "1.1.x", "1.01.0", "1.1.0.0", "1.1.0 ", "1.1.0-", "1.1.0-01", "1.1.0+a..b"];
    for (version, found) in
        valid_versions.into_iter().chain(invalid_versions.map(|version| (version, ["version_form"].as_slice())))
    {
        let copy = FixtureBundle::copy_of("small");
        copy.replace("manifest.json", "\"format\":\"1.1.0\"", &format!("\"format\":\"{version}\""));
        assert_eq!(copy.errors(), found, "{version}");
        assert!(copy.warnings().is_empty() && copy.import().is_ok(), "a minor version is read");
    }
    let major = FixtureBundle::copy_of("small");
    major.replace("manifest.json", "\"format\":\"1.1.0\"", "\"format\":\"2.0.0\"");
    assert!(matches!(try_validate(&major.path, &[]), Err(FormatError::Version { .. })));
    assert!(major.import().is_err(), "the reference's importer takes it");
}

/// The reference SDK accepts lines that are not canonical, although two programs would then compute different digests
/// of the same records.
#[test]
fn l0_lines_are_canonical() {
    for (from, to) in [
        ("{\"accessCount\":0", "{ \"accessCount\":0"),
        ("\"accessCount\":0,\"actors\":[]", "\"actors\":[],\"accessCount\":0"),
        ("2026-01-10T08:00:00Z", "2026-01-10T08:00:00.0Z"),
        ("\"confidence\":0.7", "\"confidence\":0.70"),
        ("red bicycle", "r\\u0065d bicycle"),
        ("}\n{", "}\r\n{"),
        ("}\n{", "}\n\n{"),
        ("\"pinned\":false", "\"pinned\":false,\"speaker\":null"),
    ] {
        let copy = FixtureBundle::copy_of("small");
        copy.rewrite(EPISODES_FILE, from, to);
        assert_eq!(copy.warnings(), ["not_canonical"], "{to:?}");
        assert!(copy.errors().is_empty() && copy.import().is_ok(), "{to:?}: and is read all the same");
    }
    let open = FixtureBundle::with_files(&[("items/preference.jsonl", "{\"key\":\"a\",\"value\":\"b\"}")]);
    assert_eq!(open.warnings(), ["not_canonical"], "the last line feed");
}

/// The reference SDK does not decode the audit files while validating.
#[test]
fn l0_every_stream_decodes() {
    for (file, from, to, kind) in [
        ("audit/tombstones.jsonl", "\"op\":\"delete\"", "\"op\":\"forget\"", "tombstone"),
        ("audit/log.jsonl", "\"ts\":\"2026-01-05T00:00:00Z\"", "\"ts\":\"then\"", "log"),
        ("items/edge.jsonl", "\"confidence\":0.9", "\"confidence\":\"0.9\"", "edge"),
    ] {
        let copy = FixtureBundle::copy_of("all-kinds");
        copy.rewrite(file, from, to);
        // The validator reports every changed line.
        let mut messages: Vec<_> = copy.validate().errors.into_iter().map(|f| f.message).collect();
        messages.dedup();
        assert_eq!(messages, [format!("malformed {kind} record")]);
        assert!(copy.import().is_err());
    }
}

/// The reference SDK replaces invalid bytes while validating and fails on them while importing.
#[test]
fn l0_streams_are_utf8() {
    let temp = TempDir::new();
    let bundle_path = temp.join("b.mem");
    bundle(
        &bundle_path,
        &[("items/preference.jsonl", "{\"key\":\"a\",\"value\":\"?\"}\n"), ("items/acme.jsonl", "?\n")],
    );
    for (file, codes) in [("items/preference.jsonl", 1), ("items/acme.jsonl", 2)] {
        let bytes: Vec<u8> =
            std::fs::read(bundle_path.join(file)).unwrap().iter().map(|b| if *b == b'?' { 0xff } else { *b }).collect();
        let digest_before = hex::encode(Sha256::digest(std::fs::read(bundle_path.join(file)).unwrap()));
        std::fs::write(bundle_path.join(file), &bytes).unwrap();
        for side in ["manifest.json", "CHECKSUMS"] {
            let text = std::fs::read_to_string(bundle_path.join(side)).unwrap();
            std::fs::write(bundle_path.join(side), text.replace(&digest_before, &hex::encode(Sha256::digest(&bytes))))
                .unwrap();
        }
        let errors: Vec<_> = validate(&bundle_path, &[]).errors.into_iter().map(|f| f.code).collect();
        assert_eq!(errors, vec!["malformed"; codes]);
    }
}

#[test]
fn l0_paths_stay_inside_the_bundle() {
    for path in [
        "../x",
        "/x",
        "~/x",
        "items/../../x",
        "items/./x",
        "c:x",
        "items\\\\x",
        "items/\\u0000x",
        "items//x",
        "items/x/",
        "",
        "items/\\u0007x",
        "..",
        ".",
    ] {
        let copy = FixtureBundle::copy_of("small");
        copy.replace("manifest.json", "\"path\":\"items/episode.jsonl\"", &format!("\"path\":\"{path}\""));
        assert_eq!(copy.errors()[0], "path_escapes", "{path}");
        assert!(copy.import().is_err());
    }
    let with_duplicate = FixtureBundle::copy_of("small");
    with_duplicate.replace("manifest.json", "items/context.jsonl", "items/episode.jsonl");
    assert!(with_duplicate.errors().contains(&"duplicate_path".to_owned()));
}

#[test]
fn l0_sizes_are_limited() {
    let copy = FixtureBundle::copy_of("small");
    let limits = Limits { mem_file_bytes: 500, ..Limits::default() };
    let mut sink = MemorySink::default();
    assert!(matches!(
        read_with(&copy.path, &limits, &mut sink),
        Err(FormatError::Limit { limit: "mem_file_bytes", .. })
    ));
    assert!(sink.is_empty());
}

/// §7. The reference SDK accepts any content in a reference to a secret.
#[test]
fn l0_a_secret_reference_contains_no_secret() {
    for name in ["value", "ciphertext", "password", "encrypted_value", "PRIVATE-KEY"] {
        let copy = FixtureBundle::copy_of("all-kinds");
        copy.rewrite(
            "items/secretRef.jsonl",
            "\"sensitivity\":\"high\"",
            &format!("\"sensitivity\":\"high\",\"{name}\":\"x\""),
        );
        assert!(copy.errors().contains(&"secret_carried".to_owned()), "{name}: {:?}", copy.errors());
        // Only the verbatim contains the secret, and the vault masks it there. The fields must not contain it, because
        // other formats write fields unchanged.
        let sink = copy.import().unwrap();
        let reference = sink.records.iter().find(|record| record.kind == Kind::Credential).unwrap();
        assert!(!reference.fields.contains_key(name), "{name}");
        assert_eq!(mementory_format::plain_secrets(reference), ["x"], "{name}");
    }
}

#[test]
fn l0_ids_are_unique_in_a_file() {
    let line = "{\"key\":\"a\",\"value\":\"b\"}\n";
    let copy = FixtureBundle::with_files(&[("items/preference.jsonl", &line.repeat(2))]);
    assert_eq!(copy.warnings(), ["duplicate_id"]);
}

/// §4 step 1: the whole bundle is checked before any record is sent.
#[test]
fn l1_an_error_in_the_last_file_prevents_the_whole_import() {
    let copy = FixtureBundle::copy_of("all-kinds");
    copy.rewrite("items/secretRef.jsonl", "\"label\":\"Router login\",", "");
    assert!(copy.import().is_err(), "the reference has written fourteen kinds by then");
}

/// §4 step 3, §4.1: parents are imported before their children.
#[test]
fn l1_parents_come_before_children() {
    let sink = FixtureBundle::copy_of("all-kinds").import().unwrap();
    let position_of = |value: &str| sink.records.iter().position(|r| r.key.value == value).unwrap();
    for (parent, child) in [
        ("context/ctx_home", "episode/ep_tea"),
        ("entity/ent_ada", "edge/edge_1"),
        ("episode/ep_tea", "fact/fact_1"),
        ("resource/res_1", "chunk/chunk_1"),
        ("fact/fact_2", "factLink/fact_1|fact_2|refines"),
    ] {
        assert!(position_of(parent) < position_of(child), "{parent} {child}");
    }
}

/// §4.1: kinds without an id are merged by a key derived from their fields.
#[test]
fn spec_4_1_kinds_without_an_id_get_a_key_from_their_fields() {
    let sink = FixtureBundle::copy_of("all-kinds").import().unwrap();
    for key in
        ["factLink/fact_1|fact_2|refines", "episodeLink/ep_move|ep_tea|before", "category/food", "preference/units"]
    {
        assert!(sink.records.iter().any(|r| r.key.value == key), "{key}");
    }
}

/// §4.1: a superseded record keeps the reference to its successor.
#[test]
fn l1_superseded_records_are_imported_too() {
    let sink = FixtureBundle::copy_of("all-kinds").import().unwrap();
    let superseded_fact = sink.records.iter().find(|r| r.key.value == "fact/fact_2").unwrap();
    assert_eq!(superseded_fact.status.as_deref(), Some("superseded"));
    assert!(superseded_fact.links.iter().any(|l| l.relation == "superseded_by" && l.target.value == "fact/fact_1"));
    assert!(sink.records.iter().any(|r| r.key.value == "fact/fact_1"));
    let edge = sink.records.iter().find(|r| r.key.value == "edge/edge_1").unwrap();
    assert!(edge.times.valid_to.is_some());
}

#[test]
fn l1_unknown_fields_and_kinds_are_preserved() {
    let copy = FixtureBundle::copy_of("all-kinds");
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    super::harness::write(&copy.import().unwrap(), &[], &out);
    for (name, bytes) in files(&copy.path).iter().filter(|(n, _)| n.starts_with("items/")) {
        assert_eq!(files(&out).get(name), Some(bytes), "{name}");
    }
}

/// §5. Each bundle also contains the deleted record itself.
#[test]
fn l2_records_that_depend_on_a_deleted_record_are_skipped() {
    for (kind, id, skipped) in [
        ("entity", "ent_ada", vec!["edge/edge_1"]),
        ("episode", "ep_tea", vec!["fact/fact_1", "fact/fact_2", "episodeLink/ep_move|ep_tea|before"]),
        ("resource", "res_1", vec!["chunk/chunk_1"]),
        ("fact", "fact_2", vec!["factLink/fact_1|fact_2|refines"]),
    ] {
        let copy = FixtureBundle::copy_of("all-kinds");
        copy.rewrite(
            "audit/tombstones.jsonl",
            "\"targetID\":\"ep_gone\",\"targetKind\":\"episode\"",
            &format!("\"targetID\":\"{id}\",\"targetKind\":\"{kind}\""),
        );
        let sink = copy.import().unwrap();
        assert_eq!(sink.tombstones[0].target_id, id, "sent first: the sink checks it");
        for key in skipped {
            assert!(sink.records.iter().all(|r| r.key.value != key), "{kind}: {key}");
        }
    }
}

/// §5: a tombstone deletes "every derived artifact". The reference SDK ignores the ids of derived records.
#[test]
fn l2_derived_ids_are_deleted_too() {
    let copy = FixtureBundle::copy_of("all-kinds");
    copy.rewrite("audit/tombstones.jsonl", "\"factIDs\":[\"fact_gone\"]", "\"factIDs\":[\"fact_1\"]");
    let sink = copy.import().unwrap();
    assert_eq!(sink.tombstones[0].derived.fact_ids, ["fact_1"]);
    assert!(sink.records.iter().all(|r| r.key.value != "factLink/fact_1|fact_2|refines"), "a link to what is gone");
}

/// §5: a redaction keeps the record without its content, and is reported as a redaction.
#[test]
fn l2_a_redaction_is_not_a_deletion() {
    let copy = FixtureBundle::copy_of("all-kinds");
    copy.rewrite("audit/tombstones.jsonl", "\"op\":\"delete\"", "\"op\":\"redact\"");
    assert_eq!(copy.import().unwrap().tombstones[0].op, TombstoneOp::Redact);
}

/// §5: all lists in `derived` and all unknown fields are preserved.
#[test]
fn l2_tombstones_keep_their_derived_ids() {
    let temp = TempDir::new();
    let (copy, out) = (FixtureBundle::copy_of("all-kinds"), temp.join("out.mem"));
    super::harness::write(&copy.import().unwrap(), &[], &out);
    assert_eq!(files(&out)["audit/tombstones.jsonl"], files(&copy.path)["audit/tombstones.jsonl"]);
    let without_derived = FixtureBundle::copy_of("all-kinds");
    let text = std::fs::read_to_string(without_derived.path.join("audit/tombstones.jsonl")).unwrap();
    let (from, to) = (text.find("\"derived\":").unwrap(), text.find("\"id\":").unwrap());
    without_derived.rewrite("audit/tombstones.jsonl", &text[from..to], "");
    assert!(without_derived.warnings().contains(&"derived_missing".to_owned()));
}

/// §6: an import reads the entries of the audit trail as records.
#[test]
fn l3_the_audit_trail_is_read() {
    let sink = FixtureBundle::copy_of("all-kinds").import().unwrap();
    let trail: Vec<_> = sink.records.iter().filter(|r| r.kind == Kind::Audit).collect();
    assert_eq!(trail.len(), 2);
    assert!(trail.iter().any(|r| r.record_type.as_deref() == Some("delete") && r.text == "erasure"));
}

/// §8: the validator checks a manifest's claim of level L3.
#[test]
fn l3_requires_signed_tombstones_and_an_audit_trail() {
    let copy = FixtureBundle::copy_of("all-kinds");
    copy.replace("manifest.json", "\"conformanceLevel\":\"L2\"", "\"conformanceLevel\":\"L3\"");
    assert_eq!(copy.warnings(), ["tombstone_unsigned"]);
    let without_audit = FixtureBundle::copy_of("small");
    without_audit.replace("manifest.json", "\"conformanceLevel\":\"L2\"", "\"conformanceLevel\":\"L3\"");
    assert_eq!(without_audit.warnings(), ["audit_missing"]);
}

/// §1.3: with a trusted key, a bundle without a signature is an error. Without a trusted key, no signature is required.
#[test]
fn l3_a_signature_is_required_if_a_key_is_trusted() {
    let key = "ab".repeat(32);
    let unsigned_bundle = repo().join("fixtures/mem/small/input.mem");
    let errors: Vec<_> = validate(&unsigned_bundle, &[key]).errors.into_iter().map(|f| f.message).collect();
    assert_eq!(errors, ["manifest.sig missing (signature required)"]);
    assert!(!read(&unsigned_bundle).records.is_empty());
}

/// The schemas forbid negative integers. The original value is exported in `mementory_forbidden`.
#[test]
fn l1_a_negative_integer_is_reported_and_exported_as_zero() {
    let copy = FixtureBundle::copy_of("small");
    copy.rewrite("items/episode.jsonl", "\"accessCount\":0", "\"accessCount\":-1");
    assert!(copy.errors().contains(&"bad_value".to_owned()), "{:?}", copy.errors());
    let sink = copy.import().unwrap();
    assert!(sink.notes.iter().any(|note| note.code == "bad_value"));
    for edited in [vec![], sink.records.iter().map(|r| r.key.value.as_str()).collect()] {
        let temp = TempDir::new();
        let out = temp.join("out.mem");
        let report = super::harness::write(&sink, &edited, &out);
        assert!(report.losses.counts.values().sum::<u64>() > 0);
        let text = String::from_utf8(files(&out)["items/episode.jsonl"].clone()).unwrap();
        assert!(text.contains("\"mementory_forbidden\":{\"accessCount\":-1}") && text.contains("\"accessCount\":0"));
        let validation = super::harness::validate(&out, &[]);
        assert!(validation.errors.is_empty(), "{:?}", validation.errors);
        let reread = super::harness::read(&out);
        assert_eq!(reread.records.len(), sink.records.len());
    }
}

/// The schemas forbid empty ids. An export gives the line an id, and an import of this line restores the record.
#[test]
fn l1_an_empty_id_is_reported_and_exported_with_an_id() {
    let copy = FixtureBundle::copy_of("all-kinds");
    copy.rewrite("items/episode.jsonl", "\"id\":\"ep_tea\"", "\"id\":\"\"");
    copy.rewrite("items/preference.jsonl", "\"key\":\"units\"", "\"key\":\"\"");
    assert_eq!(copy.errors().iter().filter(|code| *code == "empty").count(), 2, "{:?}", copy.errors());
    let sink = copy.import().unwrap();
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    super::harness::write(&sink, &[], &out);
    let validation = super::harness::validate(&out, &[]);
    assert!(validation.errors.is_empty(), "{:?}", validation.errors);
    let reread = super::harness::read(&out);
    for key in ["episode/", "preference/"] {
        let texts = |sink: &MemorySink| -> Vec<String> {
            sink.records.iter().filter(|r| r.key.value == key).map(|r| r.text.clone()).collect()
        };
        assert_eq!(texts(&reread), texts(&sink), "{key}");
        assert_eq!(texts(&sink).len(), 1, "{key}");
    }
}

#[test]
fn l2_a_tombstone_without_a_target_is_reported_and_deletes_nothing() {
    let line = |id: &str, target: &str| {
        format!(
            "{{\"actor\":\"user\",\"deletedAt\":\"2026-04-20T00:00:00Z\",\"derived\":{{\"chunkIDs\":[],\"edgeIDs\":[],\
             \"embeddingCacheKeys\":[],\"entityIDs\":[],\"episodeLinkCount\":0,\"factIDs\":[],\"sentenceIDs\":[]}},\
             \"id\":\"{id}\",\"op\":\"delete\",\"targetID\":\"{target}\",\"targetKind\":\"episode\"}}\n"
        )
    };
    let lines = [line("", "ep_1"), line("t-1", "")].concat();
    let copy = FixtureBundle::with_files(&[("audit/tombstones.jsonl", &lines)]);
    assert_eq!(copy.errors(), ["empty", "empty"]);
    let sink = copy.import().unwrap();
    assert_eq!(sink.tombstones.len(), 1);
    assert!(sink.tombstones[0].id.starts_with("tomb_"), "{}", sink.tombstones[0].id);
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    super::harness::write(&sink, &[], &out);
    assert_eq!(super::harness::validate(&out, &[]).errors, []);
    assert_eq!(super::harness::read(&out).tombstones[0].target_id, "ep_1");
}
