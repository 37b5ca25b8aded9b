//! Reads the parts of a response that LLM's database stores in other tables: fragments of its prompt, files, calls of
//! tools and their results.
use super::FORMAT_ID;
use mementory_format::{AttachmentFile, FormatError, Member};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::Database;
use mementory_model::{AttachmentRef, RecordKey};
use rusqlite::types::{FromSql, Value, ValueRef};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Tables that name a response, each with the query for two texts of its rows. A file has its address as the second
/// text. The tables of tools have no index of responses, so their rows are found by their numbers.
const QUERIES: [(&str, &str); 5] = [
    (
        "prompt_fragments",
        "SELECT source, content FROM prompt_fragments JOIN fragments ON fragments.id = fragment_id \
         WHERE response_id = ?1 ORDER BY \"order\"",
    ),
    (
        "system_fragments",
        "SELECT source, content FROM system_fragments JOIN fragments ON fragments.id = fragment_id \
         WHERE response_id = ?1 ORDER BY \"order\"",
    ),
    (RESULTS, "SELECT name, output FROM tool_results WHERE rowid = ?1"),
    (CALLS, "SELECT name, arguments FROM tool_calls WHERE rowid = ?1"),
    (FILES, "SELECT attachment_id, NULL FROM prompt_attachments WHERE response_id = ?1 ORDER BY \"order\""),
];
/// The query for results, if the table also has the exceptions of tools that failed.
const RESULTS_OR_EXCEPTIONS: &str =
    "SELECT name, coalesce(nullif(output, ''), exception) FROM tool_results WHERE rowid = ?1";
/// Tables with the calls of tools, and with their results.
const CALLS: &str = "tool_calls";
const RESULTS: &str = "tool_results";
/// Table that names the files of a prompt.
const FILES: &str = "prompt_attachments";

/// A name and a text: a fragment with its source, or a tool with its input or output.
pub(super) type Named = (Option<String>, String);

/// Ids of files, each with the position of the message with which it was sent.
pub(super) type SentFiles = Vec<(usize, String)>;

/// The parts of a response.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub fragments: Vec<Named>,
    pub system_fragments: Vec<Named>,
    pub results: Vec<Named>,
    pub calls: Vec<Named>,
    /// Ids of the files that were sent with the prompt.
    pub files: Vec<String>,
}

impl Parts {
    /// Total size of the texts in bytes.
    pub fn bytes(&self) -> u64 {
        let lists = [&self.fragments, &self.system_fragments, &self.results, &self.calls];
        lists.into_iter().flatten().map(|(_, text)| text.len() as u64).sum()
    }
}

/// The tables of a database that name responses.
#[derive(Debug, Default)]
pub(super) struct Tables {
    is_there: [bool; 5],
    has_exceptions: bool,
    /// The numbers of the rows of [`CALLS`] and [`RESULTS`], by response. These tables have no index of responses, so
    /// they are searched only once.
    tool_rows: HashMap<&'static str, HashMap<String, Vec<i64>>>,
}

impl Tables {
    /// Finds the tables that name responses. Older databases do not have all of them, and a table of the same name may
    /// belong to another program.
    pub fn of(database: &Database, names: &[String]) -> Self {
        let has = |name: &str| names.iter().any(|table| table == name);
        let mut tool_rows = HashMap::new();
        for table in [CALLS, RESULTS].into_iter().filter(|table| has(table)) {
            let sql = format!(
                "SELECT CAST(response_id AS TEXT), rowid FROM {table} WHERE response_id IS NOT NULL ORDER BY rowid"
            );
            tool_rows.extend(row_numbers_by_value(database, &sql).ok().map(|rows| (table, rows)));
        }
        let can_be_read = |table: &str| match table {
            "prompt_fragments" | "system_fragments" => has("fragments"),
            FILES => has("attachments"),
            tools => tool_rows.contains_key(tools),
        };
        let is_there = QUERIES.map(|(table, _)| has(table) && can_be_read(table));
        let has_exceptions = database.connection.prepare("SELECT exception FROM tool_results LIMIT 0").is_ok();
        Self { is_there, has_exceptions, tool_rows }
    }

    /// True for a table whose rows are read with the responses.
    pub fn are_read(&self, table: &str) -> bool {
        let reads =
            |name: &str| QUERIES.iter().zip(self.is_there).any(|((table, _), is_there)| is_there && *table == name);
        match table {
            "fragments" => reads("prompt_fragments") || reads("system_fragments"),
            "attachments" => reads(FILES),
            name => reads(name),
        }
    }

