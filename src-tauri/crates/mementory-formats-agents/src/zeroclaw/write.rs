//! Converts records and passthrough files to a home or a workspace. A database whose records were not edited is
//! exported byte for byte. Otherwise, its rows are changed in memory, and no page of the result contains removed text.
use super::database::{self, Row, RowChanges};
use super::settings::Settings;
use super::{ZEROCLAW, aieos, wire};
use crate::openclaw::write::Workspace;
use mementory_format::{FormatError, RecordSource, StoredRecord, WriteOptions};
use mementory_model::{Kind, LossKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Creates the files of the workspace in memory.
pub fn workspace(source: &mut dyn RecordSource, options: &WriteOptions) -> Result<Workspace, FormatError> {
    let mut workspace = Workspace::collect(&ZEROCLAW, source, options)?;
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
            (Kind::Profile, Some("aieos"), file) => add_identity(&mut workspace, &row, file),
            (Kind::Memory, _, Some(file)) => stored.entry(file).or_default().push(row),
            // Nothing to write: the settings file, which is exported, contains the credential.
            (Kind::Credential, ..) => {}
            _ => workspace.leave_out(row.record.kind, &row.id, "a workspace has no place for it"),
        }
    }
    for path in workspace.files.keys().filter(|p| is_database(p)).cloned().collect::<Vec<_>>() {
        stored.entry(path).or_default();
    }
    let is_markdown = settings.get("memory.backend") == Some("markdown");
    let needs_database =
        !is_markdown && workspace.foreign.iter().any(|r| r.kind != Kind::Profile || r.origin.format != "alf");
    if needs_database && stored.is_empty() {
        stored.insert(format!("{}memory.db", workspace.prefix), vec![]);
    }
    let mut is_first_database = true;
    for (path, rows) in stored {
        let add_foreign = std::mem::take(&mut is_first_database) && !is_markdown;
        write_database(&mut workspace, &path, rows, add_foreign)?;
    }
    workspace.compose_foreign();
    if !workspace.files.keys().any(|p| p == "config.toml" || is_database(p)) {
        // Without settings or a database, the folder would not be detected as a ZeroClaw workspace.
        let text = "[memory]\nbackend = \"markdown\"\n\n[identity]\nformat = \"openclaw\"\n";
        workspace.files.insert("config.toml".into(), text.into());
        workspace.files.entry(format!("{}SOUL.md", workspace.prefix)).or_insert_with(|| b"# Agent\n".to_vec());
    }
    Ok(workspace)
}

fn is_database(path: &str) -> bool {
    database::is_database_name(path.rsplit('/').next().unwrap_or(path))
}

fn add_identity(workspace: &mut Workspace, row: &StoredRecord, file: Option<String>) {
    let Some(verbatim) = &row.record.verbatim else { return };
    let Some(path) = file else {
        if row.edited {
            workspace.report.losses.add(
                &row.id,
                "text",
                LossKind::LeftOut,
                "this identity is in the settings file, which is written unchanged",
            );
        }
        return;
    };
    let mut text = verbatim.text.clone();
    if row.edited {
        if let Some(name) = &row.record.title
            && let Some(changed) = aieos::with_name(&text, name)
        {
            text = changed;
        }
        workspace.report.losses.add(
            &row.id,
            "text",
            LossKind::LeftOut,
            "only the name of an AIEOS identity can be edited",
        );
    }
    workspace.add_file(path, text.into_bytes());
}

