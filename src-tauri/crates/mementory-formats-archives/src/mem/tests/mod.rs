//! Tests with data on disk: the official vectors and bundles (if available), and our own fixtures.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
mod evidence;
mod harness;
mod hostile;
mod incremental;
mod interop;
mod invalid_values;
mod other_formats;
mod requirements;
mod round_trip;
mod salvage;
mod signing;
mod similar_names;
mod unlisted;
mod vectors;
