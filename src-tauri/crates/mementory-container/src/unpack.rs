//! Copies the content of a stream to scratch space, or to memory if there is no scratch space, so that the content can
//! be read at any position.
use super::{source::Source, spool::Spool};
use crate::FormatError;
use std::io::{Error, ErrorKind, Read, Write};

/// The content of a stream.
pub(super) struct Unpacked {
    pub(super) source: Source,
    /// The error that ended the stream early.
    pub(super) damage: Option<Error>,
}

/// Reads a stream to its end. None if the stream has more than `max_bytes`.
///
/// # Errors
/// I/O of the scratch space.
pub(super) fn unpack(
    stream: &mut dyn Read,
    max_bytes: u64,
    spool: Option<&dyn Spool>,
    place: &str,
) -> Result<Option<Unpacked>, FormatError> {
    let io = |e| FormatError::io(place, e);
    let (mut memory, mut file) = (Vec::new(), spool.map(|s| s.create()).transpose().map_err(io)?);
    let (mut buffer, mut len) = (vec![0; 256 << 10], 0u64);
    let damage = loop {
        let read_len = match stream.read(&mut buffer) {
            Ok(0) => break None,
            Ok(read_len) => read_len,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => break Some(e),
        };
        len += read_len as u64;
        if len > max_bytes {
            return Ok(None);
        }
        match &mut file {
            Some(file) => file.write_all(&buffer[..read_len]).map_err(io)?,
            None => memory.extend_from_slice(&buffer[..read_len]),
        }
    };
    let source = match file {
        Some(file) => Source::spooled(file, len),
        None => Source::memory(memory),
    };
    Ok(Some(Unpacked { source, damage }))
}
