//! Builds artifacts by applying the commands (create, update, rewrite) in the messages, along the branches of a
//! conversation.
use super::wire::{ElementPlace, Object, key, list};
use mementory_model::{Issue, Kind, Link, Record, Timestamp};
use serde_json::{Map, Value, value::RawValue};
use std::{borrow::Cow, collections::HashMap, rc::Rc};

/// Largest total size in bytes of all versions of all artifacts in one conversation. Without a limit, the size could
/// grow with the square of the input. Commands beyond the limit are not applied and are stored only in the verbatim of
/// their messages.
const MAX_VERSION_BYTES: usize = 64 << 20;

/// One artifact command in a message.
#[derive(Debug)]
pub(super) struct Command {
    id: String,
    media_type: Option<String>,
    title: Option<String>,
    version_id: Option<String>,
    change: Change,
}

#[derive(Debug)]
enum Change {
    FullText { command: &'static str, text: String },
    Replace { old: String, new: String },
}

/// The members of a message that are needed to apply its artifact commands.
pub(super) struct Step<'s> {
    pub uuid: &'s str,
    /// Position of the parent message in the list of steps.
    pub parent: Option<usize>,
    pub active: bool,
    pub created: Option<Timestamp>,
    pub commands: Vec<Command>,
}

/// Returns the artifact commands in the content blocks of a message.
pub(super) fn find_commands(content: Option<&RawValue>) -> Vec<Command> {
    let Some(raw) = content else { return vec![] };
    // Most messages contain no artifact commands, and searching the bytes for tool names is cheaper than parsing the
    // blocks.
    if !["\"artifacts\"", "\"create_file\"", "\"str_replace\""].iter().any(|n| raw.get().contains(n)) {
        return vec![];
    }
    list(raw).unwrap_or_default().into_iter().filter_map(parse_command).collect()
}

fn parse_command(block: &RawValue) -> Option<Command> {
    let block = Object::parse(block.get())?;
    if block.text("type")? != "tool_use" {
        return None;
    }
    let input = block.object("input")?;
    let filled_text = |k: &str| input.non_blank_text(k).map(Cow::into_owned);
    let optional_text = |k: &str| input.text(k).map(Cow::into_owned);
    let replace =
        || Some(Change::Replace { old: filled_text("old_str")?, new: optional_text("new_str").unwrap_or_default() });
    let (id, change) = match block.text("name")?.as_ref() {
        "artifacts" => {
            let change = match input.text("command")?.as_ref() {
                "update" => replace()?,
                "rewrite" => Change::FullText { command: "rewrite", text: optional_text("content")? },
                _ => Change::FullText { command: "create", text: optional_text("content")? },
            };
            (filled_text("id")?, change)
        }
        "create_file" => {
            let text = optional_text("file_text").or_else(|| optional_text("content"))?;
            (filled_text("path")?, Change::FullText { command: "create", text })
        }
        "str_replace" => (filled_text("path")?, replace()?),
        _ => return None,
    };
    Some(Command {
        id,
        media_type: filled_text("type"),
        title: filled_text("title"),
        version_id: filled_text("version_uuid"),
        change,
    })
}

/// Returns the artifact commands in the tags that older messages contain: `<antArtifact identifier="…" type="…"
/// title="…">…</antArtifact>`.
pub(super) fn find_tag_commands(text: &str) -> Vec<Command> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("<antArtifact") {
        let tag = &rest[at + "<antArtifact".len()..];
        let Some(close) = tag.find('>') else { break };
        let (attributes, body) = (&tag[..close], &tag[close + 1..]);
        // The end tag of a truncated answer is missing, so its artifact extends to the end of the text.
        let (body, after) = body.split_once("</antArtifact>").unwrap_or((body, ""));
        if let Some(id) = attribute_value(attributes, "identifier") {
            out.push(Command {
                id,
                media_type: attribute_value(attributes, "type"),
                title: attribute_value(attributes, "title"),
                version_id: None,
                change: Change::FullText { command: "create", text: body.trim_matches('\n').to_owned() },
            });
        }
        rest = after;
    }
    out
}

