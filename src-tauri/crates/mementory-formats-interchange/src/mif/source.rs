//! The bytes of a document, whichever encoding they are in. YAML becomes JSON here, once. Everything behind this sees
//! JSON or JSON lines, as often as it wants. Nothing is mended: what is not JSON is not this format.
use super::{
    detect, envelope,
    spare::{Spared, not_finite, spare, spare_tree},
    yaml,
};
use mementory_format::{Catalog, FormatError, Member, Passphrase};
use mementory_json::{self as json, Tree, TreeError};
use mementory_model::{Bounds, Limits};
use std::io::{BufReader, Read};

/// How a document is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One JSON object, the canonical form.
    Json,
    /// One YAML document.
    Yaml,
    /// One JSON object on each line.
    Jsonl,
    /// An array of objects with `memory`, as mem0 has them.
    Mem0,
    /// An array of objects with `content`.
    Generic,
    /// Text blocks under `---` headers.
    Markdown,
}

impl Form {
    /// Stable name of a form that is no document of the format itself.
    pub fn adapter(self) -> Option<&'static str> {
        match self {
            Form::Mem0 => Some("mem0"),
            Form::Generic => Some("generic"),
            Form::Markdown => Some("markdown"),
            Form::Json | Form::Yaml | Form::Jsonl => None,
        }
    }
}

/// Bytes that can be read from their start, again and again.
pub(super) struct Source<'a> {
    catalog: Option<(&'a Catalog, &'a Member)>,
    memory: Vec<u8>,
    /// Form of what [`Source::read`] gives.
    pub form: Form,
    /// Form that the file has.
    pub written: Form,
    /// For messages.
    pub place: String,
    /// Elements that are nearly JSON, where `null` stands in what [`Source::read`] gives.
    pub spared: Spared,
    /// Keys that stand twice in one mapping of a document in YAML, as JSON pointers.
    pub repeated: Vec<String>,
}

/// So many times what one JSON value may take in memory may a document in YAML.
const YAML: u64 = 3;

/// What makes a text no JSON, or none that Unicode can hold, though it has the looks: `nan`, `lone_surrogate`,
/// `control_character`, `invalid_escape`, `invalid_utf8`. None for JSON, and for what is no JSON at all.
pub(super) fn fault(text: &[u8]) -> Option<&'static str> {
    let (_, codes) = json::repair(text)?;
    codes.first().copied()
}

/// Refuses a document for such a fault.
pub(super) fn refused(code: &'static str, place: impl Into<String>) -> FormatError {
    let message = match code {
        "nan" => "not JSON: NaN and infinities are no numbers",
        "lone_surrogate" => "not Unicode: half of a surrogate pair",
        "control_character" => "not JSON: a control character in a string",
        "invalid_escape" => "not JSON: an escape that there is not",
        _ => "not UTF-8",
    };
    FormatError::invalid(code, place, message)
}