    /// Returns the parts of a response. None if their texts have more than `max_bytes`.
    pub fn parts(&self, database: &Database, response: &str, max_bytes: u64) -> rusqlite::Result<Option<Parts>> {
        let (mut found, mut bytes) = (<[Vec<Named>; 5]>::default(), 0u64);
        let lists = found.iter_mut().zip(QUERIES).zip(self.is_there).filter(|(_, is_there)| *is_there);
        for ((list, (table, sql)), _) in lists {
            let sql = if table == RESULTS && self.has_exceptions { RESULTS_OR_EXCEPTIONS } else { sql };
            let mut statement = database.connection.prepare_cached(sql)?;
            let keys: Vec<Value> = match self.tool_rows.get(table) {
                Some(rows) => rows.get(response).into_iter().flatten().map(|number| Value::from(*number)).collect(),
                None => vec![response.to_owned().into()],
            };
            for key in keys {
                let mut rows = statement.query([key])?;
                while let Some(row) = rows.next()? {
                    let cells = [row.get_ref(0)?, row.get_ref(1)?];
                    let texts = cells.iter().filter_map(|cell| cell.as_bytes().ok());
                    bytes += texts.map(|text| text.len() as u64).sum::<u64>();
                    if bytes > max_bytes || list.len() as u64 >= database.max_rows {
                        return Ok(None);
                    }
                    let [name, text] = cells.map(text_of);
                    list.push((name, text.unwrap_or_default()));
                }
            }
        }
        let [fragments, system_fragments, results, calls, files] = found;
        let files = files.into_iter().filter_map(|(id, _)| id).collect();
        Ok(Some(Parts { fragments, system_fragments, results, calls, files }))
    }
}

/// Groups row numbers by a shared value. Each result row of the query must be (value, row number).
pub(super) fn row_numbers_by_value<T: FromSql + Eq + Hash>(
    database: &Database,
    sql: &str,
) -> rusqlite::Result<HashMap<T, Vec<i64>>> {
    let mut statement = database.connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let (mut out, mut count) = (HashMap::<T, Vec<i64>>::new(), 0);
    while count < database.max_rows
        && let Some(row) = rows.next()?
    {
        out.entry(row.get(0)?).or_default().push(row.get(1)?);
        count += 1;
    }
    Ok(out)
}

fn text_of(cell: ValueRef<'_>) -> Option<String> {
    match cell {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Null => None,
    }
}

/// Reads the files of a database, and sends each file once.
pub(super) struct Attachments<'d> {
    pub database: &'d Database,
    /// Ids of the files whose bytes were sent. Any number of prompts may have the same file, which is sent once.
    sent_ids: RefCell<HashSet<String>>,
}

impl<'d> Attachments<'d> {
    pub fn of(database: &'d Database) -> Self {
        Self { database, sent_ids: RefCell::default() }
    }

    /// Adds files to their messages.
    pub fn attach(
        &self,
        files: &mut FileReader<'_>,
        member: &Member,
        sent_files: SentFiles,
        turns: &mut [Turn],
    ) -> Result<(), FormatError> {
        for (at, id) in sent_files {
            let is_new = self.sent_ids.borrow_mut().insert(id.clone());
            let file = attachment(files, member, self.database, &id, is_new)?;
            if let Some(turn) = turns.get_mut(at) {
                turn.attachments.extend(file);
            }
        }
        Ok(())
    }
}

/// Refers to a file, and sends its bytes if it `is_new` and the database has them. The id of a file is a digest of its
/// bytes. None if the table has no such file.
fn attachment(
    files: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    id: &str,
    is_new: bool,
) -> Result<Option<AttachmentRef>, FormatError> {
    let limit = i64::try_from(files.context.limits.element_bytes).unwrap_or(i64::MAX);
    let limit = if is_new { limit } else { -1 };
    let sql = "SELECT type, coalesce(path, url), length(content), CASE WHEN length(content) <= ?2 THEN content END \
               FROM attachments WHERE id = ?1";
    let row = database.connection.query_row(sql, rusqlite::params![id, limit], |row| {
        let bytes = row.get_ref(3)?.as_blob().ok().map(<[u8]>::to_vec);
        Ok((text_of(row.get_ref(0)?), text_of(row.get_ref(1)?), row.get::<_, Option<i64>>(2)?, bytes))
    });
    let Ok((media_type, place, size, bytes)) = row else { return Ok(None) };
    let name = place.as_deref().and_then(|place| place.rsplit(['/', '\\']).next()).unwrap_or(id).to_owned();
    let key = RecordKey::new(FORMAT_ID, format!("file/{id}"));
    let origin_id = Some(id.to_owned());
    if let Some(bytes) = bytes {
        let (key, place, origin_id) = (key.clone(), member.place.clone(), origin_id.clone());
        let file = AttachmentFile { key, origin_id, name: name.clone(), media_type: media_type.clone(), place };
        files.sink.attachment(file, &mut bytes.as_slice())?;
    }
    let size = size.and_then(|size| u64::try_from(size).ok());
    Ok(Some(AttachmentRef { key, origin_id, name, media_type, size, text: None }))
}
