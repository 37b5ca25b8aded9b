//! Types for connected clients: their grants, their suggestions, and the answers of their tools.
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// Request to create a grant. An empty list of sources, kinds, types or tags does not restrict the grant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct GrantRequest {
    /// Name that the person gives to the client.
    pub name: String,
    pub sources: Vec<String>,
    pub kinds: Vec<String>,
    pub types: Vec<String>,
    pub tags: Vec<String>,
    /// Earliest date or time of the visible records (RFC 3339), inclusive. `until` is the latest one.
    pub since: Option<String>,
    pub until: Option<String>,
    /// True if conversations and messages are visible too.
    pub conversations: bool,
    /// True if the client receives sensitive values unmasked.
    pub uncovered: bool,
    /// The rights: `read`, `suggest`, `export`.
    pub rights: Vec<String>,
    /// Largest number of records in one answer: 1 to 500, default 50. `records_per_day` limits the records in all
    /// answers of one UTC day: default 2000.
    pub records_per_call: Option<u32>,
    pub records_per_day: Option<u32>,
    /// Date or time at which the grant expires.
    pub expires: Option<String>,
}

/// A grant: what one client may see and do. Does not contain the client's token.
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
    /// True if sensitive values are masked for this client.
    pub covered: bool,
    pub rights: Vec<String>,
    pub records_per_call: u32,
    pub records_per_day: u32,
    pub created_at: String,
    pub expires_at: Option<String>,
    pub revoked_at: Option<String>,
    pub last_call_at: Option<String>,
    /// When a call first returned a record to the client. `first_read_seen` is true once the person has seen the notice
    /// about this.
    pub first_read_at: Option<String>,
    pub first_read_seen: bool,
    pub calls_today: u32,
    pub records_today: u32,
}

/// A new grant with its token. The token is never shown again.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct CreatedGrant {
    pub grant: GrantInfo,
    pub token: String,
}

/// All grants, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct GrantList {
    pub grants: Vec<GrantInfo>,
}

/// The state of an AI client that Mementory can connect, whether or not the client is on this computer.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct AiClient {
    /// `claude_desktop`, `claude_code`, `codex` …
    pub client: String,
    pub title: String,
    /// How the client was found on this computer. Null if it was not found.
    pub installed: Option<DetectedAiClient>,
    /// Path of the client's configuration file, which need not exist.
    pub config_path: String,
    /// Whether the client's configuration contains a server with Mementory's name.
    pub configured: bool,
    /// Whether Mementory added this server to the configuration. `current` says whether the server's command starts
    /// this program.
    pub ours: bool,
    pub current: bool,
    /// The problems of the connection, most serious first.
    pub problems: Vec<AiClientProblem>,
    /// Id of the grant in the client's configuration. The grant may belong to another vault.
    pub grant: Option<String>,
}

/// How an AI client was found on this computer.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct DetectedAiClient {
    /// What was found: `program`, `application` or `own_files`.
    pub by: String,
    pub path: String,
}

/// A problem that prevents a client from using the vault.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct AiClientProblem {
    pub code: String,
    pub message: String,
}

/// The AI clients of this computer.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct AiClientList {
    pub clients: Vec<AiClient>,
}

/// A change of a client's configuration.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ConnectionChange {
    pub client: String,
    pub config_path: String,
    /// The exact change as a unified diff with masked tokens. Empty if nothing changes.
    pub change: String,
    /// Whether the configuration was changed.
    pub changed: bool,
    pub dry_run: bool,
    /// Path of the copy of the previous configuration.
    pub backup: Option<String>,
    /// The grant that was made or revoked, or the existing grant of a client that was already connected.
    pub grant: Option<GrantInfo>,
}

/// A call of a connected client, from the audit log.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ClientCall {
    pub at: String,
    /// Id of the grant with whose token the program connected.
    pub grant: String,
    pub client: String,
    /// The tool that was called: `search`, `list`, `fetch`, `about`, `suggest`, `export_memory` …
    pub tool: String,
    /// Number of records that the client received, by kind.
    pub left: BTreeMap<String, u32>,
    /// Further detail from the log, such as `new` or `change` for a suggestion.
    pub note: Option<String>,
}

