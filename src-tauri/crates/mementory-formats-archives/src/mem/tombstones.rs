//! Reads and writes tombstones (`audit/tombstones.jsonl`, spec v1.1 §5) with all seven members of `derived`, which list
//! the data that was deleted together with the record.
use super::{
    canonical::canonical,
    invalid_values::{INVALID_VALUES_MEMBER, is_below_zero},
    kinds::TOMBSTONE_SPEC,
    line_encoder::{id_prefix, wire_kind},
    to_record::KEY_SCOPE,
    wire::{DERIVED_COUNT_FIELD, DERIVED_LIST_FIELDS, decode, line, list, text, texts, time_of},
};
use mementory_format::extension;
use mementory_json::Tree;
use mementory_model::{Derived, Kind, Record, RecordKey, Timestamp, Tombstone, TombstoneOp};
use sha2::{Digest, Sha256};

/// Member of our extension slot in a tombstone: the target's key at its source.
const KEY_MEMBER: &str = "key";
/// Member of a tombstone, and of our slot in it, that contains a signature.
const SIGNATURE_MEMBER: &str = "signature";

/// `targetKind` and `targetID` for our tombstone of a record read from a bundle, by which other programs find the
/// record. The id of a link consists of its three fields joined by `|`. The id of a preference is its key, and the id
/// of a category is its name. The id of a line without an id is `line:` and a digest, which only our reader recognises.
///
/// None for a record from another format. Its id in our bundles is its export id ([`Tombstone::target_id`]) with a
/// prefix, which the writer adds.
pub(super) fn wire_target(record: &Record) -> Option<(String, String)> {
    if record.key.scope != KEY_SCOPE {
        return None;
    }
    let (kind, id_in_key) = record.key.value.split_once('/')?;
    // The original id is used, because the key of a record with a repeated vendor id ends in a number.
    let id = record.origin_id.as_deref().unwrap_or(id_in_key);
    Some((kind.to_owned(), id.to_owned()))
}

/// Adds an erased record to the `derived` ids of a tombstone: its id in the bundle, or `export_id` if it is from another
/// format. Episode links are only counted. A record whose kind has no list in `derived` is not added.
pub(super) fn add_derived(derived: &mut Derived, record: &Record, export_id: &str) {
    let (kind, id) = wire_target(record).unwrap_or_else(|| (wire_kind(record.kind).to_owned(), export_id.to_owned()));
    match kind.as_str() {
        "fact" => derived.fact_ids.push(id),
        "edge" => derived.edge_ids.push(id),
        "entity" => derived.entity_ids.push(id),
        "chunk" => derived.chunk_ids.push(id),
        "episodeLink" => derived.episode_link_count += 1,
        _ => {}
    }
}

/// True if a tombstone names neither a target nor derived ids. The checks report such a tombstone.
pub(super) fn deletes_nothing(tombstone: &Tombstone) -> bool {
    let derived = Derived { episode_link_count: 0, embedding_cache_keys: vec![], ..tombstone.derived.clone() };
    tombstone.target_id.is_empty() && derived == Derived::default()
}

