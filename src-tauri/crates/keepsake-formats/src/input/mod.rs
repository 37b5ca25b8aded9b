//! Files, folders and archives as one list of members that can be read in place. No plaintext temp file is made:
//! an archive inside an archive that cannot be read in place goes through a [`Spool`].
//!
//! Issue codes: `unsafe_name`, `duplicate_name`, `link`, `not_a_regular_file`, `encrypted`, `unsupported_compression`,
//! `truncated_archive`, `unreadable_archive`, `empty_archive`, `archive_depth`, `damaged_entry`, `limit`, `unreadable`. The place of
//! an issue starts with the place of the archive it concerns.
mod catalog;
mod duplicates;
mod expand;
mod folder;
mod nested;
mod source;
#[cfg(test)]
mod tests;
mod zip;

pub use catalog::{Catalog, Member, Spool, SpoolFile};
