//! Reads a configuration and replaces it, atomically and only if it has not changed since it was read.
use crate::error::{Error, FileKind};
use jiff::{Timestamp, tz::TimeZone};
use std::{
    fs::{self, File, Metadata},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The largest configuration that is read. Even Claude Code's, which grows with every project, is far smaller.
pub(crate) const MAX_CONFIG_BYTES: u64 = 32 * 1024 * 1024;

/// A configuration file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigFile {
    /// Where the client looks for the file.
    pub path: PathBuf,
    /// The file's real path, which differs from `path` if `path` is a symbolic link.
    pub real: PathBuf,
    /// Content of the file; `None` if it does not exist.
    pub text: Option<String>,
}

impl ConfigFile {
    /// Reads the file. Follows symbolic links, because some people store their configurations elsewhere, such as in a
    /// repository.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let missing_file = |real: &Path| Self { path: path.into(), real: real.into(), text: None };
        let is_link = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata.is_symlink(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(missing_file(path)),
            Err(error) => return Err(Error::io(path, error)),
        };
        let real_path = match fs::canonicalize(path) {
            Ok(real_path) if is_link => real_path,
            Err(error) if is_link && error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::DanglingLink { path: path.into() });
            }
            Err(error) => return Err(Error::io(path, error)),
            Ok(_) => path.to_owned(),
        };
        // The kind of file is also checked before opening it, because opening a pipe would wait for a writer.
        check_metadata(path, &fs::metadata(&real_path).map_err(|error| Error::io(path, error))?)?;
        let file = File::open(&real_path).map_err(|error| Error::io(path, error))?;
        check_metadata(path, &file.metadata().map_err(|error| Error::io(path, error))?)?;
        let mut bytes = Vec::new();
        file.take(MAX_CONFIG_BYTES + 1).read_to_end(&mut bytes).map_err(|error| Error::io(path, error))?;
        if bytes.len() as u64 > MAX_CONFIG_BYTES {
            return Err(Error::TooLarge { path: path.into(), bytes: bytes.len() as u64, limit: MAX_CONFIG_BYTES });
        }
        let text = String::from_utf8(bytes).map_err(|_| Error::NotUtf8 { path: path.into() })?;
        Ok(Self { text: Some(text), ..missing_file(&real_path) })
    }

    /// Replaces the content of the file with `new_text`, or removes the file if this is `None`. If there was a file,
    /// first makes a backup copy (mode 0600) and returns its path. After an error, the file is unchanged, and the copy
    /// is removed again if possible.
    pub fn replace(&self, new_text: Option<&str>, now: SystemTime) -> Result<Option<PathBuf>, Error> {
        self.check_unchanged()?;
        let backup = self.text.as_deref().map(|text| self.write_backup(text, now)).transpose()?;
        let replace_result = match new_text {
            Some(text) => self.write(text),
            None => self.remove(),
        };
        if let (Err(_), Some(backup)) = (&replace_result, &backup) {
            // The original is unchanged, so the copy is not needed. If it cannot be removed, it does no harm.
            let _ = fs::remove_file(backup);
        }
        replace_result.map(|()| backup)
    }

    fn check_unchanged(&self) -> Result<(), Error> {
        let changed_error = || Error::Changed { path: self.path.clone() };
        match Self::read(&self.path) {
            Ok(now) if now == *self => Ok(()),
            Ok(_) | Err(Error::NotUtf8 { .. } | Error::TooLarge { .. }) => Err(changed_error()),
            Err(error) => Err(error),
        }
    }

    /// Writes the backup next to the path where the client looks, not next to the target of a symbolic link, because
    /// the target may be in a repository.
    fn write_backup(&self, text: &str, now: SystemTime) -> Result<PathBuf, Error> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let time = Timestamp::try_from(now).unwrap_or_default().to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ");
        let mut backup = self.path.with_file_name(format!("{name}.mementory-backup-{time}"));
        let mut count = 2;
        let mut file = loop {
            match create_private_file(&backup) {
                Ok(file) => break file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && count < 100 => {
                    backup = self.path.with_file_name(format!("{name}.mementory-backup-{time}-{count}"));
                    count += 1;
                }
                Err(error) => return Err(Error::io(&backup, error)),
            }
        };
        let write_result = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        if let Err(error) = write_result {
            let _ = fs::remove_file(&backup);
            return Err(Error::io(&backup, error));
        }
        Ok(backup)
    }

    fn write(&self, text: &str) -> Result<(), Error> {
        let io_error = |error: io::Error| Error::io(&self.path, error);
        let folder = self.real.parent().unwrap_or(Path::new("."));
        let new_folders = make_folders(folder).map_err(|error| Error::io(folder, error))?;
        let write_result = (|| {
            let original = self.text.is_some().then(|| fs::metadata(&self.real)).transpose().map_err(io_error)?;
            if original.as_ref().is_some_and(|original| original.permissions().readonly()) {
                return Err(io_error(io::Error::new(io::ErrorKind::PermissionDenied, "the file is write-protected")));
            }
            let mut partial =
                tempfile::Builder::new().prefix(".mementory-partial-").tempfile_in(folder).map_err(io_error)?;
            partial.write_all(text.as_bytes()).map_err(io_error)?;
            if let Some(original) = &original {
                keep_owner_and_mode(partial.as_file(), original).map_err(io_error)?;
            }
            partial.as_file().sync_all().map_err(io_error)?;
            self.check_unchanged()?;
            match &self.text {
                Some(_) => partial.persist(&self.real).map(drop).map_err(|error| io_error(error.error)),
                // Unlike a rename, this fails if another process has created the file in the meantime.
                None => partial.persist_noclobber(&self.real).map(drop).map_err(|error| match error.error.kind() {
                    io::ErrorKind::AlreadyExists => Error::Changed { path: self.path.clone() },
                    _ => io_error(error.error),
                }),
            }
        })();
        if write_result.is_err() {
            for folder in new_folders.iter().rev() {
                let _ = fs::remove_dir(folder);
            }
            return write_result;
        }
        fsync_folder(folder);
        Ok(())
    }

    fn remove(&self) -> Result<(), Error> {
        self.check_unchanged()?;
        fs::remove_file(&self.real).map_err(|error| Error::io(&self.path, error))?;
        fsync_folder(self.real.parent().unwrap_or(Path::new(".")));
        Ok(())
    }
}

