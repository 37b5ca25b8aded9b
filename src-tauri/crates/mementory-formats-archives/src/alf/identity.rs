//! Reads identity, principals, credentials and attachment rows as records (spec §3.2–§3.4, §3.1.9), and writes edits of
//! these records back into their JSON.
use super::wire::{Remark, folded_id};
use mementory_format::{NOT_EXPORTED, plain_secrets, without_tokens};
use mementory_json::Tree;
use mementory_model::{Kind, Record, RecordKey, Timestamp, Verbatim};

fn text<'t>(tree: &'t Tree, path: &[&str]) -> Option<&'t str> {
    path.iter().try_fold(tree, |t, key| t.get(key))?.as_str()
}

fn time(tree: &Tree, key: &str) -> Option<Timestamp> {
    text(tree, &[key]).and_then(Timestamp::parse)
}

/// Path, heading and text of each prose block of an identity, in the order of the document.
fn prose_blocks(doc: &Tree) -> Vec<(Vec<String>, String, String)> {
    let mut out = Vec::new();
    let Some(Tree::Object(prose)) = doc.get("prose") else { return out };
    for (key, value) in prose {
        match value {
            Tree::Text(t) if !t.is_empty() => out.push((vec![key.clone()], heading(key), t.clone())),
            Tree::Object(blocks) if key == "custom_blocks" => out.extend(blocks.iter().filter_map(|(name, block)| {
                let t = block.as_str().filter(|t| !t.is_empty())?;
                Some((vec![key.clone(), name.clone()], heading(name), t.to_owned()))
            })),
            _ => {}
        }
    }
    out
}

fn heading(key: &str) -> String {
    let mut words = key.replace('_', " ");
    if let Some(first) = words.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    format!("## {words}")
}

fn identity_text(doc: &Tree) -> String {
    let blocks = prose_blocks(doc);
    if blocks.is_empty() {
        let mut lines: Vec<String> = text(doc, &["structured", "role"]).map(str::to_owned).into_iter().collect();
        if let Some(Tree::Array(goals)) = doc.get("structured").and_then(|s| s.get("goals")) {
            lines.extend(goals.iter().filter_map(Tree::as_str).map(|g| format!("- {g}")));
        }
        return lines.join("\n");
    }
    blocks.iter().map(|(_, head, body)| format!("{head}\n\n{body}")).collect::<Vec<_>>().join("\n\n")
}

/// Returns the identity object of an identity document. One of the specification's examples wraps this object in
/// another one, contrary to the schema.
pub(super) fn document(tree: &Tree) -> &Tree {
    let inner_identity =
        tree.get("identity").filter(|inner_identity| tree.get("id").is_none() && inner_identity.get("id").is_some());
    inner_identity.unwrap_or(tree)
}

/// Converts the identity document to a profile with this key.
pub(super) fn identity(doc_text: &str, doc: &Tree, key: RecordKey) -> Record {
    let mut record = Record::new(Kind::Profile, key, identity_text(doc));
    record.origin_id = text(doc, &["id"]).map(str::to_owned);
    record.record_type = Some("identity".into());
    record.title = text(doc, &["structured", "names", "primary"]).map(str::to_owned);
    record.times.updated = time(doc, "updated_at");
    record.source.platform = text(doc, &["source_format"]).unwrap_or_default().to_owned();
    if let Some(Tree::Number(version)) = doc.get("version") {
        record.fields.insert("version".into(), version.clone().into());
    }
    record.verbatim = Some(Verbatim::json(doc_text));
    record
}

fn principal_text(doc: &Tree) -> String {
    if let Some(prose) = text(doc, &["profile", "prose", "user_profile"]).filter(|t| !t.is_empty()) {
        return prose.to_owned();
    }
    let Some(structured) = doc.get("profile").and_then(|p| p.get("structured")) else { return String::new() };
    let rows = [
        ("Name", text(structured, &["name"])),
        ("Time zone", text(structured, &["timezone"])),
        ("Locale", text(structured, &["locale"])),
        ("Role", text(structured, &["work_context", "role"])),
        ("Company", text(structured, &["work_context", "company"])),
    ];
    let rows = rows.into_iter().filter_map(|(k, v)| Some(format!("{k}: {}", v.filter(|v| !v.is_empty())?)));
    rows.collect::<Vec<_>>().join("\n")
}

