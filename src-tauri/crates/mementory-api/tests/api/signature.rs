//! Changes every signed value in turn. Each change must invalidate the signature.
use mementory_api::{
    CreateOptions, ExportOptions, Job, Session, convert,
    files::{Check, validate},
    types::{ExportRequest, Filter, ImportRequest, ListRequest, Validation},
};
use mementory_crypto::SigningKey;
use serde_json::Value;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

fn fixture(name: &str) -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures").join(name)
}

fn check(path: &Path) -> Validation {
    validate(path, &Check::default(), &Job::default()).unwrap()
}

fn is_signed_and_valid(found: &Validation) -> bool {
    found.ok && found.signature.valid == Some(true)
}

/// Like [`is_signed_and_valid`], but also accepts a file that states an unsupported version.
fn passes(path: &Path) -> bool {
    match validate(path, &Check::default(), &Job::default()) {
        Ok(found) => is_signed_and_valid(&found),
        Err(error) => {
            assert_eq!(error.code, "unsupported_version");
            false
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.path() {
            path if path.is_dir() => copy(&path, &to.join(entry.file_name())),
            path => drop(std::fs::copy(&path, to.join(entry.file_name())).unwrap()),
        }
    }
}

/// Collects the JSON pointer of every value in a document.
fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(k, v)| pointers(v, &format!("{at}/{k}"), out)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| pointers(v, &format!("{at}/{i}"), out)),
        _ => out.push(at.to_owned()),
    }
}

/// Returns another value of the same type.
fn changed_value(value: &Value) -> Value {
    match value {
        Value::Null => Value::Bool(true),
        Value::Bool(b) => Value::Bool(!b),
        Value::Number(n) => Value::from(n.as_f64().unwrap() + 1.0),
        Value::String(text) => match text.chars().last() {
            Some(last) => {
                Value::from(format!("{}{}", &text[..text.len() - last.len_utf8()], if last == '0' { '1' } else { '0' }))
            }
            None => Value::from("0"),
        },
        rest => rest.clone(),
    }
}

/// JSON pointers of the values that can be changed without invalidating the signature.
fn unsigned_pointers(document: &Value, is_valid: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    assert!(is_valid(document), "the unchanged document");
    let mut all = Vec::new();
    pointers(document, "", &mut all);
    assert!(all.len() > 10);
    let is_detected = |pointer: &String| {
        let mut changed = document.clone();
        let value = changed.pointer_mut(pointer).unwrap();
        *value = changed_value(value);
        !is_valid(&changed)
    };
    all.into_iter().filter(|pointer| !is_detected(pointer)).collect()
}

#[test]
fn every_byte_of_a_mem_manifest_is_signed() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("b.mem");
    copy(&fixture("mem/signed/input.mem"), &bundle);
    assert!(is_signed_and_valid(&check(&bundle)), "the unchanged bundle");
    let manifest = bundle.join("manifest.json");
    let bytes = std::fs::read(&manifest).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        std::fs::write(&manifest, changed).unwrap();
        assert!(!passes(&bundle), "byte {at}");
    }
    std::fs::write(&manifest, bytes).unwrap();
    // The manifest contains the digests of the files, so its signature covers them too.
    for file in ["items/episode.jsonl", "CHECKSUMS"] {
        let path = bundle.join(file);
        let bytes = std::fs::read(&path).unwrap();
        for at in [0, bytes.len() / 2, bytes.len() - 2] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            std::fs::write(&path, changed).unwrap();
            assert!(!is_signed_and_valid(&check(&bundle)), "{file}: byte {at}");
        }
        std::fs::write(&path, bytes).unwrap();
    }
}

