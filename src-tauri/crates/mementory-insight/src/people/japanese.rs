//! Finds people in Japanese texts. A word counts as a name if a title such as さん, くん or 先生 follows it, or if it is
//! in Katakana and in the list of given names.
use super::{
    Mention, Owner,
    lexicon::{Lexicon, Relation, Role, lexicon},
};
use crate::fold::{Folded, fold};
use std::collections::HashMap;

/// Largest number of characters in a name in Kanji. Longer runs of Kanji are compound words.
const MAX_KANJI_IN_NAME: usize = 5;
/// Characters that may separate a relation from the name after it: 友人の佐藤さん, 叔母、文子さん, 上司は田中さん.
const SEPARATORS: [char; 7] = ['の', 'は', '、', 'が', '：', ':', '「'];
/// Characters that may follow a relation that is used without a name.
const PARTICLES: [char; 10] = ['は', 'が', 'も', 'の', 'に', 'と', 'を', 'へ', '、', 'か'];

/// Finds everyone whom `text` mentions. `text_index` is the position of the text in the input.
pub(super) fn mentions(text_index: usize, text: &str) -> Vec<Mention> {
    let folded = Folded::new(text);
    let Some(words) = lexicon("ja").filter(|_| folded.languages.ja) else { return Vec::new() };
    let text = folded.written.as_str();
    let mut out = Vec::new();
    // End positions of the relations that precede a name.
    let mut relation_ends = Vec::new();
    for (start, name) in names(text, words) {
        let before = text[..start].trim_end_matches(SEPARATORS).trim_end();
        let (relation, owner) = match relation_at_end(before, words) {
            Some((word, relation)) if text[before.len()..start].chars().count() <= 1 => {
                relation_ends.push(before.len());
                (Some(relation.id), owner(&before[..before.len() - word], words))
            }
            _ => (None, Owner::Unstated),
        };
        out.push(Mention { text_index, name: Some(name), relation, owner });
    }
    find_unnamed(text_index, text, words, &relation_ends, &mut out);
    out
}

/// Counts the texts that begin with each name.
pub(super) fn count_openings(texts: &[&str]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let Some(words) = lexicon("ja") else { return counts };
    for text in texts {
        let start: String = text.chars().take(30).collect();
        if let Some((0, name)) = names(&start, words).into_iter().next() {
            *counts.entry(fold(&name)).or_default() += 1;
        }
    }
    counts
}

/// The names in a text, each with its start position, in ascending order.
fn names(text: &str, words: &Lexicon) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    for (start, run) in runs(text) {
        let after = &text[start + run.len()..];
        let title =
            |run: &str| words.words(Role::Title).find(|title| run.ends_with(title) && *title != run).map(str::len);
        let precedes_title = words.words(Role::Title).any(|title| after.starts_with(title));
        // The title may be in the same run of characters as the name, as in 佐藤先生.
        let name = match title(run) {
            Some(title) if !is_katakana(run) => &run[..run.len() - title],
            _ if precedes_title || is_katakana(run) && words.is_given(&fold(run)) => run,
            _ => continue,
        };
        // A relation may also be in the same run of characters, as in 義母恵子さん.
        let relation = words.relation_words().find(|(word, _)| name.starts_with(word) && *word != name);
        let relation_len = relation.filter(|_| !is_katakana(name)).map_or(0, |(word, _)| word.len());
        let name_text = &name[relation_len..];
        let is_plain_name = words.relation(name_text).is_none() && !words.has_role(Role::NotName, name_text);
        if is_plain_name && (is_katakana(name_text) || name_text.chars().count() <= MAX_KANJI_IN_NAME) {
            out.push((start + relation_len, name_text.trim_matches('・').to_owned()));
        }
    }
    out
}

/// The runs of Katakana and the runs of Kanji in a text, each with its start position.
fn runs(text: &str) -> Vec<(usize, &str)> {
    let class = |c: char| match u32::from(c) {
        0x30a1..=0x30ff | 0xff1d => 1,
        0x3005 | 0x3400..=0x9fff => 2,
        _ => 0,
    };
    let (mut out, mut start, mut current_class) = (Vec::new(), 0, 0);
    for (at, next_class) in text.char_indices().map(|(at, c)| (at, class(c))).chain([(text.len(), 0)]) {
        if next_class != current_class {
            if current_class != 0 {
                out.push((start, &text[start..at]));
            }
            (start, current_class) = (at, next_class);
        }
    }
    out
}

fn is_katakana(run: &str) -> bool {
    run.chars().all(|c| matches!(u32::from(c), 0x30a1..=0x30ff | 0xff1d))
}

/// The relation with which `before` ends, and the length of the word for it in bytes.
fn relation_at_end(before: &str, words: &Lexicon) -> Option<(usize, Relation)> {
    words.relation_words().find(|(word, _)| before.ends_with(word)).map(|(word, relation)| (word.len(), relation))
}

/// The owner of the relation after `before`, if `before` ends with words for an owner such as ユーザーの or ルートさんの.
fn owner(before: &str, words: &Lexicon) -> Owner {
    let Some(before) = before.strip_suffix('の') else { return Owner::Unstated };
    if words.words(Role::ThePerson).any(|word| before.ends_with(word)) {
        return Owner::Own;
    }
    let without_title = words.words(Role::Title).find_map(|title| before.strip_suffix(title)).unwrap_or(before);
    let last = runs(without_title).pop().filter(|(start, run)| start + run.len() == without_title.len());
    match last {
        Some((_, run)) if without_title != before || words.is_given(&fold(run)) => Owner::Named(run.to_owned()),
        _ => Owner::Unstated,
    }
}

/// Adds relations that are used without a name, as in ユーザーの母は.
fn find_unnamed(text_index: usize, text: &str, words: &Lexicon, relation_ends: &[usize], out: &mut Vec<Mention>) {
    let mut covered_ranges: Vec<(usize, usize)> = Vec::new();
    for (word, relation) in words.relation_words() {
        for (start, _) in text.match_indices(word) {
            let end = start + word.len();
            let is_covered = covered_ranges.iter().any(|(from, until)| start < *until && end > *from);
            let stands_alone =
                !text[..start].chars().next_back().is_some_and(|c| matches!(u32::from(c), 0x3400..=0x9fff));
            let precedes_particle = text[end..].chars().next().is_some_and(|c| PARTICLES.contains(&c));
            if is_covered || !stands_alone || !precedes_particle || text[end..].starts_with("の日") {
                continue;
            }
            covered_ranges.push((start, end));
            if !relation.is_plural && !relation_ends.contains(&end) {
                let owner = owner(&text[..start], words);
                out.push(Mention { text_index, name: None, relation: Some(relation.id), owner });
            }
        }
    }
}