/// Converts a principal to a profile.
pub(super) fn principal(element: &str, doc: &Tree, key: RecordKey, remarks: &mut Vec<Remark>) -> Record {
    let mut record = Record::new(Kind::Profile, key, principal_text(doc));
    record.origin_id = text(doc, &["id"]).map(str::to_owned);
    record.record_type = Some("principal".into());
    record.title = text(doc, &["profile", "structured", "name"]).map(str::to_owned);
    record.times.updated = doc.get("profile").and_then(|p| time(p, "updated_at"));
    record.source.platform = text(doc, &["profile", "source_format"]).unwrap_or_default().to_owned();
    if let Some(kind) = text(doc, &["principal_type"]) {
        if !["human", "agent"].contains(&kind) {
            remarks.push(("unknown_value", "principal_type".into()));
        }
        record.fields.insert("principal_type".into(), kind.into());
    }
    if let Some(id) = text(doc, &["profile", "principal_id"])
        && Some(folded_id(id)) != record.origin_id.as_deref().map(folded_id)
    {
        remarks.push(("principal_id_differs", "profile.principal_id".into()));
    }
    record.verbatim = Some(Verbatim::json(element));
    record
}

/// Converts a credential. Only the record's verbatim contains the payload; its text, title and fields never do.
pub(super) fn credential(element: &str, doc: &Tree, key: RecordKey, remarks: &mut Vec<Remark>) -> Record {
    const CREDENTIAL_TYPES: [&str; 7] =
        ["api_key", "oauth_token", "webhook_secret", "session_token", "ssh_key", "certificate", "custom"];
    let mut record = Record::new(Kind::Credential, key, without_tokens(text(doc, &["service"]).unwrap_or_default()));
    record.origin_id = text(doc, &["id"]).map(str::to_owned);
    record.title = text(doc, &["label"]).map(without_tokens);
    record.record_type = text(doc, &["credential_type"]).map(str::to_owned);
    record.times.created = time(doc, "created_at");
    record.times.updated = time(doc, "updated_at");
    record.times.valid_to = time(doc, "expires_at");
    if let Some(Tree::Array(tags)) = doc.get("tags") {
        record.tags = tags.iter().filter_map(Tree::as_str).map(without_tokens).collect();
    }
    if record.record_type.as_deref().is_some_and(|t| !CREDENTIAL_TYPES.contains(&t)) {
        remarks.push(("unknown_value", "credential_type".into()));
    }
    let payload = text(doc, &["encrypted_payload"]).unwrap_or_default();
    let is_empty = payload.is_empty() || payload == NOT_EXPORTED;
    record.fields.insert("secret_inside".into(), (!is_empty).into());
    record.verbatim = Some(Verbatim::json(element));
    if !plain_secrets(&record).is_empty() {
        remarks.push(("credential_looks_unencrypted", "encrypted_payload".into()));
    }
    record
}

/// Converts a row of the attachment index. The file name becomes the title, so that a search finds it. The file itself
/// is imported separately.
pub(super) fn attachment(element: &str, doc: &Tree, key: RecordKey) -> Record {
    let name = text(doc, &["filename"]).unwrap_or_default();
    let mut record = Record::new(Kind::Attachment, key, "");
    record.origin_id = text(doc, &["id"]).map(str::to_owned);
    record.title = Some(name.to_owned()).filter(|n| !n.is_empty());
    record.record_type = Some("artifact".into());
    if let Some(path) = text(doc, &["source_path"]) {
        record.fields.insert("source_path".into(), path.into());
    }
    record.verbatim = Some(Verbatim::json(element));
    record
}

