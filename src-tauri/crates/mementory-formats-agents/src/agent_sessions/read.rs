//! Reads each file as one conversation.
use super::FORMAT;
use super::copilot::CopilotSession;
use super::detect::{FileKind, file_kind, workspace_files};
use super::pi::PiSession;
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::files::folder_of;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{Issue, Kind};

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let workspace_files = workspace_files(catalog);
    let mut reader = FileReader::new(FORMAT, catalog, context, sink);
    reader.each_file(detected, |reader, member, role| {
        if role == Role::Sidecar {
            return reader.pass_through(member, "", "sidecar");
        }
        match file_kind(reader.catalog, member) {
            Some(FileKind::Pi) => {
                let mut session = PiSession::default();
                each_line(reader, member, |reader, line| session.add(reader, member, line))?;
                session.send(reader, member)
            }
            Some(FileKind::Copilot) => {
                let mut session = CopilotSession::default();
                each_line(reader, member, |reader, line| session.add(reader, member, line))?;
                let workspace = workspace_files.get(&folder_of(member)).copied();
                let title = workspace.map(|file| title_in(reader, file)).transpose()?.flatten();
                session.send(reader, member, title)
            }
            None => Err(FormatError::invalid("changed", &member.place, "the file is no longer what was detected")),
        }
    })
}

/// Calls `read` for each line. Once their total size exceeds the limit of one element, further lines are reported as
/// dropped.
fn each_line(
    reader: &mut FileReader<'_>,
    member: &Member,
    mut read: impl FnMut(&mut FileReader<'_>, &ObjectElement<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut bytes = 0;
    reader.lines(member, Kind::Message, |reader, line| {
        if !reader.add_message_size(&mut bytes, member, line, "session") {
            return Ok(());
        }
        read(reader, line)
    })?;
    Ok(())
}

/// The title in the `workspace.yaml` of a Copilot session: its name, otherwise its summary. None if the file cannot be
/// read; the session is then read without a title.
fn title_in(reader: &mut FileReader<'_>, workspace: &Member) -> Result<Option<String>, FormatError> {
    let text = match reader.text(workspace) {
        Ok(text) => text,
        // The limit applies to the whole import, so exceeding it ends the import.
        Err(FormatError::Io { source, place }) if source.to_string().starts_with("limit") => {
            return Err(FormatError::Io { source, place });
        }
        Err(error) => {
            let message = format!("the title of the session cannot be read: {error}");
            reader.sink.note(Issue::new("unreadable", &workspace.place, message));
            return Ok(None);
        }
    };
    let value = |key: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        let values = lines.map(|value| value.trim().trim_matches(['"', '\'']).to_owned());
        // Multi-line YAML values, which begin with these marks, are not read.
        values
            .into_iter()
            .find(|value| !value.is_empty() && !matches!(value.as_str(), "|" | "|-" | ">" | ">-" | "null"))
    };
    Ok(value("name").or_else(|| value("summary")))
}
