//! Detects PAM documents by their `schema` member, anywhere in the file. Conversation and embeddings files under the
//! folder of a store belong to that store.
use super::schema::{CONVERSATION_SCHEMA, EMBEDDINGS_SCHEMA, STORE_SCHEMA};
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role, json_keys};
use mementory_model::Limits;
use std::collections::{BTreeMap, HashSet};

/// Usual name of a store.
const STORE_FILE: &str = "memory-store.json";

/// Number of bytes at the start of a file that are examined first. They usually contain `schema`.
const HEAD_BYTES: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentKind {
    Store,
    Conversation,
    Embeddings,
}

struct Document<'a> {
    member: &'a Member,
    kind: DocumentKind,
    version: Option<String>,
    confidence: f64,
}

/// Claims one source for each store, and one for all files of an input that belong to no store.
pub(super) fn detect(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let mut documents = Vec::new();
    for member in catalog.members().iter().filter(|m| m.file_name().to_ascii_lowercase().ends_with(".json")) {
        if let Some(document) = identify(catalog, member, limits)? {
            documents.push(document);
        }
    }
    let unreadable: Vec<Document> =
        catalog.members().iter().filter_map(|m| unreadable_store(catalog, m, &documents)).collect();
    documents.extend(unreadable);
    let bundles = bundles_with_checksums(catalog);
    for document in &mut documents {
        if folders_around(document.member).any(|folder| bundles.contains(&folder)) {
            document.confidence = document.confidence.min(INSIDE_BUNDLE_CONFIDENCE);
        }
    }
    let stores: Vec<&Document> = documents.iter().filter(|d| d.kind == DocumentKind::Store).collect();
    let mut claims: BTreeMap<(usize, usize), Claim> = BTreeMap::new();
    for document in &documents {
        // If a folder has two stores, its other files are assigned to the first store.
        let store = match document.kind {
            DocumentKind::Store => Some(document),
            _ => stores.iter().copied().filter(|s| is_in_folder_of(s.member, document.member)).max_by_key(|s| {
                let folder_length = folder_of(s.member).len();
                (folder_length, usize::MAX - s.member.id)
            }),
        };
        let key = store.map_or((document.member.root, usize::MAX), |h| (h.member.root, h.member.id));
        let described = store.unwrap_or(document);
        let claim = claims.entry(key).or_insert_with(|| new_claim(described, store.is_some()));
        let role = match document.kind {
            DocumentKind::Store => Role::Memories,
            DocumentKind::Conversation => Role::Conversations,
            DocumentKind::Embeddings => Role::Records,
        };
        claim.parts.push(Part { member: document.member.id, role });
    }
    let claimed: HashSet<usize> = documents.iter().map(|d| d.member.id).collect();
    for ((_, id), claim) in &mut claims {
        let Some(store) = catalog.members().get(*id) else { continue };
        let companions = catalog.members().iter().filter(|m| is_in_folder_of(store, m) && !claimed.contains(&m.id));
        claim.parts.extend(companions.filter_map(|m| Some(Part { member: m.id, role: passthrough_role(store, m)? })));
    }
    Ok(claims.into_values().collect())
}

fn new_claim(described: &Document, has_store: bool) -> Claim {
    let reason = match (has_store, described.confidence >= 1.0) {
        _ if described.confidence <= INSIDE_BUNDLE_CONFIDENCE => {
            "schema says portable-ai-memory, inside another bundle"
        }
        (true, true) => "schema says portable-ai-memory",
        (true, false) => "memories with content_hash and provenance, without the schema's name",
        (false, _) => "schema says portable-ai-memory, without its memory store",
    };
    Claim {
        version: described.version.clone(),
        confidence: described.confidence,
        reason: reason.into(),
        parts: vec![],
        missing_parts: if has_store { vec![] } else { vec![STORE_FILE.into()] },
    }
}

/// Confidence for a document inside a `.mem` bundle. It is lower than the confidence of the `.mem` format for a bundle
/// with a damaged manifest, so that the whole bundle is claimed instead of single files.
const INSIDE_BUNDLE_CONFIDENCE: f64 = 0.8;

/// Root, archive and path of a folder. The path ends with `/`, or is empty at the top.
type Folder<'c> = (usize, Option<usize>, &'c str);

/// The folders around a file, from the inside out.
fn folders_around(member: &Member) -> impl Iterator<Item = Folder<'_>> {
    let paths = member.name.rmatch_indices('/').map(|(at, _)| &member.name[..=at]).chain([""]);
    paths.map(|path| (member.root, member.archive, path))
}

/// The folders that have records in `items/` and list their files in `CHECKSUMS`, as `.mem` bundles do.
fn bundles_with_checksums(catalog: &Catalog) -> HashSet<Folder<'_>> {
    let lists = catalog.members().iter().filter(|m| m.file_name() == "CHECKSUMS");
    let listed: HashSet<Folder<'_>> = lists.filter_map(|m| folders_around(m).next()).collect();
    let records = catalog.members().iter().filter(|m| m.name.ends_with(".jsonl"));
    let with_records =
        records.flat_map(|m| folders_around(m).filter(|(_, _, path)| m.name[path.len()..].starts_with("items/")));
    with_records.filter(|folder| listed.contains(folder)).collect()
}

fn folder_of(member: &Member) -> &str {
    member.name.rfind('/').map_or("", |at| &member.name[..=at])
}

/// True if the file is in the folder of the store or below it.
fn is_in_folder_of(store: &Member, member: &Member) -> bool {
    store.root == member.root && store.archive == member.archive && member.name.starts_with(folder_of(store))
}

