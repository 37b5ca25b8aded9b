//! Converts arguments to the types of the API: secrets, texts, paths, filters.
use crate::args::Filters;
use mementory_api::{ApiError, ApiResult, types::Filter};
use std::{
    io::{IsTerminal, Read},
    path::Path,
};

/// Maximum size of a secret or text file in bytes.
const MAX_TEXT_BYTES: u64 = 16 << 20;

pub fn read_secret(file: Option<&Path>, prompt: &str, ask_twice: bool) -> ApiResult<String> {
    if let Some(file) = file.filter(|f| !f.as_os_str().is_empty()) {
        let mut line = read_text(file)?;
        line.truncate(line.trim_end_matches(['\n', '\r']).len());
        return Ok(line);
    }
    if !std::io::stdin().is_terminal() {
        return Err(ApiError::usage(
            "There is no terminal to ask for the passphrase. Nothing was changed. Use --passphrase-file.",
        ));
    }
    let ask = |p: &str| rpassword::prompt_password(format!("{p}: ")).map_err(|e| ApiError::io(e.to_string()));
    let first = ask(prompt)?;
    if ask_twice && ask("Repeat it")? != first {
        return Err(ApiError::usage("The two passphrases differ. Nothing was created. Try again."));
    }
    Ok(first)
}

pub fn read_text(file: &Path) -> ApiResult<String> {
    let name = file.display();
    let io = |e: std::io::Error| ApiError::io(format!("{name} could not be read: {e}. Nothing was changed."));
    let refusal = |reason: &str| ApiError::new("refused_input", 6, format!("{name} is {reason}. Nothing was changed."));
    let mut out = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().take(MAX_TEXT_BYTES + 1).read_to_end(&mut out).map_err(io)?;
    } else {
        let opened_file = std::fs::File::open(file).map_err(io)?;
        if opened_file.metadata().map_err(io)?.is_dir() {
            return Err(refusal("a folder, not a file"));
        }
        opened_file.take(MAX_TEXT_BYTES + 1).read_to_end(&mut out).map_err(io)?;
    }
    if out.len() as u64 > MAX_TEXT_BYTES {
        let message = format!("{name} is longer than {} MiB. Nothing was changed.", MAX_TEXT_BYTES >> 20);
        return Err(ApiError::new("limit", 6, message).with("limit", MAX_TEXT_BYTES));
    }
    String::from_utf8(out).map_err(|_| refusal("not UTF-8 text"))
}

/// A path as a string. Fails with `usage` if it is not UTF-8.
pub fn path_text(path: &Path) -> ApiResult<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let message =
            format!("The name {} is not UTF-8. Nothing was changed. Rename it, then try again.", path.display());
        ApiError::usage(message)
    })
}

pub fn filter(f: &Filters) -> Filter {
    Filter {
        kind: f.kind.clone(),
        source: f.source.clone(),
        status: f.status.clone(),
        tag: f.tag.clone(),
        record_type: f.record_type.clone(),
        said_by: f.said_by.clone(),
        since: f.since.clone(),
        until: f.until.clone(),
        trash: false,
        ids: None,
        export_diff_status: f.export_diff_status.clone(),
        file_kind: f.file_kind.clone(),
        batch: (!f.batch.is_empty()).then(|| f.batch.clone()),
        about: f.about.clone(),
        special: f.special.clone(),
    }
}
