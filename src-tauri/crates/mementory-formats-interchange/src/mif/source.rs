//! The bytes of a document in any encoding. YAML is converted to JSON when a document is opened, so all other code
//! handles only JSON and JSON lines. Invalid JSON is not repaired, but elements that are only nearly JSON can be
//! replaced with `null`.
pub(super) use super::encoding::Encoding;
use super::{
    detect, envelope,
    json_faults::{fault_error, json_fault},
    lenient_elements::{FaultyElements, blank_faulty_elements, blank_non_finite, find_non_finite},
};
use mementory_format::{Catalog, FormatError, Member, Passphrase};
use mementory_json::{Tree, TreeError, yaml};
use mementory_model::{Bounds, Limits};
use std::io::{BufReader, Read};

/// Bytes that can be read repeatedly from the start.
pub(super) struct Source<'a> {
    catalog: Option<(&'a Catalog, &'a Member)>,
    /// The bytes without a byte order mark, if they are in memory: either the file is small, or its bytes were
    /// decrypted, converted or replaced. Only one mark is removed, because a second one is a character of the text.
    memory: Option<Vec<u8>>,
    /// Encoding of the bytes that [`Source::read`] returns.
    pub encoding: Encoding,
    /// Encoding of the file.
    pub original_encoding: Encoding,
    /// True if the file is in UTF-16. Other programs need not read JSON in UTF-16 (RFC 8259 §8.1).
    pub is_utf16: bool,
    /// True if the file is in UTF-16, and some of its bytes are no characters.
    pub has_invalid_utf16: bool,
    /// Path of the file, for messages.
    pub place: String,
    /// Elements that are only nearly JSON, and were replaced with `null`.
    pub faulty: FaultyElements,
    /// JSON pointers of keys that occur more than once in a mapping of a YAML document.
    pub repeated: Vec<String>,
}

/// Ratio of the memory limit for a YAML document, which is parsed as a whole, to the limit for a JSON value.
const YAML_MEMORY_FACTOR: u64 = 3;

const BYTE_ORDER_MARK: &[u8; 3] = b"\xef\xbb\xbf";

/// Size in bytes of the largest file that is kept in memory. A document is read several times, which is much faster
/// from memory.
const MAX_IN_MEMORY_BYTES: u64 = 64 << 20;

impl<'a> Source<'a> {
    /// Opens a file with a known encoding.
    pub fn open(
        catalog: &'a Catalog,
        member: &'a Member,
        encoding: Encoding,
        limits: &Limits,
    ) -> Result<Self, FormatError> {
        let mut source = Self {
            catalog: Some((catalog, member)),
            memory: None,
            encoding,
            original_encoding: encoding,
            is_utf16: false,
            has_invalid_utf16: false,
            place: member.place.clone(),
            faulty: FaultyElements::new(),
            repeated: vec![],
        };
        let head = catalog.head(member, 4)?;
        source.is_utf16 = matches!(head.as_slice(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [_, 0, ..] | [0, ..]);
        if source.is_utf16 {
            let bytes = source.read_all(limits)?;
            let (text, has_faults) = utf16_text(&bytes);
            source.has_invalid_utf16 = has_faults;
            source.set_bytes(text.into_bytes());
        } else if encoding != Encoding::Yaml && member.size <= MAX_IN_MEMORY_BYTES {
            // An error is ignored here, because it is reported when the document is read.
            source.memory = source.read_all(limits).ok();
        }
        source.convert_yaml(limits)?;
        Ok(source)
    }

    /// A source for bytes in memory, such as a decrypted document.
    pub fn of_bytes(bytes: Vec<u8>, encoding: Encoding, place: &str, limits: &Limits) -> Result<Self, FormatError> {
        let without_mark = bytes.strip_prefix(BYTE_ORDER_MARK).map(<[u8]>::to_vec);
        let mut source = Self {
            catalog: None,
            memory: Some(without_mark.unwrap_or(bytes)),
            encoding,
            original_encoding: encoding,
            is_utf16: false,
            has_invalid_utf16: false,
            place: place.to_owned(),
            faulty: FaultyElements::new(),
            repeated: vec![],
        };
        source.convert_yaml(limits)?;
        Ok(source)
    }

    /// A source for the document inside an envelope.
    ///
    /// # Errors
    /// `passphrase_needed`, `passphrase_wrong`, or a fault of the envelope. `malformed` if the decrypted content is not
    /// a document.
    pub fn of_envelope(
        encryption: &Tree,
        passphrase: Option<&dyn Passphrase>,
        place: &str,
        limits: &Limits,
    ) -> Result<Self, FormatError> {
        let decrypted = envelope::decrypt(encryption, passphrase, place)?;
        let encoding = detect::encoding_of_bytes(&decrypted, "")
            .filter(|f| f.interop_name().is_none())
            .ok_or_else(|| FormatError::invalid("malformed", place, "the envelope contains no document"))?;
        Self::of_bytes(decrypted, encoding, place, limits)
    }

    /// The file from which the bytes are read. None if they were converted or replaced in memory.
    pub fn file(&self) -> Option<(&'a Catalog, &'a Member)> {
        self.catalog
    }

    /// The bytes without a byte order mark, if they are in memory.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.memory.as_deref()
    }

