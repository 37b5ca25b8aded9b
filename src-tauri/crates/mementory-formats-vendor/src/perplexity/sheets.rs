//! Reads the workbook, which contains a sheet of conversations and a sheet of memories. The sheets are identified by
//! their columns, not by their names.
use super::{PERPLEXITY, answer, threads::Threads};
use mementory_format::{FormatError, Member, PassthroughItem};
use mementory_formats_shared::{
    chat::{Chat, Turn},
    object::{Object, content_id},
    reader::FileReader,
    tables::{Header, Row},
    values::{first_text, time},
    workbook::{self, Sheet},
};
use mementory_model::{DroppedAs, Fields, Issue, Kind, Origin, Record, RecordKey, Times, Verbatim};
use serde_json::Value;
use std::collections::HashSet;

/// Number of characters after which Excel cuts off the text of a cell.
const CELL_CHARACTERS: usize = 32_767;

/// Reads a workbook. Sheets with unknown columns become passthrough files.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member, threads: &mut Threads) -> Result<(), FormatError> {
    let bytes = reader.catalog.bytes(member, reader.context.limits.side_file_bytes)?;
    for sheet in workbook::sheets(&bytes, &reader.context.limits, &member.place)? {
        let name = sheet.name.clone();
        let mut rows = sheet.rows.into_iter();
        let Some(header) = rows.next().map(Header::new) else { continue };
        let rest = Sheet { name, rows: rows.collect() };
        if header.column(&["MEMORY_VALUE"]).is_some() {
            read_memories(reader, member, &header, rest)?;
        } else if header.column(&["OUTPUT_STR"]).is_some() || header.column(&["ANSWER"]).is_some() {
            read_conversations(reader, member, &header, rest, threads)?;
        } else {
            store_unknown(reader, member, &header, &rest)?;
        }
    }
    Ok(())
}

/// Stores a sheet with unknown columns as JSON in a passthrough file. The workbook itself is not stored, because it is
/// compressed, and erased texts could not be found in a compressed file.
fn store_unknown(
    reader: &mut FileReader<'_>,
    member: &Member,
    header: &Header,
    sheet: &Sheet,
) -> Result<(), FormatError> {
    let rows: Vec<String> = sheet.rows.iter().map(|row| cells_as_json(header, row, &[]).text).collect();
    let item = PassthroughItem {
        format: PERPLEXITY.into(),
        group: String::new(),
        name: format!("{}#{}", member.name, sheet.name),
        role: "raw".into(),
        place: format!("{}#{}", member.place, sheet.name),
    };
    reader.sink.passthrough(item, &mut format!("[{}]", rows.join(",\n")).as_bytes())
}

fn read_conversations(
    reader: &mut FileReader<'_>,
    member: &Member,
    header: &Header,
    sheet: Sheet,
    threads: &mut Threads,
) -> Result<(), FormatError> {
    let column = |names: &[&str]| header.column(names);
    let (uuid, thread) = (column(&["UUID", "ENTRY_UUID", "ID"]), column(&["CONTEXT_UUID", "THREAD_UUID", "THREAD_ID"]));
    let (title, query) =
        (column(&["TITLE", "CONTEXT_TITLE", "THREAD_TITLE"]), column(&["QUERY", "QUERY_STR", "PROMPT", "QUESTION"]));
    let (created, updated) = (
        column(&["CREATED", "CREATED_AT", "CREATED_DATETIME", "TIMESTAMP"]),
        column(&["UPDATED", "UPDATED_AT", "UPDATED_DATETIME"]),
    );
    let output = column(&["OUTPUT_STR", "ANSWER"]);
    let model = column(&["MODEL", "DISPLAY_MODEL"]);
    for row in sheet.rows {
        let pointer = format!("{} row {}", sheet.name, row.number + 1);
        let place = format!("{}#{pointer}", member.place);
        let cell = |column: Option<usize>| Some(row.cell(column).trim()).filter(|cell| !cell.is_empty());
        if cell(output).is_none() && cell(query).is_none() && cell(uuid).is_none() {
            let reason = "no_content: this row has no id, no query and no answer";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            continue;
        }
        let text = row.cell(output);
        if text.chars().count() >= CELL_CHARACTERS {
            let message = "this cell has as many characters as fit into one; the answer may be cut off";
            reader.sink.note(Issue::new("cell_limit", &place, message));
        }
        let mut answer = answer::Answer::default();
        answer::of_text(text, &mut answer);
        let times =
            Times { created: cell(created).and_then(time), updated: cell(updated).and_then(time), ..Times::default() };
        let id = cell(uuid).map(str::to_owned);
        let base = id.clone().unwrap_or_else(|| content_id(&format!("{:?}\n{text}", row.cell(title))));
        let mut turns = Vec::new();
        // The title and the steps of the search may repeat the query. The repetitions are removed, so that erasing the
        // message with the query erases its text completely.
        let mut cells = header.other_cells(&row, &[query]);
        let rest = answer::text_without_query(text);
        let stated_query = cell(query).map(str::to_owned).or(answer.query);
        for value in cells.values_mut() {
            let is_answer = value.as_str() == Some(text);
            let is_query = value.as_str().map(str::trim) == stated_query.as_deref().map(str::trim);
            if let Some(rest) = rest.as_deref().filter(|_| is_answer) {
                *value = rest.into();
            } else if is_query && !is_answer {
                *value = "".into();
            }
        }
        if let Some(query) = stated_query {
            turns.push(Turn {
                id: id.clone(),
                key: Some(format!("{base}/query")),
                role: "user".into(),
                content_type: "text".into(),
                times: times.clone(),
                pointer: pointer.clone(),
                verbatim: Some(Verbatim::json(Value::from(query.as_str()).to_string())),
                text: query,
                ..Turn::default()
            });
        }
        let used_columns = [uuid, thread, title, query, created, updated, output, model];
        let mut fields: Fields = header.other_cells(&row, &used_columns);
        if !answer.citations.is_empty() {
            fields.insert("citations".into(), Value::Array(answer.citations));
        }
        if !answer.blocks.is_empty() {
            fields.insert("blocks".into(), Value::Array(answer.blocks));
        }
        if !text.trim().is_empty() {
            turns.push(Turn {
                id: id.clone(),
                key: Some(format!("{base}/answer")),
                role: "assistant".into(),
                text: answer.text,
                content_type: "text".into(),
                model: cell(model).map(Into::into),
                times: times.clone(),
                pointer: pointer.clone(),
                verbatim: Some(Verbatim::json(Value::Object(cells).to_string())),
                fields,
                ..Turn::default()
            });
        }
        let chat = Chat {
            id: cell(thread).map(str::to_owned).or(id),
            title: cell(title).map(Into::into),
            times,
            pointer,
            verbatim: Some(cells_as_json(header, &row, &[query, output])),
            ..Chat::default()
        };
        threads.add(reader, &member.place, chat, turns)?;
    }
    Ok(())
}

