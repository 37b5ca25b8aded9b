//! Detects exported chats by their history of messages, and the database by its tables.
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::json_head::head_keys;
use mementory_formats_shared::sqlite::{SQLITE_MAGIC, is_beside};
use mementory_json::Keys;

/// Number of bytes of a database that detection reads. The list of its tables may be in any of the first pages.
const HEAD_BYTES: usize = 4 << 20;

/// One claim for each exported file and for each database with its log.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut out = Vec::new();
    for member in catalog.members() {
        if head_keys(catalog, member).is_some_and(|keys| is_export(&keys)) {
            let parts = vec![Part { member: member.id, role: Role::Conversations }];
            out.push(claim("export", "Chats with a history of messages, as Open WebUI exports them", parts));
        } else if is_database(catalog, member) {
            let mut parts = vec![Part { member: member.id, role: Role::Manifest }];
            parts.extend(logs(catalog, member));
            out.push(claim("database", "The database of Open WebUI", parts));
        }
    }
    out
}

fn claim(version: &str, reason: &str, parts: Vec<Part>) -> Claim {
    Claim { version: Some(version.into()), confidence: 0.9, reason: reason.into(), parts, missing_parts: vec![] }
}

fn is_export(keys: &Keys) -> bool {
    ["", "chats.", "items."].iter().any(|wrapper| {
        let has = |path: &str| keys.has(&format!("{wrapper}{path}"));
        has("chat.history") && (has("chat.history.messages") || has("chat.history.currentId"))
            || has("history.messages") && has("history.currentId")
            || has("chat.messages") && has("user_id") && has("chat.title")
    })
}

fn is_database(catalog: &Catalog, member: &Member) -> bool {
    let magic = catalog.head(member, SQLITE_MAGIC.len());
    if !magic.is_ok_and(|magic| magic == SQLITE_MAGIC) {
        return false;
    }
    let Ok(head) = catalog.head(member, HEAD_BYTES) else { return false };
    let has = |word: &str| memchr::memmem::find(&head, word.as_bytes()).is_some();
    let has_table = |name: &str| {
        ["\"", "`", "'", "["].iter().any(|quote| has(&format!("CREATE TABLE {quote}{name}")))
            || has(&format!("CREATE TABLE {name} ("))
            || has(&format!("CREATE TABLE {name}("))
    };
    has_table("chat") && has("user_id") && (has("share_id") || has("archived") || has_table("memory"))
}

/// The log of a database that was copied while in use, and its index.
fn logs(catalog: &Catalog, database: &Member) -> impl Iterator<Item = Part> {
    let parts: Vec<Part> = catalog
        .members()
        .iter()
        .filter(|member| is_beside(database, member, "-wal") || is_beside(database, member, "-shm"))
        .map(|member| Part { member: member.id, role: Role::Junk })
        .collect();
    parts.into_iter()
}
