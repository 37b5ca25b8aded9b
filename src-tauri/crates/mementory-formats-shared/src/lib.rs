//! Code that readers and writers of several formats share: JSON objects with borrowed members, the loop over the
//! elements of a file, conversations built from turns, the order of messages, web pages, notes, and rows of memory
//! engines.
pub mod agent_content;
pub mod any_time;
pub mod chat;
pub mod check;
pub mod content;
pub mod export;
pub mod export_files;
pub mod files;
pub mod frontmatter;
pub mod harness;
pub mod harness_cline;
pub mod html;
pub mod json_head;
pub mod jsonl_session;
pub mod lines;
pub mod list_items;
pub mod local_time;
pub mod markdown;
pub mod memory_heads;
pub mod memory_rows;
pub mod message;
pub mod message_tree;
pub mod nested_text;
pub mod new_files;
pub mod note;
pub mod note_export;
pub mod note_folder;
pub mod note_links;
pub mod note_reader;
pub mod notion_names;
pub mod object;
pub mod order;
pub mod percent;
pub mod reader;
pub mod redact;
pub mod roles;
pub mod rules_text;
pub mod sqlite;
mod sqlite_log;
pub mod sqlite_rows;
pub mod tables;
#[cfg(feature = "testkit")]
#[allow(clippy::unwrap_used, clippy::expect_used)]
pub mod testkit;
pub mod text_head;
pub mod text_parts;
pub mod topics;
pub mod values;
pub mod workbook;
pub mod yaml_head;
