//! Runs the commands; each calls a function of the API.
use crate::{
    args::{Cli, Command, KeysCommand},
    clients,
    command_result::{CommandResult, change_result, success},
    connect, guide,
    input::{filter, path_text, read_secret, read_text},
    job::{cancel_on_ctrl_c, job_with_progress},
    packaging,
    portable::{self, export_request},
    review,
};
use mementory_api::{ApiError, ApiResult, Backups, CreateOptions, Job, Session, files, types::*};
use std::path::{Path, PathBuf};

pub fn run(cli: Cli) -> ApiResult<CommandResult> {
    let takes_limit = matches!(
        cli.command,
        Command::Import { .. } | Command::Convert { .. } | Command::Validate { .. } | Command::Verify { .. }
    );
    run_command(cli).map_err(|error| if takes_limit { with_limit_advice(error) } else { error })
}

/// Adds what the person can do to an error about a limit that `--limit-bytes` raises.
fn with_limit_advice(error: ApiError) -> ApiError {
    let can_raise = error.details.get("can_raise").is_some_and(|can| can == "true");
    if !can_raise {
        return error;
    }
    ApiError { message: format!("{} If you trust it, allow more with --limit-bytes.", error.message), ..error }
}

fn run_command(cli: Cli) -> ApiResult<CommandResult> {
    let job = job_with_progress(&cli);
    match &cli.command {
        Command::Create { dir, kdf_floor } => {
            let passphrase = read_secret(cli.passphrase_file.as_deref(), "New passphrase", true)?;
            let (session, created) = Session::create(dir, &passphrase, CreateOptions { kdf_floor: *kdf_floor })?;
            session.apply_erasures(files::ledger_folder().as_deref(), &job);
            Ok(CommandResult { essential: true, ..change_result(&created)? })
        }
        Command::Demo { dir } => {
            cancel_on_ctrl_c(&job);
            let (_session, demonstration) = Session::create_demonstration(dir, &job)?;
            Ok(CommandResult { essential: true, ..change_result(&demonstration)? })
        }
        Command::Packaging { dir, release } => packaging::write(dir, release),
        Command::Detect { paths } => success(&files::detect(paths, None)?),
        Command::Guide(args) => guide::run(args),
        Command::Validate { path, format, expect, trust, base, reading } => {
            let input_passphrase = portable::file_passphrase(reading.import_passphrase_file.as_deref())?;
            let check = files::Check {
                format: format.as_deref(),
                expect: expect.as_deref().map(files::Expected::parse).transpose()?,
                trust,
                base: base.as_deref(),
                passphrase: input_passphrase.as_deref(),
                limit_bytes: reading.limit_bytes,
            };
            let result = files::validate(path, &check, &job)?;
            Ok(CommandResult { exit: u8::from(!result.ok), ..success(&result)? })
        }
        Command::Passwd { new_passphrase_file, kdf_floor } => {
            let old_secret = read_secret(cli.passphrase_file.as_deref(), "Passphrase", false)?;
            let session = open_with(&vault_dir(&cli)?, &old_secret)?;
            let new_passphrase = read_secret(Some(new_passphrase_file), "New passphrase", false)?;
            change_result(&if *kdf_floor {
                session.change_passphrase_at_floor(&old_secret, &new_passphrase)?
            } else {
                session.change_passphrase(&old_secret, &new_passphrase)?
            })
        }
        Command::RecoveryCode => {
            let secret = read_secret(cli.passphrase_file.as_deref(), "Passphrase", false)?;
            let session = open_with(&vault_dir(&cli)?, &secret)?;
            let new_code = session.new_recovery_code(&secret)?;
            Ok(CommandResult { essential: true, ..change_result(&new_code)? })
        }
        Command::RestoreBackup { backup, dir } => {
            require_vault(backup)?;
            let secret = read_secret(cli.passphrase_file.as_deref(), "Passphrase of the backup", false)?;
            cancel_on_ctrl_c(&job);
            change_result(&Backups::restore(backup, dir, &secret, files::ledger_folder().as_deref(), &job)?)
        }
        Command::Mcp(args) => clients::mcp(args),
        Command::Connect(command) => connect::run(command, || open(&cli)),
        Command::Serve => clients::serve(open(&cli)?),
        command => match portable::run(command, &job) {
            Some(result) => result,
            None => {
                let session = open(&cli)?;
                with_vault(&session, command, &job).map(|result| with_erasures(&session, result))
            }
        },
    }
}

