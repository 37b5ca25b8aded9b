//! Code that the writers of whole vaults share: conversations with their messages, a slot for values that the target
//! has no place for, named values for formats that people read, archives, and exports without identifiers.
pub mod groups;
pub mod json;
pub mod readable;
pub mod slot;
pub mod strip;
pub mod zip_file;
