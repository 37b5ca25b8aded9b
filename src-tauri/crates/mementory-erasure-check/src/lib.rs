//! The check after an erasure or redaction. It may know the store's file layout and the cryptography, and must not depend
//! on the vault, where the deletion is: that the two share no code is then checked by the crates check.
mod check;
mod evidence;
mod folder;
mod live_counts;
mod pages;
mod passthrough;
mod receipt;
mod recheck;
mod sentence;
mod unused_bytes;

pub use check::{Beside, ErasureCheck, Wipe};
pub use evidence::Evidence;
pub use folder::clear_partials;
pub use receipt::{PlaceOutcome, Receipt, ReceiptPlace};
pub use recheck::CleanedUp;