/// Lists records. The listed memories are encoded first if necessary, because the subject of a memory is suggested more
/// reliably with its vector.
fn list(session: &Session, request: &ListRequest, job: &Job) -> ApiResult<CommandResult> {
    let page = session.records().list(request)?;
    // If encoding fails, for example on a full disk, the page is returned as it is.
    match session.meaning().encode_listed(&page, job) {
        Ok(Encoded { records: 1.., .. }) => success(&session.records().list(request)?),
        _ => success(&page),
    }
}

/// True if the command compares memories by meaning, or selects them by subject. New memories must then be encoded
/// first. A comparison by words alone misses, for example, half of the contradictions, above all those between two
/// languages.
fn compares_meanings(command: &Command) -> bool {
    match command {
        Command::Search { meaning, .. } => *meaning,
        Command::List { filters, .. } => filters.about.is_some() || filters.special.is_some(),
        Command::Contradictions { both_true } => !matches!(both_true.as_deref(), Some([_, _])),
        Command::Topics | Command::Timeline { .. } | Command::Report(_) => true,
        _ => false,
    }
}

fn with_vault(session: &Session, command: &Command, job: &Job) -> ApiResult<CommandResult> {
    if compares_meanings(command) {
        cancel_on_ctrl_c(job);
        session.meaning().encode_pending(job)?;
    }
    match command {
        Command::Info => success(&session.overview().info()?),
        Command::Import {
            paths,
            format,
            dry_run,
            include_blocked,
            accept_invalid_signature,
            trust,
            merge,
            reading,
            salvage,
        } => {
            let request = ImportRequest {
                paths: paths.iter().map(|p| path_text(p)).collect::<ApiResult<_>>()?,
                text: None,
                format: format.clone(),
                limit_bytes: reading.limit_bytes,
                include_blocked: *include_blocked,
                accept_invalid_signature: *accept_invalid_signature,
                merge: merge.as_deref().map(MergeStrategy::parse).transpose()?,
                salvage: *salvage,
            };
            cancel_on_ctrl_c(job);
            let input_passphrase = portable::file_passphrase(reading.import_passphrase_file.as_deref())?;
            if !trust.is_empty() {
                let check = files::Check {
                    format: format.as_deref(),
                    trust,
                    passphrase: input_passphrase.as_deref(),
                    limit_bytes: reading.limit_bytes,
                    ..files::Check::default()
                };
                portable::require_signatures(paths, &check, job)?;
            }
            // Only the window's preview shows the texts of new records, so they are removed here. The command line
            // prints the counts.
            success(&ImportReport {
                coming: Vec::new(),
                ..session.imports().import_with(&request, input_passphrase, *dry_run, job)?
            })
        }
        Command::Imports => success(&session.imports().list()?),
        Command::Undo { batch } => {
            cancel_on_ctrl_c(job);
            change_result(&session.imports().undo(batch, job)?)
        }
        Command::List { filters, trash, sort, limit, cursor } => {
            let filter = Filter { trash: *trash, ..filter(filters) };
            let request = ListRequest { filter, sort: sort.clone(), limit: *limit, cursor: cursor.clone() };
            list(session, &request, job)
        }
        Command::Show { id, history, verbatim } => success(&session.records().show(id, *history, *verbatim)?),
        Command::Thread { id } => success(&session.records().thread(id)?),
        Command::Search { query, queries, filters, meaning, limit } => {
            let request = SearchRequest {
                query: String::new(),
                filter: filter(filters),
                limit: *limit,
                offset: None,
                typing: false,
            };
            search(session, query.as_deref(), queries.as_deref(), &request, *meaning)
        }
        Command::Add { record_type, text_file, tag } => {
            let text = read_text(text_file)?;
            let ids =
                session.changes().add(&AddRequest { record_type: record_type.clone(), text, tags: tag.clone() })?;
            let id = ids.map(|ids| serde_json::json!({"id": ids.ids.first()}));
            Ok(CommandResult { essential: true, ..change_result(&id)? })
        }
        Command::Edit { id, text_file, title, tag, record_type, about } => {
            let no_fields = text_file.is_none() && title.is_none() && tag.is_none() && record_type.is_none();
            if let (Some(about), true) = (about, no_fields) {
                let version = session.records().show(id, false, false)?.record.version;
                session.changes().set_about(&AboutRequest { ids: vec![id.clone()], about: about.clone() })?;
                return success(&Edited { id: id.clone(), version });
            }
            let text = text_file.as_deref().map(read_text).transpose()?;
            let request = EditRequest {
                id: id.clone(),
                text,
                title: title.clone(),
                tags: tag.clone(),
                record_type: record_type.clone(),
            };
            change_result(&match about {
                Some(about) => session.changes().edit_with_about(&request, about)?,
                None => session.changes().edit(&request)?,
            })
        }
        Command::Scan { filters, class } => {
            success(&session.scan().records(&ScanRequest { filter: filter(filters), classes: class.clone() }, job)?)
        }
        Command::Redact { id, span, detected, everywhere } => {
            let spans = match detected {
                Some(classes) => session.scan().detected(id, classes, job)?,
                None => span.iter().map(|s| parse_span(s)).collect::<ApiResult<_>>()?,
            };
            let result =
                session.changes().redact(&RedactRequest { id: id.clone(), spans, everywhere: *everywhere }, job)?;
            Ok(CommandResult { exit: u8::from(!result.receipt.complete), ..change_result(&result)? })
        }
        Command::Delete { ids } => change_result(&session.changes().delete(ids)?),
        Command::Restore { ids } => change_result(&session.changes().restore(ids)?),
        Command::Erase { ids, reason, dry_run, with_copies } => {
            let request =
                EraseRequest { ids: ids.clone(), reason: reason.clone(), with_copies: *with_copies, copies: None };
            if *dry_run {
                return success(&session.changes().erase_preview(&request)?);
            }
            cancel_on_ctrl_c(job);
            let result = session.changes().erase(&request, job)?;
            Ok(CommandResult { exit: u8::from(!result.receipt.complete), ..change_result(&result)? })
        }
        Command::Duplicates => {
            cancel_on_ctrl_c(job);
            success(&session.duplicates().groups(job)?)
        }
        Command::Topics => success(&session.insights().topics(job)?),
        Command::People => {
            cancel_on_ctrl_c(job);
            success(&session.insights().people(job)?)
        }
        Command::Timeline { person, topic } => {
            let insights = session.insights();
            let ids = insights.memories_about(person.as_deref(), topic.as_deref(), job)?;
            success(&insights.timeline(&ids)?)
        }
        Command::Contradictions { both_true } => match both_true.as_deref() {
            Some([a, b]) => success(&session.insights().keep_both(a, b, true)?),
            _ => success(&session.insights().contradictions(job)?),
        },
        Command::Backup { out } => {
            cancel_on_ctrl_c(job);
            change_result(&session.backups().create(out, job)?)
        }
        Command::Tombstones => success(&session.changes().tombstones()?),
        Command::Audit { verify } => {
            let log = session.overview().audit(*verify)?;
            Ok(CommandResult { exit: u8::from(log.verified == Some(false)), ..success(&log)? })
        }
        Command::Export { format, out, filters, export_args, select, dry_run } => {
            let request = export_request(format, out, filters, export_args)?;
            let options = portable::export_options(export_args, Some(select))?;
            cancel_on_ctrl_c(job);
            if *dry_run {
                return success(&session.exports().preview_with(&request, &options, job)?);
            }
            let exported = session.exports().export_with(&request, &options, job)?;
            Ok(CommandResult { exit: u8::from(!exported.validated), ..change_result(&exported)? })
        }
        Command::Check { rebuild_index } => {
            cancel_on_ctrl_c(job);
            let report = session.overview().check(*rebuild_index, job)?;
            Ok(CommandResult { exit: if report.ok { 0 } else { 5 }, ..success(&report)? })
        }
        Command::Evidence { out, since, until, parts, sign } => {
            let pack = review::PackOptions { since, until, parts: parts.as_deref(), sign: *sign };
            review::evidence(session, out, &pack, job)
        }
        Command::Review(args) => review::review(session, args),
        Command::Todo(args) => success(&session.review().todo(args.assistant.as_deref(), Some(&args.language))?),
        Command::Report(args) => {
            let request = ReportRequest { language: Some(args.language.clone()) };
            success(&session.review().report(&args.out, &request, job)?)
        }
        Command::Grants { command } => clients::grants(session, command.as_ref()),
        Command::Suggestions(args) => clients::suggestions(session, args),
        Command::Keys(KeysCommand::List) => success(&session.keys().list()?),
        Command::Keys(KeysCommand::Trust { key, name }) => success(&session.keys().trust(key, name.as_deref())?),
        Command::Keys(KeysCommand::Forget { key }) => success(&session.keys().forget(key)?),
        _ => Err(ApiError::usage("This command works without a vault. Nothing was changed.")),
    }
}

