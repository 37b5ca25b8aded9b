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
    // The canonical text of most memories is no longer than the text as it stands.
    let mut whole = Whole { place, report, ids, exact: Checksum::with_room(bytes_of(raws)) };
    let (mut rest, mut first, mut was_large) = (raws, 0, false);
    let mut waiting = Vec::new();
    while !rest.is_empty() || !waiting.is_empty() {
        tick()?;
        let (batch, later) = rest.split_at(batch(rest));
        let judged = std::mem::take(&mut waiting);
        let count = judged.len();
        let next = || batch.par_iter().map(|raw| Tree::of(raw, bounds).map(|tree| judge(&tree))).collect();
        // One batch is put together while the next is judged; a memory as large as a batch is alone in memory.
        let large = bytes_of(batch) > BATCH_BYTES;
        let next = if large || was_large {
            whole.add(first, judged);
            next()
        } else {
            rayon::join(|| whole.add(first, judged), next).1
        };
        (rest, waiting, first, was_large) = (later, next, first + count, large);
    }
    Ok(whole.exact)
}

/// What memories share, put together in their order.
struct Whole<'a> {
    place: &'a str,
    report: &'a mut Report,
    ids: &'a mut Ids,
    exact: Checksum,
}

impl Whole<'_> {
    /// Adds memories, of which the first has the index `first`.
    fn add(&mut self, first: usize, judged: Vec<Result<Judged, TreeError>>) {
        for (i, judged) in judged.into_iter().enumerate() {
            let at = format!("{}/memories/{}", self.place, first + i);
            let judged = match judged {
                Ok(judged) => judged,
                Err(why) => {
                    self.report.unheld(&at, &why);
                    self.exact = Checksum::default();
                    continue;
                }
            };
            self.exact.add_text(&judged.id, judged.canonical.as_deref());
            self.report.faults(&at, judged.faults);
            if let Some(target) = judged.superseded {
                self.ids.superseded.push((format!("{at}/temporal/superseded_by"), target));
            }
            if let Some(conversation) = judged.conversation {
                let place = format!("{at}/provenance/conversation_ref");
                self.ids.conversation_refs.push((place, judged.id.clone(), conversation));
            }
            if let Some(embedding) = judged.embedding {
                self.ids.embedding_refs.push((format!("{at}/embedding_ref"), embedding));
            }
            if !judged.id.is_empty() && !self.ids.memories.insert(judged.id) {
                self.report.error("duplicate_id", &format!("{at}/id"), "another memory has this id");
            }
        }
    }
}

fn bytes_of(raws: &[&RawValue]) -> usize {
    raws.iter().map(|raw| raw.get().len()).sum()
}

/// How many of the first ones are judged in one go.
fn batch(raws: &[&RawValue]) -> usize {
    let mut bytes = 0;
    let fit = raws.iter().take(BATCH).take_while(|raw| {
        bytes += raw.get().len();
        bytes <= BATCH_BYTES
    });
    fit.count().max(raws.len().min(1))
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
