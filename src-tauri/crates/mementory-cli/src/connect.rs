//! The commands `connect`, `disconnect` and `doctor`. They add the vault's server to the configurations of AI clients,
//! remove it from them, and check the configurations.
use crate::{
    client_args::GrantOptions,
    command_result::{CommandResult, change_result, success},
};
use clap::Subcommand;
use mementory_api::{ApiError, ApiResult, Connections, Session};

/// The name in a client's list of servers, if the person does not give one.
const DEFAULT_NAME: &str = "mementory";

#[derive(Subcommand)]
pub enum ConnectCommand {
    /// Let an AI client on this computer use the vault; without CLIENT, list the clients.
    Connect {
        /// claude_desktop, claude_code, codex, cursor, vscode, zed or gemini_cli.
        client: Option<String>,
        /// The name in the client's list of servers.
        #[arg(long, default_value = DEFAULT_NAME)]
        name: String,
        /// Only show how the client's configuration would change.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        grant: Box<GrantOptions>,
    },
    /// End an AI client's grant and remove the vault from its configuration.
    Disconnect {
        /// The client, by the name that `connect` lists.
        client: String,
        /// The name in the client's list of servers.
        #[arg(long, default_value = DEFAULT_NAME)]
        name: String,
        /// Only show how the client's configuration would change.
        #[arg(long)]
        dry_run: bool,
        /// Change only the configuration, which needs no vault. The grant stays in force.
        #[arg(long)]
        keep_grant: bool,
    },
    /// Check the clients, their configurations and the program that they start.
    Doctor {
        /// The name in the clients' lists of servers.
        #[arg(long, default_value = DEFAULT_NAME)]
        name: String,
    },
}

/// Runs a command. `open_vault` opens the vault, if the command needs it.
pub fn run(command: &ConnectCommand, open_vault: impl FnOnce() -> ApiResult<Session>) -> ApiResult<CommandResult> {
    match command {
        ConnectCommand::Connect { client: None, name, .. } => success(&connections(name)?.list()),
        ConnectCommand::Connect { client: Some(client), name, dry_run, grant } => {
            let connections = connections(name)?;
            // The preview comes before the passphrase prompt, so that a configuration that cannot be changed is
            // reported first.
            let preview = connections.preview_connect(None, client)?;
            if *dry_run {
                return success(&preview);
            }
            success(&connections.connect(&open_vault()?, client, &grant.request(&preview.client))?)
        }
        ConnectCommand::Disconnect { client, name, dry_run, keep_grant } => {
            let connections = connections(name)?;
            let preview = connections.preview_disconnect(client)?;
            if *dry_run {
                return success(&preview);
            }
            let session = if *keep_grant { None } else { Some(open_vault()?) };
            change_result(&connections.disconnect(session.as_ref(), client)?)
        }
        ConnectCommand::Doctor { name } => {
            let client_list = connections(name)?.list();
            let has_no_problems = client_list.clients.iter().all(|client| client.problems.is_empty());
            Ok(CommandResult { exit: u8::from(!has_no_problems), ..success(&client_list)? })
        }
    }
}

fn connections(name: &str) -> ApiResult<Connections> {
    let program = mementory_api::current_program().map_err(|error| {
        ApiError::io(format!("The path of this program is not known: {error}. Nothing was changed."))
    })?;
    Connections::of_this_computer(&program, name)
}
