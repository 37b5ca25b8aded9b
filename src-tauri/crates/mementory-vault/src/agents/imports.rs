//! Reads the document that a connected client offers. The memories in it become suggestions.
use crate::{VaultError, VaultResult, agents::GrantedView, suggestions::is_suggestible};
use mementory_formats::{AttachmentFile, Catalog, FormatError, PassthroughItem, ReadContext, Sink, by_tool, detect};
use mementory_model::{Dropped, Issue, Kind, Limits, Record, RecordKey, Timestamp, Tombstone, Unit};
use mementory_store::{MAX_PREVIEW_CHARS, ids::parse_id, kind_code, unwrap_format};
use std::{collections::HashSet, io::Read};

/// A memory in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedMemory {
    /// Id of the memory in this vault's format. None if the id in the document has another format.
    pub id: Option<String>,
    /// Text, type and tags of the memory.
    pub text: String,
    #[allow(missing_docs, reason = "see `text`")]
    pub record_type: Option<String>,
    #[allow(missing_docs, reason = "see `text`")]
    pub tags: Vec<String>,
    /// When the memory was made.
    pub created: Option<Timestamp>,
}

/// The content of a document that a client offers.
#[derive(Debug, Default)]
pub struct OfferedDocument {
    /// The memories and tasks of the document, in its order.
    pub memories: Vec<OfferedMemory>,
    /// Number of elements of the document that are neither memories nor tasks, such as graph nodes.
    pub others: u32,
    /// Number of elements that cannot be read.
    pub unreadable: u32,
}

impl OfferedDocument {
    /// Reads the document that a client passed to a tool. Stores nothing and opens no file.
    ///
    /// # Errors
    /// `Usage` if the text is not in the format of the tool; errors of the reader.
    pub fn read(tool: &str, data: &str, now: Timestamp) -> VaultResult<Self> {
        let format = by_tool(tool).ok_or_else(|| VaultError::Usage(format!("There is no tool {tool}.")))?;
        let limits = Limits::default();
        let catalog = Catalog::from_text(data, &limits);
        let detection = detect(&catalog, &limits, None).map_err(unwrap_format)?;
        let Some(source) = detection.sources.iter().find(|source| source.format == format.id()) else {
            return Err(VaultError::Usage(format!(
                "The data is not a {} document. Nothing was suggested. Give the document itself, since files are not read.",
                format.name()
            )));
        };
        let context = ReadContext { limits, now, passphrase: None };
        let mut offered = Self::default();
        format.read(&catalog, source, &context, &mut offered).map_err(unwrap_format)?;
        Ok(offered)
    }
}

impl Sink for OfferedDocument {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        for record in unit.records {
            if is_suggestible(record.kind) {
                self.memories.push(OfferedMemory::from(record));
            } else {
                self.others += 1;
            }
        }
        Ok(())
    }
    fn attachment(&mut self, _file: AttachmentFile, _bytes: &mut dyn Read) -> Result<(), FormatError> {
        Ok(())
    }
    fn passthrough(&mut self, _item: PassthroughItem, _bytes: &mut dyn Read) -> Result<(), FormatError> {
        Ok(())
    }
    fn tombstone(&mut self, _tombstone: Tombstone) -> Result<(), FormatError> {
        Ok(())
    }
    fn note(&mut self, _issue: Issue) {}
    fn dropped(&mut self, _dropped: Dropped) {
        self.unreadable += 1;
    }
    fn progress(&mut self, _bytes: u64) -> Result<(), FormatError> {
        Ok(())
    }
}

impl From<Record> for OfferedMemory {
    fn from(record: Record) -> Self {
        let Record { key: RecordKey { value, .. }, origin_id, text, record_type, tags, times, .. } = record;
        let id = [Some(value), origin_id].into_iter().flatten().find_map(|id| record_id_in(&id));
        Self { id, text, record_type, tags, created: times.created }
    }
}

/// Extracts the record id from an id in a document. A record id has 32 hex digits, possibly with hyphens, and may
/// follow a prefix such as `mem_`.
fn record_id_in(text: &str) -> Option<String> {
    let last_part = text.rsplit(['/', '_', ':']).next()?;
    let id = last_part.replace('-', "").to_ascii_lowercase();
    parse_id(&id).map(|_| id)
}

impl GrantedView<'_> {
    /// Returns the elements of `texts` that equal the text of a visible memory or task. The texts of memories and tasks
    /// are compared after masking, as the client sees them.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn known_texts(&mut self, texts: &[&str]) -> VaultResult<HashSet<String>> {
        let previews: Vec<String> = texts.iter().map(|text| text.chars().take(MAX_PREVIEW_CHARS).collect()).collect();
        let previews = serde_json::to_string(&previews).unwrap_or_default();
        let kinds = [Kind::Memory, Kind::Todo].map(|kind| kind_code(kind).to_string()).join(",");
        let condition = format!("r.kind IN ({kinds}) AND r.preview IN (SELECT value FROM json_each(??))");
        let rows = self.select(&condition, vec![previews.into()], "")?;
        let wanted_texts: HashSet<&str> = texts.iter().copied().collect();
        let mut known = HashSet::new();
        for row in rows {
            let text = self.granted_record(&row)?.text;
            if wanted_texts.contains(text.as_str()) {
                known.insert(text);
            }
        }
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_documents_are_found_in_all_their_forms() {
        let id = "00112233445566778899aabbccddeeff";
        let found = Some(id.to_owned());
        assert_eq!(record_id_in(id), found);
        assert_eq!(record_id_in("mem_00112233-4455-6677-8899-AABBCCDDEEFF"), found);
        assert_eq!(record_id_in("memory/todo_00112233-4455-6677-8899-aabbccddeeff"), found);
        for other in ["", "mem_", "mem_12", "entity:Ada"] {
            assert_eq!(record_id_in(other), None, "{other}");
        }
    }
}
