//! Detects the files of OpenHands, and reads the description of a conversation in the file next to its events.
use mementory_format::{Catalog, FormatError, Member, Part, Role};
use mementory_formats_shared::files::{Folder, file_name, folder, folder_of};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::memory_heads::Head;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Folder with a file for each event.
pub(super) const EVENTS_FOLDER: &str = "events";
/// Folder with pages of the events that are in the folder `events` next to it.
pub(super) const CACHE_FOLDER: &str = "event_cache";
/// Names of files that describe the conversation of the events: of the versions before 1, of version 1, and of its
/// export.
const HEADER_FILES: [&str; 3] = ["metadata.json", "base_state.json", "meta.json"];
/// Beginnings of the names of files with one event. In the versions before 1, the name is a number.
const EVENT_NAMES: [&str; 2] = ["event-", "event_"];
/// Kinds of events of version 1.
const EVENT_KINDS: [&str; 8] = [
    "MessageEvent",
    "ActionEvent",
    "ObservationEvent",
    "SystemPromptEvent",
    "ConversationStateUpdateEvent",
    "AgentErrorEvent",
    "UserRejectObservation",
    "Condensation",
];

/// The files of the conversations with OpenHands in a catalog.
#[derive(Default)]
pub(super) struct OpenHandsFiles<'c> {
    /// Files with one event each, by their folders.
    pub folders: BTreeMap<Folder<'c>, Vec<&'c Member>>,
    /// Files with the events of a whole conversation.
    pub trajectories: Vec<&'c Member>,
    /// Files with copies of events.
    pub copies: Vec<&'c Member>,
    /// The files that describe a conversation, by the folder of its events.
    headers: BTreeMap<Folder<'c>, &'c Member>,
}

impl<'c> OpenHandsFiles<'c> {
    /// Finds the files of OpenHands among `members`.
    pub(super) fn among(catalog: &Catalog, members: impl Iterator<Item = &'c Member> + Clone) -> Self {
        let mut files = Self::default();
        for member in members.clone() {
            match Head::candidate(catalog, member).and_then(|head| is_event(&head).then_some(head.is_list)) {
                Some(false) => files.folders.entry(folder_of(member)).or_default().push(member),
                Some(true) => files.trajectories.push(member),
                None => {}
            }
        }
        let folders: BTreeSet<Folder<'c>> = files.folders.keys().copied().collect();
        let mut events_inside: HashMap<Folder<'c>, Folder<'c>> = HashMap::new();
        for events in folders.iter().filter(|(.., at)| file_name(at) == EVENTS_FOLDER) {
            let (root, archive, at) = *events;
            events_inside.insert((root, archive, folder(at)), *events);
        }
        let known_events: HashSet<usize> = files.folders.values().flatten().map(|event| event.id).collect();
        let is_copy = |member: &&'c Member| is_cache_of_one(member, &folders);
        (files.copies, files.trajectories) = std::mem::take(&mut files.trajectories).into_iter().partition(is_copy);
        if folders.is_empty() {
            return files;
        }
        for member in members {
            let (root, archive, at) = folder_of(member);
            if let Some(events) = files.folders.get_mut(&(root, archive, at))
                && has_event_name(member)
                && !known_events.contains(&member.id)
            {
                // The beginning of a long or damaged event may not identify the event, so its file name decides.
                events.push(member);
            }
            if HEADER_FILES.contains(&member.file_name()) {
                let events_in_subfolder = events_inside.get(&(root, archive, at));
                let events_in_same_folder =
                    folders.get(&(root, archive, at)).filter(|_| member.file_name() == "meta.json");
                files.headers.extend(events_in_subfolder.or(events_in_same_folder).map(|folder| (*folder, member)));
            }
        }
        files
    }

    /// All files as parts of a claim.
    pub(super) fn parts(&self) -> Vec<Part> {
        let part = |role: Role| move |member: &&Member| Part { member: member.id, role };
        let events = self.folders.values().flatten().chain(&self.trajectories);
        let mut parts: Vec<Part> = events.map(part(Role::Records)).collect();
        parts.extend(self.headers.values().map(part(Role::Manifest)));
        parts.extend(self.copies.iter().map(part(Role::DuplicateRendering)));
        parts
    }

    /// Reads the file next to the events, which describes their conversation. The file of version 1 is not stored,
    /// because it contains the settings of the agent, which can include API keys.
    pub(super) fn header(&self, reader: &mut FileReader<'_>, folder: &Folder<'_>) -> Result<Header, FormatError> {
        let Some(member) = self.headers.get(folder).copied() else { return Ok(Header::default()) };
        let mut header = Header::default();
        match reader.text(member) {
            Ok(text) => header.read(&Object::parse(text.trim()).unwrap_or_default()),
            Err(error) => reader.drop_if_damaged(member, Err(error))?,
        }
        match member.file_name() {
            "base_state.json" => {
                let reason = "settings: the settings of the agent may contain keys of APIs and are not stored";
                reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            }
            _ => reader.pass_through(member, "", "sidecar")?,
        }
        Ok(header)
    }
}

/// The description of a conversation in the file next to its events.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub id: Option<String>,
    pub title: Option<String>,
    pub model: Option<String>,
    pub project: Option<String>,
    pub created: Option<Timestamp>,
}

impl Header {
    fn read(&mut self, object: &Object<'_>) {
        let text = |of: &Object<'_>, keys: &[&str]| {
            keys.iter().find_map(|key| of.non_blank_text(key)).map(|text| text.into_owned())
        };
        let agent = object.object("agent").unwrap_or_default();
        let workspace = object.object("workspace").unwrap_or_default();
        self.id = text(object, &["conversation_id", "id"]);
        self.title = text(object, &["title"]);
        self.model = text(object, &["llm_model"]).or_else(|| text(&agent.object("llm")?, &["model"]));
        self.project = text(object, &["selected_repository"]).or_else(|| text(&workspace, &["working_dir"]));
        self.created = any_time(object, "created_at");
    }
}

/// True for the start of an event, or of a list of events.
fn is_event(head: &Head) -> bool {
    if !head.has_all("", &["id", "timestamp", "source"]) {
        return false;
    }
    let is_action = head.has_all("", &["action", "args"]) && head.has_text_value("action");
    let is_observation = head.has_all("", &["observation", "content", "extras"]) && head.has_text_value("observation");
    let has_kind = head.has("kind") && EVENT_KINDS.iter().any(|kind| head.says(kind));
    is_action || is_observation || has_kind
}

fn has_event_name(member: &Member) -> bool {
    let name = member.file_name();
    name.ends_with(".json") && sequence_number(name).is_some()
}

/// The number in the name of a file with an event.
pub(super) fn sequence_number(name: &str) -> Option<u64> {
    let stem = name.strip_suffix(".json")?;
    let rest = EVENT_NAMES.into_iter().find_map(|start| stem.strip_prefix(start));
    let digits = match rest {
        Some(rest) => rest.split(['-', '_']).next()?,
        None => stem,
    };
    digits.parse().ok()
}

/// True for a page of the events in the folder next to it.
fn is_cache_of_one(member: &Member, folders: &BTreeSet<Folder<'_>>) -> bool {
    let (root, archive, at) = folder_of(member);
    let Some(above) = at.strip_suffix(CACHE_FOLDER) else { return false };
    folders.contains(&(root, archive, format!("{above}{EVENTS_FOLDER}").as_str()))
}
