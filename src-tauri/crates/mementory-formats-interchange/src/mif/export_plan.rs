//! Prepares an export: chooses the version to write and the list and id of each record, and collects the frames of
//! imported documents.
use super::{
    compose::{ElementContext, alternative_id, content, element, id_for, own_element, section_for},
    document_frame::{self, DocumentFrame},
    invalid_values::{RenamedIds, find_faults, replace_invalid_values},
    read::shape_of_version,
    schema::NODE_RULE,
    sections::{EDGES_SECTION, MEMORIES_SECTION, NODES_SECTION, RELATIONSHIPS_SECTION, Section, TASKS_SECTION},
    to_record::key,
    wire::{KEY_SCOPE, Shape, json, normalized_id, text},
};
use crate::text_digest::digest;
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions};
use mementory_json::{
    Tree,
    schema::{RepeatedKeys, check},
};
use mementory_model::{Kind, LossKind, LossReport};
use std::{
    collections::{HashMap, HashSet},
    io::Read,
};

/// Nesting depth allowed in a stored frame, larger than the limit for reading a document.
const MAX_DEPTH: u32 = 1024;

/// An element whose id is assigned last, so that the ids of the other elements do not change.
struct WithoutId {
    vault_id: String,
    section: &'static Section,
    /// Original id of the element, and true if the format allows this id.
    original_id: Option<(String, bool)>,
    /// True for the first record with the original id. References to this id refer to that record.
    is_first: bool,
    proposed: String,
}

/// Decisions that are made before anything is written.
pub(super) struct ExportPlan {
    /// Shape of the document to write.
    pub shape: Shape,
    /// True if identifiers are left out.
    pub strip: bool,
    /// Frames of the imported documents, each parsed and as stored in the vault.
    pub frames: Vec<(DocumentFrame, Tree)>,
    /// True if at least one record is not written as the element that it was read from.
    pub has_other_records: bool,
    /// List and id in the file for each vault id.
    ids: HashMap<String, (&'static Section, String)>,
    /// Digests of the ids that are already used in the file. Each digest covers an id and the name of its list.
    used_ids: HashSet<u128>,
    /// Vault ids of the records whose elements get a new id or have a value that the format forbids.
    faulty: HashSet<String>,
    /// New ids of elements whose original id cannot be written.
    pub renamed: RenamedIds,
    /// Losses found while planning.
    pub losses: LossReport,
}

impl ExportPlan {
    /// Makes the plan. Reads all records once, or twice if no version is requested and all imported documents have
    /// version 2.
    pub fn prepare(source: &mut dyn RecordSource, options: &WriteOptions) -> Result<Self, FormatError> {
        let mut plan = Self {
            shape: Shape::V1,
            strip: options.strip_identifiers,
            frames: vec![],
            has_other_records: false,
            ids: HashMap::new(),
            used_ids: HashSet::new(),
            faulty: HashSet::new(),
            renamed: RenamedIds::new(),
            losses: LossReport::default(),
        };
        if !plan.strip {
            plan.collect_frames(source)?;
        }
        plan.shape = match options.version.as_deref() {
            Some(version) => shape_of_version(version).ok_or_else(|| FormatError::Version {
                place: "export".into(),
                version: version.chars().take(20).collect(),
            })?,
            None => plan.default_shape(source)?,
        };
        plan.assign_ids(source)?;
        Ok(plan)
    }

    fn collect_frames(&mut self, source: &mut dyn RecordSource) -> Result<(), FormatError> {
        let Self { frames, losses, .. } = self;
        source.passthrough(KEY_SCOPE, &mut |item, bytes| {
            let mut text = String::new();
            let read = bytes.take(1 << 30).read_to_string(&mut text);
            let tree = read
                .ok()
                .and_then(|_| Tree::parse(&text, MAX_DEPTH).ok())
                .filter(|_| item.name == document_frame::FRAME_FILE);
            match tree.and_then(|tree| Some((document_frame::read(&tree)?, tree))) {
                Some(frame) => frames.push(frame),
                None => {
                    losses.add(&item.name, "part", LossKind::LeftOut, "not a stored document that can be written again")
                }
            }
            Ok(())
        })
    }

    /// Version 2 if all records were read from version 2 documents, otherwise version 1, which the specification
    /// defines.
    fn default_shape(&self, source: &mut dyn RecordSource) -> Result<Shape, FormatError> {
        let all_are_version_2 =
            |frames: &[(DocumentFrame, Tree)]| !frames.is_empty() && frames.iter().all(|(k, _)| k.shape == Shape::V2);
        if !all_are_version_2(&self.frames) {
            return Ok(Shape::V1);
        }
        let mut all_native = true;
        source.records(&mut |stored| {
            all_native &= own_element(&stored.record, Shape::V2).is_some();
            Ok(())
        })?;
        Ok(if all_native { Shape::V2 } else { Shape::V1 })
    }

