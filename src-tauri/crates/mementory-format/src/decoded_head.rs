//! The decoded start of a file in a catalog, which most formats examine.
use crate::{Catalog, FormatError, Member};
use mementory_json::{Keys, keys_of};
use std::io::Read;
use std::sync::Arc;

/// The start of a JSON file. It is kept in memory, because many formats examine it.
#[derive(Clone)]
pub struct JsonHead {
    /// The first [`JsonHead::BYTES`] decoded bytes.
    pub bytes: Arc<[u8]>,
    /// The keys in these bytes.
    pub keys: Arc<Keys>,
}

impl JsonHead {
    /// Number of decoded bytes.
    pub const BYTES: usize = 64 << 10;

    /// The start of a member of the catalog. None if the member cannot be read, or does not begin like JSON.
    pub fn of(catalog: &Catalog, member: &Member) -> Option<Self> {
        match start_of(catalog, member).ok()? {
            Start::Json(head) => Some(head),
            Start::NotJson(_) => None,
        }
    }

    /// True if the file is a list without elements. Vendors write one for an account without conversations.
    pub fn is_empty_list(&self) -> bool {
        let inside = self.bytes.trim_ascii().strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
        inside.is_some_and(|inside| inside.trim_ascii().is_empty())
    }
}

enum Start {
    Json(JsonHead),
    /// The file does not begin like JSON. Contains the start of the file only if this call read it. The catalog does
    /// not cache the starts of such files, because there may be many.
    NotJson(Option<Arc<[u8]>>),
}

/// The first `count` bytes of a member of the catalog, or fewer if it is shorter, decoded as in
/// [`mementory_json::decoded_head`].
pub fn decoded_head(catalog: &Catalog, member: &Member, count: usize) -> Result<Arc<[u8]>, FormatError> {
    if count == JsonHead::BYTES {
        match start_of(catalog, member)? {
            Start::Json(JsonHead { bytes, .. }) | Start::NotJson(Some(bytes)) => return Ok(bytes),
            Start::NotJson(None) => {}
        }
    }
    read_head(catalog, member, count)
}

fn start_of(catalog: &Catalog, member: &Member) -> Result<Start, FormatError> {
    let mut other = None;
    let json = catalog.derived(member, || {
        let bytes = read_head(catalog, member, JsonHead::BYTES)?;
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(first, Some(b'{' | b'[' | b'"')) {
            other = Some(bytes);
            return Ok((None, 0));
        }
        // The keys are kept in their own right: they are small, so that those of thousands of files are kept when there
        // is no room for more starts, and finding them again takes longer than reading the start.
        let keys = catalog.derived(member, || {
            let keys = keys_of(&bytes);
            let memory_bytes = keys.memory_bytes();
            Ok((Arc::new(keys), memory_bytes))
        })?;
        let memory_bytes = bytes.len();
        Ok((Some(JsonHead { bytes, keys }), memory_bytes))
    })?;
    Ok(json.map_or(Start::NotJson(other), Start::Json))
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
        let is_empty_list = |text: &str| {
            let bytes: Arc<[u8]> = Arc::from(text.as_bytes());
            let keys = Arc::new(keys_of(&bytes));
            JsonHead { bytes, keys }.is_empty_list()
        };
        for text in ["[]", " []\n", "[\n]", "[ \t\r\n ]"] {
            assert!(is_empty_list(text), "{text:?}");
        }
        for text in ["", "[", "]", "{}", "[[]]", "[{}]", "[]]", "[1]", "\"[]\""] {
            assert!(!is_empty_list(text), "{text:?}");
        }
    }
}
