//! First pass of an export: determines the agent of the file, the id of each line, and the size of each partition.
mod workspace_agent;

use super::compose;
use super::document_row::Row;
use super::identity;
use super::invalid_layer_values;
use super::invalid_values;
use super::lineage::Lineage;
use super::partitions::{Period, stable_v5, stable_v7};
use super::wire;
use super::workspace_origin;
use mementory_format::{FormatError, RecordSource, SourceDescription, StoredRecord};
use mementory_json::Tree;
use mementory_model::{AttachmentRef, Kind, LossKind, LossReport, Record, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The element of an ALF archive that a record was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AlfElement {
    /// A memory line.
    Line,
    /// The identity document.
    Identity,
    /// An element of the list document with this layer name.
    Row(&'static str),
}

/// The kind of ALF element that the record was read from, according to its origin. None for records of other formats.
pub(super) fn alf_element(record: &Record) -> Option<AlfElement> {
    if record.origin.format != "alf" || record.verbatim.is_none() {
        return None;
    }
    let pointer = record.origin.pointer.as_str();
    let row = |layer: &'static str| {
        pointer.strip_prefix('/')?.strip_prefix(layer)?.starts_with('/').then_some(AlfElement::Row(layer))
    };
    match pointer {
        "" if record.kind == Kind::Profile => Some(AlfElement::Identity),
        _ if pointer.starts_with("line ") => Some(AlfElement::Line),
        _ => row("principals").or_else(|| row("credentials")).or_else(|| row("attachments")),
    }
}

/// A file that was not read from an ALF archive.
pub(super) struct ForeignFile {
    /// Reference to the file, copied from the first record that refers to it. If there is no such record, it is
    /// generated from the attachment record.
    pub reference: AttachmentRef,
    /// Ids of the memory lines that refer to the file.
    pub referenced_by: Vec<String>,
}

/// The agent of the workspace that all exported records are from.
#[derive(Debug, Clone)]
pub(super) struct SoleWorkspace {
    /// Id of the runtime.
    pub runtime: &'static str,
    /// Name of the agent.
    pub name: String,
}

/// The content of an export, as the first pass determines it.
#[derive(Default)]
pub(super) struct ExportPlan {
    /// Id of the exported agent: a generated agent that represents the vault, or the agent of the sole workspace. Not
    /// used when an imported ALF agent is exported.
    pub agent: String,
    /// Ids of the agents whose records are exported.
    pub agents: BTreeSet<String>,
    /// True if any record is not from an ALF archive.
    pub has_non_alf: bool,
    /// True if any record is neither from an ALF archive nor from a workspace.
    pub has_other_formats: bool,
    /// Number of records of each workspace, by its id space.
    pub workspaces: BTreeMap<String, u64>,
    /// The agent of the workspace, if all exported records are from one workspace.
    pub sole_workspace: Option<SoleWorkspace>,
    /// Versions of the workspace's identity and of its memories.
    pub lineage: Option<Lineage>,
    /// Vault ids of the records that are written into the identity or the principals.
    pub in_documents: HashSet<String>,
    /// Number of lines and their estimated bytes, by month. [`ExportPlan::choose_periods`] then merges the months into
    /// the periods of the partitions.
    pub periods: BTreeMap<Period, (u64, u64)>,
    /// Elements of the layer documents by layer. The identity document is a single element.
    pub rows: BTreeMap<&'static str, Vec<Row>>,
    /// Id and id space of each line whose id space is not the one derived from its `agent_id`.
    pub scopes: Vec<(String, String)>,
    /// Files of other formats, by vault id.
    pub files: BTreeMap<String, ForeignFile>,
    /// Vault id of the record that is the archive's identity.
    pub identity: Option<String>,
    /// True if any record has an embedding.
    pub has_embeddings: bool,
    /// Number of records by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// Losses found so far.
    pub losses: LossReport,
    /// The ids in the archive that are UUIDs, by vault id. Both ids are stored as numbers to save memory.
    uuids: HashMap<u128, u128>,
    /// All other ids in the archive, by vault id.
    texts: HashMap<String, String>,
    conversations: HashMap<u128, Timestamp>,
    /// Hashes of the lower-case ids in the archive so far, by which repeated ids are found.
    line_ids: HashSet<u64>,
    /// Vault ids of the records whose id another record of the archive also has.
    repeated_ids: HashSet<String>,
    /// Layer and id of the elements of list documents so far.
    element_ids: HashSet<(&'static str, String)>,
}

impl ExportPlan {
    /// Creates the plan of an export. Visits all records once.
    pub(super) fn collect(source: &mut dyn RecordSource) -> Result<Self, FormatError> {
        let mut plan = Self { agent: vault_agent(&source.description()), ..Self::default() };
        let (mut alf_files, mut profiles, mut credentials) = (HashSet::new(), Vec::new(), Vec::new());
        let mut identity: Option<StoredRecord> = None;
        source.records(&mut |stored| {
            *plan.by_kind.entry(stored.record.kind.as_str().to_owned()).or_default() += 1;
            let element = alf_element(&stored.record);
            match (element, stored.record.key.scope.strip_prefix("alf:")) {
                (Some(_), Some(agent)) => drop(plan.agents.insert(agent.to_owned())),
                _ => {
                    plan.has_non_alf = true;
                    plan.has_other_formats |= !workspace_origin::count_record(&mut plan.workspaces, &stored.record);
                }
            }
            match element {
                // An archive has one identity. The newest identity is used, and any other becomes a memory line.
                Some(AlfElement::Identity) => {
                    let updated = stored.record.times.updated;
                    let is_newer = identity.as_ref().is_none_or(|other| updated > other.record.times.updated);
                    let older_identity = if is_newer { identity.replace(stored) } else { Some(stored) };
                    older_identity.iter().for_each(|older_identity| plan.add_line(older_identity, false));
                }
                Some(AlfElement::Row(layer)) => {
                    let file = stored.attachment_ids.first().cloned().filter(|_| layer == "attachments");
                    alf_files.extend(file.clone());
                    plan.add_row(layer, &stored, file);
                }
                None if stored.record.kind == Kind::Credential => credentials.push(stored),
                None if workspace_origin::is_profile(&stored.record) => profiles.push(stored),
                _ => plan.add_line(&stored, element.is_some()),
            }
            Ok(())
        })?;
        if let Some(stored) = identity {
            plan.add_row("identity", &stored, None);
            plan.identity = Some(stored.id);
        }
        for stored in workspace_agent::add_profiles(source, &mut plan, profiles)? {
            plan.add_line(&stored, false);
        }
        for stored in credentials {
            plan.add_foreign_credential(&stored);
        }
        plan.files.retain(|id, _| !alf_files.contains(id));
        Ok(plan)
    }

    /// Id of the agent, if all records are from ALF archives of the same agent.
    pub(super) fn single_agent(&self) -> Option<&str> {
        match (self.has_non_alf, self.agents.len()) {
            (false, 1) => self.agents.first().map(String::as_str),
            _ => None,
        }
    }

    /// True if the second pass writes the record as a memory line instead of into a document.
    pub(super) fn is_line(&self, stored: &StoredRecord) -> bool {
        match alf_element(&stored.record) {
            Some(AlfElement::Line) => true,
            Some(AlfElement::Identity) => self.identity.as_deref() != Some(stored.id.as_str()),
            Some(AlfElement::Row(_)) => false,
            None => stored.record.kind != Kind::Credential && !self.in_documents.contains(&stored.id),
        }
    }

    fn add_row(&mut self, layer: &'static str, stored: &StoredRecord, file: Option<String>) {
        let record = &stored.record;
        let verbatim = record.verbatim.as_ref().map_or("", |v| v.text.as_str());
        let mut text = stored.edited.then(|| identity::patch(record, verbatim)).flatten();
        let agent = record.key.scope.strip_prefix("alf:").unwrap_or(&self.agent);
        let current = text.as_deref().unwrap_or(verbatim);
        if let Some((valid, members)) = invalid_layer_values::move_invalid_values(layer, current, agent) {
            let original_members = wire::members(current);
            for member in members {
                let (kind, note) = match original_members.as_ref().and_then(|members| members.get(&member)) {
                    Some(_) => (LossKind::MovedToExtension, INVALID_MEMBER_NOTE),
                    None => (LossKind::Narrowed, MISSING_FIELD_NOTE),
                };
                self.losses.add(&stored.id, &member, kind, note);
            }
            text = Some(valid);
        }
        let current = text.as_deref().unwrap_or(verbatim);
        let is_taken = |id: &str| !self.element_ids.insert((layer, id.to_ascii_lowercase()));
        if let Some(renamed_element) = invalid_layer_values::with_unique_id(layer, current, &record.key, is_taken) {
            self.losses.add(&stored.id, "id", LossKind::MovedToExtension, REPEATED_ID_NOTE);
            text = Some(renamed_element);
        }
        self.rows.entry(layer).or_default().push(Row {
            value: record.key.value.clone(),
            scope: record.key.scope.clone(),
            runtime: record.source.platform.clone(),
            text: text.unwrap_or_else(|| verbatim.to_owned()),
            file,
        });
    }

    fn add_foreign_credential(&mut self, stored: &StoredRecord) {
        let text = super::write_documents::credential_row(stored, &self.agent);
        self.losses.add(&stored.id, "kind", LossKind::MovedToExtension, "written as a credential without a payload");
        let (value, scope, runtime) = (stored.id.clone(), String::new(), String::new());
        self.rows.entry("credentials").or_default().push(Row { value, scope, runtime, text, file: None });
    }

    fn add_line(&mut self, stored: &StoredRecord, is_from_alf: bool) {
        let record = &stored.record;
        let created = self.partition_time(stored);
        if record.kind == Kind::Conversation
            && let (Some(time), Ok(id)) = (record.times.created, u128::from_str_radix(&stored.id, 16))
        {
            self.conversations.insert(id, time);
        }
        let verbatim = record.verbatim.as_ref().map_or(0, |v| v.text.len());
        let bytes = if is_from_alf { verbatim } else { record.text.len() + verbatim + verbatim / 8 + 2048 };
        let month = self.periods.entry(Period::month(created)).or_default();
        *month = (month.0 + 1, month.1 + bytes as u64);
        let mut id = match is_from_alf {
            true => record.origin_id.clone().unwrap_or_else(|| record.key.value.clone()),
            false => stable_v7(created, &stored.id).hyphenated().to_string(),
        };
        if !self.line_ids.insert(hash_of(&id.to_ascii_lowercase())) && is_from_alf {
            id = record.key.value.clone();
            self.repeated_ids.insert(stored.id.clone());
            self.losses.add(&stored.id, "id", LossKind::MovedToExtension, REPEATED_ID_NOTE);
        }
        if is_from_alf
            && let (Some(agent), Some(v)) = (record.key.scope.strip_prefix("alf:"), &record.verbatim)
            && wire::agent_of(&v.text).is_none_or(|stated| !stated.eq_ignore_ascii_case(agent))
        {
            self.scopes.push((id.clone(), record.key.scope.clone()));
        }
        for (reference, file) in record.attachments.iter().zip(&stored.attachment_ids) {
            let entry = self.files.entry(file.clone());
            let entry = entry.or_insert_with(|| ForeignFile { reference: reference.clone(), referenced_by: vec![] });
            entry.referenced_by.push(id.clone());
        }
        if record.kind == Kind::Attachment {
            // A file that no record refers to is exported too.
            let entry = self.files.entry(stored.id.clone());
            entry.or_insert_with(|| ForeignFile { reference: reference_to(record), referenced_by: vec![] });
        }
        self.has_embeddings |= !record.embeddings.is_empty();
        if !is_from_alf {
            compose::report_losses(stored, &mut self.losses);
        } else if record.kind == Kind::Memory
            && let Some((tree, is_repaired)) =
                record.verbatim.as_ref().and_then(|v| invalid_values::parse_line(&v.text))
        {
            if is_repaired {
                self.losses.add(&stored.id, "text", LossKind::Narrowed, REPAIRED_LINE_NOTE);
            }
            let pointers = invalid_values::find_invalid_values(&tree);
            let members: BTreeSet<&str> = pointers.iter().filter_map(|pointer| pointer.split('/').nth(1)).collect();
            for member in members {
                let (kind, note) = match tree.get(member) {
                    Some(_) => (LossKind::MovedToExtension, INVALID_VALUE_NOTE),
                    None => (LossKind::Narrowed, MISSING_FIELD_NOTE),
                };
                self.losses.add(&stored.id, member, kind, note);
            }
        }
        let number = uuid::Uuid::parse_str(&id).ok().filter(|u| u.hyphenated().to_string() == id);
        match (u128::from_str_radix(&stored.id, 16), number) {
            (Ok(key), Some(uuid)) => drop(self.uuids.insert(key, uuid.as_u128())),
            _ => drop(self.texts.insert(stored.id.clone(), id)),
        }
    }

    /// Chooses the periods of the partitions (spec §4.1.1). If the agent's manifest has monthly partitions, all periods
    /// are months. Otherwise they are quarters, but a quarter with more than [`MAX_LINES_PER_QUARTER`] lines is split
    /// into months.
    pub(super) fn choose_periods(&mut self, manifest: Option<&Tree>) {
        let mut quarters = BTreeMap::<Period, (u64, u64)>::new();
        for (month, (lines, bytes)) in &self.periods {
            let quarter = quarters.entry(month.to_quarter()).or_default();
            *quarter = (quarter.0 + lines, quarter.1 + bytes);
        }
        let has_months = manifest.is_some_and(is_monthly);
        self.periods.retain(|month, _| {
            has_months || quarters.get(&month.to_quarter()).is_some_and(|q| q.0 > MAX_LINES_PER_QUARTER)
        });
        let quarters_split_into_months: BTreeSet<Period> =
            self.periods.keys().map(|month| month.to_quarter()).collect();
        self.periods.extend(quarters.into_iter().filter(|(quarter, _)| !quarters_split_into_months.contains(quarter)));
    }

    /// The period of the partition that contains a time.
    pub(super) fn period_of(&self, created: Timestamp) -> Period {
        let month = Period::month(created);
        if self.periods.contains_key(&month) { month } else { month.to_quarter() }
    }

    /// The id of a record's line in the archive.
    pub(super) fn id_of(&self, vault_id: &str) -> Option<String> {
        let number = u128::from_str_radix(vault_id, 16).ok().and_then(|key| self.uuids.get(&key));
        match number {
            Some(uuid) => Some(uuid::Uuid::from_u128(*uuid).hyphenated().to_string()),
            None => self.texts.get(vault_id).cloned(),
        }
    }

    /// True if another record of the archive has the same id as this record, so that the line of this record gets
    /// another id.
    pub(super) fn has_repeated_id(&self, vault_id: &str) -> bool {
        self.repeated_ids.contains(vault_id)
    }

    /// The time that determines the partition of a record: the first known of creation, update, observation, start of
    /// validity and creation of its conversation; otherwise 1970.
    pub(super) fn partition_time(&self, stored: &StoredRecord) -> Timestamp {
        let t = &stored.record.times;
        let conversation = stored.parent_id.as_deref().and_then(|id| u128::from_str_radix(id, 16).ok());
        let conversation = conversation.and_then(|id| self.conversations.get(&id).copied());
        t.created.or(t.updated).or(t.observed).or(t.valid_from).or(conversation).unwrap_or(Timestamp::EPOCH)
    }
}

/// Loss note for a value that the specification forbids.
const INVALID_VALUE_NOTE: &str = "the specification forbids this value: it is in raw_source_format.mementory_forbidden";

/// Loss note for a field that the specification requires and the source lacks.
const MISSING_FIELD_NOTE: &str = "the specification requires this field: a default is written";

/// Loss note for a line that is not valid JSON.
const REPAIRED_LINE_NOTE: &str = "half of a surrogate pair is not a character: U+FFFD is written in its place";

/// Loss note for a member of a document with a value that the specification forbids.
const INVALID_MEMBER_NOTE: &str =
    "the specification forbids a value in this member: the member as it was is in mementory_forbidden";

/// Loss note for an id that another record or element of the archive also has.
const REPEATED_ID_NOTE: &str = "another has the same id: this one gets another, and its own is in mementory_forbidden";

fn hash_of(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// Largest number of lines in a quarterly partition. A quarter with more lines is split into months.
pub(super) const MAX_LINES_PER_QUARTER: u64 = 100_000;

/// True if any partition in the manifest covers one calendar month.
fn is_monthly(manifest: &Tree) -> bool {
    let Some(Tree::Array(rows)) =
        manifest.get("layers").and_then(|l| l.get("memory")).and_then(|m| m.get("partitions"))
    else {
        return false;
    };
    let day = |row: &Tree, key: &str| row.get(key).and_then(Tree::as_str).map(str::to_owned);
    let mut ranges = rows.iter().filter_map(|row| Some((day(row, "from")?, day(row, "to")?)));
    ranges.any(|(from, to)| {
        from.ends_with("-01") && from.get(..7) == to.get(..7) && to.get(8..).is_some_and(|d| d >= "28")
    })
}

/// A reference to the file that an attachment record describes. Its size is None, because the record does not state the
/// size.
fn reference_to(record: &Record) -> AttachmentRef {
    AttachmentRef {
        key: record.key.clone(),
        origin_id: record.origin_id.clone(),
        name: record.title.clone().unwrap_or_else(|| record.key.value.clone()),
        media_type: record.record_type.clone(),
        size: None,
        text: None,
    }
}

/// Id of the generated agent that represents a vault.
pub(super) fn vault_agent(description: &SourceDescription) -> String {
    stable_v5(&format!("agent:{}", description.vault_id)).hyphenated().to_string()
}
