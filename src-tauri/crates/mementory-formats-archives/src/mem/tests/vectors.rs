//! Tests with the conformance kit's vectors for canonical JSON.
use super::harness::reference;
use crate::mem::canonical::canonical;
use mementory_json::Tree;
use sha2::{Digest, Sha256};

#[test]
fn canonical_json_equals_the_vectors_of_the_conformance_kit() {
    let Some(path) = reference("vectors/canonical-json.json") else { return };
    let tree = Tree::parse(&std::fs::read_to_string(path).unwrap(), 64).unwrap();
    let Some(Tree::Array(vectors)) = tree.get("vectors") else { panic!("vectors") };
    assert_eq!(vectors.len(), 26);
    for vector in vectors {
        let name = vector.get("name").and_then(Tree::as_str).unwrap();
        let actual = canonical(vector.get("input").unwrap()).unwrap();
        assert_eq!(Some(actual.as_str()), vector.get("canonical").and_then(Tree::as_str), "{name}");
        let digest = hex::encode(Sha256::digest(&actual));
        assert_eq!(Some(digest.as_str()), vector.get("sha256").and_then(Tree::as_str), "{name}");
    }
}
