//! Checks a whole bundle in one pass. The validator reports all findings. The reader stops at the first fatal finding.
//! Messages use the wording of the reference SDK where it has one (spec v1.1 §9).
use super::{
    bundle::{
        Bundle, CHECKSUMS_FILE, MANIFEST_FILE, PROVENANCE_FILE, SIGNATURE_FILE, escape_finding, is_fully_listed_folder,
    },
    claims,
    invalid_values::{is_below_zero, negative_fields},
    kinds::{AUDIT_LOG_FILE, KindSpec, TOMBSTONES_FILE, kind_at_path, kind_named, vendor_kind_at_path},
    line_decoder::{Decoded, start_decoder},
    manifest::{FORMAT_VERSION, Manifest, checksums, path_is_safe},
    report::{DAMAGED_CODE, DETAIL_CODE, MAX_FINDINGS_PER_CODE, TOO_LARGE_CODE, UNSUPPORTED_VERSION_CODE},
    secret_refs, signatures, similar_names,
    wire::{DERIVED_COUNT_FIELD, is_too_large, list, text, time_of},
};
use mementory_format::{FormatError, Member, TextBatch, is_reserved_name};
use mementory_json::Tree;
use mementory_model::{Timestamp, is_damage};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

pub(super) use super::line_decoder::CheckDepth;
pub(super) use super::report::{Report, Severity};

/// The lists of record ids in a tombstone's `derived`. These records are deleted together with the tombstone's target.
const DERIVED_ID_FIELDS: [(&str, &str); 4] =
    [("factIDs", "fact"), ("edgeIDs", "edge"), ("entityIDs", "entity"), ("chunkIDs", "chunk")];

/// Checks the whole bundle. `progress` is called regularly; if it returns an error (the user cancelled), the check
/// stops.
pub(super) fn check_bundle(
    bundle: &Bundle,
    depth: CheckDepth,
    progress: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<Report, FormatError> {
    let mut report = Report::default();
    let bytes = match bundle.bytes(MANIFEST_FILE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            report.fatal("manifest_missing", MANIFEST_FILE, "manifest.json missing");
            return Ok(report);
        }
        Err(FormatError::Limit { .. }) => {
            report.fatal("size_limit", MANIFEST_FILE, "file exceeds size limit: manifest.json");
            return Ok(report);
        }
        Err(e) => return Err(e),
    };
    let manifest = match Manifest::parse(&bytes, bundle.limits) {
        Ok(manifest) => manifest,
        Err(why) if is_too_large(&why) => {
            report.fatal(TOO_LARGE_CODE, MANIFEST_FILE, why);
            return Ok(report);
        }
        Err(why) => {
            report.fatal("malformed", MANIFEST_FILE, "manifest.json does not parse");
            report.add_finding(Severity::Warning, DETAIL_CODE, MANIFEST_FILE, why);
            return Ok(report);
        }
    };
    report.manifest_bytes = bytes;
    if manifest.major() != FORMAT_VERSION.split('.').next().unwrap_or_default() {
        let message = format!("major format mismatch: bundle {} vs reader {FORMAT_VERSION}", manifest.format);
        report.fatal(UNSUPPORTED_VERSION_CODE, MANIFEST_FILE, message);
    }
    check_listed_files(bundle, &manifest, &mut report, depth, progress)?;
    check_unlisted_files(bundle, &manifest, &mut report, depth);
    similar_names::check(bundle, &manifest, &mut report, depth);
    check_checksums_file(bundle, &manifest, &mut report)?;
    check_signature_form(bundle, &mut report)?;
    check_summaries(&manifest, &mut report);
    if depth == CheckDepth::Full {
        claims::check(bundle, &manifest, &mut report);
    }
    report.manifest = Some(manifest);
    Ok(report)
}

