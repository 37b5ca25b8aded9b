//! The entries of the list of erasures. An act is one erasure or redaction.
use crate::erasure_ledger::words::WordFingerprint;
use mementory_store::{ids::parse_id, tombstones::own_targets};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// The erasures and redactions of a vault. The key of an erasure or redaction is the id of its receipt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    pub(crate) acts: BTreeMap<String, ErasureAct>,
}

/// One erasure or redaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ErasureAct {
    /// Time of the erasure or redaction, in microseconds since 1970.
    pub(crate) at: i64,
    pub(crate) records: Vec<LedgerRecord>,
    /// Fingerprints of the redacted words, as they were spelled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) words: Vec<WordFingerprint>,
    /// Fingerprints of the redacted sentences in normal form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sentences: Vec<WordFingerprint>,
}

/// A record that was erased or redacted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LedgerRecord {
    /// Id of the record's tombstone. A vault with this tombstone has already applied this entry.
    pub(crate) tombstone: String,
    /// Id of the record, in hexadecimal.
    pub(crate) record: String,
    /// Name of the record's kind.
    pub(crate) kind: String,
    pub(crate) redacted: bool,
    /// Fingerprints that block the words of the record in imports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) blocked: Vec<String>,
    /// Fingerprints of the texts from which words were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) former: Vec<String>,
}

impl LedgerRecord {
    pub(crate) fn id(&self) -> Option<[u8; 16]> {
        parse_id(&self.record)
    }

    pub(crate) fn blocked_fingerprints(&self) -> Vec<[u8; 16]> {
        self.blocked.iter().filter_map(|fingerprint| parse_id(fingerprint)).collect()
    }
}

impl Ledger {
    /// Adds the acts of another list. An act has the same id in every copy of the vault. If both lists contain an act,
    /// the entry with more fingerprints of words and sentences stays.
    pub(crate) fn merge(&mut self, other: Self) {
        for (id, act) in other.acts {
            match self.acts.get_mut(&id) {
                None => drop(self.acts.insert(id, act)),
                // An entry that was made from tombstones has no fingerprints of words.
                Some(known) if known.words.len() + known.sentences.len() < act.words.len() + act.sentences.len() => {
                    *known = act;
                }
                Some(_) => {}
            }
        }
    }

    /// Adds acts for the vault's own tombstones that no act contains, for example because they were written before the
    /// vault had this list.
    pub(crate) fn add_tombstones(&mut self, c: &Connection) -> mementory_store::StoreResult<()> {
        let known: HashSet<&String> =
            self.acts.values().flat_map(|act| &act.records).map(|entry| &entry.tombstone).collect();
        let mut missing: BTreeMap<String, ErasureAct> = BTreeMap::new();
        for target in own_targets(c)?.into_iter().filter(|target| !known.contains(&target.tombstone)) {
            let act = missing.entry(target.receipt.unwrap_or_else(|| target.tombstone.clone())).or_default();
            act.at = target.at;
            act.records.push(LedgerRecord {
                tombstone: target.tombstone,
                record: hex::encode(target.record),
                kind: target.kind,
                redacted: target.redacted,
                blocked: target.fingerprints.iter().map(hex::encode).collect(),
                former: Vec::new(),
            });
        }
        for (id, act) in missing {
            self.acts.entry(id).or_default().add(act);
        }
        Ok(())
    }

    /// Returns the acts with a tombstone that is not in `applied`, oldest first. Of each act, returns only the records
    /// whose tombstone is not in `applied`.
    pub(crate) fn missing(&self, applied: &HashSet<String>) -> Vec<(String, ErasureAct)> {
        let mut out: Vec<(String, ErasureAct)> = self
            .acts
            .iter()
            .map(|(id, act)| (id.clone(), act.without_applied(applied)))
            .filter(|(_, act)| !act.records.is_empty())
            .collect();
        out.sort_by(|a, b| (a.1.at, &a.0).cmp(&(b.1.at, &b.0)));
        out
    }
}

impl ErasureAct {
    fn add(&mut self, other: Self) {
        self.at = other.at;
        self.records.extend(other.records);
    }

    fn without_applied(&self, applied: &HashSet<String>) -> Self {
        let records = self.records.iter().filter(|entry| !applied.contains(&entry.tombstone)).cloned().collect();
        Self { records, ..self.clone() }
    }
}
