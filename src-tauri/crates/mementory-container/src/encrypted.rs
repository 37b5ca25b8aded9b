//! Replaces files that are encrypted as a whole (age) with their content. This applies only to files that were opened
//! by their path, not to files in a folder. Opening an encrypted file takes a second and 256 MiB of memory, so a folder
//! of such files could block the program for hours.
use super::{
    catalog::{Catalog, PASSPHRASE_NEEDED},
    member::{Location, Member},
    passphrase::{AGE_HEAD, is_age_head},
    resources::{MAX_IN_MEMORY_BYTES, Resources},
    source::Source,
    unpack::{Unpacked, unpack},
};
use crate::FormatError;
use mementory_model::{Issue, Limits, is_damage};
use std::io::Read;

/// Decrypts the member if it is an encrypted file. Without a passphrase, adds the issue `passphrase_needed` instead.
pub(super) fn open(
    catalog: &mut Catalog,
    member: &mut Member,
    limits: &Limits,
    resources: Resources,
) -> Result<(), FormatError> {
    let Location::File(path) = &member.location else { return Ok(()) };
    let file = Source::file(path.clone(), member.size);
    // A file that cannot be read is not an error here, because the error is reported when the file is read later.
    if member.place != member.name || !file.bytes(0, AGE_HEAD).is_ok_and(|head| is_age_head(&head)) {
        return Ok(());
    }
    let place = member.place.clone();
    let Some(passphrase) = resources.passphrase else {
        let message = "encrypted with age: give its passphrase to open it";
        catalog.issues.push(Issue::new(PASSPHRASE_NEEDED, place, message));
        return Ok(());
    };
    let ciphertext = file.window(0).map_err(|e| FormatError::io(&place, e))?;
    let decrypted = passphrase.open_file(Box::new(ciphertext)).map_err(|error| match error {
        FormatError::Invalid { code, message, .. } => FormatError::Invalid { code, place: place.clone(), message },
        FormatError::Io { source, .. } => FormatError::io(&place, source),
        other => other,
    })?;
    let resources = Resources { spool: resources.spool.or(passphrase.spool()), ..resources };
    let source = decrypt_all(decrypted, limits, resources, &place)?;
    member.size = source.len();
    member.location = Location::Unpacked(source);
    catalog.decrypted.push(member.root);
    Ok(())
}

/// Decrypts the whole file before any of it is used, because only its last chunk proves that it is complete.
fn decrypt_all(
    mut plaintext: Box<dyn Read + '_>,
    limits: &Limits,
    resources: Resources,
    place: &str,
) -> Result<Source, FormatError> {
    let max_bytes =
        if resources.spool.is_some() { limits.total_bytes } else { limits.total_bytes.min(MAX_IN_MEMORY_BYTES) };
    let Some(Unpacked { source, damage }) = unpack(&mut plaintext, max_bytes, resources.spool, place)? else {
        return Err(FormatError::Limit { limit: "total_bytes", place: place.into(), figure: max_bytes });
    };
    match damage {
        None => Ok(source),
        Some(e) if is_damage(&e) => {
            let message = "encrypted, and damaged or cut off: it does not open to its end";
            Err(FormatError::invalid("damaged", place, message))
        }
        Some(e) => Err(FormatError::io(place, e)),
    }
}
