//! `manifest.json` (spec v1.1 §3) and `CHECKSUMS` (§1.2).
use super::{
    canonical::canonical,
    invalid_values::INVALID_VALUES_MEMBER,
    kinds::{Field, Type},
    wire::{check_fields, integer, list, text, texts, time_of},
};
use mementory_json::Tree;
use mementory_model::{Bounds, Timestamp};
use std::{collections::BTreeMap, fmt::Write};

/// Format version that is written unless another one is requested. All versions with the same major number can be read.
pub(super) const FORMAT_VERSION: &str = "1.1.0";
/// Versions that can be requested. Version 1.0 lacks four fields of the manifest: `specURL`, `coverage`, `scopes` and
/// `bundleDigest` (spec v1.1 §3.1).
pub(super) const WRITABLE_VERSIONS: [&str; 2] = ["1.0.0", FORMAT_VERSION];
/// Address of the specification, for `specURL`.
const SPEC_URL: &str = "https://github.com/MacPaw/portable-memory/blob/main/Spec/portable-memory-spec.md";
/// The capabilities that our bundles declare in the manifest.
pub(super) const BUNDLE_CAPABILITIES: [&str; 6] =
    ["bitemporal", "tombstones", "redaction", "evidence-pack", "ext", "passthrough"];

/// A file listed in the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileEntry {
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
}

/// A parsed `manifest.json`.
#[derive(Debug, Clone)]
pub(super) struct Manifest {
    pub format: String,
    pub generator: String,
    pub level: String,
    pub created: Option<Timestamp>,
    pub mode: String,
    pub since: Option<Timestamp>,
    pub schema_version: String,
    pub embedding_model: String,
    pub embedding_dim: String,
    pub embeddings_included: bool,
    pub capabilities: Vec<String>,
    pub counts: BTreeMap<String, u64>,
    pub files: Vec<FileEntry>,
    pub coverage: Option<(Timestamp, Timestamp)>,
    pub scopes: Option<Vec<String>>,
    pub bundle_digest: Option<String>,
    /// Members that this version of the format does not define.
    pub unknown: Vec<(String, Tree)>,
    /// Names of optional fields that are null. The specification (§1.1) and the schema require such a field to be left
    /// out.
    pub null_fields: Vec<&'static str>,
}

macro_rules! field {
    ($name:literal, $ty:ident, $required:literal) => {
        Field { name: $name, ty: Type::$ty, required: $required }
    };
}

static MANIFEST_FIELDS: [Field; 13] = [
    field!("format", Text, true),
    field!("generator", Text, true),
    field!("conformanceLevel", Text, true),
    field!("createdAt", Time, true),
    field!("exportMode", Text, true),
    field!("schemaVersion", Int, true),
    field!("embeddingModel", Text, true),
    field!("embeddingDim", Int, true),
    field!("embeddingsIncluded", Bool, true),
    field!("capabilities", List, true),
    field!("since", Time, false),
    field!("specURL", Text, false),
    field!("scopes", List, false),
];
/// Names of the optional fields.
const OPTIONAL_FIELDS: [&str; 5] = ["since", "specURL", "coverage", "scopes", "bundleDigest"];
static FILE_FIELDS: [Field; 3] = [field!("path", Text, true), field!("sha256", Text, true), field!("bytes", Int, true)];
static COVERAGE_FIELDS: [Field; 2] = [field!("from", Time, true), field!("to", Time, true)];

impl Manifest {
    /// The manifest of a full export, without any files yet.
    pub fn new(generator: &str, now: Timestamp, level: &str, capabilities: &[&str]) -> Self {
        Self {
            format: FORMAT_VERSION.into(),
            generator: generator.into(),
            level: level.into(),
            created: Some(now),
            mode: "full".into(),
            since: None,
            schema_version: "1".into(),
            embedding_model: String::new(),
            embedding_dim: "0".into(),
            embeddings_included: false,
            capabilities: capabilities.iter().map(|c| (*c).to_owned()).collect(),
            counts: BTreeMap::new(),
            files: Vec::new(),
            coverage: None,
            scopes: None,
            bundle_digest: None,
            unknown: Vec::new(),
            null_fields: Vec::new(),
        }
    }

