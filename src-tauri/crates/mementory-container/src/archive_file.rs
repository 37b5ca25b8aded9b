use std::{
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
};

/// The file of an archive that is being written by `zip::ZipWriter`.
///
/// When `ZipWriter` is dropped, it writes the end of the archive, even after a write has failed, for example on a full
/// disk. In debug builds it then asserts that the position never decreases, and it prints a second error. So after the
/// first failure this file only counts positions and writes nothing more. The caller already has the error from the
/// failed call.
pub struct ArchiveFile<F: Write + Seek = File> {
    file: BufWriter<F>,
    has_failed: bool,
    /// Position in the file, in bytes.
    position: u64,
    /// Length of the file, in bytes.
    length: u64,
}

impl ArchiveFile {
    /// Writes what is still in memory, and waits until the file is on disk.
    ///
    /// # Errors
    /// I/O. Also fails if an earlier write failed, because then the file is incomplete.
    pub fn finish(self) -> io::Result<()> {
        if self.has_failed {
            return Err(io::Error::other("an earlier write to this file failed"));
        }
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

impl<F: Write + Seek> ArchiveFile<F> {
    /// Returns a writer that starts at the beginning of `file`, which must be empty.
    pub fn new(file: F) -> Self {
        Self { file: BufWriter::new(file), has_failed: false, position: 0, length: 0 }
    }

    /// Sets the position that `ZipWriter` expects after a write or seek, even if the write or seek fails.
    fn move_to(&mut self, position: u64) -> u64 {
        self.position = position;
        self.length = self.length.max(position);
        position
    }

    fn note_failure<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.has_failed |= matches!(&result, Err(error) if error.kind() != io::ErrorKind::Interrupted);
        result
    }
}

impl<F: Write + Seek> Write for ArchiveFile<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = if self.has_failed { Ok(bytes.len()) } else { self.file.write(bytes) };
        let written = *result.as_ref().unwrap_or(&0) as u64;
        self.move_to(self.position + written);
        self.note_failure(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.has_failed {
            return Ok(());
        }
        let result = self.file.flush();
        self.note_failure(result)
    }
}

impl<F: Write + Seek> Seek for ArchiveFile<F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
        };
        let target = self.move_to(target.ok_or(io::ErrorKind::InvalidInput)?);
        if self.has_failed {
            return Ok(target);
        }
        let result = self.file.seek(SeekFrom::Start(target));
        self.note_failure(result)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use zip::{ZipWriter, write::SimpleFileOptions};

    /// A file that accepts `accepted` writes and fails every later write, as on a full disk.
    struct FullDisk {
        file: io::Cursor<Vec<u8>>,
        accepted: u32,
    }

    impl Write for FullDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.accepted = self.accepted.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            self.file.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for FullDisk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    fn write_archive(out: FullDisk) -> zip::result::ZipResult<()> {
        let mut zip = ZipWriter::new(ArchiveFile::new(out));
        for name in ["first", "second"] {
            zip.start_file(name, SimpleFileOptions::default())?;
            zip.write_all(name.as_bytes())?;
        }
        zip.finish()?.flush()?;
        Ok(())
    }

    #[test]
    fn an_archive_can_be_dropped_after_any_failed_write() {
        let results = (0..).map(|accepted| write_archive(FullDisk { file: io::Cursor::default(), accepted }));
        let failures: Vec<_> = results.map_while(Result::err).collect();
        assert!(failures.len() > 3, "the archive needed only {} writes", failures.len());
        for error in failures {
            assert_eq!(io::Error::from(error).kind(), io::ErrorKind::StorageFull);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_with_a_failed_write_is_never_complete() {
        let full_disk = File::options().write(true).open("/dev/full").unwrap();
        let mut file = ArchiveFile::new(full_disk);
        file.write_all(&[7; 100]).unwrap();
        assert!(file.flush().is_err());
        file.write_all(&[7; 100]).unwrap();
        assert_eq!(file.stream_position().unwrap(), 200);
        assert_eq!(file.seek(SeekFrom::End(-50)).unwrap(), 150);
        assert!(file.seek(SeekFrom::Current(-151)).is_err());
        assert!(file.finish().is_err());
    }
}
