//! An encrypted home for tantivy's files.
//!
//! Every file is a chunked AEAD file, bound to its name and to a random generation that it got when it was written. The
//! generations of all files are kept inside the encrypted `meta.json`. So a changed, cut, swapped or renamed file fails,
//! and so does an older file of the same name put back: its generation is not the one `meta.json` names.
//!
//! `meta.json` itself can only be put back together with every file it names. Such an index is whole, but its commit
//! carries the change number of its time: the vault compares that with its store and rebuilds what is behind.
//!
//! Which files there are is answered by the folder, not by tantivy's `.managed.json`: that list is made up when it is
//! asked for and never written, so it cannot disagree with the disk after a crash. Locks are in memory: the vault has a
//! lock of its own that keeps other processes out.
use crate::cache::ChunkCache;
use mementory_crypto::{CHUNK_LEN, ChunkReader, ChunkWriter, Context, CryptoError, random_bytes};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    io::{self, BufWriter, Read, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use tantivy::{
    Directory, HasLen,
    directory::{
        AntiCallToken, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback, WatchHandle,
        WritePtr,
        error::{DeleteError, LockError, OpenReadError, OpenWriteError},
    },
};
use zeroize::Zeroizing;

pub(crate) const META: &str = "meta.json";
const MANAGED: &str = ".managed.json";
const PARTIAL: &str = ".partial-";
const PURPOSE: &str = "index";

/// `meta.json` as it is sealed: tantivy's own text and the generations of the files it may name.
#[derive(serde::Serialize, serde::Deserialize)]
struct SealedMeta {
    generations: BTreeMap<String, u64>,
    meta: String,
}

struct Inner {
    dir: PathBuf,
    key: Zeroizing<[u8; 32]>,
    cache: ChunkCache,
    /// Of every file written or named by `meta.json`: its generation, and its number in the cache.
    files: Mutex<HashMap<String, (u64, u64)>>,
    next: AtomicU64,
    locks: Mutex<HashSet<PathBuf>>,
    released: Condvar,
}

/// See the module's text. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct EncryptedDirectory(Arc<Inner>);

impl EncryptedDirectory {
    /// Opens the folder, which must exist. Reads `meta.json` when there is one; `InvalidData` when it fails its check.
    pub fn open(dir: &Path, key: &[u8; 32]) -> io::Result<Self> {
        let this = Self(Arc::new(Inner {
            dir: dir.to_path_buf(),
            key: Zeroizing::new(*key),
            cache: ChunkCache::new(),
            files: Mutex::default(),
            next: AtomicU64::new(0),
            locks: Mutex::default(),
            released: Condvar::new(),
        }));
        match this.read_meta() {
            Ok(sealed) => {
                let mut files = lock(&this.0.files);
                for (name, generation) in sealed.generations {
                    files.insert(name, (generation, this.next_number()));
                }
                drop(files);
                Ok(this)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(this),
            Err(e) => Err(e),
        }
    }

    /// Names of the regular files in the folder, those of unfinished writes included.
    pub(crate) fn on_disk(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.0.dir)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// True when a file of this name was written or is named by `meta.json`.
    pub(crate) fn names(&self, name: &str) -> bool {
        name == META || lock(&self.0.files).contains_key(name)
    }

    /// Decrypts all of a file, a chunk at a time. Fails where a chunk does.
    pub(crate) fn scan(&self, name: &str, mut each: impl FnMut(&[u8])) -> io::Result<u64> {
        let (generation, _) = if name == META { (0, 0) } else { self.known(name)? };
        let reader = self.reader(name, generation)?;
        let mut chunk = Vec::new();
        for number in 0..reader.chunks() {
            reader.read_chunk(number, &mut chunk)?;
            each(&chunk);
        }
        Ok(reader.len())
    }

    /// Makes more room for decrypted chunks; answers for how many.
    pub(crate) fn enlarge_cache(&self) -> usize {
        self.0.cache.enlarge()
    }

    /// Decrypts the beginning of a file into the cache, at most `most` chunks; answers how many.
    pub(crate) fn read_ahead(&self, name: &str, most: usize) -> io::Result<usize> {
        let (generation, number) = self.known(name)?;
        let file = Opened {
            directory: self.clone(),
            reader: self.reader(name, generation)?,
            number,
            len: 0,
            name: name.to_owned(),
        };
        let chunks = file.reader.chunks().min(most as u64);
        for chunk in 0..chunks {
            file.chunk(chunk)?;
        }
        Ok(chunks as usize)
    }

    fn next_number(&self) -> u64 {
        self.0.next.fetch_add(1, Ordering::Relaxed)
    }

    fn known(&self, name: &str) -> io::Result<(u64, u64)> {
        let unknown = || io::Error::new(io::ErrorKind::InvalidData, format!("{name} is not part of the index"));
        lock(&self.0.files).get(name).copied().ok_or_else(unknown)
    }

    fn reader(&self, name: &str, generation: u64) -> io::Result<ChunkReader<File>> {
        let file = File::open(self.0.dir.join(name))?;
        let len = file.metadata()?.len();
        let context = Context { purpose: PURPOSE, name, generation };
        ChunkReader::open(file, len, &self.0.key, &context).map_err(|e| failed(name, e))
    }

    fn read_meta(&self) -> io::Result<SealedMeta> {
        let mut bytes = Vec::new();
        self.reader(META, 0)?.into_read().read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    fn write_meta(&self, data: &[u8]) -> io::Result<()> {
        let meta = std::str::from_utf8(data).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?.to_owned();
        let generations = lock(&self.0.files).iter().map(|(n, (g, _))| (n.clone(), *g)).collect();
        let bytes = serde_json::to_vec(&SealedMeta { generations, meta })?;
        let file = tempfile::Builder::new().prefix(PARTIAL).tempfile_in(&self.0.dir)?;
        let mut writer = ChunkWriter::new(file, &self.0.key, &Context { purpose: PURPOSE, name: META, generation: 0 })?;
        writer.write_all(&bytes)?;
        let file = writer.finish()?;
        file.as_file().sync_all()?;
        file.persist(self.0.dir.join(META)).map_err(|e| e.error)?;
        self.sync_directory()
    }

    /// What tantivy would have in `.managed.json`: every file of the folder that is not hidden.
    fn managed(&self) -> io::Result<Vec<u8>> {
        let names: Vec<String> = self.on_disk()?.into_iter().filter(|n| !n.starts_with('.')).collect();
        Ok(serde_json::to_vec(&names)?)
    }
}

impl std::fmt::Debug for EncryptedDirectory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EncryptedDirectory")
    }
}

impl Directory for EncryptedDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let name = name(path);
        let open = || {
            let (generation, number) = self.known(&name)?;
            let reader = self.reader(&name, generation)?;
            let len = usize::try_from(reader.len()).map_err(|_| io::ErrorKind::InvalidData)?;
            Ok(Opened { directory: self.clone(), reader, number, len, name: name.clone() })
        };
        match open() {
            Ok(file) => Ok(Arc::new(file)),
            Err(e) => Err(unread(e, path)),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let name = name(path);
        if let Some((_, number)) = lock(&self.0.files).remove(&name) {
            self.0.cache.forget(number);
        }
        std::fs::remove_file(self.0.dir.join(&name)).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(path.to_path_buf()),
            _ => DeleteError::IoError { io_error: Arc::new(e), filepath: path.to_path_buf() },
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.dir.join(name(path)).try_exists().map_err(|e| unread(e, path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let name = name(path);
        let create = || {
            let file = File::options().write(true).create_new(true).open(self.0.dir.join(&name))?;
            // Eight random bytes: two files of one name get the same generation once in 2^64.
            let generation = u64::from_le_bytes(random_bytes()?);
            let writer = ChunkWriter::new(file, &self.0.key, &Context { purpose: PURPOSE, name: &name, generation })?;
            lock(&self.0.files).insert(name.clone(), (generation, self.next_number()));
            Ok(Written(Some(writer)))
        };
        match create() {
            Ok(writer) => Ok(BufWriter::new(Box::new(writer))),
            Err(e) if io::Error::kind(&e) == io::ErrorKind::AlreadyExists => {
                Err(OpenWriteError::FileAlreadyExists(path.to_path_buf()))
            }
            Err(e) => Err(OpenWriteError::wrap_io_error(e, path.to_path_buf())),
        }
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let read = match name(path).as_str() {
            META => self.read_meta().map(|m| m.meta.into_bytes()),
            MANAGED => self.managed(),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        read.map_err(|e| unread(e, path))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        match name(path).as_str() {
            META => self.write_meta(data),
            MANAGED => Ok(()),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn sync_directory(&self) -> io::Result<()> {
        // Windows has no way to flush a folder.
        #[cfg(unix)]
        File::open(&self.0.dir)?.sync_all()?;
        Ok(())
    }

    fn acquire_lock(&self, wanted: &Lock) -> Result<DirectoryLock, LockError> {
        let mut held = lock(&self.0.locks);
        while held.contains(&wanted.filepath) {
            if !wanted.is_blocking {
                return Err(LockError::LockBusy);
            }
            held = self.0.released.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        held.insert(wanted.filepath.clone());
        Ok(DirectoryLock::from(Box::new(Held { directory: self.clone(), path: wanted.filepath.clone() })))
    }

    /// Nothing to watch: the reader is told when to reload.
    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

struct Held {
    directory: EncryptedDirectory,
    path: PathBuf,
}

impl Drop for Held {
    fn drop(&mut self) {
        lock(&self.directory.0.locks).remove(&self.path);
        self.directory.0.released.notify_all();
    }
}

/// A file being written.
struct Written(Option<ChunkWriter<File>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Written {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let writer = self.0.take().ok_or(io::ErrorKind::BrokenPipe)?;
        writer.finish()?.sync_all()
    }
}

/// A file being read.
struct Opened {
    directory: EncryptedDirectory,
    reader: ChunkReader<File>,
    number: u64,
    len: usize,
    name: String,
}

impl Opened {
    fn chunk(&self, number: u64) -> io::Result<Arc<[u8]>> {
        let cache = &self.directory.0.cache;
        if let Some(chunk) = cache.get(self.number, number) {
            return Ok(chunk);
        }
        let mut bytes = Vec::new();
        self.reader.read_chunk(number, &mut bytes).map_err(|e| failed(&self.name, e))?;
        let chunk: Arc<[u8]> = bytes.into();
        cache.put(self.number, number, chunk.clone());
        Ok(chunk)
    }
}

impl FileHandle for Opened {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.len {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{}: range outside the file", self.name)));
        }
        let mut out = Vec::with_capacity(range.len());
        let mut at = range.start;
        while at < range.end {
            let chunk = self.chunk((at / CHUNK_LEN) as u64)?;
            let start = at % CHUNK_LEN;
            let end = chunk.len().min(start + range.end - at);
            out.extend_from_slice(&chunk[start..end]);
            at += end - start;
        }
        Ok(OwnedBytes::new(out))
    }
}

impl HasLen for Opened {
    fn len(&self) -> usize {
        self.len
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says which file failed; index file names are random, so they may be shown.
fn failed(name: &str, error: CryptoError) -> io::Error {
    match error {
        CryptoError::Io(e) => e,
        _ => io::Error::new(io::ErrorKind::InvalidData, format!("{name} does not pass its check")),
    }
}

fn unread(error: io::Error, path: &Path) -> OpenReadError {
    match error.kind() {
        io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(path.to_path_buf()),
        _ => OpenReadError::wrap_io_error(error, path.to_path_buf()),
    }
}
