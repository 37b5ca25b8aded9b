//! Envelopes: documents without their records. An envelope preserves the original order and spelling of the members, so
//! that an unchanged document can be written exactly as it was imported.
use super::{
    bundle::STORE_LISTS,
    document::{self, Document},
    hash::Checksum,
};
use mementory_json::{Tree, write_string};
use mementory_model::Bounds;
use std::collections::HashMap;

/// JSON of an object from raw members.
pub(super) fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("{");
    for (i, (key, raw)) in members.enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_string(key, &mut out);
        out.push(':');
        out.push_str(raw);
    }
    out.push('}');
    out
}

/// A store without its records. The memories are replaced with their checksum, and each other list with its number of
/// elements. The writer compares these values to detect changes. `checksum` is the checksum of the memories, if it is
/// known.
pub(super) fn store(doc: &Document, checksum: Option<&str>, bounds: Bounds) -> String {
    let compute = || {
        let mut checksum = Checksum::default();
        for raw in doc.list("memories") {
            checksum.add(&Tree::from_raw(raw, bounds).unwrap_or(Tree::Null));
        }
        checksum.finish().unwrap_or_default()
    };
    let sum = format!("\"{}\"", checksum.map_or_else(compute, str::to_owned));
    let counts: Vec<String> = STORE_LISTS.iter().map(|l| doc.list(l).len().to_string()).collect();
    let members = doc.members.iter().map(|(key, raw)| {
        let shown_text = match STORE_LISTS.iter().position(|l| l == key).filter(|_| raw.get().starts_with('[')) {
            Some(0) => sum.as_str(),
            Some(n) => counts[n].as_str(),
            None => raw.get(),
        };
        (key.as_ref(), shown_text)
    });
    object(members)
}

/// The envelope of a store without its signature.
pub(super) fn without_signature(envelope: &str) -> Option<String> {
    let doc = Document::open(envelope, "envelope").ok()?;
    let members = doc.members.iter().filter(|(key, _)| key != "signature");
    Some(object(members.map(|(key, raw)| (key.as_ref(), raw.get()))))
}

/// An embeddings file with each embedding replaced by its id.
pub(super) fn embeddings(doc: &Document, bounds: Bounds) -> String {
    let id = |raw: &serde_json::value::RawValue| {
        let embedding = Tree::from_raw(raw, bounds).ok()?;
        Some(Tree::Text(document::id(&embedding, "id")?.to_owned()))
    };
    let mut ids = String::new();
    Tree::Array(doc.list("embeddings").into_iter().map(|raw| id(raw).unwrap_or(Tree::Null)).collect()).write(&mut ids);
    let members = doc.members.iter().map(|(key, raw)| {
        let is_list = key == "embeddings" && raw.get().starts_with('[');
        (key.as_ref(), if is_list { ids.as_str() } else { raw.get() })
    });
    object(members)
}

/// The index of each embedding in the embeddings file, by its id.
pub(super) fn embedding_order(envelope: Option<&Tree>) -> HashMap<String, u64> {
    let Some(Tree::Array(ids)) = envelope.and_then(|f| f.get("embeddings")) else { return HashMap::new() };
    ids.iter().zip(0..).filter_map(|(id, n)| Some((id.as_str()?.to_owned(), n))).collect()
}

/// Source text of a conversation: its index entry, its file without the messages, and the path of the file.
pub(super) fn conversation(index: Option<&str>, file: Option<&str>, path: Option<&str>) -> String {
    let mut quoted = String::new();
    write_string(path.unwrap_or_default(), &mut quoted);
    let members = [("index", index), ("file", file), ("path", path.map(|_| quoted.as_str()))];
    object(members.into_iter().filter_map(|(key, raw)| Some((key, raw?))))
}