    fn set_bytes(&mut self, bytes: Vec<u8>) {
        self.catalog = None;
        self.memory = Some(bytes);
    }

    fn convert_yaml(&mut self, limits: &Limits) -> Result<(), FormatError> {
        if self.encoding == Encoding::Yaml {
            let bytes = self.read_all(limits)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| FormatError::invalid("invalid_utf8", &self.place, "the document is not UTF-8"))?;
            // YAML may use more memory, because it is not parsed element by element.
            let bounds = Bounds { depth: limits.json_depth, bytes: limits.tree_bytes * YAML_MEMORY_FACTOR };
            let tree = yaml::parse(text.trim_start_matches('\u{feff}'), bounds).map_err(|e| match e.code {
                yaml::TOO_LARGE_CODE => {
                    FormatError::Limit { limit: "tree_bytes", place: self.place.clone(), figure: bounds.bytes }
                }
                code => FormatError::invalid(code, &self.place, e.message),
            })?;
            self.repeated = yaml::repeated_keys(&tree);
            let mut tree = super::wire::restore_text(tree);
            yaml::to_json_notation(&mut tree);
            self.faulty = blank_non_finite(&mut tree);
            if let Some(pointer) = find_non_finite(&tree) {
                return Err(fault_error("nan", format!("{}#{pointer}", self.place)));
            }
            let mut out = String::new();
            tree.write(&mut out);
            self.set_bytes(out.into_bytes());
            self.encoding = Encoding::Json;
        }
        Ok(())
    }

    /// Fault code if the document is nearly JSON.
    pub fn json_fault(&self, limits: &Limits) -> Option<&'static str> {
        if self.encoding == Encoding::Jsonl { None } else { json_fault(&self.read_all(limits).ok()?) }
    }

    /// Replaces the elements that are only nearly JSON with `null`, so that the other elements can be read. Returns
    /// false if there are none, if the document is not JSON, or if elements were already replaced.
    pub fn blank_faulty_elements(&mut self, limits: &Limits) -> Result<bool, FormatError> {
        if self.encoding != Encoding::Json || !self.faulty.is_empty() {
            return Ok(false);
        }
        let Some((bytes, faulty)) = blank_faulty_elements(&self.read_all(limits)?) else { return Ok(false) };
        self.set_bytes(bytes);
        self.faulty = faulty;
        Ok(true)
    }

    /// Fault code of the element at `pointer`, whose text `json` could not be parsed.
    pub fn fault_of(&self, pointer: &str, json: &str, error: &TreeError) -> &'static str {
        match error {
            TreeError::Size(_) => "too_large",
            _ => self.faulty.get(pointer).copied().or_else(|| json_fault(json.as_bytes())).unwrap_or("malformed"),
        }
    }

    /// Reads all bytes. Fails if the document has more than `Limits::element_bytes`.
    pub fn read_all(&self, limits: &Limits) -> Result<Vec<u8>, FormatError> {
        let bound = limits.element_bytes;
        self.read(|r| {
            let mut out = Vec::new();
            r.take(bound + 1).read_to_end(&mut out).map_err(|e| FormatError::io(&self.place, e))?;
            if out.len() as u64 > bound {
                return Err(FormatError::Limit {
                    limit: "element_bytes",
                    place: self.place.clone(),
                    figure: out.len() as u64,
                });
            }
            Ok(out)
        })
    }

    /// Calls `f` with a reader of the bytes, from the start and without a byte order mark.
    pub fn read<T>(&self, f: impl FnOnce(&mut dyn Read) -> Result<T, FormatError>) -> Result<T, FormatError> {
        match (self.bytes(), self.catalog) {
            (None, Some((catalog, member))) => catalog.read(member, |r| {
                let mut reader = BufReader::with_capacity(64 << 10, r);
                let mut head = [0; 3];
                let mut filled = 0;
                while filled < 3 {
                    let n = reader.read(&mut head[filled..]).map_err(|e| FormatError::io(&self.place, e))?;
                    if n == 0 {
                        break;
                    }
                    filled += n;
                }
                let start: &[u8] = if head[..filled] == *BYTE_ORDER_MARK { &[] } else { &head[..filled] };
                f(&mut start.chain(reader))
            }),
            (bytes, _) => f(&mut bytes.unwrap_or_default()),
        }
    }
}

/// Decodes UTF-16, with or without a byte order mark. The second value is true if the bytes are not valid UTF-16. Half of
/// a surrogate pair becomes U+FFFD. An odd last byte is left out, because behind a document even U+FFFD is a fault.
fn utf16_text(bytes: &[u8]) -> (String, bool) {
    let is_odd = !bytes.len().is_multiple_of(2);
    let bytes = &bytes[..bytes.len() - usize::from(is_odd)];
    let encoding = match bytes {
        [0xfe, 0xff, ..] | [0, ..] => encoding_rs::UTF_16BE,
        _ => encoding_rs::UTF_16LE,
    };
    let (text, _, has_faults) = encoding.decode(bytes);
    (text.into_owned(), has_faults || is_odd)
}