    fn assign_ids(&mut self, source: &mut dyn RecordSource) -> Result<(), FormatError> {
        let mut without_id: Vec<WithoutId> = Vec::new();
        source.records(&mut |stored| {
            let own_element_tree = if self.strip { None } else { own_element(&stored.record, self.shape) };
            let own_element_tree = own_element_tree.zip(stored.record.verbatim.as_ref());
            let own_element_tree =
                own_element_tree.and_then(|((section, _), v)| Some((section, Tree::parse(&v.text, MAX_DEPTH).ok()?)));
            self.has_other_records |= own_element_tree.is_none();
            let is_assigned = own_element_tree
                .is_some_and(|(section, tree)| self.assign_own_id(&stored, section, tree, &mut without_id));
            if !is_assigned {
                self.assign_new_id(&stored, &mut without_id);
            }
            Ok(())
        })?;
        without_id.sort_by_key(|element| !element.is_first);
        for WithoutId { vault_id, section, original_id, proposed, .. } in without_id {
            let writable = original_id.as_ref().filter(|(_, is_valid)| *is_valid).map(|(id, _)| id.clone());
            let id = match writable.filter(|id| self.claim(section, id)) {
                Some(id) => id,
                None => self.claim_unused(section, &proposed, &vault_id),
            };
            if let Some((original_id, _)) = original_id.filter(|(original_id, _)| *original_id != id) {
                self.faulty.insert(vault_id.clone());
                if !self.used_ids.contains(&id_digest(section, &original_id)) {
                    self.renamed.entry((section.key, original_id)).or_insert_with(|| id.clone());
                }
            }
            self.ids.insert(vault_id, (section, id));
        }
        Ok(())
    }

    /// Assigns an id to a record that is written as the element that it was read from. Returns false if the format
    /// forbids that element and it cannot be repaired.
    fn assign_own_id(
        &mut self,
        stored: &StoredRecord,
        section: &'static Section,
        mut tree: Tree,
        without_id: &mut Vec<WithoutId>,
    ) -> bool {
        let original_id = text(&tree, "id").filter(|id| !id.is_empty()).map(str::to_owned);
        let faults = find_faults(&tree, section, self.shape);
        if faults.has_invalid_value {
            let context = ElementContext { id: &stored.id, related: (vec![], vec![]), ends: None, strip: false };
            // Only elements of these lists may be impossible to repair. In all other lists, every value that the format
            // forbids can be replaced with a member composed from the record.
            if matches!(section.key, "project" | "reminder" | "episode") {
                let composed = element(&stored.record, section, self.shape, &context);
                if replace_invalid_values(&mut tree, section, self.shape, &composed).is_none() {
                    let note = "written to another list, because the format forbids one of its values";
                    self.losses.add(&stored.id, "kind", LossKind::Narrowed, note);
                    return false;
                }
            }
            self.faulty.insert(stored.id.clone());
        }
        let is_key = |id: &String| *section == EDGES_SECTION || stored.record.key == key(section.key, id);
        let is_first = original_id.as_ref().is_none_or(is_key);
        match original_id {
            None if !faults.has_invalid_id => drop(self.ids.insert(stored.id.clone(), (section, String::new()))),
            Some(id) if !faults.has_invalid_id && is_first && self.claim(section, &id) => {
                self.ids.insert(stored.id.clone(), (section, id));
            }
            original_id => without_id.push(WithoutId {
                vault_id: stored.id.clone(),
                section,
                original_id: original_id.map(|id| (id, !faults.has_invalid_id)),
                is_first,
                proposed: self.proposed_id(stored, section),
            }),
        }
        true
    }

    /// Assigns an id to a record of another format.
    fn assign_new_id(&mut self, stored: &StoredRecord, without_id: &mut Vec<WithoutId>) {
        if stored.record.kind == Kind::Relation {
            return; // Nothing refers to a relation, and its list is not known before its ends have ids.
        }
        let section = section_for(stored.record.kind, self.shape, false);
        if *section == NODES_SECTION {
            // The id of a node contains the entity's name. If a name is repeated, a suffix is added.
            let (vault_id, proposed) = (stored.id.clone(), self.proposed_id(stored, section));
            without_id.push(WithoutId { vault_id, section, original_id: None, is_first: false, proposed });
            return;
        }
        let id = self.claim_id_for(stored, section);
        self.ids.insert(stored.id.clone(), (section, id));
    }

    fn proposed_id(&self, stored: &StoredRecord, section: &Section) -> String {
        if *section != NODES_SECTION {
            return id_for(stored, section, self.shape, self.strip);
        }
        let name = stored.record.title.as_deref().filter(|title| !title.is_empty());
        format!("entity:{}", name.unwrap_or_else(|| content(&stored.record)))
    }

    /// Reserves an unused id in this list for a record, and returns the id.
    pub fn claim_id_for(&mut self, stored: &StoredRecord, section: &'static Section) -> String {
        let proposed = self.proposed_id(stored, section);
        self.claim_unused(section, &proposed, &stored.id)
    }

    fn claim_unused(&mut self, section: &Section, proposed: &str, vault_id: &str) -> String {
        let mut id = proposed.to_owned();
        let mut attempt = 0;
        while !self.claim(section, &id) {
            attempt += 1;
            id = alternative_id(proposed, attempt, vault_id, section, self.shape);
        }
        id
    }

