//! Connects AI clients on this computer. A connection has two parts: a grant in the vault, and an entry for Mementory's
//! server, with the grant's token, in the client's configuration. If connecting fails, neither part is kept.
//! Disconnecting removes both.
use crate::{ApiError, ApiResult, Applied, Session, types::*};
use mementory_clients::{
    Client, Error, IoKind, Places, Plan, Server, check_client, connected_variable, plan_connect, plan_disconnect,
};
use mementory_vault::FailedStep;
use std::{path::Path, time::SystemTime};

/// Environment variable in which a client passes its token to Mementory's server.
pub const TOKEN_VARIABLE: &str = "MEMENTORY_TOKEN";

/// Placeholder for the token in a preview, because the token does not exist yet.
const NO_TOKEN: &str = "made-when-connecting";
/// Number of hex digits of a token's secret.
const SECRET_DIGITS: usize = 64;

/// The AI clients of this computer.
pub struct Connections {
    places: Places,
    command: String,
    name: String,
}

impl Connections {
    /// `program` is the path of the `mementory` program that clients start. `name` is the name of Mementory's server in
    /// the clients' configurations.
    ///
    /// # Errors
    /// `io` if the home folder is not known; `usage` if the path is not Unicode.
    pub fn of_this_computer(program: &Path, name: &str) -> ApiResult<Self> {
        let places = Places::of_this_computer()
            .ok_or_else(|| ApiError::io("The home folder is not known (HOME). Nothing was changed."))?;
        let command = program
            .to_str()
            .ok_or_else(|| ApiError::usage("The path of the program is not Unicode, so no client can start it."))?;
        Ok(Self { places, command: command.to_owned(), name: name.to_owned() })
    }

    /// Returns the state of every client that Mementory can connect.
    pub fn list(&self) -> AiClientList {
        AiClientList { clients: Client::ALL.into_iter().map(|client| self.state(client)).collect() }
    }

    /// Returns what [`connect`](Self::connect) would change, and changes nothing. `session` is the open vault, if there
    /// is one.
    ///
    /// # Errors
    /// As for `connect`.
    pub fn preview_connect(&self, session: Option<&Session>, client: &str) -> ApiResult<ConnectionChange> {
        let client = parse(client)?;
        let token = match session {
            Some(session) => self.token_in_force(session, client)?,
            None => self.token(client)?,
        };
        let plan = self.plan(client, token.as_deref().unwrap_or(NO_TOKEN))?;
        Ok(change_of(&plan, true))
    }

    /// Creates a grant for a client and writes its token into the client's configuration. A client that is already
    /// connected keeps its grant, and only the outdated parts of its configuration are changed.
    ///
    /// # Errors
    /// `usage` for an unknown client or an invalid grant; `config_broken` and others for a configuration that cannot be
    /// changed; `not_ours` if another server in the configuration has this name. After an error, there is no new grant.
    pub fn connect(&self, session: &Session, client: &str, request: &GrantRequest) -> ApiResult<ConnectionChange> {
        let client = parse(client)?;
        if let Some(token) = self.token_in_force(session, client)? {
            let grant = session.agents().grant_of(&token)?;
            let changed = apply_plan(&self.plan(client, &token)?)?;
            return Ok(ConnectionChange { grant, ..changed });
        }
        // This plan is not applied. It only detects errors before a grant is created.
        self.plan(client, NO_TOKEN)?;
        let name = if request.name.is_empty() { client.title().to_owned() } else { request.name.clone() };
        let new_grant = session.agents().add_grant(&GrantRequest { name, ..request.clone() })?;
        match self.plan(client, &new_grant.token).and_then(|plan| apply_plan(&plan)) {
            Ok(changed) => Ok(ConnectionChange { grant: Some(new_grant.grant), ..changed }),
            Err(error) => {
                session.agents().revoke_grant(&new_grant.grant.id)?;
                Err(error)
            }
        }
    }

    /// Returns what [`disconnect`](Self::disconnect) would change in the configuration, and changes nothing.
    ///
    /// # Errors
    /// As for `disconnect`.
    pub fn preview_disconnect(&self, client: &str) -> ApiResult<ConnectionChange> {
        Ok(change_of(&self.plan_disconnect(parse(client)?)?, true))
    }

    /// Ends the grant of a client and removes Mementory's server from the client's configuration. Without a `session`,
    /// the grant is not ended.
    ///
    /// The grant is ended first, so that the client cannot read any more even if its configuration cannot be changed.
    /// In that case, the result has the warning `configuration_not_changed`, which states the file and the reason, and
    /// `change` is empty. Disconnecting again then removes the entry.
    ///
    /// # Errors
    /// As for `connect`.
    pub fn disconnect(&self, session: Option<&Session>, client: &str) -> ApiResult<Applied<ConnectionChange>> {
        let client = parse(client)?;
        let plan = self.plan_disconnect(client)?;
        let grant = match (session, self.token(client)?) {
            (Some(session), Some(token)) => end_grant(session, &token)?,
            _ => None,
        };
        match apply_plan(&plan) {
            Ok(changed) => Ok(Applied::new(ConnectionChange { grant, ..changed })),
            Err(error) if grant.is_none() => Err(error),
            Err(error) => {
                let value = ConnectionChange { grant, change: String::new(), ..change_of(&plan, false) };
                // The sentence "Nothing was changed." is removed, because the grant has ended although the file is
                // unchanged.
                let reason = error.message.replace(" Nothing was changed.", "");
                let step = FailedStep::ClientConfiguration { path: value.config_path.clone(), reason };
                Ok(Applied { value, warnings: [step].into() })
            }
        }
    }

