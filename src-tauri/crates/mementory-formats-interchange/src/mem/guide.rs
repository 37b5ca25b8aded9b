//! How to check an evidence pack without Mementory: a plain text, and the public key as open tools read it.
use super::{
    bundle::{CHECKSUMS, MANIFEST, SIGNATURE},
    evidence::EvidencePack,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use mementory_format::Signer;
use mementory_model::Timestamp;
use std::fmt::Write;

/// The text.
pub(super) const GUIDE: &str = "HOW-TO-CHECK.txt";
/// The key that the pack is signed with.
pub(super) const KEY: &str = "public-key.pem";
/// What stands before the 32 bytes of an Ed25519 key in a `SubjectPublicKeyInfo` (RFC 8410).
const KEY_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The key as PEM.
pub(super) fn pem(signer: &dyn Signer) -> String {
    let der = [KEY_HEAD.as_slice(), &signer.public_key()].concat();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der))
}

/// The text; `files`: what else is in the pack.
pub(super) fn text(pack: &EvidencePack, files: &[&str], signer: Option<&dyn Signer>) -> String {
    let mut out = String::from("HOW TO CHECK THIS EVIDENCE PACK\n\nIt holds no memories and no messages.\n");
    let day = |at: Option<Timestamp>, none: &str| at.map_or(none.to_owned(), Timestamp::to_rfc3339_seconds);
    // writing into a String cannot fail
    let _ = writeln!(
        out,
        "Period: from {} to {}.",
        day(pack.since, "the beginning"),
        day(pack.until, "the day it was made")
    );
    out.push_str("\nWhat is in it\n");
    for (path, what) in WHAT.iter().filter(|(path, _)| files.contains(path)) {
        let _ = writeln!(out, "  {path}\n    {what}");
    }
    let _ = writeln!(
        out,
        "\n1. Nothing was changed\n  sha256sum -c {CHECKSUMS}\n  sha256sum {CHECKSUMS}\n\
         The second must be the bundleDigest in {MANIFEST}."
    );
    let Some(signer) = signer else {
        out.push_str("\nThis pack is not signed: nothing in it says who made it.\n");
        return out;
    };
    let _ = writeln!(
        out,
        "\n2. Who made it\n  cut -d: -f3 {SIGNATURE} | xxd -r -p > signature.bin\n  \
         openssl pkeyutl -verify -pubin -inkey {KEY} -rawin -in {MANIFEST} -sigfile signature.bin\n\
         The key in hex: {}\n\
         Ask the owner of the vault for it by another way: a key that comes with a pack proves only that the pack is of a piece.",
        hex::encode(signer.public_key())
    );
    out
}

/// What a person is told of each file.
const WHAT: [(&str, &str); 6] = [
    (
        super::kinds::TOMBSTONES,
        "One line for each deletion or redaction, with the ids of all that went with it. \"signature\" is over the line in \
         canonical form (sorted keys, no spaces) without that member.",
    ),
    (
        super::evidence::RECEIPTS,
        "What an independent check found after each deletion of this vault, place by place, and which tombstones it is of.",
    ),
    (super::kinds::LOG, "What was done, when, and to which id."),
    (
        super::evidence::CHAIN,
        "For each entry of the log its number, its hash, which covers the entry before it, and the signature over the hash's \
         bytes, made when the entry was. Only the vault can make the hashes anew: nobody can guess at what an id stands for.",
    ),
    (super::bundle::PROVENANCE, "Which record was made from which, by id only."),
    (super::evidence::TRANSFERS, "Imports and exports with file names and counts."),
];
