//! Reads an API response or an export of mem0.
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Sink};
use mementory_json::{Members, Tree};
use mementory_json::{decoded_head, repair};
use mementory_model::{Dropped, DroppedAs, Fields, Issue, Kind, Origin, Record, RecordKey, Timestamp, Verbatim};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Scope of the record keys, id of the format and name of the platform.
const SCOPE: &str = "mem0";
/// Keys of lists of memories. The first list that is not empty is read.
const LIST_KEYS: [&str; 3] = ["results", "memories", "data"];

/// Reads every claimed file.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut bytes_done = 0;
    for part in &detected.claim.parts {
        let Some(member) = catalog.members().get(part.member) else { continue };
        read_file(catalog, member, context, sink)?;
        bytes_done += member.size;
        sink.progress(bytes_done)?;
    }
    Ok(())
}

fn read_file(
    catalog: &Catalog,
    member: &Member,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let limit = context.limits.element_bytes;
    let io = |e| FormatError::io(&member.place, e);
    // Decodes UTF-16 and removes a byte order mark. The whole file is in memory, so its size is limited like that of
    // one element.
    let max_bytes = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
    let bytes = catalog.read(member, |r| decoded_head(r, max_bytes).map_err(io))?;
    if bytes.len() as u64 > limit {
        return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
    }
    let malformed =
        || FormatError::invalid("malformed", &member.place, "neither a list of memories nor an answer with one");
    let (text, repairs) = repair(&bytes).ok_or_else(malformed)?;
    for code in repairs {
        sink.note(Issue::new(code, &member.place, "repaired while reading"));
    }
    let list_len = |raw: &'_ RawValue| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok().map(|l| l.len());
    let (mut memories, mut relations) = (None, None);
    let document: &RawValue = serde_json::from_str(&text).map_err(|_| malformed())?;
    if list_len(document).is_some() {
        memories = Some(("", document));
    } else {
        let members: Members = serde_json::from_str(&text).map_err(|_| malformed())?;
        let member_value = |name: &str| members.0.iter().rev().find(|(key, _)| key == name).map(|(_, raw)| *raw);
        let non_empty_list = |name: &'static str| {
            Some((name, member_value(name)?)).filter(|(_, raw)| list_len(raw).is_some_and(|n| n > 0))
        };
        memories = LIST_KEYS.into_iter().find_map(non_empty_list).or(memories);
        relations = member_value("relations");
        if memories.is_none() && !LIST_KEYS.into_iter().any(|name| member_value(name).is_some()) {
            return Err(malformed());
        }
    }
    let mut reader = Reader { member, depth: context.limits.json_depth, seen: HashSet::new(), sink };
    if let Some((name, raw)) = memories {
        let items: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|_| malformed())?;
        let at = if name.is_empty() { String::new() } else { format!("/{name}") };
        for (i, item) in items.into_iter().enumerate() {
            reader.read_item(item, format!("{at}/{i}"), Kind::Memory)?;
        }
    }
    let relations: Vec<&RawValue> = relations.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    for (i, item) in relations.into_iter().enumerate() {
        reader.read_item(item, format!("/relations/{i}"), Kind::Relation)?;
    }
    Ok(())
}

struct Reader<'a> {
    member: &'a Member,
    depth: u32,
    seen: HashSet<String>,
    sink: &'a mut dyn Sink,
}

impl Reader<'_> {
    fn read_item(&mut self, raw: &RawValue, pointer: String, kind: Kind) -> Result<(), FormatError> {
        let place = format!("{}#{pointer}", self.member.place);
        let built = match Tree::from_raw(raw, self.depth) {
            Ok(tree @ Tree::Object(_)) if kind == Kind::Memory => {
                memory_record(&tree).ok_or("no_content: no text in it")
            }
            Ok(tree @ Tree::Object(_)) => relation_record(&tree).ok_or("malformed: not a relation between two things"),
            _ => Err("malformed: not an object"),
        };
        let mut report_dropped = |outcome, reason: &str| {
            self.sink.dropped(Dropped { place: place.clone(), outcome, reason: reason.to_owned(), kind: Some(kind) });
        };
        let mut record = match built {
            Ok(record) => record,
            Err(reason) => {
                report_dropped(DroppedAs::Failed, reason);
                return Ok(());
            }
        };
        if !self.seen.insert(format!("{}|{}|{}", kind.as_str(), record.key.value, record.text)) {
            report_dropped(DroppedAs::Skipped, "duplicate: the same memory occurs twice");
            return Ok(());
        }
        record.origin = Origin { format: SCOPE.into(), version: None, container: self.member.place.clone(), pointer };
        record.source.platform = SCOPE.into();
        record.verbatim = Some(Verbatim::json(raw.get()));
        self.sink.unit(record.into())
    }
}

