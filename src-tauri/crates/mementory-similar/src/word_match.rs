//! Whether two words are the same one with another ending, or with a slip of the fingers in it.

/// Endings that one word can have in turn. The empty one is the bare stem.
const ENDINGS: [&[&str]; 7] = [
    // English: prefer, prefers, preferred; live, lives, living; study, studies
    &["", "s", "es", "ed", "d", "ing"],
    &["e", "es", "ed", "ing"],
    &["y", "ies", "ied", "ying"],
    // German: lebe, lebt, leben, lebte
    &["", "e", "en", "t", "et", "te", "ete", "n", "s", "st", "est"],
    // French: habite, habitent, habiter, habitait
    &["e", "es", "er", "ent", "ait", "ais", "aient", "ez", "ons", "ant"],
    &["", "ait", "ais", "aient"],
    // Spanish, without the vowel that makes a daughter of a son: trabaja, trabajaba; vive, vivia, vivir
    &["a", "an", "aba", "aban", "ar", "ando"],
];
const SPANISH_E: [&str; 8] = ["e", "en", "ia", "ian", "ir", "er", "iendo", "io"];

/// Longer words are alike only when they are equal.
const LONGEST: usize = 40;

/// The same word with another ending, as tense, person and number make them. `o_is_i`: an o may be the first person of an
/// a (Spanish trabajo, trabaja), which elsewhere is another word (caso, casa).
pub(crate) fn inflected(a: &str, b: &str, o_is_i: bool) -> bool {
    if a.len() > LONGEST || b.len() > LONGEST {
        return false;
    }
    let common: Vec<(usize, char)> =
        a.char_indices().zip(b.chars()).take_while(|((_, x), y)| x == y).map(|(at, _)| at).collect();
    // Up to two letters of the common part may belong to the endings: study and studies meet at stud, live and living at
    // liv. The stem keeps three letters.
    (common.len().saturating_sub(2).max(3)..=common.len()).any(|letters| {
        let Some((at, last)) = common.get(letters - 1) else { return false };
        let (x, y) = (&a[at + last.len_utf8()..], &b[at + last.len_utf8()..]);
        // plan or plans, planned: the last letter comes twice.
        let doubled = |bare: &str, end: &str| {
            matches!(bare, "" | "s") && end.strip_prefix(*last).is_some_and(|rest| matches!(rest, "ed" | "ing"))
        };
        let i = o_is_i && matches!((x, y), ("o", "a") | ("a", "o"));
        i || one_paradigm(x, y) || doubled(x, y) || doubled(y, x)
    })
}

fn one_paradigm(x: &str, y: &str) -> bool {
    ENDINGS.iter().any(|set| set.contains(&x) && set.contains(&y)) || SPANISH_E.contains(&x) && SPANISH_E.contains(&y)
}

/// The same word with one slip: two letters swapped, one left out, one too many, one wrong. The first letter is right,
/// as it nearly always is; the shorter the word, the fewer slips count, since they make other words (house, horse).
pub(crate) fn slipped(a: &str, b: &str, name: bool) -> bool {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if b.len() > LONGEST * 4 {
        return false;
    }
    let mut letters = [['\u{0}'; LONGEST]; 2];
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
    let Some(at) = a.iter().zip(b).position(|(x, y)| x != y).or((a.len() < b.len()).then_some(a.len())) else {
        return a == b;
    };
    let n = b.len();
    if a.len() == b.len() {
        let swapped = at + 1 < n && a[at] == b[at + 1] && a[at + 1] == b[at] && a[at + 2..] == b[at + 2..];
        if name {
            return swapped && n >= 6;
        }
        return swapped && n >= 4 || n >= 7 && a[at + 1..] == b[at + 1..];
    }
    let doubled = b[at] == b[at - 1];
    !name && a[at..] == b[at + 1..] && n >= if doubled { 5 } else { 6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_of_one_word_and_not_of_two() {
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
            assert!(inflected(a, b, false) && inflected(b, a, false), "{a} {b}");
        }
        for (a, b) in [("hijo", "hija"), ("cat", "car"), ("tea", "team"), ("hermano", "hermana"), ("work", "world")] {
            assert!(!inflected(a, b, false) && !inflected(b, a, false), "{a} {b}");
        }
    }

    #[test]
    fn slips_and_not_other_words() {
        for (a, b) in [("mode", "mdoe"), ("coffee", "cofee"), ("vegetarian", "vegetarain"), ("language", "lanquage")] {
            assert!(slipped(a, b, false) && slipped(b, a, false), "{a} {b}");
        }
        for (a, b) in [("house", "horse"), ("hiking", "biking"), ("dark", "dart"), ("cat", "cats"), ("wine", "wind")] {
            assert!(!slipped(a, b, false) && !slipped(b, a, false), "{a} {b}");
        }
        assert!(slipped("berlin", "belrin", true));
        assert!(!slipped("maria", "marie", true) && !slipped("hanna", "hannah", true));
    }
}
