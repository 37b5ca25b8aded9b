//! Removes words from text, record bodies and the JSON of a source.
use crate::word_removal::{
    ERASED_MARK,
    around_marks::QuotedPieces,
    edit_json, is_rare_phrase,
    spans::{Overlap, Spans},
    split_texts::{pieces_between_marks, sentences_left},
    with_windows_line_ends,
};
use aho_corasick::AhoCorasick;
use mementory_json::Tree;
use mementory_model::{MIN_SEARCHED_CHARS, Record, contains_words, normal_text};
use std::collections::BTreeSet;
use unicode_segmentation::UnicodeSegmentation;

/// A first search looks only for this many leading bytes of an exact string.
const HEAD_BYTES: usize = 32;

/// Minimum length in bytes, in normal form, of a sentence that is also searched for inside longer sentences.
const MIN_INNER_SENTENCE_BYTES: usize = 12;

/// Words to remove, with their replacements.
#[derive(Default)]
pub(crate) struct Removal {
    /// Exact strings with their replacements, longest first.
    exact: Vec<(String, String)>,
    /// The beginnings of the exact strings, so that a thousand strings are searched for in one pass over a text. None
    /// for a single string.
    heads: Option<AhoCorasick>,
    /// Sentences in normal form, all replaced by `mark`.
    sentences: Vec<String>,
    mark: String,
    /// Chosen spans of a text. A string is replaced as a whole if it repeats words inside a span or across the border
    /// of one.
    spans: Option<Spans>,
    /// Finds quotations of the erased texts that contain marks of earlier redactions.
    pieces: Option<QuotedPieces>,
}

impl Removal {
    /// Returns a removal of these exact strings. Each pair contains a string and its replacement. Strings of several
    /// lines are also removed with Windows line endings. Strings of fewer than [`MIN_SEARCHED_CHARS`] characters are
    /// left out.
    pub(crate) fn exact(mut pairs: Vec<(String, String)>) -> Self {
        let windows = pairs.iter().filter_map(|(from, to)| {
            let to = with_windows_line_ends(to).unwrap_or_else(|| to.clone());
            Some((with_windows_line_ends(from)?, to))
        });
        pairs.extend(windows.collect::<Vec<_>>());
        pairs.retain(|(from, to)| from.chars().count() >= MIN_SEARCHED_CHARS && from != to);
        pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        let heads = pairs.iter().map(|(from, _)| from.as_bytes().get(..HEAD_BYTES).unwrap_or(from.as_bytes()));
        let heads = (pairs.len() > 1).then(|| AhoCorasick::new(heads).ok()).flatten();
        Self { exact: pairs, heads, ..Self::default() }
    }

    /// Returns a removal of erased texts from files. The texts, and files that quote them, may contain marks of earlier
    /// redactions. Long pieces between the marks of a text are removed wherever they occur, and so are the sentences of
    /// the text that earlier erasures left.
    ///
    /// `quotations` are changed texts of other records, each with the new text. A file that quotes such a text as a
    /// whole loses the same words. Otherwise the quotation would not be recognised when the other record is erased.
    pub(crate) fn erased(texts: &[String], quotations: &[(String, String)]) -> Self {
        let pieces = pieces_between_marks(texts).into_iter().filter(|piece| is_rare_phrase(&normal_text(piece)));
        let exact = texts.iter().map(String::as_str).chain(pieces).chain(sentences_left(texts));
        let erased = exact.map(|text| (text.to_owned(), ERASED_MARK.to_owned()));
        let exact = Self::exact(erased.chain(quotations.iter().cloned()).collect());
        let windows = texts.iter().filter_map(|text| with_windows_line_ends(text));
        let texts: Vec<String> = texts.iter().cloned().chain(windows).collect();
        Self { pieces: Some(QuotedPieces::new(&texts)), ..exact }
    }

    /// Returns the finder for quotations of the erased texts that contain marks of earlier redactions.
    pub(crate) fn pieces(&self) -> Option<&QuotedPieces> {
        self.pieces.as_ref()
    }

    /// Returns a removal of these sentences, given in normal form. They match regardless of case, spaces and
    /// punctuation.
    pub(crate) fn sentences(sentences: Vec<String>, mark: &str) -> Self {
        Self::default().and_sentences(sentences, mark)
    }

