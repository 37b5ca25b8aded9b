//! The result of checking a bundle: findings, counts, and the deleted ids.
use super::{bundle::Bundle, manifest::Manifest};
use mementory_format::{Finding, FormatError};
use mementory_model::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    /// Prevents the import of the whole bundle.
    Fatal,
    /// Violates the specification, but all records can be read correctly.
    Error,
    /// Reported to the user, but the bundle is valid.
    Warning,
}

/// Code for a line or manifest that would need more memory than `Limits::tree_bytes`.
pub(super) const TOO_LARGE_CODE: &str = "too_large";

/// Code for a file whose bytes cannot be unpacked or do not match their checksum in the archive.
pub(super) const DAMAGED_CODE: &str = "damaged_entry";

/// Code for the reason of a finding whose message has the wording of the reference SDK, at the same place.
pub(super) const DETAIL_CODE: &str = "malformed_detail";

/// Code for a manifest of an unsupported major version.
pub(super) const UNSUPPORTED_VERSION_CODE: &str = "unsupported_version";

/// Largest number of findings listed with the same code. A hostile file may have one for each line.
pub(super) const MAX_FINDINGS_PER_CODE: u32 = 1000;

/// The result of checking a bundle.
#[derive(Default)]
pub(super) struct Report {
    pub manifest: Option<Manifest>,
    pub manifest_bytes: Vec<u8>,
    pub findings: Vec<(Severity, &'static str, Finding)>,
    /// Number of lines by kind, with the names of the kinds in the manifest's `counts`.
    pub lines: BTreeMap<String, u64>,
    /// Ids that the tombstones of the bundle delete.
    pub tombstoned: HashSet<String>,
    /// The records that the tombstones of the bundle delete, each as its kind in the format, `/` and its id.
    pub tombstoned_records: HashSet<String>,
    /// Paths of the files whose bytes have the digest in the manifest.
    pub intact_files: HashSet<String>,
    findings_by_code: BTreeMap<&'static str, u32>,
    pub(super) unsigned_tombstones: u64,
    pub(super) coverage: Option<(Timestamp, Timestamp)>,
    pub(super) scopes: BTreeSet<String>,
    /// True if an episode has an empty `contextID`.
    pub(super) has_empty_scope: bool,
}

impl Report {
    /// Adds a record that a tombstone of the bundle deletes.
    pub(super) fn add_tombstoned(&mut self, kind: &str, id: &str) {
        self.tombstoned.insert(id.to_owned());
        self.tombstoned_records.insert(format!("{kind}/{id}"));
    }

    pub fn add_finding(&mut self, severity: Severity, code: &'static str, place: &str, message: impl Into<String>) {
        let count = self.findings_by_code.entry(code).or_default();
        *count += 1;
        if *count > MAX_FINDINGS_PER_CODE {
            return;
        }
        let finding = Finding { code: code.into(), place: place.into(), message: message.into() };
        self.findings.push((severity, code, finding));
    }

    pub(super) fn fatal(&mut self, code: &'static str, place: &str, message: impl Into<String>) {
        self.add_finding(Severity::Fatal, code, place, message);
    }

    /// The first finding that prevents an import, as an error. Findings with a code in `ignored_codes` are ignored.
    pub fn fatal_error(&self, bundle: &Bundle, ignored_codes: &[&str]) -> Option<FormatError> {
        let prevents_import =
            |severity: Severity, code: &str| severity == Severity::Fatal && !ignored_codes.contains(&code);
        let (_, code, finding) = self.findings.iter().find(|(severity, code, _)| prevents_import(*severity, code))?;
        let place = bundle.place_of(&finding.place);
        Some(match *code {
            UNSUPPORTED_VERSION_CODE => {
                let version = self.manifest.as_ref().map(|m| m.format.clone()).unwrap_or_default();
                FormatError::Version { place, version }
            }
            "size_limit" => FormatError::Limit { limit: "mem_file_bytes", place, figure: bundle.limits.mem_file_bytes },
            TOO_LARGE_CODE => FormatError::Limit { limit: "tree_bytes", place, figure: bundle.limits.tree_bytes },
            DAMAGED_CODE => {
                FormatError::io(&place, std::io::Error::new(std::io::ErrorKind::InvalidData, finding.message.clone()))
            }
            code => {
                let mut details = self.findings.iter().filter(|(_, code, _)| *code == DETAIL_CODE);
                let message = match details.find(|(_, _, detail)| detail.place == finding.place) {
                    Some((_, _, detail)) => format!("{}: {}", finding.message, detail.message),
                    None => finding.message.clone(),
                };
                FormatError::invalid(code, place, message)
            }
        })
    }
}
