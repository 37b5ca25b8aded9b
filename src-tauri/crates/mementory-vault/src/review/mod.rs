//! The guided review: what the person answered about each memory, which memory comes next, and whether an assistant
//! still has the memories that the person wants it to delete.
mod assistant;
mod queue;

pub use assistant::AssistantState;
pub use queue::{ReviewFilter, ReviewItem};

use crate::{VaultError, VaultResult, applied::Applied, context::Context, edit::Editor, trash::Trash};
use mementory_model::{Kind, Timestamp};
use mementory_store::{RowView, ids::parse_id};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// The person's answer to the question whether a memory is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// The memory is true.
    True,
    /// The memory was true, and is not any more.
    Outdated,
    /// The memory was never true.
    Wrong,
    /// The assistant should not know the memory.
    Private,
}

impl Answer {
    /// All answers.
    pub const ALL: [Self; 4] = [Self::True, Self::Outdated, Self::Wrong, Self::Private];

    /// Returns the stable name of the answer: `true`, `outdated`, `wrong` or `private`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::Outdated => "outdated",
            Self::Wrong => "wrong",
            Self::Private => "private",
        }
    }

    /// Returns the answer with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.as_str() == name)
    }

    /// True if the person wants the assistant to delete the memory.
    pub const fn asks_to_delete(self) -> bool {
        !matches!(self, Self::True)
    }

    /// Returns the code of the answer in the table `reviews`.
    const fn code(self) -> i64 {
        match self {
            Self::True => 1,
            Self::Outdated => 2,
            Self::Wrong => 3,
            Self::Private => 4,
        }
    }

    fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.code() == code)
    }
}

/// A reviewed record, with the person's answer.
#[derive(Debug, Clone)]
pub struct AnsweredRecord {
    /// The record, which may be in the Trash.
    pub view: RowView,
    /// The person's answer.
    pub answer: Answer,
    /// When the person answered, in microseconds since 1970.
    pub at: i64,
}

/// The guided review of memories.
#[derive(Clone, Copy)]
pub struct Review<'v> {
    context: &'v Context,
}

impl<'v> Review<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl<'v> Editor<'v> {
    /// Returns access to the guided review, and to the memories that the person wants assistants to delete.
    pub fn review(&self) -> Review<'v> {
        Review::new(self.context)
    }
}

