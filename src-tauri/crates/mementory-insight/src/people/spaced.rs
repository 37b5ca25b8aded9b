//! Finds people in texts of languages with spaces between words: English and German.
use super::{
    Mention, Owner,
    lexicon::{Lexicon, Relation, Role, is_given, lexicon},
    tokens::{Token, tokens},
};
use crate::fold::Folded;
use std::collections::HashMap;

/// Largest number of words in a name.
pub(super) const MAX_NAME_WORDS: usize = 3;
/// Largest number of words between a possessive and the relation: "her much older brother" has two.
const MAX_ADJECTIVES: usize = 3;
/// German words that mean a spouse only after a possessive, because otherwise they may mean "man" or "woman".
const NEEDS_POSSESSIVE: [&str; 2] = ["frau", "mann"];

/// Finds everyone whom `text` mentions. `text_index` is the position of the text in the input.
pub(super) fn mentions(text_index: usize, text: &str) -> Vec<Mention> {
    let folded = Folded::new(text);
    let tokens = tokens(&folded.written);
    let mut out = Vec::new();
    for code in ["en", "de"].into_iter().filter(|code| folded.languages.may_be(code)) {
        if let Some(words) = lexicon(code) {
            let reader = Reader { text_index, tokens: &tokens, words };
            reader.relations(&mut out);
            reader.titles(&mut out);
        }
    }
    given_names(text_index, &tokens, folded.languages.may_be("de"), &mut out);
    out
}

/// Counts the texts that begin with each name or its genitive.
pub(super) fn count_openings(texts: &[&str]) -> HashMap<String, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for text in texts {
        let start: String = text.chars().take(80).collect();
        if let Some(first) = tokens(&start).first().filter(|first| first.may_be_name()) {
            *counts.entry(first.folded.clone()).or_default() += 1;
        }
    }
    // A German genitive such as "Miras" (in "Miras Schwester") counts as the name itself.
    let genitives: Vec<String> = counts.keys().filter(|name| name.ends_with('s')).cloned().collect();
    for genitive in genitives {
        let stem = &genitive[..genitive.len() - 1];
        if counts.contains_key(stem)
            && let Some(count) = counts.remove(&genitive)
        {
            *counts.entry(stem.to_owned()).or_default() += count;
        }
    }
    counts
}

/// The relation that a text without a subject states for the owner of the memories, and the name of the other person:
/// "Is godmother to Ida." None if the text does not have this form.
pub(super) fn own_role(text: &str) -> Option<(&'static str, String)> {
    let folded = Folded::new(text);
    let tokens = tokens(&folded.written);
    ["en", "de"].into_iter().filter(|code| folded.languages.may_be(code)).find_map(|code| {
        let words = lexicon(code)?;
        let mut remaining_tokens =
            tokens.iter().skip_while(|token| words.has_role(Role::ThePerson, &token.folded)).peekable();
        remaining_tokens.next_if(|token| words.has_role(Role::Is, &token.folded))?;
        remaining_tokens.next_if(|token| matches!(token.folded.as_str(), "a" | "the" | "eine" | "ein" | "die" | "der"));
        let relation = words.relation(&remaining_tokens.next()?.folded)?;
        remaining_tokens.next_if(|token| matches!(token.folded.as_str(), "to" | "of" | "von" | "für"))?;
        remaining_tokens.next().filter(|token| token.may_be_name()).map(|token| (relation.id, token.folded.clone()))
    })
}

struct Reader<'a> {
    text_index: usize,
    tokens: &'a [Token<'a>],
    words: &'static Lexicon,
}

