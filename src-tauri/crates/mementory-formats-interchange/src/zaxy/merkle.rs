//! The Merkle tree of a bundle's entries, and proofs that an entry is in it. Leaves are hashed with a prefix byte 0,
//! and inner nodes with a prefix byte 1. A node without a sibling is copied to the next layer unchanged.
use sha2::{Digest, Sha256};

pub(crate) type Hash = [u8; 32];

/// Largest number of steps in a proof, enough for 2^64 entries.
pub(crate) const MAX_PROOF_STEPS: usize = 64;

/// The side of the sibling in a proof step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Written as `L`.
    Left,
    /// Written as `R`.
    Right,
}

/// Digest of an entry's canonical text.
pub(crate) fn leaf(canonical: &str) -> Hash {
    Sha256::new().chain_update([0]).chain_update(canonical).finalize().into()
}

fn node(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// A Merkle tree: its layers, from the leaves to the root.
pub(crate) struct Merkle(Vec<Vec<Hash>>);

impl Merkle {
    /// Builds the tree of these leaves. None if there are no leaves.
    pub(crate) fn new(leaves: Vec<Hash>) -> Option<Self> {
        let mut layers = vec![leaves];
        while let Some(layer) = layers.last().filter(|l| l.len() > 1) {
            let next = layer.chunks(2).map(|pair| match pair {
                [left, right] => node(left, right),
                rest => rest.first().copied().unwrap_or_default(),
            });
            layers.push(next.collect());
        }
        layers.last().is_some_and(|l| l.len() == 1).then_some(Self(layers))
    }

    pub(crate) fn root(&self) -> Hash {
        self.0.last().and_then(|l| l.first()).copied().unwrap_or_default()
    }

    /// Returns the siblings on the path from the leaf with this index to the root. Layers in which the node has no
    /// sibling are left out.
    pub(crate) fn proof(&self, mut index: usize) -> Vec<(Hash, Side)> {
        let mut proof = Vec::new();
        for layer in &self.0 {
            let (sibling, side) =
                if index.is_multiple_of(2) { (index + 1, Side::Right) } else { (index - 1, Side::Left) };
            if let Some(hash) = layer.get(sibling) {
                proof.push((*hash, side));
            }
            index /= 2;
        }
        proof
    }
}

/// The root computed from a leaf and its proof.
pub(crate) fn root_from_proof(leaf: Hash, proof: &[(Hash, Side)]) -> Hash {
    proof.iter().fold(leaf, |at, (sibling, side)| match side {
        Side::Left => node(sibling, &at),
        Side::Right => node(&at, sibling),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_proof_is_valid_only_for_its_leaf_in_every_small_tree() {
        for n in 1..40u8 {
            let leaves: Vec<Hash> = (0..n).map(|i| leaf(&i.to_string())).collect();
            let tree = Merkle::new(leaves.clone()).unwrap();
            for (i, start) in leaves.iter().enumerate() {
                let proof = tree.proof(i);
                assert_eq!(root_from_proof(*start, &proof), tree.root(), "{i} of {n}");
                for at in 0..proof.len() {
                    let mut changed_proof = proof.clone();
                    changed_proof[at].0[31] ^= 1;
                    assert_ne!(root_from_proof(*start, &changed_proof), tree.root());
                }
                assert!(n == 1 || root_from_proof(leaf("another"), &proof) != tree.root());
            }
        }
        assert!(Merkle::new(vec![]).is_none());
    }

    #[test]
    fn a_node_without_a_sibling_is_copied_to_the_next_layer() {
        let [a, b, c] = ["a", "b", "c"].map(leaf);
        let tree = Merkle::new(vec![a, b, c]).unwrap();
        assert_eq!(tree.root(), node(&node(&a, &b), &c));
        assert_eq!(tree.proof(2), vec![(node(&a, &b), Side::Left)]);
        assert_eq!(Merkle::new(vec![a]).unwrap().root(), a);
        assert!(Merkle::new(vec![a]).unwrap().proof(0).is_empty());
    }
}
