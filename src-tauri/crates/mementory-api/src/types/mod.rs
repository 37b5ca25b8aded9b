//! Request and response types: the structure of the command line's `--json` output and of the window's IPC. Ids are
//! strings, counts are `u32`, times are RFC 3339 in UTC. No type contains a private key.
#![expect(missing_docs, reason = "the field names are the contract; a comment would only repeat what a name says")]

mod agents;
mod client_documents;
mod deletion;
mod export;
mod import;
mod insight;
mod keys;
mod printing;
mod records;
mod review;
mod scan;
mod vault;
mod watching;

pub use agents::*;
pub use client_documents::*;
pub use deletion::*;
pub use export::*;
pub use import::*;
pub use insight::*;
pub use keys::*;
pub use printing::*;
pub use records::*;
pub use review::*;
pub use scan::*;
pub use vault::*;
pub use watching::*;

/// Replaces `u64` and `f64` in the types that are generated for the window's TypeScript, so that these fields become a
/// plain `number`. By default, specta turns `f64` into `number | null`, because JSON has no NaN, and refuses `u64`.
type TsNumber = u32;
