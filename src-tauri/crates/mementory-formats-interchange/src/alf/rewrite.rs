//! An archive written anew with some lines and documents changed: applying deltas and hard deletion. What is not
//! changed keeps its bytes; the new file takes its place only when it is whole.
use super::container::Container;
use super::manifest::{Archive, CHECKSUM_SCOPE, MANIFEST, Manifest};
use super::wire;
use mementory_format::{AGE_HEAD, is_age_head};
use mementory_format::{Catalog, Detected, FormatError, Member, Passphrase};
use mementory_json::Tree;
use mementory_model::{Limits, Timestamp};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// A file, opened and recognised.
pub(super) struct Opened {
    catalog: Catalog,
    detected: Detected,
    sealed: bool,
}

impl Opened {
    /// Opens an `.alf` or an `.alf-delta`, which may be encrypted as a whole.
    pub(super) fn open_with(
        path: &Path,
        limits: &Limits,
        passphrase: Option<&dyn Passphrase>,
    ) -> Result<Self, FormatError> {
        let catalog = Catalog::open_with(&[path.to_path_buf()], limits, None, passphrase)?;
        catalog.refuse_closed()?;
        let mut found = crate::detect(&catalog, limits, Some("alf"))?;
        if found.sources.len() != 1 {
            let place = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
            return Err(FormatError::invalid("not_an_alf", place, "not one ALF archive"));
        }
        Ok(Self { catalog, detected: found.sources.remove(0), sealed: is_sealed(path) })
    }

    /// What a file that takes the place of this one is encrypted under: the same, if it was encrypted at all.
    pub(super) fn key<'p>(&self, passphrase: Option<&'p dyn Passphrase>) -> Option<&'p dyn Passphrase> {
        passphrase.filter(|_| self.sealed)
    }

    /// As an agent's archive; a delta is refused.
    pub(super) fn archive(&self) -> Result<Archive<'_>, FormatError> {
        Archive::open(&self.catalog, &self.detected)
    }

    /// As an archive or as a delta.
    pub(super) fn any(&self) -> Result<Archive<'_>, FormatError> {
        Archive::open_any(&self.catalog, &self.detected)
    }
}

/// Is the file itself encrypted? What could not be read would not have been opened.
fn is_sealed(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(AGE_HEAD as u64).read_to_end(&mut head));
    read.is_ok() && is_age_head(&head)
}

/// What happens to a line.
pub(super) enum Fate {
    /// Stays, byte for byte.
    Keep,
    /// Becomes another.
    Replace(String),
    /// Goes.
    Drop,
}

/// Decides on a line; it may write before it.
pub(super) type Decide<'a> = dyn FnMut(Option<&str>, &mut dyn Write) -> Result<Fate, FormatError> + 'a;

/// Visits the lines of a partition in order with their own bytes, which `out` gets unless their fate is another.
/// `each` sees None for a line that is no UTF-8. Gives the number of lines that are not blank, and whether the last one
/// still lacks its line end.
pub(super) fn lines(
    archive: &Archive<'_>,
    member: &Member,
    limits: &Limits,
    out: &mut dyn Write,
    each: &mut Decide<'_>,
) -> Result<(u64, bool), FormatError> {
    let io = |e| FormatError::io(&member.place, e);
    archive.catalog.read(member, |reader| {
        let mut reader = BufReader::with_capacity(256 << 10, reader);
        let (mut raw, mut kept, mut open) = (Vec::new(), 0u64, false);
        loop {
            raw.clear();
            let n =
                reader.by_ref().take(limits.line_bytes.saturating_add(1)).read_until(b'\n', &mut raw).map_err(io)?;
            if n == 0 {
                return Ok((kept, open));
            }
            if n as u64 > limits.line_bytes {
                return Err(FormatError::Limit { limit: "line_bytes", place: member.place.clone(), figure: n as u64 });
            }
            let text = std::str::from_utf8(raw.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&raw)).ok();
            if text.is_some_and(|t| t.trim_ascii().is_empty()) {
                out.write_all(&raw).map_err(io)?;
                continue;
            }
            match each(text.map(str::trim_ascii), out)? {
                Fate::Keep => {
                    out.write_all(&raw).map_err(io)?;
                    // only the last line of a file can be without an end
                    open = raw.last() != Some(&b'\n');
                    kept += 1;
                }
                Fate::Replace(line) => {
                    out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).map_err(io)?;
                    kept += 1;
                }
                Fate::Drop => {}
            }
        }
    })
}

/// Id of a line.
pub(super) fn id_of(line: &str) -> Option<String> {
    Some(wire::get(&wire::members(line)?, "id").and_then(wire::string)?.into_owned())
}

/// Time and id by which the lines of a partition are ordered.
pub(super) fn place_of(line: &str) -> (Timestamp, String) {
    let first = Timestamp::from_micros(0).unwrap_or_else(Timestamp::now);
    let Some(m) = wire::members(line) else { return (first, String::new()) };
    let created = wire::get(&m, "temporal")
        .and_then(|t| wire::members(t.get()))
        .and_then(|t| wire::get(&t, "created_at").and_then(wire::string).and_then(|c| Timestamp::parse(&c)));
    let id = wire::get(&m, "id").and_then(wire::string).map(|i| i.into_owned()).unwrap_or_default();
    (created.unwrap_or(first), id)
}

