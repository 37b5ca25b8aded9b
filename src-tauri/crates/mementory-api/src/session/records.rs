//! Reads lists, records, conversations and attachments.
use super::{
    context::Context,
    filter, now,
    offers::Offers,
    progress::ProgressThrottle,
    search::{MAX_FILTERED_HITS, Search, searchable_text},
    sensitive::by_class_name,
    time,
    view::RowViews,
};
use crate::{ApiError, ApiResult, Applied, Job, types::*};
use mementory_model::{Kind, Timestamp};
use mementory_vault::{FacetCounts, IndexFilter, Insight, InsightCounts, RowView, VersionRow};
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

/// Reads lists, records, conversations and attachments.
#[derive(Clone, Copy)]
pub struct Records<'s> {
    context: &'s Context,
}

impl<'s> Records<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Records<'_> {
    /// Returns one page of a list.
    pub fn list(&self, request: &ListRequest) -> ApiResult<Page> {
        let mut query = filter::query(&self.context.vault, &request.filter)?;
        query.limit = request.limit.unwrap_or(50);
        query.cursor.clone_from(&request.cursor);
        query.sort = filter::parse_sort(request.sort.as_deref())?;
        let page = self.context.vault.queries().list(&query)?;
        let items =
            page.rows.iter().map(|row| RowViews::new(&self.context.vault).item(row)).collect::<ApiResult<_>>()?;
        Ok(Page { items, next_cursor: page.next, total: page.total })
    }

    /// Returns the counts for the filter menus, over the records that match `filter` and, if given, the search words.
    pub fn facets(&self, filter: &Filter, words: Option<&str>, typing: bool) -> ApiResult<Facets> {
        let mut query = filter::query(&self.context.vault, filter)?;
        if let Some(words) = words.filter(|w| !w.trim().is_empty()) {
            let index = IndexFilter { typing, ..filter::index_filter(filter)? };
            let outcome = match filter::needs_store_filter(filter) {
                true => Search::new(self.context).search_with_store_filter(words, filter, &index)?,
                false => self.context.vault.search().search(words, &index, MAX_FILTERED_HITS, 0)?,
            };
            // Only the records that match the search words are counted.
            query.rows = Some(outcome.hits.iter().map(|(row, _)| *row as i64).collect());
        }
        let FacetCounts { sources, types, tags, said_by } = self.context.vault.queries().facet_counts(&query)?;
        let with_speaker_name =
            |(who, n): (String, u32)| (if who.is_empty() { filter::said_by_name(None).into() } else { who }, n);
        let said_by = said_by.into_iter().map(with_speaker_name).collect();
        let mut file_kinds = BTreeMap::new();
        if query.kind == Some(Kind::Attachment) {
            for (kind, files) in self.context.vault.queries().file_counts(&query)? {
                file_kinds.insert(kind.as_str().to_owned(), FileCount { count: files.count, bytes: files.bytes });
            }
        }
        let counts = match query.kind {
            None | Some(Kind::Memory) if !query.trash => Insight::of(&self.context.vault).counts(&query)?,
            _ => InsightCounts::default(),
        };
        let mut special = counts.special;
        if counts.any_special > 0 {
            special.insert(filter::ANY_SPECIAL.into(), counts.any_special);
        }
        Ok(Facets { sources, types, tags, said_by, file_kinds, about: counts.about, special })
    }

    /// Returns a summary of all records that match a filter.
    pub fn summary(&self, filter: &Filter) -> ApiResult<Summary> {
        let summary = self.context.vault.queries().summary(&filter::query(&self.context.vault, filter)?)?;
        Ok(Summary {
            versions: summary.versions,
            findings: by_class_name(&summary.findings),
            conversations: summary.conversations,
            dated: summary.dated,
            first: summary.first.map(time),
            last: summary.last.map(time),
        })
    }

    /// Returns one complete record. With `history`, also its versions; with `verbatim`, also its original text.
    pub fn show(&self, id: &str, history: bool, verbatim: bool) -> ApiResult<ShownRecord> {
        let view = self.context.vault.reader().view(id)?;
        let record = self.context.vault.reader().record(&view)?;
        let history = if history {
            let versions = self.context.vault.reader().versions(&view)?;
            Some(
                versions
                    .into_iter()
                    .map(|VersionRow { version, since, until, cause, record }| VersionInfo {
                        version,
                        text: record.text,
                        title: record.title,
                        tags: record.tags,
                        record_type: record.record_type,
                        from: time(since),
                        to: until.map(time),
                        cause: cause.into(),
                    })
                    .collect(),
            )
        } else {
            None
        };
        let text = record.verbatim.as_ref().filter(|_| verbatim).map(|verbatim| verbatim.text.clone());
        Ok(ShownRecord {
            record: RowViews::new(&self.context.vault).record_view(&view, &record)?,
            history,
            verbatim: text,
        })
    }

