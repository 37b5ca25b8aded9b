//! An encoder for callers that compare the same texts many times.
use crate::{Encoder, Vector};
use std::cell::RefCell;
use std::collections::HashMap;

/// Largest number of cached vectors, about 8 MB. If a call could exceed this number, the whole cache is cleared first.
const MAX_CACHED_TEXTS: usize = 4_000;

/// An encoder that caches vectors, so that it encodes each text only once.
pub struct CachingEncoder<'e> {
    encoder: &'e Encoder,
    vectors: RefCell<HashMap<Box<str>, Vector>>,
}

impl<'e> CachingEncoder<'e> {
    /// An encoder with an empty cache.
    pub fn new(encoder: &'e Encoder) -> Self {
        Self { encoder, vectors: RefCell::default() }
    }

    /// One vector for each text, in the same order, as [`Encoder::encode`] returns them.
    pub fn encode(&self, texts: &[&str]) -> Vec<Vector> {
        let mut vectors = self.vectors.borrow_mut();
        if vectors.len() + texts.len() > MAX_CACHED_TEXTS {
            vectors.clear();
        }
        let mut missing_texts: Vec<&str> = texts.iter().copied().filter(|text| !vectors.contains_key(*text)).collect();
        missing_texts.sort_unstable();
        missing_texts.dedup();
        let encoded = self.encoder.encode(&missing_texts);
        vectors.extend(missing_texts.into_iter().map(Box::from).zip(encoded));
        texts.iter().filter_map(|text| vectors.get(*text).cloned()).collect()
    }
}
