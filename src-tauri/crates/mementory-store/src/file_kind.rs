//! Determines the kind of an attachment from its media type, or from the extension of its file name if the media type
//! is not specific enough.
use rusqlite::{Connection, functions::FunctionFlags};

/// Kinds of files, as the window lists them. Each attachment has exactly one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum FileKind {
    Picture,
    Document,
    Code,
    Sound,
    Video,
    Other,
    /// The export refers to the file but does not contain it.
    Missing,
}

/// SQL expression for the kind of a file, given its row `r` in `records` and its row `f` in `files`. The title is used
/// only if the media type does not determine the kind, because reading the title costs SQLite another page.
pub const KIND_SQL: &str = "CASE WHEN f.blob IS NULL THEN 'missing' \
     ELSE coalesce(media_kind(f.media_type), file_kind(f.media_type, r.title)) END";

impl FileKind {
    const ALL: [Self; 7] =
        [Self::Picture, Self::Document, Self::Code, Self::Sound, Self::Video, Self::Other, Self::Missing];

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Stable name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Picture => "picture",
            Self::Document => "document",
            Self::Code => "code",
            Self::Sound => "sound",
            Self::Video => "video",
            Self::Other => "other",
            Self::Missing => "missing",
        }
    }

    /// The kind of a file. `is_present` says whether its content is in the vault.
    pub fn from_file(media_type: Option<&str>, name: Option<&str>, is_present: bool) -> Self {
        match media_type.and_then(Self::from_decisive_media_type) {
            _ if !is_present => Self::Missing,
            Some(kind) => kind,
            None => Self::from_extension(name.unwrap_or_default())
                .or_else(|| media_type.and_then(Self::from_other_media_type))
                .unwrap_or(Self::Other),
        }
    }

    /// The kind for a media type that is decisive, so that the name of the file is not needed. None for all other media
    /// types.
    fn from_decisive_media_type(media_type: &str) -> Option<Self> {
        Some(match media_type.split('/').next()? {
            "image" => Self::Picture,
            "audio" => Self::Sound,
            "video" => Self::Video,
            _ => return None,
        })
    }

    fn from_extension(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        Some(match extension.to_ascii_lowercase().as_str() {
            "png" | "jpg" | "jpeg" | "gif" | "webp" | "heic" | "heif" | "avif" | "bmp" | "tif" | "tiff" | "svg"
            | "ico" => Self::Picture,
            "pdf" | "doc" | "docx" | "odt" | "rtf" | "txt" | "md" | "markdown" | "tex" | "epub" | "pages" | "xls"
            | "xlsx" | "ods" | "csv" | "tsv" | "numbers" | "ppt" | "pptx" | "odp" | "ics" | "eml" | "vcf" => {
                Self::Document
            }
            "rs" | "py" | "ipynb" | "js" | "mjs" | "jsx" | "ts" | "tsx" | "svelte" | "vue" | "c" | "h" | "cc"
            | "cpp" | "hpp" | "cs" | "go" | "java" | "kt" | "swift" | "rb" | "php" | "pl" | "lua" | "r" | "jl"
            | "scala" | "hs" | "sql" | "sh" | "bash" | "ps1" | "html" | "css" | "scss" | "json" | "jsonl" | "yaml"
            | "yml" | "toml" | "xml" | "diff" | "patch" => Self::Code,
            "mp3" | "m4a" | "wav" | "ogg" | "oga" | "opus" | "flac" | "aac" | "aif" | "aiff" => Self::Sound,
            "mp4" | "m4v" | "mov" | "webm" | "mkv" | "avi" | "mpg" | "mpeg" => Self::Video,
            _ => return None,
        })
    }

    /// The kind for a media type that begins with `text` or `application`. Used only if the file name's extension is
    /// unknown.
    fn from_other_media_type(media_type: &str) -> Option<Self> {
        const OFFICE_TYPES: [&str; 4] =
            ["vnd.openxmlformats-officedocument", "vnd.oasis.opendocument", "vnd.ms-", "msword"];
        let (top, sub) = media_type.split_once('/')?;
        Some(match (top, sub) {
            ("text", "plain" | "markdown" | "csv" | "calendar" | "rtf" | "tab-separated-values" | "vcard") => {
                Self::Document
            }
            ("text", _) => Self::Code,
            ("application", "pdf" | "rtf" | "epub+zip") => Self::Document,
            ("application", _) if OFFICE_TYPES.iter().any(|office| sub.starts_with(office)) => Self::Document,
            ("application", "json" | "xml" | "javascript" | "x-sh" | "x-python" | "sql" | "toml" | "yaml") => {
                Self::Code
            }
            _ => return None,
        })
    }

    /// SQL condition on `records r` that is true for files of this kind.
    pub fn condition(self) -> String {
        format!("coalesce((SELECT {KIND_SQL} FROM files f WHERE f.row = r.row), 'missing') = '{}'", self.as_str())
    }
}

/// Registers the SQL functions `media_kind` and `file_kind`, which [`KIND_SQL`] uses.
pub fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("media_kind", 1, flags, |values| {
        let media: Option<String> = values.get(0)?;
        Ok(media.and_then(|media| FileKind::from_decisive_media_type(&media)).map(FileKind::as_str))
    })?;
    connection.create_scalar_function("file_kind", 2, flags, |values| {
        let (media, name): (Option<String>, Option<String>) = (values.get(0)?, values.get(1)?);
        Ok(FileKind::from_file(media.as_deref(), name.as_deref(), true).as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::FileKind::{self, *};

    #[test]
    fn the_media_type_or_the_extension_decides_the_kind() {
        let cases: [(Option<&str>, &str, FileKind); 14] = [
            (Some("image/jpeg"), "joists.bin", Picture),
            (Some("application/octet-stream"), "zellige.HEIC", Picture),
            (Some("audio/mp4"), "note", Sound),
            (Some("video/mp4"), "note.mp3", Video),
            (Some("text/plain"), "tide.rs", Code),
            (Some("text/plain"), "tide", Document),
            (Some("text/x-python"), "load-calc", Code),
            (Some("application/vnd.openxmlformats-officedocument.wordprocessingml.document"), "letter", Document),
            (Some("application/zip"), "archive.zip", Other),
            (None, "harmonics.csv", Document),
            (None, "half-marathon.ics", Document),
            (None, "rs", Other),
            (None, "", Other),
            (Some("x"), "a.", Other),
        ];
        for (media, name, kind) in cases {
            assert_eq!(FileKind::from_file(media, Some(name), true), kind, "{media:?} {name}");
            assert_eq!(FileKind::from_file(media, Some(name), false), Missing, "{media:?} {name}, without its bytes");
        }
        assert!(FileKind::ALL.iter().all(|kind| FileKind::parse(kind.as_str()) == Some(*kind)));
    }
}
