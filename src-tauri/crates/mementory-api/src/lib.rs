//! Every use case of Mementory as a plain function, for the window, the command line and connected clients. A
//! [`Session`] is an open vault. Functions that need no vault are in [`files`], [`guide`] and [`portable`]. The window
//! and the command line contain no logic of their own and only call these functions.
mod applied;
mod connections;
mod convert;
mod error;
pub mod files;
pub mod guide;
mod inspection;
mod job;
mod new_file;
mod opened_paths;
mod opening;
mod passphrase;
pub mod portable;
mod program;
mod session;
mod trust;
pub mod types;
mod validation;
pub mod weights;

pub use applied::warnings_of;
pub use connections::{Connections, TOKEN_VARIABLE};
pub use convert::{Converted, convert};
pub use error::{ApiError, ApiResult};
pub use job::{Job, ProgressSink};
pub use mementory_formats::{Passphrase, Signer, typescript as formats_typescript};
pub use mementory_vault::Applied;
pub use new_file::new_file;
pub use passphrase::passphrase;
pub use program::{current_program, disable_core_dumps, program_path};
pub use session::{
    Agents, Backups, Changes, ClientCalls, CreateOptions, DEMONSTRATION_PASSPHRASE, DuplicateMemories, EvidencePacks,
    ExportOptions, Exports, FolderScan, Imports, KeyRing, Meaning, MemoryEvidenceFinder, Pages, Records, Review,
    Scanner, Search, SensitiveValues, Session, WatchedFolders, delete_demonstration, entry_time,
};
