//! Compares our code with the reference SDK. Needs a Python with the package `portable-memory`, at the path in
//! `MEMENTORY_MEM_PYTHON`.
use super::{
    harness::{MemorySink, TempDir, files, now, read, repo, signatures, source, validate, write, write_as},
    other_formats::{records_of_every_kind, tombstone},
};
use crate::mem::{evidence, kinds::KIND_SPECS, sign, wire};
use mementory_format::{FormatError, Signer, WriteOptions};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

fn python() -> Option<PathBuf> {
    let path = std::env::var_os("MEMENTORY_MEM_PYTHON").map(PathBuf::from);
    if path.is_none() {
        mementory_format::testkit::skipped("MEMENTORY_MEM_PYTHON is not set, the reference SDK is not asked");
    }
    path
}

#[derive(serde::Deserialize)]
struct Verdict {
    valid: bool,
    issues: Vec<String>,
    ids: BTreeMap<String, BTreeSet<String>>,
    counts: BTreeMap<String, u64>,
    tombstones: BTreeMap<String, bool>,
    mode: Option<String>,
}

/// Runs a command of `mem_check.py` and returns its output.
fn run_mem_check(python: &Path, command: &str, args: &[&str], input: &[u8]) -> Vec<u8> {
    let script = repo().join("tests/interop/mem_check.py");
    let mut run = Command::new(python);
    run.arg(script).arg(command).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = run.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn sdk_verdict(python: &Path, bundle: &Path, args: &[&str]) -> Verdict {
    let args = [&[bundle.to_str().unwrap()], args].concat();
    serde_json::from_slice(&run_mem_check(python, "check", &args, b"")).unwrap()
}

fn sdk_verdict_and_export(python: &Path, bundle: &Path, out: &Path) -> Verdict {
    sdk_verdict(python, bundle, &["--out", out.to_str().unwrap()])
}

/// A signer that signs with the reference SDK.
#[derive(Debug)]
struct SdkSigner {
    python: PathBuf,
    seed: String,
    public: Vec<u8>,
}

impl SdkSigner {
    fn new(python: &Path, byte: u8) -> Self {
        let seed = hex::encode([byte; 32]);
        let public = String::from_utf8(run_mem_check(python, "key", &[&seed], b"")).unwrap();
        Self { python: python.to_path_buf(), seed, public: hex::decode(public.trim()).unwrap() }
    }

    fn hex(&self) -> String {
        hex::encode(&self.public)
    }
}

impl Signer for SdkSigner {
    fn algorithm(&self) -> &'static str {
        "ed25519"
    }
    fn public_key(&self) -> Vec<u8> {
        self.public.clone()
    }
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, FormatError> {
        let signature = String::from_utf8(run_mem_check(&self.python, "sign", &[&self.seed], message)).unwrap();
        Ok(hex::decode(signature.trim()).unwrap())
    }
}

/// Records of all kinds, and a tombstone of this vault.
fn records_and_tombstone() -> MemorySink {
    let mut sink = records_of_every_kind();
    sink.tombstones = vec![tombstone("keepsake", "memory", &"ab".repeat(16))];
    sink
}

#[test]
fn the_sdk_accepts_our_signature() {
    let Some(python) = python() else { return };
    let (key, other) = (Arc::new(SdkSigner::new(&python, 7)), SdkSigner::new(&python, 8));
    let temp = TempDir::new();
    let out = temp.join("signed.mem");
    let options = WriteOptions { signer: Some(key.clone()), ..WriteOptions::default() };
    write_as(&records_and_tombstone(), &[], &out, options).unwrap();
    let verdict = sdk_verdict(&python, &out, &["--trust", &key.hex()]);
    assert!(verdict.valid, "{:?}", verdict.issues);
    assert_eq!(verdict.tombstones.into_values().collect::<Vec<_>>(), [true], "the deletion is signed too");
    let verdict = sdk_verdict(&python, &out, &["--trust", &other.hex()]);
    assert_eq!(verdict.issues[0], "manifest signature invalid or not signed by a trusted key");
    // The signature covers the bytes on disk.
    let manifest = std::fs::read_to_string(out.join("manifest.json")).unwrap();
    std::fs::write(out.join("manifest.json"), manifest.replace("mementory/test", "mementory/tost")).unwrap();
    assert!(!sdk_verdict(&python, &out, &["--trust", &key.hex()]).valid);
}

