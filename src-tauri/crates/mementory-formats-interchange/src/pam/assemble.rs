//! Assembles a document from its envelope and the texts of its records.
use super::compose::compact;
use mementory_json::{Tree, write_string};
use std::collections::BTreeMap;

/// Sort key of an element. Elements of the imported list come first, in their original order.
pub(super) type ElementOrder = (u8, u64, u64);

/// Memory in bytes that is usually enough for the members of a document outside its records.
const OUTLINE_BYTES: usize = 16 << 10;

/// Assembles a document from its envelope and the texts of its records, one record per line.
pub(super) fn assemble(outline: &Tree, rows: &BTreeMap<&str, &Vec<(ElementOrder, String)>>) -> String {
    let Tree::Object(members) = outline else { return String::new() };
    // All records are in memory already, so their text is copied only once.
    let row_bytes: usize = rows.values().flat_map(|list| list.iter()).map(|(_, text)| text.len() + 2).sum();
    let mut out = String::with_capacity(row_bytes + OUTLINE_BYTES);
    out.push('{');
    for (i, (key, value)) in members.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_string(key, &mut out);
        out.push(':');
        let list = rows.get(key.as_str()).filter(|list| !list.is_empty() || !matches!(value, Tree::Object(_)));
        match list {
            Some(list) if list.is_empty() => out.push_str("[]"),
            Some(list) => {
                out.push_str("[\n");
                for (n, (_, text)) in list.iter().enumerate() {
                    out.push_str(if n > 0 { ",\n" } else { "" });
                    out.push_str(text);
                }
                out.push_str("\n]");
            }
            None => out.push_str(&compact(value)),
        }
    }
    out.push_str("}\n");
    out
}
