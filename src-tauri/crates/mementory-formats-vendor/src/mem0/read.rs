//! Reads an API response or an export of mem0.
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Sink};
use mementory_json::{Members, Tree};
use mementory_json::{decoded_head, repair};
use mementory_model::{Dropped, DroppedAs, Fields, Issue, Kind, Origin, Record, RecordKey, Timestamp, Verbatim};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Id space and platform name.
const SCOPE: &str = "mem0";
/// Keys of lists of memories; the first list with entries is read.
const LISTS: [&str; 3] = ["results", "memories", "data"];

/// Reads every claimed file.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut done = 0;
    for part in &detected.claim.parts {
        let Some(member) = catalog.members().get(part.member) else { continue };
        file(catalog, member, context, sink)?;
        done += member.size;
        sink.progress(done)?;
    }
    Ok(())
}

fn file(catalog: &Catalog, member: &Member, context: &ReadContext, sink: &mut dyn Sink) -> Result<(), FormatError> {
    let limit = context.limits.element_bytes;
    let io = |e| FormatError::io(&member.place, e);
    // UTF-16 and a byte order mark are decoded. The limit is that of one element, because the whole file is in memory.
    let max_bytes = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
    let bytes = catalog.read(member, |r| decoded_head(r, max_bytes).map_err(io))?;
    if bytes.len() as u64 > limit {
        return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
    }
    let bad = || FormatError::invalid("malformed", &member.place, "neither a list of memories nor an answer with one");
    let (text, repairs) = repair(&bytes).ok_or_else(bad)?;
    for code in repairs {
        sink.note(Issue::new(code, &member.place, "repaired while reading"));
    }
    let list = |raw: &'_ RawValue| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok().map(|l| l.len());
    let (mut memories, mut relations) = (None, None);
    let whole: &RawValue = serde_json::from_str(&text).map_err(|_| bad())?;
    if list(whole).is_some() {
        memories = Some(("", whole));
    } else {
        let members: Members = serde_json::from_str(&text).map_err(|_| bad())?;
        let named = |name: &str| members.0.iter().rev().find(|(key, _)| key == name).map(|(_, raw)| *raw);
        let found = |name: &'static str| Some((name, named(name)?)).filter(|(_, raw)| list(raw).is_some_and(|n| n > 0));
        memories = LISTS.into_iter().find_map(found).or(memories);
        relations = named("relations");
        if memories.is_none() && !LISTS.into_iter().any(|name| named(name).is_some()) {
            return Err(bad());
        }
    }
    let mut reader = Reader { member, depth: context.limits.json_depth, seen: HashSet::new(), sink };
    if let Some((name, raw)) = memories {
        let items: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|_| bad())?;
        let at = if name.is_empty() { String::new() } else { format!("/{name}") };
        for (i, item) in items.into_iter().enumerate() {
            reader.item(item, format!("{at}/{i}"), Kind::Memory)?;
        }
    }
    let relations: Vec<&RawValue> = relations.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    for (i, item) in relations.into_iter().enumerate() {
        reader.item(item, format!("/relations/{i}"), Kind::Relation)?;
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
    fn item(&mut self, raw: &RawValue, pointer: String, kind: Kind) -> Result<(), FormatError> {
        let place = format!("{}#{pointer}", self.member.place);
        let built = match Tree::of(raw, self.depth) {
            Ok(tree @ Tree::Object(_)) if kind == Kind::Memory => memory(&tree).ok_or("no_content: no text in it"),
            Ok(tree @ Tree::Object(_)) => relation(&tree).ok_or("malformed: not a relation between two things"),
            _ => Err("malformed: not an object"),
        };
        let mut drop_it = |outcome, reason: &str| {
            self.sink.dropped(Dropped { place: place.clone(), outcome, reason: reason.to_owned(), kind: Some(kind) });
        };
        let mut record = match built {
            Ok(record) => record,
            Err(reason) => {
                drop_it(DroppedAs::Failed, reason);
                return Ok(());
            }
        };
        if !self.seen.insert(format!("{}|{}|{}", kind.as_str(), record.key.value, record.text)) {
            drop_it(DroppedAs::Skipped, "duplicate: the same memory occurs twice");
            return Ok(());
        }
        record.origin = Origin { format: SCOPE.into(), version: None, container: self.member.place.clone(), pointer };
        record.source.platform = SCOPE.into();
        record.verbatim = Some(Verbatim::json(raw.get()));
        self.sink.unit(record.into())
    }
}

fn text<'t>(tree: &'t Tree, key: &str) -> Option<&'t str> {
    tree.get(key).and_then(Tree::as_str).filter(|t| !t.trim().is_empty())
}

/// A text, or a number as its text: some ids are numbers.
fn id_of(tree: &Tree, key: &str) -> Option<String> {
    match tree.get(key) {
        Some(Tree::Number(n)) => Some(n.clone()),
        _ => text(tree, key).map(str::to_owned),
    }
}

/// ISO 8601, or seconds since 1970.
fn time(tree: &Tree, key: &str) -> Option<Timestamp> {
    match tree.get(key)? {
        Tree::Text(t) => Timestamp::parse(t),
        value @ Tree::Number(_) => {
            let micros = value.as_f64()? * 1e6;
            (micros.abs() < 9e15).then(|| Timestamp::from_micros(micros as i64)).flatten()
        }
        _ => None,
    }
}

fn texts(tree: Option<&Tree>) -> Vec<String> {
    match tree {
        Some(Tree::Array(items)) => items.iter().filter_map(Tree::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn key(id: Option<&str>, content: &str) -> RecordKey {
    let hashed = || format!("sha256:{}", hex::encode(Sha256::digest(content)));
    RecordKey::new(SCOPE, id.map_or_else(hashed, str::to_owned))
}

fn memory(tree: &Tree) -> Option<Record> {
    let (name, content) = ["memory", "text", "data"].into_iter().find_map(|key| Some((key, text(tree, key)?)))?;
    let id = id_of(tree, "id");
    let mut record = Record::new(Kind::Memory, key(id.as_deref(), content), content);
    record.origin_id = id;
    record.times.created = time(tree, "created_at");
    record.times.updated = time(tree, "updated_at");
    record.times.valid_to = time(tree, "expiration_date");
    record.tags = texts(tree.get("categories"));
    record.source.account = id_of(tree, "user_id");
    record.source.conversation = id_of(tree, "run_id");
    record.source.method = Some("extracted".into());
    let used = [name, "id", "created_at", "updated_at", "expiration_date", "categories", "user_id", "run_id"];
    record.fields = other_fields(tree, &used);
    Some(record)
}

/// `source`, `relationship`, `target` (or `destination`).
fn relation(tree: &Tree) -> Option<Record> {
    let (from, what) = (text(tree, "source")?, text(tree, "relationship").or(text(tree, "relation"))?);
    let to = text(tree, "target").or(text(tree, "destination"))?;
    let sentence = format!("{from} {} {to}", what.replace('_', " "));
    let mut record = Record::new(Kind::Relation, key(None, &format!("{from}|{what}|{to}")), sentence);
    record.record_type = Some(what.to_owned());
    record.fields = other_fields(tree, &[]);
    Some(record)
}

/// Members without a field in the model. Null values are in the verbatim only.
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