    /// Adds sentences, which are removed after the exact strings.
    pub(crate) fn and_sentences(self, mut sentences: Vec<String>, mark: &str) -> Self {
        sentences.retain(|s| !s.is_empty());
        Self { sentences, mark: mark.to_owned(), ..self }
    }

    /// Adds spans. A string is replaced as a whole if its words repeat words that are inside a span or cross the border
    /// of a span.
    pub(crate) fn and_spans(self, spans: Spans, mark: &str) -> Self {
        Self { spans: Some(spans), mark: mark.to_owned(), ..self }
    }

    /// True if the removal has sentences or spans, so that a text may lose other words than the exact strings.
    pub(crate) fn removes_more_than_exact_words(&self) -> bool {
        !self.sentences.is_empty() || self.spans.is_some()
    }

    /// Returns the exact strings with their replacements, longest first.
    pub(crate) fn exact_pairs(&self) -> &[(String, String)] {
        &self.exact
    }

    /// Returns the exact strings.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.exact.iter().map(|(words, _)| words.as_str())
    }

    /// True if the removal contains nothing to remove.
    pub(crate) fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.sentences.is_empty() && self.spans.is_none()
    }

    /// Removes the words from a text. Returns None if the text contains none of the words.
    pub(crate) fn text(&self, text: &str) -> Option<String> {
        // At least two words must match a span, since one word, such as a key or a role, may match by chance.
        self.replace_in_text(text, 2)
    }

    /// Removes the words from the text or title of a record. Unlike in [`text`](Self::text), a single word is enough to
    /// match a span.
    pub(crate) fn record_text(&self, text: &str) -> Option<String> {
        self.replace_in_text(text, 1)
    }

    fn replace_in_text(&self, text: &str, min_words: usize) -> Option<String> {
        let mut out = None::<String>;
        for (from, to) in self.candidates(text) {
            let current = out.as_deref().unwrap_or(text);
            if current.contains(from.as_str()) {
                out = Some(current.replace(from.as_str(), to));
            }
        }
        if !self.sentences.is_empty() {
            out = self.without_sentences(out.as_deref().unwrap_or(text)).or(out);
        }
        let overlap = self.spans.as_ref().map_or(Overlap::None, |spans| spans.overlap(text, min_words));
        // The whole text is replaced if it crosses the border of a span, or if it contains a span in another layout,
        // which the exact search did not find.
        if overlap == Overlap::Crosses || overlap == Overlap::Contains && out.is_none() {
            out = Some(self.mark.clone());
        }
        out.filter(|new| new != text)
    }

    /// Returns the exact strings that may occur in a text, longest first, each with its replacement.
    pub(crate) fn found_in<'r>(&'r self, text: &str) -> impl Iterator<Item = (&'r str, &'r str)> {
        self.candidates(text).map(|(from, to)| (from.as_str(), to.as_str()))
    }

    /// Returns the exact strings whose beginning is in the text, longest first. The other strings, often most of a
    /// thousand, need not be compared. A single string is returned without a search.
    fn candidates(&self, text: &str) -> impl Iterator<Item = &(String, String)> {
        let found: BTreeSet<usize> = match &self.heads {
            Some(heads) if !heads.is_match(text) => BTreeSet::new(),
            Some(heads) => heads.find_overlapping_iter(text).map(|m| m.pattern().as_usize()).collect(),
            None => (0..self.exact.len()).collect(),
        };
        found.into_iter().filter_map(|n| self.exact.get(n))
    }

    fn without_sentences(&self, text: &str) -> Option<String> {
        let whole = normal_text(text);
        let is_contained = |s: &&String| s.len() >= MIN_INNER_SENTENCE_BYTES && whole.contains(s.as_str());
        let contains_long_sentence = self.sentences.iter().any(|s| is_contained(&s));
        if !contains_long_sentence
            && !self.sentences.iter().any(|s| s.len() < MIN_INNER_SENTENCE_BYTES && whole.contains(s.as_str()))
        {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut changed = false;
        for line in text.split_inclusive('\n') {
            for sentence in line.unicode_sentences() {
                let normal = normal_text(sentence);
                if !normal.is_empty()
                    && self
                        .sentences
                        .iter()
                        .any(|s| *s == normal || (s.len() >= MIN_INNER_SENTENCE_BYTES && normal.contains(s.as_str())))
                {
                    let end = sentence.trim_end();
                    out.push_str(&self.mark);
                    out.push_str(sentence.get(end.len()..).unwrap_or(""));
                    changed = true;
                } else {
                    out.push_str(sentence);
                }
            }
        }
        if changed {
            return Some(out);
        }
        // The sentence extends over a line end or an undetected boundary. The whole text is replaced, so that no words
        // are left.
        contains_long_sentence.then(|| self.mark.clone())
    }

    pub(crate) fn remove_in_place(&self, text: &mut String) -> bool {
        self.text(text).map(|new| *text = new).is_some()
    }

    /// Removes the words everywhere in a record: text, title, tags, names, key, origin, source, fields, `verbatim`. If
    /// something changed, drops the embeddings, which encode the words, and returns true. Keys of *other* records
    /// (links, parents, files) stay, since exports find those records by these keys.
    pub(crate) fn clean_record(&self, record: &mut Record) -> bool {
        let mut changed = false;
        for text in [Some(&mut record.text), record.title.as_mut()].into_iter().flatten() {
            changed |= self.record_text(text).map(|new| *text = new).is_some();
        }
        for tag in &mut record.tags {
            changed |= self.remove_in_place(tag);
        }
        for attachment in &mut record.attachments {
            changed |= self.remove_in_place(&mut attachment.name);
            if let Some(text) = &mut attachment.text {
                changed |= self.remove_in_place(text);
            }
        }
        for entity in &mut record.entities {
            changed |= self.remove_in_place(&mut entity.name);
        }
        for value in record.fields.values_mut() {
            changed |= self.clean_value(value);
        }
        changed |= self.clean_keys(&mut record.fields);
        changed |= self.clean_source_names(record);
        changed |= self.clean_verbatim(record);
        if changed {
            record.embeddings.clear();
        }
        changed
    }

    /// Removes the words from names that the source gave: paths, ids, folders. The vault's id of a record is stored in
    /// a separate column, so the record's key may lose the words.
    fn clean_source_names(&self, record: &mut Record) -> bool {
        // An id without a part of its text identifies nothing, so it is dropped.
        let changed_id = record.origin_id.as_deref().is_some_and(|id| self.name_without_words(id).is_some());
        if changed_id {
            record.origin_id = None;
        }
        let source = &mut record.source;
        let optional_texts = [
            &mut record.namespace,
            &mut source.account,
            &mut source.conversation,
            &mut source.message,
            &mut source.method,
            &mut source.project,
        ];
        let origin = &mut record.origin;
        let names = [&mut record.key.value, &mut origin.container, &mut origin.pointer];
        optional_texts.into_iter().flatten().chain(names).fold(changed_id, |changed, name| {
            match self.name_without_words(name) {
                Some(new) => {
                    *name = new;
                    true
                }
                None => changed,
            }
        })
    }

    /// Returns the name without the words, or None if the name contains none of the words. A few letters inside a
    /// longer word or an id do not match.
    fn name_without_words(&self, name: &str) -> Option<String> {
        if self.candidates(name).any(|(from, _)| contains_words(name, from)) {
            return self.text(name);
        }
        if self.sentences.is_empty() { None } else { self.without_sentences(name) }
    }

    fn clean_keys(&self, members: &mut serde_json::Map<String, serde_json::Value>) -> bool {
        if !members.keys().any(|key| self.name_without_words(key).is_some()) {
            return false;
        }
        let old_members = std::mem::take(members);
        members
            .extend(old_members.into_iter().map(|(key, value)| (self.name_without_words(&key).unwrap_or(key), value)));
        true
    }

    fn clean_value(&self, value: &mut serde_json::Value) -> bool {
        match value {
            serde_json::Value::String(text) => self.remove_in_place(text),
            serde_json::Value::Array(items) => {
                items.iter_mut().filter_map(|v| self.clean_value(v).then_some(())).count() > 0
            }
            serde_json::Value::Number(number) => match self.number_replacement(&number.to_string()) {
                Some(mark) => {
                    *value = serde_json::Value::String(mark);
                    true
                }
                None => false,
            },
            serde_json::Value::Object(members) => {
                members.values_mut().fold(false, |changed, v| self.clean_value(v) | changed) | self.clean_keys(members)
            }
            _ => false,
        }
    }

    /// Returns the replacement of a number that equals one of the exact strings.
    fn number_replacement(&self, number: &str) -> Option<String> {
        self.candidates(number).find(|(from, _)| from == number).map(|(_, mark)| mark.clone())
    }

    fn clean_verbatim(&self, record: &mut Record) -> bool {
        let Some(verbatim) = &mut record.verbatim else { return false };
        if verbatim.media_type != "application/json" {
            return self.remove_in_place(&mut verbatim.text);
        }
        match self.json(&verbatim.text) {
            Some(Some(text)) => {
                verbatim.text = text;
                true
            }
            Some(None) => false,
            // The `verbatim` is not JSON, so the words may be hidden in it, and it is dropped.
            None => {
                record.verbatim = None;
                true
            }
        }
    }

    /// Removes the words from JSON text. Returns None if the text is not JSON, and Some(None) if it contains none of
    /// the words. Escapes such as `\u00fc` are decoded first, so that words cannot hide behind them.
    pub(crate) fn json(&self, text: &str) -> Option<Option<String>> {
        edit_json(text, |tree| self.clean_tree(tree))
    }

    /// Removes the words from JSON inside a string (tool arguments, an older `verbatim` in an extension slot), where
    /// they are escaped twice.
    fn clean_json_in_text(&self, text: &mut String) -> bool {
        if !text.trim_start().starts_with(['{', '[']) {
            return false;
        }
        match self.json(text) {
            Some(Some(new)) => {
                *text = new;
                true
            }
            _ => false,
        }
    }

    fn clean_tree(&self, tree: &mut Tree) -> bool {
        match tree {
            Tree::Text(text) => self.remove_in_place(text) | self.clean_json_in_text(text),
            Tree::Array(items) => items.iter_mut().filter_map(|v| self.clean_tree(v).then_some(())).count() > 0,
            Tree::Object(members) => {
                members.iter_mut().fold(false, |c, (k, v)| self.remove_in_place(k) | self.clean_tree(v) || c)
            }
            Tree::Number(number) => match self.number_replacement(number) {
                Some(mark) => {
                    *tree = Tree::Text(mark);
                    true
                }
                None => false,
            },
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_model::{Kind, RecordKey};

    #[test]
    fn exact_words_are_removed_from_escaped_json() {
        let removal = Removal::exact(vec![("Müller".into(), "[REDACTED:name]".into())]);
        let json = removal.json(r#"{"a":1.50,"b":["Herr M\u00fcller",null]}"#);
        assert_eq!(
            json,
            Some(Some(r#"{"a":1.50,"b":["Herr [REDACTED:name]",null]}"#.into())),
            "escapes are decoded, numbers keep their text"
        );
    }

    #[test]
    fn sentences_match_however_they_are_written() {
        let removal = Removal::sentences(vec![normal_text("I am allergic to sesame.")], "[REDACTED:erased]");
        let out = removal.text("Hello there. I am  ALLERGIC to sesame! Bye.");
        assert_eq!(
            out.as_deref(),
            Some("Hello there. [REDACTED:erased] Bye."),
            "case, spaces and punctuation do not matter"
        );
        assert_eq!(removal.text("Nothing of it here."), None, "other text is left alone");
    }

    #[test]
    fn short_sentences_are_removed_only_as_whole_sentences() {
        let removal = Removal::sentences(vec!["tea".into()], "[X]");
        assert_eq!(removal.text("A steamy day. Tea! More."), Some("A steamy day. [X] More.".into()));
        assert_eq!(removal.text("A steamy day."), None, "letters inside other words are not the sentence");
    }

    #[test]
    fn all_names_in_a_record_lose_the_words() {
        let removal = Removal::exact(vec![("secret trip".into(), "[X]".into()), ("tea".into(), "[X]".into())]);
        let mut record = Record::new(Kind::Memory, RecordKey::new("claude", "memory/secret trip.md"), "-");
        record.origin_id = Some("secret trip.md".into());
        record.namespace = Some("steam".into());
        record.origin.container = "notes/secret trip.md".into();
        record.source.project = Some("tea".into());
        record.fields.insert("secret trip".into(), serde_json::json!({ "tea": 1 }));
        assert!(removal.clean_record(&mut record));
        let text = serde_json::to_string(&record).unwrap();
        assert!(!text.contains("secret trip") && !text.contains("\"tea"), "{text}");
        assert_eq!(record.namespace.as_deref(), Some("steam"), "letters inside a word stay");
    }
}
