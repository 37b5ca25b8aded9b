//! Rewrites an archive with changed lines and documents. Called to apply deltas and to delete records permanently.
//! Unchanged entries keep their bytes. The new file replaces the old one only when it is complete.
use super::archive_writer::ArchiveWriter;
use super::manifest::{
    Archive, CHECKSUM_SCOPE, INDEX_FILE, MANIFEST_FILE, Manifest, can_be_index, number, usable_name,
};
use super::wire;
use mementory_format::{AGE_HEAD, is_age_head};
use mementory_format::{Catalog, Detected, FormatError, Member, Passphrase};
use mementory_json::Tree;
use mementory_model::{Limits, Timestamp};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// An opened `.alf` or `.alf-delta`.
pub(super) struct OpenedFile {
    catalog: Catalog,
    detected: Detected,
    is_encrypted: bool,
}

impl OpenedFile {
    /// Opens an `.alf` or an `.alf-delta`, which may be encrypted as a whole.
    pub(super) fn open_with(
        path: &Path,
        limits: &Limits,
        passphrase: Option<&dyn Passphrase>,
    ) -> Result<Self, FormatError> {
        let catalog = Catalog::open_with(&[path.to_path_buf()], limits, None, passphrase)?;
        catalog.refuse_unopened()?;
        let mut detection = crate::detect(&catalog, limits, Some("alf"))?;
        if detection.sources.len() != 1 {
            let place = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
            return Err(FormatError::invalid("not_an_alf", place, "this file is not a single ALF archive"));
        }
        Ok(Self { catalog, detected: detection.sources.remove(0), is_encrypted: is_encrypted(path) })
    }

    /// Fails for a file that an import would refuse because of its container: damage anywhere in it, names that some
    /// systems cannot distinguish, or a structure that contradicts itself.
    ///
    /// # Errors
    /// `Invalid` for the first fault, or an error if the file cannot be read.
    pub(super) fn refuse_faults(&self) -> Result<(), FormatError> {
        let archives = self.detected.archives(&self.catalog);
        let damaged_entries = self.catalog.damaged_entries(|archive| archives.contains(&archive))?;
        match self.detected.listing_faults(&self.catalog).into_iter().chain(&damaged_entries).next() {
            Some(fault) => Err(FormatError::invalid(fault.code, &fault.issue.place, &fault.issue.message)),
            None => Ok(()),
        }
    }

    /// The passphrase for encrypting a file that replaces this one. None if this file is not encrypted.
    pub(super) fn output_passphrase<'p>(&self, passphrase: Option<&'p dyn Passphrase>) -> Option<&'p dyn Passphrase> {
        passphrase.filter(|_| self.is_encrypted)
    }

    /// The archive of an agent. Fails if the file is a delta.
    pub(super) fn archive(&self) -> Result<Archive<'_>, FormatError> {
        Archive::open(&self.catalog, &self.detected)
    }

    pub(super) fn archive_or_delta(&self) -> Result<Archive<'_>, FormatError> {
        Archive::open_any(&self.catalog, &self.detected)
    }
}

/// True if the file is encrypted as a whole. Read errors count as false, because the caller reports them when it opens
/// the file.
fn is_encrypted(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(AGE_HEAD as u64).read_to_end(&mut head));
    read.is_ok() && is_age_head(&head)
}

/// The edit of a line.
pub(super) enum LineEdit {
    /// The line is copied byte for byte.
    Keep,
    /// The line is replaced with this text.
    Replace(String),
    /// The line is removed.
    Remove,
}

/// Returns the edit of a line. May write other lines to the output before this line.
pub(super) type EditLine<'a> = dyn FnMut(Option<&str>, &mut dyn Write) -> Result<LineEdit, FormatError> + 'a;

/// Copies the lines of a partition to `out`. `edit` returns the edit of each line; its argument is None for a line that
/// is not UTF-8. Returns the number of lines that were copied or replaced, without blank lines, and true if the last
/// line has no line end.
pub(super) fn edit_lines(
    archive: &Archive<'_>,
    member: &Member,
    limits: &Limits,
    out: &mut dyn Write,
    edit: &mut EditLine<'_>,
) -> Result<(u64, bool), FormatError> {
    let io = |e| FormatError::io(&member.place, e);
    archive.catalog.read(member, |reader| {
        let mut reader = BufReader::with_capacity(256 << 10, reader);
        let (mut raw, mut count, mut lacks_line_end) = (Vec::new(), 0u64, false);
        loop {
            raw.clear();
            let n =
                reader.by_ref().take(limits.line_bytes.saturating_add(1)).read_until(b'\n', &mut raw).map_err(io)?;
            if n == 0 {
                return Ok((count, lacks_line_end));
            }
            if n as u64 > limits.line_bytes {
                return Err(FormatError::Limit { limit: "line_bytes", place: member.place.clone(), figure: n as u64 });
            }
            let text = std::str::from_utf8(raw.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&raw)).ok();
            if text.is_some_and(|t| t.trim_ascii().is_empty()) {
                out.write_all(&raw).map_err(io)?;
                continue;
            }
            match edit(text.map(str::trim_ascii), out)? {
                LineEdit::Keep => {
                    out.write_all(&raw).map_err(io)?;
                    // Only the last line can be without a line end.
                    lacks_line_end = raw.last() != Some(&b'\n');
                    count += 1;
                }
                LineEdit::Replace(line) => {
                    out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).map_err(io)?;
                    count += 1;
                }
                LineEdit::Remove => {}
            }
        }
    })
}

/// The id of a line, folded for comparison.
pub(super) fn id_of(line: &str) -> Option<String> {
    wire::get(&wire::members(line)?, "id").and_then(wire::string).map(|id| wire::folded_id(&id))
}