fn search(
    session: &Session,
    query: Option<&str>,
    queries: Option<&Path>,
    request: &SearchRequest,
    meaning: bool,
) -> ApiResult<CommandResult> {
    let search_one = |query: &str| {
        let request = SearchRequest { query: query.to_owned(), ..request.clone() };
        if meaning { success(&session.meaning().search(&request)?) } else { success(&session.search().hits(&request)?) }
    };
    match (query, queries) {
        (Some(query), _) => search_one(query),
        (None, Some(file)) => {
            let text = read_text(file)?;
            session.search().warm()?;
            let results = text.lines().map(|query| Ok(search_one(query)?.value)).collect::<ApiResult<Vec<_>>>()?;
            Ok(CommandResult { value: serde_json::json!({"results": results}), exit: 0, essential: true })
        }
        (None, None) => Err(ApiError::usage("No query is given. Give one, or a file with --queries.")),
    }
}

fn parse_span(text: &str) -> ApiResult<Span> {
    let mut parts = text.splitn(3, ':');
    let mut number = || parts.next().and_then(|n| n.parse::<u32>().ok());
    match (number(), number()) {
        (Some(start), Some(end)) => Ok(Span { start, end, class: parts.next().map(str::to_owned) }),
        _ => Err(ApiError::usage(format!(
            "{text} is not a span. Nothing was changed. Write START:END or START:END:CLASS."
        ))),
    }
}

