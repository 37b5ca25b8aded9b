//! Opened chunks of index files, the most recently used first, shared by every file of an index.
use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

/// 512 chunks of 64 KiB, 32 MB: enough to write, merge and erase.
const SMALL: NonZeroUsize = NonZeroUsize::new(512).unwrap();
/// 192 MB for whoever asks more than once: the index of a million messages.
const LARGE: NonZeroUsize = NonZeroUsize::new(3072).unwrap();

type Key = (u64, u64);

/// A bounded cache of decrypted chunks. Keys are (file number, chunk number); file numbers are never used twice.
pub(crate) struct ChunkCache(Mutex<lru::LruCache<Key, Arc<[u8]>>>);

impl ChunkCache {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(lru::LruCache::new(SMALL)))
    }

    /// From now on there is more room; answers for how many chunks.
    pub(crate) fn enlarge(&self) -> usize {
        self.lock().resize(LARGE);
        LARGE.get()
    }

    pub(crate) fn get(&self, file: u64, chunk: u64) -> Option<Arc<[u8]>> {
        self.lock().get(&(file, chunk)).cloned()
    }

    pub(crate) fn put(&self, file: u64, chunk: u64, bytes: Arc<[u8]>) {
        self.lock().put((file, chunk), bytes);
    }

    /// Drops every chunk of a file: what was erased leaves memory too.
    pub(crate) fn forget(&self, file: u64) {
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
