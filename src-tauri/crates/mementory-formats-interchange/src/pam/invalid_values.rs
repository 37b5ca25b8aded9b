//! Values that the schema forbids, such as a confidence of 1.7. The vault keeps such a value in the record's verbatim,
//! and an import reports it. An export removes it from its member. In memories, messages and conversations, it is
//! moved, under its JSON pointer, to the one member that has no schema. Relations and index entries have no such
//! member, so the value is left out. A required member gets the closest value that the schema allows.
use super::{
    conformance::path_in_bundle,
    hash::content_hash,
    increment::STORE_FILE,
    schema::{
        CONVERSATION_RULE, EMBEDDING_RULE, INDEX_RULE, MEMORY_RULE, MEMORY_TYPES, MESSAGE_RULE, RELATION_RULE,
        STORE_RULE,
    },
    schema_check::{Fault, check, is_error},
    to_record::{content_text, id_text, nested_text, text},
};
use mementory_json::{
    Tree,
    schema::{Rule, make_valid},
};
use mementory_model::Timestamp;
use std::collections::BTreeSet;

/// Member of `metadata` or `raw_metadata` with the invalid values.
const INVALID_VALUES_MEMBER: &str = "mementory_forbidden";

/// Placeholder for the content of a memory, which must not be empty.
pub(super) const EMPTY_CONTENT: &str = "(empty)";

/// What the specification requires of one kind of object, and the member to which its invalid values are moved.
pub(super) struct ObjectSpec {
    rule: &'static Rule,
    /// The member without a schema, to which invalid values are moved.
    overflow_member: Option<&'static str>,
    /// Pointers to the members that the object must have to be valid.
    required: &'static [&'static str],
    /// Pointers to optional objects that are invalid if one of their members is missing.
    optional_objects: &'static [&'static str],
}

impl ObjectSpec {
    /// True if the object has a member without a schema.
    pub fn has_overflow_member(&self) -> bool {
        self.overflow_member.is_some()
    }

    /// True if the format defines a member with this name.
    fn defines_member(&self, name: &str) -> bool {
        self.rule.fields().is_some_and(|fields| fields.iter().any(|field| field.name == name))
    }

    /// True if the object must have the member.
    pub fn requires(&self, pointer: &str) -> bool {
        self.required.contains(&pointer)
    }
}

/// A memory (§4).
pub(super) static MEMORY: ObjectSpec = ObjectSpec {
    rule: &MEMORY_RULE,
    overflow_member: Some("metadata"),
    required: &[
        "/id",
        "/type",
        "/content",
        "/content_hash",
        "/temporal",
        "/temporal/created_at",
        "/provenance",
        "/provenance/platform",
    ],
    optional_objects: &[],
};
/// A relation (§13).
pub(super) static RELATION: ObjectSpec = ObjectSpec {
    rule: &RELATION_RULE,
    overflow_member: None,
    required: &["/id", "/from", "/to", "/type", "/created_at"],
    optional_objects: &[],
};
/// An entry of the index (§14).
pub(super) static INDEX_ENTRY: ObjectSpec = ObjectSpec {
    rule: &INDEX_RULE,
    overflow_member: None,
    required: &["/id", "/platform", "/temporal", "/temporal/created_at"],
    optional_objects: &["/storage"],
};
/// A conversation without its messages (§25).
pub(super) static CONVERSATION: ObjectSpec = ObjectSpec {
    rule: &CONVERSATION_RULE,
    overflow_member: Some("raw_metadata"),
    required: &[
        "/schema",
        "/schema_version",
        "/id",
        "/provider",
        "/provider/name",
        "/temporal",
        "/temporal/created_at",
        "/messages",
    ],
    optional_objects: &[],
};
/// A message (§25.3).
pub(super) static MESSAGE: ObjectSpec = ObjectSpec {
    rule: &MESSAGE_RULE,
    overflow_member: Some("raw_metadata"),
    required: &["/id", "/role", "/content/type", "/created_at"],
    optional_objects: &[],
};

