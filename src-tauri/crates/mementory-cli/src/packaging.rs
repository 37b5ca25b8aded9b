//! Man pages and shell completions, made from the definition of the command line when a package is built.
use crate::{
    args::Cli,
    done::{CommandResult, done},
};
use clap::CommandFactory;
use clap_complete::{Shell, generate_to};
use mementory_api::{ApiError, ApiResult};
use std::path::Path;

/// Writes `man/mementory*.1` and `completions/` into `dir`, which is created. Returns the number of files.
///
/// # Errors
/// `io`.
pub fn write(dir: &Path) -> ApiResult<CommandResult> {
    let files = write_files(dir).map_err(|error| {
        ApiError::new("io", 7, format!("The pages could not be written to {}: {error}.", dir.display()))
    })?;
    done(&serde_json::json!({ "files": files }))
}

fn write_files(dir: &Path) -> std::io::Result<usize> {
    let (pages, completions) = (dir.join("man"), dir.join("completions"));
    std::fs::create_dir_all(&pages)?;
    std::fs::create_dir_all(&completions)?;
    clap_mangen::generate_to(Cli::command(), &pages)?;
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        generate_to(shell, &mut Cli::command(), "mementory", &completions)?;
    }
    Ok(std::fs::read_dir(&pages)?.count() + std::fs::read_dir(&completions)?.count())
}
