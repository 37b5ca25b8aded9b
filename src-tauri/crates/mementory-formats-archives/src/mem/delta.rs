//! Selects the rows of an incremental export (spec v1.1 §4): the rows that changed since a given time, or that are
//! missing in an earlier export.
//!
//! In an export since a time, graph, profile and vendor kinds are exported completely, as in the reference SDK, because
//! rows without a time cannot be filtered, and a superseded row may be older than the start time. The SDK misses later
//! edits of old rows. To find such edits, this code considers every time field that an edit changes (`mentionTime`,
//! `modified`, `tValidTo` …) and the time of the last change in the vault.
use super::{
    bundle::{Bundle, line_text},
    conformance::{CheckDepth, check_bundle},
    kinds::{TOMBSTONES_FILE, kind_at_path, vendor_kind_at_path},
    wire::{decode, line, text, time_of},
};
use crate::detect;
use mementory_format::{Catalog, FormatError, WriteOptions};
use mementory_json::Tree;
use mementory_model::{Limits, Timestamp};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

/// The time fields of each kind that show a change. In an export since a time, a chunk is exported if its resource is.
/// All other kinds that are not listed are exported completely.
const CHANGE_TIME_FIELDS: [(&str, &[&str]); 6] = [
    ("episode", &["ingestionTime", "mentionTime", "deletedAt"]),
    ("fact", &["createdAt", "tValidTo", "reconciledAt", "lastReinforcedAt", "prunedAt"]),
    ("factLink", &["createdAt"]),
    ("resource", &["created", "modified"]),
    ("tombstone", &["deletedAt"]),
    ("log", &["ts"]),
];

/// The state that an incremental export builds on.
#[derive(Default)]
enum Baseline {
    /// No baseline: everything is exported.
    #[default]
    Nothing,
    /// Everything that changed since this time is exported.
    Cursor(Timestamp),
    /// Everything that is not in an earlier export is exported. `lines` has digests of that export's lines, and
    /// `other_files` has digests of its files without records.
    Export { lines: HashSet<[u8; 16]>, other_files: BTreeMap<String, String> },
}

/// Decides which rows are exported.
#[derive(Default)]
pub(super) struct Delta {
    baseline: Baseline,
    /// Start time of the export, for the manifest.
    pub since: Option<Timestamp>,
    now: Option<Timestamp>,
    /// Ids of the exported resources, whose chunks are exported too.
    resources: HashSet<String>,
}

fn digest(path: &str, content: &str) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(path);
    hash.update([0]);
    hash.update(content);
    let whole_digest: [u8; 32] = hash.finalize().into();
    std::array::from_fn(|i| whole_digest[i])
}

/// Truncates a time to whole seconds, like all times in a bundle. Otherwise rows of the same second would be missed.
pub(super) fn whole_second(at: Timestamp) -> Timestamp {
    const MICROS_PER_SECOND: i64 = 1_000_000;
    Timestamp::from_micros(at.as_micros().div_euclid(MICROS_PER_SECOND) * MICROS_PER_SECOND).unwrap_or(at)
}

impl Delta {
    /// Creates the filter from the options. A time after `now` does not count as a change, because a fact may end in
    /// the future.
    pub fn new(options: &WriteOptions, now: Timestamp, limits: &Limits) -> Result<Self, FormatError> {
        let mut delta = Self { since: options.since.map(whole_second), now: Some(now), ..Self::default() };
        if let Some(base) = &options.base {
            let at = delta.read_baseline(base, limits)?;
            delta.since = delta.since.or(at);
        } else if let Some(since) = delta.since {
            delta.baseline = Baseline::Cursor(since);
        }
        Ok(delta)
    }

    /// True unless everything is exported.
    pub fn is_incremental(&self) -> bool {
        !matches!(self.baseline, Baseline::Nothing)
    }

