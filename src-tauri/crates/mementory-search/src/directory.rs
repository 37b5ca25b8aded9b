//! An encrypted folder in which tantivy keeps its files.
//!
//! Every file is encrypted in authenticated chunks, which are bound to the name of the file and to a random generation
//! number that is chosen when the file is written. The encrypted `meta.json` lists the generations of all files. A file
//! that was changed, truncated, swapped or renamed therefore fails its check. So does an older file of the same name,
//! because `meta.json` lists another generation.
//!
//! All that an attacker can do is to restore an old `meta.json` together with every file that it lists. Such an index
//! passes its check, but its commit contains an old change number. The vault compares this number with its store, and
//! rebuilds an index that is behind.
//!
//! The list of files comes from the folder itself. tantivy's `.managed.json` is never written; its content is computed
//! from the folder whenever it is read, so it cannot disagree with the disk after a crash. Locks exist only in memory,
//! because the vault's own lock keeps other processes out.
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

pub(crate) const META_FILE: &str = "meta.json";
const MANAGED_FILE: &str = ".managed.json";
const PARTIAL_PREFIX: &str = ".partial-";
const FILE_PURPOSE: &str = "index";

/// Content of the encrypted `meta.json`: the text that tantivy wrote, and the generations of all files.
#[derive(serde::Serialize, serde::Deserialize)]
struct EncryptedMeta {
    generations: BTreeMap<String, u64>,
    meta: String,
}

struct DirectoryState {
    dir: PathBuf,
    key: Zeroizing<[u8; 32]>,
    cache: ChunkCache,
    /// Generation and file number (see [`ChunkCache`]) of each file that was written or that `meta.json` lists.
    files: Mutex<HashMap<String, (u64, u64)>>,
    next_file_number: AtomicU64,
    locks: Mutex<HashSet<PathBuf>>,
    released: Condvar,
}

/// An encrypted folder for tantivy, see the module documentation. Clones share their state.
#[derive(Clone)]
pub struct EncryptedDirectory(Arc<DirectoryState>);

impl EncryptedDirectory {
    /// Opens the folder, which must exist, and reads `meta.json` if there is one. Fails with `InvalidData` if
    /// `meta.json` fails its check.
    pub fn open(dir: &Path, key: &[u8; 32]) -> io::Result<Self> {
        let directory = Self(Arc::new(DirectoryState {
            dir: dir.to_path_buf(),
            key: Zeroizing::new(*key),
            cache: ChunkCache::new(),
            files: Mutex::default(),
            next_file_number: AtomicU64::new(0),
            locks: Mutex::default(),
            released: Condvar::new(),
        }));
        match directory.read_meta() {
            Ok(meta) => {
                let mut files = lock(&directory.0.files);
                for (name, generation) in meta.generations {
                    files.insert(name, (generation, directory.take_file_number()));
                }
                drop(files);
                Ok(directory)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(directory),
            Err(e) => Err(e),
        }
    }

    /// Names of all entries of the folder, including unfinished files.
    pub(crate) fn file_names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.0.dir)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// True if a file with this name was written or is listed in `meta.json`.
    pub(crate) fn is_known(&self, name: &str) -> bool {
        name == META_FILE || lock(&self.0.files).contains_key(name)
    }

    /// Decrypts a whole file chunk by chunk, and calls `each` with every chunk. Fails if a chunk fails its check.
    /// Returns the decrypted length in bytes.
    pub(crate) fn scan(&self, name: &str, mut each: impl FnMut(&[u8])) -> io::Result<u64> {
        let (generation, _) = if name == META_FILE { (0, 0) } else { self.file_entry(name)? };
        let reader = self.reader(name, generation)?;
        let mut chunk = Vec::new();
        for number in 0..reader.chunks() {
            reader.read_chunk(number, &mut chunk)?;
            each(&chunk);
        }
        Ok(reader.len())
    }

    /// Enlarges the chunk cache and returns its capacity in chunks.
    pub(crate) fn enlarge_cache(&self) -> usize {
        self.0.cache.enlarge()
    }

