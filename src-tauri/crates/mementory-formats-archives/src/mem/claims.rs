//! Checks a manifest's claims: its syntax, version, mode, level, signature and embeddings (spec v1.1 §1.1, §2, §3, §6,
//! §8).
use super::{
    bundle::{Bundle, MANIFEST_FILE, SIGNATURE_FILE},
    canonical::canonical,
    kinds::{AUDIT_LOG_FILE, TOMBSTONES_FILE},
    manifest::{Manifest, is_semver},
    report::{Report, Severity},
};
use mementory_json::{
    Tree,
    schema::{is_uri, rfc3339},
};

/// Folder of the embedding vectors.
const EMBEDDINGS_FOLDER: &str = "embeddings/";

/// Checks the claims of a manifest. Requires a report of the bundle's files.
pub(super) fn check(bundle: &Bundle, manifest: &Manifest, report: &mut Report) {
    let text = String::from_utf8_lossy(&report.manifest_bytes).into_owned();
    check_form(manifest, &text, report);
    check_embeddings(manifest, report);
    let has_signature = bundle.files.contains_key(SIGNATURE_FILE);
    if !has_signature && manifest.capabilities.iter().any(|capability| capability == "signed") {
        let message = "the manifest says that the bundle is signed, but manifest.sig is missing";
        report.add_finding(Severity::Warning, "signature_removed", SIGNATURE_FILE, message);
    }
    if !is_semver(&manifest.format) {
        let message = format!("format is not a semantic version: {}", manifest.format);
        report.add_finding(Severity::Error, "version_form", MANIFEST_FILE, message);
    }
    let mut warn = |code, place, message: String| report.add_finding(Severity::Warning, code, place, message);
    if manifest.mode == "incremental" && manifest.since.is_none() {
        warn("since_missing", MANIFEST_FILE, "an incremental export has no since".into());
    }
    if manifest.level == "L3" {
        let (unsigned_count, audit_line_count) =
            (report.unsigned_tombstones, report.lines.get("audit").copied().unwrap_or_default());
        if unsigned_count > 0 {
            let message = format!("{unsigned_count} tombstones are not signed, which level L3 requires");
            report.add_finding(Severity::Warning, "tombstone_unsigned", TOMBSTONES_FILE, message);
        }
        if audit_line_count == 0 {
            report.add_finding(Severity::Warning, "audit_missing", AUDIT_LOG_FILE, "level L3 requires the audit trail");
        }
    }
}

/// True if the form of a manifest, which was read from `bytes`, has no error.
pub(super) fn has_valid_form(manifest: &Manifest, bytes: &[u8]) -> bool {
    let mut report = Report::default();
    check_form(manifest, &String::from_utf8_lossy(bytes), &mut report);
    report.findings.iter().all(|(severity, ..)| *severity == Severity::Warning)
}

/// Checks the manifest's form: canonical JSON (§1.1), order of the files (§3), and syntax of times, `coverage`, `specURL`
/// and `generator`.
fn check_form(manifest: &Manifest, text: &str, report: &mut Report) {
    let tree = Tree::parse(text.trim(), 128).ok();
    let has_null = matches!(&tree, Some(Tree::Object(members)) if members.iter().any(|(_, v)| *v == Tree::Null));
    let is_canonical = tree.as_ref().and_then(|t| canonical(t).ok()).is_some_and(|form| form == text.trim_end());
    if has_null || !is_canonical {
        let message = "not canonical JSON: another program computes a different digest for the same manifest";
        report.add_finding(Severity::Warning, "not_canonical", MANIFEST_FILE, message);
    }
    if !manifest.files.is_sorted_by(|a, b| a.path <= b.path) {
        report.add_finding(Severity::Warning, "files_order", MANIFEST_FILE, "files are not sorted by path");
    }
    if let Some(tree) = &tree {
        check_times(tree, report);
    }
    let address = tree.as_ref().and_then(|t| t.get("specURL")).and_then(Tree::as_str);
    if address.is_some_and(|address| !is_uri(address)) {
        report.add_finding(Severity::Error, "bad_value", MANIFEST_FILE, "specURL is not a URI");
    }
    let is_named =
        manifest.generator.split_once('/').is_some_and(|(name, version)| !name.is_empty() && !version.is_empty());
    if !is_named {
        report.add_finding(Severity::Warning, "generator_form", MANIFEST_FILE, "generator is not <vendor>/<version>");
    }
}

/// Checks the times, which other programs may parse more strictly than we do (§1.1, schema). Also reports members of
/// `coverage` that the schema does not allow.
fn check_times(manifest: &Tree, report: &mut Report) {
    let coverage = manifest.get("coverage");
    let times = [
        ("createdAt", manifest.get("createdAt")),
        ("since", manifest.get("since")),
        ("coverage.from", coverage.and_then(|span| span.get("from"))),
        ("coverage.to", coverage.and_then(|span| span.get("to"))),
    ];
    for (name, value) in times {
        let Some(text) = value.and_then(Tree::as_str) else { continue };
        if rfc3339(text).is_err() {
            let message = format!("{name} is not an RFC 3339 date and time");
            report.add_finding(Severity::Error, "bad_value", MANIFEST_FILE, message);
        } else if text.len() != CANONICAL_TIME_LEN || !text.ends_with('Z') || text.as_bytes()[10] != b'T' {
            let message = format!("{name} is not in UTC with whole seconds");
            report.add_finding(Severity::Warning, "not_canonical", MANIFEST_FILE, message);
        }
    }
    let has_others = |members: &[(String, Tree)]| members.iter().any(|(name, _)| !matches!(&**name, "from" | "to"));
    if matches!(coverage, Some(Tree::Object(members)) if has_others(members)) {
        let message = "coverage has other members than from and to";
        report.add_finding(Severity::Error, "unknown_field", MANIFEST_FILE, message);
    }
}

/// Length of a time in canonical form, `YYYY-MM-DDTHH:MM:SSZ`.
const CANONICAL_TIME_LEN: usize = 20;

/// Compares `embeddingsIncluded` with the files (§2).
fn check_embeddings(manifest: &Manifest, report: &mut Report) {
    let has_vectors = manifest.files.iter().any(|file| file.path.starts_with(EMBEDDINGS_FOLDER));
    match (manifest.embeddings_included, has_vectors) {
        (true, false) => {
            let message = "embeddingsIncluded is true, but the bundle has no vectors";
            report.add_finding(Severity::Warning, "embeddings_missing", MANIFEST_FILE, message);
        }
        (false, true) => {
            let message = "the bundle has vectors, but embeddingsIncluded is false";
            report.add_finding(Severity::Warning, "embeddings_undeclared", MANIFEST_FILE, message);
        }
        _ => {}
    }
}
