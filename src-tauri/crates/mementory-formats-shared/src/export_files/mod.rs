//! Code that the writers of whole vaults share: conversations with their messages, extension slots, formats for people
//! to read, archives, and exports without identifiers.
pub mod groups;
pub mod json;
pub mod readable;
pub mod slot;
pub mod strip;
pub mod zip_file;
