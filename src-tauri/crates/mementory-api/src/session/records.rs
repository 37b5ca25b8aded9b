//! Lists, records, threads, search.
use super::{Session, bound, now, progress::ProgressThrottle, sensitive::by_class_name, time};
use crate::{ApiError, ApiResult, Job, types::*};
use mementory_model::{Kind, Timestamp};
use mementory_vault::{
    ExportDiffStatus, FileKind, IndexFilter, ListQuery, RowView, SearchOutcome, SearchPage, Sort, snippet,
};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
    sync::Arc,
};

/// Characters of a search snippet.
pub(super) const SNIPPET: usize = 240;
/// How many hits are filtered by the store where the index cannot filter.
const MAX_FILTERED_HITS: usize = 10_000;

impl Session {
    /// One page of a list.
    pub fn list(&self, request: &ListRequest) -> ApiResult<Page> {
        let mut query = self.query(&request.filter)?;
        query.limit = request.limit.unwrap_or(50);
        query.cursor.clone_from(&request.cursor);
        query.sort = match request.sort.as_deref() {
            None | Some("newest") => Sort::Newest,
            Some("oldest") => Sort::Oldest,
            Some("title") => Sort::Title,
            Some("changed") => Sort::Changed,
            Some(other) => {
                return Err(ApiError::new(
                    "usage",
                    2,
                    format!("{other} is not a sort order. Use newest, oldest, title or changed."),
                ));
            }
        };
        let page = self.vault.queries().list(&query)?;
        let items = page.rows.iter().map(|row| self.item(row)).collect::<ApiResult<_>>()?;
        Ok(Page { items, next_cursor: page.next, total: page.total })
    }

    /// Counts for the filter menus, over the records that `filter` (and `words`, if given) finds.
    pub fn facets(&self, filter: &Filter, words: Option<&str>, typing: bool) -> ApiResult<Facets> {
        let mut query = self.query(filter)?;
        if let Some(words) = words.filter(|w| !w.trim().is_empty()) {
            let index = IndexFilter { typing, ..index_filter(filter)? };
            let outcome = match needs_store_filter(filter) {
                true => self.search_with_store_filter(words, filter, &index)?,
                false => self.vault.search().search(words, &index, MAX_FILTERED_HITS, 0)?,
            };
            // Only hits of the search count.
            query.rows = Some(outcome.hits.iter().map(|(row, _)| *row as i64).collect());
        }
        let [sources, types, tags] = self.vault.queries().facet_counts(&query)?;
        let mut file_kinds = BTreeMap::new();
        if query.kind == Some(Kind::Attachment) {
            for (kind, files) in self.vault.queries().file_counts(&query)? {
                file_kinds.insert(kind.as_str().to_owned(), FileCount { count: files.count, bytes: files.bytes });
            }
        }
        Ok(Facets { sources, types, tags, file_kinds })
    }

    /// Summary of all records that a filter finds.
    pub fn summary(&self, filter: &Filter) -> ApiResult<Summary> {
        let found = self.vault.queries().summary(&self.query(filter)?)?;
        Ok(Summary {
            versions: found.versions,
            findings: by_class_name(&found.findings),
            conversations: found.conversations,
            dated: found.dated,
            first: found.first.map(time),
            last: found.last.map(time),
        })
    }

    /// One complete record.
    pub fn show(&self, id: &str, history: bool, verbatim: bool) -> ApiResult<Shown> {
        let view = self.vault.reader().view(id)?;
        let record = self.vault.reader().record(&view)?;
        let history = if history {
            let versions = self.vault.reader().versions(&view)?;
            Some(
                versions
                    .into_iter()
                    .map(|v| VersionInfo {
                        version: v.version,
                        text: v.record.text,
                        title: v.record.title,
                        tags: v.record.tags,
                        record_type: v.record.record_type,
                        from: time(v.since),
                        to: v.until.map(time),
                        cause: v.cause.into(),
                    })
                    .collect(),
            )
        } else {
            None
        };
        let text = verbatim.then(|| record.verbatim.as_ref().map(|v| v.text.clone())).flatten();
        Ok(Shown { record: self.record_view(&view, &record)?, history, verbatim: text })
    }

