//! Reads backups, databases and responses of the server. A backup contains the database as JSON, and a second file with
//! the same memories and the names of their apps and categories.
use super::detect::layout;
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::memory_heads::Head;
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, link, object_of};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::unreadable;
use mementory_formats_shared::sqlite_rows;
use mementory_json::Elements;
use mementory_model::{Kind, Timestamp};
use serde_json::Value;
use std::collections::HashMap;

/// Names of the tables in a backup.
const TABLES: [&str; 6] = ["apps", "categories", "memories", "memory_categories", "status_history", "access_controls"];
/// Names of the tables in a database, each with the name of the same table in a backup. Memories refer to apps and
/// categories, so these two tables come first.
const DATABASE_TABLES: [(&str, &str); 5] = [
    ("apps", "apps"),
    ("categories", "categories"),
    ("memories", "memories"),
    ("memory_status_history", "status_history"),
    ("access_controls", "access_controls"),
];
/// Columns with vectors, which the model of the memory engine computed. They are not stored.
const VECTORS: [&str; 3] = ["mean_vec", "compressed_vec", "mean_dim"];
/// Keys under which a response of the server contains memories.
const LIST_KEYS: [&str; 3] = ["items", "results", "memories"];

/// Members of a memory for which the model has a field. Some programs write them in camel case.
const READ_MEMBERS: [&str; 15] = [
    "id",
    "content",
    "text",
    "state",
    "created_at",
    "createdAt",
    "updated_at",
    "updatedAt",
    "user_id",
    "userId",
    "categories",
    "category_ids",
    "categoryIds",
    "primary_sector",
    "tags",
];

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut backup = Backup {
        rows: RowSender::new(ID, PLATFORM, detected.claim.version.as_deref()),
        apps: HashMap::new(),
        categories: HashMap::new(),
    };
    files.each_file(detected, |files, member, role| match role {
        Role::Manifest => backup.read_database(files, member),
        Role::Junk => Ok(()),
        _ => backup.read_file(files, member),
    })
}

struct Backup {
    rows: RowSender,
    /// Names of the apps, by app id.
    apps: HashMap<String, String>,
    /// Names of the categories, by category id.
    categories: HashMap<String, String>,
}

impl Backup {
    fn read_file(&mut self, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        // Only a backup is split at its tables. A memory in a line has a list `categories` too, which must not be split
        // off.
        let is_backup = Head::of(files.catalog, member).and_then(|head| layout(&head)) == Some("backup");
        let lists: &[&str] = if is_backup { &TABLES } else { &LIST_KEYS };
        if is_backup {
            self.collect_names(files, member)?;
        }
        each_row(files, member, lists, Kind::Memory, &mut |files, row| self.read_row(files, row))
    }

    /// Collects the names of apps and categories, because they may follow the memories that refer to them.
    fn collect_names(&mut self, files: &FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let limits = &files.context.limits;
        files.catalog.read(member, |bytes| {
            let mut elements = Elements::new(bytes, limits).with_keys(&TABLES).resync();
            loop {
                let element = match elements.next() {
                    Ok(Some(element)) => element,
                    Ok(None) => return Ok(()),
                    // A damaged row is skipped; it is reported when the rows are read.
                    Err(error) if error.ends_reading() => return Ok(()),
                    Err(_) => continue,
                };
                let pointer = element.pointer();
                let list = pointer.split('/').nth(1).unwrap_or_default();
                let object = std::str::from_utf8(element.bytes).ok().and_then(Object::parse);
                if let Some(object) = object.filter(|_| matches!(list, "apps" | "categories")) {
                    self.add_name(&object, list);
                }
            }
        })
    }

    fn add_name(&mut self, object: &Object<'_>, list: &str) {
        let names = if list == "apps" { &mut self.apps } else { &mut self.categories };
        if let (Some(id), Some(name)) = (object.id("id"), object.id("name")) {
            names.insert(id, name);
        }
    }

