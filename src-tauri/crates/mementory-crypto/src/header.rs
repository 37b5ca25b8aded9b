//! `vault.json`: version, vault id, key slots. It contains no secrets and is authenticated as a whole.
//!
//! The file is one JSON object whose last two members are `mac` and `checksum`. The checksum (SHA-256, no key) covers
//! every byte before its own value, and the bytes after that value are fixed. A damaged file is therefore recognized
//! before a secret is tried; an AEAD alone could not distinguish damage from a wrong passphrase. The mac (HMAC-SHA256
//! with a subkey of the master key) covers every byte before its own value, so correcting the checksum of a changed
//! file is not enough. Both cover the exact bytes, including white space.
use crate::{
    CryptoError, KdfChoice, KdfParams, MasterKey, RecoveryCode, SlotKind, VaultKeys, hazmat, random_bytes, slots::Slot,
};
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io::{Read, Write},
    path::Path,
};
use subtle::ConstantTimeEq;

/// Name of the header in the vault's folder.
pub const HEADER_FILE: &str = "vault.json";
const HEADER_VERSION: u32 = 1;
const MAX_HEADER_BYTES: u64 = 64 * 1024;
const MAX_SLOT_COUNT: usize = 8;
const DIGEST_HEX_LEN: usize = 64;
const MAC_PREFIX: &str = ",\n  \"mac\": \"";
const CHECKSUM_PREFIX: &str = "\",\n  \"checksum\": \"";
const FILE_END: &str = "\"\n}\n";
const CHECKSUM_DOMAIN: &[u8] = b"keepsake/v1/header-checksum";

/// The part of a header that can be read without a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Id of the vault, a UUID as text.
    pub vault_id: String,
    /// The version of the header format.
    pub version: u32,
    /// Time when the vault was created (RFC 3339).
    pub created_at: String,
    /// The key slots, one for each secret that opens the vault.
    pub slots: Vec<SlotInfo>,
}

/// Information about a key slot, without its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotInfo {
    /// The kind of secret that opens the slot.
    pub kind: SlotKind,
    /// Time when the slot was created (RFC 3339).
    pub created_at: String,
    /// The cost of one attempt to open the slot.
    pub params: KdfParams,
}

/// The members of the header that the mac covers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderBody {
    version: u32,
    vault_id: uuid::Uuid,
    created_at: String,
    cipher: String,
    kdf: String,
    slots: Vec<Slot>,
}

const CIPHER_NAME: &str = "xchacha20-poly1305";
const KDF_NAME: &str = "argon2id-19";

impl HeaderBody {
    fn header(&self) -> Header {
        let slot = |s: &Slot| SlotInfo { kind: s.kind, created_at: s.created_at.clone(), params: s.kdf };
        Header {
            vault_id: self.vault_id.to_string(),
            version: self.version,
            created_at: self.created_at.clone(),
            slots: self.slots.iter().map(slot).collect(),
        }
    }

    fn vault_id_bytes(&self) -> &[u8; 16] {
        self.vault_id.as_bytes()
    }

    /// Replaces the slot of the same kind, or adds the slot if there is none.
    fn replace_slot(&mut self, slot: Slot) {
        match self.slots.iter_mut().find(|s| s.kind == slot.kind) {
            Some(old) => *old = slot,
            None => self.slots.push(slot),
        }
    }

    /// Returns the text of the header file, with mac and checksum.
    fn to_file_text(&self, master: &MasterKey) -> Result<String, CryptoError> {
        let mut text = serde_json::to_string_pretty(self).map_err(std::io::Error::from)?;
        text.truncate(text.trim_end_matches("\n}").len());
        let mac =
            hex::encode(hazmat::hmac_sha256(master.subkey(self.vault_id_bytes(), "header").bytes(), text.as_bytes()));
        text.push_str(MAC_PREFIX);
        text.push_str(&mac);
        text.push_str(CHECKSUM_PREFIX);
        let checksum = hex::encode(hazmat::labelled_sha256(CHECKSUM_DOMAIN, text.as_bytes()));
        text.push_str(&checksum);
        text.push_str(FILE_END);
        Ok(text)
    }
}

/// A header that was read: intact, of a known version, with parameters in range. The mac is not checked yet.
struct UnverifiedHeader {
    body: HeaderBody,
    text: String,
    mac_at: usize,
}

