//! Answers connected clients while the window runs. `mementory_mcp` provides the socket and the tools. This module
//! starts and stops the server of `mementory_mcp` and gives it access to the open vault.
//!
//! The server starts as soon as the open vault has an active grant, and runs until the program ends, unless the person
//! switches it off. Without a grant, no client may read anything, so there is no socket. Before a vault is opened, its
//! grants are not known; a client that finds no socket reports that the vault is locked.
use crate::open_vault::SharedVault;
use mementory_api::ApiError;
use mementory_api::types::{AnsweringState, ConnectedProgram};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Called after each client call.
type CallListener = Box<dyn Fn() + Send + Sync>;

/// The server for connected clients, and the programs that have called it since the window was started.
#[derive(Default)]
pub struct Agents {
    /// Path of the socket. None means the default path.
    socket: Option<PathBuf>,
    running: Mutex<Option<RunningServer>>,
    /// Why the server could not be started.
    problem: Mutex<Option<ApiError>>,
    activity: Arc<ClientActivity>,
}

/// The programs that called the server, and the listener for client calls.
#[derive(Default)]
struct ClientActivity {
    /// Programs by the id of their grant.
    programs: Mutex<HashMap<String, ConnectedProgram>>,
    on_call: Mutex<Option<CallListener>>,
}

impl Agents {
    /// Creates a server at this socket, for tests.
    #[cfg(all(test, unix))]
    pub fn with_socket(socket: PathBuf) -> Self {
        Self { socket: Some(socket), ..Self::default() }
    }

    /// Sets the listener that is called after each client call.
    pub fn on_call(&self, listener: impl Fn() + Send + Sync + 'static) {
        *lock_even_if_poisoned(&self.activity.on_call) = Some(Box::new(listener));
    }

    /// The programs that connected, sorted by the id of their grant.
    pub fn programs(&self) -> Vec<ConnectedProgram> {
        let mut programs: Vec<_> = lock_even_if_poisoned(&self.activity.programs).values().cloned().collect();
        programs.sort_by(|a, b| a.grant.cmp(&b.grant));
        programs
    }

    /// Whether clients are answered, and the reason if they are not.
    pub fn state(&self, enabled: bool) -> AnsweringState {
        let problem = lock_even_if_poisoned(&self.problem).as_ref().map(ApiError::body);
        let running = lock_even_if_poisoned(&self.running).is_some();
        AnsweringState { enabled, running, problem: problem.filter(|_| enabled && !running) }
    }

    /// Stops the running server if `enabled` is false. Starts it if `enabled` is true and the open vault has an active
    /// grant.
    pub fn update(&self, vault: &SharedVault, enabled: bool, has_active_grant: bool) {
        let mut running = lock_even_if_poisoned(&self.running);
        match (&*running, enabled) {
            (Some(_), false) => {
                if let Some(running) = running.take() {
                    running.stop();
                }
            }
            (None, true) if has_active_grant => {
                let started = RunningServer::start(self.socket.clone(), vault, &self.activity);
                *lock_even_if_poisoned(&self.problem) = started.as_ref().err().cloned();
                *running = started.ok();
            }
            _ => {}
        }
    }

    /// Stops the server because the program is ending.
    pub fn close(&self) {
        if let Some(running) = lock_even_if_poisoned(&self.running).take() {
            running.stop();
        }
    }
}

fn lock_even_if_poisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
use answering::RunningServer;

#[cfg(unix)]
mod answering {
    use super::{Arc, ClientActivity, ConnectedProgram, PathBuf, SharedVault, lock_even_if_poisoned};
    use mementory_api::{ApiError, ApiResult, Session};
    use mementory_mcp::{AnsweredCall, Server, Stopper, VaultAccess, socket_path};
    use std::sync::TryLockError;
    use std::thread::JoinHandle;

    pub(super) struct RunningServer {
        stopper: Stopper,
        thread: JoinHandle<()>,
    }

    impl RunningServer {
        pub(super) fn start(
            socket: Option<PathBuf>,
            vault: &SharedVault,
            activity: &Arc<ClientActivity>,
        ) -> ApiResult<Self> {
            let server = Server::bind(&socket.unwrap_or_else(socket_path))?;
            let stopper = server.stopper();
            let access: Arc<dyn VaultAccess> =
                Arc::new(WindowVault { vault: vault.clone(), activity: activity.clone() });
            let thread = std::thread::Builder::new()
                .name("clients".into())
                .spawn(move || server.run(&access))
                .map_err(|error| ApiError::io(format!("Clients cannot be answered: {error}.")))?;
            Ok(Self { stopper, thread })
        }

        /// Stops the server and removes the socket. Does not wait for running calls.
        pub(super) fn stop(self) {
            self.stopper.stop();
            let _ = self.thread.join();
        }
    }

    /// Gives clients access to the window's vault.
    struct WindowVault {
        vault: SharedVault,
        activity: Arc<ClientActivity>,
    }

    impl VaultAccess for WindowVault {
        fn with_session(&self, use_session: &mut dyn FnMut(&Session)) -> bool {
            // Does not wait: a command that holds the write lock is locking, opening or deleting the vault, so the
            // client is told that the vault is locked.
            let vault = match self.vault.try_read() {
                Ok(vault) => vault,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return false,
            };
            vault.as_ref().map(|open| use_session(&open.session)).is_some()
        }

        fn answered(&self, call: &AnsweredCall) {
            if let Some(program) = &call.program {
                let connected_program = ConnectedProgram {
                    grant: call.grant.clone(),
                    path: program.path.clone(),
                    script: program.script.clone(),
                };
                lock_even_if_poisoned(&self.activity.programs).insert(call.grant.clone(), connected_program);
            }
            if let Some(listener) = &*lock_even_if_poisoned(&self.activity.on_call) {
                listener();
            }
        }
    }
}

#[cfg(not(unix))]
struct RunningServer;

#[cfg(not(unix))]
impl RunningServer {
    fn start(
        _socket: Option<PathBuf>,
        _vault: &SharedVault,
        _activity: &Arc<ClientActivity>,
    ) -> mementory_api::ApiResult<Self> {
        Err(ApiError::new("not_supported", 2, "So far, clients are answered only on Linux and macOS."))
    }

    fn stop(self) {}
}
