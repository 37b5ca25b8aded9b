//! Tests of the crate through its public interface, with configurations from `../configs` and `../broken`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]
mod broken;
mod doctor;
mod files;
mod ours;
mod properties;
mod release;
mod round_trip;
mod testing;
