//! One pass over a whole bundle that finds everything wrong with it; the validator reports all of it, the reader
//! stops at the first fatal finding. Messages are the reference SDK's own words where it has them (spec v1.1 §9).
use super::{
    bundle::{Bundle, CHECKSUMS, MANIFEST, POLICED, known_line},
    kinds::{LOG, Spec, TOMBSTONES, by_path, vendor_of},
    manifest::{Manifest, VERSION, checksums, path_is_safe},
    wire::{decode, text, time_of},
};
use crate::{Finding, FormatError, Member};
use keepsake_model::{Timestamp, json::Tree};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    /// Nothing may be imported.
    Fatal,
    /// Against the specification, but every record can be trusted to be what was written.
    Error,
    /// Worth knowing.
    Warning,
}

/// What the pass found.
#[derive(Default)]
pub(super) struct Report {
    pub manifest: Option<Manifest>,
    pub manifest_bytes: Vec<u8>,
    pub findings: Vec<(Severity, &'static str, Finding)>,
    /// Lines by kind, as `counts` names them.
    pub lines: BTreeMap<String, u64>,
    /// Ids that the bundle's own delete tombstones name.
    pub tombstoned: HashSet<String>,
    coverage: Option<(Timestamp, Timestamp)>,
    scopes: BTreeSet<String>,
}

impl Report {
    pub fn add(&mut self, severity: Severity, code: &'static str, place: &str, message: impl Into<String>) {
        let finding = Finding { code: code.into(), place: place.into(), message: message.into() };
        self.findings.push((severity, code, finding));
    }

    fn fatal(&mut self, code: &'static str, place: &str, message: impl Into<String>) {
        self.add(Severity::Fatal, code, place, message);
    }

    /// The first finding that forbids an import, as the error that ends it.
    pub fn refusal(&self, bundle: &Bundle) -> Option<FormatError> {
        let (_, code, finding) = self.findings.iter().find(|(s, _, _)| *s == Severity::Fatal)?;
        let place = bundle.place_of(&finding.place);
        Some(match *code {
            "version_mismatch" => {
                let version = self.manifest.as_ref().map(|m| m.format.clone()).unwrap_or_default();
                FormatError::Version { place, version }
            }
            "size_limit" => FormatError::Limit { limit: "mem_file_bytes", place, figure: bundle.limits.mem_file_bytes },
            code => FormatError::invalid(code, place, finding.message.clone()),
        })
    }
}

/// Checks the whole bundle. `tick` is called now and then; its error (cancelled) ends the pass.
pub(super) fn verify(
    bundle: &Bundle,
    tick: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<Report, FormatError> {
    let mut report = Report::default();
    let bytes = match bundle.bytes(MANIFEST) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            report.fatal("manifest_missing", MANIFEST, "manifest.json missing");
            return Ok(report);
        }
        Err(FormatError::Limit { .. }) => {
            report.fatal("size_limit", MANIFEST, "file exceeds size limit: manifest.json");
            return Ok(report);
        }
        Err(e) => return Err(e),
    };
    let manifest = match Manifest::parse(&bytes, bundle.limits.json_depth) {
        Ok(manifest) => manifest,
        Err(_) => {
            report.fatal("malformed", MANIFEST, "manifest.json does not parse");
            return Ok(report);
        }
    };
    report.manifest_bytes = bytes;
    if manifest.major() != VERSION.split('.').next().unwrap_or_default() {
        let message = format!("major format mismatch: bundle {} vs reader {VERSION}", manifest.format);
        report.fatal("version_mismatch", MANIFEST, message);
    }
    listed_files(bundle, &manifest, &mut report, tick)?;
    unlisted_files(bundle, &manifest, &mut report);
    checksum_file(bundle, &manifest, &mut report)?;
    summaries(&manifest, &mut report);
    report.manifest = Some(manifest);
    Ok(report)
}

