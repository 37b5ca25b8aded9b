//! The start of a text file, in the encodings in which people save notes.
use encoding_rs::{Encoding, UTF_8};
use mementory_format::{Catalog, Member};
use std::borrow::Cow;

/// Number of bytes at the start of a file in which the first tag of a web page begins.
const TAG_BYTES: usize = 64;

/// True for a file that begins with a tag, as every web page does.
pub fn may_be_page(catalog: &Catalog, member: &Member) -> bool {
    text_head(catalog, member, TAG_BYTES).is_some_and(|head| head.trim_start().starts_with('<'))
}

/// A whole page as text. For UTF-8, a byte order mark is kept, so that each position in the text equals the position in
/// the file. Invalid bytes become replacement characters.
pub fn page_text(bytes: &[u8]) -> Cow<'_, str> {
    match Encoding::for_bom(bytes) {
        Some((encoding, mark)) if encoding != UTF_8 => {
            encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default()).0
        }
        _ => String::from_utf8_lossy(bytes),
    }
}

/// The text in the first `count` bytes of a file, in UTF-8 or in UTF-16 with a byte order mark, which is left out.
/// Invalid bytes become replacement characters. None if the file cannot be read.
pub fn text_head(catalog: &Catalog, member: &Member, count: usize) -> Option<String> {
    let head = catalog.head(member, count).ok()?;
    let (encoding, mark) = Encoding::for_bom(&head).unwrap_or((UTF_8, 0));
    Some(encoding.decode_without_bom_handling(head.get(mark..)?).0.into_owned())
}
