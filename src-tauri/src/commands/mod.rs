//! One thin delegate per command. The function of `mementory-api` that it calls documents what it does.
pub mod deletion;
pub mod export;
pub mod import;
pub mod records;
pub mod review;
pub mod system;
pub mod vault;
pub mod watching;
