//! Which keys does a member of a catalog begin with?
use crate::{Catalog, FormatError, Member};
use mementory_json::Keys;

/// The keys at the start of a member; None when it does not look like JSON.
pub fn json_keys(catalog: &Catalog, member: &Member) -> Result<Option<Keys>, FormatError> {
    catalog.read(member, |reader| mementory_json::keys(reader).map_err(|e| FormatError::io(&member.place, e)))
}
