//! Chunked files: reading back what was written, and refusing every kind of manipulation.
use crate::{CHUNK_LEN, ChunkReader, ChunkWriter, Context, CryptoError};
use proptest::prelude::*;
use std::io::{Read, Seek, SeekFrom, Write};

const KEY: [u8; 32] = [7; 32];
const HEADER_LEN: usize = 32;
const ENCRYPTED_CHUNK_LEN: usize = CHUNK_LEN + 16;

fn context(name: &str, generation: u64) -> Context<'_> {
    Context { purpose: "test", name, generation }
}

fn encrypt(plain: &[u8], name: &str, generation: u64) -> Vec<u8> {
    let mut writer = ChunkWriter::new(Vec::new(), &KEY, &context(name, generation)).unwrap();
    writer.write_all(plain).unwrap();
    writer.finish().unwrap()
}

fn decrypt(file: Vec<u8>, name: &str, generation: u64) -> Result<Vec<u8>, CryptoError> {
    let len = file.len() as u64;
    let reader = ChunkReader::open(file, len, &KEY, &context(name, generation))?;
    let mut out = vec![0; usize::try_from(reader.len()).unwrap()];
    reader.read_at(0, &mut out)?;
    Ok(out)
}

fn is_refused(file: Vec<u8>, name: &str, generation: u64) -> bool {
    matches!(decrypt(file, name, generation), Err(CryptoError::Decrypt))
}

fn test_bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i / 7 + i % 251) as u8).collect()
}

#[test]
fn files_of_all_boundary_lengths_round_trip() {
    for len in [0, 1, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 1, 2 * CHUNK_LEN, 3 * CHUNK_LEN + 5] {
        let plain = test_bytes(len);
        let file = encrypt(&plain, "a", 1);
        assert_eq!(file.len(), HEADER_LEN + len + 16 * len.div_ceil(CHUNK_LEN).max(1), "length {len}");
        assert_eq!(decrypt(file.clone(), "a", 1).unwrap(), plain, "length {len}");
        let file_len = file.len() as u64;
        let mut stream = ChunkReader::open(file, file_len, &KEY, &context("a", 1)).unwrap().into_read();
        let mut out = Vec::new();
        stream.read_to_end(&mut out).unwrap();
        assert_eq!(out, plain, "stream of length {len}");
        assert_eq!(stream.seek(SeekFrom::End(0)).unwrap(), len as u64);
    }
}

#[test]
fn two_files_with_the_same_plaintext_differ_completely() {
    let (a, b) = (encrypt(b"same", "a", 1), encrypt(b"same", "a", 1));
    assert_ne!(a[8..], b[8..], "salt and ciphertext differ");
}

#[test]
fn any_flipped_byte_fails() {
    for len in [0, 1, 40] {
        let file = encrypt(&test_bytes(len), "a", 1);
        for position in 0..file.len() {
            let mut changed = file.clone();
            changed[position] ^= 1;
            assert!(is_refused(changed, "a", 1), "byte {position} of a file of {len}");
        }
    }
}

#[test]
fn a_truncated_or_extended_file_does_not_open() {
    let file = encrypt(&test_bytes(2 * CHUNK_LEN + 9), "a", 1);
    let edges = [
        0,
        1,
        HEADER_LEN - 1,
        HEADER_LEN,
        HEADER_LEN + 15,
        HEADER_LEN + 16,
        HEADER_LEN + ENCRYPTED_CHUNK_LEN - 1,
        HEADER_LEN + ENCRYPTED_CHUNK_LEN,
        HEADER_LEN + ENCRYPTED_CHUNK_LEN + 1,
    ];
    for cut in edges.into_iter().chain([
        HEADER_LEN + 2 * ENCRYPTED_CHUNK_LEN,
        HEADER_LEN + 2 * ENCRYPTED_CHUNK_LEN + 16,
        file.len() - 1,
    ]) {
        let mut changed = file.clone();
        changed.truncate(cut);
        assert!(
            matches!(ChunkReader::open(changed, cut as u64, &KEY, &context("a", 1)), Err(CryptoError::Decrypt)),
            "cut to {cut}"
        );
        assert!(
            matches!(
                ChunkReader::open(file[..cut].to_vec(), file.len() as u64, &KEY, &context("a", 1)),
                Err(CryptoError::Decrypt)
            ),
            "cut to {cut} under its old length"
        );
    }
    for extra in [1, 16, 17, ENCRYPTED_CHUNK_LEN] {
        let mut changed = file.clone();
        changed.extend(std::iter::repeat_n(0, extra));
        assert!(is_refused(changed, "a", 1), "extended by {extra}");
    }
    let mut repeated = file.clone();
    repeated.extend_from_slice(&file[HEADER_LEN + 2 * ENCRYPTED_CHUNK_LEN..]);
    assert!(is_refused(repeated, "a", 1), "last chunk twice");
}

