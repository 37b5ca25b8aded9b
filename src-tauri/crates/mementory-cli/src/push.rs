//! Sends an exported file once, to another file or to a webhook (like Zaxy's `export-push`). No other command opens a
//! network connection. Sending is not part of the API, so that the window cannot open a network connection.
use crate::{
    command_result::{CommandResult, success},
    input::read_secret,
};
use mementory_api::{ApiError, ApiResult, Job, files};
use serde::Serialize;
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::Duration,
};
use ureq::{
    Agent, SendBody,
    http::Uri,
    tls::{TlsConfig, TlsProvider},
};

/// Maximum time for connecting, sending and receiving the response.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);

/// The result of sending a file.
#[derive(Serialize)]
struct Pushed<'p> {
    sink: &'p str,
    dest: &'p str,
    /// `copied`, or the status code of the receiver's response.
    status: String,
}

/// Validates the file, then sends it. The content of `token_file` is sent as a bearer token and never printed.
pub fn push(path: &Path, sink: &str, dest: &str, token_file: Option<&Path>, job: &Job) -> ApiResult<CommandResult> {
    if !path.metadata().map_err(|e| io_error(path, &e))?.is_file() {
        return Err(ApiError::usage("A folder cannot be sent. Nothing was sent. Make one file of it first (zip it)."));
    }
    let checked = files::validate(path, &files::Check::default(), job)?;
    if let Some(first) = checked.errors.first() {
        let message = format!("{} is not valid: {}. Nothing was sent. Export it again.", path.display(), first.message);
        return Err(ApiError::new("not_valid", 1, message).with("code", &first.code));
    }
    let status = match sink {
        "file" => copy(path, Path::new(dest))?,
        "webhook" => post(path, checked.format.as_deref(), dest, token_file)?,
        _ => {
            return Err(ApiError::usage(
                "A file can be sent to a file or to a webhook. Nothing was sent. Use file or webhook.",
            ));
        }
    };
    success(&Pushed { sink, dest, status })
}

fn copy(path: &Path, dest: &Path) -> ApiResult<String> {
    let parent = dest.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let partial_path: PathBuf = parent.join(format!(".mementory-partial-{}", std::process::id()));
    let write_and_link = || -> io::Result<()> {
        let mut out = mementory_api::files::create_private_file(&partial_path)?;
        io::copy(&mut File::open(path)?, &mut out)?;
        out.sync_all()?;
        // Unlike a rename, creating a link fails if the destination exists.
        std::fs::hard_link(&partial_path, dest)
    };
    let link_result = write_and_link();
    let remove_result = std::fs::remove_file(&partial_path);
    link_result.and(remove_result).map_err(|e| io_error(dest, &e))?;
    Ok("copied".into())
}

fn post(path: &Path, format: Option<&str>, dest: &str, token_file: Option<&Path>) -> ApiResult<String> {
    let uri: Uri = dest
        .parse()
        .map_err(|_| ApiError::usage("The destination of a webhook is an address: https://… Nothing was sent."))?;
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_local = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if uri.scheme_str() != Some("https") && !(uri.scheme_str() == Some("http") && is_local) {
        return Err(ApiError::usage(
            "Only https is allowed (http to this computer only), so that nobody can read along. Nothing was sent.",
        ));
    }
    let token = token_file.map(|file| read_secret(Some(file), "Token", false)).transpose()?;
    let mut file = File::open(path).map_err(|e| io_error(path, &e))?;
    let length = file.metadata().map_err(|e| io_error(path, &e))?.len();
    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(REQUEST_TIMEOUT))
        // Redirects are not followed, because the file and the token must not be sent to any other address.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .tls_config(TlsConfig::builder().provider(TlsProvider::NativeTls).build())
        .build()
        .into();
    let mut request = agent.post(uri.clone()).content_type(files::media_type(format)).header("Content-Length", length);
    if let Some(token) = token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let response = request.send(SendBody::from_reader(&mut file)).map_err(|error| {
        ApiError::new("not_delivered", 7, format!("{host} could not be reached: {error}. The file is unchanged."))
    })?;
    let status = response.status();
    if !status.is_success() {
        let message = format!("{host} did not accept the file: it answered {status}. The file is unchanged.");
        return Err(ApiError::new("not_delivered", 7, message).with("status", status.as_u16()));
    }
    Ok(status.as_u16().to_string())
}

fn io_error(path: &Path, error: &io::Error) -> ApiError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => ApiError::exists(path.display()),
        _ => ApiError::io(format!("{}: {error}. Nothing was sent.", path.display())),
    }
}
