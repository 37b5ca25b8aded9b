//! Tests of the whole crate, through what it offers.
#![allow(clippy::unwrap_used, clippy::expect_used)]
mod chunked;
mod header;
mod portable;
mod small;
mod spool;
mod vectors;
