//! Reads a bundle. If ids, root or proofs do not match, the whole bundle is rejected. Otherwise, unreadable entries are
//! dropped.
use super::{
    bundle::Bundle,
    compose::{DISCLOSED_FIELD, WRAPPER_FIELD},
    entry::{Wrapped, digests, entry_fault, parse_element},
    envelope::BundleKind,
    extension::{is_composed, restore},
    to_record::{EntryLinks, KEY_SCOPE, is_forgotten, set_id, to_record},
};
use mementory_format::extension::Restored;
use mementory_format::{FormatError, PassthroughItem, Sink, restore_from_slot};
use mementory_json::{Tree, value_of};
use mementory_model::{Bounds, Dropped, DroppedAs, Issue, Origin, Record, Unit, Verbatim};
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
    let conversion = Conversion {
        kind,
        bounds: bundle.limits.into(),
        restores,
        version: bundle.envelope.text_member("version"),
        container: &bundle.member.place,
    };
    let mut links = EntryLinks::default();
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut bytes_sent = 0;
    bundle.process_items(
        |index, text| (text.len() as u64, conversion.convert(index, text)),
        &mut |index, converted: Result<SizedEntry, String>| {
            let place = bundle.place(&kind.pointer(index));
            let (bytes, entry) = converted.unwrap_or_else(|why| (0, Err(malformed(&why))));
            bytes_sent += bytes;
            match entry {
                Err(reason) => {
                    sink.dropped(Dropped { place: place.clone(), outcome: DroppedAs::Failed, reason, kind: None });
                }
                Ok(mut entry) => {
                    let count = seen.entry(entry.id.clone()).or_default();
                    *count += 1;
                    // If an entry is repeated, each occurrence becomes a record, because each has its own leaf in the
                    // Merkle tree.
                    if *count > 1 {
                        entry.id = format!("{}#{count}", entry.id);
                        conversion.rename(index, &mut entry);
                    }
                    let record = record(entry, &mut links, &mut |code, message| {
                        sink.note(Issue::new(code, &place, message));
                    });
                    sink.unit(Unit::from(record))?;
                }
            }
            sink.progress(bytes_sent)
        },
    )?;
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

fn malformed(why: &str) -> String {
    format!("malformed_entry: {why}")
}

/// Length of an element in bytes, and the entry in it or the reason why there is none.
type SizedEntry = (u64, Result<Box<ConvertedEntry>, String>);

/// Converts the entries of one bundle to records, each on its own.
struct Conversion<'b> {
    kind: BundleKind,
    bounds: Bounds,
    restores: bool,
    /// `version` of the envelope.
    version: Option<&'b str>,
    /// Place of the bundle.
    container: &'b str,
}

/// An entry and the record that it alone makes, without links to other entries.
struct ConvertedEntry {
    id: String,
    tree: Tree,
    index: Option<Tree>,
    proof: Option<Tree>,
    /// Unknown members of the wrapper.
    extra: Vec<(String, Tree)>,
    verbatim: Verbatim,
    is_composed: bool,
    /// The record as read from the entry without its extension slot.
    mapped: Record,
    /// The record from the extension slot, if it is used.
    restored: Option<Restored>,
}

impl Conversion<'_> {
    /// The entry in an element, or the reason why there is none.
    fn convert(&self, index: u64, text: &str) -> Result<Box<ConvertedEntry>, String> {
        let parsed = parse_element(self.kind, text, self.bounds);
        let (wrapped, tree) = parsed.map_err(|why| malformed(&why))?;
        let (id, _) = digests(&tree).map_err(|why| malformed(&why))?;
        if let Some((code, why)) = entry_fault(&tree) {
            return Err(format!("{code}: {why}"));
        }
        let is_composed = self.restores && is_composed(&tree);
        let verbatim = Verbatim::json(wrapped.content);
        let Wrapped { index: disclosed_index, proof, extra, .. } = wrapped;
        let (mapped, restored) = self.records(index, &id, &tree, &verbatim);
        let entry =
            ConvertedEntry { id, tree, index: disclosed_index, proof, extra, verbatim, is_composed, mapped, restored };
        Ok(Box::new(entry))
    }

    /// Gives the records of an entry the id of the entry, which has changed.
    fn rename(&self, index: u64, entry: &mut ConvertedEntry) {
        match entry.restored {
            None => set_id(&mut entry.mapped, &entry.id),
            // What the slot changes depends on the id.
            Some(_) => {
                (entry.mapped, entry.restored) = self.records(index, &entry.id, &entry.tree, &entry.verbatim);
            }
        }
    }

    /// The record as read from the entry without its extension slot, and the record from the slot, if it is used.
    fn records(&self, index: u64, id: &str, tree: &Tree, verbatim: &Verbatim) -> (Record, Option<Restored>) {
        let mut mapped = to_record(tree, id, self.restores && is_composed(tree));
        mapped.origin = Origin {
            format: KEY_SCOPE.into(),
            version: self.version.map(str::to_owned),
            container: self.container.to_owned(),
            pointer: self.kind.pointer(index),
        };
        let restored = restore_from_slot(&verbatim.text, self.restores, || restore(tree, &mapped, verbatim));
        (mapped, restored)
    }
}

fn record(entry: Box<ConvertedEntry>, links: &mut EntryLinks, note: &mut dyn FnMut(&str, &str)) -> Record {
    let ConvertedEntry { tree, index, proof, extra, verbatim, is_composed, mapped, restored, .. } = *entry;
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
            links.link(&tree, &mut record);
        }
        if !extra.is_empty() {
            record.fields.insert(WRAPPER_FIELD.into(), value_of(&Tree::Object(extra)));
        }
        if let (Some(index), Some(proof)) = (index, proof) {
            let members = [("index", index), ("proof", proof)].map(|(k, v)| (k.to_owned(), v));
            record.fields.insert(DISCLOSED_FIELD.into(), value_of(&Tree::Object(members.into())));
        }
    }
    record
}
