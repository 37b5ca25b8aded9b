//! The keys at the start of a JSON file in a catalog.
use crate::{Catalog, FormatError, Member};
use mementory_json::Keys;

/// The keys at the start of a member of the catalog. None if the member does not look like JSON.
pub fn json_keys(catalog: &Catalog, member: &Member) -> Result<Option<Keys>, FormatError> {
    catalog.read(member, |reader| mementory_json::keys(reader).map_err(|e| FormatError::io(&member.place, e)))
}
