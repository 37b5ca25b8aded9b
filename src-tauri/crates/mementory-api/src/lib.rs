//! Every use case of Mementory as a plain function, for the window, the command line and (later) MCP.
//! A [`Session`] is one open vault; what needs no vault is a free function in [`files`].
//! Shell and command line hold no rule of their own.
mod convert;
mod error;
pub mod files;
mod job;
pub mod portable;
mod sealing;
mod session;
#[cfg(test)]
mod tampering;
mod trust;
pub mod types;

pub use convert::{Converted, convert};
pub use error::{ApiError, ApiResult};
pub use job::{Job, ProgressSink};
pub use mementory_formats::{Passphrase, Signer};
pub use sealing::passphrase;
pub use session::{CreateOptions, ExportMeans, Session, WatchRound};