/// Writes one database. If `add_foreign` is true, the records of other formats are added to it as rows. If no row
/// changes, the bytes of the database are not changed.
fn write_database(
    workspace: &mut Workspace,
    path: &str,
    stored: Vec<StoredRecord>,
    add_foreign: bool,
) -> Result<(), FormatError> {
    let unreadable = |e: database::DatabaseError| FormatError::invalid("database_unreadable", path, e.to_string());
    let log = format!("{path}-wal");
    let database_bytes = workspace.files.get(path).cloned();
    let opened = database_bytes.as_ref().map(|database_bytes| {
        let log = workspace.files.get(&log).map(Vec::as_slice);
        database::open_image(database_bytes.clone(), log, false).and_then(|c| Ok((database::read_rows(&c)?, c)))
    });
    let (old_rows, mut connection) = match opened {
        Some(Ok((rows, connection))) => (rows, connection),
        // An unreadable database is exported as a passthrough file.
        Some(Err(_)) if stored.is_empty() => return Ok(()),
        _ => (vec![], database::create_database().map_err(unreadable)?),
    };
    let text = |row: &Row, key: &str| row.get(key).and_then(|v| v.as_str()).map(str::to_owned);
    let id_of = |row: &Row| text(row, "id").filter(|t| !t.is_empty()).or_else(|| text(row, "key"));
    // A row without content was never read as a record, so it is not removed.
    let with_content = old_rows.iter().filter(|row| text(row, "content").is_some_and(|t| !t.is_empty()));
    let known_ids: BTreeSet<String> = with_content.filter_map(id_of).collect();
    let mut changes = RowChanges::default();
    let mut written_ids = BTreeSet::new();
    for row in &stored {
        let id = row.record.key.value.clone();
        if known_ids.contains(&id) {
            if row.edited {
                changes.updated.push((id.clone(), wire::edited_columns(&row.record)));
            }
        } else if let Some(Ok(serde_json::Value::Object(values))) =
            row.record.verbatim.as_ref().map(|v| serde_json::from_str(&v.text))
        {
            let mut values = values;
            if row.edited {
                values.extend(wire::edited_columns(&row.record));
            }
            // The column `timestamp` of a new table must not be null.
            if !values.contains_key("timestamp") {
                let created = values.get("created_at").cloned().unwrap_or_else(|| "1970-01-01T00:00:00Z".into());
                values.insert("timestamp".into(), created);
            }
            changes.added.push(values);
        }
        written_ids.insert(id);
    }
    let mut used_keys: BTreeSet<String> = old_rows.iter().filter_map(|r| text(r, "key")).collect();
    if add_foreign {
        let (rows, identities): (Vec<_>, Vec<_>) = std::mem::take(&mut workspace.foreign)
            .into_iter()
            .partition(|r| r.kind != Kind::Profile || r.origin.format != "alf");
        workspace.foreign = identities;
        // If several rows have the same id, the first one is used.
        let rows_by_id: HashMap<String, &Row> =
            old_rows.iter().rev().filter_map(|row| Some((id_of(row)?, row))).collect();
        for record in rows {
            let row = wire::new_row(&record, &mut used_keys);
            let content = text(&row, "content").unwrap_or_default();
            if content.trim().is_empty() {
                workspace.leave_out(record.kind, &record.key.value, "the record has no text");
                continue;
            }
            let Some(id) = id_of(&row) else { continue };
            let is_new = written_ids.insert(id.clone());
            if let Some(old) = rows_by_id.get(&id).copied() {
                // An earlier export by Mementory added this row, and the text of its record may have changed since.
                if text(old, "content").as_deref() != Some(content.as_str()) {
                    changes.updated.push((id, Row::from_iter([("content".to_owned(), content.clone().into())])));
                }
            } else if is_new {
                changes.added.push(row);
            }
            workspace.add_slot(path, &content, &record);
        }
    }
    if workspace.everything {
        // A row whose record is no longer in the vault is removed.
        changes.removed = known_ids.iter().filter(|id| !written_ids.contains(*id)).cloned().collect();
    }
    if changes.updated.is_empty() && changes.removed.is_empty() && changes.added.is_empty() && database_bytes.is_some()
    {
        return Ok(());
    }
    let changed = match database::apply_changes(&mut connection, &changes) {
        Ok(bytes) => bytes,
        Err(error) => {
            // If the changes fail, for example because SQLite cannot run a trigger, the database is rebuilt with an
            // ordinary table.
            let mut rebuilt = database::create_database().map_err(unreadable)?;
            let removed: BTreeSet<&String> = changes.removed.iter().collect();
            let updated: HashMap<&String, &Row> =
                changes.updated.iter().rev().map(|(id, values)| (id, values)).collect();
            let mut all_rows = RowChanges::default();
            for row in old_rows {
                let Some(id) = id_of(&row).filter(|id| !removed.contains(id)) else { continue };
                let mut row = row;
                if let Some(values) = updated.get(&id) {
                    row.extend((*values).clone());
                }
                if row.get("timestamp").is_none_or(serde_json::Value::is_null) {
                    let created = row.get("created_at").cloned().unwrap_or_else(|| "1970-01-01T00:00:00Z".into());
                    row.insert("timestamp".into(), created);
                }
                all_rows.added.push(row);
            }
            all_rows.added.extend(changes.added);
            let bytes = database::apply_changes(&mut rebuilt, &all_rows).map_err(unreadable)?;
            let note = format!("the database was rebuilt without the runtime's own search tables ({error})");
            workspace.report.losses.add(path, "database", LossKind::Narrowed, &note);
            bytes
        }
    };
    workspace.files.insert(path.to_owned(), changed);
    workspace.files.remove(&log);
    workspace.files.remove(&format!("{path}-shm"));
    Ok(())
}
