//! Writes the ZIP archive: deflated, with a fixed modification time and a digest for each entry (spec §4.1). With a
//! passphrase, the whole file is encrypted while it is written (spec §8.3).
use super::manifest::MANIFEST_FILE;
use mementory_format::{ArchiveFile, FormatError, Passphrase, SealedFile, folded_name, is_reserved_name};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{Read, Sink, Write};
use std::path::Path;
use zip::ZipWriter;
use zip::result::{ZipError, ZipResult};
use zip::write::{SimpleFileOptions, StreamWriter};

/// Number of bytes of an entry that are read at a time.
const READ_BUFFER_BYTES: u64 = 1 << 20;

/// The destination of the archive.
enum ZipOutput {
    /// No file: all bytes are discarded.
    Discarded(Sink),
    /// A plain file.
    Plain(ZipWriter<ArchiveFile>),
    /// An encrypted file, whose writer cannot seek. The second value is another handle to the file, for syncing it to
    /// disk.
    Encrypted(ZipWriter<StreamWriter<Box<dyn SealedFile>>>, File),
}

/// Converts an error of the ZIP writer. The result contains the cause of a failed write, such as a full disk.
fn zip_error(error: ZipError, place: &str) -> FormatError {
    match error {
        ZipError::Io(source) => FormatError::io(place, source),
        other => FormatError::invalid("zip_failed", place, other.to_string()),
    }
}

impl ZipOutput {
    fn start(&mut self, name: &str, options: SimpleFileOptions) -> ZipResult<()> {
        match self {
            Self::Discarded(_) => Ok(()),
            Self::Plain(zip) => zip.start_file(name, options),
            Self::Encrypted(zip, _) => zip.start_file(name, options),
        }
    }

    fn abort(&mut self) -> ZipResult<()> {
        match self {
            Self::Discarded(_) => Ok(()),
            Self::Plain(zip) => zip.abort_file(),
            Self::Encrypted(zip, _) => zip.abort_file(),
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Discarded(sink) => sink,
            Self::Plain(zip) => zip,
            Self::Encrypted(zip, _) => zip,
        }
    }
}

/// An archive that is being written.
pub(super) struct ArchiveWriter {
    zip: ZipOutput,
    place: String,
    digests: BTreeMap<String, String>,
    /// The names of the entries, folded: names that some systems cannot distinguish, such as `a` and `A`, are equal.
    folded_names: HashSet<String>,
    is_encrypted: bool,
}

impl ArchiveWriter {
    /// Creates the archive file `out`, which must not exist yet. With a passphrase, the whole file is encrypted.
    /// Without `out`, the writer creates no file; this serves to preview the losses.
    pub(super) fn create(out: Option<&Path>, passphrase: Option<&dyn Passphrase>) -> Result<Self, FormatError> {
        let (digests, folded_names, is_encrypted) = (BTreeMap::new(), HashSet::new(), passphrase.is_some());
        let Some(out) = out else {
            let (zip, place) = (ZipOutput::Discarded(std::io::sink()), String::new());
            return Ok(Self { zip, place, digests, folded_names, is_encrypted });
        };
        let place = out.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let io = |e| FormatError::io(&place, e);
        let file = mementory_format::create_private_file(out).map_err(io)?;
        let zip = match passphrase {
            None => ZipOutput::Plain(ZipWriter::new(ArchiveFile::new(file))),
            Some(passphrase) => {
                let output = ArchiveFile::new(file.try_clone().map_err(io)?);
                ZipOutput::Encrypted(ZipWriter::new_stream(passphrase.seal_file(Box::new(output))?), file)
            }
        };
        Ok(Self { zip, place, digests, folded_names, is_encrypted })
    }

    /// True if the whole file is encrypted, so that its entries may contain secrets.
    pub(super) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// True if the output is discarded.
    pub(super) fn is_discarding(&self) -> bool {
        matches!(self.zip, ZipOutput::Discarded(_))
    }

    /// True if an entry with this name was written.
    pub(super) fn has_entry(&self, name: &str) -> bool {
        self.digests.contains_key(name)
    }

    /// True if a new entry may have this name: all systems accept the name, and can distinguish it from the names of
    /// the other entries. Readers refuse an archive in which an entry has any other name.
    pub(super) fn is_free(&self, name: &str) -> bool {
        !name.split('/').any(is_reserved_name) && !self.folded_names.contains(&folded_name(name))
    }

    /// Returns `name` if it is free (see [`Self::is_free`]), otherwise a similar free name.
    pub(super) fn free_name(&self, name: &str) -> String {
        let accepted_part = |part: &str| match is_reserved_name(part) {
            true => format!("_{}", part.replace(char::is_control, "_").trim_end_matches(['.', ' '])),
            false => part.to_owned(),
        };
        let wanted_name = name.split('/').map(accepted_part).collect::<Vec<_>>().join("/");
        let numbered = (2u64..).map(|n| format!("{wanted_name}~{n}"));
        let mut names = std::iter::once(wanted_name.clone()).chain(numbered);
        names.find(|name| self.is_free(name)).unwrap_or_else(|| wanted_name.clone())
    }

