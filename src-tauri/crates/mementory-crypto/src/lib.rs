//! Key slots, encryption, signatures and keyed hashes. No other crate calls cryptographic primitives directly, except
//! SHA-256 for checksums.
//!
//! Other crates use only the items listed here; `hazmat` (primitives for a vault's own data) is private.
//!
//! ```text
//! passphrase ─ Argon2id ─┐
//!                        ├─ unwraps ─ master key ─ HKDF ─┬─ store, index, blobs, audit, ids, fingerprints
//! recovery code ─ Argon2id ┘                             ├─ ledger, spool, signing (Ed25519 seed)
//!                                                        └─ header (HMAC over vault.json)
//! one file: HKDF(subkey, salt of the file, context) ─ file key ─ one AEAD per 64 KiB chunk
//! ```
//!
//! | need | use |
//! | --- | --- |
//! | keys of a vault | [`create_header`], [`create_temporary_header`], [`open_header`], [`change_passphrase`], [`new_recovery_code`] |
//! | an encrypted file | [`ChunkWriter`], [`ChunkReader`] |
//! | scratch space | [`SpoolFile`] |
//! | names and fingerprints that reveal nothing | [`keyed_id`], [`keyed_digest`], [`KeyedHasher`] |
//! | signatures | [`SigningKey`], [`verify`] |
//! | signatures of portable files, keys in PEM | [`portable`] |
//! | data encrypted with a passphrase in other programs' files | [`seal_with_passphrase`], [`open_with_passphrase`] |
//! | key pairs from a passphrase in other programs' files | [`PassphraseKeyPair`] |
//! | a file encrypted with a passphrase, for the age tools | [`AgeWriter`], [`open_age`] |
mod age_file;
mod chunked;
mod error;
mod hazmat;
mod header;
mod jose;
mod kdf;
mod key_pair;
mod keyed;
mod keys;
mod passphrase;
mod pkcs8;
pub mod portable;
mod random;
mod read_at;
mod recovery;
mod sealed;
mod sign;
mod signature_algorithm;
mod slots;
mod spool;

pub use age_file::{AgeWriter, open_age};
pub use chunked::{CHUNK_LEN, ChunkReader, ChunkStream, ChunkWriter, Context};
pub use error::CryptoError;
pub use header::{
    HEADER_FILE, Header, SlotInfo, WrittenHeader, change_passphrase, create_header, create_temporary_header,
    new_recovery_code, open_header, read_header,
};
pub use kdf::{KdfChoice, KdfParams};
pub use key_pair::{KeyPairParams, PassphraseKeyPair};
pub use keyed::{KeyedHasher, digests_equal, keyed_digest, keyed_id};
pub use keys::{MasterKey, Secret, VaultKeys};
pub use passphrase::{MINIMUM_SCORE, strength, suggest};
pub use random::{random_bytes, random_id};
pub use read_at::ReadAt;
pub use recovery::RecoveryCode;
pub use sealed::{PassphraseCipher, PassphraseSealed, open_with_passphrase, seal_with_passphrase};
pub use sign::{SigningKey, verify};
pub use slots::SlotKind;
pub use spool::SpoolFile;

#[cfg(test)]
mod tests;
