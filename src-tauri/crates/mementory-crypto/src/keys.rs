//! The master key and the keys derived from it. None is visible in `Debug`; all are wiped on drop.
use crate::{CryptoError, KeyedHasher, SigningKey, hazmat, random_bytes};
use zeroize::Zeroizing;

/// Prefix of every derivation label. A new derivation scheme needs a new number.
const LABEL_PREFIX: &str = "keepsake/v1/";

/// Thirty-two secret bytes, wiped on drop.
pub struct Secret(Zeroizing<[u8; 32]>);

impl Secret {
    /// A secret with these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A new random secret.
    pub fn generate() -> Result<Self, CryptoError> {
        Ok(Self::new(random_bytes()?))
    }

    /// The secret itself. Must not be logged or stored.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Gives write access to the bytes, so that the caller can fill them in.
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

/// The key from which all other keys of a vault are derived. It is in memory only while a header is created, opened or
/// changed.
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

    /// The subkey for a label. The salt is the id of the vault.
    pub(crate) fn subkey(&self, vault: &[u8; 16], name: &str) -> Secret {
        Secret::from(hazmat::derive_key(self.bytes(), vault, format!("{LABEL_PREFIX}{name}").as_bytes()))
    }
}

/// The keys of an open vault.
pub struct VaultKeys {
    store: Secret,
    index: Secret,
    blobs: Secret,
    audit: Secret,
    ids: Secret,
    /// A hasher with the key `ids`.
    id_hasher: KeyedHasher,
    fingerprints: Secret,
    ledger: Secret,
    spool: Secret,
    signing: SigningKey,
}

impl VaultKeys {
    pub(crate) fn derive(master: &MasterKey, vault: &[u8; 16]) -> Self {
        let key = |name| master.subkey(vault, name);
        let ids = key("ids");
        Self {
            store: key("store"),
            index: key("index"),
            blobs: key("blobs"),
            audit: key("audit"),
            id_hasher: KeyedHasher::new(ids.bytes()),
            ids,
            fingerprints: key("fingerprints"),
            ledger: key("erasure-ledger"),
            spool: key("spool"),
            signing: SigningKey::from_seed(key("signing").bytes()),
        }
    }

    /// Replaces the key for deriving ids by a key that depends only on `seed`.
    pub(crate) fn with_ids_from(self, seed: &[u8; 32]) -> Self {
        let ids = Secret::from(hazmat::derive_key(seed, &[], format!("{LABEL_PREFIX}ids-of-seed").as_bytes()));
        Self { id_hasher: KeyedHasher::new(ids.bytes()), ids, ..self }
    }

    /// The database key.
    pub fn store(&self) -> &[u8; 32] {
        self.store.bytes()
    }

    /// The key for the files of the search index.
    pub fn index(&self) -> &[u8; 32] {
        self.index.bytes()
    }

    /// The key for blobs and their names.
    pub fn blobs(&self) -> &[u8; 32] {
        self.blobs.bytes()
    }

    /// The key for the chain of the audit log.
    pub fn audit(&self) -> &[u8; 32] {
        self.audit.bytes()
    }

    /// The key for deriving ids.
    pub fn ids(&self) -> &[u8; 32] {
        self.ids.bytes()
    }

    /// A hasher with the key for deriving ids and no data yet. An import derives several ids for each record, and
    /// preparing the key takes nearly half the time of a short digest.
    pub fn id_hasher(&self) -> &KeyedHasher {
        &self.id_hasher
    }

    /// The key for fingerprints of content.
    pub fn fingerprints(&self) -> &[u8; 32] {
        self.fingerprints.bytes()
    }

    /// The key for the list of erasures and for the fingerprints of words in it.
    pub fn ledger(&self) -> &[u8; 32] {
        self.ledger.bytes()
    }

    /// The key for scratch files that outlive a process. [`crate::SpoolFile`] uses a random key instead.
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
