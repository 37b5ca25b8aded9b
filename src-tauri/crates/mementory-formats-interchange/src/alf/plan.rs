//! First pass over what is to be written: whose file is it, which id has each record, how large is each partition.
use super::compose;
use super::identity;
use super::lineage::Lineage;
use super::partitions::{Period, stable_v5, stable_v7};
use super::workspaces::{self, Home};
use mementory_format::{FormatError, RecordSource, SourceAbout, StoredRecord};
use mementory_json::Tree;
use mementory_model::{AttachmentRef, Kind, LossKind, LossReport, Record, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Which part of an ALF file a record came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// A memory line.
    Line,
    /// The identity document.
    Identity,
    /// An element of the list document with this layer name.
    Row(&'static str),
}

/// Where in an ALF file a record was read, if it was; the reader says it in the origin.
pub(super) fn own(record: &Record) -> Option<Own> {
    if record.origin.format != "alf" || record.verbatim.is_none() {
        return None;
    }
    let pointer = record.origin.pointer.as_str();
    let row = |layer: &'static str| {
        pointer.strip_prefix('/')?.strip_prefix(layer)?.starts_with('/').then_some(Own::Row(layer))
    };
    match pointer {
        "" if record.kind == Kind::Profile => Some(Own::Identity),
        _ if pointer.starts_with("line ") => Some(Own::Line),
        _ => row("principals").or_else(|| row("credentials")).or_else(|| row("attachments")),
    }
}

/// An element of a list document, or the identity.
#[derive(Clone)]
pub(super) struct Row {
    /// Slot in its skeleton.
    pub value: String,
    /// Its id space.
    pub scope: String,
    /// Runtime it came from.
    pub runtime: String,
    /// Its JSON.
    pub text: String,
    /// Vault id of its file, for attachment rows.
    pub file: Option<String>,
}

/// A file that records of other formats name.
pub(super) struct ForeignFile {
    /// The file, as its first record names it.
    pub reference: AttachmentRef,
    /// Memory lines that name it.
    pub referenced_by: Vec<String>,
}

/// What is to be written.
#[derive(Default)]
pub(super) struct Plan {
    /// Agent that stands for the vault.
    pub agent: String,
    /// Agents whose records are in scope.
    pub agents: BTreeSet<String>,
    /// True when any record is not from an ALF file.
    pub others: bool,
    /// True when any record is neither from an ALF file nor from a workspace.
    pub strangers: bool,
    /// Records of each workspace, by its id space.
    pub homes: BTreeMap<String, u64>,
    /// The workspace that all of it is, if so.
    pub home: Option<Home>,
    /// Versions of its identity, and which of them its memories belong to.
    pub lineage: Option<Lineage>,
    /// Records (vault ids) that identity or principals hold.
    pub documented: HashSet<String>,
    /// Lines and an estimate of their bytes, by month; after [`Plan::settle_periods`] by partition.
    pub periods: BTreeMap<Period, (u64, u64)>,
    /// Rows by layer; `identity` too.
    pub rows: BTreeMap<&'static str, Vec<Row>>,
    /// Lines whose id space is not that of the agent they name: id and space.
    pub scopes: Vec<(String, String)>,
    /// Files of other formats by vault id.
    pub files: BTreeMap<String, ForeignFile>,
    /// Vault id of the record that is the file's identity.
    pub identity: Option<String>,
    /// Any vectors?
    pub has_embeddings: bool,
    /// Records by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// Losses so far.
    pub losses: LossReport,
    /// Line ids by vault id: UUIDs as numbers (a million must fit in memory), anything else as text.
    uuids: HashMap<u128, u128>,
    texts: HashMap<String, String>,
    conversations: HashMap<u128, Timestamp>,
}

