//! The bytes of a document, whichever encoding they are in. YAML becomes JSON here, once; so does near-JSON that can
//! be mended. Everything behind this sees JSON or JSON lines, as often as it wants.
use super::yaml;
use crate::{Catalog, FormatError, Member, json};
use keepsake_model::Limits;
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
    /// What had to be mended.
    pub mended: Vec<&'static str>,
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
            mended: vec![],
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
        let mut source =
            Self { catalog: None, memory: bytes, form, written: form, place: place.to_owned(), mended: vec![] };
        source.settle(limits)?;
        Ok(source)
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
            let tree = yaml::parse(text.trim_start_matches('\u{feff}'), limits.json_depth)
                .map_err(|e| FormatError::invalid(e.code, &self.place, e.message))?;
            let mut out = String::new();
            super::wire::settle(tree).write(&mut out);
            self.hold(out.into_bytes());
            self.form = Form::Json;
        }
        Ok(())
    }

    /// Mends near-JSON (NaN, raw control characters, lone surrogates). False when that does not help.
    pub fn mend(&mut self, limits: &Limits) -> Result<bool, FormatError> {
        if self.form == Form::Jsonl || !self.mended.is_empty() {
            return Ok(false);
        }
        let bytes = self.whole(limits)?;
        let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        match json::repair(start) {
            Some((text, codes)) if !codes.is_empty() => {
                self.hold(text.into_bytes());
                self.mended = codes;
                Ok(true)
            }
            _ => Ok(false),
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