    /// Reads a database, which has the tables of a backup. The memories do not contain their categories, which are in a
    /// separate table.
    fn read_database(&mut self, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let database = sqlite_rows::open(files, member)?;
        let tables = sqlite_rows::tables(&database).map_err(|error| unreadable(member, &error))?;
        let has = |name: &str| tables.iter().any(|table| table == name);
        let mut categories: HashMap<String, Vec<Value>> = HashMap::new();
        if has("memory_categories") {
            sqlite_rows::each_row(files, member, &database, "memory_categories", |_, row, _| {
                if let (Some(Value::String(memory)), Some(category)) = (row.get("memory_id"), row.get("category_id")) {
                    categories.entry(memory.clone()).or_default().push(category.clone());
                }
                Ok(())
            })?;
        }
        for (table, list) in DATABASE_TABLES.into_iter().filter(|(table, _)| has(table)) {
            sqlite_rows::each_row(files, member, &database, table, |files, mut row, number| {
                let category_ids = row.get("id").and_then(Value::as_str).and_then(|id| categories.remove(id));
                if let Some(category_ids) = category_ids.filter(|_| table == "memories") {
                    row.insert("category_ids".into(), category_ids.into());
                }
                VECTORS.iter().for_each(|column| drop(row.remove(*column)));
                let is_json = |column: &str| column.starts_with("meta") || column == "tags";
                let text = sqlite_rows::row_text(row, is_json);
                self.read_row(files, &Row { member, text: &text, pointer: format!("/{list}/{number}") })
            })?;
        }
        sqlite_rows::report_other_tables(files, member, &database, &tables, |table| match table {
            "users" | "alembic_version" | "memory_categories" => None,
            _ if DATABASE_TABLES.iter().any(|(known, _)| *known == table) => None,
            "configs" => Some("it has settings of the server"),
            _ => Some("it has no memories"),
        });
        Ok(())
    }

    fn read_row(&mut self, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
        let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
        match row.list_name() {
            name @ ("apps" | "categories") => self.read_name(files, row, &object, name),
            "memory_categories" => {
                let reason = "duplicate: the memory names its categories itself";
                self.rows.skip(files, row, reason, Kind::Relation);
                Ok(())
            }
            "status_history" => self.read_status(files, row, &object),
            name @ "access_controls" => {
                let record = self.rows.foreign(&object, row, name);
                self.rows.send(files, row, record)
            }
            _ => self.read_memory(files, row, &object),
        }
    }

    /// Reads an app or a category, and stores its name by its id, because memories state only the id.
    fn read_name(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
        list: &str,
    ) -> Result<(), FormatError> {
        self.add_name(object, list);
        let mut record = self.rows.foreign(object, row, if list == "apps" { "app" } else { "category" });
        record.times.created = created(object);
        record.times.updated = updated(object);
        self.rows.send(files, row, record)
    }

    /// Reads a change of the state of a memory, which becomes an audit record.
    fn read_status(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
    ) -> Result<(), FormatError> {
        let state = |key: &str| object.text(key).unwrap_or_else(|| "?".into());
        let text = format!("{} → {}", state("old_state"), state("new_state"));
        let mut record = self.rows.record(Kind::Audit, object.id("id"), row.text, text);
        record.record_type = Some("status".into());
        record.times.created = object.time("changed_at");
        record.links.extend(object.id("memory_id").map(|id| link("about", Kind::Memory, ID, id)));
        record.fields = object.other_fields(&["id", "changed_at"]);
        self.rows.send(files, row, record)
    }

    fn read_memory(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        object: &Object<'_>,
    ) -> Result<(), FormatError> {
        let Some(text) = object.first_text(&["content", "text", "memory"]) else {
            self.rows.fail(files, row, "no_content: no text in it", Kind::Memory);
            return Ok(());
        };
        let mut record = self.rows.record(Kind::Memory, object.id("id"), &text, text.clone());
        // The server marks deleted memories with the state `deleted` and does not remove them. The state becomes the
        // status of the record.
        record.status = object.first_text(&["state"]);
        record.times.created = created(object);
        record.times.updated = updated(object);
        record.source.account = object.id("user_id").or_else(|| object.id("userId"));
        record.record_type = object.first_text(&["primary_sector"]).or(record.record_type.take());
        record.tags = object.texts("categories");
        if record.tags.is_empty() {
            let ids = [object.texts("category_ids"), object.texts("categoryIds")].concat();
            record.tags = ids.into_iter().map(|id| self.categories.get(&id).cloned().unwrap_or(id)).collect();
        }
        record.tags.extend(object.texts("tags"));
        let app = object.first_text(&["app", "app_name", "appName"]);
        let app_id = || object.id("app_id").or_else(|| object.id("appId"));
        let app = app.or_else(|| app_id().map(|id| self.apps.get(&id).cloned().unwrap_or(id)));
        record.fields = object.other_fields(&READ_MEMBERS);
        if let Some(app) = app {
            record.fields.insert("app".into(), app.into());
        }
        self.rows.send(files, row, record)
    }
}

fn created(object: &Object<'_>) -> Option<Timestamp> {
    object.time("created_at").or_else(|| object.time("createdAt"))
}

fn updated(object: &Object<'_>) -> Option<Timestamp> {
    object.time("updated_at").or_else(|| object.time("updatedAt"))
}
