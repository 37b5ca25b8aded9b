//! `guide`: how to get the data from an assistant or program.
use crate::command_result::{CommandResult, success};
use clap::Args;
use mementory_api::{ApiResult, guide};

/// Arguments of `guide`.
#[derive(Args)]
pub struct GuideArgs {
    /// Source, or format of its exports: chatgpt, claude, codex … Without it, the sources are listed.
    source: Option<String>,
    /// Language of the texts: en, de or ja.
    #[arg(long, default_value = "en")]
    language: String,
}

pub fn run(args: &GuideArgs) -> ApiResult<CommandResult> {
    match &args.source {
        Some(source) => success(&guide::guide(source, &args.language)?),
        None => success(&serde_json::json!({"sources": guide::sources(&args.language)?})),
    }
}
