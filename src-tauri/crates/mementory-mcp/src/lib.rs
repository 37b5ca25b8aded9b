//! The vault for agents.
