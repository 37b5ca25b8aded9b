//! What is indexed, and how. Nothing is stored: the index answers with row numbers, the store has the records.
use crate::tokenize::WordTokenizer;
use tantivy::{
    Index, TantivyDocument,
    schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
};

/// Name the tokeniser is registered under; a new way of cutting words takes a new number.
const TOKENIZER: &str = "keepsake-words-1";

/// A document as the vault hands it over.
#[derive(Debug, Clone, Default)]
pub struct IndexDoc<'a> {
    /// The store's row number.
    pub row: u64,
    /// Kind of record.
    pub kind: &'a str,
    /// Where it came from.
    pub platform: &'a str,
    /// The record's own type.
    pub record_type: Option<&'a str>,
    /// Status.
    pub status: Option<&'a str>,
    /// Sensitivity.
    pub sensitivity: Option<&'a str>,
    /// Tags.
    pub tags: &'a [String],
    /// Microseconds since 1970.
    pub created: Option<i64>,
    /// Row of the conversation it is part of.
    pub conversation: Option<u64>,
    /// Title.
    pub title: Option<&'a str>,
    /// Texts.
    pub text: &'a [&'a str],
    /// File names.
    pub names: &'a [&'a str],
}

impl IndexDoc<'_> {
    /// Bytes of all its texts.
    pub(crate) fn bytes(&self) -> usize {
        let tags = self.tags.iter().map(String::len);
        let texts = self.text.iter().chain(self.names).map(|text| text.len());
        self.title.map_or(0, str::len) + texts.chain(tags).sum::<usize>()
    }
}

/// The fields, by handle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) row: Field,
    pub(crate) kind: Field,
    pub(crate) platform: Field,
    pub(crate) record_type: Field,
    pub(crate) status: Field,
    pub(crate) sensitivity: Field,
    pub(crate) tag: Field,
    pub(crate) created: Field,
    pub(crate) conversation: Field,
    pub(crate) title: Field,
    pub(crate) text: Field,
    pub(crate) names: Field,
}

impl Fields {
    /// The schema and its handles.
    pub(crate) fn schema() -> (Schema, Self) {
        let mut s = Schema::builder();
        let raw = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_fieldnorms(false)
                .set_index_option(IndexRecordOption::Basic),
        );
        let words = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(TOKENIZER)
                .set_index_option(IndexRecordOption::WithFreqsAndPositions),
        );
        let fields = Self {
            row: s.add_u64_field("row", INDEXED | FAST),
            kind: s.add_text_field("kind", raw.clone()),
            platform: s.add_text_field("platform", raw.clone()),
            record_type: s.add_text_field("record_type", raw.clone()),
            status: s.add_text_field("status", raw.clone()),
            sensitivity: s.add_text_field("sensitivity", raw.clone()),
            tag: s.add_text_field("tag", raw),
            created: s.add_i64_field("created", INDEXED | FAST),
            conversation: s.add_u64_field("conversation", FAST),
            title: s.add_text_field("title", words.clone()),
            text: s.add_text_field("text", words.clone()),
            names: s.add_text_field("names", words),
        };
        (s.build(), fields)
    }

    /// Fields that words are looked for in, with how much a hit in them weighs.
    pub(crate) fn searched(&self) -> [(Field, f32); 3] {
        [(self.text, 1.0), (self.title, 2.0), (self.names, 1.5)]
    }

    pub(crate) fn document(&self, doc: &IndexDoc<'_>) -> TantivyDocument {
        let mut out = TantivyDocument::new();
        out.add_u64(self.row, doc.row);
        out.add_text(self.kind, doc.kind);
        out.add_text(self.platform, doc.platform);
        let optional =
            [(self.record_type, doc.record_type), (self.status, doc.status), (self.sensitivity, doc.sensitivity)];
        for (field, value) in optional {
            if let Some(value) = value {
                out.add_text(field, value);
            }
        }
        for tag in doc.tags {
            out.add_text(self.tag, tag);
        }
        if let Some(created) = doc.created {
            out.add_i64(self.created, created);
        }
        if let Some(conversation) = doc.conversation {
            out.add_u64(self.conversation, conversation);
        }
        if let Some(title) = doc.title {
            out.add_text(self.title, title);
        }
        for text in doc.text {
            out.add_text(self.text, text);
        }
        for name in doc.names {
            out.add_text(self.names, name);
        }
        out
    }
}

/// Makes the tokeniser known to an index.
pub(crate) fn register(index: &Index) {
    index.tokenizers().register(TOKENIZER, WordTokenizer);
}
