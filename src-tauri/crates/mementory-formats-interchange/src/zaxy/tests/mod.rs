#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
mod bundles;
mod cases;
pub(crate) mod harness;
mod invalid_values;
mod log_event;
mod memory_limits;
mod merkle_proofs;
mod other_formats;
mod signatures;
mod vectors;
