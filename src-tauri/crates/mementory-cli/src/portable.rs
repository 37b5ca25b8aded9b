//! Commands that need no vault: keys, signatures, conversions, disclosures, permanent deletion.
use crate::{
    args::{Command, ExportArgs, Filters, KeysCommand},
    command_result::{CommandResult, change_result, success},
    input::{filter, path_text, read_secret},
    job::cancel_on_ctrl_c,
    push,
    select_args::{ExportSelectArgs, SelectArgs},
};
use mementory_api::{
    ApiError, ApiResult, ExportOptions, Job, Passphrase, convert, entry_time, files, passphrase,
    portable::{self, PurgeRequest, Selector},
    types::*,
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Runs a command that needs no vault. Returns None if the command needs one.
pub fn run(command: &Command, job: &Job) -> Option<ApiResult<CommandResult>> {
    Some(match command {
        Command::Verify { path, trust, reading } => file_passphrase(reading.import_passphrase_file.as_deref())
            .and_then(|input_passphrase| {
                let (passphrase, limit_bytes) = (input_passphrase.as_deref(), reading.limit_bytes);
                let check = files::Check { trust, passphrase, limit_bytes, ..files::Check::default() };
                verify(path, &check, job)
            }),
        Command::Convert { input, out, format, from, reading, export_args, accept_invalid_signature } => {
            file_passphrase(reading.import_passphrase_file.as_deref()).and_then(|input_passphrase| {
                let request = ImportRequest {
                    paths: vec![path_text(input)?],
                    format: from.clone(),
                    limit_bytes: reading.limit_bytes,
                    accept_invalid_signature: *accept_invalid_signature,
                    ..ImportRequest::default()
                };
                run_convert(&request, input_passphrase, out, format, export_args, job)
            })
        }
        Command::Sign { path, signing_key_file, out } => portable::signer_from(signing_key_file)
            .and_then(|signer| portable::sign(path, &*signer, out.as_deref(), job))
            .and_then(|result| Ok(CommandResult { exit: u8::from(!result.ok), ..success(&result)? })),
        Command::Keys(KeysCommand::Make { algorithm, out_private, out_public }) => {
            portable::generate_key(algorithm, out_private, out_public).and_then(|made| success(&made))
        }
        Command::Disclose { bundle, out, select } => run_disclose(bundle, out, select),
        Command::Apply { base, deltas, out, import_passphrase_file } => {
            file_passphrase(import_passphrase_file.as_deref())
                .and_then(|input_passphrase| portable::apply(base, deltas, out, input_passphrase.as_deref(), job))
                .and_then(|made| Ok(CommandResult { exit: u8::from(!made.validated), ..success(&made)? }))
        }
        Command::Purge { .. } => purge(command),
        Command::Push { file, sink, dest, auth_token_file } => {
            push::push(file, sink, dest, auth_token_file.as_deref(), job)
        }
        _ => return None,
    })
}

fn purge(command: &Command) -> ApiResult<CommandResult> {
    let Command::Purge {
        archive,
        ids,
        whole_agent,
        delta,
        requested_by,
        import_passphrase_file,
        out,
        reason,
        strip_links,
        dry_run,
    } = command
    else {
        return Err(ApiError::usage("This is not a purge command. Nothing was removed."));
    };
    let request = PurgeRequest {
        archive: archive.clone(),
        ids: ids.clone(),
        whole_agent: *whole_agent,
        deltas: delta.clone(),
        requested_by: requested_by.clone(),
        passphrase: file_passphrase(import_passphrase_file.as_deref())?,
        out: out.clone(),
        reason: reason.clone(),
        strip_links: *strip_links,
        dry_run: *dry_run,
    };
    portable::purge_archive(&request).and_then(|purged| success(&purged))
}

fn verify(path: &Path, check: &files::Check, job: &Job) -> ApiResult<CommandResult> {
    let result = files::validate(path, check, job)?;
    let is_verified = result.ok && result.signature.valid == Some(true) && result.signature.trusted == Some(true);
    Ok(CommandResult { exit: u8::from(!is_verified), ..success(&result)? })
}

fn run_convert(
    request: &ImportRequest,
    input_passphrase: Option<Arc<dyn Passphrase>>,
    out: &Path,
    format: &str,
    export_args: &ExportArgs,
    job: &Job,
) -> ApiResult<CommandResult> {
    let export = export_request(format, out, &Filters::default(), export_args)?;
    cancel_on_ctrl_c(job);
    let conversion = convert(request, input_passphrase, &export, &export_options(export_args, None)?, job)?;
    Ok(CommandResult { exit: u8::from(!conversion.exported.validated), ..change_result(&conversion)? })
}

/// Reads the passphrase of an encrypted file from another file.
pub fn file_passphrase(file: Option<&Path>) -> ApiResult<Option<Arc<dyn Passphrase>>> {
    file.map(|file| Ok(passphrase(read_secret(Some(file), "Passphrase", false)?))).transpose()
}

/// Reads the passphrase for a new encrypted file. An empty passphrase is refused, because it would protect nothing.
fn export_passphrase(file: &Path) -> ApiResult<Arc<dyn Passphrase>> {
    let secret = read_secret(Some(file), "Passphrase", false)?;
    if secret.trim().is_empty() {
        let message = format!("{} contains no passphrase. Nothing was written.", file.display());
        return Err(ApiError::new("weak_passphrase", 2, message));
    }
    Ok(passphrase(secret))
}

/// Fails unless every file has a valid signature by one of these keys. Must be called before anything is imported.
pub fn require_signatures(paths: &[PathBuf], check: &files::Check, job: &Job) -> ApiResult<()> {
    for path in paths {
        let untrusted_error = || {
            let message = format!(
                "{} is not signed by any of the keys given with --trust. Nothing was imported.",
                path.display()
            );
            ApiError::new("signature_untrusted", 1, message)
        };
        // A format that cannot be checked has no signatures either, so its file counts as unsigned.
        let result = files::validate(path, check, job)
            .map_err(|error| if error.code == "not_supported" { untrusted_error() } else { error })?;
        if result.signature.trusted != Some(true) {
            return Err(untrusted_error());
        }
        if let Some(first) = result.errors.first() {
            let message = format!("{} is not valid: {}. Nothing was imported.", path.display(), first.message);
            return Err(ApiError::new("not_valid", 1, message).with("code", &first.code));
        }
    }
    Ok(())
}

fn run_disclose(bundle: &Path, out: &Path, select: &SelectArgs) -> ApiResult<CommandResult> {
    let disclosure = portable::disclose(bundle, &selector(select)?, out)?;
    success(&serde_json::json!({"path": path_text(out)?, "disclosed": disclosure.disclosed, "of": disclosure.total}))
}

pub fn export_request(
    format: &str,
    out: &Path,
    filters: &Filters,
    export_args: &ExportArgs,
) -> ApiResult<ExportRequest> {
    Ok(ExportRequest {
        format: format.to_owned(),
        out: path_text(out)?,
        filter: filter(filters),
        overwrite: export_args.overwrite,
        sign: export_args.sign,
        cover: export_args.redact.is_some(),
    })
}

pub fn export_options(export_args: &ExportArgs, select: Option<&ExportSelectArgs>) -> ApiResult<ExportOptions> {
    Ok(ExportOptions {
        signer: export_args.signing_key_file.as_deref().map(portable::signer_from).transpose()?,
        passphrase: export_args.export_passphrase_file.as_deref().map(export_passphrase).transpose()?,
        base: export_args.base.clone(),
        encoding: export_args.encoding.clone(),
        version: export_args.version.clone(),
        source_version: None,
        strip_identifiers: export_args.strip_identifiers,
        artifact_threshold: export_args.artifact_threshold,
        selector: select.map(export_selector).transpose()?.filter(|s| *s != Selector::default()),
    })
}

fn selector(selection: &SelectArgs) -> ApiResult<Selector> {
    let mut out = Selector {
        kinds: (!selection.kinds.is_empty()).then(|| selection.kinds.iter().cloned().collect()),
        since_seq: selection.since_seq,
        max_seq: selection.max_seq,
        since_time: selection.since_time.as_deref().map(|time| entry_time(time, false)).transpose()?,
        until_time: selection.until_time.as_deref().map(|time| entry_time(time, true)).transpose()?,
        ..Selector::default()
    };
    if !selection.grains.is_empty() {
        let unknown_grain = || ApiError::usage("A grain is event or semantic. Nothing was written.");
        out.grains = Selector::grains_of(selection.grains.iter().map(String::as_str)).ok_or_else(unknown_grain)?;
    }
    Ok(out)
}

fn export_selector(selection: &ExportSelectArgs) -> ApiResult<Selector> {
    let base = selector(&selection.select)?;
    Ok(Selector {
        query: selection.query.clone(),
        query_limit: selection.query_limit.unwrap_or(base.query_limit),
        exclude_sensitivities: selection.exclude_sensitivities.iter().cloned().collect(),
        limit: selection.latest,
        ..base
    })
}
