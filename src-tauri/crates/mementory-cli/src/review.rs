//! Commands for the evidence of a memory, the review, the list of what to delete, and the report.
use crate::command_result::{CommandResult, change_result, success};
use clap::Args;
use mementory_api::{ApiError, ApiResult, Job, Session, types::*};
use std::path::{Path, PathBuf};

/// Arguments of `review`.
#[derive(Args)]
pub struct ReviewArgs {
    /// Show the next memory. This is the default if no answer is given.
    #[arg(long)]
    next: bool,
    /// Answer a memory: true, outdated, wrong or private; `none` takes an answer back. May be given several times.
    #[arg(long, value_name = "ID=ANSWER")]
    answer: Vec<String>,
    /// Only memories of this assistant.
    #[arg(long, value_name = "ASSISTANT")]
    source: Option<String>,
    /// Only memories with a sensitive value.
    #[arg(long)]
    sensitive: bool,
    /// Only memories about this subject, as in `list`; an empty value selects memories without a subject.
    #[arg(long, value_name = "SUBJECT")]
    about: Option<String>,
    /// Only memories on this private topic, as in `list`, or on any.
    #[arg(long, value_name = "CATEGORY")]
    special: Option<String>,
    /// Skip this memory for now; may be given several times.
    #[arg(long, value_name = "ID")]
    skip: Vec<String>,
    /// Show this memory instead of the next one.
    #[arg(long, value_name = "ID", conflicts_with = "next")]
    show: Option<String>,
}

/// Arguments of `todo`.
#[derive(Args)]
pub struct TodoArgs {
    /// Only for this assistant. Without this option, for the assistant with the most memories to delete.
    #[arg(long)]
    pub assistant: Option<String>,
    /// Language of the texts: en, de or ja.
    #[arg(long, default_value = "en")]
    pub language: String,
}

/// Arguments of `report`.
#[derive(Args)]
pub struct ReportArgs {
    /// A new HTML file.
    pub out: PathBuf,
    /// Language of the page: en, de or ja.
    #[arg(long, default_value = "en")]
    pub language: String,
}

/// Options of an Evidence Pack.
pub struct PackOptions<'a> {
    pub since: &'a Option<String>,
    pub until: &'a Option<String>,
    pub parts: Option<&'a [String]>,
    pub sign: bool,
}

impl PackOptions<'_> {
    fn is_used(&self) -> bool {
        self.sign || self.since.is_some() || self.until.is_some() || self.parts.is_some()
    }
}

/// Returns the evidence of a memory if `out` is the id of a record. Otherwise writes an Evidence Pack to `out`.
pub fn evidence(session: &Session, out: &Path, pack: &PackOptions<'_>, job: &Job) -> ApiResult<CommandResult> {
    if let Some(id) = out.to_str().filter(|text| is_id(text)) {
        if pack.is_used() {
            let message =
                format!("{id} is the id of a record, and these options are for an Evidence Pack. Write ./{id}.");
            return Err(ApiError::usage(message));
        }
        return success(&session.memory_evidence().of(id)?);
    }
    let parts = pack.parts.map(|parts| parts.iter().map(|part| EvidencePart::parse(part)).collect()).transpose()?;
    let request = EvidencePackRequest { since: pack.since.clone(), until: pack.until.clone(), sign: pack.sign, parts };
    let evidence = session.evidence().write(out, &request, job)?;
    Ok(CommandResult { exit: u8::from(!evidence.validated), ..change_result(&evidence)? })
}

/// True for the format of a record's id: 32 hexadecimal digits and nothing else.
fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Stores the answers, then shows the next memory.
pub fn review(session: &Session, args: &ReviewArgs) -> ApiResult<CommandResult> {
    let answers = args.answer.iter().map(|text| parse_answer(text)).collect::<ApiResult<Vec<_>>>()?;
    if !answers.is_empty() {
        session.review().answer(&answers)?;
    }
    let request = ReviewRequest {
        source: args.source.clone(),
        sensitive: args.sensitive,
        about: args.about.clone(),
        special: args.special.clone(),
        skip: args.skip.clone(),
        id: args.show.clone(),
        counts_only: !args.next && args.show.is_none() && !answers.is_empty(),
    };
    match session.review().next(&request) {
        Ok(next) => success(&next),
        Err(_) if !answers.is_empty() => success(&serde_json::json!({"warnings": [Warning {
            code: "next_not_read".into(),
            place: "review".into(),
            message: "the answers are stored, but what comes next could not be read".into(),
            count: 1,
        }]})),
        Err(error) => Err(error),
    }
}

fn parse_answer(text: &str) -> ApiResult<ReviewAnswer> {
    let (id, answer) = text
        .split_once('=')
        .ok_or_else(|| ApiError::usage(format!("{text} is not an answer. Nothing was changed. Write ID=ANSWER.")))?;
    Ok(ReviewAnswer { id: id.trim().into(), answer: answer.trim().into() })
}
