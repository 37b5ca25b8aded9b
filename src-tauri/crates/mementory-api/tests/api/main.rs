//! Tests of the API's public functions, in one program because each test program links the whole vault.
#![allow(clippy::unwrap_used)]
mod audit;
mod cancel;
mod changed_since;
mod edited_elsewhere;
mod evidence;
mod preview;
mod printing;
mod review;
mod signature;
mod validation;
