//! Errors of vault operations, as kinds that callers can match on. The store and all crates above it share this type
//! (the vault calls it `VaultError`), so closures that run inside a store transaction need no conversion. It wraps the
//! error type of the formats, so that a reader's error during an import keeps its code.
use mementory_crypto::CryptoError;
use mementory_model::FormatError;

/// Result of vault operations.
pub type StoreResult<T> = Result<T, StoreError>;

/// Vault errors. No variant carries record content, passphrases or keys.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The vault's folder or its header is missing.
    #[error("no vault at {0}")]
    Missing(String),
    /// Refused because the target already exists or is not empty.
    #[error("{0} is not empty")]
    Exists(String),
    /// Refused to replace the target because it is not an earlier export.
    #[error("{0} is not an export")]
    NotAnExport(String),
    /// Refused to remove the target because it was changed after it was written.
    #[error("{0} was changed after it was written")]
    ChangedSince(String),
    /// Another process has the vault open.
    #[error("the vault is in use by another window or command")]
    InUse,
    /// Another process has the vault open and answers connected clients with it.
    #[error("the vault answers connected clients")]
    AnsweringClients,
    /// The passphrase or other secret does not open any of the vault's key slots.
    #[error("the passphrase does not open this vault")]
    WrongSecret,
    /// The header, a page or a blob fails its check; the text says which.
    #[error("the vault is damaged: {0}")]
    Damaged(String),
    /// Some pages of the database fail their check although the secret was right.
    #[error("the vault is damaged: {pages} pages of store.db do not pass their check")]
    DamagedPages {
        /// Number of failing pages in the whole file.
        pages: u32,
    },
    /// The vault was written by a newer Mementory.
    #[error("the vault has schema {found}, this program knows {known}")]
    NewerSchema {
        /// Schema version of the vault.
        found: u32,
        /// Newest schema version that this program can read.
        known: u32,
    },
    /// There is no record, batch, tombstone or receipt with this id.
    #[error("{id} is not in this vault")]
    NotFound {
        /// The id that was requested.
        id: String,
        /// True if a tombstone says that the record was erased.
        erased: bool,
    },
    /// The person has refused the same suggestion permanently.
    #[error("this suggestion was refused for good")]
    RefusedForGood,
    /// The request is invalid, for example because of a bad span, a bad cursor or an empty text.
    #[error("{0}")]
    Usage(String),
    /// The words occur in more records than a single redaction may change.
    #[error("these words occur in more than {most} records")]
    TooMany {
        /// Largest number of records that a single redaction may change.
        most: usize,
    },
    /// Reading or writing a format failed.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The file system failed; [`StoreError::is_disk_full`] recognizes a full disk.
    #[error("{place}: {source}")]
    Io {
        /// The file or folder that was accessed.
        place: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// SQLite reported an error.
    #[error("store: {0}")]
    Store(#[source] rusqlite::Error),
    /// A commit failed, and the disk did not confirm that the change was undone. The change may be present when the
    /// vault is opened again. Until then, every transaction is refused with this error.
    #[error("the disk did not confirm a change")]
    Unconfirmed,
    /// The search index failed; it can always be rebuilt from the store.
    #[error("search index: {0}")]
    Index(String),
    /// A cryptographic error other than a wrong secret.
    #[error("{0}")]
    Crypto(CryptoError),
    /// The program itself failed, for example because a thread panicked.
    #[error("internal error: {0}")]
    Internal(String),
    /// The person cancelled the operation; nothing was changed.
    #[error("cancelled")]
    Cancelled,
}

impl StoreError {
    /// Makes an I/O error for the file or folder `place`.
    pub fn io(place: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { place: place.into(), source }
    }

    /// Makes the error for a record that does not exist.
    pub fn not_found(id: &str) -> Self {
        Self::NotFound { id: id.into(), erased: false }
    }

    /// True if the cause is a full disk.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == std::io::ErrorKind::StorageFull,
            // 4874 is SQLITE_IOERR_SHMSIZE: there is no disk space for the write-ahead log's shared-memory file.
            Self::Store(rusqlite::Error::SqliteFailure(e, _)) => {
                e.code == rusqlite::ErrorCode::DiskFull || e.extended_code == 4874
            }
            Self::Format(FormatError::Io { source, .. }) => source.kind() == std::io::ErrorKind::StorageFull,
            Self::Format(FormatError::Store(inner)) => {
                inner.downcast_ref::<StoreError>().is_some_and(Self::is_disk_full)
            }
            _ => false,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    /// If a page fails its MAC, SQLCipher reports "not a database" or "corrupt". Both become `Damaged`.
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => {
                Self::Damaged("store.db: a page does not pass its check".into())
            }
            _ => Self::Store(error),
        }
    }
}

impl From<CryptoError> for StoreError {
    fn from(error: CryptoError) -> Self {
        match error {
            CryptoError::WrongSecret => Self::WrongSecret,
            CryptoError::HeaderDamaged(why) => Self::Damaged(format!("header: {why}")),
            CryptoError::KdfParameters => Self::Damaged("header: key derivation parameters out of range".into()),
            CryptoError::HeaderVersion(found) => Self::NewerSchema { found, known: 1 },
            CryptoError::Io(e) if e.kind() == std::io::ErrorKind::NotFound => Self::Missing("this folder".into()),
            CryptoError::Io(e) => Self::io("vault.json", e),
            other => Self::Crypto(other),
        }
    }
}

impl From<StoreError> for FormatError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Cancelled => FormatError::Cancelled,
            StoreError::Format(inner) => inner,
            other => FormatError::Store(Box::new(other)),
        }
    }
}

/// Reverses the conversion of a [`StoreError`] to a [`FormatError`], so that a store error that passed through a reader
/// is a store error again.
pub fn unwrap_format(error: FormatError) -> StoreError {
    match error {
        FormatError::Cancelled => StoreError::Cancelled,
        FormatError::Store(inner) => match inner.downcast::<StoreError>() {
            Ok(own) => *own,
            Err(other) => StoreError::Format(FormatError::Store(other)),
        },
        other => StoreError::Format(other),
    }
}