    fn state(&self, client: Client) -> AiClient {
        let report = check_client(client, &self.places, &self.server(NO_TOKEN));
        let token = self.token(client).ok().flatten();
        AiClient {
            client: report.client.into(),
            title: report.title.into(),
            installed: report
                .installed
                .map(|found| DetectedAiClient { by: found.by.into(), path: found.path.display().to_string() }),
            config_path: report.config_path.display().to_string(),
            configured: report.configured,
            ours: report.ours,
            current: report.current,
            problems: report
                .problems
                .into_iter()
                .map(|problem| AiClientProblem { code: problem.code.into(), message: problem.message })
                .collect(),
            grant: token.as_deref().and_then(grant_id).map(str::to_owned),
        }
    }

    fn server(&self, token: &str) -> Server {
        Server {
            name: self.name.clone(),
            command: self.command.clone(),
            args: vec!["mcp".into()],
            env: [(TOKEN_VARIABLE.to_owned(), token.to_owned())].into(),
        }
    }

    fn plan(&self, client: Client, token: &str) -> ApiResult<Plan> {
        plan_connect(client, &self.places, &self.server(token)).map_err(|error| api_error(&error))
    }

    fn plan_disconnect(&self, client: Client) -> ApiResult<Plan> {
        plan_disconnect(client, &self.places, &self.name).map_err(|error| api_error(&error))
    }

    /// The token in a client's configuration. None if the configuration contains no token.
    fn token(&self, client: Client) -> ApiResult<Option<String>> {
        connected_variable(client, &self.places, &self.name, TOKEN_VARIABLE).map_err(|error| api_error(&error))
    }

    /// The token in a client's configuration, if its grant belongs to this vault and has not ended.
    fn token_in_force(&self, session: &Session, client: Client) -> ApiResult<Option<String>> {
        let Some(token) = self.token(client)? else { return Ok(None) };
        let grant = session.agents().grant_of(&token)?;
        Ok(grant.is_some_and(|grant| grant.state == "active").then_some(token))
    }
}

/// Ends the grant to which a token belongs and returns the grant. None if this vault has no grant with this token.
fn end_grant(session: &Session, token: &str) -> ApiResult<Option<GrantInfo>> {
    match session.agents().grant_of(token)? {
        Some(grant) if grant.state == "revoked" => Ok(Some(grant)),
        Some(grant) => session.agents().revoke_grant(&grant.id).map(Some),
        None => Ok(None),
    }
}

fn grant_id(token: &str) -> Option<&str> {
    token.trim().split('_').nth(2)
}

fn parse(client: &str) -> ApiResult<Client> {
    Client::parse(client).ok_or_else(|| {
        let known: Vec<_> = Client::ALL.iter().map(|client| client.id()).collect();
        ApiError::usage(format!("There is no such client. Known are {}.", known.join(", ")))
    })
}

fn change_of(plan: &Plan, dry_run: bool) -> ConnectionChange {
    ConnectionChange {
        client: plan.client().id().into(),
        config_path: plan.config_path().display().to_string(),
        change: without_secrets(&plan.change()),
        changed: false,
        dry_run,
        backup: None,
        grant: None,
    }
}

fn apply_plan(plan: &Plan) -> ApiResult<ConnectionChange> {
    let change = change_of(plan, false);
    let applied = plan.apply(SystemTime::now()).map_err(|error| api_error(&error))?;
    let backup = applied.backup.map(|path| path.display().to_string());
    Ok(ConnectionChange { changed: applied.changed, backup, ..change })
}

/// Replaces the secret part of every token in the text. The grant id before the secret is kept.
fn without_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("mementory_") {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let secret_at = found.match_indices('_').nth(2).map(|(at, _)| at + 1);
        let secret = secret_at.and_then(|at| found.get(at..at + SECRET_DIGITS));
        rest = match (secret_at, secret) {
            (Some(at), Some(secret)) if secret.bytes().all(|b| b.is_ascii_hexdigit()) => {
                out.push_str(&found[..at]);
                out.push('…');
                &found[at + SECRET_DIGITS..]
            }
            _ => {
                let (name, after) = found.split_at("mementory_".len());
                out.push_str(name);
                after
            }
        };
    }
    out.push_str(rest);
    out
}

fn api_error(error: &Error) -> ApiError {
    let exit = match error {
        Error::NotOurs { .. } | Error::Changed { .. } => 1,
        Error::InvalidServer(_) => 2,
        Error::Io { kind: IoKind::NoPermission | IoKind::DiskFull | IoKind::Other, .. } => 7,
        _ => 6,
    };
    let converted = ApiError::new(error.code(), exit, error.to_string());
    match error {
        Error::Syntax { line, column, .. } | Error::Layout { line, column, .. } => {
            converted.with("line", line).with("column", column)
        }
        _ => converted,
    }
}

#[cfg(test)]
mod tests;
