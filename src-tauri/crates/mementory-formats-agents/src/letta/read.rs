//! Reads agent files: agents with their messages, memory blocks, documents and tools.
use super::detect::{LIST_KEYS, layout};
use super::message_list::MessageList;
use super::{ID, PLATFORM, is_local_id, messages, secrets};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::memory_heads::Head;
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, link, object_of};
use mementory_formats_shared::object::{Object, decode_string, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::rules_text;
use mementory_model::{Kind, Verbatim};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// Mark in the metadata of the agents and blocks that Mementory writes.
pub(super) const MEMENTORY_MARK: &str = "Mementory";

fn is_ours(object: &Object<'_>) -> bool {
    object.object("metadata").is_some_and(|metadata| metadata.text("written_by").is_some_and(|by| by == MEMENTORY_MARK))
}

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    files.each_file(detected, |files, member, _| {
        let version = Head::of(catalog, member).and_then(|head| layout(&head));
        let lists: &[&str] = match version {
            Some("2") => &LIST_KEYS,
            Some("messages") => &["messages"],
            _ => &[],
        };
        // Local ids start at 0 in each file, so files share nothing but `rows`, which sends the records.
        let messages = MessageList::default();
        let mut file = AgentFile { rows: &mut rows, owners: HashMap::new(), keys: HashSet::new(), messages };
        each_row(files, member, lists, Kind::Memory, &mut |files, row| file.read_row(files, row))?;
        file.messages.send(files, member)
    })
}

/// The state of one file. Agents come before the blocks to which they refer.
pub(super) struct AgentFile<'s> {
    pub rows: &'s mut RowSender,
    /// Maps the id of a block to its agent.
    owners: HashMap<String, String>,
    /// Keys of the agents and blocks that have been read so far.
    keys: HashSet<String>,
    /// Messages outside of any agent.
    messages: MessageList,
}