    /// Decrypts at most `max_chunks` chunks at the start of a file into the cache. Returns how many it decrypted.
    pub(crate) fn read_ahead(&self, name: &str, max_chunks: usize) -> io::Result<usize> {
        let (generation, file_number) = self.file_entry(name)?;
        let file = FileReader {
            directory: self.clone(),
            reader: self.reader(name, generation)?,
            file_number,
            len: 0,
            name: name.to_owned(),
        };
        let chunks = file.reader.chunks().min(max_chunks as u64);
        for chunk in 0..chunks {
            file.chunk(chunk)?;
        }
        Ok(chunks as usize)
    }

    fn take_file_number(&self) -> u64 {
        self.0.next_file_number.fetch_add(1, Ordering::Relaxed)
    }

    fn file_entry(&self, name: &str) -> io::Result<(u64, u64)> {
        let unknown_file_error =
            || io::Error::new(io::ErrorKind::InvalidData, format!("{name} is not part of the index"));
        lock(&self.0.files).get(name).copied().ok_or_else(unknown_file_error)
    }

    fn reader(&self, name: &str, generation: u64) -> io::Result<ChunkReader<File>> {
        let file = File::open(self.0.dir.join(name))?;
        let len = file.metadata()?.len();
        let context = Context { purpose: FILE_PURPOSE, name, generation };
        ChunkReader::open(file, len, &self.0.key, &context).map_err(|e| read_error(name, e))
    }