    /// Parses a manifest. The error message names the invalid field.
    pub fn parse(bytes: &[u8], bounds: impl Into<Bounds>) -> Result<Self, String> {
        let source = std::str::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())?;
        let tree = Tree::parse(source.trim(), bounds).map_err(|e| e.to_string())?;
        let Tree::Object(members) = &tree else { return Err("not an object".into()) };
        check_fields(&MANIFEST_FIELDS, &tree)?;
        let level = text(&tree, "conformanceLevel").unwrap_or_default().to_owned();
        if !matches!(level.as_str(), "L0" | "L1" | "L2" | "L3") {
            return Err("conformanceLevel is unknown".into());
        }
        let mode = text(&tree, "exportMode").unwrap_or_default().to_owned();
        if !matches!(mode.as_str(), "full" | "incremental") {
            return Err("exportMode is unknown".into());
        }
        let parsed_members = ["counts", "files", "coverage", "bundleDigest"];
        let unknown = members
            .iter()
            .filter(|(k, _)| !parsed_members.contains(&k.as_str()) && !MANIFEST_FIELDS.iter().any(|f| f.name == k))
            .cloned()
            .collect();
        Ok(Self {
            format: text(&tree, "format").unwrap_or_default().to_owned(),
            generator: text(&tree, "generator").unwrap_or_default().to_owned(),
            level,
            created: time_of(&tree, "createdAt"),
            mode,
            since: time_of(&tree, "since"),
            schema_version: integer_digits(&tree, "schemaVersion"),
            embedding_model: text(&tree, "embeddingModel").unwrap_or_default().to_owned(),
            embedding_dim: integer_digits(&tree, "embeddingDim"),
            embeddings_included: tree.get("embeddingsIncluded") == Some(&Tree::Bool(true)),
            capabilities: list(&tree, "capabilities"),
            counts: parse_counts(&tree)?,
            files: parse_files(&tree)?,
            coverage: parse_coverage(&tree)?,
            scopes: matches!(tree.get("scopes"), Some(Tree::Array(_))).then(|| list(&tree, "scopes")),
            bundle_digest: match tree.get("bundleDigest") {
                None | Some(Tree::Null) => None,
                Some(Tree::Text(digest)) => Some(digest.clone()),
                Some(_) => return Err("bundleDigest has the wrong type".into()),
            },
            unknown,
            null_fields: OPTIONAL_FIELDS.into_iter().filter(|name| tree.get(name) == Some(&Tree::Null)).collect(),
        })
    }

    /// True if `embeddingDim` is below 0, which the schema forbids.
    pub fn has_negative_dim(&self) -> bool {
        self.embedding_dim.starts_with('-')
    }

    /// Sets `embeddingDim`. A value below 0 is replaced with 0, and the original value is added under
    /// `mementory_forbidden`.
    pub fn set_embedding_dim(&mut self, digits: String) {
        self.embedding_dim = digits;
        if self.has_negative_dim() {
            let original = Tree::Number(std::mem::replace(&mut self.embedding_dim, "0".into()));
            self.unknown.retain(|(name, _)| name != INVALID_VALUES_MEMBER);
            let values = Tree::Object(vec![("embeddingDim".into(), original)]);
            self.unknown.push((INVALID_VALUES_MEMBER.into(), values));
        }
    }

    /// Major version of the format.
    pub fn major(&self) -> &str {
        self.format.split('.').next().unwrap_or_default()
    }

    /// Canonical JSON of a manifest that we write.
    pub fn write(&self) -> String {
        let int = |n: u64| Tree::Number(n.to_string());
        let text_tree = |s: &str| Tree::Text(s.to_owned());
        let stamp = |t: Timestamp| Tree::Text(t.to_rfc3339_seconds());
        let mut tree = Tree::Object(self.unknown.clone());
        tree.set("format", text_tree(&self.format));
        tree.set("generator", text_tree(&self.generator));
        tree.set("conformanceLevel", text_tree(&self.level));
        tree.set("createdAt", stamp(self.created.unwrap_or(Timestamp::EPOCH)));
        tree.set("exportMode", text_tree(&self.mode));
        if let Some(since) = self.since {
            tree.set("since", stamp(since));
        }
        tree.set("schemaVersion", Tree::Number(self.schema_version.clone()));
        tree.set("embeddingModel", text_tree(&self.embedding_model));
        tree.set("embeddingDim", Tree::Number(self.embedding_dim.clone()));
        tree.set("embeddingsIncluded", Tree::Bool(self.embeddings_included));
        tree.set("capabilities", texts(&self.capabilities));
        let counts = self.counts.iter().filter(|(_, n)| **n > 0).map(|(k, n)| (k.clone(), int(*n)));
        tree.set("counts", Tree::Object(counts.collect()));
        let file = |f: &FileEntry| {
            Tree::Object(vec![
                ("bytes".into(), int(f.bytes)),
                ("path".into(), text_tree(&f.path)),
                ("sha256".into(), text_tree(&f.sha256)),
            ])
        };
        tree.set("files", Tree::Array(self.files.iter().map(file).collect()));
        if self.format == WRITABLE_VERSIONS[0] {
            return canonical(&tree).unwrap_or_default();
        }
        tree.set("specURL", text_tree(SPEC_URL));
        if let Some((from, to)) = self.coverage {
            tree.set("coverage", Tree::Object(vec![("from".into(), stamp(from)), ("to".into(), stamp(to))]));
        }
        if let Some(scopes) = &self.scopes {
            tree.set("scopes", texts(scopes));
        }
        if let Some(digest) = &self.bundle_digest {
            tree.set("bundleDigest", text_tree(digest));
        }
        // Cannot fail, because all numbers were checked when they were parsed.
        canonical(&tree).unwrap_or_default()
    }
}