/// Converts a checked line to a tombstone with the scope `mem`. If the id is empty, which the format forbids, the
/// tombstone gets an id from the digest of its line.
pub(super) fn from_tree(tree: &Tree, verbatim: &str) -> Tombstone {
    let text_or_empty = |name: &str| text(tree, name).unwrap_or_default().to_owned();
    let empty_object = Tree::Object(vec![]);
    let derived_tree = tree.get("derived").unwrap_or(&empty_object);
    let count = match derived_tree.get(DERIVED_COUNT_FIELD) {
        Some(Tree::Number(token)) => super::wire::integer(token).and_then(|n| n.parse().ok()).unwrap_or_default(),
        _ => 0,
    };
    let [sentences, facts, edges, entities, chunks, cache] = DERIVED_LIST_FIELDS.map(|name| list(derived_tree, name));
    let id = match text_or_empty("id") {
        id if id.is_empty() => format!("tomb_{}", hex::encode(&Sha256::digest(verbatim)[..8])),
        id => id,
    };
    Tombstone {
        id,
        op: if text(tree, "op") == Some("redact") { TombstoneOp::Redact } else { TombstoneOp::Delete },
        target_kind: text_or_empty("targetKind"),
        target_id: text_or_empty("targetID"),
        scope: "mem".into(),
        at: time_of(tree, "deletedAt").or_else(|| Timestamp::from_micros(0)).unwrap_or_else(Timestamp::now),
        actor: text_or_empty("actor"),
        reason: text_or_empty("reason"),
        derived: Derived {
            sentence_ids: sentences,
            fact_ids: facts,
            edge_ids: edges,
            entity_ids: entities,
            chunk_ids: chunks,
            embedding_cache_keys: cache,
            episode_link_count: count,
            source_key: source_key(tree),
        },
        signature: text(tree, "signature").map(str::to_owned),
        verbatim: Some(verbatim.to_owned()),
    }
}

/// The key of the record in our extension slot. Another vault that read the record from the same source has the record
/// under this key. The signature of a tombstone does not cover unknown members, so the slot of a signed tombstone
/// counts only if the slot itself is signed with the same key.
fn source_key(tree: &Tree) -> Option<RecordKey> {
    let slot = extension::get(tree)?;
    let key = slot.get(KEY_MEMBER)?;
    let is_covered = signer_of(tree).is_none_or(|signer| signer_of(slot) == Some(signer));
    is_covered.then_some(RecordKey::new(text(key, "scope")?, text(key, "value")?))
}

/// Algorithm and public key of the signature (`ed25519:<key>:<signature>`) in a line or slot.
fn signer_of(object: &Tree) -> Option<&str> {
    let token = text(object, SIGNATURE_MEMBER)?;
    Some(token.rsplit_once(':').map_or(token, |(signer, _)| signer))
}

/// The signature of the slot, and the bytes that it covers: the line without both signatures. None if the line has no
/// such slot or is malformed.
pub(super) fn slot_signature(tree: &Tree) -> Option<(Option<&str>, Vec<u8>)> {
    let slot = extension::get(tree)?;
    slot.get(KEY_MEMBER)?;
    let mut covered_line = tree.clone();
    covered_line.remove(SIGNATURE_MEMBER);
    let mut covered_slot = slot.clone();
    covered_slot.remove(SIGNATURE_MEMBER);
    extension::set(&mut covered_line, covered_slot);
    Some((text(slot, SIGNATURE_MEMBER), line(&TOMBSTONE_SPEC, &covered_line).ok()?.into_bytes()))
}

/// Adds the signature of the slot to a line. Returns false if the line has no slot.
pub(super) fn set_slot_signature(tree: &mut Tree, token: String) -> bool {
    let Some(mut slot) = extension::get(tree).cloned() else { return false };
    slot.set(SIGNATURE_MEMBER, Tree::Text(token));
    extension::set(tree, slot);
    true
}

/// True if this vault made the tombstone and has not signed it yet.
pub(super) fn needs_our_signature(tombstone: &Tombstone) -> bool {
    tombstone.verbatim.is_none() && tombstone.signature.is_none()
}

