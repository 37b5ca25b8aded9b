//! What readers of several formats have in common: JSON objects as borrowed members, the loop over the elements of a
//! file, conversations built from turns, and the order of messages.
pub(crate) mod chat;
pub(crate) mod files;
pub(crate) mod lines;
pub(crate) mod object;
pub(crate) mod order;
pub(crate) mod reader;
pub(crate) mod tables;
pub(crate) mod values;
pub(crate) mod workbook;
