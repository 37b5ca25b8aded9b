//! Errors of an index. There are only a few kinds, because an index can always be rebuilt from the store.
use tantivy::{
    TantivyError,
    directory::error::{OpenReadError, OpenWriteError},
};

/// Index errors. No variant contains record content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no index in the folder.
    #[error("there is no search index")]
    Missing,
    /// A file fails its check, is missing, or contradicts another file. The index has to be rebuilt.
    #[error("the search index is damaged: {0}")]
    Damaged(String),
    /// The file system failed.
    #[error(transparent)]
    Io(std::io::Error),
}

/// Result of index operations.
pub type IndexResult<T> = Result<T, IndexError>;

impl From<std::io::Error> for IndexError {
    /// `InvalidData` means that a check failed. A missing or truncated file counts as damage too.
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
        match error.kind() {
            InvalidData | NotFound | UnexpectedEof => Self::Damaged(error.to_string()),
            _ => Self::Io(error),
        }
    }
}

impl From<TantivyError> for IndexError {
    fn from(error: TantivyError) -> Self {
        let from_io = |e: &std::io::Error| Self::from(std::io::Error::new(e.kind(), e.to_string()));
        match &error {
            TantivyError::IoError(e) => from_io(e),
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => from_io(io_error),
            _ => Self::Damaged(error.to_string()),
        }
    }
}
