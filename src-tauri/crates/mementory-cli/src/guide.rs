//! `guide`: how to get the data from an assistant or program.
use crate::done::{CommandResult, done};
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
        Some(source) => done(&guide::guide(source, &args.language)?),
        None => done(&serde_json::json!({"sources": guide::sources(&args.language)?})),
    }
}
