//! What readers of several formats have in common: JSON objects as borrowed members, the loop over the elements of a
//! file, conversations built from turns, the order of messages, and the rows of memory engines.
pub(crate) mod chat;
pub(crate) mod memory_heads;
pub(crate) mod memory_rows;
pub(crate) mod object;
pub(crate) mod order;
pub(crate) mod reader;
