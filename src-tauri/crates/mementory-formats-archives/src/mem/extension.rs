//! The extension slot of a line: an additional member, which the format allows (spec §4.3).
use super::{
    canonical::canonical,
    kinds::KindSpec,
    line_encoder::id_prefix,
    to_record::{KEY_SCOPE, id_of},
    wire::line,
};
use mementory_format::extension::{
    self, FIELDS_TEXT_MEMBER, FINGERPRINT_MEMBER, MEMBER, NativeFields, Restored, members, unfold_fields,
};
use mementory_json::{Tree, tree_of};
use mementory_model::{Kind, LossKind, LossReport, Record, Times, Verbatim};
use serde_json::{Map, Value};

/// Fields that every line can express (`always`), and fields that only lines of some kinds can express (`sometimes`).
/// Times have whole seconds.
const NATIVE_FIELDS: NativeFields =
    NativeFields { always: NativeFields::ALL_BUT_TIMES, sometimes: NativeFields::ALL_TIMES, whole_seconds: true };

fn fingerprint(spec: &KindSpec, tree: &Tree) -> String {
    let mut native = tree.clone();
    extension::remove(&mut native);
    let line = line(spec, &native).unwrap_or_default();
    extension::fingerprint(line)
}

/// Stores the differences between `record` and `mapped`, the record as read from `tree` without the slot, in the
/// extension slot of `tree`. Returns false if there are no differences. If the record was read from this format
/// (`is_same_format`), origin and verbatim are left out, because they follow from the line itself.
pub(super) fn attach(spec: &KindSpec, tree: &mut Tree, mapped: &Record, record: &Record, is_same_format: bool) -> bool {
    extension::remove(tree);
    let mut out = extension::record_difference(mapped, record, is_same_format);
    if out.is_empty() {
        return false;
    }
    if let Some(fields) = out.get("fields").filter(|f| !has_only_preserved_numbers(f)).map(Value::to_string) {
        out.remove("fields");
        out.insert(FIELDS_TEXT_MEMBER.into(), Value::String(fields));
    }
    out.insert(FINGERPRINT_MEMBER.into(), Value::String(fingerprint(spec, tree)));
    extension::set(tree, tree_of(&Value::Object(out)));
    true
}

/// True if the canonical form preserves all numbers in the value (it changes `1.0`, for example). Otherwise, the fields
/// are stored as text.
fn has_only_preserved_numbers(value: &Value) -> bool {
    canonical(&tree_of(value)).is_ok_and(|text| serde_json::from_str::<Value>(&text).is_ok_and(|v| v == *value))
}

/// A line with a complete record, for records that fit no kind of the format.
pub(super) fn foreign_record_line(id: &str, record: &Record) -> String {
    let mut out = members(record);
    extension::fold_deep_fields(&mut out);
    if let Some(fields) = out.get("fields").filter(|f| !has_only_preserved_numbers(f)).map(Value::to_string) {
        out.remove("fields");
        out.insert(FIELDS_TEXT_MEMBER.into(), Value::String(fields));
    }
    let tree =
        Tree::Object(vec![("id".into(), Tree::Text(id.to_owned())), (MEMBER.into(), tree_of(&Value::Object(out)))]);
    canonical(&tree).unwrap_or_default()
}

/// The record in a line that [`foreign_record_line`] wrote. None for any other line.
pub(super) fn read_foreign_record(tree: &Tree) -> Option<Record> {
    let mut map = slot_members(tree)?;
    unfold_fields(&mut map);
    serde_json::from_value(Value::Object(map)).ok()
}

fn slot_members(tree: &Tree) -> Option<Map<String, Value>> {
    extension::parse(&canonical(extension::get(tree)?).ok()?)
}

/// Applies the extension slot of a line to `mapped`, the record as read from the line without the slot. Origin and
/// verbatim come from the slot if it has an origin and the line was not changed by another program, otherwise from the
/// line. None if the line has no slot.
pub(super) fn restore(spec: &KindSpec, tree: &Tree, mapped: &Record, verbatim: &Verbatim) -> Option<Restored> {
    let mut map = slot_members(tree)?;
    let native = map.remove(FINGERPRINT_MEMBER)?;
    let has_own_origin = !map.contains_key("origin");
    let mut record = extension::apply(members(mapped), map)?;
    if has_own_origin {
        record.origin = mapped.origin.clone();
        record.verbatim = Some(verbatim.clone());
    }
    let is_changed = native.as_str() != Some(fingerprint(spec, tree).as_str());
    if is_changed {
        NATIVE_FIELDS.adopt_native_fields(mapped, &mut record);
        record.origin = mapped.origin.clone();
        record.verbatim = Some(verbatim.clone());
    }
    let is_foreign = record.key.scope != KEY_SCOPE;
    let export_id = is_foreign.then(|| export_id_in(&id_of(spec, tree), record.kind)).flatten();
    Some(Restored { record, changed: is_changed, export_id })
}

/// Extracts the export id from the id of a line that was composed for a record of this kind.
pub(super) fn export_id_in(line_id: &str, kind: Kind) -> Option<String> {
    line_id.strip_prefix(id_prefix(kind)).map(str::to_owned)
}

/// Reports the members of the extension slot as losses, because other programs do not read them. Each time is reported
/// separately. Key and origin are not reported.
pub(super) fn report_losses(id: &str, mapped: &Record, record: &Record, tree: &Tree, report: &mut LossReport) {
    let Some(slot) = extension::get(tree) else { return };
    if extension::slot_member_names(slot).any(|name| name == "times") {
        report_time_losses(id, &mapped.times, &record.times, report);
    }
    let names = extension::slot_member_names(slot);
    extension::report(id, names, &["key", "origin", "origin_id", "times"], report);
}

fn report_time_losses(id: &str, line: &Times, original: &Times, report: &mut LossReport) {
    let pairs = [
        ("created", line.created, original.created),
        ("updated", line.updated, original.updated),
        ("observed", line.observed, original.observed),
        ("valid_from", line.valid_from, original.valid_from),
        ("valid_to", line.valid_to, original.valid_to),
        ("last_accessed", line.last_accessed, original.last_accessed),
    ];
    for (name, line, original) in pairs {
        let Some(original) = original.filter(|t| Some(*t) != line) else { continue };
        let field = format!("times.{name}");
        if line.is_some_and(|l| l.to_rfc3339_seconds() == original.to_rfc3339_seconds()) {
            report.add(id, &field, LossKind::Narrowed, "whole seconds; the exact time is kept in x_mementory");
        } else {
            report.add(id, &field, LossKind::MovedToExtension, extension::MOVED_NOTE);
        }
    }
}
