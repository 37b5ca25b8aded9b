//! Converts rows and records of the vault to the types of the API.
use super::{round_confidence, time};
use crate::{ApiResult, types::*};
use mementory_model::{Kind, Record, Timestamp};
use mementory_vault::{FileKind, Insight, Judgement, RowView, Vault};

/// Largest number of characters of the text in a list row.
const MAX_LIST_TEXT_CHARS: usize = 500;
/// Number of days after which a record in the Trash is erased.
pub(super) const TRASH_DAYS: i64 = 30;

fn format_optional_time(t: Option<Timestamp>) -> Option<String> {
    t.map(Timestamp::to_rfc3339)
}

/// Converts what a memory is about, and its special categories, to the types of the API.
fn insight_info(judgement: Judgement) -> (Option<AboutInfo>, Vec<String>) {
    let about = judgement.about.map(|about| AboutInfo {
        kind: about.kind.as_str().into(),
        confidence: round_confidence(about.confidence),
        by: if about.by_person { "person".into() } else { "suggested".into() },
    });
    (about, judgement.special.into_iter().map(|class| class.as_str().into()).collect())
}

/// Converts rows and records to the types of the API.
#[derive(Clone, Copy)]
pub(super) struct RowViews<'s> {
    vault: &'s Vault,
}

impl<'s> RowViews<'s> {
    pub(super) fn new(vault: &'s Vault) -> Self {
        Self { vault }
    }
}

