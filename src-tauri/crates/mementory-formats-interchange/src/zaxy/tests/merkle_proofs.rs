//! Property tests of Merkle proofs.
use super::super::merkle;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A proof is valid only for its own leaf.
    #[test]
    fn a_merkle_proof_is_valid_only_for_its_leaf(
        count in 1usize..200,
        at in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        let leaves: Vec<merkle::Hash> = (0..count).map(|n| merkle::leaf(&n.to_string())).collect();
        let tree = merkle::Merkle::new(leaves.clone()).unwrap();
        let (at, other) = (at.index(count), other.index(count));
        prop_assert_eq!(merkle::root_from_proof(leaves[at], &tree.proof(at)), tree.root());
        if at != other {
            prop_assert_ne!(merkle::root_from_proof(leaves[other], &tree.proof(at)), tree.root());
            let mut swapped = leaves.clone();
            swapped.swap(at, other);
            prop_assert_ne!(merkle::Merkle::new(swapped).unwrap().root(), tree.root(), "order counts");
        }
    }
}
