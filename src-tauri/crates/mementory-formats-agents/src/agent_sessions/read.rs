//! Reads each log, and the events of each folder, as one conversation.
use super::FORMAT;
use super::agtrace::AgtraceSession;
use super::atof::AtofLog;
use super::copilot::CopilotSession;
use super::deepseek_harness::HarnessSession;
use super::detect::{FileKind, HERMES, KIMI_HEADERS, WORKSPACE_FILE, file_kind, session_folder, title_files};
use super::kimi::KimiSession;
use super::kimi_code::MAIN_AGENT;
use super::openhands_files::{Header, OpenHandsFiles};
use super::otel::Traces;
use super::pi::{PiSession, read_page};
use super::{atif, hermes, langsmith, openhands, posit};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink, is_uuid};
use mementory_formats_shared::files::{Folder, file_name, folder_of};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Issue, Kind};
use std::collections::HashMap;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let workspace_files = title_files(catalog, &[WORKSPACE_FILE]);
    let kimi_files = title_files(catalog, &KIMI_HEADERS);
    let is_hermes = detected.claim.version.as_deref() == Some(HERMES);
    let mut reader = FileReader::new(FORMAT, catalog, context, sink);
    reader.each_file(detected, |reader, member, role| {
        match role {
            Role::Manifest if is_hermes => return hermes::read_database(reader, member),
            Role::Junk => return Ok(()),
            Role::Sidecar => return reader.pass_through(member, "", "sidecar"),
            Role::DuplicateRendering => {
                let reason = "duplicate: the events of this file are in the folder beside it";
                reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
                return Ok(());
            }
            // These files are read elsewhere: the events of OpenHands by folder (below), and the log of Posit Assistant
            // together with its tree.
            Role::Records | Role::Manifest => return Ok(()),
            _ => {}
        }
        match file_kind(reader.catalog, member) {
            Some(FileKind::Pi) => {
                let mut session = PiSession::default();
                each_line(reader, member, |reader, line| session.add(reader, member, line))?;
                session.send(reader, member)
            }
            Some(FileKind::PiPage) => read_page(reader, member),
            Some(FileKind::Copilot) => {
                let mut session = CopilotSession::default();
                each_line(reader, member, |reader, line| session.add(reader, member, line))?;
                let workspace = workspace_files.get(&folder_of(member)).and_then(|files| files.last().copied());
                let title = workspace.map(|file| title_in(reader, file)).transpose()?.flatten();
                session.send(reader, member, title)
            }
            Some(FileKind::Harness) => {
                let mut session = HarnessSession::default();
                each_line(reader, member, |reader, line| session.add(reader, member, line))?;
                session.send(reader, member)
            }
            Some(FileKind::Agtrace) => {
                let mut session = AgtraceSession::default();
                each_line(reader, member, |reader, line| session.add(reader, member, line))?;
                session.send(reader, member)
            }
            Some(FileKind::Traces) => {
                let mut traces = Traces::default();
                each_line(reader, member, |reader, line| traces.add(reader, member, line))?;
                traces.send(reader, member)
            }
            Some(FileKind::Atif) => atif::read(reader, member),
            Some(FileKind::Atof) => {
                let mut log = AtofLog::default();
                each_line(reader, member, |_, line| {
                    log.add(line);
                    Ok(())
                })?;
                log.send(reader, member)
            }
            Some(FileKind::Posit) => posit::read(reader, member),
            Some(FileKind::LangSmith) => langsmith::read(reader, member),
            Some(FileKind::Kimi) => read_kimi(reader, member, &kimi_files),
            None => Err(FormatError::invalid("changed", &member.place, "the file is no longer what was detected")),
        }
    })?;
    if is_hermes { Ok(()) } else { read_openhands(&mut reader, detected) }
}

/// Reads the conversations of OpenHands in a claim.
fn read_openhands(reader: &mut FileReader<'_>, detected: &Detected) -> Result<(), FormatError> {
    let parts = detected.claim.parts.iter().filter(|part| matches!(part.role, Role::Records | Role::Manifest));
    let members: Vec<&Member> = parts.filter_map(|part| reader.catalog.members().get(part.member)).collect();
    let files = OpenHandsFiles::among(reader.catalog, members.iter().copied());
    for (folder, events) in &files.folders {
        let header = files.header(reader, folder)?;
        openhands::read(reader, events, header)?;
    }
    for trajectory in &files.trajectories {
        openhands::read(reader, &[*trajectory], Header::default())?;
    }
    Ok(())
}

/// Reads a log of Kimi as a conversation. The name of the session's folder is its id.
fn read_kimi(
    reader: &mut FileReader<'_>,
    member: &Member,
    headers: &HashMap<Folder<'_>, Vec<&Member>>,
) -> Result<(), FormatError> {
    let (_, _, own_folder) = folder_of(member);
    let agent = file_name(own_folder);
    let of_session = session_folder(member);
    let mut session = KimiSession::new(of_session.is_some() && agent != MAIN_AGENT);
    each_line(reader, member, |reader, line| session.add_line(reader, member, line))?;
    let folder = of_session.unwrap_or_else(|| folder_of(member));
    let header = kimi_header(reader, headers.get(&folder).map_or(&[], Vec::as_slice))?;
    let name = file_name(folder.2);
    let is_id = is_uuid(name) || of_session.is_some() && !name.is_empty();
    let id = Some(name).filter(|_| is_id);
    let project = &mut session.session.chat.source.project;
    *project = project.take().or(header.project);
    if session.is_subagent {
        session.session.chat.record_type = Some("subagent".into());
        return session.send(reader, member, id.map(|id| format!("{id}/{agent}")), None);
    }
    session.send(reader, member, id.map(str::to_owned), header.title)
}

/// Title and project in the files beside a log of Kimi.
#[derive(Debug, Default)]
struct KimiHeader {
    title: Option<String>,
    project: Option<String>,
}

/// The title and the folder of a Kimi session, from the files with its state. None if no file states them, or if the
/// files cannot be read.
fn kimi_header(reader: &mut FileReader<'_>, headers: &[&Member]) -> Result<KimiHeader, FormatError> {
    let mut out = KimiHeader::default();
    for header in headers.iter().copied() {
        let text = match reader.text(header) {
            Ok(text) => text,
            Err(error) => {
                reader.drop_if_damaged(header, Err(error))?;
                continue;
            }
        };
        let object = Object::parse(text.trim()).unwrap_or_default();
        let first_text =
            |keys: [&str; 3]| keys.into_iter().find_map(|key| object.non_blank_text(key)).map(|t| t.into_owned());
        out.title = out.title.take().or_else(|| first_text(["custom_title", "customTitle", "title"]));
        out.project = out.project.take().or_else(|| first_text(["workDir", "work_dir", "cwd"]));
    }
    Ok(out)
}

/// Calls `read` for each line. Once their total size exceeds the limit of one element, the remaining lines are reported
/// as dropped.
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
        // This limit applies to the whole import, so exceeding it ends the import, as cancelling does.
        Err(error @ (FormatError::Limit { limit: "total_bytes", .. } | FormatError::Cancelled)) => return Err(error),
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
