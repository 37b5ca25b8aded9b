//! Connected clients: their grants, what they suggest, and what their tools answer.
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// Request to make a grant. An empty list means no restriction by it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct GrantRequest {
    /// Name of the client, as the person calls it.
    pub name: String,
    pub sources: Vec<String>,
    pub kinds: Vec<String>,
    pub types: Vec<String>,
    pub tags: Vec<String>,
    /// First and last date or time (RFC 3339), inclusive.
    pub since: Option<String>,
    pub until: Option<String>,
    /// True if conversations and messages are visible too.
    pub conversations: bool,
    /// True if sensitive values are handed out as they are.
    pub uncovered: bool,
    /// `read`, `suggest`.
    pub rights: Vec<String>,
    /// Most records that one call returns (1 to 500, default 50), and that leave on one day (UTC; default 2000).
    pub records_per_call: Option<u32>,
    pub records_per_day: Option<u32>,
    /// Date or time at which the grant ends.
    pub expires: Option<String>,
}

/// A grant.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct GrantInfo {
    pub id: String,
    pub name: String,
    /// `active`, `expired` or `revoked`.
    pub state: String,
    pub sources: Vec<String>,
    pub kinds: Vec<String>,
    pub types: Vec<String>,
    pub tags: Vec<String>,
    pub since: Option<String>,
    pub until: Option<String>,
    pub conversations: bool,
    /// True if sensitive values are masked.
    pub covered: bool,
    pub rights: Vec<String>,
    pub records_per_call: u32,
    pub records_per_day: u32,
    pub created_at: String,
    pub expires_at: Option<String>,
    pub revoked_at: Option<String>,
    pub last_call_at: Option<String>,
    pub calls_today: u32,
    pub records_today: u32,
}

/// A new grant with its token, which is shown only now.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct GrantMade {
    pub grant: GrantInfo,
    pub token: String,
}

/// All grants, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct GrantList {
    pub grants: Vec<GrantInfo>,
}

/// A suggestion that waits.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SuggestionItem {
    pub id: String,
    /// Name of the client, and the id of its grant.
    pub client: String,
    pub grant: String,
    /// `new`, `change` or `forget`.
    pub op: String,
    /// Id of the record to change or forget.
    pub target: Option<String>,
    /// The text that the record has now; null if it is in the Trash.
    pub before: Option<String>,
    pub text: Option<String>,
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    pub tags: Vec<String>,
    pub reason: Option<String>,
    pub at: String,
}

/// The suggestions that wait, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct SuggestionList {
    pub items: Vec<SuggestionItem>,
}

/// What was decided on suggestions.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct SuggestionsClosed {
    pub accepted: Vec<SuggestionAccepted>,
    pub refused: Vec<String>,
}

/// An accepted suggestion, and the record that it made or changed.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SuggestionAccepted {
    pub id: String,
    pub record: String,
}

/// What a client sees of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ClientRecord {
    pub id: String,
    pub kind: String,
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    pub title: Option<String>,
    pub text: String,
    pub source: String,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub status: Option<String>,
    pub tags: Vec<String>,
    #[specta(type = Option<super::TsNumber>)]
    pub confidence: Option<f64>,
    /// How the source made it.
    pub method: Option<String>,
    /// Who wrote it, if it is a message.
    pub role: Option<String>,
    pub conversation_id: Option<String>,
    /// True if sensitive values in it were masked.
    pub covered: bool,
}

/// A hit of a client's search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ClientHit {
    pub record: ClientRecord,
    /// The part of its text that has the words.
    pub snippet: String,
}

/// A page of what a client may know.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ClientPage {
    pub records: Vec<ClientRecord>,
    pub next_cursor: Option<String>,
    /// Number of records on all pages.
    pub total: u32,
}

/// A record for a client, with messages if it is a conversation.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ClientFetched {
    pub record: ClientRecord,
    pub messages: Vec<ClientRecord>,
    /// True if there are more messages.
    pub more_messages: bool,
}

/// What a client may do and see.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ClientAbout {
    pub grant: GrantInfo,
    /// Numbers of visible records by kind.
    pub counts: BTreeMap<String, u32>,
}

/// What a client suggests.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ClientSuggestion {
    /// `new`, `change` or `forget`.
    pub op: String,
    pub id: Option<String>,
    pub text: Option<String>,
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    pub tags: Vec<String>,
    pub reason: Option<String>,
}
