//! Prepares an export: chooses the version to write and the list and id of each record, and collects the frames of
//! imported documents.
use super::{
    compose::{content, id_for, own_element, section_for},
    document_frame::{self, DocumentFrame},
    read::shape_of_version,
    sections::{EDGES_SECTION, NODES_SECTION, RELATIONSHIPS_SECTION, Section},
    wire::{KEY_SCOPE, Shape},
};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions};
use mementory_json::Tree;
use mementory_model::{Kind, LossKind, LossReport};
use std::{
    collections::{HashMap, HashSet},
    io::Read,
};

/// Nesting depth allowed in a stored frame. It is larger than the limit for reading a document.
const MAX_DEPTH: u32 = 1024;

/// Decisions that are made before anything is written.
pub(super) struct ExportPlan {
    /// Shape of the document to write.
    pub shape: Shape,
    /// True if identifiers are left out.
    pub strip: bool,
    /// Frames of the imported documents. Each entry contains the parsed frame, and the frame as the vault stores it.
    pub frames: Vec<(DocumentFrame, Tree)>,
    /// True if some records were not read from a document of this shape.
    pub has_others: bool,
    /// List and id in the file for each vault id.
    ids: HashMap<String, (&'static Section, String)>,
    /// Losses found while planning.
    pub losses: LossReport,
}

impl ExportPlan {
    /// Makes the plan. Reads all records once. If no version is requested and all imported documents have version 2,
    /// reads them twice.
    pub fn prepare(source: &mut dyn RecordSource, options: &WriteOptions) -> Result<Self, FormatError> {
        let mut plan = Self {
            shape: Shape::V1,
            strip: options.strip_identifiers,
            frames: vec![],
            has_others: false,
            ids: HashMap::new(),
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
                Some(found) => frames.push(found),
                None => {
                    losses.add(&item.name, "part", LossKind::LeftOut, "not a stored document that can be written again")
                }
            }
            Ok(())
        })
    }

    /// Shape of version 2 if all records were read from version 2 documents. Otherwise the shape of version 1, which
    /// the specification defines.
    fn default_shape(&self, source: &mut dyn RecordSource) -> Result<Shape, FormatError> {
        let all =
            |frames: &[(DocumentFrame, Tree)]| !frames.is_empty() && frames.iter().all(|(k, _)| k.shape == Shape::V2);
        if !all(&self.frames) {
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
        let mut used_ids = HashSet::new();
        let mut entities = Vec::new();
        source.records(&mut |stored| {
            if let Some((section, id)) = self.own_id(&stored) {
                if *section == NODES_SECTION {
                    used_ids.insert(id.clone());
                }
                self.ids.insert(stored.id, (section, id));
                return Ok(());
            }
            self.has_others = true;
            if stored.record.kind == Kind::Relation {
                return Ok(()); // nothing refers to a relation, and its list depends on its ends
            }
            let section = section_for(stored.record.kind, self.shape, false);
            if *section == NODES_SECTION {
                let name = stored.record.title.clone().filter(|t| !t.is_empty());
                entities.push((stored.id.clone(), name.unwrap_or_else(|| content(&stored.record).to_owned())));
                return Ok(());
            }
            let id = id_for(&stored, section, self.shape, self.strip);
            self.ids.insert(stored.id, (section, id));
            Ok(())
        })?;
        // The id of an entity is made from its name. If two entities have the same name, the second id gets a suffix.
        for (vault_id, name) in entities {
            let mut id = format!("entity:{name}");
            if !used_ids.insert(id.clone()) {
                id = format!("entity:{name} ({})", vault_id.get(..8).unwrap_or(&vault_id));
                used_ids.insert(id.clone());
            }
            self.ids.insert(vault_id, (&NODES_SECTION, id));
        }
        Ok(())
    }

    fn own_id(&self, stored: &StoredRecord) -> Option<(&'static Section, String)> {
        if self.strip {
            return None;
        }
        let (section, _) = own_element(&stored.record, self.shape)?;
        let id = stored.record.origin_id.clone();
        Some((section, id.unwrap_or_default()))
    }

    /// List and position of the element that a record was read from, if it is written as that element.
    pub fn own_element(&self, stored: &StoredRecord) -> Option<(&'static Section, u64)> {
        if self.strip { None } else { own_element(&stored.record, self.shape) }
    }

    /// List and id of a record in the file.
    pub fn id_of(&self, vault_id: &str) -> Option<&(&'static Section, String)> {
        self.ids.get(vault_id).filter(|(_, id)| !id.is_empty())
    }

    /// The list for a record of another format and, if it is written as a relation, the ids of both ends.
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

    /// The frame into which the records are written: the frame of the only imported document. None if that document has
    /// another shape than the one to be written, if some records come from elsewhere, or if identifiers are left out.
    pub fn base_frame(&self) -> Option<&DocumentFrame> {
        match self.frames.as_slice() {
            [(frame, _)] if frame.shape == self.shape && !self.has_others && !self.strip => Some(frame),
            _ => None,
        }
    }
}
