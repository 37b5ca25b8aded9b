//! First pass over what is to be written: in which form, which id has each record, which documents came before.
use super::{
    compose::{content, id_for, own, section_for},
    part::{self, Kept},
    read::shape_named,
    sections::{EDGES, NODES, RELATIONSHIPS, Section},
    wire::{SCOPE, Shape},
};
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions};
use mementory_json::Tree;
use mementory_model::{Kind, LossKind, LossReport};
use std::{
    collections::{HashMap, HashSet},
    io::Read,
};

/// Depth of a kept document; it was read with a smaller bound.
const DEPTH: u32 = 1024;

/// What is known before anything is written.
pub(super) struct Plan {
    /// Form.
    pub shape: Shape,
    /// Leave identifiers out.
    pub strip: bool,
    /// Documents that came in, without their records.
    pub kept: Vec<(Kept, Tree)>,
    /// Records that are not elements of a document of this shape.
    pub others: bool,
    /// List and id in the file, by vault id.
    ids: HashMap<String, (&'static Section, String)>,
    /// Losses so far.
    pub losses: LossReport,
}

impl Plan {
    /// Goes through all records once, twice where the version is not given.
    pub fn survey(source: &mut dyn RecordSource, options: &WriteOptions) -> Result<Self, FormatError> {
        let mut plan = Self {
            shape: Shape::V1,
            strip: options.strip_identifiers,
            kept: vec![],
            others: false,
            ids: HashMap::new(),
            losses: LossReport::default(),
        };
        if !plan.strip {
            plan.documents(source)?;
        }
        plan.shape = match options.version.as_deref() {
            Some(version) => shape_named(version).ok_or_else(|| FormatError::Version {
                place: "export".into(),
                version: version.chars().take(20).collect(),
            })?,
            None => plan.usual_shape(source)?,
        };
        plan.names(source)?;
        Ok(plan)
    }

    fn documents(&mut self, source: &mut dyn RecordSource) -> Result<(), FormatError> {
        let Self { kept, losses, .. } = self;
        source.passthrough(SCOPE, &mut |item, bytes| {
            let mut text = String::new();
            let read = bytes.take(1 << 30).read_to_string(&mut text);
            let tree = read.ok().and_then(|_| Tree::parse(&text, DEPTH).ok()).filter(|_| item.name == part::NAME);
            match tree.and_then(|tree| Some((part::read(&tree)?, tree))) {
                Some(found) => kept.push(found),
                None => losses.add(&item.name, "part", LossKind::LeftOut, "not a document that can be written again"),
            }
            Ok(())
        })
    }

    /// The form everything came in, if it is one; else version 1, the specification's.
    fn usual_shape(&self, source: &mut dyn RecordSource) -> Result<Shape, FormatError> {
        let all = |kept: &[(Kept, Tree)]| !kept.is_empty() && kept.iter().all(|(k, _)| k.shape == Shape::V2);
        if !all(&self.kept) {
            return Ok(Shape::V1);
        }
        let mut only = true;
        source.records(&mut |stored| {
            only &= own(&stored.record, Shape::V2).is_some();
            Ok(())
        })?;
        Ok(if only { Shape::V2 } else { Shape::V1 })
    }

    fn names(&mut self, source: &mut dyn RecordSource) -> Result<(), FormatError> {
        let mut taken = HashSet::new();
        let mut entities = Vec::new();
        source.records(&mut |stored| {
            if let Some((section, id)) = self.own_id(&stored) {
                if *section == NODES {
                    taken.insert(id.clone());
                }
                self.ids.insert(stored.id, (section, id));
                return Ok(());
            }
            self.others = true;
            if stored.record.kind == Kind::Relation {
                return Ok(()); // nothing names it, and where it goes depends on its ends
            }
            let section = section_for(stored.record.kind, self.shape, false);
            if *section == NODES {
                let name = stored.record.title.clone().filter(|t| !t.is_empty());
                entities.push((stored.id.clone(), name.unwrap_or_else(|| content(&stored.record).to_owned())));
                return Ok(());
            }
            let id = id_for(&stored, section, self.shape, self.strip);
            self.ids.insert(stored.id, (section, id));
            Ok(())
        })?;
        // The id of an entity is its name; two of one name are told apart.
        for (vault_id, name) in entities {
            let mut id = format!("entity:{name}");
            if !taken.insert(id.clone()) {
                id = format!("entity:{name} ({})", vault_id.get(..8).unwrap_or(&vault_id));
                taken.insert(id.clone());
            }
            self.ids.insert(vault_id, (&NODES, id));
        }
        Ok(())
    }

    fn own_id(&self, stored: &StoredRecord) -> Option<(&'static Section, String)> {
        if self.strip {
            return None;
        }
        let (section, _) = own(&stored.record, self.shape)?;
        let id = stored.record.origin_id.clone();
        Some((section, id.unwrap_or_default()))
    }

    /// Whether a record goes back as its own element: list and position.
    pub fn own(&self, stored: &StoredRecord) -> Option<(&'static Section, u64)> {
        if self.strip { None } else { own(&stored.record, self.shape) }
    }

    /// List and id of a record in the file.
    pub fn id_of(&self, vault_id: &str) -> Option<&(&'static Section, String)> {
        self.ids.get(vault_id).filter(|(_, id)| !id.is_empty())
    }

    /// The list that a record from elsewhere goes into, and both ends if it is a relation.
    pub fn target(&self, stored: &StoredRecord) -> (&'static Section, Option<(String, String)>) {
        let record = &stored.record;
        let ends = (record.kind == Kind::Relation).then(|| self.ends(stored)).flatten();
        let section = section_for(record.kind, self.shape, ends.is_some());
        (section, ends.filter(|_| *section == EDGES || *section == RELATIONSHIPS))
    }

    fn ends(&self, stored: &StoredRecord) -> Option<(String, String)> {
        let links = stored.record.links.iter().zip(&stored.link_ids);
        let named = links.filter_map(|(link, id)| {
            let (section, id) = self.id_of(id.as_ref()?)?;
            let fits = match self.shape {
                Shape::V1 => ["memory", "todo", "node"].contains(&section.key),
                Shape::V2 => section.key == "entity",
            };
            fits.then_some((link.relation.as_str(), id.clone()))
        });
        let named: Vec<(&str, String)> = named.collect();
        let of = |relation: &str| named.iter().find(|(r, _)| *r == relation).map(|(_, id)| id.clone());
        let in_order = || named.first().zip(named.get(1)).map(|(a, b)| (a.1.clone(), b.1.clone()));
        of("source").zip(of("target")).or_else(in_order)
    }

    /// Ids of the memories and todos that a record is linked to.
    pub fn related(&self, stored: &StoredRecord) -> (Vec<String>, Vec<String>) {
        let (mut memories, mut todos): (Vec<String>, Vec<String>) = (vec![], vec![]);
        let linked = stored.link_ids.iter().flatten();
        let linked = linked.chain(&stored.parent_id).chain(&stored.message_parent_id);
        for (section, id) in linked.filter_map(|id| self.id_of(id)) {
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

    /// The document that everything goes back into: the only one that came in, when nothing else is written with it.
    pub fn base(&self) -> Option<&Kept> {
        match self.kept.as_slice() {
            [(kept, _)] if kept.shape == self.shape && !self.others && !self.strip => Some(kept),
            _ => None,
        }
    }
}
