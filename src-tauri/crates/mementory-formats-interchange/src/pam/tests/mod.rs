//! Tests with fixtures, with the official samples (if available), and with stores that the tests write themselves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
mod fixtures;
mod harness;
mod invalid_values;
mod memory_limits;
mod other_formats;
mod salvage;
mod writing;
