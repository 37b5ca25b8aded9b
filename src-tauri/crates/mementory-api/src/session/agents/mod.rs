//! Connected clients: the grants that the person gives them, their suggestions, and the calls of their tools.
mod calls;
mod exports;
mod imports;
mod log;
mod suggestions;

pub use calls::ClientCalls;

use super::{context::Context, filter::parse_bound, now, time};
use crate::{ApiError, ApiResult, types::*};
use mementory_model::{Kind, Timestamp};
use mementory_vault::{Grant, GrantRights, GrantScope, NewGrant};
use std::sync::atomic::Ordering;

/// Largest number of records that one call can return.
const MAX_RECORDS_PER_CALL: u32 = 500;

/// Manages the grants and suggestions of connected clients.
#[derive(Clone, Copy)]
pub struct Agents<'s> {
    context: &'s Context,
}

impl<'s> Agents<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }

    /// Returns the calls that the client with this token can make.
    pub fn client(&self, token: &'s str) -> ClientCalls<'s> {
        ClientCalls::new(self.context, token)
    }
}

impl Agents<'_> {
    /// Returns all grants, including those that have ended.
    pub fn grants(&self) -> ApiResult<GrantList> {
        let grants = self.context.vault.grants().all()?;
        Ok(GrantList { grants: grants.iter().map(grant_info).collect() })
    }

    /// True if at least one grant has not ended, so that a client can make calls.
    pub fn has_active_grant(&self) -> ApiResult<bool> {
        Ok(self.grants()?.grants.iter().any(|grant| grant.state == "active"))
    }

    /// Returns the grant to which a token belongs, even if the grant has ended. None if this vault has no grant with
    /// this token.
    pub fn grant_of(&self, token: &str) -> ApiResult<Option<GrantInfo>> {
        Ok(self.context.vault.grants().grant_of_token(token)?.as_ref().map(grant_info))
    }

    /// Stores that the person has seen the notice about the first read with each of these grants.
    pub fn first_reads_seen(&self, grants: &[String]) -> ApiResult<()> {
        let _guard = self.context.write_guard();
        Ok(self.context.vault.grants().first_reads_seen(grants)?)
    }

    /// Makes running client calls end soon, and refuses new ones with `locked`. Must be called before the vault is
    /// locked, because locking waits for running calls.
    pub fn stop_calls(&self) {
        self.context.clients_stopped.store(true, Ordering::Relaxed);
    }

    /// Stores in the vault's folder whether this process answers clients, so that another process that finds the vault
    /// in use can tell the person.
    pub fn note_answering(&self, answering: bool) {
        self.context.vault.grants().note_answering(answering);
    }

    /// Creates a grant. Only the answer contains its token, which is stored nowhere.
    ///
    /// # Errors
    /// `usage` for an unknown kind or right, a malformed time, a name that is empty or in use.
    pub fn add_grant(&self, request: &GrantRequest) -> ApiResult<CreatedGrant> {
        let mut rights = GrantRights::default();
        for right in &request.rights {
            match right.as_str() {
                "read" => rights.read = true,
                "suggest" => rights.suggest = true,
                "export" => rights.export = true,
                other => {
                    return Err(usage_error(format!(
                        "A client cannot have the right {other}. Use read, suggest or export."
                    )));
                }
            }
        }
        if let Some(kind) = request.kinds.iter().find(|kind| Kind::parse(kind).is_none()) {
            return Err(usage_error(format!(
                "{kind} is not a kind of record. Use memory, fact or profile, for example."
            )));
        }
        let bound = |text: &Option<String>, upper| text.as_deref().map(|t| parse_bound(t, upper)).transpose();
        let new = NewGrant {
            name: request.name.clone(),
            scope: GrantScope {
                sources: request.sources.clone(),
                kinds: request.kinds.clone(),
                types: request.types.clone(),
                tags: request.tags.clone(),
                since: bound(&request.since, false)?,
                until: bound(&request.until, true)?,
                conversations: request.conversations,
                uncovered: request.uncovered,
            },
            rights,
            records_per_call: request.records_per_call.unwrap_or(50).clamp(1, MAX_RECORDS_PER_CALL),
            records_per_day: request.records_per_day.unwrap_or(2000).max(1),
            expires: bound(&request.expires, true)?,
        };
        let _guard = self.context.write_guard();
        let (grant, token) = self.context.vault.grants().add(new, now())?;
        Ok(CreatedGrant { grant: grant_info(&grant), token })
    }

    /// Ends a grant, given by id or name. Its token is then refused.
    ///
    /// # Errors
    /// `not_found`.
    pub fn revoke_grant(&self, id_or_name: &str) -> ApiResult<GrantInfo> {
        let _guard = self.context.write_guard();
        match self.context.vault.grants().revoke(id_or_name, now()) {
            Ok(grant) => Ok(grant_info(&grant)),
            Err(mementory_vault::VaultError::NotFound { .. }) => {
                let message = "This vault has no grant in force with this id or name. Nothing was changed.";
                Err(ApiError::new("not_found", 1, message).with("id", id_or_name))
            }
            Err(other) => Err(other.into()),
        }
    }
}

fn usage_error(message: String) -> ApiError {
    ApiError::usage(format!("{message} Nothing was changed."))
}

fn grant_info(grant: &Grant) -> GrantInfo {
    let at = now();
    let (calls_today, records_today) = grant.used_today(at);
    let state = match (grant.revoked, grant.expires) {
        (Some(_), _) => "revoked",
        (None, Some(end)) if end <= Timestamp::as_micros(at) => "expired",
        _ => "active",
    };
    let granted = grant.rights;
    let rights = [(granted.read, "read"), (granted.suggest, "suggest"), (granted.export, "export")];
    GrantInfo {
        id: grant.id.clone(),
        name: grant.name.clone(),
        state: state.into(),
        sources: grant.scope.sources.clone(),
        kinds: grant.scope.kinds.clone(),
        types: grant.scope.types.clone(),
        tags: grant.scope.tags.clone(),
        since: grant.scope.since.map(time),
        until: grant.scope.until.map(time),
        conversations: grant.scope.conversations,
        covered: !grant.scope.uncovered,
        rights: rights.into_iter().filter(|(granted, _)| *granted).map(|(_, name)| name.to_owned()).collect(),
        records_per_call: grant.records_per_call,
        records_per_day: grant.records_per_day,
        created_at: time(grant.created),
        expires_at: grant.expires.map(time),
        revoked_at: grant.revoked.map(time),
        last_call_at: grant.last_call.map(time),
        first_read_at: grant.first_read.map(time),
        first_read_seen: grant.first_read_seen,
        calls_today,
        records_today,
    }
}
