//! Defines the errors of all use cases, each with a stable code, a message for people, and the exit code of the command
//! line.
use mementory_model::{Limits, is_damage};
use std::collections::BTreeMap;

/// Result of every use case.
pub type ApiResult<T> = Result<T, ApiError>;

/// An error of a use case. Callers match on `code`.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// A stable code in lower snake case, such as `wrong_passphrase`, `vault_in_use`, `vault_damaged`,
    /// `vault_missing`, `newer_schema`, `not_found`, `refused_input`, `limit`, `io`, `disk_full`, `cancelled`, `usage`
    /// or `locked`.
    pub code: &'static str,
    /// What happened, what was left unchanged, and what the person can do.
    pub message: String,
    /// More details for programs, such as paths and counts.
    pub details: BTreeMap<String, String>,
    /// Exit code of the command line.
    pub exit: u8,
}

impl ApiError {
    /// Makes an error without details.
    pub fn new(code: &'static str, exit: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: BTreeMap::new(), exit }
    }

    /// Makes the error for a request that is wrong in itself, such as an unknown option or an empty name.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new("usage", 2, message)
    }

    /// Makes the error for a file or folder that could not be read or written.
    pub fn io(message: impl Into<String>) -> Self {
        Self::new("io", 7, message)
    }

    /// Makes the error for a fault of the program itself. The message must not say that nothing was changed unless that
    /// is certain.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new("internal", 7, message)
    }

    /// Makes the error for an output file or folder that already exists. It has the exit code of refused input.
    pub fn exists(path: impl std::fmt::Display) -> Self {
        let message = format!("{path} already exists and was not changed. Choose another name.");
        Self::new("exists", 6, message).with("path", path)
    }

    /// Adds an entry to the details of the error.
    pub fn with(mut self, key: &str, value: impl ToString) -> Self {
        self.details.insert(key.into(), value.to_string());
        self
    }
}

/// Converts an error of a vault into an [`ApiError`] with a code and a message.
pub(crate) fn from_vault(error: &mementory_vault::VaultError) -> ApiError {
    use mementory_vault::VaultError as V;
    if error.is_disk_full() {
        return ApiError::new(
            "disk_full",
            7,
            "The disk is full. Nothing was changed and nothing is lost. Free some space and try again.",
        );
    }
    match error {
        V::Missing(path) => ApiError::new("vault_missing", 7, format!("The vault isn't where it was. {path} can't be found.")).with("path", path),
        V::Exists(path) => ApiError::exists(path),
        V::NotAnExport(path) => ApiError::new("exists", 6, format!("{path} is not an earlier export of this kind, so it was not replaced. Nothing was changed. Choose another name.")).with("path", path),
        V::ChangedSince(path) => ApiError::new("changed_since", 6, format!("{path} has changed since it was saved. Nothing was deleted.")).with("path", path),
        V::InUse => ApiError::new("vault_in_use", 4, "Another window or command is using this vault. Close it, or wait until it ends."),
        V::AnsweringClients => ApiError::new(
            "vault_in_use",
            4,
            "This vault is in use: Mementory is answering connected clients (agents) with it. Nothing was changed. Close the window that has it open, or stop `mementory serve` with Ctrl-C, and try again.",
        )
        .with("answering", "clients"),
        V::WrongSecret => ApiError::new(
            "wrong_passphrase",
            3,
            "That passphrase doesn't open this vault. The vault itself is fine. Check Caps Lock and the keyboard layout, or use the recovery code.",
        ),
        V::Damaged(what) => ApiError::new("vault_damaged", 5, format!("This vault is damaged: {what}. Nothing has been changed. Open a backup.")).with("place", what),
        V::DamagedPages { pages } => ApiError::new("vault_damaged", 5, format!("This vault is damaged: {pages} of its pages don't pass their check. Nothing has been changed. Open a backup.")).with("place", "store.db").with("pages", pages),
        V::NewerSchema { found, known } => ApiError::new(
            "newer_schema",
            6,
            format!("This vault needs a newer version of Mementory (its schema is {found}, this version knows {known}). Nothing has been changed. Update Mementory."),
        )
        .with("found", found)
        .with("known", known),
        V::NotFound { id, erased } => {
            let message = if *erased { "This record was erased for good." } else { "There is no such record in this vault." };
            ApiError::new("not_found", 1, message).with("id", id).with("erased", erased)
        }
        V::RefusedForGood => ApiError::new(
            "refused_for_good",
            3,
            "The person has refused this suggestion for good. Nothing was added. Do not suggest it again.",
        ),
        V::Usage(message) => ApiError::usage(message.clone()),
        V::TooMany { most } => ApiError::new("too_many_places", 6, format!("These words occur in more than {most} places. Nothing was changed. Select a longer passage, or redact only here.")).with("most", most),
        V::Format(inner) => from_format(inner),
        V::Io { place, source } => from_io(place, source),
        V::Store(inner) => match inner.sqlite_error_code() {
            Some(rusqlite_code) => ApiError::new("store", 7, "The vault's database could not be used. Nothing was changed.").with("sqlite", format!("{rusqlite_code:?}")),
            None => ApiError::new("store", 7, "The vault's database could not be used. Nothing was changed."),
        },
        V::Unconfirmed => ApiError::new(
            "unconfirmed",
            7,
            "The disk did not confirm a change. It may or may not be there when the vault is opened again, and nothing more is written until then. Check the disk, lock and unlock the vault, and look for the change before you try again.",
        ),
        V::Index(what) => ApiError::new("index", 5, "The search index could not be used. Your records are safe. Lock and unlock the vault to rebuild it.").with("detail", what),
        V::Crypto(_) => ApiError::new("vault_damaged", 5, "Part of this vault doesn't pass its check. Nothing has been changed. Open a backup."),
        V::Cancelled => ApiError::new("cancelled", 130, "Cancelled. Nothing from it was kept."),
        // The message does not say that nothing was changed, because part of the work may be committed.
        _ => ApiError::internal("Something unexpected happened. Check the result before you try again."),
    }
}

