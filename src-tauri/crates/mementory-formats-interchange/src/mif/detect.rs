//! Detects documents of this format by their top-level members, in any encoding. The three interop encodings resemble
//! files of other programs, so they are detected only by an exact match.
use super::encoding::Encoding;
use mementory_format::{Catalog, Claim, FormatError, JsonHead, Member, Part, Role, decoded_head};
use mementory_json::{Keys, keys_of};

/// Number of bytes at the start of a file that are examined.
const HEAD_BYTES: usize = JsonHead::BYTES;

/// Claims each document separately. `is_selected` is true if the user selected this format.
pub(super) fn detect(catalog: &Catalog, is_selected: bool) -> Result<Vec<Claim>, FormatError> {
    let mut claims = Vec::new();
    for member in catalog.members() {
        // An unreadable file is not claimed; the caller reports it.
        let Ok(Some((encoding, version, confidence, reason))) = inspect(catalog, member, is_selected) else { continue };
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

/// Detects the encoding of a file. None if the file is not of this format.
pub(super) fn encoding(catalog: &Catalog, member: &Member, is_selected: bool) -> Result<Option<Encoding>, FormatError> {
    Ok(inspect(catalog, member, is_selected)?.map(|(encoding, ..)| encoding))
}

/// Detects the encoding of a file from its bytes and its name. None if the file is not of this format.
pub(super) fn encoding_of_bytes(bytes: &[u8], name: &str) -> Option<Encoding> {
    recognize(&bytes[..bytes.len().min(HEAD_BYTES)], None, name, true).map(|(encoding, ..)| encoding)
}

type Recognized = (Encoding, Option<String>, f64, String);

fn inspect(catalog: &Catalog, member: &Member, is_selected: bool) -> Result<Option<Recognized>, FormatError> {
    let json = JsonHead::of(catalog, member);
    let head = match &json {
        Some(json) if json.first == b'{' && !is_selected && !may_be_of_this_format(&json.keys, member) => {
            return Ok(None);
        }
        Some(json) => json.bytes(),
        None => decoded_head(catalog, member, HEAD_BYTES)?,
    };
    Ok(recognize(&head, json.as_ref().map(|json| &*json.keys), member.file_name(), is_selected))
}

/// False for a `.json` file with none of the keys that identify this format. Any other file may be a YAML document in
/// braces, whose keys need no quotes.
fn may_be_of_this_format(keys: &Keys, member: &Member) -> bool {
    let is_json = member.file_name().to_ascii_lowercase().ends_with(".json");
    let names = ["mif_version", "export_meta", "export", "encrypted_payload"];
    !is_json || names.iter().any(|name| keys.has_name(name))
}

/// Recognizes a document by its first bytes, `head`. `keys` are the JSON keys in `head`, if they were already parsed.
fn recognize(head: &[u8], keys: Option<&Keys>, name: &str, is_selected: bool) -> Option<Recognized> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let name = name.to_ascii_lowercase();
    if text.starts_with('{') {
        let first = text.lines().next().unwrap_or_default();
        // The header may be longer than the examined bytes, because it contains the nodes of the graph.
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
            let is_record_line =
                line["type"].as_str().is_some_and(|t| super::sections::section_for_line_type(t).is_some())
                    && has("data");
            if is_record_line && text.contains("\"mif_version\"") {
                // The file has lines of this format but no header at the start. The reader reports the missing header.
                return Some((Encoding::Jsonl, None, 0.9, "JSON lines of this format in the wrong order".into()));
            }
        }
        return recognize_object(text, keys, is_selected).or_else(|| recognize_flow_yaml(text, &name));
    }
    if text.starts_with('[') {
        return recognize_array(text, is_selected);
    }
    recognize_yaml(text, &name).or_else(|| recognize_markdown(text, is_selected))
}

fn recognize_object(text: &str, known_keys: Option<&Keys>, is_selected: bool) -> Option<Recognized> {
    let found_keys = known_keys.is_none().then(|| keys_of(text.as_bytes()));
    let keys = known_keys.or(found_keys.as_ref())?;
    let version = string_after(text, "mif_version");
    let recognized = |confidence, reason: &str| Some((Encoding::Json, version.clone(), confidence, reason.to_owned()));
    if keys.has("encryption.encrypted_payload") && (keys.has("mif_version") || keys.has("encryption.algorithm")) {
        return recognized(1.0, "an encrypted document with its key derivation");
    }
    if keys.has("mif_version") && ["export", "export_meta", "memories"].iter().any(|k| keys.has(k)) {
        return recognized(1.0, "a document with mif_version");
    }
    // The version may be the last member, after the examined bytes.
    let has_header = |h: &str| ["id", "created_at", "user_id"].iter().all(|k| keys.has(&format!("{h}.{k}")));
    if has_header("export_meta") || (has_header("export") && (keys.has("memories") || keys.has("graph"))) {
        return recognized(0.9, "a header of an export of memories");
    }
    if keys.has("mif_version") {
        return recognized(0.9, "a document with mif_version");
    }
    let has_results = is_selected && (keys.has("results.memory") || keys.has("memories.memory"));
    has_results.then(|| (Encoding::Mem0, None, 0.5, "an answer with memories, as mem0 gives them".into()))
}

