//! What a deletion hands over to the check: traces to look for.
use memchr::memmem;

/// Bytes taken from a replaced pack to look for; long enough never to meet by chance.
const WINDOW: usize = 32;
/// Windows for one pack.
const WINDOWS: usize = 6;

/// What the deletion hands over to the check: traces to look for.
#[derive(Debug, Default)]
pub struct Evidence {
    pub(crate) windows: Vec<Vec<u8>>,
    /// The pack that each window is of.
    pub(crate) window_packs: Vec<i64>,
    /// Rows that are to be nowhere.
    pub gone_rows: Vec<i64>,
    /// Rows that stay and lost words.
    pub rewritten_rows: Vec<i64>,
    /// Erased texts.
    pub texts: Vec<String>,
    /// Erased sentences, in normal form.
    pub sentences: Vec<String>,
    /// Names of removed attachments.
    pub blobs: Vec<[u8; 32]>,
    /// Passthrough files that were rewritten.
    pub parts: u32,
    /// Records that lost words because they said the same.
    pub copies: u32,
    /// The write-ahead log was written back and truncated.
    pub wal_clean: bool,
    /// The deletion was cut off, and what its packs and texts were is not known any more.
    pub traces_unknown: bool,
}

impl Evidence {
    /// Of a deletion that was cut off: rows are known from the change log, what they said is not.
    pub fn cut_off(gone_rows: Vec<i64>, rewritten_rows: Vec<i64>, wal_clean: bool) -> Self {
        Self { traces_unknown: true, gone_rows, rewritten_rows, wal_clean, ..Self::default() }
    }

    /// Remembers what a pack's former bytes looked like, where they differ from what replaced them.
    pub fn pack(&mut self, pack: i64, old: &[u8], new: &[u8]) {
        // A pack that is replaced once more may have bytes again that it had before: those are there by right.
        if self.window_packs.contains(&pack) {
            let (windows, packs) = std::mem::take(&mut self.windows)
                .into_iter()
                .zip(std::mem::take(&mut self.window_packs))
                .filter(|(window, of)| *of != pack || memmem::find(new, window).is_none())
                .unzip();
            (self.windows, self.window_packs) = (windows, packs);
        }
        let common = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let rest = old.get(common..).unwrap_or_default();
        let step = (rest.len() / WINDOWS).max(WINDOW);
        let windows = rest.chunks(step).filter_map(|c| c.get(..WINDOW)).filter(|w| memmem::find(new, w).is_none());
        self.windows.extend(windows.take(WINDOWS).map(<[u8]>::to_vec));
        self.window_packs.resize(self.windows.len(), pack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pack_has_again_is_no_trace() {
        let state = |word: &str| format!("{}{}", "the same beginning ", word.repeat(60)).into_bytes();
        let [first, second, other] = ["once upon a time ", "no words here yet ", "somebody else's pack "].map(state);
        let mut evidence = Evidence::default();
        evidence.pack(2, &other, &second);
        evidence.pack(1, &first, &second);
        let held = |evidence: &Evidence, bytes: &[u8]| {
            evidence.windows.iter().filter(|window| memmem::find(bytes, window).is_some()).count()
        };
        assert!(held(&evidence, &first) > 0, "the former bytes are looked for");
        evidence.pack(1, &second, &first);
        assert_eq!(held(&evidence, &first), 0, "they are there by right");
        assert!(held(&evidence, &second) > 0 && held(&evidence, &other) > 0, "the others are not");
        assert_eq!(evidence.windows.len(), evidence.window_packs.len());
    }
}