#[test]
fn the_sdk_accepts_our_signature_on_its_own_bundle() {
    let Some(python) = python() else { return };
    let key = SdkSigner::new(&python, 9);
    let temp = TempDir::new();
    let (theirs, out) = (temp.join("theirs.mem"), temp.join("signed.mem"));
    run_mem_check(&python, "make", &[theirs.to_str().unwrap()], b"");
    sign::sign(&theirs, &key, &out).unwrap();
    let verdict = sdk_verdict(&python, &out, &["--trust", &key.hex()]);
    assert!(verdict.valid, "{:?}", verdict.issues);
    let mut files_after = files(&out);
    files_after.remove("manifest.sig");
    assert_eq!(files_after, files(&theirs));
}

/// For every signature of the SDK, including those of tombstones, we list exactly the bytes that it covers.
#[test]
fn we_list_the_bytes_that_the_sdk_signed() {
    let Some(python) = python() else { return };
    let seed = hex::encode([7; 32]);
    let temp = TempDir::new();
    for (name, options) in
        [("full", &[] as &[&str]), ("delta", &["--since", "2026-03-01T00:00:00+00:00"]), ("pack", &["--evidence"])]
    {
        let sdk_bundle = temp.join(&format!("{name}.mem"));
        run_mem_check(&python, "make", &[&[sdk_bundle.to_str().unwrap(), "--seed", &seed], options].concat(), b"");
        let validation = validate(&sdk_bundle, &[hex::encode(&SdkSigner::new(&python, 7).public)]);
        assert!(validation.errors.is_empty() && validation.warnings.is_empty(), "{name}: {validation:?}");
        assert_eq!(validation.kind.as_deref(), Some(if name == "delta" { "incremental" } else { "full" }));
        let listed_signatures = signatures(&sdk_bundle);
        assert_eq!(listed_signatures.len(), if name == "delta" { 2 } else { 3 }, "the bundle's and the tombstones'");
        let cases: Vec<String> = listed_signatures
            .iter()
            .map(|s| {
                let (key, signature) = s.token.clone().unwrap();
                let token = format!("ed25519:{}:{}", hex::encode(key), hex::encode(signature));
                serde_json::json!({"token": token, "message": hex::encode(&s.message)}).to_string()
            })
            .collect();
        let verdicts = run_mem_check(&python, "verify", &[], cases.join("\n").as_bytes());
        assert_eq!(String::from_utf8(verdicts).unwrap(), "true\n".repeat(listed_signatures.len()), "{name}");
        // After a round trip through our code the tombstones still have their signatures.
        let second_bundle = temp.join(&format!("{name}-back.mem"));
        write(&read(&sdk_bundle), &[], &second_bundle);
        let second_verdict = sdk_verdict(&python, &second_bundle, &["--trust", &SdkSigner::new(&python, 7).hex()]);
        assert!(second_verdict.tombstones.values().all(|valid| *valid), "{name}: {:?}", second_verdict.tombstones);
    }
}

#[test]
fn the_sdk_merges_our_incremental_exports() {
    let Some(python) = python() else { return };
    let temp = TempDir::new();
    let (base_bundle, full_bundle) = (temp.join("base.mem"), temp.join("full.mem"));
    let mut sink = records_of_every_kind();
    let added_records = sink.records.split_off(6);
    write(&sink, &[], &base_bundle);
    sink.records.extend(added_records);
    sink.tombstones = records_and_tombstone().tombstones;
    write(&sink, &[], &full_bundle);
    let full_verdict = sdk_verdict(&python, &full_bundle, &[]);
    let onto_base = ["--onto", base_bundle.to_str().unwrap()];
    for (name, options) in [
        ("difference", WriteOptions { base: Some(base_bundle.clone()), ..WriteOptions::default() }),
        ("cursor", WriteOptions { since: mementory_model::Timestamp::parse("2024-01-01"), ..WriteOptions::default() }),
    ] {
        let out = temp.join(&format!("{name}.mem"));
        let report = write_as(&sink, &[], &out, options).unwrap();
        let verdict = sdk_verdict(&python, &out, &onto_base);
        assert!(verdict.valid, "{name}: {:?}", verdict.issues);
        assert_eq!(verdict.mode.as_deref(), Some("incremental"));
        assert_eq!(verdict.ids, full_verdict.ids, "{name}: base and increment contain all records");
        assert!(name != "difference" || report.withheld["unchanged"] == 6);
        assert_eq!(verdict.tombstones.len(), 1);
    }
}