/// Calls of connected clients, newest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct ClientCallList {
    pub calls: Vec<ClientCall>,
    /// Number of all calls in the log, of all clients or of the requested grant. `calls` contains only the newest ones.
    pub total: u32,
}

/// Whether the window answers clients.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct AnsweringState {
    /// Whether the person has switched on answering clients.
    pub enabled: bool,
    /// True if the window's server for clients is running. The server starts when the open vault has an active grant,
    /// and keeps running after the last grant ends.
    pub running: bool,
    /// The error with which the window failed to start answering clients.
    pub problem: Option<super::ErrorBody>,
}

/// The program that connected as a client, as the operating system reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ConnectedProgram {
    /// Id of the grant.
    pub grant: String,
    pub path: String,
    /// Path of the script, if the program is an interpreter.
    pub script: Option<String>,
}

/// Everything that the window shows about connected clients.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct AgentsOverview {
    pub answering: AnsweringState,
    pub clients: Vec<AiClient>,
    /// All grants, including expired and revoked ones, oldest first.
    pub grants: Vec<GrantInfo>,
    /// Programs that connected since the window was started.
    pub programs: Vec<ConnectedProgram>,
    /// Number of suggestions on which the person has to decide.
    pub suggestions: u32,
    /// The error because of which this program cannot connect any client. Null if it can.
    pub problem: Option<super::ErrorBody>,
}

/// A suggestion on which the person has to decide.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SuggestionItem {
    pub id: String,
    /// Name of the client. `grant` is the id of its grant.
    pub client: String,
    pub grant: String,
    /// `new`, `change` or `forget`.
    pub op: String,
    /// Id of the record to change or forget.
    pub target: Option<String>,
    /// The current text of the record. Null for a new memory, and if the record is in the Trash or erased.
    pub before: Option<String>,
    pub text: Option<String>,
    #[serde(rename = "type")]
    pub record_type: Option<String>,
    pub tags: Vec<String>,
    pub reason: Option<String>,
    /// Date of the memory, as stated in the document from which the client imported it. If null, the memory gets the
    /// date on which the suggestion is accepted.
    pub created_at: Option<String>,
    /// True if the record has changed since the client saw it, or is in the Trash or erased. Then the suggestion can
    /// only be refused.
    pub changed_since: bool,
    pub at: String,
}

/// A suggestion to accept. `text` is the text as edited by the person. Null keeps the suggested text.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct SuggestionAccept {
    pub id: String,
    pub text: Option<String>,
}

/// The person's decisions on suggestions. The suggestions in `never` are refused for good: if a client makes the same
/// suggestion again, it is not added to the queue.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct SuggestionDecision {
    pub accept: Vec<SuggestionAccept>,
    pub refuse: Vec<String>,
    pub never: Vec<String>,
}

/// The suggestions on which the person has to decide, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct SuggestionList {
    pub items: Vec<SuggestionItem>,
}

/// The suggestions that were accepted or refused.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct ClosedSuggestions {
    pub accepted: Vec<AcceptedSuggestion>,
    pub refused: Vec<String>,
}

/// An accepted suggestion, and the record that it created, changed or moved to the Trash.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct AcceptedSuggestion {
    pub id: String,
    pub record: String,
}

/// The fields of a record that a client may see.
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
    /// How the source created the record.
    pub method: Option<String>,
    /// For messages: `user`, `assistant` …
    pub role: Option<String>,
    pub conversation_id: Option<String>,
    /// True if sensitive values in the record were masked.
    pub covered: bool,
}

/// A hit of a client's search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ClientHit {
    pub record: ClientRecord,
    /// The part of the record's text that contains the searched words.
    pub snippet: String,
}

/// A page of the records that a client may see.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ClientPage {
    pub records: Vec<ClientRecord>,
    pub next_cursor: Option<String>,
    /// Number of records on all pages.
    pub total: u32,
}

/// A record for a client. For a conversation, also its messages.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ClientFetched {
    pub record: ClientRecord,
    pub messages: Vec<ClientRecord>,
    /// True if the conversation has more messages than were returned.
    pub more_messages: bool,
}

/// The answer of `about`: what a client may do and see.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ClientAccess {
    pub grant: GrantInfo,
    /// Numbers of visible records by kind.
    pub counts: BTreeMap<String, u32>,
}

/// A suggestion that a client makes.
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