fn check_metadata(path: &Path, metadata: &Metadata) -> Result<(), Error> {
    let path = path.to_owned();
    if metadata.is_dir() {
        return Err(Error::NotAFile { path, kind: FileKind::Folder });
    }
    if !metadata.is_file() {
        return Err(Error::NotAFile { path, kind: FileKind::Special });
    }
    if metadata.len() > MAX_CONFIG_BYTES {
        return Err(Error::TooLarge { path, bytes: metadata.len(), limit: MAX_CONFIG_BYTES });
    }
    Ok(())
}

/// Creates the missing folders with access for the person only. Returns the created folders, outermost first.
fn make_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing_folders: Vec<_> =
        folder.ancestors().take_while(|each| !each.exists()).map(Path::to_owned).collect();
    missing_folders.retain(|each| !each.as_os_str().is_empty());
    missing_folders.reverse();
    for each in &missing_folders {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(each)?;
    }
    Ok(missing_folders)
}

/// Creates a file that only the person may read.
fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn keep_owner_and_mode(file: &File, original: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new_metadata = file.metadata()?;
        let uid = (new_metadata.uid() != original.uid()).then_some(original.uid());
        let gid = (new_metadata.gid() != original.gid()).then_some(original.gid());
        if uid.is_some() || gid.is_some() {
            fchown(file, uid, gid)?;
        }
    }
    file.set_permissions(original.permissions())
}

/// Makes a rename or a removal durable. Not every file system supports this, so errors are ignored; the content itself
/// is already on the disk.
fn fsync_folder(folder: &Path) {
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    #[cfg(not(unix))]
    let _ = folder;
}
