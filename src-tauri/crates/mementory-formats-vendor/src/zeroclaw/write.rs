//! Records and parts → a home or a workspace. An untouched database goes back byte for byte; a touched one is changed
//! row by row in memory, and what left it is in none of its pages.
use super::database::{self, Changes, Row};
use super::read::Settings;
use super::{ZEROCLAW, aieos, rows};
use crate::openclaw::write::Workspace;
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions};
use mementory_model::{Kind, LossKind};
use std::collections::{BTreeMap, BTreeSet};

/// The workspace, ready to be written.
pub fn workspace(source: &mut dyn RecordSource, options: &WriteOptions) -> Result<Workspace, FormatError> {
    let mut workspace = Workspace::gather(&ZEROCLAW, source, options)?;
    if workspace.files.keys().any(|p| p.starts_with("workspace/")) {
        workspace.prefix = "workspace/".into();
    }
    let config =
        workspace.files.get("config.toml").map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default();
    let settings = Settings::parse(&config);
    let mut stored: BTreeMap<String, Vec<StoredRecord>> = BTreeMap::new();
    for row in std::mem::take(&mut workspace.rows) {
        let file = row.record.fields.get("file").and_then(|f| f.as_str()).map(str::to_owned);
        match (row.record.kind, row.record.record_type.as_deref(), file) {
            (Kind::Profile, Some("aieos"), file) => identity(&mut workspace, &row, file),
            (Kind::Memory, _, Some(file)) => stored.entry(file).or_default().push(row),
            // names of secrets: derived from the settings, which go back themselves
            (Kind::Credential, ..) => {}
            _ => workspace.report.losses.add(&row.id, "record", LossKind::LeftOut, "no place in a workspace"),
        }
    }
    for path in workspace.files.keys().filter(|p| is_database(p)).cloned().collect::<Vec<_>>() {
        stored.entry(path).or_default();
    }
    let markdown = settings.get("memory.backend") == Some("markdown");
    let wants_rows = !markdown && workspace.foreign.iter().any(|r| r.kind != Kind::Profile || r.origin.format != "alf");
    if wants_rows && stored.is_empty() {
        stored.insert(format!("{}memory.db", workspace.prefix), vec![]);
    }
    let mut first = true;
    for (path, rows) in stored {
        let take = std::mem::take(&mut first) && !markdown;
        memories(&mut workspace, &path, rows, take)?;
    }
    workspace.compose_foreign();
    if !workspace.files.keys().any(|p| p == "config.toml" || is_database(p)) {
        // without either nobody knows it as ZeroClaw's
        let text = "[memory]\nbackend = \"markdown\"\n\n[identity]\nformat = \"openclaw\"\n";
        workspace.files.insert("config.toml".into(), text.into());
        workspace.files.entry(format!("{}SOUL.md", workspace.prefix)).or_insert_with(|| b"# Agent\n".to_vec());
    }
    Ok(workspace)
}

fn is_database(path: &str) -> bool {
    database::is_named(path.rsplit('/').next().unwrap_or(path))
}

fn identity(workspace: &mut Workspace, row: &StoredRecord, file: Option<String>) {
    let Some(verbatim) = &row.record.verbatim else { return };
    let Some(path) = file else {
        if row.edited {
            workspace.report.losses.add(&row.id, "text", LossKind::LeftOut, "the settings file holds this identity");
        }
        return;
    };
    let mut text = verbatim.text.clone();
    if row.edited {
        if let Some(name) = &row.record.title
            && let Some(changed) = aieos::renamed(&text, name)
        {
            text = changed;
        }
        workspace.report.losses.add(
            &row.id,
            "text",
            LossKind::LeftOut,
            "of an AIEOS identity only the name can be changed",
        );
    }
    workspace.put(path, text.into_bytes());
}

