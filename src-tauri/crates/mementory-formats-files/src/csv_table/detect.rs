//! Detects the table by the name of its first column.
use super::{ID_COLUMN, VERSION};
use mementory_format::{Catalog, Claim, Part, Role};

/// Number of bytes of a file that detection reads.
const HEAD_BYTES: usize = 512;

/// One claim for each table.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let is_table = |head: &[u8]| {
        let (encoding, mark) = encoding_rs::Encoding::for_bom(head).unwrap_or((encoding_rs::UTF_8, 0));
        let text = encoding.decode_without_bom_handling(head.get(mark..).unwrap_or_default()).0;
        let text = text.strip_prefix("sep=").and_then(|rest| rest.split_once('\n')).map_or(&*text, |(_, rest)| rest);
        let rest = text.trim_start_matches('"').strip_prefix(ID_COLUMN);
        rest.is_some_and(|rest| {
            rest.trim_start_matches('"').starts_with([',', ';', '\t', '|']) && rest.contains("kind")
        })
    };
    let tables =
        catalog.members().iter().filter(|member| catalog.head(member, HEAD_BYTES).is_ok_and(|head| is_table(&head)));
    tables
        .map(|member| Claim {
            version: Some(VERSION.into()),
            confidence: 1.0,
            reason: "A table of records that Mementory wrote".into(),
            parts: vec![Part { member: member.id, role: Role::Records }],
            missing_parts: vec![],
        })
        .collect()
}
