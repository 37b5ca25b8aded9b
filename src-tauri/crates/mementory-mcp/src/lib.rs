//! Gives connected clients, such as assistants and coding agents, access to the vault.
//!
//! ```text
//! client ── stdio: MCP ──> `relay` (no key, no store) ── Unix socket: `wire` ──> `server` ──> `tools` ──> API
//! ```
//!
//! | file | what it does |
//! | --- | --- |
//! | `catalog`, `tools.json` | the list of tools that clients get |
//! | `tools`, `documents` | what each tool does |
//! | `untrusted_text` | how stored text is handed out: escaped, quoted, with its source |
//! | `wire`, `socket` | the lines sent over the socket, and the path of the socket |
//! | `server` | answers over the socket, for an open vault |
//! | `peer` | which program is at the other end of a connection |
//! | `relay` | the program that a client starts: MCP over standard input and output; the window is built without it |
mod catalog;
mod documents;
#[cfg(unix)]
mod peer;
#[cfg(feature = "relay")]
mod relay;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod socket;
#[cfg(test)]
mod tests;
mod tools;
mod untrusted_text;
mod wire;

pub use catalog::list_json;
#[cfg(unix)]
pub use peer::Program;
#[cfg(feature = "relay")]
pub use relay::{read_token, relay};
#[cfg(unix)]
pub use server::{AnsweredCall, Server, Stopper, VaultAccess};
#[cfg(unix)]
pub use socket::socket_path;
pub use tools::answer;
