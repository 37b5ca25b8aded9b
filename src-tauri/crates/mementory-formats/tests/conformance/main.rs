//! The conformance suite: every registered format must have the capabilities that it declares. The suite has no
//! format-specific code. It reads the cases in `fixtures/<format>/`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
mod cases;
mod detection;
mod generated_file;
mod hostile;
mod passphrase;
mod reading;
mod steps;
mod writing;
