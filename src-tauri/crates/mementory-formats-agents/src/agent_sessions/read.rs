//! Reads each file as one conversation.
use super::FORMAT;
use super::copilot::CopilotSession;
use super::detect::{FileKind, file_kind, is_workspace_of};
use super::pi::PiSession;
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Kind};

/// Reads everything.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
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
                let title = title_beside(reader, member)?;
                session.send(reader, member, title)
            }
            None => Err(FormatError::invalid("changed", &member.place, "the file is no longer what was detected")),
        }
    })
}

/// Calls `read` for each line, until the lines together are larger than an element may be.
fn each_line(
    reader: &mut FileReader<'_>,
    member: &Member,
    mut read: impl FnMut(&mut FileReader<'_>, &ObjectElement<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut budget = reader.context.limits.element_bytes;
    reader.lines(member, Kind::Message, |reader, line| {
        let Some(rest) = budget.checked_sub(line.text.len() as u64) else {
            let place = format!("{}#{}", member.place, line.pointer);
            let reason = "too_large: the session is larger than an element may be";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        };
        budget = rest;
        read(reader, line)
    })?;
    Ok(())
}

/// The title in `workspace.yaml` beside a session of Copilot: its name, else its summary.
fn title_beside(reader: &mut FileReader<'_>, member: &Member) -> Result<Option<String>, FormatError> {
    let catalog = reader.catalog;
    let Some(workspace) = catalog.members().iter().find(|other| is_workspace_of(member, other)) else {
        return Ok(None);
    };
    let text = reader.text(workspace)?;
    let value = |key: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        let values = lines.map(|value| value.trim().trim_matches(['"', '\'']).to_owned());
        // A text of several lines begins with one of these marks.
        values
            .into_iter()
            .find(|value| !value.is_empty() && !matches!(value.as_str(), "|" | "|-" | ">" | ">-" | "null"))
    };
    Ok(value("name").or_else(|| value("summary")))
}
