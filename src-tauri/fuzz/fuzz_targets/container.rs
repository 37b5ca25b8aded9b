//! Opens the bytes as an archive or a single file, and reads every member of it. The names of members must stay inside
//! of the archive, and nothing may be unpacked beyond the limits.
#![no_main]
use mementory_formats::{Catalog, FormatError};
use mementory_model::Limits;
use std::io::Read;

/// Limit for the bytes that are unpacked from one input.
const TOTAL_BYTES: u64 = 16 << 20;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(scratch) = tempfile::Builder::new().prefix("mementory-fuzz-").tempdir() else { return };
    // The name is that of the copy that `npm run fuzz` saves after a stack overflow.
    let path = scratch.path().join("whole");
    if std::fs::write(&path, data).is_err() {
        return;
    }
    let limits = Limits { total_bytes: TOTAL_BYTES, entries: 1000, ..Limits::default() };
    let Ok(catalog) = Catalog::open(&[path], &limits, None) else { return };
    let mut unpacked = 0;
    for member in catalog.members() {
        let is_inside = !member.name.starts_with('/') && member.name.split('/').all(|step| step != "..");
        assert!(is_inside, "unsafe name: {:?}", member.name);
        let _ = catalog.head(member, 4096);
        let read = catalog.read(member, |bytes| {
            let io = |source| FormatError::Io { place: "input".into(), source };
            std::io::copy(&mut bytes.take(TOTAL_BYTES), &mut std::io::sink()).map_err(io)
        });
        unpacked += read.unwrap_or_default();
    }
    assert!(unpacked <= 2 * TOTAL_BYTES, "{unpacked} bytes were unpacked");
    std::hint::black_box(catalog.faults());
});
