//! The encrypted vault: store, index, blobs, deletion, audit, import and export.
pub mod index;