impl AgentFile<'_> {
    fn read_row(&mut self, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
        let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
        match row.list_name() {
            "agents" => self.read_agent(files, row, &object),
            "blocks" => self.read_block(files, row, &object, None),
            "files" => self.read_document(files, row, &object),
            "tools" => self.read_tool(files, row, &object, "tool"),
            "skills" => self.read_tool(files, row, &object, "skill"),
            "passages" => self.read_passage(files, row, &object),
            list @ ("sources" | "mcp_servers" | "groups") => self.read_other(files, row, &object, list),
            _ if object.has("core_memory") || object.has("agent_type") => self.read_agent(files, row, &object),
            _ if object.has("message_type") => {
                self.messages.add(files, row, &object);
                Ok(())
            }
            _ if object.has("label") => self.read_block(files, row, &object, None),
            _ => self.read_passage(files, row, &object),
        }
    }

    /// Makes a key unique in the file, because two agents may have the same name.
    fn unique_key(&mut self, key: String) -> String {
        let mut unique = key.clone();
        let mut n = 2;
        while !self.keys.insert(unique.clone()) {
            unique = format!("{key}~{n}");
            n += 1;
        }
        unique
    }

    fn read_agent(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
    ) -> Result<(), FormatError> {
        let name = object.first_text(&["name"]);
        let id = object.id("id").filter(|id| !is_local_id(id));
        let agent_name = id.clone().unwrap_or_else(|| name.clone().unwrap_or_else(|| "agent".into()));
        let key = self.unique_key(format!("agent/{agent_name}"));
        for block in object.texts("block_ids") {
            self.owners.entry(block).or_insert_with(|| agent_name.clone());
        }
        if is_ours(object) && object.list("messages").is_none_or(|messages| messages.is_empty()) {
            self.rows.skip(files, row, "not_a_record: the agent that was made for the blocks", Kind::Profile);
            return Ok(());
        }
        // Members that become separate records are left out here. Variables lose their values, which may be secret.
        let parts = ["messages", "core_memory", "memory", "tools", "passages", "archival_memory", "system"];
        let mut replaced: Vec<(&RawValue, String)> = secrets::hidden_members(object);
        replaced.extend(parts.iter().filter_map(|part| {
            let raw = object.raw_value(part)?;
            let empty_value = if raw.get().starts_with('"') {
                "\"\""
            } else if raw.get().starts_with('{') {
                "{}"
            } else {
                "[]"
            };
            Some((raw, empty_value.to_owned()))
        }));
        let borrowed: Vec<(&RawValue, &str)> = replaced.iter().map(|(raw, with)| (*raw, with.as_str())).collect();
        let verbatim = with_replaced_values(row.text, &borrowed);

        let mut record =
            self.rows.record(Kind::Profile, id, "", object.first_text(&["description"]).unwrap_or_default());
        record.key.value = key.clone();
        record.title = name;
        record.record_type = Some("agent".into());
        record.tags = object.texts("tags");
        record.times.created = object.time("created_at");
        record.times.updated = object.time("updated_at");
        let stated_members = ["agent_type", "model", "timezone", "version"];
        let fields = object.other_fields(&[]).into_iter();
        record.fields = fields.filter(|(name, _)| stated_members.contains(&name.as_str())).collect();
        self.rows.send_with(files, row, record, Verbatim::json(verbatim))?;

        self.read_system_prompt(files, row, object, &key)?;
        secrets::send_names(self.rows, files, row, object, &key)?;
        self.read_core_memory(files, row, object, &agent_name)?;
        for list in ["passages", "archival_memory"] {
            self.each_in_list(files, row, object, list, |file, files, row, inner| {
                file.read_passage(files, row, inner)
            })?;
        }
        self.each_in_list(files, row, object, "tools", |file, files, row, inner| {
            file.read_tool(files, row, inner, "tool")
        })?;
        messages::read(files, row, object, &key)
    }

    /// Reads the instructions of the agent.
    fn read_system_prompt(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
        agent: &str,
    ) -> Result<(), FormatError> {
        let Some((raw, text)) = object.raw_value("system").zip(object.first_text(&["system"])) else { return Ok(()) };
        let row = Row { member: row.member, text: raw.get(), pointer: format!("{}/system", row.pointer) };
        let mut record = self.rows.record(Kind::Profile, None, "", text);
        record.key.value = format!("{agent}/system");
        record.record_type = Some("system_prompt".into());
        record.links = vec![link("member_of", Kind::Profile, ID, agent)];
        self.rows.send(files, &row, record)
    }

    /// Reads the blocks of a first-generation file: a list, or an object that maps labels to texts.
    fn read_core_memory(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
        agent: &str,
    ) -> Result<(), FormatError> {
        let owner = agent.to_owned();
        self.each_in_list(files, row, object, "core_memory", |file, files, row, inner| {
            file.read_block(files, row, inner, Some(&owner))
        })?;
        let memory = object.object("memory").unwrap_or_default();
        self.each_in_list(files, row, &memory, "blocks", |file, files, row, inner| {
            file.read_block(files, row, inner, Some(&owner))
        })?;
        let Some(by_label) = object.object("core_memory") else { return Ok(()) };
        for (label, raw) in by_label.members() {
            let pointer = format!("{}/core_memory/{label}", row.pointer);
            let row = Row { member: row.member, text: raw.get(), pointer };
            let inner = Object::parse(raw.get()).unwrap_or_default();
            let text = decode_string(raw).map(|text| text.into_owned()).or_else(|| inner.first_text(&["value"]));
            self.send_block(files, &row, &inner, label.to_owned(), text, Some(agent))?;
        }
        Ok(())
    }

    /// Calls `read` for each object of a list inside the row.
    fn each_in_list(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
        list: &str,
        read: impl Fn(&mut Self, &mut FileReader<'_>, &Row<'_>, &Object<'_>) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        for (n, raw) in object.list(list).unwrap_or_default().into_iter().enumerate() {
            let row = Row { member: row.member, text: raw.get(), pointer: format!("{}/{list}/{n}", row.pointer) };
            if let Some(inner) = object_of(files, &row, Kind::Memory) {
                read(self, files, &row, &inner)?;
            }
        }
        Ok(())
    }

    fn read_block(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
        owner: Option<&str>,
    ) -> Result<(), FormatError> {
        let label = object.first_text(&["label", "name"]).unwrap_or_else(|| "block".into());
        self.send_block(files, row, object, label, object.first_text(&["value"]), owner)
    }

    fn send_block(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
        label: String,
        text: Option<String>,
        owner: Option<&str>,
    ) -> Result<(), FormatError> {
        let stated_id = object.id("id");
        let owner = owner.map(str::to_owned).or_else(|| self.owners.get(stated_id.as_deref()?).cloned());
        let id = stated_id.filter(|id| !is_local_id(id));
        let key_from_label = format!("block/{}/{label}", owner.as_deref().unwrap_or_default());
        let key = self.unique_key(id.clone().unwrap_or(key_from_label));
        let Some(text) = text else {
            self.rows.skip(files, row, "no_content: this block is empty", Kind::Memory);
            return Ok(());
        };
        if is_ours(object) {
            return self.send_items(files, row, &key, &label, &text);
        }
        // A persona describes the assistant, not the person.
        let kind = if label == "persona" { Kind::Profile } else { Kind::Memory };
        let mut record = self.rows.record(kind, id, "", text);
        record.key.value = key;
        record.record_type = Some(label.clone());
        record.title = Some(label);
        record.times.created = object.time("created_at");
        record.times.updated = object.time("updated_at");
        record.tags = object.texts("tags");
        record.source.method = Some("agent_memory".into());
        record.links.extend(owner.map(|owner| link("member_of", Kind::Profile, ID, format!("agent/{owner}"))));
        record.fields = object.other_fields(&["id", "label", "value", "created_at", "updated_at", "tags"]);
        self.rows.send(files, row, record)
    }

    /// Sends the items of a block that Mementory wrote. It is unknown who said them.
    fn send_items(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        key: &str,
        label: &str,
        text: &str,
    ) -> Result<(), FormatError> {
        let label = label.trim_end_matches(|c: char| c == '_' || c.is_ascii_digit());
        let kind = if label == "persona" { Kind::Profile } else { Kind::Memory };
        for piece in rules_text::items(text, "") {
            let row =
                Row { member: row.member, text: row.text, pointer: format!("{}/value/{}", row.pointer, piece.pointer) };
            let mut record = self.rows.record(kind, None, "", piece.text);
            record.key.value = format!("{key}/{}", piece.id);
            record.record_type = Some(label.to_owned());
            record.title = Some(label.to_owned());
            let verbatim = Verbatim { media_type: "text/markdown".into(), text: piece.source.to_owned() };
            self.rows.send_with(files, &row, record, verbatim)?;
        }
        Ok(())
    }

    /// Reads a passage, which is an entry of the archival memory.
    fn read_passage(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
    ) -> Result<(), FormatError> {
        let Some(text) = object.first_text(&["text", "content"]) else {
            self.rows.fail(files, row, "no_content: no text in it", Kind::Memory);
            return Ok(());
        };
        let id = object.id("id").filter(|id| !is_local_id(id));
        let mut record = self.rows.record(Kind::Memory, id, &text, text.clone());
        record.record_type = Some("archival".into());
        record.tags = object.texts("tags");
        record.times.created = object.time("created_at");
        record.times.updated = object.time("updated_at");
        record.source.method = Some("agent_memory".into());
        record.fields = object.other_fields(&["id", "text", "created_at", "updated_at", "tags", "embedding_config"]);
        self.rows.send(files, row, record)
    }

    /// Reads a document that an agent can search.
    fn read_document(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
    ) -> Result<(), FormatError> {
        let name = object.first_text(&["file_name", "original_file_name", "name"]);
        let text = object.first_text(&["content", "text"]).unwrap_or_default();
        let key = self.unique_key(format!("file/{}", name.clone().unwrap_or_default()));
        let mut record = self.rows.record(Kind::Resource, None, "", text);
        record.key.value = key;
        record.title = object.first_text(&["original_file_name"]).or(name);
        record.record_type = Some("file".into());
        record.times.created = object.time("created_at").or_else(|| object.time("file_creation_date"));
        record.fields = object.other_fields(&["id", "content", "created_at"]);
        self.rows.send(files, row, record)
    }

    /// Reads a tool with its source text, or a skill with its files.
    fn read_tool(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
        record_type: &str,
    ) -> Result<(), FormatError> {
        let name = object.first_text(&["name"]);
        let skill = object.object("files").and_then(|files| files.first_text(&["SKILL.md"]));
        let text = skill.or_else(|| object.first_text(&["description"])).unwrap_or_default();
        let key = self.unique_key(format!("{record_type}/{}", name.clone().unwrap_or_default()));
        let mut record = self.rows.record(Kind::Procedure, None, "", text);
        record.key.value = key;
        record.title = name;
        record.record_type = Some(record_type.into());
        record.tags = object.texts("tags");
        let (text, count) = secrets::without_tokens(row.text);
        secrets::note(files, row, count);
        self.rows.send_with(files, row, record, Verbatim::json(text))
    }

    /// Reads a group, a folder of documents, or the settings of a tool server.
    fn read_other(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
        list: &str,
    ) -> Result<(), FormatError> {
        let name = object.first_text(&["name", "server_name"]);
        let (text, count) = secrets::without_server_secrets(row.text, object);
        secrets::note(files, row, count);
        let mut record = self.rows.foreign(object, row, list.trim_end_matches('s'));
        record.origin_id = None;
        let key_name = name.clone().unwrap_or_else(|| record.key.value.clone());
        record.key.value = self.unique_key(format!("{list}/{key_name}"));
        record.title = name;
        self.rows.send_with(files, row, record, Verbatim::json(text))
    }
}
