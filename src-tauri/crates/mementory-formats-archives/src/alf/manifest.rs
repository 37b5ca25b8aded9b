//! Opens an archive, refuses unsafe entries, and parses the manifest (spec §4.1, §4.2, §8.2). The name of the manifest
//! is fixed; all other paths come from the manifest.
use mementory_format::extension as slot;
use mementory_format::{Catalog, Detected, FormatError, Member, Part, Role, folded_name};
use mementory_json::{Tree, schema::is_whole};
use mementory_model::{Issue, Limits, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;

/// Name of the manifest.
pub(super) const MANIFEST_FILE: &str = "manifest.json";
/// Name of the manifest of a delta bundle in the reference tool. The specification calls it [`MANIFEST_FILE`].
pub(super) const DELTA_MANIFEST_FILE: &str = "delta-manifest.json";
/// Usual name of the memory index.
pub(super) const INDEX_FILE: &str = "memory/index.json";
/// Value of `Claim::version` for a delta bundle.
pub(super) const DELTA_CLAIM_VERSION: &str = "delta";
/// Message for a sequence number that this program cannot use.
pub(super) const SEQUENCE_FAULT: &str = "last_sequence is not a whole number of at most 64 bits";
/// Message for a memory layer without a list of partitions.
pub(super) const NO_PARTITION_LIST: &str = "the manifest does not list the partitions of the memory layer";
/// Value of `checksum_scope` that names our definition of the checksum.
pub(super) const CHECKSUM_SCOPE: &str = "keepsake-v1";

/// Codes of catalog issues for which an archive is refused.
const REFUSED_ENTRY_CODES: [&str; 6] =
    ["unsafe_name", "duplicate_name", "link", "encrypted", "not_a_regular_file", "unsupported_compression"];

/// One archive, checked for unsafe entries.
pub(super) struct Archive<'c> {
    pub catalog: &'c Catalog,
    /// Path of the archive, for messages.
    pub place: String,
    /// The entry by which the archive was detected: its manifest.
    pub manifest: &'c Member,
    /// Entries by name.
    pub entries: BTreeMap<&'c str, &'c Member>,
}

impl<'c> Archive<'c> {
    /// Opens the detected archive. Refuses a delta bundle, and an archive with unsafe or duplicate names, links or
    /// encrypted entries.
    pub(super) fn open(catalog: &'c Catalog, detected: &Detected) -> Result<Self, FormatError> {
        if detected.claim.version.as_deref() == Some(DELTA_CLAIM_VERSION) {
            let manifest = detected.claim.parts.iter().find(|p| p.role == Role::Manifest);
            let place = manifest.and_then(|p| catalog.members().get(p.member)).map_or("", |m| m.place.as_str());
            let reason =
                "an .alf-delta contains only the changes since an export; open the whole .alf of the agent instead";
            let place = place.split("!/").next().unwrap_or_default().into();
            return Err(FormatError::Refused { place, reason: reason.into() });
        }
        Self::open_any(catalog, detected)
    }

