//! Collects the records of a vault that must be written together, such as a conversation and its messages. The vault
//! does not list them together, so it is read several times, each time for as many groups as fit into memory.
use mementory_format::{FormatError, RecordSource, StoredRecord};
use mementory_model::Kind;
use std::collections::HashMap;

/// Largest total size of the records that are in memory at a time, in bytes. A larger group is loaded alone.
const BATCH_BYTES: u64 = 64 << 20;
/// Approximate size of a record without its texts, in bytes.
const RECORD_BYTES: u64 = 1 << 10;

/// Names and sizes of the groups, in the order of their first records.
#[derive(Default)]
pub struct Groups {
    sizes: Vec<(u64, usize)>,
    index: HashMap<String, usize>,
}

/// Returns the name of a record's group. None if the record is not written together with others.
pub type GroupOf = fn(&StoredRecord) -> Option<String>;

/// Receives the records of a group, and their source, from which attachments can be read.
pub type VisitGroup<'v> = dyn FnMut(&mut dyn RecordSource, Vec<StoredRecord>) -> Result<(), FormatError> + 'v;

impl Groups {
    /// Adds the size of a record to its group, and counts the record.
    pub fn add(&mut self, group: String, stored: &StoredRecord) {
        let next = self.sizes.len();
        let at = *self.index.entry(group).or_insert(next);
        if at == next {
            self.sizes.push((0, 0));
        }
        let (bytes, count) = &mut self.sizes[at];
        *bytes += size_of(stored);
        *count += 1;
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// True if there are no groups.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Approximate size of all groups, in bytes.
    pub fn bytes(&self) -> u64 {
        self.sizes.iter().map(|(bytes, _)| bytes).sum()
    }

    /// Calls `visit` with the records of each group, in the order of the source.
    pub fn each(
        &self,
        source: &mut dyn RecordSource,
        group_of: GroupOf,
        visit: &mut VisitGroup<'_>,
    ) -> Result<(), FormatError> {
        self.each_within(BATCH_BYTES, source, group_of, visit)
    }

    fn each_within(
        &self,
        batch_bytes: u64,
        source: &mut dyn RecordSource,
        group_of: GroupOf,
        visit: &mut VisitGroup<'_>,
    ) -> Result<(), FormatError> {
        let mut from = 0;
        while from < self.sizes.len() {
            let (mut to, mut bytes) = (from, 0);
            while to < self.sizes.len() && (to == from || bytes + self.sizes[to].0 <= batch_bytes) {
                bytes += self.sizes[to].0;
                to += 1;
            }
            let mut batch: Vec<Vec<StoredRecord>> =
                self.sizes[from..to].iter().map(|(_, count)| Vec::with_capacity(*count)).collect();
            source.records(&mut |stored| {
                let at = group_of(&stored).and_then(|group| self.index.get(&group).copied());
                if let Some(at) = at.filter(|at| (from..to).contains(at)) {
                    batch[at - from].push(stored);
                }
                Ok(())
            })?;
            for group in batch {
                visit(source, group)?;
            }
            from = to;
        }
        Ok(())
    }
}

fn size_of(stored: &StoredRecord) -> u64 {
    let record = &stored.record;
    let text_bytes = record.text.len() + record.verbatim.as_ref().map_or(0, |v| v.text.len());
    let attached_bytes: usize = record.attachments.iter().filter_map(|a| a.text.as_ref()).map(String::len).sum();
    RECORD_BYTES + (text_bytes + attached_bytes) as u64
}

/// The group of a conversation or message: the vault id of the conversation, or its key if the conversation is not in
/// the vault.
pub fn conversation_of(stored: &StoredRecord) -> Option<String> {
    match stored.record.kind {
        Kind::Conversation => Some(stored.id.clone()),
        Kind::Message => Some(stored.parent_id.clone().unwrap_or_else(|| {
            stored.record.parent.as_ref().map_or_else(|| "-".into(), |key| format!("{}/{}", key.scope, key.value))
        })),
        _ => None,
    }
}

/// A conversation and its messages.
pub struct Thread {
    /// The conversation. None if it is not exported.
    pub conversation: Option<StoredRecord>,
    /// The messages in the order of their positions.
    pub messages: Vec<StoredRecord>,
}

impl Thread {
    /// Sorts the records of a group into a conversation and its messages.
    pub fn new(group: Vec<StoredRecord>) -> Self {
        let (mut conversation, mut messages) = (None, Vec::with_capacity(group.len()));
        for stored in group {
            match stored.record.kind {
                Kind::Conversation => conversation = Some(stored),
                _ => messages.push(stored),
            }
        }
        messages.sort_by(|a, b| position(a).cmp(&position(b)).then_with(|| a.id.cmp(&b.id)));
        Self { conversation, messages }
    }
}

fn position(stored: &StoredRecord) -> u32 {
    stored.record.message.as_ref().map_or(u32::MAX, |m| m.position)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_format::testkit::MemorySource;
    use mementory_model::{MessagePart, Record, RecordKey};

    #[test]
    fn every_group_is_complete_with_any_amount_of_memory() {
        let mut source = MemorySource::default();
        for c in 0..7 {
            source.records.push(Record::new(Kind::Conversation, RecordKey::new("x", format!("c{c}")), ""));
        }
        for m in 0..50_u32 {
            let mut record = Record::new(Kind::Message, RecordKey::new("x", format!("m{m}")), "text");
            record.parent = Some(RecordKey::new("x", format!("c{}", m % 7)));
            record.message = Some(MessagePart { position: 50 - m, ..MessagePart::default() });
            source.records.push(record);
        }
        let mut groups = Groups::default();
        source
            .records(&mut |stored| {
                groups.add(conversation_of(&stored).unwrap(), &stored);
                Ok(())
            })
            .unwrap();
        for budget in [1, 20_000, u64::MAX] {
            let mut visited_groups = Vec::new();
            groups
                .each_within(budget, &mut source, conversation_of, &mut |_, group| {
                    let thread = Thread::new(group);
                    let positions: Vec<u32> = thread.messages.iter().map(position).collect();
                    assert!(positions.is_sorted());
                    visited_groups.push((thread.conversation.unwrap().record.key.value, positions.len()));
                    Ok(())
                })
                .unwrap();
            let names: Vec<&str> = visited_groups.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["c0", "c1", "c2", "c3", "c4", "c5", "c6"], "{budget}");
            assert_eq!(visited_groups.iter().map(|(_, n)| n).sum::<usize>(), 50);
        }
    }
}
