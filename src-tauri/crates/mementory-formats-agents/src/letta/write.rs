//! Writes memories as an agent file with one agent, whose blocks contain the memories as lists. If a block is full, the
//! remaining items go into additional blocks of the file, which the agent does not load.
use super::read::MEMENTORY_MARK;
use super::{ID, PLATFORM};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions, WriteReport};
use mementory_formats_shared::export::{Export, nothing_to_write, words};
use mementory_formats_shared::list_items::item;
use mementory_formats_shared::new_files::NewFile;
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::rules_text;
use mementory_formats_shared::topics::topic_for_agents;
use mementory_model::{Kind, Record, RecordKey, Source, Verbatim};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Kinds of records that are written.
const EXPORTED_KINDS: [Kind; 6] =
    [Kind::Memory, Kind::Profile, Kind::Fact, Kind::Procedure, Kind::Todo, Kind::Resource];
/// Largest number of characters in a block. This is Letta's limit for `human` and `persona`.
const BLOCK_CHARS: usize = 20_000;
/// Labels and descriptions of the blocks.
const BLOCKS: [(&str, &str); 5] = [
    ("human", "What is known about the person: who they are, what they like, and the people around them."),
    ("persona", "Who the assistant is, and how it behaves."),
    ("instructions", "What the person told assistants to do."),
    ("projects", "What the person works on."),
    ("knowledge", "Facts and documents that the person kept."),
];
/// Types of profiles that describe the assistant.
const ASSISTANT_TYPES: [&str; 6] = ["persona", "agent", "system_prompt", "soul", "assistant", "identity"];

/// Writes the new file `out`. If `out` is None, writes nothing and only returns the report.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: Option<&Path>,
    options: &WriteOptions,
) -> Result<WriteReport, FormatError> {
    let mut export = Export::new(ID, "2", source, options, false);
    let plan = Plan::read(source, &export)?;
    let mut file = NewFile::create(out)?;
    file.add(&format!("{{\"agents\": [{}], \"groups\": [], \"blocks\": [", plan.agent()))?;
    let mut blocks = Blocks::new(&plan);
    source.records(&mut |stored| {
        if let Some(reason) = export.reason_to_withhold(&stored, &EXPORTED_KINDS) {
            export.withhold(reason);
            return Ok(());
        }
        if let Some((label, text)) = imported_block(&export, &stored) {
            let label = blocks.imported_label(&label);
            let text = blocks.relabelled_block(&text, &label);
            export.wrote(&stored, &read_back_block(&stored.record, &label, &text));
            return blocks.write_block(&mut file, &text);
        }
        let at = block_of(&stored.record);
        let text = item(words(&stored.record));
        export.wrote(&stored, &read_back(&text, at));
        blocks.add(&mut file, at, &text)
    })?;
    blocks.finish(&mut file)?;
    let now = export.now.to_rfc3339();
    file.add(&format!(
        "\n], \"files\": [], \"sources\": [], \"tools\": [], \"mcp_servers\": [], \"skills\": [], \"metadata\": {{}}, \"created_at\": \"{now}\"}}\n"
    ))?;
    file.finish()?;
    if export.report.by_kind.is_empty()
        && let Some(out) = out
    {
        std::fs::remove_file(out).map_err(|e| FormatError::io(out.display().to_string(), e))?;
        return Err(nothing_to_write(ID));
    }
    export.finish(source, options)
}

/// Index in [`BLOCKS`] of the block for a record.
fn block_of(record: &Record) -> usize {
    let record_type = record.record_type.as_deref().unwrap_or_default();
    if record.kind == Kind::Profile && ASSISTANT_TYPES.contains(&record_type) {
        return 1;
    }
    match topic_for_agents(record) {
        0 => 2,
        3 => 3,
        10 => 4,
        _ if record.kind == Kind::Resource => 4,
        _ => 0,
    }
}