/// One database.
fn memories(
    workspace: &mut Workspace,
    path: &str,
    stored: Vec<StoredRecord>,
    take_foreign: bool,
) -> Result<(), FormatError> {
    let bad = |e: database::DatabaseError| FormatError::invalid("database_unreadable", path, e.to_string());
    let log = format!("{path}-wal");
    let image = workspace.files.get(path).cloned();
    let opened = image.as_ref().map(|image| {
        let log = workspace.files.get(&log).map(Vec::as_slice);
        database::open(image.clone(), log, false).and_then(|c| Ok((database::rows(&c)?, c)))
    });
    let (before, mut connection) = match opened {
        Some(Ok((rows, connection))) => (rows, connection),
        // kept as a file; it was never records
        Some(Err(_)) if stored.is_empty() => return Ok(()),
        _ => (vec![], database::fresh().map_err(bad)?),
    };
    let text = |row: &Row, key: &str| row.get(key).and_then(|v| v.as_str()).map(str::to_owned);
    let id_of = |row: &Row| text(row, "id").filter(|t| !t.is_empty()).or_else(|| text(row, "key"));
    // a row without words was never a record: it stays
    let worded = before.iter().filter(|row| text(row, "content").is_some_and(|t| !t.is_empty()));
    let held: BTreeSet<String> = worded.filter_map(id_of).collect();
    let mut changes = Changes::default();
    let mut seen = BTreeSet::new();
    for row in &stored {
        let id = row.record.key.value.clone();
        if held.contains(&id) {
            if row.edited {
                changes.updated.push((id.clone(), rows::edited(&row.record)));
            }
        } else if let Some(Ok(serde_json::Value::Object(values))) =
            row.record.verbatim.as_ref().map(|v| serde_json::from_str(&v.text))
        {
            let mut values = values;
            if row.edited {
                values.extend(rows::edited(&row.record));
            }
            // the table we make wants a time in every row
            if !values.contains_key("timestamp") {
                let created = values.get("created_at").cloned().unwrap_or_else(|| "1970-01-01T00:00:00Z".into());
                values.insert("timestamp".into(), created);
            }
            changes.added.push(values);
        }
        seen.insert(id);
    }
    let mut taken: BTreeSet<String> = before.iter().filter_map(|r| text(r, "key")).collect();
    if take_foreign {
        let (rows, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut workspace.foreign)
            .into_iter()
            .partition(|r| r.kind != Kind::Profile || r.origin.format != "alf");
        workspace.foreign = rest;
        for record in rows {
            let row = rows::composed(&record, &mut taken);
            let content = text(&row, "content").unwrap_or_default();
            if content.trim().is_empty() {
                workspace.report.losses.add(&record.key.value, "record", LossKind::LeftOut, "no text");
                continue;
            }
            let Some(id) = id_of(&row) else { continue };
            let new = seen.insert(id.clone());
            if let Some(old) = before.iter().find(|r| id_of(r).as_deref() == Some(&id)) {
                // a row that an earlier export of ours made: its words may have changed since
                if text(old, "content").as_deref() != Some(content.as_str()) {
                    changes.updated.push((id, Row::from_iter([("content".to_owned(), content.clone().into())])));
                }
            } else if new {
                changes.added.push(row);
            }
            workspace.slot(path, &content, &record);
        }
    }
    if workspace.everything {
        // a row that came back out of our slot is another format's record: it is told by its words
        changes.removed = held.iter().filter(|id| !seen.contains(*id)).cloned().collect();
    }
    if changes.updated.is_empty() && changes.removed.is_empty() && changes.added.is_empty() && image.is_some() {
        return Ok(());
    }
    let changed = match database::change(&mut connection, &changes) {
        Ok(bytes) => bytes,
        Err(first) => {
            // a table of a module that is not here: the memories go into a table of their own
            let mut fresh = database::fresh().map_err(bad)?;
            let gone: BTreeSet<&String> = changes.removed.iter().collect();
            let mut all = Changes::default();
            for row in before {
                let Some(id) = id_of(&row).filter(|id| !gone.contains(id)) else { continue };
                let mut row = row;
                if let Some((_, values)) = changes.updated.iter().find(|(i, _)| *i == id) {
                    row.extend(values.clone());
                }
                if row.get("timestamp").is_none_or(serde_json::Value::is_null) {
                    let created = row.get("created_at").cloned().unwrap_or_else(|| "1970-01-01T00:00:00Z".into());
                    row.insert("timestamp".into(), created);
                }
                all.added.push(row);
            }
            all.added.extend(changes.added);
            let bytes = database::change(&mut fresh, &all).map_err(bad)?;
            let note = format!("written anew, without the runtime's own search tables ({first})");
            workspace.report.losses.add(path, "database", LossKind::Narrowed, &note);
            bytes
        }
    };
    workspace.files.insert(path.to_owned(), changed);
    workspace.files.remove(&log);
    workspace.files.remove(&format!("{path}-shm"));
    Ok(())
}
