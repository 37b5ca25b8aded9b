//! The master key and what is derived from it. Nothing here shows itself in `Debug`; all of it is wiped on drop.
use crate::{CryptoError, SigningKey, hazmat, random_bytes};
use zeroize::Zeroizing;

/// Prefix of every derivation label; a new scheme takes a new number.
const LABEL: &str = "keepsake/v1/";

/// Thirty-two secret bytes, wiped on drop.
pub struct Secret(Zeroizing<[u8; 32]>);

impl Secret {
    /// Takes the bytes over.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Random bytes.
    pub fn generate() -> Result<Self, CryptoError> {
        Ok(Self::new(random_bytes()?))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The place to fill.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8; 32] {
        &mut self.0
    }
}

impl From<Zeroizing<[u8; 32]>> for Secret {
    fn from(bytes: Zeroizing<[u8; 32]>) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// The key every other key of a vault comes from. It exists in memory only while a header is made, opened or changed.
#[derive(Debug)]
pub struct MasterKey(Secret);

impl MasterKey {
    pub(crate) fn generate() -> Result<Self, CryptoError> {
        Secret::generate().map(Self)
    }

    pub(crate) fn from_secret(secret: Secret) -> Self {
        Self(secret)
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        self.0.bytes()
    }

    /// The subkey of a label; the salt is the vault's id.
    pub(crate) fn subkey(&self, vault: &[u8; 16], name: &str) -> Secret {
        Secret::from(hazmat::derive(self.bytes(), vault, format!("{LABEL}{name}").as_bytes()))
    }
}

/// The keys of an open vault.
pub struct VaultKeys {
    store: Secret,
    index: Secret,
    blobs: Secret,
    audit: Secret,
    ids: Secret,
    fingerprints: Secret,
    spool: Secret,
    signing: SigningKey,
}

impl VaultKeys {
    pub(crate) fn derive(master: &MasterKey, vault: &[u8; 16]) -> Self {
        let key = |name| master.subkey(vault, name);
        Self {
            store: key("store"),
            index: key("index"),
            blobs: key("blobs"),
            audit: key("audit"),
            ids: key("ids"),
            fingerprints: key("fingerprints"),
            spool: key("spool"),
            signing: SigningKey::from_seed(key("signing").bytes()),
        }
    }

    /// The database key.
    pub fn store(&self) -> &[u8; 32] {
        self.store.bytes()
    }

    /// The key of the search index's files.
    pub fn index(&self) -> &[u8; 32] {
        self.index.bytes()
    }

    /// The key of attachments, their names included.
    pub fn blobs(&self) -> &[u8; 32] {
        self.blobs.bytes()
    }

    /// The key of the audit log's chain.
    pub fn audit(&self) -> &[u8; 32] {
        self.audit.bytes()
    }

    /// The key ids are derived under.
    pub fn ids(&self) -> &[u8; 32] {
        self.ids.bytes()
    }

    /// The key content fingerprints are made under.
    pub fn fingerprints(&self) -> &[u8; 32] {
        self.fingerprints.bytes()
    }

    /// A key for scratch files that outlive a process; [`crate::SpoolFile`] takes a random one instead.
    pub fn spool(&self) -> &[u8; 32] {
        self.spool.bytes()
    }

    /// The vault's signing key.
    pub fn signing(&self) -> &SigningKey {
        &self.signing
    }
}

impl std::fmt::Debug for VaultKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VaultKeys")
    }
}
