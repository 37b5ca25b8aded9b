//! One event of a log: its two serializations, its hash, and the entry that Zaxy exports for it.
use super::entry::is_time;
use mementory_json::Tree;
use mementory_json::canonical::{Style, write};
use sha2::{Digest, Sha256};

/// Format id of logs.
pub(crate) const LOG_FORMAT: &str = "eventloom";

/// Payload member with the sensitivity. The event's hash covers it, but exports do not contain it.
pub(crate) const SECURITY_MEMBER: &str = "__zaxy_security";
/// Payload member that marks an event with an encrypted payload. Zaxy encrypts such a payload so that deleting the key
/// makes it unreadable.
const CIPHER_MEMBER: &str = "__zaxy_cipher";

/// The two serializations of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventVersion {
    /// `eventloom.v1`.
    V1,
    /// The serialization that Zaxy used before `eventloom.v1`.
    Legacy,
}

/// Determines the version of an event from the members of `tree`. None if `tree` is not an event.
pub(crate) fn version_of(tree: &Tree) -> Option<EventVersion> {
    let has = |names: &[&str]| names.iter().all(|n| tree.get(n).is_some());
    if has(&["id", "type", "actorId", "threadId", "timestamp", "payload", "integrity"]) {
        Some(EventVersion::V1)
    } else {
        has(&["seq", "timestamp", "type", "actor", "hash"]).then_some(EventVersion::Legacy)
    }
}

/// An event of either version.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub seq: u64,
    pub timestamp: String,
    pub kind: String,
    pub actor: String,
    pub thread: String,
    /// Payload without the security member.
    pub payload: Tree,
    /// The security member: sensitivity and redacted paths.
    pub security: Option<(String, Tree)>,
    /// Hash of the previous event in hex, without prefix.
    pub previous: Option<String>,
    /// Hash of this event in hex, without prefix.
    pub hash: String,
    id: Option<String>,
    parent: Tree,
    causes: Tree,
    hashed_as: EventVersion,
}

fn required_text(tree: &Tree, name: &str) -> Result<String, String> {
    let text = tree.get(name).and_then(Tree::as_str).filter(|t| !t.is_empty());
    text.map(str::to_owned).ok_or_else(|| format!("{name} is missing or not a text"))
}

fn optional_hash(tree: Option<&Tree>, name: &str) -> Result<Option<String>, String> {
    match tree {
        None | Some(Tree::Null) => Ok(None),
        Some(Tree::Text(text)) => Ok(Some(text.strip_prefix("sha256:").unwrap_or(text).to_owned())),
        Some(_) => Err(format!("{name} is not a text")),
    }
}

impl Event {
    /// Parses an event. `line_number` is the number of its line in the log; it becomes the number of the event if the
    /// id contains none.
    pub(crate) fn parse(tree: &Tree, line_number: u64) -> Result<Self, String> {
        let version = version_of(tree).ok_or("not an event")?;
        let (actor, thread) = if version == EventVersion::V1 { ("actorId", "threadId") } else { ("actor", "thread") };
        let mut payload = match tree.get("payload") {
            Some(payload @ Tree::Object(_)) => payload.clone(),
            None if version == EventVersion::Legacy => Tree::Object(vec![]),
            _ => return Err("payload is not an object".into()),
        };
        let security = if version == EventVersion::V1 {
            let security_member = payload.get(SECURITY_MEMBER).cloned();
            payload.remove(SECURITY_MEMBER);
            security_member.filter(|s| matches!(s, Tree::Object(_)))
        } else {
            tree.get("security").filter(|s| **s != Tree::Null).cloned()
        };
        let (hash_member, previous) = match version {
            EventVersion::V1 => {
                let integrity = tree.get("integrity").filter(|i| matches!(i, Tree::Object(_)));
                let integrity = integrity.ok_or("integrity is not an object")?;
                (integrity.get("hash"), integrity.get("previousHash"))
            }
            EventVersion::Legacy => (tree.get("hash"), tree.get("prev_hash")),
        };
        let id = tree.get("id").and_then(Tree::as_str).map(str::to_owned);
        let seq = match version {
            EventVersion::V1 => id.as_deref().and_then(seq_of).unwrap_or(line_number),
            EventVersion::Legacy => match tree.get("seq") {
                Some(Tree::Number(token)) => token.parse().map_err(|_| "seq is not a whole number")?,
                _ => return Err("seq is missing or not a whole number".into()),
            },
        };
        let own_hash = optional_hash(hash_member, "hash")?
            .filter(|h| h.len() == 64)
            .ok_or("the hash is missing or not 64 digits")?;
        let (parent, causes) = match version {
            EventVersion::V1 => ("parentEventId", "causedBy"),
            EventVersion::Legacy => ("parent_event_id", "caused_by"),
        };
        let is_filled_list = |t: &Tree| matches!(t, Tree::Array(items) if !items.is_empty());
        let v1 =
            version == EventVersion::V1 || tree.get("envelope_version").and_then(Tree::as_str) == Some("eventloom.v1");
        Ok(Self {
            seq: Some(seq).filter(|s| *s > 0).ok_or("seq is below 1")?,
            timestamp: required_text(tree, "timestamp")?,
            kind: required_text(tree, "type")?,
            actor: required_text(tree, actor)?,
            thread: match tree.get(thread) {
                None if version == EventVersion::Legacy => "default".into(),
                _ => required_text(tree, thread)?,
            },
            payload,
            security: security.map(|s| {
                let tier = s.get("sensitivity").and_then(Tree::as_str).unwrap_or("public").to_owned();
                (tier, s.get("redacted_paths").cloned().unwrap_or(Tree::Array(vec![])))
            }),
            previous: optional_hash(previous, "the previous hash")?,
            hash: own_hash,
            id,
            parent: tree.get(parent).cloned().unwrap_or(Tree::Null),
            causes: tree.get(causes).filter(|t| is_filled_list(t)).cloned().unwrap_or(Tree::Array(vec![])),
            hashed_as: if v1 { EventVersion::V1 } else { EventVersion::Legacy },
        })
    }

