//! Files, folders and archives as one list of members that can be read in place. No plaintext temp file is made:
//! an archive inside an archive that cannot be read in place goes through a [`Spool`].
mod catalog;
mod folder;
mod zipped;

pub use catalog::{Catalog, Member, Spool, SpoolFile};
