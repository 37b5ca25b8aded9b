//! Masks sensitive values in exports. The vault itself is not changed.
use crate::{
    VaultError, VaultResult,
    context::Context,
    findings::{ValueId, ignored_values, value_id},
    known_values::KnownValues,
    sensitive::{fields::fields, fields::for_each_value, marks::mark, marks::replace_by_marks},
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
use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, PoisonError},
};

/// JSON members that contain a digest or a public name. These members are not masked, because they are not secret and
/// other programs read them.
const UNMASKED_MEMBERS: [&str; 8] = ["hash", "digest", "checksum", "signature", "sha256", "etag", "model", "slug"];
/// Length in bytes from which a spelling is masked everywhere. A shorter spelling is masked only where the scan finds
/// the value.
const MIN_DISTINCTIVE_BYTES: usize = 8;

type Replacements = BTreeMap<String, String>;

/// Finds and masks the values that the person does not ignore.
pub(crate) struct Masker<'k> {
    keys: &'k VaultKeys,
    values: Arc<KnownValues>,
    /// Values that were masked.
    masked_values: HashSet<ValueId>,
}

impl<'k> Masker<'k> {
    /// Reads the known values from `c`, the snapshot that is exported.
    pub(crate) fn new(context: &'k Context, c: &Connection, packs: &Packs) -> VaultResult<Self> {
        let values = Arc::new(Self::read_values(&context.keys, c, packs)?);
        Ok(Self { keys: &context.keys, values, masked_values: HashSet::new() })
    }

    /// Like [`new`](Self::new) for the current state of the vault. The known values are cached until something changes,
    /// since reading many of them is slow.
    pub(crate) fn for_current_state(context: &'k Context) -> VaultResult<Self> {
        let values = context.store.read(|c| {
            let state = KnownValues::state(c)?;
            let mut cached = context.known_values.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((at, values)) = cached.as_ref()
                && *at == state
            {
                return Ok(values.clone());
            }
            let values = Arc::new(Self::read_values(&context.keys, c, &context.store.packs)?);
            *cached = Some((state, values.clone()));
            Ok(values)
        })?;
        Ok(Self { keys: &context.keys, values, masked_values: HashSet::new() })
    }

    fn read_values(keys: &VaultKeys, c: &Connection, packs: &Packs) -> VaultResult<KnownValues> {
        let ignored = ignored_values(c)?;
        let mut spellings = Replacements::new();
        let mut statement = c.prepare(
            "SELECT DISTINCT f.row FROM findings f JOIN records r ON r.row = f.row WHERE r.trashed IS NULL ORDER BY 1",
        )?;
        let rows = statement.query_map([], |r| r.get(0))?.collect::<Result<Vec<i64>, _>>()?;
        for row in rows {
            let Some(view) = RowView::by_row(c, row)? else { continue };
            let record = packs.record(c, view.pack, view.slot)?;
            for (_, text) in fields(&record) {
                for_each_value(text, |class, value| {
                    if value.len() >= MIN_DISTINCTIVE_BYTES && !ignored.contains(&value_id(keys, class, value)) {
                        spellings.insert(value.to_owned(), mark(class.as_str()));
                    }
                });
            }
        }
        let spellings = (!spellings.is_empty()).then(|| Removal::exact(spellings.into_iter().collect()));
        Ok(KnownValues { ignored, spellings })
    }