    /// A conversation with all branches.
    pub fn thread(&self, id: &str) -> ApiResult<Thread> {
        let view = self.vault.reader().view(id)?;
        if view.kind != Kind::Conversation {
            return Err(ApiError::new("usage", 2, "This record is not a conversation. Show it as a record instead.")
                .with("kind", view.kind.as_str()));
        }
        let conversation = self.record_view(&view, &self.vault.reader().content(&view)?)?;
        let messages = self.vault.reader().messages(&view)?;
        let index: HashMap<i64, usize> = messages.iter().enumerate().map(|(i, (v, _))| (v.row, i)).collect();
        let mut children: HashMap<Option<i64>, Vec<usize>> = HashMap::new();
        for (i, (v, _)) in messages.iter().enumerate() {
            children.entry(v.parent.filter(|p| index.contains_key(p))).or_default().push(i);
        }
        let views: Vec<&RowView> = messages.iter().map(|(v, _)| v).collect();
        let branches = branches(&views, &index);
        let (linked, with_files) = self.vault.reader().linked_messages(&view)?;
        let mut out = Vec::with_capacity(messages.len());
        for (i, (v, record)) in messages.iter().enumerate() {
            let parent = v.parent.and_then(|p| index.get(&p)).map(|p| messages[*p].0.id_text());
            let siblings = &children[&v.parent.filter(|p| index.contains_key(p))];
            let part = record.message.clone().unwrap_or_default();
            let mut memories = Vec::new();
            let links = if linked.contains(&v.row) { self.vault.reader().links_to(v)? } else { Vec::new() };
            for link in links.into_iter().filter(|l| l.relation == "derived_from") {
                memories.push(self.link_info("derived_by", &link.target, link.view.as_ref())?);
            }
            out.push(ThreadMessage {
                id: v.id_text(),
                origin_id: record.origin_id.clone(),
                parent_id: parent,
                role: part.role,
                text: shown_text(record),
                created_at: record.times.created.map(Timestamp::to_rfc3339),
                hidden: v.hidden(),
                branch: branches[i],
                attachments: if with_files.contains(&v.row) { self.attachment_infos(v.row)? } else { Vec::new() },
                content_type: part.content_type,
                model: part.model,
                siblings: match siblings.as_slice() {
                    [_] => Vec::new(),
                    several => several.iter().map(|s| messages[*s].0.id_text()).collect(),
                },
                memories,
                steps: steps(record),
            });
        }
        let active_path = active_path(&views, &index);
        Ok(Thread { conversation, messages: out, active_path })
    }

    /// Read the search index into memory (at most 160 MB), so that the first search is as fast as later ones. Only worth it
    /// for callers that search more than once.
    pub fn warm_search(&self) -> ApiResult<()> {
        Ok(self.vault.search().warm_search()?)
    }

    /// Ranked full-text search.
    pub fn search(&self, request: &SearchRequest) -> ApiResult<SearchResult> {
        let started = std::time::Instant::now();
        let outcome = self.outcome(request)?;
        let took_ms = started.elapsed().as_secs_f64() * 1000.0;
        let mut hits = Vec::with_capacity(outcome.hits.len());
        for (view, record, score) in self.vault.search().hits(&outcome.hits)? {
            let (text, ranges) = snippet(&searchable(&record), &outcome.terms, SNIPPET);
            let conversation = view.owner.map(|o| self.vault.reader().view_by_row(o)).transpose()?.flatten();
            hits.push(Hit {
                id: view.id_text(),
                origin_id: record.origin_id,
                kind: view.kind.as_str().into(),
                record_type: record.record_type,
                conversation_id: conversation.as_ref().map(RowView::id_text),
                title: record.title.or_else(|| conversation.and_then(|c| c.title)),
                snippet: text,
                highlights: ranges,
                score: f64::from(score),
                created_at: record.times.created.map(Timestamp::to_rfc3339),
                source: view.platform,
            });
        }
        Ok(SearchResult { query: request.query.clone(), total: outcome.total, took_ms, hits })
    }

    /// Hits of the index: rows, best first.
    pub(super) fn outcome(&self, request: &SearchRequest) -> ApiResult<SearchOutcome> {
        let (filter, (limit, offset)) = (filter_of(request)?, page_of(request));
        if needs_store_filter(&request.filter) {
            let mut outcome = self.search_with_store_filter(&request.query, &request.filter, &filter)?;
            outcome.hits = outcome.hits.into_iter().skip(offset).take(limit).collect();
            return Ok(outcome);
        }
        Ok(self.vault.search().search(&request.query, &filter, limit, offset)?)
    }

    /// The same for two requests with the same query, in one pass over the index.
    pub(super) fn outcomes(&self, requests: [&SearchRequest; 2]) -> ApiResult<[SearchOutcome; 2]> {
        let [first, second] = requests;
        if !needs_store_filter(&first.filter) && !needs_store_filter(&second.filter) {
            let filters = [filter_of(first)?, filter_of(second)?];
            let asks = [(first, &filters[0]), (second, &filters[1])].map(|(request, filter)| {
                let (limit, offset) = page_of(request);
                SearchPage { filter, limit, offset }
            });
            if let Ok(both) = self.vault.search().search_each(&first.query, &asks)?.try_into() {
                return Ok(both);
            }
        }
        Ok([self.outcome(first)?, self.outcome(second)?])
    }