    /// True if the timestamp is a date or time of ISO 8601, as the reference implementation requires.
    pub(crate) fn has_valid_time(&self) -> bool {
        is_time(&self.timestamp)
    }

    /// Computes the hash from the content of the event. None if the content has a number that the reference
    /// implementation cannot read.
    pub(crate) fn computed_hash(&self) -> Option<String> {
        let text_value = |s: &str| Tree::Text(s.to_owned());
        let security = self.security.as_ref().map(|(tier, paths)| {
            Tree::Object(vec![("sensitivity".into(), text_value(tier)), ("redacted_paths".into(), paths.clone())])
        });
        let prefixed =
            |h: &String| if h.starts_with("sha256:") { text_value(h) } else { text_value(&format!("sha256:{h}")) };
        let tree = match self.hashed_as {
            EventVersion::V1 => {
                let mut payload = self.payload.clone();
                if let Some(security) = security {
                    payload.set(SECURITY_MEMBER, security);
                }
                let id = self.id.clone().unwrap_or_else(|| self.generated_id());
                let event = vec![
                    ("id", Tree::Text(id)),
                    ("type", text_value(&self.kind)),
                    ("actorId", text_value(&self.actor)),
                    ("threadId", text_value(&self.thread)),
                    ("parentEventId", self.parent.clone()),
                    ("causedBy", self.causes.clone()),
                    ("timestamp", text_value(&self.timestamp)),
                    ("payload", payload),
                ];
                let previous = self.previous.as_ref().map_or(Tree::Null, prefixed);
                object(vec![("event", object(event)), ("previousHash", previous)])
            }
            EventVersion::Legacy => {
                let mut event = vec![
                    ("seq", Tree::Number(self.seq.to_string())),
                    ("timestamp", text_value(&self.timestamp)),
                    ("type", text_value(&self.kind)),
                    ("actor", text_value(&self.actor)),
                    ("thread", text_value(&self.thread)),
                    ("payload", self.payload.clone()),
                    ("prev_hash", self.previous.as_deref().map_or(Tree::Null, text_value)),
                ];
                event.extend(security.map(|s| ("security", s)));
                object(event)
            }
        };
        let mut out = String::new();
        write(&tree, Style::PYTHON_ASCII, &mut out).ok()?;
        Some(hex::encode(Sha256::digest(out)))
    }

    /// The id that Zaxy generates for an event without one.
    fn generated_id(&self) -> String {
        let text_value = |s: &str| Tree::Text(s.to_owned());
        let seed = object(vec![
            ("actor", text_value(&self.actor)),
            ("seq", Tree::Number(self.seq.to_string())),
            ("timestamp", text_value(&self.timestamp)),
            ("type", text_value(&self.kind)),
        ]);
        let mut out = String::new();
        // Cannot fail, because the seed contains only texts and a whole number.
        let _ = write(&seed, Style::PYTHON_ASCII, &mut out);
        format!("evt_zaxy_{:012}_{}", self.seq, hex::encode(&Sha256::digest(out)[..8]))
    }

    /// True if the payload is encrypted, with a key that is not in the log.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.payload.get(CIPHER_MEMBER).is_some()
    }

    /// The entry that Zaxy exports for the event.
    pub(crate) fn entry(&self) -> Tree {
        let text_value = |s: &str| Tree::Text(s.to_owned());
        let content = object(vec![
            ("type", text_value(&self.kind)),
            ("actor", text_value(&self.actor)),
            ("thread", text_value(&self.thread)),
            ("payload", self.payload.clone()),
        ]);
        object(vec![
            ("schema_version", text_value("zaxy.export.v1")),
            ("grain", text_value("event")),
            ("kind", text_value(&self.kind)),
            ("citation", text_value(&format!("eventloom://{}/events/{}#{}", self.thread, self.seq, self.hash))),
            ("seq", Tree::Number(self.seq.to_string())),
            ("valid_from", text_value(&self.timestamp)),
            ("valid_to", Tree::Null),
            ("source", text_value("eventloom")),
            ("content", content),
        ])
    }
}

fn object(members: Vec<(&str, Tree)>) -> Tree {
    Tree::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}

/// Returns the event number in an id that Zaxy generated. None for any other id.
fn seq_of(id: &str) -> Option<u64> {
    let (digits, tail) = id.strip_prefix("evt_zaxy_")?.split_once('_')?;
    let is_hex = tail.len() == 16 && tail.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let is_number = digits.len() == 12 && digits.bytes().all(|b| b.is_ascii_digit());
    (is_hex && is_number).then(|| digits.parse().ok()).flatten().filter(|n| *n > 0)
}

/// The export of an event of a log.
pub(crate) enum ExportedEvent {
    Entry(Tree),
    /// No entry, because the payload is encrypted and exports never contain ciphertext.
    Encrypted,
}

/// The entry for a line of a log. None if the line is not an event.
pub(crate) fn entry_of(line: &Tree, line_number: u64) -> Option<ExportedEvent> {
    let event = Event::parse(line, line_number).ok()?;
    Some(if event.is_encrypted() { ExportedEvent::Encrypted } else { ExportedEvent::Entry(event.entry()) })
}
