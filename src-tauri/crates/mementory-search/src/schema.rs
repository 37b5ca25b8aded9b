//! The schema: the indexed fields and their options. The index stores no text. It returns row numbers, and the records
//! are in the store.
use crate::tokenize::WordTokenizer;
use tantivy::{
    Index, TantivyDocument,
    schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
};

/// Name under which the tokenizer is registered. If the way words are split changes, the number at its end must change.
const TOKENIZER_NAME: &str = "keepsake-words-1";

/// A document to index. The vault creates it from a record.
#[derive(Debug, Clone, Default)]
pub struct IndexDoc<'a> {
    /// Row number of the record in the store.
    pub row: u64,
    /// Kind of the record.
    pub kind: &'a str,
    /// The assistant or program that the record comes from.
    pub platform: &'a str,
    /// Type of the record.
    pub record_type: Option<&'a str>,
    /// Status of the record.
    pub status: Option<&'a str>,
    /// Who said the text of the record: `user`, `assistant` or `system`.
    pub said_by: Option<&'a str>,
    /// Sensitivity level of the record.
    pub sensitivity: Option<&'a str>,
    /// Tags of the record.
    pub tags: &'a [String],
    /// Time of creation in microseconds since 1970.
    pub created: Option<i64>,
    /// Row of the conversation that the record belongs to.
    pub conversation: Option<u64>,
    /// Title of the record.
    pub title: Option<&'a str>,
    /// The record's text and other content blocks.
    pub text: &'a [&'a str],
    /// Names of attached files.
    pub names: &'a [&'a str],
}

impl IndexDoc<'_> {
    /// Total length of the texts, title, names and tags of the document in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let tags = self.tags.iter().map(String::len);
        let texts = self.text.iter().chain(self.names).map(|text| text.len());
        self.title.map_or(0, str::len) + texts.chain(tags).sum::<usize>()
    }
}

/// Handles of the schema's fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) row: Field,
    pub(crate) kind: Field,
    pub(crate) platform: Field,
    pub(crate) record_type: Field,
    pub(crate) status: Field,
    pub(crate) said_by: Field,
    pub(crate) sensitivity: Field,
    pub(crate) tag: Field,
    pub(crate) created: Field,
    pub(crate) conversation: Field,
    pub(crate) title: Field,
    pub(crate) text: Field,
    pub(crate) names: Field,
}

impl Fields {
    /// The schema and the handles of its fields.
    pub(crate) fn schema() -> (Schema, Self) {
        let mut s = Schema::builder();
        let raw_text = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_fieldnorms(false)
                .set_index_option(IndexRecordOption::Basic),
        );
        let words = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(TOKENIZER_NAME)
                .set_index_option(IndexRecordOption::WithFreqsAndPositions),
        );
        let fields = Self {
            row: s.add_u64_field("row", INDEXED | FAST),
            kind: s.add_text_field("kind", raw_text.clone()),
            platform: s.add_text_field("platform", raw_text.clone()),
            record_type: s.add_text_field("record_type", raw_text.clone()),
            status: s.add_text_field("status", raw_text.clone()),
            said_by: s.add_text_field("said_by", raw_text.clone()),
            sensitivity: s.add_text_field("sensitivity", raw_text.clone()),
            tag: s.add_text_field("tag", raw_text),
            created: s.add_i64_field("created", INDEXED | FAST),
            conversation: s.add_u64_field("conversation", FAST),
            title: s.add_text_field("title", words.clone()),
            text: s.add_text_field("text", words.clone()),
            names: s.add_text_field("names", words),
        };
        (s.build(), fields)
    }

    /// Fields that are searched for words, with the weight of a match in each.
    pub(crate) fn searched_fields(&self) -> [(Field, f32); 3] {
        [(self.text, 1.0), (self.title, 2.0), (self.names, 1.5)]
    }

    pub(crate) fn document(&self, doc: &IndexDoc<'_>) -> TantivyDocument {
        let mut out = TantivyDocument::new();
        out.add_u64(self.row, doc.row);
        out.add_text(self.kind, doc.kind);
        out.add_text(self.platform, doc.platform);
        let optional = [
            (self.record_type, doc.record_type),
            (self.status, doc.status),
            (self.said_by, doc.said_by),
            (self.sensitivity, doc.sensitivity),
        ];
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

/// Registers the tokenizer with an index.
pub(crate) fn register(index: &Index) {
    index.tokenizers().register(TOKENIZER_NAME, WordTokenizer);
}