    /// Search with filters that only the store knows (export status, file kind, batch): keep the index hits that the store
    /// finds too, at most the best [`MAX_FILTERED_HITS`].
    fn search_with_store_filter(&self, words: &str, filter: &Filter, index: &IndexFilter) -> ApiResult<SearchOutcome> {
        // The index filters by time: the store uses another date for conversations.
        let mut query = ListQuery { since: None, until: None, ..self.query(filter)? };
        let mut outcome = self.vault.search().search(words, index, MAX_FILTERED_HITS, 0)?;
        if outcome.total as usize > outcome.hits.len() {
            // The best hits may all fail the filter, so search again among the rows that pass it.
            let rows = Some(Arc::new(self.vault.queries().rows(&query)?));
            return Ok(self.vault.search().search(
                words,
                &IndexFilter { rows, ..index.clone() },
                MAX_FILTERED_HITS,
                0,
            )?);
        }
        query.rows = Some(outcome.hits.iter().map(|(row, _)| *row as i64).collect());
        let passing = self.vault.queries().rows(&query)?;
        outcome.hits.retain(|(row, _)| passing.contains(&(*row as i64)));
        outcome.total = u32::try_from(outcome.hits.len()).unwrap_or(u32::MAX);
        Ok(outcome)
    }

    /// Convert a filter for the vault.
    ///
    /// # Errors
    /// `usage` for an unknown kind (of records or files) or export status, or a malformed time; `not_found` for an unknown
    /// import.
    pub(super) fn query(&self, filter: &Filter) -> ApiResult<ListQuery> {
        let mut query = query(filter)?;
        for batch in filter.batch.iter().flatten() {
            if !self.vault.batches().has_batch(batch)? {
                return Err(super::import::no_such_import(batch));
            }
        }
        if let Some(standing) = &filter.standing {
            let mut ids = self.vault.export_diff()?.ids(export_status(standing)?);
            if let Some(only) = &query.ids {
                let only: HashSet<&String> = only.iter().collect();
                ids.retain(|id| only.contains(id));
            }
            query.ids = Some(ids);
        }
        Ok(query)
    }

    /// The bytes of an attachment, at most `limit`.
    pub fn attachment(&self, id: &str, limit: u64) -> ApiResult<Vec<u8>> {
        let view = self.vault.reader().view(id)?;
        Ok(self.vault.files().file_bytes(&view, limit)?)
    }

    /// Write an attachment to the file `out`, replacing an existing one. Returns the number of bytes.
    ///
    /// # Errors
    /// `not_found` when the vault does not hold the bytes, `usage` for a place inside the vault's own folder, `cancelled`, `io`.
    pub fn save_attachment(&self, id: &str, out: &Path, job: &Job) -> ApiResult<u64> {
        let _guard = self.snapshot_guard();
        let view = self.vault.reader().view(id)?;
        let total = self.vault.files().file_facts(view.row)?.size.unwrap_or_default();
        // A watched folder must not offer the file that is saved into it here.
        let export_guard = self.begin_file_export(out);
        let throttle = ProgressThrottle::new(job);
        let saved = self.vault.files().save_file(&view, out, now(), &job.cancel_flag(), &|done| {
            throttle.report_in("bytes", "write", done, total, 0);
        })?;
        export_guard.files_written(std::iter::once(&out.to_path_buf()));
        Ok(saved)
    }
}

fn export_status(name: &str) -> ApiResult<ExportDiffStatus> {
    ExportDiffStatus::parse(name).ok_or_else(|| {
        ApiError::new("usage", 2, format!("{name} is not a status by the newest export. Use new, changed or gone."))
    })
}

/// The text of a message, or its blocks (thinking, tool calls) if it has no text.
fn shown_text(record: &mementory_model::Record) -> String {
    if record.text.trim().is_empty() { searchable(record) } else { record.text.clone() }
}

/// The blocks beside a message's text. A message without text has none: its blocks are its text.
fn steps(record: &mementory_model::Record) -> Vec<Step> {
    let blocks = record.fields.get("blocks").and_then(|b| b.as_array());
    let Some(blocks) = blocks.filter(|_| !record.text.trim().is_empty()) else { return Vec::new() };
    let word = |block: &serde_json::Value, name: &str| block.get(name).and_then(|v| v.as_str()).map(str::to_owned);
    let step = |block: &serde_json::Value| {
        let text = word(block, "text").filter(|text| !text.trim().is_empty())?;
        Some(Step { content_type: word(block, "type").unwrap_or_default(), name: word(block, "name"), text })
    };
    blocks.iter().filter_map(step).collect()
}

