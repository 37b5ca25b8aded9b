//! Covering sensitive values in what leaves the vault. What stays in the vault is not changed.
use crate::{
    VaultError, VaultResult,
    context::Context,
    findings::{ValueId, ignored, value_id},
    sensitive::{fields::fields, fields::fields_found, marks::covered, marks::mark},
    word_removal::Removal,
};
use mementory_crypto::VaultKeys;
use mementory_formats::Redaction;
use mementory_json::Tree;
use mementory_model::{Record, Tombstone};
use mementory_scan::{Confidence, Finding};
use mementory_store::{Packs, RowView};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// Members that hold a digest or a name of a format: no secret, and read by other programs.
const DIGESTS: [&str; 8] = ["hash", "digest", "checksum", "signature", "sha256", "etag", "model", "slug"];
/// Shortest spelling that is masked everywhere; shorter ones only in the record that identifies them.
const DISTINCTIVE: usize = 8;

type Pairs = BTreeMap<String, String>;

/// Finds and covers the values that the person did not choose to ignore.
pub(crate) struct Masker<'k> {
    keys: &'k VaultKeys,
    ignored: HashSet<ValueId>,
    /// Spellings that some record identifies; other records may contain them without context.
    known: Option<Removal>,
    /// Values that were covered.
    covered: HashSet<ValueId>,
}

impl<'k> Masker<'k> {
    /// `c` sees what is exported.
    pub(crate) fn new(context: &'k Context, c: &Connection, packs: &Packs) -> VaultResult<Self> {
        let mut masker = Self { keys: &context.keys, ignored: ignored(c)?, known: None, covered: HashSet::new() };
        let mut known = Pairs::new();
        let mut statement = c.prepare(
            "SELECT DISTINCT f.row FROM findings f JOIN records r ON r.row = f.row WHERE r.trashed IS NULL ORDER BY 1",
        )?;
        let rows = statement.query_map([], |r| r.get(0))?.collect::<Result<Vec<i64>, _>>()?;
        for row in rows {
            let Some(view) = RowView::by_row(c, row)? else { continue };
            let record = packs.record(c, view.pack, view.slot)?;
            for (_, text) in fields(&record) {
                fields_found(text, |class, value| {
                    if value.len() >= DISTINCTIVE && !masker.ignored.contains(&value_id(masker.keys, class, value)) {
                        known.insert(value.to_owned(), mark(class.as_str()));
                    }
                });
            }
        }
        masker.known = (!known.is_empty()).then(|| Removal::exact(known.into_iter().collect()));
        Ok(masker)
    }

