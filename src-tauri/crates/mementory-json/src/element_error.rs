//! Errors while the elements of a JSON stream are read.

/// Errors while reading elements. After [`ElementError::TooLarge`] and [`ElementError::Damaged`] reading can continue,
/// because [`Elements::next`](crate::Elements::next) skips the element. After any other error, `next` returns None.
#[derive(Debug, thiserror::Error)]
pub enum ElementError {
    /// The reader returned an error.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The stream ended inside an element or before the closing bracket. All elements before the end were complete.
    #[error("the file ends early, at byte {offset}")]
    Truncated {
        /// Byte offset of the end.
        offset: u64,
    },
    /// The stream is not JSON at this position, or other bytes follow the closing bracket.
    #[error("not JSON at byte {offset}")]
    Syntax {
        /// Byte offset.
        offset: u64,
    },
    /// An element is larger than the limit.
    #[error("an element is larger than {limit} bytes, at byte {offset}")]
    TooLarge {
        /// Byte offset of the element's start.
        offset: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// An element is damaged and is left out. Only with [`Elements::resync`](crate::Elements::resync).
    #[error("damaged at byte {offset}: what cannot be read of this entry is left out, the entries around it are kept")]
    Damaged {
        /// The text for [`mementory_model::Origin::pointer`].
        pointer: String,
        /// Byte offset of the damage.
        offset: u64,
    },
}

impl ElementError {
    /// The code for a report: `unreadable`, `truncated`, `malformed`, `damaged_record` or `too_large`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "unreadable",
            Self::Truncated { .. } => "truncated",
            Self::Syntax { .. } => "malformed",
            Self::Damaged { .. } => "damaged_record",
            Self::TooLarge { .. } => "too_large",
        }
    }

    /// The place for a report: the place of the file, with the pointer of the element if it is known.
    pub fn place(&self, file: &str) -> String {
        match self {
            Self::Damaged { pointer, .. } => format!("{file}#{pointer}"),
            _ => file.to_owned(),
        }
    }

    /// True if no more elements are read after this error.
    pub fn ends_reading(&self) -> bool {
        !matches!(self, Self::TooLarge { .. } | Self::Damaged { .. })
    }
}
