//! The memories of a store: each is judged by itself, on all cores; what they share (ids, references, the checksum) is
//! put together in their order.
use super::{
    canonical,
    schema_check::{Fault, check},
    hash::{Checksum, content_hash},
    report::{Ids, Report, word},
    schema::MEMORY,
};
use mementory_format::FormatError;
use mementory_json::{Tree, TreeError};
use mementory_model::{Bounds, Timestamp};
use rayon::prelude::*;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::sync::mpsc::{SyncSender, sync_channel};

/// So many are judged in one go, which bounds what waits to be put together; or so many bytes of them, which bounds what
/// all cores hold at once.
const BATCH: usize = 1024;
const BATCH_BYTES: usize = 4 << 20;
/// Batches that wait to be judged: places in the document, found while others are judged.
const AHEAD: usize = 4;

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

/// Judges the memories of a store, given as the list that they stand in; answers how many there are, and their checksum.
pub(super) fn judge_all(
    place: &str,
    list: &str,
    bounds: Bounds,
    report: &mut Report,
    ids: &mut Ids,
    tick: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<(u64, Checksum), FormatError> {
    // The canonical text of most memories is no longer than the text as it stands.
    let mut whole = Whole { place, report, ids, exact: Checksum::with_room(list.len()), count: 0 };
    std::thread::scope(|scope| {
        // In here, so that an error closes it and the other thread ends.
        let (send, batches) = sync_channel(AHEAD);
        scope.spawn(move || serde_json::Deserializer::from_str(list).deserialize_seq(Split(send)).ok());
        let (mut waiting, mut was_large) = (Vec::new(), false);
        for batch in batches {
            tick()?;
            let judged = std::mem::take(&mut waiting);
            // One batch is put together while the next is judged; a memory as large as a batch is alone in memory.
            let large = bytes_of(&batch) > BATCH_BYTES;
            waiting = if large || was_large {
                whole.add(judged);
                judge_batch(&batch, bounds)
            } else {
                rayon::join(|| whole.add(judged), || judge_batch(&batch, bounds)).1
            };
            was_large = large;
        }
        whole.add(waiting);
        Ok((whole.count as u64, whole.exact))
    })
}

fn judge_batch(batch: &[&RawValue], bounds: Bounds) -> Vec<Result<Judged, TreeError>> {
    batch.par_iter().map(|raw| Tree::of(raw, bounds).map(|tree| judge(&tree))).collect()
}

/// Splits a list into batches, which are sent; ends early when nobody takes them.
struct Split<'t>(SyncSender<Vec<&'t RawValue>>);

impl<'de> Visitor<'de> for Split<'de> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let (mut batch, mut bytes): (Vec<&RawValue>, _) = (Vec::new(), 0);
        while let Some(raw) = seq.next_element::<&RawValue>()? {
            bytes += raw.get().len();
            if batch.len() >= BATCH || (bytes > BATCH_BYTES && !batch.is_empty()) {
                if self.0.send(std::mem::take(&mut batch)).is_err() {
                    return Ok(());
                }
                bytes = raw.get().len();
            }
            batch.push(raw);
        }
        self.0.send(batch).map_err(serde::de::Error::custom)
    }
}

/// What memories share, put together in their order.
struct Whole<'a> {
    place: &'a str,
    report: &'a mut Report,
    ids: &'a mut Ids,
    exact: Checksum,
    /// How many were added.
    count: usize,
}

impl Whole<'_> {
    fn add(&mut self, judged: Vec<Result<Judged, TreeError>>) {
        for judged in judged {
            let at = format!("{}/memories/{}", self.place, self.count);
            self.count += 1;
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

fn judge(tree: &Tree) -> Judged {
    let text = |name: &str| tree.get(name).and_then(Tree::as_str);
    let mut out = Judged {
        id: text("id").unwrap_or_default().to_owned(),
        canonical: canonical::canonical(tree),
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
