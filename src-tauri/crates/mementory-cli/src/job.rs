//! Shows the progress of a command on standard error, and cancels the command on Ctrl-C.
use crate::args::Cli;
use mementory_api::{Job, types::Progress};
use std::{
    io::IsTerminal,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Makes Ctrl-C cancel the job from now on: the job rolls back, and the command fails with `cancelled` (exit code 130).
/// A second Ctrl-C ends the program at once, and so does Ctrl-C before this call. Ending the program at once does not
/// harm the vault, just as a power failure does not.
pub fn cancel_on_ctrl_c(job: &Job) {
    let (job, was_pressed) = (job.clone(), AtomicBool::new(false));
    // If the handler cannot be set, Ctrl-C still ends the program at once.
    let _ = ctrlc::set_handler(move || {
        if was_pressed.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        job.cancel();
    });
}

pub fn job_with_progress(cli: &Cli) -> Job {
    if cli.progress {
        return Job::with_progress(Arc::new(|p: Progress| {
            if let Ok(line) = serde_json::to_string(&p) {
                eprintln!("{line}");
            }
        }));
    }
    if !cli.json && !cli.quiet && std::io::stderr().is_terminal() {
        return Job::with_progress(Arc::new(|p: Progress| {
            let share = if p.total > 0 { format!(" {:3} %", p.done * 100 / p.total.max(1)) } else { String::new() };
            eprint!("\r{}{share}   ", p.stage);
        }));
    }
    Job::silent()
}
