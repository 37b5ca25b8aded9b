//! Finds people who are mentioned in memories, and how they are related to the owner of the memories.
//!
//! A name is found next to a word for a relation ("her brother Tomas", "Tochter heißt Hana", 「上司は田中さん」), after a title,
//! or because it is in a list of given names. A name found in one text is then looked for in all texts. A capital
//! letter alone is never enough for a word to count as a name.
mod japanese;
mod lexicon;
mod merge;
mod own_names;
mod spaced;
mod tokens;

use own_names::is_own;
pub(crate) use own_names::own_names;

/// Somebody whom memories mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The longest form in which the name is written. None if only the relation is known ("her boss").
    pub name: Option<String>,
    /// The relation, as the name of a table in `data/people`, such as `brother`. None if it is unknown.
    pub relation: Option<&'static str>,
    /// The name of the owner of the relation, such as "Ruth" for "Ruth's daughter". None if the owner is the owner of
    /// the memories.
    pub of: Option<String>,
    /// Positions of the texts in which this person occurs, ascending.
    pub texts: Vec<usize>,
}

/// One occurrence of a name or a relation in a text.
#[derive(Debug, Clone)]
struct Mention {
    /// Position of the text in the input.
    text_index: usize,
    name: Option<String>,
    relation: Option<&'static str>,
    owner: Owner,
}

/// The person to whom a relation belongs: the owner of the relation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Owner {
    /// The text does not say to whom the relation belongs.
    Unstated,
    /// A pronoun ("her", "his"), which usually means the owner of the memories, but possibly somebody who was named
    /// before.
    Pronoun,
    /// The owner of the memories: "my", "the user's".
    Own,
    /// Somebody who is named: "Ruth's".
    Named(String),
}

/// Finds everyone whom `texts` mention, except the owner of the memories. People who are mentioned in more texts come
/// first.
pub fn people(texts: &[&str]) -> Vec<Person> {
    people_besides(&own_names(texts), texts)
}

/// Like [`people`], but the names of the owner of the memories are given as `own`, which [`own_names`] found in the
/// same texts.
pub(crate) fn people_besides(own: &[String], texts: &[&str]) -> Vec<Person> {
    let mut mentions = Vec::new();
    for (n, text) in texts.iter().enumerate() {
        mentions.extend(spaced::mentions(n, text));
        mentions.extend(japanese::mentions(n, text));
    }
    for mention in &mut mentions {
        if let Owner::Named(name) = &mention.owner
            && is_own(name, own)
        {
            mention.owner = Owner::Own;
        }
    }
    mentions.retain(|mention| mention.name.as_ref().is_none_or(|name| !is_own(name, own)));
    merge::merge(texts, mentions)
}
