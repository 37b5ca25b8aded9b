//! Access to one bundle inside a catalog: its files by path, and the lines of a file.
use super::wire::trim;
use mementory_format::{Catalog, Detected, FormatError, Member, Role};
use mementory_model::{Issue, Limits};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Read},
};

/// File that describes the bundle and lists its files.
pub(super) const MANIFEST_FILE: &str = "manifest.json";
/// Digests of all listed files, in the output format of `sha256sum`.
pub(super) const CHECKSUMS_FILE: &str = "CHECKSUMS";
/// Detached signature of the manifest.
pub(super) const SIGNATURE_FILE: &str = "manifest.sig";
/// Edges of an evidence pack (spec v1.1 §6).
pub(super) const PROVENANCE_FILE: &str = "provenance/edges.jsonl";
/// Folders in which every file must be listed in the manifest. The reference SDK does not check `provenance`.
const FULLY_LISTED_FOLDERS: [&str; 4] = ["items", "audit", "embeddings", "provenance"];

/// True for a folder in which every file must be listed. Case is ignored, because some systems ignore it too: there,
/// the files in `Items/` are files in `items/`, and a bundle must not be valid on one system and invalid on another. The
/// specification allows this, because a reader should reject every file that is not listed (spec v1.1 §7).
pub(super) fn is_fully_listed_folder(folder: &str) -> bool {
    FULLY_LISTED_FOLDERS.iter().any(|name| name.eq_ignore_ascii_case(folder))
}

/// A bundle in the input: the files under a folder of one input path or archive.
pub(super) struct Bundle<'a> {
    pub catalog: &'a Catalog,
    pub limits: &'a Limits,
    /// Path of the folder or archive, for messages.
    pub place: String,
    /// Path of the bundle inside the input: empty, or folders ending in `/`.
    pub prefix: String,
    /// Readable files by path inside the bundle.
    pub files: BTreeMap<&'a str, &'a Member>,
    /// Paths inside the bundle that cannot be read (links, devices, unsafe names, encrypted entries), each with the issue
    /// of the catalog.
    pub unreadable: BTreeMap<String, &'a Issue>,
    /// Paths of the empty folders, inside the bundle.
    pub empty_folders: BTreeSet<String>,
    /// Names of entries that lead out of the archive (`../`). An archive with such names is refused (spec v1.1 §4, §7).
    pub escaping: BTreeSet<String>,
}

/// Codes of the catalog for an entry whose bytes are in the archive, but cannot be read.
const UNREADABLE_ENTRY_CODES: [&str; 2] = ["encrypted", "unsupported_compression"];

/// Code and message of the finding for a path that leads out of the bundle.
pub(super) fn escape_finding(path: &str) -> (&'static str, String) {
    ("path_escapes", format!("path escapes the bundle: {path}"))
}

/// Called for each line with its number (from 1) and its bytes.
pub(super) type Visit<'v> = &'v mut dyn FnMut(u64, &[u8]) -> Result<(), FormatError>;

/// Folder of the bundle that a file with this name would belong to: `x/items/episode.jsonl` → `x/`.
pub(super) fn prefix_of(name: &str) -> Option<&str> {
    let (folder, file) = name.rsplit_once('/').map_or(("", name), |(f, n)| (&name[..f.len() + 1], n));
    if matches!(file, MANIFEST_FILE | CHECKSUMS_FILE | SIGNATURE_FILE) {
        return Some(folder);
    }
    let bundle_folder = folder.strip_suffix("items/").or_else(|| folder.strip_suffix("audit/"))?;
    ((bundle_folder.is_empty() || bundle_folder.ends_with('/')) && file.ends_with(".jsonl")).then_some(bundle_folder)
}

impl<'a> Bundle<'a> {
    /// Opens the detected bundle.
    pub fn open(catalog: &'a Catalog, detected: &Detected, limits: &'a Limits) -> Result<Self, FormatError> {
        let parts = || detected.claim.parts.iter().filter_map(|p| Some((p.role, catalog.members().get(p.member)?)));
        let head = parts()
            .find(|(role, m)| *role == Role::Manifest && m.file_name() == MANIFEST_FILE)
            .or_else(|| parts().find(|(role, _)| matches!(role, Role::Manifest | Role::Records)));
        let Some((_, head)) = head else {
            return Err(FormatError::invalid("manifest_missing", "bundle", "manifest.json missing"));
        };
        Ok(Self::at(catalog, head, prefix_of(&head.name).unwrap_or_default(), limits))
    }