    fn add_digest(&mut self, name: &str, digest: &str) {
        self.folded_names.insert(folded_name(name));
        self.digests.insert(name.to_owned(), digest.to_owned());
    }

    /// Writes an entry from a stream. Returns its size in bytes and its SHA-256 in hex. If the output is discarded, the
    /// stream is not read, and the results are those of an empty entry.
    pub(super) fn entry(&mut self, name: &str, bytes: &mut dyn Read) -> Result<(u64, String), FormatError> {
        let mut no_bytes = std::io::empty();
        let bytes: &mut dyn Read = if self.is_discarding() { &mut no_bytes } else { bytes };
        let read = |e| FormatError::io(name, e);
        let mut buffer = Vec::new();
        (&mut *bytes).take(READ_BUFFER_BYTES).read_to_end(&mut buffer).map_err(read)?;
        // The modification time is constant, so that equal content gives equal files. Only entries that fill the read
        // buffer get a ZIP64 header.
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(0o644)
            .large_file(buffer.len() as u64 == READ_BUFFER_BYTES);
        let to_error = |e| zip_error(e, name);
        self.zip.start(name, options).map_err(to_error)?;
        let (mut hasher, mut size) = (Sha256::new(), 0u64);
        while !buffer.is_empty() {
            hasher.update(&buffer);
            size += buffer.len() as u64;
            self.zip.writer().write_all(&buffer).map_err(|e| FormatError::io(&self.place, e))?;
            buffer.clear();
            (&mut *bytes).take(READ_BUFFER_BYTES).read_to_end(&mut buffer).map_err(read)?;
        }
        let digest = hex::encode(hasher.finalize());
        self.add_digest(name, &digest);
        Ok((size, digest))
    }

    /// Writes an entry whose bytes `fill` supplies. Returns its SHA-256 in hex. If `fill` returns false, the entry is
    /// dropped and the result is None.
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
        let to_error = |e| zip_error(e, name);
        let mut entry =
            HashingEntry { target: &mut self.zip, name, options, has_started: false, hasher: Sha256::new() };
        let is_wanted = fill(&mut entry)?;
        if is_wanted {
            entry.start().map_err(to_error)?;
        }
        let (has_started, digest) = (entry.has_started, hex::encode(entry.hasher.finalize()));
        if !is_wanted {
            if has_started {
                self.zip.abort().map_err(to_error)?;
            }
            return Ok(None);
        }
        self.add_digest(name, &digest);
        Ok(Some(digest))
    }

    /// The checksum `keepsake-v1` of all entries written so far.
    pub(super) fn checksum(&self) -> String {
        checksum(self.digests.iter().map(|(name, digest)| (name.as_str(), digest.as_str())))
    }

    /// Writes the central directory and flushes the file to disk.
    pub(super) fn finish(self) -> Result<(), FormatError> {
        let to_error = |e| zip_error(e, &self.place);
        let io = |e| FormatError::io(&self.place, e);
        match self.zip {
            ZipOutput::Discarded(_) => Ok(()),
            ZipOutput::Plain(zip) => zip.finish().map_err(to_error)?.finish().map_err(io),
            ZipOutput::Encrypted(zip, file) => {
                zip.finish().map_err(to_error)?.into_inner().finish().map_err(io)?;
                file.sync_all().map_err(io)
            }
        }
    }
}

/// Starts the ZIP entry when the first byte is written, and computes the digest of all bytes.
struct HashingEntry<'a> {
    target: &'a mut ZipOutput,
    name: &'a str,
    options: SimpleFileOptions,
    has_started: bool,
    hasher: Sha256,
}

impl HashingEntry<'_> {
    fn start(&mut self) -> ZipResult<()> {
        if !self.has_started {
            self.target.start(self.name, self.options)?;
            self.has_started = true;
        }
        Ok(())
    }
}

impl Write for HashingEntry<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.start().map_err(std::io::Error::from)?;
        let n = self.target.writer().write(bytes)?;
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.target.writer().flush()
    }
}

/// `sha256:` and the digest of the lines `<sha256>  <entry name>\n` of all entries except the manifest, sorted by name.
pub(super) fn checksum<'a>(digests: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines: Vec<_> = digests.filter(|(name, _)| *name != MANIFEST_FILE).collect();
    lines.sort_unstable();
    let mut hasher = Sha256::new();
    for (name, digest) in lines {
        hasher.update(format!("{digest}  {name}\n"));
    }
    format!("sha256:{}", hex::encode(hasher.finalize()))
}