impl UnverifiedHeader {
    fn read(dir: &Path) -> Result<Self, CryptoError> {
        let file = File::open(dir.join(HEADER_FILE))?;
        let mut bytes = Vec::new();
        file.take(MAX_HEADER_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_HEADER_BYTES {
            return Err(CryptoError::HeaderDamaged("size"));
        }
        Self::parse(String::from_utf8(bytes).map_err(|_| CryptoError::HeaderDamaged("text"))?)
    }

    fn parse(text: String) -> Result<Self, CryptoError> {
        let damaged = CryptoError::HeaderDamaged;
        let rest = text.strip_suffix(FILE_END).ok_or(damaged("end"))?;
        let position = rest.len().checked_sub(DIGEST_HEX_LEN).ok_or(damaged("end"))?;
        let (covered, checksum) = rest.split_at_checked(position).ok_or(damaged("end"))?;
        if checksum != hex::encode(hazmat::labelled_sha256(CHECKSUM_DOMAIN, covered.as_bytes())) {
            return Err(damaged("checksum"));
        }
        // The file is intact, so its version can be trusted. In a newer version, everything but the end of the file may
        // differ.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let version = serde_json::from_str::<Versioned>(&text).map_err(|_| damaged("version"))?.version;
        if version != HEADER_VERSION {
            return Err(CryptoError::HeaderVersion(version));
        }
        let text_with_mac = covered.strip_suffix(CHECKSUM_PREFIX).ok_or(damaged("mac"))?;
        let mac_at = text_with_mac.len().checked_sub(DIGEST_HEX_LEN + MAC_PREFIX.len()).ok_or(damaged("mac"))?;
        let (content, mac) = text_with_mac.split_at_checked(mac_at).ok_or(damaged("mac"))?;
        if !mac.starts_with(MAC_PREFIX) {
            return Err(damaged("mac"));
        }
        let body: HeaderBody = serde_json::from_str(&format!("{content}\n}}")).map_err(|_| damaged("content"))?;
        if body.cipher != CIPHER_NAME || body.kdf != KDF_NAME {
            return Err(damaged("ciphers"));
        }
        if body.slots.is_empty() || body.slots.len() > MAX_SLOT_COUNT {
            return Err(damaged("key slots"));
        }
        body.slots.iter().try_for_each(Slot::check)?;
        Ok(Self { body, text, mac_at })
    }

    /// Opens the first slot that accepts the secret, then checks the mac.
    fn open(&self, secret: &str) -> Result<MasterKey, CryptoError> {
        let vault = self.body.vault_id_bytes();
        let is_code = RecoveryCode::parse(secret).is_some();
        // Try the more likely slot first, because each attempt costs a key derivation.
        let (first_kind, second_kind) = if is_code {
            (SlotKind::Recovery, SlotKind::Passphrase)
        } else {
            (SlotKind::Passphrase, SlotKind::Recovery)
        };
        for kind in [first_kind, second_kind] {
            for slot in self.body.slots.iter().filter(|s| s.kind == kind) {
                if let Some(master) = slot.open(vault, secret)? {
                    self.check_mac(&master)?;
                    return Ok(master);
                }
            }
        }
        Err(CryptoError::WrongSecret)
    }

    fn check_mac(&self, master: &MasterKey) -> Result<(), CryptoError> {
        let (content, rest) = self.text.split_at(self.mac_at);
        let expected =
            hazmat::hmac_sha256(master.subkey(self.body.vault_id_bytes(), "header").bytes(), content.as_bytes());
        let mac_digits = rest.get(MAC_PREFIX.len()..MAC_PREFIX.len() + DIGEST_HEX_LEN).unwrap_or_default();
        if bool::from(hex::encode(expected).as_bytes().ct_eq(mac_digits.as_bytes())) {
            Ok(())
        } else {
            Err(CryptoError::HeaderDamaged("mac"))
        }
    }
}

/// Creates the keys of a vault and writes its header into `dir`, which must exist. Does not replace an existing header
/// (`Io(AlreadyExists)`).
pub fn create_header(
    dir: &Path,
    passphrase: &str,
    kdf: KdfChoice,
    now_rfc3339: &str,
) -> Result<(Header, VaultKeys, RecoveryCode), CryptoError> {
    create(dir, passphrase, kdf, now_rfc3339, random_bytes()?)
}

/// Like [`create_header`], for a temporary vault that is never opened again. Its id, and the key for deriving ids from
/// records, depend only on `seed`, so that two vaults with the same seed give the same records the same ids. All other
/// keys are random.
///
/// # Errors
/// As [`create_header`].
pub fn create_temporary_header(
    dir: &Path,
    passphrase: &str,
    now_rfc3339: &str,
    seed: &[u8; 32],
) -> Result<(Header, VaultKeys), CryptoError> {
    let mut id = [0; 16];
    id.copy_from_slice(&hazmat::derive_key(seed, &[], b"keepsake/v1/vault-id-of-seed")[..16]);
    let (header, keys, _) = create(dir, passphrase, KdfChoice::Floor, now_rfc3339, id)?;
    Ok((header, keys.with_ids_from(seed)))
}

fn create(
    dir: &Path,
    passphrase: &str,
    kdf: KdfChoice,
    now_rfc3339: &str,
    id: [u8; 16],
) -> Result<(Header, VaultKeys, RecoveryCode), CryptoError> {
    if dir.join(HEADER_FILE).try_exists()? {
        return Err(CryptoError::Io(std::io::ErrorKind::AlreadyExists.into()));
    }
    let vault_id = uuid::Builder::from_random_bytes(id).into_uuid();
    let master = MasterKey::generate()?;
    let code = RecoveryCode::generate()?;
    let vault = vault_id.as_bytes();
    let slots = vec![
        Slot::for_passphrase(&master, vault, passphrase, KdfParams::choose(kdf)?, now_rfc3339)?,
        Slot::for_recovery(&master, vault, &code, now_rfc3339)?,
    ];
    let body = HeaderBody {
        version: HEADER_VERSION,
        vault_id,
        created_at: now_rfc3339.to_owned(),
        cipher: CIPHER_NAME.into(),
        kdf: KDF_NAME.into(),
        slots,
    };
    write_header(dir, &body.to_file_text(&master)?, false)?;
    Ok((body.header(), VaultKeys::derive(&master, body.vault_id_bytes()), code))
}

/// Opens a vault with its passphrase or recovery code.
///
/// # Errors
/// `Io(NotFound)` if there is no header, `HeaderDamaged` if a check fails, `HeaderVersion` and `KdfParameters` if the
/// header is intact but not accepted, `WrongSecret` if no slot opens.
pub fn open_header(dir: &Path, secret: &str) -> Result<(Header, VaultKeys), CryptoError> {
    let unverified = UnverifiedHeader::read(dir)?;
    let master = unverified.open(secret)?;
    Ok((unverified.body.header(), VaultKeys::derive(&master, unverified.body.vault_id_bytes())))
}

/// The result of replacing the header. The new header is already in place.
#[derive(Debug, Clone)]
pub struct WrittenHeader {
    /// The new header.
    pub header: Header,
    /// False if the system did not confirm that the rename is on the disk. A power failure may then bring the old
    /// header back.
    pub synced: bool,
}

/// Replaces the passphrase slot atomically: after a crash the file has either the old or the new slot. `secret` is the
/// old passphrase or the recovery code.
pub fn change_passphrase(
    dir: &Path,
    secret: &str,
    new_passphrase: &str,
    kdf: KdfChoice,
    now_rfc3339: &str,
) -> Result<WrittenHeader, CryptoError> {
    let mut unverified = UnverifiedHeader::read(dir)?;
    let master = unverified.open(secret)?;
    let slot = Slot::for_passphrase(
        &master,
        unverified.body.vault_id_bytes(),
        new_passphrase,
        KdfParams::choose(kdf)?,
        now_rfc3339,
    )?;
    unverified.body.replace_slot(slot);
    let synced = write_header(dir, &unverified.body.to_file_text(&master)?, true)?;
    Ok(WrittenHeader { header: unverified.body.header(), synced })
}

/// Replaces the recovery slot atomically. The old code becomes invalid.
pub fn new_recovery_code(
    dir: &Path,
    secret: &str,
    now_rfc3339: &str,
) -> Result<(WrittenHeader, RecoveryCode), CryptoError> {
    let mut unverified = UnverifiedHeader::read(dir)?;
    let master = unverified.open(secret)?;
    let code = RecoveryCode::generate()?;
    let slot = Slot::for_recovery(&master, unverified.body.vault_id_bytes(), &code, now_rfc3339)?;
    unverified.body.replace_slot(slot);
    let synced = write_header(dir, &unverified.body.to_file_text(&master)?, true)?;
    Ok((WrittenHeader { header: unverified.body.header(), synced }, code))
}

/// Reads a header without a secret. The checksum is checked; the mac cannot be.
pub fn read_header(dir: &Path) -> Result<Header, CryptoError> {
    Ok(UnverifiedHeader::read(dir)?.body.header())
}

/// Writes the header to a new file, syncs it, renames it, and syncs the folder. Unless `may_replace` is true, an
/// existing header is an error. Returns false if the folder could not be synced. A failed sync of the folder is not an
/// error, because the new header is already in place, and after an error the caller would never see a new recovery
/// code.
fn write_header(dir: &Path, text: &str, may_replace: bool) -> Result<bool, CryptoError> {
    let mut file = tempfile::Builder::new().prefix(".vault.json.").tempfile_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    let target = dir.join(HEADER_FILE);
    if may_replace { file.persist(&target) } else { file.persist_noclobber(&target) }.map_err(|e| e.error)?;
    // Windows cannot sync a folder, but its file systems journal the rename.
    #[cfg(unix)]
    let synced = File::open(dir).and_then(|folder| folder.sync_all()).is_ok();
    #[cfg(not(unix))]
    let synced = true;
    Ok(synced)
}
