//! Everything that can stop an operation on a vault, as kinds that callers match on. One type for the store and for all
//! that is built on it (the vault calls it `VaultError`): closures that run inside a store transaction then need no
//! conversion. It knows the formats' error because a reader's failure inside an import keeps its code.
use mementory_crypto::CryptoError;
use mementory_model::FormatError;

/// Result of vault operations.
pub type StoreResult<T> = Result<T, StoreError>;

/// Vault errors. No variant carries record content, passphrases or keys.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder or its header is not there.
    #[error("no vault at {0}")]
    Missing(String),
    /// Refused: something is already there.
    #[error("{0} is not empty")]
    Exists(String),
    /// Refused: what is there is no earlier export, so it is not replaced.
    #[error("{0} is not an export")]
    NotAnExport(String),
    /// Refused: what is there is no longer what was written, so it is not removed.
    #[error("{0} was changed since")]
    ChangedSince(String),
    /// Another process holds the lock.
    #[error("the vault is open in another window")]
    InUse,
    /// No key slot opens with this secret.
    #[error("the passphrase does not open this vault")]
    WrongSecret,
    /// Header, pages or blobs fail their check; the place is named.
    #[error("the vault is damaged: {0}")]
    Damaged(String),
    /// Pages of the database fail their check, counted over the whole file. The secret was right.
    #[error("the vault is damaged: {pages} pages of store.db do not pass their check")]
    DamagedPages {
        /// So many of them.
        pages: u32,
    },
    /// Written by a newer Mementory.
    #[error("the vault has schema {found}, this program knows {known}")]
    NewerSchema {
        /// In the vault.
        found: u32,
        /// Known here.
        known: u32,
    },
    /// No such record (or batch, tombstone, receipt). `erased` when a tombstone says so.
    #[error("{id} is not in this vault")]
    NotFound {
        /// Asked for.
        id: String,
        /// It was erased.
        erased: bool,
    },
    /// The request itself makes no sense (bad span, bad cursor, empty text).
    #[error("{0}")]
    Usage(String),
    /// Words that stand in more records than one redaction goes through.
    #[error("these words stand in more than {most} records")]
    TooMany {
        /// As many as it goes through.
        most: usize,
    },
    /// Reading or writing a format.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The file system; disk full is told apart by `is_disk_full`.
    #[error("{place}: {source}")]
    Io {
        /// What was touched.
        place: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// SQLite.
    #[error("store: {0}")]
    Store(#[source] rusqlite::Error),
    /// The search index; it can always be rebuilt.
    #[error("search index: {0}")]
    Index(String),
    /// Cryptography other than a wrong secret.
    #[error("{0}")]
    Crypto(CryptoError),
    /// The person cancelled; nothing was kept.
    #[error("cancelled")]
    Cancelled,
}

impl StoreError {
    /// An I/O error at a place.
    pub fn io(place: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { place: place.into(), source }
    }

    /// A record that is not there.
    pub fn not_found(id: &str) -> Self {
        Self::NotFound { id: id.into(), erased: false }
    }

    /// True when the cause is a full disk.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == std::io::ErrorKind::StorageFull,
            // SQLITE_IOERR_SHMSIZE: no room even for the WAL's shared memory file.
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
    /// SQLCipher calls a page that fails its MAC "not a database" or "corrupt".
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

/// Undo [`From<StoreError> for FormatError`]: a store error that travelled through a reader is a store error again.
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
