//! Which members are PAM documents? By their `schema`, wherever it stands in the file; a store takes the conversation
//! and embedding files beside or below it.
use super::schema::{CONVERSATION_SCHEMA, EMBEDDINGS_SCHEMA, STORE_SCHEMA};
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role, json_keys};
use mementory_model::Limits;
use std::collections::BTreeMap;

/// Bytes of a head in which the marker mostly stands.
const HEAD: usize = 64 << 10;

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Store,
    Conversation,
    Embeddings,
}

struct Document<'a> {
    member: &'a Member,
    found: Found,
    version: Option<String>,
    confidence: f64,
}

/// Claims one source per store, and one for companions without any.
pub(super) fn detect(catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
    let mut documents = Vec::new();
    for member in catalog.members().iter().filter(|m| m.file_name().to_ascii_lowercase().ends_with(".json")) {
        if let Some(document) = look(catalog, member, limits)? {
            documents.push(document);
        }
    }
    let stores: Vec<&Document> = documents.iter().filter(|d| d.found == Found::Store).collect();
    let mut claims: BTreeMap<(usize, usize), Claim> = BTreeMap::new();
    for document in &documents {
        // Two stores in one folder share its companions; they go with the first.
        let home = match document.found {
            Found::Store => Some(document),
            _ => stores.iter().copied().filter(|s| holds(s.member, document.member)).max_by_key(|s| {
                let folder = folder(s.member).len();
                (folder, usize::MAX - s.member.id)
            }),
        };
        let key = home.map_or((document.member.root, usize::MAX), |h| (h.member.root, h.member.id));
        let head = home.unwrap_or(document);
        let claim = claims.entry(key).or_insert_with(|| claim(head, home.is_some()));
        let role = match document.found {
            Found::Store => Role::Memories,
            Found::Conversation => Role::Conversations,
            Found::Embeddings => Role::Records,
        };
        claim.parts.push(Part { member: document.member.id, role });
    }
    for ((_, id), claim) in &mut claims {
        let Some(store) = catalog.members().get(*id) else { continue };
        let owned: Vec<usize> = documents.iter().map(|d| d.member.id).collect();
        let beside = catalog.members().iter().filter(|m| holds(store, m) && !owned.contains(&m.id));
        claim.parts.extend(beside.filter_map(|m| Some(Part { member: m.id, role: side_role(store, m)? })));
    }
    Ok(claims.into_values().collect())
}

fn claim(head: &Document, store: bool) -> Claim {
    let reason = match (store, head.confidence >= 1.0) {
        (true, true) => "schema says portable-ai-memory",
        (true, false) => "memories with content_hash and provenance, without the schema's name",
        (false, _) => "schema says portable-ai-memory, without its memory store",
    };
    Claim {
        version: head.version.clone(),
        confidence: head.confidence,
        reason: reason.into(),
        parts: vec![],
        missing_parts: if store { vec![] } else { vec!["memory-store.json".into()] },
    }
}

fn folder(member: &Member) -> &str {
    member.name.rfind('/').map_or("", |at| &member.name[..=at])
}

/// Does a member lie in the folder of a store, or below it?
fn holds(store: &Member, member: &Member) -> bool {
    store.root == member.root && store.archive == member.archive && member.name.starts_with(folder(store))
}

/// Files of people go along from the bundle's `attachments/`, everything else only inside an archive of its own.
fn side_role(store: &Member, member: &Member) -> Option<Role> {
    let inside = &member.name[folder(store).len()..];
    if inside.ends_with(".DS_Store") || inside.starts_with("__MACOSX/") {
        return member.archive.is_some().then_some(Role::Junk);
    }
    let file = inside.starts_with("attachments/") && store.file_name() == "memory-store.json";
    (file || (member.archive.is_some() && store.file_name() == "memory-store.json")).then_some(Role::Sidecar)
}

fn look<'a>(catalog: &Catalog, member: &'a Member, limits: &Limits) -> Result<Option<Document<'a>>, FormatError> {
    let Some(keys) = json_keys(catalog, member)? else { return Ok(None) };
    let has = |all: &[&str]| all.iter().all(|k| keys.has(k));
    let store = has(&["memories.content_hash", "memories.provenance"]) || has(&["owner", "memories"]);
    let chat = has(&["provider", "messages"]) || has(&["provider.name", "id"]);
    let vectors = has(&["embeddings.memory_id"]) || has(&["embeddings.vector"]);
    let likely = store || chat || vectors || has(&["conversations_index"]) || has(&["schema_version"]);
    if !likely && !keys.has("schema") {
        return Ok(None);
    }
    let head = catalog.head(member, HEAD)?;
    let mut marks = marks(&head);
    // Sorted keys put `schema` behind the records.
    if marks.0.is_none() && likely && (head.len() == HEAD) && member.size <= limits.element_bytes {
        marks = self::marks(&catalog.head(member, usize::try_from(limits.element_bytes).unwrap_or(usize::MAX))?);
    }
    let (schema, version) = marks;
    let found = match schema.as_deref() {
        Some(STORE_SCHEMA) => Some((Found::Store, 1.0)),
        Some(CONVERSATION_SCHEMA) => Some((Found::Conversation, 1.0)),
        Some(EMBEDDINGS_SCHEMA) => Some((Found::Embeddings, 1.0)),
        Some(_) => None,
        // A store that lost its mark is still one: reading it gives the precise fault.
        None => {
            has(&["memories.content_hash", "memories.provenance", "memories.temporal"]).then_some((Found::Store, 0.9))
        }
    };
    Ok(found.map(|(found, confidence)| Document { member, found, version, confidence }))
}

/// Values of `schema` and `schema_version` at the top level, found without parsing: works on a cut-off text.
fn marks(bytes: &[u8]) -> (Option<String>, Option<String>) {
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
                // A text that is cut off says nothing.
                let Some(text) = bytes.get(start..at).filter(|_| at < bytes.len()) else { break };
                let next = bytes.iter().skip(at + 1).find(|b| !b.is_ascii_whitespace());
                if depth == 1 {
                    let word = || std::str::from_utf8(text).ok().map(str::to_owned);
                    match key {
                        _ if next == Some(&b':') => key = Some(text),
                        Some(b"schema") => schema = word(),
                        Some(b"schema_version") => version = word(),
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
    use super::marks;

    #[test]
    fn the_mark_is_found_anywhere_at_the_top() {
        let text = br#"{"a":{"schema":"no"},"b":["schema"],"c":"schema","schema_version":"1.0", "schema" : "x\"y"}"#;
        assert_eq!(marks(text), (Some("x\\\"y".into()), Some("1.0".into())));
        assert_eq!(marks(br#"{"schema":"portable-ai-memory","mem"#).0.as_deref(), Some("portable-ai-memory"));
        assert_eq!(marks(br#"{"schema":"portab"#), (None, None));
        assert_eq!(marks(b"\"\\"), (None, None));
    }
}
