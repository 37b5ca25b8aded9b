//! Converts import reports of the vault to the types of the API.
use crate::types::*;
use mementory_vault::{ItemOutcome, KindCounts};

fn outcome_view(k: &KindCounts) -> Outcome {
    Outcome {
        found: k.found,
        added: k.added,
        updated: k.updated,
        unchanged: k.unchanged,
        blocked: k.blocked,
        skipped: k.skipped,
        failed: k.failed,
    }
}

pub(super) fn report_view(r: &mementory_vault::ImportReport) -> ImportReport {
    ImportReport {
        batch: r.batch.clone(),
        format: r.format.clone(),
        version: r.version.clone(),
        dry_run: r.dry_run,
        total: outcome_view(&r.total()),
        by_kind: r.by_kind.iter().map(|(k, c)| (k.clone(), outcome_view(c))).collect(),
        tombstones_applied: r.counts.tombstones_applied,
        conversations: r.counts.conversations,
        messages: r.counts.messages,
        memories: r.counts.memories,
        attachments: AttachmentCounts {
            referenced: r.counts.attachments_referenced,
            present: r.counts.attachments_present,
        },
        missing_attachments: r.counts.attachments_missing,
        missing_parts: r.missing_parts.clone(),
        salvaged: !r.missing.is_empty(),
        missing: r.missing.iter().map(|m| MissingPart { place: m.place.clone(), reason: m.reason.clone() }).collect(),
        missing_files: r.missing_files.clone(),
        gone: r.gone.clone(),
        invalid_signatures: Vec::new(),
        warnings: r
            .warnings
            .iter()
            .map(|(key, (place, message, count))| Warning {
                code: key.split(' ').next().unwrap_or_default().into(),
                place: place.clone(),
                message: message.clone(),
                count: *count,
            })
            .collect(),
        items: r
            .items
            .iter()
            .map(|i| ReportItem {
                kind: i.kind.clone(),
                place: i.place.clone(),
                outcome: match i.outcome {
                    ItemOutcome::Added => "added",
                    ItemOutcome::Updated => "updated",
                    ItemOutcome::Unchanged => "unchanged",
                    ItemOutcome::Blocked => "blocked",
                    ItemOutcome::Skipped => "skipped",
                    ItemOutcome::Failed => "failed",
                }
                .into(),
                reason: i.reason.clone(),
            })
            .collect(),
        coming: r
            .coming
            .iter()
            .map(|c| ComingItem { kind: c.kind.clone(), place: c.place.clone(), text: c.text.clone() })
            .collect(),
        sources: r
            .sources
            .iter()
            .map(|s| Detection {
                path: s.places.first().map(|p| p.split("!/").next().unwrap_or(p).to_owned()).unwrap_or_default(),
                format: Some(s.format.clone()),
                version: s.version.clone(),
                confidence: s.confidence,
                encrypted: false,
                reason: s.reason.clone(),
                parts: Vec::new(),
                missing_parts: Vec::new(),
                candidates: Vec::new(),
                tie: false,
            })
            .collect(),
    }
}
