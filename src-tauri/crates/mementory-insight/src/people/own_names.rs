//! Finds the names of the owner of the memories, so that the owner is not listed among the people in them.
use super::{japanese, spaced};
use crate::{
    fold::{MAX_CHARS, fold},
    spelling::same_name,
};
use regex::Regex;
use std::sync::OnceLock;

/// True if `name` begins with one of the person's own names, in Latin letters or in Katakana.
pub(super) fn is_own(name: &str, own: &[String]) -> bool {
    let folded = fold(name);
    let first = folded.split([' ', '・']).next().unwrap_or_default();
    own.iter().any(|own| own == first || *own == folded || same_name(own, first))
}

/// Names of the owner of the memories. One source is texts that introduce the owner ("User's name is Mira"). The other
/// is the name that begins far more texts than any other, determined separately for Latin letters and for Japanese.
pub(crate) fn own_names(texts: &[&str]) -> Vec<String> {
    let min_texts = (texts.len() / 20).max(3);
    [spaced::count_openings(texts), japanese::count_openings(texts)]
        .into_iter()
        .filter_map(|counts| {
            let mut sorted: Vec<(String, usize)> = counts.into_iter().collect();
            sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            let next = sorted.get(1).map_or(0, |(_, count)| *count);
            sorted.into_iter().next().filter(|(_, count)| *count >= min_texts && *count >= 3 * next)
        })
        .map(|(name, _)| name)
        .chain(texts.iter().filter_map(|text| introduced_name(text)))
        .collect()
}

/// The name with which a text introduces the person. None if it does not.
fn introduced_name(text: &str) -> Option<String> {
    const FORMS: [&str; 2] = [
        "(?:(?i:\\b(?:user['’]s|my) (?:full |first )?name is |\\buser is (?:called|named) |\\b(?:der nutzer|die nutzerin) heißt \
         |\\bich heiße |\\bmein name ist ))(?P<v>\\p{Lu}[\\p{L}-]+)",
        "(?:ユーザー|私)の(?:名前|本名|氏名)は(?P<v>[ァ-ヺー]{2,}|\\p{Han}{1,4})",
    ];
    static REGEXES: OnceLock<Vec<Regex>> = OnceLock::new();
    // Every pattern compiles, which a test checks, so none is left out.
    let regexes = REGEXES.get_or_init(|| FORMS.iter().filter_map(|form| Regex::new(form).ok()).collect());
    let start: String = text.chars().take(MAX_CHARS).collect();
    regexes.iter().find_map(|regex| Some(fold(regex.captures(&start)?.name("v")?.as_str())))
}
