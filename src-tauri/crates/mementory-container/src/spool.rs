//! Scratch space for bytes that must be read at any position.
use std::io::{Read, Seek, Write};

/// A scratch file that can be read and written at any position.
pub trait SpoolFile: Read + Write + Seek + Send {}
impl<T: Read + Write + Seek + Send> SpoolFile for T {}

/// Creates scratch files, for example for a compressed archive inside an archive. The vault's spool encrypts them.
/// Without a spool the bytes stay in memory, up to a limit.
pub trait Spool: Send + Sync {
    /// Creates an empty scratch file that is removed when dropped.
    fn create(&self) -> std::io::Result<Box<dyn SpoolFile>>;
}
