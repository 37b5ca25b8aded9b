//! Adds an entry to a TOML configuration, or removes it again, by replacing parts of the text. `toml_edit` is only used
//! to parse the text and to find positions, because its own removal would also remove comments before an entry.
use crate::{
    server::{ADDED_VARIABLE, AddedParts, Entry, Server},
    text::{TextError, apply_edits, line_break},
};
use std::ops::Range;
use toml_edit::{Array, Document, InlineTable, Item, Table, TableLike, Value};

/// The table that contains the servers.
const SECTION: &str = "mcp_servers";

fn parse(text: &str) -> Result<Document<&str>, TextError> {
    Document::parse(text).map_err(|error| {
        let reason = error.message().lines().next().unwrap_or("syntax error").to_owned();
        TextError::Syntax(error.span().map_or(0, |span| span.start), reason)
    })
}

/// Where the servers are: in tables with headers, or all in one inline table.
enum Section<'a> {
    None,
    Tables(&'a Table),
    Inline(&'a InlineTable, Range<usize>),
}

fn section<'d>(document: &'d Document<&str>) -> Result<Section<'d>, TextError> {
    match document.as_table().get(SECTION) {
        None => Ok(Section::None),
        Some(Item::Table(table)) => Ok(Section::Tables(table)),
        Some(Item::Value(Value::InlineTable(table))) => {
            table.span().map(|span| Section::Inline(table, span)).ok_or_else(|| layout(0, "it has no place"))
        }
        Some(other) => Err(layout(other.span().map_or(0, |span| span.start), &format!("{SECTION} is not a table"))),
    }
}

fn layout(offset: usize, reason: &str) -> TextError {
    TextError::Layout(offset, reason.into())
}

fn entry_of(table: &dyn TableLike) -> Entry {
    let strings = |array: &Array| array.iter().map(|each| Some(each.as_str()?.to_owned())).collect::<Option<Vec<_>>>();
    let env = table.get("env").and_then(Item::as_table_like).map(|env| {
        env.iter().filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned()))).collect()
    });
    Entry {
        command: table.get("command").and_then(Item::as_str).map(str::to_owned),
        args: table.get("args").and_then(Item::as_array).and_then(strings),
        env: env.unwrap_or_default(),
    }
}

/// The entry of the server with this name; `None` if there is none.
pub(crate) fn find(text: &str, name: &str) -> Result<Option<Entry>, TextError> {
    let document = parse(text)?;
    let read = |table: Option<&dyn TableLike>| table.map_or_else(Entry::default, entry_of);
    Ok(match section(&document)? {
        Section::None => None,
        Section::Tables(table) => table.get(name).map(|item| read(item.as_table_like())),
        Section::Inline(table, _) => {
            table.get(name).map(|value| read(value.as_inline_table().map(|table| table as &dyn TableLike)))
        }
    })
}

/// The text with the server's entry added or updated. `new_file` is true if there is no file yet.
pub(crate) fn connect(text: &str, server: &Server, new_file: bool) -> Result<String, TextError> {
    if let Some(entry) = find(text, &server.name)? {
        return update(text, entry, server);
    }
    let document = parse(text)?;
    if let Section::Inline(table, span) = section(&document)? {
        let entry = inline_entry(server, AddedParts::default());
        let (at, before) = match table.iter().filter_map(|(_, value)| value.span()).map(|span| span.end).max() {
            Some(end) => (end, ", "),
            None => (span.start + 1, " "),
        };
        return Ok(apply_edits(text, vec![(at..at, format!("{before}{} = {entry}", server.name))]));
    }
    let line_break = line_break(text);
    let added = AddedParts {
        file: new_file,
        line: !text.is_empty() && !text.ends_with('\n'),
        gap: !text.trim().is_empty(),
        ..AddedParts::default()
    };
    let mut out = text.to_owned();
    for needed in [added.line, added.gap] {
        out.push_str(if needed { line_break } else { "" });
    }
    let [command, args, env] = values(server, added);
    for line in [
        format!("[{SECTION}.{}]", server.name),
        format!("command = {command}"),
        format!("args = {args}"),
        format!("env = {env}"),
    ] {
        out.push_str(&line);
        out.push_str(line_break);
    }
    Ok(out)
}

/// Command, arguments and variables as TOML.
fn values(server: &Server, added: AddedParts) -> [String; 3] {
    let env: InlineTable =
        server.marked_env(added).into_iter().map(|(name, value)| (name, Value::from(value))).collect();
    let args: Array = server.args.iter().map(String::as_str).collect();
    let mut values = [Value::from(&server.command), args.into(), env.into()];
    values.iter_mut().for_each(|value| value.decor_mut().clear());
    values.map(|value| value.to_string())
}

fn inline_entry(server: &Server, added: AddedParts) -> String {
    let [command, args, env] = values(server, added);
    format!("{{ command = {command}, args = {args}, env = {env} }}")
}

/// Replaces the outdated parts of Mementory's entry. Keys and variables that the person added to the entry stay.
fn update(text: &str, entry: Entry, server: &Server) -> Result<String, TextError> {
    let Some(added) = entry.added() else { return Err(TextError::NotOurs) };
    if entry.starts(server) {
        return Ok(text.to_owned());
    }
    let mut server = server.clone();
    let persons_variables = entry.env.into_iter().filter(|(name, _)| name != ADDED_VARIABLE);
    server.env = persons_variables.chain(server.env).collect();
    let document = parse(text)?;
    let table: Option<&dyn TableLike> = match section(&document)? {
        Section::None => None,
        Section::Tables(table) => table.get(&server.name).and_then(Item::as_table_like),
        Section::Inline(table, _) => {
            table.get(&server.name).and_then(Value::as_inline_table).map(|table| table as &dyn TableLike)
        }
    };
    let span = |name: &str| table?.get(name)?.as_value()?.span();
    if let (Some(command), Some(args), Some(env)) = (span("command"), span("args"), span("env")) {
        let edits = [command, args, env].into_iter().zip(values(&server, added)).collect();
        return Ok(apply_edits(text, edits));
    }
    let (without_entry, new_file) = disconnect(text, &server.name)?.unwrap_or_default();
    connect(&without_entry, &server, new_file)
}

