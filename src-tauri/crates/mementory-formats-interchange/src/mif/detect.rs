//! Which members are documents of this format? By the members at the top of a document, in whatever encoding; by their
//! exact form for the three lesser forms, which other programs' files resemble.
use super::source::Form;
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_json::{decoded_head, keys_of};

/// Bytes looked at.
const HEAD: usize = 64 << 10;

/// One claim for each document. `asked` = the person named this format.
pub(super) fn detect(catalog: &Catalog, asked: bool) -> Result<Vec<Claim>, FormatError> {
    let mut claims = Vec::new();
    for member in catalog.members() {
        // What cannot be read is not claimed; a better suited place says why.
        let Ok(Some((form, version, confidence, reason))) = look(catalog, member, asked) else { continue };
        let role = if form.adapter().is_some() { Role::Memories } else { Role::Records };
        claims.push(Claim {
            version: version.or_else(|| form.adapter().map(str::to_owned)),
            confidence,
            reason,
            parts: vec![Part { member: member.id, role }],
            missing_parts: vec![],
        });
    }
    Ok(claims)
}

/// The form of a member that is one of ours.
pub(super) fn form(catalog: &Catalog, member: &Member, asked: bool) -> Result<Option<Form>, FormatError> {
    Ok(look(catalog, member, asked)?.map(|(form, ..)| form))
}

/// The form of bytes in memory.
pub(super) fn form_of_bytes(bytes: &[u8], name: &str) -> Option<Form> {
    seen(&bytes[..bytes.len().min(HEAD)], name, true).map(|(form, ..)| form)
}

type Found = (Form, Option<String>, f64, String);

fn look(catalog: &Catalog, member: &Member, asked: bool) -> Result<Option<Found>, FormatError> {
    let head = catalog.read(member, |r| decoded_head(r, HEAD).map_err(|e| FormatError::io(&member.place, e)))?;
    Ok(seen(&head, member.file_name(), asked))
}

fn seen(head: &[u8], name: &str, asked: bool) -> Option<Found> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let name = name.to_ascii_lowercase();
    if text.starts_with('{') {
        let first = text.lines().next().unwrap_or_default();
        // A header longer than what is looked at: the nodes of a graph stand in it.
        if !text.contains('\n')
            && after(text, "type").as_deref() == Some("header")
            && keys_of(text.as_bytes()).has("type")
            && after(text, "mif_version").is_some()
        {
            let version = after(text, "mif_version");
            return Some((Form::Jsonl, version, 1.0, "JSON lines with a header that says mif_version".into()));
        }
        if let Ok(line) = serde_json::from_str::<serde_json::Value>(first) {
            let has = |key: &str| line.get(key).is_some();
            if line["type"] == "header" && (has("mif_version") || has("export") || has("export_meta")) {
                let version = line["mif_version"].as_str().map(str::to_owned);
                return Some((Form::Jsonl, version, 1.0, "JSON lines with a header that says mif_version".into()));
            }
            let ours = line["type"].as_str().is_some_and(|t| super::sections::by_line(t).is_some()) && has("data");
            if ours && text.contains("\"mif_version\"") {
                // Reading says that the header is not where it must be.
                return Some((Form::Jsonl, None, 0.9, "JSON lines of this format, not in their order".into()));
            }
        }
        return object(text, asked);
    }
    if text.starts_with('[') {
        return array(text, asked);
    }
    yaml(text, &name).or_else(|| markdown(text, asked))
}

