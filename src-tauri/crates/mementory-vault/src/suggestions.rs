//! The queue of suggestions from clients. A suggestion is not a record. The person accepts or refuses each suggestion.
use crate::{VaultError, VaultResult, context::Context, word_removal::Removal};
use mementory_crypto::keyed_digest;
use mementory_model::{Kind, Timestamp};
use mementory_store::{audit, ids::parse_id};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

/// Largest number of suggestions in the queue.
const MAX_WAITING: usize = 500;
/// Longest suggested text, in characters.
const MAX_TEXT_CHARS: usize = 8_000;
/// Longest reason, type or tag, in characters.
const MAX_SHORT_CHARS: usize = 300;
/// Largest number of tags of a suggestion.
const MAX_TAGS: usize = 20;

/// The change that a suggestion proposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionOp {
    /// Add a memory.
    New,
    /// Change the text of a record.
    Change,
    /// Move a record to the Trash.
    Forget,
}

/// How a suggestion leaves the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// The suggestion was applied.
    Accepted,
    /// The suggestion was refused. The client may suggest it again.
    Refused,
    /// The suggestion was refused, and the same suggestion is not added to the queue again.
    RefusedForGood,
}

/// True for the kinds of records that a suggestion may be about.
pub const fn is_suggestible(kind: Kind) -> bool {
    matches!(kind, Kind::Memory | Kind::Profile | Kind::Fact | Kind::Procedure | Kind::Todo)
}

/// Result of adding a suggestion to the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueOutcome {
    /// The suggestion is in the queue, with this id.
    Waiting(String),
    /// The person has refused the suggestion for good.
    RefusedForGood,
    /// A text is missing or too long, or there are too many tags.
    Unfit,
}

/// One suggestion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// Id of the suggestion; empty until it is stored.
    #[serde(default)]
    pub id: String,
    /// Id of the grant that the client used.
    pub grant: String,
    /// Name of the client at the time of the suggestion.
    pub client: String,
    /// The change that the suggestion proposes.
    pub op: SuggestionOp,
    /// The record to change or forget, and its version at the time of the suggestion.
    pub target: Option<(String, u32)>,
    /// The new text of the record, or the text of a new memory.
    pub text: Option<String>,
    /// Type of a new memory.
    pub record_type: Option<String>,
    /// Tags of a new memory.
    pub tags: Vec<String>,
    /// Date of a new memory, in microseconds since 1970. None means the time when the suggestion is accepted.
    #[serde(default)]
    pub created: Option<i64>,
    /// The client's reason, in its own words.
    pub reason: Option<String>,
    /// Time of the suggestion, in microseconds since 1970.
    pub at: i64,
}

impl Suggestion {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let optional_texts = [&self.text, &self.record_type, &self.reason];
        optional_texts.into_iter().flatten().chain(&self.tags).map(String::as_str)
    }

    fn check(&self) -> VaultResult<()> {
        let too_long = |text: &str, max_chars: usize| text.chars().count() > max_chars;
        let short_texts = [&self.record_type, &self.reason].into_iter().flatten().chain(&self.tags);
        if self.op != SuggestionOp::Forget && self.text.as_ref().is_none_or(|text| text.trim().is_empty()) {
            return Err(VaultError::Usage("A suggestion needs some text.".into()));
        }
        if self.text.as_ref().is_some_and(|text| too_long(text, MAX_TEXT_CHARS)) {
            return Err(VaultError::Usage(format!("A suggested text has at most {MAX_TEXT_CHARS} characters.")));
        }
        if self.tags.len() > MAX_TAGS || short_texts.into_iter().any(|text| too_long(text, MAX_SHORT_CHARS)) {
            let message =
                format!("At most {MAX_TAGS} tags; reason, type and tags have at most {MAX_SHORT_CHARS} characters.");
            return Err(VaultError::Usage(message));
        }
        Ok(())
    }
}

