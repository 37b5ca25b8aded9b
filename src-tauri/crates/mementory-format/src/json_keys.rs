//! The keys at the start of a JSON file in a catalog.
use crate::{Catalog, FormatError, JsonHead, Member};
use mementory_json::Keys;
use std::sync::Arc;

/// The keys at the start of a member of the catalog. None if the member does not look like JSON.
pub fn json_keys(catalog: &Catalog, member: &Member) -> Result<Option<Arc<Keys>>, FormatError> {
    if let Some(head) = JsonHead::of(catalog, member).filter(|head| head.first != b'"') {
        return Ok(Some(head.keys));
    }
    if JsonHead::is_ruled_out(catalog, member)? {
        return Ok(None);
    }
    catalog.derived(member, || {
        let io = |e| FormatError::io(&member.place, e);
        let keys = catalog.read(member, |reader| mementory_json::keys(reader).map_err(io))?.map(Arc::new);
        let bytes = keys.as_ref().map_or(0, |keys| keys.memory_bytes());
        Ok((keys, bytes))
    })
}