/// The string value of a key in a text that may be truncated.
fn string_after(text: &str, key: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("\"{key}\""))?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let value =
        value.strip_prefix('"').map_or_else(|| value.split([',', '}', '\n']).next(), |v| v.split('"').next())?;
    let value = value.trim();
    (!value.is_empty() && value.len() < 20).then(|| value.to_owned())
}

/// Members of an element in the mem0 encoding of the reference program.
const MEM0_MEMBERS: [&str; 7] = ["id", "memory", "user_id", "agent_id", "created_at", "updated_at", "metadata"];
/// Members of an element in the generic encoding of the reference program.
const GENERIC_MEMBERS: [&str; 6] = ["id", "content", "type", "tags", "timestamp", "metadata"];

/// Detects an array. Many programs write arrays, so without the user's selection only the exact output of the reference
/// program is recognized, with low confidence.
fn recognize_array(text: &str, is_selected: bool) -> Option<Recognized> {
    let mut elements = serde_json::Deserializer::from_str(text.get(1..)?).into_iter::<serde_json::Value>();
    let first = match elements.next()? {
        Ok(first) => first,
        // The first element is longer than the examined bytes.
        Err(error) if error.is_eof() && is_selected => {
            let keys = keys_of(text.as_bytes());
            let text_members = [("memory", Encoding::Mem0), ("content", Encoding::Generic)];
            let (_, encoding) = text_members.into_iter().find(|(key, _)| keys.has(key))?;
            return Some((encoding, None, 0.5, "memories in an array".into()));
        }
        Err(_) => return None,
    };
    let first = first.as_object()?;
    let has_no_other_members = |allowed: &[&str]| first.keys().all(|k| allowed.contains(&k.as_str()));
    let has = |needed: &[&str]| needed.iter().all(|k| first.get(*k).is_some_and(|v| v.is_string()));
    let has_uuid = first.get("id").and_then(|v| v.as_str()).is_some_and(mementory_format::is_uuid);
    // The reference program writes UTC with a numeric offset, which is unusual.
    let has_utc_offset = |k: &str| first.get(k).and_then(|v| v.as_str()).is_some_and(|t| t.ends_with("+00:00"));
    if has(&["memory"]) {
        let is_exact = has_uuid && has_no_other_members(&MEM0_MEMBERS) && has(&["user_id", "created_at", "updated_at"]);
        let is_exact = is_exact && has_utc_offset("created_at") && !first.contains_key("metadata");
        return (is_exact || is_selected)
            .then(|| (Encoding::Mem0, None, 0.5, "memories in the array that mem0 uses".into()));
    }
    if has(&["content"]) {
        let is_exact = has_uuid
            && has_no_other_members(&GENERIC_MEMBERS)
            && has(&["type", "timestamp"])
            && has_utc_offset("timestamp");
        return (is_exact || is_selected).then(|| (Encoding::Generic, None, 0.5, "memories in a plain array".into()));
    }
    None
}

fn recognize_yaml(text: &str, name: &str) -> Option<Recognized> {
    let mut version = None;
    let (mut has_header, mut has_memories, mut is_sealed) = (false, false, false);
    for line in text.lines().filter(|l| !l.starts_with([' ', '\t', '-', '#'])) {
        let Some((key, value)) = line.split_once(':') else { continue };
        match key.trim().trim_matches(['"', '\'']) {
            "mif_version" => {
                let value = value.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
                version = Some(value.to_owned());
            }
            "export" | "export_meta" => has_header = true,
            "memories" => has_memories = true,
            "encryption" => is_sealed = true,
            _ => {}
        }
    }
    let is_named_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
    let is_sealed = is_sealed && text.contains("encrypted_payload");
    let is_certain = version.is_some() && (has_header || has_memories || is_sealed);
    let is_likely =
        is_named_yaml && (has_header && has_memories || is_sealed || name.ends_with(".mif.yaml") && version.is_some());
    let confidence = if is_certain { 1.0 } else { 0.9 };
    (is_certain || is_likely).then(|| (Encoding::Yaml, version, confidence, "a YAML document with mif_version".into()))
}

/// Detects YAML in flow style (braces, keys without quotes). The reader determines the version.
fn recognize_flow_yaml(text: &str, name: &str) -> Option<Recognized> {
    let is_named = name.ends_with(".mif.yaml") || name.ends_with(".mif.yml");
    let has_version = text.contains("mif_version:") || text.contains("memories:");
    let reason = "a YAML document in braces";
    (is_named && has_version).then(|| (Encoding::Yaml, None, 0.9, reason.to_owned()))
}

fn recognize_markdown(text: &str, is_selected: bool) -> Option<Recognized> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut keys = Vec::new();
    for line in rest.lines().take(20) {
        if line.trim_end() == "---" {
            keys.retain(|key| *key != super::encoding::ESCAPED_KEY);
            let is_exact = keys == ["type", "created_at"] || keys == ["type", "created_at", "tags"];
            let is_mif = is_exact || (is_selected && !keys.is_empty());
            return is_mif.then(|| (Encoding::Markdown, None, 0.5, "memories under headers of type and time".into()));
        }
        keys.push(line.split_once(':')?.0);
    }
    None
}
