//! Finds the files that notes name.
use mementory_format::Member;
use mementory_formats_shared::files::{file_name, without_extension};
use std::collections::HashMap;

/// Files in the folder of the notes.
pub(super) struct Files<'m> {
    by_name: HashMap<&'m str, &'m Member>,
    /// The files by their name without its extension. None if files with several extensions have the same name.
    by_stem: HashMap<&'m str, Option<&'m Member>>,
}

impl<'m> Files<'m> {
    /// The files among which notes name theirs.
    pub fn new(members: impl IntoIterator<Item = &'m Member>) -> Self {
        let mut out = Self { by_name: HashMap::new(), by_stem: HashMap::new() };
        for member in members {
            out.by_name.entry(member.file_name()).or_insert(member);
            // Two exports that are read together contain the same file twice.
            let is_copy = |known: &&Member| known.file_name() == member.file_name();
            let known = out.by_stem.entry(without_extension(member.file_name())).or_insert(Some(member));
            *known = known.filter(is_copy);
        }
        out
    }

    /// The file that a note names. Takeout writes some files with another extension than the note states (`.jpg` for
    /// `.jpeg`), so a file that differs only in its extension is found too.
    pub fn find(&self, path: &str) -> Option<&'m Member> {
        let name = file_name(path);
        self.by_name.get(name).copied().or_else(|| self.by_stem.get(without_extension(name)).copied().flatten())
    }
}
