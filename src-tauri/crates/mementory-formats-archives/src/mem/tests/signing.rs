//! Tests that our signatures cover the right bytes, and that signing changes nothing else. Real Ed25519 signatures are
//! tested with the reference SDK (`interop`) and in `mementory-api`.
use super::{
    harness::{
        FakeSigner, MemorySink, TempDir, all_signed_by_fake, bundle, copy, files, read, repo, signatures, validate,
        write, write_as,
    },
    other_formats::{records_of_every_kind, tombstone},
};
use crate::mem::{kinds::TOMBSTONE_SPEC, sign, tombstones::from_tree, wire::decode};
use mementory_format::{FormatError, Signer, WriteOptions};
use mementory_model::RecordKey;
use serde_json::{Value, json};
use std::{path::PathBuf, sync::Arc};

fn fixture(name: &str) -> PathBuf {
    repo().join("fixtures/mem").join(name).join("input.mem")
}

fn signed_options() -> WriteOptions {
    WriteOptions { signer: Some(Arc::new(FakeSigner)), ..WriteOptions::default() }
}

#[test]
fn the_signature_of_a_written_bundle_covers_its_manifest() {
    let (sink, temp) = (records_of_every_kind(), TempDir::new());
    let (plain, out) = (temp.join("plain.mem"), temp.join("signed.mem"));
    write(&sink, &[], &plain);
    write_as(&sink, &[], &out, signed_options()).unwrap();
    let listed_signatures = signatures(&out);
    assert_eq!(listed_signatures.len(), 1);
    assert_eq!(listed_signatures[0].message, std::fs::read(out.join("manifest.json")).unwrap());
    assert!(all_signed_by_fake(&out));
    let token = std::fs::read_to_string(out.join("manifest.sig")).unwrap();
    assert_eq!(
        token,
        format!(
            "ed25519:{}:{}\n",
            "07".repeat(32),
            hex::encode(FakeSigner::signature_of(&listed_signatures[0].message))
        )
    );
    assert!(String::from_utf8(listed_signatures[0].message.clone()).unwrap().contains("\"passthrough\",\"signed\"]"));
    // The files with records do not depend on the signature.
    let (files_before, files_after) = (files(&plain), files(&out));
    assert_eq!(files_after.len(), files_before.len() + 1);
    for (name, bytes) in files_before.iter().filter(|(n, _)| *n != "manifest.json") {
        assert_eq!(files_after.get(name), Some(bytes), "{name}");
    }
    let validation = validate(&out, &["07".repeat(32)]);
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");
    assert!(validation.signature.0);
}

/// Tombstones of other vaults stay unsigned or keep their signature.
#[test]
fn only_tombstones_of_this_vault_are_signed() {
    let (mut sink, temp) = (MemorySink::default(), TempDir::new());
    sink.tombstones = read(&fixture("all-kinds")).tombstones;
    let mut foreign_tombstone = tombstone("mem", "episode", "ep_theirs");
    foreign_tombstone.signature = Some(format!("ed25519:{}:{}", "ab".repeat(32), "cd".repeat(64)));
    sink.tombstones.extend([foreign_tombstone, tombstone("keepsake", "memory", &"ab".repeat(16))]);
    let out = temp.join("out.mem");
    write_as(&sink, &[], &out, signed_options()).unwrap();
    let listed_signatures: Vec<_> = signatures(&out).into_iter().filter(|s| s.tombstone.is_some()).collect();
    assert_eq!(listed_signatures.len(), 2);
    let our_signature = listed_signatures
        .iter()
        .find(|s| s.tombstone.as_deref() == Some(&format!("tomb_{}", "ab".repeat(16))))
        .unwrap();
    assert_eq!(our_signature.token, Some((FakeSigner::KEY.to_vec(), FakeSigner::signature_of(&our_signature.message))));
    let text = String::from_utf8(our_signature.message.clone()).unwrap();
    assert!(text.starts_with("{\"actor\":\"owner\",\"deletedAt\"") && !text.contains("signature"), "{text}");
    assert!(listed_signatures.iter().any(|s| s.token == Some((vec![0xab; 32], vec![0xcd; 64]))));
    let lines = std::fs::read_to_string(out.join("audit/tombstones.jsonl")).unwrap();
    let imported_line = lines.lines().find(|l| l.contains("\"tomb_1\"")).unwrap();
    assert!(!imported_line.contains("signature") && imported_line.contains("acmeTicket"));
    // After a round trip the signature is unchanged.
    let second_out = temp.join("again.mem");
    write(&read(&out), &[], &second_out);
    assert_eq!(std::fs::read_to_string(second_out.join("audit/tombstones.jsonl")).unwrap(), lines);
}

