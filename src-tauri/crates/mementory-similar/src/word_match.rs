//! Decides whether two words differ only by an ending or a typo.

/// Sets of endings that the same word can have. An empty ending means the bare stem.
const WORD_ENDING_SETS: [&[&str]; 7] = [
    // English: prefer, prefers, preferred; live, lives, living; study, studies
    &["", "s", "es", "ed", "d", "ing"],
    &["e", "es", "ed", "ing"],
    &["y", "ies", "ied", "ying"],
    // German: lebe, lebt, leben, lebte
    &["", "e", "en", "t", "et", "te", "ete", "n", "s", "st", "est"],
    // French: habite, habitent, habiter, habitait
    &["e", "es", "er", "ent", "ait", "ais", "aient", "ez", "ons", "ant"],
    &["", "ait", "ais", "aient"],
    // Spanish: trabaja, trabajaba; vive, vivia, vivir. The ending o is left out, because hijo (son) and hija (daughter)
    // are different words.
    &["a", "an", "aba", "aban", "ar", "ando"],
];
const SPANISH_E_ENDINGS: [&str; 8] = ["e", "en", "ia", "ian", "ir", "er", "iendo", "io"];

/// Largest length, in letters, of a word that may match with a different ending or a typo. Longer words must be equal.
const MAX_WORD_LETTERS: usize = 40;

/// Whether two words differ by an ending for tense, person or number. With `may_be_spanish_verb`, a final o may mark
/// the first person of a verb (trabajo, trabaja); otherwise it makes a different word (caso, casa).
pub(crate) fn differ_by_ending(a: &str, b: &str, may_be_spanish_verb: bool) -> bool {
    if a.len() > MAX_WORD_LETTERS || b.len() > MAX_WORD_LETTERS {
        return false;
    }
    let common_letters: Vec<(usize, char)> =
        a.char_indices().zip(b.chars()).take_while(|((_, x), y)| x == y).map(|(position, _)| position).collect();
    // The stem has at least three letters. It may be one or two letters shorter than the common beginning of the words,
    // because their endings may begin alike.
    (common_letters.len().saturating_sub(2).max(3)..=common_letters.len()).any(|letters| {
        let Some((position, last)) = common_letters.get(letters - 1) else { return false };
        let (x, y) = (&a[position + last.len_utf8()..], &b[position + last.len_utf8()..]);
        // The last letter of the stem may be doubled, as in "planned".
        let has_doubled_letter = |bare: &str, end: &str| {
            matches!(bare, "" | "s") && end.strip_prefix(*last).is_some_and(|rest| matches!(rest, "ed" | "ing"))
        };
        let is_first_person = may_be_spanish_verb && matches!((x, y), ("o", "a") | ("a", "o"));
        is_first_person || are_endings_of_one_word(x, y) || has_doubled_letter(x, y) || has_doubled_letter(y, x)
    })
}

fn are_endings_of_one_word(x: &str, y: &str) -> bool {
    WORD_ENDING_SETS.iter().any(|set| set.contains(&x) && set.contains(&y))
        || SPANISH_E_ENDINGS.contains(&x) && SPANISH_E_ENDINGS.contains(&y)
}

/// Whether two words differ by one typo: two letters swapped, or one missing, added or wrong. The first letter must be
/// equal, as in nearly all typos. In shorter words, fewer kinds of typo are accepted, because they often produce a
/// different word (house, horse). In a name, only two swapped letters are accepted.
pub(crate) fn differ_by_typo(a: &str, b: &str, is_name: bool) -> bool {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if b.len() > MAX_WORD_LETTERS * 4 {
        return false;
    }
    let mut letters = [['\u{0}'; MAX_WORD_LETTERS]; 2];
    let mut lens = [0; 2];
    for (word, (to, len)) in [a, b].iter().zip(letters.iter_mut().zip(&mut lens)) {
        for c in word.chars() {
            let Some(place) = to.get_mut(*len) else { return false };
            *place = c;
            *len += 1;
        }
    }
    let (mut a, mut b) = (&letters[0][..lens[0]], &letters[1][..lens[1]]);
    if a.len() > b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    if a.first() != b.first() || b.len() - a.len() > 1 {
        return false;
    }
    let Some(position) = a.iter().zip(b).position(|(x, y)| x != y).or((a.len() < b.len()).then_some(a.len())) else {
        return a == b;
    };
    let n = b.len();
    if a.len() == b.len() {
        let are_letters_swapped = position + 1 < n
            && a[position] == b[position + 1]
            && a[position + 1] == b[position]
            && a[position + 2..] == b[position + 2..];
        if is_name {
            return are_letters_swapped && n >= 6;
        }
        return are_letters_swapped && n >= 4 || n >= 7 && a[position + 1..] == b[position + 1..];
    }
    let is_letter_doubled = b[position] == b[position - 1];
    !is_name && a[position..] == b[position + 1..] && n >= if is_letter_doubled { 5 } else { 6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_forms_of_one_word_differ_by_an_ending() {
        for (a, b) in [
            ("prefers", "preferred"),
            ("lives", "living"),
            ("live", "living"),
            ("plan", "planned"),
            ("study", "studied"),
            ("wohnt", "wohne"),
            ("habite", "habitait"),
            ("trabaja", "trabajaba"),
            ("escribe", "escribia"),
        ] {
            assert!(differ_by_ending(a, b, false) && differ_by_ending(b, a, false), "{a} {b}");
        }
        for (a, b) in [("hijo", "hija"), ("cat", "car"), ("tea", "team"), ("hermano", "hermana"), ("work", "world")] {
            assert!(!differ_by_ending(a, b, false) && !differ_by_ending(b, a, false), "{a} {b}");
        }
    }

    #[test]
    fn typos_match_but_different_words_do_not() {
        for (a, b) in [("mode", "mdoe"), ("coffee", "cofee"), ("vegetarian", "vegetarain"), ("language", "lanquage")] {
            assert!(differ_by_typo(a, b, false) && differ_by_typo(b, a, false), "{a} {b}");
        }
        for (a, b) in [("house", "horse"), ("hiking", "biking"), ("dark", "dart"), ("cat", "cats"), ("wine", "wind")] {
            assert!(!differ_by_typo(a, b, false) && !differ_by_typo(b, a, false), "{a} {b}");
        }
        assert!(differ_by_typo("berlin", "belrin", true));
        assert!(!differ_by_typo("maria", "marie", true) && !differ_by_typo("hanna", "hannah", true));
    }
}
