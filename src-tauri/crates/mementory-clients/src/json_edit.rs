//! Adds an entry to a JSON configuration, or removes it again. Only parts of the text are replaced, so that all other
//! parts stay unchanged.
use crate::{
    client::JsonShape,
    json_parse::{Trivia, entry_of, object_in, root, trivia},
    json_render::{Style, list, string},
    server::{AddedParts, Entry, Server},
    text::{TextError, apply_edits, indent_at, line_break},
};
use jsonc_parser::ast::{Object, ObjectProp};
use std::ops::Range;

type Edits = Vec<(Range<usize>, String)>;

/// The entry of the server with this name; `None` if there is none.
pub(crate) fn find(text: &str, shape: JsonShape, name: &str) -> Result<Option<Entry>, TextError> {
    let root = root(text, shape.dialect)?;
    let section = root.as_ref().map(|root| object_in(root, shape.section)).transpose()?.flatten();
    Ok(section.and_then(|section| section.get(name)).map(entry_of))
}

/// The text with the server's entry added or updated. `new_file` is true if there is no file yet.
pub(crate) fn connect(text: &str, shape: JsonShape, server: &Server, new_file: bool) -> Result<String, TextError> {
    let Some(root) = root(text, shape.dialect)? else { return Ok(whole_file(text, shape, server, new_file)) };
    let section = object_in(&root, shape.section)?;
    if let Some(member) = section.and_then(|section| section.get(&server.name)) {
        return update(text, &root, member, shape, server);
    }
    let indent_unit = indent_unit(text, &root);
    let line_break = line_break(text);
    let is_root = section.is_none();
    let slot = InsertionPoint::after_last_member(text, section.unwrap_or(&root), indent_unit, is_root);
    let added = AddedParts { section: is_root, line: slot.adds_line, ..AddedParts::default() };
    let style = Style { indent_unit, line_break, multi_line: slot.multi_line };
    let member = |name: &str, value: String| format!("{}: {value}", string(name));
    let inserted_text = if is_root {
        let entry = style.entry(server, added, shape.with_type, &format!("{}{indent_unit}", slot.indent));
        member(shape.section, style.object(&slot.indent, &[(&server.name, entry)]))
    } else {
        member(&server.name, style.entry(server, added, shape.with_type, &slot.indent))
    };
    Ok(apply_edits(text, slot.edits(&inserted_text)))
}

/// The text of a file that contains no JSON value yet, with a root object added at its end.
fn whole_file(text: &str, shape: JsonShape, server: &Server, new_file: bool) -> String {
    let line_break = line_break(text);
    let line = !text.is_empty() && !text.ends_with('\n');
    let added = AddedParts { file: new_file, root: true, section: true, line, gap: false };
    let style = Style { indent_unit: DEFAULT_INDENT_UNIT, line_break, multi_line: true };
    let entry = style.entry(server, added, shape.with_type, &DEFAULT_INDENT_UNIT.repeat(2));
    let section = style.object(DEFAULT_INDENT_UNIT, &[(&server.name, entry)]);
    let object = style.object("", &[(shape.section, section)]);
    format!("{text}{}{object}{line_break}", if line { line_break } else { "" })
}

/// Replaces the outdated parts of Mementory's entry. Members and variables that the person added to the entry stay.
fn update(
    text: &str,
    root: &Object<'_>,
    member: &ObjectProp<'_>,
    shape: JsonShape,
    server: &Server,
) -> Result<String, TextError> {
    let entry = entry_of(member);
    let Some(added) = entry.added() else { return Err(TextError::NotOurs) };
    if entry.starts(server) {
        return Ok(text.to_owned());
    }
    let mut server = server.clone();
    let persons_variables = entry.env.into_iter().filter(|(name, _)| name != crate::server::ADDED_VARIABLE);
    server.env = persons_variables.chain(server.env).collect();
    let object = member.value.as_object();
    let value = |name: &str| object.and_then(|object| object.get(name)).map(|member| &member.value);
    if let (Some(command), Some(args), Some(env)) = (value("command"), value("args"), value("env")) {
        use jsonc_parser::common::Ranged;
        let multi_line = text[env.start()..env.end()].contains('\n');
        let style = Style { indent_unit: indent_unit(text, root), line_break: line_break(text), multi_line };
        let env_indent = indent_at(text, env.start());
        let edits = vec![
            (command.start()..command.end(), string(&server.command)),
            (args.start()..args.end(), list(&server.args)),
            (env.start()..env.end(), style.variables(&server.marked_env(added), env_indent)),
        ];
        return Ok(apply_edits(text, edits));
    }
    let (without_entry, new_file) = disconnect(text, shape, &server.name)?.unwrap_or_default();
    connect(&without_entry, shape, &server, new_file)
}

/// Returns the text without the entry of this name, and true if the file has to be removed because nothing else is in
/// it. `None` if there is no such entry.
pub(crate) fn disconnect(text: &str, shape: JsonShape, name: &str) -> Result<Option<(String, bool)>, TextError> {
    let Some(root) = root(text, shape.dialect)? else { return Ok(None) };
    let Some(section) = object_in(&root, shape.section)? else { return Ok(None) };
    let Some(index) = section.properties.iter().position(|member| member.name.as_str() == name) else {
        return Ok(None);
    };
    let Some(added) = entry_of(&section.properties[index]).added() else { return Err(TextError::NotOurs) };
    let whole_section = added.section && has_only_one_member(text, section);
    let whole_root = whole_section && added.root && has_only_one_member(text, &root);
    let edits = if whole_root {
        vec![(root_range(text, &root, added), String::new())]
    } else if whole_section {
        let index = root.properties.iter().position(|member| member.name.as_str() == shape.section);
        removal_edits(text, &root, index.unwrap_or_default(), added.line && !added.root)
    } else {
        removal_edits(text, section, index, added.line && !added.section)
    };
    let without_entry = apply_edits(text, edits);
    let can_remove_file = added.file && without_entry.is_empty();
    Ok(Some((without_entry, can_remove_file)))
}

