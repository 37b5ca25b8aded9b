//! What readers of several formats have in common: JSON objects as borrowed members, the loop over the elements of a
//! file, conversations built from turns, the order of messages, web pages, notes, and rows of memory engines.
pub(crate) mod agent_content;
pub(crate) mod any_time;
#[cfg(test)]
pub(crate) mod cases;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod content;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod frontmatter;
pub(crate) mod harness;
pub(crate) mod html;
pub(crate) mod json_head;
pub(crate) mod jsonl_session;
pub(crate) mod lines;
pub(crate) mod list_items;
pub(crate) mod markdown;
pub(crate) mod memory_heads;
pub(crate) mod memory_rows;
pub(crate) mod message;
pub(crate) mod new_files;
pub(crate) mod note;
pub(crate) mod note_export;
pub(crate) mod note_folder;
pub(crate) mod note_links;
pub(crate) mod note_reader;
pub(crate) mod object;
pub(crate) mod order;
pub(crate) mod reader;
pub(crate) mod roles;
pub(crate) mod rules_text;
pub(crate) mod sqlite;
mod sqlite_log;
pub(crate) mod tables;
pub(crate) mod topics;
pub(crate) mod values;
pub(crate) mod workbook;
#[cfg(test)]
pub(crate) mod write_cases;
pub(crate) mod yaml_head;
