//! Spelling suggestions for a search without hits. They replace an unknown word by the most similar indexed word.
use crate::{IndexResult, SearchIndex, query::query_tokens};
use tantivy::{Searcher, Term};

/// Minimum length, in characters, of a word to correct. Shorter words resemble too many others.
const MIN_WORD_CHARS: usize = 4;
/// A suggestion may differ by two edits from a word of at least this many characters, and by one from a shorter word.
const TWO_EDITS_MIN_CHARS: usize = 8;

/// An indexed word that may be suggested: edit distance, number of documents, word.
type Candidate = (usize, u64, String);

impl SearchIndex {
    /// Returns the query with each unknown word replaced by the most similar indexed word (the most frequent one if
    /// several are equally similar). The suggestion is in lower case without accents, as in the index. Returns None if
    /// every word is known, or if an unknown word has no similar word. A part of the query that the index splits into
    /// several words, such as "up-to-date", is left unchanged, and so are quotation marks, `+` and `-`. Reads whole dictionaries, so call it only for a search
    /// without hits.
    pub fn spell_suggest(&self, query: &str) -> IndexResult<Option<String>> {
        self.with_searcher(|searcher| {
            let (mut out, mut changed) = (Vec::new(), false);
            for word in query.split_whitespace() {
                match query_tokens(word, false).as_slice() {
                    [one] if !self.is_indexed(searcher, &one.token)? => {
                        let Some(similar) = self.closest_word(searcher, &one.token)? else { return Ok(None) };
                        // Quotation marks, `+` and `-` stay.
                        let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
                        out.push(word.replacen(letters, &similar, 1));
                        changed = true;
                    }
                    _ => out.push(word.to_owned()),
                }
            }
            Ok(changed.then(|| out.join(" ")))
        })
    }

    fn is_indexed(&self, searcher: &Searcher, token: &str) -> IndexResult<bool> {
        for (field, _) in self.fields.searched_fields() {
            if searcher.doc_freq(&Term::from_field_text(field, token))? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn closest_word(&self, searcher: &Searcher, token: &str) -> IndexResult<Option<String>> {
        let letters = token.chars().count();
        if letters < MIN_WORD_CHARS {
            return Ok(None);
        }
        let max_edits = if letters < TWO_EDITS_MIN_CHARS { 1 } else { 2 };
        let mut best: Option<Candidate> = None;
        for segment in searcher.segment_readers() {
            for (field, _) in self.fields.searched_fields() {
                let terms = segment.inverted_index(field)?;
                let mut stream = terms.terms().stream()?;
                while stream.advance() {
                    let Ok(word) = std::str::from_utf8(stream.key()) else { continue };
                    if word.len().abs_diff(token.len()) > max_edits * 4
                        || word.chars().count().abs_diff(letters) > max_edits
                    {
                        continue;
                    }
                    let distance = strsim::osa_distance(word, token);
                    if distance > max_edits {
                        continue;
                    }
                    let documents = u64::from(stream.value().doc_freq);
                    match &mut best {
                        Some((_, sum, known)) if known == word => *sum += documents,
                        Some((best_distance, best_documents, _))
                            if (distance, u64::MAX - documents) >= (*best_distance, u64::MAX - *best_documents) => {}
                        _ => best = Some((distance, documents, word.to_owned())),
                    }
                }
            }
        }
        Ok(best.map(|(_, _, word)| word))
    }
}
