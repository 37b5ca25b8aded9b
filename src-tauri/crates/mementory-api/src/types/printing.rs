//! Types for printable pages.
use super::Filter;
use serde::{Deserialize, Serialize};
use specta::Type;

/// Request for a printable page. The request contains the page's headings and labels in the person's language. The
/// records come from the vault. Sensitive values in texts of records, in the title and in the lead are masked.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PrintRequest {
    /// `en` (default), `de` or `ja`.
    pub language: Option<String>,
    pub title: String,
    /// Lines below the title.
    pub lead: Vec<String>,
    /// The list on the page. The page shows `list`, `conversation` and `tables` in this order.
    pub list: Option<PrintList>,
    pub conversation: Option<PrintConversation>,
    pub tables: Vec<PrintTable>,
}

/// A list of records on a page. The page shows all records of the list, however many they are.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PrintList {
    pub filter: Filter,
    /// If not empty, only records that contain these words are shown, best hits first.
    pub query: String,
    /// Order of the records, as in `ListRequest`. Ignored if there is a query.
    pub sort: Option<String>,
    /// Text to show if the list has no records.
    pub empty: String,
}

/// A conversation on a page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PrintConversation {
    pub id: String,
    /// The messages to show, in order. Messages that are no longer in the conversation are left out.
    pub messages: Vec<PrintMessage>,
}

/// A message on a page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PrintMessage {
    pub id: String,
    /// Who wrote the message.
    pub heading: String,
    /// Details about the message, such as its time and the names of its files.
    pub details: Vec<String>,
}

/// A table on a page. All its texts come from the caller.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PrintTable {
    /// Names of the columns. Empty if the table has no heading row.
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
