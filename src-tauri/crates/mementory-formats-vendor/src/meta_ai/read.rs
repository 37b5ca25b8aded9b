//! Reads each claimed file according to its kind.
use super::{SCOPE, blocks, detect, page, thread, whatsapp};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Role, Sink};
use mementory_formats_shared::reader::FileReader;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    FileReader::new(SCOPE, catalog, context, sink).each_file(detected, |reader, member, role| match role {
        Role::Conversations if detect::has_blocks(catalog, member) => blocks::read(reader, member),
        Role::Conversations if detect::is_page(catalog, member) => page::read(reader, member),
        Role::Conversations if detect::is_whatsapp(catalog, member) => whatsapp::read(reader, member),
        Role::Conversations => thread::read(reader, member),
        _ => reader.pass_through(member, "", "sidecar"),
    })
}
