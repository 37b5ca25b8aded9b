//! The catalog: the members of all files that were opened together, and reading their bytes.
use super::{
    archive::Archive,
    derived::DerivedValues,
    expansion::Expansion,
    faults::Fault,
    heads::{HeadEnd, Heads, MAX_KEPT_BYTES, MIN_READ_BYTES},
    member::{Location, Member},
};
use crate::FormatError;
use mementory_model::{Dropped, Issue, Limits};
use std::{
    any::Any,
    io::{Cursor, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// Upper limit for the bytes that are allocated in advance for a member, whatever size the member declares.
const MAX_PREALLOCATED_BYTES: usize = 256 << 20;

/// Code of the issue for an encrypted file whose passphrase was not given.
pub(super) const PASSPHRASE_NEEDED: &str = "passphrase_needed";

/// All files that were opened together, as one list of members.
pub struct Catalog {
    pub(super) members: Vec<Member>,
    pub(super) archives: Vec<Archive>,
    pub(super) issues: Vec<Issue>,
    pub(super) empty_folders: Vec<String>,
    pub(super) faults: Vec<Fault>,
    pub(super) expansion: Expansion,
    pub(super) dropped: Vec<Dropped>,
    pub(super) roots: Vec<String>,
    /// Indexes of the opened paths that were encrypted files and have been decrypted.
    pub(super) decrypted: Vec<usize>,
    /// The first bytes of members. None while members are still being added, because heads are stored by member number,
    /// and the numbers may still change.
    pub(super) heads: Option<Heads>,
    derived: DerivedValues,
    bytes_read: AtomicU64,
    total_limit: u64,
    pub(super) cancel: Arc<AtomicBool>,
}

impl Catalog {
    /// A catalog whose only member is a pasted text.
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

    pub(super) fn empty(limits: &Limits) -> Self {
        Self {
            members: vec![],
            archives: vec![],
            issues: vec![],
            empty_folders: vec![],
            faults: vec![],
            expansion: Expansion::default(),
            dropped: vec![],
            roots: vec![],
            decrypted: vec![],
            heads: None,
            derived: DerivedValues::default(),
            bytes_read: AtomicU64::new(0),
            total_limit: limits.total_bytes,
            cancel: Arc::default(),
        }
    }

    /// Adds a member at the end of the list.
    pub(super) fn push_member(&mut self, mut member: Member) {
        member.id = self.members.len();
        self.members.push(member);
    }

    /// Sets the flag that cancels reading. Once the flag is true, reading a member ends with
    /// [`FormatError::Cancelled`].
    pub fn cancel_with(&mut self, flag: Arc<AtomicBool>) {
        self.cancel = flag;
    }

    /// Names of the paths that were opened.
    pub fn roots(&self) -> &[String] {
        &self.roots
    }

    /// All members. Archives that were opened are not members themselves; their entries are.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Problems found while listing: unsafe names, links, duplicates, damage.
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }

    /// Places of the empty folders, which contain neither files nor folders.
    pub fn empty_folders(&self) -> &[String] {
        &self.empty_folders
    }

    /// Fails if an encrypted file could not be opened.
    ///
    /// # Errors
    /// `passphrase_needed`.
    pub fn refuse_unopened(&self) -> Result<(), FormatError> {
        match self.issues.iter().find(|i| i.code == PASSPHRASE_NEEDED) {
            Some(issue) => Err(FormatError::invalid(PASSPHRASE_NEEDED, &issue.place, &issue.message)),
            None => Ok(()),
        }
    }

    /// True if the path with this index is an encrypted file that could not be opened.
    pub fn is_unopened(&self, root: usize) -> bool {
        let name = self.roots.get(root);
        self.issues.iter().any(|i| i.code == PASSPHRASE_NEEDED && Some(&i.place) == name)
    }

    /// True if the path with this index is an encrypted file that was opened with its passphrase.
    pub fn is_decrypted(&self, root: usize) -> bool {
        self.decrypted.contains(&root)
    }

    /// Files that are not listed as members because an earlier file has the same bytes (`duplicate_file`). The import's
    /// report lists them.
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// Reads a member from its start. Several members can be read at once, from several threads. The total number of
    /// bytes read from the catalog is limited.
    pub fn read<T>(
        &self,
        member: &Member,
        f: impl FnOnce(&mut dyn Read) -> Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        let cached_bytes = self.short_bytes(member)?;
        self.read_from(member, cached_bytes, f)
    }

    /// Reads a member: from `cached_bytes` if all its bytes are cached, otherwise from its location.
    fn read_from<T>(
        &self,
        member: &Member,
        cached_bytes: Option<Arc<[u8]>>,
        f: impl FnOnce(&mut dyn Read) -> Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        let result = match cached_bytes {
            Some(bytes) => f(&mut self.counting_reader(&mut Cursor::new(bytes))),
            None => self.read_location(member, f),
        };
        // Checked again here, in case the callback ignored the read error.
        if self.cancel.load(Ordering::Relaxed) {
            return Err(FormatError::Cancelled);
        }
        if self.bytes_read.load(Ordering::Relaxed) > self.total_limit {
            let place = member.place.clone();
            return Err(FormatError::Limit { limit: "total_bytes", place, figure: self.total_limit });
        }
        result
    }

    /// All bytes of a short archive entry. They are cached, because detection reads each member once per format.
    fn short_bytes(&self, member: &Member) -> Result<Option<Arc<[u8]>>, FormatError> {
        let Some(heads) = &self.heads else { return Ok(None) };
        if !matches!(member.location, Location::Zip { .. }) || member.size >= MIN_READ_BYTES as u64 {
            return Ok(None);
        }
        if heads.can_keep(member.id) {
            self.head(member, MIN_READ_BYTES)?;
        }
        Ok(heads.whole_member(member.id))
    }

    fn read_location<T>(
        &self,
        member: &Member,
        f: impl FnOnce(&mut dyn Read) -> Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        let io = |e| FormatError::io(&member.place, e);
        match &member.location {
            Location::File(path) => {
                let mut file = std::fs::File::open(path).map_err(io)?;
                f(&mut self.counting_reader(&mut file))
            }
            Location::Unpacked(source) => f(&mut self.counting_reader(&mut source.window(0).map_err(io)?)),
            Location::Text(text) => f(&mut self.counting_reader(&mut Cursor::new(text.as_bytes()))),
            Location::Zip { archive, index } => {
                let archive = self
                    .archives
                    .get(*archive)
                    .ok_or_else(|| FormatError::invalid("malformed", &member.place, "archive is not open"))?;
                archive.with_entry(*index, &member.place, |r| f(&mut self.counting_reader(r)))
            }
        }
    }

    /// Returns the value that `derive` computes from the member, or from the archive whose manifest the member is.
    /// `derive` returns the value and its size in bytes. The value is cached by member and type, so all calls for a
    /// type must derive it in the same way, and cloning it should be cheap. Like a head, a cached value is outdated if
    /// the file changes later.
    ///
    /// # Errors
    /// The error of `derive`; then nothing is cached.
    pub fn derived<T: Any + Clone + Send + Sync>(
        &self,
        member: &Member,
        derive: impl FnOnce() -> Result<(T, usize), FormatError>,
    ) -> Result<T, FormatError> {
        if let Some(value) = self.derived.get(member.id) {
            return Ok(value);
        }
        let (value, bytes) = derive()?;
        // Nothing is cached until all members are listed, because member numbers may change until then.
        if self.heads.is_some() {
            self.derived.keep(member.id, value.clone(), bytes);
        }
        Ok(value)
    }

    /// Up to `n` bytes from the start of the member, for detection; fewer if the member is shorter or damaged. Short
    /// heads are cached, so a head is outdated if the file changes later.
    pub fn head(&self, member: &Member, n: usize) -> Result<Vec<u8>, FormatError> {
        let Some(heads) = &self.heads else { return Ok(self.read_start(member, n)?.0) };
        if let Some(head) = heads.get(member.id, n) {
            return Ok(head);
        }
        let bytes_to_read = if n <= MAX_KEPT_BYTES { n.max(MIN_READ_BYTES) } else { n };
        let (mut head, damage) = self.read_start(member, bytes_to_read)?;
        let end = match damage {
            Some(_) => HeadEnd::Damaged,
            None if head.len() < bytes_to_read => HeadEnd::Complete,
            None => HeadEnd::More,
        };
        heads.keep(member.id, &head, end);
        head.truncate(n);
        Ok(head)
    }

    /// Up to `n` bytes from the start, and the read error if there are fewer because of damage.
    fn read_start(&self, member: &Member, n: usize) -> Result<(Vec<u8>, Option<std::io::Error>), FormatError> {
        // The declared size is only a hint: if it is wrong or cannot be allocated, the buffer grows while reading.
        let expected = usize::try_from(member.size).unwrap_or(usize::MAX).min(n).min(MAX_PREALLOCATED_BYTES);
        self.read_from(member, None, |r| {
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

    /// All bytes of a member.
    ///
    /// # Errors
    /// `Limit` if the member has more than `limit` bytes; damage and I/O.
    pub fn bytes(&self, member: &Member, limit: u64) -> Result<Vec<u8>, FormatError> {
        if let Some(cached_bytes) = self.short_bytes(member)?.filter(|cached_bytes| cached_bytes.len() as u64 <= limit)
        {
            return Ok(cached_bytes.to_vec());
        }
        let (out, damage) = self.read_start(member, usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1))?;
        if let Some(damage) = damage {
            return Err(FormatError::io(&member.place, damage));
        }
        if out.len() as u64 > limit {
            return Err(FormatError::Limit { limit: "side_file_bytes", place: member.place.clone(), figure: limit });
        }
        Ok(out)
    }

    /// The path of a member that is a plain file on disk. None for any other member.
    pub fn path_of<'a>(&self, member: &'a Member) -> Option<&'a Path> {
        match &member.location {
            Location::File(path) => Some(path),
            _ => None,
        }
    }

    fn counting_reader<'a>(&'a self, reader: &'a mut dyn Read) -> CountingReader<'a> {
        CountingReader { inner: reader, total: &self.bytes_read, limit: self.total_limit, cancel: &self.cancel }
    }
}

/// Counts the bytes read from a catalog, and fails if they exceed the limit or if the user cancelled. `read_from` then
/// returns the error with its type, whatever the caller made of this one.
struct CountingReader<'a> {
    inner: &'a mut dyn Read,
    total: &'a AtomicU64,
    limit: u64,
    cancel: &'a AtomicBool,
}

impl Read for CountingReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(std::io::Error::other("cancelled"));
        }
        let n = self.inner.read(buf)?;
        if self.total.fetch_add(n as u64, Ordering::Relaxed) + n as u64 > self.limit {
            return Err(std::io::Error::other("total_bytes exceeded"));
        }
        Ok(n)
    }
}
