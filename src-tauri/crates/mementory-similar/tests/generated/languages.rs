//! Invented statements about people, worded like notes of assistants, in six languages.
mod eastern;
mod germanic;
mod romance;

/// A statement with a slot, in all its wordings.
pub struct Template {
    pub now: &'static str,
    pub i: &'static str,
    pub past: &'static str,
    pub negated: &'static str,
    pub i_negated: &'static str,
    pub slot: &'static str,
}

pub struct Language {
    pub name: &'static str,
    pub spaced: bool,
    pub subjects: &'static [&'static str],
    pub i: &'static str,
    pub and: &'static str,
    pub and_i: &'static str,
    pub stop: &'static str,
    pub space: &'static str,
    pub openings: &'static [&'static str],
    pub details: &'static [&'static str],
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