    /// The bundle whose paths start with `prefix`, in the same input as `head`.
    pub fn at(catalog: &'a Catalog, head: &'a Member, prefix: &str, limits: &'a Limits) -> Self {
        let base = head.place.strip_suffix(&head.name).unwrap_or_default().to_owned() + prefix;
        let is_same_folder = |m: &&Member| m.root == head.root && m.archive == head.archive;
        let files = catalog
            .members()
            .iter()
            .filter(is_same_folder)
            .filter_map(|m| Some((m.name.strip_prefix(prefix)?, m)))
            .collect();
        let unreadable =
            catalog.issues().iter().filter_map(|i| Some((i.place.strip_prefix(&base)?.to_owned(), i))).collect();
        let empty_folders =
            catalog.empty_folders().iter().filter_map(|place| Some(place.strip_prefix(&base)?.to_owned())).collect();
        let archive = head.place.strip_suffix(&head.name).unwrap_or_default();
        let unsafe_names = catalog.issues().iter().filter(|i| i.code == "unsafe_name" && head.archive.is_some());
        let escaping = unsafe_names.filter_map(|i| Some(i.place.strip_prefix(archive)?.to_owned())).collect();
        let place = base.trim_end_matches(['/', '!']).to_owned();
        Self { catalog, limits, place, prefix: prefix.to_owned(), files, unreadable, empty_folders, escaping }
    }

    /// Code and message of the finding for a path that exists but cannot be read. None for any other path.
    pub fn unreadable_finding(&self, path: &str) -> Option<(&'static str, String)> {
        let issue = self.unreadable.get(path)?;
        Some(match UNREADABLE_ENTRY_CODES.into_iter().find(|code| *code == issue.code) {
            Some(code) => (code, format!("{path}: {}", issue.message)),
            None => escape_finding(path),
        })
    }

    /// Place of a file in the bundle, for messages.
    pub fn place_of(&self, path: &str) -> String {
        self.files.get(path).map_or_else(|| format!("{}/{path}", self.place), |m| m.place.clone())
    }

    /// Reads a small file completely. None if the bundle does not have it.
    pub fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, FormatError> {
        let Some(member) = self.files.get(path) else { return Ok(None) };
        let limit = self.limits.side_file_bytes.min(self.limits.mem_file_bytes);
        self.catalog.bytes(member, limit).map(Some)
    }

    /// Passes every line of a file, without its `\n`, and its number (from 1) to `visit`. Returns the size and SHA-256
    /// of the file. If the file exceeds the size limit, reading stops and the result is None.
    pub fn visit_lines(&self, member: &Member, visit: Visit) -> Result<Option<(u64, String)>, FormatError> {
        let bound = self.limits.mem_file_bytes;
        self.catalog.read(member, |reader| {
            let mut hash = Sha256::new();
            let (mut size, mut number) = (0u64, 0u64);
            let mut reader = BufReader::with_capacity(1 << 16, reader.take(bound.saturating_add(1)));
            let mut line = Vec::new();
            loop {
                line.clear();
                let max_bytes = self.limits.line_bytes.saturating_add(1);
                let n = (&mut reader)
                    .take(max_bytes)
                    .read_until(b'\n', &mut line)
                    .map_err(|e| FormatError::io(&member.place, e))?;
                if n == 0 {
                    break;
                }
                if n as u64 > self.limits.line_bytes && !line.ends_with(b"\n") {
                    let place = format!("{}:{}", member.place, number + 1);
                    return Err(FormatError::Limit { limit: "line_bytes", place, figure: self.limits.line_bytes });
                }
                hash.update(&line);
                size += n as u64;
                if size > bound {
                    return Ok(None);
                }
                number += 1;
                visit(number, line.strip_suffix(b"\n").unwrap_or(&line))?;
            }
            Ok(Some((size, hex::encode(hash.finalize()))))
        })
    }
}

/// The text of a line without surrounding white space. None if the line is blank, Err if it is not UTF-8.
pub(super) fn line_text(bytes: &[u8]) -> Option<Result<&str, ()>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(trim(text)).filter(|t| !t.is_empty()).map(Ok),
        Err(_) => Some(Err(())),
    }
}
