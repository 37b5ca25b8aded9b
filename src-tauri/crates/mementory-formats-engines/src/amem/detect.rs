//! Detects exports by their first member, which is the version, and by the names of members in the second member.
use mementory_format::{Catalog, Claim, Part, Role};

/// Number of bytes at the beginning of a file that are searched for the names of members.
const HEAD_BYTES: usize = 16 << 10;

/// Returns one claim for each export.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let is_export = |head: &[u8]| {
        let has = |name: &str| memchr::memmem::find(head, name.as_bytes()).is_some();
        // The bytes of a map with 4 to 23 members. The key of the first member is 1 (the version of the export), and
        // the key of the second is 2.
        matches!(head, [0xa4..=0xb7, 0x01, _, 0x02, ..]) && has("salt") && has("ka_pub") && has("scopes")
    };
    let exports = catalog.members().iter().filter(|member| {
        let is_cbor = catalog.head(member, 4).is_ok_and(|head| matches!(head.as_slice(), [0xa4..=0xb7, 0x01, ..]));
        is_cbor && catalog.head(member, HEAD_BYTES).is_ok_and(|head| is_export(&head))
    });
    let claim = |member: &mementory_format::Member| Claim {
        version: Some("1".into()),
        confidence: 1.0,
        reason: "memories of ApertoMemory, encrypted for their owner".into(),
        parts: vec![Part { member: member.id, role: Role::Records }],
        missing_parts: vec![],
    };
    exports.map(claim).collect()
}