fn read_memories(
    reader: &mut FileReader<'_>,
    member: &Member,
    header: &Header,
    sheet: Sheet,
) -> Result<(), FormatError> {
    let [key, value] = ["MEMORY_KEY", "MEMORY_VALUE"].map(|name| header.column(&[name]));
    let created = header.column(&["FIRST_CREATED_AT", "CREATED_AT", "CREATED"]);
    let updated = header.column(&["UPDATED_AT", "LAST_UPDATED_AT", "UPDATED"]);
    let states = [("IS_DELETED", "deleted"), ("IS_FORGOTTEN", "forgotten"), ("IS_INVISIBLE", "invisible")]
        .map(|(name, state)| (header.column(&[name]), state));
    let mut seen: HashSet<String> = HashSet::new();
    for row in sheet.rows {
        let pointer = format!("{} row {}", sheet.name, row.number + 1);
        let text = row.cell(value).trim();
        if text.is_empty() {
            let place = format!("{}#{pointer}", member.place);
            reader.report_dropped(place, DroppedAs::Failed, "no_content: this memory has no text", Some(Kind::Memory));
            continue;
        }
        let name = Some(row.cell(key).trim()).filter(|name| !name.is_empty());
        let created_text = row.cell(created).trim();
        // A row without a key whose value is JSON is a profile. Its key is made from its time of creation, which stays
        // the same when the profile changes.
        let is_profile = name.is_none() && Object::parse(text).is_some();
        let identity = match name {
            Some(name) => format!("memory/{name}"),
            None if is_profile => format!("profile/{created_text}"),
            None => format!("memory/{}", content_id(text)),
        };
        let identity =
            if seen.insert(identity.clone()) { identity } else { format!("{identity}~{}", content_id(text)) };
        let kind = if is_profile { Kind::Profile } else { Kind::Memory };
        let mut record = Record::new(kind, RecordKey::new(PERPLEXITY, identity), text);
        record.origin_id = name.map(Into::into);
        record.title = name.map(Into::into).or_else(|| is_profile.then(|| profile_title(text)).flatten());
        record.times = Times { created: time(created_text), updated: time(row.cell(updated)), ..Times::default() };
        let is_true = |column| matches!(row.cell(column).trim().to_lowercase().as_str(), "true" | "1" | "yes");
        record.status = states.iter().find(|(column, _)| is_true(*column)).map(|(_, state)| (*state).into());
        record.source.platform = PERPLEXITY.into();
        record.fields =
            header.other_cells(&row, &[key, value, created, updated, states[0].0, states[1].0, states[2].0]);
        record.origin = Origin { format: PERPLEXITY.into(), version: None, container: member.place.clone(), pointer };
        record.verbatim = Some(cells_as_json(header, &row, &[]));
        reader.sink.unit(record.into())?;
    }
    Ok(())
}

fn profile_title(text: &str) -> Option<String> {
    first_text(&Object::parse(text)?, &["name", "title", "type"])
}

/// Returns the cells of a row as a JSON object by column name, without the columns in `without`. The object becomes the
/// verbatim of a record, because a row of a workbook has no source text.
fn cells_as_json(header: &Header, row: &Row, without: &[Option<usize>]) -> Verbatim {
    Verbatim::json(Value::Object(header.other_cells(row, without)).to_string())
}
