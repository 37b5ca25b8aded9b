//! Answers clients over the socket. The server does not own a vault: for each call, a [`VaultAccess`] lends the open
//! vault to the server.
use crate::{
    peer::Program,
    socket::{is_own_process, make_folder, peer_program},
    tools,
    wire::{MAX_CALL_BYTES, ToolAnswer, ToolCall, ToolError, read_line, write_line},
};
use mementory_api::{ApiError, ApiResult, Session};
use std::{
    io::BufReader,
    os::unix::{
        fs::{FileTypeExt, PermissionsExt},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Largest number of connections at once.
const MAX_CONNECTIONS: usize = 32;
/// Longest time that a connection may be silent.
const MAX_SILENCE: Duration = Duration::from_secs(30);

/// Lends the open vault.
pub trait VaultAccess: Send + Sync {
    /// Calls `use_session` with the open vault. Returns false without calling it if the vault is locked.
    fn with_session(&self, use_session: &mut dyn FnMut(&Session)) -> bool;

    /// Called after each successful client call, before the client gets the answer.
    fn answered(&self, _call: &AnsweredCall) {}
}

/// A successful client call.
#[derive(Debug, Clone)]
pub struct AnsweredCall {
    /// Id of the client's grant.
    pub grant: String,
    /// Name of the tool.
    pub tool: String,
    /// The client's program, as reported by the operating system. None if the system does not report it.
    pub program: Option<Program>,
}

/// The socket on which clients are answered.
pub struct Server {
    listener: UnixListener,
    stopper: Stopper,
}

/// Stops a server.
#[derive(Clone)]
pub struct Stopper {
    path: PathBuf,
    stopped: Arc<AtomicBool>,
}

impl Stopper {
    /// Makes [`Server::run`] return.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        // A connection wakes the server if it is waiting for one. If connecting fails, the server is not waiting.
        let _ = UnixStream::connect(&self.path);
    }
}

impl Server {
    /// Creates the socket, which only this user can use.
    ///
    /// # Errors
    /// `already_serving` if another process answers there, `no_permission`, `io`.
    pub fn bind(path: &Path) -> ApiResult<Self> {
        make_folder(path)?;
        if UnixStream::connect(path).is_ok() {
            let message =
                "Another window or `mementory serve` answers clients already. Nothing was changed. Close it first.";
            return Err(ApiError::new("already_serving", 4, message));
        }
        // A killed process leaves its socket behind, so a socket with this name is removed. Any other kind of file with
        // this name is kept.
        if std::fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket()) {
            let _ = std::fs::remove_file(path);
        }
        let io = |error: std::io::Error| {
            ApiError::io(format!("{} cannot be made: {error}. Clients are not answered.", path.display()))
        };
        let listener = UnixListener::bind(path).map_err(io)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(io)?;
        let stopper = Stopper { path: path.to_path_buf(), stopped: Arc::default() };
        Ok(Self { listener, stopper })
    }

    /// A handle that stops [`run`](Self::run).
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Answers clients until [`Stopper::stop`] is called, then removes the socket. Does not wait for running calls. The
    /// owner of the vault waits for them before it closes the vault.
    pub fn run(self, vault: &Arc<dyn VaultAccess>) {
        let connections = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            if self.stopper.stopped.load(Ordering::Relaxed) {
                break;
            }
            let Ok(mut stream) = stream else { continue };
            if !is_own_process(&stream) {
                continue;
            }
            if connections.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
                let _ =
                    write_line(&mut stream, &refusal("busy", "Too many clients ask at once. Try again in a while."));
                continue;
            }
            connections.fetch_add(1, Ordering::Relaxed);
            let counted_connection = CountedConnection(connections.clone());
            let vault = vault.clone();
            // If no thread can be started, the connection is closed, and the client tries again.
            let _ = std::thread::Builder::new().name("client".into()).spawn(move || {
                let _counted = counted_connection;
                // If a client disconnects in the middle of a call, that is not an error of the server.
                let _ = serve_connection(&stream, vault.as_ref());
            });
        }
        let _ = std::fs::remove_file(&self.stopper.path);
    }
}

/// Counts one connection until this value is dropped.
struct CountedConnection(Arc<AtomicUsize>);

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve_connection(stream: &UnixStream, vault: &dyn VaultAccess) -> std::io::Result<()> {
    stream.set_read_timeout(Some(MAX_SILENCE))?;
    stream.set_write_timeout(Some(MAX_SILENCE))?;
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let line = match read_line(&mut reader, MAX_CALL_BYTES) {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                let message = format!("A call has at most {} KiB. Nothing was read or changed.", MAX_CALL_BYTES >> 10);
                return write_line(&mut writer, &refusal("limit", &message));
            }
            Err(error) => return Err(error),
        };
        let answer = match serde_json::from_slice::<ToolCall>(&line) {
            Ok(call) => answer(&call, stream, vault),
            Err(_) => refusal("bad_request", "This is not a call of a tool. Nothing was read or changed."),
        };
        write_line(&mut writer, &answer)?;
    }
}

fn answer(call: &ToolCall, stream: &UnixStream, vault: &dyn VaultAccess) -> ToolAnswer {
    let (mut answer, mut grant) = (None, None);
    vault.with_session(&mut |session| {
        answer = Some(match tools::answer(session, &call.token, &call.tool, &call.arguments) {
            Ok(value) => {
                grant = session.agents().grant_of(&call.token).ok().flatten();
                ToolAnswer::Result(value)
            }
            Err(error) => ToolAnswer::Error(ToolError::from(&error)),
        });
    });
    // Called after the vault was given back, because `answered` may need the vault.
    if let Some(grant) = grant {
        vault.answered(&AnsweredCall { grant: grant.id, tool: call.tool.clone(), program: peer_program(stream) });
    }
    answer.unwrap_or_else(|| ToolAnswer::Error(ToolError::locked()))
}

fn refusal(code: &str, message: &str) -> ToolAnswer {
    ToolAnswer::Error(ToolError::new(code, message))
}
