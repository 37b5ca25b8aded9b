//! Cache of decrypted chunks of index files, shared by all files of an index. The least recently used chunks are
//! dropped first.
use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

/// Initial capacity: 512 chunks of 64 KiB (32 MiB), enough to write, merge and erase.
const INITIAL_CHUNKS: NonZeroUsize = NonZeroUsize::new(512).unwrap();
/// Capacity after [`ChunkCache::enlarge`]: 192 MiB, enough for searches in an index of a million messages.
const ENLARGED_CHUNKS: NonZeroUsize = NonZeroUsize::new(3072).unwrap();

type ChunkKey = (u64, u64);

/// A bounded cache of decrypted chunks. Keys are (file number, chunk number); file numbers are never reused.
pub(crate) struct ChunkCache(Mutex<lru::LruCache<ChunkKey, Arc<[u8]>>>);

impl ChunkCache {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(lru::LruCache::new(INITIAL_CHUNKS)))
    }

    /// Increases the capacity to make searches faster. Returns the new capacity in chunks.
    pub(crate) fn enlarge(&self) -> usize {
        self.lock().resize(ENLARGED_CHUNKS);
        ENLARGED_CHUNKS.get()
    }

    pub(crate) fn get(&self, file: u64, chunk: u64) -> Option<Arc<[u8]>> {
        self.lock().get(&(file, chunk)).cloned()
    }

    pub(crate) fn put(&self, file: u64, chunk: u64, bytes: Arc<[u8]>) {
        self.lock().put((file, chunk), bytes);
    }

    /// Drops all chunks of a file, so that erased words do not stay in memory.
    pub(crate) fn forget(&self, file: u64) {
        let mut cache = self.lock();
        let keys: Vec<ChunkKey> = cache.iter().map(|(k, _)| *k).filter(|k| k.0 == file).collect();
        for key in keys {
            cache.pop(&key);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, lru::LruCache<ChunkKey, Arc<[u8]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
