//! What an incremental export holds (spec v1.1 §4): what changed since a time, or what another export does not have.
//!
//! By time alone it can only be judged what carries one; graph, profile and vendor kinds go whole, as the reference SDK
//! sends them, since a row that was superseded may be older than the cursor. Beyond the SDK a row counts by *every* time
//! at which it can have changed (`mentionTime`, `modified`, `tValidTo` …): the SDK misses edits of older rows.
use super::{
    bundle::{Bundle, known_line},
    kinds::{TOMBSTONES, by_path, vendor_of},
    verify::{Depth, verify},
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

/// Times at which a row of a kind may have changed. Kinds that are not here always go whole.
const CHANGED: [(&str, &[&str]); 6] = [
    ("episode", &["ingestionTime", "mentionTime", "deletedAt"]),
    ("fact", &["createdAt", "tValidTo", "reconciledAt", "lastReinforcedAt", "prunedAt"]),
    ("factLink", &["createdAt"]),
    ("resource", &["created", "modified"]),
    ("tombstone", &["deletedAt"]),
    ("log", &["ts"]),
];

/// What the export builds on.
#[derive(Default)]
enum Before {
    /// Nothing: everything goes.
    #[default]
    Nothing,
    /// A time.
    Cursor(Timestamp),
    /// Lines and other files of another export.
    Export { lines: HashSet<[u8; 16]>, parts: BTreeMap<String, String> },
}

/// Decides what goes.
#[derive(Default)]
pub(super) struct Delta {
    before: Before,
    /// Goes into the manifest.
    pub since: Option<Timestamp>,
    now: Option<Timestamp>,
    /// Resources that go: their chunks go with them.
    resources: HashSet<String>,
}

fn digest(path: &str, what: &str) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(path);
    hash.update([0]);
    hash.update(what);
    let full: [u8; 32] = hash.finalize().into();
    std::array::from_fn(|i| full[i])
}

/// What the manifest can say of a time; with a fraction, a row of the same second would be after it and not be sent.
pub(super) fn whole_second(at: Timestamp) -> Timestamp {
    const SECOND: i64 = 1_000_000;
    Timestamp::from_micros(at.as_micros().div_euclid(SECOND) * SECOND).unwrap_or(at)
}

impl Delta {
    /// By the caller's options; `now` bounds what counts as a change (a fact may end in years).
    pub fn new(options: &WriteOptions, now: Timestamp, limits: &Limits) -> Result<Self, FormatError> {
        let mut delta = Self { since: options.since.map(whole_second), now: Some(now), ..Self::default() };
        if let Some(base) = &options.base {
            let at = delta.read(base, limits)?;
            delta.since = delta.since.or(at);
        } else if let Some(since) = delta.since {
            delta.before = Before::Cursor(since);
        }
        Ok(delta)
    }

    /// True when not everything goes.
    pub fn is_incremental(&self) -> bool {
        !matches!(self.before, Before::Nothing)
    }

    /// Takes in the bundles at `path`; gives the time of the newest.
    fn read(&mut self, path: &Path, limits: &Limits) -> Result<Option<Timestamp>, FormatError> {
        let catalog = Catalog::open(&[path.to_path_buf()], limits, None)?;
        let found = detect(&catalog, limits, Some("mem"))?;
        if found.sources.is_empty() {
            let message = "the export to build on is no .mem bundle";
            return Err(FormatError::invalid("base_not_found", path.display().to_string(), message));
        }
        let (mut lines, mut parts, mut newest) = (HashSet::new(), BTreeMap::new(), None);
        for source in &found.sources {
            let bundle = Bundle::open(&catalog, source, limits)?;
            let report = verify(&bundle, Depth::Import, &mut || Ok(()))?;
            if let Some(refusal) = report.refusal(&bundle) {
                return Err(refusal);
            }
            let Some(manifest) = report.manifest else { continue };
            newest = newest.max(manifest.created);
            for file in &manifest.files {
                let Some(member) = bundle.files.get(file.path.as_str()) else { continue };
                let spec = by_path(&file.path);
                if spec.is_none() && vendor_of(&file.path).is_none() {
                    parts.insert(file.path.clone(), file.sha256.clone());
                    continue;
                }
                bundle.lines(member, &mut |_, bytes| {
                    let known = match (spec, known_line(bytes)) {
                        (Some(spec), Some(Ok(source))) => {
                            let tree = decode(spec, source, limits.json_depth).ok();
                            tree.and_then(|tree| Some(told(&file.path, &tree, &line(spec, &tree).ok()?)))
                        }
                        (None, _) => std::str::from_utf8(bytes).ok().map(|l| digest(&file.path, l)),
                        _ => None,
                    };
                    lines.extend(known);
                    Ok(())
                })?;
            }
        }
        self.before = Before::Export { lines, parts };
        Ok(newest)
    }

    /// Does this line of a known kind go?
    pub fn keeps(&mut self, path: &str, tree: &Tree, line: &str) -> bool {
        let kept = match &self.before {
            Before::Nothing => return true,
            Before::Export { lines, .. } => !lines.contains(&told(path, tree, line)),
            Before::Cursor(since) => self.changed(path, tree, *since),
        };
        if kept && path == "items/resource.jsonl" {
            self.resources.extend(text(tree, "id").map(str::to_owned));
        }
        kept
    }

    /// Does this line of a vendor kind go?
    pub fn keeps_vendor(&self, path: &str, line: &str) -> bool {
        match &self.before {
            Before::Export { lines, .. } => !lines.contains(&digest(path, line)),
            _ => true,
        }
    }

    /// Does this file go, which holds no records?
    pub fn keeps_part(&self, path: &str, sha256: &str) -> bool {
        match &self.before {
            Before::Export { parts, .. } => parts.get(path).is_none_or(|before| before != sha256),
            _ => true,
        }
    }

    fn changed(&self, path: &str, tree: &Tree, since: Timestamp) -> bool {
        let Some(spec) = by_path(path) else { return true };
        if spec.kind == "chunk" {
            return text(tree, "resourceID").is_some_and(|id| self.resources.contains(id));
        }
        let Some((_, times)) = CHANGED.iter().find(|(kind, _)| *kind == spec.kind) else { return true };
        times.iter().enumerate().any(|(n, name)| {
            let at = time_of(tree, name);
            // The first is when the row came to be, whatever the clock says; an end may lie ahead.
            at.is_some_and(|at| at >= since && (n == 0 || self.now.is_none_or(|now| at <= now)))
        })
    }
}

/// What makes a line known: all of it, but for tombstones their id. They never change, a signature may come later.
fn told(path: &str, tree: &Tree, line: &str) -> [u8; 16] {
    if path == TOMBSTONES { digest(path, text(tree, "id").unwrap_or_default()) } else { digest(path, line) }
}
