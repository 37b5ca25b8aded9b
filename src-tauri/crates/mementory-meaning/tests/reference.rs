//! Compares the encoder with the Python package from which the weights are taken. `encoded.json` contains the package's
//! results.
#![allow(clippy::unwrap_used, reason = "a test")]
mod common;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mementory_meaning::{CachingEncoder, DIMENSIONS, Encoder, MAX_CHARS, MAX_PIECES, Vector, dot};

fn encoder() -> Option<Encoder> {
    Some(Encoder::open(&common::weights()?).unwrap())
}

struct Case {
    text: String,
    pieces: Vec<u32>,
    vector: Vector,
}

fn cases() -> Vec<Case> {
    let cases: serde_json::Value = serde_json::from_str(include_str!("encoded.json")).unwrap();
    let read = |case: &serde_json::Value| {
        let bytes = STANDARD.decode(case["vector"].as_str().unwrap()).unwrap();
        Case {
            text: case["text"].as_str().unwrap().to_owned(),
            pieces: case["pieces"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u32).collect(),
            vector: Vector::new(bytes.iter().map(|n| f32::from(n.cast_signed())).collect()).unwrap(),
        }
    };
    cases.as_array().unwrap().iter().map(read).collect()
}

#[test]
fn pieces_and_vectors_are_those_of_the_reference() {
    let Some(encoder) = encoder() else { return };
    let cases = cases();
    let texts: Vec<&str> = cases.iter().map(|case| &*case.text).collect();
    let encoded_together = encoder.encode(&texts);
    for (case, vector) in cases.iter().zip(&encoded_together) {
        let start: String = case.text.chars().take(30).collect();
        assert_eq!(encoder.pieces(&case.text), case.pieces, "{start:?}");
        let cosine = dot(vector, &case.vector);
        assert!(cosine > 0.999, "{start:?}: {cosine}");
        // A text encoded alone gets the same vector as together with other texts.
        let cosine = dot(&encoder.encode(&[&case.text])[0], vector);
        assert!(cosine > 0.999_99, "{start:?} alone: {cosine}");
        assert!(dot(&Vector::from_bytes(&vector.to_bytes()).unwrap(), vector) > 0.999, "{start:?}, stored");
    }
}

#[test]
fn cached_vectors_are_those_of_the_encoder() {
    let Some(encoder) = encoder() else { return };
    let caching = CachingEncoder::new(&encoder);
    let all = ["Likes tea.", "Has a tortoise.", "Likes tea.", "", "Wohnt in Graz."];
    for texts in [&all[..2], &all, &all[2..], &[]] {
        let (vectors, expected) = (caching.encode(texts), encoder.encode(texts));
        assert_eq!(vectors.len(), texts.len());
        assert!(vectors.iter().zip(&expected).all(|(a, b)| dot(a, b) > 0.999_99), "{texts:?}");
    }
}

#[test]
fn the_same_meaning_is_nearest_across_languages() {
    let Some(encoder) = encoder() else { return };
    // The first 51 cases are 17 sentences, each in English, German and Japanese.
    let cases = cases();
    let texts: Vec<&str> = cases.iter().take(51).map(|case| &*case.text).collect();
    let vectors = encoder.encode(&texts);
    let nearest = |index: usize, language: usize| {
        (0..17)
            .map(|n| n * 3 + language)
            .max_by(|a, b| dot(&vectors[index], &vectors[*a]).total_cmp(&dot(&vectors[index], &vectors[*b])))
    };
    let count_correct = |language| (0..17).filter(|n| nearest(n * 3, language) == Some(n * 3 + language)).count();
    assert!(
        count_correct(1) >= 15 && count_correct(2) >= 15,
        "German {}, Japanese {} of 17",
        count_correct(1),
        count_correct(2)
    );
}

#[test]
fn a_long_text_is_read_up_to_the_limit() {
    let Some(encoder) = encoder() else { return };
    let long = "I like long walks at the sea. ".repeat(4_000);
    let shortened: String = long.chars().take(MAX_CHARS).collect();
    assert!(dot(&encoder.encode(&[&long])[0], &encoder.encode(&[&shortened])[0]) > 0.999_99);
    // Normalising replaces this character by 18 characters.
    let widening = "\u{fdfa}".repeat(100_000);
    assert!(encoder.pieces(&widening).len() <= MAX_PIECES);
    assert_eq!(encoder.encode(&[&widening, "", "\u{0}"]).len(), 3);
    assert_eq!(encoder.encode(&[&widening])[0].as_slice().len(), DIMENSIONS);
    assert!(encoder.encode(&[]).is_empty());
}
