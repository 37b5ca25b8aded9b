//! A cache of the first bytes of members, because detection asks for them once per format.
use std::sync::{Arc, Mutex, PoisonError};

/// Length in bytes of the longest head that is cached. The few formats that need longer heads read them each time.
pub(super) const MAX_KEPT_BYTES: usize = 64 << 10;

/// Smallest number of bytes that is read for a head. Most notes are shorter, and most formats need no more.
pub(super) const MIN_READ_BYTES: usize = 4 << 10;

/// Limit in bytes for all cached heads together. Once it is reached, no more heads are cached.
const MAX_TOTAL_BYTES: usize = 48 << 20;

/// The head of one member.
#[derive(Clone)]
struct Head {
    bytes: Arc<[u8]>,
    end: HeadEnd,
}

/// Whether the member has more bytes after its head.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadEnd {
    /// The member may have more bytes.
    More,
    /// The member has no more bytes.
    Complete,
    /// No more bytes of the member can be read, because it is damaged.
    Damaged,
}

#[derive(Default)]
struct LimitedHeads {
    /// The head of the member with each number. A list, because detection looks up each of 100,000 notes many times.
    by_member: Vec<Option<Head>>,
    total_bytes: usize,
}

impl LimitedHeads {
    fn of(&self, member: usize) -> Option<&Head> {
        self.by_member.get(member)?.as_ref()
    }
}

/// Heads by the number of their member.
#[derive(Default)]
pub(super) struct Heads(Mutex<LimitedHeads>);

impl Heads {
    /// The first `n` bytes of a member, or all bytes if the member has fewer. None if these bytes are not cached.
    pub(super) fn get(&self, member: usize, n: usize) -> Option<Vec<u8>> {
        let head = self.0.lock().unwrap_or_else(PoisonError::into_inner).of(member).cloned()?;
        if head.bytes.len() < n && head.end == HeadEnd::More {
            return None;
        }
        Some(head.bytes[..n.min(head.bytes.len())].to_vec())
    }

    /// True if the cache has no head of this member, and has room for a short head.
    pub(super) fn can_keep(&self, member: usize) -> bool {
        let cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cache.of(member).is_none() && cache.total_bytes + MIN_READ_BYTES <= MAX_TOTAL_BYTES
    }

    /// All bytes of a member, if they are cached and undamaged.
    pub(super) fn whole_member(&self, member: usize) -> Option<Arc<[u8]>> {
        let cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cache.of(member).filter(|head| head.end == HeadEnd::Complete).map(|head| head.bytes.clone())
    }

    /// Caches the first bytes of a member, unless a limit would be exceeded.
    pub(super) fn keep(&self, member: usize, bytes: &[u8], end: HeadEnd) {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let previous_len = cache.of(member).map_or(0, |head| head.bytes.len());
        let total_bytes = cache.total_bytes - previous_len + bytes.len();
        if bytes.len() > MAX_KEPT_BYTES || total_bytes > MAX_TOTAL_BYTES {
            return;
        }
        cache.total_bytes = total_bytes;
        if cache.by_member.len() <= member {
            cache.by_member.resize(member + 1, None);
        }
        cache.by_member[member] = Some(Head { bytes: bytes.into(), end });
    }
}
