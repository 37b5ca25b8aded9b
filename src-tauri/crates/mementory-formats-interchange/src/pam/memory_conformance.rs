//! Checks the memories of a store: each memory on its own, in parallel, then ids, references and checksum in file
//! order.
use super::{
    canonical,
    hash::Checksum,
    report::{Ids, Report, nested_text},
    salvage,
    schema::MEMORY_RULE,
    schema_check::{Fault, check},
    to_record,
};
use mementory_format::FormatError;
use mementory_json::{Tree, TreeError};
use mementory_model::{Bounds, Timestamp};
use rayon::prelude::*;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::sync::mpsc::{SyncSender, sync_channel};

/// Largest number of memories in a batch, and its largest size in bytes. A memory above this size is a batch by itself.
const MAX_BATCH_MEMORIES: usize = 1024;
const MAX_BATCH_BYTES: usize = 4 << 20;
/// Largest number of batches that wait to be checked.
const MAX_QUEUED_BATCHES: usize = 4;

/// Code of a reference that is an empty text. No record has an empty id (schemas), so the format wants null here. This is
/// only a warning, because the example in §14.1 treats such a reference as absent, and so do readers.
pub(super) const EMPTY_REFERENCE_CODE: &str = "empty_reference";
pub(super) const EMPTY_REFERENCE_MESSAGE: &str = "an empty reference, where the format wants null or an id";

/// Result of checking one memory on its own.
#[derive(Default)]
struct CheckedMemory {
    id: String,
    /// True if the id is a text. The format defines an order only for such ids, so memories with other ids keep the
    /// order of the file.
    has_text_id: bool,
    /// Canonical text. None if a number has no canonical form.
    canonical: Option<Box<str>>,
    faults: Vec<Fault>,
    /// True if the memory matches its content hash and the schema.
    is_intact: bool,
    superseded: Option<String>,
    conversation: Option<String>,
    embedding: Option<String>,
}

/// Result of checking all memories of a store.
pub(super) struct CheckedMemories {
    /// Number of memories.
    pub total: u64,
    /// Checksum of all memories. None if a memory cannot be read.
    pub checksum: Option<Checksum>,
    /// Indexes of the memories that do not match their content hash or the schema.
    pub damaged: Vec<usize>,
}

/// Checks the memories in the JSON text `list`.
pub(super) fn check_memories(
    place: &str,
    list: &str,
    bounds: Bounds,
    report: &mut Report,
    ids: &mut Ids,
    tick: &mut dyn FnMut() -> Result<(), FormatError>,
) -> Result<CheckedMemories, FormatError> {
    let checksum = Some(Checksum::default());
    let mut totals = StoreTotals { place, report, ids, checksum, count: 0, damaged: Vec::new() };
    std::thread::scope(|scope| {
        // The channel is created inside the scope, so that an error drops the receiver and thereby ends the other
        // thread.
        let (send, batches) = sync_channel(MAX_QUEUED_BATCHES);
        scope.spawn(move || serde_json::Deserializer::from_str(list).deserialize_seq(BatchSplitter(send)).ok());
        let (mut waiting, mut was_large) = (Vec::new(), false);
        for batch in batches {
            tick()?;
            let checked = std::mem::take(&mut waiting);
            // Usually, the results of a batch are added while the next batch is checked. If either batch exceeds the
            // size limit because of a large memory, the results are added first, to save memory.
            let is_large = count_bytes(&batch) > MAX_BATCH_BYTES;
            waiting = if is_large || was_large {
                totals.add(checked);
                check_batch(&batch, bounds)
            } else {
                rayon::join(|| totals.add(checked), || check_batch(&batch, bounds)).1
            };
            was_large = is_large;
        }
        totals.add(waiting);
        let StoreTotals { count, checksum, damaged, .. } = totals;
        Ok(CheckedMemories { total: count as u64, checksum, damaged })
    })
}

fn check_batch(batch: &[&RawValue], bounds: Bounds) -> Vec<Result<CheckedMemory, TreeError>> {
    let check = |raw: &&RawValue| Tree::from_raw(raw, bounds).map(|tree| check_memory(&tree, raw.get().len()));
    batch.par_iter().map(check).collect()
}

/// Splits a list into batches and sends them. Stops if the receiver was dropped.
struct BatchSplitter<'t>(SyncSender<Vec<&'t RawValue>>);

