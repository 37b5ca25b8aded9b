#![allow(clippy::unwrap_used, clippy::expect_used)]
mod budget;
mod carry;
mod forms;
mod lesser;
mod parts;
mod round;
mod secret;