/// Sort key of a line in its partition: creation time and id.
pub(super) fn sort_key(line: &str) -> (Timestamp, String) {
    let Some(m) = wire::members(line) else { return (Timestamp::EPOCH, String::new()) };
    let id = wire::get(&m, "id").and_then(wire::string).map(|i| i.into_owned()).unwrap_or_default();
    (wire::created_of(&m), id)
}

/// The new archive. It is written to a temporary file, which is deleted if writing is not completed.
pub(super) struct Rewrite {
    /// Writer of the new archive.
    pub out: ArchiveWriter,
    partial: PartialFile,
}

/// A temporary file that will replace the target.
struct PartialFile {
    path: PathBuf,
    target: PathBuf,
    is_finished: bool,
}

impl Rewrite {
    /// Creates a temporary file next to `target`. With a passphrase, the file is encrypted as a whole.
    pub(super) fn begin(target: &Path, passphrase: Option<&dyn Passphrase>) -> Result<Self, FormatError> {
        let mut name = target.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
        name.push(".mementory-partial");
        let path = target.with_file_name(name);
        let out = ArchiveWriter::create(Some(&path), passphrase)?;
        let partial_file = PartialFile { path, target: target.to_path_buf(), is_finished: false };
        set_permissions(&partial_file.path, target).map_err(|e| FormatError::io("permissions", e))?;
        Ok(Self { out, partial: partial_file })
    }

    /// Copies all entries that were not written yet, byte for byte, except those for which `skip` returns true.
    pub(super) fn copy_remaining(
        &mut self,
        archive: &Archive<'_>,
        skip: &dyn Fn(&str) -> bool,
    ) -> Result<(), FormatError> {
        for (name, member) in &archive.entries {
            if *name != MANIFEST_FILE && !self.out.has_entry(name) && !skip(name) {
                archive.catalog.read(member, |bytes| self.out.entry(name, bytes).map(drop))?;
            }
        }
        Ok(())
    }

    /// Copies the remaining entries except those for which `skip` returns true, writes the index and the manifest, and
    /// replaces the target.
    pub(super) fn finish(
        mut self,
        archive: &Archive<'_>,
        manifest: &Manifest,
        mut tree: Tree,
        rows: Vec<Tree>,
        limits: &Limits,
        skip: &dyn Fn(&str) -> bool,
    ) -> Result<(), FormatError> {
        let total_count: u64 = rows.iter().filter_map(count_of).sum();
        let stated_name = manifest.index_file().unwrap_or(INDEX_FILE);
        // The manifest of another program may name a file with a different purpose as the index. Such a file is not
        // changed.
        let is_index =
            can_be_index(stated_name) && stated_name != MANIFEST_FILE && !manifest.named_files().contains(&stated_name);
        let old_index = match archive.entry(stated_name).filter(|_| is_index) {
            Some(member) => Tree::parse(&archive.text(member, limits)?, limits).ok(),
            None => None,
        };
        let mut index = stated_name.to_owned();
        if old_index.is_some() || !rows.is_empty() {
            let is_unused = |name: &str| archive.entry(name).is_none() || name == stated_name && is_index;
            index = usable_name(stated_name, INDEX_FILE, &|name| self.out.is_free(name) && is_unused(name));
            let mut document =
                old_index.filter(|t| matches!(t, Tree::Object(_))).unwrap_or_else(|| Tree::Object(vec![]));
            document.set("partitions", Tree::Array(rows.clone()));
            self.out.entry(&index, &mut to_json(&document).as_bytes())?;
        }
        self.copy_remaining(archive, skip)?;
        let mut layers = tree.get("layers").cloned().unwrap_or_else(|| Tree::Object(vec![]));
        if layers.get("memory").is_some() || !rows.is_empty() {
            let mut memory = layers.get("memory").cloned().unwrap_or_else(|| Tree::Object(vec![]));
            memory.set("record_count", Tree::Number(total_count.to_string()));
            memory.set("index_file", Tree::Text(index));
            memory.set("partitions", Tree::Array(rows));
            layers.set("memory", memory);
        }
        tree.set("layers", layers);
        tree.set("checksum", Tree::Text(self.out.checksum()));
        tree.set("checksum_scope", Tree::Text(CHECKSUM_SCOPE.into()));
        self.out.entry(MANIFEST_FILE, &mut to_json(&tree).as_bytes())?;
        self.replace_target()
    }

    /// Completes the file and moves it to the target.
    pub(super) fn replace_target(self) -> Result<(), FormatError> {
        let Self { out, mut partial } = self;
        out.finish()?;
        let place = partial.target.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        std::fs::rename(&partial.path, &partial.target).map_err(|e| FormatError::io(place, e))?;
        partial.is_finished = true;
        let parent = partial.target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Syncing the folder ensures that the rename is on disk. Not every system supports it.
        let _ = std::fs::File::open(parent).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Copies the permissions of the file to be replaced. If the file does not exist yet, only the owner can read the new
/// file.
fn set_permissions(path: &Path, target: &Path) -> std::io::Result<()> {
    if let Ok(existing) = std::fs::metadata(target) {
        return std::fs::set_permissions(path, existing.permissions());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

/// A tree as JSON text.
pub(super) fn to_json(tree: &Tree) -> String {
    let mut out = String::new();
    tree.write(&mut out);
    out
}

/// The value of `record_count` in a partition row.
pub(super) fn count_of(row: &Tree) -> Option<u64> {
    number(row.get("record_count"))
}

/// The partition rows of a manifest, as trees.
pub(super) fn rows_of(manifest: &Manifest) -> Vec<Tree> {
    match manifest.tree.get("layers").and_then(|l| l.get("memory")).and_then(|m| m.get("partitions")) {
        Some(Tree::Array(rows)) => rows.clone(),
        _ => vec![],
    }
}