    /// How many different values were covered so far.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.covered.len()).unwrap_or(u32::MAX)
    }

    /// Covers a record, including its verbatim source text. Returns the marks that its text has now; None when there was
    /// nothing to cover.
    pub(crate) fn record(&mut self, record: &mut Record) -> Option<Vec<Redaction>> {
        let mut pairs = Pairs::new();
        for (_, text) in fields(record) {
            self.find(text, &mut pairs);
        }
        for text in names(record) {
            self.find(text, &mut pairs);
        }
        for (name, value) in &record.fields {
            self.find_in_value(name, value, &mut pairs);
        }
        for embedding in &record.embeddings {
            self.find_in_text(&embedding.json, true, &mut pairs);
        }
        if let Some(verbatim) = &record.verbatim {
            self.find_in_text(&verbatim.text, verbatim.media_type == "application/json", &mut pairs);
        }
        let own = (!pairs.is_empty()).then(|| Removal::exact(pairs.into_iter().collect()));
        let removals = || [&own, &self.known].into_iter().flatten();
        // The text apart, since what stood where in it is told.
        let (text, marks) = covered(&std::mem::take(&mut record.text), removals());
        let mut elsewhere = false;
        for removal in removals() {
            elsewhere |= removal.record(record);
        }
        record.text = text;
        if !marks.is_empty() {
            record.embeddings.clear(); // they encode the words
        }
        (elsewhere || !marks.is_empty()).then_some(marks)
    }

    /// Covers a part of a source that is no record. None: nothing is in it.
    ///
    /// # Errors
    /// `Usage` when it is no text, or its name holds a value, so that nobody can tell what is in it.
    pub(crate) fn part(&mut self, name: &str, bytes: &[u8]) -> VaultResult<Option<Vec<u8>>> {
        let closed = || VaultError::Usage("not a text".into());
        let text = std::str::from_utf8(bytes).map_err(|_| closed())?;
        let mut pairs = Pairs::new();
        self.find(name, &mut pairs);
        if !pairs.is_empty() || text.contains('\0') {
            return Err(closed());
        }
        self.find_in_text(text, text.trim_start().starts_with(['{', '[']), &mut pairs);
        let found = match pairs.is_empty() {
            true => None,
            false => crate::word_removal::bytes::without(bytes, &Removal::exact(pairs.into_iter().collect()))?,
        };
        let known = match &self.known {
            Some(known) => crate::word_removal::bytes::without(found.as_deref().unwrap_or(bytes), known)?,
            None => None,
        };
        Ok(known.or(found))
    }

    /// Covers what a tombstone says: its reason, who, and the source's own text. A signature over other words goes.
    pub(crate) fn tombstone(&mut self, tombstone: &mut Tombstone) {
        let mut pairs = Pairs::new();
        for text in [&tombstone.reason, &tombstone.actor] {
            self.find(text, &mut pairs);
        }
        if let Some(verbatim) = &tombstone.verbatim {
            self.find_in_text(verbatim, true, &mut pairs);
        }
        if pairs.is_empty() {
            return;
        }
        let removal = Removal::exact(pairs.into_iter().collect());
        for text in [&mut tombstone.reason, &mut tombstone.actor] {
            removal.in_place(text);
        }
        if let Some(verbatim) = &mut tombstone.verbatim {
            match removal.json(verbatim) {
                Some(Some(new)) => *verbatim = new,
                Some(None) => {}
                None => tombstone.verbatim = None,
            }
        }
        tombstone.signature = None;
    }

    fn find(&mut self, text: &str, pairs: &mut Pairs) {
        self.find_if(text, pairs, |_, _| true);
    }

    /// Findings that `wanted` says yes to.
    fn find_if(&mut self, text: &str, pairs: &mut Pairs, wanted: impl Fn(&Finding, &str) -> bool) {
        for finding in mementory_scan::scan(text) {
            let value = &text[finding.start..finding.end];
            let id = value_id(self.keys, finding.class, value);
            if wanted(&finding, value) && !self.ignored.contains(&id) {
                self.covered.insert(id);
                pairs.insert(value.to_owned(), mark(finding.class.as_str()));
            }
        }
    }

    fn find_in_value(&mut self, name: &str, value: &Value, pairs: &mut Pairs) {
        match value {
            Value::String(text) => self.find_in_member(name, text, pairs),
            Value::Number(number) => self.find_in_member(name, &number.to_string(), pairs),
            Value::Array(items) => items.iter().for_each(|item| self.find_in_value(name, item, pairs)),
            Value::Object(members) => members.iter().for_each(|(name, item)| {
                self.find(name, pairs);
                self.find_in_value(name, item, pairs);
            }),
            _ => {}
        }
    }

    /// JSON as a whole, JSON a line, or plain text.
    fn find_in_text(&mut self, text: &str, json: bool, pairs: &mut Pairs) {
        if !json {
            return self.find(text, pairs);
        }
        match tree(text.trim()) {
            Some(tree) => self.find_in_tree("", &tree, pairs),
            None => text.lines().for_each(|line| match tree(line.trim()) {
                Some(tree) => self.find_in_tree("", &tree, pairs),
                None => self.find(line, pairs),
            }),
        }
    }

    fn find_in_tree(&mut self, name: &str, tree: &Tree, pairs: &mut Pairs) {
        match tree {
            Tree::Text(text) => self.find_in_member(name, text, pairs),
            Tree::Number(number) => self.find_in_member(name, number, pairs),
            Tree::Array(items) => items.iter().for_each(|item| self.find_in_tree(name, item, pairs)),
            Tree::Object(members) => members.iter().for_each(|(name, item)| {
                self.find(name, pairs);
                self.find_in_tree(name, item, pairs);
            }),
            _ => {}
        }
    }

    /// A member says what it is by its name too: `"password": "…"`.
    fn find_in_member(&mut self, name: &str, text: &str, pairs: &mut Pairs) {
        let lower = name.to_ascii_lowercase();
        if DIGESTS.contains(&lower.as_str()) {
            return;
        }
        // What names a thing is no secret of itself, and other things point to it by this: only what proves itself goes.
        let names = lower == "id" || lower.ends_with("_id") || lower.ends_with("_ids") || name.ends_with("Id");
        let sure = |finding: &Finding| !names || finding.confidence == Confidence::VeryLikely;
        self.find_if(text, pairs, |finding, _| sure(finding));
        if !name.is_empty() {
            // Only what stands in the value: the name stays.
            self.find_if(&format!("{name}: {text}"), pairs, |finding, value| sure(finding) && text.contains(value));
        }
    }
}

/// As [`Removal::json`] reads it: a lone surrogate's escape is mended first.
fn tree(text: &str) -> Option<Tree> {
    match Tree::parse(text, 512) {
        Ok(tree) => Some(tree),
        Err(_) => Tree::parse(&mementory_json::repair(text.as_bytes())?.0, 512).ok(),
    }
}

/// Names in a record, of people, files and places.
fn names(record: &Record) -> impl Iterator<Item = &str> {
    let source = &record.source;
    let optional = [
        &record.namespace,
        &record.origin_id,
        &record.record_type,
        &source.account,
        &source.conversation,
        &source.message,
        &source.method,
        &source.project,
    ];
    let files = record.attachments.iter().flat_map(|file| [&file.name, &file.key.value]);
    let own = [&record.key.value, &record.origin.container, &record.origin.pointer];
    let all = optional.into_iter().flatten().chain(own).chain(&record.tags).chain(files);
    all.chain(record.entities.iter().map(|entity| &entity.name)).map(String::as_str)
}
