//! One thin delegate per command. What a command does is said at the function of `mementory-api` that it calls.
pub mod deletion;
pub mod export;
pub mod import;
pub mod records;
pub mod review;
pub mod system;
pub mod vault;
pub mod watching;
