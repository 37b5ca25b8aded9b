//! Detects chats in common shapes. The confidence is low, so that every format that knows a file better wins.
use super::shape::shape;
use mementory_format::{Catalog, Claim, Part, Role};
use mementory_formats_shared::json_head::{head_text, is_in_truncated_archive};

/// Number of bytes of a file that detection reads.
pub(super) const HEAD_BYTES: usize = 64 << 10;

/// One claim for each file. If the user selected this format (`is_selected`), also for files in a truncated archive.
pub(super) fn claims(catalog: &Catalog, is_selected: bool) -> Vec<Claim> {
    let mut out = Vec::new();
    for member in catalog.members() {
        let Some(head) = head_text(catalog, member, HEAD_BYTES) else { continue };
        let Some(shape) = shape(&head) else { continue };
        if !is_selected && is_in_truncated_archive(catalog, member) {
            continue;
        }
        out.push(Claim {
            version: Some(shape.as_str().into()),
            confidence: 0.4,
            reason: "Messages with a speaker and a text, in a shape that many programs share".into(),
            parts: vec![Part { member: member.id, role: Role::Conversations }],
            missing_parts: vec![],
        });
    }
    out
}