#[test]
fn the_sdk_accepts_our_evidence_pack() {
    let Some(python) = python() else { return };
    let key = SdkSigner::new(&python, 7);
    let sink = records_and_tombstone();
    let pack = evidence::EvidencePack {
        selected: evidence::SelectedParts { howto: true, ..Default::default() },
        generator: "mementory/test".into(),
        created: now(),
        since: None,
        until: None,
        tombstones: sink.tombstones.clone(),
        audit: vec![evidence::AuditEntry {
            at: now(),
            actor: "owner".into(),
            op: "erase".into(),
            target: "ab".repeat(16),
            kind: Some(mementory_model::Kind::Memory),
            reason: "asked".into(),
        }],
        edges: evidence::provenance(&mut source(&sink)).unwrap(),
        extra_files: [(evidence::RECEIPTS_FILE, vec!["{}".to_owned()])].into(),
    };
    let temp = TempDir::new();
    let out = temp.join("pack.mem");
    evidence::write(&pack, &out, Some(&key)).unwrap();
    let verdict = sdk_verdict(&python, &out, &["--trust", &key.hex()]);
    assert!(verdict.valid, "{:?}", verdict.issues);
    assert_eq!(verdict.tombstones.into_values().collect::<Vec<_>>(), [true]);
}

#[test]
fn the_sdk_imports_our_bundle_and_we_read_its_export() {
    let Some(python) = python() else { return };
    let sink = records_of_every_kind();
    let temp = TempDir::new();
    let (our_bundle, sdk_bundle) = (temp.join("ours.mem"), temp.join("theirs.mem"));
    let report = write(&sink, &[], &our_bundle);
    let verdict = sdk_verdict_and_export(&python, &our_bundle, &sdk_bundle);
    assert!(verdict.valid, "{:?}", verdict.issues);
    assert_eq!(verdict.counts.values().sum::<u64>(), validate(&our_bundle, &[]).records);
    let second_out = temp.join("again.mem");
    let second_verdict = sdk_verdict_and_export(&python, &sdk_bundle, &second_out);
    assert!(second_verdict.valid, "{:?}", second_verdict.issues);
    assert_eq!(second_verdict.ids, verdict.ids);
    let validation = validate(&sdk_bundle, &[]);
    assert!(validation.errors.is_empty(), "{validation:?}");
    // Records of these kinds are read back completely, because the SDK preserves unknown fields of episodes and of
    // vendor kinds.
    let reread = read(&sdk_bundle);
    for kind in ["memory", "message", "todo", "foreign"] {
        for record in sink.records.iter().filter(|r| r.kind.as_str() == kind) {
            assert_eq!(reread.records.iter().find(|r| r.key == record.key), Some(record));
        }
    }
    assert!(reread.notes.is_empty(), "{:?}", reread.notes);
    assert!(!report.digest.is_empty());
}

#[test]
fn the_sdk_agrees_on_our_fixtures() {
    let Some(python) = python() else { return };
    for entry in std::fs::read_dir(repo().join("fixtures/mem")).unwrap().filter(|e| e.as_ref().unwrap().path().is_dir())
    {
        let input = entry.unwrap().path().join("input.mem");
        let temp = TempDir::new();
        let verdict = sdk_verdict_and_export(&python, &input, &temp.join("out.mem"));
        // If the SDK does not find all errors, the case file lists the errors that the SDK finds.
        let case = std::fs::read(input.with_file_name("case.json")).unwrap();
        let case: serde_json::Value = serde_json::from_slice(&case).unwrap();
        let reference_errors = serde_json::from_value::<Option<Vec<String>>>(case["reference_errors"].clone()).unwrap();
        let our_messages = || validate(&input, &[]).errors.into_iter().map(|f| f.message).collect();
        let mut messages: Vec<String> = reference_errors.unwrap_or_else(our_messages);
        let sdk_messages: Vec<_> = verdict.issues.into_iter().filter(|i| !i.starts_with("import: ")).collect();
        messages.sort();
        assert_eq!(messages, sdk_messages, "{}", input.display());
    }
}

