//! Detects documents of this format: by their top-level members in any encoding. The three interop encodings resemble the
//! files of other programs, so they must match exactly.
use super::encoding::Encoding;
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_json::{decoded_head, keys_of};

/// Bytes of a file that are examined.
const HEAD: usize = 64 << 10;

/// One claim for each document. `by_name`: the user selected this format.
pub(super) fn detect(catalog: &Catalog, by_name: bool) -> Result<Vec<Claim>, FormatError> {
    let mut claims = Vec::new();
    for member in catalog.members() {
        // Unreadable files are not claimed; the caller reports them.
        let Ok(Some((encoding, version, confidence, reason))) = inspect(catalog, member, by_name) else { continue };
        let role = if encoding.interop_name().is_some() { Role::Memories } else { Role::Records };
        claims.push(Claim {
            version: version.or_else(|| encoding.interop_name().map(str::to_owned)),
            confidence,
            reason,
            parts: vec![Part { member: member.id, role }],
            missing_parts: vec![],
        });
    }
    Ok(claims)
}

/// The encoding of a file, if it is of this format.
pub(super) fn encoding(catalog: &Catalog, member: &Member, by_name: bool) -> Result<Option<Encoding>, FormatError> {
    Ok(inspect(catalog, member, by_name)?.map(|(encoding, ..)| encoding))
}

/// The encoding of bytes in memory.
pub(super) fn encoding_of_bytes(bytes: &[u8], name: &str) -> Option<Encoding> {
    recognize(&bytes[..bytes.len().min(HEAD)], name, true).map(|(encoding, ..)| encoding)
}

type Found = (Encoding, Option<String>, f64, String);

fn inspect(catalog: &Catalog, member: &Member, by_name: bool) -> Result<Option<Found>, FormatError> {
    let head = catalog.read(member, |r| decoded_head(r, HEAD).map_err(|e| FormatError::io(&member.place, e)))?;
    Ok(recognize(&head, member.file_name(), by_name))
}

fn recognize(head: &[u8], name: &str, by_name: bool) -> Option<Found> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let name = name.to_ascii_lowercase();
    if text.starts_with('{') {
        let first = text.lines().next().unwrap_or_default();
        // The header is longer than the examined bytes, because it contains the nodes of the graph.
        if !text.contains('\n')
            && string_after(text, "type").as_deref() == Some("header")
            && keys_of(text.as_bytes()).has("type")
            && string_after(text, "mif_version").is_some()
        {
            let version = string_after(text, "mif_version");
            return Some((Encoding::Jsonl, version, 1.0, "JSON lines whose header has mif_version".into()));
        }
        if let Ok(line) = serde_json::from_str::<serde_json::Value>(first) {
            let has = |key: &str| line.get(key).is_some();
            if line["type"] == "header" && (has("mif_version") || has("export") || has("export_meta")) {
                let version = line["mif_version"].as_str().map(str::to_owned);
                return Some((Encoding::Jsonl, version, 1.0, "JSON lines whose header has mif_version".into()));
            }
            let ours = line["type"].as_str().is_some_and(|t| super::sections::by_line(t).is_some()) && has("data");
            if ours && text.contains("\"mif_version\"") {
                // The reader reports that the header is not the first line.
                return Some((Encoding::Jsonl, None, 0.9, "JSON lines of this format in the wrong order".into()));
            }
        }
        return object(text, by_name);
    }
    if text.starts_with('[') {
        return array(text, by_name);
    }
    yaml(text, &name).or_else(|| markdown(text, by_name))
}

fn object(text: &str, by_name: bool) -> Option<Found> {
    let keys = keys_of(text.as_bytes());
    let version = string_after(text, "mif_version");
    let found = |confidence, reason: &str| Some((Encoding::Json, version.clone(), confidence, reason.to_owned()));
    if keys.has("encryption.encrypted_payload") && (keys.has("mif_version") || keys.has("encryption.algorithm")) {
        return found(1.0, "an encrypted document with its key derivation");
    }
    if keys.has("mif_version") && ["export", "export_meta", "memories"].iter().any(|k| keys.has(k)) {
        return found(1.0, "a document with mif_version");
    }
    // The version may come last, after the examined bytes.
    let header = |h: &str| ["id", "created_at", "user_id"].iter().all(|k| keys.has(&format!("{h}.{k}")));
    if header("export_meta") || (header("export") && (keys.has("memories") || keys.has("graph"))) {
        return found(0.9, "a header of an export of memories");
    }
    if keys.has("mif_version") {
        return found(0.9, "a document with mif_version");
    }
    let results = by_name && (keys.has("results.memory") || keys.has("memories.memory"));
    results.then(|| (Encoding::Mem0, None, 0.5, "an answer with memories, as mem0 gives them".into()))
}