impl<'a> Source<'a> {
    /// A member whose form is known.
    pub fn open(catalog: &'a Catalog, member: &'a Member, form: Form, limits: &Limits) -> Result<Self, FormatError> {
        let mut source = Self {
            catalog: Some((catalog, member)),
            memory: vec![],
            form,
            written: form,
            place: member.place.clone(),
            spared: Spared::new(),
            repeated: vec![],
        };
        let head = catalog.head(member, 4)?;
        let utf16 = matches!(head.as_slice(), [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [_, 0, ..] | [0, ..]);
        if utf16 {
            let bytes = source.whole(limits)?;
            source.hold(utf16_text(&bytes).into_bytes());
        }
        source.settle(limits)?;
        Ok(source)
    }

    /// Bytes that were made elsewhere (decrypted).
    pub fn of_bytes(bytes: Vec<u8>, form: Form, place: &str, limits: &Limits) -> Result<Self, FormatError> {
        let mut source = Self {
            catalog: None,
            memory: bytes,
            form,
            written: form,
            place: place.to_owned(),
            spared: Spared::new(),
            repeated: vec![],
        };
        source.settle(limits)?;
        Ok(source)
    }

    /// The document inside an envelope.
    ///
    /// # Errors
    /// `passphrase_needed`, `passphrase_wrong`, flaws of the envelope; `malformed` when no document is inside.
    pub fn of_envelope(
        encryption: &Tree,
        passphrase: Option<&dyn Passphrase>,
        place: &str,
        limits: &Limits,
    ) -> Result<Self, FormatError> {
        let plain = envelope::open(encryption, passphrase, place)?;
        let form = detect::form_of_bytes(&plain, "")
            .filter(|f| f.adapter().is_none())
            .ok_or_else(|| FormatError::invalid("malformed", place, "no document is inside the envelope"))?;
        Self::of_bytes(plain, form, place, limits)
    }

    fn hold(&mut self, bytes: Vec<u8>) {
        self.catalog = None;
        self.memory = bytes;
    }

    fn settle(&mut self, limits: &Limits) -> Result<(), FormatError> {
        if self.form == Form::Yaml {
            let bytes = self.whole(limits)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| FormatError::invalid("invalid_utf8", &self.place, "the document is not UTF-8"))?;
            // A document in YAML is taken apart as a whole, where one in JSON is so element by element.
            let bounds = Bounds { depth: limits.json_depth, bytes: limits.tree_bytes * YAML };
            let tree = yaml::parse(text.trim_start_matches('\u{feff}'), bounds).map_err(|e| match e.code {
                yaml::TOO_LARGE => {
                    FormatError::Limit { limit: "tree_bytes", place: self.place.clone(), figure: bounds.bytes }
                }
                code => FormatError::invalid(code, &self.place, e.message),
            })?;
            self.repeated = yaml::repeated(&tree);
            let mut tree = super::wire::settle(tree);
            self.spared = spare_tree(&mut tree);
            if let Some(pointer) = not_finite(&tree) {
                return Err(refused("nan", format!("{}#{pointer}", self.place)));
            }
            let mut out = String::new();
            tree.write(&mut out);
            self.hold(out.into_bytes());
            self.form = Form::Json;
        }
        Ok(())
    }

    /// What keeps a document from being JSON, if it is nearly JSON.
    pub fn fault(&self, limits: &Limits) -> Option<&'static str> {
        if self.form == Form::Jsonl { None } else { fault(&self.whole(limits).ok()?) }
    }

    /// Takes the elements out that are nearly JSON, so that the others can be read. False = there is none.
    pub fn spare(&mut self, limits: &Limits) -> Result<bool, FormatError> {
        if self.form != Form::Json || !self.spared.is_empty() {
            return Ok(false);
        }
        let Some((bytes, spared)) = spare(&self.whole(limits)?) else { return Ok(false) };
        self.hold(bytes);
        self.spared = spared;
        Ok(true)
    }

    /// Why an element holds nothing that can be read: its code. `json` is what stands at `pointer`.
    pub fn why(&self, pointer: &str, json: &str, error: &TreeError) -> &'static str {
        match error {
            TreeError::Size(_) => "too_large",
            _ => self.spared.get(pointer).copied().or_else(|| fault(json.as_bytes())).unwrap_or("malformed"),
        }
    }

    /// All bytes, bounded.
    pub fn whole(&self, limits: &Limits) -> Result<Vec<u8>, FormatError> {
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

    /// The bytes from their start, without a byte order mark.
    pub fn read<T>(&self, f: impl FnOnce(&mut dyn Read) -> Result<T, FormatError>) -> Result<T, FormatError> {
        match self.catalog {
            Some((catalog, member)) => catalog.read(member, |r| {
                let mut reader = BufReader::with_capacity(64 << 10, r);
                let mut head = [0; 3];
                let mut got = 0;
                while got < 3 {
                    let n = reader.read(&mut head[got..]).map_err(|e| FormatError::io(&self.place, e))?;
                    if n == 0 {
                        break;
                    }
                    got += n;
                }
                let start: &[u8] = if head[..got] == *b"\xef\xbb\xbf" { &[] } else { &head[..got] };
                f(&mut start.chain(reader))
            }),
            None => {
                let bytes = self.memory.as_slice();
                f(&mut bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
            }
        }
    }
}

fn utf16_text(bytes: &[u8]) -> String {
    let encoding = match bytes {
        [0xfe, 0xff, ..] | [0, ..] => encoding_rs::UTF_16BE,
        _ => encoding_rs::UTF_16LE,
    };
    encoding.decode(bytes).0.into_owned()
}