    /// Returns the number of different values that were masked so far.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.masked_values.len()).unwrap_or(u32::MAX)
    }

    /// Masks a record, including its `verbatim`. Returns the marks in the masked text, or None if the record contains
    /// nothing to mask.
    pub(crate) fn mask_record(&mut self, record: &mut Record) -> Option<Vec<Redaction>> {
        let mut pairs = Replacements::new();
        for (_, text) in fields(record) {
            self.add_findings(text, &mut pairs);
        }
        for text in ids_and_names(record) {
            self.add_findings(text, &mut pairs);
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
        let found_removal = (!pairs.is_empty()).then(|| Removal::exact(pairs.into_iter().collect()));
        let values = self.values.clone();
        let removals = || [&found_removal, &values.spellings].into_iter().flatten();
        // The text is masked separately, since the positions of its marks are returned.
        let (text, marks) = replace_by_marks(&std::mem::take(&mut record.text), removals());
        let mut other_fields_changed = false;
        for removal in removals() {
            other_fields_changed |= removal.clean_record(record);
        }
        record.text = text;
        if !marks.is_empty() {
            record.embeddings.clear(); // embeddings encode the words
        }
        (other_fields_changed || !marks.is_empty()).then_some(marks)
    }

    /// Masks the bytes of a passthrough file. Returns None if the file contains nothing to mask.
    ///
    /// # Errors
    /// `Usage` if the file cannot be masked, because it is not text or its name contains a value.
    pub(crate) fn mask_passthrough_file(&mut self, name: &str, bytes: &[u8]) -> VaultResult<Option<Vec<u8>>> {
        let unmaskable = || VaultError::Usage("not a text".into());
        let text = std::str::from_utf8(bytes).map_err(|_| unmaskable())?;
        let mut pairs = Replacements::new();
        self.add_findings(name, &mut pairs);
        if !pairs.is_empty() || text.contains('\0') {
            return Err(unmaskable());
        }
        self.find_in_text(text, text.trim_start().starts_with(['{', '[']), &mut pairs);
        let masked_bytes = match pairs.is_empty() {
            true => None,
            false => crate::word_removal::bytes::without_words(bytes, &Removal::exact(pairs.into_iter().collect()))?,
        };
        let known = match &self.values.spellings {
            Some(known) => crate::word_removal::bytes::without_words(masked_bytes.as_deref().unwrap_or(bytes), known)?,
            None => None,
        };
        Ok(known.or(masked_bytes))
    }

    /// Masks a tombstone: reason, actor and `verbatim`. If something was masked, removes the signature, because it
    /// covers the unmasked words.
    pub(crate) fn mask_tombstone(&mut self, tombstone: &mut Tombstone) {
        if let Some(key) = &tombstone.derived.source_key {
            let mut values_in_key = Replacements::new();
            self.add_findings(&key.value, &mut values_in_key);
            // A key that contains a mask no longer identifies a record, so it is left out.
            if !values_in_key.is_empty() {
                tombstone.derived.source_key = None;
            }
        }
        let mut pairs = Replacements::new();
        for text in [&tombstone.reason, &tombstone.actor] {
            self.add_findings(text, &mut pairs);
        }
        if let Some(verbatim) = &tombstone.verbatim {
            self.find_in_text(verbatim, true, &mut pairs);
        }
        if pairs.is_empty() {
            return;
        }
        let removal = Removal::exact(pairs.into_iter().collect());
        for text in [&mut tombstone.reason, &mut tombstone.actor] {
            removal.remove_in_place(text);
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

    fn add_findings(&mut self, text: &str, pairs: &mut Replacements) {
        self.add_findings_if(text, pairs, |_, _| true);
    }

    /// Adds to `pairs` the values of the findings for which `wanted` returns true. Ignored values are left out.
    fn add_findings_if(&mut self, text: &str, pairs: &mut Replacements, wanted: impl Fn(&Finding, &str) -> bool) {
        for finding in mementory_scan::scan(text) {
            let value = &text[finding.start..finding.end];
            let id = value_id(self.keys, finding.class, value);
            if wanted(&finding, value) && !self.values.ignored.contains(&id) {
                self.masked_values.insert(id);
                pairs.insert(value.to_owned(), mark(finding.class.as_str()));
            }
        }
    }

    fn find_in_value(&mut self, name: &str, value: &Value, pairs: &mut Replacements) {
        match value {
            Value::String(text) => self.find_in_member(name, text, pairs),
            Value::Number(number) => self.find_in_member(name, &number.to_string(), pairs),
            Value::Array(items) => items.iter().for_each(|item| self.find_in_value(name, item, pairs)),
            Value::Object(members) => members.iter().for_each(|(name, item)| {
                self.add_findings(name, pairs);
                self.find_in_value(name, item, pairs);
            }),
            _ => {}
        }
    }

    /// Finds values in JSON, JSON Lines or plain text.
    fn find_in_text(&mut self, text: &str, json: bool, pairs: &mut Replacements) {
        if !json {
            return self.add_findings(text, pairs);
        }
        match parse_tree(text.trim()) {
            Some(tree) => self.find_in_tree("", &tree, pairs),
            None => text.lines().for_each(|line| match parse_tree(line.trim()) {
                Some(tree) => self.find_in_tree("", &tree, pairs),
                None => self.add_findings(line, pairs),
            }),
        }
    }

    fn find_in_tree(&mut self, name: &str, tree: &Tree, pairs: &mut Replacements) {
        match tree {
            Tree::Text(text) => self.find_in_member(name, text, pairs),
            Tree::Number(number) => self.find_in_member(name, number, pairs),
            Tree::Array(items) => items.iter().for_each(|item| self.find_in_tree(name, item, pairs)),
            Tree::Object(members) => members.iter().for_each(|(name, item)| {
                self.add_findings(name, pairs);
                self.find_in_tree(name, item, pairs);
            }),
            _ => {}
        }
    }

    /// Finds values in a member, whose name can show the class of the value: `"password": "…"`.
    fn find_in_member(&mut self, name: &str, text: &str, pairs: &mut Replacements) {
        let lower_name = name.to_ascii_lowercase();
        if UNMASKED_MEMBERS.contains(&lower_name.as_str()) {
            return;
        }
        // An id alone is not secret, and other records refer to it, so only findings of the highest confidence count.
        let is_id =
            lower_name == "id" || lower_name.ends_with("_id") || lower_name.ends_with("_ids") || name.ends_with("Id");
        let is_relevant = |finding: &Finding| !is_id || finding.confidence == Confidence::VeryLikely;
        self.add_findings_if(text, pairs, |finding, _| is_relevant(finding));
        if !name.is_empty() {
            // Only findings inside the value count, since the name is not masked here.
            self.add_findings_if(&format!("{name}: {text}"), pairs, |finding, value| {
                is_relevant(finding) && text.contains(value)
            });
        }
    }
}

/// Parses JSON like [`Removal::json`]: if parsing fails, repairs the escapes of lone surrogates and parses again.
fn parse_tree(text: &str) -> Option<Tree> {
    match Tree::parse(text, 512) {
        Ok(tree) => Some(tree),
        Err(_) => Tree::parse(&mementory_json::repair(text.as_bytes())?.0, 512).ok(),
    }
}

/// Returns the ids and names in a record: those of accounts, people, files, places and tags.
fn ids_and_names(record: &Record) -> impl Iterator<Item = &str> {
    let source = &record.source;
    let optional_texts = [
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
    let key_and_origin = [&record.key.value, &record.origin.container, &record.origin.pointer];
    let all = optional_texts.into_iter().flatten().chain(key_and_origin).chain(&record.tags).chain(files);
    all.chain(record.entities.iter().map(|entity| &entity.name)).map(String::as_str)
}
