//! Tests of the crate through its public interface.
#![allow(clippy::unwrap_used, clippy::expect_used)]
mod chunked;
mod header;
mod portable;
mod small;
mod spool;
mod vectors;
#[cfg(target_os = "linux")]
mod wiped;
