//! The errors of this crate. After an error, nothing was changed.
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a configuration was not read or written. Nothing was changed. No message contains values of a configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name, command, an argument or a variable cannot be written into the client's configuration.
    #[error("{0} Nothing was changed.")]
    InvalidServer(String),
    /// The configuration's path is not a regular file.
    #[error("{} is {kind}, not a file. It was not opened, and nothing was changed.", path.display())]
    NotAFile {
        /// Path of the configuration.
        path: PathBuf,
        /// Whether a folder or a special file is at the path.
        kind: FileKind,
    },
    /// The configuration is too large for [`crate::Plan`] to read.
    #[error(
        "{} has {bytes} bytes; at most {limit} are read. Nothing was changed. Check whether this is really the \
         client's configuration.", path.display()
    )]
    TooLarge {
        /// Path of the configuration.
        path: PathBuf,
        /// Size of the file in bytes.
        bytes: u64,
        /// Largest size that is read, in bytes.
        limit: u64,
    },
    /// The configuration is not UTF-8.
    #[error("{} is not UTF-8 text. Nothing was changed. Save it as UTF-8 and try again.", path.display())]
    NotUtf8 {
        /// Path of the configuration.
        path: PathBuf,
    },
    /// The configuration has a syntax error. The client cannot read it either.
    #[error(
        "{} cannot be read: {reason} in line {line}, column {column}. Nothing was changed. Correct it and try again.",
        path.display()
    )]
    Syntax {
        /// Path of the configuration.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
        /// What is wrong at this position.
        reason: String,
    },
    /// The configuration is well-formed, but this crate does not edit its layout.
    #[error(
        "{} was not edited: {reason} in line {line}, column {column}. Nothing was changed. Edit it by hand.",
        path.display()
    )]
    Layout {
        /// Path of the configuration.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
        /// Why the configuration is not edited.
        reason: String,
    },
    /// The configuration has a server of this name that Mementory did not add.
    #[error(
        "{} already has a server named {name} that Mementory did not add. Nothing was changed. Choose another name, \
         or remove that server first.", path.display()
    )]
    NotOurs {
        /// Path of the configuration.
        path: PathBuf,
        /// The server's name.
        name: String,
    },
    /// The file has changed since the plan was made.
    #[error("{} changed in the meantime. It was not written. Look at the new change and try again.", path.display())]
    Changed {
        /// Path of the configuration.
        path: PathBuf,
    },
    /// The configuration is a symbolic link to a file that does not exist.
    #[error("{} is a link to a file that does not exist. Nothing was changed. Repair or remove the link.", path.display())]
    DanglingLink {
        /// Path of the link.
        path: PathBuf,
    },
    /// The system refused to read or write.
    #[error("{}: {source}. Nothing was changed.", path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// The kind of error, for the caller.
        kind: IoKind,
        /// The system's error.
        source: io::Error,
    },
}

/// The kinds of files that may be at a configuration's path instead of a regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A folder.
    Folder,
    /// A pipe, socket or device.
    Special,
}

impl std::fmt::Display for FileKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Folder => "a folder",
            Self::Special => "a pipe, socket or device",
        })
    }
}

/// Kinds of input and output errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoKind {
    /// No permission, or a read-only file system.
    NoPermission,
    /// The disk or quota is full.
    DiskFull,
    /// Any other error.
    Other,
}

impl Error {
    /// The error of an operation on `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => IoKind::NoPermission,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => IoKind::DiskFull,
            _ => IoKind::Other,
        };
        Self::Io { path: path.to_owned(), kind, source }
    }

    /// A stable code, lower snake case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidServer(_) => "invalid_server",
            Self::NotAFile { .. } => "not_a_file",
            Self::TooLarge { .. } => "config_too_large",
            Self::NotUtf8 { .. } => "not_utf8",
            Self::Syntax { .. } => "config_broken",
            Self::Layout { .. } => "config_layout",
            Self::NotOurs { .. } => "not_ours",
            Self::Changed { .. } => "config_changed",
            Self::DanglingLink { .. } => "dangling_link",
            Self::Io { kind: IoKind::NoPermission, .. } => "no_permission",
            Self::Io { kind: IoKind::DiskFull, .. } => "disk_full",
            Self::Io { kind: IoKind::Other, .. } => "io",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_have_codes() {
        let code = |kind: io::ErrorKind| Error::io(Path::new("f"), kind.into()).code();
        assert_eq!(code(io::ErrorKind::StorageFull), "disk_full");
        assert_eq!(code(io::ErrorKind::QuotaExceeded), "disk_full");
        assert_eq!(code(io::ErrorKind::PermissionDenied), "no_permission");
        assert_eq!(code(io::ErrorKind::ReadOnlyFilesystem), "no_permission");
        assert_eq!(code(io::ErrorKind::NotADirectory), "io");
    }
}