#[test]
fn signing_a_bundle_changes_nothing_else() {
    let temp = TempDir::new();
    for name in ["all-kinds", "small", "loose-1.0", "forged"] {
        let input = fixture(name);
        let out = temp.join(&format!("{name}.mem"));
        let signed_bundle = sign::sign(&input, &FakeSigner, &out).unwrap();
        assert_eq!((signed_bundle.key, signed_bundle.replaced), ("07".repeat(32), name == "forged"));
        let (before, mut after) = (files(&input), files(&out));
        assert!(after.remove("manifest.sig").is_some());
        assert_eq!(after, before.into_iter().filter(|(n, _)| n != "manifest.sig").collect(), "{name}");
        assert!(all_signed_by_fake(&out));
        assert!(validate(&out, &["07".repeat(32)]).errors.is_empty());
        // If the target is the bundle itself, only the signature is new.
        let signed_in_place = temp.join(&format!("{name}-here.mem"));
        copy(&input, &signed_in_place);
        sign::sign(&signed_in_place, &FakeSigner, &signed_in_place).unwrap();
        assert_eq!(files(&signed_in_place), files(&out), "{name}");
        // Signs into an archive, then copies the archive into a folder.
        let (zipped, opened) = (temp.join(&format!("{name}.mem.zip")), temp.join(&format!("{name}-back.mem")));
        sign::sign(&input, &FakeSigner, &zipped).unwrap();
        assert!(all_signed_by_fake(&zipped));
        sign::pack(&zipped, &opened).unwrap();
        assert_eq!(files(&opened), files(&out), "{name}");
    }
}

fn error_code(result: Result<impl std::fmt::Debug, FormatError>) -> String {
    match result.unwrap_err() {
        FormatError::Invalid { code, .. } => code.into(),
        FormatError::Io { source, .. } => format!("{:?}", source.kind()),
        other => format!("{other:?}"),
    }
}

#[test]
fn an_invalid_bundle_is_not_signed() {
    let temp = TempDir::new();
    let out = temp.join("out.mem");
    assert_eq!(error_code(sign::sign(&fixture("wrong-checksum"), &FakeSigner, &out)), "checksum_mismatch");
    // Wrong counts do not prevent an import, but such a bundle must not be signed.
    let wrong_counts = temp.join("wrong-counts.mem");
    copy(&fixture("small"), &wrong_counts);
    let manifest = std::fs::read_to_string(wrong_counts.join("manifest.json")).unwrap();
    std::fs::write(wrong_counts.join("manifest.json"), manifest.replace("\"episode\":2", "\"episode\":9")).unwrap();
    assert_eq!(error_code(sign::sign(&wrong_counts, &FakeSigner, &out)), "counts_mismatch");
    assert!(!out.exists());
    let two_bundles = temp.join("two");
    copy(&fixture("small"), &two_bundles.join("a.mem"));
    copy(&fixture("small"), &two_bundles.join("b.mem"));
    assert_eq!(error_code(sign::sign(&two_bundles, &FakeSigner, &out)), "not_one_bundle");
    copy(&fixture("small"), &out);
    assert_eq!(error_code(sign::sign(&fixture("small"), &FakeSigner, &out)), "AlreadyExists");
    assert_eq!(files(&out), files(&fixture("small")));
}

#[cfg(unix)]
#[test]
fn a_bundle_with_a_link_is_not_signed() {
    let temp = TempDir::new();
    let input = temp.join("linked.mem");
    copy(&fixture("small"), &input);
    std::os::unix::fs::symlink("/etc/hosts", input.join("notes.txt")).unwrap();
    assert_eq!(error_code(sign::sign(&input, &FakeSigner, &temp.join("out.mem"))), "path_escapes");
    assert!(!temp.join("out.mem").exists());
}

