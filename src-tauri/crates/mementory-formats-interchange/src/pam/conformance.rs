//! Checks a store with its conversation and embeddings files against the specification: first the structure with the
//! tables of `schema.rs`, then hashes, counts, ids, references and times.
use super::{
    bundle::{Bundle, STORE_LISTS, supported_version},
    document::{self, Document},
    hash::{Checksum, sdk_form},
    increment::is_unsigned,
    memory_conformance::{CheckedMemories, EMPTY_REFERENCE_CODE, EMPTY_REFERENCE_MESSAGE, check_memories},
    message_tree::parent_cycles,
    report::{Ids, IndexEntry, Integrity, Report, nested_text},
    salvage,
    schema::{CONVERSATION_RULE, EMBEDDING_RULE, EMBEDDINGS_RULE, INDEX_RULE, MESSAGE_RULE, RELATION_RULE, STORE_RULE},
    schema_check::check,
    to_record,
};
use mementory_format::{Finding, FormatError, Member};
use mementory_json::{Tree, TreeError};
use mementory_model::{Bounds, Timestamp};
use std::collections::HashSet;

/// Checks a source. Faults become findings in the report. Returns an error only if the source cannot be read at all.
pub(super) fn check_conformance(
    bundle: &Bundle,
    tick: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<Report, FormatError> {
    let Some(member) = bundle.store else { return check_opened(bundle, None, tick) };
    let text = document::read_text(bundle.catalog, member, bundle.limits)?;
    let doc = Document::open(&text, &member.place)?;
    check_opened(bundle, Some((member, &doc)), tick)
}

/// Like [`check_conformance`], for a caller that has opened the store of the source, if it has one.
pub(super) fn check_opened(
    bundle: &Bundle,
    store: Option<(&Member, &Document)>,
    tick: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<Report, FormatError> {
    let mut report = Report::default();
    let mut ids = Ids::default();
    if let Some((member, doc)) = store {
        report.version = doc.text_member("schema_version");
        let (_, minor) = supported_version(doc, &member.place)?;
        report.minor = minor;
        check_store(bundle, doc, &member.place, &mut report, &mut ids, tick)?;
    }
    for member in &bundle.embeddings {
        tick()?;
        check_embeddings(bundle, member, &mut report, &mut ids)
            .or_else(|error| report.report_unreadable_file(member, error))?;
    }
    for member in &bundle.conversations {
        tick()?;
        check_conversation(bundle, member, &mut report, &mut ids)
            .or_else(|error| report.report_unreadable_file(member, error))?;
    }
    for (code, issue) in bundle.unreadable_files() {
        report.error(code, &issue.place, issue.message.as_str());
        let refusal = FormatError::invalid(code, issue.place.as_str(), issue.message.as_str());
        report.refusal.get_or_insert(refusal);
    }
    for file in bundle.similar_files() {
        let (code, message) =
            ("container_similar_names", "another file's name differs only by case or Unicode normalisation");
        report.error(code, &file.place, message);
        report.similar_names.get_or_insert_with(|| FormatError::invalid(code, &file.place, message));
    }
    if bundle.store.is_some() {
        check_references(bundle, &mut report, &ids);
    } else if report.other_versions.len() == bundle.conversations.len() + bundle.embeddings.len()
        && let Some(error) = report.version_error.take()
    {
        return Err(error);
    }
    for (count, errors) in [(report.not_listed.0, true), (report.not_listed.1, false)] {
        if count > 0 {
            let list = if errors { &mut report.errors } else { &mut report.warnings };
            let message = format!("{count} more are not listed");
            list.push(Finding { code: "more".into(), place: String::new(), message });
        }
    }
    Ok(report)
}

fn check_store(
    bundle: &Bundle,
    doc: &Document,
    place: &str,
    report: &mut Report,
    ids: &mut Ids,
    tick: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let bounds = Bounds::from(bundle.limits);
    let outline = report.outline_of(doc, place, &STORE_LISTS, bounds);
    report.add_faults(place, check(&STORE_RULE, &outline));
    let kind = outline.get("export_type").and_then(Tree::as_str).unwrap_or("full");
    report.kind = Some(kind.to_owned());
    if kind == "incremental" {
        for (name, what) in [("base_export_id", "which export it builds on"), ("since", "since when")] {
            if to_record::id(&outline, name).is_none_or(str::is_empty) {
                report.warn("incremental_without_base", &format!("{place}/{name}"), format!("it does not say {what}"));
            }
        }
    } else {
        for name in ["base_export_id", "since"].into_iter().filter(|name| to_record::id(&outline, name).is_some()) {
            report.warn("base_of_full_export", &format!("{place}/{name}"), "only an incremental export has it (§16.2)");
        }
    }
    let memories = doc.raw("memories").map_or("[]", |raw| raw.get());
    let CheckedMemories { total, checksum, damaged } = check_memories(place, memories, bounds, report, ids, tick)?;
    let checksum = checksum.and_then(Checksum::finish);
    for (i, raw) in doc.list("relations").into_iter().enumerate() {
        let at = format!("{place}/relations/{i}");
        let Some(tree) = report.parse(raw, &at, bounds) else { continue };
        report.add_faults(&at, check(&RELATION_RULE, &tree));
        check_relation(&at, &tree, report, ids);
    }
    for (i, raw) in doc.list("conversations_index").into_iter().enumerate() {
        let at = format!("{place}/conversations_index/{i}");
        let Some(tree) = report.parse(raw, &at, bounds) else { continue };
        report.add_faults(&at, check(&INDEX_RULE, &tree));
        check_index(&at, &tree, report, ids);
    }
    check_integrity(place, doc, &outline, total, checksum.as_deref(), bounds, report);
    report.memories_checksum = checksum;
    if report.integrity == Integrity::Mismatch {
        for i in damaged {
            let message = "one of the memories that the wrong checksum can come from: it does not match its own hash or \
                           schema";
            report.error(salvage::DAMAGED_MEMORY_CODE, &format!("{place}/memories/{i}"), message);
        }
    }
    check_signature(place, &outline, report);
    report.records += total + doc.list("relations").len() as u64 + doc.list("conversations_index").len() as u64;
    report.outline = Some(outline);
    Ok(())
}

fn check_relation(at: &str, tree: &Tree, report: &mut Report, ids: &mut Ids) {
    let id_of = |name: &str| to_record::id(tree, name);
    if id_of("id").is_some_and(|id| !ids.relations.insert(id.to_owned())) {
        report.error("duplicate_id", &format!("{at}/id"), "another relation has this id");
    }
    for end in ["from", "to"] {
        if id_of(end).is_some_and(|id| !ids.memories.contains(id)) {
            report.report_dangling(&format!("{at}/{end}"), "no memory of this file has this id");
        }
    }
    if id_of("from").is_some() && id_of("from") == id_of("to") {
        report.warn("self_relation", at, "both ends are the same memory");
    }
}

fn check_index(at: &str, tree: &Tree, report: &mut Report, ids: &mut Ids) {
    let text = |name: &str| tree.get(name).and_then(Tree::as_str);
    let id = to_record::id(tree, "id").unwrap_or_default().to_owned();
    let mut derived = HashSet::new();
    if let Some(Tree::Array(items)) = tree.get("derived_memories") {
        for (i, memory) in items.iter().enumerate() {
            let Some(memory) = to_record::id_text(memory) else { continue };
            if !ids.memories.contains(memory) {
                let place = format!("{at}/derived_memories/{i}");
                report.report_dangling(&place, "no memory of this file has this id");
            }
            derived.insert(memory.to_owned());
        }
    }
    if let Some((place, path)) = storage_path(at, tree, report) {
        ids.files.push((place, path, id.clone()));
    }
    let entry = IndexEntry {
        platform: text("platform").map(str::to_owned),
        title: tree.get("title").filter(|t| **t != Tree::Null).cloned(),
        count: tree.get("message_count").and_then(Tree::as_f64),
        place: at.to_owned(),
    };
    if id.is_empty() {
        return;
    }
    if ids.conversations.insert(id.clone(), derived).is_some() {
        report.error("duplicate_id", &format!("{at}/id"), "another conversation has this id");
    }
    ids.index.insert(id, entry);
}

/// Returns the place of the reference in `storage` of an element, and the path of the file that the reference names.
/// None if `storage` names no file. Also None for a path that may leave the bundle, which is reported as an error.
fn storage_path(at: &str, tree: &Tree, report: &mut Report) -> Option<(String, String)> {
    let is_file = nested_text(tree, "storage", "type") == Some("file");
    let reference = nested_text(tree, "storage", "ref").filter(|_| is_file)?;
    let place = format!("{at}/storage/ref");
    let path = path_in_bundle(reference);
    if path.is_none() {
        report.error("unsafe_path", &place, "a path that leaves the bundle");
    }
    Some((place, path?))
}

/// Path of the file that a relative reference names, without `.` segments (RFC 3986 §5.2.4). None if the path may leave
/// the bundle.
pub(super) fn path_in_bundle(reference: &str) -> Option<String> {
    let segments: Vec<&str> = reference.split('/').filter(|segment| *segment != ".").collect();
    Some(segments.join("/")).filter(|path| is_safe_path(path))
}

/// True if a path stays inside the bundle, is not too long, and has no characters that are unsafe in file names.
pub(super) fn is_safe_path(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= 400
        && !path.contains(['\\', '\0', ':'])
        && !path.chars().any(char::is_control)
        && path.split('/').all(|s| !s.is_empty() && s != "." && s != ".." && !s.ends_with(['.', ' ']))
}

/// Compares the stated checksum with `exact`, the checksum of the memories as they are in the file, and then with the
/// checksum of the memories in the form that the Python SDK hashes.
fn integrity_of(doc: &Document, outline: &Tree, exact: Option<&str>, bounds: Bounds) -> Integrity {
    let Some(block) = outline.get("integrity").filter(|b| matches!(b, Tree::Object(_))) else { return Integrity::None };
    let Some(stated) = block.get("checksum").and_then(Tree::as_str) else { return Integrity::Mismatch };
    if exact == Some(stated) {
        return Integrity::Matches;
    }
    let mut sdk = Checksum::default();
    memories(doc, bounds).flatten().for_each(|tree| sdk.add(&sdk_form(&tree)));
    if sdk.finish().as_deref() == Some(stated) { Integrity::MatchesSdkForm } else { Integrity::Mismatch }
}

/// The memories of a store; unreadable memories are None.
fn memories(doc: &Document, bounds: Bounds) -> impl Iterator<Item = Option<Tree>> {
    doc.list("memories").into_iter().map(move |raw| Tree::from_raw(raw, bounds).ok())
}

/// Returns the values for verifying the signature of a store: the store without its records, and the result of
/// verifying its checksum. None if there is no store, or if it is not signed.
pub(super) fn signed_outline(bundle: &Bundle) -> Result<Option<(Tree, Integrity)>, FormatError> {
    let Some(member) = bundle.store else { return Ok(None) };
    if is_unsigned(bundle.catalog, member, bundle.limits)? {
        return Ok(None);
    }
    let text = document::read_text(bundle.catalog, member, bundle.limits)?;
    let doc = Document::open(&text, &member.place)?;
    supported_version(&doc, &member.place)?;
    let bounds = Bounds::from(bundle.limits);
    let outline = doc.outline(&STORE_LISTS, bounds);
    if outline.get("signature").is_none_or(|s| *s == Tree::Null) {
        return Ok(None);
    }
    let mut exact_checksum = Checksum::default();
    for tree in memories(&doc, bounds) {
        match tree {
            Some(tree) => exact_checksum.add(&tree),
            None => return Ok(Some((outline, Integrity::Mismatch))),
        }
    }
    let integrity = integrity_of(&doc, &outline, exact_checksum.finish().as_deref(), bounds);
    Ok(Some((outline, integrity)))
}

fn check_integrity(
    place: &str,
    doc: &Document,
    outline: &Tree,
    total: u64,
    exact: Option<&str>,
    bounds: Bounds,
    report: &mut Report,
) {
    let Some(block) = outline.get("integrity").filter(|b| matches!(b, Tree::Object(_))) else {
        report.warn("integrity_missing", &format!("{place}/integrity"), "no checksum: changes go unnoticed");
        return;
    };
    let at = format!("{place}/integrity/checksum");
    report.integrity = integrity_of(doc, outline, exact, bounds);
    match report.integrity {
        Integrity::None | Integrity::Matches => {}
        Integrity::MatchesSdkForm => report.warn(
            "checksum_sdk_form",
            &at,
            "fits the form in which the Python SDK hashes the memories, not the memories in the file",
        ),
        Integrity::Mismatch => {
            report.error("checksum_mismatch", &at, "the memories are not those that were written");
        }
    }
    if block.get("total_memories").and_then(Tree::as_f64).is_some_and(|n| n != total as f64) {
        let message = format!("{total} memories are there");
        report.error("count_mismatch", &format!("{place}/integrity/total_memories"), message);
    }
}

/// Checks the encoding and context of a signature. The caller verifies the signature itself. A signature that cannot be
/// decoded is only a warning (§21.4).
fn check_signature(place: &str, outline: &Tree, report: &mut Report) {
    let Some(block) = outline.get("signature").filter(|b| matches!(b, Tree::Object(_))) else { return };
    let at = format!("{place}/signature");
    for name in ["export_id", "export_date"] {
        if outline.get(name).and_then(Tree::as_str).is_none() {
            report.error("signature_incomplete", &format!("{place}/{name}"), "a signed export has to have it");
        }
    }
    if outline.get("integrity").is_none() {
        report.error("signature_incomplete", &format!("{place}/integrity"), "a signature is over the checksum");
    }
    let text = |name: &str| block.get(name).and_then(Tree::as_str);
    if let (Some(algorithm), Some(key)) = (text("algorithm"), text("public_key"))
        && super::keys::algorithm_name(algorithm).is_some()
    {
        check_key(&format!("{at}/public_key"), algorithm, key, report);
    }
    if text("value").is_some_and(|v| super::keys::from_base64url(v).is_none_or(|b| b.is_empty())) {
        report.warn("signature_form", &format!("{at}/value"), "not base64url");
    }
    let time = |value: Option<&str>| value.and_then(Timestamp::parse);
    let date = time(outline.get("export_date").and_then(Tree::as_str));
    if date.zip(time(text("signed_at"))).is_some_and(|(date, signed)| signed < date) {
        report.error("signature_before_export", &format!("{at}/signed_at"), "signed before it was exported");
    }
    let did = outline.get("owner").and_then(|o| o.get("did")).and_then(Tree::as_str);
    if let (Some(did), Some(key_id)) = (did, text("key_id"))
        && key_id.split('#').next() != Some(did)
    {
        report.warn("signature_owner", &format!("{at}/key_id"), "not a key of the owner's DID");
    }
    if let (Some(algorithm), Some(did), Some(key)) =
        (text("algorithm"), did.filter(|d| d.starts_with("did:key:")), text("public_key"))
        && let key = super::keys::public_key(algorithm, key)
        // A DID with an unsupported key type may contain an RSA key, so it is accepted only for an RSA signature.
        && !key.and_then(|key| super::keys::is_key_of_did(did, &key)).unwrap_or(algorithm.starts_with("RS"))
    {
        report.warn("signature_owner", &format!("{at}/public_key"), "not the key that the owner's DID names");
    }
}

fn check_key(at: &str, algorithm: &str, text: &str, report: &mut Report) {
    let Some(key) = super::keys::public_key(algorithm, text) else {
        report.warn("signature_form", at, format!("not a key for {algorithm}"));
        return;
    };
    let expected_bits = match algorithm {
        "RS384" => 3072,
        "RS512" => 4096,
        _ => return,
    };
    if let Some(bits) = super::keys::rsa_bits(&key).filter(|bits| *bits < expected_bits) {
        let message = format!("an RSA key of {bits} bits, but {algorithm} is defined for {expected_bits} or more");
        report.warn("signature_key_short", at, message);
    }
}

fn check_embeddings(
    bundle: &Bundle,
    member: &mementory_format::Member,
    report: &mut Report,
    ids: &mut Ids,
) -> Result<(), FormatError> {
    let text = document::read_text(bundle.catalog, member, bundle.limits)?;
    let doc = Document::open(&text, &member.place)?;
    check_same_version(&doc, &member.place, report)?;
    let bounds = Bounds::from(bundle.limits);
    let outline = report.outline_of(&doc, &member.place, &["embeddings"], bounds);
    report.add_faults(&member.place, check(&EMBEDDINGS_RULE, &outline));
    let mut seen = HashSet::new();
    for (i, raw) in doc.list("embeddings").into_iter().enumerate() {
        let at = format!("{}/embeddings/{i}", member.place);
        let Some(tree) = report.parse(raw, &at, bounds) else {
            ids.has_unreadable_embeddings = true;
            continue;
        };
        report.add_faults(&at, check(&EMBEDDING_RULE, &tree));
        let id_of = |name: &str| to_record::id(&tree, name).unwrap_or_default().to_owned();
        let (id, memory) = (id_of("id"), id_of("memory_id"));
        if !seen.insert(id.clone()) {
            report.error("duplicate_id", &format!("{at}/id"), "another embedding has this id");
        }
        if bundle.store.is_some() && !ids.memories.contains(&memory) {
            report.report_dangling(&format!("{at}/memory_id"), "no memory of the store has this id");
        }
        if let (Some(Tree::Array(vector)), Some(n)) =
            (tree.get("vector"), tree.get("dimensions").and_then(Tree::as_f64))
            && vector.len() as f64 != n
        {
            report.error("dimensions_mismatch", &format!("{at}/dimensions"), "not the length of the vector");
        }
        // It is not checked that the file exists, because vectors can be computed again (§12.1).
        let _ = storage_path(&at, &tree, report);
        ids.embedding_ids.insert(id.clone());
        if ids.embeddings.insert(memory, id).is_some() {
            report.error("duplicate_id", &format!("{at}/memory_id"), "another embedding is of the same memory");
        }
        report.records += u64::from(bundle.store.is_none());
    }
    Ok(())
}

fn check_same_version(doc: &Document, place: &str, report: &mut Report) -> Result<(), FormatError> {
    let version = doc.text_member("schema_version");
    supported_version(doc, place)?;
    match (&report.version, version) {
        (None, version) => report.version = version,
        (Some(store), Some(version)) if *store != version => {
            report.error("version_mismatch", &format!("{place}/schema_version"), "not the version of the store");
        }
        _ => {}
    }
    Ok(())
}

fn check_conversation(
    bundle: &Bundle,
    member: &mementory_format::Member,
    report: &mut Report,
    ids: &mut Ids,
) -> Result<(), FormatError> {
    let text = document::read_text(bundle.catalog, member, bundle.limits)?;
    let doc = Document::open(&text, &member.place)?;
    check_same_version(&doc, &member.place, report)?;
    let bounds = Bounds::from(bundle.limits);
    let outline = report.outline_of(&doc, &member.place, &["messages"], bounds);
    report.add_faults(&member.place, check(&CONVERSATION_RULE, &outline));
    let messages = doc.list("messages");
    // All messages are in memory at the same time, so they share one memory limit.
    let mut remaining = bounds;
    let trees: Vec<Result<Tree, TreeError>> =
        messages.iter().map(|raw| Tree::from_raw_within(raw, &mut remaining)).collect();
    let id_of = |tree: &Tree| to_record::id(tree, "id").unwrap_or_default().to_owned();
    let known_ids: HashSet<String> = trees.iter().flatten().map(&id_of).collect();
    let mut seen = HashSet::new();
    for (i, tree) in trees.iter().enumerate() {
        let at = format!("{}/messages/{i}", member.place);
        let tree = match tree {
            Ok(tree) => tree,
            Err(why) => {
                report.report_unreadable(&at, why);
                continue;
            }
        };
        report.add_faults(&at, check(&MESSAGE_RULE, tree));
        if !seen.insert(id_of(tree)) {
            report.error("duplicate_id", &format!("{at}/id"), "another message has this id");
        }
        match to_record::id(tree, "parent_id") {
            Some("") => report.warn(EMPTY_REFERENCE_CODE, &format!("{at}/parent_id"), EMPTY_REFERENCE_MESSAGE),
            Some(parent) if !known_ids.contains(parent) => {
                report.warn("dangling_reference", &format!("{at}/parent_id"), "no message of this file has this id");
            }
            _ => {}
        }
        if let Some(Tree::Array(children)) = tree.get("children_ids") {
            for (n, child) in children.iter().enumerate() {
                if to_record::id_text(child).is_some_and(|c| !known_ids.contains(c)) {
                    let place = format!("{at}/children_ids/{n}");
                    report.warn("dangling_reference", &place, "no message of this file has this id");
                }
            }
        }
    }
    for i in parent_cycles(&trees.iter().map(|tree| tree.as_ref().ok()).collect::<Vec<_>>()) {
        let place = format!("{}/messages/{i}/parent_id", member.place);
        report.warn("parent_cycle", &place, "the message is one of its own ancestors, so none is the first");
    }
    let id = id_of(&outline);
    if !id.is_empty() {
        ids.conversation_by_file.insert(member.id, id.clone());
        // The other file may be a copy in the same folder, which the index does not list. Two entries of the index are an
        // error.
        if !ids.conversations_in_files.insert(id.clone()) {
            report.warn("duplicate_id", &format!("{}/id", member.place), "another file has the same conversation");
        }
    }
    match ids.index.get(&id) {
        Some(entry) => {
            let name = outline.get("provider").and_then(|p| p.get("name")).and_then(Tree::as_str);
            if entry.platform.as_deref() != name {
                report.warn("index_mismatch", &format!("{}/platform", entry.place), "not the provider of the file");
            }
            if entry.title.as_ref() != outline.get("title").filter(|t| **t != Tree::Null) {
                report.warn("index_mismatch", &format!("{}/title", entry.place), "not the title in the file");
            }
            if entry.count.is_some_and(|n| n != messages.len() as f64) {
                let place = format!("{}/message_count", entry.place);
                report.warn("index_mismatch", &place, "not the number of messages in the file");
            }
        }
        None if bundle.store.is_some() => {
            report.warn("not_in_index", &member.place, "the store's index does not name this conversation");
        }
        None => {}
    }
    report.records += messages.len() as u64 + u64::from(!ids.index.contains_key(&id));
    Ok(())
}

/// Checks the conversation files in the index, and `embeddings.json`. A missing conversation is only a warning, and
/// missing embeddings are allowed (§2, §12.1). A file that is not a document of the expected kind is an error.
fn check_files(bundle: &Bundle, report: &mut Report, ids: &Ids) {
    let Some(store) = bundle.store else { return };
    let member_at = |path: &str| {
        let name = format!("{}{path}", bundle.folder);
        let mut members = bundle.catalog.members().iter();
        members.find(|m| (m.root, m.archive) == (store.root, store.archive) && m.name == name)
    };
    let embeddings = [(String::new(), "embeddings.json".to_owned(), String::new())];
    let indexed_files = ids.files.iter().map(|file| (file, &bundle.conversations));
    for ((place, path, id), documents) in indexed_files.chain(embeddings.iter().map(|file| (file, &bundle.embeddings)))
    {
        match member_at(path) {
            Some(file) if documents.iter().any(|d| d.id == file.id) => {
                if ids.conversation_by_file.get(&file.id).is_some_and(|conversation| conversation != id) {
                    report.warn("index_mismatch", place, "this file has another conversation");
                }
            }
            Some(file) => {
                let message = "not a document of the format: its `schema` is missing, wrong or cannot be read";
                report.error("wrong_schema", &file.place, message);
            }
            None if place.is_empty() => {}
            None if ids.conversations_in_files.contains(id) => {
                report.warn("conversation_renamed", place, "the file of this conversation has another name");
            }
            None => report.warn("conversation_missing", place, "this file is not here"),
        }
    }
}

/// Checks references between the files and records of the bundle, once all ids are known.
fn check_references(bundle: &Bundle, report: &mut Report, ids: &Ids) {
    check_files(bundle, report, ids);
    for (place, memory, conversation) in &ids.conversation_refs {
        match ids.conversations.get(conversation) {
            Some(derived) if !derived.contains(memory) => {
                report.warn("not_mutual", place, "the conversation does not name this memory in derived_memories");
            }
            None if !ids.conversations.is_empty() => {
                report.report_dangling(place, "no conversation of the index has this id");
            }
            _ => {}
        }
    }
    let mutual: HashSet<(&str, &str)> = ids
        .conversation_refs
        .iter()
        .map(|(_, memory, conversation)| (memory.as_str(), conversation.as_str()))
        .collect();
    let mut one_sided_places: Vec<&str> = Vec::new();
    for (conversation, derived) in &ids.conversations {
        let is_one_sided = |memory: &String| {
            ids.memories.contains(memory) && !mutual.contains(&(memory.as_str(), conversation.as_str()))
        };
        let entry = ids.index.get(conversation).filter(|_| derived.iter().any(is_one_sided));
        one_sided_places.extend(entry.map(|entry| entry.place.as_str()));
    }
    one_sided_places.sort_unstable();
    for place in one_sided_places {
        let message = "one of these memories does not name this conversation in conversation_ref";
        report.warn("not_mutual", &format!("{place}/derived_memories"), message);
    }
    for (place, target) in &ids.superseded {
        if !ids.memories.contains(target) {
            report.report_dangling(place, "no memory of this file has this id");
        }
    }
    // An unreadable embedding was already reported with the reason, so references that may refer to it are not reported
    // too.
    let has_unreadable_embeddings =
        ids.has_unreadable_embeddings || bundle.embeddings.iter().any(|member| report.unreadable.contains(&member.id));
    for (place, memory, embedding) in &ids.embedding_refs {
        if ids.embedding_ids.contains(embedding) {
            if ids.embeddings.get(memory) != Some(embedding) {
                report.warn("embedding_of_another", place, "this embedding is of another memory");
            }
            continue;
        }
        if bundle.embeddings.is_empty() {
            // According to §12.1, a missing embeddings file is not an error.
            report.warn("embedding_missing", place, "the embeddings file is not here");
        } else if !has_unreadable_embeddings {
            report.report_dangling(place, "no embedding of the file has this id");
        }
    }
}
