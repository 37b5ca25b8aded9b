//! What readers of several formats have in common: JSON objects as borrowed members, the loop over the elements of a
//! file, conversations built from turns, and the order of messages.
pub(crate) mod any_time;
pub(crate) mod chat;
pub(crate) mod content;
pub(crate) mod json_head;
pub(crate) mod markdown;
pub(crate) mod message;
pub(crate) mod note;
pub(crate) mod note_folder;
pub(crate) mod note_links;
pub(crate) mod note_reader;
pub(crate) mod object;
pub(crate) mod order;
pub(crate) mod reader;
pub(crate) mod roles;
pub(crate) mod sqlite;
mod sqlite_log;
