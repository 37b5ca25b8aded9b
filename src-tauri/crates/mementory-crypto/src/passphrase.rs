//! Estimates the strength of a passphrase and suggests one.
use crate::{CryptoError, random::random_below};
use diceware_wordlists::Wordlist;
use zxcvbn::feedback::Warning;

/// The lowest accepted score: "Fair".
pub const MINIMUM_SCORE: u8 = 2;

const STRENGTH_LABELS: [&str; 5] = ["Very weak", "Weak", "Fair", "Good", "Strong"];
/// Only this many characters are evaluated, because the time for the estimate is quadratic in their number.
const MAX_EVALUATED_CHARACTERS: usize = 100;
const SUGGESTED_WORD_COUNT: usize = 4;

/// Score from 0 to 4, its label, and one reason if the score is below [`MINIMUM_SCORE`].
pub fn strength(passphrase: &str) -> (u8, &'static str, Option<String>) {
    if passphrase.trim().is_empty() {
        return (0, STRENGTH_LABELS[0], Some("There is nothing here yet.".into()));
    }
    let end =
        passphrase.char_indices().nth(MAX_EVALUATED_CHARACTERS).map_or(passphrase.len(), |(position, _)| position);
    let estimate =
        zxcvbn::zxcvbn(passphrase.get(..end).unwrap_or(passphrase), &["mementory", "keepsake", "vault", "memory"]);
    let score = u8::from(estimate.score()).min(4);
    let label = STRENGTH_LABELS[usize::from(score)];
    let reason = (score < MINIMUM_SCORE).then(|| reason_text(estimate.feedback().and_then(|f| f.warning())).into());
    (score, label, reason)
}

fn reason_text(warning: Option<Warning>) -> &'static str {
    match warning {
        Some(Warning::StraightRowsOfKeysAreEasyToGuess | Warning::ShortKeyboardPatternsAreEasyToGuess) => {
            "It follows the keys of the keyboard."
        }
        Some(Warning::RepeatsLikeAaaAreEasyToGuess | Warning::RepeatsLikeAbcAbcAreOnlySlightlyHarderToGuess) => {
            "It repeats itself."
        }
        Some(Warning::ThisIsATop10Password | Warning::ThisIsATop100Password | Warning::ThisIsACommonPassword) => {
            "It is one of the most used passwords."
        }
        Some(Warning::ThisIsSimilarToACommonlyUsedPassword) => "It is close to a much used password.",
        Some(Warning::SequencesLikeAbcAreEasyToGuess) => "It is a sequence, like abc or 6543.",
        Some(Warning::RecentYearsAreEasyToGuess | Warning::DatesAreOftenEasyToGuess) => {
            "It is mostly a date or a year."
        }
        Some(Warning::AWordByItselfIsEasyToGuess) => "It is a single word.",
        Some(Warning::NamesAndSurnamesByThemselvesAreEasyToGuess | Warning::CommonNamesAndSurnamesAreEasyToGuess) => {
            "It is a name."
        }
        None => "It is too short. Add a word or two.",
    }
}

/// Suggests a passphrase: four random words from a list of 7,776, separated by spaces. They have about 51 bits of
/// randomness.
pub fn suggest() -> Result<String, CryptoError> {
    let list = Wordlist::EffLong.get_list();
    let count = u32::try_from(list.len()).map_err(|_| CryptoError::Random)?;
    let mut words = Vec::with_capacity(SUGGESTED_WORD_COUNT);
    for _ in 0..SUGGESTED_WORD_COUNT {
        words.push(list[random_below(count)? as usize]);
    }
    Ok(words.join(" "))
}
