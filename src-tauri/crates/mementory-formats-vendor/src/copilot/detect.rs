//! Detects Copilot's tables by their headers. If other programs may write the same header, the authors in the rows are
//! checked too.
use super::columns::{self, Columns, Layout};
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_formats_shared::files::{extension, folder, is_junk};
use mementory_formats_shared::tables::{CsvRows, Header};
use mementory_model::Limits;
use std::{collections::BTreeMap, io::Read};

/// Number of bytes that detection reads.
const HEAD_BYTES: u64 = 64 << 10;
/// Number of rows whose author is checked.
const ROWS: usize = 20;

/// Root, archive and folder of tables that belong together.
type Group<'c> = (usize, Option<usize>, &'c str);

/// One claim for the tables of a folder or archive.
pub(super) fn claims(catalog: &Catalog, limits: &Limits, is_selected: bool) -> Vec<Claim> {
    let mut groups: BTreeMap<Group<'_>, Vec<(&Member, f64)>> = BTreeMap::new();
    for member in catalog.members() {
        if let Some(confidence) = confidence(catalog, member, limits, is_selected) {
            // Files that were selected one by one belong to one history.
            let is_loose = member.archive.is_none() && member.place == member.name;
            let group = if is_loose { (0, None, "") } else { (member.root, member.archive, folder(&member.name)) };
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
    groups.into_values().map(claim).collect()
}

fn confidence(catalog: &Catalog, member: &Member, limits: &Limits, is_selected: bool) -> Option<f64> {
    let may_be_table = matches!(extension(&member.name).as_deref(), None | Some("csv" | "tsv" | "txt"));
    if !may_be_table || member.size == 0 || is_junk(&member.name) {
        return None;
    }
    let read = |bytes: &mut dyn Read| {
        let mut head = bytes.take(HEAD_BYTES);
        let mut rows = CsvRows::new(&mut head, limits, &member.place)?;
        let Some(header) = rows.next(&member.place)?.map(Header::new) else { return Ok(None) };
        let Some(columns) = Columns::of(&header) else { return Ok(None) };
        if columns::is_microsoft_header(&header) {
            return Ok(Some(0.95));
        }
        let (mut count, mut known_count) = (0, 0);
        while count < ROWS
            && let Some(row) = rows.next(&member.place)?
        {
            count += 1;
            known_count += usize::from(columns::has_known_author(&columns, &row));
        }
        // Other programs use the same column names, so most rows must also name an author that Copilot uses.
        let is_certain = match columns.layout {
            Layout::Prompts => true,
            Layout::Messages if count == 0 => columns::is_main_header(&header),
            Layout::Messages => 2 * known_count > count,
        };
        Ok::<_, FormatError>(match (is_certain, columns::is_main_header(&header)) {
            (true, true) => Some(0.9),
            (true, false) => Some(0.8),
            (false, _) => is_selected.then_some(0.5),
        })
    };
    catalog.read(member, read).ok().flatten()
}
