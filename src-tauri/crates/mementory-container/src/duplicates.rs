//! Finds files with the same bytes, such as a file that was downloaded twice (`conversations-000 (1).zip`).
use super::source::Source;
use crate::FormatError;
use sha2::{Digest, Sha256};
use std::{collections::HashMap, io::Read};

/// The files seen so far. The bytes of a file are read only if another file has the same size.
#[derive(Default)]
pub(super) struct DuplicateFinder {
    by_size: HashMap<u64, Vec<KnownFile>>,
}

/// A file, its place, and its SHA-256 digest if it was computed.
type KnownFile = (Source, String, Option<[u8; 32]>);

impl DuplicateFinder {
    /// Place of an earlier file with the same bytes. If there is none, remembers this file and returns None.
    pub(super) fn find(&mut self, source: &Source, place: &str) -> Result<Option<String>, FormatError> {
        let same_size = self.by_size.entry(source.len()).or_default();
        let mut file_digest = None;
        if !same_size.is_empty() {
            let digest = sha256_of(source, place)?;
            for (other_file, other_place, known_digest) in same_size.iter_mut() {
                let other_digest = match known_digest {
                    Some(d) => *d,
                    None => *known_digest.insert(sha256_of(other_file, other_place)?),
                };
                if other_digest == digest {
                    return Ok(Some(other_place.clone()));
                }
            }
            file_digest = Some(digest);
        }
        same_size.push((source.clone(), place.to_owned(), file_digest));
        Ok(None)
    }
}

fn sha256_of(source: &Source, place: &str) -> Result<[u8; 32], FormatError> {
    let io = |e| FormatError::io(place, e);
    let mut window = source.window(0).map_err(io)?;
    let (mut hasher, mut buf) = (Sha256::new(), vec![0; 256 * 1024]);
    loop {
        let read_len = window.read(&mut buf).map_err(io)?;
        if read_len == 0 {
            return Ok(hasher.finalize().into());
        }
        hasher.update(&buf[..read_len]);
    }
}
