//! Converts the profiles of a workspace to the identity document and to an element of the principals document (spec
//! §3.2, §3.3, §3.2.6), and back. The extension slot contains the original records, each with a digest of its text in
//! the document. If the digest no longer matches, another program changed the text, and the new text is imported. Other
//! changes are reported as issues.
use super::partitions::stable_v5;
use super::sealed_secrets::sha256;
use mementory_format::StoredRecord;
use mementory_format::extension as slot_names;
use mementory_formats_agents::openclaw::{read::labelled_value, write::current_text};
use mementory_json::{
    Tree,
    canonical::{Style, canonical},
};
use mementory_model::{Record, Verbatim};

/// Prose blocks that have a separate member in `prose`. All other blocks are in `custom_blocks`.
const NAMED_BLOCKS: [&str; 3] = ["soul", "identity_profile", "operating_instructions"];

fn text_tree(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}

fn object<const N: usize>(members: [(&str, Tree); N]) -> Tree {
    Tree::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}

fn to_json(tree: &Tree) -> String {
    let mut out = String::new();
    tree.write(&mut out);
    out
}

/// Name of the agent: the name stated in one of its files, otherwise the title of the first profile that has one.
pub(super) fn agent_name(profiles: &[StoredRecord]) -> Option<String> {
    let profile_of_type = |block: &str| profiles.iter().find(|p| p.record.record_type.as_deref() == Some(block));
    let order = ["identity_profile", "soul", "aieos"];
    let files = || order.into_iter().filter_map(profile_of_type).filter_map(|p| p.record.verbatim.as_ref());
    let stated_name = files().find_map(|v| v.text.lines().find_map(|line| labelled_value(line, "Name")));
    let title_of_first_profile = || {
        ["aieos", "soul", "identity_profile"]
            .into_iter()
            .filter_map(profile_of_type)
            .find_map(|p| p.record.title.clone())
    };
    stated_name.or_else(title_of_first_profile)
}

fn is_aieos(record: &Record) -> bool {
    record.record_type.as_deref() == Some("aieos")
}

/// Path of a profile's text in the identity document.
fn identity_path(record: &Record) -> Vec<&str> {
    match record.record_type.as_deref().unwrap_or("other") {
        "aieos" => vec!["raw_source", "aieos"],
        block if NAMED_BLOCKS.contains(&block) => vec!["prose", block],
        block => vec!["prose", "custom_blocks", block],
    }
}

/// The text of `identity.json`. Its `updated_at` is the newest time that the files state, or 1970 if they state none.
/// It is never the current time, so that an unchanged vault produces the same bytes.
pub(super) fn identity(profiles: &[StoredRecord], runtime: &str, agent: &str, version: u64) -> String {
    let aieos = profiles.iter().find(|p| is_aieos(&p.record));
    let document = aieos.and_then(|p| Tree::parse(&p.record.verbatim.as_ref()?.text, 512).ok());
    let mut structured = document.as_ref().map_or_else(|| Tree::Object(vec![]), super::aieos::structured);
    if structured.get("names").is_none()
        && let Some(name) = agent_name(profiles)
    {
        structured.set("names", object([("primary", text_tree(&name))]));
    }
    let updated = profiles.iter().filter_map(|p| p.record.times.updated.or(p.record.times.created)).max();
    let updated = updated.map_or_else(|| "1970-01-01T00:00:00Z".to_owned(), |t| t.to_rfc3339());
    let mut doc = object([
        ("id", Tree::Text(stable_v5(&format!("identity:{agent}")).to_string())),
        ("agent_id", text_tree(agent)),
        ("version", Tree::Number(version.to_string())),
        ("updated_at", Tree::Text(updated)),
        ("structured", structured),
        ("prose", Tree::Object(vec![])),
        ("source_format", text_tree(if aieos.is_some() { "aieos" } else { runtime })),
        ("raw_source", Tree::Object(vec![])),
    ]);
    let mut slots = Vec::new();
    for stored in profiles {
        let (value, text) = match (is_aieos(&stored.record), &document) {
            (true, Some(document)) => (document.clone(), to_json(document)),
            _ => {
                let text = current_text(stored);
                (Tree::Text(text.clone()), text)
            }
        };
        super::identity::set_path(&mut doc, &identity_path(&stored.record), value);
        slots.push(object([("sha256", Tree::Text(sha256(text.as_bytes()))), ("record", slot(stored))]));
    }
    let document = Tree::Text(identity_digest(&doc));
    let our_slot = object([("v", Tree::Number("1".into())), ("document", document), ("records", Tree::Array(slots))]);
    super::identity::set_path(&mut doc, &["raw_source", slot_names::VENDOR], our_slot);
    to_json(&doc)
}