    /// Returns a conversation with all its branches.
    pub fn thread(&self, id: &str) -> ApiResult<Thread> {
        let view = self.context.vault.reader().view(id)?;
        if view.kind != Kind::Conversation {
            return Err(ApiError::usage("This record is not a conversation. Show it as a record instead.")
                .with("kind", view.kind.as_str()));
        }
        let conversation =
            RowViews::new(&self.context.vault).record_view(&view, &self.context.vault.reader().content(&view)?)?;
        let messages = self.context.vault.reader().messages(&view)?;
        let index: HashMap<i64, usize> = messages.iter().enumerate().map(|(i, (v, _))| (v.row, i)).collect();
        let mut children: HashMap<Option<i64>, Vec<usize>> = HashMap::new();
        for (i, (v, _)) in messages.iter().enumerate() {
            children.entry(v.parent.filter(|p| index.contains_key(p))).or_default().push(i);
        }
        let views: Vec<&RowView> = messages.iter().map(|(v, _)| v).collect();
        let branch_numbers = branch_numbers(&views, &index);
        let (linked, with_files) = self.context.vault.reader().linked_messages(&view)?;
        let mut out = Vec::with_capacity(messages.len());
        for (i, (v, record)) in messages.iter().enumerate() {
            let parent = v.parent.and_then(|p| index.get(&p)).map(|p| messages[*p].0.id_text());
            let siblings = &children[&v.parent.filter(|p| index.contains_key(p))];
            let part = record.message.clone().unwrap_or_default();
            let mut memories = Vec::new();
            let links = if linked.contains(&v.row) { self.context.vault.reader().links_to(v)? } else { Vec::new() };
            for link in links.into_iter().filter(|l| l.relation == "derived_from") {
                memories.push(RowViews::new(&self.context.vault).link_info(
                    "derived_by",
                    &link.target,
                    link.view.as_ref(),
                )?);
            }
            out.push(ThreadMessage {
                id: v.id_text(),
                origin_id: record.origin_id.clone(),
                parent_id: parent,
                role: part.role,
                text: shown_text(record),
                created_at: record.times.created.map(Timestamp::to_rfc3339),
                hidden: v.hidden(),
                branch: branch_numbers[i],
                attachments: if with_files.contains(&v.row) {
                    RowViews::new(&self.context.vault).attachment_infos(v.row)?
                } else {
                    Vec::new()
                },
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

    /// Returns the bytes of an attachment, at most `limit` of them.
    pub fn attachment(&self, id: &str, limit: u64) -> ApiResult<Vec<u8>> {
        let view = self.context.vault.reader().view(id)?;
        Ok(self.context.vault.files().file_bytes(&view, limit)?)
    }

    /// Writes an attachment to the file `out`, and replaces an existing file. Returns the number of bytes.
    ///
    /// # Errors
    /// `not_found` if the vault does not contain the attachment's bytes; `usage` for a path inside the vault's folder;
    /// `cancelled`; `io`.
    pub fn save_attachment(&self, id: &str, out: &Path, job: &Job) -> ApiResult<Applied<u64>> {
        let _guard = self.context.snapshot_guard();
        let view = self.context.vault.reader().view(id)?;
        let total = self.context.vault.files().file_facts(view.row)?.size.unwrap_or_default();
        // The guard prevents the saved file from being offered for import if `out` is in a watched folder.
        let export_guard = Offers::new(self.context).begin_file_export(out);
        let throttle = ProgressThrottle::new(job);
        let saved = self.context.vault.files().save_file(&view, out, now(), &job.cancel_flag(), &|done| {
            throttle.report_in("bytes", "write", done, total, 0);
        })?;
        export_guard.mark_written(std::iter::once(&out.to_path_buf()));
        Ok(saved)
    }
}

/// Returns the text of a message, or its blocks (thinking, tool calls) if the message has no text.
fn shown_text(record: &mementory_model::Record) -> String {
    if record.text.trim().is_empty() { searchable_text(record) } else { record.text.clone() }
}

/// Returns the blocks of a message besides its text. Empty for a message without text, because its blocks are then
/// shown instead of the text.
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

/// Returns the branch number of each message: 0 on the active path. The other branches are numbered from 1 in the order
/// of the source.
fn branch_numbers(messages: &[&RowView], index: &HashMap<i64, usize>) -> Vec<u32> {
    let mut out = vec![0; messages.len()];
    let mut last_branch = 0;
    for i in 0..messages.len() {
        if messages[i].active() {
            continue;
        }
        // In nearly all sources, a message precedes its replies. A message that precedes its parent, because of a cycle
        // or an unusual order, starts a new branch.
        let parent =
            messages[i].parent.and_then(|p| index.get(&p)).copied().filter(|p| *p < i && !messages[*p].active());
        let is_first_child = parent.is_some_and(|p| !(p + 1..i).any(|j| messages[j].parent == Some(messages[p].row)));
        out[i] = match parent {
            Some(p) if is_first_child => out[p],
            _ => {
                last_branch += 1;
                last_branch
            }
        };
    }
    out
}

/// Returns the ids of the messages on the active path, from its root to its leaf.
fn active_path(messages: &[&RowView], index: &HashMap<i64, usize>) -> Vec<String> {
    let active_positions: Vec<usize> = (0..messages.len()).filter(|i| messages[*i].active()).collect();
    let parent_rows: std::collections::HashSet<i64> =
        active_positions.iter().filter_map(|i| messages[*i].parent).collect();
    let leaf_position = active_positions.iter().copied().find(|i| !parent_rows.contains(&messages[*i].row));
    let mut path = Vec::new();
    let mut current = leaf_position;
    while let Some(i) = current {
        path.push(messages[i].id_text());
        if path.len() > messages.len() {
            break; // A cycle: readers remove them, but an older vault may contain one.
        }
        current = messages[i].parent.and_then(|p| index.get(&p)).copied();
    }
    path.reverse();
    path
}
