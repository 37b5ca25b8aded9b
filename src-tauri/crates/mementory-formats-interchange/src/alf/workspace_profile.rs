//! The profiles of a workspace as identity and principal (spec §3.2, §3.3, §3.2.6), and back. The documents say to other
//! programs what the files say; beside it ride the records as they are, each with a digest of what it became, so that a
//! change of a text that was made elsewhere is seen and taken; a change of anything else is told.
use super::partitions::stable_v5;
use super::sealed::sha256;
use mementory_format::StoredRecord;
use mementory_formats_vendor::openclaw::{read::named, write::text_of};
use mementory_json::Tree;
use mementory_model::{Record, Verbatim};

/// Blocks of the prose that have a member of their own; the others are custom.
const BLOCKS: [&str; 3] = ["soul", "identity_profile", "operating_instructions"];

fn word(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}

fn object<const N: usize>(members: [(&str, Tree); N]) -> Tree {
    Tree::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}

fn write(tree: &Tree) -> String {
    let mut out = String::new();
    tree.write(&mut out);
    out
}

/// What the agent is called: the name that a file states, else the title of the first that has one.
pub(super) fn name(profiles: &[StoredRecord]) -> Option<String> {
    let of = |block: &str| profiles.iter().find(|p| p.record.record_type.as_deref() == Some(block));
    let order = ["identity_profile", "soul", "aieos"];
    let files = || order.into_iter().filter_map(of).filter_map(|p| p.record.verbatim.as_ref());
    let stated = files().find_map(|v| v.text.lines().find_map(|line| named(line, "Name")));
    let titled =
        || ["aieos", "soul", "identity_profile"].into_iter().filter_map(of).find_map(|p| p.record.title.clone());
    stated.or_else(titled)
}

fn is_aieos(record: &Record) -> bool {
    record.record_type.as_deref() == Some("aieos")
}

/// Where the text of a profile stands in the identity.
fn path_of(record: &Record) -> Vec<&str> {
    match record.record_type.as_deref().unwrap_or("other") {
        "aieos" => vec!["raw_source", "aieos"],
        block if BLOCKS.contains(&block) => vec!["prose", block],
        block => vec!["prose", "custom_blocks", block],
    }
}

/// `identity.json`. Its times are those that the files state; without any it says 1970 rather than a time of our own, so
/// that nothing changes by itself.
pub(super) fn identity(profiles: &[StoredRecord], runtime: &str, agent: &str, version: u64) -> String {
    let aieos = profiles.iter().find(|p| is_aieos(&p.record));
    let document = aieos.and_then(|p| Tree::parse(&p.record.verbatim.as_ref()?.text, 512).ok());
    let mut structured = document.as_ref().map_or_else(|| Tree::Object(vec![]), super::aieos::structured);
    if structured.get("names").is_none()
        && let Some(name) = name(profiles)
    {
        structured.set("names", object([("primary", word(&name))]));
    }
    let updated = profiles.iter().filter_map(|p| p.record.times.updated.or(p.record.times.created)).max();
    let updated = updated.map_or_else(|| "1970-01-01T00:00:00Z".to_owned(), |t| t.to_rfc3339());
    let mut doc = object([
        ("id", Tree::Text(stable_v5(&format!("identity:{agent}")).to_string())),
        ("agent_id", word(agent)),
        ("version", Tree::Number(version.to_string())),
        ("updated_at", Tree::Text(updated)),
        ("structured", structured),
        ("prose", Tree::Object(vec![])),
        ("source_format", word(if aieos.is_some() { "aieos" } else { runtime })),
        ("raw_source", Tree::Object(vec![])),
    ]);
    let mut slots = Vec::new();
    for stored in profiles {
        let (value, text) = match (is_aieos(&stored.record), &document) {
            (true, Some(document)) => (document.clone(), write(document)),
            _ => {
                let text = text_of(stored);
                (Tree::Text(text.clone()), text)
            }
        };
        super::identity::set_path(&mut doc, &path_of(&stored.record), value);
        slots.push(object([("sha256", Tree::Text(sha256(text.as_bytes()))), ("record", slot(stored))]));
    }
    let document = Tree::Text(said(&doc));
    let ours = object([("v", Tree::Number("1".into())), ("document", document), ("records", Tree::Array(slots))]);
    super::identity::set_path(&mut doc, &["raw_source", "keepsake"], ours);
    write(&doc)
}

