//! Covering sensitive values in what leaves the vault. What stays in the vault is not changed.
use super::{ValueId, queue::ignored, value_id};
use crate::{VaultError, VaultResult, change::Removal};
use keepsake_crypto::VaultKeys;
use keepsake_model::{Record, json::Tree};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// Members of a source's own JSON that name things. A part cut out of an id breaks what points to it, and no id is a
/// secret.
const NAMES: [&str; 10] = ["id", "uuid", "hash", "digest", "checksum", "signature", "sha256", "etag", "model", "slug"];

/// Finds and covers the values that the person did not choose to ignore.
pub(crate) struct Cover<'k> {
    keys: &'k VaultKeys,
    ignored: HashSet<ValueId>,
    /// Values that were covered.
    covered: HashSet<ValueId>,
}

impl<'k> Cover<'k> {
    pub(crate) fn new(keys: &'k VaultKeys, c: &Connection) -> VaultResult<Self> {
        Ok(Self { keys, ignored: ignored(c)?, covered: HashSet::new() })
    }

    /// How many different values were covered so far.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.covered.len()).unwrap_or(u32::MAX)
    }

    /// Covers a record, the source's own text of it too. True when something was in it.
    pub(crate) fn record(&mut self, record: &mut Record) -> bool {
        let mut pairs = BTreeMap::new();
        self.find(&record.text, &mut pairs);
        let names = record.entities.iter().map(|entity| &entity.name);
        for text in record.title.iter().chain(&record.tags).chain(names) {
            self.find(text, &mut pairs);
        }
        for file in &record.attachments {
            self.find(&file.name, &mut pairs);
            self.find(file.text.as_deref().unwrap_or_default(), &mut pairs);
        }
        for (name, value) in &record.fields {
            self.find_in_value(name, value, &mut pairs);
        }
        if let Some(verbatim) = &record.verbatim {
            self.find_in_text(&verbatim.text, verbatim.media_type == "application/json", &mut pairs);
        }
        !pairs.is_empty() && Removal::exact(pairs.into_iter().collect()).record(record)
    }

    /// Covers a part of a source that is no record. None: nothing is in it.
    ///
    /// # Errors
    /// `Usage` when it is no text, so that nobody can tell what is in it.
    pub(crate) fn part(&mut self, bytes: &[u8]) -> VaultResult<Option<Vec<u8>>> {
        let text = std::str::from_utf8(bytes).map_err(|_| VaultError::Usage("not a text".into()))?;
        let mut pairs = BTreeMap::new();
        let json = text.trim_start().starts_with(['{', '[']);
        self.find_in_text(text, json, &mut pairs);
        if pairs.is_empty() {
            return Ok(None);
        }
        crate::change::without(bytes, &Removal::exact(pairs.into_iter().collect()))
    }

    fn find(&mut self, text: &str, pairs: &mut BTreeMap<String, String>) {
        for finding in keepsake_scan::scan(text) {
            let value = &text[finding.start..finding.end];
            let id = value_id(self.keys, finding.class, value);
            if !self.ignored.contains(&id) {
                self.covered.insert(id);
                pairs.insert(value.to_owned(), format!("[REDACTED:{}]", finding.class.as_str()));
            }
        }
    }

    fn find_in_value(&mut self, name: &str, value: &Value, pairs: &mut BTreeMap<String, String>) {
        match value {
            Value::String(text) => self.find_in_member(name, text, pairs),
            Value::Array(items) => items.iter().for_each(|item| self.find_in_value(name, item, pairs)),
            Value::Object(members) => members.iter().for_each(|(name, item)| self.find_in_value(name, item, pairs)),
            _ => {}
        }
    }

    /// JSON as a whole, JSON a line, or plain text.
    fn find_in_text(&mut self, text: &str, json: bool, pairs: &mut BTreeMap<String, String>) {
        if !json {
            return self.find(text, pairs);
        }
        match Tree::parse(text.trim(), 512) {
            Ok(tree) => self.find_in_tree("", &tree, pairs),
            Err(_) => text.lines().for_each(|line| match Tree::parse(line.trim(), 512) {
                Ok(tree) => self.find_in_tree("", &tree, pairs),
                Err(_) => self.find(line, pairs),
            }),
        }
    }

    fn find_in_tree(&mut self, name: &str, tree: &Tree, pairs: &mut BTreeMap<String, String>) {
        match tree {
            Tree::Text(text) => self.find_in_member(name, text, pairs),
            Tree::Array(items) => items.iter().for_each(|item| self.find_in_tree(name, item, pairs)),
            Tree::Object(members) => members.iter().for_each(|(name, item)| self.find_in_tree(name, item, pairs)),
            _ => {}
        }
    }

    /// A lone word says what it is by its name: `"password": "…"`.
    fn find_in_member(&mut self, name: &str, text: &str, pairs: &mut BTreeMap<String, String>) {
        let lower = name.to_ascii_lowercase();
        if NAMES.contains(&lower.as_str()) || lower.ends_with("_id") || lower.ends_with("_ids") || name.ends_with("Id")
        {
            return;
        }
        if name.is_empty() || text.contains(char::is_whitespace) {
            return self.find(text, pairs);
        }
        let mut named = BTreeMap::new();
        self.find(&format!("{name}: {text}"), &mut named);
        // Only what stands in the value: the name stays.
        pairs.extend(named.into_iter().filter(|(value, _)| text.contains(value.as_str())));
    }
}
