//! Builds the records of an activity.
use super::activity::{Activity, Meaning, SCOPE};
use super::plan::{ChatPosition, Keys};
use mementory_model::{Kind, MessagePart, Origin, Record, RecordKey, Source, Times, Unit};

/// The file that contains the activities.
#[derive(Debug, Clone, Copy)]
pub(super) struct File<'f> {
    /// Place of the file, as in [`Origin::container`].
    pub container: &'f str,
    /// Layout of the file: `json` or `html`.
    pub layout: &'static str,
}

impl File<'_> {
    pub(super) fn origin(&self, pointer: &str) -> Origin {
        Origin {
            format: SCOPE.into(),
            version: Some(self.layout.into()),
            container: self.container.into(),
            pointer: pointer.into(),
        }
    }
}

/// Returns the records of an activity. For a prompt, these are the prompt, the answer and, if `with_conversation` is
/// true, the conversation. Any other activity becomes one record. `place` is the position of the activity in its chat.
pub(super) fn unit(
    id: &str,
    activity: Activity,
    meaning: Meaning,
    place: Option<ChatPosition>,
    with_conversation: bool,
    file: File<'_>,
) -> Unit {
    let source = Source {
        platform: SCOPE.into(),
        conversation: activity.chat.as_ref().map(|link| link.id.clone()),
        project: activity.chat.as_ref().and_then(|link| link.gem.clone()),
        ..Source::default()
    };
    match meaning {
        Meaning::Other => other_record(id, activity, source, file).into(),
        Meaning::Prompt(prompt) => prompt_and_answer(id, activity, prompt, source, place, with_conversation, file),
    }
}

/// Returns the record of an activity that is not a prompt. The record belongs to no conversation.
fn other_record(id: &str, activity: Activity, source: Source, file: File<'_>) -> Record {
    let mut text = activity.title;
    if let Some(more) = activity.answer {
        text = format!("{text}\n\n{more}").trim().to_owned();
    }
    let mut record = Record::new(Kind::Audit, RecordKey::new(SCOPE, format!("event/{id}")), text);
    record.record_type = Some("activity".into());
    record.times.created = activity.time;
    record.source = source;
    record.origin = file.origin(&activity.pointer);
    record.attachments = activity.files;
    record.attachments.extend(activity.answer_files);
    record.fields = activity.fields;
    record.verbatim = activity.verbatim;
    record
}

fn prompt_and_answer(
    id: &str,
    activity: Activity,
    prompt: String,
    source: Source,
    place: Option<ChatPosition>,
    with_conversation: bool,
    file: File<'_>,
) -> Unit {
    let keys = Keys::for_row(id, &activity);
    let place = place.unwrap_or(ChatPosition { first: activity.time, last: activity.time, ..ChatPosition::default() });
    let conversation_id = source.conversation.clone().unwrap_or_else(|| id.to_owned());
    let source = Source { conversation: Some(conversation_id), ..source };
    let times = Times { created: activity.time, ..Times::default() };
    let mut records = Vec::with_capacity(3);
    if with_conversation {
        let mut record = Record::new(Kind::Conversation, keys.conversation(), "");
        record.origin_id = activity.chat.as_ref().map(|link| link.id.clone());
        record.times = Times { created: place.first, updated: place.last, ..Times::default() };
        record.source = Source { conversation: None, ..source.clone() };
        record.origin = file.origin(&activity.pointer);
        // The conversation has no verbatim, because the source text of the row is the verbatim of the messages.
        records.push(record);
    }
    let part = |role: &str, parent, position| MessagePart {
        role: role.into(),
        parent,
        position,
        hidden: false,
        active: true,
        model: None,
        content_type: "text".into(),
    };
    let parent_key = place.previous_row.as_ref().map(|(row, has_answer)| match has_answer {
        true => keys.answer(row),
        false => keys.prompt(row),
    });
    let has_answer = activity.answer.is_some() || !activity.answer_files.is_empty();
    let (source_of_prompt, source_of_answer) = match has_answer {
        true => activity.split_verbatim(),
        false => (activity.verbatim, None),
    };
    let mut message = Record::new(Kind::Message, keys.prompt(id), prompt);
    message.times = times.clone();
    message.source = source.clone();
    message.origin = file.origin(&activity.pointer);
    message.parent = Some(keys.conversation());
    message.attachments = activity.files;
    message.fields = activity.fields;
    message.verbatim = source_of_prompt;
    message.message = Some(part("user", parent_key, place.position.saturating_mul(2)));
    records.push(message);
    if has_answer {
        let mut message = Record::new(Kind::Message, keys.answer(id), activity.answer.unwrap_or_default());
        message.times = times;
        message.source = source;
        message.origin = file.origin(&activity.pointer);
        message.parent = Some(keys.conversation());
        message.attachments = activity.answer_files;
        message.verbatim = source_of_answer;
        message.message =
            Some(part("assistant", Some(keys.prompt(id)), place.position.saturating_mul(2).saturating_add(1)));
        records.push(message);
    }
    Unit { records }
}
