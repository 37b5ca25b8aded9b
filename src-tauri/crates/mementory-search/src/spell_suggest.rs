//! Spelling suggestions for a search without hits: the indexed word closest to an unknown one.
use crate::{IndexResult, SearchIndex, query::parts};
use tantivy::{Searcher, Term};

/// Shorter words are similar to too many others.
const SHORTEST: usize = 4;
/// Words of this many letters may differ in two of them, shorter ones in one.
const LONG: usize = 8;

/// An indexed word: edit distance, number of documents, the word.
type Candidate = (usize, u64, String);

impl SearchIndex {
    /// The query with each word that stands nowhere replaced by the one written most like it (the more frequent of
    /// equals), in the index's form: small letters, without marks. None when there is no such word, or nothing is like
    /// it. What is no single word (phrases, scripts without spaces) stays as it is. Reads whole dictionaries, so for
    /// questions that found nothing.
    pub fn spell_suggest(&self, query: &str) -> IndexResult<Option<String>> {
        self.guarded(|searcher| {
            let (mut out, mut changed) = (Vec::new(), false);
            for word in query.split_whitespace() {
                match parts(word, false).as_slice() {
                    [one] if !self.is_indexed(searcher, &one.token)? => {
                        let Some(word) = self.closest_word(searcher, &one.token)? else { return Ok(None) };
                        out.push(word);
                        changed = true;
                    }
                    _ => out.push(word.to_owned()),
                }
            }
            Ok(changed.then(|| out.join(" ")))
        })
    }

    fn is_indexed(&self, searcher: &Searcher, token: &str) -> IndexResult<bool> {
        for (field, _) in self.fields.searched() {
            if searcher.doc_freq(&Term::from_field_text(field, token))? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn closest_word(&self, searcher: &Searcher, token: &str) -> IndexResult<Option<String>> {
        let letters = token.chars().count();
        if letters < SHORTEST {
            return Ok(None);
        }
        let most = if letters < LONG { 1 } else { 2 };
        let mut best: Option<Candidate> = None;
        for segment in searcher.segment_readers() {
            for (field, _) in self.fields.searched() {
                let terms = segment.inverted_index(field)?;
                let mut stream = terms.terms().stream()?;
                while stream.advance() {
                    let Ok(word) = std::str::from_utf8(stream.key()) else { continue };
                    if word.len().abs_diff(token.len()) > most * 4 || word.chars().count().abs_diff(letters) > most {
                        continue;
                    }
                    let unlike = strsim::osa_distance(word, token);
                    if unlike > most {
                        continue;
                    }
                    let often = u64::from(stream.value().doc_freq);
                    match &mut best {
                        Some((_, sum, known)) if known == word => *sum += often,
                        Some((least, most_often, _))
                            if (unlike, u64::MAX - often) >= (*least, u64::MAX - *most_often) => {}
                        _ => best = Some((unlike, often, word.to_owned())),
                    }
                }
            }
        }
        Ok(best.map(|(_, _, word)| word))
    }
}