    /// Reads the bundles at `path` as the baseline. Returns the time of the newest bundle.
    fn read_baseline(&mut self, path: &Path, limits: &Limits) -> Result<Option<Timestamp>, FormatError> {
        let catalog = Catalog::open(&[path.to_path_buf()], limits, None)?;
        let detection = detect(&catalog, limits, Some("mem"))?;
        if detection.sources.is_empty() {
            let message = "the base of an incremental export must be a .mem bundle; none was found at this path";
            return Err(FormatError::invalid("base_not_found", path.display().to_string(), message));
        }
        let (mut lines, mut other_files, mut newest) = (HashSet::new(), BTreeMap::new(), None);
        for source in &detection.sources {
            let bundle = Bundle::open(&catalog, source, limits)?;
            let report = check_bundle(&bundle, CheckDepth::Import, &mut || Ok(()))?;
            if let Some(refusal) = report.fatal_error(&bundle, &[]) {
                return Err(refusal);
            }
            let Some(manifest) = report.manifest else { continue };
            newest = newest.max(manifest.created);
            for file in &manifest.files {
                let Some(member) = bundle.files.get(file.path.as_str()) else { continue };
                let spec = kind_at_path(&file.path);
                if spec.is_none() && vendor_kind_at_path(&file.path).is_none() {
                    other_files.insert(file.path.clone(), file.sha256.clone());
                    continue;
                }
                bundle.visit_lines(member, &mut |_, bytes| {
                    let identity = match (spec, line_text(bytes)) {
                        (Some(spec), Some(Ok(source))) => {
                            let tree = decode(spec, source, limits.json_depth).ok();
                            tree.and_then(|tree| Some(line_identity(&file.path, &tree, &line(spec, &tree).ok()?)))
                        }
                        (None, _) => std::str::from_utf8(bytes).ok().map(|l| digest(&file.path, l)),
                        _ => None,
                    };
                    lines.extend(identity);
                    Ok(())
                })?;
            }
        }
        self.baseline = Baseline::Export { lines, other_files };
        Ok(newest)
    }

    /// True if this line of a known kind is exported. `changed_at` is the time of the last change of its record in the
    /// vault.
    pub fn includes(&mut self, path: &str, tree: &Tree, line: &str, changed_at: Option<Timestamp>) -> bool {
        let included = match &self.baseline {
            Baseline::Nothing => return true,
            Baseline::Export { lines, .. } => !lines.contains(&line_identity(path, tree, line)),
            Baseline::Cursor(since) => {
                changed_at.is_some_and(|at| self.is_between(at, *since)) || self.has_changed(path, tree, *since)
            }
        };
        if included && path == "items/resource.jsonl" {
            self.resources.extend(text(tree, "id").map(str::to_owned));
        }
        included
    }

    /// True if this line of a vendor kind is exported.
    pub fn includes_vendor(&self, path: &str, line: &str) -> bool {
        match &self.baseline {
            Baseline::Export { lines, .. } => !lines.contains(&digest(path, line)),
            _ => true,
        }
    }

    /// True if this file without records is exported.
    pub fn includes_file(&self, path: &str, sha256: &str) -> bool {
        match &self.baseline {
            Baseline::Export { other_files, .. } => other_files.get(path).is_none_or(|previous| previous != sha256),
            _ => true,
        }
    }

    fn has_changed(&self, path: &str, tree: &Tree, since: Timestamp) -> bool {
        let Some(spec) = kind_at_path(path) else { return true };
        if spec.kind == "chunk" {
            return text(tree, "resourceID").is_some_and(|id| self.resources.contains(id));
        }
        let Some((_, times)) = CHANGE_TIME_FIELDS.iter().find(|(kind, _)| *kind == spec.kind) else { return true };
        times.iter().enumerate().any(|(n, name)| {
            let at = time_of(tree, name);
            // The first field is the creation time, which always counts. All other times count only if they are not in
            // the future.
            at.is_some_and(|at| if n == 0 { at >= since } else { self.is_between(at, since) })
        })
    }

    fn is_between(&self, at: Timestamp, since: Timestamp) -> bool {
        at >= since && self.now.is_none_or(|now| at <= now)
    }
}

/// Digest that identifies a line. The digest of a tombstone covers only its id, operation and target, because the line
/// changes if a signature is added later.
fn line_identity(path: &str, tree: &Tree, line: &str) -> [u8; 16] {
    if path != TOMBSTONES_FILE {
        return digest(path, line);
    }
    let members = ["id", "op", "targetKind", "targetID"].map(|name| text(tree, name).unwrap_or_default());
    digest(path, &members.join("\0"))
}
