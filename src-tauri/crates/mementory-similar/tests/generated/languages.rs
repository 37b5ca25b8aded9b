//! Invented statements about people in six languages. They are worded like an assistant's notes.
mod eastern;
mod germanic;
mod romance;

/// A statement in all its wordings. Each wording has no subject, and has `{}` in place of the slot.
pub struct Template {
    /// In the third person and the present.
    pub now: &'static str,
    /// In the first person and the present.
    pub i: &'static str,
    /// In the third person and the past.
    pub past: &'static str,
    /// Negated, in the third person.
    pub negated: &'static str,
    /// Negated, in the first person.
    pub i_negated: &'static str,
    /// What fills the slot: `number`, `year`, or one of the slots of the language, by name.
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
    /// Between two clauses in the third person.
    pub and: &'static str,
    /// Between two clauses in the first person.
    pub and_i: &'static str,
    /// At the end of a sentence.
    pub stop: &'static str,
    /// Between two sentences.
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