fn listed_files(
    bundle: &Bundle,
    manifest: &Manifest,
    report: &mut Report,
    tick: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut seen = HashSet::new();
    let mut folded = HashSet::new();
    for entry in &manifest.files {
        let path = entry.path.as_str();
        if !path_is_safe(path) || bundle.unreadable.contains(path) {
            report.fatal("path_escapes", path, format!("path escapes the bundle: {path}"));
            continue;
        }
        if !seen.insert(path) {
            report.fatal("duplicate_path", path, format!("path listed twice: {path}"));
            continue;
        }
        if !folded.insert(path.to_lowercase()) {
            let message = format!("path differs from another only in case: {path}");
            report.add(Severity::Warning, "case_clash", path, message);
        }
        let Some(member) = bundle.files.get(path) else {
            report.fatal("file_missing", path, format!("listed file missing: {path}"));
            continue;
        };
        let oversize = || format!("file exceeds size limit: {path}");
        if member.size > bundle.limits.mem_file_bytes {
            report.fatal("size_limit", path, oversize());
            continue;
        }
        let Some((size, digest)) = one_file(bundle, path, member, report, tick)? else {
            report.fatal("size_limit", path, oversize());
            continue;
        };
        if digest != entry.sha256 {
            report.fatal("checksum_mismatch", path, format!("checksum mismatch: {path}"));
        }
        if size != entry.bytes {
            report.fatal("byte_count_mismatch", path, format!("byte-count mismatch: {path}"));
        }
    }
    Ok(())
}