/// Pointers to members with invalid values, and to missing required members. A pointer has one part (a member of the
/// object) or two (a member of a nested object). If `keeps_unknown` is true, unknown members and values are allowed,
/// because a later minor version may define them.
fn invalid_members(tree: &Tree, spec: &ObjectSpec, faults: &[Fault], keeps_unknown: bool) -> BTreeSet<String> {
    let is_invalid = |fault: &&Fault| match fault.code {
        "duplicate_key" | "more" => false,
        _ => !(fault.is_warning || keeps_unknown && fault.may_be_newer),
    };
    let pointers = faults.iter().filter(is_invalid).filter_map(|fault| {
        let mut parts = fault.pointer.split('/').skip(1);
        let top = parts.next()?;
        let is_optional_object =
            spec.optional_objects.contains(&format!("/{top}").as_str()) && fault.code != "unknown_field";
        match (tree.get(top), parts.next()) {
            (Some(Tree::Object(_)), Some(name)) if !is_optional_object => Some(format!("/{top}/{name}")),
            _ => Some(format!("/{top}")),
        }
    });
    let mut out: BTreeSet<String> = pointers.collect();
    if spec.overflow_member == Some("metadata") {
        out.extend(invalid_memory_members(tree).into_iter().map(str::to_owned));
    }
    if !spec.optional_objects.is_empty() && (has_unsafe_storage(tree) || names_other_document(tree)) {
        out.insert("/storage".into());
    }
    out
}

/// True if `storage` of an entry of the index names a file of the bundle that is never a conversation.
pub(super) fn names_other_document(tree: &Tree) -> bool {
    let is_file = nested_text(tree, "storage", "type") == Some("file");
    let path = nested_text(tree, "storage", "ref").filter(|_| is_file).and_then(path_in_bundle);
    path.is_some_and(|path| [STORE_FILE, "embeddings.json"].contains(&path.as_str()))
}

/// True if `storage` names a file that may be outside the bundle.
fn has_unsafe_storage(tree: &Tree) -> bool {
    let is_file = nested_text(tree, "storage", "type") == Some("file");
    is_file && nested_text(tree, "storage", "ref").is_some_and(|reference| path_in_bundle(reference).is_none())
}

/// Pointers to members of a memory that violate a rule outside the schema.
fn invalid_memory_members(tree: &Tree) -> Vec<&'static str> {
    let time = |name: &str| nested_text(tree, "temporal", name).and_then(Timestamp::parse);
    let is_reversed = |from: &str, to: &str| time(from).zip(time(to)).is_some_and(|(from, to)| from > to);
    // Only a memory of type `custom` may have a `custom_type`.
    let is_known = text(tree, "type").is_some_and(|t| t != "custom" && MEMORY_TYPES.contains(&t));
    let rows = [
        ("/custom_type", is_known && tree.get("custom_type").is_some_and(|custom| *custom != Tree::Null)),
        (
            "/content_hash",
            text(tree, "content").zip(text(tree, "content_hash")).is_some_and(|(c, stated)| content_hash(c) != stated),
        ),
        ("/temporal/updated_at", is_reversed("created_at", "updated_at")),
        ("/temporal/valid_until", is_reversed("valid_from", "valid_until")),
    ];
    rows.into_iter().filter(|(_, is_invalid)| *is_invalid).map(|(pointer, _)| pointer).collect()
}

/// Converts ids of an embedding that are numbers to texts. Returns true if an id was converted.
pub(super) fn rewrite_embedding_ids(embedding: &mut Tree) -> bool {
    let mut is_rewritten = false;
    for pointer in ["/id", "/memory_id"] {
        if let Some(text) = value_at(embedding, pointer).and_then(|value| rewritten_value(pointer, value)) {
            set_at(embedding, pointer, Some(text));
            is_rewritten = true;
        }
    }
    is_rewritten
}

/// True if the embedding is valid and belongs to the memory with this id.
pub(super) fn is_valid_embedding(embedding: &Tree, memory: &str) -> bool {
    let dimensions = embedding.get("dimensions").and_then(Tree::as_f64);
    let has_length = match embedding.get("vector") {
        Some(Tree::Array(vector)) => dimensions == Some(vector.len() as f64),
        _ => true,
    };
    has_length
        && !has_unsafe_storage(embedding)
        && text(embedding, "memory_id") == Some(memory)
        && check(&EMBEDDING_RULE, embedding).iter().all(|fault| fault.is_warning)
}