fn check_listed_files(
    bundle: &Bundle,
    manifest: &Manifest,
    report: &mut Report,
    depth: CheckDepth,
    progress: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut listed_paths = HashSet::new();
    for entry in &manifest.files {
        let path = entry.path.as_str();
        let unreadable = match path_is_safe(path) {
            true => bundle.unreadable_finding(path),
            false => Some(escape_finding(path)),
        };
        if let Some((code, message)) = unreadable {
            report.fatal(code, path, message);
            continue;
        }
        if path.split('/').any(is_reserved_name) {
            report.fatal("reserved_name", path, format!("some systems do not accept this name: {path}"));
        }
        if [MANIFEST_FILE, CHECKSUMS_FILE, SIGNATURE_FILE].contains(&path) {
            report.add_finding(Severity::Error, "self_listed", path, format!("listed, and must not be: {path}"));
        }
        if !listed_paths.insert(path) {
            report.fatal("duplicate_path", path, format!("path listed twice: {path}"));
            continue;
        }
        let Some(member) = bundle.files.get(path) else {
            report.fatal("file_missing", path, format!("listed file missing: {path}"));
            continue;
        };
        let too_large_message = || format!("file exceeds size limit: {path}");
        if member.size > bundle.limits.mem_file_bytes {
            report.fatal("size_limit", path, too_large_message());
            continue;
        }
        let checked_file = match check_file(bundle, path, member, report, depth, progress) {
            Err(FormatError::Io { source, .. }) if is_damage(&source) => {
                report.fatal(DAMAGED_CODE, path, source.to_string());
                continue;
            }
            other => other?,
        };
        let Some((size, digest)) = checked_file else {
            report.fatal("size_limit", path, too_large_message());
            continue;
        };
        if digest == entry.sha256 {
            report.intact_files.insert(path.to_owned());
        } else {
            report.fatal("checksum_mismatch", path, format!("checksum mismatch: {path}"));
        }
        if size != entry.bytes {
            report.fatal("byte_count_mismatch", path, format!("byte-count mismatch: {path}"));
        }
    }
    Ok(())
}

