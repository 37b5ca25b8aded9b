//! Searches an index for what an erasure should have removed. Shares no code with the deletion: it opens the index
//! again from its files and searches everything in them, including documents marked as deleted.
use crate::{
    EncryptedDirectory, IndexError, IndexResult,
    directory::META_FILE,
    needles::Needles,
    schema::{Fields, IndexDoc, register},
};
use std::{
    collections::{HashMap, HashSet},
    path::Path,
};
use tantivy::{
    Directory, Index, IndexSettings, IndexWriter, SegmentReader, TantivyDocument, Term, directory::RamDirectory,
    schema::IndexRecordOption,
};

/// Minimum length in bytes of words that are searched for in the files' bytes; shorter ones occur by chance.
const MIN_SCANNED_BYTES: usize = 5;
/// The smallest memory budget that tantivy accepts for one writing thread, in bytes.
const MIN_WRITER_MEMORY: usize = 15_000_000;

/// A trace of an erased row or word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Name of the file, or id of the segment.
    pub file: String,
    /// What was found, without quoting the word.
    pub reason: String,
}

/// Result of searching an index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Residue {
    /// Empty if no trace was found.
    pub findings: Vec<Finding>,
    /// Number of files searched.
    pub files: u32,
    /// Number of segments searched.
    pub segments: u32,
    /// Number of words in the dictionaries searched.
    pub terms: u64,
    /// Number of decrypted bytes searched.
    pub bytes: u64,
}

impl Residue {
    /// True if no trace was found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    fn found(&mut self, file: impl Into<String>, reason: impl Into<String>) {
        self.findings.push(Finding { file: file.into(), reason: reason.into() });
    }
}

/// Searches for erased rows, for `words` (folded tokens that no current record contains) and for files that belong to
/// no segment. `rewritten` are rows that stay but lost words. A word that occurs only in deleted documents of other
/// rows than `rows` and `rewritten` is no trace, since it comes from a record in the Trash or from an older version.
/// Fails with `Missing` and `Damaged` like opening an index, because unreadable files cannot be called clean.
pub fn residue(dir: &Path, key: &[u8; 32], rows: &[u64], rewritten: &[u64], words: &[String]) -> IndexResult<Residue> {
    if !dir.join(META_FILE).try_exists()? {
        return Err(IndexError::Missing);
    }
    let directory = EncryptedDirectory::open(dir, key)?;
    let index = Index::open(directory.clone())?;
    let fields = Fields::schema().1;
    let mut out = Residue::default();
    let mut known_files: HashSet<String> = HashSet::from([META_FILE.to_owned()]);
    known_files.extend(index.load_metas()?.list_segment_files().iter().map(|f| f.to_string_lossy().into_owned()));
    let touched: HashSet<u64> = rows.iter().chain(rewritten).copied().collect();
    // For each segment, the words that other rows left in it.
    let mut words_of_other_rows: HashMap<String, HashSet<&str>> = HashMap::new();
    for segment in index.searchable_segments()? {
        out.segments += 1;
        let id = segment.id().uuid_string();
        let from_other_rows =
            search_segment(&SegmentReader::open(&segment)?, &id, &fields, rows, &touched, words, &mut out)?;
        words_of_other_rows.insert(id, from_other_rows);
    }
    let boilerplate_bytes = boilerplate_bytes()?;
    let is_boilerplate =
        |word: &str| memchr::memmem::find(&boilerplate_bytes, word.to_ascii_lowercase().as_bytes()).is_some();
    let patterns: Vec<&str> =
        words.iter().map(String::as_str).filter(|w| w.len() >= MIN_SCANNED_BYTES && !is_boilerplate(w)).collect();
    let longest = patterns.iter().map(|p| p.len()).max().unwrap_or(1);
    let lower: Vec<String> = patterns.iter().map(|p| p.to_ascii_lowercase()).collect();
    let needles = Needles::new(&lower).map_err(|e| IndexError::Damaged(e.to_string()))?;
    for name in directory.file_names()? {
        out.files += 1;
        if !known_files.contains(&name) {
            out.found(&name, "the file belongs to no segment");
            continue;
        }
        if patterns.is_empty() {
            continue;
        }
        let mut hit = false;
        let from_other_rows = name.split('.').next().and_then(|segment| words_of_other_rows.get(segment));
        let is_from_other_rows =
            |n: usize| patterns.get(n).is_some_and(|word| from_other_rows.is_some_and(|s| s.contains(word)));
        // The end of each chunk is searched again with the next, because a word may span two chunks.
        let mut window: Vec<u8> = Vec::new();
        out.bytes += directory.scan(&name, |chunk| {
            let known = window.len();
            window.extend_from_slice(chunk);
            // Words are searched for without regard to case.
            window[known..].make_ascii_lowercase();
            hit |= needles.each(&window).any(|(number, _)| !is_from_other_rows(number));
            let keep = window.len().saturating_sub(longest);
            window.drain(..keep);
        })?;
        if hit {
            out.found(&name, "an erased word is in its bytes");
        }
    }
    Ok(out)
}