impl Review<'_> {
    /// Stores answers. An answer of `None` removes the stored answer of its record. After an error, no answer is
    /// changed.
    ///
    /// # Errors
    /// `NotFound`; `Usage` for a record that is not a memory, profile note or fact.
    pub fn answer(&self, answers: &[(String, Option<Answer>)], now: Timestamp) -> VaultResult<()> {
        let found_answers = self.find_reviewable(answers)?;
        self.context.store.write(|tx| store_answers(tx, &found_answers, now))
    }

    /// Stores answers and moves records to the Trash. After an error, nothing is changed.
    ///
    /// # Errors
    /// As for [`answer`](Self::answer), and `NotFound` for a record of `trash`.
    pub fn answer_and_trash(
        &self,
        answers: &[(String, Option<Answer>)],
        trash: &[String],
        now: Timestamp,
    ) -> VaultResult<Applied<()>> {
        let found_answers = self.find_reviewable(answers)?;
        let moved =
            Trash::new(self.context).trash_with_extra_work(trash, now, &|tx| store_answers(tx, &found_answers, now))?;
        Ok(moved.map(drop))
    }

    fn find_reviewable(&self, answers: &[(String, Option<Answer>)]) -> VaultResult<Vec<AnswerChange>> {
        let mut found = Vec::with_capacity(answers.len());
        for (id, answer) in answers {
            let view = self.context.find(id)?;
            if !matches!(view.kind, Kind::Memory | Kind::Profile | Kind::Fact) {
                return Err(VaultError::Usage(format!(
                    "This is a {}, not a memory. Nothing was changed. Only memories are reviewed.",
                    view.kind.as_str()
                )));
            }
            found.push((view.id, *answer));
        }
        Ok(found)
    }

    /// Returns the person's answer about a record, and its time in microseconds since 1970. Returns None if the record
    /// has no answer.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn answer_to(&self, view: &RowView) -> VaultResult<Option<(Answer, i64)>> {
        self.context.store.read(|c| answer_in(c, &view.id))
    }

    /// Counts the reviewed records by answer, those in the Trash too. Of the filter, only `source` and `among` apply.
    /// Answers whose record is not in the vault are left out.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn counts(&self, filter: &ReviewFilter) -> VaultResult<BTreeMap<Answer, u32>> {
        let (scope, values) = filter.scope();
        let condition = if scope.is_empty() { "1".to_owned() } else { scope.join(" AND ") };
        self.context.store.read(|c| {
            let mut statement = c.prepare(&format!(
                "SELECT v.answer, count(*) FROM reviews v JOIN records r ON r.id = v.record \
                 WHERE {condition} GROUP BY v.answer"
            ))?;
            let rows =
                statement.query_map(rusqlite::params_from_iter(values.iter()), |r| Ok((r.get(0)?, r.get(1)?)))?;
            let counts = rows.collect::<Result<Vec<(i64, u32)>, _>>()?;
            Ok(counts.into_iter().filter_map(|(code, n)| Some((Answer::from_code(code)?, n))).collect())
        })
    }

    /// Returns the reviewed records of one assistant, or of all assistants. They are sorted by source, then oldest
    /// first, as in the assistant's list.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn answered(&self, source: Option<&str>) -> VaultResult<Vec<AnsweredRecord>> {
        self.context.store.read(|c| {
            let mut statement = c.prepare_cached("SELECT record, answer, at FROM reviews")?;
            let rows = statement.query_map([], |r| Ok((r.get::<_, [u8; 16]>(0)?, r.get(1)?, r.get(2)?)))?;
            let mut out = Vec::new();
            for (id, code, at) in rows.collect::<Result<Vec<_>, _>>()? {
                // If an import is undone, the answers about its removed records stay in the table.
                let Some(view) = RowView::by_id(c, &id)? else { continue };
                let Some(answer) = Answer::from_code(code) else { continue };
                if source.is_none_or(|source| view.source == source) {
                    out.push(AnsweredRecord { view, answer, at });
                }
            }
            out.sort_by(|a, b| {
                (&a.view.source, a.view.sort, a.view.row).cmp(&(&b.view.source, b.view.sort, b.view.row))
            });
            Ok(out)
        })
    }
}

/// The id of a record and its answer.
type AnswerChange = ([u8; 16], Option<Answer>);

fn store_answers(tx: &Connection, answers: &[AnswerChange], now: Timestamp) -> VaultResult<()> {
    for (id, answer) in answers {
        match answer {
            Some(answer) => tx
                .prepare_cached("INSERT OR REPLACE INTO reviews (record, answer, at) VALUES (?1, ?2, ?3)")?
                .execute(params![id, answer.code(), now.as_micros()])?,
            None => tx.prepare_cached("DELETE FROM reviews WHERE record = ?1")?.execute([id])?,
        };
    }
    Ok(())
}

fn answer_in(c: &Connection, id: &[u8; 16]) -> VaultResult<Option<(Answer, i64)>> {
    let found: Option<(i64, i64)> = c
        .prepare_cached("SELECT answer, at FROM reviews WHERE record = ?1")?
        .query_row([id], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()?;
    Ok(found.and_then(|(code, at)| Some((Answer::from_code(code)?, at))))
}

/// Returns the ids as an SQL list for a condition. Texts that are not ids are left out.
fn id_list(ids: &[String]) -> String {
    let list: Vec<String> = ids.iter().filter(|id| parse_id(id).is_some()).map(|id| format!("x'{id}'")).collect();
    list.join(",")
}