impl Plan {
    /// Goes through all records once.
    pub(super) fn survey(source: &mut dyn RecordSource) -> Result<Self, FormatError> {
        let mut plan = Self { agent: vault_agent(&source.about()), ..Self::default() };
        let (mut own_files, mut profiles, mut credentials) = (HashSet::new(), Vec::new(), Vec::new());
        source.records(&mut |stored| {
            *plan.by_kind.entry(stored.record.kind.as_str().to_owned()).or_default() += 1;
            let found = own(&stored.record);
            match (found, stored.record.key.scope.strip_prefix("alf:")) {
                (Some(_), Some(agent)) => drop(plan.agents.insert(agent.to_owned())),
                _ => {
                    plan.others = true;
                    plan.strangers |= !workspaces::count(&mut plan.homes, &stored.record);
                }
            }
            match found {
                // one file has one identity: the first is it, others travel whole as memory lines
                Some(Own::Identity) if plan.identity.is_none() => {
                    plan.identity = Some(stored.id.clone());
                    plan.row("identity", &stored, None);
                }
                Some(Own::Identity) => plan.line(&stored, false),
                Some(Own::Row(layer)) => {
                    let file = stored.attachment_ids.first().cloned().filter(|_| layer == "attachments");
                    own_files.extend(file.clone());
                    plan.row(layer, &stored, file);
                }
                None if stored.record.kind == Kind::Credential => credentials.push(stored),
                None if workspaces::is_profile(&stored.record) => profiles.push(stored),
                _ => plan.line(&stored, found.is_some()),
            }
            Ok(())
        })?;
        for stored in workspaces::settle(source, &mut plan, profiles)? {
            plan.line(&stored, false);
        }
        for stored in credentials {
            plan.foreign_credential(&stored);
        }
        plan.files.retain(|id, _| !own_files.contains(id));
        Ok(plan)
    }

    /// The single agent that everything came from, if so.
    pub(super) fn single_agent(&self) -> Option<&str> {
        match (self.others, self.agents.len()) {
            (false, 1) => self.agents.first().map(String::as_str),
            _ => None,
        }
    }

    /// Whether a record becomes a memory line (in the second pass).
    pub(super) fn is_line(&self, stored: &StoredRecord) -> bool {
        match own(&stored.record) {
            Some(Own::Line) => true,
            Some(Own::Identity) => self.identity.as_deref() != Some(stored.id.as_str()),
            Some(Own::Row(_)) => false,
            None => stored.record.kind != Kind::Credential && !self.documented.contains(&stored.id),
        }
    }

    fn row(&mut self, layer: &'static str, stored: &StoredRecord, file: Option<String>) {
        let record = &stored.record;
        let verbatim = record.verbatim.as_ref().map_or("", |v| v.text.as_str());
        let patched = stored.edited.then(|| identity::patch(record, verbatim)).flatten();
        self.rows.entry(layer).or_default().push(Row {
            value: record.key.value.clone(),
            scope: record.key.scope.clone(),
            runtime: record.source.platform.clone(),
            text: patched.unwrap_or_else(|| verbatim.to_owned()),
            file,
        });
    }

    fn foreign_credential(&mut self, stored: &StoredRecord) {
        let text = super::write_documents::credential_row(stored, &self.agent);
        self.losses.add(&stored.id, "kind", LossKind::MovedToExtension, "written as a credential without a payload");
        let (value, scope, runtime) = (stored.id.clone(), String::new(), String::new());
        self.rows.entry("credentials").or_default().push(Row { value, scope, runtime, text, file: None });
    }

