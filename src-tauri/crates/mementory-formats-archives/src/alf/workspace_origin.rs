//! Determines whether a record was read from an agent's workspace, and from which runtime.
use mementory_format::StoredRecord;
use mementory_formats_agents::openclaw::{OPENCLAW, Runtime, write::current_text};
use mementory_formats_agents::zeroclaw::ZEROCLAW;
use mementory_model::{Kind, Record, Verbatim};
use std::collections::BTreeMap;

/// The runtime whose workspace a record was read from. None if it is not from a workspace.
pub(super) fn runtime_of(record: &Record) -> Option<&'static Runtime> {
    by_id(&record.origin.format)
}

/// True if this is the id space of a workspace of the runtime.
pub(super) fn is_scope_of(runtime: &Runtime, scope: &str) -> bool {
    scope.strip_prefix(runtime.id).is_some_and(|id| id.len() > 1 && id.starts_with(':'))
}

pub(super) fn by_id(id: &str) -> Option<&'static Runtime> {
    [&OPENCLAW, &ZEROCLAW].into_iter().find(|r| r.id == id)
}

/// True if the record was read from a profile file, which describes the agent or its user.
pub(super) fn is_profile(record: &Record) -> bool {
    record.kind == Kind::Profile && record.verbatim.is_some() && runtime_of(record).is_some()
}

/// Counts a record by id space if it was read from a workspace. Returns false otherwise.
pub(super) fn count_record(counts: &mut BTreeMap<String, u64>, record: &Record) -> bool {
    let is_workspace = runtime_of(record).is_some();
    if is_workspace {
        *counts.entry(record.key.scope.clone()).or_default() += 1;
    }
    is_workspace
}

/// Returns an edited record of a workspace with the edit applied to its verbatim, because the workspace is restored
/// from the verbatim. None for any other record.
pub(super) fn with_current_text(stored: &StoredRecord) -> Option<Record> {
    let text = |v: &Verbatim| v.media_type == "text/markdown";
    let edited =
        stored.edited && runtime_of(&stored.record).is_some() && stored.record.verbatim.as_ref().is_some_and(text);
    edited.then(|| {
        let mut record = stored.record.clone();
        record.verbatim = Some(Verbatim { media_type: "text/markdown".into(), text: current_text(stored) });
        record
    })
}
