//! Options that select entries of a Zaxy bundle.
use clap::Args;

/// Selects entries of a Zaxy bundle.
#[derive(Args, Default)]
pub struct SelectArgs {
    /// Only these grains: event, semantic.
    #[arg(long, value_delimiter = ',', value_name = "G,…")]
    pub grains: Vec<String>,
    /// Only these kinds of entries.
    #[arg(long, value_delimiter = ',', value_name = "K,…")]
    pub kinds: Vec<String>,
    /// Only entries with a sequence number above this one.
    #[arg(long, value_name = "N")]
    pub since_seq: Option<u64>,
    /// Only entries with a sequence number up to and including this one.
    #[arg(long, value_name = "N")]
    pub max_seq: Option<u64>,
    /// Only entries from this time on.
    #[arg(long, value_name = "T")]
    pub since_time: Option<String>,
    /// Only entries up to and including this time.
    #[arg(long, value_name = "T")]
    pub until_time: Option<String>,
}

/// Selects the entries of an export.
#[derive(Args, Default)]
pub struct ExportSelectArgs {
    #[command(flatten)]
    pub select: SelectArgs,
    /// Only entries that contain at least one of these words.
    #[arg(long)]
    pub query: Option<String>,
    /// At most this many of the entries that --query finds.
    #[arg(long, value_name = "N")]
    pub query_limit: Option<usize>,
    /// Leave out entries with these sensitivities.
    #[arg(long, value_delimiter = ',', value_name = "S,…")]
    pub exclude_sensitivities: Vec<String>,
    /// Only this many of the most recent entries.
    #[arg(long, value_name = "N")]
    pub latest: Option<usize>,
}
