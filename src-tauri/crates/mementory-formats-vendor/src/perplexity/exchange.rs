//! A thread that was saved as Markdown by the website or by another program.
use mementory_model::Times;

/// A thread in a Markdown file.
pub(super) struct Document {
    /// Last part of the address of the thread.
    pub id: Option<String>,
    pub title: Option<String>,
    pub times: Times,
    pub project: Option<String>,
    /// The text of the file before the first question.
    pub head: String,
    pub exchanges: Vec<Exchange>,
}

/// A question and its answer.
pub(super) struct Exchange {
    /// Number of the line at which the question begins, counted from 1.
    pub line: usize,
    pub question: String,
    /// The Markdown of the question, unchanged.
    pub question_source: String,
    /// The text of the answer without its sources.
    pub answer: String,
    pub sources: Option<String>,
    /// The Markdown of the answer and its sources, unchanged.
    pub answer_source: String,
}