/// Returns the artifact command of a block as readable text: the name of the command and of the document, then the
/// text. None for a block without such a command.
pub(super) fn readable(block: &RawValue) -> Option<String> {
    let command = parse_command(block)?;
    let name = command.title.unwrap_or(command.id);
    Some(match command.change {
        Change::FullText { command, text } => format!("{command}: {name}\n\n{text}"),
        Change::Replace { old, new } => format!("update: {name}\n\n- {old}\n+ {new}"),
    })
}

/// Returns the text of an answer without the artifact tags, and the thoughts in `<antThinking>` tags, which are removed
/// from the text. The title of a document remains as a paragraph before its text. Only the verbatim contains the tags.
pub(super) fn without_tags(text: String) -> (String, Vec<String>) {
    if !text.contains("<antArtifact") && !text.contains("<antThinking>") {
        return (text, Vec::new());
    }
    let mut thoughts = Vec::new();
    let mut without_thoughts = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("<antThinking>") {
        // An answer without the end tag was truncated or only mentions the tag, so its text is not changed.
        let Some((thought, after)) = after.split_once("</antThinking>") else { break };
        without_thoughts.push_str(before);
        thoughts.extend(Some(thought.trim().to_owned()).filter(|thought| !thought.is_empty()));
        rest = after;
    }
    without_thoughts.push_str(rest);
    let mut out = String::with_capacity(without_thoughts.len());
    let mut rest = without_thoughts.as_str();
    while let Some((before, after)) = rest.split_once("<antArtifact") {
        let Some((attributes, inside)) = after.split_once('>') else { break };
        out.push_str(before);
        if let Some(title) = attribute_value(attributes, "title") {
            out.push_str(&title);
            out.push_str("\n\n");
        }
        rest = inside;
    }
    out.push_str(rest);
    (out.replace("</antArtifact>", "").trim().to_owned(), thoughts)
}

fn attribute_value(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"')?.0.to_owned()).filter(|v| !v.is_empty())
}

struct Version {
    step: usize,
    command: &'static str,
    version_id: Option<String>,
    text: Rc<str>,
    /// False if the document does not contain the text that the command replaces.
    is_applied: bool,
}

#[derive(Default)]
struct Artifact {
    title: Option<String>,
    media_type: Option<String>,
    versions: Vec<Version>,
    /// Maps the position of a step to the position of the latest version that the step created.
    at_step: HashMap<usize, usize>,
}

