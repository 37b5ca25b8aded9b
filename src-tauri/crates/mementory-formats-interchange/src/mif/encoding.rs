//! The encodings of a document.

/// Encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// One JSON object, the usual encoding.
    Json,
    /// One YAML document.
    Yaml,
    /// One JSON object on each line.
    Jsonl,
    /// An array of objects with a member `memory`, like mem0's.
    Mem0,
    /// An array of objects with a member `content`, the generic encoding.
    Generic,
    /// Text blocks below `---` headers.
    Markdown,
}

impl Encoding {
    /// Stable name of an interop encoding; None for the encodings of the format itself.
    pub fn interop_name(self) -> Option<&'static str> {
        match self {
            Encoding::Mem0 => Some("mem0"),
            Encoding::Generic => Some("generic"),
            Encoding::Markdown => Some("markdown"),
            Encoding::Json | Encoding::Yaml | Encoding::Jsonl => None,
        }
    }
}

/// Header key that marks a text with escaped `---` lines. Only Mementory sets it.
pub(super) const ESCAPED_KEY: &str = "escaped";
