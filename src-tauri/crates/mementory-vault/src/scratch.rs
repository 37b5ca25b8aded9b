//! Encrypted scratch files, for bytes that must be readable at any position.
use mementory_formats::{Spool, SpoolFile};
use std::{io, path::PathBuf};

/// Scratch files in a folder, each encrypted with a key that lives only in memory.
#[derive(Debug)]
pub struct Scratch(pub PathBuf);

impl Spool for Scratch {
    fn create(&self) -> io::Result<Box<dyn SpoolFile>> {
        let file = mementory_crypto::SpoolFile::create_in(&self.0).map_err(io::Error::other)?;
        Ok(Box::new(file))
    }
}
