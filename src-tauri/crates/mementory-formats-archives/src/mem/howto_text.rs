//! Instructions for checking an evidence pack without Mementory, as plain text, and the public key in PEM form.
use super::{
    bundle::{CHECKSUMS_FILE, MANIFEST_FILE, SIGNATURE_FILE},
    evidence_pack::EvidencePack,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use mementory_format::Signer;
use mementory_model::Timestamp;
use std::fmt::Write;

/// File with the instructions for checking the pack.
pub(super) const HOWTO_FILE: &str = "HOW-TO-CHECK.txt";
/// File with the public key of the pack's signature.
pub(super) const PUBLIC_KEY_FILE: &str = "public-key.pem";
/// DER prefix of a `SubjectPublicKeyInfo` with an Ed25519 key (RFC 8410). The 32 bytes of the key follow.
const DER_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

pub(super) fn public_key_pem(signer: &dyn Signer) -> String {
    let der = [DER_PREFIX.as_slice(), &signer.public_key()].concat();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der))
}

/// Returns the instructions. `files` are the other files in the pack.
pub(super) fn instructions(pack: &EvidencePack, files: &[&str], signer: Option<&dyn Signer>) -> String {
    let mut out = String::from("HOW TO CHECK THIS EVIDENCE PACK\n\nIt contains no memories and no messages.\n");
    let time_or = |at: Option<Timestamp>, none: &str| at.map_or(none.to_owned(), Timestamp::to_rfc3339_seconds);
    let _ = writeln!(
        out,
        "Period: from {} to {}.",
        time_or(pack.since, "the beginning"),
        time_or(pack.until, "the day it was made")
    );
    out.push_str("\nContents\n");
    for (path, description) in FILE_DESCRIPTIONS.iter().filter(|(path, _)| files.contains(path)) {
        let _ = writeln!(out, "  {path}\n    {description}");
    }
    let _ = writeln!(
        out,
        "\n1. Nothing was changed\n  sha256sum -c {CHECKSUMS_FILE}\n  sha256sum {CHECKSUMS_FILE}\n\
         The second digest must be the bundleDigest in {MANIFEST_FILE}."
    );
    let Some(signer) = signer else {
        out.push_str("\nThis pack is not signed, so it does not prove who made it.\n");
        return out;
    };
    let _ = writeln!(
        out,
        "\n2. Who made it\n  cut -d: -f3 {SIGNATURE_FILE} | xxd -r -p > signature.bin\n  \
         openssl pkeyutl -verify -pubin -inkey {PUBLIC_KEY_FILE} -rawin -in {MANIFEST_FILE} -sigfile signature.bin\n\
         The key in hex: {}\n\
         Ask the owner of the vault for this key in another way: a key inside a pack only proves that the pack was not changed after signing.",
        hex::encode(signer.public_key())
    );
    out
}

/// Description of each file in a pack, by path, for the instructions.
const FILE_DESCRIPTIONS: [(&str, &str); 6] = [
    (
        super::kinds::TOMBSTONES_FILE,
        "One line for each deletion or redaction, with the ids of everything deleted along with it. \"signature\" covers the \
         line in canonical form (sorted keys, no spaces) without that member.",
    ),
    (
        super::evidence_pack::RECEIPTS_FILE,
        "What an independent check found after each deletion in this vault, location by location, and the tombstones that it concerns.",
    ),
    (super::kinds::AUDIT_LOG_FILE, "What was done, when, and to which id."),
    (
        super::evidence_pack::AUDIT_CHAIN_FILE,
        "For each entry of the log: its number, its hash, which also covers the previous entry, and the signature over the \
         bytes of the hash, made together with the entry. Only the vault can recompute the hashes, so nobody can guess \
         what an id stands for.",
    ),
    (super::bundle::PROVENANCE_FILE, "Which record was derived from which, by id only."),
    (super::evidence_pack::TRANSFERS_FILE, "Imports and exports with file names and counts."),
];
