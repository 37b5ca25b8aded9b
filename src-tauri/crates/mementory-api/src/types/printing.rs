//! Types for pages for reading and printing.
use super::Filter;
use serde::{Deserialize, Serialize};
use specta::Type;

/// Request for a page. The caller gives the page's own texts in the person's language; the records come from the vault.
/// Sensitive values in texts of records, in the title and in the lead are masked.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PrintRequest {
    /// `en` (default), `de` or `ja`.
    pub language: Option<String>,
    pub title: String,
    /// Lines below the title.
    pub lead: Vec<String>,
    /// The page shows these parts in this order.
    pub list: Option<PrintList>,
    pub conversation: Option<PrintConversation>,
    pub tables: Vec<PrintTable>,
}

/// A list of records on a page: all of them, however long the list is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PrintList {
    pub filter: Filter,
    /// Only records that contain these words, the best hits first. Empty: all records of the filter.
    pub query: String,
    /// Order of the records, as in a list. Ignored if there is a query.
    pub sort: Option<String>,
    /// Text of the page if the list has no records.
    pub empty: String,
}

/// A conversation on a page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PrintConversation {
    pub id: String,
    /// The messages to show, in order. A message that is not in the conversation any more is left out.
    pub messages: Vec<PrintMessage>,
}

/// A message on a page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PrintMessage {
    pub id: String,
    /// Who wrote the message.
    pub heading: String,
    /// Details such as the time and the names of its files.
    pub details: Vec<String>,
}

/// A table on a page, with texts of the caller.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PrintTable {
    /// Names of the columns. Empty for a table without a head.
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A page that was saved.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SavedPage {
    pub path: String,
    /// Number of records and messages on the page.
    pub records: u32,
}