/// Decodes and hashes one file.
fn one_file(
    bundle: &Bundle,
    path: &str,
    member: &Member,
    report: &mut Report,
    tick: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<Option<(u64, String)>, FormatError> {
    let spec = by_path(path);
    let vendor = vendor_of(path);
    let (mut count, mut malformed, mut binary) = (0u64, None, false);
    let mut ids = Ids::default();
    let result = bundle.lines(member, &mut |number, bytes| {
        if number % 256 == 1 {
            tick()?;
        }
        match spec {
            Some(spec) => match known_line(bytes) {
                None => {}
                Some(line) => {
                    count += 1;
                    let tree = line
                        .map_err(|()| "not UTF-8".to_owned())
                        .and_then(|l| decode(spec, l, bundle.limits.json_depth));
                    match tree {
                        Ok(tree) => note_record(spec, &tree, report, &mut ids),
                        Err(why) if malformed.is_none() => malformed = Some((number, why)),
                        Err(_) => {}
                    }
                }
            },
            None if vendor.is_some() && !bytes.is_empty() => {
                count += 1;
                binary |= std::str::from_utf8(bytes).is_err();
            }
            None => {}
        }
        Ok(())
    })?;
    if let Some((number, why)) = malformed {
        let name = spec.map(|s| s.kind).unwrap_or_default();
        report.fatal("malformed", &format!("{path}:{number}"), format!("malformed {name} record"));
        report.add(Severity::Warning, "malformed_detail", &format!("{path}:{number}"), why);
    }
    if binary {
        report.fatal("malformed", path, format!("malformed {} record", vendor.unwrap_or_default()));
    }
    if ids.repeated > 0 {
        let message = format!("{} records repeat an id of the same file; the last one counts", ids.repeated);
        report.add(Severity::Warning, "duplicate_id", path, message);
    }
    let name = match (path, spec, vendor) {
        (TOMBSTONES, _, _) => Some("tombstone"),
        (LOG, _, _) => Some("audit"),
        (_, Some(spec), _) => Some(spec.kind),
        (_, _, vendor) => vendor,
    };
    if let Some(name) = name {
        *report.lines.entry(name.to_owned()).or_default() += count;
    }
    Ok(result)
}

/// Ids of one file, as hashes: a bundle may hold a million.
#[derive(Default)]
struct Ids {
    seen: HashSet<u64>,
    repeated: u64,
}

fn note_record(spec: &Spec, tree: &Tree, report: &mut Report, ids: &mut Ids) {
    if !spec.id.is_empty() {
        let mut hasher = DefaultHasher::new();
        spec.id.iter().for_each(|name| text(tree, name).hash(&mut hasher));
        if !ids.seen.insert(hasher.finish()) {
            ids.repeated += 1;
        }
    }
    match spec.kind {
        "episode" => {
            if let Some(t) = time_of(tree, "eventTime") {
                let (from, to) = report.coverage.unwrap_or((t, t));
                report.coverage = Some((from.min(t), to.max(t)));
            }
            if let Some(context) = text(tree, "contextID").filter(|c| !c.is_empty()) {
                report.scopes.insert(context.to_owned());
            }
        }
        "context" => {
            report.scopes.extend(text(tree, "id").map(str::to_owned));
        }
        "tombstone" => {
            if text(tree, "op") == Some("delete") {
                report.tombstoned.extend(text(tree, "targetID").map(str::to_owned));
            }
            if tree.get("derived").is_none() {
                report.add(Severity::Warning, "derived_missing", TOMBSTONES, "a tombstone has no proof of reach");
            }
        }
        _ => {}
    }
}

fn unlisted_files(bundle: &Bundle, manifest: &Manifest, report: &mut Report) {
    let listed: HashSet<&str> = manifest.files.iter().map(|f| f.path.as_str()).collect();
    let names = bundle.files.keys().copied().chain(bundle.unreadable.iter().map(String::as_str));
    let unlisted: BTreeSet<&str> = names
        .filter(|path| !listed.contains(path))
        .filter(|path| path.split_once('/').is_some_and(|(folder, _)| POLICED.contains(&folder)))
        .collect();
    for path in unlisted {
        report.fatal("unlisted_file", path, format!("unlisted file present: {path}"));
    }
}

fn checksum_file(bundle: &Bundle, manifest: &Manifest, report: &mut Report) -> Result<(), FormatError> {
    let bytes = match bundle.bytes(CHECKSUMS) {
        Ok(bytes) => bytes,
        Err(FormatError::Limit { .. }) => {
            report.fatal("size_limit", CHECKSUMS, "CHECKSUMS exceeds size limit");
            return Ok(());
        }
        Err(e) => return Err(e),
    };
    let Some(bytes) = bytes else {
        let message = match manifest.bundle_digest {
            Some(_) => "bundleDigest declared but CHECKSUMS is missing",
            None => "CHECKSUMS is missing",
        };
        report.fatal("checksums_missing", CHECKSUMS, message);
        return Ok(());
    };
    if manifest.bundle_digest.as_ref().is_some_and(|d| *d != hex::encode(Sha256::digest(&bytes))) {
        let message = "bundleDigest mismatch: CHECKSUMS does not hash to the manifest's bundleDigest";
        report.fatal("bundle_digest_mismatch", CHECKSUMS, message);
    }
    if bytes != checksums(&manifest.files).as_bytes() {
        // Other implementations may order the lines differently; what they say has to agree.
        let actual: Option<BTreeSet<&str>> =
            std::str::from_utf8(&bytes).ok().map(|t| t.lines().filter(|l| !l.is_empty()).collect());
        let expected = checksums(&manifest.files);
        if actual == Some(expected.lines().filter(|l| !l.is_empty()).collect()) {
            report.add(Severity::Warning, "checksums_order", CHECKSUMS, "CHECKSUMS is not sorted by path");
        } else {
            report.fatal("checksums_mismatch", CHECKSUMS, "CHECKSUMS does not say what manifest.files says");
        }
    }
    Ok(())
}

/// The manifest's own figures against what is there.
fn summaries(manifest: &Manifest, report: &mut Report) {
    let said: BTreeMap<&String, &u64> =
        manifest.counts.iter().filter(|(k, n)| **n > 0 && *k != "provenanceEdge").collect();
    let found: BTreeMap<String, u64> =
        report.lines.iter().filter(|(_, n)| **n > 0).map(|(k, n)| (k.clone(), *n)).collect();
    if !said.into_iter().eq(found.iter()) {
        let message = "counts mismatch: the manifest's counts are not the number of records";
        report.add(Severity::Error, "counts_mismatch", MANIFEST, message);
    }
    let seconds = |span: Option<(Timestamp, Timestamp)>| {
        span.map(|(from, to)| (from.to_rfc3339_seconds(), to.to_rfc3339_seconds()))
    };
    // 1.0 has neither field, an evidence pack has no episodes.
    if manifest.coverage.is_some() && seconds(manifest.coverage) != seconds(report.coverage) {
        let message = "coverage mismatch: not the first and last eventTime of the episodes";
        report.add(Severity::Error, "coverage_mismatch", MANIFEST, message);
    }
    if manifest.scopes.as_ref().is_some_and(|s| !s.iter().eq(report.scopes.iter())) {
        let message = "scopes mismatch: not the sorted set of context ids";
        report.add(Severity::Error, "scopes_mismatch", MANIFEST, message);
    }
    if manifest.since.is_some() && manifest.mode == "full" {
        report.add(Severity::Warning, "since_on_full", MANIFEST, "a full export says since");
    }
}