/// Label and original text of a block that was read from an agent.
fn imported_block(export: &Export, stored: &StoredRecord) -> Option<(String, String)> {
    let text = export.own_text(stored)?;
    let object = Object::parse(text)?;
    let label = object.text("label")?.trim().to_owned();
    let is_block = matches!(stored.record.kind, Kind::Memory | Kind::Profile) && object.has("value");
    (is_block && object.text("id").is_some() && !label.is_empty()).then(|| (label, text.to_owned()))
}

/// The record that an import would create from an exported Letta block. The block is part of a new agent, and its label
/// may have changed.
fn read_back_block(record: &Record, label: &str, text: &str) -> Record {
    let mut record = record.clone();
    record.title = Some(label.to_owned());
    record.record_type = Some(label.to_owned());
    record.verbatim = Some(Verbatim::json(text));
    record.links.clear();
    record
}

/// The record that an import would create from an item of one of [`BLOCKS`].
fn read_back(item: &str, at: usize) -> Record {
    let text = rules_text::items(item, "").into_iter().next().map(|piece| piece.text).unwrap_or_default();
    let (label, _) = BLOCKS.get(at).copied().unwrap_or_default();
    let kind = if label == "persona" { Kind::Profile } else { Kind::Memory };
    let mut record = Record::new(kind, RecordKey::new(ID, ""), text);
    record.record_type = Some(label.to_owned());
    record.title = Some(label.to_owned());
    record.source = letta_source();
    record
}

fn letta_source() -> Source {
    Source { platform: PLATFORM.into(), ..Source::default() }
}

/// Result of a first pass, which determines the blocks and their ids before the first block is written.
#[derive(Default)]
struct Plan {
    /// For each of [`BLOCKS`]: true if the block has an item.
    has_items: Vec<bool>,
    /// Number of imported Letta blocks that are written unchanged.
    imported_count: usize,
    labels: HashSet<String>,
}