#[test]
fn every_field_of_a_tombstone_is_signed() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("b.mem");
    copy(&fixture("mem/small/input.mem"), &bundle);
    std::fs::create_dir_all(bundle.join("audit")).unwrap();
    let key = SigningKey::from_seed(&[7; 32]);
    let derived = r#"{"chunkIDs":["c"],"edgeIDs":["e"],"embeddingCacheKeys":["k"],"entityIDs":["n"],"episodeLinkCount":2,"factIDs":["f"],"sentenceIDs":["s"]}"#;
    let unsigned_tombstone = format!(
        r#"{{"actor":"a","deletedAt":"2026-01-01T00:00:00Z","derived":{derived},"id":"t","op":"delete","reason":"r","targetID":"gone","targetKind":"episode"}}"#
    );
    let mut whole: Value = serde_json::from_str(&unsigned_tombstone).unwrap();
    let token = |text: &str| {
        Value::from(format!("ed25519:{}:{}", hex::encode(key.public()), hex::encode(key.sign(text.as_bytes()))))
    };
    whole["signature"] = token(&unsigned_tombstone);
    let is_valid = |tombstone: &Value| {
        std::fs::write(bundle.join("audit/tombstones.jsonl"), format!("{tombstone}\n")).unwrap();
        let tombstones = check(&bundle).signature.tombstones;
        !tombstones.is_empty() && tombstones.iter().all(|t| t.valid)
    };
    assert_eq!(unsigned_pointers(&whole, is_valid), BTreeSet::new());
    // The extension slot has its own signature, because the signature of the format does not cover it.
    let slot = r#"{"key":{"scope":"chatgpt","value":"m-1"}}"#;
    let with_slot = format!("{},\"x_mementory\":{slot}}}", unsigned_tombstone.trim_end_matches('}'));
    let mut named = whole.clone();
    named["x_mementory"] = serde_json::from_str(slot).unwrap();
    named["x_mementory"]["signature"] = token(&with_slot);
    assert_eq!(unsigned_pointers(&named, is_valid), BTreeSet::new());
    let mut without = whole.clone();
    without.as_object_mut().unwrap().remove("reason");
    assert!(!is_valid(&without), "after removing a field");
}

/// Creates a bundle with `tombstone` as its only tombstone.
fn bundle_with_tombstone(bundle: &Path, tombstone: &Value) {
    copy(&fixture("mem/all-kinds/input.mem"), bundle);
    std::fs::write(bundle.join("audit/tombstones.jsonl"), format!("{tombstone}\n")).unwrap();
    let path = bundle.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let mut sums = String::new();
    for row in manifest["files"].as_array_mut().unwrap() {
        let name = row["path"].as_str().unwrap().to_owned();
        let digest = mementory_formats::file_sha256(&bundle.join(&name)).unwrap();
        row["bytes"] = bundle.join(&name).metadata().unwrap().len().into();
        row["sha256"] = digest.clone().into();
        sums += &format!("{digest}  {name}\n");
    }
    std::fs::write(bundle.join("CHECKSUMS"), sums).unwrap();
    manifest["bundleDigest"] = mementory_formats::file_sha256(&bundle.join("CHECKSUMS")).unwrap().into();
    std::fs::write(&path, manifest.to_string()).unwrap();
}

#[test]
fn a_tombstone_changed_after_signing_deletes_nothing() {
    let key = SigningKey::from_seed(&[7; 32]);
    let derived = r#"{"chunkIDs":[],"edgeIDs":[],"embeddingCacheKeys":[],"entityIDs":[],"episodeLinkCount":0,"factIDs":[],"sentenceIDs":[]}"#;
    let line = |target: &str| {
        format!(
            r#"{{"actor":"a","deletedAt":"2026-01-01T00:00:00Z","derived":{derived},"id":"t","op":"delete","targetID":"{target}","targetKind":"episode"}}"#
        )
    };
    for (signed, written, is_applied) in [("ep_move", "ep_move", true), ("ep_gone", "ep_move", false)] {
        let folder = tempfile::tempdir().unwrap();
        let mut tombstone: Value = serde_json::from_str(&line(written)).unwrap();
        let signature = hex::encode(key.sign(line(signed).as_bytes()));
        tombstone["signature"] = format!("ed25519:{}:{signature}", hex::encode(key.public())).into();
        let bundle = folder.path().join("b.mem");
        bundle_with_tombstone(&bundle, &tombstone);
        let options = CreateOptions { kdf_floor: true };
        let vault = folder.path().join("t.mementory");
        let (session, _) = Session::create(&vault, "correct horse battery staple lamp", options).unwrap();
        let paths = vec![bundle.display().to_string()];
        let request = ImportRequest { paths, accept_invalid_signature: !is_applied, ..ImportRequest::default() };
        let report = session.imports().import(&request, false, &Job::default()).unwrap();
        let warned = report.warnings.iter().any(|w| w.code == "tombstone_signature_invalid");
        assert_eq!((report.tombstones_applied == 1, warned), (is_applied, !is_applied));
        let filter = Filter { kind: Some("memory".into()), ..Filter::default() };
        let page = session.records().list(&ListRequest { filter, ..ListRequest::default() }).unwrap();
        assert_eq!(page.items.iter().any(|i| i.origin_id.as_deref() == Some("ep_move")), !is_applied);
    }
}