/// Our decoder accepts the same times, numbers and unusual values as the SDK, and our encoder writes the same lines.
#[test]
fn we_decode_values_like_the_sdk() {
    let Some(python) = python() else { return };
    let mut cases: Vec<(&str, String)> = vec![];
    for time in [
        "2026-06-30T20:23:59Z",
        "2026-06-30T20:23:59z",
        "2026-06-30t20:23:59Z",
        "2026-06-30 20:23:59",
        "2026-06-30",
        "2026-06-30T20:23",
        "20260630T202359Z",
        "20260630",
        "2026-06-30T20:23:59.9999999Z",
        "2026-06-30T20:23:59,5Z",
        "1969-12-31T23:59:59.9999999Z",
        "1960-01-01T00:00:00.5Z",
        "2026-06-30T20:23:59+05:30",
        "2026-06-30T20:23:59-0800",
        "2026-06-30T24:00:00Z",
        "2026-06-30T23:59:60Z",
        "2026-02-30T00:00:00Z",
        "2026-13-01",
        " 2026-06-30",
        "",
        "now",
        "2026-06-30T20:23:59.Z",
        "2026-06-30T20:23:59+25:00",
        "9999-12-31T23:59:59Z",
        "2026-6-3",
        "1751313600",
        "2026-06-30T20:23:59+02",
        "2026-06-30T",
        "2026-06-30T20",
    ] {
        let time = serde_json::to_string(time).unwrap();
        cases.push(("context", format!("{{\"id\":\"c\",\"label\":\"\",\"archived\":false,\"createdAt\":{time}}}")));
    }
    for number in [
        "1",
        "1.0",
        "-0",
        "-0.0",
        "0.1",
        "1e-5",
        "1e-7",
        "1.5e-300",
        "5e-324",
        "1e15",
        "1e16",
        "123456789012345678",
        "9007199254740993",
        "18446744073709551616",
        "1e400",
        "2.5",
        "true",
        "null",
        "\"1\"",
        "0.30000000000000004",
        "1E2",
    ] {
        cases.push((
            "episodeLink",
            format!("{{\"srcEpisodeID\":\"a\",\"dstEpisodeID\":\"b\",\"linkType\":\"\",\"weight\":{number}}}"),
        ));
        cases.push(("core", format!("{{\"id\":\"c\",\"content\":\"\",\"charBudget\":{number},\"version\":1}}")));
    }
    for text in ["\"\\u0000\\u001f\\u007f\\u2028\"", "\"\\ud83d\\ude00\"", "\"a/b\\/c\"", "\"\\b\\f\\n\\r\\t\""] {
        cases.push(("preference", format!("{{\"key\":\"k\",\"value\":{text}}}")));
    }
    let script = repo().join("tests/interop/mem_check.py");
    let mut child =
        Command::new(python).arg(script).arg("decode").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for (kind, line) in &cases {
        writeln!(input, "{}", serde_json::json!({"kind": kind, "line": line})).unwrap();
    }
    drop(input);
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let sdk_lines: Vec<Option<String>> = output.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(sdk_lines.len(), cases.len());
    let mut differences = vec![];
    for ((kind, line), sdk_line) in cases.iter().zip(sdk_lines) {
        let spec = KIND_SPECS.iter().find(|s| s.kind == *kind).unwrap();
        let our_line = wire::decode(spec, line, 512).ok().and_then(|tree| wire::line(spec, &tree).ok());
        if our_line != sdk_line {
            differences.push(format!("{line}: ours {our_line:?}, theirs {sdk_line:?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