    /// Like [`Self::open`], but also accepts a delta bundle.
    pub(super) fn open_any(catalog: &'c Catalog, detected: &Detected) -> Result<Self, FormatError> {
        let member_of = |part: &Part| catalog.members().get(part.member);
        let parts = || detected.claim.parts.iter();
        let manifest = parts().find(|part| part.role == Role::Manifest).and_then(member_of);
        // Without a manifest, the outermost entry identifies the archive.
        let entry = manifest.or_else(|| parts().filter_map(member_of).min_by_key(|member| member.depth));
        let missing_error = |place: &str| FormatError::invalid("manifest_missing", place, "no manifest.json");
        let entry = entry.ok_or_else(|| missing_error(detected.format))?;
        let place = archive_place(entry);
        // Issues inside nested archives are ignored. An entry whose name merely contains `!/` is not a nested archive.
        let is_in_nested_archive = |name: &str| {
            name.match_indices("!/").any(|(i, _)| {
                let nested_place = format!("{place}!/{}!/", &name[..i]);
                catalog.members().iter().any(|m| m.archive != entry.archive && m.place.starts_with(&nested_place))
            })
        };
        let is_in_archive = |at: &str| {
            at == place
                || at.strip_prefix(place).and_then(|r| r.strip_prefix("!/")).is_some_and(|r| !is_in_nested_archive(r))
        };
        let refused_error = |at: &str, reason: &str| FormatError::Refused { place: at.into(), reason: reason.into() };
        for issue in catalog.issues().iter().filter(|i| is_in_archive(&i.place)) {
            if REFUSED_ENTRY_CODES.contains(&issue.code.as_str()) {
                return Err(refused_error(&issue.place, &issue.message));
            }
        }
        let manifest = manifest.ok_or_else(|| missing_error(place))?;
        let mut entries = BTreeMap::new();
        for member in catalog.members().iter().filter(|m| m.archive == manifest.archive && m.root == manifest.root) {
            if member.backslashes || unsafe_name(&member.name) {
                return Err(refused_error(
                    &member.place,
                    "a name with a backslash, or one that leads out of the archive",
                ));
            }
            if entries.insert(member.name.as_str(), member).is_some() {
                return Err(refused_error(&member.place, "the name occurs more than once"));
            }
        }
        Ok(Self { catalog, place: place.into(), manifest, entries })
    }

    /// The entry with exactly this name.
    pub(super) fn entry(&self, name: &str) -> Option<&'c Member> {
        self.entries.get(name).copied()
    }

    /// The text of an entry without its byte order mark. Fails if the entry is larger than `Limits::side_file_bytes`.
    pub(super) fn text(&self, member: &Member, limits: &Limits) -> Result<String, FormatError> {
        let bytes = self.catalog.bytes(member, limits.side_file_bytes)?;
        let text =
            String::from_utf8(bytes).map_err(|_| FormatError::invalid("malformed", &member.place, "not UTF-8"))?;
        Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }
}

/// Fails if two layers have the same file, or if a layer has the file of the manifest. Otherwise the content of one of
/// them would be lost.
pub(super) fn refuse_shared_files<'f>(files: impl Iterator<Item = &'f str>, place: &str) -> Result<(), FormatError> {
    let mut used_files = BTreeSet::from([MANIFEST_FILE, DELTA_MANIFEST_FILE]);
    for file in files {
        if !used_files.insert(file) {
            let message = "two layers have the same file, or a layer has that of the manifest";
            return Err(FormatError::invalid("manifest_invalid", place, message));
        }
    }
    Ok(())
}

/// Place of the archive that contains this entry.
pub(super) fn archive_place(entry: &Member) -> &str {
    let containing_place = entry.place.strip_suffix(entry.name.as_str()).and_then(|place| place.strip_suffix("!/"));
    containing_place.unwrap_or(&entry.place)
}

/// Usual names of the layer documents.
pub(super) const LAYER_DOCUMENTS: [&str; 4] =
    ["identity.json", "principals.json", "credentials.json", "attachments.json"];

/// Code of a row of the attachment index whose `archive_path` is not that of an artifact.
pub(super) const NOT_AN_ARTIFACT_CODE: &str = "not_an_artifact";

/// False for the path of the manifest, of a file of a layer (`layer_files`), and of a file in `raw/`. According to the
/// specification (§3.1.9), artifacts are other files. Without this check, a forged row could turn the credentials into
/// an attachment, or remove a file from `raw/`.
pub(super) fn is_artifact_path(path: &str, layer_files: &HashSet<&str>) -> bool {
    let is_in_layer_folder = ["raw/", "memory/"].iter().any(|folder| path.starts_with(folder));
    path != MANIFEST_FILE && !is_in_layer_folder && !LAYER_DOCUMENTS.contains(&path) && !layer_files.contains(path)
}

/// True if an entry name could lead out of the folder that an archive is unpacked to.
pub(super) fn unsafe_name(name: &str) -> bool {
    name.is_empty()
        || name.starts_with('/')
        || name.contains(['\\', '\0'])
        || name.as_bytes().get(1) == Some(&b':')
        || name.split('/').any(|part| part == "..")
}

