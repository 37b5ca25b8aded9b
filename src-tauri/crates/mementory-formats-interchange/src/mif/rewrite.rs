//! Changes elements of imported documents before they are written. An element is changed if its record was edited, if
//! it has values that the format forbids, or if it refers to an id that has changed.
use super::{
    compose::{self, ElementContext, element, set_text},
    export_plan::ExportPlan,
    extension::{ComparisonMode, attach},
    invalid_values::{find_faults, rename_references, replace_invalid_values},
    read::{METADATA_FIELD, copy_metadata},
    redaction,
    sections::{EDGES_SECTION, Section},
    to_record::to_record,
    wire::text,
};
use mementory_format::{FormatError, StoredRecord};
use mementory_json::Tree;
use std::collections::BTreeSet;

/// How the element of a record is written.
pub(super) enum OwnElement {
    /// The original element is written unchanged.
    Unchanged,
    /// The original element is written with changes.
    Changed {
        element: Tree,
        /// Type of the record as read from the element.
        kind: Option<String>,
        /// Names of the members whose original values could not be written.
        replaced: BTreeSet<String>,
    },
    /// The record cannot be written as the element that it was read from. A new element must be composed, as for a
    /// record of another format.
    Impossible,
}

/// Applies the necessary changes to the element that a record was read from.
pub(super) fn own_element(
    stored: &StoredRecord,
    section: &'static Section,
    verbatim: &str,
    plan: &ExportPlan,
    depth: u32,
) -> Result<OwnElement, FormatError> {
    let (record, shape) = (&stored.record, plan.shape);
    if !stored.edited && !plan.may_change(&stored.id) {
        return Ok(OwnElement::Unchanged);
    }
    let mut tree =
        Tree::parse(verbatim, depth).map_err(|e| FormatError::invalid("malformed", &stored.id, e.to_string()))?;
    if stored.edited {
        let current = to_record(section, &tree);
        compose::patch(&mut tree, section, shape, &current, record);
    }
    let has_new_reference = rename_references(&mut tree, section, &plan.renamed);
    let mut replaced = BTreeSet::new();
    let id = plan.id_of(&stored.id).map(|(_, id)| id.as_str());
    if let Some(id) = id.filter(|id| text(&tree, "id") != Some(*id)) {
        match *section == EDGES_SECTION {
            true => tree.remove("id"), // an edge needs no id
            false => set_text(&mut tree, "id", id),
        }
        replaced.insert("id".to_owned());
    }
    if find_faults(&tree, section, shape).has_invalid_value {
        let (target, ends) = plan.section_and_ends(stored);
        let ends = ends.filter(|_| target == section);
        let related = plan.linked_ids(stored);
        let context = ElementContext { id: id.unwrap_or_default(), related, ends, strip: false };
        let mut composed = element(record, section, shape, &context);
        replace_invalid_values(&mut composed, section, shape, &Tree::Null);
        match replace_invalid_values(&mut tree, section, shape, &composed) {
            Some(names) => replaced.extend(names),
            None => return Ok(OwnElement::Impossible),
        }
    }
    if !stored.edited && !has_new_reference && replaced.is_empty() {
        return Ok(OwnElement::Unchanged);
    }
    let record = redaction::attach(stored, section, shape, &mut tree);
    let record = record.as_ref();
    let mut mapped = to_record(section, &tree);
    let kind = mapped.record_type.clone();
    if stored.edited {
        if !replaced.contains("id") {
            mapped.key = record.key.clone(); // the key of a repeated id has a suffix
        }
        mapped.repeats = record.repeats;
        if record.fields.contains_key(METADATA_FIELD) {
            copy_metadata(&record.fields, &mut mapped.fields);
            mapped.importance = record.importance;
            mapped.times.last_accessed = record.times.last_accessed;
        }
    }
    // The verbatim of an unedited record goes into the slot, because only the verbatim contains all values that the
    // format forbids. The verbatim of an edited record is left out, because it would undo the edit.
    let mode = if stored.edited { ComparisonMode::OwnElement } else { ComparisonMode::OtherSource };
    attach(&mut tree, &mapped, record, mode);
    Ok(OwnElement::Changed { element: tree, kind, replaced })
}
