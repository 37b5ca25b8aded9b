//! Options of the commands that read a file of any format.
use clap::Args;
use std::path::PathBuf;

/// Says how a file is read.
#[derive(Args, Default)]
pub struct InputArgs {
    /// Read the passphrase of an encrypted file from this file.
    #[arg(long, value_name = "FILE")]
    pub import_passphrase_file: Option<PathBuf>,
    /// Read up to this many bytes instead of the default limit.
    #[arg(long, value_name = "N")]
    pub limit_bytes: Option<u64>,
}
