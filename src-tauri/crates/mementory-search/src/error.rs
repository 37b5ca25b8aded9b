//! What can be wrong with an index. It can always be rebuilt from the store, so only three kinds matter.
use tantivy::{
    TantivyError,
    directory::error::{OpenReadError, OpenWriteError},
};

/// Index errors. None carries content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no index in the folder.
    #[error("there is no search index")]
    Missing,
    /// A file fails its check, is not there, or does not fit the others: rebuild.
    #[error("the search index is damaged: {0}")]
    Damaged(String),
    /// The file system.
    #[error(transparent)]
    Io(std::io::Error),
}

/// Result of index operations.
pub type IndexResult<T> = Result<T, IndexError>;

impl From<std::io::Error> for IndexError {
    /// A failed check travels as `InvalidData`; a file cut short or gone is as damaged.
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
        let copy = |e: &std::io::Error| Self::from(std::io::Error::new(e.kind(), e.to_string()));
        match &error {
            TantivyError::IoError(e) => copy(e),
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => copy(io_error),
            _ => Self::Damaged(error.to_string()),
        }
    }
}
