//! Table of the record kinds (spec v1.1 §2): fields with their wire types, id, and the wire field of each model field.
//! Reading, validation and writing all use this table.
use mementory_json::equal_names;
use mementory_model::Kind;

/// Wire type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Time,
    Float,
    Int,
    Bool,
    /// Array of strings.
    List,
    /// Object of strings.
    Map,
    /// Closed enumeration `delete | redact`.
    Op,
    /// Ids of all records deleted together with a tombstone's target (`derived`).
    Derived,
}

#[derive(Debug)]
pub(super) struct Field {
    pub name: &'static str,
    pub ty: Type,
    pub required: bool,
}

/// The model fields that a kind can express, each with the name of its wire field.
pub(super) type ModelFields = &'static [(ModelField, &'static str)];

/// Model fields for which a kind may have a wire field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelField {
    Text,
    Title,
    Type,
    Status,
    Tags,
    Confidence,
    Importance,
    Sensitivity,
    Namespace,
    Created,
    Updated,
    Observed,
    ValidFrom,
    ValidTo,
    LastAccessed,
}

/// A reference to another record: wire field, relation, and the target's kind in the model and in the format.
pub(super) type ReferenceField = (&'static str, &'static str, Kind, &'static str);

/// The description of a record kind.
#[derive(Debug)]
pub(super) struct KindSpec {
    /// Wire name: `tombstone`, `log`, or the name of the file without its extension.
    pub kind: &'static str,
    /// Kind of the records in the record model.
    pub model: Kind,
    /// Fields that together form the id.
    pub id: &'static [&'static str],
    pub fields: &'static [Field],
    pub model_fields: ModelFields,
    pub references: &'static [ReferenceField],
}

impl KindSpec {
    /// Path of the file inside the bundle.
    pub fn path(&self) -> String {
        match self.kind {
            "tombstone" => TOMBSTONES_FILE.into(),
            "log" => AUDIT_LOG_FILE.into(),
            kind => format!("items/{kind}.jsonl"),
        }
    }

    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|f| equal_names(f.name, name))
    }
}

/// File with the deletions, which an importer applies before it reads records.
pub(super) const TOMBSTONES_FILE: &str = "audit/tombstones.jsonl";
/// File with the audit trail of the program that wrote the bundle.
pub(super) const AUDIT_LOG_FILE: &str = "audit/log.jsonl";

macro_rules! fields {
    ($($name:ident : $ty:ident),* ; $($opt:ident : $opt_ty:ident),*) => {
        &[$(Field { name: stringify!($name), ty: Type::$ty, required: true },)*
          $(Field { name: stringify!($opt), ty: Type::$opt_ty, required: false },)*]
    };
}

