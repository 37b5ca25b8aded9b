//! First pass over the lines of a delta before its import, because a delta is imported completely or not at all. If
//! several lines change a record, the last line counts (spec §4.3: lines are in order).
use super::delta_operation as operation;
use super::jsonl::{JsonLine, each_line};
use super::manifest::{Archive, Manifest};
use mementory_format::{FormatError, Member};
use mementory_model::Limits;
use std::collections::HashMap;

/// For each record id, the number of the last line that changes the record.
#[derive(Default)]
pub(super) struct LastChanges {
    by_id: HashMap<Box<str>, u64>,
}

impl LastChanges {
    /// Checks every line of the entry.
    ///
    /// # Errors
    /// `Invalid` for a line that does not change a record, for a change of another agent's record (`wrong_agent`), and
    /// if the number of lines differs from the manifest (`count_differs`).
    pub(super) fn collect(
        archive: &Archive<'_>,
        member: &Member,
        manifest: &Manifest,
        limits: &Limits,
    ) -> Result<Self, FormatError> {
        let (mut out, mut lines) = (Self::default(), 0u64);
        archive.catalog.read(member, |reader| {
            each_line(reader, &member.place, limits.line_bytes, &mut |entry, _| {
                let (number, parsed) = match entry {
                    JsonLine::Text(_, "") => return Ok(()),
                    JsonLine::Text(number, text) => (number, operation::parse(text)),
                    JsonLine::Unreadable(number, code) => (number, Err(code)),
                };
                lines += 1;
                let place = || format!("{}#line {number}", member.place);
                let change = parsed.map_err(|code| FormatError::invalid(code, place(), operation::NOT_A_CHANGE))?;
                if manifest.is_foreign(change.agent.as_deref()) {
                    return Err(wrong_agent(place()));
                }
                out.by_id.insert(change.id.into(), number);
                Ok(())
            })
        })?;
        let stated_count = manifest.partitions.iter().find(|row| row.file == member.name).and_then(|row| row.count);
        if stated_count.is_some_and(|stated_count| stated_count != lines) {
            let message = format!("the delta has {lines} changed records, its manifest states another number");
            return Err(FormatError::invalid("count_differs", &member.place, message));
        }
        Ok(out)
    }

    /// True if no later line changes the same record.
    pub(super) fn is_last(&self, id: &str, line: u64) -> bool {
        self.by_id.get(id) == Some(&line)
    }
}

/// The error for an element that does not belong to the agent of the delta.
pub(super) fn wrong_agent(place: String) -> FormatError {
    FormatError::invalid("wrong_agent", place, "this change is of another agent than the delta")
}