#[derive(Debug)]
struct UnsupportedSigner(&'static str, usize, usize);

impl Signer for UnsupportedSigner {
    fn algorithm(&self) -> &'static str {
        self.0
    }
    fn public_key(&self) -> Vec<u8> {
        vec![1; self.1]
    }
    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, FormatError> {
        Ok(vec![2; self.2])
    }
}

#[test]
fn only_an_ed25519_key_can_sign() {
    let temp = TempDir::new();
    let cases = [
        (UnsupportedSigner("ml-dsa-65", 1952, 3309), "key_not_supported"),
        (UnsupportedSigner("ed25519", 31, 64), "key_not_supported"),
        (UnsupportedSigner("ed25519", 32, 63), "signing_failed"),
    ];
    for (n, (odd, code)) in cases.into_iter().enumerate() {
        let out = temp.join(&format!("{n}.mem"));
        assert_eq!(error_code(sign::sign(&fixture("small"), &odd, &out)), code);
        assert!(!out.exists(), "nothing is left behind");
        let options = WriteOptions { signer: Some(Arc::new(odd)), ..WriteOptions::default() };
        assert_eq!(error_code(write_as(&records_of_every_kind(), &[], &out, options)), code);
    }
}

#[test]
fn a_signature_is_kept_if_no_byte_changes() {
    let temp = TempDir::new();
    let version = |v: &str| WriteOptions { version: Some(v.into()), ..WriteOptions::default() };
    let complete_bundle = temp.join("whole.mem");
    sign::sign(&fixture("all-kinds"), &FakeSigner, &complete_bundle).unwrap();
    let out = temp.join("out.mem");
    let report = write_as(&read(&complete_bundle), &[], &out, version("1.1.0")).unwrap();
    assert_eq!(files(&out), files(&complete_bundle));
    assert_eq!(report.digest, hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&files(&out)["CHECKSUMS"])));

    let mut sink = read(&complete_bundle);
    sink.records.retain(|r| r.key.value != "preference/units");
    let without_preference = temp.join("less.mem");
    write_as(&sink, &[], &without_preference, version("1.1.0")).unwrap();
    assert!(!without_preference.join("manifest.sig").exists(), "a record less: the signature is over something else");
    assert!(validate(&without_preference, &[]).errors.is_empty());
    let signed_by_us = temp.join("own.mem");
    write_as(&read(&complete_bundle), &[], &signed_by_us, signed_options()).unwrap();
    assert_ne!(
        files(&signed_by_us)["manifest.json"],
        files(&complete_bundle)["manifest.json"],
        "our manifest names us as the generator"
    );

    // Version 1.0 has neither `bundleDigest` nor `specURL`. Versions other than 1.0 and 1.1 are not supported.
    let in_version_1_0 = temp.join("old.mem");
    write_as(&read(&complete_bundle), &[], &in_version_1_0, version("1.0.0")).unwrap();
    let text = String::from_utf8(files(&in_version_1_0)["manifest.json"].clone()).unwrap();
    assert!(text.contains("\"format\":\"1.0.0\"") && !text.contains("bundleDigest") && !text.contains("specURL"));
    assert!(!in_version_1_0.join("manifest.sig").exists());
    let validation = validate(&in_version_1_0, &[]);
    assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{validation:?}");
    let refusal = write_as(&read(&complete_bundle), &[], &temp.join("two.mem"), version("2.0.0"));
    assert!(matches!(refusal, Err(FormatError::Version { .. })));
}

