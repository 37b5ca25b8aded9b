//! The numbered states of sources (ALF §4.3.1) that the imports of this vault led to.
use crate::{VaultResult, import_report::ReachedState};
use rusqlite::Connection;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Format and group of a source.
pub(crate) type SourceKey = (String, String);
/// Number of a state, and its time if it is known.
pub(crate) type NumberedState = (u64, Option<String>);

/// Returns the newest state of each source, from the reports of all imports that were not undone.
pub(crate) fn known_states(connection: &Connection) -> VaultResult<BTreeMap<SourceKey, NumberedState>> {
    #[derive(Deserialize)]
    struct StoredStates {
        #[serde(default)]
        states: Vec<ReachedState>,
    }
    let mut statement = connection.prepare("SELECT report FROM batches WHERE undone_at IS NULL")?;
    let mut rows = statement.query([])?;
    let mut known: BTreeMap<SourceKey, NumberedState> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let Some(text) = row.get::<_, Option<String>>(0)? else { continue };
        let Ok(stored) = serde_json::from_str::<StoredStates>(&text) else { continue };
        for state in stored.states {
            let newest = known.entry((state.format, state.group)).or_default();
            if state.sequence > newest.0 || newest.1.is_none() && state.sequence == newest.0 {
                *newest = (state.sequence, state.time);
            }
        }
    }
    Ok(known)
}
