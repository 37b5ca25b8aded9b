#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
mod budget;
mod bundles;
mod cases;
pub(crate) mod harness;
mod signatures;
mod travel;
mod vectors;