impl Reader<'_> {
    fn relations(&self, out: &mut Vec<Mention>) {
        for (at, token) in self.tokens.iter().enumerate() {
            let Some(relation) = self.words.relation(&token.folded) else { continue };
            let (owner, start) = self.owner(at);
            let has_capital = token.text.chars().next().is_some_and(char::is_uppercase);
            let is_brand = self.words.code == "en" && has_capital && !token.starts_sentence && owner == Owner::Unstated;
            if is_brand || NEEDS_POSSESSIVE.contains(&token.folded.as_str()) && owner == Owner::Unstated {
                continue;
            }
            let (mut owner, after) = self.owner_after(at, owner);
            let mut names = self.names_after(after, relation);
            if names.is_empty()
                && let Some((name, first)) = self.name_before(start)
            {
                // A pronoun refers to the first person who is named before it: in "Ida is Ruth's daughter. Maren is her
                // godmother", "her" means Ida.
                if owner == Owner::Pronoun
                    && let Some(earlier) =
                        self.tokens[..first].iter().find(|token| token.may_be_name() && is_given(&token.folded))
                {
                    owner = Owner::Named(earlier.text.to_owned());
                }
                names.push(name);
            }
            let mention =
                |name| Mention { text_index: self.text_index, name, relation: Some(relation.id), owner: owner.clone() };
            if !names.is_empty() {
                out.extend(names.into_iter().map(|name| mention(Some(name))));
            } else if !relation.is_plural && (owner != Owner::Unstated || self.follows_has(start)) {
                out.push(mention(None));
            }
        }
    }

    /// Adds the names that follow a title, as in "Dr. Petersen" and "Frau Weber".
    fn titles(&self, out: &mut Vec<Mention>) {
        for (at, token) in self.tokens.iter().enumerate() {
            let has_capital = token.text.chars().next().is_some_and(char::is_uppercase);
            if has_capital && self.words.has_role(Role::Title, &token.folded) && !token.is_genitive {
                let Some((name, _)) = self.name_at(at + 1) else { continue };
                let name = Some(format!("{} {name}", token.text));
                out.push(Mention { text_index: self.text_index, name, relation: None, owner: Owner::Unstated });
            }
        }
    }

    /// The owner of the relation at `at` according to the words before it, as in "Ruth's brother", and the position at
    /// which the whole phrase starts.
    fn owner(&self, at: usize) -> (Owner, usize) {
        let mut start = at;
        for back in 1..=MAX_ADJECTIVES + 1 {
            let Some(token) = at.checked_sub(back).and_then(|n| self.tokens.get(n)) else { break };
            if !self.tokens[at - back + 1].follows_directly() {
                break;
            }
            start = at - back;
            if token.is_genitive || self.words.has_role(Role::Possessive, &token.folded) {
                let article = start.checked_sub(1).filter(|n| self.tokens[*n].folded == "the");
                return (self.owner_of(token), article.unwrap_or(start));
            }
            if self.words.code == "de"
                && let Some(stem) = token.text.strip_suffix('s').filter(|stem| stem.chars().count() >= 3)
                && token.may_be_name()
            {
                return (Owner::Named(stem.to_owned()), start);
            }
            let ends_phrase =
                self.words.has_role(Role::Has, &token.folded) || self.words.has_role(Role::Is, &token.folded);
            if ends_phrase || token.text.chars().next().is_some_and(char::is_uppercase) {
                break;
            }
        }
        (Owner::Unstated, start)
    }

    fn owner_of(&self, token: &Token<'_>) -> Owner {
        match token.folded.as_str() {
            "my" | "our" => Owner::Own,
            word if word.starts_with("mein") || word.starts_with("unser") => Owner::Own,
            word if self.words.has_role(Role::ThePerson, word) => Owner::Own,
            _ if token.is_genitive && token.may_be_name() => Owner::Named(token.text.to_owned()),
            _ => Owner::Pronoun,
        }
    }

    /// The owner that is named after the relation at `at`, as in "Tochter der Nutzerin" and "Bruder von Ruth", or else
    /// `owner`. Also returns the position after the relation and its owner.
    fn owner_after(&self, at: usize, owner: Owner) -> (Owner, usize) {
        let word = |n: usize| self.tokens.get(n).filter(|token| token.follows_directly());
        let (Some(first), Some(second)) = (word(at + 1), word(at + 2)) else { return (owner, at + 1) };
        let has_article = matches!(first.folded.as_str(), "der" | "des" | "of" | "von" | "the");
        if has_article && self.words.has_role(Role::ThePerson, &second.folded) {
            return (Owner::Own, at + 3);
        }
        if matches!(first.folded.as_str(), "von" | "of") && second.may_be_name() {
            return (Owner::Named(second.text.to_owned()), at + 3);
        }
        (owner, at + 1)
    }

    /// The names after a relation, as in "brother Tomas", "son named Emil", "boss is Tom", "brother, Kenji" and "kids,
    /// Emil and Hana".
    fn names_after(&self, at: usize, relation: Relation) -> Vec<String> {
        let Some(next) = self.tokens.get(at).filter(|next| !next.starts_sentence) else { return Vec::new() };
        let is_called =
            |n: usize| self.tokens.get(n).is_some_and(|token| self.words.has_role(Role::Called, &token.folded));
        let is_verb = self.words.has_role(Role::Is, &next.folded);
        let (from, is_sure) = match () {
            () if next.follows_directly() && is_called(at) => (at + 1, true),
            () if next.follows_directly() && is_verb && is_called(at + 1) => (at + 2, true),
            () if next.folded == "name" && self.tokens[at - 1].is_genitive => (at + 2, true),
            () if next.follows_directly() && is_verb => (at + 1, false),
            () if next.follows_directly() || [",", "(", ":", "–", "—", "-"].contains(&next.before.trim()) => {
                (at, true)
            }
            () => return Vec::new(),
        };
        let Some((name, mut end)) = self.name_at(from) else { return Vec::new() };
        // After "is", only a listed given name or a name of several words counts, because of sentences such as "Her
        // boss is German".
        if !is_sure && !name.contains(' ') && !is_given(&crate::fold::fold(&name)) {
            return Vec::new();
        }
        let mut names = vec![name];
        while relation.is_plural && names.len() < 12 {
            let Some(token) = self.tokens.get(end).filter(|token| !token.starts_sentence) else { break };
            let is_conjunction = self.words.has_role(Role::Joins, &token.folded);
            if !is_conjunction && token.before.trim() != "," {
                break;
            }
            let Some((name, next)) = self.name_at(end + usize::from(is_conjunction)) else { break };
            names.push(name);
            end = next;
        }
        names
    }

    /// The name before the phrase that starts at `start`, as in "Kenji, her brother" and "Ida is Ruth's daughter". Also
    /// returns the position of the first word of the name.
    fn name_before(&self, start: usize) -> Option<(String, usize)> {
        let phrase = self.tokens.get(start)?;
        let last = start.checked_sub(1)?;
        let is_apposition = !phrase.starts_sentence && [",", "(", "–", "—"].contains(&phrase.before.trim());
        let end = match () {
            () if is_apposition => last,
            () if self.words.has_role(Role::Is, &self.tokens[last].folded) => last.checked_sub(1)?,
            () => return None,
        };
        let first = (0..=end)
            .rev()
            .take(MAX_NAME_WORDS)
            .take_while(|n| self.tokens[*n].may_be_name() && (*n == end || self.tokens[n + 1].follows_directly()))
            .last()?;
        let token = &self.tokens[end];
        if token.is_genitive || self.words.relation(&token.folded).is_some() {
            return None;
        }
        Some((self.joined_text(first, end + 1), first))
    }

    /// The name that starts at `at`, including a title before it, and the position after the name.
    fn name_at(&self, at: usize) -> Option<(String, usize)> {
        let first = self.tokens.get(at)?;
        if self.words.has_role(Role::Title, &first.folded) && self.tokens.get(at + 1)?.may_be_name() {
            return Some((self.joined_text(at, at + 2), at + 2));
        }
        name_from(self.tokens, at, |folded| self.words.relation(folded).is_some())
    }

    fn joined_text(&self, from: usize, until: usize) -> String {
        self.tokens[from..until].iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
    }

    /// True if the phrase that starts at `start` is preceded by "has" or "hat", as in "has a brother" and "hat einen
    /// Bruder". The relation is then to the owner of the memories.
    fn follows_has(&self, start: usize) -> bool {
        (0..=2)
            .filter_map(|back| self.tokens.get(start.checked_sub(back)?))
            .any(|token| matches!(token.folded.as_str(), "has" | "have" | "had" | "hat" | "habe" | "hatte"))
    }
}

