//! Signing keys: the vault's own, whom it trusts, whose it has seen; and what a check of a file found.
use super::{CheckedSignature, Finding};
use serde::{Deserialize, Serialize};
use specta::Type;

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct KeyInfo {
    /// `ed25519`, `ml-dsa-65` …
    pub algorithm: String,
    /// In hex.
    pub public_key: String,
    /// How it is shown to people: the first half of its SHA-256, in hex.
    pub fingerprint: String,
    pub name: Option<String>,
    /// When it was first seen or trusted; the vault's own has none.
    pub since: Option<String>,
}

/// Keys by what this vault knows of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Keys {
    /// The vault's own.
    pub own: Vec<KeyInfo>,
    /// The owner said that these are trusted.
    pub trusted: Vec<KeyInfo>,
    /// They were on something that was imported, and nothing more.
    pub seen: Vec<KeyInfo>,
}

/// Who signed a file, as this vault sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SignerInfo {
    #[serde(flatten)]
    pub key: KeyInfo,
    /// `own`, `trusted`, `seen` or `new`.
    pub standing: String,
}

/// What is to be known of a file before it is imported.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FileCheck {
    pub path: String,
    pub format: Option<String>,
    /// False = there is nothing to check a file of this kind against; then the rest says nothing.
    pub checked: bool,
    /// Whole: no error was found.
    pub ok: bool,
    pub records: u32,
    pub signature: CheckedSignature,
    /// Whose signature it is. None = unsigned, or a key that cannot be read.
    pub signer: Option<SignerInfo>,
    pub errors: Vec<Finding>,
    pub warnings: Vec<Finding>,
}
