//! Writes the manifest and the memory index (spec §4.2). The manifest of an imported agent is edited instead of written
//! from scratch, so that unknown members are preserved.
use super::document_row::Row;
use super::first_pass::SoleWorkspace;
use super::invalid_layer_values::replace_invalid_manifest_values;
use super::manifest::{INDEX_FILE, usable_name};
use super::partitions::Period;
use mementory_format::SourceDescription;
use mementory_format::extension as slot;
use mementory_json::Tree;
use mementory_model::Timestamp;
use std::collections::BTreeMap;

/// A row of the partition list.
pub(super) struct PartitionRow {
    file: String,
    period: Period,
    count: u64,
    sha256: String,
    is_sealed: bool,
    is_current: bool,
}

impl PartitionRow {
    /// The row of a partition. Partitions of past periods are sealed; the partition of the current period has no end
    /// yet.
    pub(super) fn new(file: String, period: Period, count: u64, sha256: String, now: Timestamp) -> Self {
        let relation = period.relative_to(now);
        Self { file, period, count, sha256, is_sealed: relation.is_lt(), is_current: relation.is_eq() }
    }

    fn tree(&self) -> Tree {
        let to = if self.is_current { Tree::Null } else { text(&self.period.last_day()) };
        object([
            ("file", text(&self.file)),
            ("from", text(&self.period.first_day())),
            ("to", to),
            ("record_count", number(self.count)),
            ("sealed", Tree::Bool(self.is_sealed)),
            ("sha256", text(&self.sha256)),
        ])
    }
}

/// The contents of the archive, as listed in its manifest.
#[derive(Default)]
pub(super) struct Layers {
    /// Version of the identity, if there is one.
    pub identity_version: Option<u64>,
    /// Number of elements of each list document.
    pub counts: BTreeMap<&'static str, u64>,
    /// Rows of the partitions, in order.
    pub partitions: Vec<PartitionRow>,
    /// True if any record has an embedding.
    pub has_embeddings: bool,
    /// Id spaces of elements. Empty unless the archive has several sources.
    pub scopes: Vec<(String, Tree)>,
    /// Agent and original name of each passthrough entry. Empty unless the archive has several sources.
    pub entries: Vec<(String, Tree)>,
    /// Workspaces whose files are under `raw/`.
    pub workspaces: Vec<(String, Tree)>,
    /// Latest imported state of the agent: its sequence number and, if known, its time.
    pub reached: Option<(u64, Option<String>)>,
    /// The agent of the workspace, if all exported records are from one workspace.
    pub sole_workspace: Option<SoleWorkspace>,
    /// Id of the vault that counted the versions of the identity, if there is more than one version.
    pub lineage: Option<String>,
    /// Threshold in bytes, and true if the user set it. Files of at least this size are only listed.
    pub threshold: (u64, bool),
    names: BTreeMap<String, String>,
    included: (u64, u64),
    referenced: (u64, u64),
}

impl Layers {
    /// Creates an empty list of contents. The names of the layer files are taken from the imported agent's manifest, if
    /// any.
    pub(super) fn from_manifest(original: Option<&Tree>) -> Self {
        let mut names = BTreeMap::new();
        if let Some(Tree::Object(layers)) = original.and_then(|o| o.get("layers")) {
            for (layer, value) in layers {
                let key = if layer == "memory" { "index_file" } else { "file" };
                if let Some(file) = value.get(key).and_then(Tree::as_str) {
                    names.insert(layer.clone(), file.to_owned());
                }
            }
        }
        Self { names, ..Self::default() }
    }

    /// Entry name of a layer.
    pub(super) fn file(&self, layer: &str) -> String {
        self.names.get(layer).cloned().unwrap_or_else(|| format!("{layer}.json"))
    }

    /// Entry name of the memory index.
    pub(super) fn index_file(&self) -> String {
        self.names.get("memory").cloned().unwrap_or_else(|| INDEX_FILE.into())
    }

    /// Chooses the entry name of a layer. For `memory`, this is the name of the index. Keeps the name in the imported
    /// manifest if it can be used and `is_free` accepts it.
    pub(super) fn choose_name(&mut self, layer: &str, is_free: &dyn Fn(&str) -> bool) -> String {
        let default = if layer == "memory" { INDEX_FILE.to_owned() } else { format!("{layer}.json") };
        let stated_name = self.names.get(layer).unwrap_or(&default);
        let name = usable_name(stated_name, &default, is_free);
        self.names.insert(layer.to_owned(), name.clone());
        name
    }

    /// True if the writer assembles the document with this name from records.
    pub(super) fn is_assembled(&self, name: &str) -> bool {
        ["principals", "credentials", "attachments"].iter().any(|l| self.file(l) == name) || self.index_file() == name
    }

    /// Counts the files in the archive (tier 2) and the files that are only listed (tier 3), and adds up their sizes.
    pub(super) fn count_files(&mut self, rows: &[Row]) {
        for row in rows {
            let Ok(tree) = Tree::parse(&row.text, 512) else { continue };
            let size = match tree.get("size_bytes") {
                Some(Tree::Number(n)) => n.parse().unwrap_or(0),
                _ => 0,
            };
            let is_included = tree.get("archive_path").and_then(Tree::as_str).is_some();
            let tier = if is_included { &mut self.included } else { &mut self.referenced };
            *tier = (tier.0 + 1, tier.1.saturating_add(size));
        }
    }
}

