//! Errors of opening an encoder.

/// Reasons why the weights cannot be opened. Encoding itself cannot fail.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// One of the files is missing from the folder.
    #[error("the weights are not there: {0}")]
    Missing(String),
    /// A file differs from the one that this program was built for: too large, changed, or of a different version.
    #[error("wrong or damaged weights: {0}")]
    Wrong(String),
    /// The file system failed.
    #[error("the weights cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

impl EncoderError {
    /// The error for unexpected content. `name` is the file or the array in it.
    pub(crate) fn wrong_content_error(name: &str) -> Self {
        Self::Wrong(name.to_owned())
    }
}
