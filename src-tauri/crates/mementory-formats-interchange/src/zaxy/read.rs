//! Reads a bundle. If ids, root or proofs do not match, the whole bundle is rejected. Otherwise, unreadable entries are
//! dropped.
use super::{
    bundle::Bundle,
    compose::{DISCLOSED_FIELD, WRAPPER_FIELD},
    entry::{Wrapped, digests, entry_fault},
    envelope::BundleKind,
    extension::{is_composed, restore},
    to_record::{EntryLinks, KEY_SCOPE, is_forgotten, to_record},
};
use mementory_format::{FormatError, PassthroughItem, Sink, restore_from_slot};
use mementory_json::{Tree, value_of};
use mementory_model::{Dropped, DroppedAs, Issue, Origin, Record, Unit, Verbatim};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Reads a bundle into the sink. Ignores the extension slots unless `restores` is set.
pub(super) fn read(bundle: &Bundle, restores: bool, sink: &mut dyn Sink) -> Result<(), FormatError> {
    bundle.require_integrity()?;
    let kind = bundle.envelope.kind;
    if kind != BundleKind::Unsigned {
        let message = "signed Zaxy bundles are experimental: their signing has not been reviewed independently";
        sink.note(Issue::new("experimental_signature", bundle.place(""), message));
    }
    let mut links = EntryLinks::default();
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut bytes_sent = 0;
    bundle.visit_items(&mut |item| {
        let pointer = item.pointer(kind);
        let place = bundle.place(&pointer);
        bytes_sent += item.text.as_ref().map_or(0, |t| t.len() as u64);
        let failed_entry =
            |reason: String| Dropped { place: place.clone(), outcome: DroppedAs::Failed, reason, kind: None };
        match bundle.parse_entry(&item).and_then(|(wrapped, tree)| Ok((wrapped, digests(&tree)?.0, tree))) {
            Err(why) => sink.dropped(failed_entry(format!("malformed_entry: {why}"))),
            Ok((wrapped, id, tree)) => match entry_fault(&tree) {
                Some((code, why)) => sink.dropped(failed_entry(format!("{code}: {why}"))),
                None => {
                    let count = seen.entry(id.clone()).or_default();
                    *count += 1;
                    // If an entry is repeated, each occurrence becomes a record, because each has its own leaf in the
                    // Merkle tree.
                    let id = if *count == 1 { id } else { format!("{id}#{count}") };
                    let origin = Origin {
                        format: KEY_SCOPE.into(),
                        version: bundle.envelope.text_member("version").map(str::to_owned),
                        container: bundle.member.place.clone(),
                        pointer,
                    };
                    let record = record(&tree, &id, origin, (&wrapped, restores), &mut links, &mut |code, message| {
                        sink.note(Issue::new(code, &place, message));
                    });
                    sink.unit(Unit::from(record))?;
                }
            },
        }
        sink.progress(bytes_sent)
    })?;
    let text = &bundle.envelope.text;
    let item = PassthroughItem {
        format: KEY_SCOPE.into(),
        group: hex::encode(Sha256::digest(text)),
        name: bundle.member.file_name().to_owned(),
        role: "manifest".into(),
        place: bundle.member.place.clone(),
    };
    sink.passthrough(item, &mut text.as_bytes())?;
    sink.progress(bundle.member.size)
}

fn record(
    tree: &Tree,
    id: &str,
    origin: Origin,
    (wrapped, restores): (&Wrapped<'_>, bool),
    links: &mut EntryLinks,
    note: &mut dyn FnMut(&str, &str),
) -> Record {
    let is_composed = restores && is_composed(tree);
    let mut mapped = to_record(tree, id, is_composed);
    mapped.origin = origin;
    let verbatim = Verbatim::json(wrapped.content);
    let restored = restore_from_slot(&verbatim.text, restores, || restore(tree, &mapped, &verbatim));
    let mut record = match restored {
        Some(restored) => {
            if restored.changed {
                note("changed_elsewhere", "changed by another program; its values are taken");
            }
            restored.record
        }
        None => Record { verbatim: Some(verbatim), ..mapped },
    };
    if record.origin.format == KEY_SCOPE {
        let payload = tree.get("content").and_then(|content| content.get("payload"));
        if !is_composed && payload.is_some_and(is_forgotten) {
            note("forgotten_payload", "what this event said was erased before the export");
        }
        if !is_composed {
            links.link(tree, &mut record);
        }
        if !wrapped.extra.is_empty() {
            record.fields.insert(WRAPPER_FIELD.into(), value_of(&Tree::Object(wrapped.extra.clone())));
        }
        if let (Some(index), Some(proof)) = (&wrapped.index, &wrapped.proof) {
            let members = [("index", index), ("proof", proof)].map(|(k, v)| (k.to_owned(), v.clone()));
            record.fields.insert(DISCLOSED_FIELD.into(), value_of(&Tree::Object(members.into())));
        }
    }
    record
}
