//! The manifest of a delta bundle (spec §4.3, `delta-manifest.schema.json`). The specification calls the entry
//! `manifest.json`, the reference tool `delta-manifest.json`: both are read, both are written.
use super::super::detect::DELTA_MANIFEST;
use super::super::manifest::{Archive, MANIFEST, Manifest, Partition};
use mementory_format::FormatError;
use mementory_json::Tree;
use mementory_model::Limits;

/// Layers that a delta may replace whole.
pub(super) const DOCUMENTS: [&str; 3] = ["identity", "principals", "credentials"];

/// What a delta says about itself.
pub(super) struct DeltaManifest {
    /// All of it.
    pub tree: Tree,
    /// Place of the manifest.
    pub place: String,
    /// Format version.
    pub version: String,
    /// Agent it is for.
    pub agent: String,
    /// Sequence that it builds on.
    pub base: u64,
    /// Sequence after it. A client that has no server writes 0, which counts as the next one.
    pub new: u64,
}

impl DeltaManifest {
    /// Reads the manifest of a bundle.
    pub(super) fn read(archive: &Archive<'_>, limits: &Limits) -> Result<Self, FormatError> {
        let entry = archive.entry(MANIFEST).or_else(|| archive.entry(DELTA_MANIFEST));
        let entry = entry.ok_or_else(|| FormatError::invalid("manifest_missing", &archive.place, "no manifest"))?;
        let text = archive.text(entry, limits)?;
        let bad = |message: String| FormatError::invalid("manifest_invalid", &entry.place, message);
        let tree = Tree::parse(&text, limits).map_err(|e| bad(e.to_string()))?;
        let version = tree.get("alf_version").and_then(Tree::as_str).ok_or_else(|| bad("no alf_version".into()))?;
        let version = version.to_owned();
        if version.split('.').next() != Some("1") {
            return Err(FormatError::Version { place: entry.place.clone(), version });
        }
        let agent = tree.get("agent").and_then(|a| a.get("id")).and_then(Tree::as_str).filter(|a| !a.is_empty());
        let agent = agent.ok_or_else(|| bad("no agent id".into()))?.to_owned();
        let sequence = |key: &str| {
            let number = match tree.get("sync").and_then(|s| s.get(key)) {
                Some(Tree::Number(n)) => whole(n),
                _ => None,
            };
            number.ok_or_else(|| bad(format!("no {key}")))
        };
        let base = sequence("base_sequence")?;
        let new = match sequence("new_sequence")? {
            0 => base.saturating_add(1),
            new => new,
        };
        Ok(Self { place: entry.place.clone(), version, agent, base, new, tree })
    }

    /// Member of a layer's change.
    pub(super) fn change(&self, layer: &str, key: &str) -> Option<&Tree> {
        self.tree.get("changes")?.get(layer)?.get(key)
    }

    /// The layer's file, where the layer changed. `file` is optional in the schema: without it the usual name holds.
    pub(super) fn file(&self, layer: &str) -> Option<String> {
        let change = self.tree.get("changes")?.get(layer).filter(|c| matches!(c, Tree::Object(_)))?;
        let usual = || if layer == "memory" { "memory/delta.jsonl".into() } else { format!("{layer}.json") };
        Some(change.get("file").and_then(Tree::as_str).map_or_else(usual, str::to_owned))
    }

    /// When the state after it was taken.
    pub(super) fn time(&self) -> Option<&str> {
        let sync = self.tree.get("sync").and_then(|s| s.get("new_timestamp")).and_then(Tree::as_str);
        sync.or_else(|| self.tree.get("created_at").and_then(Tree::as_str))
    }

    /// The same as the manifest of an archive, so that one reader reads both.
    pub(super) fn as_archive(&self) -> Manifest {
        let text = |t: &str| Tree::Text(t.to_owned());
        let mut layers = Vec::new();
        for layer in DOCUMENTS {
            if let Some(file) = self.file(layer) {
                layers.push((layer.to_owned(), Tree::Object(vec![("file".into(), text(&file))])));
            }
        }
        let mut partitions = Vec::new();
        if let Some(file) = self.file("memory") {
            let count = match self.change("memory", "record_count") {
                Some(Tree::Number(n)) => whole(n),
                _ => None,
            };
            partitions.push(Partition { file, count, ..Partition::default() });
        }
        let mut tree = Tree::Object(vec![("layers".into(), Tree::Object(layers))]);
        for key in ["agent", "keepsake"] {
            if let Some(value) = self.tree.get(key) {
                tree.set(key, value.clone());
            }
        }
        Manifest { tree, version: self.version.clone(), agent: self.agent.clone(), partitions }
    }
}

/// A whole number of a manifest; `2.0` is one in JSON Schema.
pub(super) fn whole(text: &str) -> Option<u64> {
    let float = || text.parse::<f64>().ok().filter(|f| f.fract() == 0.0 && (0.0..9e15).contains(f)).map(|f| f as u64);
    text.parse().ok().or_else(float)
}

/// `sync.last_sequence` of an archive; one that was never synchronised stands at 0.
pub(super) fn sequence_of(manifest: &Manifest) -> u64 {
    match manifest.tree.get("sync").and_then(|s| s.get("last_sequence")) {
        Some(Tree::Number(n)) => whole(n).unwrap_or(0),
        _ => 0,
    }
}
