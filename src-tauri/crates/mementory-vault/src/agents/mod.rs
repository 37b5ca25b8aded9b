//! What connected clients may do: grants with their tokens, and the records that a grant makes visible.
mod grant;
mod grants;
mod scope;
mod visible;

pub use grant::{Grant, GrantRights, NewGrant};
pub use grants::{Call, GrantRefusal, Grants};
pub use scope::GrantScope;
pub use visible::{GrantedPage, GrantedRecord, GrantedView};
