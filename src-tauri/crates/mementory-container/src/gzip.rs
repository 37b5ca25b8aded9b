//! Replaces gzip files (`.gz`, `.tgz`) with their content. The content is written to scratch space, because it is read
//! several times and, if it is a tar archive, at any position.
use super::{
    catalog::Catalog,
    member::{Location, Member},
    nested,
    resources::{MAX_IN_MEMORY_BYTES, Resources},
    unpack::{Unpacked, unpack},
};
use crate::FormatError;
use flate2::bufread::MultiGzDecoder;
use mementory_model::{Issue, Limits};
use std::io::BufReader;

/// First bytes of a gzip file whose method is deflate.
const GZIP_HEAD: [u8; 3] = [0x1f, 0x8b, 8];

/// Unpacks the member if it is a gzip file that is not a file of the user. A damaged file is unpacked up to the damage,
/// and the damage is added as an issue.
///
/// # Errors
/// I/O; `Limit` with `expanded_bytes` for a file that expands more than any export does.
pub(super) fn open(
    catalog: &mut Catalog,
    member: &mut Member,
    limits: &Limits,
    resources: Resources,
) -> Result<(), FormatError> {
    if member.depth > limits.archive_depth || !is_gzip(catalog, member)? {
        return Ok(());
    }
    let packed = member.size;
    catalog.expansion.count_archive(member, packed);
    let budget = catalog.expansion.bytes_left(member, limits);
    let max_bytes = if resources.spool.is_some() { budget } else { budget.min(MAX_IN_MEMORY_BYTES) };
    let place = member.place.clone();
    let unpacked = catalog.read(member, |bytes| {
        let mut decoder = MultiGzDecoder::new(BufReader::with_capacity(128 << 10, bytes));
        unpack(&mut decoder, max_bytes, resources.spool, &place)
    })?;
    let Unpacked { source, damage } = match unpacked {
        Some(unpacked) => unpacked,
        None if max_bytes < budget => {
            let message = format!("compressed, with more than {max_bytes} bytes, not opened");
            catalog.issues.push(Issue::new("limit", &place, message));
            return Ok(());
        }
        None => return Err(FormatError::Limit { limit: "expanded_bytes", place, figure: max_bytes.saturating_add(1) }),
    };
    catalog.expansion.count_unpacked(member, packed, source.len(), limits)?;
    if let Some(damage) = damage {
        let message = format!("damaged or cut off, opened up to the damage: {damage}");
        catalog.issues.push(Issue::new("damaged_entry", &place, message));
    }
    member.name = plain_name(&member.name);
    member.size = source.len();
    member.location = Location::Unpacked(source);
    Ok(())
}

/// True for a gzip file that is to be unpacked: one that was opened by its path, or one with the name of a gzip
/// file in a folder or in an archive of an export. Files of the user are not unpacked.
fn is_gzip(catalog: &Catalog, member: &Member) -> Result<bool, FormatError> {
    let has_name = has_gzip_name(&member.name);
    match &member.location {
        Location::File(_) if member.place == member.name || has_name && !nested::is_user_file(&member.name) => {}
        Location::Zip { archive, .. } if has_name && !nested::is_user_file(&member.name) => {
            if catalog.archives.get(*archive).is_none_or(|outer| outer.contains_user_files || outer.has_conversations) {
                return Ok(false);
            }
        }
        Location::Unpacked(_) if has_name => {}
        _ => return Ok(false),
    }
    // A file that cannot be read is reported when its bytes are read next.
    Ok(catalog.head(member, GZIP_HEAD.len()).is_ok_and(|head| head == GZIP_HEAD))
}

fn has_gzip_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".gz") || name.ends_with(".tgz")
}

/// The name of the content: without `.gz`, and with `.tar` instead of `.tgz`.
fn plain_name(name: &str) -> String {
    let lower_case = name.to_ascii_lowercase();
    let without = |ending: &str| name.get(..name.len() - ending.len()).unwrap_or(name);
    if lower_case.ends_with(".tgz") {
        format!("{}.tar", without(".tgz"))
    } else if lower_case.ends_with(".gz") {
        without(".gz").to_owned()
    } else {
        name.to_owned()
    }
}
