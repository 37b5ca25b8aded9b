//! The reference SDK as judge. Needs a Python with `portable-memory`: KEEPSAKE_MEM_PYTHON names it.
use super::{
    harness::{Temp, read, repo, validate, write},
    travel::everything,
};
use crate::mem::{kinds::KINDS, wire};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

fn python() -> Option<PathBuf> {
    let found = std::env::var_os("KEEPSAKE_MEM_PYTHON").map(PathBuf::from);
    if found.is_none() {
        eprintln!("SKIPPED: KEEPSAKE_MEM_PYTHON is not set, the reference SDK is not asked");
    }
    found
}

#[derive(serde::Deserialize)]
struct Verdict {
    valid: bool,
    issues: Vec<String>,
    ids: BTreeMap<String, BTreeSet<String>>,
    counts: BTreeMap<String, u64>,
}

fn judge(python: &Path, bundle: &Path, out: &Path) -> Verdict {
    let script = repo().join("tests/interop/mem_check.py");
    let run = Command::new(python).arg(script).arg("check").arg(bundle).arg(out).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
}

#[test]
fn the_sdk_imports_our_bundle_and_we_read_its_export() {
    let Some(python) = python() else { return };
    let taken = everything();
    let temp = Temp::new();
    let (ours, theirs) = (temp.join("ours.mem"), temp.join("theirs.mem"));
    let report = write(&taken, &[], &ours);
    let verdict = judge(&python, &ours, &theirs);
    assert!(verdict.valid, "{:?}", verdict.issues);
    assert_eq!(verdict.counts.values().sum::<u64>(), validate(&ours, &[]).records);
    let again = temp.join("again.mem");
    let second = judge(&python, &theirs, &again);
    assert!(second.valid, "{:?}", second.issues);
    assert_eq!(second.ids, verdict.ids);
    let validation = validate(&theirs, &[]);
    assert!(validation.errors.is_empty(), "{validation:?}");
    // Episodes and vendor kinds carry unknown fields through the SDK: those records are whole.
    let back = read(&theirs);
    for kind in ["memory", "message", "todo", "foreign"] {
        for record in taken.records.iter().filter(|r| r.kind.as_str() == kind) {
            assert_eq!(back.records.iter().find(|r| r.key == record.key), Some(record));
        }
    }
    assert!(back.notes.is_empty(), "{:?}", back.notes);
    assert!(!report.digest.is_empty());
}

#[test]
fn the_sdk_agrees_on_our_fixtures() {
    let Some(python) = python() else { return };
    for entry in std::fs::read_dir(repo().join("fixtures/mem")).unwrap().filter(|e| e.as_ref().unwrap().path().is_dir())
    {
        let input = entry.unwrap().path().join("input.mem");
        let temp = Temp::new();
        let verdict = judge(&python, &input, &temp.join("out.mem"));
        let mut messages: Vec<_> = validate(&input, &[]).errors.into_iter().map(|f| f.message).collect();
        let theirs: Vec<_> = verdict.issues.into_iter().filter(|i| !i.starts_with("import: ")).collect();
        messages.sort();
        assert_eq!(messages, theirs, "{}", input.display());
    }
}

/// Times, numbers and odd values: what the SDK takes and how it writes it.
#[test]
fn the_sdk_and_we_decode_alike() {
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
    let theirs: Vec<Option<String>> = output.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(theirs.len(), cases.len());
    let mut differ = vec![];
    for ((kind, line), theirs) in cases.iter().zip(theirs) {
        let spec = KINDS.iter().find(|s| s.kind == *kind).unwrap();
        let ours = wire::decode(spec, line, 512).ok().and_then(|tree| wire::line(spec, &tree).ok());
        if ours != theirs {
            differ.push(format!("{line}: ours {ours:?}, theirs {theirs:?}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
