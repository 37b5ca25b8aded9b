//! A cache of values that formats derive from members, because several formats or passes need them.
use std::{
    any::{Any, TypeId},
    sync::{Mutex, PoisonError},
};

/// Limit in bytes for all cached values together. Once it is reached, no more values are cached.
const MAX_TOTAL_BYTES: usize = 32 << 20;

/// Size in bytes above which a value is large. Large values may take only half of the limit, so that there is room for
/// the small values of many members.
const LARGE_BYTES: usize = 16 << 10;

/// A cached value and its type.
type Value = (TypeId, Box<dyn Any + Send + Sync>);

#[derive(Default)]
struct LimitedValues {
    /// The few values of the member with each number. Detection looks up each of 100,000 notes many times, which takes
    /// longer in a hash map.
    by_member: Vec<Vec<Value>>,
    total_bytes: usize,
}

/// The cached values, by member number and type.
#[derive(Default)]
pub(super) struct DerivedValues(Mutex<LimitedValues>);

impl DerivedValues {
    /// Returns the cached value of type `T` for a member. None if there is none.
    pub(super) fn get<T: Any + Clone + Send + Sync>(&self, member: usize) -> Option<T> {
        let cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, value) = cache.by_member.get(member)?.iter().find(|(id, _)| *id == TypeId::of::<T>())?;
        value.downcast_ref::<T>().cloned()
    }

    /// Caches a value of `bytes` bytes, unless a limit would be exceeded.
    pub(super) fn keep<T: Any + Send + Sync>(&self, member: usize, value: T, bytes: usize) {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = if bytes > LARGE_BYTES { MAX_TOTAL_BYTES / 2 } else { MAX_TOTAL_BYTES };
        if cache.total_bytes + bytes > limit {
            return;
        }
        cache.total_bytes += bytes;
        if cache.by_member.len() <= member {
            cache.by_member.resize_with(member + 1, Vec::new);
        }
        let id = TypeId::of::<T>();
        cache.by_member[member].retain(|(other, _)| *other != id);
        cache.by_member[member].push((id, Box::new(value)));
    }
}