impl Plan {
    /// Reads all records once to determine the blocks.
    fn read(source: &mut dyn RecordSource, export: &Export) -> Result<Self, FormatError> {
        let mut out = Self { has_items: vec![false; BLOCKS.len()], ..Self::default() };
        source.records(&mut |stored| {
            if export.reason_to_withhold(&stored, &EXPORTED_KINDS).is_some() {
                return Ok(());
            }
            if let Some((label, _)) = imported_block(export, &stored) {
                out.imported_count += 1;
                out.labels.insert(label);
            } else if let Some(has_item) = out.has_items.get_mut(block_of(&stored.record)) {
                *has_item = true;
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// The agent. It lists the first block of each of [`BLOCKS`] that has items, then the blocks that are written
    /// unchanged.
    fn agent(&self) -> Value {
        let ids = self.has_items.iter().enumerate().filter(|(_, has_item)| **has_item).map(|(at, _)| at);
        let ids: Vec<String> =
            ids.chain(BLOCKS.len()..BLOCKS.len() + self.imported_count).map(|id| format!("block-{id}")).collect();
        json!({
            "id": "agent-0",
            "name": "Mementory",
            "description": "What assistants remember about a person",
            "metadata": { "written_by": MEMENTORY_MARK },
            "block_ids": ids,
            "tool_ids": [],
            "source_ids": [],
            "tags": [],
            "messages": [],
            "in_context_message_ids": [],
        })
    }
}

/// The blocks that are being written.
struct Blocks<'p> {
    plan: &'p Plan,
    /// For each entry of [`BLOCKS`]: the items of the Letta block that is not full yet.
    open_items: Vec<String>,
    /// For each entry of [`BLOCKS`]: the number of full Letta blocks.
    full_counts: Vec<usize>,
    imported_count: usize,
    /// Number of blocks that the agent does not load.
    unloaded_count: usize,
    labels: HashSet<String>,
    /// The next number to append to a label that is already in use, for new blocks and for imported blocks.
    next_new_numbers: HashMap<String, u64>,
    next_imported_numbers: HashMap<String, u64>,
    is_first: bool,
}

impl<'p> Blocks<'p> {
    fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            open_items: vec![String::new(); BLOCKS.len()],
            full_counts: vec![0; BLOCKS.len()],
            imported_count: 0,
            unloaded_count: 0,
            labels: HashSet::new(),
            next_new_numbers: HashMap::new(),
            next_imported_numbers: HashMap::new(),
            is_first: true,
        }
    }

    fn add(&mut self, file: &mut NewFile, at: usize, item: &str) -> Result<(), FormatError> {
        let is_full = self
            .open_items
            .get(at)
            .is_some_and(|text| !text.is_empty() && text.chars().count() + item.chars().count() > BLOCK_CHARS);
        if is_full {
            self.close(file, at)?;
        }
        if let Some(text) = self.open_items.get_mut(at) {
            text.push_str(item);
        }
        Ok(())
    }

    fn close(&mut self, file: &mut NewFile, at: usize) -> Result<(), FormatError> {
        let value = self.open_items.get_mut(at).map(std::mem::take).unwrap_or_default();
        let (label, description) = BLOCKS.get(at).copied().unwrap_or_default();
        let count = self.full_counts.get_mut(at).map_or(1, |count| {
            *count += 1;
            *count
        });
        let id = if count == 1 { at } else { self.next_id() };
        let label = self.new_label(label);
        let block = block(id, &label, description, value.trim_end());
        self.write_block(file, &block.to_string())
    }

    /// Next id number of a block that the agent does not load. These numbers follow those of the blocks that the agent
    /// lists.
    fn next_id(&mut self) -> usize {
        self.unloaded_count += 1;
        BLOCKS.len() + self.plan.imported_count + self.unloaded_count - 1
    }

    /// The JSON of a block that was read from an agent, with a new id and a new label.
    fn relabelled_block(&mut self, text: &str, label: &str) -> String {
        let id = json!(format!("block-{}", BLOCKS.len() + self.imported_count)).to_string();
        self.imported_count += 1;
        let label = json!(label).to_string();
        let object = Object::parse(text).unwrap_or_default();
        let values = [("id", id.as_str()), ("label", label.as_str())];
        let values: Vec<_> = values.into_iter().filter_map(|(key, new)| Some((object.raw_value(key)?, new))).collect();
        with_replaced_values(text, &values)
    }

    fn write_block(&mut self, file: &mut NewFile, block: &str) -> Result<(), FormatError> {
        file.add(if self.is_first { "\n" } else { ",\n" })?;
        self.is_first = false;
        file.add(block)
    }

    /// A label that no other block of the agent has. Blocks that were read from an agent keep their labels if possible.
    fn new_label(&mut self, label: &str) -> String {
        let mut candidate = label.to_owned();
        while self.plan.labels.contains(&candidate) || !self.labels.insert(candidate.clone()) {
            let number = self.next_new_numbers.entry(label.to_owned()).or_insert(2);
            candidate = format!("{label}_{number}");
            *number += 1;
        }
        candidate
    }

    fn imported_label(&mut self, label: &str) -> String {
        let mut candidate = label.to_owned();
        while !self.labels.insert(candidate.clone()) {
            let number = self.next_imported_numbers.entry(label.to_owned()).or_insert(2);
            candidate = format!("{label}_{number}");
            *number += 1;
        }
        candidate
    }

    fn finish(&mut self, file: &mut NewFile) -> Result<(), FormatError> {
        for at in 0..BLOCKS.len() {
            if self.open_items.get(at).is_some_and(|text| !text.is_empty()) {
                self.close(file, at)?;
            }
        }
        Ok(())
    }
}

fn block(id: usize, label: &str, description: &str, value: &str) -> Value {
    json!({
        "id": format!("block-{id}"),
        "label": label,
        "description": description,
        "value": value,
        "limit": value.chars().count().max(BLOCK_CHARS),
        "read_only": false,
        "is_template": false,
        "metadata": { "written_by": MEMENTORY_MARK },
    })
}