/// The queue of suggestions from clients.
#[derive(Clone, Copy)]
pub struct Suggestions<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Suggestions<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Suggestions<'_> {
    /// Returns all suggestions in the queue, oldest first.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn waiting(&self) -> VaultResult<Vec<Suggestion>> {
        self.context.store.read(load_all)
    }

    /// Returns the suggestion with this id.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get(&self, id: &str) -> VaultResult<Suggestion> {
        let text: Option<String> = self.context.store.read(|c| {
            let sql = "SELECT value FROM meta WHERE key = 'suggestion/' || ?1";
            Ok(c.query_row(sql, [id], |r| r.get(0)).optional()?)
        })?;
        parse(&text.ok_or_else(|| VaultError::not_found(id))?)
    }

    /// Adds a suggestion to the queue and returns its id. If the same client repeats a suggestion, it is stored once.
    ///
    /// # Errors
    /// `Usage` if a text is missing or too long, if there are too many tags, or if the queue is full; `RefusedForGood`.
    pub fn add(&self, suggestion: Suggestion) -> VaultResult<String> {
        suggestion.check()?;
        match self.add_all(vec![suggestion])?.pop() {
            Some(QueueOutcome::Waiting(id)) => Ok(id),
            _ => Err(VaultError::RefusedForGood),
        }
    }

    /// Adds several suggestions to the queue. Returns the result for each of them, in the same order.
    ///
    /// # Errors
    /// `Usage` if the queue has no room for all of the suggestions, in which case none is added.
    pub fn add_all(&self, suggestions: Vec<Suggestion>) -> VaultResult<Vec<QueueOutcome>> {
        self.context.store.write(|tx| {
            let mut all = load_all(tx)?;
            let mut added = Vec::with_capacity(suggestions.len());
            for suggestion in &suggestions {
                added.push(self.insert(tx, &mut all, suggestion)?);
            }
            Ok(added)
        })
    }

    fn insert(&self, tx: &Connection, all: &mut Vec<Suggestion>, suggestion: &Suggestion) -> VaultResult<QueueOutcome> {
        if suggestion.check().is_err() {
            return Ok(QueueOutcome::Unfit);
        }
        let refused_key = self.refused_key(suggestion);
        let found = tx.query_row("SELECT 1 FROM meta WHERE key = ?1", [&refused_key], |_| Ok(())).optional()?;
        if found.is_some() {
            return Ok(QueueOutcome::RefusedForGood);
        }
        let is_same = |other: &&Suggestion| {
            Suggestion { id: suggestion.id.clone(), at: suggestion.at, ..(*other).clone() } == *suggestion
        };
        if let Some(same) = all.iter().find(is_same) {
            return Ok(QueueOutcome::Waiting(same.id.clone()));
        }
        if all.len() >= MAX_WAITING {
            return Err(VaultError::Usage(format!(
                "At most {MAX_WAITING} suggestions wait for the person. Nothing was added. Suggest less, or wait."
            )));
        }
        let id = mementory_store::ids::random_hex_id()?;
        let suggestion = Suggestion { id: id.clone(), ..suggestion.clone() };
        let text = serde_json::to_string(&suggestion)
            .map_err(|_| VaultError::Damaged("a suggestion cannot be written".into()))?;
        tx.execute("INSERT INTO meta (key, value) VALUES ('suggestion/' || ?1, ?2)", params![suggestion.id, text])?;
        all.push(suggestion);
        Ok(QueueOutcome::Waiting(id))
    }

    /// Removes a suggestion from the queue and logs what the person decided.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn close(&self, id: &str, closing: Closing, now: Timestamp) -> VaultResult<()> {
        let refused_key = match closing {
            Closing::RefusedForGood => Some(self.refused_key(&self.get(id)?)),
            _ => None,
        };
        self.context.store.write(|tx| {
            if let Some(key) = refused_key {
                tx.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, '')", [key])?;
            }
            self.close_in_transaction(tx, id, closing, now)
        })
    }

    /// Removes a suggestion from the queue and logs the decision, within a transaction.
    pub(crate) fn close_in_transaction(
        &self,
        tx: &Connection,
        id: &str,
        closing: Closing,
        now: Timestamp,
    ) -> VaultResult<()> {
        if tx.execute("DELETE FROM meta WHERE key = 'suggestion/' || ?1", [id])? == 0 {
            return Err(VaultError::not_found(id));
        }
        let (op, detail) = match closing {
            Closing::Accepted => ("suggestion_accept", ""),
            Closing::Refused => ("suggestion_refuse", ""),
            Closing::RefusedForGood => ("suggestion_refuse", "for good"),
        };
        audit::append(tx, &self.context.keys, now, op, id, detail)
    }

    /// Returns the key that marks a suggestion as refused for good. The key is a keyed digest, so that no word of the
    /// suggestion is stored. The digest does not depend on case, white space or the client.
    fn refused_key(&self, suggestion: &Suggestion) -> String {
        let words: Vec<String> =
            suggestion.text.iter().flat_map(|text| text.split_whitespace()).map(str::to_lowercase).collect();
        let target = suggestion.target.as_ref().map(|(id, _)| id.as_str()).unwrap_or_default();
        let op = match suggestion.op {
            SuggestionOp::New => "new",
            SuggestionOp::Change => "change",
            SuggestionOp::Forget => "forget",
        };
        let words = words.join(" ");
        let parts: [&[u8]; 4] = [b"suggestion", op.as_bytes(), target.as_bytes(), words.as_bytes()];
        let digest = keyed_digest(self.context.keys.fingerprints(), &parts);
        format!("suggestion-refused/{}", hex::encode(digest))
    }
}

/// Deletes the suggestions that contain erased words or whose target record is gone.
pub(crate) fn forget(tx: &Connection, removal: &Removal, is_named: &dyn Fn(&str) -> bool) -> VaultResult<()> {
    for suggestion in load_all(tx)? {
        let is_target_gone = match &suggestion.target {
            Some((id, _)) => {
                let mut statement = tx.prepare_cached("SELECT 1 FROM records WHERE id = ?1")?;
                let id = parse_id(id).unwrap_or_default();
                statement.query_row([id], |_| Ok(())).optional()?.is_none()
            }
            None => false,
        };
        if is_target_gone || suggestion.texts().any(|text| is_named(text) || removal.record_text(text).is_some()) {
            tx.execute("DELETE FROM meta WHERE key = 'suggestion/' || ?1", [&suggestion.id])?;
        }
    }
    Ok(())
}

fn load_all(c: &Connection) -> VaultResult<Vec<Suggestion>> {
    let mut statement =
        c.prepare_cached("SELECT value FROM meta WHERE key >= 'suggestion/' AND key < 'suggestion0'")?;
    let texts = statement.query_map([], |r| r.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let mut all = texts.iter().map(|text| parse(text)).collect::<VaultResult<Vec<_>>>()?;
    all.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    Ok(all)
}

fn parse(text: &str) -> VaultResult<Suggestion> {
    serde_json::from_str(text).map_err(|_| VaultError::Damaged("a suggestion cannot be read".into()))
}