fn text(t: &str) -> Tree {
    Tree::Text(t.to_owned())
}

fn number(n: u64) -> Tree {
    Tree::Number(n.to_string())
}

fn object<const N: usize>(members: [(&str, Tree); N]) -> Tree {
    Tree::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}

/// The memory index with these partition rows. Other members of the imported index are preserved.
pub(super) fn index(original: Option<&str>, partitions: &[PartitionRow]) -> String {
    let original = original.and_then(|t| Tree::parse(t, 512).ok()).filter(|t| matches!(t, Tree::Object(_)));
    let mut tree = original.unwrap_or_else(|| Tree::Object(vec![]));
    tree.set("partitions", Tree::Array(partitions.iter().map(PartitionRow::tree).collect()));
    let mut out = String::new();
    tree.write(&mut out);
    out
}

/// Format version of the archives that are written.
pub(super) const FORMAT_VERSION: &str = "1.0.0";

/// Text of the manifest, and its format version. `is_generated` is false only if the archive contains exactly one
/// imported agent.
pub(super) fn build(
    original: Option<Tree>,
    layers: &Layers,
    description: &SourceDescription,
    agent: &str,
    is_generated: bool,
    checksum: &str,
    scope: &str,
) -> (String, String) {
    let mut tree = original.filter(|t| matches!(t, Tree::Object(_))).unwrap_or_else(|| {
        let vault = if description.name.is_empty() { "Mementory" } else { description.name.as_str() };
        let (name, runtime) = layers
            .sole_workspace
            .as_ref()
            .map_or((vault, "mementory"), |workspace| (workspace.name.as_str(), workspace.runtime));
        let runtime = [("id", text(agent)), ("name", text(name)), ("source_runtime", text(runtime))];
        object([("alf_version", text(FORMAT_VERSION)), ("created_at", Tree::Null), ("agent", object(runtime))])
    });
    tree.set("created_at", text(&description.now.to_rfc3339()));
    let mut inventory = tree.get("layers").cloned().unwrap_or_else(|| Tree::Object(vec![]));
    edit_layer_row(&mut inventory, "identity", layers.identity_version.is_some(), |row| {
        row.set("version", number(layers.identity_version.unwrap_or(1)));
        row.set("file", text(&layers.file("identity")));
    });
    for layer in ["principals", "credentials", "attachments"] {
        let count = layers.counts.get(layer).copied();
        edit_layer_row(&mut inventory, layer, count.is_some(), |row| {
            row.set("count", number(count.unwrap_or(0)));
            row.set("file", text(&layers.file(layer)));
            if layer == "attachments" {
                row.set("included_count", number(layers.included.0));
                row.set("included_size_bytes", number(layers.included.1));
                row.set("referenced_count", number(layers.referenced.0));
                row.set("referenced_size_bytes", number(layers.referenced.1));
            }
        });
    }
    let has_memory = !layers.partitions.is_empty() || inventory.get("memory").is_some();
    edit_layer_row(&mut inventory, "memory", has_memory, |row| {
        row.set("record_count", number(layers.partitions.iter().map(|p| p.count).sum()));
        row.set("index_file", text(&layers.index_file()));
        row.set("has_embeddings", Tree::Bool(layers.has_embeddings));
        row.set("partitions", Tree::Array(layers.partitions.iter().map(PartitionRow::tree).collect()));
    });
    tree.set("layers", inventory);
    if let Some((sequence, time)) = &layers.reached {
        set_sync(&mut tree, *sequence, time.as_deref());
    }
    tree.set("checksum", text(checksum));
    tree.set("checksum_scope", text(scope));
    if is_generated {
        let mut our_slot = object([
            ("generated", Tree::Bool(true)),
            ("scopes", Tree::Object(layers.scopes.clone())),
            ("entries", Tree::Object(layers.entries.clone())),
        ]);
        if !layers.workspaces.is_empty() {
            our_slot.set("workspaces", Tree::Object(layers.workspaces.clone()));
        }
        if let Some(vault) = &layers.lineage {
            our_slot.set("lineage", text(vault));
        }
        slot::set_vendor_slot(&mut tree, our_slot);
    }
    replace_invalid_manifest_values(&mut tree, agent, FORMAT_VERSION);
    let version = tree.get("alf_version").and_then(Tree::as_str).unwrap_or(FORMAT_VERSION).to_owned();
    let mut out = String::new();
    tree.write(&mut out);
    (out, version)
}

/// Sets the sequence number of an archive's last change and, if known, its time (spec §4.3.1).
pub(super) fn set_sync(manifest: &mut Tree, sequence: u64, time: Option<&str>) {
    let mut sync = manifest.get("sync").cloned().unwrap_or_else(|| Tree::Object(vec![]));
    sync.set("last_sequence", number(sequence));
    if let Some(time) = time {
        sync.set("last_sync_at", text(time));
    }
    manifest.set("sync", sync);
}

/// Changes or adds the manifest row of a layer. Removes the row if `is_present` is false.
fn edit_layer_row(inventory: &mut Tree, layer: &str, is_present: bool, change: impl FnOnce(&mut Tree)) {
    if !is_present {
        inventory.remove(layer);
        return;
    }
    let mut row = inventory.get(layer).cloned().unwrap_or_else(|| Tree::Object(vec![]));
    change(&mut row);
    inventory.set(layer, row);
}
