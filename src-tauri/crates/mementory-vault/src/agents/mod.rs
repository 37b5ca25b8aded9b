//! What connected clients may do: grants with their tokens, and the records that a grant makes visible.
mod exports;
mod grant;
mod grants;
mod imports;
mod scope;
mod search;
mod visible;

pub use exports::{ExportRange, GrantedExport};
pub use grant::{Grant, GrantRights, NewGrant};
pub use grants::{Call, GrantRefusal, Grants};
pub use imports::{OfferedDocument, OfferedMemory};
pub use scope::GrantScope;
pub use visible::{GrantedPage, GrantedRecord, GrantedView};