/// The value of a key, in text that may be cut off.
fn string_after(text: &str, key: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("\"{key}\""))?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let value =
        value.strip_prefix('"').map_or_else(|| value.split([',', '}', '\n']).next(), |v| v.split('"').next())?;
    let value = value.trim();
    (!value.is_empty() && value.len() < 20).then(|| value.to_owned())
}

/// Members of an element that the reference program writes in its mem0 encoding, and in its generic encoding.
const MEM0: [&str; 7] = ["id", "memory", "user_id", "agent_id", "created_at", "updated_at", "metadata"];
const GENERIC: [&str; 6] = ["id", "content", "type", "tags", "timestamp", "metadata"];

/// Many programs write arrays, so only the exact output of the reference program is detected automatically, with low confidence.
fn array(text: &str, by_name: bool) -> Option<Found> {
    let mut elements = serde_json::Deserializer::from_str(text.get(1..)?).into_iter::<serde_json::Value>();
    let first = match elements.next()? {
        Ok(first) => first,
        // The first memory is longer than the examined bytes.
        Err(error) if error.is_eof() && by_name => {
            let keys = keys_of(text.as_bytes());
            let known = [("memory", Encoding::Mem0), ("content", Encoding::Generic)];
            let (_, encoding) = known.into_iter().find(|(key, _)| keys.has(key))?;
            return Some((encoding, None, 0.5, "memories in an array".into()));
        }
        Err(_) => return None,
    };
    let first = first.as_object()?;
    let only = |allowed: &[&str]| first.keys().all(|k| allowed.contains(&k.as_str()));
    let has = |needed: &[&str]| needed.iter().all(|k| first.get(*k).is_some_and(|v| v.is_string()));
    let uuid = first.get("id").and_then(|v| v.as_str()).is_some_and(mementory_format::is_uuid);
    // The reference program writes UTC with a numeric offset, which is unusual.
    let stamped = |k: &str| first.get(k).and_then(|v| v.as_str()).is_some_and(|t| t.ends_with("+00:00"));
    if has(&["memory"]) {
        let exact = uuid && only(&MEM0) && has(&["user_id", "created_at", "updated_at"]);
        let exact = exact && stamped("created_at") && !first.contains_key("metadata");
        return (exact || by_name).then(|| (Encoding::Mem0, None, 0.5, "memories in the array that mem0 uses".into()));
    }
    if has(&["content"]) {
        let exact = uuid && only(&GENERIC) && has(&["type", "timestamp"]) && stamped("timestamp");
        return (exact || by_name).then(|| (Encoding::Generic, None, 0.5, "memories in a plain array".into()));
    }
    None
}

fn yaml(text: &str, name: &str) -> Option<Found> {
    let mut version = None;
    let (mut header, mut memories, mut sealed) = (false, false, false);
    for line in text.lines().filter(|l| !l.starts_with([' ', '\t', '-', '#'])) {
        let Some((key, value)) = line.split_once(':') else { continue };
        match key.trim().trim_matches(['"', '\'']) {
            "mif_version" => {
                let value = value.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
                version = Some(value.to_owned());
            }
            "export" | "export_meta" => header = true,
            "memories" => memories = true,
            "encryption" => sealed = true,
            _ => {}
        }
    }
    let named = name.ends_with(".yaml") || name.ends_with(".yml");
    let sealed = sealed && text.contains("encrypted_payload");
    let certain = version.is_some() && (header || memories || sealed);
    let likely = named && (header && memories || sealed || name.ends_with(".mif.yaml") && version.is_some());
    let confidence = if certain { 1.0 } else { 0.9 };
    (certain || likely).then(|| (Encoding::Yaml, version, confidence, "a YAML document with mif_version".into()))
}

fn markdown(text: &str, by_name: bool) -> Option<Found> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut keys = Vec::new();
    for line in rest.lines().take(20) {
        if line.trim_end() == "---" {
            keys.retain(|key| *key != super::encoding::ESCAPED);
            let exact = keys == ["type", "created_at"] || keys == ["type", "created_at", "tags"];
            let found = exact || (by_name && !keys.is_empty());
            return found.then(|| (Encoding::Markdown, None, 0.5, "memories under headers of type and time".into()));
        }
        keys.push(line.split_once(':')?.0);
    }
    None
}
