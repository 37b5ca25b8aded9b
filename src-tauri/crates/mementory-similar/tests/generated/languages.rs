//! Fictional statements about people in six languages, worded like an assistant's notes.
mod eastern;
mod germanic;
mod romance;

/// A statement in all its wordings. A wording has no subject, and has `{}` where the slot is.
pub struct Template {
    /// Third person, present tense.
    pub now: &'static str,
    /// First person, present tense.
    pub i: &'static str,
    /// Third person, past tense.
    pub past: &'static str,
    /// Third person, negated.
    pub negated: &'static str,
    /// First person, negated.
    pub i_negated: &'static str,
    /// Content of the slot: `number`, `year`, or the name of one of the language's slots.
    pub slot: &'static str,
}

/// The parts from which texts in one language are composed.
pub struct Language {
    pub name: &'static str,
    /// Whether there are spaces between words.
    pub has_spaces: bool,
    /// Subjects for the third person.
    pub subjects: &'static [&'static str],
    /// The subject for the first person.
    pub i: &'static str,
    /// Joins two clauses in the third person.
    pub and: &'static str,
    /// Joins two clauses in the first person.
    pub and_i: &'static str,
    /// Ends a sentence.
    pub stop: &'static str,
    /// Separates two sentences.
    pub space: &'static str,
    /// Texts that may precede the first sentence.
    pub openings: &'static [&'static str],
    /// Texts that may follow the last clause.
    pub details: &'static [&'static str],
    /// Names of slots, each with its words, separated by `|`.
    pub slots: &'static [(&'static str, &'static str)],
    pub clauses: &'static [Template],
}

const fn t(
    now: &'static str,
    i: &'static str,
    past: &'static str,
    negated: &'static str,
    i_negated: &'static str,
    slot: &'static str,
) -> Template {
    Template { now, i, past, negated, i_negated, slot }
}

pub const LANGUAGES: [Language; 6] =
    [germanic::ENGLISH, germanic::GERMAN, romance::FRENCH, romance::SPANISH, eastern::JAPANESE, eastern::CHINESE];
