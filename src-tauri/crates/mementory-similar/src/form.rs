//! A text reduced to what a comparison needs: its meaningful words in order, and the kind of each.

/// How a word counts in a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// A word of a script with spaces.
    Word,
    /// The first word of a sentence: its subject or verb.
    SentenceStart,
    /// Written with a capital inside a sentence.
    Name,
    /// One character of a script without spaces.
    Char,
    /// An emoji. An additional one makes no difference, a different one does.
    Emoji,
    /// A number, negation, relation or month: both texts must have the same.
    Decisive,
}

/// One word of a form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// Hash of the word as it is compared, in memory only.
    pub(crate) hash: u64,
    pub(crate) at: u32,
    pub(crate) len: u32,
    pub(crate) kind: TokenKind,
    /// There is a comma, an "and" or the end of a sentence before it.
    pub(crate) after_separator: bool,
}

/// A text prepared for comparison. It contains the words of the text, so it is as confidential as the text.
#[derive(Clone)]
pub struct Form {
    pub(crate) canonical: String,
    pub(crate) tokens: Box<[Token]>,
    /// Indices into `tokens`, ordered by hash.
    pub(crate) sorted: Box<[u32]>,
    /// The hashes in the same order, in one array: enough to reject most pairs.
    pub(crate) hashes: Box<[u64]>,
    pub(crate) decisive: u64,
    /// The text contains "I" or "my" in Spanish, where the verb ending expresses the first person.
    pub(crate) spanish_first_person: bool,
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Form({} words)", self.tokens.len())
    }
}

impl Form {
    /// True for a text without letters, digits and meaningful signs.
    pub fn is_empty(&self) -> bool {
        self.canonical.is_empty()
    }

    /// Folded words with single spaces between them. Equal for equal texts.
    pub(crate) fn canonical(&self) -> &str {
        &self.canonical
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    pub(crate) fn sorted(&self) -> &[u32] {
        &self.sorted
    }

    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Hash of all decisive words, independent of their order. Texts with different ones are never near.
    pub(crate) fn decisive(&self) -> u64 {
        self.decisive
    }

    /// The folded word.
    pub(crate) fn word(&self, token: &Token) -> &str {
        self.canonical.get(token.at as usize..(token.at + token.len) as usize).unwrap_or_default()
    }

    /// Whether Spanish verbs in the text may be in the first person.
    pub(crate) fn has_spanish_first_person(&self) -> bool {
        self.spanish_first_person
    }

    /// The hashes of the words in order. Equal if two texts differ in filler words only.
    pub(crate) fn core(&self) -> Vec<u64> {
        self.tokens.iter().map(|t| t.hash).collect()
    }

    /// Adopts the stricter kind of each word from another form with the same core, such as that it is a name.
    pub(crate) fn adopt_stricter_kinds(&mut self, other: &Form) {
        if self.tokens.len() == other.tokens.len() {
            for (mine, theirs) in self.tokens.iter_mut().zip(&other.tokens) {
                mine.kind = stricter(mine.kind, theirs.kind);
                mine.after_separator |= theirs.after_separator;
            }
            self.spanish_first_person |= other.spanish_first_person;
        }
    }
}

fn stricter(a: TokenKind, b: TokenKind) -> TokenKind {
    match (a, b) {
        (TokenKind::Name, TokenKind::Word | TokenKind::SentenceStart)
        | (TokenKind::Word | TokenKind::SentenceStart, TokenKind::Name) => TokenKind::Name,
        (TokenKind::SentenceStart, TokenKind::Word) | (TokenKind::Word, TokenKind::SentenceStart) => {
            TokenKind::SentenceStart
        }
        _ => a,
    }
}