/// Converts an error of a reader, writer or validator into an [`ApiError`] with a code and a message.
pub(crate) fn from_format(error: &mementory_formats::FormatError) -> ApiError {
    use mementory_formats::FormatError as F;
    match error {
        F::Cancelled => ApiError::new("cancelled", 130, "Cancelled. Nothing from it was kept."),
        F::Limit { limit, place, figure } => {
            let message = format!("{place} is over a size limit ({limit}: {figure}). Nothing was changed.");
            ApiError::new("limit", 6, message)
                .with("limit", limit)
                .with("place", place)
                .with("figure", figure)
                .with("can_raise", Limits::RAISED.contains(limit))
        }
        F::Refused { place, reason } => {
            ApiError::new("refused_input", 6, format!("{place} was refused: {reason}. Nothing was changed."))
                .with("place", place)
        }
        F::Version { place, version } => ApiError::new(
            "unsupported_version",
            6,
            format!("{place}: Mementory does not know version {version} of this format. Nothing was changed."),
        )
        .with("place", place)
        .with("version", version),
        F::Invalid { code, place, message } => {
            // The listed codes mean that the request cannot be carried out. All other codes mean an invalid file.
            let exit = match *code {
                "not_supported" | "unknown_encoding" | "base_required" => 2,
                "passphrase_wrong" | "passphrase_needed" => 3,
                // An unsafe entry name is refused input, as in an archive, and not damage.
                "kdf_parameters" | "path_escapes" => 6,
                _ => 1,
            };
            ApiError::new(code, exit, format!("{place}: {message}. Nothing was changed.")).with("place", place)
        }
        F::Io { place, source } if is_damage(source) => {
            ApiError::new("damaged_entry", 1, format!("{place} is damaged: {source}. Nothing was changed."))
                .with("place", place)
        }
        F::Io { place, source } => from_io(place, source),
        _ => ApiError::internal("Something unexpected happened. Nothing was changed."),
    }
}

fn from_io(place: &str, source: &std::io::Error) -> ApiError {
    use std::io::ErrorKind as K;
    let (code, message) = match source.kind() {
        K::NotFound => ("not_there", format!("{place} can't be found.")),
        K::PermissionDenied => {
            ("no_permission", format!("Mementory has no permission to open {place}. Nothing was changed."))
        }
        K::AlreadyExists => return ApiError::exists(place),
        K::StorageFull => (
            "disk_full",
            "The disk is full. Nothing was changed and nothing is lost. Free some space and try again.".into(),
        ),
        _ => ("io", format!("{place} could not be read or written: {source}. Nothing was changed.")),
    };
    ApiError::new(code, 7, message).with("place", place)
}

impl From<mementory_formats::FormatError> for ApiError {
    fn from(error: mementory_formats::FormatError) -> Self {
        from_format(&error)
    }
}