/// Returns the text without the entry of this name, and true if the file has to be removed because nothing else is in
/// it. `None` if there is no such entry.
pub(crate) fn disconnect(text: &str, name: &str) -> Result<Option<(String, bool)>, TextError> {
    let Some(entry) = find(text, name)? else { return Ok(None) };
    let Some(added) = entry.added() else { return Err(TextError::NotOurs) };
    let document = parse(text)?;
    let ranges = match section(&document)? {
        Section::None => return Ok(None),
        Section::Inline(table, span) => vec![inline_range(table, name, &span)],
        Section::Tables(table) => match table.get(name) {
            Some(Item::Table(entry)) => with_spacing(text, blocks(text, entry)?, added),
            Some(Item::Value(value)) => {
                let key = table.key(name).and_then(toml_edit::Key::span);
                match (key, value.span()) {
                    (Some(key), Some(value)) => vec![whole_lines(text, key.start..value.end)],
                    _ => return Err(layout(0, "the entry has no place")),
                }
            }
            _ => return Err(layout(0, "the entry is not a table")),
        },
    };
    let without_entry = apply_edits(text, ranges.into_iter().map(|range| (range, String::new())).collect());
    let can_remove_file = added.file && without_entry.is_empty();
    Ok(Some((without_entry, can_remove_file)))
}

/// The range of an entry in `mcp_servers = { … }`, including the comma that separates it from its neighbour.
fn inline_range(table: &InlineTable, name: &str, span: &Range<usize>) -> Range<usize> {
    let mut previous_end = None;
    let mut entry_range = None;
    for (each, value) in table.iter() {
        let Some(value_span) = value.span() else { continue };
        let key_start = table.key(each).and_then(toml_edit::Key::span).map_or(value_span.start, |key| key.start);
        match entry_range.clone() {
            // If the entry is the first one, its range ends where the next entry starts.
            Some(Range { start, .. }) if previous_end.is_none() => return start..key_start,
            Some(_) => break,
            None if each == name => entry_range = Some(key_start..value_span.end),
            None => previous_end = Some(value_span.end),
        }
    }
    let end = entry_range.map_or(span.start + 1, |entry_range| entry_range.end);
    previous_end.unwrap_or(span.start + 1)..end
}

/// The line ranges of a table with a header and of its subtables, in the order of the text.
fn blocks(text: &str, table: &Table) -> Result<Vec<Range<usize>>, TextError> {
    let mut found = Vec::new();
    let mut pending_tables = vec![table];
    while let Some(table) = pending_tables.pop() {
        // A table that is only implied by its subtables has no header. Its position is that of a subtable's header.
        let header = table.span().filter(|span| !span.is_empty() && !table.is_implicit());
        if table.is_dotted() || header.is_none() && !table.is_implicit() {
            return Err(layout(header.map_or(0, |span| span.start), "the entry is written with dotted keys"));
        }
        let mut end = header.as_ref().map_or(0, |span| span.end);
        for (_, item) in table.iter() {
            match item {
                Item::Table(inner) if inner.is_dotted() => end = end.max(last_end(inner)),
                Item::Table(inner) => pending_tables.push(inner),
                Item::ArrayOfTables(tables) => pending_tables.extend(tables.iter()),
                other => end = end.max(other.span().map_or(0, |span| span.end)),
            }
        }
        found.extend(header.map(|header| whole_lines(text, header.start..end)));
    }
    found.sort_by_key(|range| range.start);
    Ok(found)
}

/// Offset at which the last value of a table with dotted keys ends.
fn last_end(table: &Table) -> usize {
    table
        .iter()
        .filter_map(|(_, item)| match item {
            Item::Table(inner) => Some(last_end(inner)),
            other => other.span().map(|span| span.end),
        })
        .max()
        .unwrap_or_default()
}

/// The range extended to whole lines, with their last line break.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1);
    start..end
}

/// Extends the first of `blocks` by the empty line and the line break that were added before it. A client may have
/// moved the other blocks. If one of the moved blocks has an empty line on both sides, it is extended by the empty line
/// after it.
fn with_spacing(text: &str, mut blocks: Vec<Range<usize>>, added: AddedParts) -> Vec<Range<usize>> {
    let at_end = blocks.last().is_some_and(|last| last.end == text.len());
    for block in blocks.iter_mut().skip(usize::from(added.gap)) {
        let before = &text[..block.start];
        if before.is_empty() || before.ends_with("\n\n") || before.ends_with("\n\r\n") {
            let after = &text[block.end..];
            block.end += if after.starts_with("\r\n") { 2 } else { usize::from(after.starts_with('\n')) };
        }
    }
    let Some(first) = blocks.first_mut() else { return blocks };
    let without_break = |text: &str| text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).len());
    let before = &text[..first.start];
    if let Some(shorter) = without_break(before).filter(|shorter| added.gap && before[..*shorter].ends_with('\n')) {
        first.start = shorter;
    }
    if let Some(shorter) = without_break(&text[..first.start]).filter(|_| added.line && at_end) {
        first.start = shorter;
    }
    blocks
}
