//! Search in many stored vectors.
#![allow(clippy::unwrap_used)]
use mementory_meaning::{Collection, Vector, dot};

/// A vector whose numbers look random but are the same in every run.
fn vector(seed: u32) -> Vector {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let mut next_number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0 - 0.5
    };
    Vector::new((0..512).map(|_| next_number()).collect()).unwrap()
}

#[test]
fn the_order_is_that_of_the_exact_cosines() {
    let mut collection = Collection::default();
    let stored: Vec<Vector> = (0..300).map(vector).collect();
    // Every key has two vectors. The keys of the second half are in descending order.
    let keys: Vec<i64> = (0..300).map(|n| if n < 150 { n / 2 } else { 300 - n / 2 }).collect();
    for (key, vector) in keys.iter().zip(&stored) {
        collection.push(*key, &vector.to_bytes());
    }
    let queries = [vector(7_000), vector(3)];
    let exact = |key: i64| {
        let vectors_of_key = keys.iter().zip(&stored).filter(|(other, _)| **other == key);
        vectors_of_key.flat_map(|(_, vector)| queries.iter().map(|query| dot(query, vector))).fold(f32::MIN, f32::max)
    };
    let ranked = collection.ranked(&queries);
    let mut distinct = keys.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(ranked.len(), distinct.len(), "each key once");
    assert_eq!(ranked[0].0, keys[3], "the vector itself is nearest");
    for pair in ranked.windows(2) {
        assert!(pair[0].1 >= pair[1].1);
    }
    for (key, cosine) in ranked {
        assert!((cosine - exact(key)).abs() < 0.002, "{key}: {cosine} not {}", exact(key));
    }
}

#[test]
fn the_largest_numbers_do_not_overflow_and_an_empty_search_finds_nothing() {
    let even = Vector::new(vec![1.0; 512]).unwrap();
    let opposite = Vector::new(vec![-1.0; 512]).unwrap();
    let mut collection = Collection::default();
    assert!(collection.ranked(std::slice::from_ref(&even)).is_empty());
    collection.push(1, &even.to_bytes());
    collection.push(1, &[0; 3]);
    assert_eq!(collection.len(), 1);
    assert!((collection.ranked(&[even])[0].1 - 1.0).abs() < 0.002);
    assert!((collection.ranked(&[opposite])[0].1 + 1.0).abs() < 0.002);
    assert!(collection.ranked(&[]).is_empty());
}
