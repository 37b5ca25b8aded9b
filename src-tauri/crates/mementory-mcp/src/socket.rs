//! The path of the socket, and the process at the other end of a connection.
use crate::peer::Program;
use mementory_api::{ApiError, ApiResult};
use std::{
    os::unix::{
        fs::{DirBuilderExt, MetadataExt},
        net::UnixStream,
    },
    path::{Path, PathBuf},
};

/// Path of the socket: `MEMENTORY_SOCKET` if it is set, otherwise a file in the folder of the user's session, or, if
/// there is no such folder, in this user's folder among the temporary files.
pub fn socket_path() -> PathBuf {
    let env_path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(path) = env_path("MEMENTORY_SOCKET") {
        return path;
    }
    let folder = match env_path("XDG_RUNTIME_DIR") {
        Some(folder) => folder.join("mementory"),
        None => std::env::temp_dir().join(format!("mementory-{}", own_uid())),
    };
    folder.join("clients.sock")
}

/// Creates the socket's folder, which only this user can enter.
///
/// # Errors
/// `io`; `no_permission` if the folder belongs to somebody else or others may enter it.
pub(crate) fn make_folder(socket: &Path) -> ApiResult<()> {
    let folder = socket.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let io = |error: std::io::Error| {
        ApiError::io(format!("{} cannot be used: {error}. Clients are not answered.", folder.display()))
    };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io)?;
    let meta = std::fs::symlink_metadata(folder).map_err(io)?;
    if !meta.is_dir() || meta.uid() != own_uid() || meta.mode() & 0o077 != 0 {
        let message = format!(
            "{} is not a folder that only you can enter. Clients are not answered. Remove it or close it to others.",
            folder.display()
        );
        return Err(ApiError::new("no_permission", 7, message));
    }
    Ok(())
}

pub(crate) fn own_uid() -> u32 {
    rustix::process::getuid().as_raw()
}

/// The client's program at the other end of the connection. None if the operating system does not report it.
pub(crate) fn peer_program(stream: &UnixStream) -> Option<Program> {
    #[cfg(target_os = "linux")]
    {
        let pid = rustix::net::sockopt::socket_peercred(stream).ok()?.pid.as_raw_pid();
        crate::peer::program_of(u32::try_from(pid).ok()?)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = stream;
        None
    }
}

/// True if the process at the other end belongs to this user. Also true on systems that do not report the user. On
/// these systems, only the access rights of the socket's folder keep other users out.
pub(crate) fn is_own_process(stream: &UnixStream) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid.as_raw() == own_uid());
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = stream;
        true
    }
}
