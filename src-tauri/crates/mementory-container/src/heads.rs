//! The first bytes of members, kept in memory because detection asks for them once per format.
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Longest head that is kept, in bytes. Only a few formats need longer heads, which are read each time.
pub(super) const MAX_KEPT_BYTES: usize = 64 << 10;

/// Smallest number of bytes that is read for a head. Most notes are shorter than this, and most formats need no more.
pub(super) const MIN_READ_BYTES: usize = 4 << 10;

/// Limit in bytes for all heads together. When it is reached, the heads of further members are read each time.
const MAX_TOTAL_BYTES: usize = 48 << 20;

/// The head of one member.
#[derive(Clone)]
struct Head {
    bytes: Arc<[u8]>,
    /// True if the member has no bytes after these, or none that can be read.
    is_whole: bool,
}

#[derive(Default)]
struct KeptHeads {
    by_member: HashMap<usize, Head>,
    total_bytes: usize,
}

/// Heads by the number of their member.
#[derive(Default)]
pub(super) struct Heads(Mutex<KeptHeads>);

impl Heads {
    /// The first `n` bytes of a member, or all bytes if the member has fewer. None if they are not kept.
    pub(super) fn get(&self, member: usize, n: usize) -> Option<Vec<u8>> {
        let head = self.0.lock().unwrap_or_else(PoisonError::into_inner).by_member.get(&member).cloned()?;
        if head.bytes.len() < n && !head.is_whole {
            return None;
        }
        Some(head.bytes[..n.min(head.bytes.len())].to_vec())
    }

    /// Keeps the first bytes of a member, unless a limit is reached. `is_whole` is true if the member has no further
    /// bytes.
    pub(super) fn keep(&self, member: usize, bytes: &[u8], is_whole: bool) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = kept.by_member.get(&member).map_or(0, |head| head.bytes.len());
        let total_bytes = kept.total_bytes - before + bytes.len();
        if bytes.len() > MAX_KEPT_BYTES || total_bytes > MAX_TOTAL_BYTES {
            return;
        }
        kept.total_bytes = total_bytes;
        kept.by_member.insert(member, Head { bytes: bytes.into(), is_whole });
    }
}
