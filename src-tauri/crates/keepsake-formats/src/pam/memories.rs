//! The memories of a store: each is judged by itself, on all cores; what they share (ids, references, the checksum) is
//! put together in their order.
use super::{
    check::{Fault, check},
    hash::{Checksum, content_hash},
    jcs,
    shapes::MEMORY,
    verify::{Ids, Report, word},
};
use crate::FormatError;
use keepsake_model::{
    Bounds, Timestamp,
    json::{Tree, TreeError},
};
use rayon::prelude::*;
use serde_json::value::RawValue;

/// So many are judged in one go, which bounds what waits to be put together; or so many bytes of them, which bounds what
/// all cores hold at once.
const BATCH: usize = 1024;
const BATCH_BYTES: usize = 4 << 20;

/// What one memory shows by itself.
#[derive(Default)]
struct Judged {
    id: String,
    /// None when it has a number that canonical JSON cannot hold.
    canonical: Option<String>,
    faults: Vec<Fault>,
    superseded: Option<String>,
    conversation: Option<String>,
    embedding: Option<String>,
}

/// Judges the memories of a store; answers their checksum.
pub(super) fn judge_all(
    place: &str,
    raws: &[&RawValue],
    bounds: Bounds,
    report: &mut Report,
    ids: &mut Ids,
    tick: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<Checksum, FormatError> {
    let mut exact = Checksum::default();
    let mut first = 0;
    while first < raws.len() {
        tick()?;
        let batch = &raws[first..first + batch(&raws[first..])];
        let judged: Vec<Result<Judged, TreeError>> =
            batch.par_iter().map(|raw| Tree::of(raw, bounds).map(|tree| judge(&tree))).collect();
        for (i, judged) in judged.into_iter().enumerate() {
            let at = format!("{place}/memories/{}", first + i);
            let judged = match judged {
                Ok(judged) => judged,
                Err(why) => {
                    report.unheld(&at, &why);
                    exact = Checksum::default();
                    continue;
                }
            };
            exact.add_text(&judged.id, judged.canonical.as_deref());
            report.faults(&at, judged.faults);
            if let Some(target) = judged.superseded {
                ids.superseded.push((format!("{at}/temporal/superseded_by"), target));
            }
            if let Some(conversation) = judged.conversation {
                let place = format!("{at}/provenance/conversation_ref");
                ids.conversation_refs.push((place, judged.id.clone(), conversation));
            }
            if let Some(embedding) = judged.embedding {
                ids.embedding_refs.push((format!("{at}/embedding_ref"), embedding));
            }
            if !judged.id.is_empty() && !ids.memories.insert(judged.id) {
                report.error("duplicate_id", &format!("{at}/id"), "another memory has this id");
            }
        }
        first += batch.len();
    }
    Ok(exact)
}

/// How many of the first ones are judged in one go.
fn batch(raws: &[&RawValue]) -> usize {
    let mut bytes = 0;
    let fit = raws.iter().take(BATCH).take_while(|raw| {
        bytes += raw.get().len();
        bytes <= BATCH_BYTES
    });
    fit.count().max(1)
}

fn judge(tree: &Tree) -> Judged {
    let text = |name: &str| tree.get(name).and_then(Tree::as_str);
    let mut out = Judged {
        id: text("id").unwrap_or_default().to_owned(),
        canonical: jcs::canonical(tree),
        faults: check(&MEMORY, tree),
        ..Judged::default()
    };
    let mut fault = |mild: bool, code: &'static str, pointer: &str, message: &str| {
        out.faults.push(Fault { code, pointer: pointer.into(), message: message.into(), mild });
    };
    if let (Some(content), Some(said)) = (text("content"), text("content_hash"))
        && content_hash(content) != said
    {
        fault(false, "content_hash_mismatch", "/content_hash", "not the hash of the content");
    }
    let custom = tree.get("custom_type").filter(|v| **v != Tree::Null);
    match (text("type"), custom) {
        (Some("custom"), None) => fault(false, "custom_type", "/custom_type", "type custom needs a custom_type"),
        (Some(kind), Some(_)) if kind != "custom" => {
            fault(false, "custom_type", "/custom_type", "only type custom has a custom_type");
        }
        _ => {}
    }
    let times = |name: &str| word(tree, "temporal", name).and_then(Timestamp::parse);
    let ordered = |a: Option<Timestamp>, b: Option<Timestamp>| a.zip(b).is_none_or(|(a, b)| a <= b);
    let created = times("created_at");
    if !ordered(created, times("updated_at")) {
        fault(false, "time_order", "/temporal/updated_at", "updated before it was created");
    }
    if !ordered(times("valid_from"), times("valid_until")) {
        fault(false, "time_order", "/temporal/valid_until", "ends before it begins");
    }
    if !ordered(created, word(tree, "confidence", "last_reinforced").and_then(Timestamp::parse)) {
        fault(true, "time_order", "/confidence/last_reinforced", "confirmed before it was created");
    }
    let named = |block: &str, name: &str| word(tree, block, name).filter(|s| !s.is_empty()).map(str::to_owned);
    let superseded = named("temporal", "superseded_by");
    if (text("status") == Some("superseded")) != superseded.is_some() {
        fault(true, "status_mismatch", "", "status superseded and superseded_by belong together");
    }
    if tree.get("access").and_then(|a| a.get("exportable")) == Some(&Tree::Bool(false)) {
        fault(true, "not_exportable", "", "marked as not exportable, and exported nevertheless");
    }
    Judged {
        superseded,
        conversation: named("provenance", "conversation_ref"),
        embedding: text("embedding_ref").map(str::to_owned),
        ..out
    }
}