/// Returns a name for an entry to which the manifest gives the name `stated`: `stated` if it is safe and `is_free`
/// accepts it, otherwise `default`, otherwise `default` with a number. A manifest of another program may state the name
/// of a file with a different purpose, or a path that leads out of the archive.
pub(super) fn usable_name(stated: &str, default: &str, is_free: &dyn Fn(&str) -> bool) -> String {
    let is_usable = |name: &String| {
        let has_whole_parts = name.split('/').all(|part| !part.is_empty() && part != ".");
        has_whole_parts && !unsafe_name(name) && folded_name(name) != MANIFEST_FILE && is_free(name)
    };
    let stem = default.trim_end_matches(".json");
    let numbered = (2u32..).map(|n| format!("{stem}-{n}.json"));
    let mut names = [stated.to_owned(), default.to_owned()].into_iter().chain(numbered);
    names.find(is_usable).unwrap_or_else(|| default.to_owned())
}

/// False for files of the agent itself (raw files and artifacts), which a wrong manifest may name as the memory index.
pub(super) fn can_be_index(name: &str) -> bool {
    !name.starts_with("raw/") && !name.starts_with("artifacts/")
}

/// One row of `layers.memory.partitions`.
#[derive(Debug, Clone, Default)]
pub(super) struct Partition {
    /// Name of the entry with the lines of the partition.
    pub file: String,
    /// First day of the partition, as stated in the manifest.
    pub from: Option<String>,
    /// Last day of the partition, as stated in the manifest.
    pub to: Option<String>,
    /// Number of lines of the partition, as stated in the manifest.
    pub count: Option<u64>,
}

/// The parsed manifest.
pub(super) struct Manifest {
    /// The parsed JSON document.
    pub tree: Tree,
    /// Value of `alf_version`.
    pub version: String,
    /// Value of `agent.id` in lower case.
    pub agent: String,
    /// Rows of the partitions, in the order of the manifest.
    pub partitions: Vec<Partition>,
    /// True if the memory layer has no list of partitions. See [`Self::find_partitions`].
    pub has_unlisted_memories: bool,
    /// True if records are restored from our extension slots. Otherwise all slots are ignored, including the one in the
    /// manifest.
    pub restores: bool,
    /// Positions of the ids in the slot's list of id spaces.
    scopes: OnceLock<HashMap<String, usize>>,
}

impl Manifest {
    /// Builds a manifest from its parsed members. Records are restored from our extension slots.
    pub(super) fn new(tree: Tree, version: String, agent: String, partitions: Vec<Partition>) -> Self {
        let has_unlisted_memories = false;
        Self { tree, version, agent, partitions, has_unlisted_memories, restores: true, scopes: OnceLock::new() }
    }

    /// If the memory layer has no list of partitions, treats every `.jsonl` file in `memory/` that the manifest does
    /// not name as a partition, so that the import of a damaged archive finds its memories. If the layer is null and
    /// there is no such file, the archive has no fault: `has_unlisted_memories` becomes false.
    pub(super) fn find_partitions(&mut self, archive: &Archive<'_>) {
        if !self.has_unlisted_memories {
            return;
        }
        let named_files: BTreeSet<String> = self.named_files().into_iter().map(str::to_owned).collect();
        let has_lines = |name: &&&str| name.starts_with("memory/") && name.ends_with(".jsonl");
        let files = archive.entries.keys().filter(has_lines).filter(|name| !named_files.contains(**name));
        self.partitions = files.map(|name| Partition { file: (*name).to_owned(), ..Partition::default() }).collect();
        let is_null = self.tree.get("layers").and_then(|layers| layers.get("memory")) == Some(&Tree::Null);
        self.has_unlisted_memories = !is_null || !self.partitions.is_empty();
    }

    /// Fails if the memory layer has no list of partitions. Such an archive is only read, not changed.
    pub(super) fn refuse_unlisted_memories(&self, archive: &Archive<'_>) -> Result<(), FormatError> {
        match self.has_unlisted_memories {
            true => Err(FormatError::invalid("partitions_not_listed", &archive.place, NO_PARTITION_LIST)),
            false => Ok(()),
        }
    }

