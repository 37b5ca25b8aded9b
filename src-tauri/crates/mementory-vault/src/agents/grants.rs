//! Makes, lists and revokes grants, checks tokens, and counts the records that leave the vault.
use crate::{
    VaultError, VaultResult,
    agents::{Grant, GrantRights, GrantScope, GrantedView, NewGrant, grant::Token},
    context::Context,
};
use mementory_model::{Kind, Timestamp};
use mementory_store::audit;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// Largest number of grants in a vault, including those that have ended.
const MAX_GRANTS: usize = 200;
/// Largest number of calls with one grant on one day. Each call adds an entry to the audit log, which only grows.
const MAX_CALLS_PER_DAY: u32 = 10_000;
const DAY_MICROS: i64 = 86_400_000_000;

/// Why a call is refused. A refused call returns nothing from the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantRefusal {
    /// No grant of this vault has this token.
    UnknownToken,
    /// The person ended the grant.
    Revoked,
    /// The grant's expiry time has passed.
    Expired,
    /// The grant has reached its limit of records or calls for today.
    DailyLimit,
}

/// A client's call, as the audit log records it.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// Name of the action: `client_search`, `client_list` …
    pub op: &'static str,
    /// Number of records that leave the vault, by kind.
    pub returned: BTreeMap<Kind, u32>,
    /// Additional note for the log entry. Never contains content of a record.
    pub note: &'static str,
}

impl Call {
    /// Describes a call that returns no record.
    pub fn new(op: &'static str) -> Self {
        Self { op, ..Self::default() }
    }

    /// Returns the total number of records that leave the vault.
    pub fn records(&self) -> u32 {
        self.returned.values().sum()
    }

    fn detail(&self) -> String {
        let kinds = self.returned.iter().map(|(kind, count)| format!("{} {count}", kind.as_str()));
        let note = (!self.note.is_empty()).then(|| self.note.to_owned());
        let parts: Vec<String> = kinds.chain(note).collect();
        if parts.is_empty() { "nothing left".into() } else { parts.join(", ") }
    }
}

/// The grants of a vault.
#[derive(Clone, Copy)]
pub struct Grants<'v> {
    context: &'v Context,
}

impl<'v> Grants<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }

    /// Returns a view of the records that a grant makes visible.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn view(&self, grant: &Grant) -> VaultResult<GrantedView<'v>> {
        GrantedView::new(self.context, grant.scope.clone())
    }

    /// Like [`view`](Self::view), but sensitive values are always masked, even if the grant allows unmasked values.
    pub fn masked_view(&self, grant: &Grant) -> VaultResult<GrantedView<'v>> {
        GrantedView::new(self.context, GrantScope { uncovered: false, ..grant.scope.clone() })
    }
}

