//! The traces of a deletion that the check looks for.
use crate::indexed_words::indexed_words;
use memchr::memmem;
use mementory_model::Record;
use std::collections::BTreeSet;

/// Length in bytes of a window. A window is a sample of the old bytes of a pack, long enough not to occur by chance.
const WINDOW_BYTES: usize = 32;
/// Largest number of windows that are taken from one version of a pack.
const MAX_WINDOWS: usize = 6;

/// Pack number of traces that are in no pack. Packs are numbered from 1.
const NO_PACK: i64 = 0;

/// Traces that the check looks for.
#[derive(Debug, Default)]
pub struct Evidence {
    pub(crate) windows: Vec<Vec<u8>>,
    /// For each window, the id of its pack.
    pub(crate) window_packs: Vec<i64>,
    /// Rows that must not be found anywhere.
    pub erased_rows: Vec<i64>,
    /// Rows of records from which words were removed.
    pub rewritten_rows: Vec<i64>,
    /// Erased texts.
    pub texts: Vec<String>,
    /// Former texts of other records that lost words, each with the new text. A file that quoted such a text as a whole
    /// had to lose the same words.
    pub quotations: Vec<(String, String)>,
    /// Redacted words, in normal form, which other records may contain.
    pub sentences: Vec<String>,
    /// Every word that the index may have contained for any version of the erased and redacted records.
    pub(crate) words: BTreeSet<String>,
    /// Digests of removed attachments.
    pub blobs: Vec<[u8; 32]>,
    /// Number of passthrough files that were rewritten.
    pub passthrough_files: u32,
    /// Number of other records that contained the same words and were redacted.
    pub copies: u32,
    /// True if the write-ahead log was written back and truncated.
    pub wal_clean: bool,
    /// True if the deletion was interrupted, so that its packs and texts are no longer known.
    pub traces_unknown: bool,
}

impl Evidence {
    /// Evidence of a deletion that was interrupted: its rows are known from the change log, its texts are not.
    pub fn of_interrupted_deletion(erased_rows: Vec<i64>, rewritten_rows: Vec<i64>, wal_clean: bool) -> Self {
        Self { traces_unknown: true, erased_rows, rewritten_rows, wal_clean, ..Self::default() }
    }

    /// Adds every word that the index may contain for a version of a record.
    pub fn add_record(&mut self, record: &Record) {
        indexed_words(record, &mut |word| {
            if !self.words.contains(word) {
                self.words.insert(word.to_owned());
            }
        });
    }

    /// Adds a sample of the stored vector of an erased or redacted text. A vector is not a word, so the sample is
    /// treated like a window of a pack.
    pub fn add_vector(&mut self, stored_vector: &[u8]) {
        let middle = stored_vector.len() / 2;
        if let Some(window) = stored_vector.get(middle..middle + WINDOW_BYTES) {
            self.windows.push(window.to_vec());
            self.window_packs.push(NO_PACK);
        }
    }

    /// Adds windows of a pack's old bytes that are not in the new bytes. Drops windows from earlier calls for this pack
    /// that are in the new bytes.
    pub fn add_pack(&mut self, pack: i64, old_bytes: &[u8], new_bytes: &[u8]) {
        // If a pack is replaced again, the new bytes may contain earlier windows. Those are no longer traces.
        if self.window_packs.contains(&pack) {
            let (windows, packs) = std::mem::take(&mut self.windows)
                .into_iter()
                .zip(std::mem::take(&mut self.window_packs))
                .filter(|(window, window_pack)| *window_pack != pack || memmem::find(new_bytes, window).is_none())
                .unzip();
            (self.windows, self.window_packs) = (windows, packs);
        }
        let common_len = old_bytes.iter().zip(new_bytes).take_while(|(a, b)| a == b).count();
        let rest = old_bytes.get(common_len..).unwrap_or_default();
        let step = (rest.len() / MAX_WINDOWS).max(WINDOW_BYTES);
        let windows =
            rest.chunks(step).filter_map(|c| c.get(..WINDOW_BYTES)).filter(|w| memmem::find(new_bytes, w).is_none());
        self.windows.extend(windows.take(MAX_WINDOWS).map(<[u8]>::to_vec));
        self.window_packs.resize(self.windows.len(), pack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_a_pack_contains_again_are_not_a_trace() {
        let state = |word: &str| format!("{}{}", "the same beginning ", word.repeat(60)).into_bytes();
        let [first, second, other] = ["once upon a time ", "no words here yet ", "somebody else's pack "].map(state);
        let mut evidence = Evidence::default();
        evidence.add_pack(2, &other, &second);
        evidence.add_pack(1, &first, &second);
        let count_windows_in = |evidence: &Evidence, bytes: &[u8]| {
            evidence.windows.iter().filter(|window| memmem::find(bytes, window).is_some()).count()
        };
        assert!(count_windows_in(&evidence, &first) > 0, "the former bytes are looked for");
        evidence.add_pack(1, &second, &first);
        assert_eq!(count_windows_in(&evidence, &first), 0, "the pack contains them again");
        assert!(
            count_windows_in(&evidence, &second) > 0 && count_windows_in(&evidence, &other) > 0,
            "all others are still looked for"
        );
        assert_eq!(evidence.windows.len(), evidence.window_packs.len());
    }
}