/// Whether an object has exactly one member and no comments.
fn has_only_one_member(text: &str, object: &Object<'_>) -> bool {
    let [member] = object.properties.as_slice() else { return false };
    let before = trivia(text, object.range.start + 1, member.range.start);
    let after = trivia(text, member.range.end, object.range.end - 1);
    before.last_end.is_none() && after.last_end.is_none_or(|end| Some(end - 1) == after.comma)
}

/// The range of a root object that Mementory added, including the line break after the object and any line break that
/// was added before the object.
fn root_range(text: &str, root: &Object<'_>, added: AddedParts) -> Range<usize> {
    let (before, after) = (&text[..root.range.start], &text[root.range.end..]);
    let break_length = |text: &str, at_end: bool| {
        let has = |it: &str| if at_end { text.ends_with(it) } else { text.starts_with(it) };
        if has("\r\n") { 2 } else { usize::from(has("\n")) }
    };
    let start = root.range.start - if added.line { break_length(before, true) } else { 0 };
    start..root.range.end + break_length(after, false)
}

/// The ranges to remove for a member: the member with its comma and its whitespace. Comments stay. If `with_line` is
/// true and the object is then empty, the line break before its closing brace is removed too.
fn removal_edits(text: &str, object: &Object<'_>, index: usize, with_line: bool) -> Edits {
    let members = &object.properties;
    let member = &members[index];
    let previous_end = index.checked_sub(1).map_or(object.range.start + 1, |previous| members[previous].range.end);
    let next_start = members.get(index + 1).map_or(object.range.end - 1, |next| next.range.start);
    let before = trivia(text, previous_end, member.range.start);
    let after = trivia(text, member.range.end, next_start);
    let start = before.last_end.unwrap_or(previous_end);
    let mut end = after.comma.map_or(member.range.end, |comma| comma + 1);
    let mut edits = Edits::new();
    if let (None, Some(comma)) = (after.comma, before.comma) {
        edits.push((comma..comma + 1, String::new()));
    }
    if with_line && members.len() == 1 && text[end..next_start].trim().is_empty() {
        end = next_start;
    }
    edits.push((start..end, String::new()));
    edits
}

const DEFAULT_INDENT_UNIT: &str = "  ";

/// One level of indentation, taken from the first member of the root object if that member begins a line.
fn indent_unit<'a>(text: &'a str, root: &Object<'_>) -> &'a str {
    let Some(first) = root.properties.first() else { return DEFAULT_INDENT_UNIT };
    if !text[root.range.start..first.range.start].contains('\n') {
        return DEFAULT_INDENT_UNIT;
    }
    let own_indent = indent_at(text, first.range.start);
    own_indent.strip_prefix(indent_at(text, root.range.start)).unwrap_or(own_indent)
}

/// Where a new member is inserted: after the last member and any comments that follow it.
struct InsertionPoint {
    /// Offset at which a comma has to be inserted after the previous last member. `None` if no comma is needed.
    comma: Option<usize>,
    at: usize,
    before: String,
    after: String,
    /// The indentation of the new member's line.
    indent: String,
    multi_line: bool,
    /// Whether `after` adds a line break before the closing brace.
    adds_line: bool,
}

impl InsertionPoint {
    fn after_last_member(text: &str, object: &Object<'_>, indent_unit: &str, is_root: bool) -> Self {
        let line_break = line_break(text);
        let inner_end = object.range.end - 1;
        let Some(last) = object.properties.last() else {
            let Trivia { last_end, ends_with_line_comment, .. } = trivia(text, object.range.start + 1, inner_end);
            let at = last_end.unwrap_or(object.range.start + 1);
            let multi_line = is_root || ends_with_line_comment || text.trim().contains('\n');
            let outer = indent_at(text, object.range.start);
            let indent = format!("{outer}{indent_unit}");
            let adds_line = multi_line && at == inner_end;
            return Self {
                comma: None,
                at,
                before: if multi_line { format!("{line_break}{indent}") } else { String::new() },
                after: if adds_line { format!("{line_break}{outer}") } else { String::new() },
                indent,
                multi_line,
                adds_line,
            };
        };
        let count = object.properties.len();
        let previous_end = count.checked_sub(2).map_or(object.range.start + 1, |at| object.properties[at].range.end);
        let gap = &text[previous_end..last.range.start];
        let after = trivia(text, last.range.end, inner_end);
        let multi_line = gap.contains('\n') || after.ends_with_line_comment;
        let indent = indent_at(text, last.range.start).to_owned();
        let space = if gap.ends_with([' ', '\t']) { " " } else { "" };
        Self {
            comma: after.comma.is_none().then_some(last.range.end),
            at: after.last_end.unwrap_or(last.range.end),
            before: if multi_line { format!("{line_break}{indent}") } else { space.into() },
            after: if after.comma.is_some() { ",".into() } else { String::new() },
            indent,
            multi_line,
            adds_line: false,
        }
    }

    fn edits(&self, member: &str) -> Edits {
        let comma = self.comma.map(|at| (at..at, ",".to_owned()));
        let member = (self.at..self.at, format!("{}{member}{}", self.before, self.after));
        comma.into_iter().chain([member]).collect()
    }
}
