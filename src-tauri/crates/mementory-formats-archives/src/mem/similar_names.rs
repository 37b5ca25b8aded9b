//! Names that some systems cannot tell apart, because they differ only by case or Unicode normalisation. If a bundle is
//! copied to such a system, one of the files replaces the other.
use super::{
    bundle::{Bundle, CHECKSUMS_FILE, MANIFEST_FILE, SIGNATURE_FILE, is_fully_listed_folder},
    kinds::KIND_SPECS,
    line_decoder::CheckDepth,
    manifest::Manifest,
    report::{Report, Severity},
};
use mementory_format::folded_name;
use std::collections::{HashMap, HashSet};

/// Files that every bundle has or may have, and that no manifest lists.
const UNLISTED_FILES: [&str; 3] = [MANIFEST_FILE, CHECKSUMS_FILE, SIGNATURE_FILE];

/// Reports similar names in a folder. A pair with a file of the bundle is a fatal error. Two files that only lie beside
/// the bundle, such as `README.md` and `readme.md`, can replace only each other, so they are a warning, which only the
/// full check reports. An archive is not checked here, because its names are checked when it is opened, with the same
/// code.
pub(super) fn check(bundle: &Bundle, manifest: &Manifest, report: &mut Report, depth: CheckDepth) {
    if bundle.files.values().any(|member| member.archive.is_some()) {
        return;
    }
    let listed_paths: HashSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    let is_of_bundle = |path: &str| {
        let folder = path.split_once('/').map_or(path, |(folder, _)| folder);
        listed_paths.contains(path) || UNLISTED_FILES.contains(&path) || is_fully_listed_folder(folder)
    };
    let mut paths_by_folded_path: HashMap<String, &str> = HashMap::new();
    for path in bundle.files.keys().copied() {
        let Some(other) = paths_by_folded_path.insert(folded_name(path), path) else { continue };
        let message = format!("the name differs from {other} only by case or Unicode normalisation: {path}");
        if is_of_bundle(path) || is_of_bundle(other) {
            report.fatal(SIMILAR_NAMES_CODE, path, message);
        } else if depth == CheckDepth::Full {
            report.add_finding(Severity::Warning, SIMILAR_NAMES_CODE, path, message);
        }
    }
}

const SIMILAR_NAMES_CODE: &str = "container_similar_names";

/// The names of the files in a bundle that is being written. A bundle may have very many files, so each name is folded
/// only once.
pub(super) struct WrittenNames {
    /// The first file with each folded name.
    names_by_folded_name: HashMap<String, String>,
}

impl WrittenNames {
    /// The names of the files that are written with every bundle.
    pub fn new() -> Self {
        let mut names = Self { names_by_folded_name: HashMap::new() };
        for name in UNLISTED_FILES {
            names.insert(name);
        }
        names
    }

    pub fn insert(&mut self, name: &str) {
        self.names_by_folded_name.entry(folded_name(name)).or_insert_with(|| name.to_owned());
    }

    /// True if a name is similar to that of a file in the bundle, but not equal to it.
    pub fn has_similar(&self, name: &str) -> bool {
        self.names_by_folded_name.get(&folded_name(name)).is_some_and(|other| other != name)
    }

    /// True if the file of a vendor kind must not be written, because its name is similar to that of a kind that the
    /// format defines, or to that of a file in the bundle. `path` is the path of the file.
    pub fn has_similar_kind(&self, vendor: &str, path: &str) -> bool {
        let folded = folded_name(vendor);
        let is_similar = |kind: &str| kind != vendor && folded_name(kind) == folded;
        KIND_SPECS.iter().any(|spec| is_similar(spec.kind)) || self.has_similar(path)
    }
}
