//! The word lists of `data`, as constants that `build.rs` generates.

/// The word lists of one file, which are for one language.
pub(crate) struct Language {
    pub(crate) code: &'static str,
    /// Frequent short words, by which the language of a text is recognised.
    pub(crate) function_words: &'static [&'static str],
    pub(crate) tables: &'static [Words],
}

/// The lists of one table, in the order that `build.rs` defines.
pub(crate) struct Words {
    pub(crate) name: &'static str,
    pub(crate) lists: &'static [&'static [&'static str]],
}

impl Words {
    /// The list at this position. Empty if there is none.
    pub(crate) fn list(&self, position: usize) -> &'static [&'static str] {
        self.lists.get(position).copied().unwrap_or_default()
    }
}

include!(concat!(env!("OUT_DIR"), "/word_lists.rs"));