#[test]
fn every_signed_value_of_a_pam_store_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("memory-store.json");
    let whole = std::fs::read_dir(fixture("pam/signed-ed25519/input")).unwrap().map(|e| e.unwrap().path());
    let whole = whole.filter(|p| p.extension().is_some_and(|e| e == "json")).max().unwrap();
    let whole: Value = serde_json::from_slice(&std::fs::read(whole).unwrap()).unwrap();
    let is_valid = |changed: &Value| {
        std::fs::write(&store, changed.to_string()).unwrap();
        passes(&store)
    };
    // §18.3 signs checksum, export id, export date and owner id; the checksum covers the memories.
    let unsigned = unsigned_pointers(&whole, is_valid);
    let must_be_signed = |pointer: &str| {
        pointer.starts_with("/memories/")
            || pointer == "/integrity/checksum"
            || pointer == "/export_id"
            || pointer == "/export_date"
            || pointer == "/owner/id"
    };
    assert_eq!(unsigned.iter().filter(|pointer| must_be_signed(pointer)).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(
        !unsigned.contains("/signature/value")
            && !unsigned.contains("/signature/public_key")
            && !unsigned.contains("/signature/algorithm")
    );
}

/// A forged file: its format, its path, the validator's error code, and the format version to export.
type Forged = (&'static str, PathBuf, &'static str, &'static str);

/// One forged file for each format and kind of signature.
fn forged_files(folder: &Path) -> Vec<Forged> {
    let replaced = |name: &str, from: &str, to: &str| {
        let source = std::fs::read_to_string(fixture(name)).unwrap();
        assert!(source.contains(from), "{name}");
        let path = folder.join(name.replace('/', "-"));
        std::fs::write(&path, source.replacen(from, to, 1)).unwrap();
        path
    };
    let tombstone = folder.join("tombstone.mem");
    let signature = format!("ed25519:{}:{}", "ab".repeat(32), "cd".repeat(64));
    let line = serde_json::json!({"actor": "a", "deletedAt": "2026-01-01T00:00:00Z", "id": "t", "op": "delete",
        "derived": {"chunkIDs": [], "edgeIDs": [], "embeddingCacheKeys": [], "entityIDs": [], "episodeLinkCount": 0,
            "factIDs": [], "sentenceIDs": []},
        "signature": signature, "targetID": "ep_move", "targetKind": "episode"});
    bundle_with_tombstone(&tombstone, &line);
    vec![
        ("pam", fixture("pam/signed-ed25519-tampered/input"), "signature_invalid", "1.0"),
        ("pam", fixture("pam/signed-rs256-weak/input"), "signature_invalid", "1.0"),
        ("mem", fixture("mem/forged/input.mem"), "signature_invalid", "1.1.0"),
        ("mem", tombstone, "signature_invalid", "1.1.0"),
        ("zaxy", fixture("zaxy/tampered-header/input.json"), "signature_invalid", ""),
        ("zaxy", fixture("zaxy/tampered-signature/input.json"), "signature_invalid", ""),
        (
            "zaxy",
            replaced("zaxy/subset-ed25519/input.json", "\"nonce\": \"", "\"nonce\": \"00"),
            "signature_invalid",
            "",
        ),
    ]
}

#[test]
fn an_invalid_signature_is_an_error_of_validate_import_and_convert_and_is_never_exported_again() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (format, path, code, version)) in forged_files(folder.path()).into_iter().enumerate() {
        let name = path.display();
        let checked = check(&path);
        assert!(!checked.ok && checked.errors.iter().any(|e| e.code == code), "{name}: {:?}", checked.errors);

        let options = CreateOptions { kdf_floor: true };
        let vault = folder.path().join(format!("{number}.mementory"));
        let (session, _) = Session::create(&vault, "correct horse battery staple lamp", options).unwrap();
        let request = ImportRequest { paths: vec![path.display().to_string()], ..ImportRequest::default() };
        for dry_run in [true, false] {
            let refused = session.imports().import(&request, dry_run, &Job::default()).unwrap_err();
            assert_eq!((refused.code, refused.exit), ("signature_invalid", 1), "{name}");
            assert!(refused.message.contains("--accept-invalid-signature"), "{name}: {}", refused.message);
        }
        let all = || session.records().list(&ListRequest::default()).unwrap().total;
        assert_eq!(all(), 0, "{name}");
        let plan = session.imports().plan(&request, None, &Job::default()).unwrap();
        assert!(!plan.invalid_signatures.is_empty() && plan.total.added > 0, "{name}");

        let accepted = ImportRequest { accept_invalid_signature: true, ..request.clone() };
        let report = session.imports().import(&accepted, false, &Job::default()).unwrap();
        let warned = ["signature_invalid", "tombstone_signature_invalid"];
        assert!(report.warnings.iter().any(|w| warned.contains(&w.code.as_str())), "{name}: {:?}", report.warnings);
        assert!(all() > 0, "{name}");
        assert_eq!(session.keys().list().unwrap().seen.len(), 0, "{name}: the key is not remembered");

        let version = (!version.is_empty()).then(|| version.to_owned());
        let options = ExportOptions { version, ..ExportOptions::default() };
        let out = folder.path().join(format!("{number}.{format}"));
        let export =
            ExportRequest { format: format.into(), out: out.display().to_string(), ..ExportRequest::default() };
        session.exports().export_with(&export, &options, &Job::default()).unwrap();
        let written = check(&out);
        let valid_ones = written.signature.tombstones.iter().all(|t| t.valid);
        assert!(!written.signature.present && valid_ones, "{name}");
        assert!(!written.errors.iter().any(|e| e.code.starts_with("signature")), "{name}: {:?}", written.errors);

        let converted = folder.path().join(format!("{number}-converted.{format}"));
        let export = ExportRequest { out: converted.display().to_string(), ..export };
        let refused = convert(&request, None, &export, &options, &Job::default()).unwrap_err();
        assert_eq!((refused.code, converted.exists()), ("signature_invalid", false), "{name}");
        convert(&accepted, None, &export, &options, &Job::default()).unwrap();
        assert!(!check(&converted).signature.present, "{name}");
    }
}

#[test]
fn a_valid_signature_is_exported_again_if_nothing_that_it_covers_changed() {
    let folder = tempfile::tempdir().unwrap();
    for (format, input, version) in [
        ("pam", "pam/signed-ed25519/input", None),
        ("mem", "mem/signed/input.mem", Some("1.1.0")),
        ("mem", "mem/signed/input.mem", None),
        ("zaxy", "zaxy/signed-ed25519/input.json", None),
        ("zaxy", "zaxy/subset-ed25519/input.json", None),
    ] {
        let out = folder.path().join(format!("{}-{}", input.replace('/', "-"), version.unwrap_or("same")));
        let request = ImportRequest { paths: vec![fixture(input).display().to_string()], ..ImportRequest::default() };
        let export =
            ExportRequest { format: format.into(), out: out.display().to_string(), ..ExportRequest::default() };
        let options = ExportOptions { version: version.map(str::to_owned), ..ExportOptions::default() };
        convert(&request, None, &export, &options, &Job::default()).unwrap();
        assert!(is_signed_and_valid(&check(&out)), "{input}");
    }
}
