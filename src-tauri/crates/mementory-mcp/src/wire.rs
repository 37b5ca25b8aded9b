//! The messages on the socket. A call is one line of JSON, and its answer is another line.
use mementory_api::ApiError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{BufRead, Read, Write};

/// Longest call, in bytes.
pub(crate) const MAX_CALL_BYTES: u64 = 256 << 10;
/// Longest answer, in bytes.
#[cfg(feature = "relay")]
pub(crate) const MAX_ANSWER_BYTES: u64 = 8 << 20;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) token: String,
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) arguments: Value,
}

/// The answer to a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolAnswer {
    Result(Value),
    Error(ToolError),
}

/// Why a call was refused.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ToolError {
    pub(crate) code: String,
    pub(crate) message: String,
}

impl ToolError {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

impl From<&ApiError> for ToolError {
    fn from(error: &ApiError) -> Self {
        Self::new(error.code, error.message.clone())
    }
}

/// Reads one line of at most `max_bytes` bytes. None at the end of the stream.
///
/// # Errors
/// I/O; `FileTooLarge` if the line is longer, after which the stream cannot be used.
pub(crate) fn read_line(stream: &mut impl BufRead, max_bytes: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    stream.take(max_bytes + 1).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() as u64 > max_bytes {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(line))
}

/// Writes a value as one line.
///
/// # Errors
/// I/O.
pub(crate) fn write_line(stream: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    stream.flush()
}

impl ToolError {
    /// The error for a locked vault, which is also used if no process answers.
    pub(crate) fn locked() -> Self {
        Self::new("locked", "The vault is locked. Ask the person to unlock it in Mementory, then try again.")
    }
}
