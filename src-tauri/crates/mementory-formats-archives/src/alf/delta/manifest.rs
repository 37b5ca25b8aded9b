//! The manifest of a delta bundle (spec §4.3, `delta-manifest.schema.json`). Its entry name is `manifest.json` in the
//! specification and `delta-manifest.json` in the reference tool. Both names are read and written.
use super::super::manifest::{
    Archive, DELTA_MANIFEST_FILE, MANIFEST_FILE, Manifest, Partition, check_version, number, parse_tree,
    refuse_shared_files, stated_count,
};
use mementory_format::FormatError;
use mementory_format::extension as slot;
use mementory_json::Tree;
use mementory_model::Limits;

/// Layers whose document a delta may replace.
pub(super) const DOCUMENT_LAYERS: [&str; 3] = ["identity", "principals", "credentials"];

/// The parsed manifest of a delta.
pub(super) struct DeltaManifest {
    /// The parsed JSON document.
    pub tree: Tree,
    /// Place of the manifest, for findings.
    pub place: String,
    /// Format version of the delta.
    pub version: String,
    /// Id of the agent in lower case.
    pub agent: String,
    /// Sequence at which the delta starts.
    pub base: u64,
    /// Sequence at which the delta ends. A client without a server writes 0, which is read as `base` plus one.
    pub new: u64,
}

impl DeltaManifest {
    /// Reads the manifest of a bundle.
    pub(super) fn read(archive: &Archive<'_>, limits: &Limits) -> Result<Self, FormatError> {
        let entry = archive.entry(MANIFEST_FILE).or_else(|| archive.entry(DELTA_MANIFEST_FILE));
        let entry = entry.ok_or_else(|| FormatError::invalid("manifest_missing", &archive.place, "no manifest"))?;
        let text = archive.text(entry, limits)?;
        let invalid_manifest = |message: String| FormatError::invalid("manifest_invalid", &entry.place, message);
        let tree = parse_tree(&text, &entry.place, limits)?;
        // Refuses a bundle with two different manifests, because the reference tool reads the second one and would
        // apply a different delta.
        if let Some(other) = archive.entry(DELTA_MANIFEST_FILE)
            && Tree::parse(&archive.text(other, limits)?, limits).ok().as_ref() != Some(&tree)
        {
            let message = format!("{MANIFEST_FILE} and {DELTA_MANIFEST_FILE} differ");
            return Err(FormatError::invalid("manifest_invalid", &other.place, message));
        }
        let version =
            tree.get("alf_version").and_then(Tree::as_str).ok_or_else(|| invalid_manifest("no alf_version".into()))?;
        let version = version.to_owned();
        check_version(&version, &entry.place)?;
        let agent = tree.get("agent").and_then(|a| a.get("id")).and_then(Tree::as_str).filter(|a| !a.is_empty());
        let agent = agent.ok_or_else(|| invalid_manifest("no agent id".into()))?.to_ascii_lowercase();
        let sequence = |key: &str| {
            let stated_number = number(tree.get("sync").and_then(|s| s.get(key)));
            stated_number.ok_or_else(|| invalid_manifest(format!("no {key} that is a whole number of at most 64 bits")))
        };
        let Some(changes @ Tree::Object(_)) = tree.get("changes") else {
            return Err(invalid_manifest("no changes".into()));
        };
        // Refuses a changed layer that is not described by an object: its change would not be applied, although the
        // sequence number advances.
        let is_no_change = |layer: &&str| changes.get(layer).is_some_and(|c| !matches!(c, Tree::Object(_)));
        if let Some(layer) = DOCUMENT_LAYERS.into_iter().chain(["memory"]).find(is_no_change) {
            return Err(invalid_manifest(format!("the change of the layer {layer} is not an object")));
        }
        // The schema allows a change without `file` and `record_count`, but not with a value of a wrong type. If such a
        // value were treated as missing, the delta would be applied from a file that the manifest does not name, or
        // without a check of the number of records.
        let is_malformed = |layer: &&str| {
            let member = |key: &str| changes.get(layer).and_then(|change| change.get(key));
            member("file").is_some_and(|file| file.as_str().is_none())
                || member("record_count").is_some_and(|count| stated_count(Some(count)).is_none())
        };
        if let Some(layer) = DOCUMENT_LAYERS.into_iter().chain(["memory"]).find(is_malformed) {
            return Err(invalid_manifest(format!("a member of the change of the layer {layer} has a wrong type")));
        }
        let base = sequence("base_sequence")?;
        let new = match sequence("new_sequence")? {
            0 => base.saturating_add(1),
            new => new,
        };
        let manifest = Self { place: entry.place.clone(), version, agent, base, new, tree };
        let files: Vec<String> =
            DOCUMENT_LAYERS.into_iter().chain(["memory"]).filter_map(|layer| manifest.file(layer)).collect();
        refuse_shared_files(files.iter().map(String::as_str), &manifest.place)?;
        Ok(manifest)
    }

    /// A member of the object that describes the change of a layer.
    pub(super) fn change(&self, layer: &str, key: &str) -> Option<&Tree> {
        self.tree.get("changes")?.get(layer)?.get(key)
    }

    /// The file with the change of a layer. None if the layer did not change. The schema allows a manifest without the
    /// file name; the usual name is then returned.
    pub(super) fn file(&self, layer: &str) -> Option<String> {
        let change = self.tree.get("changes")?.get(layer).filter(|c| matches!(c, Tree::Object(_)))?;
        let usual_name = || if layer == "memory" { "memory/delta.jsonl".into() } else { format!("{layer}.json") };
        Some(change.get("file").and_then(Tree::as_str).map_or_else(usual_name, str::to_owned))
    }

    /// Time of the state after the delta: `sync.new_timestamp`, else `created_at`.
    pub(super) fn time(&self) -> Option<&str> {
        let sync = self.tree.get("sync").and_then(|s| s.get("new_timestamp")).and_then(Tree::as_str);
        sync.or_else(|| self.tree.get("created_at").and_then(Tree::as_str))
    }

    /// Converts the manifest to the manifest of an archive, so that deltas can be read like archives.
    pub(super) fn as_archive(&self) -> Manifest {
        let text = |t: &str| Tree::Text(t.to_owned());
        let mut layers = Vec::new();
        for layer in DOCUMENT_LAYERS {
            if let Some(file) = self.file(layer) {
                layers.push((layer.to_owned(), Tree::Object(vec![("file".into(), text(&file))])));
            }
        }
        let mut partitions = Vec::new();
        if let Some(file) = self.file("memory") {
            let count = stated_count(self.change("memory", "record_count"));
            partitions.push(Partition { file, count, ..Partition::default() });
        }
        let mut tree = Tree::Object(vec![("layers".into(), Tree::Object(layers))]);
        for key in ["agent", slot::VENDOR, slot::FORMER_VENDOR] {
            if let Some(value) = self.tree.get(key) {
                tree.set(key, value.clone());
            }
        }
        Manifest::new(tree, self.version.clone(), self.agent.clone(), partitions)
    }
}