    /// Reads the manifest of an archive.
    pub(super) fn read(archive: &Archive<'_>, limits: &Limits) -> Result<Self, FormatError> {
        let entry = archive.entry(MANIFEST_FILE);
        let entry = entry.ok_or_else(|| FormatError::invalid("manifest_missing", &archive.place, "none"))?;
        let mut manifest = Self::parse(&archive.text(entry, limits)?, &entry.place, limits)?;
        manifest.find_partitions(archive);
        Ok(manifest)
    }

    /// Parses the manifest. The error is `Version` for an unsupported version, `Invalid` if the text is not a manifest.
    pub(super) fn parse(text: &str, place: &str, limits: &Limits) -> Result<Self, FormatError> {
        let invalid_manifest = |message: String| FormatError::invalid("manifest_invalid", place, message);
        let tree = parse_tree(text, place, limits)?;
        let version =
            tree.get("alf_version").and_then(Tree::as_str).ok_or_else(|| invalid_manifest("no alf_version".into()))?;
        let version = version.to_owned();
        check_version(&version, place)?;
        let agent = tree.get("agent").and_then(|a| a.get("id")).and_then(Tree::as_str).filter(|a| !a.is_empty());
        // The id is stored in lower case for comparisons, because a delta may state it in another letter case.
        let agent = agent.ok_or_else(|| invalid_manifest("no agent id".into()))?.to_ascii_lowercase();
        // Refuses a manifest without `layers`, because otherwise an archive with records would be read as an empty
        // archive.
        let layers = tree.get("layers").filter(|layers| matches!(layers, Tree::Object(_)));
        let memory = layers.ok_or_else(|| invalid_manifest("no layers".into()))?.get("memory");
        let partitions = match memory.map(|memory| memory.get("partitions")) {
            None => Some(vec![]),
            Some(Some(Tree::Array(rows))) => Some(rows.iter().map(partition).collect()),
            Some(_) => None,
        };
        let is_unlisted = partitions.is_none();
        let mut manifest = Self::new(tree, version, agent, partitions.unwrap_or_default());
        manifest.has_unlisted_memories = is_unlisted;
        let documents = ["identity", "principals", "credentials", "attachments"];
        // Repeated partitions are compared as one, because a partition that is listed twice has a different error code.
        let partitions: BTreeSet<&str> = manifest.partitions.iter().map(|row| row.file.as_str()).collect();
        refuse_shared_files(documents.into_iter().filter_map(|l| manifest.layer_file(l)).chain(partitions), place)?;
        Ok(manifest)
    }

    /// The value of `layers.<layer>.file`.
    pub(super) fn layer_file(&self, layer: &str) -> Option<&str> {
        self.tree.get("layers")?.get(layer)?.get("file")?.as_str()
    }

    /// True if the manifest has a layer, but does not name its file. A layer that is null counts as absent, unless the
    /// archive has the usual file of this layer.
    pub(super) fn has_unnamed_file(&self, layer: &str, archive: &Archive<'_>) -> bool {
        let row = self.tree.get("layers").and_then(|layers| layers.get(layer));
        let is_stated = |row: &Tree| *row != Tree::Null || archive.entry(&format!("{layer}.json")).is_some();
        self.layer_file(layer).is_none() && row.is_some_and(is_stated)
    }

    /// The value of `layers.memory.index_file`.
    pub(super) fn index_file(&self) -> Option<&str> {
        self.tree.get("layers")?.get("memory")?.get("index_file")?.as_str()
    }

    /// Files of layers that this version of the format does not define.
    pub(super) fn unknown_layer_files(&self) -> Vec<&str> {
        const KNOWN_LAYERS: [&str; 5] = ["identity", "principals", "credentials", "memory", "attachments"];
        match self.tree.get("layers") {
            Some(Tree::Object(layers)) => layers
                .iter()
                .filter(|(name, _)| !KNOWN_LAYERS.contains(&name.as_str()))
                .filter_map(|(_, layer)| layer.get("file")?.as_str())
                .collect(),
            _ => vec![],
        }
    }

