//! The ZIP that we write: deflate, one fixed time, a digest of each entry (spec §4.1).
use super::manifest::MANIFEST;
use crate::FormatError;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;

/// Bytes in memory at a time.
const CHUNK: u64 = 1 << 20;

/// An archive being written.
pub(super) struct Container {
    zip: zip::ZipWriter<BufWriter<File>>,
    place: String,
    digests: BTreeMap<String, String>,
}

impl Container {
    /// A new file; it must not exist yet.
    pub(super) fn create(out: &Path) -> Result<Self, FormatError> {
        let place = out.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let file = File::create_new(out).map_err(|e| FormatError::io(&place, e))?;
        Ok(Self { zip: zip::ZipWriter::new(BufWriter::new(file)), place, digests: BTreeMap::new() })
    }

    /// Is there an entry with this name?
    pub(super) fn has(&self, name: &str) -> bool {
        self.digests.contains_key(name)
    }

    /// Streams an entry in; gives its size and SHA-256.
    pub(super) fn entry(&mut self, name: &str, bytes: &mut dyn Read) -> Result<(u64, String), FormatError> {
        let read = |e| FormatError::io(name, e);
        let mut buffer = Vec::new();
        (&mut *bytes).take(CHUNK).read_to_end(&mut buffer).map_err(read)?;
        // the time is a constant, so that equal content is an equal file; only long entries get a 64-bit header
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(0o644)
            .large_file(buffer.len() as u64 == CHUNK);
        let failed = |e: zip::result::ZipError| FormatError::invalid("zip_failed", name, e.to_string());
        self.zip.start_file(name, options).map_err(failed)?;
        let (mut hasher, mut size) = (Sha256::new(), 0u64);
        while !buffer.is_empty() {
            hasher.update(&buffer);
            size += buffer.len() as u64;
            self.zip.write_all(&buffer).map_err(|e| FormatError::io(&self.place, e))?;
            buffer.clear();
            (&mut *bytes).take(CHUNK).read_to_end(&mut buffer).map_err(read)?;
        }
        let digest = hex::encode(hasher.finalize());
        self.digests.insert(name.to_owned(), digest.clone());
        Ok((size, digest))
    }

    /// An entry whose bytes are pushed by `fill`; gives its SHA-256. None = `fill` wants no entry after all.
    pub(super) fn entry_from(
        &mut self,
        name: &str,
        fill: &mut dyn FnMut(&mut dyn Write) -> Result<bool, FormatError>,
    ) -> Result<Option<String>, FormatError> {
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(0o644)
            .large_file(true);
        let failed = |e: zip::result::ZipError| FormatError::invalid("zip_failed", name, e.to_string());
        self.zip.start_file(name, options).map_err(failed)?;
        let mut hashed = Hashed { inner: &mut self.zip, hasher: Sha256::new() };
        let wanted = fill(&mut hashed)?;
        let digest = hex::encode(hashed.hasher.finalize());
        if !wanted {
            self.zip.abort_file().map_err(failed)?;
            return Ok(None);
        }
        self.digests.insert(name.to_owned(), digest.clone());
        Ok(Some(digest))
    }

    /// The checksum `keepsake-v1` over everything written so far.
    pub(super) fn checksum(&self) -> String {
        checksum(self.digests.iter().map(|(name, digest)| (name.as_str(), digest.as_str())))
    }

    /// Writes the central directory and waits until the file is on disk.
    pub(super) fn finish(self) -> Result<(), FormatError> {
        let failed = |e: zip::result::ZipError| FormatError::invalid("zip_failed", &self.place, e.to_string());
        let buffered = self.zip.finish().map_err(failed)?;
        let file = buffered.into_inner().map_err(|e| FormatError::io(&self.place, e.into_error()))?;
        file.sync_all().map_err(|e| FormatError::io(&self.place, e))
    }
}

/// Takes the digest of what goes through.
struct Hashed<'a> {
    inner: &'a mut dyn Write,
    hasher: Sha256,
}

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

/// `sha256:` over the lines `<sha256>  <entry name>\n` in name order, the manifest left out.
pub(super) fn checksum<'a>(digests: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines: Vec<_> = digests.filter(|(name, _)| *name != MANIFEST).collect();
    lines.sort_unstable();
    let mut hasher = Sha256::new();
    for (name, digest) in lines {
        hasher.update(format!("{digest}  {name}\n"));
    }
    format!("sha256:{}", hex::encode(hasher.finalize()))
}