fn open(cli: &Cli) -> ApiResult<Session> {
    let dir = vault_dir(cli)?;
    require_vault(&dir)?;
    open_with(&dir, &read_secret(cli.passphrase_file.as_deref(), "Passphrase", false)?)
}

fn open_with(dir: &Path, secret: &str) -> ApiResult<Session> {
    Session::open_watched(dir, secret, files::ledger_folder().as_deref(), &Job::silent())
}

/// Adds to the result of a command how many erasures were applied when this older copy of the vault was opened, and
/// whether a list of erasures was missing or could not be applied.
fn with_erasures(session: &Session, mut result: CommandResult) -> CommandResult {
    let applied_erasures = session.applied_erasures();
    if let Some(members) = result.value.as_object_mut() {
        if applied_erasures.erasures > 0 {
            members.insert("erasures_reapplied".into(), applied_erasures.erasures.into());
        }
        if let Some(ledger) = applied_erasures.ledger {
            members.insert("ledger".into(), ledger.into());
        }
    }
    result
}

/// Fails if there is no vault in `dir`. Call this before asking for the passphrase, so that a missing vault is reported
/// first.
fn require_vault(dir: &Path) -> ApiResult<()> {
    if dir.join("vault.json").exists() {
        return Ok(());
    }
    let message = format!("The vault isn't where it was. {} can't be found.", dir.display());
    Err(ApiError::new("vault_missing", 7, message).with("path", dir.display()))
}

fn vault_dir(cli: &Cli) -> ApiResult<PathBuf> {
    let dir = cli.vault.clone().filter(|dir| !dir.as_os_str().is_empty());
    dir.ok_or_else(|| ApiError::usage("No vault is named. Give --vault DIR or set MEMENTORY_VAULT."))
}