    /// All files that the manifest lists, except the memory index.
    pub(super) fn named_files(&self) -> Vec<&str> {
        let layers = ["identity", "principals", "credentials", "attachments"];
        let mut files: Vec<&str> = layers.iter().filter_map(|l| self.layer_file(l)).collect();
        files.extend(self.partitions.iter().map(|p| p.file.as_str()));
        files.extend(self.unknown_layer_files());
        files
    }

    /// A value from our extension slot in the manifest.
    pub(super) fn vendor(&self, key: &str) -> Option<&Tree> {
        slot::vendor_slot(&self.tree).filter(|_| self.restores)?.get(key)
    }

    /// True if our slot assigns elements or entries to several sources or workspaces. Without the slot, such an archive
    /// cannot be written back.
    pub(super) fn has_several_sources(&self) -> bool {
        let is_filled = |key: &&str| self.vendor(key).is_some_and(|value| *value != Tree::Object(vec![]));
        ["scopes", "entries", "workspaces", "lineage"].iter().any(is_filled)
    }

    /// `sync.last_sequence` of the archive at `place`. 0 if it was never synchronised.
    ///
    /// # Errors
    /// `manifest_invalid` if it is not a whole number of at most 64 bits. Such a value must not be read as 0, because a
    /// delta that starts at 0 would then be accepted.
    pub(super) fn sequence(&self, place: &str) -> Result<u64, FormatError> {
        match self.tree.get("sync").and_then(|sync| sync.get("last_sequence")) {
            None | Some(Tree::Null) => Ok(0),
            stated => number(stated).ok_or_else(|| FormatError::invalid("manifest_invalid", place, SEQUENCE_FAULT)),
        }
    }

    /// `created_at`: the time at which the archive was made.
    pub(super) fn created(&self) -> Option<Timestamp> {
        self.tree.get("created_at")?.as_str().and_then(Timestamp::parse)
    }

    /// `sync.last_sync_at`: the time at which the archive reached its current sequence number.
    pub(super) fn sync_time(&self) -> Option<String> {
        self.tree.get("sync")?.get("last_sync_at")?.as_str().map(str::to_owned)
    }

    /// True if Mementory generated the agent, and thus the whole manifest.
    pub(super) fn is_generated(&self) -> bool {
        self.vendor("generated") == Some(&Tree::Bool(true))
    }

    /// True if an element belongs to an agent other than the manifest's. Always false in a file that Mementory
    /// generated, because such a file may contain several agents.
    pub(super) fn is_foreign(&self, agent: Option<&str>) -> bool {
        let stated_agent = agent.filter(|agent| !agent.is_empty());
        stated_agent.is_some_and(|agent| !agent.eq_ignore_ascii_case(&self.agent)) && !self.is_generated()
    }

    /// Id space of the element or line with this id and this `agent_id`. All elements of one agent have the same id
    /// space. In a file with several sources, the manifest lists the elements with a different id space.
    pub(super) fn scope_of(&self, id: &str, agent_id: Option<&str>) -> String {
        let listed_scope = self.listed_scope(id).and_then(|row| row.get("scope")?.as_str()).map(str::to_owned);
        let agent = agent_id.filter(|_| self.is_generated()).unwrap_or(&self.agent);
        listed_scope.unwrap_or_else(|| scope_of_agent(agent))
    }

    /// The scope and runtime that the manifest lists for the element or line with this id. Ids are looked up through an
    /// index, because there may be as many ids as lines.
    fn listed_scope(&self, id: &str) -> Option<&Tree> {
        let Some(Tree::Object(scopes)) = self.vendor("scopes") else { return None };
        let positions = self.scopes.get_or_init(|| {
            // If several members have the same id, the last one counts, as for all JSON objects.
            scopes.iter().enumerate().map(|(at, (id, _))| (id.clone(), at)).collect()
        });
        scopes.get(*positions.get(id)?).map(|(_, row)| row)
    }

