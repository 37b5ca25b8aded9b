//! Searches an index for traces that an erasure should have removed. It shares no code with the erasure: the index is
//! opened again from its files, and everything in them is read, whether deleted or not.
//!
//! Words are looked up in the dictionaries, never in the raw bytes of a file. A dictionary is an automaton whose bytes
//! can spell a word by chance: a node stores the letters of its edges in reverse alphabetical order, so a node with the
//! edges d, i, l, o and s contains the bytes `solid`. The bytes of `meta.json` cannot be searched either, because it is
//! full of numbers and hexadecimal names.
use crate::{
    EncryptedDirectory, IndexError, IndexResult,
    directory::META_FILE,
    schema::{Fields, register},
};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
};
use tantivy::{
    DocId, DocSet, Index, InvertedIndexReader, SegmentReader, TERMINATED, Term,
    postings::SegmentPostings,
    schema::{Field, IndexRecordOption},
};

/// If a dictionary has more than this many terms for each searched word, the words are looked up one by one. A smaller
/// dictionary is read as a whole.
const MIN_TERMS_PER_LOOKUP: usize = 8;

/// A trace of an erased row or word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Name of the file, or id of the segment.
    pub file: String,
    /// Description of the trace, which does not quote the word.
    pub reason: String,
}

/// Result of searching an index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Residue {
    /// Empty if no trace was found.
    pub findings: Vec<Finding>,
    /// For each rewritten row, the indexes of the searched words that its documents contain. The index cannot know
    /// whether the row's record still contains them.
    pub words_by_row: BTreeMap<u64, HashSet<u32>>,
    /// Indexes of the searched words that are in a dictionary, no matter for which row.
    pub present: HashSet<u32>,
    /// Number of files searched.
    pub files: u32,
    /// Number of segments searched.
    pub segments: u32,
    /// Number of words in the dictionaries searched.
    pub terms: u64,
    /// Number of bytes decrypted.
    pub bytes: u64,
}

impl Residue {
    /// True if no trace was found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    fn add_finding(&mut self, file: impl Into<String>, reason: impl Into<String>) {
        self.findings.push(Finding { file: file.into(), reason: reason.into() });
    }
}

/// Decrypts every file of an index to its end, and searches for traces:
/// - documents of erased rows, even if they are marked as deleted;
/// - `words` (folded tokens) in these documents, or in those of a rewritten row;
/// - `words` that are in a dictionary although no document contains them;
/// - files that belong to no segment.
///
/// # Errors
/// `Missing` and `Damaged`, as when an index is opened. An index that cannot be read must not be called clean.
pub fn residue(dir: &Path, key: &[u8; 32], rows: &[u64], rewritten: &[u64], words: &[String]) -> IndexResult<Residue> {
    if !dir.join(META_FILE).try_exists()? {
        return Err(IndexError::Missing);
    }
    let directory = EncryptedDirectory::open(dir, key)?;
    let index = Index::open(directory.clone())?;
    register(&index);
    let mut out = Residue::default();
    if index.schema() != Fields::schema().0 {
        out.add_finding(META_FILE, "its fields are not those of this index");
    }
    let targets = SearchTargets {
        fields: Fields::schema().1,
        erased: rows.iter().copied().collect(),
        rewritten: rewritten.iter().copied().collect(),
        numbers: words.iter().enumerate().map(|(n, word)| (word.as_bytes(), n as u32)).collect(),
    };
    let mut named_files: HashSet<String> = HashSet::from([META_FILE.to_owned()]);
    named_files.extend(index.load_metas()?.list_segment_files().iter().map(|f| f.to_string_lossy().into_owned()));
    for segment in index.searchable_segments()? {
        out.segments += 1;
        targets.search(&SegmentReader::open(&segment)?, &segment.id().uuid_string(), &mut out)?;
    }
    for name in directory.file_names()? {
        out.files += 1;
        if !named_files.contains(&name) {
            out.add_finding(&name, "the file belongs to no segment");
            continue;
        }
        out.bytes += directory.scan(&name, |_| ())?;
    }
    Ok(out)
}

