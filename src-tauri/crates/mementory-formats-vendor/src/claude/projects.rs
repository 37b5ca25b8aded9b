//! Reads projects. A project becomes a profile, its instructions become a memory, and its documents become resources.
use super::{
    conversation::{media_type_by_name, source},
    wire::{ElementPlace, Object, ReadResult, content_id, key, with_replaced_values},
};
use mementory_model::{Dropped, DroppedAs, Kind, Link, Record, Source, Times, Unit, Verbatim};
use std::borrow::Cow;

/// Reads a project object. In the verbatim of the profile, `docs` and `prompt_template` are empty, because their texts
/// are in the verbatim of separate records. So erasing one of these records erases its text completely.
pub(super) fn read(text: &str, object: &Object<'_>, place: &ElementPlace<'_>) -> Result<ReadResult, String> {
    if object.non_blank_text("uuid").is_none() && object.non_blank_text("name").is_none() {
        return Err("not_a_project: no id and no name".into());
    }
    let mut out = ReadResult::default();
    let id = object.non_blank_text("uuid").map_or_else(|| content_id(text), Cow::into_owned);
    let member_source = Source { project: Some(id.clone()), ..source(object) };
    let times =
        Times { created: object.timestamp("created_at"), updated: object.timestamp("updated_at"), ..Times::default() };
    let member_of = || Link { relation: "member_of".into(), kind: Kind::Profile, target: key(format!("project/{id}")) };

    let description = object.non_blank_text("description").map(Cow::into_owned).unwrap_or_default();
    let mut profile = Record::new(Kind::Profile, key(format!("project/{id}")), description);
    profile.origin_id = object.non_blank_text("uuid").map(Cow::into_owned);
    profile.title = object.non_blank_text("name").map(Cow::into_owned);
    profile.record_type = Some("project".into());
    profile.times = times.clone();
    profile.source = member_source.clone();
    profile.origin = place.origin("");
    let docs = object.list("docs");
    let replaced_values: Vec<_> =
        [("docs", "[]", docs.is_some()), ("prompt_template", "\"\"", object.text("prompt_template").is_some())]
            .into_iter()
            .filter(|(_, _, read)| *read)
            .filter_map(|(name, with, _)| object.raw_value(name).map(|raw| (raw, with)))
            .collect();
    profile.verbatim = Some(Verbatim::json(with_replaced_values(text, &replaced_values)));
    if object.is_true("is_starter_project") {
        profile.fields.insert("is_starter_project".into(), true.into());
    }
    if object.has("docs") && object.raw_value("docs").is_some() && docs.is_none() {
        out.dropped.push(dropped_entry(place.text("/docs"), "malformed: the documents are not a list"));
    }
    let mut records = vec![profile];

    if let (Some(text), Some(raw)) = (object.non_blank_text("prompt_template"), object.raw_value("prompt_template")) {
        let mut memory = Record::new(Kind::Memory, key(format!("project/{id}/instructions")), text);
        memory.title = object.non_blank_text("name").map(Cow::into_owned);
        memory.record_type = Some("project_instructions".into());
        memory.times = times;
        memory.source = Source { method: Some("project_instructions".into()), ..member_source.clone() };
        memory.origin = place.origin("/prompt_template");
        memory.links.push(member_of());
        memory.verbatim = Some(Verbatim::json(raw.get()));
        records.push(memory);
    }
    for (index, raw) in docs.into_iter().flatten().enumerate() {
        let pointer = format!("/docs/{index}");
        let Some(doc) = Object::parse(raw.get()) else {
            out.dropped.push(dropped_entry(place.text(&pointer), "not_an_object: this entry is not a document"));
            continue;
        };
        let doc_id =
            doc.non_blank_text("uuid").map_or_else(|| format!("{id}/{}", content_id(raw.get())), Cow::into_owned);
        let text = doc.text("content").unwrap_or_default();
        let mut resource = Record::new(Kind::Resource, key(format!("doc/{doc_id}")), text);
        resource.origin_id = doc.non_blank_text("uuid").map(Cow::into_owned);
        resource.title =
            doc.non_blank_text("filename").or_else(|| doc.non_blank_text("file_name")).map(Cow::into_owned);
        resource.record_type = Some("project_doc".into());
        resource.times =
            Times { created: doc.timestamp("created_at"), updated: doc.timestamp("updated_at"), ..Times::default() };
        resource.source = Source { method: Some("project_doc".into()), ..member_source.clone() };
        resource.origin = place.origin(&pointer);
        resource.links.push(member_of());
        resource.verbatim = Some(Verbatim::json(raw.get()));
        if let Some(media_type) = resource.title.as_deref().and_then(media_type_by_name) {
            resource.fields.insert("media_type".into(), media_type.into());
        }
        records.push(resource);
    }
    out.units.push(Unit { records });
    Ok(out)
}

fn dropped_entry(place: String, reason: &str) -> Dropped {
    Dropped { place, outcome: DroppedAs::Failed, reason: reason.into(), kind: Some(Kind::Resource) }
}