/// Replaces the invalid members of a store's envelope with the members of `new`, or removes them. Returns the names
/// of the changed members.
pub(super) fn repair_store(store: &mut Tree, new: &Tree, lists: &[&str], keeps_unknown: bool) -> BTreeSet<String> {
    let mut repaired = store.clone();
    repaired.remove_repeated_keys();
    let has_repeated_keys = repaired != *store;
    // An envelope has a checksum or a number in place of each list.
    let is_list = |value: Option<&Tree>| matches!(value, Some(Tree::Text(_) | Tree::Number(_) | Tree::Array(_)));
    let (valid_lists, invalid_lists): (Vec<&str>, Vec<&str>) =
        lists.iter().copied().filter(|list| store.get(list).is_some()).partition(|list| is_list(store.get(list)));
    invalid_lists.iter().for_each(|list| repaired.remove(list));
    valid_lists.iter().for_each(|list| repaired.set(list, Tree::Array(vec![])));
    let Some(mut names) = make_valid(&mut repaired, &STORE_RULE, new, &|violation| is_error(violation, keeps_unknown))
    else {
        *store = new.clone();
        return BTreeSet::from(["store".to_owned()]);
    };
    names.extend(invalid_lists.into_iter().map(str::to_owned));
    names.extend(has_repeated_keys.then(|| "members".to_owned()));
    let lists = valid_lists.into_iter().filter_map(|list| Some((list, store.get(list).cloned()?)));
    lists.for_each(|(list, value)| repaired.set(list, value));
    // The signature is removed if a signed member is missing or the export date is later than the signature (§18).
    let is_unsigned = repaired.get("signature").is_none_or(|signature| *signature == Tree::Null);
    let time = |value: Option<&str>| value.and_then(Timestamp::parse);
    let signed_at = time(nested_text(&repaired, "signature", "signed_at"));
    let is_early = time(text(&repaired, "export_date")).zip(signed_at).is_some_and(|(exported, at)| at < exported);
    let is_complete = ["export_id", "export_date"].iter().all(|name| text(&repaired, name).is_some())
        && repaired.get("integrity").is_some();
    if !is_unsigned && (is_early || !is_complete) {
        repaired.remove("signature");
        names.insert("signature".to_owned());
    }
    if !names.is_empty() {
        *store = repaired;
    }
    names
}

fn value_at<'t>(tree: &'t Tree, pointer: &str) -> Option<&'t Tree> {
    pointer.split('/').skip(1).try_fold(tree, |at, name| at.get(name))
}

/// Sets or removes the value at a pointer of one or two parts.
fn set_at(tree: &mut Tree, pointer: &str, value: Option<Tree>) {
    let change = |tree: &mut Tree, name: &str, value: Option<Tree>| match value {
        Some(value) => tree.set(name, value),
        None => tree.remove(name),
    };
    let mut parts = pointer.split('/').skip(1);
    match (parts.next(), parts.next()) {
        (Some(top), Some(name)) => {
            let Some(mut block) = tree.get(top).cloned() else { return };
            change(&mut block, name, value);
            tree.set(top, block);
        }
        (Some(top), None) => change(tree, top, value),
        _ => {}
    }
}

/// The members that [`move_invalid_values`] changed.
#[derive(Default)]
pub(super) struct ChangedMembers {
    /// Members whose invalid value was moved.
    pub moved: Vec<String>,
    /// Required members that were missing.
    pub added: Vec<String>,
    /// Names of members with removed values that could not be moved.
    pub removed: BTreeSet<String>,
}

