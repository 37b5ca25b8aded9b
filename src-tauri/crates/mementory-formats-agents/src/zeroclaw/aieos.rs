//! AIEOS identities (spec §2.3, §3.2.6): converts a JSON document to readable text, and changes the name in it.
use mementory_json::Tree;

/// The name, and a readable text with one line for each field that describes the agent's behaviour.
pub(crate) fn name_and_description(doc: &Tree) -> (Option<String>, String) {
    let value_at = |path: &[&str]| path.iter().try_fold(doc, |t, key| t.get(key));
    let text = |path: &[&str]| value_at(path).and_then(Tree::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
    let name = [&["identity", "names", "first"][..], &["identity", "names", "primary"], &["names", "first"], &["name"]];
    let name = name.into_iter().find_map(text);
    let mut lines = Vec::new();
    let mut add_line = |label: &str, value: Option<String>| lines.extend(value.map(|v| format!("{label}: {v}")));
    add_line("Core drive", text(&["motivations", "core_drive"]));
    add_line("Goals", joined_list(value_at(&["motivations", "goals"])));
    for (label, path) in [
        ("Neural matrix", &["psychology", "neural_matrix"][..]),
        ("OCEAN", &["psychology", "traits", "ocean"]),
        ("Style", &["linguistics", "text_style"]),
    ] {
        add_line(label, joined_pairs(value_at(path)));
    }
    add_line("Catchphrases", joined_list(value_at(&["linguistics", "idiolect", "catchphrases"])));
    add_line("Avoided words", joined_list(value_at(&["linguistics", "idiolect", "avoided_words"])));
    add_line("Skills", joined_list(value_at(&["capabilities", "skills"])));
    (name, lines.join("\n"))
}

fn joined_list(tree: Option<&Tree>) -> Option<String> {
    match tree {
        Some(Tree::Array(items)) => {
            let name =
                |item: &Tree| item.as_str().or_else(|| item.get("name").and_then(Tree::as_str)).map(str::to_owned);
            Some(items.iter().filter_map(name).collect::<Vec<_>>().join("; ")).filter(|t| !t.is_empty())
        }
        Some(Tree::Object(groups)) => {
            let all: Vec<String> = groups.iter().filter_map(|(_, g)| joined_list(Some(g))).collect();
            Some(all.join("; ")).filter(|t| !t.is_empty())
        }
        _ => None,
    }
}

fn joined_pairs(tree: Option<&Tree>) -> Option<String> {
    let Some(Tree::Object(members)) = tree else { return None };
    let value = |v: &Tree| match v {
        Tree::Number(n) => Some(n.clone()),
        Tree::Text(t) => Some(t.clone()),
        Tree::Bool(b) => Some(b.to_string()),
        _ => None,
    };
    let all: Vec<String> =
        members.iter().filter_map(|(k, v)| Some(format!("{} {}", k.replace('_', " "), value(v)?))).collect();
    Some(all.join(", ")).filter(|t| !t.is_empty())
}

/// The document with a new name, otherwise unchanged.
pub(super) fn with_name(verbatim: &str, name: &str) -> Option<String> {
    let mut doc = Tree::parse(verbatim, 512).ok()?;
    let mut identity = doc.get("identity").cloned().unwrap_or_else(|| Tree::Object(vec![]));
    let mut names = identity.get("names").cloned().unwrap_or_else(|| Tree::Object(vec![]));
    names.set("first", Tree::Text(name.to_owned()));
    identity.set("names", names);
    doc.set("identity", identity);
    let mut out = String::new();
    doc.write(&mut out);
    Some(out)
}
