//! Which faults of a bundle leave something whole in it. A file whose bytes have the digest in the manifest is whole,
//! whatever is wrong with the others; every line of any other file could be the damaged one, so none is read. Without
//! the manifest nothing says which file is whole.
use super::bundle::MANIFEST_FILE;

/// Codes of the faults that a salvage passes over. Names that lead out of the bundle, limits and unknown versions are not
/// among them.
pub(super) const PASSED_OVER_CODES: [&str; 12] = [
    "truncated_archive",
    "damaged_entry",
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

/// True if a salvage passes over this fault at this place.
pub(super) fn can_salvage(code: &str, place: &str) -> bool {
    let of_manifest = place.rsplit(['/', '!']).next() == Some(MANIFEST_FILE);
    PASSED_OVER_CODES.contains(&code) && !(of_manifest && ["damaged_entry", "malformed"].contains(&code))
}
