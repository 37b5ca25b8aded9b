//! Taking words out of text, of record bodies and of the source's own JSON.
use aho_corasick::AhoCorasick;
use keepsake_model::{Record, json::Tree, normal_text};
use unicode_segmentation::UnicodeSegmentation;

/// Shortest removed text that is also looked for outside the chosen span: a single letter stands everywhere.
pub(super) const LEAST: usize = 3;

/// Bytes of an exact string that are looked for first.
const HEAD: usize = 32;

/// What to take out and what to put in its place.
pub(super) struct Removal {
    /// Exact strings, with their replacement; longest first.
    exact: Vec<(String, String)>,
    /// How the exact strings begin: a thousand of them are not looked for one by one in every text. None for a
    /// single one.
    heads: Option<AhoCorasick>,
    /// Sentences in normal form, all replaced by `mark`.
    sentences: Vec<String>,
    mark: String,
}

impl Removal {
    /// Exact strings.
    pub(super) fn exact(mut pairs: Vec<(String, String)>) -> Self {
        pairs.retain(|(from, to)| from.chars().count() >= LEAST && from != to);
        pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        let heads = pairs.iter().map(|(from, _)| from.as_bytes().get(..HEAD).unwrap_or(from.as_bytes()));
        let heads = (pairs.len() > 1).then(|| AhoCorasick::new(heads).ok()).flatten();
        Self { exact: pairs, heads, sentences: vec![], mark: String::new() }
    }

    /// Sentences, however they are written.
    pub(super) fn sentences(sentences: Vec<String>, mark: &str) -> Self {
        Self { exact: vec![], heads: None, sentences, mark: mark.to_owned() }
    }

    /// True when there is nothing to take out.
    pub(super) fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.sentences.is_empty()
    }

    /// The text without what is to go; None when nothing was in it.
    pub(super) fn text(&self, text: &str) -> Option<String> {
        let mut out = None::<String>;
        let none = self.heads.as_ref().is_some_and(|heads| !heads.is_match(text));
        for (from, to) in self.exact.iter().filter(|_| !none) {
            let current = out.as_deref().unwrap_or(text);
            if current.contains(from.as_str()) {
                out = Some(current.replace(from.as_str(), to));
            }
        }
        if !self.sentences.is_empty() {
            out = self.without_sentences(out.as_deref().unwrap_or(text)).or(out);
        }
        out
    }

    fn without_sentences(&self, text: &str) -> Option<String> {
        let whole = normal_text(text);
        if !self.sentences.iter().any(|s| whole.contains(s.as_str())) {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut changed = false;
        for line in text.split_inclusive('\n') {
            for sentence in line.unicode_sentences() {
                let normal = normal_text(sentence);
                if !normal.is_empty()
                    && self.sentences.iter().any(|s| *s == normal || (s.len() >= 12 && normal.contains(s.as_str())))
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
        // A sentence that runs over a line end or a split that we do not see: rather too much than too little.
        if !changed {
            return Some(self.mark.clone());
        }
        Some(out)
    }

    fn in_place(&self, text: &mut String) -> bool {
        self.text(text).map(|new| *text = new).is_some()
    }

    /// Everywhere in a record: text, title, tags, names, fields, embeddings (dropped: they encode the words), verbatim.
    /// True when something changed.
    pub(super) fn record(&self, record: &mut Record) -> bool {
        let mut changed = self.in_place(&mut record.text);
        if let Some(title) = &mut record.title {
            changed |= self.in_place(title);
        }
        for tag in &mut record.tags {
            changed |= self.in_place(tag);
        }
        for attachment in &mut record.attachments {
            changed |= self.in_place(&mut attachment.name);
            if let Some(text) = &mut attachment.text {
                changed |= self.in_place(text);
            }
        }
        for entity in &mut record.entities {
            changed |= self.in_place(&mut entity.name);
        }
        for value in record.fields.values_mut() {
            changed |= self.value(value);
        }
        changed |= self.verbatim(record);
        if changed {
            record.embeddings.clear();
        }
        changed
    }

    fn value(&self, value: &mut serde_json::Value) -> bool {
        match value {
            serde_json::Value::String(text) => self.in_place(text),
            serde_json::Value::Array(items) => items.iter_mut().filter_map(|v| self.value(v).then_some(())).count() > 0,
            serde_json::Value::Object(members) => {
                members.values_mut().filter_map(|v| self.value(v).then_some(())).count() > 0
            }
            _ => false,
        }
    }

    fn verbatim(&self, record: &mut Record) -> bool {
        let Some(verbatim) = &mut record.verbatim else { return false };
        if verbatim.media_type != "application/json" {
            return self.in_place(&mut verbatim.text);
        }
        match self.json(&verbatim.text) {
            Some(Some(text)) => {
                verbatim.text = text;
                true
            }
            Some(None) => false,
            // Not readable as JSON, so it cannot be shown to be clean.
            None => {
                record.verbatim = None;
                true
            }
        }
    }

    /// JSON text without the words: None = not JSON, Some(None) = nothing was in it. Escapes are decoded first, so
    /// `\u00fc` hides nothing.
    pub(super) fn json(&self, text: &str) -> Option<Option<String>> {
        // Readers keep a lone surrogate's escape in the verbatim; as text it is no Unicode and has to be mended first.
        let mut tree = match Tree::parse(text, 512) {
            Ok(tree) => tree,
            Err(_) => Tree::parse(&keepsake_formats::json::repair(text.as_bytes())?.0, 512).ok()?,
        };
        if !self.tree(&mut tree) {
            return Some(None);
        }
        let mut out = String::with_capacity(text.len());
        tree.write(&mut out);
        Some(Some(out))
    }

    /// JSON inside a string (tool arguments, an older verbatim in an extension slot) escapes its words once more.
    fn json_in_text(&self, text: &mut String) -> bool {
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

    fn tree(&self, tree: &mut Tree) -> bool {
        match tree {
            Tree::Text(text) => self.in_place(text) | self.json_in_text(text),
            Tree::Array(items) => items.iter_mut().filter_map(|v| self.tree(v).then_some(())).count() > 0,
            Tree::Object(members) => members.iter_mut().fold(false, |c, (k, v)| self.in_place(k) | self.tree(v) || c),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_words_go_from_escaped_json() {
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
}
