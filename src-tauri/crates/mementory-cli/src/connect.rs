//! `connect`, `disconnect` and `doctor`: the vault's server in the configurations of AI clients. Grants and tokens come
//! from the caller.
use crate::{
    client_args::GrantOptions,
    done::{CommandResult, done},
};
use clap::Subcommand;
use mementory_api::{ApiError, ApiResult};
use mementory_clients::{
    Client, ClientReport, Error, IoKind, Places, Plan, Server, check_client, doctor, plan_connect, plan_disconnect,
};
use serde::Serialize;
use std::{path::PathBuf, time::SystemTime};

/// The name in a client's list of servers, if the person gives none.
const DEFAULT_NAME: &str = "mementory";

/// Stands for the token in a dry run.
const NO_TOKEN: &str = "made-when-connecting";

#[derive(Subcommand)]
pub enum ConnectCommand {
    /// Let an AI client on this computer use the vault; without CLIENT, list the clients.
    Connect {
        /// claude_desktop, claude_code, codex, cursor, vscode, zed or gemini_cli.
        client: Option<String>,
        /// The name in the client's list of servers.
        #[arg(long, default_value = DEFAULT_NAME)]
        name: String,
        /// Show the change of the client's configuration and make none.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        grant: Box<GrantOptions>,
    },
    /// Remove the vault from an AI client's configuration. Its grant stays until `grants revoke` ends it.
    Disconnect {
        /// As in connect.
        client: String,
        /// The name in the client's list of servers.
        #[arg(long, default_value = DEFAULT_NAME)]
        name: String,
        /// Show the change of the client's configuration and make none.
        #[arg(long)]
        dry_run: bool,
    },
    /// Check the clients, their configurations and the program that they start.
    Doctor {
        /// The name in the clients' lists of servers.
        #[arg(long, default_value = DEFAULT_NAME)]
        name: String,
    },
}

/// How clients start the server.
pub struct Launch {
    /// Absolute path of the program.
    pub command: PathBuf,
    /// Arguments for each client.
    pub args: fn(Client) -> Vec<String>,
    /// The environment variable of the token.
    pub token_variable: &'static str,
}

impl Launch {
    /// Makes the server of a client from its name in the list and a token.
    fn servers(&self) -> ApiResult<impl Fn(Client, &str, &str) -> Server> {
        let command = self.command.to_str().ok_or_else(|| {
            ApiError::new("usage", 2, "The path of the program is not Unicode, so no client can start it.")
        })?;
        Ok(move |client, name: &str, token: &str| Server {
            name: name.to_owned(),
            command: command.to_owned(),
            args: (self.args)(client),
            env: [(self.token_variable.to_owned(), token.to_owned())].into(),
        })
    }
}

#[derive(Serialize)]
struct Changed {
    client: &'static str,
    config_path: String,
    change: String,
    changed: bool,
    dry_run: bool,
    backup: Option<PathBuf>,
}

#[derive(Serialize)]
struct Clients {
    clients: Vec<ClientReport>,
}

/// A grant that was made for a client.
pub struct IssuedGrant {
    /// What the client shows to be answered.
    pub token: String,
    /// The grant, as the answer of the command has it.
    pub grant: serde_json::Value,
    /// Ends it, if the configuration could not be changed after all.
    pub withdraw: Box<dyn FnOnce() -> ApiResult<()>>,
}

/// Runs a command. `issue` makes the grant of a client, once it is certain that its configuration can be changed; not
/// in a dry run, and not if the client is connected already.
pub fn run(
    command: &ConnectCommand,
    launch: &Launch,
    issue: impl FnOnce(Client, &GrantOptions) -> ApiResult<IssuedGrant>,
) -> ApiResult<CommandResult> {
    let places = Places::of_this_computer()
        .ok_or_else(|| ApiError::new("io", 7, "The home folder is not known (HOME). Nothing was changed."))?;
    match command {
        ConnectCommand::Connect { client: None, name, .. } => done(&clients(&places, launch, name)?),
        ConnectCommand::Connect { client: Some(client), name, dry_run, grant } => {
            connect(parse(client)?, name, *dry_run, &places, launch, |client| issue(client, grant))
        }
        ConnectCommand::Disconnect { client, name, dry_run } => {
            let plan = plan_disconnect(parse(client)?, &places, name).map_err(|error| api_error(&error))?;
            apply(&plan, *dry_run)
        }
        ConnectCommand::Doctor { name } => {
            let clients = clients(&places, launch, name)?;
            let healthy = clients.clients.iter().all(|report| report.problems.is_empty());
            Ok(CommandResult { exit: u8::from(!healthy), ..done(&clients)? })
        }
    }
}

fn connect(
    client: Client,
    name: &str,
    dry_run: bool,
    places: &Places,
    launch: &Launch,
    issue: impl FnOnce(Client) -> ApiResult<IssuedGrant>,
) -> ApiResult<CommandResult> {
    let server = launch.servers()?;
    let plan_with =
        |token: &str| plan_connect(client, places, &server(client, name, token)).map_err(|error| api_error(&error));
    let planned = plan_with(NO_TOKEN)?;
    // The token that is there cannot be compared: only its hash is kept.
    if check_client(client, places, &server(client, name, NO_TOKEN)).current {
        return done(&Changed { change: String::new(), ..changed(&planned, dry_run) });
    }
    if dry_run {
        return apply(&planned, true);
    }
    let issued = issue(client)?;
    match plan_with(&issued.token).and_then(|plan| apply(&plan, false)) {
        Ok(mut done) => {
            if let Some(answer) = done.value.as_object_mut() {
                answer.insert("grant".into(), issued.grant);
            }
            Ok(done)
        }
        Err(error) => {
            (issued.withdraw)()?;
            Err(error)
        }
    }
}

fn clients(places: &Places, launch: &Launch, name: &str) -> ApiResult<Clients> {
    let server = launch.servers()?;
    Ok(Clients { clients: doctor(places, |client| server(client, name, NO_TOKEN)) })
}

fn changed(plan: &Plan, dry_run: bool) -> Changed {
    Changed {
        client: plan.client().id(),
        config_path: plan.config_path().display().to_string(),
        change: plan.change(),
        changed: false,
        dry_run,
        backup: None,
    }
}

fn apply(plan: &Plan, dry_run: bool) -> ApiResult<CommandResult> {
    let report = changed(plan, dry_run);
    if dry_run {
        return done(&report);
    }
    let applied = plan.apply(SystemTime::now()).map_err(|error| api_error(&error))?;
    done(&Changed { changed: applied.changed, backup: applied.backup, ..report })
}

fn parse(client: &str) -> ApiResult<Client> {
    Client::parse(client).ok_or_else(|| {
        let known: Vec<_> = Client::ALL.iter().map(|client| client.id()).collect();
        ApiError::new("usage", 2, format!("There is no such client. Known are {}.", known.join(", ")))
    })
}

fn api_error(error: &Error) -> ApiError {
    let exit = match error {
        Error::NotOurs { .. } | Error::Changed { .. } => 1,
        Error::InvalidServer(_) => 2,
        Error::Io { kind: IoKind::NoPermission | IoKind::DiskFull | IoKind::Other, .. } => 7,
        _ => 6,
    };
    let made = ApiError::new(error.code(), exit, error.to_string());
    match error {
        Error::Syntax { line, column, .. } | Error::Layout { line, column, .. } => {
            made.with("line", line).with("column", column)
        }
        _ => made,
    }
}