/// The new file while it is put together; it vanishes unless it is finished.
pub(super) struct Rewrite {
    /// The container.
    pub out: Container,
    partial: Partial,
}

/// A file that is not yet where it belongs.
struct Partial {
    path: PathBuf,
    target: PathBuf,
    done: bool,
}

impl Rewrite {
    /// Begins a file beside `target`, encrypted as a whole if there is a passphrase.
    pub(super) fn begin(target: &Path, passphrase: Option<&dyn Passphrase>) -> Result<Self, FormatError> {
        let mut name = target.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
        name.push(".mementory-partial");
        let path = target.with_file_name(name);
        let out = Container::create_with(&path, passphrase)?;
        let partial = Partial { path, target: target.to_path_buf(), done: false };
        private(&partial.path, target).map_err(|e| FormatError::io("permissions", e))?;
        Ok(Self { out, partial })
    }

    /// Entries that are not there yet, byte for byte; `skip` leaves some out.
    pub(super) fn copy_rest(&mut self, archive: &Archive<'_>, skip: &dyn Fn(&str) -> bool) -> Result<(), FormatError> {
        for (name, member) in &archive.entries {
            if *name != MANIFEST && !self.out.has(name) && !skip(name) {
                archive.catalog.read(member, |bytes| self.out.entry(name, bytes).map(drop))?;
            }
        }
        Ok(())
    }

    /// Index and manifest last, then the whole file takes its place. `skip` leaves entries out.
    pub(super) fn finish(
        mut self,
        archive: &Archive<'_>,
        manifest: &Manifest,
        mut tree: Tree,
        rows: Vec<Tree>,
        limits: &Limits,
        skip: &dyn Fn(&str) -> bool,
    ) -> Result<(), FormatError> {
        let total: u64 = rows.iter().filter_map(count_of).sum();
        let index = manifest.index_file().map_or_else(|| "memory/index.json".to_owned(), str::to_owned);
        let before = match archive.entry(&index) {
            Some(member) => Tree::parse(&archive.text(member, limits)?, limits).ok(),
            None => None,
        };
        if before.is_some() || !rows.is_empty() {
            let mut document = before.filter(|t| matches!(t, Tree::Object(_))).unwrap_or_else(|| Tree::Object(vec![]));
            document.set("partitions", Tree::Array(rows.clone()));
            self.out.entry(&index, &mut written(&document).as_bytes())?;
        }
        self.copy_rest(archive, skip)?;
        let mut layers = tree.get("layers").cloned().unwrap_or_else(|| Tree::Object(vec![]));
        if layers.get("memory").is_some() || !rows.is_empty() {
            let mut memory = layers.get("memory").cloned().unwrap_or_else(|| Tree::Object(vec![]));
            memory.set("record_count", Tree::Number(total.to_string()));
            memory.set("index_file", Tree::Text(index));
            memory.set("partitions", Tree::Array(rows));
            layers.set("memory", memory);
        }
        tree.set("layers", layers);
        tree.set("checksum", Tree::Text(self.out.checksum()));
        tree.set("checksum_scope", Tree::Text(CHECKSUM_SCOPE.into()));
        self.out.entry(MANIFEST, &mut written(&tree).as_bytes())?;
        self.put_in_place()
    }

    /// The file as it is takes its place.
    pub(super) fn put_in_place(self) -> Result<(), FormatError> {
        let Self { out, mut partial } = self;
        out.finish()?;
        let place = partial.target.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        std::fs::rename(&partial.path, &partial.target).map_err(|e| FormatError::io(place, e))?;
        partial.done = true;
        let parent = partial.target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // the rename itself must be on disk; a system that cannot sync a folder has nothing to add
        let _ = std::fs::File::open(parent).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.done {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The rights of the file whose place it takes; a new file is for its owner only.
fn private(path: &Path, target: &Path) -> std::io::Result<()> {
    if let Ok(there) = std::fs::metadata(target) {
        return std::fs::set_permissions(path, there.permissions());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

/// A tree as text.
pub(super) fn written(tree: &Tree) -> String {
    let mut out = String::new();
    tree.write(&mut out);
    out
}

/// `record_count` of a partition row.
pub(super) fn count_of(row: &Tree) -> Option<u64> {
    match row.get("record_count") {
        Some(Tree::Number(n)) => n.parse().ok(),
        _ => None,
    }
}

/// The partition rows of a manifest as trees.
pub(super) fn rows_of(manifest: &Manifest) -> Vec<Tree> {
    match manifest.tree.get("layers").and_then(|l| l.get("memory")).and_then(|m| m.get("partitions")) {
        Some(Tree::Array(rows)) => rows.clone(),
        _ => vec![],
    }
}