    fn read_meta(&self) -> io::Result<EncryptedMeta> {
        let mut bytes = Vec::new();
        self.reader(META_FILE, 0)?.into_read().read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    fn write_meta(&self, data: &[u8]) -> io::Result<()> {
        let meta = std::str::from_utf8(data).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?.to_owned();
        let generations = lock(&self.0.files).iter().map(|(n, (g, _))| (n.clone(), *g)).collect();
        let bytes = serde_json::to_vec(&EncryptedMeta { generations, meta })?;
        let file = tempfile::Builder::new().prefix(PARTIAL_PREFIX).tempfile_in(&self.0.dir)?;
        let mut writer =
            ChunkWriter::new(file, &self.0.key, &Context { purpose: FILE_PURPOSE, name: META_FILE, generation: 0 })?;
        writer.write_all(&bytes)?;
        let file = writer.finish()?;
        file.as_file().sync_all()?;
        file.persist(self.0.dir.join(META_FILE)).map_err(|e| e.error)?;
        self.sync_directory()
    }

    /// Content of tantivy's `.managed.json`: every file in the folder that is not hidden.
    fn managed_json(&self) -> io::Result<Vec<u8>> {
        let names: Vec<String> = self.file_names()?.into_iter().filter(|n| !n.starts_with('.')).collect();
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
        let name = file_name(path);
        let open = || {
            let (generation, file_number) = self.file_entry(&name)?;
            let reader = self.reader(&name, generation)?;
            let len = usize::try_from(reader.len()).map_err(|_| io::ErrorKind::InvalidData)?;
            Ok(FileReader { directory: self.clone(), reader, file_number, len, name: name.clone() })
        };
        match open() {
            Ok(file) => Ok(Arc::new(file)),
            Err(e) => Err(open_read_error(e, path)),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let name = file_name(path);
        if let Some((_, number)) = lock(&self.0.files).remove(&name) {
            self.0.cache.forget(number);
        }
        std::fs::remove_file(self.0.dir.join(&name)).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(path.to_path_buf()),
            _ => DeleteError::IoError { io_error: Arc::new(e), filepath: path.to_path_buf() },
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.dir.join(file_name(path)).try_exists().map_err(|e| open_read_error(e, path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let name = file_name(path);
        let create = || {
            let file = File::options().write(true).create_new(true).open(self.0.dir.join(&name))?;
            // A generation has eight random bytes, so two files of the same name have equal generations only with a
            // probability of 2^-64.
            let generation = u64::from_le_bytes(random_bytes()?);
            let writer =
                ChunkWriter::new(file, &self.0.key, &Context { purpose: FILE_PURPOSE, name: &name, generation })?;
            lock(&self.0.files).insert(name.clone(), (generation, self.take_file_number()));
            Ok(FileWriter(Some(writer)))
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
        let read = match file_name(path).as_str() {
            META_FILE => self.read_meta().map(|m| m.meta.into_bytes()),
            MANAGED_FILE => self.managed_json(),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        read.map_err(|e| open_read_error(e, path))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        match file_name(path).as_str() {
            META_FILE => self.write_meta(data),
            MANAGED_FILE => Ok(()),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn sync_directory(&self) -> io::Result<()> {
        // Windows has no way to flush a folder.
        #[cfg(unix)]
        File::open(&self.0.dir)?.sync_all()?;
        Ok(())
    }

    fn acquire_lock(&self, wanted_lock: &Lock) -> Result<DirectoryLock, LockError> {
        let mut held_locks = lock(&self.0.locks);
        while held_locks.contains(&wanted_lock.filepath) {
            if !wanted_lock.is_blocking {
                return Err(LockError::LockBusy);
            }
            held_locks = self.0.released.wait(held_locks).unwrap_or_else(PoisonError::into_inner);
        }
        held_locks.insert(wanted_lock.filepath.clone());
        Ok(DirectoryLock::from(Box::new(LockGuard { directory: self.clone(), path: wanted_lock.filepath.clone() })))
    }

    /// Does nothing: this crate reloads the reader itself after each commit.
    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

struct LockGuard {
    directory: EncryptedDirectory,
    path: PathBuf,
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        lock(&self.directory.0.locks).remove(&self.path);
        self.directory.0.released.notify_all();
    }
}

/// An index file being written.
struct FileWriter(Option<ChunkWriter<File>>);

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for FileWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let writer = self.0.take().ok_or(io::ErrorKind::BrokenPipe)?;
        writer.finish()?.sync_all()
    }
}

/// An index file opened for reading.
struct FileReader {
    directory: EncryptedDirectory,
    reader: ChunkReader<File>,
    file_number: u64,
    len: usize,
    name: String,
}

impl FileReader {
    fn chunk(&self, number: u64) -> io::Result<Arc<[u8]>> {
        let cache = &self.directory.0.cache;
        if let Some(chunk) = cache.get(self.file_number, number) {
            return Ok(chunk);
        }
        let mut bytes = Vec::new();
        self.reader.read_chunk(number, &mut bytes).map_err(|e| read_error(&self.name, e))?;
        let chunk: Arc<[u8]> = bytes.into();
        cache.put(self.file_number, number, chunk.clone());
        Ok(chunk)
    }
}

impl FileHandle for FileReader {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.len {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{}: range outside the file", self.name)));
        }
        let mut out = Vec::with_capacity(range.len());
        let mut position = range.start;
        while position < range.end {
            let chunk = self.chunk((position / CHUNK_LEN) as u64)?;
            let start = position % CHUNK_LEN;
            let end = chunk.len().min(start + range.end - position);
            out.extend_from_slice(&chunk[start..end]);
            position += end - start;
        }
        Ok(OwnedBytes::new(out))
    }
}

impl HasLen for FileReader {
    fn len(&self) -> usize {
        self.len
    }
}

impl std::fmt::Debug for FileReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

fn file_name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error that names the unreadable file. Names of index files are random, so they may be shown.
fn read_error(name: &str, error: CryptoError) -> io::Error {
    match error {
        CryptoError::Io(e) => e,
        _ => io::Error::new(io::ErrorKind::InvalidData, format!("{name} does not pass its check")),
    }
}

fn open_read_error(error: io::Error, path: &Path) -> OpenReadError {
    match error.kind() {
        io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(path.to_path_buf()),
        _ => OpenReadError::wrap_io_error(error, path.to_path_buf()),
    }
}
