//! What a caller sees of the API, in one program: each test program links the whole vault.
#![allow(clippy::unwrap_used)]
mod audit;
mod preview;
mod signature;
