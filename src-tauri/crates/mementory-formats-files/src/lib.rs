//! Formats of notes, and of texts and chats in shapes that many programs share. Each has its own folder with a README.
pub mod csv_table;
pub mod generic_chat;
pub mod generic_memories;
pub mod google_keep;
pub mod html_page;
pub mod kept_file;
pub mod markdown_folder;
pub mod notion;
pub mod obsidian;
pub mod transfer_text;

use mementory_format::Format;

/// Every format of this crate, in the order in which detection tries them.
pub const FORMATS: &[&dyn Format] = &[
    &transfer_text::TransferText,
    &generic_chat::GenericChat,
    &obsidian::Obsidian,
    &notion::Notion,
    &google_keep::GoogleKeep,
    &markdown_folder::MarkdownFolder,
    &html_page::HtmlPage,
    &csv_table::CsvTable,
    &generic_memories::GenericMemories,
    &kept_file::KeptFile,
];

#[cfg(test)]
mod cases;
#[cfg(test)]
mod testing;
#[cfg(test)]
use testing::detect;
