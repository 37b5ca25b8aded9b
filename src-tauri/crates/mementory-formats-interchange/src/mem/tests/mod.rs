//! Tests over data on disk: the official vectors and bundles (when they are there), and bundles of our own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
mod bundles;
mod evidence;
mod harness;
mod increments;
mod interop;
mod requirements;
mod signing;
mod tampering;
mod travel;
mod vectors;