/// A row of `principals.json`: the person that the workspace is about.
pub(super) fn principal(stored: &StoredRecord, runtime: &str, agent: &str) -> String {
    let record = &stored.record;
    let id = stable_v5(&format!("principal:{agent}:{}", record.key.value)).to_string();
    let updated = record.times.updated.map_or_else(|| "1970-01-01T00:00:00Z".to_owned(), |t| t.to_rfc3339());
    let mut structured = object([("principal_type", word("human"))]);
    for (key, value) in
        [("name", record.title.as_deref()), ("timezone", record.fields.get("timezone").and_then(|zone| zone.as_str()))]
    {
        if let Some(value) = value {
            structured.set(key, word(value));
        }
    }
    let profile = object([
        ("id", Tree::Text(stable_v5(&format!("profile:{id}")).to_string())),
        ("agent_id", word(agent)),
        ("principal_id", word(&id)),
        ("version", Tree::Number("1".into())),
        ("updated_at", Tree::Text(updated)),
        ("structured", structured),
        ("prose", object([("user_profile", Tree::Text(text_of(stored)))])),
        ("source_format", word(runtime)),
    ]);
    write(&object([
        ("id", word(&id)),
        ("principal_type", word("human")),
        ("agent_id", Tree::Null),
        ("profile", profile),
        ("keepsake", slot(stored)),
    ]))
}

/// The record with the text that its file has now.
fn slot(stored: &StoredRecord) -> Tree {
    let mut record = stored.record.clone();
    if let Some(verbatim) = record.verbatim.as_mut().filter(|_| stored.edited && !is_aieos(&stored.record)) {
        verbatim.text = text_of(stored);
    }
    let text = serde_json::to_string(&record).unwrap_or_else(|_| "null".into());
    Tree::parse(&text, 512).unwrap_or(Tree::Null)
}

/// Digest of an identity without our own member, whatever the order of its members.
fn said(doc: &Tree) -> String {
    let mut doc = doc.clone();
    if let Some(mut raw) = doc.get("raw_source").cloned() {
        raw.remove("keepsake");
        doc.set("raw_source", raw);
    }
    sha256(crate::zaxy::canonical::canonical(&doc).unwrap_or_default().as_bytes())
}

/// What an identity of ours holds.
pub(super) struct Restored {
    /// Its records, with the text that is there now.
    pub records: Vec<Record>,
    /// The document has blocks of text that are none of them.
    pub more: bool,
    /// Something that is no text of a file was changed elsewhere.
    pub changed: bool,
}

/// What is inside an identity of ours. None = not ours.
pub(super) fn restore(doc: &Tree) -> Option<Restored> {
    let Some(Tree::Array(slots)) = doc.get("raw_source")?.get("keepsake")?.get("records") else { return None };
    let (mut records, mut paths, mut texts) = (Vec::new(), Vec::new(), false);
    for slot in slots {
        let mut record: Record = serde_json::from_str(&write(slot.get("record")?)).ok()?;
        let path: Vec<String> = path_of(&record).into_iter().map(str::to_owned).collect();
        let value = path.iter().try_fold(doc, |tree, key| tree.get(key));
        let digest = slot.get("sha256").and_then(Tree::as_str)?;
        match value {
            Some(Tree::Text(text)) => {
                if sha256(text.as_bytes()) != digest {
                    take(&mut record, text);
                    texts = true;
                }
            }
            // An AIEOS document comes back as it was: what was changed in the structured fields has no way into it.
            Some(_) => {}
            None => {
                texts = true;
                continue;
            }
        }
        paths.push(path);
        records.push(record);
    }
    let known = |path: &[&str]| paths.iter().any(|p| p == path);
    let more = match doc.get("prose") {
        Some(Tree::Object(prose)) => prose.iter().any(|(key, value)| match value {
            Tree::Object(blocks) => blocks.iter().any(|(block, _)| !known(&["prose", key.as_str(), block.as_str()])),
            _ => !known(&["prose", key.as_str()]),
        }),
        _ => false,
    };
    let before = doc.get("raw_source")?.get("keepsake")?.get("document").and_then(Tree::as_str);
    let changed = !texts && !more && before != Some(said(doc).as_str());
    Some(Restored { records, more, changed })
}

/// What another program wrote instead: the file is this text now.
fn take(record: &mut Record, text: &str) {
    record.text = text.trim().to_owned();
    record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: text.to_owned() });
}

/// A person's record, with what another program made of its text.
pub(super) fn restore_person(record: &mut Record, doc: &Tree) {
    let said = ["profile", "prose", "user_profile"].iter().try_fold(doc, |tree, key| tree.get(key));
    if record.record_type.as_deref() == Some("user_profile")
        && let (Some(said), Some(verbatim)) = (said.and_then(Tree::as_str), &record.verbatim)
        && said != verbatim.text
    {
        take(record, said);
    }
}