/// The words and rows to search for in each segment.
struct SearchTargets<'w> {
    fields: Fields,
    erased: HashSet<u64>,
    rewritten: HashSet<u64>,
    numbers: HashMap<&'w [u8], u32>,
}

impl SearchTargets<'_> {
    fn search(&self, segment: &SegmentReader, id: &str, out: &mut Residue) -> IndexResult<()> {
        let dictionary = segment.inverted_index(self.fields.row)?;
        for row in &self.erased {
            if dictionary.get_term_info(&Term::from_field_u64(self.fields.row, *row))?.is_some() {
                out.add_finding(id, format!("row {row} is in its dictionary"));
            }
        }
        // This column has the row of every document, deleted or not.
        let column = segment.fast_fields().u64("row")?;
        let mut docs_with_rows: BTreeMap<DocId, u64> = BTreeMap::new();
        for doc in 0..segment.max_doc() {
            match column.first(doc) {
                Some(row) if self.erased.contains(&row) || self.rewritten.contains(&row) => {
                    docs_with_rows.insert(doc, row);
                }
                Some(_) => {}
                None => out.add_finding(id, "a document has no row"),
            }
        }
        if docs_with_rows.values().any(|row| self.erased.contains(row)) {
            out.add_finding(id, "an erased row is in its columns");
        }
        // All other fields contain only words that the program itself sets, such as kinds and platforms.
        for field in [self.fields.title, self.fields.text, self.fields.names, self.fields.tag] {
            self.search_field(segment, id, field, &docs_with_rows, out)?;
        }
        Ok(())
    }

    fn search_field(
        &self,
        segment: &SegmentReader,
        id: &str,
        field: Field,
        docs_with_rows: &BTreeMap<DocId, u64>,
        out: &mut Residue,
    ) -> IndexResult<()> {
        let inverted = segment.inverted_index(field)?;
        let terms = inverted.terms().num_terms();
        out.terms += terms as u64;
        let mut check_word = |word: &[u8], number: u32| -> IndexResult<()> {
            let Some(postings) = inverted.read_postings(&term(field, word), IndexRecordOption::Basic)? else {
                return Ok(());
            };
            out.present.insert(number);
            if postings.doc() >= segment.max_doc() {
                out.add_finding(id, "an erased word is in its dictionary, and no document has it");
            }
            for doc in common_docs(postings, docs_with_rows) {
                let Some(row) = docs_with_rows.get(&doc) else { continue };
                if self.erased.contains(row) {
                    out.add_finding(id, "an erased word is in its dictionary");
                } else {
                    out.words_by_row.entry(*row).or_default().insert(number);
                }
            }
            Ok(())
        };
        if self.numbers.len().saturating_mul(MIN_TERMS_PER_LOOKUP) < terms {
            return self.numbers.iter().try_for_each(|(word, number)| check_word(word, *number));
        }
        self.read_dictionary(&inverted, &mut check_word)
    }

    /// Reads a whole dictionary. With many searched words, this is faster than looking them up one by one.
    fn read_dictionary(
        &self,
        inverted: &InvertedIndexReader,
        each: &mut impl FnMut(&[u8], u32) -> IndexResult<()>,
    ) -> IndexResult<()> {
        let mut stream = inverted.terms().stream()?;
        while stream.advance() {
            if let Some(number) = self.numbers.get(stream.key()) {
                each(stream.key(), *number)?;
            }
        }
        Ok(())
    }
}

fn term(field: Field, word: &[u8]) -> Term {
    Term::from_field_text(field, &String::from_utf8_lossy(word))
}

/// The documents that are both in `postings` and in `docs_with_rows`.
fn common_docs(mut postings: SegmentPostings, docs_with_rows: &BTreeMap<DocId, u64>) -> Vec<DocId> {
    let mut out = Vec::new();
    for doc in docs_with_rows.keys() {
        if postings.doc() == TERMINATED {
            break;
        }
        let position = if postings.doc() < *doc { postings.seek(*doc) } else { postings.doc() };
        if position == *doc {
            out.push(position);
        }
    }
    out
}
