//! Writes a ZIP archive entry by entry. The same content always produces the same bytes.
use mementory_format::{ArchiveFile, FormatError};
use std::{
    io::{Read, Write},
    path::Path,
};
use zip::{CompressionMethod, DateTime, ZipWriter, result::ZipError, write::SimpleFileOptions};

/// An archive that is being written. None in a dry run, which writes nothing.
pub struct ZipFile(Option<Open>);

struct Open {
    zip: ZipWriter<ArchiveFile>,
    place: String,
}

fn zip_error(error: ZipError, place: &str) -> FormatError {
    match error {
        ZipError::Io(source) => FormatError::io(place, source),
        other => FormatError::invalid("zip_failed", place, other.to_string()),
    }
}

impl ZipFile {
    /// Creates the archive, which must not exist yet. Without a path, nothing is written.
    pub fn create(out: Option<&Path>) -> Result<Self, FormatError> {
        let Some(out) = out else { return Ok(Self(None)) };
        let place = out.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let io = |e| FormatError::io(&place, e);
        let file = mementory_format::create_private_file(out).map_err(io)?;
        Ok(Self(Some(Open { zip: ZipWriter::new(ArchiveFile::new(file)), place })))
    }

    /// True if the archive is written, false in a dry run.
    pub fn is_written(&self) -> bool {
        self.0.is_some()
    }

    /// Begins an entry. Its time is constant, so that equal content produces equal bytes.
    pub fn start(&mut self, name: &str) -> Result<(), FormatError> {
        let Some(open) = &mut self.0 else { return Ok(()) };
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644)
            .large_file(true);
        open.zip.start_file(name, options).map_err(|e| zip_error(e, name))
    }

    /// Appends a text to the current entry.
    pub fn write(&mut self, text: &str) -> Result<(), FormatError> {
        let Some(open) = &mut self.0 else { return Ok(()) };
        open.zip.write_all(text.as_bytes()).map_err(|e| FormatError::io(&open.place, e))
    }

    /// Appends all bytes of a reader to the current entry.
    pub fn copy(&mut self, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let Some(open) = &mut self.0 else { return Ok(()) };
        std::io::copy(bytes, &mut open.zip).map(drop).map_err(|e| FormatError::io(&open.place, e))
    }

    /// Writes one whole entry.
    pub fn entry(&mut self, name: &str, text: &str) -> Result<(), FormatError> {
        self.start(name)?;
        self.write(text)
    }

    /// Completes the archive and flushes it to disk.
    pub fn finish(self) -> Result<(), FormatError> {
        let Some(Open { zip, place }) = self.0 else { return Ok(()) };
        zip.finish().map_err(|e| zip_error(e, &place))?.finish().map_err(|e| FormatError::io(&place, e))
    }
}