impl Artifact {
    /// Returns the position of the version at a step, or else at the nearest ancestor that created a version. Each
    /// visited step costs one of `hops`. If no hops remain, returns the position of the newest version.
    fn version_at(&self, steps: &[Step<'_>], step: usize, hops: &mut u32) -> Option<usize> {
        let mut at = Some(step);
        while let Some(i) = at {
            let Some(remaining_hops) = hops.checked_sub(1) else { return self.versions.len().checked_sub(1) };
            *hops = remaining_hops;
            if let Some(version) = self.at_step.get(&i) {
                return Some(*version);
            }
            at = steps.get(i).and_then(|s| s.parent);
        }
        None
    }
}

/// Applies all commands and returns one resource for each artifact. The text of a resource is the newest version on the
/// active branch, and `fields.versions` contains all versions. Parents must precede their children in `steps`.
pub(super) fn apply_commands(
    conversation: &str,
    steps: &[Step<'_>],
    place: &ElementPlace<'_>,
    issues: &mut Vec<Issue>,
) -> Vec<Record> {
    let mut order: Vec<&str> = Vec::new();
    let mut artifacts: HashMap<&str, Artifact> = HashMap::new();
    let (mut version_bytes, mut hops) = (0, 50_000_000);
    'steps: for (step, command) in steps.iter().enumerate().flat_map(|(i, s)| s.commands.iter().map(move |c| (i, c))) {
        let artifact = artifacts.entry(&command.id).or_insert_with(|| {
            order.push(&command.id);
            Artifact::default()
        });
        let (name, text, is_applied): (_, Rc<str>, _) = match &command.change {
            Change::FullText { command, text } => (*command, text.as_str().into(), true),
            Change::Replace { old, new } => {
                let before = artifact.version_at(steps, step, &mut hops).map(|v| artifact.versions[v].text.clone());
                match before {
                    Some(before) if before.contains(old.as_str()) => {
                        ("update", before.replacen(old.as_str(), new, 1).into(), true)
                    }
                    before => {
                        issues.push(Issue::new(
                            "artifact_update_not_applied",
                            place.text(""),
                            "an update replaces text that its document does not contain; the document is unchanged",
                        ));
                        ("update", before.unwrap_or_else(|| "".into()), false)
                    }
                }
            }
        };
        version_bytes += text.len();
        if version_bytes > MAX_VERSION_BYTES {
            let message = "too many versions of documents to replay; the commands are stored with their messages";
            issues.push(Issue::new("artifact_versions_limit", place.text(""), message));
            break 'steps;
        }
        artifact.title = command.title.clone().or(artifact.title.take());
        artifact.media_type = command.media_type.clone().or(artifact.media_type.take());
        artifact.at_step.insert(step, artifact.versions.len());
        artifact.versions.push(Version {
            step,
            command: name,
            version_id: command.version_id.clone(),
            text,
            is_applied,
        });
    }
    order
        .into_iter()
        .filter_map(|id| artifacts.remove(id).map(|a| artifact_record(conversation, id, a, steps, place)))
        .collect()
}

fn artifact_record(
    conversation: &str,
    id: &str,
    artifact: Artifact,
    steps: &[Step<'_>],
    place: &ElementPlace<'_>,
) -> Record {
    let current_text =
        artifact.versions.iter().rev().find(|v| steps[v.step].active).or(artifact.versions.last()).map(|v| &v.text);
    let text = current_text.map_or_else(String::new, |t| t.to_string());
    let mut record = Record::new(Kind::Resource, key(format!("{conversation}/artifact/{id}")), text);
    record.origin_id = Some(id.to_owned());
    record.title = artifact.title.or_else(|| Some(id.rsplit('/').next().unwrap_or(id).to_owned()));
    record.record_type = Some("artifact".into());
    record.times.created = artifact.versions.first().and_then(|v| steps[v.step].created);
    record.times.updated = artifact.versions.last().and_then(|v| steps[v.step].created);
    record.source.platform = "claude".into();
    record.source.conversation = Some(conversation.to_owned());
    record.source.method = Some("artifact".into());
    record.origin = place.origin("");
    if let Some(media_type) = artifact.media_type {
        record.fields.insert("media_type".into(), media_type.into());
    }
    for version in &artifact.versions {
        let target = key(format!("{conversation}/{}", steps[version.step].uuid));
        if record.links.iter().all(|l| l.target != target) {
            record.links.push(Link { relation: "derived_from".into(), kind: Kind::Message, target });
        }
    }
    let versions: Vec<Value> = artifact
        .versions
        .iter()
        .map(|v| {
            let mut map = Map::new();
            map.insert("command".into(), v.command.into());
            map.insert("message".into(), steps[v.step].uuid.into());
            if let Some(id) = &v.version_id {
                map.insert("version_id".into(), id.as_str().into());
            }
            map.insert("active".into(), steps[v.step].active.into());
            if !v.is_applied {
                map.insert("applied".into(), false.into());
            }
            map.insert("text".into(), v.text.as_ref().into());
            Value::Object(map)
        })
        .collect();
    record.fields.insert("versions".into(), Value::Array(versions));
    record
}
