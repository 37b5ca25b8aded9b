//! Signing keys (the vault's own keys, and trusted and seen ones), and the result of checking a file.
use super::{CheckedSignature, Finding};
use serde::{Deserialize, Serialize};
use specta::Type;

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct KeyInfo {
    /// `ed25519`, `ml-dsa-65` …
    pub algorithm: String,
    /// The key in hex.
    pub public_key: String,
    /// The first half of the key's SHA-256 in hex, for display.
    pub fingerprint: String,
    pub name: Option<String>,
    /// When the key was first seen or trusted. Null for the vault's own key.
    pub since: Option<String>,
}

/// The keys that this vault knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Keys {
    /// The vault's own keys.
    pub own: Vec<KeyInfo>,
    /// Keys that the owner of the vault trusts.
    pub trusted: Vec<KeyInfo>,
    /// Keys that signed imported files but are not trusted.
    pub seen: Vec<KeyInfo>,
}

/// The signer of a file, and whether this vault knows the signer's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct SignerInfo {
    #[serde(flatten)]
    pub key: KeyInfo,
    /// `own`, `trusted`, `seen` or `new`.
    pub trust_status: String,
}

/// Result of checking a file before it is imported.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FileCheck {
    pub path: String,
    pub format: Option<String>,
    /// True if the format has a validator. If false, nothing was checked, and the fields below have no meaning.
    pub checked: bool,
    /// True if no error was found and no signature is invalid.
    pub ok: bool,
    pub records: u32,
    pub signature: CheckedSignature,
    /// The signer. Null if the file is unsigned, its signature is invalid, or the key cannot be read.
    pub signer: Option<SignerInfo>,
    pub errors: Vec<Finding>,
    pub warnings: Vec<Finding>,
}
