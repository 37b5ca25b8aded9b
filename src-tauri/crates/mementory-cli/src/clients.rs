//! Commands for connected clients: grants, suggestions, the server that answers clients, and the program that they
//! start.
use crate::{
    client_args::{GrantArgs, GrantsCommand, McpArgs, SuggestionsArgs},
    command_result::{CommandResult, change_result, success},
};
use mementory_api::{
    ApiError, ApiResult, Job, Session, TOKEN_VARIABLE, new_file,
    types::{SuggestionAccept, SuggestionDecision},
};
use std::path::Path;

pub fn grants(session: &Session, command: Option<&GrantsCommand>) -> ApiResult<CommandResult> {
    match command {
        None => success(&session.agents().grants()?),
        Some(GrantsCommand::Revoke { grant }) => success(&session.agents().revoke_grant(grant)?),
        Some(GrantsCommand::Add(args)) => add(session, args),
    }
}

fn add(session: &Session, args: &GrantArgs) -> ApiResult<CommandResult> {
    let request = args.options.request(&args.name);
    let Some(file) = &args.token_file else { return success(&session.agents().add_grant(&request)?) };
    // Create the file first, so that no grant is created whose token cannot be written.
    let mut out = new_file(file, true).map_err(|error| file_error(file, &error))?;
    let new_grant = session.agents().add_grant(&request).inspect_err(|_| drop(std::fs::remove_file(file)))?;
    let write_result = std::io::Write::write_all(&mut out, format!("{}\n", new_grant.token).as_bytes());
    if let Err(error) = write_result.and_then(|()| out.sync_all()) {
        let _ = std::fs::remove_file(file);
        session.agents().revoke_grant(&new_grant.grant.id)?;
        return Err(file_error(file, &error));
    }
    success(&serde_json::json!({"grant": new_grant.grant, "token_file": file.display().to_string()}))
}

fn file_error(path: &Path, error: &std::io::Error) -> ApiError {
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => ApiError::exists(path.display()),
        _ => ApiError::io(format!("{} could not be written: {error}. No grant was made.", path.display())),
    }
}

pub fn suggestions(session: &Session, args: &SuggestionsArgs) -> ApiResult<CommandResult> {
    if args.accept.is_empty() && args.refuse.is_empty() && args.never.is_empty() {
        return success(&session.agents().suggestions()?);
    }
    let accept = args.accept.iter().map(|id| SuggestionAccept { id: id.clone(), text: None }).collect();
    let decision = SuggestionDecision { accept, refuse: args.refuse.clone(), never: args.never.clone() };
    change_result(&session.agents().decide(&decision)?)
}

/// Answers clients until Ctrl-C.
#[cfg(unix)]
pub fn serve(session: Session) -> ApiResult<CommandResult> {
    use mementory_mcp::{Server, VaultAccess, socket_path};
    use std::sync::{Arc, PoisonError, RwLock};

    struct OpenVault(RwLock<Option<Session>>);
    impl VaultAccess for OpenVault {
        fn with_session(&self, use_session: &mut dyn FnMut(&Session)) -> bool {
            let session = self.0.read().unwrap_or_else(PoisonError::into_inner);
            session.as_ref().map(use_session).is_some()
        }
    }

    let path = socket_path();
    let server = Server::bind(&path)?;
    session.agents().note_answering(true);
    let stopper = server.stopper();
    // If the handler cannot be set, Ctrl-C ends the program at once, which does not harm the vault.
    let _ = ctrlc::set_handler(move || stopper.stop());
    eprintln!("Clients are answered at {} until Ctrl-C.", path.display());
    let open_vault = Arc::new(OpenVault(RwLock::new(Some(session))));
    let vault: Arc<dyn VaultAccess> = open_vault.clone();
    // Client calls wait until all records have been scanned for values to mask, so the scan starts before the first
    // call. If the scan fails, the calls report the error.
    let scan = Job::silent();
    let scan_thread = std::thread::spawn({
        let (vault, job) = (vault.clone(), scan.clone());
        move || vault.with_session(&mut |session| drop(session.sensitive().scan_pending(false, &job)))
    });
    server.run(&vault);
    scan.cancel();
    let _ = scan_thread.join();
    if let Some(session) = open_vault.0.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
        session.agents().stop_calls();
    }
    // Waits until running calls have ended, then locks the vault.
    if let Some(session) = open_vault.0.write().unwrap_or_else(PoisonError::into_inner).take() {
        session.agents().note_answering(false);
    }
    success(&serde_json::json!({"socket": path.display().to_string()}))
}

#[cfg(not(unix))]
pub fn serve(_session: Session) -> ApiResult<CommandResult> {
    Err(ApiError::new("not_supported", 2, "So far, clients are answered only on Linux and macOS."))
}

/// Talks to a client over standard input and output.
pub fn mcp(args: &McpArgs) -> ApiResult<CommandResult> {
    let file = args.token_file.as_deref().filter(|file| !file.as_os_str().is_empty());
    let token = match (file, std::env::var(TOKEN_VARIABLE)) {
        (Some(file), _) => mementory_mcp::read_token(file)?,
        (None, Ok(token)) => token,
        (None, Err(_)) => {
            let message = "No token is given. Give --token-file FILE or set MEMENTORY_TOKEN.";
            return Err(ApiError::usage(message));
        }
    };
    #[cfg(unix)]
    let socket = mementory_mcp::socket_path();
    #[cfg(not(unix))]
    let socket = std::path::PathBuf::new();
    mementory_mcp::relay(token, socket)?;
    // Nothing is printed, because the client reads standard output as messages of the protocol.
    Ok(CommandResult { value: serde_json::Value::Null, exit: 0, essential: false })
}