/// Decodes, checks and hashes one file. Returns size and SHA-256, or None if the file exceeds the size limit.
fn check_file(
    bundle: &Bundle,
    path: &str,
    member: &Member,
    report: &mut Report,
    depth: CheckDepth,
    progress: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<Option<(u64, String)>, FormatError> {
    let spec = if path == PROVENANCE_FILE { kind_named("edge") } else { kind_at_path(path) };
    let vendor = vendor_kind_at_path(path);
    let (mut count, mut malformed, mut binary) = (0u64, Vec::new(), false);
    // Line numbers of the first non-canonical and the first blank line.
    let (mut first_non_canonical, mut first_blank) = (None::<u64>, None);
    let (mut ids, mut framed_bytes, mut batch) = (SeenIds::default(), 0u64, TextBatch::default());
    let mut record_batch = |decoded: Vec<(u64, Decoded)>| {
        let Some(spec) = spec else { return };
        for (number, decoded) in decoded {
            count += 1;
            match decoded {
                Ok((tree, canonical)) => {
                    note_record(spec, &tree, report, &mut ids);
                    if !canonical {
                        first_non_canonical = first_non_canonical.or(Some(number));
                    }
                    check_negative_numbers(spec, &tree, path, number, report);
                    check_ids(spec, &tree, path, number, report);
                    if depth == CheckDepth::Full {
                        secret_refs::check(spec, &tree, path, number, report);
                    }
                }
                Err(why) if malformed.len() < MAX_FINDINGS_PER_CODE as usize => malformed.push((number, why)),
                Err(_) => {}
            }
        }
    };
    let mut vendor_line_count = 0u64;
    let result = std::thread::scope(|scope| {
        let mut decoder = spec.map(|spec| start_decoder(scope, spec, depth, bundle.limits.into()));
        let result = bundle.visit_lines(member, &mut |number, bytes| {
            framed_bytes += bytes.len() as u64 + 1;
            if number % 256 == 1 {
                progress()?;
            }
            match &mut decoder {
                Some(decoder) => {
                    // A blank line is not a record, but it makes the file non-canonical.
                    if bytes.is_empty() {
                        first_blank = first_blank.or(Some(number));
                    }
                    if batch.is_full_with(bytes.len()) {
                        decoder.push(&mut batch, &mut record_batch);
                    }
                    batch.push(number, bytes);
                    if batch.is_full() {
                        decoder.push(&mut batch, &mut record_batch);
                    }
                }
                None if vendor.is_some() && !bytes.is_empty() => {
                    vendor_line_count += 1;
                    binary |= std::str::from_utf8(bytes).is_err();
                }
                None => {}
            }
            Ok(())
        });
        if let Some(decoder) = &mut decoder {
            decoder.finish(&mut batch, &mut record_batch);
        }
        result
    })?;
    count += vendor_line_count;
    first_non_canonical = [first_non_canonical, first_blank].into_iter().flatten().min();
    for (number, why) in malformed {
        let name = spec.map(|s| s.kind).unwrap_or_default();
        let code = if is_too_large(&why) { TOO_LARGE_CODE } else { "malformed" };
        report.fatal(code, &format!("{path}:{number}"), format!("malformed {name} record"));
        report.add_finding(Severity::Warning, DETAIL_CODE, &format!("{path}:{number}"), why);
    }
    // If the sizes differ, the last line does not have the line feed that a canonical file requires.
    if (spec.is_some() || vendor.is_some()) && result.as_ref().is_some_and(|(size, _)| *size != framed_bytes) {
        first_non_canonical = first_non_canonical.or(Some(0));
    }
    if let Some(number) = first_non_canonical.filter(|_| depth == CheckDepth::Full) {
        let message = "not canonical JSON: another program computes a different checksum for the same records";
        report.add_finding(Severity::Warning, "not_canonical", &format!("{path}:{number}"), message);
    }
    if depth == CheckDepth::Full && count_key(path, spec, vendor).is_some() && member.size == 0 {
        report.add_finding(Severity::Warning, "empty_file", path, "a file without records must not be written");
    }
    if binary {
        report.fatal("malformed", path, format!("malformed {} record", vendor.unwrap_or_default()));
    }
    if ids.repeated > 0 {
        let message = format!("{} records repeat an id of the same file; the last one is used", ids.repeated);
        report.add_finding(Severity::Warning, "duplicate_id", path, message);
    }
    if let Some(key) = count_key(path, spec, vendor) {
        *report.lines.entry(key.to_owned()).or_default() += count;
    }
    Ok(result)
}

/// The key in the manifest's `counts` for the lines of a file.
fn count_key<'a>(path: &str, spec: Option<&'a KindSpec>, vendor: Option<&'a str>) -> Option<&'a str> {
    match (path, spec, vendor) {
        (TOMBSTONES_FILE, _, _) => Some("tombstone"),
        (AUDIT_LOG_FILE, _, _) => Some("audit"),
        (PROVENANCE_FILE, _, _) => Some("provenanceEdge"),
        (_, Some(spec), _) => Some(spec.kind),
        (_, _, vendor) => vendor,
    }
}

/// Ids of one file, stored as hashes because a bundle may have a million of them.
#[derive(Default)]
struct SeenIds {
    seen: HashSet<u64>,
    repeated: u64,
}

fn note_record(spec: &KindSpec, tree: &Tree, report: &mut Report, ids: &mut SeenIds) {
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
            match text(tree, "contextID") {
                Some("") => report.has_empty_scope = true,
                Some(context) => drop(report.scopes.insert(context.to_owned())),
                None => {}
            }
        }
        "context" => {
            report.scopes.extend(text(tree, "id").map(str::to_owned));
        }
        "tombstone" => {
            // A redaction removes only the content of the target, not the target itself. Derived records are deleted in
            // either case.
            let target = text(tree, "targetKind").zip(text(tree, "targetID"));
            if let Some((kind, id)) = target.filter(|_| text(tree, "op") == Some("delete")) {
                report.add_tombstoned(kind, id);
            }
            if let Some(derived) = tree.get("derived") {
                for (name, kind) in DERIVED_ID_FIELDS {
                    list(derived, name).iter().for_each(|id| report.add_tombstoned(kind, id));
                }
            }
            if tree.get("derived").is_none() {
                report.add_finding(
                    Severity::Warning,
                    "derived_missing",
                    TOMBSTONES_FILE,
                    "a tombstone does not list what was deleted with it (derived)",
                );
            }
            if text(tree, "signature").is_none() {
                report.unsigned_tombstones += 1;
            }
        }
        _ => {}
    }
}

/// Reports files that the manifest does not list, because no checksum or signature covers them. In folders with
/// records, such a file is a fatal error. Elsewhere it is a warning, which only the full check reports. An empty folder
/// in a folder with records is treated as a file, as the reference does, and so is a folder in place of the signature.
fn check_unlisted_files(bundle: &Bundle, manifest: &Manifest, report: &mut Report, depth: CheckDepth) {
    let listed_paths: HashSet<&str> = manifest.files.iter().map(|f| f.path.as_str()).collect();
    let names =
        bundle.files.keys().copied().chain(bundle.unreadable.keys().chain(&bundle.escaping).map(String::as_str));
    let unlisted_paths: BTreeSet<&str> = names.filter(|path| !listed_paths.contains(path)).collect();
    let is_misplaced = |path: &&str| match path.split_once('/') {
        Some((folder, _)) => is_fully_listed_folder(folder),
        None => *path == SIGNATURE_FILE,
    };
    for path in bundle.empty_folders.iter().map(String::as_str).filter(is_misplaced) {
        report.fatal("unlisted_file", path, format!("unlisted folder present: {path}"));
    }
    for path in unlisted_paths {
        // A link in place of a folder is treated as that folder.
        let folder = path.split_once('/').map_or(path, |(folder, _)| folder);
        if bundle.escaping.contains(path) {
            let (code, message) = escape_finding(path);
            report.fatal(code, path, message);
        } else if is_fully_listed_folder(folder) {
            report.fatal("unlisted_file", path, format!("unlisted file present: {path}"));
        } else if depth == CheckDepth::Full && ![MANIFEST_FILE, CHECKSUMS_FILE, SIGNATURE_FILE].contains(&path) {
            let message = format!("not listed, so no checksum covers it: {path}");
            report.add_finding(Severity::Warning, "unlisted_beside", path, message);
        }
    }
}

