//! The same file given twice (`conversations-000 (1).zip`), found by its bytes.
use super::source::Source;
use crate::FormatError;
use sha2::{Digest, Sha256};
use std::{collections::HashMap, io::Read};

/// Files seen so far. Bytes are only read when two sizes are equal.
#[derive(Default)]
pub(super) struct Seen {
    by_size: HashMap<u64, Vec<SeenFile>>,
}

/// A file, its place, its digest if that was needed.
type SeenFile = (Source, String, Option<[u8; 32]>);

impl Seen {
    /// Place of an earlier file with the same bytes; otherwise remembers this one.
    pub(super) fn same_as(&mut self, source: &Source, place: &str) -> Result<Option<String>, FormatError> {
        let alike = self.by_size.entry(source.len()).or_default();
        let mut own = None;
        if !alike.is_empty() {
            let digest = digest(source, place)?;
            for (other, other_place, known) in alike.iter_mut() {
                let other_digest = match known {
                    Some(d) => *d,
                    None => *known.insert(self::digest(other, other_place)?),
                };
                if other_digest == digest {
                    return Ok(Some(other_place.clone()));
                }
            }
            own = Some(digest);
        }
        alike.push((source.clone(), place.to_owned(), own));
        Ok(None)
    }
}

fn digest(source: &Source, place: &str) -> Result<[u8; 32], FormatError> {
    let io = |e| FormatError::io(place, e);
    let mut window = source.window(0).map_err(io)?;
    let (mut hasher, mut buf) = (Sha256::new(), vec![0; 256 * 1024]);
    loop {
        let n = window.read(&mut buf).map_err(io)?;
        if n == 0 {
            return Ok(hasher.finalize().into());
        }
        hasher.update(&buf[..n]);
    }
}