/// The canonical line of a tombstone. A tombstone from a bundle keeps its unknown fields and its signature. A tombstone
/// of this vault gets the ids that records have in our bundles.
pub(super) fn to_line(tombstone: &Tombstone, depth: u32) -> String {
    if tombstone.scope == "mem"
        && let Some(source) = &tombstone.verbatim
        && let Ok(mut tree) = decode(&TOMBSTONE_SPEC, source, depth)
        && text(&tree, "id").is_some_and(|id| is_stored_id(&tombstone.id, id))
    {
        move_negative_count(&mut tree);
        if let Ok(line) = line(&TOMBSTONE_SPEC, &tree) {
            return line;
        }
    }
    let text_tree = |s: &str| Tree::Text(s.to_owned());
    let model = Kind::parse(&tombstone.target_kind);
    let kind = model.map_or(tombstone.target_kind.as_str(), |kind| wire_kind(kind));
    let target = match model {
        Some(model) => bundle_id(id_prefix(model), &tombstone.target_id),
        None => bundle_id("ep_", &tombstone.target_id),
    };
    let d = &tombstone.derived;
    let ids = |prefix: &str, ids: &[String]| texts(&ids.iter().map(|id| bundle_id(prefix, id)).collect::<Vec<_>>());
    let derived_tree = vec![
        ("chunkIDs".to_owned(), ids("chunk_", &d.chunk_ids)),
        ("edgeIDs".to_owned(), ids("edge_", &d.edge_ids)),
        ("embeddingCacheKeys".to_owned(), texts(&d.embedding_cache_keys)),
        ("entityIDs".to_owned(), ids("ent_", &d.entity_ids)),
        (DERIVED_COUNT_FIELD.to_owned(), Tree::Number(d.episode_link_count.to_string())),
        ("factIDs".to_owned(), ids("fact_", &d.fact_ids)),
        ("sentenceIDs".to_owned(), texts(&d.sentence_ids)),
    ];
    let op = if tombstone.op == TombstoneOp::Redact { "redact" } else { "delete" };
    let mut tree = Tree::Object(vec![
        ("id".into(), text_tree(&tombstone.id)),
        ("op".into(), text_tree(op)),
        ("targetKind".into(), text_tree(kind)),
        ("targetID".into(), text_tree(&target)),
        ("deletedAt".into(), text_tree(&tombstone.at.to_rfc3339_seconds())),
        ("actor".into(), text_tree(&tombstone.actor)),
        ("derived".into(), Tree::Object(derived_tree)),
    ]);
    if !tombstone.reason.is_empty() {
        tree.set("reason", text_tree(&tombstone.reason));
    }
    if let Some(RecordKey { scope, value }) = &d.source_key {
        let key = vec![("scope".to_owned(), text_tree(scope)), ("value".to_owned(), text_tree(value))];
        extension::set(&mut tree, Tree::Object(vec![(KEY_MEMBER.into(), Tree::Object(key))]));
    }
    // A signature by another program covers the line of that program, which is not written here, so the signature is
    // left out.
    if let Some(signature) = tombstone.signature.as_ref().filter(|_| tombstone.verbatim.is_none()) {
        tree.set("signature", text_tree(signature));
    }
    // Cannot fail, because the only number is a count.
    canonical(&tree).unwrap_or_default()
}

/// Sets a count below 0 in `derived`, which the schema forbids, to 0 and adds the original value under
/// `mementory_forbidden`. The signature is removed, because it covers the count.
fn move_negative_count(tree: &mut Tree) {
    let Some(mut derived) = tree.get("derived").cloned() else { return };
    let Some(count) = derived.get(DERIVED_COUNT_FIELD).filter(|count| is_below_zero(Some(*count))).cloned() else {
        return;
    };
    derived.set(DERIVED_COUNT_FIELD, Tree::Number("0".into()));
    tree.set("derived", derived);
    tree.set(INVALID_VALUES_MEMBER, Tree::Object(vec![(DERIVED_COUNT_FIELD.into(), count)]));
    tree.remove(SIGNATURE_MEMBER);
}

/// True if a tombstone with the id `line_id` may have the id `stored_id` in a vault: a vault adds `#` and a digest if
/// another deletion has the same id.
fn is_stored_id(stored_id: &str, line_id: &str) -> bool {
    stored_id.strip_prefix(line_id).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

/// Adds the prefix to a vault id. Any other id comes from a source and is returned unchanged.
pub(super) fn bundle_id(prefix: &str, id: &str) -> String {
    let is_vault_id = id.len() == 32 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if is_vault_id { format!("{prefix}{id}") } else { id.to_owned() }
}