/// Item kinds in import order: parents before children (spec v1.1 §4).
pub(super) static KIND_SPECS: [KindSpec; 15] = [
    KindSpec {
        kind: "context",
        model: Kind::Profile,
        id: &["id"],
        fields: fields!(id: Text, label: Text, archived: Bool, createdAt: Time; parentID: Text),
        model_fields: &[(ModelField::Title, "label"), (ModelField::Created, "createdAt")],
        references: &[("parentID", "member_of", Kind::Profile, "context")],
    },
    KindSpec {
        kind: "category",
        model: Kind::Foreign,
        id: &["name"],
        fields: fields!(name: Text, description: Text;),
        model_fields: &[(ModelField::Text, "description")],
        references: &[],
    },
    KindSpec {
        kind: "preference",
        model: Kind::Profile,
        id: &["key"],
        fields: fields!(key: Text, value: Text;),
        model_fields: &[(ModelField::Text, "value")],
        references: &[],
    },
    KindSpec {
        kind: "core",
        model: Kind::Profile,
        id: &["id"],
        fields: fields!(id: Text, content: Text, charBudget: Int, version: Int;),
        model_fields: &[(ModelField::Text, "content")],
        references: &[],
    },
    KindSpec {
        kind: "entity",
        model: Kind::Entity,
        id: &["id"],
        fields: fields!(id: Text, type: Text, canonicalName: Text, aliases: List, summary: Text, sensitivity: Text, updatedAt: Time;),
        model_fields: &[
            (ModelField::Text, "summary"),
            (ModelField::Title, "canonicalName"),
            (ModelField::Type, "type"),
            (ModelField::Sensitivity, "sensitivity"),
            (ModelField::Updated, "updatedAt"),
        ],
        references: &[],
    },
    KindSpec {
        kind: "episode",
        model: Kind::Memory,
        id: &["id"],
        fields: fields!(id: Text, eventTime: Time, mentionTime: Time, ingestionTime: Time, sourceType: Text, actors: List,
            summary: Text, details: Text, sensitivity: Text, metadata: Map, categories: List, importance: Float,
            confidence: Float, lifecycleState: Text, extractionState: Text, accessCount: Int, pinned: Bool, vaultRefs: List;
            sourceID: Text, deletedAt: Time, contextID: Text, lastAccessed: Time, expirationDate: Time, speaker: Text),
        model_fields: &[
            (ModelField::Text, "details"),
            (ModelField::Title, "summary"),
            (ModelField::Type, "sourceType"),
            (ModelField::Status, "lifecycleState"),
            (ModelField::Tags, "categories"),
            (ModelField::Confidence, "confidence"),
            (ModelField::Importance, "importance"),
            (ModelField::Sensitivity, "sensitivity"),
            (ModelField::Namespace, "contextID"),
            (ModelField::Created, "ingestionTime"),
            (ModelField::Observed, "eventTime"),
            (ModelField::Updated, "mentionTime"),
            (ModelField::ValidTo, "expirationDate"),
            (ModelField::LastAccessed, "lastAccessed"),
        ],
        references: &[("contextID", "member_of", Kind::Profile, "context")],
    },
    KindSpec {
        kind: "resource",
        model: Kind::Resource,
        id: &["id"],
        fields: fields!(id: Text, uri: Text, mimeType: Text, contentHash: Text, title: Text, summary: Text, created: Time, modified: Time;),
        model_fields: &[
            (ModelField::Text, "summary"),
            (ModelField::Title, "title"),
            (ModelField::Created, "created"),
            (ModelField::Updated, "modified"),
        ],
        references: &[],
    },
    KindSpec {
        kind: "chunk",
        model: Kind::Chunk,
        id: &["id"],
        fields: fields!(id: Text, resourceID: Text, position: Int, text: Text, sensitivity: Text; contextPrefix: Text),
        model_fields: &[(ModelField::Text, "text"), (ModelField::Sensitivity, "sensitivity")],
        references: &[("resourceID", "part_of", Kind::Resource, "resource")],
    },
    KindSpec {
        kind: "edge",
        model: Kind::Relation,
        id: &["id"],
        fields: fields!(id: Text, srcEntityID: Text, dstEntityID: Text, edgeType: Text, tValidFrom: Time, ingestionTime: Time,
            confidence: Float, evidenceEpisodeIDs: List; tValidTo: Time, supersededBy: Text),
        model_fields: &[
            (ModelField::Type, "edgeType"),
            (ModelField::Confidence, "confidence"),
            (ModelField::Created, "ingestionTime"),
            (ModelField::ValidFrom, "tValidFrom"),
            (ModelField::ValidTo, "tValidTo"),
        ],
        references: &[
            ("srcEntityID", "source", Kind::Entity, "entity"),
            ("dstEntityID", "target", Kind::Entity, "entity"),
            ("evidenceEpisodeIDs", "derived_from", Kind::Memory, "episode"),
            ("supersededBy", "superseded_by", Kind::Relation, "edge"),
        ],
    },
    KindSpec {
        kind: "fact",
        model: Kind::Fact,
        id: &["id"],
        fields: fields!(id: Text, episodeID: Text, subject: Text, predicate: Text, object: Text, text: Text, tValidFrom: Time,
            confidence: Float, importance: Float, createdAt: Time;
            eventTime: Time, tValidTo: Time, supersededBy: Text, speaker: Text, reconciledAt: Time, lastReinforcedAt: Time, prunedAt: Time),
        model_fields: &[
            (ModelField::Text, "text"),
            (ModelField::Confidence, "confidence"),
            (ModelField::Importance, "importance"),
            (ModelField::Created, "createdAt"),
            (ModelField::Observed, "eventTime"),
            (ModelField::ValidFrom, "tValidFrom"),
            (ModelField::ValidTo, "tValidTo"),
        ],
        references: &[
            ("episodeID", "derived_from", Kind::Memory, "episode"),
            ("supersededBy", "superseded_by", Kind::Fact, "fact"),
        ],
    },
    KindSpec {
        kind: "factLink",
        model: Kind::Relation,
        id: &["srcFactID", "dstFactID", "linkType"],
        fields: fields!(srcFactID: Text, dstFactID: Text, linkType: Text, createdAt: Time;),
        model_fields: &[(ModelField::Type, "linkType"), (ModelField::Created, "createdAt")],
        references: &[("srcFactID", "source", Kind::Fact, "fact"), ("dstFactID", "target", Kind::Fact, "fact")],
    },
    KindSpec {
        kind: "episodeLink",
        model: Kind::Relation,
        id: &["srcEpisodeID", "dstEpisodeID", "linkType"],
        fields: fields!(srcEpisodeID: Text, dstEpisodeID: Text, linkType: Text, weight: Float;),
        model_fields: &[(ModelField::Type, "linkType")],
        references: &[
            ("srcEpisodeID", "source", Kind::Memory, "episode"),
            ("dstEpisodeID", "target", Kind::Memory, "episode"),
        ],
    },
    KindSpec {
        kind: "procedure",
        model: Kind::Procedure,
        id: &["id"],
        fields: fields!(id: Text, name: Text, triggerPattern: Text, steps: List, successCount: Int, failureCount: Int, enabled: Bool; lastUsed: Time),
        model_fields: &[
            (ModelField::Text, "steps"),
            (ModelField::Title, "name"),
            (ModelField::LastAccessed, "lastUsed"),
        ],
        references: &[],
    },
    KindSpec {
        kind: "community",
        model: Kind::Foreign,
        id: &["id"],
        fields: fields!(id: Text, label: Text, summary: Text, memberEntityIDs: List;),
        model_fields: &[(ModelField::Text, "summary"), (ModelField::Title, "label")],
        references: &[("memberEntityIDs", "member", Kind::Entity, "entity")],
    },
    KindSpec {
        kind: "secretRef",
        model: Kind::Credential,
        id: &["id"],
        fields: fields!(id: Text, label: Text, sensitivity: Text, category: Text, preview: Text, encryptionMetadata: Text, createdAt: Time; lastAccessed: Time),
        model_fields: &[
            (ModelField::Text, "preview"),
            (ModelField::Title, "label"),
            (ModelField::Type, "category"),
            (ModelField::Sensitivity, "sensitivity"),
            (ModelField::Created, "createdAt"),
            (ModelField::LastAccessed, "lastAccessed"),
        ],
        references: &[],
    },
];