impl Grants<'_> {
    /// Returns all grants, oldest first, including those that have ended.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn all(&self) -> VaultResult<Vec<Grant>> {
        self.context.store.read(load_all)
    }

    /// Writes into the vault's folder whether this process answers connected clients.
    pub fn note_answering(&self, answering: bool) {
        self.context.lock.note_answering(answering);
    }

    /// Creates a grant. Returns the grant and its token, which is not stored.
    ///
    /// # Errors
    /// `Usage` if the name is empty, too long, not one line, or the name of another grant that was not revoked; if the
    /// grant has no right; if the vault has too many grants.
    pub fn add(&self, mut new: NewGrant, now: Timestamp) -> VaultResult<(Grant, String)> {
        new.name = new.name.trim().to_owned();
        let usage = |message: &str| Err(VaultError::Usage(message.into()));
        if new.name.is_empty() || new.name.chars().count() > 60 || new.name.chars().any(char::is_control) {
            return usage("A client needs a name of one line, with at most 60 letters.");
        }
        if new.rights == GrantRights::default() {
            return usage("A grant needs at least one right: read, suggest or export.");
        }
        self.context.store.write(|tx| {
            let all = load_all(tx)?;
            if all.iter().any(|g| g.name == new.name && g.revoked.is_none()) {
                return Err(VaultError::Usage(format!("{} has a grant already. Revoke it first.", new.name)));
            }
            if all.len() >= MAX_GRANTS {
                return Err(VaultError::Usage(format!("This vault has {MAX_GRANTS} grants, and takes no more.")));
            }
            let (grant, token) = Grant::create(new, now)?;
            save(tx, &grant)?;
            audit::append(tx, &self.context.keys, now, "grant_add", &grant.id, &grant.name)?;
            Ok((grant, token))
        })
    }

    /// Revokes a grant, given by its id or name. Records that the client has already read cannot be taken back.
    ///
    /// # Errors
    /// `NotFound` if no grant has this id or name, or it was already revoked.
    pub fn revoke(&self, id_or_name: &str, now: Timestamp) -> VaultResult<Grant> {
        self.context.store.write(|tx| {
            let all = load_all(tx)?;
            let found = all.into_iter().find(|g| g.revoked.is_none() && (g.id == id_or_name || g.name == id_or_name));
            let mut grant = found.ok_or_else(|| VaultError::not_found(id_or_name))?;
            grant.revoked = Some(now.as_micros());
            save(tx, &grant)?;
            audit::append(tx, &self.context.keys, now, "grant_revoke", &grant.id, &grant.name)?;
            Ok(grant)
        })
    }

    /// Returns the grant of a token, even if the grant has ended. None if no grant of this vault has this token.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn grant_of_token(&self, token: &str) -> VaultResult<Option<Grant>> {
        let Some(token) = Token::parse(token) else { return Ok(None) };
        Ok(self.context.store.read(|c| load(c, &token.grant))?.filter(|grant| grant.accepts(&token)))
    }

    /// Marks the first-read notices of these grants as seen by the person. Unknown ids are ignored.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn first_reads_seen(&self, ids: &[String]) -> VaultResult<()> {
        self.context.store.write(|tx| {
            for id in ids {
                if let Some(mut grant) = load(tx, id)?.filter(|grant| grant.first_read.is_some()) {
                    grant.first_read_seen = true;
                    save(tx, &grant)?;
                }
            }
            Ok(())
        })
    }

    /// Returns the grant that a token belongs to, and the number of records that may still be sent today.
    ///
    /// # Errors
    /// Errors of the store. The inner error says why the token is refused.
    pub fn check(&self, token: &str, now: Timestamp) -> VaultResult<Result<(Grant, u32), GrantRefusal>> {
        let Some(grant) = self.grant_of_token(token)? else { return Ok(Err(GrantRefusal::UnknownToken)) };
        if grant.revoked.is_some() {
            return Ok(Err(GrantRefusal::Revoked));
        }
        if grant.expires.is_some_and(|end| end <= now.as_micros()) {
            return Ok(Err(GrantRefusal::Expired));
        }
        let (calls, records) = grant.used_on(day_of(now));
        if calls >= MAX_CALLS_PER_DAY || records >= grant.records_per_day {
            return Ok(Err(GrantRefusal::DailyLimit));
        }
        let records_left = grant.records_per_day - records;
        Ok(Ok((grant, records_left)))
    }

    /// Counts a call and logs it. The caller may return the answer to the client only after this has succeeded.
    ///
    /// # Errors
    /// Errors of the store. The inner error says that the grant was revoked in the meantime or has reached its limit of
    /// records or calls for today.
    pub fn record(&self, grant: &Grant, call: &Call, now: Timestamp) -> VaultResult<Result<(), GrantRefusal>> {
        self.context.store.write(|tx| {
            let Some(mut grant) = load(tx, &grant.id)?.filter(|g| g.revoked.is_none()) else {
                return Ok(Err(GrantRefusal::Revoked));
            };
            let day = day_of(now);
            let (calls, records) = grant.used_on(day);
            let records = records.saturating_add(call.records());
            if calls >= MAX_CALLS_PER_DAY || records > grant.records_per_day {
                return Ok(Err(GrantRefusal::DailyLimit));
            }
            (grant.day, grant.calls_today, grant.records_today) = (day, calls + 1, records);
            grant.last_call = Some(now.as_micros());
            if call.records() > 0 {
                grant.first_read.get_or_insert(now.as_micros());
            }
            save(tx, &grant)?;
            audit::append_by(tx, &self.context.keys, now, audit::CLIENT, call.op, &grant.id, &call.detail())?;
            Ok(Ok(()))
        })
    }
}

impl Grant {
    /// Returns the number of calls and the number of returned records on `day`, which is in days since 1970.
    pub(crate) fn used_on(&self, day: i64) -> (u32, u32) {
        if self.day == day { (self.calls_today, self.records_today) } else { (0, 0) }
    }

    /// Returns the number of calls and the number of returned records on the day (UTC) of `now`.
    pub fn used_today(&self, now: Timestamp) -> (u32, u32) {
        self.used_on(day_of(now))
    }
}

fn day_of(now: Timestamp) -> i64 {
    now.as_micros().div_euclid(DAY_MICROS)
}

fn load_all(c: &Connection) -> VaultResult<Vec<Grant>> {
    let mut statement = c.prepare_cached("SELECT value FROM meta WHERE key >= 'grant/' AND key < 'grant0'")?;
    let texts = statement.query_map([], |r| r.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let mut all = texts.iter().map(|text| parse(text)).collect::<VaultResult<Vec<_>>>()?;
    all.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    Ok(all)
}

fn load(c: &Connection, id: &str) -> VaultResult<Option<Grant>> {
    let text: Option<String> = c
        .prepare_cached("SELECT value FROM meta WHERE key = 'grant/' || ?1")?
        .query_row([id], |r| r.get(0))
        .optional()?;
    text.map(|text| parse(&text)).transpose()
}

fn parse(text: &str) -> VaultResult<Grant> {
    serde_json::from_str(text).map_err(|_| VaultError::Damaged("a grant cannot be read".into()))
}

fn save(tx: &Connection, grant: &Grant) -> VaultResult<()> {
    let text = serde_json::to_string(grant).map_err(|_| VaultError::Damaged("a grant cannot be written".into()))?;
    tx.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('grant/' || ?1, ?2)", params![grant.id, text])?;
    Ok(())
}