#[test]
fn a_file_name_ending_in_zip_writes_an_archive() {
    let (sink, temp) = (records_of_every_kind(), TempDir::new());
    let (folder, archive) = (temp.join("me.mem"), temp.join("me.mem.zip"));
    let report = write_as(&sink, &[], &folder, signed_options()).unwrap();
    assert_eq!(write_as(&sink, &[], &archive, signed_options()).unwrap().digest, report.digest);
    assert!(archive.is_file());
    let zip = zip::ZipArchive::new(std::fs::File::open(&archive).unwrap()).unwrap();
    let names: std::collections::BTreeSet<String> = zip.file_names().map(|n| n.unwrap().into_owned()).collect();
    assert_eq!(names, files(&folder).into_keys().map(|n| format!("me.mem/{n}")).collect());
    assert!(validate(&archive, &[]).errors.is_empty());
    assert_eq!(read(&archive).records.len(), sink.records.len());
    let unpacked_bundle = temp.join("unpacked.mem");
    sign::pack(&archive, &unpacked_bundle).unwrap();
    assert_eq!(files(&unpacked_bundle), files(&folder));
    // An archive from another program may have the files at the top level.
    let flat_archive = temp.join("flat.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&flat_archive).unwrap());
    for (name, bytes) in files(&folder) {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zip, &bytes).unwrap();
    }
    zip.finish().unwrap();
    assert!(validate(&flat_archive, &[]).errors.is_empty() && all_signed_by_fake(&flat_archive));
    assert_eq!(read(&flat_archive).records.len(), sink.records.len());
    // Writing the same records again yields the same file.
    let second_folder = temp.join("two");
    std::fs::create_dir(&second_folder).unwrap();
    write_as(&sink, &[], &second_folder.join("me.mem.zip"), signed_options()).unwrap();
    assert_eq!(std::fs::read(second_folder.join("me.mem.zip")).unwrap(), std::fs::read(&archive).unwrap());
    // A bundle in nested folders is found and can be signed.
    let deep_folder = temp.join("deep");
    bundle(&deep_folder.join("x/y.mem"), &[("items/preference.jsonl", "{\"key\":\"a\",\"value\":\"b\"}\n")]);
    sign::sign(&deep_folder, &FakeSigner, &deep_folder.join("x/y.mem")).unwrap();
    assert!(all_signed_by_fake(&deep_folder));
}

#[test]
fn the_key_in_a_tombstone_counts_only_with_a_signature_by_the_same_signer() {
    let (mut sink, temp) = (MemorySink::default(), TempDir::new());
    let key = Some(RecordKey::new("chatgpt", "m-1"));
    let mut named_tombstone = tombstone("keepsake", "memory", &"ab".repeat(16));
    named_tombstone.derived.source_key = key.clone();
    sink.tombstones = vec![named_tombstone];
    let (plain, out) = (temp.join("plain.mem"), temp.join("out.mem"));
    write(&sink, &[], &plain);
    assert_eq!(read(&plain).tombstones[0].derived.source_key, key);
    write_as(&sink, &[], &out, signed_options()).unwrap();
    assert_eq!(read(&out).tombstones[0].derived.source_key, key);
    let listed_signatures: Vec<_> = signatures(&out).into_iter().filter(|s| s.tombstone.is_some()).collect();
    assert_eq!(listed_signatures.len(), 2, "the tombstone and the slot");
    for signature in &listed_signatures {
        let expected = Some((FakeSigner::KEY.to_vec(), FakeSigner::signature_of(&signature.message)));
        assert_eq!(signature.token, expected);
    }
    let covers_key = |n: usize| String::from_utf8_lossy(&listed_signatures[n].message).contains("m-1");
    assert_eq!((covers_key(0), covers_key(1)), (false, true));
    let line = std::fs::read_to_string(out.join("audit/tombstones.jsonl")).unwrap();
    let our_signature = serde_json::from_str::<Value>(&line).unwrap()["x_mementory"]["signature"].clone();
    let other = json!(format!("ed25519:{}:{}", "ab".repeat(32), "cd".repeat(64)));
    for (signature, expected) in [(our_signature, key), (other, None), (Value::Null, None)] {
        let mut changed_line: Value = serde_json::from_str(&line).unwrap();
        changed_line["x_mementory"]["signature"] = signature;
        let text = changed_line.to_string();
        let tree = decode(&TOMBSTONE_SPEC, &text, 64_u32).unwrap();
        assert_eq!(from_tree(&tree, &text).derived.source_key, expected, "{text}");
    }
}
