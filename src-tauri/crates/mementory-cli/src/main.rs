//! `mementory` parses arguments, calls `mementory-api`, and prints JSON or plain text. All logic is in the API.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs,
    reason = "printing is the purpose of this crate; the help texts are in args.rs"
)]
mod args;
mod client_args;
mod clients;
mod command_result;
mod connect;
mod guide;
mod input;
mod input_args;
mod job;
mod packaging;
mod portable;
mod print;
mod push;
mod release_args;
mod review;
mod run;
mod select_args;

use clap::{Parser, error::ErrorKind};
use mementory_api::ApiError;
use std::process::ExitCode;

/// Replaces glibc's allocator, in which threads wait for each other when one thread frees memory that another thread
/// allocated.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Exit code if the answer could not be written to standard output.
const OUTPUT_FAILED: u8 = 7;

fn main() -> ExitCode {
    mementory_api::disable_core_dumps();
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return print_usage_error(&error),
    };
    let (json, quiet) = (cli.json, cli.quiet);
    let speaks_protocol = matches!(cli.command, args::Command::Mcp(_));
    match run::run(cli) {
        Ok(result) if speaks_protocol => ExitCode::from(result.exit),
        // If the answer cannot be printed, the command fails, because the person needs the answer: the recovery code of
        // a new vault, for example, is printed only once.
        Ok(result) => match print::result(&result, json, quiet) {
            true => ExitCode::from(result.exit),
            false => ExitCode::from(OUTPUT_FAILED),
        },
        Err(error) => {
            print::error(&error, json);
            ExitCode::from(error.exit)
        }
    }
}

/// Prints an error about wrong arguments (as JSON with `--json`) and returns exit code 2. Help and version output are
/// not errors.
fn print_usage_error(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let is_written = print::write_stdout(&error.to_string());
        return if is_written { ExitCode::SUCCESS } else { ExitCode::from(OUTPUT_FAILED) };
    }
    if std::env::args_os().any(|a| a == "--json") {
        print::error(&ApiError::usage(error.to_string()), true);
    } else {
        eprint!("{error}");
    }
    ExitCode::from(2)
}
