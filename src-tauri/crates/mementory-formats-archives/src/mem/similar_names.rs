//! Names that some systems cannot tell apart, because they differ only by case or Unicode normalisation. If a bundle is
//! copied to such a system, one of the files replaces the other.
use super::{
    bundle::{Bundle, CHECKSUMS_FILE, MANIFEST_FILE, SIGNATURE_FILE},
    kinds::KIND_SPECS,
    report::Report,
};
use mementory_format::folded_name;
use std::collections::{BTreeMap, HashMap};

/// Reports similar names in a folder. An archive is not checked here, because its names are checked when it is opened,
/// with the same code.
pub(super) fn check(bundle: &Bundle, report: &mut Report) {
    if bundle.files.values().any(|member| member.archive.is_some()) {
        return;
    }
    let mut paths_by_folded_path: HashMap<String, &str> = HashMap::new();
    for path in bundle.files.keys().copied() {
        if let Some(other) = paths_by_folded_path.insert(folded_name(path), path) {
            let message = format!("the name differs from {other} only by case or Unicode normalisation: {path}");
            report.fatal("container_similar_names", path, message);
        }
    }
}

/// True if the file of a vendor kind must not be written, because its name is similar to that of a kind that the format
/// defines, or to that of one of `files`.
pub(super) fn is_similar_kind<T>(vendor: &str, files: &BTreeMap<String, T>) -> bool {
    let path = format!("items/{vendor}.jsonl");
    // A file that exists already was checked when its first line was written.
    !files.contains_key(&path)
        && (is_similar(vendor, KIND_SPECS.iter().map(|spec| spec.kind))
            || is_similar(&path, files.keys().map(String::as_str)))
}

/// True if a name is similar to that of a file in `streams` or `files`, or of a file that every bundle has.
pub(super) fn is_similar_file<T, U>(name: &str, streams: &BTreeMap<String, T>, files: &BTreeMap<String, U>) -> bool {
    let written = streams.keys().chain(files.keys()).map(String::as_str);
    is_similar(name, written.chain([MANIFEST_FILE, CHECKSUMS_FILE, SIGNATURE_FILE]))
}

/// True if a name is similar to one of `others`, but not equal to it.
fn is_similar<'n>(name: &str, mut others: impl Iterator<Item = &'n str>) -> bool {
    let folded = folded_name(name);
    others.any(|other| other != name && folded_name(other) == folded)
}
