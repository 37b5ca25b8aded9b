//! Options of the commands for connected clients.
use clap::{Args, Subcommand};
use mementory_api::types::GrantRequest;
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum GrantsCommand {
    /// Make a grant for a client and print its token, once.
    Add(Box<GrantArgs>),
    /// End a grant. What the client has read is not taken back.
    Revoke {
        /// Id of the grant, or name of the client.
        grant: String,
    },
}

/// Arguments of `grants add`.
#[derive(Args)]
pub struct GrantArgs {
    /// Name of the client.
    pub name: String,
    #[command(flatten)]
    pub options: GrantOptions,
    /// Write the token to this new file, which only you can read, and do not print it.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// What a grant allows.
#[derive(Args)]
pub struct GrantOptions {
    /// Only records from this source (chatgpt, claude, me …); may be given several times.
    #[arg(long)]
    pub source: Vec<String>,
    /// Only records of this kind (memory, fact, profile …); may be given several times.
    #[arg(long)]
    pub kind: Vec<String>,
    /// Only records with this type; may be given several times.
    #[arg(long = "type", value_name = "TYPE")]
    pub record_type: Vec<String>,
    /// Only records with this tag; if given several times, records with at least one of the tags.
    #[arg(long)]
    pub tag: Vec<String>,
    /// Only from this date or time on.
    #[arg(long)]
    pub since: Option<String>,
    /// Only up to and including this date or time.
    #[arg(long)]
    pub until: Option<String>,
    /// Hand out conversations and their messages too, not only what is remembered.
    #[arg(long)]
    pub conversations: bool,
    /// Hand out sensitive values as they are; without this option they are masked.
    #[arg(long)]
    pub uncovered: bool,
    /// What the client may do: read, suggest, export (whole documents).
    #[arg(long, value_delimiter = ',', value_name = "read,suggest,export", default_value = "read,suggest")]
    pub rights: Vec<String>,
    /// Return at most this many records for each call.
    #[arg(long, value_name = "N")]
    pub per_call: Option<u32>,
    /// Return at most this many records on each day (UTC).
    #[arg(long, value_name = "N")]
    pub per_day: Option<u32>,
    /// End the grant at this date or time.
    #[arg(long, value_name = "TIME")]
    pub expires: Option<String>,
}

impl GrantOptions {
    /// The request for a grant of a client with this name.
    pub fn request(&self, name: &str) -> GrantRequest {
        GrantRequest {
            name: name.to_owned(),
            sources: self.source.clone(),
            kinds: self.kind.clone(),
            types: self.record_type.clone(),
            tags: self.tag.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
            conversations: self.conversations,
            uncovered: self.uncovered,
            rights: self.rights.clone(),
            records_per_call: self.per_call,
            records_per_day: self.per_day,
            expires: self.expires.clone(),
        }
    }
}

/// Decisions on what clients suggest; without one, the suggestions are listed.
#[derive(Args)]
pub struct SuggestionsArgs {
    /// Accept these suggestions.
    #[arg(long, num_args = 1.., value_name = "ID")]
    pub accept: Vec<String>,
    /// Refuse these suggestions.
    #[arg(long, num_args = 1.., value_name = "ID")]
    pub refuse: Vec<String>,
    /// Refuse these suggestions for good: the same suggestion is not put into the queue again.
    #[arg(long, num_args = 1.., value_name = "ID")]
    pub never: Vec<String>,
}

/// Arguments of `mcp`, the program that a client starts.
#[derive(Args)]
pub struct McpArgs {
    /// Read the client's token from this file, which only its owner may read. Without it, the token is taken from the
    /// environment variable MEMENTORY_TOKEN.
    #[arg(long, env = "MEMENTORY_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}
