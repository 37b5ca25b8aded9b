//! The export tools of a connected client. They return documents with the records that the client's grant makes
//! visible.
use super::calls::{AcceptedCall, ClientCalls};
use crate::{
    ApiError, ApiResult,
    session::{
        filter::{entry_time, parse_bound},
        now,
    },
    types::*,
};
use mementory_formats::{AnswerOptions, FormatOptions, Selector, WriteOptions};
use mementory_model::{Kind, Timestamp};
use mementory_vault::{Call, ExportRange, Grant, GrantedExport};

/// Largest number of characters of record text in one document.
const MAX_TEXT_CHARS: usize = 100_000;
/// Largest length of a document in bytes.
const MAX_DOCUMENT_BYTES: usize = 512 << 10;
/// Largest number of records that the query of a request may select.
const MAX_QUERY_LIMIT: u32 = 500;
/// Suffix of an event's type if the event represents a record.
const EVENT_ENDING: &str = ".recorded";

impl ClientCalls<'_> {
    /// Returns a document with the visible records, oldest first. Sensitive values are masked if the grant or the
    /// request asks for it.
    ///
    /// # Errors
    /// As for [`search`](Self::search); `usage` for an unknown encoding, a malformed time, and if one record alone is
    /// too large.
    pub fn export_memory(&self, request: &ClientExport) -> ApiResult<ClientDocument> {
        self.call("client_export_memory", can_export, |accepted, call| {
            if !["json", "yaml", "jsonl"].contains(&request.format.as_str()) {
                return Err(not_read_error("The format is json, yaml or jsonl."));
            }
            if request.redact_pii && accepted.grant.scope.uncovered {
                self.scan_pending()?;
                accepted.view = self.context.vault.grants().masked_view(&accepted.grant)?;
            }
            let range = ExportRange {
                cursor: request.cursor.clone(),
                after: request.since.as_deref().map(|since| parse_bound(since, false)).transpose()?,
                kinds: (!request.include_graph)
                    .then(|| Kind::ALL.into_iter().filter(|kind| !is_graph(*kind)).collect()),
                without_embeddings: !request.include_embeddings,
                ..ExportRange::default()
            };
            let options = WriteOptions { encoding: Some(request.format.clone()), ..WriteOptions::default() };
            let mut export = accepted.view.export(&range, accepted.limit, MAX_TEXT_CHARS)?;
            let (text, next) = loop {
                let next = export.end_between_times();
                let text = write("export_memory", accepted, call, &export, &options)?;
                match text {
                    Some(text) => break (text, next),
                    None => export.halve()?,
                }
            };
            Ok(ClientDocument {
                text,
                records: call.records(),
                complete: !export.is_cut_off(),
                next_since: next.and_then(Timestamp::from_micros).map(Timestamp::to_rfc3339),
                next_cursor: export.next_cursor().map(str::to_owned),
                masked: request.redact_pii || !accepted.grant.scope.uncovered,
            })
        })
    }

    /// Returns a bundle with the visible records that the request selects, oldest first. The bundle is signed with the
    /// vault's key if the request asks for a signature. With `disclose`, only the entries that it selects are returned,
    /// with proofs, and only these entries count as records that left the vault.
    ///
    /// # Errors
    /// As for [`search`](Self::search); `not_found` if the request names a session other than that of the client's
    /// grant; `usage` for an unknown grain, a malformed time, a signed bundle without entries, or a single record that
    /// is too large.
    pub fn memory_export(&self, request: &ClientBundle) -> ApiResult<ClientDocument> {
        self.call("client_memory_export", can_export, |accepted, call| {
            let session = format!("mementory-{}", accepted.grant.id);
            if request.session_id.as_ref().is_some_and(|asked| *asked != session) {
                let message =
                    format!("There is no such session that you may see. Yours is {session}. Nothing was read.");
                return Err(ApiError::new("not_found", 1, message));
            }
            let selector = entry_selector(&request.entries())?;
            let disclose = request.disclose.as_ref().map(entry_selector).transpose()?;
            let range = bundle_range(request, accepted)?;
            let signs = request.sign || disclose.is_some();
            let mut export = accepted.view.export(&range, accepted.limit, MAX_TEXT_CHARS)?;
            let text = loop {
                let (session, selector, disclose) = (session.clone(), selector.clone(), disclose.clone());
                let answer = AnswerOptions { session, selector, disclose, numbers: export.numbers.clone() };
                let options = WriteOptions {
                    signer: signs.then(|| self.context.vault.exporter().signer()),
                    format_options: FormatOptions::new(answer),
                    ..WriteOptions::default()
                };
                match write("memory_export", accepted, call, &export, &options)? {
                    Some(text) => break text,
                    None => export.halve()?,
                }
            };
            Ok(ClientDocument {
                text,
                records: call.records(),
                complete: !export.is_cut_off(),
                next_since: None,
                next_cursor: export.next_cursor().map(str::to_owned),
                masked: !accepted.grant.scope.uncovered,
            })
        })
    }
}

