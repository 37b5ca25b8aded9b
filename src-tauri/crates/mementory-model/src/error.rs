//! What stops a whole reading or writing. Everything smaller is a note or a dropped item.

/// Fatal errors of readers, writers and validators.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The person cancelled, or the sink refused to go on.
    #[error("cancelled")]
    Cancelled,
    /// A bound was met; `limit` names it. A larger bound may be allowed by the person.
    #[error("{place}: {limit} exceeded ({figure})")]
    Limit {
        /// Which bound.
        limit: &'static str,
        /// Where.
        place: String,
        /// The figure that was met.
        figure: u64,
    },
    /// Unsafe input: entry name, link, device, encryption.
    #[error("{place}: refused, {reason}")]
    Refused {
        /// Where.
        place: String,
        /// Why.
        reason: String,
    },
    /// A version that this reader must not guess at.
    #[error("{place}: version {version} is not supported")]
    Version {
        /// Where.
        place: String,
        /// What it says.
        version: String,
    },
    /// Not what it claims to be; `code` is stable (`manifest_missing`, `checksum_mismatch`, `malformed` …).
    #[error("{place}: {message}")]
    Invalid {
        /// Stable code.
        code: &'static str,
        /// Where.
        place: String,
        /// For people.
        message: String,
    },
    /// The file system.
    #[error("{place}: {source}")]
    Io {
        /// File name.
        place: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The store behind a sink or record source failed; opaque here.
    #[error("{0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl FormatError {
    /// An I/O error at a place.
    pub fn io(place: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { place: place.into(), source }
    }

    /// An invalid input.
    pub fn invalid(code: &'static str, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { code, place: place.into(), message: message.into() }
    }
}

/// Are the bytes at fault, and not the way to them? An entry of an archive that is cut off or does not unpack: what came
/// before still says what the file is.
pub fn is_damage(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidData)
}
