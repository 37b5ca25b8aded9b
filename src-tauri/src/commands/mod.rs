//! The window's commands. Each only calls a function of `mementory-api`, whose documentation says what it does.
pub mod agents;
pub mod deletion;
pub mod export;
pub mod import;
pub mod records;
pub mod review;
pub mod system;
pub mod vault;
pub mod watching;
