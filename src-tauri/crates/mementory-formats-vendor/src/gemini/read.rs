//! Reads an export: activities as JSON and as pages, threads of Workspace, Gems, and files.
use super::activity::{Activity, SCOPE, file_key, is_in_gemini_folder};
use super::detect::{self, Content};
use super::plan::{Plan, RowIds};
use super::records::{self, File};
use super::{gems, html_row, json_row, voyager, workspace};
use mementory_format::{
    AttachmentFile, Catalog, Detected, FormatError, Member, PassthroughItem, ReadContext, Role, Sink,
};
use mementory_formats_shared::{
    files::send_file,
    html::{RowError, Rows},
    reader::FileReader,
};
use mementory_model::{Dropped, DroppedAs, Issue, Kind, Tombstone, Unit};
use std::collections::HashSet;
use std::io::Read;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut plan = Plan::default();
    let mut ids = RowIds::default();
    // The first pass only finds the chats. Problems are reported in the second pass.
    FileReader::new(SCOPE, catalog, context, &mut NoReports { sink }).each_file(detected, |reader, member, role| {
        if role == Role::Conversations
            && let Some(content @ (Content::ActivityJson | Content::ActivityHtml)) = detect::content(catalog, member)
        {
            activities(reader, member, content, false, &mut |_, activity| {
                if let Some(id) = ids.unique_id(member.id, &activity) {
                    plan.add(id, &activity);
                }
                Ok(())
            })?;
        }
        Ok(())
    })?;
    plan.finish();
    let pictures = workspace::Pictures::from_export(catalog, detected);
    let mut second_pass =
        SecondPass { plan, ids: RowIds::default(), opened_chats: HashSet::new(), single_prompts: 0, pictures };
    FileReader::new(SCOPE, catalog, context, sink).each_file(detected, |reader, member, role| match role {
        Role::Conversations | Role::Projects => second_pass.read_file(reader, member),
        Role::Attachment => send_attachment(reader, member),
        Role::Junk => {
            let reason = "junk: bookkeeping of an operating system";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            Ok(())
        }
        _ => reader.pass_through(member, "", "sidecar"),
    })
}

struct SecondPass {
    plan: Plan,
    ids: RowIds,
    /// Ids of the chats whose conversation record was already sent.
    opened_chats: HashSet<String>,
    /// Number of prompts that link to no chat.
    single_prompts: u64,
    pictures: workspace::Pictures,
}

impl SecondPass {
    fn read_file(&mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        match detect::content(reader.catalog, member) {
            Some(Content::Workspace) => workspace::read(reader, member, &self.pictures),
            Some(Content::Voyager) => voyager::read(reader, member),
            Some(Content::Gems) => gems::read(reader, member),
            Some(content) => {
                self.single_prompts = 0;
                let mut is_empty = true;
                activities(reader, member, content, true, &mut |reader, activity| {
                    is_empty = false;
                    self.send_activity(reader, member, content, activity)
                })?;
                if is_empty {
                    let message = "this file contains no activities of Gemini";
                    reader.sink.note(Issue::new("empty", &member.place, message));
                }
                if self.single_prompts > 0 {
                    let message = format!(
                        "{} prompts have no link to a chat. Each is a conversation of its own, because the export does \
                         not say which belong together",
                        self.single_prompts
                    );
                    reader.sink.note(Issue::new("no_conversation_ids", &member.place, message));
                }
                Ok(())
            }
            None => reader.pass_through(member, "", "sidecar"),
        }
    }

    fn send_activity(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        content: Content,
        activity: Activity,
    ) -> Result<(), FormatError> {
        let place = format!("{}#{}", member.place, activity.pointer);
        let Some(id) = self.ids.unique_id(member.id, &activity) else {
            let reason = "duplicate: the same activity occurs twice";
            reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Message));
            return Ok(());
        };
        if let Some(stamp) = activity.fields.get("time_without_known_zone") {
            let message = format!("the time zone of {stamp} is not known; the time was read as UTC");
            reader.sink.note(Issue::new("time_zone_unknown", &place, message));
        }
        if let Some(stamp) = activity.fields.get("time_as_written") {
            let message = format!("the time {stamp} cannot be read");
            reader.sink.note(Issue::new("bad_time", &place, message));
        }
        let meaning = self.plan.meaning(&activity);
        let place_in_chat = self.plan.place(&id, &activity);
        let is_prompt = meaning != super::activity::Meaning::Other;
        let is_first = match &activity.chat {
            Some(link) => is_prompt && self.opened_chats.insert(link.id.clone()),
            None => true,
        };
        if is_prompt && activity.chat.is_none() {
            self.single_prompts += 1;
        }
        let layout = if content == Content::ActivityHtml { "html" } else { "json" };
        let file = File { container: &member.place, layout };
        reader.sink.unit(records::unit(&id, activity, meaning, place_in_chat, is_first, file))
    }
}