/// Moves invalid values out of their members. `replacement` returns the new value of a required member, or None to
/// leave the member unchanged.
pub(super) fn move_invalid_values(
    tree: &mut Tree,
    spec: &ObjectSpec,
    keeps_unknown: bool,
    replacement: &dyn Fn(&Tree, &str) -> Option<Tree>,
) -> ChangedMembers {
    let mut changed = ChangedMembers::default();
    let faults = check(spec.rule, tree);
    if faults.iter().any(|fault| fault.code == "duplicate_key") {
        tree.remove_repeated_keys();
    }
    let mut moved: Vec<(String, Tree)> = Vec::new();
    for pointer in invalid_members(tree, spec, &faults, keeps_unknown) {
        let is_known = pointer.split('/').nth(1).is_some_and(|name| spec.defines_member(name));
        let rewritten = value_at(tree, &pointer).filter(|_| is_known);
        if let Some(value) = rewritten.and_then(|value| rewritten_value(&pointer, value)) {
            set_at(tree, &pointer, Some(value));
            changed.added.push(pointer);
            continue;
        }
        let old_value = value_at(tree, &pointer).cloned();
        let new_value = match (spec.required.contains(&pointer.as_str()), &old_value) {
            (true, _) => match replacement(tree, &pointer) {
                Some(new_value) => Some(new_value),
                None => continue,
            },
            (false, Some(content)) if pointer == "/content" && is_known => text_content(content),
            (false, _) => None,
        };
        if old_value.is_none() && new_value.is_none() {
            continue;
        }
        set_at(tree, &pointer, new_value);
        match old_value {
            Some(value) => moved.push((pointer, value)),
            None => changed.added.push(pointer),
        }
    }
    changed.moved = moved.iter().map(|(pointer, _)| pointer.clone()).collect();
    if let Some(overflow_member) = spec.overflow_member.filter(|_| !moved.is_empty()) {
        let mut data = match tree.get(overflow_member) {
            Some(data @ Tree::Object(_)) => data.clone(),
            _ => Tree::Object(vec![]),
        };
        let mut moved_values = match data.get(INVALID_VALUES_MEMBER) {
            Some(moved_values @ Tree::Object(_)) => moved_values.clone(),
            _ => Tree::Object(vec![]),
        };
        moved.into_iter().for_each(|(pointer, value)| moved_values.set(&pointer, value));
        data.set(INVALID_VALUES_MEMBER, moved_values);
        tree.set(overflow_member, data);
    }
    if !faults.is_empty() {
        let mut repaired = tree.clone();
        let names = make_valid(&mut repaired, spec.rule, &Tree::Null, &|violation| is_error(violation, keeps_unknown));
        if let Some(names) = names.filter(|names| !names.is_empty()) {
            changed.removed = names;
            *tree = repaired;
        }
    }
    changed
}

/// Pointers to ids and to references to ids.
const ID_POINTERS: [&str; 13] = [
    "/id",
    "/from",
    "/to",
    "/parent_id",
    "/memory_id",
    "/embedding_ref",
    "/provider_message_id",
    "/temporal/superseded_by",
    "/provenance/conversation_ref",
    "/provenance/message_ref",
    "/provenance/platform_user_id",
    "/provider/account_id",
    "/provider/conversation_id",
];
/// Pointers to lists of references to ids.
const ID_LIST_POINTERS: [&str; 2] = ["/children_ids", "/derived_memories"];

/// Converts a value to the form that the format requires: a number that is an id to a text, or the plain text of a
/// message to an object. None for any other value.
fn rewritten_value(pointer: &str, value: &Tree) -> Option<Tree> {
    match value {
        Tree::Number(id) if ID_POINTERS.contains(&pointer) => Some(Tree::Text(id.clone())),
        Tree::Array(ids) if ID_LIST_POINTERS.contains(&pointer) => {
            let texts: Option<Vec<Tree>> = ids.iter().map(|id| Some(Tree::Text(id_text(id)?.to_owned()))).collect();
            texts.map(Tree::Array).filter(|texts| texts != value)
        }
        Tree::Text(text) if pointer == "/content" && !text.is_empty() => text_content(value),
        _ => None,
    }
}

/// Converts the content of a message, such as a plain text, to the object that the format requires. None if `content`
/// has no text.
fn text_content(content: &Tree) -> Option<Tree> {
    let text = Some(content_text(content)).filter(|text| !text.is_empty())?;
    let member = |name: &str, value: String| (name.to_owned(), Tree::Text(value));
    Some(Tree::Object(vec![member("type", "text".into()), member("text", text)]))
}

/// True if [`EMPTY_CONTENT`] was written because the content of the memory was empty.
pub(super) fn had_empty_content(tree: &Tree) -> bool {
    let moved_values = tree.get("metadata").and_then(|data| data.get(INVALID_VALUES_MEMBER));
    moved_values.and_then(|moved_values| moved_values.get("/content")).and_then(Tree::as_str) == Some("")
        && tree.get("content").and_then(Tree::as_str) == Some(EMPTY_CONTENT)
}
