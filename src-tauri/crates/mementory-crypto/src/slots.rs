//! Key slots: the master key, encrypted with a key derived from a passphrase or a recovery code.
use crate::{
    CryptoError, KdfParams, MasterKey, RecoveryCode, Secret,
    hazmat::{self, Cipher},
    random_bytes,
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use zeroize::{Zeroize, Zeroizing};

/// The kind of secret that opens a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotKind {
    /// The passphrase.
    Passphrase,
    /// The recovery code.
    Recovery,
}

impl SlotKind {
    /// Returns the name that the header stores.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passphrase => "passphrase",
            Self::Recovery => "recovery",
        }
    }
}

/// A slot as stored in the header.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Slot {
    pub(crate) kind: SlotKind,
    pub(crate) created_at: String,
    pub(crate) kdf: KdfParams,
    salt: String,
    nonce: String,
    wrapped: String,
}

impl Slot {
    /// Encrypts the master key with a passphrase.
    pub(crate) fn for_passphrase(
        master: &MasterKey,
        vault: &[u8; 16],
        passphrase: &str,
        kdf: KdfParams,
        now: &str,
    ) -> Result<Self, CryptoError> {
        Self::wrap(master, vault, SlotKind::Passphrase, to_nfc(passphrase).as_bytes(), kdf, now)
    }

    /// Encrypts the master key with a recovery code. The code has 160 random bits, so the lowest cost of key derivation
    /// is enough.
    pub(crate) fn for_recovery(
        master: &MasterKey,
        vault: &[u8; 16],
        code: &RecoveryCode,
        now: &str,
    ) -> Result<Self, CryptoError> {
        Self::wrap(master, vault, SlotKind::Recovery, code.secret(), KdfParams::floor(), now)
    }

    fn wrap(
        master: &MasterKey,
        vault: &[u8; 16],
        kind: SlotKind,
        secret: &[u8],
        kdf: KdfParams,
        now: &str,
    ) -> Result<Self, CryptoError> {
        let salt = random_bytes::<16>()?;
        let nonce = random_bytes::<{ hazmat::NONCE_LEN }>()?;
        let key = kdf.derive(secret, &salt)?;
        let mut wrapped = Zeroizing::new(*master.bytes());
        let tag = Cipher::new(key.bytes()).seal(&nonce, &aad(vault, kind, &kdf, &salt), wrapped.as_mut())?;
        Ok(Self {
            kind,
            created_at: now.to_owned(),
            kdf,
            salt: BASE64.encode(salt),
            nonce: BASE64.encode(nonce),
            wrapped: BASE64.encode([wrapped.as_slice(), tag.as_slice()].concat()),
        })
    }

    /// Decrypts the master key. Returns `Ok(None)` if the secret does not open this slot.
    pub(crate) fn open(&self, vault: &[u8; 16], secret: &str) -> Result<Option<MasterKey>, CryptoError> {
        let key = match self.kind {
            SlotKind::Passphrase => self.kdf.derive(to_nfc(secret).as_bytes(), &self.salt()?)?,
            SlotKind::Recovery => match RecoveryCode::parse(secret) {
                Some(code) => self.kdf.derive(code.secret(), &self.salt()?)?,
                None => return Ok(None),
            },
        };
        let (salt, nonce, mut wrapped) = (self.salt()?, self.nonce()?, self.wrapped()?);
        let aad = aad(vault, self.kind, &self.kdf, &salt);
        if Cipher::new(key.bytes()).open(&nonce, &aad, &mut wrapped).is_err() {
            return Ok(None);
        }
        let mut secret = Secret::new([0; 32]);
        secret.bytes_mut().copy_from_slice(&wrapped[..32]);
        wrapped.zeroize();
        Ok(Some(MasterKey::from_secret(secret)))
    }

    /// Checks the format of all fields, without a secret.
    pub(crate) fn check(&self) -> Result<(), CryptoError> {
        self.salt()?;
        self.nonce()?;
        self.wrapped()?;
        self.kdf.check()
    }

    fn salt(&self) -> Result<[u8; 16], CryptoError> {
        decode_base64(&self.salt)
    }

    fn nonce(&self) -> Result<[u8; hazmat::NONCE_LEN], CryptoError> {
        decode_base64(&self.nonce)
    }

    fn wrapped(&self) -> Result<[u8; 32 + hazmat::TAG_LEN], CryptoError> {
        decode_base64(&self.wrapped)
    }
}

/// Converts the passphrase to Unicode NFC, so that its bytes do not depend on the keyboard on which it is typed.
fn to_nfc(passphrase: &str) -> Zeroizing<String> {
    // Enough memory is reserved first, because a growing buffer would leave copies of the passphrase in freed memory.
    let mut out = Zeroizing::new(String::with_capacity(passphrase.len() * 3));
    out.extend(passphrase.nfc());
    out
}

fn decode_base64<const N: usize>(text: &str) -> Result<[u8; N], CryptoError> {
    let decoded = BASE64.decode(text).map_err(|_| CryptoError::HeaderDamaged("key slot"))?;
    decoded.try_into().map_err(|_| CryptoError::HeaderDamaged("key slot"))
}

fn aad(vault: &[u8; 16], kind: SlotKind, kdf: &KdfParams, salt: &[u8; 16]) -> Vec<u8> {
    hazmat::encode_list(&[
        b"keepsake/v1/slot",
        vault,
        kind.as_str().as_bytes(),
        b"argon2id-19",
        &kdf.memory_kib.to_le_bytes(),
        &kdf.passes.to_le_bytes(),
        &kdf.lanes.to_le_bytes(),
        salt,
    ])
}
