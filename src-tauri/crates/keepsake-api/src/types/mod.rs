//! What goes over the boundary: the shapes of the command line's `--json` output and of the window's IPC.
//! Ids are strings, counts are `u32`, times are RFC 3339 in UTC. No type here ever carries a key.
mod deletion;
mod export;
mod import;
mod records;
mod vault;

pub use deletion::*;
pub use export::*;
pub use import::*;
pub use records::*;
pub use vault::*;