#[test]
fn a_chunk_cannot_be_moved() {
    let file = encrypt(&vec![3; 3 * CHUNK_LEN], "a", 1);
    let mut swapped = file.clone();
    let (first_chunk, second) = swapped[HEADER_LEN..].split_at_mut(ENCRYPTED_CHUNK_LEN);
    first_chunk.swap_with_slice(&mut second[..ENCRYPTED_CHUNK_LEN]);
    assert!(is_refused(swapped, "a", 1), "two chunks of one file changed places");
    let other_file = encrypt(&vec![3; 3 * CHUNK_LEN], "a", 1);
    let mut mixed_file = file;
    mixed_file[HEADER_LEN..HEADER_LEN + ENCRYPTED_CHUNK_LEN]
        .copy_from_slice(&other_file[HEADER_LEN..HEADER_LEN + ENCRYPTED_CHUNK_LEN]);
    assert!(is_refused(mixed_file, "a", 1), "a chunk of another file of the same name");
}

#[test]
fn a_file_cannot_replace_another_one() {
    let file = encrypt(b"text", "a", 1);
    assert!(is_refused(file.clone(), "b", 1), "another name");
    assert!(is_refused(file.clone(), "a", 2), "another generation");
    let len = file.len() as u64;
    let other_context = Context { purpose: "other", name: "a", generation: 1 };
    assert!(
        matches!(ChunkReader::open(file.clone(), len, &KEY, &other_context), Err(CryptoError::Decrypt)),
        "another purpose"
    );
    // The parts of the context are encoded separately, so moving bytes between them changes the key.
    let joined_context = Context { purpose: "testa", name: "", generation: 1 };
    assert!(matches!(ChunkReader::open(file.clone(), len, &KEY, &joined_context), Err(CryptoError::Decrypt)));
    assert!(matches!(ChunkReader::open(file, len, &[8; 32], &context("a", 1)), Err(CryptoError::Decrypt)), "other key");
}

#[test]
fn reading_past_the_end_is_an_error() {
    let file = encrypt(b"text", "a", 1);
    let len = file.len() as u64;
    let reader = ChunkReader::open(file, len, &KEY, &context("a", 1)).unwrap();
    for (offset, n) in [(0, 5), (4, 1), (u64::MAX - 3, 3), (1 << 40, 1)] {
        assert!(matches!(reader.read_at(offset, &mut vec![0; n]), Err(CryptoError::Io(_))), "{n} at {offset}");
    }
    reader.read_at(4, &mut []).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_writes_can_be_read_at_any_position(
        plain in proptest::collection::vec(any::<u8>(), 0..200_000),
        piece in 1usize..90_000,
        from in 0.0f64..1.0,
        to in 0.0f64..1.0,
    ) {
        let mut writer = ChunkWriter::new(Vec::new(), &KEY, &context("p", 3)).unwrap();
        for part in plain.chunks(piece) {
            writer.write_all(part).unwrap();
        }
        let file = writer.finish().unwrap();
        let len = file.len() as u64;
        let reader = ChunkReader::open(file, len, &KEY, &context("p", 3)).unwrap();
        prop_assert_eq!(reader.len(), plain.len() as u64);
        let (a, b) = ((plain.len() as f64 * from) as usize, (plain.len() as f64 * to) as usize);
        let range = a.min(b)..a.max(b);
        let mut out = vec![0; range.len()];
        reader.read_at(range.start as u64, &mut out).unwrap();
        prop_assert_eq!(&out[..], &plain[range]);
    }

    #[test]
    fn random_data_is_refused(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(is_refused(noise, "n", 0));
    }
}