/// Reports empty ids and references, and tombstones with an empty target. An empty reference names no record, so it is
/// only a warning: readers treat it like an absent one.
fn check_ids(spec: &KindSpec, tree: &Tree, path: &str, number: u64, report: &mut Report) {
    let target = (spec.kind == "tombstone").then_some("targetID");
    for name in spec.id.iter().copied().chain(target) {
        if text(tree, name) == Some("") {
            report.add_finding(Severity::Error, "empty", &format!("{path}:{number}"), format!("{name} is empty"));
        }
    }
    for (name, ..) in spec.references.iter().filter(|(name, ..)| !spec.id.contains(name)) {
        let is_empty = match tree.get(name) {
            Some(Tree::Text(id)) => id.is_empty(),
            Some(Tree::Array(ids)) => ids.iter().any(|id| id.as_str() == Some("")),
            _ => false,
        };
        if is_empty {
            let message = format!("{name} is empty, so it refers to nothing");
            report.add_finding(Severity::Warning, "empty_reference", &format!("{path}:{number}"), message);
        }
    }
}

/// Reports integers below 0. The schemas of all kinds forbid them, but a record with such a value can be read.
fn check_negative_numbers(spec: &KindSpec, tree: &Tree, path: &str, number: u64, report: &mut Report) {
    let derived_count = tree.get("derived").and_then(|derived| derived.get(DERIVED_COUNT_FIELD));
    let negative_count_field =
        (spec.kind == "tombstone" && is_below_zero(derived_count)).then_some(DERIVED_COUNT_FIELD);
    for name in negative_fields(spec, tree).into_iter().chain(negative_count_field) {
        report.add_finding(Severity::Error, "bad_value", &format!("{path}:{number}"), format!("{name} is below 0"));
    }
}

fn check_checksums_file(bundle: &Bundle, manifest: &Manifest, report: &mut Report) -> Result<(), FormatError> {
    let bytes = match bundle.bytes(CHECKSUMS_FILE) {
        Ok(bytes) => bytes,
        Err(FormatError::Limit { .. }) => {
            report.fatal("size_limit", CHECKSUMS_FILE, "CHECKSUMS exceeds size limit");
            return Ok(());
        }
        Err(FormatError::Io { source, .. }) if is_damage(&source) => {
            report.fatal(DAMAGED_CODE, CHECKSUMS_FILE, source.to_string());
            return Ok(());
        }
        Err(e) => return Err(e),
    };
    let Some(bytes) = bytes else {
        let message = match manifest.bundle_digest {
            Some(_) => "bundleDigest declared but CHECKSUMS is missing",
            None => "CHECKSUMS is missing",
        };
        report.fatal("checksums_missing", CHECKSUMS_FILE, message);
        return Ok(());
    };
    if manifest.bundle_digest.as_ref().is_some_and(|d| *d != hex::encode(Sha256::digest(&bytes))) {
        let message = "bundleDigest mismatch: CHECKSUMS does not hash to the manifest's bundleDigest";
        report.fatal("bundle_digest_mismatch", CHECKSUMS_FILE, message);
    }
    if bytes != checksums(&manifest.files).as_bytes() {
        // Other implementations may sort the lines differently, but the lines must be the same, without repetitions. A
        // carriage return is treated as part of the file name.
        fn lines_of(text: &str) -> Vec<&str> {
            text.split('\n').filter(|line| !line.is_empty()).collect()
        }
        fn sorted(mut lines: Vec<&str>) -> Vec<&str> {
            lines.sort_unstable();
            lines
        }
        let expected = checksums(&manifest.files);
        let (stated_lines, expected_lines) = (std::str::from_utf8(&bytes).map(lines_of), lines_of(&expected));
        match stated_lines {
            Ok(lines) if lines == expected_lines => {
                let message = "CHECKSUMS has a blank line, or no line feed at its end";
                report.add_finding(Severity::Warning, "checksums_framing", CHECKSUMS_FILE, message);
            }
            Ok(lines) if sorted(lines.clone()) == sorted(expected_lines.clone()) => {
                let message = "CHECKSUMS is not sorted by path";
                report.add_finding(Severity::Warning, "checksums_order", CHECKSUMS_FILE, message);
            }
            _ => report.fatal("checksums_mismatch", CHECKSUMS_FILE, "CHECKSUMS does not match manifest.files"),
        }
    }
    Ok(())
}

