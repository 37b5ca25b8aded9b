//! Reads the states of threads in SQLite, which the checkpointers of Python and JavaScript store.
use super::msgpack;
use super::threads::Thread;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_model::{DroppedAs, Kind};
use rusqlite::types::ValueRef;
use serde_json::Value;

/// Query for the states of all threads. The ids of states grow with time, so the newest state of a thread comes last.
const STATES_QUERY: &str = "SELECT thread_id, checkpoint_ns, type, checkpoint FROM checkpoints \
                      ORDER BY thread_id, checkpoint_ns, checkpoint_id";

/// True if the database has the table of states with all columns that are read.
pub(super) fn is_readable(database: &Database) -> bool {
    database.connection.prepare(STATES_QUERY).is_ok()
}

/// Sends each thread as a conversation. Only one thread is in memory at a time. A state that cannot be read is reported
/// as dropped.
pub(super) fn read(files: &mut FileReader<'_>, member: &Member, database: &Database) -> Result<(), FormatError> {
    let unreadable_error = |error: rusqlite::Error| unreadable(member, &error);
    let mut statement = database.connection.prepare(STATES_QUERY).map_err(unreadable_error)?;
    let mut rows = statement.query([]).map_err(unreadable_error)?;
    let mut open: Option<(String, Thread)> = None;
    // The number of rows is limited, because a damaged file may return the same rows again and again.
    for number in 0..database.max_rows {
        let Some(row) = rows.next().map_err(unreadable_error)? else { break };
        let thread_id = text(row.get_ref(0).map_err(unreadable_error)?);
        let namespace = text(row.get_ref(1).map_err(unreadable_error)?);
        let kind = text(row.get_ref(2).map_err(unreadable_error)?);
        // The states of a subgraph have a namespace, which becomes part of the id.
        let id = if namespace.is_empty() { thread_id } else { format!("{thread_id}/{namespace}") };
        let pointer = format!("checkpoints/row {number}");
        if open.as_ref().is_some_and(|(name, _)| *name != id)
            && let Some((_, done)) = open.take()
        {
            done.send(files, member)?;
        }
        let (_, thread) = open.get_or_insert_with(|| (id.clone(), Thread::new(Some(id), pointer.clone())));
        match state(row.get_ref(3).map_err(unreadable_error)?, &kind) {
            Some(mut state) => {
                thread.add_time(state["ts"].as_str());
                thread.add_channels(state["channel_values"].take(), &pointer);
            }
            None => {
                let reason = "not_understood: this state is in a form that is not read";
                let place = format!("{}#{pointer}", member.place);
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            }
        }
    }
    open.map_or(Ok(()), |(_, done)| done.send(files, member))
}

fn text(value: ValueRef<'_>) -> String {
    value.as_str().map(str::to_owned).unwrap_or_default()
}

/// Converts a state to JSON. None for the pickled states of old versions, because unpickling may run code.
fn state(value: ValueRef<'_>, kind: &str) -> Option<Value> {
    let bytes = match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        _ => return None,
    };
    let parsed_state = if kind == "msgpack" { msgpack::read(bytes) } else { serde_json::from_slice(bytes).ok() };
    parsed_state.filter(Value::is_object)
}
