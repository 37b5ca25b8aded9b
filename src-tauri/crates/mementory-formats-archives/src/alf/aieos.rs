//! Converts an AIEOS document to the structured fields of an identity (spec §3.2.6). Members without a matching field
//! go into `aieos_extensions`.
use mementory_json::Tree;

fn value_at<'t>(doc: &'t Tree, path: &[&str]) -> Option<&'t Tree> {
    path.iter().try_fold(doc, |tree, key| tree.get(key))
}

fn text_at(doc: &Tree, path: &[&str]) -> Option<Tree> {
    value_at(doc, path).and_then(Tree::as_str).filter(|t| !t.is_empty()).map(|t| Tree::Text(t.to_owned()))
}

fn text_list(value: Option<&Tree>) -> Vec<Tree> {
    match value {
        Some(Tree::Text(t)) if !t.is_empty() => vec![Tree::Text(t.clone())],
        Some(Tree::Array(items)) => items.iter().filter(|i| i.as_str().is_some()).cloned().collect(),
        _ => vec![],
    }
}

fn is_between_0_and_1(value: &Tree) -> bool {
    value.as_f64().is_some_and(|v| (0.0..=1.0).contains(&v))
}

/// The members of the object `value` for which `is_valid` returns true. None if there are none, or if `value` is not an
/// object.
fn matching_members(value: Option<&Tree>, is_valid: impl Fn(&Tree) -> bool) -> Option<Tree> {
    let Some(Tree::Object(members)) = value else { return None };
    let valid_members: Vec<_> = members.iter().filter(|(_, v)| is_valid(v)).cloned().collect();
    (!valid_members.is_empty()).then_some(Tree::Object(valid_members))
}

fn object(members: Vec<(&str, Option<Tree>)>) -> Option<Tree> {
    let members: Vec<_> = members.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?))).collect();
    (!members.is_empty()).then_some(Tree::Object(members))
}

/// Builds the member `structured` of an identity from an AIEOS document.
pub(super) fn structured(doc: &Tree) -> Tree {
    let names = ["first", "primary"].into_iter().find_map(|key| text_at(doc, &["identity", "names", key]));
    let names =
        names.or_else(|| text_at(doc, &["names", "first"])).or_else(|| text_at(doc, &["name"])).and_then(|primary| {
            let last_name = text_at(doc, &["identity", "names", "last"]);
            let full_name = match (&primary, &last_name) {
                (Tree::Text(first), Some(Tree::Text(last_name))) => Some(Tree::Text(format!("{first} {last_name}"))),
                _ => text_at(doc, &["identity", "names", "full"]),
            };
            let nickname = text_at(doc, &["identity", "names", "nickname"]);
            object(vec![("primary", Some(primary)), ("nickname", nickname), ("full", full_name)])
        });
    let scores = matching_members(value_at(doc, &["psychology", "traits", "ocean"]), |v| v.as_f64().is_some());
    let traits = scores
        .and_then(|scores| object(vec![("framework", Some(Tree::Text("OCEAN".into()))), ("scores", Some(scores))]));
    let psychology = object(vec![
        ("neural_matrix", matching_members(value_at(doc, &["psychology", "neural_matrix"]), is_between_0_and_1)),
        ("personality_traits", traits),
    ]);
    let style =
        |key: &str| value_at(doc, &["linguistics", "text_style", key]).filter(|v| is_between_0_and_1(v)).cloned();
    let slang = value_at(doc, &["linguistics", "text_style", "slang_usage"]).filter(|v| matches!(v, Tree::Bool(_)));
    let idiolect = matching_members(
        value_at(doc, &["linguistics", "idiolect"]),
        |v| matches!(v, Tree::Array(items) if items.iter().all(|i| i.as_str().is_some())),
    );
    let linguistics = object(vec![
        ("formality_level", style("formality_level")),
        ("verbosity", style("verbosity")),
        ("humor_level", style("humor_level")),
        ("slang_usage", slang.cloned()),
        ("preferred_language", text_at(doc, &["linguistics", "preferred_language"])),
        ("idiolect", idiolect),
    ]);
    let mut goals = text_list(value_at(doc, &["motivations", "core_drive"]));
    goals.extend(match value_at(doc, &["motivations", "goals"]) {
        Some(Tree::Object(groups)) => groups.iter().flat_map(|(_, g)| text_list(Some(g))).collect(),
        other => text_list(other),
    });
    let capabilities: Vec<Tree> = ["skills", "tools"]
        .into_iter()
        .filter_map(|key| match value_at(doc, &["capabilities", key]) {
            Some(Tree::Array(items)) => Some(items.iter().filter_map(capability)),
            _ => None,
        })
        .flatten()
        .collect();
    let list = |items: Vec<Tree>| (!items.is_empty()).then_some(Tree::Array(items));
    let structured_members = vec![
        ("names", names),
        ("goals", list(goals)),
        ("psychology", psychology),
        ("linguistics", linguistics),
        ("capabilities", list(capabilities)),
        ("aieos_extensions", Some(extensions(doc))),
    ];
    object(structured_members).unwrap_or_else(|| Tree::Object(vec![]))
}

fn capability(item: &Tree) -> Option<Tree> {
    if let Some(name) = item.as_str() {
        return object(vec![("name", Some(Tree::Text(name.to_owned())))]);
    }
    let name = text_at(item, &["name"])?;
    let priority = item.get("priority").filter(|v| v.as_f64().is_some_and(|n| n >= 1.0 && n.fract() == 0.0)).cloned();
    object(vec![("name", Some(name)), ("description", text_at(item, &["description"])), ("priority", priority)])
}

/// The members of the document for which there is no structured field.
fn extensions(doc: &Tree) -> Tree {
    let mut remainder = doc.clone();
    for path in [
        &["identity", "names"][..],
        &["psychology", "neural_matrix"],
        &["psychology", "traits", "ocean"],
        &["linguistics", "text_style"],
        &["linguistics", "idiolect"],
        &["motivations", "core_drive"],
        &["motivations", "goals"],
        &["capabilities", "skills"],
        &["capabilities", "tools"],
    ] {
        remove_path(&mut remainder, path);
    }
    remainder
}

/// Removes the member at a path, and each of its parent objects that is empty afterwards.
fn remove_path(tree: &mut Tree, path: &[&str]) {
    let [first, below @ ..] = path else { return };
    if below.is_empty() {
        return tree.remove(first);
    }
    let Some(mut inner) = tree.get(first).cloned() else { return };
    remove_path(&mut inner, below);
    match inner {
        Tree::Object(members) if members.is_empty() => tree.remove(first),
        inner => tree.set(first, inner),
    }
}
