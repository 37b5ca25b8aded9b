//! The conformance suite: every format of the registry must pass what its capabilities promise. It has no code for
//! single formats; its inputs are the cases in `fixtures/<format>/`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
mod cases;
mod detection;
mod generated;
mod hostile;
mod reading;
mod steps;
mod writing;