/// A row of `principals.json` for the user of the workspace.
pub(super) fn principal(stored: &StoredRecord, runtime: &str, agent: &str) -> String {
    let record = &stored.record;
    let id = stable_v5(&format!("principal:{agent}:{}", record.key.value)).to_string();
    let updated = record.times.updated.map_or_else(|| "1970-01-01T00:00:00Z".to_owned(), |t| t.to_rfc3339());
    let mut structured = object([("principal_type", text_tree("human"))]);
    for (key, value) in
        [("name", record.title.as_deref()), ("timezone", record.fields.get("timezone").and_then(|zone| zone.as_str()))]
    {
        if let Some(value) = value {
            structured.set(key, text_tree(value));
        }
    }
    let profile = object([
        ("id", Tree::Text(stable_v5(&format!("profile:{id}")).to_string())),
        ("agent_id", text_tree(agent)),
        ("principal_id", text_tree(&id)),
        ("version", Tree::Number("1".into())),
        ("updated_at", Tree::Text(updated)),
        ("structured", structured),
        ("prose", object([("user_profile", Tree::Text(current_text(stored)))])),
        ("source_format", text_tree(runtime)),
    ]);
    to_json(&object([
        ("id", text_tree(&id)),
        ("principal_type", text_tree("human")),
        ("agent_id", Tree::Null),
        ("profile", profile),
        (slot_names::VENDOR, slot(stored)),
    ]))
}

/// The record as JSON, with an edit applied to its verbatim.
fn slot(stored: &StoredRecord) -> Tree {
    let mut record = stored.record.clone();
    if let Some(verbatim) = record.verbatim.as_mut().filter(|_| stored.edited && !is_aieos(&stored.record)) {
        verbatim.text = current_text(stored);
    }
    let text = serde_json::to_string(&record).unwrap_or_else(|_| "null".into());
    Tree::parse(&text, 512).unwrap_or(Tree::Null)
}

/// Digest of an identity without our extension slot. It does not depend on the order of the members.
fn identity_digest(doc: &Tree) -> String {
    let mut doc = doc.clone();
    if let Some(mut raw) = doc.get("raw_source").cloned() {
        raw.remove(slot_names::VENDOR);
        raw.remove(slot_names::FORMER_VENDOR);
        doc.set("raw_source", raw);
    }
    sha256(canonical(&doc, Style::PYTHON).unwrap_or_default().as_bytes())
}

/// The result of [`restore`].
pub(super) struct Restored {
    /// Records of the identity, with their current texts.
    pub records: Vec<Record>,
    /// True if the document has text blocks that do not belong to these records.
    pub has_other_blocks: bool,
    /// True if another program changed a structured field, but no text. If a text changed too, the change of the
    /// structured field is not detected.
    pub has_changed_fields: bool,
}

/// Restores the records of an identity that we wrote. None for any other identity.
pub(super) fn restore(doc: &Tree) -> Option<Restored> {
    let Some(Tree::Array(slots)) = slot_names::vendor_slot(doc.get("raw_source")?)?.get("records") else { return None };
    let (mut records, mut paths, mut texts_changed) = (Vec::new(), Vec::new(), false);
    for slot in slots {
        let mut record: Record = serde_json::from_str(&to_json(slot.get("record")?)).ok()?;
        let path: Vec<String> = identity_path(&record).into_iter().map(str::to_owned).collect();
        let value = path.iter().try_fold(doc, |tree, key| tree.get(key));
        let digest = slot.get("sha256").and_then(Tree::as_str)?;
        match value {
            Some(Tree::Text(text)) => {
                if sha256(text.as_bytes()) != digest {
                    set_text(&mut record, text);
                    texts_changed = true;
                }
            }
            // An AIEOS document is restored unchanged, because changes in its structured fields cannot be written back
            // into it.
            Some(_) => {}
            None => {
                texts_changed = true;
                continue;
            }
        }
        paths.push(path);
        records.push(record);
    }
    let is_known_path = |path: &[&str]| paths.iter().any(|p| p == path);
    let has_other_blocks = match doc.get("prose") {
        Some(Tree::Object(prose)) => prose.iter().any(|(key, value)| match value {
            Tree::Object(blocks) => {
                blocks.iter().any(|(block, _)| !is_known_path(&["prose", key.as_str(), block.as_str()]))
            }
            _ => !is_known_path(&["prose", key.as_str()]),
        }),
        _ => false,
    };
    let digest_before = slot_names::vendor_slot(doc.get("raw_source")?)?.get("document").and_then(Tree::as_str);
    let has_changed_fields =
        !texts_changed && !has_other_blocks && digest_before != Some(identity_digest(doc).as_str());
    Some(Restored { records, has_other_blocks, has_changed_fields })
}

/// Replaces text and verbatim of the record with a text from another program.
fn set_text(record: &mut Record, text: &str) {
    record.text = text.trim().to_owned();
    record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: text.to_owned() });
}

/// Applies the text of a changed principal to the record of the user profile.
pub(super) fn apply_principal_text(record: &mut Record, doc: &Tree) {
    let prose = ["profile", "prose", "user_profile"].iter().try_fold(doc, |tree, key| tree.get(key));
    if record.record_type.as_deref() == Some("user_profile")
        && let (Some(prose), Some(verbatim)) = (prose.and_then(Tree::as_str), &record.verbatim)
        && prose != verbatim.text
    {
        set_text(record, prose);
    }
}
