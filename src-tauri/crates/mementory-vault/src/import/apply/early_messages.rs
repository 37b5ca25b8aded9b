//! Messages that come before their conversation in the input. A message is stored with the row of its conversation, so
//! an early message waits until its whole source has been read.
use super::ImportRun;
use crate::{VaultResult, message_order::unit_with_parents_first};
use mementory_model::{Kind, Record};
use mementory_store::ids::record_id;

/// Largest total size, in bytes, of the texts of waiting messages. Further messages are stored at once, without a
/// conversation.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// Messages that wait for their conversation.
#[derive(Default)]
pub(super) struct EarlyMessages {
    messages: Vec<Record>,
    bytes: usize,
}

/// If `records` is a single message whose conversation is not stored yet, lets the message wait and returns None.
/// Returns all other units unchanged. Readers send a conversation with its messages as one unit, or each record as a
/// unit of its own.
pub(super) fn wait_for_conversation(
    run: &mut ImportRun<'_>,
    mut records: Vec<Record>,
) -> VaultResult<Option<Vec<Record>>> {
    let [message] = records.as_slice() else { return Ok(Some(records)) };
    let Some(conversation) = message.parent.as_ref().filter(|_| message.kind == Kind::Message) else {
        return Ok(Some(records));
    };
    let id = record_id(&run.context.keys, conversation);
    if run.seen.contains_key(&id) || run.row_of_id(&id)?.is_some() {
        return Ok(Some(records));
    }
    let source_bytes = message.verbatim.as_ref().map_or(0, |verbatim| verbatim.text.len());
    let bytes = run.early_messages.bytes + message.text.len() + source_bytes;
    if bytes > MAX_WAITING_BYTES {
        return Ok(Some(records));
    }
    run.early_messages.bytes = bytes;
    run.early_messages.messages.append(&mut records);
    Ok(None)
}

/// Imports the messages that wait for their conversation.
pub(super) fn import_waiting(run: &mut ImportRun<'_>) -> VaultResult<()> {
    let waiting = std::mem::take(&mut run.early_messages).messages;
    unit_with_parents_first(waiting).into_iter().try_for_each(|message| run.import_unit(vec![message]))
}
