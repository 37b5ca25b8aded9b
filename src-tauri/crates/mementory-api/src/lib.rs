//! Every use case of Mementory as a plain function, for the window, the command line and (later) MCP.
//! A [`Session`] is one open vault; what needs no vault is a free function in [`files`].
//! Shell and command line hold no rule of their own.
mod convert;
mod error;
pub mod files;
mod job;
mod passphrase;
pub mod portable;
mod session;
mod trust;
pub mod types;

pub use convert::{Converted, convert};
pub use error::{ApiError, ApiResult};
pub use job::{Job, ProgressSink};
pub use mementory_formats::{Passphrase, Signer};
pub use passphrase::passphrase;
pub use session::{CreateOptions, ExportMeans, Session, WatchRound};
