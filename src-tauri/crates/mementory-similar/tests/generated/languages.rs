//! Invented statements about people, as assistants note them, in six languages.
mod eastern;
mod germanic;
mod romance;

/// A statement with one slot, in its possible wordings.
pub struct Template {
    pub now: &'static str,
    pub i: &'static str,
    pub past: &'static str,
    pub deny: &'static str,
    pub i_deny: &'static str,
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
    deny: &'static str,
    i_deny: &'static str,
    slot: &'static str,
) -> Template {
    Template { now, i, past, deny, i_deny, slot }
}

pub const LANGUAGES: [Language; 6] =
    [germanic::ENGLISH, germanic::GERMAN, romance::FRENCH, romance::SPANISH, eastern::JAPANESE, eastern::CHINESE];
