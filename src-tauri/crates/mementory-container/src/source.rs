//! Random access to the bytes of a plain file, of memory, of a scratch file, or of a range of one of these.
use super::spool::SpoolFile;
use std::{
    fs::File,
    io::{Error, ErrorKind, Read, Seek, SeekFrom},
    path::PathBuf,
    sync::{Arc, Mutex},
};

/// Random-access bytes. Cloning is cheap. Every [`Window`] has its own position, so several windows can be read at the
/// same time. A scratch file is locked during each read call. Each window opens a plain file again, so that a folder of
/// thousands of archives does not need thousands of open files.
#[derive(Clone)]
pub(super) struct Source {
    backing: Backing,
    start: u64,
    len: u64,
}

#[derive(Clone)]
enum Backing {
    File(Arc<PathBuf>),
    Memory(Arc<[u8]>),
    Spooled(Arc<Mutex<Box<dyn SpoolFile>>>),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("start", &self.start).field("len", &self.len).finish_non_exhaustive()
    }
}

impl Source {
    /// A regular file of `len` bytes.
    pub(super) fn file(path: PathBuf, len: u64) -> Self {
        Self { backing: Backing::File(Arc::new(path)), start: 0, len }
    }

    pub(super) fn memory(bytes: Vec<u8>) -> Self {
        let len = bytes.len() as u64;
        Self { backing: Backing::Memory(bytes.into()), start: 0, len }
    }

    pub(super) fn spooled(file: Box<dyn SpoolFile>, len: u64) -> Self {
        Self { backing: Backing::Spooled(Arc::new(Mutex::new(file))), start: 0, len }
    }

    /// Returns a source of the same bytes that opens a plain file once for all its windows instead of once for each.
    /// For callers with many short reads.
    pub(super) fn with_open_file(&self) -> std::io::Result<Self> {
        let Backing::File(path) = &self.backing else { return Ok(self.clone()) };
        let file: Box<dyn SpoolFile> = Box::new(File::open(path.as_ref())?);
        Ok(Self { backing: Backing::Spooled(Arc::new(Mutex::new(file))), ..*self })
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// A range of this source, limited to the end of the source.
    pub(super) fn slice(&self, start: u64, len: u64) -> Self {
        let start = start.min(self.len);
        Self { backing: self.backing.clone(), start: self.start + start, len: len.min(self.len - start) }
    }

    /// A reader from `at` to the end.
    pub(super) fn window(&self, at: u64) -> std::io::Result<Window> {
        let at = at.min(self.len);
        let handle = match &self.backing {
            Backing::File(path) => {
                let mut file = File::open(path.as_ref())?;
                file.seek(SeekFrom::Start(self.start + at))?;
                Handle::File(file)
            }
            Backing::Memory(bytes) => Handle::Memory(bytes.clone()),
            Backing::Spooled(file) => Handle::Spooled(file.clone()),
        };
        let start = self.start;
        Ok(Window { handle, start, at: start + at, end: start + self.len })
    }

    /// Reads `len` bytes at a position, or fewer at the end of the source.
    pub(super) fn bytes(&self, position: u64, len: usize) -> std::io::Result<Vec<u8>> {
        let remaining = usize::try_from(self.len().saturating_sub(position)).unwrap_or(usize::MAX);
        let mut out = Vec::with_capacity(len.min(remaining));
        self.window(position)?.take(len as u64).read_to_end(&mut out)?;
        Ok(out)
    }

    /// First position at or after `from` where `needle` occurs. None if it does not occur.
    pub(super) fn find(&self, needle: &[u8], from: u64) -> std::io::Result<Option<u64>> {
        self.find_within(u64::MAX, needle, from)
    }

    /// Like [`find`](Self::find), in the `max` bytes after `from`.
    pub(super) fn find_within(&self, max: u64, needle: &[u8], from: u64) -> std::io::Result<Option<u64>> {
        let mut window = self.window(from)?.take(max);
        // The first reads are short, because the next match is usually near and a file may contain many matches.
        let (mut buf, mut base, mut step) = (Vec::new(), from, 512);
        loop {
            let read = (&mut window).take(step).read_to_end(&mut buf)?;
            step = (step * 4).min(1 << 20);
            if let Some(position) = memchr::memmem::find(&buf, needle) {
                return Ok(Some(base + position as u64));
            }
            if read == 0 {
                return Ok(None);
            }
            let scanned = buf.len().saturating_sub(needle.len() - 1);
            buf.drain(..scanned);
            base += scanned as u64;
        }
    }
}

/// A reader of a [`Source`] with its own position.
pub(super) struct Window {
    handle: Handle,
    start: u64,
    at: u64,
    end: u64,
}

enum Handle {
    File(File),
    Memory(Arc<[u8]>),
    Spooled(Arc<Mutex<Box<dyn SpoolFile>>>),
}

impl Read for Window {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let wanted_bytes = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buf.len());
        if wanted_bytes == 0 {
            return Ok(0);
        }
        let n = match &mut self.handle {
            Handle::File(file) => file.read(&mut buf[..wanted_bytes])?,
            Handle::Memory(bytes) => {
                let position = usize::try_from(self.at).map_err(std::io::Error::other)?;
                buf[..wanted_bytes].copy_from_slice(&bytes[position..position + wanted_bytes]);
                wanted_bytes
            }
            Handle::Spooled(file) => {
                let mut file = file.lock().map_err(|_| std::io::Error::other("scratch space is unusable"))?;
                file.seek(SeekFrom::Start(self.at))?;
                file.read(&mut buf[..wanted_bytes])?
            }
        };
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Window {
    /// Positions are counted from the start of the source. A position outside the source is an error.
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let target = match to {
            SeekFrom::Start(position) => self.start.checked_add(position),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        let target = target
            .filter(|position| (self.start..=self.end).contains(position))
            .ok_or_else(|| Error::new(ErrorKind::UnexpectedEof, "the file ends early"))?;
        if let Handle::File(file) = &mut self.handle {
            file.seek(SeekFrom::Start(target))?;
        }
        self.at = target;
        Ok(target - self.start)
    }
}