fn object(text: &str, asked: bool) -> Option<Found> {
    let keys = keys_of(text.as_bytes());
    let version = after(text, "mif_version");
    let found = |confidence, reason: &str| Some((Form::Json, version.clone(), confidence, reason.to_owned()));
    if keys.has("encryption.encrypted_payload") && (keys.has("mif_version") || keys.has("encryption.algorithm")) {
        return found(1.0, "an encrypted document with its key derivation");
    }
    if keys.has("mif_version") && ["export", "export_meta", "memories"].iter().any(|k| keys.has(k)) {
        return found(1.0, "a document that says mif_version");
    }
    // Keys in another order: the version comes behind everything.
    let header = |h: &str| ["id", "created_at", "user_id"].iter().all(|k| keys.has(&format!("{h}.{k}")));
    if header("export_meta") || (header("export") && (keys.has("memories") || keys.has("graph"))) {
        return found(0.9, "a header of an export of memories");
    }
    if keys.has("mif_version") {
        return found(0.9, "a document that says mif_version");
    }
    let results = asked && (keys.has("results.memory") || keys.has("memories.memory"));
    results.then(|| (Form::Mem0, None, 0.5, "an answer with memories, as mem0 gives them".into()))
}

/// The string behind a key, in text that may be cut off.
fn after(text: &str, key: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("\"{key}\""))?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let value =
        value.strip_prefix('"').map_or_else(|| value.split([',', '}', '\n']).next(), |v| v.split('"').next())?;
    let value = value.trim();
    (!value.is_empty() && value.len() < 20).then(|| value.to_owned())
}

/// Members that the reference program writes into an element of its mem0 form, and of its plain form.
const MEM0: [&str; 7] = ["id", "memory", "user_id", "agent_id", "created_at", "updated_at", "metadata"];
const GENERIC: [&str; 6] = ["id", "content", "type", "tags", "timestamp", "metadata"];

/// Arrays look alike everywhere: only the exact form of the reference program is claimed unasked, and weakly.
fn array(text: &str, asked: bool) -> Option<Found> {
    let mut elements = serde_json::Deserializer::from_str(text.get(1..)?).into_iter::<serde_json::Value>();
    let first = match elements.next()? {
        Ok(first) => first,
        // A first memory that is longer than what is looked at.
        Err(error) if error.is_eof() && asked => {
            let keys = keys_of(text.as_bytes());
            let known = [("memory", Form::Mem0), ("content", Form::Generic)];
            let (_, form) = known.into_iter().find(|(key, _)| keys.has(key))?;
            return Some((form, None, 0.5, "memories in an array".into()));
        }
        Err(_) => return None,
    };
    let first = first.as_object()?;
    let only = |allowed: &[&str]| first.keys().all(|k| allowed.contains(&k.as_str()));
    let has = |needed: &[&str]| needed.iter().all(|k| first.get(*k).is_some_and(|v| v.is_string()));
    let uuid = first.get("id").and_then(|v| v.as_str()).is_some_and(mementory_format::is_uuid);
    // RFC 3339 with a numeric offset, which is how it writes UTC here and nobody else does.
    let stamped = |k: &str| first.get(k).and_then(|v| v.as_str()).is_some_and(|t| t.ends_with("+00:00"));
    if has(&["memory"]) {
        let exact = uuid && only(&MEM0) && has(&["user_id", "created_at", "updated_at"]);
        let exact = exact && stamped("created_at") && !first.contains_key("metadata");
        return (exact || asked).then(|| (Form::Mem0, None, 0.5, "memories in the array that mem0 uses".into()));
    }
    if has(&["content"]) {
        let exact = uuid && only(&GENERIC) && has(&["type", "timestamp"]) && stamped("timestamp");
        return (exact || asked).then(|| (Form::Generic, None, 0.5, "memories in a plain array".into()));
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
    (certain || likely).then(|| (Form::Yaml, version, confidence, "a YAML document that says mif_version".into()))
}

fn markdown(text: &str, asked: bool) -> Option<Found> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut keys = Vec::new();
    for line in rest.lines().take(20) {
        if line.trim_end() == "---" {
            keys.retain(|key| *key != super::adapters::ESCAPED);
            let exact = keys == ["type", "created_at"] || keys == ["type", "created_at", "tags"];
            let found = exact || (asked && !keys.is_empty());
            return found.then(|| (Form::Markdown, None, 0.5, "memories under headers of type and time".into()));
        }
        keys.push(line.split_once(':')?.0);
    }
    None
}
