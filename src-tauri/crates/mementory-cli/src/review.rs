//! Where a memory comes from, and the review.
use crate::done::{CommandResult, done};
use mementory_api::{ApiError, ApiResult, Job, Session, types::*};
use std::path::Path;

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

/// The evidence of a memory, if the argument is an id, or an Evidence Pack.
pub fn evidence(session: &Session, out: &Path, pack: &PackOptions<'_>, job: &Job) -> ApiResult<CommandResult> {
    if let Some(id) = out.to_str().filter(|text| is_id(text)) {
        if pack.is_used() {
            let message = format!("{id} is the id of a record, and these options are for an Evidence Pack. Write ./{id}.");
            return Err(ApiError::new("usage", 2, message));
        }
        return done(&session.origins().of(id)?);
    }
    let parts = pack.parts.map(|parts| parts.iter().map(|part| EvidencePart::parse(part)).collect()).transpose()?;
    let request =
        EvidenceRequest { since: pack.since.clone(), until: pack.until.clone(), sign: pack.sign, parts };
    let made = session.evidence().write(out, &request, job)?;
    Ok(CommandResult { exit: u8::from(!made.validated), ..done(&made)? })
}

/// True for the form of a record's id: 32 hexadecimal digits and nothing else.
fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Stores the answers, then shows the next memory.
pub fn review(session: &Session, answers: &[String], request: &ReviewRequest) -> ApiResult<CommandResult> {
    let answers = answers.iter().map(|text| parse_answer(text)).collect::<ApiResult<Vec<_>>>()?;
    if !answers.is_empty() {
        session.review().answer(&answers)?;
    }
    done(&session.review().next(request)?)
}

fn parse_answer(text: &str) -> ApiResult<ReviewAnswer> {
    let (id, answer) = text.split_once('=').ok_or_else(|| {
        ApiError::new("usage", 2, format!("{text} is not an answer. Nothing was changed. Write ID=ANSWER."))
    })?;
    Ok(ReviewAnswer { id: id.trim().into(), answer: answer.trim().into() })
}
