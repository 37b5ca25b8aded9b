//! What writers of whole vaults have in common: conversations with their messages, a slot for what the target has no
//! place for, the named values of formats for reading, archives, and exports without identifiers.
pub mod groups;
pub mod json;
pub mod readable;
pub mod slot;
pub mod strip;
pub mod zip_file;
