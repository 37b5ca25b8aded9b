//! Writes a bundle to a folder, or to a ZIP that contains the folder. The specification does not define the archive's
//! layout (§1). Ours has a single top-level folder, `<name>.mem`.
use super::{
    bundle::{CHECKSUMS_FILE, MANIFEST_FILE, SIGNATURE_FILE},
    manifest::{FileEntry, Manifest, checksums},
    signature_token::sign_as_token,
};
use mementory_format::{ArchiveFile, FormatError, Signer};
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};
use zip::{CompressionMethod, DateTime, ZipWriter, result::ZipError, write::SimpleFileOptions};

/// A bundle that is being written.
pub(super) enum OutputTarget {
    Folder(PathBuf),
    Zip { zip: Box<ZipWriter<ArchiveFile>>, folder: String },
}

/// Number of bytes that are hashed and written at a time while lines are streamed.
const CHUNK_BYTES: usize = 1 << 20;

/// True if the file name requests an archive.
fn is_archive(out: &Path) -> bool {
    out.extension().is_some_and(|e| e.eq_ignore_ascii_case("zip"))
}

/// Name of the folder inside an archive: `me.zip` and `me.mem.zip` → `me.mem`.
fn folder_in(archive: &Path) -> String {
    let stem = archive.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = stem.trim_start_matches('.');
    let name = stem.strip_suffix(".mem").unwrap_or(stem);
    format!("{}.mem", if name.is_empty() { "bundle" } else { name })
}

fn zip_error(error: ZipError, path: &str) -> FormatError {
    match error {
        ZipError::Io(source) => FormatError::io(path, source),
        other => FormatError::invalid("zip_failed", path, other.to_string()),
    }
}

impl OutputTarget {
    /// Creates a folder with these subfolders, or an archive if `out` ends in `.zip`. `out` must not exist yet.
    pub fn create(out: &Path, folders: &[&str]) -> Result<Self, FormatError> {
        let io = |e| FormatError::io(out.display().to_string(), e);
        if is_archive(out) {
            let file = mementory_format::create_private_file(out).map_err(io)?;
            return Ok(Self::Zip { zip: Box::new(ZipWriter::new(ArchiveFile::new(file))), folder: folder_in(out) });
        }
        std::fs::create_dir(out).map_err(io)?;
        for folder in folders {
            std::fs::create_dir(out.join(folder)).map_err(io)?;
        }
        Ok(Self::Folder(out.to_path_buf()))
    }

    /// Writes one file of the bundle.
    pub fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<FileEntry, FormatError> {
        // One file may make up most of an export, so hashing and writing run in parallel.
        let (sha256, written) = rayon::join(|| hex::encode(Sha256::digest(bytes)), || self.write(path, bytes));
        written.map(|()| FileEntry { path: path.to_owned(), sha256, bytes: bytes.len() as u64 })
    }

    /// Writes a file with these lines, each followed by a line feed.
    pub fn write_lines<'l>(
        &mut self,
        path: &str,
        lines: impl Iterator<Item = &'l str>,
    ) -> Result<FileEntry, FormatError> {
        let mut out = self.open(path)?;
        let (mut hash, mut bytes, mut chunk) = (Sha256::new(), 0, Vec::with_capacity(CHUNK_BYTES));
        let mut write_chunk = |chunk: &mut Vec<u8>| {
            bytes += chunk.len() as u64;
            let ((), written) = rayon::join(|| hash.update(&*chunk), || out.write_all(chunk));
            chunk.clear();
            written.map_err(|e| FormatError::io(path, e))
        };
        for line in lines {
            if chunk.len() + line.len() >= CHUNK_BYTES {
                write_chunk(&mut chunk)?;
            }
            chunk.extend_from_slice(line.as_bytes());
            chunk.push(b'\n');
        }
        write_chunk(&mut chunk)?;
        Ok(FileEntry { path: path.to_owned(), sha256: hex::encode(hash.finalize()), bytes })
    }

    fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), FormatError> {
        self.open(path)?.write_all(bytes).map_err(|e| FormatError::io(path, e))
    }

    /// Creates a file of the bundle and returns its writer.
    fn open(&mut self, path: &str) -> Result<Box<dyn Write + Send + '_>, FormatError> {
        let io = |e| FormatError::io(path, e);
        match self {
            Self::Folder(folder) => {
                let target = folder.join(path);
                if let Some(parent) = target.parent() {
                    std::fs::create_dir_all(parent).map_err(io)?;
                }
                Ok(Box::new(File::create(&target).map_err(io)?))
            }
            Self::Zip { zip, folder } => {
                // With a fixed time, equal contents produce identical archives.
                let options = SimpleFileOptions::default()
                    .compression_method(CompressionMethod::Deflated)
                    .last_modified_time(DateTime::default())
                    .unix_permissions(0o644);
                zip.start_file(format!("{folder}/{path}"), options).map_err(|e| zip_error(e, path))?;
                Ok(Box::new(&mut **zip))
            }
        }
    }

    /// Writes CHECKSUMS for `files`, a manifest that lists `files` and, if there is a signer, `manifest.sig`. Then
    /// completes the bundle and returns its digest.
    pub fn finish_with_new_manifest(
        mut self,
        mut files: Vec<FileEntry>,
        mut manifest: Manifest,
        signer: Option<&dyn Signer>,
    ) -> Result<String, FormatError> {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let digest = self.write_checksums(&files)?;
        manifest.files = files;
        manifest.bundle_digest = Some(digest.clone());
        if signer.is_some() {
            manifest.capabilities.push("signed".into());
        }
        let text = manifest.write();
        self.write_file(MANIFEST_FILE, text.as_bytes())?;
        if let Some(signer) = signer {
            let token = sign_as_token(signer, text.as_bytes())?;
            self.write_file(SIGNATURE_FILE, format!("{token}\n").as_bytes())?;
        }
        self.finish()?;
        Ok(digest)
    }

    /// Like [`Self::finish_with_new_manifest`], but with an existing manifest and its signature.
    pub fn finish_with_manifest(
        mut self,
        files: &[FileEntry],
        manifest: &[u8],
        signature: Option<&[u8]>,
    ) -> Result<String, FormatError> {
        let digest = self.write_checksums(files)?;
        self.write_file(MANIFEST_FILE, manifest)?;
        if let Some(signature) = signature {
            self.write_file(SIGNATURE_FILE, signature)?;
        }
        self.finish()?;
        Ok(digest)
    }

    fn write_checksums(&mut self, files: &[FileEntry]) -> Result<String, FormatError> {
        let sums = checksums(files);
        self.write_file(CHECKSUMS_FILE, sums.as_bytes())?;
        Ok(hex::encode(Sha256::digest(&sums)))
    }

    /// Completes an archive. A folder is already complete.
    pub fn finish(self) -> Result<(), FormatError> {
        let Self::Zip { zip, folder } = self else { return Ok(()) };
        zip.finish().map_err(|e| zip_error(e, &folder))?.finish().map_err(|e| FormatError::io(folder, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_ending_in_zip_requests_an_archive() {
        for (name, archive) in [("me.mem", false), ("me.mem.zip", true), ("me.ZIP", true), ("zip", false)] {
            assert_eq!(is_archive(Path::new(name)), archive, "{name}");
        }
        for (name, folder) in [("a/me.mem.zip", "me.mem"), ("me.zip", "me.mem"), (".zip.zip", "zip.mem")] {
            assert_eq!(folder_in(Path::new(name)), folder, "{name}");
        }
    }
}
