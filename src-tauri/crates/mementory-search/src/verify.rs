//! Looking for what an erasure should have removed. Nothing of the deletion is used here: the index is opened again from
//! its files, and what is in them is looked at, deleted or not.
use crate::{
    EncryptedDirectory, IndexError, IndexResult,
    directory::META,
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

/// Shorter words are found in any file by chance.
const MIN_SCANNED: usize = 5;
/// The least memory that tantivy takes for one writing thread.
const SMALLEST_ARENA: usize = 15_000_000;

/// Something that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, or the segment.
    pub file: String,
    /// What is wrong with it; names no word.
    pub reason: String,
}

/// Result of searching an index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Residue {
    /// Empty when nothing is left.
    pub findings: Vec<Finding>,
    /// Files searched.
    pub files: u32,
    /// Segments searched.
    pub segments: u32,
    /// Words in the dictionaries that were searched.
    pub terms: u64,
    /// Bytes searched, decrypted.
    pub bytes: u64,
}

impl Residue {
    /// True when nothing is left.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    fn found(&mut self, file: impl Into<String>, reason: impl Into<String>) {
        self.findings.push(Finding { file: file.into(), reason: reason.into() });
    }
}

/// Looks for erased rows, for `words` (folded tokens that no living record holds) and for files that belong to nothing.
/// A word that only documents marked as deleted hold, none of them of `rows` or of the `rewritten` ones (which stay, and
/// lost words), belongs to something else: a record in the Trash, a former version.
/// `Missing` and `Damaged` as for opening an index: what cannot be read cannot be called clean.
pub fn residue(dir: &Path, key: &[u8; 32], rows: &[u64], rewritten: &[u64], words: &[String]) -> IndexResult<Residue> {
    if !dir.join(META).try_exists()? {
        return Err(IndexError::Missing);
    }
    let directory = EncryptedDirectory::open(dir, key)?;
    let index = Index::open(directory.clone())?;
    let fields = Fields::schema().1;
    let mut out = Residue::default();
    let mut named: HashSet<String> = HashSet::from([META.to_owned()]);
    named.extend(index.load_metas()?.list_segment_files().iter().map(|f| f.to_string_lossy().into_owned()));
    let touched: HashSet<u64> = rows.iter().chain(rewritten).copied().collect();
    // By segment: words that others left in it.
    let mut others: HashMap<String, HashSet<&str>> = HashMap::new();
    for segment in index.searchable_segments()? {
        out.segments += 1;
        let id = segment.id().uuid_string();
        let said = search_segment(&SegmentReader::open(&segment)?, &id, &fields, rows, &touched, words, &mut out)?;
        others.insert(id, said);
    }
    let furniture = furniture()?;
    let own = |word: &str| memchr::memmem::find(&furniture, word.to_ascii_lowercase().as_bytes()).is_some();
    let patterns: Vec<&str> = words.iter().map(String::as_str).filter(|w| w.len() >= MIN_SCANNED && !own(w)).collect();
    let longest = patterns.iter().map(|p| p.len()).max().unwrap_or(1);
    let lower: Vec<String> = patterns.iter().map(|p| p.to_ascii_lowercase()).collect();
    let finder = Needles::new(&lower).map_err(|e| IndexError::Damaged(e.to_string()))?;
    for name in directory.on_disk()? {
        out.files += 1;
        if !named.contains(&name) {
            out.found(&name, "the file belongs to no segment");
            continue;
        }
        if patterns.is_empty() {
            continue;
        }
        let mut hit = false;
        let said = name.split('.').next().and_then(|segment| others.get(segment));
        let foreign = |n: usize| patterns.get(n).is_some_and(|word| said.is_some_and(|s| s.contains(word)));
        // The end of a chunk is looked at again with the next.
        let mut window: Vec<u8> = Vec::new();
        out.bytes += directory.scan(&name, |chunk| {
            let known = window.len();
            window.extend_from_slice(chunk);
            // Words are looked for in any case.
            window[known..].make_ascii_lowercase();
            hit |= finder.each(&window).any(|(number, _)| !foreign(number));
            let keep = window.len().saturating_sub(longest);
            window.drain(..keep);
        })?;
        if hit {
            out.found(&name, "an erased word is in its bytes");
        }
    }
    Ok(out)
}

/// What is in the files of any index, whatever was indexed: names of fields and of the tokeniser, keys of footers and of
/// `meta.json`, in lower case. A word that is in here (`keeps` is, in the tokeniser's name) says nothing when it is found
/// in a file's bytes; the dictionaries have been asked for it all the same.
fn furniture() -> IndexResult<Vec<u8>> {
    let (schema, fields) = Fields::schema();
    let directory = RamDirectory::create();
    let index = Index::create(directory.clone(), schema, IndexSettings::default())?;
    register(&index);
    let mut writer: IndexWriter<TantivyDocument> = index.writer_with_num_threads(1, SMALLEST_ARENA)?;
    let blank = IndexDoc { created: Some(0), conversation: Some(0), ..IndexDoc::default() };
    writer.add_document(fields.document(&blank))?;
    writer.commit()?;
    // The directory's own wrapping of `meta.json`.
    let mut bytes = b"generations meta".to_vec();
    let named = index.load_metas()?.list_segment_files();
    for path in named.iter().map(Path::new).chain([Path::new(META)]) {
        // Not every file that a segment may have was written.
        if directory.exists(path).is_ok_and(|there| there) {
            let file = directory.open_read(path).map_err(|e| IndexError::Damaged(e.to_string()))?;
            bytes.extend_from_slice(&file.read_bytes()?);
        }
    }
    bytes.make_ascii_lowercase();
    Ok(bytes)
}

/// Looks into dictionaries and columns; answers the words that are there for others' sake.
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
    let mut others = HashSet::new();
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
            let mut other = true;
            while other && !postings.docs().is_empty() {
                other = postings.docs().iter().all(|doc| {
                    segment.is_deleted(*doc) && column.first(*doc).is_some_and(|row| !touched.contains(&row))
                });
                postings.advance();
            }
            if other {
                others.insert(word.as_str());
            } else {
                out.found(id, "an erased word is in its dictionary");
            }
        }
    }
    // The rows themselves, as they are read back for a hit.
    let mut erased = rows.to_vec();
    erased.sort_unstable();
    if (0..segment.max_doc()).any(|doc| column.first(doc).is_some_and(|r| erased.binary_search(&r).is_ok())) {
        out.found(id, "an erased row is in its columns");
    }
    Ok(others)
}