impl RowViews<'_> {
    /// Makes the list row of a record.
    pub(super) fn item(&self, view: &RowView) -> ApiResult<ListItem> {
        self.item_of(view, &self.vault.reader().content(view)?)
    }

    /// Makes the list row of a record that is already loaded.
    pub(super) fn item_of(&self, view: &RowView, record: &Record) -> ApiResult<ListItem> {
        let vault = self.vault;
        let counts =
            if view.kind == Kind::Conversation { vault.reader().conversation_counts(view.row)? } else { (0, 0, 0) };
        let file = matches!(view.kind, Kind::Attachment | Kind::Foreign)
            .then(|| vault.files().file_facts(view.row))
            .transpose()?;
        let owner = match view.kind {
            Kind::Attachment => vault.files().file_owner(view.row)?.and_then(|o| o.owner.or(Some(o.row))),
            _ => view.owner,
        };
        let conversation_id =
            owner.map(|row| vault.reader().view_by_row(row)).transpose()?.flatten().map(|v| v.id_text());
        let (about, special) = insight_info(Insight::of(vault).judgement(view, record)?);
        Ok(ListItem {
            id: view.id_text(),
            origin_id: record.origin_id.clone(),
            kind: view.kind.as_str().into(),
            record_type: record.record_type.clone(),
            title: record.title.clone(),
            text: record.text.chars().take(MAX_LIST_TEXT_CHARS).collect(),
            source: view.source.clone(),
            created_at: format_optional_time(record.times.created),
            updated_at: format_optional_time(view.updated_time(record)),
            status: record.status.clone(),
            tags: record.tags.clone(),
            said_by: super::filter::said_by_name(record.said_by()).into(),
            versions: vault.reader().version_count(view.row)?,
            redacted: view.redacted(),
            changed_at: time(view.since),
            cause: view.cause_name().into(),
            message_count: counts.0,
            memory_count: counts.1,
            attachment_count: counts.2,
            branched: view.branched(),
            trashed_at: view.trashed.map(time),
            expires_at: view.trashed.map(|t| time(t + TRASH_DAYS * 86_400_000_000)),
            size: file.as_ref().and_then(|f| f.size),
            media_type: file.as_ref().and_then(|f| f.media_type.clone()),
            present: file.as_ref().map(|f| f.present),
            file_kind: file.filter(|_| view.kind == Kind::Attachment).map(|f| {
                FileKind::from_file(f.media_type.as_deref(), record.title.as_deref(), f.present).as_str().into()
            }),
            conversation_id,
            sensitive: vault.scanner().has_sensitive_value(view.row)?,
            export_diff_status: vault.export_diff()?.status_of(view).map(|status| status.as_str().into()),
            about,
            special,
        })
    }

    /// Makes the view of one complete record.
    pub(super) fn record_view(&self, view: &RowView, record: &Record) -> ApiResult<RecordView> {
        let vault = self.vault;
        let conversation = match view.owner {
            Some(owner) => vault.reader().view_by_row(owner)?,
            None => None,
        };
        let mut links = Vec::new();
        for link in vault.reader().links(view)? {
            links.push(self.link_info(&link.relation, &link.target, link.view.as_ref())?);
        }
        for link in vault.reader().links_to(view)? {
            let relation = format!("{}_by", link.relation.trim_end_matches("_from"));
            links.push(self.link_info(&relation, &link.target, link.view.as_ref())?);
        }
        // A memory belongs to the conversation of the message that it was derived from.
        let source_conversation_id =
            links.iter().find(|l| l.relation == "derived_from").and_then(|l| l.conversation_id.clone());
        let conversation_id = conversation.as_ref().map(RowView::id_text).or(source_conversation_id);
        let conversation_title = match (&conversation, &conversation_id) {
            (Some(c), _) => c.title.clone(),
            (None, Some(id)) => vault.reader().view(id).ok().and_then(|v| v.title),
            (None, None) => None,
        };
        let (about, special) = insight_info(Insight::of(vault).judgement(view, record)?);
        Ok(RecordView {
            about,
            special,
            id: view.id_text(),
            origin_id: record.origin_id.clone(),
            kind: view.kind.as_str().into(),
            record_type: record.record_type.clone(),
            said_by: super::filter::said_by_name(record.said_by()).into(),
            title: record.title.clone(),
            text: record.text.clone(),
            created_at: format_optional_time(record.times.created),
            updated_at: format_optional_time(view.updated_time(record)),
            observed_at: format_optional_time(record.times.observed),
            valid_from: format_optional_time(record.times.valid_from),
            valid_to: format_optional_time(record.times.valid_to),
            last_accessed_at: format_optional_time(record.times.last_accessed),
            status: record.status.clone(),
            tags: record.tags.clone(),
            confidence: record.confidence,
            importance: record.importance,
            sensitivity: record.sensitivity.clone(),
            namespace: record.namespace.clone(),
            source: SourceFields {
                platform: view.source.clone(),
                account: record.source.account.clone(),
                conversation: record.source.conversation.clone(),
                message: record.source.message.clone(),
                method: record.source.method.clone(),
                project: record.source.project.clone(),
            },
            conversation_id,
            conversation_title,
            role: record.message.as_ref().map(|m| m.role.clone()),
            links,
            attachments: self.attachment_infos(view.row)?,
            origin: OriginInfo {
                format: record.origin.format.clone(),
                version: record.origin.version.clone(),
                container: record.origin.container.clone(),
                pointer: record.origin.pointer.clone(),
                digest: None,
                batch: vault.batches().batch_of(view)?,
                imported_at: time(vault.reader().first_seen(view)?),
            },
            version: view.version,
            trashed_at: view.trashed.map(time),
            redacted: view.redacted(),
            fields: serde_json::to_string(&record.fields).unwrap_or_default(),
        })
    }

    pub(super) fn attachment_infos(&self, row: i64) -> ApiResult<Vec<AttachmentInfo>> {
        let files = self.vault.files().files(row)?;
        Ok(files
            .into_iter()
            .map(|(view, facts)| AttachmentInfo {
                id: view.id_text(),
                name: view.title.unwrap_or_default(),
                media_type: facts.media_type,
                size: facts.size,
                present: facts.present,
            })
            .collect())
    }

    pub(super) fn link_info(&self, relation: &str, target: &str, view: Option<&RowView>) -> ApiResult<LinkInfo> {
        let conversation =
            view.and_then(|v| v.owner).map(|o| self.vault.reader().view_by_row(o)).transpose()?.flatten();
        let Some(view) = view.filter(|v| v.trashed.is_none()) else {
            // For a target in the Trash, the link shows only that the target exists.
            return Ok(LinkInfo {
                relation: relation.into(),
                id: None,
                origin_id: None,
                kind: view.map(|v| v.kind.as_str().into()),
                title: None,
                text: None,
                source: view.map(|v| v.source.clone()),
                conversation_id: conversation.filter(|c| c.trashed.is_none()).map(|c| c.id_text()),
                trashed: view.is_some(),
            });
        };
        let record = self.vault.reader().content(view)?;
        Ok(LinkInfo {
            relation: relation.into(),
            id: Some(target.to_owned()),
            trashed: false,
            origin_id: record.origin_id,
            kind: Some(view.kind.as_str().into()),
            title: record.title.or_else(|| conversation.as_ref().and_then(|c| c.title.clone())),
            text: Some(record.text.chars().take(MAX_LIST_TEXT_CHARS).collect()),
            source: Some(view.source.clone()),
            conversation_id: conversation.map(|c| c.id_text()),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{CreateOptions, Job, Session};

    #[test]
    fn a_link_into_the_trash_shows_only_that_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let options = CreateOptions { kdf_floor: true };
        let words = "harbour copper nineteen kite lantern";
        let (session, _) = Session::create(&folder.path().join("v"), words, options).unwrap();
        let export = std::path::Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
            .join("../../../fixtures/samples/chatgpt-export.zip");
        let request = ImportRequest { paths: vec![export.to_string_lossy().into_owned()], ..ImportRequest::default() };
        session.imports().import(&request, false, &Job::silent()).unwrap();
        let filter = Filter { kind: Some("memory".into()), ..Filter::default() };
        let page = session.records().list(&ListRequest { filter, ..ListRequest::default() }).unwrap();
        let memory = page.items[0].id.clone();
        let message = || {
            let links = session.records().show(&memory, false, false).unwrap().record.links;
            links.into_iter().find(|link| link.relation == "derived_from").unwrap()
        };
        let live = message();
        let (id, conversation) = (live.id.clone().unwrap(), live.conversation_id.clone().unwrap());
        assert!(!live.trashed && live.text.is_some());
        session.changes().delete(std::slice::from_ref(&id)).unwrap();
        let trashed_message = message();
        assert!(
            trashed_message.trashed
                && trashed_message.id.is_none()
                && trashed_message.text.is_none()
                && trashed_message.title.is_none()
        );
        assert_eq!(trashed_message.kind.as_deref(), Some("message"));
        assert_eq!(
            trashed_message.conversation_id.as_deref(),
            Some(conversation.as_str()),
            "the conversation is not in the Trash"
        );
        session.changes().delete(std::slice::from_ref(&conversation)).unwrap();
        assert_eq!(message().conversation_id, None, "the conversation is in the Trash too");
        session.changes().restore(&[conversation, id]).unwrap();
        assert!(!message().trashed);
    }
}
