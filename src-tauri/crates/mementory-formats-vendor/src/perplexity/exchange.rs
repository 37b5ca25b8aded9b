//! A thread that was saved as Markdown, by the website or by a program.
use mementory_model::Times;

/// A saved thread.
pub(super) struct Document {
    /// Name of the thread in its address.
    pub id: Option<String>,
    pub title: Option<String>,
    pub times: Times,
    pub project: Option<String>,
    /// The text before the first question.
    pub head: String,
    pub exchanges: Vec<Exchange>,
}

/// A question with its answer.
pub(super) struct Exchange {
    /// Line at which the question begins, counted from 1.
    pub line: usize,
    pub question: String,
    /// The question as it is in the file.
    pub question_source: String,
    /// The answer without its sources.
    pub answer: String,
    pub sources: Option<String>,
    /// The answer as it is in the file.
    pub answer_source: String,
}
