//! Detects a page that this format wrote, by the mark in its head.
use super::{FORMAT_MARK, VERSION};
use mementory_format::{Catalog, Claim, Part, Role};

/// Number of bytes of a file that detection reads.
const HEAD_BYTES: usize = 1 << 10;

/// One claim for each page.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let is_page = |head: &[u8]| memchr::memmem::find(head, FORMAT_MARK.as_bytes()).is_some();
    let pages = catalog.members().iter().filter(|m| catalog.head(m, HEAD_BYTES).is_ok_and(|head| is_page(&head)));
    pages
        .map(|member| Claim {
            version: Some(VERSION.into()),
            confidence: 1.0,
            reason: "A page of records that Mementory wrote".into(),
            parts: vec![Part { member: member.id, role: Role::Records }],
            missing_parts: vec![],
        })
        .collect()
}