/// Writes a document and counts the records in it. None if the document is too long.
fn write(
    tool: &str,
    accepted: &AcceptedCall<'_>,
    call: &mut Call,
    export: &GrantedExport,
    options: &WriteOptions,
) -> ApiResult<Option<String>> {
    let written = accepted.view.write_document(tool, export, &accepted.grant.id, options, now());
    let (text, left) = written.map_err(|error| match ApiError::from(error) {
        empty if empty.code == "empty_bundle" => {
            not_read_error("Nothing that you may see was selected, so there is nothing to sign.")
        }
        other => other,
    })?;
    call.returned = left;
    Ok((text.len() <= MAX_DOCUMENT_BYTES).then_some(text))
}

/// Converts those conditions of the request that the store can check.
fn bundle_range(request: &ClientBundle, accepted: &mut AcceptedCall<'_>) -> ApiResult<ExportRange> {
    let parsed_time = |text: &Option<String>, upper| text.as_deref().map(|text| parse_bound(text, upper)).transpose();
    let ids = match &request.query {
        Some(query) => {
            let limit = request.query_limit.unwrap_or(50).min(MAX_QUERY_LIMIT);
            let hits = accepted.view.search(query, limit)?;
            Some(hits.into_iter().map(|(record, _)| record.id).collect())
        }
        None => None,
    };
    let kinds: Vec<Kind> = match &request.kinds {
        Some(names) => names.iter().filter_map(|name| record_kind(name)).collect(),
        None => Kind::ALL.to_vec(),
    };
    // The grain `event` includes relations, because a relation is written as an event if its entities are not in the
    // bundle.
    let has_grain = |kind: &Kind| match request.grains.as_deref() {
        Some([grain]) if grain == "semantic" => is_graph(*kind),
        Some([grain]) if grain == "event" => *kind != Kind::Entity,
        _ => true,
    };
    Ok(ExportRange {
        kinds: Some(kinds.into_iter().filter(has_grain).collect()),
        cursor: request.cursor.clone(),
        since_number: request.since_seq,
        max_number: request.max_seq,
        from: parsed_time(&request.since_time, false)?,
        to: parsed_time(&request.until_time, true)?,
        ids,
        without_sensitivities: request.exclude_sensitivities.clone(),
        last: request.limit,
        ..ExportRange::default()
    })
}

/// The kind of records that are written as entries of the kind `name`.
fn record_kind(name: &str) -> Option<Kind> {
    match name.split_once(':') {
        Some(("entity", _)) => Some(Kind::Entity),
        Some(("edge", _)) => Some(Kind::Relation),
        Some(_) => None,
        None => Kind::parse(name.strip_suffix(EVENT_ENDING)?),
    }
}

/// Converts a disclosure request into a selector for entries. Entries state their times as UTC strings, so the bounds
/// are converted to such strings too.
fn entry_selector(wanted: &ClientDisclosure) -> ApiResult<Selector> {
    let utc_text = |text: &Option<String>, upper| text.as_deref().map(|text| entry_time(text, upper)).transpose();
    let mut selector = Selector {
        kinds: wanted.kinds.as_ref().map(|kinds| kinds.iter().cloned().collect()),
        since_seq: wanted.since_seq,
        max_seq: wanted.max_seq,
        since_time: utc_text(&wanted.since_time, false)?,
        until_time: utc_text(&wanted.until_time, true)?,
        ..Selector::default()
    };
    if let Some(names) = &wanted.grains {
        let grains = Selector::grains_of(names.iter().map(String::as_str));
        selector.grains = grains.ok_or_else(|| not_read_error("The grains are event and semantic."))?;
    }
    Ok(selector)
}

impl ClientBundle {
    /// The conditions of the request that the writer checks. Times are left out, because the store has already compared
    /// them exactly.
    fn entries(&self) -> ClientDisclosure {
        ClientDisclosure { grains: self.grains.clone(), kinds: self.kinds.clone(), ..ClientDisclosure::default() }
    }
}

fn is_graph(kind: Kind) -> bool {
    matches!(kind, Kind::Entity | Kind::Relation)
}

fn can_export(grant: &Grant) -> bool {
    grant.rights.export
}

fn not_read_error(message: &str) -> ApiError {
    ApiError::usage(format!("{message} Nothing was read."))
}