/// Reports a signature that cannot be read, such as a link, and explains one that is malformed only because it is in
/// upper case.
fn check_signature_form(bundle: &Bundle, report: &mut Report) -> Result<(), FormatError> {
    // A signature that cannot be read is an error, because the bundle would otherwise seem to be unsigned.
    if let Some((code, message)) = bundle.unreadable_finding(SIGNATURE_FILE) {
        report.fatal(code, SIGNATURE_FILE, message);
    }
    let bytes = match bundle.bytes(SIGNATURE_FILE) {
        // Damage is reported where the signature is verified.
        Err(FormatError::Io { source, .. }) if is_damage(&source) => return Ok(()),
        other => other?.unwrap_or_default(),
    };
    let is_token = |text: &str| signatures::parse_token(&text.trim().to_ascii_lowercase()).is_some();
    if bytes.iter().any(u8::is_ascii_uppercase) && std::str::from_utf8(&bytes).is_ok_and(is_token) {
        let message = "key and signature are not in lowercase hex";
        report.add_finding(Severity::Warning, "signature_form", SIGNATURE_FILE, message);
    }
    Ok(())
}

/// Compares counts, coverage and scopes in the manifest with the records, and warns about a full export with `since`.
fn check_summaries(manifest: &Manifest, report: &mut Report) {
    let declared_counts: BTreeMap<&String, &u64> = manifest.counts.iter().filter(|(_, n)| **n > 0).collect();
    let actual_counts: BTreeMap<String, u64> =
        report.lines.iter().filter(|(_, n)| **n > 0).map(|(k, n)| (k.clone(), *n)).collect();
    if !declared_counts.into_iter().eq(actual_counts.iter()) {
        let message = "counts mismatch: the manifest's counts are not the number of records";
        report.add_finding(Severity::Error, "counts_mismatch", MANIFEST_FILE, message);
    }
    let seconds = |span: Option<(Timestamp, Timestamp)>| {
        span.map(|(from, to)| (from.to_rfc3339_seconds(), to.to_rfc3339_seconds()))
    };
    // Version 1.0 has neither `coverage` nor `scopes`.
    if manifest.coverage.is_some() && seconds(manifest.coverage) != seconds(report.coverage) {
        let message = "coverage mismatch: not the first and last eventTime of the episodes";
        report.add_finding(Severity::Error, "coverage_mismatch", MANIFEST_FILE, message);
    }
    // An empty `contextID` may be listed too: the specification (§3.1) requires every `contextID` in the list, the SDK
    // only those that are not empty.
    let is_empty_listed =
        report.has_empty_scope && manifest.scopes.iter().flatten().next().is_some_and(String::is_empty);
    let empty_scope = is_empty_listed.then(String::new).filter(|empty_scope| !report.scopes.contains(empty_scope));
    let scopes = empty_scope.iter().chain(&report.scopes);
    if manifest.scopes.as_ref().is_some_and(|stated| !stated.iter().eq(scopes)) {
        let message = "scopes mismatch: not the sorted set of context ids";
        report.add_finding(Severity::Error, "scopes_mismatch", MANIFEST_FILE, message);
    }
    if manifest.has_negative_dim() {
        report.add_finding(Severity::Error, "bad_value", MANIFEST_FILE, "embeddingDim is below 0");
    }
    for name in &manifest.null_fields {
        let message = format!("{name} is null; a field without a value must be left out");
        report.add_finding(Severity::Error, "bad_value", MANIFEST_FILE, message);
    }
    if manifest.since.is_some() && manifest.mode == "full" {
        report.add_finding(Severity::Warning, "since_on_full", MANIFEST_FILE, "a full export must not have since");
    }
}