    /// The runtime listed in the manifest for the element with this id, otherwise the agent's runtime, otherwise `alf`.
    pub(super) fn runtime_of(&self, id: &str) -> &str {
        let listed_runtime = self.listed_scope(id).and_then(|row| row.get("runtime")?.as_str());
        let runtime_of_agent = || self.tree.get("agent").and_then(|a| a.get("source_runtime")).and_then(Tree::as_str);
        listed_runtime.or_else(runtime_of_agent).unwrap_or("alf")
    }

    /// Returns an issue if the manifest has a checksum with an unknown definition, which cannot be verified. A checksum
    /// with our definition is verified by the validator instead.
    pub(super) fn checksum_issue(&self, place: &str) -> Option<Issue> {
        self.tree.get("checksum")?;
        let has_our_definition = self.tree.get("checksum_scope").and_then(Tree::as_str) == Some(CHECKSUM_SCOPE);
        let message = "the definition of this file's checksum is not known, so it was not verified";
        (!has_our_definition).then(|| Issue::new("checksum_not_verifiable", place, message))
    }
}

/// Parses the JSON of a manifest or of a delta's manifest.
///
/// # Errors
/// `manifest_invalid` if the text is not JSON, or if an object that the format defines has a key twice. Programs differ
/// in which of the two values they use, so they would read different layers, or the records of different agents.
pub(super) fn parse_tree(text: &str, place: &str, limits: &Limits) -> Result<Tree, FormatError> {
    let invalid_manifest = |message: String| FormatError::invalid("manifest_invalid", place, message);
    let tree = Tree::parse(text, limits).map_err(|e| invalid_manifest(e.to_string()))?;
    // Members that the format does not define are not read, so their content does not matter.
    let mut defined = ["agent", "sync", "layers", "changes"].iter().filter_map(|key| tree.get(key));
    if tree.repeats_a_key() || defined.any(Tree::repeats_a_key_at_any_depth) {
        return Err(invalid_manifest("an object has one key more than once".into()));
    }
    Ok(tree)
}

/// Id space of the elements of an agent.
pub(super) fn scope_of_agent(agent: &str) -> String {
    format!("alf:{}", agent.to_ascii_lowercase())
}

/// Refuses major versions other than 1 and texts that are not versions.
pub(super) fn check_version(version: &str, place: &str) -> Result<(), FormatError> {
    let major = version.split('.').next().unwrap_or_default();
    if major.is_empty() || !major.bytes().all(|b| b.is_ascii_digit()) {
        return Err(FormatError::invalid("manifest_invalid", place, "alf_version is not a version"));
    }
    match major.trim_start_matches('0') {
        "1" => Ok(()),
        _ => Err(FormatError::Version { place: place.into(), version: version.to_owned() }),
    }
}

/// A whole number of at least 0. `2.0` is whole, as in JSON Schema.
pub(super) fn number(tree: Option<&Tree>) -> Option<u64> {
    let Some(Tree::Number(text)) = tree else { return None };
    let float = || text.parse::<f64>().ok().filter(|f| is_whole(text) && (0.0..9e15).contains(f)).map(|f| f as u64);
    text.parse().ok().or_else(float)
}

/// Like [`number`], for a stated count or size that is compared with the actual count or size. A number that exceeds 64
/// bits becomes `u64::MAX`, so that it is reported as wrong instead of being ignored as missing.
pub(super) fn stated_count(tree: Option<&Tree>) -> Option<u64> {
    let is_larger = |text: &str| text.parse::<f64>().is_ok_and(|value| value >= 9e15);
    let largest = || matches!(tree, Some(Tree::Number(text)) if is_larger(text)).then_some(u64::MAX);
    number(tree).or_else(largest)
}

fn partition(row: &Tree) -> Partition {
    let text = |key: &str| row.get(key).and_then(Tree::as_str).map(str::to_owned);
    let count = stated_count(row.get("record_count"));
    Partition { file: text("file").unwrap_or_default(), from: text("from"), to: text("to"), count }
}
