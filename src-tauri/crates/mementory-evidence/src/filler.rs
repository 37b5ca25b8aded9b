//! Words that say nothing about what is claimed, folded.

/// Words that assistants put around a memory, and names for the person.
const FRAME: &[&str] = &[
    "user", "users", "nutzer", "nutzers", "nutzerin", "benutzer", "benutzers", "benutzerin", "anwender", "anwenderin",
    "utilisateur", "utilisatrice", "usuario", "usuaria", "mentioned", "mentions", "stated", "states", "said", "says", "shared", "noted", "reported",
    "erwahnt", "erwahnte", "sagt", "sagte", "angegeben",
];

const ENGLISH: &[&str] = &[
    "a", "an", "the", "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "you", "your", "yours", "he", "him",
    "his", "she", "her", "hers", "they", "them", "their", "theirs", "it", "its", "this", "that", "these", "those", "is",
    "am", "are", "was", "were", "be", "been", "being", "do", "does", "did", "doing", "has", "have", "had", "having",
    "will", "would", "can", "could", "should", "shall", "may", "might", "must", "of", "to", "in", "on", "at", "by",
    "for", "from", "with", "about", "as", "into", "over", "and", "or", "but", "so", "if", "then", "than", "who", "whom",
    "whose", "which", "what", "when", "where", "why", "how", "there", "here", "also", "just", "very", "really", "now",
    "currently", "please", "some", "any", "all", "m", "s", "re", "ve", "ll", "d", "t", "don", "doesn", "didn", "isn",
    "aren", "wasn", "won", "get", "got", "one", "like", "such", "up", "out", "too", "let", "know", "want", "wants",
];

const GERMAN: &[&str] = &[
    "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines", "ich", "mich", "mir",
    "mein", "meine", "meinen", "meinem", "meiner", "meines", "du", "dich", "dir", "dein", "deine", "deinen", "deinem",
    "deiner", "er", "ihn", "ihm", "sein", "seine", "seinen", "seinem", "seiner", "seines", "sie", "ihr", "ihre", "ihren",
    "ihrem", "ihrer", "ihnen", "wir", "uns", "unser", "unsere", "es", "man", "und", "oder", "aber", "wenn", "dass",
    "weil", "ist", "bin", "bist", "sind", "war", "waren", "wird", "werde", "werden", "hat", "habe", "hast", "haben",
    "hatte", "hatten", "kann", "konnen", "soll", "mochte", "im", "am", "zu", "zum", "zur", "von", "vom", "mit", "bei",
    "auf", "an", "aus", "nach", "fur", "uber", "um", "als", "wie", "was", "wer", "wo", "auch", "noch", "schon", "sehr",
    "gerade", "derzeit", "bitte", "so", "da", "dann", "denn", "mal", "doch", "halt", "ja", "sich", "gibt",
];

const ROMANCE: &[&str] = &[
    "le", "la", "les", "un", "une", "des", "du", "de", "je", "j", "l", "d", "mon", "ma", "mes", "son", "sa", "ses", "il",
    "elle", "nous", "vous", "est", "suis", "ai", "a", "et", "ou", "que", "qui", "dans", "en", "au", "aux", "pour", "par",
    "avec", "el", "los", "las", "una", "yo", "mi", "mis", "su", "sus", "es", "soy", "tengo", "tiene", "y", "o", "con",
    "para", "por", "del", "al",
];

/// What a text in an unspaced script says of the person, and particles that only hold it together; folded, so without
/// voicing marks.
pub(crate) const UNSPACED_FRAME: &[&str] =
    &["ユーサー", "あなた", "本人", "私", "わたし", "僕", "俺", "彼女", "彼", "用户", "我", "사용자"];

const NEGATIONS: &[&str] = &[
    "not", "no", "never", "without", "none", "neither", "nor", "cannot", "t", "nicht", "kein", "keine", "keinen",
    "keinem", "keiner", "nie", "niemals", "ohne", "ne", "pas", "jamais", "sans", "sin", "nunca", "isnt", "dont",
    "doesnt", "cant", "wont",
];

/// Endings that negate in Japanese, folded.
const UNSPACED_NEGATIONS: &[&str] = &["ない", "ません", "なく", "なか", "不", "没", "无"];

/// True for a folded word that says nothing.
pub(crate) fn is_filler(word: &str) -> bool {
    word.len() <= 12 && [FRAME, ENGLISH, GERMAN, ROMANCE].iter().any(|list| list.contains(&word))
}

/// True for a folded word that negates.
pub(crate) fn is_negation(word: &str) -> bool {
    word.len() <= 8 && NEGATIONS.contains(&word)
}

/// True if a folded run of an unspaced script negates something.
pub(crate) fn has_unspaced_negation(run: &str) -> bool {
    UNSPACED_NEGATIONS.iter().any(|negation| run.contains(negation))
}