fn text_member<'t>(tree: &'t Tree, key: &str) -> Option<&'t str> {
    tree.get(key).and_then(Tree::as_str).filter(|t| !t.trim().is_empty())
}

/// An id as text. In the source, an id is a text or a number.
fn id_as_text(tree: &Tree, key: &str) -> Option<String> {
    match tree.get(key) {
        Some(Tree::Number(n)) => Some(n.clone()),
        _ => text_member(tree, key).map(str::to_owned),
    }
}

/// A time in ISO 8601 or in seconds since 1970.
fn parse_time(tree: &Tree, key: &str) -> Option<Timestamp> {
    match tree.get(key)? {
        Tree::Text(t) => Timestamp::parse(t),
        value @ Tree::Number(_) => {
            let micros = value.as_f64()? * 1e6;
            (micros.abs() < 9e15).then(|| Timestamp::from_micros(micros as i64)).flatten()
        }
        _ => None,
    }
}

fn texts_in_array(tree: Option<&Tree>) -> Vec<String> {
    match tree {
        Some(Tree::Array(items)) => items.iter().filter_map(Tree::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn record_key(id: Option<&str>, content: &str) -> RecordKey {
    let content_hash = || format!("sha256:{}", hex::encode(Sha256::digest(content)));
    RecordKey::new(SCOPE, id.map_or_else(content_hash, str::to_owned))
}

fn memory_record(tree: &Tree) -> Option<Record> {
    let (name, content) =
        ["memory", "text", "data"].into_iter().find_map(|key| Some((key, text_member(tree, key)?)))?;
    let id = id_as_text(tree, "id");
    let mut record = Record::new(Kind::Memory, record_key(id.as_deref(), content), content);
    record.origin_id = id;
    record.times.created = parse_time(tree, "created_at");
    record.times.updated = parse_time(tree, "updated_at");
    record.times.valid_to = parse_time(tree, "expiration_date");
    record.tags = texts_in_array(tree.get("categories"));
    record.source.account = id_as_text(tree, "user_id");
    record.source.conversation = id_as_text(tree, "run_id");
    record.source.method = Some("extracted".into());
    let used = [name, "id", "created_at", "updated_at", "expiration_date", "categories", "user_id", "run_id"];
    record.fields = other_fields(tree, &used);
    Some(record)
}

/// A relation made from `source`, `relationship` (or `relation`) and `target` (or `destination`). None if one of the
/// three is missing.
fn relation_record(tree: &Tree) -> Option<Record> {
    let (from, what) =
        (text_member(tree, "source")?, text_member(tree, "relationship").or(text_member(tree, "relation"))?);
    let to = text_member(tree, "target").or(text_member(tree, "destination"))?;
    let sentence = format!("{from} {} {to}", what.replace('_', " "));
    let mut record = Record::new(Kind::Relation, record_key(None, &format!("{from}|{what}|{to}")), sentence);
    record.record_type = Some(what.to_owned());
    record.fields = other_fields(tree, &[]);
    Some(record)
}

/// The members that have no field in the model. Null values are only in the verbatim.
fn other_fields(tree: &Tree, used: &[&str]) -> Fields {
    let Tree::Object(members) = tree else { return Fields::default() };
    let unused = members.iter().filter(|(key, value)| !used.contains(&key.as_str()) && *value != Tree::Null);
    let value = |tree: &Tree| {
        let mut out = String::new();
        tree.write(&mut out);
        serde_json::from_str(&out).unwrap_or_default()
    };
    unused.map(|(key, tree)| (key.clone(), value(tree))).collect()
}