impl<'de> Visitor<'de> for BatchSplitter<'de> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let (mut batch, mut bytes): (Vec<&RawValue>, _) = (Vec::new(), 0);
        while let Some(raw) = seq.next_element::<&RawValue>()? {
            bytes += raw.get().len();
            if batch.len() >= MAX_BATCH_MEMORIES || (bytes > MAX_BATCH_BYTES && !batch.is_empty()) {
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

/// Ids, references and checksum of all memories, collected in file order.
struct StoreTotals<'a> {
    place: &'a str,
    report: &'a mut Report,
    ids: &'a mut Ids,
    checksum: Option<Checksum>,
    /// Number of memories added so far.
    count: usize,
    damaged: Vec<usize>,
}

impl StoreTotals<'_> {
    fn add(&mut self, checked: Vec<Result<CheckedMemory, TreeError>>) {
        for checked in checked {
            let at = format!("{}/memories/{}", self.place, self.count);
            self.count += 1;
            let checked = match checked {
                Ok(checked) => checked,
                Err(why) => {
                    self.report.report_unreadable(&at, &why);
                    self.damaged.push(self.count - 1);
                    self.checksum = None;
                    continue;
                }
            };
            let sort_id = if checked.has_text_id { checked.id.as_str() } else { "" };
            if let Some(checksum) = &mut self.checksum {
                checksum.add_text(sort_id, checked.canonical);
            }
            if !checked.is_intact {
                self.damaged.push(self.count - 1);
            }
            self.report.add_faults(&at, checked.faults);
            if let Some(target) = checked.superseded {
                self.ids.superseded.push((format!("{at}/temporal/superseded_by"), target));
            }
            if let Some(conversation) = checked.conversation {
                let place = format!("{at}/provenance/conversation_ref");
                self.ids.conversation_refs.push((place, checked.id.clone(), conversation));
            }
            if let Some(embedding) = checked.embedding {
                let place = format!("{at}/embedding_ref");
                self.ids.embedding_refs.push((place, checked.id.clone(), embedding));
            }
            if !checked.id.is_empty() && !self.ids.memories.insert(checked.id) {
                self.report.error("duplicate_id", &format!("{at}/id"), "another memory has this id");
            }
        }
    }
}

fn count_bytes(raws: &[&RawValue]) -> usize {
    raws.iter().map(|raw| raw.get().len()).sum()
}

/// Checks a memory whose text in the file has `length` bytes.
fn check_memory(tree: &Tree, length: usize) -> CheckedMemory {
    // The canonical text is rarely longer than the text in the file, and growing the buffer would copy it repeatedly.
    let mut canonical = String::with_capacity(length);
    let canonical = canonical::write(tree, &mut canonical).map(|()| canonical.into_boxed_str());
    let text = |name: &str| tree.get(name).and_then(Tree::as_str);
    let (faults, matches_hash) = (check(&MEMORY_RULE, tree), salvage::matches_content_hash(tree));
    let mut out = CheckedMemory {
        id: to_record::id(tree, "id").unwrap_or_default().to_owned(),
        has_text_id: text("id").is_some(),
        canonical,
        is_intact: matches_hash && salvage::fits_schema(&faults),
        faults,
        ..CheckedMemory::default()
    };
    let mut fault = |is_warning: bool, code: &'static str, pointer: &str, message: &str| {
        out.faults.push(Fault {
            code,
            pointer: pointer.into(),
            message: message.into(),
            is_warning,
            may_be_newer: false,
        });
    };
    if text("content").is_some() && text("content_hash").is_some() && !matches_hash {
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
    let times = |name: &str| nested_text(tree, "temporal", name).and_then(Timestamp::parse);
    let is_ordered = |a: Option<Timestamp>, b: Option<Timestamp>| a.zip(b).is_none_or(|(a, b)| a <= b);
    let created = times("created_at");
    if !is_ordered(created, times("updated_at")) {
        fault(false, "time_order", "/temporal/updated_at", "updated before it was created");
    }
    if !is_ordered(times("valid_from"), times("valid_until")) {
        fault(false, "time_order", "/temporal/valid_until", "ends before it begins");
    }
    if !is_ordered(created, nested_text(tree, "confidence", "last_reinforced").and_then(Timestamp::parse)) {
        fault(true, "time_order", "/confidence/last_reinforced", "confirmed before it was created");
    }
    for (pointer, block, name) in [
        ("/embedding_ref", Some(tree), "embedding_ref"),
        ("/temporal/superseded_by", tree.get("temporal"), "superseded_by"),
        ("/provenance/conversation_ref", tree.get("provenance"), "conversation_ref"),
        ("/provenance/message_ref", tree.get("provenance"), "message_ref"),
    ] {
        if block.and_then(|block| block.get(name)).and_then(Tree::as_str) == Some("") {
            fault(true, EMPTY_REFERENCE_CODE, pointer, EMPTY_REFERENCE_MESSAGE);
        }
    }
    let non_empty = |id: Option<&str>| id.filter(|id| !id.is_empty()).map(str::to_owned);
    let reference = |block: &str, name: &str| non_empty(to_record::nested_id(tree, block, name));
    let superseded = reference("temporal", "superseded_by");
    if (text("status") == Some("superseded")) != superseded.is_some() {
        fault(true, "status_mismatch", "", "status superseded and superseded_by belong together");
    }
    if superseded.is_some() && superseded.as_deref() == to_record::id(tree, "id") {
        fault(true, "self_relation", "/temporal/superseded_by", "the memory is replaced by itself");
    }
    if tree.get("access").and_then(|a| a.get("exportable")) == Some(&Tree::Bool(false)) {
        fault(true, "not_exportable", "", "marked as not exportable, and exported nevertheless");
    }
    CheckedMemory {
        superseded,
        conversation: reference("provenance", "conversation_ref"),
        embedding: non_empty(to_record::id(tree, "embedding_ref")),
        ..out
    }
}
