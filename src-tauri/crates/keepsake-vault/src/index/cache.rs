//! Opened chunks of index files, the most recently used first, shared by every file of an index.
use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

/// 2,048 chunks of 64 KiB, 128 MB at most: the words that people ask for in a vault of a million messages.
const CHUNKS: NonZeroUsize = NonZeroUsize::new(2048).unwrap();

type Key = (u64, u64);

/// A bounded cache of decrypted chunks. Keys are (file number, chunk number); file numbers are never used twice.
pub(super) struct ChunkCache(Mutex<lru::LruCache<Key, Arc<[u8]>>>);

impl ChunkCache {
    pub(super) fn new() -> Self {
        Self(Mutex::new(lru::LruCache::new(CHUNKS)))
    }

    pub(super) fn get(&self, file: u64, chunk: u64) -> Option<Arc<[u8]>> {
        self.lock().get(&(file, chunk)).cloned()
    }

    pub(super) fn put(&self, file: u64, chunk: u64, bytes: Arc<[u8]>) {
        self.lock().put((file, chunk), bytes);
    }

    /// Drops every chunk of a file: what was erased leaves memory too.
    pub(super) fn forget(&self, file: u64) {
        let mut cache = self.lock();
        let keys: Vec<Key> = cache.iter().map(|(k, _)| *k).filter(|k| k.0 == file).collect();
        for key in keys {
            cache.pop(&key);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, lru::LruCache<Key, Arc<[u8]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
