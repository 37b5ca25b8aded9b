//! Reads the bytes as the header of a vault. Without a correct checksum none of it is parsed, so the checksum is
//! corrected. No key is derived, because that takes as long as the header asks for.
#![no_main]
use mementory_crypto::{HEADER_FILE, read_header};
use sha2::{Digest, Sha256};

/// What comes before the checksum and after it.
const CHECKSUM_PREFIX: &str = "\",\n  \"checksum\": \"";
const FILE_END: &str = "\"\n}\n";
const CHECKSUM_DOMAIN: &[u8] = b"keepsake/v1/header-checksum";

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(folder) = tempfile::Builder::new().prefix("mementory-fuzz-").tempdir() else { return };
    let path = folder.path().join(HEADER_FILE);
    for bytes in [Some(data.to_vec()), with_checksum(data)].into_iter().flatten() {
        if std::fs::write(&path, &bytes).is_ok() {
            let _ = std::hint::black_box(read_header(folder.path()));
        }
    }
});

/// The header with the checksum of what comes before it. None if the bytes have no place for one.
fn with_checksum(data: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(data).ok()?;
    let covered = &text[..text.rfind(CHECKSUM_PREFIX)? + CHECKSUM_PREFIX.len()];
    let domain_length = (CHECKSUM_DOMAIN.len() as u64).to_le_bytes();
    let hasher = Sha256::new().chain_update(domain_length).chain_update(CHECKSUM_DOMAIN).chain_update(covered);
    let checksum = hex::encode(hasher.finalize());
    Some(format!("{covered}{checksum}{FILE_END}").into_bytes())
}
