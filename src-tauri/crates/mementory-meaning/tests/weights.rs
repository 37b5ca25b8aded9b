//! Only the known files are accepted as weights.
#![allow(clippy::unwrap_used, reason = "a test")]
mod common;

use mementory_meaning::{Collection, DIMENSIONS, Encoder, EncoderError, VOCABULARY_FILE, Vector, WEIGHTS_FILE, dot};
use std::{fs::File, path::Path};

const VOCABULARY_BYTES: u64 = 2_527_207;

fn error(folder: &Path) -> EncoderError {
    Encoder::open(folder).err().unwrap()
}

#[test]
fn an_empty_folder_has_no_weights() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(error(folder.path()), EncoderError::Missing(name) if name == VOCABULARY_FILE));
    assert!(matches!(error(&folder.path().join("none")), EncoderError::Missing(_)));
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let vocabulary = folder.path().join(VOCABULARY_FILE);
    let refused = || assert!(matches!(error(folder.path()), EncoderError::Wrong(name) if name == VOCABULARY_FILE));
    std::fs::write(&vocabulary, "short").unwrap();
    refused();
    // The right length, but different bytes.
    File::create(&vocabulary).unwrap().set_len(VOCABULARY_BYTES).unwrap();
    refused();
    // Far too large: refused by its length, without being read.
    File::create(&vocabulary).unwrap().set_len(1 << 40).unwrap();
    refused();
    std::fs::remove_file(&vocabulary).unwrap();
    std::fs::create_dir(&vocabulary).unwrap();
    assert!(matches!(error(folder.path()), EncoderError::Wrong(_) | EncoderError::Io(_)));
}

#[test]
fn one_changed_byte_is_refused() {
    let Some(weights) = common::weights() else { return };
    let folder = tempfile::tempdir().unwrap();
    for name in [WEIGHTS_FILE, VOCABULARY_FILE] {
        std::fs::copy(weights.join(name), folder.path().join(name)).unwrap();
    }
    let changed = folder.path().join(WEIGHTS_FILE);
    let mut bytes = std::fs::read(&changed).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&changed, bytes).unwrap();
    assert!(matches!(error(folder.path()), EncoderError::Wrong(name) if name == WEIGHTS_FILE));
}

#[test]
fn invalid_vectors_are_refused() {
    assert_eq!(Vector::new(vec![0.0; DIMENSIONS]), None);
    assert_eq!(Vector::new(vec![f32::NAN; DIMENSIONS]), None);
    assert_eq!(Vector::new(vec![1.0; DIMENSIONS - 1]), None);
    let vector = Vector::new((0..DIMENSIONS).map(|n| (n as f32).sin()).collect()).unwrap();
    let bytes = vector.to_bytes();
    assert!(dot(&Vector::from_bytes(&bytes).unwrap(), &vector) > 0.999);
    assert_eq!(Vector::from_bytes(&bytes[1..]), None);
    assert_eq!(Vector::from_bytes(&[]), None);
    let mut not_a_number = bytes;
    not_a_number[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(Vector::from_bytes(&not_a_number), None);
}

#[test]
fn a_collection_ranks_by_the_nearest_part() {
    let axis_vector = |axis: usize| {
        let mut numbers = vec![0.0; DIMENSIONS];
        numbers[axis] = 1.0;
        Vector::new(numbers).unwrap()
    };
    let mut collection = Collection::default();
    for (key, axis) in [(7, 0), (7, 1), (8, 2), (9, 3)] {
        collection.push(key, &axis_vector(axis).to_bytes());
    }
    collection.push(10, b"not a vector");
    collection.push(11, &[0; 4 + DIMENSIONS]);
    let ranked = collection.ranked(&[axis_vector(1), axis_vector(3)]);
    assert_eq!(collection.len(), 4);
    assert_eq!(ranked.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [7, 9, 8]);
    assert!((ranked[0].1 - 1.0).abs() < 0.001 && ranked[2].1 < 0.2, "{ranked:?}");
    assert!(collection.ranked(&[]).is_empty());
}