/// The longest name that starts at `at`, with single spaces between its words, and the position after the name.
fn name_from(tokens: &[Token<'_>], at: usize, is_relation: impl Fn(&str) -> bool) -> Option<(String, usize)> {
    let mut end = at;
    while end < at + MAX_NAME_WORDS
        && let Some(token) = tokens.get(end)
        && token.may_be_name()
        && !is_relation(&token.folded)
        && (end == at || token.follows_directly() && !tokens[end - 1].is_genitive)
    {
        end += 1;
    }
    let name = tokens[at.min(end)..end].iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
    (end > at).then_some((name, end))
}

/// Adds the names in the text that begin with a listed given name.
fn given_names(text_index: usize, tokens: &[Token<'_>], is_german: bool, out: &mut Vec<Mention>) {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if !token.may_be_name() || !is_given(&token.folded) {
            continue;
        }
        // In German, only the listed name itself is added. Every German noun has a capital letter, so a capital letter
        // does not show that the next word is part of the name.
        let whole = if is_german { None } else { name_from(tokens, at - 1, |_| false) };
        let (name, end) = whole.unwrap_or_else(|| (token.text.to_owned(), at));
        out.push(Mention { text_index, name: Some(name), relation: None, owner: Owner::Unstated });
        at = end;
    }
}