pub(super) fn searchable(record: &mementory_model::Record) -> String {
    let mut out = record.text.clone();
    if let Some(blocks) = record.fields.get("blocks").and_then(|b| b.as_array()) {
        for text in blocks.iter().filter_map(|b| b.get("text")?.as_str()) {
            if !out.is_empty() {
                out.push_str("\n\n");
            }
            out.push_str(text);
        }
    }
    for text in record.attachments.iter().filter_map(|a| a.text.as_deref()) {
        out.push_str("\n\n");
        out.push_str(text);
    }
    if out.trim().is_empty() {
        out = record.title.clone().unwrap_or_default();
    }
    out
}

/// Branch number of each message: 0 on the active path, otherwise numbered in source order.
fn branches(messages: &[&RowView], index: &HashMap<i64, usize>) -> Vec<u32> {
    let mut out = vec![0; messages.len()];
    let mut last = 0;
    for i in 0..messages.len() {
        if messages[i].active() {
            continue;
        }
        // Parents come first in nearly all sources; otherwise (cycles, unusual order) the message starts a branch.
        let parent =
            messages[i].parent.and_then(|p| index.get(&p)).copied().filter(|p| *p < i && !messages[*p].active());
        let first_child = parent.is_some_and(|p| !(p + 1..i).any(|j| messages[j].parent == Some(messages[p].row)));
        out[i] = match parent {
            Some(p) if first_child => out[p],
            _ => {
                last += 1;
                last
            }
        };
    }
    out
}

/// Ids of the active path from its root to its leaf.
fn active_path(messages: &[&RowView], index: &HashMap<i64, usize>) -> Vec<String> {
    let active: Vec<usize> = (0..messages.len()).filter(|i| messages[*i].active()).collect();
    let parents: std::collections::HashSet<i64> = active.iter().filter_map(|i| messages[*i].parent).collect();
    let leaf = active.iter().copied().find(|i| !parents.contains(&messages[*i].row));
    let mut path = Vec::new();
    let mut at = leaf;
    while let Some(i) = at {
        path.push(messages[i].id_text());
        if path.len() > messages.len() {
            break; // A cycle: readers remove them, but an older vault may hold one.
        }
        at = messages[i].parent.and_then(|p| index.get(&p)).copied();
    }
    path.reverse();
    path
}

pub(super) fn query(filter: &Filter) -> ApiResult<ListQuery> {
    let kind = filter
        .kind
        .as_deref()
        .map(|k| {
            Kind::parse(k).ok_or_else(|| {
                ApiError::new(
                    "usage",
                    2,
                    format!(
                        "{k} is not a kind of record. Use memory, conversation, message or attachment, for example."
                    ),
                )
            })
        })
        .transpose()?;
    Ok(ListQuery {
        kind,
        source: filter.source.clone(),
        status: filter.status.clone(),
        tag: filter.tag.clone(),
        record_type: filter.record_type.clone(),
        since: filter.since.as_deref().map(|t| bound(t, false)).transpose()?,
        until: filter.until.as_deref().map(|t| bound(t, true)).transpose()?,
        trash: filter.trash,
        ids: filter.ids.clone(),
        batch: filter.batch.clone(),
        file_kind: filter
            .file_kind
            .as_deref()
            .map(|k| {
                let unknown = || {
                    ApiError::new(
                        "usage",
                        2,
                        format!(
                            "{k} is not a kind of file. Use picture, document, code, sound, video, other or missing."
                        ),
                    )
                };
                FileKind::parse(k).ok_or_else(unknown)
            })
            .transpose()?,
        ..ListQuery::default()
    })
}

fn index_filter(filter: &Filter) -> ApiResult<IndexFilter> {
    let q = query(filter)?;
    Ok(IndexFilter {
        kinds: q.kind.map(|k| k.as_str().to_owned()).into_iter().collect(),
        platforms: q.source.into_iter().collect(),
        record_types: q.record_type.into_iter().collect(),
        statuses: q.status.into_iter().collect(),
        tags: q.tag.into_iter().collect(),
        created_from: q.since,
        created_to: q.until,
        ..IndexFilter::default()
    })
}

fn filter_of(request: &SearchRequest) -> ApiResult<IndexFilter> {
    Ok(IndexFilter { typing: request.typing, ..index_filter(&request.filter)? })
}

/// Limit and offset of a page.
fn page_of(request: &SearchRequest) -> (usize, usize) {
    (request.limit.unwrap_or(20).clamp(1, 1000) as usize, request.offset.unwrap_or(0) as usize)
}

/// Whether the filter uses something that only the store knows.
fn needs_store_filter(filter: &Filter) -> bool {
    let Filter { standing, file_kind, batch, .. } = filter;
    standing.is_some() || file_kind.is_some() || batch.is_some()
}
