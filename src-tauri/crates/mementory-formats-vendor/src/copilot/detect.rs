//! Detects Copilot's tables by their headers. Other programs may write the same headers, except those that only
//! Microsoft writes, so detection also checks the authors in the rows.
use super::{
    columns::{self, Layout},
    interactions, start,
};
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::files::{extension, folder, is_junk};
use mementory_model::Limits;
use std::collections::BTreeMap;

/// Root, archive and folder of tables that are claimed together.
type Group<'c> = (usize, Option<usize>, &'c str);

/// Returns one claim for the tables of each folder or archive, and one for its interactions.
pub(super) fn claims(catalog: &Catalog, limits: &Limits, is_selected: bool) -> Vec<Claim> {
    let mut groups: BTreeMap<Group<'_>, Vec<(&Member, f64)>> = BTreeMap::new();
    for member in catalog.members() {
        if let Some(confidence) = confidence(catalog, member, limits, is_selected) {
            // Files that were selected one by one are claimed together.
            let group = if member.is_selected_alone() {
                (0, None, "")
            } else {
                (member.root, member.archive, folder(&member.name))
            };
            groups.entry(group).or_default().push((member, confidence));
        }
    }
    let claim = |tables: Vec<(&Member, f64)>| Claim {
        version: None,
        confidence: tables.iter().map(|(_, confidence)| *confidence).fold(1.0, f64::min),
        reason: match tables.as_slice() {
            [_] => "a table of messages in Microsoft Copilot's format".into(),
            tables => format!("{} tables of messages in Microsoft Copilot's format", tables.len()),
        },
        parts: tables.iter().map(|(m, _)| Part { member: m.id, role: Role::Conversations }).collect(),
        missing_parts: vec![],
    };
    groups.into_values().map(claim).chain(interactions::claims(catalog)).collect()
}

fn confidence(catalog: &Catalog, member: &Member, limits: &Limits, is_selected: bool) -> Option<f64> {
    let may_be_table = matches!(extension(&member.name).as_deref(), None | Some("csv" | "tsv" | "txt"));
    if !may_be_table || member.size == 0 || is_junk(&member.name) {
        return None;
    }
    let table = catalog.read(member, |bytes| start::examine(bytes, limits, &member.place)).ok()??;
    if columns::is_microsoft_header(&table.header) {
        return Some(0.95);
    }
    let is_main = columns::is_main_header(&table.header);
    // Other programs use the same column names, so the author of most rows must be one that Copilot uses.
    let is_certain = match table.columns.layout {
        Layout::Prompts => true,
        Layout::Messages if table.rows == 0 => is_main,
        Layout::Messages => 2 * table.known_authors > table.rows,
    };
    match (is_certain, table.has_known_names) {
        (true, true) => Some(if is_main { 0.9 } else { 0.8 }),
        (true, false) => Some(0.6),
        (false, _) => is_selected.then_some(0.5),
    }
}
