//! The manifest of an export in parts. It names one-time download links, which are as good as credentials: they are
//! neither followed nor kept.
use mementory_format::{Catalog, Member};
use mementory_json::Tree;
use mementory_model::Limits;

/// A manifest is small; a larger one is not read.
const BYTES: u64 = 16 << 20;
const DEPTH: u32 = 32;
/// Stands where a link was.
pub(super) const NOT_KEPT: &str = "[not kept]";

fn tree(bytes: &[u8]) -> Option<Tree> {
    let text = std::str::from_utf8(bytes).ok()?;
    Tree::parse(text.trim_start_matches('\u{feff}').trim(), DEPTH).ok()
}

/// File names that a manifest lists; none when it cannot be read.
pub(super) fn file_names(catalog: &Catalog, member: &Member) -> Vec<String> {
    let Some(tree) = catalog.bytes(member, BYTES.min(Limits::default().side_file_bytes)).ok().and_then(|b| tree(&b))
    else {
        return vec![];
    };
    let Some(Tree::Array(files)) = tree.get("data_files") else { return vec![] };
    files.iter().filter_map(|f| f.get("filename")?.as_str().map(str::to_owned)).collect()
}

/// The manifest without its links; None when it cannot be read, and then it must not be kept either.
pub(super) fn without_links(bytes: &[u8]) -> Option<String> {
    let mut tree = tree(bytes)?;
    let mut pending = vec![&mut tree];
    while let Some(value) = pending.pop() {
        match value {
            Tree::Array(items) => pending.extend(items),
            Tree::Object(members) => {
                for (name, value) in members {
                    let name = name.to_ascii_lowercase();
                    if name.ends_with("url") || name.ends_with("link") || name.ends_with("token") {
                        *value = Tree::Text(NOT_KEPT.into());
                    } else {
                        pending.push(value);
                    }
                }
            }
            // A link may also stand in a free text.
            Tree::Text(text) if text.contains("://") => *text = NOT_KEPT.into(),
            _ => {}
        }
    }
    let mut out = String::new();
    tree.write(&mut out);
    Some(out)
}