/// The JSON of an edited profile, credential or attachment row. Unchanged fields keep their text. None if the verbatim
/// is not JSON.
pub(super) fn patch(record: &Record, verbatim: &str) -> Option<String> {
    let mut doc = Tree::parse(verbatim, 512).ok()?;
    let key = record.key.clone();
    let set_text = |value: &Option<String>| Tree::Text(value.clone().unwrap_or_default());
    match (record.kind, record.record_type.as_deref()) {
        (Kind::Profile, Some("identity")) => {
            let base = identity(verbatim, &doc, key.clone());
            if base.text != record.text {
                set_identity_text(&mut doc, &record.text);
            }
            if base.title != record.title {
                set_path(&mut doc, &["structured", "names", "primary"], set_text(&record.title));
            }
            increment_version(&mut doc, record.times.updated);
        }
        (Kind::Profile, _) => {
            let base = principal(verbatim, &doc, key, &mut vec![]);
            if base.text != record.text {
                set_path(&mut doc, &["profile", "prose", "user_profile"], Tree::Text(record.text.clone()));
            }
            if base.title != record.title {
                set_path(&mut doc, &["profile", "structured", "name"], set_text(&record.title));
            }
            if let Tree::Object(members) = &mut doc
                && let Some((_, profile)) = members.iter_mut().rev().find(|(k, _)| k == "profile")
            {
                increment_version(profile, record.times.updated);
            }
        }
        (Kind::Credential, _) => {
            let base = credential(verbatim, &doc, key, &mut vec![]);
            if base.text != record.text {
                doc.set("service", Tree::Text(record.text.clone()));
            }
            if base.title != record.title {
                doc.set("label", set_text(&record.title));
            }
            if base.tags != record.tags {
                doc.set("tags", Tree::Array(record.tags.iter().cloned().map(Tree::Text).collect()));
            }
        }
        _ => doc.set("filename", set_text(&record.title)),
    }
    let mut out = String::new();
    doc.write(&mut out);
    Some(out)
}

/// Increments the version, which spec §3.2.3 requires for every change, and sets the time of the update.
fn increment_version(doc: &mut Tree, updated: Option<Timestamp>) {
    if let Some(Tree::Number(version)) = doc.get("version") {
        let next = version.parse::<u64>().map_or(1, |v| v.saturating_add(1));
        doc.set("version", Tree::Number(next.to_string()));
    }
    if let Some(updated) = updated {
        doc.set("updated_at", Tree::Text(updated.to_rfc3339()));
    }
}

/// Splits an edited text at the headings of the prose blocks and updates the blocks. If the headings no longer match,
/// the whole text goes into `identity_profile` and all other blocks become empty, so that the agent reads exactly the
/// edited text.
fn set_identity_text(doc: &mut Tree, edited: &str) {
    let blocks = prose_blocks(doc);
    let mut bodies = Vec::new();
    let mut remainder = edited;
    for (i, (_, head, _)) in blocks.iter().enumerate() {
        let start = format!("{head}\n\n");
        let Some(body) = remainder.strip_prefix(start.as_str()) else { break };
        let end = blocks.get(i + 1).map_or(Some(body.len()), |(_, next, _)| body.find(&format!("\n\n{next}\n\n")));
        let Some(end) = end else { break };
        bodies.push(body[..end].to_owned());
        remainder = body.get(end + 2..).unwrap_or("");
    }
    let is_matched = !blocks.is_empty() && bodies.len() == blocks.len();
    for (i, (path, _, _)) in blocks.iter().enumerate() {
        let path: Vec<&str> = std::iter::once("prose").chain(path.iter().map(String::as_str)).collect();
        let body = if is_matched { bodies[i].clone() } else { String::new() };
        set_path(doc, &path, Tree::Text(body));
    }
    if !is_matched {
        set_path(doc, &["prose", "identity_profile"], Tree::Text(edited.to_owned()));
    }
}

/// Sets the value at a path. Creates missing objects.
pub(super) fn set_path(doc: &mut Tree, path: &[&str], value: Tree) {
    let mut at = doc;
    let Some((last, parents)) = path.split_last() else { return };
    for key in parents {
        if !matches!(at.get(key), Some(Tree::Object(_))) {
            at.set(key, Tree::Object(vec![]));
        }
        let Tree::Object(members) = at else { return };
        let Some((_, next)) = members.iter_mut().rev().find(|(k, _)| k == key) else { return };
        at = next;
    }
    at.set(last, value);
}