fn integer_digits(tree: &Tree, name: &str) -> String {
    match tree.get(name) {
        Some(Tree::Number(token)) => integer(token).unwrap_or_else(|| "0".into()),
        _ => "0".into(),
    }
}

fn parse_u64(value: Option<&Tree>) -> Option<u64> {
    match value {
        Some(Tree::Number(token)) => integer(token)?.parse().ok(),
        _ => None,
    }
}

fn parse_counts(tree: &Tree) -> Result<BTreeMap<String, u64>, String> {
    let Some(Tree::Object(members)) = tree.get("counts") else { return Err("counts has the wrong type".into()) };
    let parse_count = |(k, v): &(String, Tree)| Ok((k.clone(), parse_u64(Some(v)).ok_or("a count is not a number")?));
    members.iter().map(parse_count).collect()
}

fn parse_files(tree: &Tree) -> Result<Vec<FileEntry>, String> {
    let Some(Tree::Array(items)) = tree.get("files") else { return Err("files has the wrong type".into()) };
    let parse_file = |item: &Tree| {
        if !matches!(item, Tree::Object(_)) {
            return Err("an entry of files is not an object".to_owned());
        }
        check_fields(&FILE_FIELDS, item)?;
        Ok(FileEntry {
            path: text(item, "path").unwrap_or_default().to_owned(),
            sha256: text(item, "sha256").unwrap_or_default().to_owned(),
            bytes: parse_u64(item.get("bytes")).ok_or("bytes has the wrong type")?,
        })
    };
    items.iter().map(parse_file).collect()
}

fn parse_coverage(tree: &Tree) -> Result<Option<(Timestamp, Timestamp)>, String> {
    match tree.get("coverage") {
        None | Some(Tree::Null) => Ok(None),
        Some(span @ Tree::Object(_)) => {
            check_fields(&COVERAGE_FIELDS, span)?;
            Ok(time_of(span, "from").zip(time_of(span, "to")))
        }
        Some(_) => Err("coverage has the wrong type".into()),
    }
}

/// The content of `CHECKSUMS`: one line for each file, sorted by path. If there are no files, the content is a single
/// line feed.
pub(super) fn checksums(files: &[FileEntry]) -> String {
    let mut files: Vec<_> = files.iter().collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut out = String::new();
    for file in &files {
        let _ = writeln!(out, "{}  {}", file.sha256, file.path);
    }
    if out.is_empty() {
        out.push('\n');
    }
    out
}

/// True for a version according to Semantic Versioning 2.0.0, which the specification requires (§9): three numbers,
/// optionally followed by a pre-release and build metadata.
pub(super) fn is_semver(version: &str) -> bool {
    let (version, build) = version.split_once('+').map_or((version, None), |(version, build)| (version, Some(build)));
    let (core, release) = version.split_once('-').map_or((version, None), |(core, release)| (core, Some(release)));
    let is_number = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) && (part.len() == 1 || !part.starts_with('0'))
    };
    let is_name = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let has_digits_only = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && release.is_none_or(|r| r.split('.').all(|part| is_name(part) && (is_number(part) || !has_digits_only(part))))
        && build.is_none_or(|build| build.split('.').all(is_name))
}

/// True if a listed path is safe to open (spec v1.1 §8): it is relative, stays inside the bundle and is valid on every
/// system.
pub(super) fn path_is_safe(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with(['/', '~'])
        && !path.contains(['\\', ':'])
        && !path.chars().any(char::is_control)
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}
