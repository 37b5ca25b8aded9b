//! One bundle inside a catalog: its files by path, and their lines.
use super::wire::trim;
use mementory_format::{Catalog, Detected, FormatError, Member, Role};
use mementory_model::Limits;
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Read},
};

/// The bundle's own record of itself.
pub(super) const MANIFEST: &str = "manifest.json";
/// `sha256sum` list.
pub(super) const CHECKSUMS: &str = "CHECKSUMS";
/// Detached signature of the manifest.
pub(super) const SIGNATURE: &str = "manifest.sig";
/// Edges of an evidence pack (spec v1.1 §6).
pub(super) const PROVENANCE: &str = "provenance/edges.jsonl";
/// Folders in which every file must be listed. The reference SDK does not look into the last one.
pub(super) const POLICED: [&str; 4] = ["items", "audit", "embeddings", "provenance"];

/// Files below one prefix of one given path or archive.
pub(super) struct Bundle<'a> {
    pub catalog: &'a Catalog,
    pub limits: &'a Limits,
    /// Display name: the folder or archive.
    pub place: String,
    /// Where it is inside what was given: empty, or folders with a `/` behind them.
    pub prefix: String,
    /// Readable files by path inside the bundle.
    pub files: BTreeMap<&'a str, &'a Member>,
    /// Links, devices and refused names by path inside the bundle.
    pub unreadable: BTreeSet<String>,
}

/// Called with a line's number from 1 and its bytes.
pub(super) type Visit<'v> = &'v mut dyn FnMut(u64, &[u8]) -> Result<(), FormatError>;

/// Folder part of a bundle, given a path that only bundles have: `x/items/episode.jsonl` → `x/`.
pub(super) fn prefix_of(name: &str) -> Option<&str> {
    let (folder, file) = name.rsplit_once('/').map_or(("", name), |(f, n)| (&name[..f.len() + 1], n));
    if matches!(file, MANIFEST | CHECKSUMS | SIGNATURE) {
        return Some(folder);
    }
    let inner = folder.strip_suffix("items/").or_else(|| folder.strip_suffix("audit/"))?;
    ((inner.is_empty() || inner.ends_with('/')) && file.ends_with(".jsonl")).then_some(inner)
}

impl<'a> Bundle<'a> {
    /// The bundle that was detected.
    pub fn open(catalog: &'a Catalog, detected: &Detected, limits: &'a Limits) -> Result<Self, FormatError> {
        let parts = || detected.claim.parts.iter().filter_map(|p| Some((p.role, catalog.members().get(p.member)?)));
        let head = parts()
            .find(|(role, m)| *role == Role::Manifest && m.file_name() == MANIFEST)
            .or_else(|| parts().find(|(role, _)| matches!(role, Role::Manifest | Role::Records)));
        let Some((_, head)) = head else {
            return Err(FormatError::invalid("manifest_missing", "bundle", "manifest.json missing"));
        };
        Ok(Self::at(catalog, head, prefix_of(&head.name).unwrap_or_default(), limits))
    }

    /// The bundle below `prefix`, beside `head`.
    pub fn at(catalog: &'a Catalog, head: &'a Member, prefix: &str, limits: &'a Limits) -> Self {
        let base = head.place.strip_suffix(&head.name).unwrap_or_default().to_owned() + prefix;
        let same = |m: &&Member| m.root == head.root && m.archive == head.archive;
        let files =
            catalog.members().iter().filter(same).filter_map(|m| Some((m.name.strip_prefix(prefix)?, m))).collect();
        let unreadable =
            catalog.issues().iter().filter_map(|i| Some(i.place.strip_prefix(&base)?.to_owned())).collect();
        let place = base.trim_end_matches(['/', '!']).to_owned();
        Self { catalog, limits, place, prefix: prefix.to_owned(), files, unreadable }
    }

    /// Display place of a path.
    pub fn place_of(&self, path: &str) -> String {
        self.files.get(path).map_or_else(|| format!("{}/{path}", self.place), |m| m.place.clone())
    }

    /// A whole small file.
    pub fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, FormatError> {
        let Some(member) = self.files.get(path) else { return Ok(None) };
        let limit = self.limits.side_file_bytes.min(self.limits.mem_file_bytes);
        self.catalog.bytes(member, limit).map(Some)
    }

    /// Every line of a file with its number from 1, without the `\n`; `visit` gets bytes as they are. Returns size and
    /// SHA-256 of the file, or None when there is more than the size bound allows (nothing past it is read).
    pub fn lines(&self, member: &Member, visit: Visit) -> Result<Option<(u64, String)>, FormatError> {
        let bound = self.limits.mem_file_bytes;
        self.catalog.read(member, |reader| {
            let mut hash = Sha256::new();
            let (mut size, mut number) = (0u64, 0u64);
            let mut reader = BufReader::with_capacity(1 << 16, reader.take(bound.saturating_add(1)));
            let mut line = Vec::new();
            loop {
                line.clear();
                let take = self.limits.line_bytes.saturating_add(1);
                let n = (&mut reader)
                    .take(take)
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

/// A line of a known kind: text around it is ignored, blank lines are none. None = blank, Err = not UTF-8.
pub(super) fn known_line(bytes: &[u8]) -> Option<Result<&str, ()>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(trim(text)).filter(|t| !t.is_empty()).map(Ok),
        Err(_) => Some(Err(())),
    }
}
