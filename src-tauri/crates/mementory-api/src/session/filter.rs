//! Converts the filter of a request to a query for the vault, and to a filter for the vault's search index.
use crate::{ApiError, ApiResult, types::*};
use mementory_model::{Kind, SaidBy, Timestamp};
use mementory_vault::{
    AboutKind, ExportDiffStatus, FileKind, IndexFilter, Insight, InsightFilter, ListQuery, Sort, Special, Vault,
};
use std::collections::HashSet;

/// Converts a filter to a query for the vault.
///
/// # Errors
/// `usage` for an unknown kind of records or files, an unknown export status or a malformed time; `not_found` for an
/// unknown import.
pub(super) fn query(vault: &Vault, filter: &Filter) -> ApiResult<ListQuery> {
    let mut query = query_of_fields(filter)?;
    for batch in filter.batch.iter().flatten() {
        if !vault.batches().has_batch(batch)? {
            return Err(no_such_import_error(batch));
        }
    }
    if let Some(status) = &filter.export_diff_status {
        let mut ids = vault.export_diff()?.ids(parse_export_status(status)?);
        if let Some(only) = &query.ids {
            let only: HashSet<&String> = only.iter().collect();
            ids.retain(|id| only.contains(id));
        }
        query.ids = Some(ids);
    }
    let insight = insight_filter(filter)?;
    if insight != InsightFilter::default() {
        query.among = Some(Insight::of(vault).rows(&insight)?);
    }
    Ok(query)
}

/// Converts those conditions of a filter for which no vault is needed.
pub(super) fn query_of_fields(filter: &Filter) -> ApiResult<ListQuery> {
    Ok(ListQuery {
        kind: filter.kind.as_deref().map(parse_kind).transpose()?,
        source: filter.source.clone(),
        status: filter.status.clone(),
        tag: filter.tag.clone(),
        record_type: filter.record_type.clone(),
        said_by: filter.said_by.as_deref().map(parse_said_by).transpose()?,
        since: filter.since.as_deref().map(|t| parse_bound(t, false)).transpose()?,
        until: filter.until.as_deref().map(|t| parse_bound(t, true)).transpose()?,
        trash: filter.trash,
        ids: filter.ids.clone(),
        batch: filter.batch.clone(),
        file_kind: filter.file_kind.as_deref().map(parse_file_kind).transpose()?,
        ..ListQuery::default()
    })
}

/// Parses the name of a sort order. The default is `newest`.
pub(super) fn parse_sort(name: Option<&str>) -> ApiResult<Sort> {
    match name {
        None | Some("newest") => Ok(Sort::Newest),
        Some("oldest") => Ok(Sort::Oldest),
        Some("title") => Ok(Sort::Title),
        Some("changed") => Ok(Sort::Changed),
        Some("trashed") => Ok(Sort::Trashed),
        Some(other) => {
            Err(ApiError::usage(format!("{other} is not a sort order. Use newest, oldest, title, changed or trashed.")))
        }
    }
}

fn parse_kind(name: &str) -> ApiResult<Kind> {
    Kind::parse(name).ok_or_else(|| {
        ApiError::usage(format!(
            "{name} is not a kind of record. Use memory, conversation, message or attachment, for example."
        ))
    })
}

fn parse_file_kind(name: &str) -> ApiResult<FileKind> {
    FileKind::parse(name).ok_or_else(|| {
        ApiError::usage(format!(
            "{name} is not a kind of file. Use picture, document, code, sound, video, other or missing."
        ))
    })
}

/// The value that selects memories of any special category.
pub(super) const ANY_SPECIAL: &str = "any";

/// Converts the filter conditions on the subject and the special category of memories.
pub(super) fn insight_filter(filter: &Filter) -> ApiResult<InsightFilter> {
    let about = match filter.about.as_deref() {
        None => None,
        Some("") => Some(None),
        Some(name) => Some(Some(parse_about_kind(name)?)),
    };
    let special = match filter.special.as_deref() {
        None => None,
        Some(ANY_SPECIAL) => Some(None),
        Some(name) => {
            let names = Special::ALL.map(Special::as_str).join(", ");
            let unknown = || ApiError::usage(format!("{name} is not a private topic. Use any, {names}."));
            Some(Some(Special::parse(name).ok_or_else(unknown)?))
        }
    };
    Ok(InsightFilter { about, special })
}

