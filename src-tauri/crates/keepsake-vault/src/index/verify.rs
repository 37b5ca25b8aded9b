//! Looking for what an erasure should have removed. Nothing of the deletion is used here: the index is opened anew from
//! its files, and what is in them is looked at, deleted or not.
use super::{EncryptedDirectory, IndexError, IndexResult, directory::META, schema::Fields};
use aho_corasick::{AhoCorasick, MatchKind};
use std::{collections::HashSet, path::Path};
use tantivy::{Index, SegmentReader, Term};

/// Shorter words are found in any file by chance.
const MIN_SCANNED: usize = 5;

/// Something that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, or the segment.
    pub file: String,
    /// What is wrong with it; names no word.
    pub reason: String,
}

/// What a look at an index gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Residue {
    /// Empty when nothing is left.
    pub findings: Vec<Finding>,
    /// Files looked at.
    pub files: u32,
    /// Segments looked at.
    pub segments: u32,
    /// Words in the dictionaries looked into.
    pub terms: u64,
    /// Bytes looked through, decrypted.
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
/// `Missing` and `Damaged` as for opening an index: what cannot be read cannot be called clean.
pub fn residue(dir: &Path, key: &[u8; 32], rows: &[u64], words: &[String]) -> IndexResult<Residue> {
    if !dir.join(META).try_exists()? {
        return Err(IndexError::Missing);
    }
    let directory = EncryptedDirectory::open(dir, key)?;
    let index = Index::open(directory.clone())?;
    let fields = Fields::schema().1;
    let mut out = Residue::default();
    let mut named: HashSet<String> = HashSet::from([META.to_owned()]);
    named.extend(index.load_metas()?.list_segment_files().iter().map(|f| f.to_string_lossy().into_owned()));
    for segment in index.searchable_segments()? {
        out.segments += 1;
        let id = segment.id().uuid_string();
        look_into(&SegmentReader::open(&segment)?, &id, &fields, rows, words, &mut out)?;
    }
    let patterns: Vec<&str> = words.iter().map(String::as_str).filter(|w| w.len() >= MIN_SCANNED).collect();
    let longest = patterns.iter().map(|p| p.len()).max().unwrap_or(1);
    let finder = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .ascii_case_insensitive(true)
        .build(&patterns)
        .map_err(|e| IndexError::Damaged(e.to_string()))?;
    for name in directory.on_disk()? {
        out.files += 1;
        if !named.contains(&name) {
            out.found(&name, "the file belongs to no segment");
            continue;
        }
        let mut hit = false;
        // The end of a chunk is looked at again with the next.
        let mut window: Vec<u8> = Vec::new();
        out.bytes += directory.scan(&name, |chunk| {
            window.extend_from_slice(chunk);
            hit |= !patterns.is_empty() && finder.is_match(&window);
            let keep = window.len().saturating_sub(longest);
            window.drain(..keep);
        })?;
        if hit {
            out.found(&name, "an erased word is in its bytes");
        }
    }
    Ok(out)
}

fn look_into(
    segment: &SegmentReader,
    id: &str,
    fields: &Fields,
    rows: &[u64],
    words: &[String],
    out: &mut Residue,
) -> IndexResult<()> {
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
            if dictionary.get_term_info(&Term::from_field_text(field, word))?.is_some() {
                out.found(id, "an erased word is in its dictionary");
            }
        }
    }
    // The rows themselves, as they are read back for a hit.
    let column = segment.fast_fields().u64("row")?;
    let erased: HashSet<u64> = rows.iter().copied().collect();
    if (0..segment.max_doc()).any(|doc| column.first(doc).is_some_and(|r| erased.contains(&r))) {
        out.found(id, "an erased row is in its columns");
    }
    Ok(())
}
