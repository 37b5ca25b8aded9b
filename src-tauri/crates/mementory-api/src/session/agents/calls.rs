//! The calls of a connected client's tools. Each call checks the token, reads only what the grant makes visible, and is
//! counted and logged before it returns an answer.
use super::grant_info;
use crate::{
    ApiError, ApiResult,
    session::{context::Context, now},
    types::*,
};
use mementory_model::{Kind, Timestamp};
use mementory_vault::{
    Call, Grant, GrantRefusal, GrantedRecord, GrantedView, Suggestion, SuggestionOp, VaultError, is_suggestible,
};
use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

/// Longest time for which one call scans for values to mask.
const SCAN_TIME: Duration = Duration::from_secs(5);

/// The calls of one client.
#[derive(Clone, Copy)]
pub struct ClientCalls<'s> {
    pub(super) context: &'s Context,
    token: &'s str,
}

/// A call whose token was accepted.
pub(super) struct AcceptedCall<'s> {
    pub(super) grant: Grant,
    pub(super) view: GrantedView<'s>,
    /// Largest number of records that this call may return.
    pub(super) limit: u32,
}

impl<'s> ClientCalls<'s> {
    pub(super) fn new(context: &'s Context, token: &'s str) -> Self {
        Self { context, token }
    }

    /// Checks the token and the right of its grant, calls `answer`, and then counts and logs the call. Until this
    /// function returns, nothing else changes the vault.
    pub(super) fn call<T>(
        &self,
        op: &'static str,
        has_right: impl Fn(&Grant) -> bool,
        answer: impl FnOnce(&mut AcceptedCall<'s>, &mut Call) -> ApiResult<T>,
    ) -> ApiResult<T> {
        let _guard =
            self.context.client_guard().ok_or_else(|| if self.is_stopped() { locked_error() } else { busy_error() })?;
        let grants = self.context.vault.grants();
        let (grant, left_today) = grants.check(self.token, now())?.map_err(refusal)?;
        if !has_right(&grant) {
            return Err(ApiError::new(
                "not_granted",
                3,
                "The person did not grant this to you. Nothing was read or changed.",
            ));
        }
        if !grant.scope.uncovered {
            self.scan_pending()?;
        }
        let view = grants.view(&grant)?;
        let limit = grant.records_per_call.min(left_today);
        let mut accepted = AcceptedCall { grant, view, limit };
        let mut call = Call::new(op);
        let result = answer(&mut accepted, &mut call)?;
        grants.record(&accepted.grant, &call, now())?.map_err(refusal)?;
        Ok(result)
    }

    /// Scans new and changed records for sensitive values, because masking uses the results of the scan.
    pub(super) fn scan_pending(&self) -> ApiResult<()> {
        let (scanner, deadline) = (self.context.vault.scanner(), Instant::now() + SCAN_TIME);
        while scanner.progress()?.1 > 0 {
            if self.is_stopped() {
                return Err(locked_error());
            }
            if Instant::now() >= deadline {
                return Err(ApiError::new(
                    "busy",
                    4,
                    "Mementory is still looking for sensitive values, to mask them. Nothing was read. Try again soon.",
                ));
            }
            scanner.scan_next(now())?;
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.context.clients_stopped.load(Ordering::Relaxed)
    }

    /// Searches the visible records and returns the hits, best first.
    ///
    /// # Errors
    /// `unknown_token`, `grant_revoked`, `grant_expired`, `not_granted`, `daily_limit`, `busy`, as for every call.
    pub fn search(&self, query: &str, limit: u32) -> ApiResult<Vec<ClientHit>> {
        self.call("client_search", can_read, |accepted, call| {
            let hits = accepted.view.search(query, limit.min(accepted.limit))?;
            hits.iter().for_each(|(record, _)| count_record(call, record));
            let hit = |(record, snippet)| ClientHit { record: client_record(record), snippet };
            Ok(hits.into_iter().map(hit).collect())
        })
    }

    /// Returns one page of all memories, profiles, facts, procedures and tasks, newest first. Its texts have at most
    /// `max_chars` characters in total, except that one record is always returned, however long it is.
    ///
    /// # Errors
    /// As for [`search`](Self::search); `usage` for a cursor that is not from this list.
    pub fn list(&self, cursor: Option<&str>, limit: u32, max_chars: usize) -> ApiResult<ClientPage> {
        self.call("client_list", can_read, |accepted, call| {
            let page = accepted.view.list(cursor, limit.min(accepted.limit), max_chars)?;
            page.records.iter().for_each(|record| count_record(call, record));
            let records = page.records.into_iter().map(client_record).collect();
            Ok(ClientPage { records, next_cursor: page.next, total: page.total })
        })
    }

    /// Returns one visible record. For a conversation, also returns its messages, without the first `skip`. The texts
    /// of these messages have at most `max_chars` characters in total, except that one message is always returned.
    ///
    /// # Errors
    /// As for [`search`](Self::search); `not_found` for a record that does not exist or is not visible.
    pub fn fetch(&self, id: &str, skip: u32, max_chars: usize) -> ApiResult<ClientFetched> {
        self.call("client_fetch", can_read, |accepted, call| {
            let record = accepted.view.record(id).map_err(not_visible_error)?;
            count_record(call, &record);
            let (mut messages, mut more) = (Vec::new(), false);
            if record.kind == Kind::Conversation {
                let limit = accepted.limit.saturating_sub(1);
                (messages, more) = accepted.view.messages(id, skip, limit, max_chars)?;
                messages.iter().for_each(|message| count_record(call, message));
            }
            let messages = messages.into_iter().map(client_record).collect();
            Ok(ClientFetched { record: client_record(record), messages, more_messages: more })
        })
    }

    /// Returns what this client may do and see.
    ///
    /// # Errors
    /// As for [`search`](Self::search).
    pub fn about(&self) -> ApiResult<ClientAccess> {
        self.call(
            "client_about",
            |_| true,
            |accepted, _| {
                let counts = match can_read(&accepted.grant) || accepted.grant.rights.export {
                    true => accepted.view.counts()?,
                    false => Default::default(),
                };
                let counts = counts.into_iter().map(|(kind, count)| (kind.as_str().to_owned(), count)).collect();
                Ok(ClientAccess { grant: grant_info(&accepted.grant), counts })
            },
        )
    }

    /// Adds a suggestion to the queue and returns its id. No record is changed.
    ///
    /// # Errors
    /// As for [`search`](Self::search); `usage` for a text that is missing or too long, and for a full queue;
    /// `not_found` if the record is not visible; `covered_values` for a new text of a record with masked values,
    /// because the new text would overwrite them.
    pub fn suggest(&self, suggestion: &ClientSuggestion) -> ApiResult<String> {
        self.call("client_suggest", |grant| grant.rights.suggest, |accepted, call| {
            let (op, note) = match suggestion.op.as_str() {
                "new" => (SuggestionOp::New, "new"),
                "change" => (SuggestionOp::Change, "change"),
                "forget" => (SuggestionOp::Forget, "forget"),
                _ => {
                    return Err(super::usage_error(
                        "This kind of suggestion does not exist. Use new, change or forget.".into(),
                    ));
                }
            };
            call.note = note;
            let target = match (op, &suggestion.id) {
                (SuggestionOp::New, _) => None,
                (_, Some(id)) => {
                    let record = accepted.view.record(id).map_err(not_visible_error)?;
                    if !is_suggestible(record.kind) {
                        return Err(super::usage_error("Only memories can be changed or forgotten.".into()));
                    }
                    if op == SuggestionOp::Change && record.covered {
                        let message = "Values in this memory are masked for you, and your text would replace them. Nothing was suggested. Suggest a new memory instead.";
                        return Err(ApiError::new("covered_values", 2, message));
                    }
                    Some((record.id, record.version))
                }
                (_, None) => return Err(super::usage_error("Which memory? Give its id.".into())),
            };
            let suggestion = Suggestion {
                id: String::new(),
                grant: accepted.grant.id.clone(),
                client: accepted.grant.name.clone(),
                op,
                target,
                text: suggestion.text.clone().filter(|_| op != SuggestionOp::Forget),
                record_type: suggestion.record_type.clone().filter(|_| op == SuggestionOp::New),
                tags: if op == SuggestionOp::New { suggestion.tags.clone() } else { Vec::new() },
                reason: suggestion.reason.clone(),
                created: None,
                at: Timestamp::as_micros(now()),
            };
            Ok(self.context.vault.suggestions().add(suggestion)?)
        })
    }
}

pub(super) fn can_read(grant: &Grant) -> bool {
    grant.rights.read
}

fn count_record(call: &mut Call, record: &GrantedRecord) {
    *call.returned.entry(record.kind).or_default() += 1;
}

fn busy_error() -> ApiError {
    let message = "The vault is being changed or exported just now. Nothing was read or changed. Try again in a while.";
    ApiError::new("busy", 4, message)
}

fn locked_error() -> ApiError {
    let message =
        "The vault is locked. Nothing was read or changed. Ask the person to unlock it in Mementory, then try again.";
    ApiError::new("locked", 1, message)
}

fn refusal(refusal: GrantRefusal) -> ApiError {
    let (code, exit, message) = match refusal {
        GrantRefusal::UnknownToken => (
            "unknown_token",
            3,
            "This vault does not know your token. Nothing was read or changed. Connect this client again in Mementory.",
        ),
        GrantRefusal::Revoked => ("grant_revoked", 3, "The person ended this grant. Nothing was read or changed."),
        GrantRefusal::Expired => ("grant_expired", 3, "This grant has ended. Nothing was read or changed."),
        GrantRefusal::DailyLimit => (
            "daily_limit",
            6,
            "What this grant allows for one day is used up. Nothing was read or changed. It starts again at 00:00 UTC.",
        ),
    };
    ApiError::new(code, exit, message)
}

/// Returns the same error for a record that is not visible, does not exist, or was erased.
fn not_visible_error(error: VaultError) -> ApiError {
    match error {
        VaultError::NotFound { .. } => ApiError::new("not_found", 1, "There is no such record that you may see."),
        other => other.into(),
    }
}

fn client_record(record: GrantedRecord) -> ClientRecord {
    ClientRecord {
        id: record.id,
        kind: record.kind.as_str().into(),
        record_type: record.record_type,
        title: record.title,
        text: record.text,
        source: record.source,
        created_at: record.created.map(Timestamp::to_rfc3339),
        updated_at: record.updated.map(Timestamp::to_rfc3339),
        status: record.status,
        tags: record.tags,
        confidence: record.confidence,
        method: record.method,
        role: record.role,
        conversation_id: record.conversation,
        covered: record.covered,
    }
}