/// Role of a file that is not a PAM document. None if the file is ignored. Next to a `memory-store.json` in an archive,
/// all files are passed through; in a folder, only those in `attachments/`.
fn passthrough_role(store: &Member, member: &Member) -> Option<Role> {
    let path_inside = &member.name[folder_of(store).len()..];
    if path_inside.ends_with(".DS_Store") || path_inside.starts_with("__MACOSX/") {
        return member.archive.is_some().then_some(Role::Junk);
    }
    let is_attachment = path_inside.starts_with("attachments/") && store.file_name() == STORE_FILE;
    (is_attachment || (member.archive.is_some() && store.file_name() == STORE_FILE)).then_some(Role::Sidecar)
}

fn identify<'a>(catalog: &Catalog, member: &'a Member, limits: &Limits) -> Result<Option<Document<'a>>, FormatError> {
    let Some(keys) = json_keys(catalog, member)? else { return Ok(None) };
    let has = |all: &[&str]| all.iter().all(|k| keys.has(k));
    let has_store_members = has(&["memories.content_hash", "memories.provenance"]) || has(&["owner", "memories"]);
    let has_conversation_members = has(&["provider", "messages"]) || has(&["provider.name", "id"]);
    let has_vectors = has(&["embeddings.memory_id"]) || has(&["embeddings.vector"]);
    let is_likely = has_store_members
        || has_conversation_members
        || has_vectors
        || has(&["conversations_index"])
        || has(&["schema_version"]);
    if !is_likely && !keys.has("schema") {
        return Ok(None);
    }
    let head = catalog.head(member, HEAD_BYTES)?;
    let mut schema_and_version = schema_and_version(&head);
    // In a document with sorted keys, `schema` comes after the records, so the whole file is searched for it.
    if schema_and_version.0.is_none() && is_likely && (head.len() == HEAD_BYTES) && member.size <= limits.element_bytes
    {
        schema_and_version = self::schema_and_version(
            &catalog.head(member, usize::try_from(limits.element_bytes).unwrap_or(usize::MAX))?,
        );
    }
    let (schema, version) = schema_and_version;
    let identified = match schema.as_deref() {
        Some(STORE_SCHEMA) => Some((DocumentKind::Store, 1.0)),
        Some(CONVERSATION_SCHEMA) => Some((DocumentKind::Conversation, 1.0)),
        Some(EMBEDDINGS_SCHEMA) => Some((DocumentKind::Embeddings, 1.0)),
        Some(_) => None,
        // A store without `schema` is claimed too. The reader reports that `schema` is missing.
        None => has(&["memories.content_hash", "memories.provenance", "memories.temporal"])
            .then_some((DocumentKind::Store, 0.9)),
    };
    Ok(identified.map(|(kind, confidence)| Document { member, kind, version, confidence }))
}

/// A `memory-store.json` that [`identify`] does not recognise, if it names the format or is next to documents of the
/// format. It is claimed so that its damage is reported; otherwise these documents would be read without a store.
fn unreadable_store<'a>(catalog: &Catalog, member: &'a Member, documents: &[Document]) -> Option<Document<'a>> {
    if member.file_name() != STORE_FILE || documents.iter().any(|d| d.member.id == member.id) {
        return None;
    }
    let head = catalog.head(member, HEAD_BYTES).ok()?;
    let names_format =
        schema_and_version(&head).0.is_none() && memchr::memmem::find(&head, STORE_SCHEMA.as_bytes()).is_some();
    let has_companion = documents.iter().any(|d| d.kind != DocumentKind::Store && is_in_folder_of(member, d.member));
    (names_format || has_companion).then_some(Document {
        member,
        kind: DocumentKind::Store,
        version: None,
        confidence: 0.95,
    })
}

/// Values of `schema` and `schema_version` at the top level. Scans the text without parsing it, because the text may be
/// truncated.
fn schema_and_version(bytes: &[u8]) -> (Option<String>, Option<String>) {
    let (mut schema, mut version) = (None, None);
    let (mut depth, mut at) = (0usize, 0usize);
    let mut key: Option<&[u8]> = None;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let start = at + 1;
                at = start;
                while bytes.get(at).is_some_and(|b| *b != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                // A truncated string is ignored.
                let Some(text) = bytes.get(start..at).filter(|_| at < bytes.len()) else { break };
                let next = bytes.iter().skip(at + 1).find(|b| !b.is_ascii_whitespace());
                if depth == 1 {
                    let value = || std::str::from_utf8(text).ok().map(str::to_owned);
                    match key {
                        _ if next == Some(&b':') => key = Some(text),
                        Some(b"schema") => schema = value(),
                        Some(b"schema_version") => version = value(),
                        _ => {}
                    }
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => key = None,
            _ => {}
        }
        at += 1;
    }
    (schema, version)
}

#[cfg(test)]
mod tests {
    use super::schema_and_version;

    #[test]
    fn schema_and_version_are_found_anywhere_at_the_top_level() {
        let text = br#"{"a":{"schema":"no"},"b":["schema"],"c":"schema","schema_version":"1.0", "schema" : "x\"y"}"#;
        assert_eq!(schema_and_version(text), (Some("x\\\"y".into()), Some("1.0".into())));
        assert_eq!(
            schema_and_version(br#"{"schema":"portable-ai-memory","mem"#).0.as_deref(),
            Some("portable-ai-memory")
        );
        assert_eq!(schema_and_version(br#"{"schema":"portab"#), (None, None));
        assert_eq!(schema_and_version(b"\"\\"), (None, None));
    }
}
