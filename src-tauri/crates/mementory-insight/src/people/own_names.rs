//! Finds the names of the owner of the memories, so that the owner is not listed among the people whom the memories
//! mention.
use super::{Mention, Owner, japanese, spaced};
use crate::{
    fold::{MAX_CHARS, fold},
    spelling::same_name,
};
use regex::Regex;
use std::sync::OnceLock;

/// A name in the owner's role counts as the owner's only if at least this many texts begin with it.
const MIN_OPENINGS: usize = 2;

/// True if `name` begins with one of the owner's names, in Latin letters or in Katakana.
pub(super) fn is_own(name: &str, own: &[String]) -> bool {
    let folded = fold(name);
    let first = folded.split([' ', '・']).next().unwrap_or_default();
    own.iter().any(|own| own == first || *own == folded || same_name(own, first))
}

/// The names of the owner of the memories, from three sources: texts that introduce the owner ("User's name is Mira"),
/// the name that begins far more texts than any other (determined separately for Latin letters and for Japanese), and
/// names in the owner's role.
pub(crate) fn own_names(texts: &[&str]) -> Vec<String> {
    let min_texts = (texts.len() / 20).max(3);
    [spaced::count_openings(texts), japanese::count_openings(texts)]
        .into_iter()
        .filter_map(|counts| {
            let mut sorted: Vec<(String, usize)> = counts.into_iter().collect();
            sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            let second_count = sorted.get(1).map_or(0, |(_, count)| *count);
            sorted.into_iter().next().filter(|(_, count)| *count >= min_texts && *count >= 3 * second_count)
        })
        .map(|(name, _)| name)
        .chain(texts.iter().filter_map(|text| introduced_name(text)))
        .chain(names_in_own_role(texts))
        .collect()
}

/// Names of people who, according to one text, have the role that another text without a subject gives to the owner:
/// "Maren is Ida's godmother" and "Is godmother to Ida." Several texts must begin with such a name. Names of people
/// whose relation to the owner is known are left out, because Ida may have two godmothers.
fn names_in_own_role(texts: &[&str]) -> Vec<String> {
    let roles: Vec<(&str, String)> = texts.iter().filter_map(|text| spaced::own_role(text)).collect();
    if roles.is_empty() {
        return Vec::new();
    }
    let mentions: Vec<Mention> = texts.iter().enumerate().flat_map(|(n, text)| spaced::mentions(n, text)).collect();
    let openings = spaced::count_openings(texts);
    let first_name = |mention: &Mention| {
        mention.name.as_deref().map(|name| fold(name).split(' ').next().unwrap_or_default().to_owned())
    };
    let is_in_role = |mention: &&Mention| {
        roles.iter().any(|(relation, of)| {
            mention.relation == Some(relation) && matches!(&mention.owner, Owner::Named(name) if fold(name) == *of)
        })
    };
    let is_related = |name: &String| {
        let is_related_to_owner =
            |mention: &&Mention| mention.relation.is_some() && !matches!(mention.owner, Owner::Named(_));
        mentions.iter().filter(is_related_to_owner).any(|mention| first_name(mention).as_ref() == Some(name))
    };
    let names = mentions.iter().filter(is_in_role).filter_map(first_name);
    names.filter(|name| openings.get(name).is_some_and(|count| *count >= MIN_OPENINGS) && !is_related(name)).collect()
}

/// The name with which a text introduces the owner of the memories, if it does.
fn introduced_name(text: &str) -> Option<String> {
    const FORMS: [&str; 2] = [
        "(?:(?i:\\b(?:user['’]s|my) (?:full |first )?name is |\\buser is (?:called|named) |\\b(?:der nutzer|die nutzerin) heißt \
         |\\bich heiße |\\bmein name ist ))(?P<v>\\p{Lu}[\\p{L}-]+)",
        "(?:ユーザー|私)の(?:名前|本名|氏名)は(?P<v>[ァ-ヺー]{2,}|\\p{Han}{1,4})",
    ];
    static REGEXES: OnceLock<Vec<Regex>> = OnceLock::new();
    // `ok` drops no pattern, because all of them compile.
    let regexes = REGEXES.get_or_init(|| FORMS.iter().filter_map(|form| Regex::new(form).ok()).collect());
    let start: String = text.chars().take(MAX_CHARS).collect();
    regexes.iter().find_map(|regex| Some(fold(regex.captures(&start)?.name("v")?.as_str())))
}
