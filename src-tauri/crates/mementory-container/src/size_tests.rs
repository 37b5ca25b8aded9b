//! Tests of files that are far larger than any export.
#![allow(clippy::unwrap_used)]
use super::tests::{TempFolder, open, plain_entry, zip_bytes};
use crate::FormatError;
use std::io::{Seek, SeekFrom, Write};

#[test]
fn a_huge_file_that_is_no_archive_is_refused_with_its_size_and_not_read_to_its_end() {
    let dir = TempFolder::new("huge");
    let path = dir.put("huge.zip", b"no archive");
    // The file is sparse, so most of it takes no space on the disk. If the whole file were read, the entry in its
    // middle would be found.
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(5_000_000_000)).unwrap();
    file.write_all(&zip_bytes(&[plain_entry("a.txt", b"far away")])).unwrap();
    file.set_len(10_000_000_000).unwrap();
    match open(&[path]) {
        Err(FormatError::Invalid { code: "malformed", message, .. }) => {
            assert_eq!(message, "not a readable ZIP file, 10.0 GB large");
        }
        other => assert!(other.is_err(), "the whole file was read"),
    }
}