/// Parses the name of a subject of memories.
pub(super) fn parse_about_kind(name: &str) -> ApiResult<AboutKind> {
    let names = AboutKind::ALL.map(AboutKind::as_str).join(", ");
    let unknown = || ApiError::usage(format!("What a memory is about cannot be {name}. Use {names}."));
    AboutKind::parse(name).ok_or_else(unknown)
}

/// The filter value that selects records for which it is unknown who said them.
const UNKNOWN: &str = "unknown";

/// Parses the filter value for the speaker of a record. None means that the speaker is unknown.
fn parse_said_by(name: &str) -> ApiResult<Option<SaidBy>> {
    let known = SaidBy::ALL.into_iter().find(|who| who.as_str() == name);
    if known.is_none() && name != UNKNOWN {
        let message =
            format!("The party that said something cannot be {name}. Use user, assistant, system or unknown.");
        return Err(ApiError::usage(message));
    }
    Ok(known)
}

/// The name of the speaker of a record.
pub(super) fn said_by_name(who: Option<SaidBy>) -> &'static str {
    who.map_or(UNKNOWN, SaidBy::as_str)
}

fn parse_export_status(name: &str) -> ApiResult<ExportDiffStatus> {
    ExportDiffStatus::parse(name).ok_or_else(|| {
        ApiError::usage(format!("{name} is not a status in the newest export. Use new, changed or gone."))
    })
}

/// Converts those conditions of a filter that the search index can check.
pub(super) fn index_filter(filter: &Filter) -> ApiResult<IndexFilter> {
    let q = query_of_fields(filter)?;
    Ok(IndexFilter {
        kinds: q.kind.map(|k| k.as_str().to_owned()).into_iter().collect(),
        platforms: q.source.into_iter().collect(),
        record_types: q.record_type.into_iter().collect(),
        said_by: q.said_by.map(|who| who.map_or_else(String::new, |who| who.as_str().to_owned())).into_iter().collect(),
        statuses: q.status.into_iter().collect(),
        tags: q.tag.into_iter().collect(),
        created_from: q.since,
        created_to: q.until,
        ..IndexFilter::default()
    })
}

/// True if the filter has a condition that only the store can check, not the index.
pub(super) fn needs_store_filter(filter: &Filter) -> bool {
    let Filter { export_diff_status, file_kind, batch, about, special, .. } = filter;
    export_diff_status.is_some() || file_kind.is_some() || batch.is_some() || about.is_some() || special.is_some()
}

/// True if the filter has no condition. The choice between the Trash and other records is not a condition.
pub(super) fn is_unfiltered(filter: &Filter) -> bool {
    filter.kind.is_none()
        && filter.source.is_none()
        && filter.status.is_none()
        && filter.tag.is_none()
        && filter.record_type.is_none()
        && filter.said_by.is_none()
        && filter.since.is_none()
        && filter.until.is_none()
        && filter.ids.is_none()
        && filter.export_diff_status.is_none()
        && filter.file_kind.is_none()
        && filter.batch.is_none()
        && filter.about.is_none()
        && filter.special.is_none()
}

/// Parses a time or a date as a bound of a filter, in microseconds since 1970. A date as upper bound means the end of
/// that day.
pub(super) fn parse_bound(text: &str, upper: bool) -> ApiResult<i64> {
    let time_error =
        || ApiError::usage(format!("{text} is not a date or time. Write 2026-11-21 or 2026-11-21T09:30:00Z."));
    let time = Timestamp::parse(text).ok_or_else(time_error)?;
    let rest_of_day = 86_400_000_000 - 1;
    let whole_day = text.trim().len() <= 10;
    Ok(time.as_micros() + if upper && whole_day { rest_of_day } else { 0 })
}

/// Converts a time or a date to a text that can be compared with the times in entries. A date as upper bound means the
/// end of that day.
///
/// # Errors
/// `usage` for any other text.
pub fn entry_time(text: &str, upper: bool) -> ApiResult<String> {
    let bound = Timestamp::from_micros(parse_bound(text, upper)?);
    Ok(bound.map_or_else(|| text.to_owned(), Timestamp::to_rfc3339))
}

/// The error for an import id that does not exist in the vault.
pub(super) fn no_such_import_error(batch: &str) -> ApiError {
    ApiError::new("not_found", 1, "This vault has no import with this id. Nothing was changed.").with("id", batch)
}
