//! Sends the deletions in a delta, and alternative keys for memories that the vault may have under another key.
use super::super::manifest::scope_of_agent;
use super::Reader;
use mementory_format::{FormatError, ReplacedList};
use mementory_model::{Derived, Kind, RecordKey, Timestamp, Tombstone, TombstoneOp};

impl Reader<'_> {
    /// Sends the alternative key of a memory. The vault may have the memory under this key, because an element of a
    /// layer document may have the same id.
    pub(super) fn send_memory_key(&mut self, key: &RecordKey) {
        self.sink.alternative_key(key, &format!("{}#memory", key.value));
    }

    /// Sends a tombstone for each deletion line that has only an id (spec §3.1.8), so that the vault removes the
    /// record.
    pub(super) fn emit_tombstones(&mut self) -> Result<(), FormatError> {
        let Some(at) = self.deletion_time() else { return Ok(()) };
        for (id, target) in std::mem::take(&mut self.deleted) {
            let is_own = target.is_none();
            let (scope, target_id) = target.unwrap_or_else(|| (self.manifest.scope_of(&id, None), id.clone()));
            if is_own {
                self.send_memory_key(&RecordKey::new(&scope, &target_id));
            }
            self.sink.tombstone(Tombstone {
                id: format!("{}:{id}", self.manifest.agent),
                op: TombstoneOp::Delete,
                target_kind: "memory".into(),
                scope,
                target_id,
                at,
                actor: self.manifest.agent.clone(),
                reason: "deleted at the source".into(),
                derived: Derived::default(),
                signature: None,
                verbatim: None,
            })?;
        }
        Ok(())
    }

    /// Sends the keys of all elements in a document of a delta, because this document replaces the agent's whole
    /// document (spec §4.3).
    pub(super) fn send_replaced_list(&mut self, layer: &str, kind: Kind, keys: Vec<String>) -> Result<(), FormatError> {
        let Some(at) = self.deletion_time() else { return Ok(()) };
        let (scope, actor) = (scope_of_agent(&self.manifest.agent), self.manifest.agent.clone());
        let pointer = format!("/{layer}/");
        self.sink.replaced_list(ReplacedList { kind, format: "alf", scope, pointer, keys, at, actor })
    }

    /// Time of the deletions that a delta makes, because the delta states no time for each of them.
    fn deletion_time(&self) -> Option<Timestamp> {
        self.manifest.created().or_else(|| Timestamp::from_micros(0))
    }
}
