//! Checks that dropped keys are no longer at their former addresses in memory.
use crate::{KdfChoice, create_header, open_header};
use std::{fs::File, os::unix::fs::FileExt};

const PASSPHRASE: &str = "correct horse battery staple";

/// The bytes of this process at an address, as another program of the same user would read them.
fn memory_at(address: usize) -> [u8; 32] {
    let mut bytes = [0; 32];
    File::open("/proc/self/mem").unwrap().read_exact_at(&mut bytes, address as u64).unwrap();
    bytes
}

#[test]
fn no_key_is_left_where_it_was_after_the_keys_are_dropped() {
    let dir = tempfile::tempdir().unwrap();
    create_header(dir.path(), PASSPHRASE, KdfChoice::Floor, "2026-01-01T00:00:00Z").unwrap();
    let keys = Box::new(open_header(dir.path(), PASSPHRASE).unwrap().1);
    let places: Vec<(usize, [u8; 32])> = [
        keys.store(),
        keys.index(),
        keys.blobs(),
        keys.audit(),
        keys.ids(),
        keys.fingerprints(),
        keys.ledger(),
        keys.spool(),
    ]
    .map(|key| (key.as_ptr() as usize, *key))
    .to_vec();
    for (address, key) in &places {
        assert_eq!(&memory_at(*address), key, "this is where the key is");
    }
    drop(keys);
    for (address, key) in &places {
        // The allocator may have written its own data over the zeros, so this only checks that no eight bytes of the
        // key are left in place.
        let memory = memory_at(*address);
        assert!(memory.windows(8).zip(key.windows(8)).all(|(memory, key)| memory != key), "{memory:02x?}");
    }
}
