//! The list of members of everything that was given together.
use super::{expand, folder, source::Source};
use crate::{FormatError, Passphrase};
use mementory_model::{Dropped, Issue, Limits, Timestamp};
use std::{
    io::{Cursor, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// The most bytes that room is made for before they have come.
const ROOM: usize = 256 << 20;

/// Random access to spooled bytes.
pub trait SpoolFile: Read + Write + Seek + Send {}
impl<T: Read + Write + Seek + Send> SpoolFile for T {}

/// Makes scratch space for bytes that must be random access (a compressed archive inside an archive). The vault's
/// spool encrypts; without one, bytes stay in memory and are bounded.
pub trait Spool: Send + Sync {
    /// A new, empty scratch file that vanishes when dropped.
    fn create(&self) -> std::io::Result<Box<dyn SpoolFile>>;
}

/// Where a member's bytes are.
#[derive(Debug, Clone)]
pub(super) enum Location {
    /// A plain file.
    File(PathBuf),
    /// Entry `index` of archive `archive`.
    Zip { archive: usize, index: usize },
    /// What was in an encrypted file.
    Opened(Source),
    /// Text given directly.
    Text(std::sync::Arc<str>),
}

/// Code of the issue that an encrypted file without its passphrase is.
pub(super) const CLOSED: &str = "passphrase_needed";

/// One readable member.
#[derive(Debug, Clone)]
pub struct Member {
    /// Position in [`Catalog::members`].
    pub id: usize,
    /// Which of the given paths it came from.
    pub root: usize,
    /// Display place: name of the given file or folder, then `/` inside folders and `!/` inside archives.
    pub place: String,
    /// Name inside its folder or archive, `/`-separated, safe (no root, no `..`). For a loose file: its name.
    pub name: String,
    /// Uncompressed size as declared; 0 when unknown.
    pub size: u64,
    /// Archive nesting: 0 = plain file.
    pub depth: u32,
    /// The archive writes its name with backslashes; `name` has them as `/`. Formats that forbid this can refuse it.
    pub backslashes: bool,
    /// Which archive it is an entry of: members of one archive share the number. None = plain file.
    pub archive: Option<usize>,
    /// Modification time, for plain files.
    pub modified: Option<Timestamp>,
    pub(super) location: Location,
}

impl Member {
    /// Last segment of the name.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }
}

/// Everything that was given together, opened and listed.
pub struct Catalog {
    pub(super) members: Vec<Member>,
    pub(super) archives: Vec<expand::Archive>,
    pub(super) issues: Vec<Issue>,
    pub(super) dropped: Vec<Dropped>,
    roots: Vec<String>,
    streamed: AtomicU64,
    total_limit: u64,
}

impl Catalog {
    /// Open paths: regular files, folders (walked, links not followed), ZIP files (entries listed, archives inside
    /// opened by role).
    pub fn open(paths: &[PathBuf], limits: &Limits, spool: Option<&dyn Spool>) -> Result<Self, FormatError> {
        Self::open_with(paths, limits, spool, None)
    }

    /// The same; a given file that is encrypted as a whole (age) stands for what is in it. What is in it goes through
    /// the spool, and without one is held in memory and bounded.
    ///
    /// # Errors
    /// As [`Catalog::open`]; `passphrase_wrong`, `damaged`, `kdf_parameters`, `not_for_passphrase` for such a file. One
    /// that is given without a passphrase is an issue: `passphrase_needed`.
    pub fn open_with(
        paths: &[PathBuf],
        limits: &Limits,
        spool: Option<&dyn Spool>,
        passphrase: Option<&dyn Passphrase>,
    ) -> Result<Self, FormatError> {
        let mut catalog = Self::empty(limits);
        for path in paths {
            let root = catalog.roots.len();
            let name =
                path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
            catalog.roots.push(name.clone());
            folder::add_path(&mut catalog, root, path, &name, limits)?;
        }
        expand::expand(&mut catalog, limits, expand::Means { spool, passphrase })?;
        Ok(catalog)
    }

    /// Pasted text as one member.
    pub fn from_text(text: &str, limits: &Limits) -> Self {
        let mut catalog = Self::empty(limits);
        catalog.roots.push("pasted text".into());
        catalog.push_member(Member {
            id: 0,
            root: 0,
            place: "pasted text".into(),
            name: "pasted text".into(),
            size: text.len() as u64,
            depth: 0,
            backslashes: false,
            archive: None,
            modified: None,
            location: Location::Text(text.into()),
        });
        catalog
    }

    fn empty(limits: &Limits) -> Self {
        Self {
            members: vec![],
            archives: vec![],
            issues: vec![],
            dropped: vec![],
            roots: vec![],
            streamed: AtomicU64::new(0),
            total_limit: limits.total_bytes,
        }
    }

    /// Adds a member at the end of the list.
    pub(super) fn push_member(&mut self, mut member: Member) {
        member.id = self.members.len();
        self.members.push(member);
    }

    /// Names of the given paths.
    pub fn roots(&self) -> &[String] {
        &self.roots
    }

    /// All members. Archives that were opened are not members themselves; their entries are.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// What was refused or odd while listing (unsafe names, links, duplicates, damage).
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// Refuses what was given encrypted and could not be opened.
    ///
    /// # Errors
    /// `passphrase_needed`.
    pub fn refuse_closed(&self) -> Result<(), FormatError> {
        match self.issues.iter().find(|i| i.code == CLOSED) {
            Some(issue) => Err(FormatError::invalid(CLOSED, &issue.place, &issue.message)),
            None => Ok(()),
        }
    }

    /// Was this root given encrypted, and could not be opened?
    pub fn is_closed(&self, root: usize) -> bool {
        let name = self.roots.get(root);
        self.issues.iter().any(|i| i.code == CLOSED && Some(&i.place) == name)
    }

    /// Given and not listed: files that were given twice (`duplicate_file`). They belong into the import's report.
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// Read a member from its start. Several members can be read at once, from several threads. Streamed bytes are counted over the whole catalog and bounded.
    pub fn read<T>(
        &self,
        member: &Member,
        f: impl FnOnce(&mut dyn Read) -> Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        let result = self.read_any(member, f);
        // Whatever the reader made of it: past the bound nothing more comes out.
        if self.streamed.load(Ordering::Relaxed) > self.total_limit {
            let place = member.place.clone();
            return Err(FormatError::Limit { limit: "total_bytes", place, figure: self.total_limit });
        }
        result
    }

    fn read_any<T>(
        &self,
        member: &Member,
        f: impl FnOnce(&mut dyn Read) -> Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        let io = |e| FormatError::io(&member.place, e);
        match &member.location {
            Location::File(path) => {
                let mut file = std::fs::File::open(path).map_err(io)?;
                f(&mut self.counted(&mut file))
            }
            Location::Opened(source) => f(&mut self.counted(&mut source.window(0).map_err(io)?)),
            Location::Text(text) => f(&mut self.counted(&mut Cursor::new(text.as_bytes()))),
            Location::Zip { archive, index } => {
                let archive = self
                    .archives
                    .get(*archive)
                    .ok_or_else(|| FormatError::invalid("malformed", &member.place, "archive is not open"))?;
                archive.with_entry(*index, &member.place, |r| f(&mut self.counted(r)))
            }
        }
    }

    /// The first `n` bytes, to see what a member is: fewer at its end, or where it is damaged.
    pub fn head(&self, member: &Member, n: usize) -> Result<Vec<u8>, FormatError> {
        Ok(self.first(member, n)?.0)
    }

    /// The first `n` bytes, and the damage that they end at.
    fn first(&self, member: &Member, n: usize) -> Result<(Vec<u8>, Option<std::io::Error>), FormatError> {
        // What a member says of its size is only a hint: without the room, or with less, it grows as it comes.
        let expected = usize::try_from(member.size).unwrap_or(usize::MAX).min(n).min(ROOM);
        self.read(member, |r| {
            let mut out = Vec::new();
            let _ = out.try_reserve_exact(expected);
            let damage = match r.take(n as u64).read_to_end(&mut out) {
                Ok(_) => None,
                Err(e) if super::is_damage(&e) => Some(e),
                Err(e) => return Err(FormatError::io(&member.place, e)),
            };
            if out.len() < expected / 2 {
                out.shrink_to_fit();
            }
            Ok((out, damage))
        })
    }

    /// A whole small member; more than `limit` bytes is an error.
    pub fn bytes(&self, member: &Member, limit: u64) -> Result<Vec<u8>, FormatError> {
        let (out, damage) = self.first(member, usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1))?;
        if let Some(damage) = damage {
            return Err(FormatError::io(&member.place, damage));
        }
        if out.len() as u64 > limit {
            return Err(FormatError::Limit { limit: "side_file_bytes", place: member.place.clone(), figure: limit });
        }
        Ok(out)
    }

    /// The plain file behind a member, if it is one.
    pub fn path_of<'a>(&self, member: &'a Member) -> Option<&'a Path> {
        match &member.location {
            Location::File(path) => Some(path),
            _ => None,
        }
    }

    fn counted<'a>(&'a self, inner: &'a mut dyn Read) -> Counted<'a> {
        Counted { inner, total: &self.streamed, limit: self.total_limit }
    }
}

struct Counted<'a> {
    inner: &'a mut dyn Read,
    total: &'a AtomicU64,
    limit: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buf)?;
        if self.total.fetch_add(n as u64, Ordering::Relaxed) + n as u64 > self.limit {
            return Err(std::io::Error::other("limit: total_bytes exceeded"));
        }
        Ok(n)
    }
}
