//! The decoded start of a file in a catalog, which most formats examine.
use crate::{Catalog, FormatError, Member};
use mementory_json::{Keys, keys_of};
use std::io::Read;
use std::sync::Arc;

/// The start of a JSON file, which many formats examine.
#[derive(Clone)]
pub struct JsonHead<'c> {
    /// The first byte that is not white space: `{`, `[` or `"`.
    pub first: u8,
    /// The keys in the first [`JsonHead::BYTES`] decoded bytes.
    pub keys: Arc<Keys>,
    catalog: &'c Catalog,
    member: &'c Member,
}

impl<'c> JsonHead<'c> {
    /// Number of decoded bytes at the start of a file that are examined.
    pub const BYTES: usize = 64 << 10;

    /// The start of a member of the catalog. None if the member cannot be read, or does not begin like JSON.
    pub fn of(catalog: &'c Catalog, member: &'c Member) -> Option<Self> {
        match start_of(catalog, member).ok()? {
            Start::Json(JsonStart { first, keys }) => Some(Self { first, keys, catalog, member }),
            Start::Unclear | Start::Other(_) => None,
        }
    }

    /// True if the start of a member of the catalog has a first character with which no JSON document begins.
    ///
    /// # Errors
    /// Fails if the member cannot be read.
    pub(crate) fn is_ruled_out(catalog: &Catalog, member: &Member) -> Result<bool, FormatError> {
        Ok(matches!(start_of(catalog, member)?, Start::Other(_)))
    }

    /// Returns the first [`JsonHead::BYTES`] decoded bytes. A format examines the keys first, because the bytes are
    /// read again if the catalog had no room for them. Empty if the file can no longer be read.
    pub fn bytes(&self) -> Arc<[u8]> {
        json_bytes(self.catalog, self.member).unwrap_or_default()
    }

    /// True if the file is a list without elements. Vendors write such a list for an account without conversations.
    pub fn is_empty_list(&self) -> bool {
        self.first == b'[' && self.keys.is_empty() && is_empty_list(&self.bytes())
    }
}

fn is_empty_list(bytes: &[u8]) -> bool {
    let between_brackets = bytes.trim_ascii().strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    between_brackets.is_some_and(|between_brackets| between_brackets.trim_ascii().is_empty())
}

/// The first byte and the keys of a JSON file, as the catalog caches them. They need so little memory that the cache
/// has room for those of thousands of files.
#[derive(Clone)]
struct JsonStart {
    first: u8,
    keys: Arc<Keys>,
}

/// The decoded bytes of a JSON file, as the catalog caches them.
#[derive(Clone)]
struct JsonBytes(Arc<[u8]>);

enum Start {
    Json(JsonStart),
    /// The start has only white space, or begins with a byte that may be a part of white space or of a byte order mark.
    Unclear,
    /// The file does not begin like JSON. Contains the start of the file only if this call read it. The catalog does
    /// not cache the starts of such files, because there may be many.
    Other(Option<Arc<[u8]>>),
}

/// What the catalog caches of the start of a file.
#[derive(Clone)]
enum CachedStart {
    Json(JsonStart),
    Unclear,
    Other,
}

/// The first `count` bytes of a member of the catalog, or fewer if it is shorter, decoded as in
/// [`mementory_json::decoded_head`].
pub fn decoded_head(catalog: &Catalog, member: &Member, count: usize) -> Result<Arc<[u8]>, FormatError> {
    if count == JsonHead::BYTES {
        match start_of(catalog, member)? {
            Start::Json(_) => return json_bytes(catalog, member),
            Start::Other(Some(bytes)) => return Ok(bytes),
            Start::Unclear | Start::Other(None) => {}
        }
    }
    read_head(catalog, member, count)
}

fn start_of(catalog: &Catalog, member: &Member) -> Result<Start, FormatError> {
    let mut other = None;
    let start = catalog.derived(member, || {
        let bytes = read_head(catalog, member, JsonHead::BYTES)?;
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace()).copied();
        let Some(first) = first.filter(|byte| byte.is_ascii_graphic()) else {
            return Ok((CachedStart::Unclear, 0));
        };
        if !matches!(first, b'{' | b'[' | b'"') {
            other = Some(bytes);
            return Ok((CachedStart::Other, 0));
        }
        let keys = keys_of(&bytes);
        let memory_bytes = keys.memory_bytes();
        let byte_count = bytes.len();
        catalog.derived(member, || Ok((JsonBytes(bytes), byte_count)))?;
        Ok((CachedStart::Json(JsonStart { first, keys: Arc::new(keys) }), memory_bytes))
    })?;
    Ok(match start {
        CachedStart::Json(json) => Start::Json(json),
        CachedStart::Unclear => Start::Unclear,
        CachedStart::Other => Start::Other(other),
    })
}

fn json_bytes(catalog: &Catalog, member: &Member) -> Result<Arc<[u8]>, FormatError> {
    let JsonBytes(bytes) = catalog.derived(member, || {
        let bytes = read_head(catalog, member, JsonHead::BYTES)?;
        let byte_count = bytes.len();
        Ok((JsonBytes(bytes), byte_count))
    })?;
    Ok(bytes)
}

fn read_head(catalog: &Catalog, member: &Member, count: usize) -> Result<Arc<[u8]>, FormatError> {
    let read = |bytes: &mut dyn Read| {
        mementory_json::decoded_head(bytes, count).map_err(|e| FormatError::io(&member.place, e))
    };
    catalog.read(member, read).map(Arc::from)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use mementory_model::Limits;

    #[test]
    fn only_files_that_begin_like_json_have_a_json_head() {
        let folder = std::env::temp_dir().join(format!("mementory-decoded-head-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file.txt");
        for (text, key) in [
            (" {\"a\": 1}", Some("a")),
            ("[{\"b\": 1}]", Some("b")),
            ("\" {\\\"c\\\": 1}\"", Some("c")),
            ("plain {\"a\": 1}", None),
        ] {
            std::fs::write(&path, text).unwrap();
            let catalog = Catalog::open(std::slice::from_ref(&path), &Limits::default(), None).unwrap();
            let member = &catalog.members()[0];
            // The first call reads the file, the second one uses the cache.
            for _ in 0..2 {
                let found = JsonHead::of(&catalog, member);
                assert_eq!(found.is_some(), key.is_some(), "{text}");
                assert!(found.zip(key).is_none_or(|(head, key)| head.keys.has(key)), "{text}");
                for count in [JsonHead::BYTES, 4] {
                    let expected = mementory_json::decoded_head(&mut text.as_bytes(), count).unwrap();
                    assert_eq!(*decoded_head(&catalog, member, count).unwrap(), *expected, "{text}");
                }
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_list_with_nothing_but_white_space_in_it_is_empty() {
        for text in ["[]", " []\n", "[\n]", "[ \t\r\n ]"] {
            assert!(is_empty_list(text.as_bytes()), "{text:?}");
        }
        for text in ["", "[", "]", "{}", "[[]]", "[{}]", "[]]", "[1]", "\"[]\""] {
            assert!(!is_empty_list(text.as_bytes()), "{text:?}");
        }
    }
}
