//! Stores the bytes of attachments and passthrough files. Each blob is an encrypted file whose name is a keyed digest
//! of its content, so equal bytes are stored only once, and the name reveals nothing. The store records which blobs are
//! in use. All others are deleted.
use crate::{StoreError, StoreResult};
use mementory_crypto::{ChunkReader, ChunkWriter, Context, KeyedHasher, SpoolFile};
use std::{
    collections::HashSet,
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Length in bytes of the longest content that is read into memory. Longer content is first written to an encrypted
/// scratch file.
const MAX_IN_MEMORY_BYTES: usize = 8 << 20;

/// Name (keyed digest) and size of stored bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobInfo {
    /// Keyed digest of the content, which is also the file name.
    pub digest: [u8; 32],
    /// Length of the content in bytes.
    pub size: u64,
}

/// The blob folder.
pub struct Blobs {
    dir: PathBuf,
    scratch: PathBuf,
    key: zeroize::Zeroizing<[u8; 32]>,
}

impl Blobs {
    /// Opens the blob folder of the vault at `vault` and creates it if it is missing.
    pub fn new(vault: &Path, key: &[u8; 32]) -> StoreResult<Self> {
        let dir = vault.join("blobs");
        std::fs::create_dir_all(&dir).map_err(|e| StoreError::io("blobs", e))?;
        Ok(Self { dir, scratch: vault.to_path_buf(), key: zeroize::Zeroizing::new(*key) })
    }

    fn path(&self, digest: &[u8; 32]) -> PathBuf {
        self.dir.join(hex::encode(digest))
    }

    /// Stores the bytes and returns their name and size. If `must_store` is false, computes both values but stores
    /// nothing.
    pub fn put(&self, bytes: &mut dyn Read, must_store: bool) -> StoreResult<BlobInfo> {
        let io = |e| StoreError::io("attachment", e);
        let mut head = Vec::new();
        bytes.take(MAX_IN_MEMORY_BYTES as u64 + 1).read_to_end(&mut head).map_err(io)?;
        if head.len() <= MAX_IN_MEMORY_BYTES {
            let mut hasher = KeyedHasher::new(&self.key);
            hasher.update(&head);
            let info = BlobInfo { digest: hasher.finish(), size: head.len() as u64 };
            if must_store {
                self.write(&info, &mut head.as_slice())?;
            }
            return Ok(info);
        }
        // The file name is a digest of all the content, so large content first goes to an encrypted scratch file.
        let mut spool = SpoolFile::create_in(&self.scratch)?;
        let mut hasher = KeyedHasher::new(&self.key);
        let mut size = 0u64;
        let mut chunk = head;
        loop {
            hasher.update(&chunk);
            size += chunk.len() as u64;
            if must_store {
                spool.write_all(&chunk).map_err(io)?;
            }
            chunk.resize(1 << 20, 0);
            let read_len = bytes.read(&mut chunk).map_err(io)?;
            if read_len == 0 {
                break;
            }
            chunk.truncate(read_len);
        }
        let info = BlobInfo { digest: hasher.finish(), size };
        if must_store {
            spool.seek(SeekFrom::Start(0)).map_err(io)?;
            self.write(&info, &mut spool)?;
        }
        Ok(info)
    }

    fn write(&self, info: &BlobInfo, bytes: &mut dyn Read) -> StoreResult<()> {
        let target = self.path(&info.digest);
        if target.exists() {
            return Ok(());
        }
        let io = |e| StoreError::io("attachment", e);
        let partial = tempfile::Builder::new().prefix(".partial-").tempfile_in(&self.dir).map_err(io)?;
        let name = hex::encode(info.digest);
        let mut writer = ChunkWriter::new(partial, &self.key, &context(&name))?;
        std::io::copy(bytes, &mut writer).map_err(io)?;
        let partial = writer.finish()?;
        partial.as_file().sync_all().map_err(io)?;
        partial.persist(&target).map_err(|e| io(e.error))?;
        Ok(())
    }

    /// Syncs the folder, so that new file names survive a power failure.
    pub fn sync(&self) -> StoreResult<()> {
        File::open(&self.dir).and_then(|d| d.sync_all()).map_err(|e| StoreError::io("blobs", e))
    }

    /// Opens a blob for reading. Fails with `Damaged` if the blob is missing or fails its check.
    pub fn open(&self, digest: &[u8; 32]) -> StoreResult<impl Read + use<>> {
        let name = hex::encode(digest);
        let file = File::open(self.path(digest)).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => StoreError::Damaged(format!("blob {} is not there", short_name(&name))),
            _ => StoreError::io("attachment", e),
        })?;
        let len = file.metadata().map_err(|e| StoreError::io("attachment", e))?.len();
        let reader = ChunkReader::open(file, len, &self.key, &context(&name))
            .map_err(|_| StoreError::Damaged(format!("blob {}", short_name(&name))))?;
        Ok(reader.into_read())
    }

    /// Reads the whole blob. Fails with `Damaged` if any part fails its check.
    pub fn verify(&self, digest: &[u8; 32]) -> StoreResult<()> {
        let mut reader = self.open(digest)?;
        std::io::copy(&mut reader, &mut std::io::sink())
            .map_err(|_| StoreError::Damaged(format!("blob {}", short_name(&hex::encode(digest)))))?;
        Ok(())
    }

    /// Removes every file in the folder that is not a blob with a digest in `keep`, including files left by a crash.
    /// Returns the number of removed files.
    pub fn sweep(&self, keep: &HashSet<[u8; 32]>) -> StoreResult<u32> {
        let mut removed = 0;
        for entry in std::fs::read_dir(&self.dir).map_err(|e| StoreError::io("blobs", e))? {
            let entry = entry.map_err(|e| StoreError::io("blobs", e))?;
            let name = entry.file_name();
            let digest = name.to_str().and_then(|n| hex::decode(n).ok()).and_then(|d| <[u8; 32]>::try_from(d).ok());
            if digest.is_none_or(|d| !keep.contains(&d)) {
                std::fs::remove_file(entry.path()).map_err(|e| StoreError::io("blobs", e))?;
                removed += 1;
            }
        }
        if removed > 0 {
            self.sync()?;
        }
        Ok(removed)
    }

    /// Removes one blob. A blob that is already missing is not an error.
    pub fn remove(&self, digest: &[u8; 32]) -> StoreResult<()> {
        match std::fs::remove_file(self.path(digest)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("attachment", e)),
            _ => Ok(()),
        }
    }

    /// True if a blob with this digest is on disk.
    pub fn exists(&self, digest: &[u8; 32]) -> bool {
        self.path(digest).exists()
    }

    /// Total size of all blobs on disk, in bytes.
    pub fn bytes(&self) -> u64 {
        let Ok(list) = std::fs::read_dir(&self.dir) else { return 0 };
        list.filter_map(|e| e.ok()?.metadata().ok()).map(|m| m.len()).sum()
    }
}

fn context(name: &str) -> Context<'_> {
    Context { purpose: "blob", name, generation: 0 }
}

fn short_name(name: &str) -> &str {
    name.get(..8).unwrap_or(name)
}
