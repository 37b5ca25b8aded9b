//! Files that are encrypted as a whole (age): what is in one takes its place. Only files that were given themselves:
//! each costs a second and 256 MiB to open, so a folder of them would be a way to keep us busy.
use super::{
    catalog::{CLOSED, Catalog, Location, Member},
    expand::{IN_MEMORY, Means},
    source::Source,
};
use crate::{
    FormatError,
    passphrase::{AGE_HEAD, is_age_head},
};
use mementory_model::{Issue, Limits};
use std::io::{ErrorKind, Read, Write};

/// Opens the member if it is such a file and there is a passphrase; without one that is an issue.
pub(super) fn open(
    catalog: &mut Catalog,
    member: &mut Member,
    limits: &Limits,
    means: Means,
) -> Result<(), FormatError> {
    let Location::File(path) = &member.location else { return Ok(()) };
    let file = Source::file(path.clone(), member.size);
    // What cannot be read says so where it is read.
    if member.place != member.name || !file.bytes(0, AGE_HEAD).is_ok_and(|head| is_age_head(&head)) {
        return Ok(());
    }
    let place = member.place.clone();
    let Some(passphrase) = means.passphrase else {
        let message = "encrypted with age: give its passphrase to open it";
        catalog.issues.push(Issue::new(CLOSED, place, message));
        return Ok(());
    };
    let raw = file.window(0).map_err(|e| FormatError::io(&place, e))?;
    let plain = passphrase.open_file(Box::new(raw)).map_err(|error| match error {
        FormatError::Invalid { code, message, .. } => FormatError::Invalid { code, place: place.clone(), message },
        FormatError::Io { source, .. } => FormatError::io(&place, source),
        other => other,
    })?;
    let means = Means { spool: means.spool.or(passphrase.spool()), ..means };
    let source = hold(plain, limits, means, &place)?;
    member.size = source.len();
    member.location = Location::Opened(source);
    Ok(())
}

/// All of it: nothing of a file counts before its last byte was found whole.
fn hold(mut plain: Box<dyn Read + '_>, limits: &Limits, means: Means, place: &str) -> Result<Source, FormatError> {
    let io = |e| FormatError::io(place, e);
    let most = if means.spool.is_some() { limits.total_bytes } else { limits.total_bytes.min(IN_MEMORY) };
    let (mut memory, mut file) = (Vec::new(), means.spool.map(|s| s.create()).transpose().map_err(io)?);
    let (mut buf, mut len) = (vec![0; 256 << 10], 0u64);
    loop {
        let n = match plain.read(&mut buf) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) if matches!(e.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => {
                let message = "encrypted, and damaged or cut off: it does not open to its end";
                return Err(FormatError::invalid("damaged", place, message));
            }
            Err(e) => return Err(io(e)),
        };
        len += n as u64;
        if len > most {
            return Err(FormatError::Limit { limit: "total_bytes", place: place.into(), figure: most });
        }
        match &mut file {
            Some(file) => file.write_all(&buf[..n]).map_err(io)?,
            None => memory.extend_from_slice(&buf[..n]),
        }
    }
    Ok(match file {
        Some(file) => Source::spooled(file, len),
        None => Source::memory(memory),
    })
}
