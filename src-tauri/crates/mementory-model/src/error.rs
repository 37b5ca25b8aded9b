//! Errors that end a read or write. Less serious problems become an issue or a dropped item.

/// Fatal errors of readers, writers and validators.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The user cancelled, or the sink stopped the reader.
    #[error("cancelled")]
    Cancelled,
    /// A limit was exceeded. The user may allow a higher limit.
    #[error("{place}: {limit} exceeded ({figure})")]
    Limit {
        /// Name of the limit.
        limit: &'static str,
        /// File or entry.
        place: String,
        /// The size or number that was found.
        figure: u64,
    },
    /// The input is refused as unsafe, because of an entry name, a link, a device file or encryption.
    #[error("{place}: refused, {reason}")]
    Refused {
        /// File or entry.
        place: String,
        /// Reason, for the user.
        reason: String,
    },
    /// The version of the input is not supported.
    #[error("{place}: version {version} is not supported")]
    Version {
        /// File or entry.
        place: String,
        /// The version that the input states.
        version: String,
    },
    /// The input does not follow its format.
    #[error("{place}: {message}")]
    Invalid {
        /// Stable code (`manifest_missing`, `checksum_mismatch`, `malformed` …).
        code: &'static str,
        /// File or entry.
        place: String,
        /// Message for the user.
        message: String,
    },
    /// The file system returned an error.
    #[error("{place}: {source}")]
    Io {
        /// File name.
        place: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The store behind a sink or a record source failed. The type of its error is not known to this crate.
    #[error("{0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl FormatError {
    /// An I/O error at `place`.
    pub fn io(place: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { place: place.into(), source }
    }

    /// An error for an input that does not follow its format.
    pub fn invalid(code: &'static str, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { code, place: place.into(), message: message.into() }
    }
}

/// True if the input itself is damaged (truncated, or impossible to decompress), as opposed to unreadable for another
/// reason. The bytes before the damage can still show which format the input has.
pub fn is_damage(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidData)
}
