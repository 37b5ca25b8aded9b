#![allow(clippy::unwrap_used, clippy::expect_used)]
mod encodings;
mod encryption;
mod interop_export;
mod memory_limits;
mod other_formats;
mod round_trip;
mod scalars_and_ids;