/// Calls `each` for every activity of Gemini in a file. Rows of other products are reported as dropped.
fn activities(
    reader: &mut FileReader<'_>,
    member: &Member,
    content: Content,
    with_answers: bool,
    each: &mut dyn FnMut(&mut FileReader<'_>, Activity) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    if content == Content::ActivityHtml {
        return read_page(reader, member, with_answers, each);
    }
    let is_gemini_file = is_in_gemini_folder(member);
    reader.objects(member, &detect::WRAPPER_KEYS, Kind::Message, |reader, row| {
        let place = || format!("{}#{}", member.place, row.pointer);
        if !json_row::is_gemini(&row.object, is_gemini_file) {
            let product = json_row::products(&row.object).into_iter().next().unwrap_or_default();
            report_other_product(reader, place(), &product);
            return Ok(());
        }
        match json_row::read(row.text, &row.object, &row.pointer) {
            Some(activity) => each(reader, activity),
            None => {
                reader.report_dropped(place(), DroppedAs::Failed, NO_CONTENT, Some(Kind::Message));
                Ok(())
            }
        }
    })?;
    Ok(())
}

const NO_CONTENT: &str = "no_content: neither a title nor an answer";

fn report_other_product(reader: &mut FileReader<'_>, place: String, product: &str) {
    let reason = match product {
        "" => "other_product: an activity of another product of Google".to_owned(),
        name => format!("other_product: an activity of {}", name.chars().take(60).collect::<String>()),
    };
    reader.report_dropped(place, DroppedAs::Skipped, &reason, None);
}

fn read_page(
    reader: &mut FileReader<'_>,
    member: &Member,
    with_answers: bool,
    each: &mut dyn FnMut(&mut FileReader<'_>, Activity) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let (catalog, context) = (reader.catalog, reader.context);
    let is_gemini_file = is_in_gemini_folder(member);
    catalog.read(member, |bytes| {
        let mut rows = Rows::new(bytes, html_row::OUTER_CELL, &context.limits);
        loop {
            let row = match rows.next_row() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(()),
                Err(RowError::Io(error)) => return Err(FormatError::io(&member.place, error)),
                Err(RowError::TooLarge(offset)) => {
                    let place = format!("{}#@{offset}", member.place);
                    let reason = "too_large: this activity is larger than the limit";
                    reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
                    continue;
                }
            };
            let pointer = format!("@{}", row.offset);
            let place = format!("{}#{pointer}", member.place);
            if row.is_cut {
                let message = "the page ends inside this activity; what is there was read";
                reader.sink.note(Issue::new("truncated", &place, message));
            }
            if !html_row::is_gemini(&row.html, is_gemini_file) {
                report_other_product(reader, place, &html_row::product(&row.html));
            } else if let Some(activity) = html_row::read(&row.html, pointer, with_answers) {
                each(reader, activity)?;
            } else {
                reader.report_dropped(place, DroppedAs::Failed, NO_CONTENT, Some(Kind::Message));
            }
            reader.progress_in_file(member, rows.raw_bytes())?;
        }
    })
}

/// Sends a file that belongs to a prompt or an answer.
fn send_attachment(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let name = member.file_name();
    send_file(reader, member, file_key(name), None, name)
}

/// A sink for the first pass. It ignores all records and reports, and only forwards the user's cancellation.
struct NoReports<'s> {
    sink: &'s mut dyn Sink,
}

impl Sink for NoReports<'_> {
    fn unit(&mut self, _: Unit) -> Result<(), FormatError> {
        Ok(())
    }
    fn attachment(&mut self, _: AttachmentFile, _: &mut dyn Read) -> Result<(), FormatError> {
        Ok(())
    }
    fn passthrough(&mut self, _: PassthroughItem, _: &mut dyn Read) -> Result<(), FormatError> {
        Ok(())
    }
    fn tombstone(&mut self, _: Tombstone) -> Result<(), FormatError> {
        Ok(())
    }
    fn note(&mut self, _: Issue) {}
    fn dropped(&mut self, _: Dropped) {}
    fn progress(&mut self, _: u64) -> Result<(), FormatError> {
        self.sink.progress(0)
    }
}
