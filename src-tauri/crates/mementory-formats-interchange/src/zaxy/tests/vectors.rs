//! Tests with vectors and files of Zaxy's reference implementation, if they are on this computer.
use super::harness::{Scratch, is_valid_signature, read, reference, signature, validate, write};
use crate::zaxy::{
    canonical::{canonical, number},
    entry::digests,
    merkle::Merkle,
};
use mementory_json::Tree;
use serde_json::Value;

fn json(name: &str) -> Option<Value> {
    Some(serde_json::from_slice(&std::fs::read(reference(name)?).unwrap()).unwrap())
}

#[test]
fn numbers_match_the_reference() {
    let Some(vectors) = json("number-vectors.json") else { return };
    let vectors = vectors.as_array().unwrap();
    assert!(vectors.len() > 10);
    for vector in vectors {
        assert_eq!(number(vector["json"].as_str().unwrap()).unwrap(), vector["canonical"].as_str().unwrap());
    }
}

#[test]
fn leaves_and_roots_match_the_reference() {
    let (Some(vectors), Some(path)) = (json("merkle-vectors.json"), reference("garden.unsigned.json")) else { return };
    let bundle = Tree::parse(&std::fs::read_to_string(path).unwrap(), 64).unwrap();
    let Some(Tree::Array(entries)) = bundle.get("entries") else { panic!("no entries") };
    assert_eq!(canonical(&entries[0]).unwrap(), vectors["canonical_first_entry_utf8"].as_str().unwrap());
    let leaves: Vec<_> = entries.iter().map(|e| digests(e).unwrap().1).collect();
    for (leaf, expected) in leaves.iter().zip(vectors["leaf_hashes"].as_array().unwrap()) {
        assert_eq!(hex::encode(leaf), expected.as_str().unwrap());
    }
    let roots = vectors["roots_by_prefix_length"].as_object().unwrap();
    assert_eq!(roots.len(), leaves.len());
    for (n, root) in roots {
        let tree = Merkle::new(leaves[..n.parse::<usize>().unwrap()].to_vec()).unwrap();
        assert_eq!(hex::encode(tree.root()), root.as_str().unwrap(), "{n}");
    }
}

#[test]
fn files_of_the_reference_are_valid_and_round_trip_byte_for_byte() {
    for name in [
        "garden.unsigned.json",
        "garden.signed.ed25519.json",
        "garden.signed.ml-dsa-65.json",
        "garden.subset.ed25519.json",
        "garden.subset.ml-dsa-65.json",
    ] {
        let Some(path) = reference(name) else { continue };
        let validation = validate(&path).unwrap();
        assert!(validation.errors.is_empty(), "{name}: {:?}", validation.errors);
        assert_eq!(
            signature(&path).as_ref().map(is_valid_signature),
            name.contains("65").then_some(true).or(name.contains("ed25519").then_some(true))
        );
        let temp = Scratch::new("zaxy");
        let out = temp.at("out.json");
        let mut memory = read(&path);
        let report = write(&mut memory, &out, None);
        assert!(report.losses.counts.is_empty(), "{:?}", report.losses);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), std::fs::read_to_string(&path).unwrap(), "{name}");
    }
    let (Some(path), Some(header)) =
        (reference("garden.signed.ed25519.json"), reference("garden.signed.ed25519.signing-header.bin"))
    else {
        return;
    };
    assert_eq!(signature(&path).unwrap().message, std::fs::read(header).unwrap());
}

#[test]
fn the_log_and_the_bundle_give_the_same_records() {
    let (Some(log), Some(bundle)) = (reference("garden.eventloom-v1.jsonl"), reference("garden.unsigned.json")) else {
        return;
    };
    let validation = validate(&log).unwrap();
    assert!(validation.errors.is_empty() && validation.records == 3, "{:?}", validation.errors);
    let (log, bundle) = (read(&log), read(&bundle));
    let events: Vec<_> = bundle.records.iter().filter(|r| r.origin_id.is_some() && !r.entities.is_empty()).collect();
    assert_eq!((log.records.len(), events.len()), (3, 3));
    for (ours, theirs) in log.records.iter().zip(events) {
        assert_eq!((&ours.key, &ours.text, &ours.times), (&theirs.key, &theirs.text, &theirs.times));
    }
}
