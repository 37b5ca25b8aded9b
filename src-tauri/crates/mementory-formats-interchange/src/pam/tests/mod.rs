//! Tests over data on disk (fixtures, and the official samples when they are there) and over what is written.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
mod fixtures;
mod harness;
mod memory_limits;
mod other_formats;
mod writing;