/// One line of `audit/tombstones.jsonl` (spec v1.1 §5).
pub(super) static TOMBSTONE_SPEC: KindSpec = KindSpec {
    kind: "tombstone",
    model: Kind::Audit,
    id: &["id"],
    fields: fields!(id: Text, op: Op, targetKind: Text, targetID: Text, deletedAt: Time, actor: Text; derived: Derived, reason: Text, signature: Text),
    model_fields: &[],
    references: &[],
};

/// One line of `audit/log.jsonl`.
pub(super) static AUDIT_LOG_SPEC: KindSpec = KindSpec {
    kind: "log",
    model: Kind::Audit,
    id: &[],
    fields: fields!(ts: Time, actor: Text, op: Text, targetID: Text; reason: Text),
    model_fields: &[(ModelField::Text, "reason"), (ModelField::Type, "op"), (ModelField::Created, "ts")],
    references: &[],
};

/// The item kind with this wire name.
pub(super) fn kind_named(kind: &str) -> Option<&'static KindSpec> {
    KIND_SPECS.iter().find(|s| s.kind == kind)
}

/// The kind stored at this path of a bundle; None for vendor kinds and other files.
pub(super) fn kind_at_path(path: &str) -> Option<&'static KindSpec> {
    match path {
        TOMBSTONES_FILE => Some(&TOMBSTONE_SPEC),
        AUDIT_LOG_FILE => Some(&AUDIT_LOG_SPEC),
        _ => kind_named(path.strip_prefix("items/")?.strip_suffix(".jsonl")?),
    }
}

/// Name of the vendor kind at a path: `<x>` of `items/<x>.jsonl` if the format does not define it.
pub(super) fn vendor_kind_at_path(path: &str) -> Option<&str> {
    let name = path.strip_prefix("items/")?.strip_suffix(".jsonl")?;
    (!name.contains('/') && kind_named(name).is_none()).then_some(name)
}
