//! Formats of notes, and of files that name no program. Each has its own folder with a README.
pub mod csv_table;
pub mod generic_memories;
pub mod html_page;
pub mod kept_file;
pub mod markdown_folder;
pub mod obsidian;

use mementory_format::Format;

/// Every format of this crate, in the order in which detection tries them.
pub const FORMATS: &[&dyn Format] = &[
    &obsidian::Obsidian,
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