/// Bytes that occur in the files of every index: names of fields and of the tokenizer, keys of footers and of
/// `meta.json`, in lower case. Finding a word that occurs in them (such as `keeps` in the tokenizer's name) in a file's
/// bytes proves nothing. The dictionaries are searched for it nevertheless.
fn boilerplate_bytes() -> IndexResult<Vec<u8>> {
    let (schema, fields) = Fields::schema();
    let directory = RamDirectory::create();
    let index = Index::create(directory.clone(), schema, IndexSettings::default())?;
    register(&index);
    let mut writer: IndexWriter<TantivyDocument> = index.writer_with_num_threads(1, MIN_WRITER_MEMORY)?;
    let blank = IndexDoc { created: Some(0), conversation: Some(0), ..IndexDoc::default() };
    writer.add_document(fields.document(&blank))?;
    writer.commit()?;
    // The keys that the encrypted directory adds to `meta.json`.
    let mut bytes = b"generations meta".to_vec();
    let known_files = index.load_metas()?.list_segment_files();
    for path in known_files.iter().map(Path::new).chain([Path::new(META_FILE)]) {
        // Some files that a segment may have were never written.
        if directory.exists(path).is_ok_and(|there| there) {
            let file = directory.open_read(path).map_err(|e| IndexError::Damaged(e.to_string()))?;
            bytes.extend_from_slice(&file.read_bytes()?);
        }
    }
    bytes.make_ascii_lowercase();
    Ok(bytes)
}

/// Searches the dictionaries and columns of a segment; returns the words that other rows left in it.
fn search_segment<'w>(
    segment: &SegmentReader,
    id: &str,
    fields: &Fields,
    rows: &[u64],
    touched: &HashSet<u64>,
    words: &'w [String],
    out: &mut Residue,
) -> IndexResult<HashSet<&'w str>> {
    let column = segment.fast_fields().u64("row")?;
    let mut words_of_other_rows = HashSet::new();
    let dictionary = segment.inverted_index(fields.row)?;
    out.terms += dictionary.terms().num_terms() as u64;
    for row in rows {
        if dictionary.get_term_info(&Term::from_field_u64(fields.row, *row))?.is_some() {
            out.found(id, format!("row {row} is in its dictionary"));
        }
    }
    for (field, _) in segment.schema().fields().filter(|(_, e)| e.field_type().is_str()) {
        let dictionary = segment.inverted_index(field)?;
        out.terms += dictionary.terms().num_terms() as u64;
        for word in words {
            let option = IndexRecordOption::Basic;
            let term = Term::from_field_text(field, word);
            let Some(mut postings) = dictionary.read_block_postings(&term, option)? else { continue };
            let mut only_other_rows = true;
            while only_other_rows && !postings.docs().is_empty() {
                only_other_rows = postings.docs().iter().all(|doc| {
                    segment.is_deleted(*doc) && column.first(*doc).is_some_and(|row| !touched.contains(&row))
                });
                postings.advance();
            }
            if only_other_rows {
                words_of_other_rows.insert(word.as_str());
            } else {
                out.found(id, "an erased word is in its dictionary");
            }
        }
    }
    // Checks the row column, from which a search reads the rows of its hits.
    let mut erased = rows.to_vec();
    erased.sort_unstable();
    if (0..segment.max_doc()).any(|doc| column.first(doc).is_some_and(|r| erased.binary_search(&r).is_ok())) {
        out.found(id, "an erased row is in its columns");
    }
    Ok(words_of_other_rows)
}