    fn line(&mut self, stored: &StoredRecord, own: bool) {
        let record = &stored.record;
        let created = self.created(stored);
        if record.kind == Kind::Conversation
            && let (Some(time), Ok(id)) = (record.times.created, u128::from_str_radix(&stored.id, 16))
        {
            self.conversations.insert(id, time);
        }
        let verbatim = record.verbatim.as_ref().map_or(0, |v| v.text.len());
        let bytes = if own { verbatim } else { record.text.len() + verbatim + verbatim / 8 + 2048 };
        let month = self.periods.entry(Period::month(created)).or_default();
        *month = (month.0 + 1, month.1 + bytes as u64);
        let id = match own {
            true => record.origin_id.clone().unwrap_or_else(|| record.key.value.clone()),
            false => stable_v7(created, &stored.id).hyphenated().to_string(),
        };
        if own
            && let (Some(agent), Some(v)) = (record.key.scope.strip_prefix("alf:"), &record.verbatim)
            && super::wire::agent_of(&v.text).as_deref() != Some(agent)
        {
            self.scopes.push((id.clone(), record.key.scope.clone()));
        }
        for (reference, file) in record.attachments.iter().zip(&stored.attachment_ids) {
            let entry = self.files.entry(file.clone());
            let entry = entry.or_insert_with(|| ForeignFile { reference: reference.clone(), referenced_by: vec![] });
            entry.referenced_by.push(id.clone());
        }
        if record.kind == Kind::Attachment {
            // A file that nothing names travels too.
            let entry = self.files.entry(stored.id.clone());
            entry.or_insert_with(|| ForeignFile { reference: named_by_itself(record), referenced_by: vec![] });
        }
        self.has_embeddings |= !record.embeddings.is_empty();
        if !own {
            compose::losses(stored, &mut self.losses);
        }
        let number = uuid::Uuid::parse_str(&id).ok().filter(|u| u.hyphenated().to_string() == id);
        match (u128::from_str_radix(&stored.id, 16), number) {
            (Ok(key), Some(uuid)) => drop(self.uuids.insert(key, uuid.as_u128())),
            _ => drop(self.texts.insert(stored.id.clone(), id)),
        }
    }

    /// Quarters, or months where the agent's own file has months or a quarter is busy (spec §4.1.1).
    pub(super) fn settle_periods(&mut self, own: Option<&Tree>) {
        let mut quarters = BTreeMap::<Period, (u64, u64)>::new();
        for (month, (lines, bytes)) in &self.periods {
            let quarter = quarters.entry(month.to_quarter()).or_default();
            *quarter = (quarter.0 + lines, quarter.1 + bytes);
        }
        let monthly = own.is_some_and(monthly);
        self.periods.retain(|month, _| monthly || quarters.get(&month.to_quarter()).is_some_and(|q| q.0 > BUSY_LINES));
        let busy: BTreeSet<Period> = self.periods.keys().map(|month| month.to_quarter()).collect();
        self.periods.extend(quarters.into_iter().filter(|(quarter, _)| !busy.contains(quarter)));
    }

    /// The partition of a time.
    pub(super) fn period_of(&self, created: Timestamp) -> Period {
        let month = Period::month(created);
        if self.periods.contains_key(&month) { month } else { month.to_quarter() }
    }

    /// The line id of a record.
    pub(super) fn id_of(&self, vault_id: &str) -> Option<String> {
        let number = u128::from_str_radix(vault_id, 16).ok().and_then(|key| self.uuids.get(&key));
        match number {
            Some(uuid) => Some(uuid::Uuid::from_u128(*uuid).hyphenated().to_string()),
            None => self.texts.get(vault_id).cloned(),
        }
    }

    /// The time by which a record is filed: when it was made, else the nearest time that is known, else 1970.
    pub(super) fn created(&self, stored: &StoredRecord) -> Timestamp {
        let t = &stored.record.times;
        let conversation = stored.parent_id.as_deref().and_then(|id| u128::from_str_radix(id, 16).ok());
        let conversation = conversation.and_then(|id| self.conversations.get(&id).copied());
        let known = t.created.or(t.updated).or(t.observed).or(t.valid_from).or(conversation);
        known.or_else(|| Timestamp::from_micros(0)).unwrap_or_else(Timestamp::now)
    }
}

/// More lines than this in one quarter are filed by month.
pub(super) const BUSY_LINES: u64 = 100_000;

/// Does a manifest file by month? One range of at most 31 days that begins on the first says so.
fn monthly(manifest: &Tree) -> bool {
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

/// A file's record as something that names the file.
fn named_by_itself(record: &Record) -> AttachmentRef {
    AttachmentRef {
        key: record.key.clone(),
        origin_id: record.origin_id.clone(),
        name: record.title.clone().unwrap_or_else(|| record.key.value.clone()),
        media_type: record.record_type.clone(),
        size: None,
        text: None,
    }
}

/// Id and name of the agent that stands for a vault.
pub(super) fn vault_agent(about: &SourceAbout) -> String {
    stable_v5(&format!("agent:{}", about.vault_id)).hyphenated().to_string()
}
