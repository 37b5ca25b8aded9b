//! Decides which faults of a bundle a salvage can ignore. A salvage reads only the files whose bytes have the digest in
//! the manifest, because in any other file every line could be damaged. Without a manifest, intact files cannot be
//! distinguished from damaged ones.
use super::bundle::MANIFEST_FILE;

/// Codes of the faults that a salvage ignores. A salvage does not ignore names that lead out of the bundle, exceeded
/// limits or unknown versions.
pub(super) const SALVAGEABLE_CODES: [&str; 14] = [
    "truncated_archive",
    "damaged_entry",
    "encrypted",
    "unsupported_compression",
    "malformed",
    "duplicate_path",
    "file_missing",
    "checksum_mismatch",
    "byte_count_mismatch",
    "unlisted_file",
    "checksums_missing",
    "checksums_mismatch",
    "bundle_digest_mismatch",
    "counts_mismatch",
];

/// True if a salvage ignores a fault with this code at this place.
pub(super) fn can_salvage(code: &str, place: &str) -> bool {
    let is_manifest = place.rsplit(['/', '!']).next() == Some(MANIFEST_FILE);
    SALVAGEABLE_CODES.contains(&code) && !(is_manifest && ["damaged_entry", "malformed"].contains(&code))
}
