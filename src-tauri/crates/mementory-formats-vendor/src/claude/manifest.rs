//! Reads the manifest of an export in parts. The manifest contains one-time download links, which are credentials, so
//! the links are neither opened nor stored.
use mementory_format::{Catalog, Member};
use mementory_json::Tree;
use mementory_model::Limits;

/// Largest size in bytes of a manifest whose file names are read.
const MAX_MANIFEST_BYTES: u64 = 16 << 20;
const MAX_MANIFEST_DEPTH: u32 = 32;
/// Text that replaces a link in the stored manifest.
pub(super) const REMOVED_LINK: &str = "[not kept]";

fn parse_manifest(bytes: &[u8]) -> Option<Tree> {
    let text = std::str::from_utf8(bytes).ok()?;
    Tree::parse(text.trim_start_matches('\u{feff}').trim(), MAX_MANIFEST_DEPTH).ok()
}

/// Returns the file names that a manifest lists. The list is empty if the manifest cannot be read.
pub(super) fn file_names(catalog: &Catalog, member: &Member) -> Vec<String> {
    let Some(tree) = catalog
        .bytes(member, MAX_MANIFEST_BYTES.min(Limits::default().side_file_bytes))
        .ok()
        .and_then(|b| parse_manifest(&b))
    else {
        return vec![];
    };
    let Some(Tree::Array(files)) = tree.get("data_files") else { return vec![] };
    files.iter().filter_map(|f| f.get("filename")?.as_str().map(str::to_owned)).collect()
}

/// Returns the JSON of a manifest without its links. None if the manifest cannot be parsed and so must not be stored.
pub(super) fn without_links(bytes: &[u8]) -> Option<String> {
    let mut tree = parse_manifest(bytes)?;
    let mut pending = vec![&mut tree];
    while let Some(value) = pending.pop() {
        match value {
            Tree::Array(items) => pending.extend(items),
            Tree::Object(members) => {
                for (name, value) in members {
                    let name = name.to_ascii_lowercase();
                    if name.ends_with("url") || name.ends_with("link") || name.ends_with("token") {
                        *value = Tree::Text(REMOVED_LINK.into());
                    } else {
                        pending.push(value);
                    }
                }
            }
            // A member with any other name may contain a link too.
            Tree::Text(text) if text.contains("://") => *text = REMOVED_LINK.into(),
            _ => {}
        }
    }
    let mut out = String::new();
    tree.write(&mut out);
    Some(out)
}