    /// Reserves an id in a list. Returns false if another element of the list already has this id.
    fn claim(&mut self, section: &Section, id: &str) -> bool {
        self.used_ids.insert(id_digest(section, id))
    }

    /// Prepares nodes of an imported document that only refer to records. Replaces the ids of records that get new ids,
    /// and leaves out nodes that the format forbids.
    pub fn writable_nodes(&mut self, nodes: Vec<(u64, String)>) -> Vec<(u64, String)> {
        let writable = nodes.into_iter().filter_map(|(index, node)| {
            let mut tree = Tree::parse(&node, MAX_DEPTH).ok()?;
            let id = text(&tree, "id")?.to_owned();
            let lists = [&MEMORIES_SECTION, &TASKS_SECTION];
            let list = lists.into_iter().find(|list| text(&tree, "type") == Some(list.key));
            let new = list.and_then(|list| self.renamed.get(&(list.key, id.clone())).cloned());
            let node = match &new {
                Some(new) => {
                    tree.set("id", Tree::Text(new.clone()));
                    json(&tree)
                }
                None => node,
            };
            let mut is_valid = true;
            check(&tree, &NODE_RULE, RepeatedKeys::Accept, &mut |_, _| is_valid = false);
            (is_valid && self.claim(&NODES_SECTION, &new.unwrap_or(id))).then_some((index, node))
        });
        writable.collect()
    }

    /// True if the element of an unedited record may still need a change.
    pub fn may_change(&self, vault_id: &str) -> bool {
        !self.renamed.is_empty() || self.faulty.contains(vault_id)
    }

    /// List and position of the element that a record was read from, if it is written as that element.
    pub fn own_element(&self, stored: &StoredRecord) -> Option<(&'static Section, u64)> {
        let section_and_position = if self.strip { None } else { own_element(&stored.record, self.shape) };
        section_and_position
            .filter(|(section, _)| self.ids.get(&stored.id).is_some_and(|(assigned, _)| assigned == section))
    }

    /// List and id of a record in the file.
    pub fn id_of(&self, vault_id: &str) -> Option<&(&'static Section, String)> {
        self.ids.get(vault_id).filter(|(_, id)| !id.is_empty())
    }

    /// The list for a composed element and, if it is written as a relation, the ids of both ends.
    pub fn section_and_ends(&self, stored: &StoredRecord) -> (&'static Section, Option<(String, String)>) {
        let record = &stored.record;
        let ends = (record.kind == Kind::Relation).then(|| self.relation_ends(stored)).flatten();
        let section = section_for(record.kind, self.shape, ends.is_some());
        (section, ends.filter(|_| *section == EDGES_SECTION || *section == RELATIONSHIPS_SECTION))
    }

    fn relation_ends(&self, stored: &StoredRecord) -> Option<(String, String)> {
        let links = stored.record.links.iter().zip(&stored.link_ids);
        let possible_ends = links.filter_map(|(link, id)| {
            let (section, id) = self.id_of(id.as_ref()?)?;
            let is_possible_end = match self.shape {
                Shape::V1 => ["memory", "todo", "node"].contains(&section.key),
                Shape::V2 => section.key == "entity",
            };
            is_possible_end.then_some((link.relation.as_str(), id.clone()))
        });
        let possible_ends: Vec<(&str, String)> = possible_ends.collect();
        let end_of = |relation: &str| possible_ends.iter().find(|(r, _)| *r == relation).map(|(_, id)| id.clone());
        let first_two = || possible_ends.first().zip(possible_ends.get(1)).map(|(a, b)| (a.1.clone(), b.1.clone()));
        end_of("source").zip(end_of("target")).or_else(first_two)
    }

    /// Ids of the memories and todos that a record is linked to.
    pub fn linked_ids(&self, stored: &StoredRecord) -> (Vec<String>, Vec<String>) {
        let (mut memories, mut todos): (Vec<String>, Vec<String>) = (vec![], vec![]);
        let linked_ids = stored.link_ids.iter().flatten();
        let linked_ids = linked_ids.chain(&stored.parent_id).chain(&stored.message_parent_id);
        for (section, id) in linked_ids.filter_map(|id| self.id_of(id)) {
            let list = match section.key {
                "memory" => &mut memories,
                "todo" => &mut todos,
                _ => continue,
            };
            if !list.contains(id) {
                list.push(id.clone());
            }
        }
        (memories, todos)
    }

    /// Returns the frame of the imported document if the records can be written into it: it must be the only imported
    /// document and have the shape to be written, all records must be written as its elements, and identifiers must not
    /// be left out.
    pub fn base_frame(&self) -> Option<&DocumentFrame> {
        match self.frames.as_slice() {
            [(frame, _)] if frame.shape == self.shape && !self.has_other_records && !self.strip => Some(frame),
            _ => None,
        }
    }
}

fn id_digest(section: &Section, id: &str) -> u128 {
    digest(&format!("{}\0{}", section.key, normalized_id(id)))
}
