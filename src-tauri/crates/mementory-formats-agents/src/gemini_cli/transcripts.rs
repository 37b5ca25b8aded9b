//! Finds the shortened copies among Antigravity's transcripts. Antigravity writes each transcript twice: in full, and
//! with shortened texts.
use super::antigravity;
use mementory_format::Member;
use mementory_formats_shared::object::Object;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Number of characters of a text that are compared. This is about the length of a shortened text.
const COMPARED_CHARACTERS: usize = 100;
/// Smallest number of matching characters by which the copy of a prompt without a time can be recognised.
const MIN_MATCHING_CHARACTERS: usize = 20;
/// Number of characters in the longest JSON escape, a surrogate pair.
const ESCAPE_CHARACTERS: usize = 12;
/// Names, without their extension, that Antigravity gives to the whole transcript and to the shortened copy.
const TRANSCRIPT_NAMES: (&str, &str) = ("transcript_full", "transcript");

/// The first step of a transcript, by which a transcript and its shortened copy are matched.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FirstStep {
    /// Number of the step. Empty if the head of the file contains too little of the step.
    number: String,
    /// Time of the step. Empty if the step has no time.
    time: String,
    /// The first [`COMPARED_CHARACTERS`] of the text.
    beginning: String,
}

impl FirstStep {
    /// The first step in the lines at the beginning of a file. None if the file is not a transcript.
    pub(super) fn of_lines(lines: &[String]) -> Option<Self> {
        let first_step = || {
            lines.iter().find_map(|line| match Object::parse(line) {
                Some(step) => Self::of(&step),
                None => Self::of(&Object::parse(&closed_line(line)?)?),
            })
        };
        antigravity::is_transcript_of_lines(lines).then(|| first_step().unwrap_or_default())
    }

    fn of(step: &Object<'_>) -> Option<Self> {
        let value = |key: &str| step.raw_value(key).map_or_else(String::new, |raw| raw.get().to_owned());
        let text = step.text("content").unwrap_or_default();
        step.has("step_index").then(|| Self {
            number: value("step_index"),
            time: value("created_at"),
            beginning: text.chars().take(COMPARED_CHARACTERS).collect(),
        })
    }

    /// True if this may be the first step of a shortened copy of the transcript that begins with `other`.
    fn is_shortened(&self, other: &Self) -> bool {
        // Without a time, a short text may also be the whole prompt of another conversation.
        let needed = if self.time.is_empty() { MIN_MATCHING_CHARACTERS } else { 1 };
        let is_beginning =
            other.beginning.starts_with(&self.beginning) && self.beginning.chars().nth(needed - 1).is_some();
        let is_same_text = self.beginning == other.beginning && !(self.time.is_empty() && self.beginning.is_empty());
        let is_same_step = !self.number.is_empty() && self.number == other.number && self.time == other.time;
        is_same_step && (is_same_text || is_beginning)
    }
}

/// Completes a line that is cut off inside its text, so that it is valid JSON. None if it is cut off elsewhere.
fn closed_line(cut: &str) -> Option<String> {
    let mut line = cut.to_owned();
    // If the line is cut off inside an escape, the incomplete escape is removed.
    for _ in 0..=ESCAPE_CHARACTERS {
        let length = line.len();
        line.push_str("\"}");
        if Object::parse(&line).is_some_and(|step| step.text("content").is_some()) {
            return Some(line);
        }
        line.truncate(length);
        line.pop();
    }
    None
}

/// Catalog ids of the files that are shortened copies of other files in their folder.
pub(super) fn shortened_copies(transcripts: &[(&Member, FirstStep)]) -> HashSet<usize> {
    let named = |name: &'static str| {
        move |member: &&Member| member.file_name().split('.').next().is_some_and(|stem| stem.eq_ignore_ascii_case(name))
    };
    let members = || transcripts.iter().map(|(member, _)| *member);
    let folders_with_whole: HashSet<Folder<'_>> = members().filter(named(TRANSCRIPT_NAMES.0)).map(folder_of).collect();
    let copies_by_name =
        members().filter(named(TRANSCRIPT_NAMES.1)).filter(|member| folders_with_whole.contains(&folder_of(member)));
    let mut copies: HashSet<usize> = copies_by_name.map(|member| member.id).collect();
    // Other files are compared by their first steps. Sorting puts a shortened text right before the full one.
    let others = transcripts.iter().filter(|(member, _)| !copies.contains(&member.id));
    let mut others: Vec<_> = others.map(|(member, first)| (folder_of(member), first, *member)).collect();
    others.sort_by_key(|(folder, first, _)| (*folder, *first));
    for group in others.chunk_by(|a, b| a.0 == b.0 && a.1.is_shortened(b.1)) {
        let whole_id = group.iter().min_by_key(|(_, _, member)| Reverse(member.size)).map(|(_, _, member)| member.id);
        copies.extend(group.iter().map(|(_, _, member)| member.id).filter(|id| Some(*id) != whole_id));
    }
    copies
}

/// Root, archive and folder of a file.
type Folder<'m> = (usize, Option<usize>, &'m str);

fn folder_of(member: &Member) -> Folder<'_> {
    (member.root, member.archive, member.name.rsplit_once('/').map_or("", |(folder, _)| folder))
}
